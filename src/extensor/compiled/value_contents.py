"""Single values: which of them never change, and how the others are compared."""

from __future__ import annotations

import ctypes
import datetime
import decimal
import hashlib
import operator
import pickle
import random
import re
import struct
import threading
import types
import typing
import uuid
from collections.abc import Iterator
from io import IOBase
from typing import Any

import numpy as np

from extensor.compiled.code_analysis import module_of
from extensor.core.tracing import Number
from extensor.errors import value_error

PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None)))
POINTERS = (type(ctypes.pointer(ctypes.c_int())).__mro__[1], ctypes.c_void_p, ctypes.c_char_p)
LARGEST = 4 * 2**20  # bytes that are compared before each run; more would cost milliseconds
_FIXED: tuple[Any, ...] = (
    *PLAIN, range, slice, type(...), type(NotImplemented), np.dtype, np.generic, np.ufunc,
    datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal,
    uuid.UUID, re.Pattern, re.Match, types.CodeType, types.FrameType, types.TracebackType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType, types.GenericAlias,
    types.UnionType, typing.TypeVar, operator.itemgetter, operator.attrgetter,
    operator.methodcaller, struct.Struct, type(threading.Lock()), type(threading.RLock()),
)  # fmt: skip


_NO_VARIABLES: Any = types.MappingProxyType({})


def variables_of(thing: Any) -> Any:
    """The ``__dict__`` of ``thing``, empty if it has none; for ``threading.local`` that of this thread."""
    kind: Any = type(thing)
    try:
        # getattr() asks the user's ``__getattr__`` where there is no ``__dict__``, but it is the only way to
        # that of an object of f2py, whose type has attributes of the old kind.
        if hasattr(kind, "__getattr__"):
            return kind.__getattribute__(thing, "__dict__")
        return getattr(thing, "__dict__", _NO_VARIABLES)
    except Exception:  # a dead weak proxy, or whatever the user's ``__getattribute__`` raises
        return _NO_VARIABLES


def has_variables(thing: Any) -> bool:
    """Whether ``thing`` holds attributes in a ``__dict__``."""
    return variables_of(thing) is not _NO_VARIABLES


def is_fixed(thing: Any) -> bool:
    """Whether a value cannot change, or changes nothing that is computed, such as a lock."""
    if isinstance(thing, _FIXED):
        return not has_variables(thing)  # a subclass may hold more
    if hasattr(type(thing), "__get__") and not has_variables(thing):
        return True  # a descriptor that an extension defines
    # Of ``_multiprocessing`` locks alone.
    return module_of(type(thing)).partition(".")[0] in ("jax", "jaxlib", "_abc", "_multiprocessing")


def plain_key(value: Any) -> Any:
    """A key that tells a plain value from all others; of anything else its identity.

    Floats are told apart by their bits: 0.0 equals -0.0, and NaN is not equal to itself.
    """
    kind = type(value)
    if kind is float:
        return kind, value.hex()
    if kind is complex:
        return kind, value.real.hex(), value.imag.hex()
    return (kind, value) if kind in PLAIN else id(value)


def is_same(x: Any, y: Any) -> bool:
    """Whether two readings of a watched value are the same."""
    return x is y or (type(x) is type(y) and type(x) in PLAIN and plain_key(x) == plain_key(y))


def are_same(now: list[Any], before: list[Any]) -> bool:
    """Whether two lists of readings are the same."""
    return len(now) == len(before) and all(map(is_same, now, before))


def nested_key(value: Any) -> Any:
    """:func:`plain_key` of all plain values in nested containers."""
    if isinstance(value, dict):
        return type(value), *[(nested_key(k), nested_key(x)) for k, x in value.items()]
    if isinstance(value, list | tuple):
        return type(value), *map(nested_key, value)
    if isinstance(value, Number):  # as the value is while a function is traced
        value = value.value
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    return plain_key(value) if type(value) in PLAIN else None


def content_bytes(thing: Any) -> bytes | None:
    """The contents of an array, a buffer or a pickleable object; None if it cannot be pickled."""
    if isinstance(thing, np.ndarray) and thing.dtype.hasobject:
        return b"".join(repr(plain_key(x)).encode() for x in thing.ravel().tolist())
    if isinstance(thing, np.ndarray):
        return thing.tobytes()
    if is_buffer(thing):
        return memoryview(thing).tobytes()
    try:
        return None if isinstance(thing, POINTERS) else pickle.dumps(thing, protocol=5)
    except Exception:  # whatever the object's own code raises
        return None


def is_buffer(thing: Any) -> bool:
    """Whether ``thing`` shows memory: ``bytearray``, ``array.array``, numbers of ``ctypes``."""
    if isinstance(thing, POINTERS):
        return False  # which shows an address
    try:
        memoryview(thing)
    except (TypeError, ValueError, BufferError):
        return False
    return True


def digest(thing: Any) -> bytes:
    """A digest of :func:`content_bytes`; the contents themselves where they are short."""
    contents = content_bytes(thing)
    if contents is None or len(contents) <= 64:
        return contents or b""
    return hashlib.blake2b(contents, digest_size=16).digest()


def check_size(name: str, thing: Any) -> None:
    """Refuse a value that is too large to be compared before each run."""
    contents = thing if isinstance(thing, np.ndarray) else content_bytes(thing)
    if contents is None:
        raise value_error(
            "compile",
            f"cannot watch {name} for changes; read it outside and pass the value as an argument",
            type=f"{type(thing).__module__}.{type(thing).__qualname__}",
        )
    size = contents.nbytes if isinstance(contents, np.ndarray) else len(contents)
    if size > LARGEST:
        raise value_error(
            "compile",
            f"{name} is too large to be compared before each call; pass the part that is needed as "
            "an argument, or make an array read-only (array.flags.writeable = False)",
            bytes=size,
        )


def is_read_only(array: Any) -> bool:
    """Whether an array and all arrays whose memory it shows are read-only."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None or isinstance(array, bytes)


def position(thing: Any) -> Any:
    """Where an iterator, a file or a random generator stands; None for anything else.

    A function that moves it would do so once, when it is traced, and never again.
    """
    if isinstance(thing, types.GeneratorType):
        return "generator", thing.gi_frame is None or thing.gi_frame.f_lasti
    if isinstance(thing, random.Random) and not isinstance(thing, random.SystemRandom):
        return thing.getstate()
    if isinstance(thing, np.random.Generator):
        return repr(thing.bit_generator.state)
    if isinstance(thing, np.random.RandomState):
        return repr(thing.get_state(legacy=False))
    if isinstance(thing, np.random.BitGenerator):
        return repr(thing.state)
    if isinstance(thing, IOBase):
        return "file", _file_position(thing)
    if isinstance(thing, Iterator) and not has_variables(thing):
        contents = content_bytes(thing)
        return "iterator", object() if contents is None else contents  # unknown: taken as moved
    return None


def _file_position(file: IOBase) -> int:
    try:
        return -1 if file.closed else file.tell()
    except (OSError, ValueError):  # a terminal or a pipe, which has no place
        return -1
