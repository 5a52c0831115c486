"""The members of a sample in a tar shard, by the endings of their names, as arrays."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from extensor.arrays.dtypes import float32, int64, uint8
from extensor.data.decoding import ENDINGS, decoded
from extensor.data.npy import read_npy
from extensor.data.streaming.shard import OP, Part, damaged, usable_dtype
from extensor.errors import is_ours, marked, value_error
from extensor.io.state import DamagedFileError

PICTURE = "picture"  # the name of a part that is a picture, whatever its ending
_TARGETS = ("cls", "json", "txt")
_PICTURES = frozenset(ending[1:] for ending in ENDINGS)
_CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4, "YCbCr": 3, "LAB": 3, "HSV": 3}


def usual_parts(endings: list[str], path: Path) -> list[str]:
    """The parts of a sample with these endings: a picture or array, and what is to be learned.

    Names without a dot come first; else ``x.npy`` and ``y.cls`` are taken by their last ending.
    """
    plain = [PICTURE for ending in endings if ending in _PICTURES] or ["npy"] * ("npy" in endings)
    targets = [ending for ending in _TARGETS if ending in endings]
    pair = [_only(endings, f"{name}.") for name in "xy"]
    if not plain and not targets and None not in pair:
        return [str(name) for name in pair]
    inputs = plain or [x for x in endings if _format(x) == "npy" or _format(x) in _PICTURES]
    if not targets:
        others = [x for x in endings if _format(x) in _TARGETS and x not in inputs]
        targets = others if len(others) == 1 else []
    if len(inputs) != 1:
        requirement = "parts must say which members make a sample, as parts=('jpg', 'cls')"
        raise value_error(OP, requirement, path=str(path), members=endings)
    return [*inputs, *targets[:1]]


def _only(endings: list[str], beginning: str) -> str | None:
    """The one ending that begins so, if there is exactly one."""
    found = [ending for ending in endings if ending.startswith(beginning)]
    return found[0] if len(found) == 1 else None


def _format(name: str) -> str:
    """How a member is written, by the last of its endings: ``npy`` for ``x.npy``."""
    return name.rpartition(".")[2]


def _json_member(part: str) -> tuple[str, str] | None:
    """The ending of the member and the key in it, of a part such as ``meta.json.label``."""
    before, dot, key = f".{part}".partition(".json.")
    return (f"{before}.json"[1:], key) if dot else None


def matches(part: str, ending: str) -> bool:
    """Whether a member with this ending is that part: ``json.label`` is a key in a ``.json``."""
    if part == PICTURE:
        return ending in _PICTURES
    entry = _json_member(part)
    return ending == part or (entry is not None and ending == entry[0])


class Decoding:
    """How members become arrays: pictures of one size and mode, numbers from text and JSON."""

    def __init__(self, size: tuple[int, int] | None, mode: str) -> None:
        self.size = size
        self.mode = mode

    def part(self, name: str, content: bytes, where: Path) -> Part:
        """What a part is, from that of the first sample."""
        if self._is_picture(name) and self.size is not None:
            return Part(name, uint8, (_CHANNELS[self.mode], *self.size))
        array = self.array(name, content, where)
        return Part(name, array.dtype, array.shape)

    def array(self, name: str, content: bytes, where: Path) -> Any:
        """A member; ``where`` names the shard and the sample in messages."""
        if self._is_picture(name):
            try:
                return decoded(OP, where, self.size, self.mode, content)
            except ValueError as error:
                raise marked(DamagedFileError(str(error))) from None
        if (entry := _json_member(name)) or _format(name) == "json":
            return _numbers(_entry(content, entry[1] if entry else "", name, where), name, where)
        if _format(name) == "npy":
            return _npy(content, where)
        try:
            text = content.decode().strip()
            if "_" in text:
                raise ValueError
            return _numbers(int(text) if _is_whole(text) else float(text), name, where)
        except ValueError as error:
            if is_ours(error):
                raise
            requirement = f"a member .{name} must be a number (parts= chooses among the members)"
            raise damaged(requirement, where) from None

    def checked(self, part: Part, content: bytes, where: Path) -> Any:
        """A member that must be as those of other samples are."""
        array = self.array(part.name, content, where)
        if array.shape != part.shape:
            pictures = self.size is None and self._is_picture(part.name)
            hint = " (size= resizes pictures)" if pictures else ""
            requirement = f"{part.name} must have shape {part.shape} in every sample{hint}"
            raise damaged(requirement, where, shape=array.shape)
        whole_number = (
            array.dtype == int64 and part.dtype == float32 and _format(part.name) != "npy"
        )
        if array.dtype != part.dtype and not whole_number:
            requirement = f"{part.name} must be {part.dtype} in every sample"
            raise damaged(requirement, where, dtype=str(array.dtype))
        return array

    def _is_picture(self, name: str) -> bool:
        return name == PICTURE or (_json_member(name) is None and _format(name) in _PICTURES)


def _npy(content: bytes, where: Path) -> Any:
    try:
        array = read_npy(io.BytesIO(content), len(content))
    except MemoryError:
        raise
    except Exception as error:
        raise damaged("a member .npy must be a whole array of numbers", where) from error
    return np.ascontiguousarray(array, usable_dtype(where, "a member .npy", array.dtype))


def _is_whole(text: str) -> bool:
    return text.lstrip("+-").isdecimal() and text.isascii()


def _entry(content: bytes, key: str, name: str, where: Path) -> Any:
    """The value in a member ``.json``, or that of a key in it."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise damaged("a member .json must be JSON", where) from None
    if not key and isinstance(value, dict):
        requirement = f"parts must name a key of .json, as '{name}.label'"
        raise value_error(OP, requirement, path=str(where), keys=list(value)[:10])
    if key and not (isinstance(value, dict) and key in value):
        raise damaged(f"a member .json must have the key {key!r}", where)
    return value[key] if key else value


def _numbers(value: Any, name: str, where: Path) -> Any:
    """A number, or lists of them, as an array of int64, float32 or bool."""
    try:
        array = np.array(value)
    except (ValueError, TypeError, RecursionError):
        array = np.array(None)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            narrow = array.astype(float32)
        if not np.isfinite(narrow).all():
            raise damaged(f"{name} must be a number that float32 has, not NaN or infinity", where)
        return narrow
    if array.dtype.kind in "ib":
        return array.astype(int64 if array.dtype.kind == "i" else bool)
    requirement = f"{name} must be a number, or lists of them of the same length"
    raise damaged(requirement, where)
