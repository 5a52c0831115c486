"""Pictures in folders, one folder for each class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from extensor.data.decoding import MODES, STORED_MODES, decoded
from extensor.data.pictures import is_picture, picture_place, pictures_under
from extensor.errors import arguments, value_error
from extensor.io.paths import as_path, unreadable

_OP = "ImageFolder"


class ImageFolder:
    """The pictures in ``root/<class>/``, decoded when asked for: ``(image, class)``.

    Images are bytes of shape (channels, height, width), resized to ``size`` (height, width) if that
    is given, and decoded as :class:`PictureFiles` does. The modes "1", "P", "I" and "F" give the
    numbers that a file has instead. Classes are numbered in alphabetical order. Links are followed;
    ``ignored`` counts the files that are hidden or no pictures. Pillow is needed:
    ``pip install extensor[images]``. A loader decodes in threads.
    """

    def __init__(
        self, root: str | Path, size: int | tuple[int, int] | None = None, mode: str = "RGB"
    ) -> None:
        self.root = as_path(_OP, root, name="root")
        self.size = None if size is None else arguments.pair(_OP, "size", size, 1)
        self.mode = arguments.choice(_OP, "mode", mode, (*MODES, *STORED_MODES))
        try:
            inside = sorted(self.root.iterdir())
        except OSError as error:
            raise unreadable(_OP, root, error) from error
        shown = [path for path in inside if path.name[0] != "."]
        folders = [path for path in shown if path.is_dir()]
        strays = [path for path in shown if is_picture(path) and not path.is_dir()]
        if strays:
            requirement = "pictures must lie in the folders of their classes"
            raise value_error(_OP, requirement, path=str(strays[0]))
        found = {folder.name: pictures_under(_OP, folder) for folder in folders}
        if not any(pictures for pictures, _ in found.values()):
            requirement = "root must have folders of images, one for each class"
            raise value_error(_OP, requirement, root=str(root))
        for folder in folders:
            if not found[folder.name][0]:
                requirement = "the folder of a class must have pictures"
                raise value_error(_OP, requirement, folder=str(folder))
        self.classes = list(found)
        self.samples = [
            (path, number)
            for number, (pictures, _) in enumerate(found.values())
            for path in pictures
        ]
        others = sum(count for _, count in found.values())
        self.ignored = len(inside) - len(folders) + others

    @property
    def paths(self) -> list[Path]:
        """The files, in the order of the samples."""
        return [path for path, _ in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        size = "" if self.size is None else f", size={self.size}"
        number = f"{len(self)} samples of {len(self.classes)} classes"
        return f"{type(self).__name__}({str(self.root)!r}, {number}, {self.mode}{size})"

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, number = self.samples[picture_place(_OP, index, len(self))]
        return decoded(_OP, path, self.size, self.mode), number
