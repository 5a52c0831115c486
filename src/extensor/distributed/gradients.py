"""The gradients of a step, whose micro-batches are dealt out to the workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from extensor import random
from extensor.core.backward_pass import announce_gradients
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor, wrap
from extensor.distributed.consistency import (
    StepHandshake,
    TrainedParameters,
    checksum,
    digest,
    replicate,
)
from extensor.distributed.exchange import Exchange, Layout
from extensor.distributed.lockstep import Lockstep
from extensor.distributed.micro_batches import NoiseStream, owner, part_noise, share, tree_sum
from extensor.distributed.part_effects import (
    BufferAveraging,
    PartEffects,
    check_repeatable,
    check_same_data,
)
from extensor.distributed.rendezvous import workers as join_workers
from extensor.distributed.workers import Workers
from extensor.errors import arguments, type_error, value_error
from extensor.errors.explanation import explaining
from extensor.nn.module import Module
from extensor.nn.synchronised import Adding, adding_by

BUCKET_BYTES = 1 << 20
_FACTS = 1  # tag
# Reading all parameters takes about as long as a small step. Workers that differ from the beginning on are
# found early, as calls 1, 2, 4, ... compare too.
_COMPARE_EVERY = 64
_ROUNDING = 1e-6  # by which weights may miss 1
_LAST_STEP = 2**63 - 1  # messages between workers have 64 bits for it


class _Step(NamedTuple):
    """A step to be computed: the seed of its noise, its number, the shares of its micro-batches."""

    seed: int
    number: int
    shares: Sequence[float]
    compute: Callable[[int], Tensor]
    scale: float
    gathers: bool


class Gradients:
    """Add the gradients of micro-batches in one tree, with the same bits on any number of workers.

    Create one object before the loop, on every worker. Each step calls it once, see `__call__`: the
    workers share the micro-batches, and every worker ends with the weighted sum of all their
    gradients in ``.grad``. A `Trainer` with ``micro_batches`` does this by itself.

    Parameters
    ----------
    model : Module
        The model. Its parameters are trained, and its running statistics are averaged.
    parameters : sequence of Tensor, optional
        The parameters to train, as far as they require gradients. Default: the parameters
        of `model`, followed as they are frozen, unfrozen or added.
    workers : Workers, optional
        The workers. Default: those of `ex.distributed.workers`.
    overlap : bool, default True
        Whether gradients are sent while others are still being computed. The bits are the same.
    sync_batch_norm : bool, default False
        Whether batch norm takes mean and variance of all micro-batches of a step, not of each
        alone. It costs two waits for each such layer, and a worker holds all its micro-batches in
        memory.
    bucket_bytes : int, default 1048576
        Size in bytes of the pieces that are sent, 1 or more. The bits do not depend on it.
    broadcast : bool, default True
        Whether all workers take over the parameters, buffers and seed of the first one now.
    stream : int, optional
        Number of the random stream that the micro-batches draw from, 0 or more. Default: the count
        of the objects created since ``ex.random.manual_seed``.
    modules : sequence of Module, default ()
        Further modules that ``compute`` runs in training mode, such as the generator that a critic
        is trained with. Their running statistics are averaged too.

    Attributes
    ----------
    parameters : list of Tensor
        The parameters that are trained now, the last layer first.
    weights : list of float
        The weights of the last step's micro-batches.
    workers : Workers
        The workers that share the micro-batches.
    has_gradient : numpy.ndarray
        1 for each of `parameters` that has a gradient in the last step, otherwise 0.

    Raises
    ------
    TypeError
        If `model`, `parameters`, `workers` or `modules` have another type.
    ValueError
        If there is no parameter to train, or if the models or machines of the workers differ.
    WorkerLostError
        If a worker does not answer before the deadline.

    See Also
    --------
    workers : The workers of this run.
    extensor.train.Trainer : A training loop that uses this class.

    Notes
    -----
    Random numbers that ``compute`` draws, from the default generator and from those of NumPy and
    Python, depend on the seed, the step, the number of the micro-batch and the stream only.

    All workers must call the object at the same time. They compare the step, the weights, the seed
    and the trained parameters at each call, and all parameters and buffers at calls 1, 2, 4, ...,
    32 and each 64th; if a worker differs, an error on every worker names it.

    On several workers the first call computes one micro-batch of each worker twice, and refuses a
    ``compute`` whose loss differs the second time. This trial is skipped if a model has hooks, or if
    ``compute`` or a model can reach an iterator, which could not be put back. If the first
    micro-batch of a worker then reads the iterator, and its position can be seen, it is refused.

    Create averages of parameters, such as `EMA`, afterwards: with ``broadcast=True`` the parameters
    change here.

    Examples
    --------
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
        broadcast: bool = True,
        stream: int | None = None,
        modules: Sequence[Module] = (),
    ) -> None:
        models = _all_models(model, modules)
        self.bucket_bytes = arguments.integer("Gradients", "bucket_bytes", bucket_bytes, 1)
        self.overlap = arguments.flag("Gradients", "overlap", overlap)
        self.synchronises = arguments.flag("Gradients", "sync_batch_norm", sync_batch_norm)
        if workers is not None:
            arguments.instance("Gradients", "workers", workers, Workers, "ex.distributed.workers()")
        if stream is not None:
            stream = arguments.integer("Gradients", "stream", stream, 0)
        self.workers = join_workers() if workers is None else workers
        chosen = None if parameters is None else list(parameters)
        for parameter in chosen or ():
            arguments.instance("Gradients", "parameters", parameter, Tensor, "a list of tensors")
        self.statistics = BufferAveraging(models, self.workers)
        self._effects = PartEffects(models, chosen or (), self.workers.size > 1)
        # A number up to 255 that is told to all with a step; the highest is what all get.
        self.note = 0
        # Called before and after gradients are laid out anew, on all workers at once.
        self.on_layout: tuple[Callable[[], None], Callable[[], None]] | None = None
        self.weights: list[float] = []  # of the last step's micro-batches
        self._seeds = (random.get_state()[0],) * 2  # of this worker, and what stands for it
        self._trained = TrainedParameters(model, chosen)
        self._models = models
        self._calls = 0
        self._lay_out()
        if not self.parameters:
            raise value_error("Gradients", "model must have parameters to train", parameters=0)
        self._noise = NoiseStream(stream)
        if arguments.flag("Gradients", "broadcast", broadcast):
            replicate(self.workers, models, chosen or ())
            first = self.workers.broadcast(f"{self._seeds[0]}".encode(), "seed")
            self._seeds = self._seeds[0], int(first)

    @property
    def parameters(self) -> list[Tensor]:
        """The parameters that are trained now, the last layer first."""
        return self._trained.tensors

    def follow(self, parameters: Sequence[Tensor] | None) -> None:
        """Train other parameters from the next step on.

        Call it on all workers between the same two steps.

        Parameters
        ----------
        parameters : sequence of Tensor or None
            The parameters; the ones that require gradients are trained. None stands for the
            model's.
        """
        self._trained.chosen = parameters

    def _lay_out(self) -> None:
        """Make room for the gradients of the parameters that are to be trained now."""
        self._trained.update()
        shapes = [parameter.shape for parameter in self.parameters]
        dtypes = [parameter.dtype for parameter in self.parameters]
        self.layout = Layout(shapes, dtypes, self.bucket_bytes, self.workers.size)
        self.exchange = Exchange(self.workers, self.layout)
        self._index = {id(parameter): i for i, parameter in enumerate(self.parameters)}
        self.has_gradient: Any = np.zeros(len(self.parameters), np.uint8)

    @explaining
    def __call__(
        self,
        step: int,
        weights: Sequence[float],
        compute: Callable[[int], Tensor],
        scale: float = 1.0,
        order: Any = None,
    ) -> list[float]:
        """Compute the micro-batches of a step and add their gradients.

        Each worker computes its share, ``workers.share(len(weights))``. Afterwards the weighted sum
        over all micro-batches has been added to ``.grad`` of each parameter, on every worker. As
        with ``backward``, a second call adds to the first: call ``zero_grad`` before each step.

        Parameters
        ----------
        step : int
            Number of the step, from 0 to 2**63 - 1. Random numbers depend on it.
        weights : sequence of float
            Weight of each micro-batch in the gradient, usually its fraction of the samples. There
            must be one at least. A micro-batch of weight 0 adds nothing.
        compute : callable
            Function of the number of a micro-batch, from 0 on, that returns its loss: a tensor of
            one number that requires grad. It must not change parameters.
        scale : float, default 1.0
            Factor of all gradients, such as that of a gradient scaler. Losses are returned without
            it.
        order : array_like or int or str, optional
            What identifies the samples of this step, such as an array of their numbers. It is only
            compared between the workers. Without it, they compare their losses of part 0 at calls 1, 2,
            4, ..., 32, 64, 128, 192 and so on.

        Returns
        -------
        list of float
            The loss of every micro-batch, on every worker; 0.0 where the weight is 0.

        Raises
        ------
        FloatingPointError
            On every worker, if a loss is NaN or infinite. No ``.grad`` has changed then.
        TypeError
            If ``compute`` returns no loss.
        ValueError
            If the workers differ, or ``compute`` has effects that would make them differ: it
            changes parameters, reads an iterator (checked in the first call on several workers), or
            runs batch norm of a module that the object does not know.
        WorkerLostError
            If a worker does not answer before the deadline.
        """
        step = arguments.integer("Gradients", "step", step, 0)
        if step > _LAST_STEP:
            raise value_error("Gradients", f"step must be {_LAST_STEP} or less", step=step)
        weights = [arguments.number("Gradients", "weights", weight) for weight in weights]
        scale = arguments.number("Gradients", "scale", scale)
        arguments.takes("Gradients", "compute", compute, "number")
        own = share(len(weights), self.workers.size, self.workers.rank)
        if self._calls == 0 and self.workers.size > 1 and own:
            check_repeatable(self._models, compute, self._seeds[1], step, own[0])
        self._calls += 1
        compares = self._compares()
        state = self._state_facts() if compares else {"parameters": 0, "buffers": 0}
        facts = {"order of samples": int(digest(_plain(order)), 16), **state}
        losses = self.sum_in_rows(
            step, _as_shares(weights), compute, scale, weights=weights, facts=facts
        )
        if compares:  # now that seeds and steps were compared
            check_same_data(self._models, compute, self._seeds[1], step, self.workers)
        for number, loss in enumerate(losses):
            if not isfinite(loss):
                worker = self.workers.names[owner(number, len(losses), self.workers.size)]
                text = f"Gradients: the loss of part {number} must be finite, got loss={loss}"
                raise FloatingPointError(f"{text} (step {step}, {worker})")
        self._add()
        return losses

    def _compares(self) -> bool:
        """Whether the workers compare parameters, buffers and data in this call: early ones, and some."""
        if self.workers.size == 1:
            return False
        is_early = self._calls < _COMPARE_EVERY and self._calls.bit_count() == 1
        return is_early or self._calls % _COMPARE_EVERY == 0

    def _state_facts(self) -> dict[str, int]:
        """A checksum of the parameters and one of the buffers; messages always have one size."""
        parameters = [x for model in self._models for x in model.parameters()]
        buffers = [x for model in self._models for x in model.buffers()]
        return {
            "parameters": _checksum([*parameters, *(self._trained.chosen or ())]),
            "buffers": _checksum(buffers),
        }

    def sum_in_rows(
        self,
        step: int,
        shares: Sequence[float],
        compute: Callable[[int], Tensor],
        scale: float = 1.0,
        gathers: bool = True,
        weights: Sequence[float] | None = None,
        own_masses: Sequence[float] | None = None,
        facts: Mapping[str, int] | None = None,
    ) -> list[float]:
        """Compute the micro-batches of a step, and leave the sums in the rows of the exchange.

        This is the part of `__call__` before gradients are added to ``.grad``; the trainer uses it.

        Parameters
        ----------
        step : int
            Number of the step, from 0 to 2**63 - 1.
        shares : sequence of float
            Fraction of the samples in each micro-batch, by which running statistics are averaged.
        compute : callable
            Function of the number of a micro-batch that returns its loss.
        scale : float, default 1.0
            Factor of all gradients.
        gathers : bool, default True
            Whether each worker gets the whole sums, or only its own chunks.
        weights : sequence of float, optional
            Weight of each micro-batch in the gradient. Default: `shares`.
        own_masses : sequence of float, optional
            Masses of this worker's micro-batches. If they are passed, the weights are the fractions
            of the sum of all masses.
        facts : mapping of str to int, optional
            Further numbers from 0 to 2**64 - 1 that must be the same on all workers.

        Returns
        -------
        list of float
            The loss of every micro-batch, on every worker. It may not be finite.

        Raises
        ------
        ValueError
            If there is no micro-batch, or if the workers differ.
        WorkerLostError
            If a worker does not answer before the deadline.
        """
        count = len(shares)
        if count == 0:
            raise value_error("Gradients", "a step must have a micro-batch", weights=[])
        own, agreed = self._seeds
        seed = random.get_state()[0]
        seed = agreed if seed == own else seed
        self.weights = list(shares if weights is None else weights)
        is_outdated = self._trained.is_outdated()
        compared = {
            "step": step,
            "number of parts": count,
            "weights of the parts": int(digest([*self.weights, scale]), 16),
            "trainable parameters": self._trained.digest(),
            "seed of random numbers": seed,
            "stream of random numbers": self._noise.number,
            "use of gradients": gathers,
            "reduction of the loss": own_masses is not None,
            **(facts or {}),
        }
        self._handshake = StepHandshake(self.workers, compared, is_outdated, count, own_masses)
        self.statistics.begin(count)
        losses = np.zeros(count)
        noise = self._noise.seed(seed, step)
        compute_all = self._in_lockstep if self.synchronises else self._in_turn
        compute_all(_Step(noise, step, shares, compute, scale, gathers), losses)
        # In this order on all workers. Losses are told even if one is not finite, so that all raise.
        self._agree(losses)
        self.exchange.finish()
        return [float(loss) for loss in losses]

    def _begin_exchange(self, step: _Step) -> None:
        """Wait until all workers are known to take the same step; lay out anew if one has to."""
        # The first message of a step. Until it is compared no gradient may be sent: a worker with
        # other parameters or parts would expect messages of other sizes, and hang.
        is_outdated, masses = self._handshake.finish()
        total = tree_sum(masses or [])
        if masses is not None:
            self.weights = [mass / total for mass in masses] if total else list(step.shares)
        if is_outdated:  # on any worker: all lay out anew at the same point of the step
            before, after = self.on_layout or (_do_nothing, _do_nothing)
            before()
            self._lay_out()
            after()
        self.exchange.begin(len(step.shares), step.gathers)
        self.has_gradient[:] = 0

    def _in_turn(self, step: _Step, losses: Any) -> None:
        has_begun = False
        for number in share(len(step.shares), self.workers.size, self.workers.rank):
            with part_noise(step.seed, step.number, number):
                with self._effects.refused(step.compute):
                    loss = _as_loss(step.compute(number))
                if not has_begun:
                    self._begin_exchange(step)
                    has_begun = True
                self.exchange.start(number)
                weight = self.weights[number]
                losses[number] = float(loss) if weight else 0.0
                # What is not finite is told to all before anybody raises.
                if weight and isfinite(losses[number]):
                    self._differentiate(loss * (weight * step.scale))
                del loss
            self.exchange.end()
            self.statistics.take(number, step.shares[number])
        if not has_begun:
            self._begin_exchange(step)

    def _in_lockstep(self, step: _Step, losses: Any) -> None:
        """The same for synchronised batch norm, where micro-batches wait for the statistics of all."""
        self._begin_exchange(step)
        found: dict[int, list[tuple[Tensor, Tensor]]] = {}

        def body(number: int, added: Adding, added_up: Callable[[Any], Any]) -> None:
            with part_noise(step.seed, step.number, number), adding_by(added):
                with self._effects.refused(step.compute):
                    loss = _as_loss(step.compute(number))
                weight = self.weights[number]
                losses[number] = float(loss) if weight else 0.0
                found[number] = gradients = []
                if added_up(np.array([not isfinite(losses[number])], np.uint32))[0] == 0:
                    scaled = loss * (weight * step.scale)
                    announce_gradients(scaled, lambda *pair: gradients.append(pair))

        statistics = self.statistics
        lockstep = Lockstep(self.workers, len(step.shares), statistics.kept, statistics.bring)
        for number, buffers in lockstep.run(body).items():
            self.exchange.start(number)
            for leaf, gradient in found.pop(number):
                self._arrived(leaf, gradient)
            self.exchange.end()
            statistics.bring(buffers)
            statistics.take(number, step.shares[number])

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
            self.workers.exchange(_FACTS, rows).wait("losses")
            for mine, row in zip(shares, rows, strict=True):
                losses[mine.start : mine.stop] = row[: 8 * len(mine)].view(np.float64)
                flags |= row[8 * len(mine) : -1]
                notes.append(int(row[-1]))
        self.note = max(notes)
        known = len(self.has_gradient)
        self.has_gradient[:] = flags[:known]
        if np.isfinite(losses).all():
            self.statistics.finish(flags[known:])

    def give(self) -> None:
        """Set ``.grad`` of each parameter that has a gradient, as a view of the sums.

        The next step overwrites it. It is for callers that are done with the gradients by then.
        """
        for index, parameter in enumerate(self.parameters):
            if self.has_gradient[index]:
                parameter.grad = wrap(self.layout.view(self.exchange.rows, index))

    @no_grad()
    def _add(self) -> None:
        """Add the sums to ``.grad``, in memory of its own."""
        for index, parameter in enumerate(self.parameters):
            if self.has_gradient[index]:
                found = wrap(self.layout.view(self.exchange.rows, index))
                before = parameter.grad
                parameter.grad = wrap(found._array.copy()) if before is None else before + found


