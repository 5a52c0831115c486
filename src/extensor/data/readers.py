"""Readers of files that hold arrays. None of them runs or unpickles what it reads."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from extensor.data.content import read_content
from extensor.data.npy import NpyError, NpyHeader, read_npy, read_npy_header
from extensor.errors import is_ours, value_error
from extensor.io.limits import check_decoded
from extensor.io.paths import as_path, unreadable
from extensor.io.regular_files import check_regular

_IDX_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError)
_CIFAR_IMAGE = (3, 32, 32)


def read_idx(path: str | Path) -> Any:
    """The array in an IDX file, the format of MNIST, plain or compressed by gzip."""
    content = read_content("read_idx", path)
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


def read_cifar10(*paths: str | Path) -> tuple[Any, Any]:
    """Images and labels of batches in CIFAR-10's binary version, one after the other.

    The images have shape (samples, 3, 32, 32) and are bytes.
    """
    if not paths:
        raise value_error("read_cifar10", "at least one file must be given", paths=paths)
    length = 1 + prod(_CIFAR_IMAGE)
    records = []
    for path in paths:
        content = np.frombuffer(read_content("read_cifar10", path), np.uint8)
        if content.size % length:
            requirement = f"file must have a multiple of {length} bytes"
            raise value_error("read_cifar10", requirement, bytes=content.size, path=str(path))
        records.append(content.reshape(-1, length))
    joined = np.concatenate(records)
    return joined[:, 1:].reshape(-1, *_CIFAR_IMAGE), joined[:, 0].astype(np.int64)


def read_arrays(path: str | Path) -> Any:
    """The array of an ``.npy`` file, or a dict of those in an ``.npz``, mapped from the disk.

    What is used is read when it is used, so the file may be larger than the memory. The arrays of a
    compressed ``.npz`` cannot be mapped and are read whole.
    """
    op = "read_arrays"
    path = as_path(op, path)
    try:
        check_regular(path)
        if not zipfile.is_zipfile(path):
            return _plain(path)
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            packed = [x.file_size for x in members if x.compress_type != zipfile.ZIP_STORED]
            check_decoded(op, path, sum(packed), path.stat().st_size)
            return {
                info.filename.removesuffix(".npy"): _member(path, archive, info) for info in members
            }
    except (OSError, RuntimeError, ValueError, EOFError, *_DAMAGE) as error:
        if is_ours(error):
            raise
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(op, path, error) from error
        requirement = "file must hold arrays of numbers, as a whole .npy or .npz"
        raise value_error(op, requirement, path=str(path)) from error


def _plain(path: Path) -> Any:
    with path.open("rb") as file:
        header = read_npy_header(file)
    return _mapped(path, header.length, header, path.stat().st_size)


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    with archive.open(info) as stream:
        if info.compress_type != zipfile.ZIP_STORED:
            return read_npy(stream, info.file_size)
        header = read_npy_header(stream)
    with path.open("rb") as file:
        # The data of a member follow its local header, which repeats the name and may have more
        # extra fields than the directory of the archive knows of.
        file.seek(info.header_offset + 26)
        names = int.from_bytes(file.read(2), "little") + int.from_bytes(file.read(2), "little")
    begin = info.header_offset + 30 + names
    return _mapped(path, begin + header.length, header, begin + info.file_size)


def _mapped(path: Path, offset: int, header: NpyHeader, end: int) -> Any:
    """The array whose bytes begin at ``offset`` and lie before ``end``."""
    if header.dtype.hasobject or offset + header.data_size > end:
        raise NpyError("the file does not have the array that its header describes")
    if header.data_size == 0:
        return np.empty(header.shape, header.dtype)
    order: Any = "F" if header.fortran else "C"
    return np.memmap(path, header.dtype, "r", offset, header.shape, order)
