"""Pictures of one's own, without classes: found, measured, and decoded when they are asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from stat import S_ISDIR
from typing import Any

import numpy as np

from extensor.data.decoding import ENDINGS, MODES, decoded, size_of
from extensor.errors import arguments, index_error, type_error, value_error
from extensor.io.paths import as_path, unreadable


def find_pictures(path: str | Path) -> list[Path]:
    """The pictures under a folder, sorted, or the one that ``path`` is.

    A picture is known by the ending of its name. Links are followed; hidden files and folders are
    left out.
    """
    op = "find_pictures"
    place = as_path(op, path)
    try:
        is_folder = S_ISDIR(place.stat().st_mode)
    except OSError as error:
        raise unreadable(op, path, error) from error
    if is_folder:
        pictures, _ = pictures_under(op, place)
        if not pictures:
            raise value_error(op, f"folder must have pictures ({_known()})", path=os.fspath(path))
        return pictures
    if not is_picture(place):
        raise value_error(op, f"file must be a picture ({_known()})", path=os.fspath(path))
    return [place]


def picture_sizes(paths: Sequence[str | Path], most: int = 200) -> Any:
    """Height and width of each picture, an array (n, 2): of ``most`` at most, evenly chosen."""
    op = "picture_sizes"
    files = _files(op, paths)
    most = arguments.integer(op, "most", most, 1)
    chosen = np.linspace(0, len(files) - 1, min(most, len(files))).round().astype(np.int64)
    return np.array([size_of(op, files[number]) for number in chosen], np.int64)


class PictureFiles:
    """The pictures in files, decoded when asked for: bytes of shape (channels, height, width).

    They are resized to ``size`` (height, width), bilinear and smoothed where they become smaller;
    None leaves them as they are. ``mode`` is Pillow's, "RGB" or "L", or "RGBA" to keep alpha: in
    other modes what is transparent lies over white. The orientation that EXIF tells is followed. Of
    16 bits the upper 8 are taken, of several frames the first. Pillow is needed:
    ``pip install extensor[images]``. A loader decodes in threads.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        size: int | tuple[int, int] | None,
        mode: str = "RGB",
    ) -> None:
        op = "PictureFiles"
        self.paths = _files(op, paths)
        self.size = None if size is None else arguments.pair(op, "size", size, 1)
        self.mode = arguments.choice(op, "mode", mode, MODES)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        path = self.paths[picture_place("PictureFiles", index, len(self))]
        return decoded("PictureFiles", path, self.size, self.mode)


def picture_place(op: str, index: Any, count: int) -> int:
    """``index``, of which there must be a picture."""
    place = arguments.integer(op, "index", index)
    if not -count <= place < count:
        raise index_error(op, f"index must be in [{-count}, {count - 1}]", index=place)
    return place


def is_picture(path: Path) -> bool:
    """Whether the name ends as that of a picture does."""
    return path.suffix.lower() in ENDINGS


def pictures_under(op: str, folder: Path) -> tuple[list[Path], int]:
    """The pictures in a folder and those in it, sorted, and how many other files there are."""
    try:
        found = list(_entries(folder))
    except OSError as error:
        raise unreadable(op, folder, error) from error
    pictures = sorted(path for path in found if is_picture(path) and path.name[0] != ".")
    return pictures, len(found) - len(pictures)


def _entries(folder: Path, above: tuple[Path, ...] = ()) -> Iterator[Path]:
    """The files below a folder, links followed, but none into a folder that it is in.

    A folder that is hidden comes as it is, and so does a link to nothing.
    """
    within = (*above, folder.resolve())
    for path in folder.iterdir():
        if path.is_dir() and path.name[0] != ".":
            if path.resolve() not in within:
                yield from _entries(path, within)
        elif path.is_file() or path.is_dir() or path.is_symlink():
            yield path


def _files(op: str, paths: Any) -> list[Path]:
    if not isinstance(paths, Sequence) or isinstance(paths, str | bytes):
        requirement = "paths must be a list of files, as find_pictures gives it"
        raise type_error(op, requirement, paths=arguments.briefly(paths))
    if not paths:
        raise value_error(op, "paths must have at least one file", paths=[])
    return [as_path(op, path, name=f"paths[{number}]") for number, path in enumerate(paths)]


def _known() -> str:
    return ", ".join(sorted(ENDINGS))