def _all_models(model: Any, modules: Any) -> list[Module]:
    """The model, and the other modules that are computed with it."""
    arguments.instance("Gradients", "model", model, Module, "a Module")
    if isinstance(modules, Module):
        modules = (modules,)
    for module in modules:
        arguments.instance("Gradients", "modules", module, Module, "a list of Modules")
    return [model, *modules]


def _as_loss(loss: Any) -> Tensor:
    if not isinstance(loss, Tensor) or loss.size != 1 or not loss.requires_grad:
        given = f"a tensor {loss.shape}" if isinstance(loss, Tensor) else type(loss).__name__
        requirement = "compute must give a loss: a tensor of one number that requires grad"
        raise type_error("Gradients", requirement, loss=given)
    return loss


def _checksum(tensors: Sequence[Tensor]) -> int:
    return int(digest([checksum(np.asarray(x._array)) for x in tensors]), 16)


def _do_nothing() -> None:
    """There is nothing to do."""


def _plain(order: Any) -> Any:
    return np.asarray(order) if isinstance(order, Tensor) else order


def _as_shares(weights: Sequence[float]) -> list[float]:
    """Shares for averages: ``weights`` that add up to 1 as they are, others divided by their sum."""
    total = tree_sum(weights)
    if abs(total - 1) < _ROUNDING:
        return list(weights)
    if total > 0 and min(weights) >= 0:
        return [weight / total for weight in weights]
    return [1 / len(weights) for _ in weights]


def mean_loss(losses: Sequence[float], weights: Sequence[float]) -> float:
    """The mean over all samples, added by the tree."""
    return tree_sum([loss * weight for loss, weight in zip(losses, weights, strict=True)])
