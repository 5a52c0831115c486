"""Finding the files of a data set: where systems keep them, in a cache, or by downloading."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from extensor.data.content import read_content
from extensor.errors import is_ours, value_error
from extensor.io.atomic import write_atomically
from extensor.io.limits import check_decoded
from extensor.io.regular_files import open_own

if TYPE_CHECKING:
    import tarfile

# Debian's packages dataset-fashion-mnist and the like, and what other systems do.
SYSTEM_FOLDERS = (Path("/usr/share/datasets"), Path("/usr/local/share/datasets"))
_TIMEOUT = 60  # seconds without an answer


class Remote(NamedTuple):
    """A file of a data set: its name, where it can be downloaded, and its SHA-256."""

    name: str
    url: str
    digest: str


def cache_folder() -> Path:
    """``$EXTENSOR_DATA``, or the folder ``extensor`` where the system keeps caches."""
    chosen = os.environ.get("EXTENSOR_DATA")
    if chosen:
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "extensor"


def find(folder: str, names: Sequence[Sequence[str]], root: str | Path | None) -> list[Path] | None:
    """The first place that has every file, each under one of its names; None if there is none.

    With ``root`` only that is looked at, and the folder inside it.
    """
    if root is not None:
        places = [Path(root), Path(root) / folder]
    else:
        places = [base / folder for base in (*SYSTEM_FOLDERS, cache_folder())]
    for place in places:
        found = [[place / name for name in same if (place / name).is_file()] for same in names]
        if all(found):
            return [paths[0] for paths in found]
    return None


def download(folder: str, remotes: Sequence[Remote], root: str | Path | None) -> list[Path]:
    """Fetch the files that are not there, and check what came before it is given its name."""
    place = (cache_folder() if root is None else Path(root)) / folder
    paths = [place / remote.name for remote in remotes]
    for path, remote in zip(paths, remotes, strict=True):
        if path.is_file():
            continue
        try:
            with urllib.request.urlopen(remote.url, timeout=_TIMEOUT) as answer:
                content = answer.read()
        except OSError as error:
            wanted = "\n".join(f"  {other.url}" for other in remotes)
            raise FileNotFoundError(
                f"{folder}: the files are not here and could not be downloaded ({error}); "
                f"put these into {place}:\n{wanted}"
            ) from None
        digest = hashlib.sha256(content).hexdigest()
        if digest != remote.digest:
            raise OSError(
                f"{folder}: what came from {remote.url} is not the file that was expected, "
                f"got sha256={digest}"
            )
        place.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    return paths


def unpack(archive: Path, names: Sequence[str]) -> list[Path]:
    """The files called ``names`` in a tar archive, written beside it."""
    import tarfile

    op = "unpack"
    content = read_content(op, archive, cost=1)
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as tar:
            members = {Path(member.name).name: member for member in tar if member.isfile()}
            absent = [name for name in names if name not in members]
            if absent:
                requirement = f"archive must have the files {', '.join(absent)}"
                raise value_error(op, requirement, path=str(archive))
            # A sparse file may be larger than the archive.
            needed = sum(members[name].size for name in names)
            check_decoded(op, archive, needed, archive.stat().st_size)
            return [_extract(tar, members[name], archive.parent / name) for name in names]
    except (tarfile.TarError, ValueError) as error:
        if is_ours(error):
            raise
        raise value_error(op, f"archive must be whole ({error})", path=str(archive)) from None


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> Path:
    """Write a file of an archive to ``path``."""
    stream = tar.extractfile(member)
    assert stream is not None
    partial = path.with_name(path.name + ".partial")
    with open(partial, "wb", opener=open_own) as file:
        shutil.copyfileobj(stream, file)
    return partial.replace(path)
