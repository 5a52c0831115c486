"""The gradients of a step, whose micro-batches are dealt out to the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np

from extensor import random
from extensor.core.backward_pass import announce_gradients
from extensor.core.tensor import Tensor, forget_gradients, wrap
from extensor.distributed.chance import chance_of
from extensor.distributed.exchange import Exchange
from extensor.distributed.joining import workers as found_workers
from extensor.distributed.layout import Layout
from extensor.distributed.side_by_side import SideBySide
from extensor.distributed.statistics import Statistics
from extensor.distributed.tree import added, share
from extensor.distributed.workers import Workers
from extensor.errors import arguments, type_error, value_error
from extensor.errors.explanation import explaining
from extensor.nn.module import Module
from extensor.nn.synchronised import Adding, adding_by

BUCKET_BYTES = 1 << 20
_FACTS = 1  # tag


class Gradients:
    """Adds the gradients of micro-batches by one tree: the same bits for any number of workers.

    ``compute`` of :meth:`__call__` is given the number of a micro-batch and gives its loss. Afterwards
    ``.grad`` of every parameter has the sum over all of them, on every worker. Random numbers that
    ``compute`` draws depend on the seed, the step and the number; running statistics are averaged.
    With ``overlap`` gradients are sent while others are still computed. With ``sync_batch_norm`` batch
    norm takes mean and variance of all micro-batches; those of a worker are then in memory together.

    >>> import extensor as ex
    >>> model = ex.nn.Linear(1, 1, bias=False)
    >>> gradients = ex.distributed.Gradients(model)
    >>> x = ex.tensor([[1.0], [2.0], [3.0], [4.0]])
    >>> losses = gradients(0, [0.5, 0.5], lambda i: model(x[2 * i : 2 * i + 2]).mean())
    >>> model.weight.grad
    tensor([[2.5]])
    """

    @explaining
    def __init__(
        self,
        model: Module,
        parameters: Sequence[Tensor] | None = None,
        workers: Workers | None = None,
        overlap: bool = True,
        sync_batch_norm: bool = False,
        bucket_bytes: int = BUCKET_BYTES,
    ) -> None:
        arguments.instance("Gradients", "model", model, Module, "a Module")
        bucket_bytes = arguments.integer("Gradients", "bucket_bytes", bucket_bytes, 1)
        self.overlap = arguments.flag("Gradients", "overlap", overlap)
        self.synchronises = arguments.flag("Gradients", "sync_batch_norm", sync_batch_norm)
        if workers is not None:
            arguments.instance("Gradients", "workers", workers, Workers, "ex.distributed.workers()")
        self.workers = found_workers() if workers is None else workers
        chosen = list(model.parameters() if parameters is None else parameters)
        for parameter in chosen:
            arguments.instance("Gradients", "parameters", parameter, Tensor, "a list of tensors")
        # The last layer's gradients are known first.
        self.parameters = [parameter for parameter in chosen if parameter.requires_grad][::-1]
        if not self.parameters:
            raise value_error("Gradients", "model must have parameters to train", parameters=0)
        for parameter in self.parameters:
            if not isinstance(parameter._array, np.ndarray):
                given = type(parameter._array).__name__
                requirement = "parameters must be stored in NumPy's arrays"
                raise type_error("Gradients", requirement, parameter=given)
        shapes = [parameter.shape for parameter in self.parameters]
        dtypes = [parameter.dtype for parameter in self.parameters]
        self.layout = Layout(shapes, dtypes, bucket_bytes, self.workers.size)
        self.exchange = Exchange(self.workers, self.layout)
        self.statistics = Statistics(model, self.workers)
        self._index = {id(parameter): i for i, parameter in enumerate(self.parameters)}
        self.has_gradient: Any = np.zeros(len(self.parameters), np.uint8)
        # A number up to 255 that is told to all with a step; the highest is what all get.
        self.note = 0

    @explaining
    def __call__(
        self,
        step: int,
        weights: Sequence[float],
        compute: Callable[[int], Tensor],
        scale: float = 1.0,
    ) -> list[float]:
        """Take the micro-batches of a step, each with its weight; returns their losses."""
        step = arguments.integer("Gradients", "step", step, 0)
        weights = [arguments.number("Gradients", "weights", weight) for weight in weights]
        scale = arguments.number("Gradients", "scale", scale)
        arguments.takes("Gradients", "compute", compute, "number")
        losses = self.added(step, weights, compute, scale)
        self.give()
        return losses

    def added(
        self,
        step: int,
        weights: Sequence[float],
        compute: Callable[[int], Tensor],
        scale: float = 1.0,
        gathers: bool = True,
    ) -> list[float]:
        """The same, but the sums stay in the rows of the exchange: whole, or the own chunks."""
        count = len(weights)
        if count == 0:
            raise value_error("Gradients", "a step must have a micro-batch", weights=[])
        forget_gradients(self.parameters, True)
        self.exchange.begin(count, gathers)
        self.statistics.begin(count)
        losses = np.zeros(count)
        self.has_gradient[:] = 0
        compute_all = self._side_by_side if self.synchronises else self._in_turn
        compute_all(step, weights, compute, scale, losses)
        self._agree(losses)
        self.exchange.finish()
        return [float(loss) for loss in losses]

    def _in_turn(
        self, step: int, weights: Sequence[float], compute: Any, scale: float, losses: Any
    ) -> None:
        seed = random.get_state()[0]
        for number in share(len(weights), self.workers.size, self.workers.rank):
            self.exchange.start(number)
            with chance_of(seed, step, number):
                loss = _checked(compute(number))
                losses[number] = float(loss)
                # What is not finite is told to all before anybody raises.
                if isfinite(losses[number]):
                    self._differentiate(loss * (weights[number] * scale))
                del loss
            self.exchange.end()
            self.statistics.take(number, weights[number])

    def _side_by_side(
        self, step: int, weights: Sequence[float], compute: Any, scale: float, losses: Any
    ) -> None:
        """The same, but batch norm takes the statistics of all micro-batches, which wait for each other."""
        seed = random.get_state()[0]
        found: dict[int, list[tuple[Tensor, Tensor]]] = {}

        def body(number: int, added: Adding, added_up: Callable[[Any], Any]) -> None:
            with chance_of(seed, step, number), adding_by(added):
                loss = _checked(compute(number))
                losses[number] = float(loss)
                found[number] = gradients = []
                if added_up(np.array([not isfinite(losses[number])], np.uint32))[0] == 0:
                    scaled = loss * (weights[number] * scale)
                    announce_gradients(scaled, lambda *pair: gradients.append(pair))

        statistics = self.statistics
        together = SideBySide(self.workers, len(weights), statistics.kept, statistics.bring)
        for number, buffers in together.run(body).items():
            self.exchange.start(number)
            for leaf, gradient in found.pop(number):
                self._arrived(leaf, gradient)
            self.exchange.end()
            statistics.bring(buffers)
            statistics.take(number, weights[number])

    def _differentiate(self, loss: Tensor) -> None:
        if self.overlap:
            announce_gradients(loss, self._arrived)
            return
        waiting: list[tuple[Tensor, Tensor]] = []
        announce_gradients(loss, lambda leaf, gradient: waiting.append((leaf, gradient)))
        for leaf, gradient in waiting:
            self._arrived(leaf, gradient)

    def _arrived(self, leaf: Tensor, gradient: Tensor) -> None:
        index = self._index.get(id(leaf))
        if index is not None:
            self.has_gradient[index] = 1
            self.exchange.put(index, gradient._array)

    def _agree(self, losses: Any) -> None:
        """Let all know the losses, which parameters have a gradient, and which buffers changed."""
        size, rank, count = self.workers.size, self.workers.rank, len(losses)
        flags = np.concatenate([self.has_gradient, self.statistics.changed])
        notes = [self.note]
        if size > 1:
            shares = [share(count, size, number) for number in range(size)]
            rows = [np.empty(8 * len(mine) + flags.size + 1, np.uint8) for mine in shares]
            own = losses[shares[rank].start : shares[rank].stop]
            rows[rank][:] = np.concatenate(
                [own.view(np.uint8), flags, np.array([self.note], np.uint8)]
            )
            transfer = self.workers.transfer()
            for peer in self.workers.others:
                transfer.receive(peer, _FACTS, rows[peer])
                transfer.send(peer, _FACTS, rows[rank])
            transfer.wait("losses")
            for mine, row in zip(shares, rows, strict=True):
                losses[mine.start : mine.stop] = row[: 8 * len(mine)].view(np.float64)
                flags |= row[8 * len(mine) : -1]
                notes.append(int(row[-1]))
        self.note = max(notes)
        known = len(self.has_gradient)
        self.has_gradient[:] = flags[:known]
        self.statistics.finish(flags[known:])

    def give(self) -> None:
        """Let each parameter that has a gradient have it as ``.grad``, a view of the rows."""
        for index, parameter in enumerate(self.parameters):
            has = self.has_gradient[index]
            parameter.grad = wrap(self.layout.view(self.exchange.rows, index)) if has else None


def _checked(loss: Any) -> Tensor:
    if not isinstance(loss, Tensor) or loss.size != 1 or not loss.requires_grad:
        given = f"a tensor {loss.shape}" if isinstance(loss, Tensor) else type(loss).__name__
        requirement = "compute must give a loss: a tensor of one number that requires grad"
        raise type_error("Gradients", requirement, loss=given)
    return loss


def mean_loss(losses: Sequence[float], weights: Sequence[float]) -> float:
    """The mean over all samples, added by the tree."""
    return added([loss * weight for loss, weight in zip(losses, weights, strict=True)])
