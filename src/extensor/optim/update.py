"""How arrays change in place: a formula for one parameter, a kernel for a whole model at once.

A formula ``f(xp, parameter, gradient, *state, *attributes)`` returns the new parameter and state.
It is written as in a textbook and changes nothing. An :class:`Update` made of it takes a list of
arrays for each role and writes the results into them. State that is not in use is an empty list to
the kernel and None to the formula; None stands in a list for what one of the parameters does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from extensor.arrays import storage
from extensor.arrays.dtypes import float32, is_floating, is_half
from extensor.arrays.shapes import check_shape
from extensor.core import door, tracing
from extensor.core.tensor import Tensor, to_array, wrap
from extensor.errors import marked, shown, type_error
from extensor.errors.expectations import is_number

if TYPE_CHECKING:
    from extensor.nn import Module

Parameters: TypeAlias = "Tensor | Iterable[Tensor] | Module"
GRADIENT = 1  # the role that is only read


class Update:
    """The in-place form of a formula; the native kernel has its name, if it is ``native``.

    The formula's parameters name what it takes: after ``xp`` the ``roles``, which are the parameter,
    its gradient and its state, then the attributes. The last ``optional`` roles may be missing.
    """

    def __init__(
        self, formula: Callable[..., Any], roles: int, optional: int = 0, native: bool = True
    ) -> None:
        self.name = formula.__name__
        self.needed = roles - optional
        names = formula.__code__.co_varnames[1 : formula.__code__.co_argcount]
        self.roles, self.attributes = names[:roles], names[roles:]
        self.state_names = self.roles[GRADIENT + 1 :]
        kernel = self.name if native else None
        self.kernel = door.kernel(kernel)
        self.formula = _in_place(formula, roles)
        self.by_kernel = door.computation(self.name, kernel)
        self.compute = door.computation(self.name, kernel, self.formula)

    def planned(self, lists: Sequence[list[Any]], attributes: Sequence[Any]) -> Any:
        """The call with all the memory it needs, to be run; None if the kernel does not take it."""
        if self.kernel is None or tracing.current() is not None:
            return None
        call = door.plan(self.kernel, *lists, *map(tracing.plain, attributes))
        return None if call is NotImplemented else call

    def __call__(self, lists: Sequence[list[Any]], attributes: Sequence[Any]) -> None:
        """Change the arrays of every list but the gradients; what cannot be changed is replaced."""
        trace = tracing.current()
        if trace is None:
            self.by_arrays(lists, attributes)
        else:
            trace.update(self, lists, attributes)

    def by_arrays(self, lists: Sequence[list[Any]], attributes: Sequence[Any]) -> None:
        """The same, outside of a trace or in one whose arrays are of another library."""
        attributes = [tracing.plain(number) for number in attributes]
        # The kernel takes all or nothing, and declines before it changes anything.
        if self.kernel is None or len(lists[0]) < 2:
            self.compute(*lists, *attributes)
        elif self.by_kernel(*lists, *attributes) is NotImplemented:
            # A parameter that the kernel does not take must not cost the others theirs.
            for index in range(len(lists[0])):
                parts = [arrays[index : index + 1] for arrays in lists]
                self.compute(*parts, *attributes)
                for arrays, part in zip(lists, parts, strict=True):
                    arrays[index : index + 1] = part

    def pure(self, op: str, values: Sequence[Any], attributes: Sequence[Any]) -> list[Any]:
        """The results for one parameter as new tensors, without the gradient's place.

        ``values`` are those of the roles; state that is optional and None stays None.
        """
        if not all(is_number(number) for number in attributes):
            raise TypeError("a number is needed")  # the step, which knows their names, says which
        parameter = to_array(values[0], op=op)
        if not is_floating(parameter.dtype):
            dtype = str(parameter.dtype)
            raise type_error(op, "parameter must be floating", parameter_dtype=dtype)
        lists = [[storage.copied(parameter)]]
        for name, value in zip(self.roles[1:], values[1:], strict=True):
            if value is None:
                if len(lists) < self.needed:
                    raise type_error(op, f"{name} must be a tensor", **{name: None})
                lists.append([])
                continue
            array = to_array(value, op=op)
            check_shape(op, name, array.shape, parameter.shape)
            if len(lists) > GRADIENT:
                # Integers, a list of zeros for example, stand for what the parameter's state is in.
                like = array if is_floating(array.dtype) else parameter
                array = storage.copied(array, state_dtype(like))
            lists.append([array])
        self(lists, attributes)
        changed = [*lists[:GRADIENT], *lists[GRADIENT + 1 :]]
        return [wrap(x[0]) if x else None for x in changed]


def state_dtype(array: Any) -> Any:
    """State is in float32 at least: in 16 bits a slowly moving average stands still."""
    return float32 if is_half(array.dtype) else array.dtype


def as_state(array: Any) -> Any:
    """A copy of ``array`` that can serve as state."""
    return storage.copied(array, state_dtype(array))


def state_like(array: Any, value: float = 0.0, shape: Sequence[int] | None = None) -> Any:
    """State of ``array``, of its shape or another, in C order whatever the order of the array."""
    shape = array.shape if shape is None else shape
    if isinstance(array, np.ndarray):
        return storage.full(tuple(shape), value, state_dtype(array))
    return door.namespace(array).full(shape, value, dtype=state_dtype(array))


def _in_place(formula: Callable[..., Any], roles: int) -> Callable[..., Any]:
    def compute(*arguments: Any) -> Any:
        lists, attributes = arguments[:roles], arguments[roles:]
        for index, target in enumerate(lists[0]):
            arrays = [role[index] if role else None for role in lists]
            with np.errstate(all="ignore"):
                wide = [None if x is None else door.widened(x) for x in arrays]
                results = formula(door.namespace(target), *wide, *attributes)
                changed = [*lists[:GRADIENT], *lists[GRADIENT + 1 :]]
                for role, result in zip(changed, results, strict=True):
                    if role and result is not None:
                        write(role, index, result)
        return lists[0]

    compute.__name__ = formula.__name__
    return compute


def write(arrays: list[Any], index: int, value: Any) -> None:
    """Write ``value`` into an array of a list; one of a library whose arrays do not change is replaced."""
    # JAX and its kin have ``at`` and no arrays that change; the caller rebinds what is replaced.
    array = arrays[index]
    if hasattr(array, "at"):
        arrays[index] = door.namespace(array).astype(value, array.dtype)
    else:
        array[...] = value


def rebind(tensors: Iterable[Tensor], before: Sequence[Any], after: Sequence[Any]) -> None:
    """Give tensors that hold an array of ``before`` the one of ``after`` that replaces it."""
    replaced = {id(old): new for old, new in zip(before, after, strict=True) if old is not new}
    for tensor in tensors if replaced else ():
        if id(tensor._array) in replaced:
            tensor._array = replaced[id(tensor._array)]


def descent(parameter: Any, gradient: Any, weight_decay: float, maximize: float) -> Any:
    """The gradient with the penalty on large parameters added, turned round to climb."""
    gradient = -gradient if maximize else gradient
    return gradient + weight_decay * parameter if weight_decay else gradient


@door.through_door
def assign(targets: list[Any], sources: list[Any]) -> list[Any]:
    """Copy each source into its target; see :func:`write`."""
    for index, source in enumerate(sources):
        write(targets, index, source)
    return targets


def tensors_in(op: str, parameters: Parameters) -> list[Tensor]:
    """``parameters`` as a list of tensors: one of them, an iterable, or a module's."""
    if hasattr(parameters, "parameters"):
        parameters = parameters.parameters()
    try:
        found = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    except TypeError:
        given = shown(parameters)
        raise type_error(op, "parameters must be tensors", parameters=given) from None
    for index, parameter in enumerate(found):
        if not isinstance(parameter, Tensor):
            kind = type(parameter).__name__
            raise marked(
                TypeError(f"{op}: parameters must be tensors, got {kind} at index {index}")
            )
    return found
