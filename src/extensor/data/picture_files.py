"""Pictures in files: found, measured, and decoded by Pillow when asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from stat import S_ISDIR
from typing import Any, BinaryIO

import numpy as np

from extensor.data.dataset import sample_place
from extensor.errors import arguments, is_ours, type_error, value_error
from extensor.io.limits import check_decoded
from extensor.io.paths import as_path, explain_unreadable, unreadable
from extensor.io.regular_files import open_regular

ENDINGS = frozenset(".png .jpg .jpeg .jfif .bmp .gif .webp .tif .tiff .ppm .pgm .pbm .pnm".split())
CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4, "YCbCr": 3, "LAB": 3, "HSV": 3}
MODES = tuple(CHANNELS)
STORED_MODES = ("1", "I", "F", "P")  # numbers as a file has them: none is scaled to a byte
_TRANSPARENT = ("LA", "La", "PA", "RGBA", "RGBa")
# Pillow knows more, of which some start other programs (EPS does).
_FORMATS = ("PNG", "JPEG", "BMP", "DIB", "GIF", "WEBP", "TIFF", "PPM", "JPEG2000")
_COST = 10  # bytes of memory for a pixel: Pillow's own four, and the array in two orders
_ORIENTATION, _WIDTH, _HEIGHT = 274, 256, 257  # tags of EXIF and TIFF
_BITS, _PHOTOMETRIC = 258, 262
_LYING = (5, 6, 7, 8)  # orientations that exchange height and width


def decode_picture(
    op: str, path: Path, size: tuple[int, int] | None, mode: str, content: bytes | None = None
) -> Any:
    """The picture in a file as (channels, height, width), upright and of ``size`` if one is given.

    The first of several frames. What is transparent lies over white, unless the mode has alpha; of
    16 bits the upper 8 are taken. With ``content`` that is the file, and ``path`` only names it.
    """
    with _open_picture(op, path, content) as picture:
        from PIL import Image, ImageOps

        bits = 0 if mode in STORED_MODES else _bits(op, path, picture)
        # In place, as a copy of a large picture is large too.
        ImageOps.exif_transpose(picture, in_place=True)
        upright = picture
        if mode not in STORED_MODES:
            upright = _of_bytes(op, path, upright, bits)
            is_transparent = upright.mode in _TRANSPARENT or "transparency" in upright.info
            if is_transparent and mode not in _TRANSPARENT:
                white = Image.new("RGBA", upright.size, "white")
                white.alpha_composite(upright.convert("RGBA"))
                upright = white.convert("RGB")
            if upright.mode == "LAB" != mode:
                upright = upright.convert("RGB")  # the only mode into which Pillow converts it
        try:
            converted = upright if upright.mode == mode else upright.convert(mode)
        except ValueError:
            requirement = f"file must be a picture that Pillow converts to {mode!r}"
            raise value_error(op, requirement, path=str(path), mode=picture.mode) from None
        if size is not None:
            converted = converted.resize(size[::-1], Image.Resampling.BILINEAR)
        pixels = np.array(converted)
    return pixels[None] if pixels.ndim == 2 else np.ascontiguousarray(np.moveaxis(pixels, -1, 0))


def size_of(op: str, path: Path) -> tuple[int, int]:
    """Height and width of the picture in a file, upright, as its head says; nothing is decoded."""
    with _open_picture(op, path) as picture:
        # Some versions of Pillow have turned the size of a TIFF already, others have not.
        tags = picture.tag_v2 if picture.format == "TIFF" else {}
        width, height = tags.get(_WIDTH, picture.width), tags.get(_HEIGHT, picture.height)
        orientation = tags.get(_ORIENTATION) if tags else picture.getexif().get(_ORIENTATION)
    return (width, height) if orientation in _LYING else (height, width)


@contextmanager
def _open_picture(op: str, path: Path, content: bytes | None = None) -> Iterator[Any]:
    """Open a picture with Pillow; its errors become errors of this library."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise ImportError(
            f"{op}: Pillow must be installed, see pip install extensor[images]"
        ) from None
    try:
        stream = _stream(path) if content is None else BytesIO(content)
        with stream, Image.open(stream, formats=_FORMATS) as picture:
            stored = path.stat().st_size if content is None else len(content)
            pixels = picture.width * picture.height
            check_decoded(op, path, _COST * pixels, stored)
            yield picture
    except MemoryError:
        raise
    except Exception as error:
        # Decoders fail in many ways on a damaged file: struct.error, SyntaxError, IndexError, ...
        if is_ours(error):
            raise
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(op, path, error) from error
        large = Image.DecompressionBombError, Image.DecompressionBombWarning
        if isinstance(error, large):
            reason = "it has more pixels than PIL.Image.MAX_IMAGE_PIXELS"
        elif not (path.stat().st_size if content is None else content):
            reason = "it is empty"
        elif isinstance(error, UnidentifiedImageError):
            reason = "it has no format that Pillow knows"
        else:
            reason = "it is damaged or cut off"
        raise value_error(op, f"file must be a picture ({reason})", path=str(path)) from None


