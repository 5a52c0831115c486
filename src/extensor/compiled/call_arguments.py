"""Arguments and results as lists of leaves and a description of how they were nested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from extensor.arrays.dtypes import supported
from extensor.compiled.device_arrays import array_of, has_gradient
from extensor.compiled.value_contents import has_variables, plain_key
from extensor.core.structures import map_leaves
from extensor.core.tensor import Tensor, wrap
from extensor.errors import value_error

_PLAIN = (bool, int, str, bytes, type(None), type(...), np.dtype)


class CallArguments:
    """The arguments of a call: tensors and arrays, floats, and other objects.

    A tensor that is ``bound`` is no input: the function finds it under its own name.
    """

    def __init__(self, bound: Mapping[int, Tensor], with_strides: bool = False) -> None:
        self.tensors: list[Any] = []
        self.floats: list[float] = []
        self.objects: list[Any] = []
        self._bound = bound
        self._with_strides = with_strides
        self.places: dict[int, int] = {}  # among the tensors, by identity

    def describe(self, value: Any) -> Any:
        """A key with everything of ``value`` on which the computation may depend."""
        kind = type(value)
        if kind is np.ndarray:
            return self._array(value)
        if isinstance(value, Tensor):
            return self._tensor(value)
        if kind is float:
            self.floats.append(value)
            return float
        if kind in _PLAIN:
            return kind, value
        if isinstance(value, list | tuple | dict):
            return self._container(value)
        if kind is range or kind is slice:
            return kind, self.describe((value.start, value.stop, value.step))
        if kind is complex:
            return plain_key(value)
        if isinstance(value, np.generic):
            return kind, value.tobytes()
        if is_array(value):
            return self._array(value)
        self.objects.append(value)
        return "object", id(value)

    def _container(self, value: Any) -> Any:
        if has_variables(value):
            self.objects.append(value)  # a subclass, whose attributes are watched
        if isinstance(value, dict):
            keys = map(plain_key, value)
            return (type(value), *keys, *map(self.describe, value.values()))
        return (type(value), *map(self.describe, value))

    def _array(self, value: Any) -> Any:
        dtype = supported(value.dtype, "compile")
        return self._place(value, (value.shape, dtype, self._layout(value)))

    def _layout(self, array: Any) -> Any:
        """The strides of a NumPy array, where programs depend on them."""
        if not self._with_strides:
            return None
        if not (isinstance(array, np.ndarray) and array.flags.aligned and array.dtype.isnative):
            requirement = (
                "arrays must be aligned ones of NumPy's, in the byte order of this machine"
            )
            raise value_error("compile", requirement, dtype=str(array.dtype))
        return array.strides

    def _tensor(self, value: Tensor) -> Any:
        if id(value) in self._bound:
            return "bound", id(value)
        if value._node is not None:
            raise value_error(
                "compile",
                "a tensor given must be a leaf, as no gradient leaves the function (detach() it)",
                shape=value.shape,
            )
        held = array_of(value)
        traits = value._requires_grad, has_gradient(value)
        description = held.shape, held.dtype, *traits, self._layout(held)
        return self._place(value, description)

    def _place(self, value: Any, description: Any) -> Any:
        """Number an input; an object that is passed twice is one input."""
        place = self.places.setdefault(id(value), len(self.tensors))
        if place < len(self.tensors):
            return "same", place
        self.tensors.append(value)
        return description


def is_array(value: Any) -> bool:
    """Whether a leaf is an input: a tensor or an array, not a scalar of NumPy's."""
    return isinstance(value, Tensor | np.ndarray) or (
        hasattr(value, "__array_namespace__") and not isinstance(value, np.generic)
    )


def copy_with(value: Any, fields: dict[str, Any]) -> Any:
    """A copy of a dataclass's instance with other values, its constructor not called."""
    made = copy(value)
    for name, x in fields.items():
        object.__setattr__(made, name, x)  # frozen or not
    return made


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass's instance that have a value; of anything else none."""
    if not is_dataclass(value) or isinstance(value, type):
        return {}
    names = [field.name for field in fields(value)]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def drop_values(call: Any, bound: Mapping[int, Tensor]) -> Any:
    """``call`` with arrays of the same kind that take no memory; tensors that are ``bound`` stay."""
    replaced: dict[int, Any] = {}

    def replace(x: Any) -> Any:
        if id(x) in bound or not is_array(x):
            return x
        if id(x) not in replaced:
            replaced[id(x)] = _empty_like(x)
        return replaced[id(x)]

    return map_leaves(call, replace)


def _empty_like(x: Any) -> Any:
    held = array_of(x) if isinstance(x, Tensor) else x
    empty = np.broadcast_to(np.empty((), held.dtype), held.shape)
    if not isinstance(x, Tensor):
        return empty
    tensor: Tensor = wrap(empty)
    tensor._requires_grad = x._requires_grad
    if has_gradient(x):
        tensor.grad = _empty_like(x.grad)
    return tensor


def named_leaves(
    name: str, value: Any, is_leaf: Callable[[Any], bool]
) -> Iterator[tuple[str, Any]]:
    """The leaves inside ``value`` with how they are written, ``x[0]['a']``, as :func:`map_leaves` goes."""
    parts: list[tuple[str, Any]] = []
    if is_leaf(value):
        yield name, value
    elif isinstance(value, list | tuple):
        parts = [(f"{name}[{i}]", x) for i, x in enumerate(value)]
    elif isinstance(value, dict):
        parts = [(f"{name}[{key!r}]", x) for key, x in value.items()]
    elif isinstance(value, slice):
        parts = [(f"{name}.{part}", getattr(value, part)) for part in ("start", "stop", "step")]
    else:
        parts = [(f"{name}.{part}", x) for part, x in fields_of(value).items()]
    for inner, part in parts:
        yield from named_leaves(inner, part, is_leaf)
