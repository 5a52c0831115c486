"""The arrays that a function has bound: it may read and change them besides its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extensor import _native
from extensor.arrays import storage
from extensor.compiled.device_arrays import (
    Cell,
    array_of,
    cell_of,
    cells_in,
    has_gradient,
    move_out,
    move_out_of,
)
from extensor.compiled.reachable_values import ReachableValues
from extensor.core.structures import leaves_in
from extensor.core.tensor import Tensor
from extensor.optim.states import GroupHistory
from extensor.optim.update import state_dtype


class BoundState:
    """The tensors, gradients, states of optimizers and averages that were reached, in one order."""

    def __init__(self, reached: ReachableValues) -> None:
        self.reached = reached
        self.arrays: dict[int, Any] = {}  # NumPy's own, read at each run
        self.tensors: list[Tensor] = list(reached.tensors.values())
        # What holds arrays in lists, and in which attribute.
        self.owners = [(history, "state") for history in reached.histories.values()]
        self.owners += [(average, "_averages") for average in reached.averages.values()]  # type: ignore[misc]
        self.cells: list[Cell] = []
        self.version = 0  # of the list of cells
        self._graded: list[Tensor] = []
        self._watched: list[Any] = []
        self._noted: list[Any] = [None]  # which nothing is yet
        self._noted_grouping: list[Any] = []
        self._has_hooks = False

    def key(self) -> tuple[Any, ...]:
        """All that a trace depends on, save the values."""
        tensors = []
        for tensor in self.tensors:
            held = array_of(tensor)
            hooks = tuple(map(id, tensor._hooks or ()))
            gradient = tensor._requires_grad, has_gradient(tensor)
            tensors.append((held.shape, held.dtype, *gradient, hooks))
        owned = [_layout_key(cells_in(owner, attribute)) for owner, attribute in self.owners]
        arrays = [(array.shape, array.dtype) for array in self.arrays.values()]
        return tuple(tensors), tuple(owned), tuple(self._grouping()), tuple(arrays)

    def is_as_noted(self) -> bool:
        """Whether all that is bound is where :meth:`note` left it."""
        return _native.holds(self._watched, self._noted) and self.is_as_noted_otherwise()

    def watched(self) -> tuple[list[Any], list[Any]]:
        """The objects that are compared natively, and their contents at the last :meth:`note`."""
        return self._watched, self._noted

    def is_as_noted_otherwise(self) -> bool:
        """Whether hooks and groupings, which native code cannot compare, are as noted."""
        return not self._has_hooks and self._grouping() == self._noted_grouping

    def note(self, upload: Callable[[Any], Any]) -> None:
        """Move the arrays to the device that are not there yet, and note where all of them are."""

        def made(array: Any) -> Cell:
            return Cell(upload(array), array)

        def of_tensor(tensor: Tensor) -> Cell:
            cell = cell_of(tensor)
            if cell is None:
                cell = made(array_of(tensor))
                move_out(tensor, cell)
            return cell

        self._graded = self.graded()
        cells = [*map(of_tensor, self.tensors), *map(of_tensor, self._graded)]
        for owner, attribute in self.owners:
            cells += leaves_in(move_out_of(owner, attribute, made))
        self._watched = [*self.tensors, *self._graded]
        # An attribute is None where its arrays are in cells.
        self._watched += [(owner.__dict__, "_cells", attribute) for owner, attribute in self.owners]
        self._noted = _native.contents(self._watched)
        self._noted_grouping = self._grouping()
        self._has_hooks = any(tensor._hooks for tensor in self.tensors)
        self.cells = cells
        self.version += 1

    def graded(self) -> list[Any]:
        """The present gradients."""
        return [t.grad for t in self.tensors if has_gradient(t)]

    def like(self) -> list[Any]:
        """Arrays or cells with the shapes and dtypes of the state, in the order of the cells."""
        found = [*map(array_of, self.tensors), *map(array_of, self.graded())]
        for owner, attribute in self.owners:
            found += leaves_in(cells_in(owner, attribute))
        return found

    def _grouping(self) -> list[Any]:
        """Which parameters of a group have taken equally many steps; they are updated together."""
        return [
            None if history.count >= 0 else _first_places(history.steps())
            for history in self.reached.histories.values()
        ]


class StepCount:
    """Counts the steps that a run has taken: ``more`` of each parameter of a history."""

    def __init__(self, history: GroupHistory, more: list[int]) -> None:
        self.history = history
        self.more = more
        self._alike = len(set(more)) == 1

    def __call__(self, flags: list[bool]) -> None:
        history = self.history
        if not all(flags):
            return
        if self._alike and history.count >= 0:
            history.count += self.more[0]
            return
        for index, (step, more) in enumerate(zip(list(history.steps()), self.more, strict=True)):
            history.set_step([index], step + more)


def _first_places(values: list[Any]) -> tuple[int, ...]:
    """For each value the place where it stands first."""
    first: dict[Any, int] = {}
    return tuple([first.setdefault(value, place) for place, value in enumerate(values)])


def fill_state(optimizer: Any, missing: list[tuple[Any, list[int]]]) -> list[tuple[list[Any], int]]:
    """Give parameters the initial state for their first step.

    Returns the lists and places that were empty.
    """
    filled = []
    for history, indices in missing:
        used = optimizer._used(history.group, history.state)
        for name, arrays in zip(optimizer.state_names, used, strict=True):
            for index in indices if arrays else ():
                if arrays[index] is None:
                    like = history.group["params"][index]
                    shape = optimizer._state_shape(name, like.shape)
                    if shape is None:
                        continue
                    value = optimizer._initial(name, history.group)
                    arrays[index] = storage.full(shape, value, state_dtype(like))
                    filled.append((arrays, index))
    return filled


def _layout_key(cells: Any) -> Any:
    if isinstance(cells, list | tuple):
        return tuple(_layout_key(item) for item in cells)
    return None if cells is None else (cells.shape, cells.dtype)


def device_copy(array: Any) -> Any:
    """A copy of a NumPy array, for a program that may read it after the call; a device array itself."""
    return storage.copied(array) if isinstance(array, np.ndarray) else array
