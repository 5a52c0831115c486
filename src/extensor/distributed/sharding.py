"""Each worker keeps the optimizer's state of its own chunks only, and updates only these.

Gradients are not given to all then, parameters are: as many bytes as before. An update that treats each
element by itself gives the same bits whoever makes it, so this changes nothing but memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.core import changes, door, modes
from extensor.core.tensor import Tensor, forget_gradients
from extensor.distributed.gradients import Gradients
from extensor.errors import value_error
from extensor.optim import SGD, Adadelta, Adagrad, Adam, AdamW, Lion, Optimizer, RMSprop
from extensor.optim.states import History
from extensor.optim.update import state_like

ELEMENTWISE = (SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Lion)
_TAG = 2


class _Piece(NamedTuple):
    """Elements ``begin`` to ``end`` of parameter ``number`` of a group; views of them and their gradient."""

    number: int
    begin: int
    end: int
    parameter: Any
    gradient: Any


class Sharded:
    """The part of ``optimizer`` that belongs to this worker."""

    def __init__(self, optimizer: Optimizer, gradients: Gradients) -> None:
        if type(optimizer) not in ELEMENTWISE:
            names = ", ".join(kind.__name__ for kind in ELEMENTWISE)
            requirement = f"optimizer must be one of {names} for its state to be shared out"
            raise value_error("Trainer", requirement, optimizer=type(optimizer).__name__)
        self.optimizer = optimizer
        self.gradients = gradients
        self.workers = gradients.workers
        self._histories = list(
            optimizer._histories
        )  # a group that is added later is not shared out
        self._owned = self._pieces(self.workers.rank)
        self._state: list[list[list[Any]]] = []  # by group, name and piece
        # By group and name the parameters that have such state, whoever has it.
        self._kept: list[list[set[int]]] = []
        self.share_out()

    def _pieces(self, rank: int) -> list[list[_Piece]]:
        """The pieces of a worker, by group."""
        layout, rows = self.gradients.layout, self.gradients.exchange.rows
        places = {id(p): layout.places[i] for i, p in enumerate(self.gradients.parameters)}
        chunks = [(bucket.row, *bucket.chunk(self.workers.size, rank)) for bucket in layout.buckets]
        found: list[list[_Piece]] = []
        for history in self._histories:
            found.append([])
            for index, parameter in enumerate(history.group["params"]):
                place = places.get(id(parameter))
                flat = _flat(parameter)
                for row, begin, end in chunks if place is not None else ():
                    assert place is not None
                    first, last = max(begin, place.begin), min(end, place.end)
                    if row == place.row and first < last:
                        part = slice(first - place.begin, last - place.begin)
                        gradient = rows[row][first:last]
                        found[-1].append(_Piece(index, part.start, part.stop, flat[part], gradient))
        return found

    def _shared(self, history: History) -> list[int]:
        """The parameters of a group whose state is shared out: the others, frozen ones, keep theirs."""
        trained = {id(parameter) for parameter in self.gradients.parameters}
        return [i for i, x in enumerate(history.group["params"]) if id(x) in trained]

    def share_out(self) -> None:
        """Take the own part of the state that the optimizer has, and let it forget the whole."""
        self._state, self._kept = [], []
        for history, pieces in zip(self._histories, self._owned, strict=True):
            shared = self._shared(history)
            self._state.append([])
            self._kept.append([])
            for arrays in history.state:
                kept = {index for index in shared if arrays[index] is not None}
                self._kept[-1].append(kept)
                self._state[-1].append(
                    [
                        None
                        if arrays[piece.number] is None
                        else arrays[piece.number].reshape(-1)[piece.begin : piece.end].copy()
                        for piece in pieces
                    ]
                )
            self._forget(history)

    def _forget(self, history: History) -> None:
        for arrays in history.state:
            for index in self._shared(history):
                arrays[index] = None

    def step(self) -> None:
        """Update the own chunks, give them to all, and move the schedules on."""
        has = {
            id(parameter)
            for parameter, flag in zip(
                self.gradients.parameters, self.gradients.has_gradient, strict=True
            )
            if flag
        }
        for number, history in enumerate(self._histories):
            self._step_group(number, history, has)
        self._give()
        for schedule in self.optimizer.schedules:
            if schedule.automatic:
                schedule.step()

    def _step_group(self, number: int, history: History, has: set[int]) -> None:
        optimizer, group = self.optimizer, history.group
        steps = history.steps()
        by_step: dict[int, list[int]] = {}
        for index, parameter in enumerate(group["params"]):
            if id(parameter) in has:
                by_step.setdefault(steps[index] + 1, []).append(index)
        used = optimizer._used(group, self._state[number])
        names = optimizer.state_names
        is_used = optimizer._used(group, [[None]] * len(names))
        for step, indices in by_step.items():
            for kept, flag in zip(self._kept[number], is_used, strict=True):
                kept.update(indices if flag else ())
            chosen = set(indices)
            mine = [
                (at, piece)
                for at, piece in enumerate(self._owned[number])
                if piece.number in chosen
            ]
            lists: list[list[Any]] = [
                [piece.parameter for _, piece in mine],
                [piece.gradient for _, piece in mine],
            ]
            for name, arrays in zip(names, used, strict=True):
                for at, piece in mine if arrays else ():
                    if arrays[at] is None:
                        initial = optimizer._initial(name, group)
                        arrays[at] = state_like(piece.parameter, initial)
                lists.append([arrays[at] for at, _ in mine] if arrays else [])
            if mine:
                optimizer.update(lists, optimizer._attributes(group, step))
            history.set_step(indices, step)

    def _give(self) -> None:
        """The new parameters of all chunks to all; the rows of gradients carry them."""
        layout, exchange = self.gradients.layout, self.gradients.exchange
        for pieces in self._owned:
            for piece in pieces:
                door.setitem(piece.gradient, slice(None), piece.parameter)
        exchange.gather(exchange.rows, "parameters")
        if self.workers.size > 1:
            for index, parameter in enumerate(self.gradients.parameters):
                if self.gradients.has_gradient[index]:
                    door.setitem(parameter._array, ..., layout.view(exchange.rows, index))
        parameters = self.gradients.parameters
        forget_gradients(parameters, True)  # they are no gradients any more
        changes.mark_all([x._array for x in parameters], modes.mode.anomaly)

    def whole(self) -> Callable[[], None]:
        """Let the optimizer have its whole state, on every worker, until what is returned is called."""
        layout = self.gradients.layout
        for parameter, place in zip(self.gradients.parameters, layout.places, strict=True):
            if parameter.dtype != layout.dtypes[place.row]:
                requirement = "parameters must keep their dtype while the optimizer is shared out"
                raise value_error("Trainer", requirement, dtype=str(parameter.dtype))
        for rank in range(self.workers.size):
            pieces = self._owned if rank == self.workers.rank else self._pieces(rank)
            for number, history in enumerate(self._histories):
                self._collect(rank, number, history, pieces[number])

        def forget() -> None:
            for history in self._histories:
                self._forget(history)

        return forget

    def _collect(self, rank: int, number: int, history: History, pieces: Sequence[_Piece]) -> None:
        """The state of one worker's pieces of a group, put into the whole."""
        for own, arrays, kept in zip(
            self._state[number], history.state, self._kept[number], strict=True
        ):
            at = [i for i, piece in enumerate(pieces) if piece.number in kept]
            for index in {pieces[i].number for i in at}:
                if arrays[index] is None:
                    arrays[index] = state_like(history.group["params"][index]._array)
            if not at:
                continue
            targets = [_part(arrays, pieces[i]) for i in at]
            transfer = self.workers.transfer()
            if rank == self.workers.rank:
                joined = np.concatenate([own[i] for i in at])
                for peer in self.workers.others:
                    transfer.send(peer, _TAG, joined)
            else:
                joined = np.empty(sum(map(len, targets)), targets[0].dtype)
                transfer.receive(rank, _TAG, joined)
            transfer.wait("optimizer's state")
            begin = 0
            for target in targets:
                door.setitem(target, slice(None), joined[begin : begin + len(target)])
                begin += len(target)


def _part(arrays: Sequence[Any], piece: _Piece) -> Any:
    return arrays[piece.number].reshape(-1)[piece.begin : piece.end]


def _flat(parameter: Tensor) -> Any:
    """The elements as a view, which is what is updated."""
    array = parameter._array
    if not array.flags.c_contiguous:
        requirement = "parameters must be in C order for the optimizer's state to be shared out"
        raise value_error("Trainer", requirement, shape=parameter.shape)
    return array.reshape(-1)
