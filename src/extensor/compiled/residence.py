"""Tensors and states whose values are on a device, and how they come back.

A tensor that a compiled function has bound or returned keeps a :class:`Cell` in the place of its
array, and is of a subclass whose ``_array`` brings the values home: into the NumPy memory that it had
before, so that whoever looks at that memory sees them too. The native short ways decline a cell, as
they decline any array that is not NumPy's, and the long way reads ``_array``. So nothing that
computes, saves or prints knows of devices, and what stays on NumPy pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any, SupportsIndex

import numpy as np

from extensor import _native
from extensor.arrays import storage
from extensor.arrays.dtypes import is_bfloat16
from extensor.core import changes
from extensor.core.tensor import Tensor
from extensor.errors import marked

_array: Any = _native.TensorBase._array
_grad: Any = _native.TensorBase.grad


class Epoch:
    """Counts what may change the inputs of a compiled function: while it stands still, none has."""

    number = 0


def touch() -> None:
    """Note that something came home, or got another gradient."""
    Epoch.number += 1


class Cell:
    """An array on a device; ``home`` is the NumPy memory that its values belong in, if any.

    It is ``bound`` if it is an input of compiled functions that do not ask for it at each call.
    """

    __slots__ = ("bound", "dtype", "home", "shape", "value")

    def __init__(self, value: Any, home: Any = None) -> None:
        self.value = value
        self.home = home
        self.bound = home is not None
        self.shape = value.shape
        self.dtype = value.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    def brought_home(self) -> Any:
        """The values in NumPy memory, their own if they have any."""
        try:
            values = np.asarray(self.value)
        except RuntimeError as error:
            raise marked(
                RuntimeError(
                    "compile: a value on the device was lost in a run that failed; load it again"
                )
            ) from error
        if self.home is None or not self.home.flags.writeable:
            return storage.copied(values)
        self.home[...] = values
        changes.mark(self.home)
        return self.home


def cell_of(tensor: Tensor) -> Cell | None:
    """The cell of a tensor whose values are on a device, else None."""
    held = _array.__get__(tensor)
    return held if type(held) is Cell else None


def held_by(tensor: Tensor) -> Any:
    """The array of ``tensor``, or the cell in its place."""
    return _array.__get__(tensor)


def move_out(tensor: Tensor, cell: Cell) -> None:
    """Let the values of ``tensor`` be those of ``cell`` from now on."""
    if not isinstance(tensor, Resident):
        kind: Any = type(tensor)
        tensor.__class__ = _resident(kind)
    _array.__set__(tensor, cell)


def new_tensor(value: Any) -> Tensor:
    """A tensor around an array on a device."""
    made = Tensor.__new__(Tensor)
    move_out(made, Cell(value))
    return made


def _bring_home(tensor: Any) -> Any:
    held = _array.__get__(tensor)
    if type(held) is Cell:
        array = held.brought_home()
        _settle(tensor, array)
        return array
    return held


def _settle(tensor: Any, array: Any) -> None:
    held = _array.__get__(tensor)
    if type(held) is not Cell or held.bound:
        touch()
    tensor.__class__ = type(tensor)._at_home
    _array.__set__(tensor, array)


def _set_grad(tensor: Any, value: Any) -> None:
    touch()
    _grad.__set__(tensor, value)


def _set_requires_grad(tensor: Any, value: Any) -> None:
    touch()
    Tensor.requires_grad.fset(tensor, value)  # type: ignore[attr-defined]


class Resident(Tensor):
    """What the subclasses of tensors on a device have in common."""

    __slots__ = ()
    _at_home: Any = Tensor

    _array = property(_bring_home, _settle)
    grad = property(_grad.__get__, _set_grad)
    requires_grad = property(lambda self: self._requires_grad, _set_requires_grad)
    shape = property(lambda self: held_by(self).shape)
    dtype = property(lambda self: held_by(self).dtype)
    ndim = property(lambda self: held_by(self).ndim)
    size = property(lambda self: held_by(self).size)

    @property
    def device(self) -> str:
        """Where the array is, in the words of its library."""
        return str(held_by(self).value.device)

    def item(self) -> Any:
        """The only element, as a Python number; the tensor stays where it is."""
        cell = held_by(self)
        if cell.size != 1 or is_bfloat16(cell.dtype):
            _bring_home(self)
            return self.item()
        return cell.value.item()

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        _bring_home(self)
        return self.__deepcopy__(memo)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        _bring_home(self)
        return self.__reduce_ex__(protocol)


@cache
def _resident(kind: Any) -> Any:
    names = {"__slots__": (), "_at_home": kind, "__module__": kind.__module__}
    made = type(kind.__name__, (Resident, kind) if kind is not Tensor else (Resident,), names)
    made.__doc__ = kind.__doc__
    return made


class _Away:
    """A mixin: the attribute ``_away`` names is missing while its arrays are in cells."""

    _away: str
    _cells: Any

    def __getattr__(self, name: str) -> Any:
        if name != type(self)._away:
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")
        touch()
        arrays = _mapped(self.__dict__.pop("_cells"), lambda cell: cell.brought_home())
        setattr(self, name, arrays)
        return arrays


@cache
def _away(kind: Any, attribute: str) -> Any:
    return type(kind.__name__, (_Away, kind), {"_away": attribute, "__module__": kind.__module__})


def _mapped(cells: Any, function: Callable[[Any], Any]) -> Any:
    """Nested lists and tuples with ``function`` of each leaf that is not None."""
    if isinstance(cells, list | tuple):
        return type(cells)(_mapped(item, function) for item in cells)
    return None if cells is None else function(cells)


def cells_in(owner: Any, attribute: str) -> Any:
    """Arrays in nested lists, an attribute of ``owner``: as cells where they are on a device."""
    away = owner.__dict__.get("_cells") if attribute not in owner.__dict__ else None
    return getattr(owner, attribute) if away is None else away


def move_out_of(owner: Any, attribute: str, upload: Callable[[Any], Cell]) -> Any:
    """Put the arrays that ``attribute`` of ``owner`` holds on a device; returns their cells."""
    if attribute not in owner.__dict__ and "_cells" in owner.__dict__:
        return owner._cells
    owner._cells = _mapped(owner.__dict__.pop(attribute), upload)
    if not isinstance(owner, _Away):
        kind: Any = type(owner)
        owner.__class__ = _away(kind, attribute)
    return owner._cells


def leaves_in(cells: Any) -> list[Any]:
    """The leaves of nested lists and tuples, those that are None left out."""
    if isinstance(cells, list | tuple):
        return [leaf for item in cells for leaf in leaves_in(item)]
    return [] if cells is None else [cells]