def _stream(path: Path) -> BinaryIO:
    return open(path, "rb", opener=open_regular)


def _bits(op: str, path: Path, picture: Any) -> int:
    """How many bits a number of the file has, if Pillow gives more than 8."""
    if not picture.mode.startswith("I;16"):
        # Pillow 10 opens PNG of 16 bits as "I", as it does PGM, which it scales to 16.
        return 16 if picture.format in ("PNG", "PPM") else 32
    tags = picture.tag_v2 if picture.format == "TIFF" else {}
    if tags.get(_PHOTOMETRIC) == 0:
        requirement = "a TIFF of 16 bits must have 0 for black"
        raise value_error(op, requirement, path=str(path), photometric=0)
    return int(tags.get(_BITS, (16,))[0])


def _of_bytes(op: str, path: Path, picture: Any, bits: int) -> Any:
    """``picture`` with 8 bits for a number."""
    from PIL import Image

    is_wide = picture.mode.startswith("I;16") or (picture.mode == "I" and bits == 16)
    if not is_wide:
        if picture.mode in ("I", "F"):
            requirement = "file must be a picture of 8 or 16 bits"
            raise value_error(op, requirement, path=str(path), mode=picture.mode)
        return picture
    values = np.asarray(picture).astype(np.int64)
    grey = Image.fromarray((values >> (bits - 8)).astype(np.uint8))
    transparent = picture.info.get("transparency")
    if transparent is not None:
        grey.putalpha(Image.fromarray(np.where(values == transparent, 0, 255).astype(np.uint8)))
    return grey


def find_pictures(path: str | Path) -> list[Path]:
    """Find the pictures under a folder, or return the one that ``path`` is.

    Pictures are recognized by the ending of their name. Links are followed; hidden files and folders are
    left out.

    Parameters
    ----------
    path : str or Path
        A folder or a picture.

    Returns
    -------
    list of Path
        The files, sorted.

    Raises
    ------
    ValueError
        If there are no pictures, or a file is none by its name.
    OSError
        If there is no such file or folder.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from extensor.data import find_pictures
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.png", "a.JPG", "notes.txt", ".hidden.png"):
    ...         Path(folder, name).touch()
    ...     [path.name for path in find_pictures(folder)]
    ['a.JPG', 'b.png']
    """
    op = "find_pictures"
    place = as_path(op, path)
    with explain_unreadable(op, path):
        is_folder = S_ISDIR(place.stat().st_mode)
    if is_folder:
        pictures, _ = pictures_under(op, place)
        requirement = "folder must have pictures"
    else:
        pictures = [place] if is_picture(place) else []
        requirement = "file must be a picture"
    if not pictures:
        known = ", ".join(sorted(ENDINGS))
        raise value_error(op, f"{requirement} ({known})", path=os.fspath(path))
    return pictures


def picture_sizes(paths: Sequence[str | Path], most: int = 200) -> Any:
    """Measure pictures by their headers, without decoding them.

    Parameters
    ----------
    paths : sequence of str or Path
        The files.
    most : int, default 200
        Largest number of files that are opened, 1 or more. They are chosen evenly.

    Returns
    -------
    numpy.ndarray of int64, (n, 2)
        Height and width of each picture, upright.

    Raises
    ------
    ValueError
        If ``paths`` is empty, or a file is not a picture.
    ImportError
        If Pillow is not installed.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from PIL import Image
    >>> from extensor.data import find_pictures, picture_sizes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.fromarray(np.zeros((20, 30, 3), np.uint8)).save(f"{folder}/a.png")
    ...     picture_sizes(find_pictures(folder))
    array([[20, 30]])
    """
    op = "picture_sizes"
    files = _files(op, paths)
    most = arguments.integer(op, "most", most, 1)
    chosen = np.linspace(0, len(files) - 1, min(most, len(files))).round().astype(np.int64)
    return np.array([size_of(op, files[number]) for number in chosen], np.int64)


