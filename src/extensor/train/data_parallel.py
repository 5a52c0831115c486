"""A step of micro-batches that workers share: the same bits on any number of workers.

The parts of a step, their random numbers and the tree in which their gradients, losses and running
statistics are added depend on the batches alone. All workers take the same steps in the same order and
send the same messages, so whatever decides on either (a signal, a stop, a callback that wants gradients)
must be the same on all of them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

from extensor import random
from extensor.core.tensor import Tensor
from extensor.data.epoch_batches import ReadingChance
from extensor.data.loader import DataLoader
from extensor.distributed.gradients import Gradients, mean_loss
from extensor.distributed.micro_batches import part_noise
from extensor.distributed.optimizer_sharding import GradientRows, ShardedOptimizer
from extensor.distributed.rendezvous import replace_workers
from extensor.distributed.workers import WorkerLostError, Workers
from extensor.random.global_generators import preserve_global_generators
from extensor.random.seeds import EVALUATION, derived_seeds
from extensor.train.batch_sharding import (
    BatchShard,
    OutputGathering,
    StepParts,
    can_share,
    evaluate_jointly,
    gather_batch,
    samples_here,
    sharded_batches,
)
from extensor.train.data_adapters import check_batch
from extensor.train.loss_parts import cut
from extensor.train.nonfinite import NotFiniteError, origin_of
from extensor.train.step_strategy import Batch, LocalStep, OnGradients, OnOutput, StepResult
from extensor.train.worker_checks import CHECK_EVERY, DriftCheck, check_repeatable, check_same_start

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer


class DataParallelStep(LocalStep):
    """Cuts each batch into ``micro_batches``, which ``workers`` share, and adds their gradients.

    With ``shards`` each worker keeps its part of the optimizer's state only; if it ``synchronises``,
    batch norm takes the statistics of all micro-batches.
    """

    micro_batches: int

    def __init__(
        self,
        *parts: Any,
        workers: Workers,
        micro_batches: int,
        shards: bool = False,
        synchronises: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(*parts, **options)
        self.workers = workers
        self.micro_batches = micro_batches
        self.shards = shards
        self.synchronises = synchronises
        self.overlap = True
        self.number = 0  # of the step, from 0 on; decides on its random numbers
        self.signal = 0  # the highest that any worker knew of in the last step
        self.gradients: Gradients | None = None
        self.sharded: ShardedOptimizer | None = None
        self._drift = DriftCheck(self)
        self._figures = WorkerFigures(workers)
        self._is_repeatable = False
        self._shared: tuple[Any, bool] = (None, False)  # a loader, and whether workers share it

    def settings(self) -> list[Any]:
        """The options of steps, which must be the same on all workers."""
        clipping = [self.clip_norm, self.clip_value, str(self.amp)]
        return [*clipping, self.micro_batches, self.shards, self.synchronises]

    def begin_fit(self) -> None:
        self.prepare()
        self._drift = DriftCheck(self)
        self._figures = WorkerFigures(self.workers)

    def prepare(self) -> None:
        """Lay out the gradients for the parameters and workers that there are now."""
        self.release()
        self._follow_optimizer()
        # Workers have compared their models. The stream is one for all runs: resuming changes no noise.
        self.gradients = Gradients(
            self.model,
            self.parameters,
            self.workers,
            self.overlap,
            self.synchronises,
            broadcast=False,
            stream=0,
        )
        self.gradients.on_layout = self._collect_state, self._lay_out
        self._lay_out()

    def _lay_out(self) -> None:
        """Follow the gradients, which have places of their own for each set of parameters."""
        gradients = self.gradients
        assert gradients is not None
        self.sharded = ShardedOptimizer(self.optimizer, gradients) if self.shards else None
        self._whole = GradientRows(gradients.exchange, own=False)
        self._own = GradientRows(gradients.exchange, own=True)

    def _collect_state(self) -> None:
        if self.sharded is not None:
            self.sharded.whole()

    def release(self) -> None:
        """Let the optimizer have its whole state again, which all workers must call together."""
        self._collect_state()
        self.gradients, self.sharded = None, None

    def end_fit(self, error: type[BaseException] | None) -> None:
        # After an error the other workers may be gone: asking for their state would wait for them.
        if error is None or self.workers.size == 1:
            self.release()

    def batches(self, loader: Any, epoch: int, first: int, accumulate: int) -> Iterator[Any]:
        chance = ReadingChance(random.get_state()[0], epoch)
        batches = sharded_batches(
            loader, first, accumulate, self.micro_batches, self.workers, chance
        )
        return batches if self.workers.size == 1 else self._check_first(batches)

    def _check_first(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The batches, after the first has shown that the model has no hidden state."""
        for batch in batches:
            if not self._is_repeatable:
                check_repeatable(self, batch)
                self._is_repeatable = True
            yield batch

    def whole_batch(self, batch: Any) -> Any:
        return gather_batch(batch, self.workers)

    def part_sizes(self, sizes: list[int], accumulate: int) -> list[int]:
        if self.synchronises:
            groups = range(0, len(sizes), accumulate)
            return [sum(sizes[begin : begin + accumulate]) for begin in groups]
        return [end - begin for _, begin, end in cut(sizes, self.micro_batches)]

    def begin_step(self, step: int, signal: int | None) -> None:
        self.workers.place = f"step {step + 1}"
        self._drift.note_options()
        self.number = step
        # A signal comes to one worker, or to all but at different moments. It is told with the next
        # step, so that all know of it after the same step: one that stopped alone would leave the
        # others waiting for its messages.
        self.signal = signal or 0

    def end_epoch(self) -> None:
        self.worker_figures = self._figures.gather()

    def known_signal(self, signal: int | None) -> int | None:
        return signal if self.workers.size == 1 else self.signal or None

    def is_any(self, flag: bool, what: str) -> bool:
        return flag if self.workers.size == 1 else b"1" in self._gather_flag(flag, what)

    def _gather_flag(self, flag: bool, what: str) -> list[bytes]:
        return self.workers.gather(b"1" if flag else b"0", what)

    def shared_values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        known = super().shared_values(values)
        if self.workers.size == 1:
            return known
        shared: dict[str, Any] = json.loads(
            self.workers.broadcast(json.dumps(known).encode(), "metrics")
        )
        return shared

    def evaluate(self, trainer: Trainer, loader: Any) -> dict[str, Any]:
        (seed,) = derived_seeds(random.get_state()[0], EVALUATION, trainer.step, range(1))
        if isinstance(loader, DataLoader):
            loader.check_threads()
        # All of it in one order: code that draws then draws the same on any number of workers.
        with preserve_global_generators(seed):
            if self.workers.size == 1 or not trainer.is_evaluated_here:
                return trainer.evaluate(loader)
            self.workers.place = f"evaluation after step {trainer.step}"
            if self._shared[0] is not loader:
                flags = self._gather_flag(can_share(self, loader), "whether to share")
                self._shared = loader, b"0" not in flags
            if not self._shared[1]:
                return trainer.evaluate(loader)
            metrics_for = trainer.create_metrics if trainer.given_metrics else None
            return self.shared_values(evaluate_jointly(self, metrics_for, loader, self.workers))

    def check_start(self, loaders: Mapping[str, Any], settings: Sequence[Any], step: int) -> None:
        if self.workers.size > 1:
            self.workers.place = "start"
            check_same_start(self, loaders, settings, step)

    def check_agreement(self, step: int, loader: Any, is_due: bool = True) -> None:
        if is_due or step % CHECK_EVERY == 0:
            self._drift.check(step, loader)

    def survivors(self, error: WorkerLostError) -> Workers:
        if not error.is_gone:
            raise error
        left = self.workers.survivors()
        replace_workers(left)
        self.gradients, self.sharded = None, None
        return left

    def __call__(
        self,
        group: Sequence[Batch | BatchShard],
        on_gradients: OnGradients = None,
        on_output: OnOutput = None,
    ) -> StepResult:
        """One step; a shard of a batch need not have the samples of other workers.

        ``on_output`` is called on the first worker, for every micro-batch in its turn.
        """
        if self.gradients is None:
            self.prepare()
        gradients = self.gradients
        assert gradients is not None
        for batch in group:
            if not isinstance(batch, BatchShard) or batch.parts:
                check_batch("fit", "train", samples_here(batch))
        parts = StepParts(group, self.micro_batches, gradients.workers)
        self._figures.samples += parts.own_samples
        # A sharded optimizer needs its own chunks only, callbacks need the whole gradients.
        gathers = self.sharded is None or on_gradients is not None
        scale = self.scaler.get_scale()
        losses = self._sum_gradients(gradients, parts, gathers, scale, on_output)
        rows = self._whole if gathers else self._own
        is_finite = True
        if self.scaler.enabled:
            is_finite = rows.is_finite()
            rows.scale(1 / scale)
        if gathers:
            gradients.give()
        if on_gradients is not None:
            on_gradients()
        norm = self._clip_rows(rows)
        if norm is not None and not isfinite(norm) and not self.scaler.enabled:
            raise self._error(f"norm of the gradients is {norm}", parts, range(len(parts)))
        optimizer: Any = self.optimizer if self.sharded is None else self.sharded
        if self.scaler.enabled:
            self.scaler.note_unscaled(optimizer, is_finite)
        if self.scaler.step(optimizer) and self.ema is not None:
            self.ema.update()
        self.scaler.update()
        return StepResult(mean_loss(losses, gradients.weights), parts.samples, norm)

    def _sum_gradients(
        self,
        gradients: Gradients,
        parts: StepParts,
        gathers: bool,
        scale: float,
        on_output: OnOutput,
    ) -> list[float]:
        """Leave the sums over all micro-batches in the rows; returns their losses."""
        outputs = None if on_output is None else OutputGathering(gradients.workers, on_output)

        def compute(number: int) -> Tensor:
            batch = parts[number]
            output, loss = self.forward(batch)
            if outputs is not None:
                outputs.put(output, batch[-1])
            return loss

        self._follow_optimizer()
        self.optimizer.zero_grad()
        gradients.follow(self.parameters)
        gradients.note = self.signal
        weights = [1.0] * len(parts) if self.weighting.is_sum else None
        masses = None
        if self.weighting.has_masses and len(parts) > 1:
            masses = [self.weighting.mass(parts[number][-1]) for number in parts.own]
        losses = gradients.sum_in_rows(
            self.number, parts.shares, compute, scale, gathers, weights, masses
        )
        self.signal = gradients.note
        # All workers know all losses by now, so all of them raise.
        for number, loss in enumerate(losses):
            if not isfinite(loss):
                raise self._error(f"loss is {loss}", parts, [number])
        if outputs is not None:
            outputs.tell()
        return losses

    def _clip_rows(self, rows: GradientRows) -> float | None:
        if self.clip_value is not None:
            rows.clip(self.clip_value)
        if self.clip_norm is None:
            return None
        norm = rows.norm()
        if not norm <= self.clip_norm:
            rows.scale(self.clip_norm / norm)
        return norm

    def _error(self, what: str, parts: StepParts, numbers: Sequence[int]) -> NotFiniteError:
        """The error for this step, the same on all workers; the owner repeats the micro-batch."""
        origin = ""
        for number in numbers:
            if not origin and number in parts.own:
                repeat = partial(self._repeat, parts[number])
                with part_noise(random.get_state()[0], self.number, number):
                    origin = origin_of(self.model, self.loss, parts[number], repeat) or ""
        messages = self.workers.gather(origin.encode(), "what is not finite")
        unknown = "no op gave that when the batch was repeated"
        origin = next(filter(None, (text.decode() for text in messages)), unknown)
        return NotFiniteError(f"{what}: {origin}")

    def state_dict(self, copied: bool = True) -> dict[str, Any]:
        # A checkpoint does not know the number of workers, so a sharded state is gathered for it.
        forget = None if self.sharded is None else self.sharded.whole()
        state = super().state_dict(copied)
        if forget is not None:
            forget()
        return state

    def prepared_state(self, op: str, state: Any) -> Callable[[], None]:
        load = super().prepared_state(op, state)

        def commit() -> None:
            load()
            if self.sharded is not None:
                self.sharded.share_out()

        return commit


class WorkerFigures:
    """What each worker did in an epoch: samples, seconds, waiting and traffic."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._before = self._counters()
        self.samples = 0

    def _counters(self) -> dict[str, float]:
        traffic = self._workers.traffic
        return {
            "seconds": time.perf_counter(),
            "processor_seconds": time.process_time(),
            "waited": traffic.waited,
            "sent": traffic.sent,
            "received": traffic.received,
        }

    def gather(self) -> list[dict[str, Any]]:
        """The figures of all workers since the last call; none of a worker that is alone."""
        workers = self._workers
        if workers.size == 1:
            return []
        spent = {key: value - self._before[key] for key, value in self._counters().items()}
        rate = self.samples / spent["seconds"]
        own = {"worker": workers.names[workers.rank], "samples_per_second": rate, **spent}
        messages = workers.gather(json.dumps(own).encode(), "figures")
        self._before, self.samples = self._counters(), 0
        return [json.loads(text) for text in messages]
