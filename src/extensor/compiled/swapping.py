"""A block in which all that a function has bound is made of placeholders, and nothing else changes."""

from __future__ import annotations

from functools import cache
from typing import Any

from extensor import _native
from extensor.compiled.discovery import PLAIN
from extensor.compiled.residence import array_of, cells_in, leaves_in
from extensor.compiled.state import State
from extensor.core import tracing
from extensor.core.tensor import Tensor, wrap
from extensor.core.tracing import Number
from extensor.errors import value_error

_array: Any = _native.TensorBase._array
_grad: Any = _native.TensorBase.grad
_MISSING = object()


class Swapped:
    """Enters with placeholders for the state; leaves everything as it was, whatever happened."""

    def __init__(self, state: State, placeholders: list[Any]) -> None:
        self.state = state
        self.placeholders = placeholders

    def __enter__(self) -> Swapped:
        state, left = self.state, iter(self.placeholders)
        reached = state.reached
        self.tensors = [
            (t, type(t), array_of(t), _grad.__get__(t), t._requires_grad, list(t._hooks or ()))
            for t in state.tensors
        ]
        self.graded: dict[int, Tensor] = {}  # the gradients, by the identity of their tensors
        self.owners = [(owner, dict(vars(owner))) for owner, _ in state.owners]
        self.groups = [(x.group, dict(x.group)) for x in reached.histories.values()]
        self.attributes = [(name, found, dict(found)) for name, found in reached.attributes]
        self.lists = [(found, list(found)) for found in reached.lists]
        for tensor, kind, *_ in self.tensors:
            at_home: Any = getattr(kind, "_at_home", kind)
            tensor.__class__ = _tracked(at_home)
            _array.__set__(tensor, next(left))
        for tensor, _, _, grad, requires_grad, _ in self.tensors:
            if requires_grad and grad is not None:
                self.graded[id(tensor)] = wrap(next(left))
                _grad.__set__(tensor, self.graded[id(tensor)])
        for owner, attribute in state.owners:
            vars(owner)[attribute] = _replaced(cells_in(owner, attribute), left)
            if "_steps" in vars(owner):
                vars(owner)["_steps"] = list(owner._steps)
        return self

    def __exit__(self, *_: object) -> None:
        for tensor, kind, held, grad, requires_grad, hooks in self.tensors:
            tensor.__class__ = kind
            _array.__set__(tensor, held)
            _grad.__set__(tensor, grad)
            tensor._requires_grad = requires_grad
            if tensor._hooks is not None:
                tensor._hooks[:] = hooks
        for owner, attributes in self.owners:
            _restore(vars(owner), attributes)
        for group, options in self.groups:
            _restore(group, options)
        for _name, now, before in self.attributes:
            kept = {key: x for key, x in now.items() if _is_kept(before.get(key), x)}
            _restore(now, {**before, **kept})
        for items, then in self.lists:
            items[:] = then

    def take_over_replaced(self) -> None:
        """Tensors that modules were given in the place of others: those others get their values."""
        for module, (_, now, before) in zip(
            self.state.reached.modules, self._of_modules(), strict=True
        ):
            for name, tensor in before.items():
                replaced = now.get(name)
                if isinstance(tensor, Tensor) and replaced is not tensor:
                    if not isinstance(replaced, Tensor):
                        kind = type(module).__name__
                        requirement = f"{kind}.{name} must stay a tensor inside a compiled function"
                        raise value_error("compile", requirement)
                    tensor._array = replaced._array
                    now[name] = tensor

    def _of_modules(self) -> list[Any]:
        modules = {id(vars(module)) for module in self.state.reached.modules}
        return [each for each in self.attributes if id(each[1]) in modules]

    def check_unchanged(self) -> None:
        """Raise if the function changed what only happens once, when it is traced."""
        for name, now, before in self.attributes:
            for key in {**before, **now}:
                then, new = before.get(key, _MISSING), now.get(key, _MISSING)
                if new is then or _is_same(then, new) or _is_kept(before.get(key), new):
                    continue
                _refuse(f"{name}.{key}" if str(key).isidentifier() else f"{name}[{key!r}]")
        for items, then in self.lists:
            if len(items) != len(then) or any(a is not b for a, b in zip(items, then, strict=True)):
                _refuse("a list")
        for group, options in self.groups:
            for key, value in options.items():
                if group.get(key, _MISSING) is not value:
                    _refuse(f"param_groups[...][{key!r}]", "; do it outside, or by a schedule")
        for tensor, _, held, _, requires_grad, hooks in self.tensors:
            if tensor._requires_grad != requires_grad:
                _refuse("requires_grad of a tensor from outside")
            if list(tensor._hooks or ()) != hooks:
                _refuse("the hooks of a tensor from outside")
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


def _refuse(what: str, hint: str = "; return it, or do it outside") -> None:
    raise value_error(
        "compile",
        f"a function must not change what would be changed only once, when it is traced{hint}",
        changed=what,
    )


def _is_same(then: Any, new: Any) -> bool:
    return type(new) in PLAIN and type(new) is type(then) and bool(new == then)


def _is_kept(then: Any, new: Any) -> bool:
    """Whether ``new`` was made of nothing that a run brings, where nothing was: a table, say."""
    return then is None and type(new) not in PLAIN and new is not _MISSING and not _is_traced(new)


def _is_traced(x: Any, depth: int = 0) -> bool:
    if isinstance(x, Number):
        return True
    if isinstance(x, list | tuple | dict) and depth < 4:
        return any(
            _is_traced(item, depth + 1) for item in (x.values() if isinstance(x, dict) else x)
        )
    return hasattr(getattr(x, "_array", x), "aval")


def _restore(now: dict[Any, Any], before: dict[Any, Any]) -> None:
    if now.keys() != before.keys() or any(now[key] is not before[key] for key in before):
        now.clear()
        now.update(before)


def _forget(tensor: Any, value: Any) -> None:
    trace = tracing.current()
    if value is None and trace is not None:
        trace.note_forgotten(tensor)
    _grad.__set__(tensor, value)


@cache
def _tracked(kind: Any) -> Any:
    """The class of tensors from outside while a function is traced, which tells of cleared gradients."""
    names = {
        "__slots__": (),
        "__module__": kind.__module__,
        "grad": property(_grad.__get__, _forget),
    }
    return type(kind.__name__, (kind,), names)


def _replaced(cells: Any, placeholders: Any) -> Any:
    if isinstance(cells, list | tuple):
        return type(cells)(_replaced(item, placeholders) for item in cells)
    return None if cells is None else next(placeholders)