class PictureFiles:
    """Pictures in files, decoded when they are accessed.

    A sample is an array of bytes of shape (channels, height, width). Pictures are turned upright as EXIF
    requires; of 16 bits the upper 8 are used, of several frames the first. Pillow must be installed:
    ``pip install extensor[images]``. A loader decodes in threads.

    Parameters
    ----------
    paths : sequence of str or Path
        The files.
    size : int, (int, int) or None
        Height and width to which pictures are resized, bilinearly and with antialiasing; None keeps
        their sizes.
    mode : str, default "RGB"
        Pillow's mode, such as "RGB", "L", or "RGBA" to keep transparency. In modes without transparency
        the background is white.

    Raises
    ------
    ValueError
        If ``paths`` is empty or the mode is unknown. When a sample is accessed, if its file is damaged
        or not a picture.
    ImportError
        When a sample is accessed, if Pillow is not installed.

    See Also
    --------
    ImageFolder : Pictures and their classes.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from PIL import Image
    >>> from extensor.data import PictureFiles, find_pictures
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.fromarray(np.zeros((20, 30, 3), np.uint8)).save(f"{folder}/a.png")
    ...     pictures = PictureFiles(find_pictures(folder), size=(8, 12))
    ...     len(pictures), pictures[0].shape, pictures[0].dtype
    (1, (3, 8, 12), dtype('uint8'))
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
        path = self.paths[sample_place("PictureFiles", index, len(self))]
        return decode_picture("PictureFiles", path, self.size, self.mode)


def is_picture(path: Path) -> bool:
    """Whether the name ends as that of a picture does."""
    return path.suffix.lower() in ENDINGS


def pictures_under(op: str, folder: Path) -> tuple[list[Path], int]:
    """The pictures in a folder and those in it, sorted, and how many other files there are."""
    with explain_unreadable(op, folder):
        found = list(_entries(folder))
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


_OP = "ImageFolder"


class ImageFolder:
    """Pictures in ``root/<class>/``, decoded when they are accessed: ``(image, class)``.

    Images are arrays of bytes of shape (channels, height, width), decoded as by `PictureFiles`.
    Classes are numbered in alphabetical order. Links are followed. Pillow must be installed:
    ``pip install extensor[images]``.

    Parameters
    ----------
    root : str or Path
        The folder of the class folders.
    size : int or (int, int), optional
        Height and width to which pictures are resized. Default: pictures keep their sizes.
    mode : str, default "RGB"
        Pillow's mode. The modes "1", "P", "I" and "F" return the numbers stored in a file.

    Attributes
    ----------
    classes : list of str
        The names of the classes.
    samples : list of (Path, int)
        The file and the class of each sample.
    ignored : int
        The number of files that are hidden or not pictures.

    Raises
    ------
    ValueError
        If a class has no pictures, or if pictures lie outside of the class folders. When a sample is
        accessed, if its file is damaged or not a picture.
    ImportError
        When a sample is accessed, if Pillow is not installed.

    See Also
    --------
    PictureFiles : Pictures without classes.

    Examples
    --------
    >>> import os, tempfile, numpy as np
    >>> from PIL import Image
    >>> from extensor.data import DataLoader, ImageFolder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for kind in ("cat", "dog"):
    ...         os.mkdir(f"{folder}/{kind}")
    ...         Image.fromarray(np.zeros((20, 30, 3), np.uint8)).save(f"{folder}/{kind}/1.png")
    ...     pictures = ImageFolder(folder, size=16)
    ...     images, classes = next(iter(DataLoader(pictures, batch_size=2)))
    >>> pictures.classes, images.shape, classes.tolist()
    (['cat', 'dog'], (2, 3, 16, 16), [0, 1])
    """

    def __init__(
        self, root: str | Path, size: int | tuple[int, int] | None = None, mode: str = "RGB"
    ) -> None:
        self.root = as_path(_OP, root, name="root")
        self.size = None if size is None else arguments.pair(_OP, "size", size, 1)
        self.mode = arguments.choice(_OP, "mode", mode, (*MODES, *STORED_MODES))
        with explain_unreadable(_OP, root):
            inside = sorted(self.root.iterdir())
        shown = [path for path in inside if path.name[0] != "."]
        folders = [path for path in shown if path.is_dir()]
        for path in shown:
            if is_picture(path) and path not in folders:
                requirement = "pictures must lie in the folders of their classes"
                raise value_error(_OP, requirement, path=str(path))
        by_class = {folder.name: pictures_under(_OP, folder) for folder in folders}
        empty = [folder for folder in folders if not by_class[folder.name][0]]
        if len(empty) == len(folders):
            requirement = "root must have folders of images, one for each class"
            raise value_error(_OP, requirement, root=str(root))
        if empty:
            requirement = "the folder of a class must have pictures"
            raise value_error(_OP, requirement, folder=str(empty[0]))
        self.classes = list(by_class)
        self.samples = [
            (path, number)
            for number, (pictures, _) in enumerate(by_class.values())
            for path in pictures
        ]
        others = sum(count for _, count in by_class.values())
        self.ignored = len(inside) - len(folders) + others

    @property
    def paths(self) -> list[Path]:
        """Files in the order of the samples."""
        return [path for path, _ in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        size = "" if self.size is None else f", size={self.size}"
        number = f"{len(self)} samples of {len(self.classes)} classes"
        return f"{type(self).__name__}({str(self.root)!r}, {number}, {self.mode}{size})"

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, number = self.samples[sample_place(_OP, index, len(self))]
        return decode_picture(_OP, path, self.size, self.mode), number
