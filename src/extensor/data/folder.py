"""Pictures in folders, one folder for each class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from extensor.errors import arguments, value_error
from extensor.io.paths import as_path, unreadable

_ENDINGS = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"})

_MODES = ("1", "L", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV", "I", "F", "P")


class ImageFolder:
    """The pictures in ``root/<class>/``, decoded when asked for: ``(image, class)``.

    Images are bytes of shape (channels, height, width), resized to ``size`` (height, width) if that
    is given; ``mode`` is Pillow's, "RGB" or "L". Classes are numbered in alphabetical order.
    Pillow is needed: ``pip install extensor[images]``. A loader decodes in threads.
    """

    def __init__(
        self, root: str | Path, size: int | tuple[int, int] | None = None, mode: str = "RGB"
    ) -> None:
        self.root = as_path("ImageFolder", root, name="root")
        self.size = None if size is None else arguments.pair("ImageFolder", "size", size, 1)
        self.mode = arguments.choice("ImageFolder", "mode", mode, _MODES)
        try:
            inside = list(self.root.iterdir())
        except OSError as error:
            raise unreadable("ImageFolder", root, error) from error
        folders = sorted(p for p in inside if p.is_dir() and p.name[0] != ".")
        self.classes = [folder.name for folder in folders]
        self.samples = [
            (path, number)
            for number, folder in enumerate(folders)
            for path in sorted(folder.rglob("*"))
            if path.suffix.lower() in _ENDINGS
        ]
        if not self.samples:
            requirement = "root must have folders of images, one for each class"
            raise value_error("ImageFolder", requirement, root=str(root))

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        size = "" if self.size is None else f", size={self.size}"
        number = f"{len(self)} samples of {len(self.classes)} classes"
        return f"{type(self).__name__}({str(self.root)!r}, {number}, {self.mode}{size})"

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, number = self.samples[index]
        return self._decoded(path), number

    def _decoded(self, path: Path) -> Any:
        try:
            from PIL import Image
        except ImportError:
            raise ImportError(
                "ImageFolder: Pillow must be installed, see pip install extensor[images]"
            ) from None
        try:
            with Image.open(path) as picture:
                converted = picture.convert(self.mode)
                if self.size is not None:
                    converted = converted.resize(self.size[::-1], Image.Resampling.BILINEAR)
                pixels = np.array(converted)
        except OSError as error:
            raise value_error(
                "ImageFolder", f"file must be a picture ({error})", path=str(path)
            ) from None
        return pixels[None] if pixels.ndim == 2 else np.moveaxis(pixels, -1, 0)
