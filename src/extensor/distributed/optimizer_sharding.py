"""Each worker keeps the optimizer's state of its own chunks only, and updates only these.

Gradients are not given to all then, parameters are: as many bytes as before. An update that treats each
element by itself gives the same bits whoever makes it, so this changes nothing but memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from extensor.core import changes, door, modes
from extensor.core.tensor import Tensor, forget_gradients
from extensor.distributed.exchange import BLOCK, Exchange
from extensor.distributed.gradients import Gradients
from extensor.errors import value_error
from extensor.optim import (
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lion,
    Optimizer,
    RAdam,
    RMSprop,
    Rprop,
)
from extensor.optim.clipping import clip_values, multiply_gradients, norm_of
from extensor.optim.states import GroupHistory
from extensor.optim.update import state_like

_NORMS, _STATES = 3, 2  # tags
_PIECE = 64 * BLOCK  # of float64 at a time: what a cache holds


class GradientRows:
    """The rows of an exchange, or with ``own`` only the chunks that this worker has the sums of."""

    def __init__(self, exchange: Exchange, own: bool) -> None:
        self.exchange = exchange
        self.workers = exchange.workers
        self.is_shared = own and self.workers.size > 1
        layout = exchange.layout
        size = self.workers.size
        self.spans = [layout.chunks(size, rank) if self.is_shared else [] for rank in range(size)]
        whole = [(row, 0, length) for row, length in enumerate(layout.lengths)]
        mine = self.spans[self.workers.rank] if self.is_shared else whole
        self.arrays = [exchange.rows[row][begin:end] for row, begin, end in mine]
        # Where the blocks of each row begin among those of all.
        self._first = np.cumsum([0, *(length // BLOCK for length in layout.lengths)]).tolist()

    def is_finite(self) -> bool:
        """True if all sums are, on all workers."""
        return isfinite(self._agreed(np.array([norm_of(self.arrays, float("inf"))])))

    def _agreed(self, number: Any) -> float:
        if not self.is_shared:
            return float(number[0])
        return float(sum(self._gathered([number] * self.workers.size))[0])

    def scale(self, factor: float) -> None:
        """Multiply all by ``factor``."""
        multiply_gradients(self.arrays, factor)

    def clip(self, bound: float) -> None:
        """Bring all elements into ``[-bound, bound]``."""
        clip_values(self.arrays, bound)

    def norm(self) -> float:
        """The norm of all sums."""
        squares = [block_squares(array) for array in self.arrays]
        if not self.is_shared:
            return norm_of_blocks(np.concatenate([np.zeros(0), *squares]))
        counts = [sum((end - begin) // BLOCK for _, begin, end in spans) for spans in self.spans]
        rows = [np.empty(count) for count in counts]
        rows[self.workers.rank] = np.concatenate([np.zeros(0), *squares])
        whole = np.empty(self._first[-1])
        for spans, found in zip(self.spans, self._gathered(rows), strict=True):
            at = 0
            for row, begin, end in spans:
                first, count = self._first[row] + begin // BLOCK, (end - begin) // BLOCK
                whole[first : first + count] = found[at : at + count]
                at += count
        return norm_of_blocks(whole)

    def _gathered(self, rows: list[Any]) -> list[Any]:
        """What each worker has at its own place of ``rows``."""
        rank = self.workers.rank
        found = [row if number == rank else np.empty_like(row) for number, row in enumerate(rows)]
        self.workers.exchange(_NORMS, found).wait("norms")
        return found


@door.through_door
def block_squares(row: Any) -> Any:
    """The sum of squares of each block of ``row``, in float64."""
    sums = np.empty(len(row) // BLOCK, np.float64)
    with np.errstate(all="ignore"):
        for begin in range(0, len(row), _PIECE):
            wide = row[begin : begin + _PIECE].astype(np.float64)
            np.square(wide, out=wide)
            first = begin // BLOCK
            part = sums[first : first + len(wide) // BLOCK]
            np.add.reduce(wide.reshape(-1, BLOCK), axis=1, out=part)
    return sums


def norm_of_blocks(squares: Any) -> float:
    """The norm of the whole from the squares of its blocks, in their order.

    They are added by a tree: neighbours first, one without a neighbour as it is.
    """
    with np.errstate(all="ignore"):
        while len(squares) > 1:
            even = len(squares) // 2 * 2
            squares = np.concatenate([squares[0:even:2] + squares[1:even:2], squares[even:]])
    return sqrt(squares[0]) if len(squares) else 0.0


ELEMENTWISE = (SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Lion, RAdam, Adamax, Rprop)


class _Piece(NamedTuple):
    """Elements ``begin`` to ``end`` of parameter ``number`` of a group; views of them and their gradient."""

    number: int
    begin: int
    end: int
    parameter: Any
    gradient: Any


class ShardedOptimizer:
    """The part of ``optimizer`` that belongs to this worker."""

    def __init__(self, optimizer: Optimizer, gradients: Gradients) -> None:
        if type(optimizer) not in ELEMENTWISE:
            names = ", ".join(kind.__name__ for kind in ELEMENTWISE)
            requirement = f"optimizer must be one of {names} for its state to be shared out"
            raise value_error("Trainer", requirement, optimizer=type(optimizer).__name__)
        self.optimizer = optimizer
        self.gradients = gradients
        self.workers = gradients.workers
        # A group that is added later is not shared out.
        self._histories = list(optimizer._histories)
        self._owned = self._pieces(self.workers.rank)
        self._state: list[list[list[Any]]] = []  # by group, name and piece
        # By group and name the parameters that have such state, whoever has it.
        self._kept: list[list[set[int]]] = []
        self.share_out()

    def _pieces(self, rank: int) -> list[list[_Piece]]:
        """The pieces of a worker, by group."""
        layout, rows = self.gradients.layout, self.gradients.exchange.rows
        places = {id(p): layout.places[i] for i, p in enumerate(self.gradients.parameters)}
        chunks = layout.chunks(self.workers.size, rank)
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

    def _shared(self, history: GroupHistory) -> list[int]:
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

    def _forget(self, history: GroupHistory) -> None:
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

    def _step_group(self, number: int, history: GroupHistory, has: set[int]) -> None:
        """Update the own pieces of a group; parameters with the same step count go together."""
        optimizer, group = self.optimizer, history.group
        steps = history.steps()
        by_step: dict[int, list[int]] = {}
        for index, parameter in enumerate(group["params"]):
            if id(parameter) in has:
                by_step.setdefault(steps[index] + 1, []).append(index)
        is_used = optimizer._used(group, [[None]] * len(optimizer.state_names))
        for step, indices in by_step.items():
            # Also for parameters that other workers own: a checkpoint asks them for their state.
            for kept, flag in zip(self._kept[number], is_used, strict=True):
                kept.update(indices if flag else ())
            lists = self._update_lists(number, group, set(indices))
            if lists[0]:
                optimizer.update(lists, optimizer._attributes(group, step))
            history.set_step(indices, step)

    def _update_lists(self, number: int, group: Any, chosen: set[int]) -> list[list[Any]]:
        """Views of the ``chosen`` parameters of a group, their gradients and their state."""
        optimizer = self.optimizer
        used = optimizer._used(group, self._state[number])
        mine = [(at, x) for at, x in enumerate(self._owned[number]) if x.number in chosen]
        lists = [[piece.parameter for _, piece in mine], [piece.gradient for _, piece in mine]]
        for name, arrays in zip(optimizer.state_names, used, strict=True):
            for at, piece in mine if arrays else ():
                if arrays[at] is None:
                    initial = optimizer._initial(name, group)
                    arrays[at] = state_like(piece.parameter, initial)
            lists.append([arrays[at] for at, _ in mine] if arrays else [])
        return lists

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

    def _collect(
        self, rank: int, number: int, history: GroupHistory, pieces: Sequence[_Piece]
    ) -> None:
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
                    transfer.send(peer, _STATES, joined)
            else:
                joined = np.empty(sum(map(len, targets)), targets[0].dtype)
                transfer.receive(rank, _STATES, joined)
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
