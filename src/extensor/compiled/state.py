"""What a function has bound: the arrays it may read and change besides its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extensor import _native
from extensor.arrays import storage
from extensor.compiled.discovery import Reached
from extensor.compiled.residence import (
    Cell,
    Resident,
    cell_of,
    cells_in,
    held_by,
    leaves_in,
    move_out,
    move_out_of,
    touch,
)
from extensor.core.tensor import Tensor, wrap
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.optim.update import state_dtype

_array: Any = _native.TensorBase._array
_grad: Any = _native.TensorBase.grad


class State:
    """The tensors, gradients, states of optimizers and averages that were reached, in one order."""

    def __init__(self, reached: Reached) -> None:
        self.reached = reached
        self.arrays: dict[int, Any] = {}  # NumPy's own, read at each run
        self._owners: list[tuple[Any, str]] = []

    @property
    def tensors(self) -> list[Tensor]:
        return list(self.reached.tensors.values())

    @property
    def owners(self) -> list[tuple[Any, str]]:
        """What holds arrays in lists, and in which attribute."""
        reached = self.reached
        if len(self._owners) != len(reached.histories) + len(reached.averages):
            self._owners = [(history, "state") for history in reached.histories.values()]
            self._owners += [(average, "_averages") for average in reached.averages.values()]
        return self._owners

    def key(self) -> tuple[Any, ...]:
        """All that a trace depends on, save the values."""
        tensors = []
        for tensor in self.reached.tensors.values():
            held = held_by(tensor)
            has_grad = tensor._requires_grad and tensor.grad is not None
            tensors.append((held.shape, held.dtype, tensor._requires_grad, has_grad))
        owned = [_described(cells_in(owner, attribute)) for owner, attribute in self.owners]
        ages = [_ages(history) for history in self.reached.histories.values()]
        arrays = [(array.shape, array.dtype) for array in self.arrays.values()]
        return tuple(tensors), tuple(owned), tuple(ages), tuple(arrays)

    def is_away(self) -> bool:
        """Whether no state of an optimizer was replaced behind the scenes, by loading one say."""
        return not any(attribute in owner.__dict__ for owner, attribute in self.owners)

    def graded(self) -> list[Tensor]:
        """The tensors that have a gradient now."""
        return [t for t in self.tensors if t._requires_grad and t.grad is not None]

    def cells(self, upload: Callable[[Any], Any]) -> list[Cell]:
        """All arrays, on the device; what was not there goes there."""

        def made(array: Any) -> Cell:
            return Cell(upload(array), array)

        def of_tensor(tensor: Tensor) -> Cell:
            cell = cell_of(tensor)
            if cell is None:
                cell = made(held_by(tensor))
                move_out(tensor, cell)
                touch()
            cell.bound = True
            return cell

        cells = [of_tensor(tensor) for tensor in self.tensors]
        cells += [of_tensor(tensor.grad) for tensor in self.graded()]  # type: ignore[arg-type]
        for owner, attribute in self.owners:
            cells += leaves_in(move_out_of(owner, attribute, made))
        return cells

    def like(self) -> list[Any]:
        """The same in the same order, as whatever has their shapes and dtypes."""
        found = [held_by(tensor) for tensor in self.tensors]
        found += [held_by(tensor.grad) for tensor in self.graded()]  # type: ignore[arg-type]
        for owner, attribute in self.owners:
            found += leaves_in(cells_in(owner, attribute))
        return found


def fill_state(optimizer: Any, missing: list[tuple[Any, list[int]]]) -> None:
    """Give parameters the state that their first step needs: what it would have begun with."""
    for history, indices in missing:
        used = optimizer._used(history.group, history.state)
        for name, arrays in zip(optimizer.state_names, used, strict=True):
            for index in indices if arrays else ():
                if arrays[index] is None:
                    like = history.group["params"][index]
                    value = optimizer._initial(name, history.group)
                    arrays[index] = storage.full(like.shape, value, state_dtype(like))


def _described(cells: Any) -> Any:
    if isinstance(cells, list | tuple):
        return tuple(_described(item) for item in cells)
    return None if cells is None else (cells.shape, cells.dtype)


def _ages(history: Any) -> Any:
    """How the parameters of a group differ in their numbers of steps."""
    if history.count >= 0:
        return None
    steps = history.steps()
    return tuple(step - min(steps) for step in steps)


class Traced:
    """A block in which the state of a function is made of placeholders."""

    def __init__(self, state: State, placeholders: list[Any]) -> None:
        self.state = state
        self.placeholders = placeholders

    def __enter__(self) -> Traced:
        state, left = self.state, iter(self.placeholders)
        self.tensors = [
            (t, type(t), held_by(t), _grad.__get__(t), t._requires_grad) for t in state.tensors
        ]
        graded = state.graded()
        self.owners = [(owner, dict(vars(owner))) for owner, _ in state.owners]
        self.modules = [
            (x, {name: value for name, value in vars(x).items() if isinstance(value, Tensor)})
            for x in state.reached.holders.values()
            if isinstance(x, Module)
        ]
        for tensor, *_ in self.tensors:
            if isinstance(tensor, Resident):
                tensor.__class__ = tensor._at_home
            _array.__set__(tensor, next(left))
        for tensor in graded:
            _grad.__set__(tensor, wrap(next(left)))
        self.graded: dict[int, Any] = {id(tensor): tensor.grad for tensor in graded}
        for owner, attribute in state.owners:
            vars(owner)[attribute] = _replaced(cells_in(owner, attribute), left)
            if "_steps" in vars(owner):
                vars(owner)["_steps"] = list(owner._steps)
        return self

    def __exit__(self, *_: object) -> None:
        for tensor, kind, held, grad, requires_grad in self.tensors:
            tensor.__class__ = kind
            _array.__set__(tensor, held)
            _grad.__set__(tensor, grad)
            tensor._requires_grad = requires_grad
        for owner, attributes in self.owners:
            vars(owner).clear()
            vars(owner).update(attributes)
        for module, attributes in self.modules:
            vars(module).update(attributes)

    def take_over_replaced(self) -> None:
        """Tensors that modules were given in the place of others: those others get their values."""
        for module, attributes in self.modules:
            for name, tensor in attributes.items():
                now = vars(module).get(name)
                if now is not tensor:
                    kind = type(module).__name__
                    if not isinstance(now, Tensor) or id(tensor) not in self.state.reached.tensors:
                        requirement = f"{kind}.{name} must stay a tensor inside a compiled function"
                        raise value_error("compile", requirement)
                    tensor._array = now._array

    def now(self) -> list[Any]:
        """The arrays in the order of the placeholders; gradients as they were."""
        found = [tensor._array for tensor, *_ in self.tensors]
        for tensor, _, held, _, requires_grad in self.tensors:
            array = tensor._array
            if tuple(array.shape) != tuple(held.shape) or array.dtype != held.dtype:
                raise value_error(
                    "compile",
                    "a tensor from outside must keep its shape and dtype inside the function",
                    before=(tuple(held.shape), str(held.dtype)),
                    after=(tuple(array.shape), str(array.dtype)),
                )
            if tensor._requires_grad != requires_grad:
                requirement = "requires_grad must not be changed inside a compiled function"
                raise value_error("compile", requirement, shape=tuple(held.shape))
        found += [gradient._array for gradient in self.graded.values()]
        for owner, attribute in self.state.owners:
            found += leaves_in(vars(owner)[attribute])
        return found


def _replaced(cells: Any, placeholders: Any) -> Any:
    if isinstance(cells, list | tuple):
        return type(cells)(_replaced(item, placeholders) for item in cells)
    return None if cells is None else next(placeholders)


def device_copy(array: Any) -> Any:
    """NumPy memory that nobody else will change, for a program that may read it later."""
    return storage.copied(array) if isinstance(array, np.ndarray) else array
