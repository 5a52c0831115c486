"""Readers of files that hold arrays. None of them runs or unpickles what it reads."""

from __future__ import annotations

import csv
import gzip
import zipfile
import zlib
from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from extensor.dtypes import get_default_dtype
from extensor.errors import value_error
from extensor.explanation import explaining

_GZIP = b"\x1f\x8b"
_IDX_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_CIFAR_IMAGE = (3, 32, 32)


@explaining
def read_idx(path: str | Path) -> Any:
    """The array in an IDX file, the format of MNIST, plain or compressed by gzip."""
    content = _content("read_idx", path)
    kind, axes = content[2:4] if len(content) >= 4 else (0, 0)
    begin = 4 + 4 * axes
    if content[:2] != b"\0\0" or kind not in _IDX_DTYPES or len(content) < begin:
        raise value_error("read_idx", "file must begin as an IDX file", path=str(path))
    shape = tuple(int(size) for size in np.frombuffer(content, ">u4", axes, 4))
    dtype = np.dtype(_IDX_DTYPES[kind])
    length = prod(shape) * dtype.itemsize
    if len(content) - begin != length:
        raise value_error(
            "read_idx",
            f"file must have {length} bytes of data for shape {shape}",
            bytes=len(content) - begin,
            path=str(path),
        )
    array = np.frombuffer(content, dtype, offset=begin).reshape(shape)
    return array.astype(dtype.newbyteorder("="))


def _content(op: str, path: str | Path) -> bytes:
    content = Path(path).read_bytes()
    if not content.startswith(_GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise value_error(op, f"gzip file must be whole ({error})", path=str(path)) from None


@explaining
def read_cifar10(*paths: str | Path) -> tuple[Any, Any]:
    """Images and labels of batches in CIFAR-10's binary version, one after the other.

    The images have shape (samples, 3, 32, 32) and are bytes.
    """
    if not paths:
        raise value_error("read_cifar10", "there must be at least one path", paths=paths)
    length = 1 + prod(_CIFAR_IMAGE)
    records = []
    for path in paths:
        content = np.frombuffer(_content("read_cifar10", path), np.uint8)
        if content.size % length:
            requirement = f"file must have a multiple of {length} bytes"
            raise value_error("read_cifar10", requirement, bytes=content.size, path=str(path))
        records.append(content.reshape(-1, length))
    joined = np.concatenate(records)
    return joined[:, 1:].reshape(-1, *_CIFAR_IMAGE), joined[:, 0].astype(np.int64)


@explaining
def read_arrays(path: str | Path) -> Any:
    """The array of an ``.npy`` file, or a dict of those in an ``.npz``, mapped from the disk.

    What is used is read when it is used, so the file may be larger than the memory. The arrays of a
    compressed ``.npz`` cannot be mapped and are read whole.
    """
    path = Path(path)
    try:
        if not zipfile.is_zipfile(path):
            return np.lib.format.open_memmap(path, mode="r")
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            return {
                info.filename.removesuffix(".npy"): _member(path, archive, info) for info in members
            }
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        requirement = f"file must hold arrays of numbers ({error})"
        raise value_error("read_arrays", requirement, path=str(path)) from None


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    with archive.open(info) as stream:
        if info.compress_type != zipfile.ZIP_STORED:
            return np.lib.format.read_array(stream, allow_pickle=False)
        version = np.lib.format.read_magic(stream)
        read_header = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, fortran, dtype = read_header(stream)
        header = stream.tell()
    if dtype.hasobject:
        raise ValueError("object arrays are not read")
    if prod(shape) == 0:
        return np.empty(shape, dtype)
    with path.open("rb") as file:
        # The data of a member follow its local header, which repeats the name and may have more
        # extra fields than the directory of the archive knows of.
        file.seek(info.header_offset + 26)
        names = int.from_bytes(file.read(2), "little") + int.from_bytes(file.read(2), "little")
    offset = info.header_offset + 30 + names + header
    return np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")


@explaining
def read_csv(
    path: str | Path, target: str | int | None = -1, delimiter: str = ","
) -> tuple[Any, Any] | Any:
    """The columns of a CSV file as a matrix, and apart from it the column ``target``.

    ``target`` is a name from the first line, or a number; None leaves all columns together. Names
    are in the first line if not all of it are numbers. A target of whole numbers becomes classes;
    one of words becomes the numbers of the words in alphabetical order.
    """
    names, rows, named = _cells(path, delimiter, target is not None)
    if target is None:
        return _matrix(rows, names, range(len(names)), named)
    column = _column(names, target)
    others = [i for i in range(len(names)) if i != column]
    return _matrix(rows, names, others, named), _targets([row[column] for row in rows])


@explaining
def csv_classes(path: str | Path, target: str | int = -1, delimiter: str = ",") -> list[str] | None:
    """The words that :func:`read_csv` numbers, in their order; None if the targets are numbers."""
    names, rows, _ = _cells(path, delimiter, has_target=True)
    column = _column(names, target)
    words = sorted({row[column] for row in rows})
    return None if all(_number(word) is not None for word in words) else words


def _cells(
    path: str | Path, delimiter: str, has_target: bool
) -> tuple[list[str], list[list[str]], bool]:
    """The names of the columns, the other lines, and whether there are names in the first."""
    if not isinstance(delimiter, str) or len(delimiter) != 1:
        raise value_error("read_csv", "delimiter must be one character", delimiter=delimiter)
    with Path(path).open(newline="", encoding="utf-8") as file:
        lines = csv.reader(file, delimiter=delimiter)
        rows = [[cell.strip() for cell in row] for row in lines if row]
    if not rows:
        raise value_error("read_csv", "file must have at least one line", path=str(path))
    names = rows[0]
    named = any(_number(cell) is None for cell in (names[:-1] if has_target else names))
    rows = rows[1:] if named else rows
    for number, row in enumerate(rows, 1 + named):
        if len(row) != len(names):
            requirement = f"a line must have {len(names)} columns"
            raise value_error("read_csv", requirement, line=number, columns=len(row))
    return names, rows, named


def _column(names: list[str], target: str | int) -> int:
    if isinstance(target, str):
        if target not in names:
            raise value_error("read_csv", f"target must be one of {names}", target=target)
        return names.index(target)
    if not -len(names) <= target < len(names):
        raise value_error("read_csv", f"target must be one of {len(names)} columns", target=target)
    return target % len(names)


def _matrix(rows: list[list[str]], names: list[str], columns: Iterable[int], named: bool) -> Any:
    chosen = list(columns)
    result = np.empty((len(rows), len(chosen)), get_default_dtype())
    for line, row in enumerate(rows):
        for place, column in enumerate(chosen):
            number = _number(row[column])
            if number is None:
                raise value_error(
                    "read_csv",
                    "cells must be numbers",
                    line=line + 1 + named,
                    column=names[column] if named else column,
                    cell=row[column],
                )
            result[line, place] = number
    return result


def _targets(cells: list[str]) -> Any:
    numbers = [_number(cell) for cell in cells]
    if None in numbers:
        return np.unique(np.array(cells), return_inverse=True)[1]
    values = np.array(numbers, np.float64)
    whole = bool((values == np.round(values)).all()) and "." not in "".join(cells)
    return values.astype(np.int64 if whole else get_default_dtype())


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
