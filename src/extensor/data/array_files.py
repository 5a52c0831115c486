"""Files of arrays: NumPy's ``.npy`` and ``.npz``, IDX and CIFAR-10, plain or compressed."""

from __future__ import annotations

import lzma
import tokenize
import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from extensor.errors import is_ours, value_error
from extensor.io.limits import check_decoded, read_content
from extensor.io.paths import as_path, unreadable
from extensor.io.regular_files import check_regular

# A header is a Python literal, whose parser fails in many ways on what is none.
_FAILURES = (
    ValueError,
    EOFError,
    SyntaxError,
    TypeError,
    OverflowError,
    RecursionError,
    MemoryError,
    tokenize.TokenError,
)


class NpyError(ValueError):
    """The bytes are not those of an ``.npy`` file."""


class NpyHeader(NamedTuple):
    """The header of an ``.npy`` file: its array, and the number of bytes of the header."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: Any
    length: int

    @property
    def data_size(self) -> int:
        """How many bytes must follow the header."""
        return int(prod(self.shape) * self.dtype.itemsize)


def read_npy_header(stream: Any) -> NpyHeader:
    """The header at the place of ``stream``, which stands behind it afterwards."""
    begin = stream.tell()
    try:
        is_first = npy.read_magic(stream) == (1, 0)
        read = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except _FAILURES as error:
        raise NpyError(str(error)) from None
    if not all(isinstance(size, int) and 0 <= size < 2**63 for size in shape):
        raise NpyError("sizes must be whole numbers")
    return NpyHeader(tuple(shape), fortran, dtype, stream.tell() - begin)


def read_npy(stream: Any, size: int) -> Any:
    """The array in the next ``size`` bytes of ``stream``, which it must fill.

    NumPy takes the memory that a header asks for before it looks whether there are so many bytes.
    """
    begin = stream.tell()
    header = read_npy_header(stream)
    if header.dtype.hasobject:
        raise NpyError("objects would have to be unpickled")
    if header.length + header.data_size != size:
        raise NpyError(f"{header.data_size} bytes must follow the header")
    stream.seek(begin)
    return npy.read_array(stream, allow_pickle=False)


_IDX_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError)
_CIFAR_IMAGE = (3, 32, 32)


def read_idx(path: str | Path) -> Any:
    """Read an array from an IDX file, the format of MNIST, plain or compressed by gzip.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    numpy.ndarray
        The array, in the shape and dtype of the file and the byte order of the machine.

    Raises
    ------
    ValueError
        If the file is not a whole IDX file.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from extensor.data import read_idx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels")
    ...     _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
    ...     read_idx(path)
    array([7, 2, 1], dtype=uint8)
    """
    content = read_content("read_idx", path)
    kind, axes = content[2:4] if len(content) >= 4 else (0, 0)
    begin = 4 + 4 * axes
    if content[:2] != b"\0\0" or kind not in _IDX_DTYPES or len(content) < begin:
        raise value_error("read_idx", "file must begin as an IDX file", path=str(path))
    shape = tuple(int(size) for size in np.frombuffer(content, ">u4", axes, 4))
    dtype = np.dtype(_IDX_DTYPES[kind])
    length = prod(shape) * dtype.itemsize
    if len(content) - begin != length:
        requirement = f"file must have {length} bytes of data for shape {shape}"
        given = {"bytes": len(content) - begin, "path": str(path)}
        raise value_error("read_idx", requirement, **given)
    array = np.frombuffer(content, dtype, offset=begin).reshape(shape)
    return array.astype(dtype.newbyteorder("="))


def read_cifar10(*paths: str | Path) -> tuple[Any, Any]:
    """Read batches in CIFAR-10's binary version.

    Parameters
    ----------
    *paths : str or Path
        The files, at least one.

    Returns
    -------
    images : numpy.ndarray of uint8, (samples, 3, 32, 32)
        The pictures of all files.
    labels : numpy.ndarray of int64, (samples,)
        Their classes.

    Raises
    ------
    ValueError
        If there is no file, or the size of one is not a multiple of that of a record.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from extensor.data import read_cifar10
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "batch.bin")
    ...     _ = path.write_bytes(bytes([4, *[0] * 3072, 9, *[255] * 3072]))
    ...     images, labels = read_cifar10(path)
    >>> images.shape, labels
    ((2, 3, 32, 32), array([4, 9]))
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
    """Map the arrays of an ``.npy`` or ``.npz`` file into memory.

    Data are read when they are accessed, so a file may be larger than memory. Arrays of a compressed
    ``.npz`` file cannot be mapped and are read at once.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    numpy.ndarray or dict of str to numpy.ndarray
        The array of an ``.npy`` file, or the arrays of an ``.npz`` file by their names. Those that are
        mapped are read-only.

    Raises
    ------
    ValueError
        If the file is damaged or has objects, which would have to be unpickled.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from extensor.data import read_arrays
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/a.npz", x=np.ones((4, 2)), y=np.arange(4))
    ...     arrays = read_arrays(f"{folder}/a.npz")
    ...     {name: array.shape for name, array in arrays.items()}, arrays["y"].tolist()
    ({'x': (4, 2), 'y': (4,)}, [0, 1, 2, 3])
    """
    op = "read_arrays"
    path = as_path(op, path)
    try:
        check_regular(path)
        if not zipfile.is_zipfile(path):
            with path.open("rb") as file:
                header = read_npy_header(file)
            return _mapped(path, header.length, header, path.stat().st_size)
        with zipfile.ZipFile(path) as archive:
            members = npy_members(archive)
            packed = [
                x.file_size for x in members.values() if x.compress_type != zipfile.ZIP_STORED
            ]
            check_decoded(op, path, sum(packed), path.stat().st_size)
            return {name: _member(path, archive, info) for name, info in members.items()}
    except (OSError, RuntimeError, ValueError, EOFError, *_DAMAGE) as error:
        if is_ours(error):
            raise
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(op, path, error) from error
        requirement = "file must hold arrays of numbers, as a whole .npy or .npz"
        raise value_error(op, requirement, path=str(path)) from error


def npy_members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The arrays of an ``.npz`` file by their names."""
    members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    return {info.filename.removesuffix(".npy"): info for info in members}


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    with archive.open(info) as stream:
        if info.compress_type != zipfile.ZIP_STORED:
            return read_npy(stream, info.file_size)
        header = read_npy_header(stream)
    with path.open("rb") as file:
        begin = stored_begin(file, info)
    return _mapped(path, begin + header.length, header, begin + info.file_size)


def stored_begin(file: BinaryIO, info: zipfile.ZipInfo) -> int:
    """Where the data of a member that is not compressed begin in the file of its archive."""
    # They follow the local header, which repeats the name and may have more extra fields than the
    # directory of the archive knows of.
    file.seek(info.header_offset + 26)
    sizes = int.from_bytes(file.read(2), "little") + int.from_bytes(file.read(2), "little")
    return info.header_offset + 30 + sizes


def _mapped(path: Path, offset: int, header: NpyHeader, end: int) -> Any:
    """The array whose bytes begin at ``offset`` and lie before ``end``."""
    if header.dtype.hasobject or offset + header.data_size > end:
        raise NpyError("the file does not have the array that its header describes")
    if header.data_size == 0:
        return np.empty(header.shape, header.dtype)
    order: Any = "F" if header.fortran else "C"
    return np.memmap(path, header.dtype, "r", offset, header.shape, order)
