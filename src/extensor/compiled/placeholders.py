"""A block in which all that a function has bound is made of placeholders, and nothing else changes."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from extensor import _native
from extensor.compiled.bound_state import BoundState
from extensor.compiled.code_analysis import is_users
from extensor.compiled.device_arrays import array_of, cells_in
from extensor.compiled.guards import MISSING
from extensor.compiled.program_trace import ProgramTrace
from extensor.compiled.side_effects import ReachableSnapshot, refuse, restore_dict
from extensor.core import tracing
from extensor.core.structures import leaves_in, map_leaves
from extensor.core.tensor import Tensor, wrap
from extensor.errors import value_error

_array: Any = _native.TensorBase._array
_grad: Any = _native.TensorBase.grad


class PlaceholderSwap:
    """A block with placeholders for the state, which restores everything at its end.

    It relies on three things. The placeholders come in the order of :meth:`BoundState.like`: tensors,
    then gradients, then states of optimizers and averages. Nobody else computes with these tensors
    meanwhile. And the classes it sets for the trace have the layout of the ones they replace, so that
    identities, and all that refers to the tensors, stay valid.
    """

    def __init__(self, state: BoundState, placeholders: list[Any], trace: ProgramTrace) -> None:
        self.state = state
        self.placeholders = placeholders
        self.trace = trace

    def __enter__(self) -> PlaceholderSwap:
        state, left = self.state, iter(self.placeholders)
        reached = state.reached
        self.tensors = [
            (t, type(t), array_of(t), _grad.__get__(t), t._requires_grad, list(t._hooks or ()))
            for t in state.tensors
        ]
        self.graded: dict[int, Tensor] = {}  # the gradients, by the identity of their tensors
        self.owners = [(owner, dict(vars(owner))) for owner, _ in state.owners]
        self.groups = [(x.group, dict(x.group)) for x in reached.histories.values()]
        # Before anything is replaced: the snapshot must hold what was there outside of the trace.
        self.side_effects = ReachableSnapshot(reached, self.trace.brings)
        self.tracked: list[tuple[Any, Any]] = [(x, type(x)) for x in reached.tracked]
        for tensor, kind, *_ in self.tensors:
            at_home: Any = getattr(kind, "_at_home", kind)
            tensor.__class__ = _tracing_class(at_home)
            _array.__set__(tensor, next(left))
        for tensor, _, _, grad, requires_grad, _ in self.tensors:
            if requires_grad and grad is not None:
                self.graded[id(tensor)] = wrap(next(left))
                _grad.__set__(tensor, self.graded[id(tensor)])
        for owner, attribute in state.owners:
            vars(owner)[attribute] = map_leaves(cells_in(owner, attribute), lambda _: next(left))
            if "_steps" in vars(owner):
                vars(owner)["_steps"] = list(owner._steps)
        for group, options in self.groups:
            group.update(self.trace.lifted_options(group))
            options.update(lifted=dict(group))
        for thing, known in self.tracked:
            thing.__class__ = _reporting_class(known)
        return self

    def __exit__(self, *_: object) -> None:
        for tensor, kind, held, grad, requires_grad, hooks in self.tensors:
            tensor.__class__ = kind
            _array.__set__(tensor, held)
            _grad.__set__(tensor, grad)
            tensor._requires_grad = requires_grad
            if tensor._hooks is not None:
                tensor._hooks[:] = hooks
        for thing, known in self.tracked:
            thing.__class__ = known
        for owner, attributes in self.owners:
            restore_dict(vars(owner), attributes)
        for group, options in self.groups:
            options.pop("lifted", None)
            restore_dict(group, options)
        self.side_effects.undo()

    def take_over_replaced(self) -> None:
        """Copy the values of tensors that have replaced others in modules into these others."""
        for module in self.state.reached.modules:
            before, now = self.side_effects.variables_before(module), vars(module)
            for name, tensor in before.items():
                replaced = now.get(name)
                if isinstance(tensor, Tensor) and replaced is not tensor:
                    if not isinstance(replaced, Tensor):
                        kind = type(module).__name__
                        requirement = f"{kind}.{name} must stay a tensor inside a compiled function"
                        raise value_error("compile", requirement)
                    tensor._array = replaced._array
                    now[name] = tensor

    def check_unchanged(self) -> None:
        """Raise if the function has a side effect."""
        self.side_effects.check()
        for group, options in self.groups:
            for key, value in options["lifted"].items():
                if group.get(key, MISSING) is not value:
                    refuse(f"param_groups[...][{key!r}]", "do it outside, or by a schedule")
        for tensor, _, held, _, requires_grad, hooks in self.tensors:
            if tensor._requires_grad != requires_grad:
                refuse("requires_grad of a tensor from outside")
            if list(tensor._hooks or ()) != hooks:
                refuse("the hooks of a tensor from outside")
            shape, dtype = tuple(tensor._array.shape), tensor._array.dtype
            if shape != tuple(held.shape) or dtype != held.dtype:
                raise value_error(
                    "compile",
                    "a tensor from outside must keep its shape and dtype inside the function",
                    before=(tuple(held.shape), str(held.dtype)),
                    after=(shape, str(dtype)),
                )

    def now(self) -> list[Any]:
        """The arrays in the order of the placeholders."""
        found = [tensor._array for tensor, *_ in self.tensors]
        found += [gradient._array for gradient in self.graded.values()]
        for owner, attribute in self.state.owners:
            found += leaves_in(vars(owner)[attribute])
        return found


def _set_gradient(tensor: Any, value: Any) -> None:
    trace = tracing.current()
    if value is None and trace is not None:
        trace.note_forgotten(tensor)
    _grad.__set__(tensor, value)


@cache
def _tracing_class(kind: Any) -> Any:
    """The class of tensors from outside while a function is traced, which tells of cleared gradients."""
    names = {
        "__slots__": (),
        "__module__": kind.__module__,
        "grad": property(_grad.__get__, _set_gradient),
    }
    return type(kind.__name__, (kind,), names)


@cache
def _reporting_class(kind: Any) -> Any:
    """The class of optimizers, schedules and scalers while a function is traced.

    A number that the user's code reads of them changes from step to step: the trace is asked for it.
    """

    def getattribute(self: Any, name: str) -> Any:
        value = kind.__getattribute__(self, name)
        trace = tracing.current()
        if trace is None or not is_users(str(sys._getframe(1).f_globals.get("__name__"))):
            return value
        return trace.read_by_user(self, name, value)

    names = {"__module__": kind.__module__, "__getattribute__": getattribute}
    return type(kind.__name__, (kind,), names)
