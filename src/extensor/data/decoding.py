"""Pictures in files to arrays of bytes, by Pillow, which is imported when one is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from extensor.errors import is_ours, value_error
from extensor.io.limits import check_decoded
from extensor.io.paths import unreadable
from extensor.io.regular_files import open_regular

ENDINGS = frozenset(".png .jpg .jpeg .jfif .bmp .gif .webp .tif .tiff .ppm .pgm .pbm .pnm".split())
MODES = ("L", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV")
STORED_MODES = ("1", "I", "F", "P")  # numbers as a file has them: none is scaled to a byte
_TRANSPARENT = ("LA", "La", "PA", "RGBA", "RGBa")
# Pillow knows more, of which some start other programs (EPS does).
_FORMATS = ("PNG", "JPEG", "BMP", "DIB", "GIF", "WEBP", "TIFF", "PPM", "JPEG2000")
_COST = 10  # bytes of memory for a pixel: Pillow's own four, and the array in two orders
_ORIENTATION, _WIDTH, _HEIGHT = 274, 256, 257  # tags of EXIF and TIFF
_BITS, _PHOTOMETRIC = 258, 262
_LYING = (5, 6, 7, 8)  # orientations that exchange height and width


def decoded(
    op: str, path: Path, size: tuple[int, int] | None, mode: str, content: bytes | None = None
) -> Any:
    """The picture in a file as (channels, height, width), upright and of ``size`` if one is given.

    The first of several frames. What is transparent lies over white, unless the mode has alpha; of
    16 bits the upper 8 are taken. With ``content`` that is the file, and ``path`` only names it.
    """
    with _opened(op, path, content) as picture:
        from PIL import Image, ImageOps

        bits = 0 if mode in STORED_MODES else _bits(op, path, picture)
        # In place, as a copy of a large picture is large too.
        ImageOps.exif_transpose(picture, in_place=True)
        upright = picture
        if mode not in STORED_MODES:
            upright = _of_bytes(op, path, upright, bits)
            if mode not in _TRANSPARENT and _is_transparent(upright):
                upright = _over_white(upright)
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
    with _opened(op, path) as picture:
        # Some versions of Pillow have turned the size of a TIFF already, others have not.
        tags = picture.tag_v2 if picture.format == "TIFF" else {}
        width, height = tags.get(_WIDTH, picture.width), tags.get(_HEIGHT, picture.height)
        orientation = tags.get(_ORIENTATION) if tags else picture.getexif().get(_ORIENTATION)
    return (width, height) if orientation in _LYING else (height, width)


@contextmanager
def _opened(op: str, path: Path, content: bytes | None = None) -> Iterator[Any]:
    """Pillow's picture; whatever it says of a file that is none is said in our words."""
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


def _is_transparent(picture: Any) -> bool:
    return picture.mode in _TRANSPARENT or "transparency" in picture.info


def _over_white(picture: Any) -> Any:
    from PIL import Image

    white = Image.new("RGBA", picture.size, "white")
    white.alpha_composite(picture.convert("RGBA"))
    return white.convert("RGB")
