"""Readers of files that hold arrays. None of them runs or unpickles what it reads."""

from __future__ import annotations

import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from extensor.data.content import read_content
from extensor.errors import value_error
from extensor.io.paths import as_path, unreadable
from extensor.io.regular_files import check_regular

_IDX_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
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
    path = as_path("read_arrays", path)
    try:
        check_regular(path)
        if not zipfile.is_zipfile(path):
            return np.lib.format.open_memmap(path, mode="r")
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            return {
                info.filename.removesuffix(".npy"): _member(path, archive, info) for info in members
            }
    except OSError as error:
        raise unreadable("read_arrays", path, error) from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        requirement = "file must hold arrays of numbers, as a whole .npy or .npz"
        raise value_error("read_arrays", requirement, path=str(path)) from error


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
