"""Pictures of samples as PNG: the format is short enough to be written by hand."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from typing import Any

import numpy as np

_CHANNELS = {1: 0, 3: 2}  # to the colour types of the format


def is_picture(sample: Any) -> bool:
    """True for an array (channels, height, width) that can be shown."""
    return np.ndim(sample) == 3 and sample.shape[0] in _CHANNELS and min(sample.shape) > 0


def picture(sample: Any, low: float, high: float) -> bytes:
    """The PNG of an array (channels, height, width), black where it is ``low`` and white at ``high``."""
    scaled = (np.moveaxis(np.asarray(sample, np.float64), 0, -1) - low) / ((high - low) or 1.0)
    pixels = np.rint(255 * np.clip(scaled, 0, 1)).astype(np.uint8)
    height, width, channels = pixels.shape
    # Each line begins with the number of its filter: none.
    lines = np.zeros((height, 1 + width * channels), np.uint8)
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _CHANNELS[channels], 0, 0, 0)
    chunks = {b"IHDR": header, b"IDAT": zlib.compress(lines.tobytes(), 9), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks.items())


def _chunk(kind: bytes, content: bytes) -> bytes:
    length, check = (struct.pack(">I", x) for x in (len(content), zlib.crc32(kind + content)))
    return length + kind + content + check


def as_uri(png: bytes) -> str:
    """The picture as a ``data:`` address, which contains it."""
    return f"data:image/png;base64,{b64encode(png).decode()}"
