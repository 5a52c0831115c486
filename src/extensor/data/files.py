"""Finding the files of a data set: where systems keep them, in a cache, or by downloading."""

from __future__ import annotations

import hashlib
import os
import shutil
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from extensor.io.atomic import write_atomically
from extensor.io.regular_files import open_own

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

    paths = [archive.parent / name for name in names]
    with tarfile.open(archive) as tar:
        members = {Path(member.name).name: member for member in tar if member.isfile()}
        for path, name in zip(paths, names, strict=True):
            stream = tar.extractfile(members[name])
            assert stream is not None
            partial = path.with_name(path.name + ".partial")
            with open(partial, "wb", opener=open_own) as file:
                shutil.copyfileobj(stream, file)
            partial.replace(path)
    return paths
