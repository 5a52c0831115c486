"""Tensors and states whose values are on a device, and how they come back.

A tensor that a compiled function has bound or returned keeps a :class:`Cell` in the place of its
array, and is of a subclass whose ``_array`` brings the values home: into the NumPy memory that it had
before, so that whoever looks at that memory sees them too. The native short ways decline a cell, as
they decline any array that is not NumPy's, and the long way reads ``_array``. So nothing that
computes, saves or prints knows of devices, and what stays on NumPy pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from math import prod
from sys import getrefcount
from threading import RLock
from typing import Any, SupportsIndex

import numpy as np

from extensor import _native
from extensor.arrays import storage
from extensor.arrays.dtypes import is_bfloat16
from extensor.core import changes
from extensor.core.structures import leaves_in, map_leaves
from extensor.core.tensor import Tensor
from extensor.errors import marked

array_of: Callable[[Any], Any] = _native.TensorBase._array.__get__  # a tensor's array, or its cell
_array: Any = _native.TensorBase._array

# Held while a program takes its inputs and gives its outputs, and while values come home: a run may
# destroy the arrays that it changes.
LOCK = RLock()


class Cell:
    """An array on a device; ``home`` is the NumPy memory that its values belong in, if any.

    Until they are back that memory cannot be written to: such a change would be lost.
    """

    __slots__ = ("_is_locked", "home", "is_changed", "value")

    def __init__(self, value: Any, home: Any = None) -> None:
        self.value = value
        self.home = home
        self.is_changed = False
        self._is_locked = home is not None and isinstance(home, np.ndarray) and home.flags.writeable
        if self._is_locked:
            home.flags.writeable = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    def bring_home(self) -> Any:
        """The values in NumPy memory, their own if they have any."""
        if self._is_locked and not self.is_changed:
            self.unlock()
            return self.home
        try:
            values = np.asarray(self.value)
        except RuntimeError as error:
            raise marked(
                RuntimeError(
                    "compile: a value on the device was lost in a run that failed; load it again"
                )
            ) from error
        if not self._is_locked:
            return storage.copied(values)
        self.unlock()
        self.home[...] = values
        changes.mark(self.home)
        return self.home

    def unlock(self) -> None:
        """Let the memory be written to again: the values are there, or wanted no more."""
        if self._is_locked:
            self._is_locked = False
            self.home.flags.writeable = True

    def __del__(self) -> None:
        # Whoever still holds the memory of a tensor that is gone finds its last values there.
        if self._is_locked:
            with suppress(Exception):
                if self.is_changed and getrefcount(self.home) > 2:
                    self.bring_home()
                self.unlock()


def cell_of(tensor: Tensor) -> Cell | None:
    """The cell of a tensor whose values are on a device, else None."""
    held = array_of(tensor)
    return held if type(held) is Cell else None


def has_gradient(x: Any) -> bool:
    """Whether ``x`` is a tensor with a gradient."""
    return isinstance(x, Tensor) and x._requires_grad and x.grad is not None


def move_out(tensor: Tensor, cell: Cell) -> None:
    """Let the values of ``tensor`` be those of ``cell`` from now on."""
    if not isinstance(tensor, Resident):
        kind: Any = type(tensor)
        tensor.__class__ = _resident_class(kind)
    _array.__set__(tensor, cell)


def new_tensor(value: Any) -> Tensor:
    """A tensor around an array on a device."""
    made: Tensor = _OnDevice.__new__(_OnDevice)
    _array.__set__(made, Cell(value))
    return made


def _bring_home(tensor: Any) -> Any:
    with LOCK:
        held = array_of(tensor)
        if type(held) is not Cell:  # another thread was quicker
            return held
        array = held.bring_home()
        _settle(tensor, array)
        return array


def _settle(tensor: Any, array: Any) -> None:
    held = array_of(tensor)
    if type(held) is Cell:
        held.unlock()
    _array.__set__(tensor, array)
    tensor.__class__ = type(tensor)._at_home


class Resident(Tensor):
    """The base of all classes of tensors on a device."""

    __slots__ = ()
    _at_home: Any = Tensor

    _array = property(_bring_home, _settle)
    shape = property(lambda self: array_of(self).shape)
    dtype = property(lambda self: array_of(self).dtype)
    ndim = property(lambda self: array_of(self).ndim)
    size = property(lambda self: array_of(self).size)

    @property
    def device(self) -> str:
        """Where the array is, in the words of its library."""
        return str(getattr(array_of(self), "value", array_of(self)).device)

    def item(self) -> Any:
        """The only element, as a Python number; the tensor stays where it is."""
        with LOCK:
            cell = array_of(self)
            if type(cell) is Cell and cell.shape == () and not is_bfloat16(cell.dtype):
                return np.asarray(cell.value).item()
        _bring_home(self)
        return self.item()

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        _bring_home(self)
        return self.__deepcopy__(memo)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        _bring_home(self)
        return self.__reduce_ex__(protocol)


@cache
def _resident_class(kind: Any) -> Any:
    # ``kind`` comes first, or Python says that the layouts differ where its tensors have attributes;
    # what Resident overrides is therefore repeated.
    names = {name: x for name, x in vars(Resident).items() if name not in ("__doc__", "__dict__")}
    names |= {"_at_home": kind, "__module__": kind.__module__, "__doc__": kind.__doc__}
    bases = (Resident,) if kind is Tensor else (kind, Resident)
    return type(kind.__name__, bases, names)


_OnDevice: Any = _resident_class(Tensor)


class _Away:
    """A mixin: the attribute that ``_away`` names is missing while its arrays are in cells."""

    _away: str
    _at_home: Any
    _cells: Any

    def __getattr__(self, name: str) -> Any:
        if name != type(self)._away:
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")
        with LOCK:
            if name not in self.__dict__:
                self.__dict__[name] = map_leaves(self._cells, lambda cell: cell.bring_home())
                self.__dict__.pop("_cells")
                self.__class__ = self._at_home
            return self.__dict__[name]

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        getattr(self, type(self)._away)  # copies and pickles are made of what is at home
        return object.__reduce_ex__(self, protocol)


@cache
def _away_class(kind: Any, attribute: str) -> Any:
    names = {"_away": attribute, "_at_home": kind, "__module__": kind.__module__}
    return type(kind.__name__, (_Away, kind), names)


def cells_in(owner: Any, attribute: str) -> Any:
    """Arrays in nested lists, an attribute of ``owner``: as cells where they are on a device."""
    if attribute in owner.__dict__:
        return owner.__dict__[attribute]
    return owner._cells


def move_out_of(owner: Any, attribute: str, upload: Callable[[Any], Cell]) -> Any:
    """Put the arrays that ``attribute`` of ``owner`` holds on a device; returns their cells."""
    if attribute in owner.__dict__:
        for cell in leaves_in(owner.__dict__.pop("_cells", None)):  # another state was loaded
            cell.unlock()
        owner._cells = map_leaves(owner.__dict__.pop(attribute), upload)
        if not isinstance(owner, _Away):
            kind: Any = type(owner)
            owner.__class__ = _away_class(kind, attribute)
    return owner._cells
