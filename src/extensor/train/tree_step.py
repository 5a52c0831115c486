"""A step of micro-batches: on any number of workers the same bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from extensor import random
from extensor.core.tensor import Tensor
from extensor.distributed.chance import chance_of
from extensor.distributed.finishing import Finishing
from extensor.distributed.gradients import Gradients, mean_loss
from extensor.distributed.joining import workers as found_workers
from extensor.distributed.sharding import Sharded
from extensor.distributed.tree import share
from extensor.train.checks import check_batch
from extensor.train.dealing import Dealt, Part, as_dealt, cut, samples_here, samples_of
from extensor.train.loss_weighting import LossReduction
from extensor.train.nonfinite import NotFiniteError, origin_of
from extensor.train.outputs import Outputs
from extensor.train.step import Batch, StepResult, TrainStep


class TreeStep(TrainStep):
    """As :class:`TrainStep`, but each batch is cut into ``micro_batches``, dealt out to the workers.

    What they give is added in one tree. With ``shards`` each worker keeps a part of the optimizer's
    state only; if it ``synchronises``, batch norm takes the statistics of all micro-batches.
    """

    def __init__(
        self,
        *parts: Any,
        micro_batches: int,
        shards: bool = False,
        synchronises: bool = False,
        loss_reduction: LossReduction = None,
    ) -> None:
        super().__init__(*parts, loss_reduction=loss_reduction)
        self.micro_batches = micro_batches
        self.shards = shards
        self.synchronises = synchronises
        self.overlap = True
        self.number = 0  # of the step, from 0 on
        self.own_samples = 0  # of the last step, on this worker
        self.note = 0  # the number of a signal, if there was one: told to all with each step
        self.gradients: Gradients | None = None
        self.sharded: Sharded | None = None

    def prepare(self) -> None:
        """Find out who the workers are, and lay out the gradients, which may have changed since."""
        self.release()
        self._follow_optimizer()
        # Workers have compared their models. The stream is one for all runs: resuming changes no noise.
        self.gradients = Gradients(
            self.model,
            self.parameters,
            found_workers(),
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
        self.sharded = Sharded(self.optimizer, gradients) if self.shards else None
        self._whole = Finishing(gradients.exchange, own=False)
        self._own = Finishing(gradients.exchange, own=True)

    def _collect_state(self) -> None:
        if self.sharded is not None:
            self.sharded.whole()

    def release(self) -> None:
        """Let the optimizer have its whole state again."""
        self._collect_state()
        self.forget_workers()

    def forget_workers(self) -> None:
        """Begin anew with the workers there are, as after a state was loaded."""
        self.gradients, self.sharded = None, None

    def __call__(
        self,
        group: Sequence[Batch | Dealt],
        on_gradients: Callable[[], None] | None = None,
        on_output: Callable[[Any, Any], None] | None = None,
    ) -> StepResult:
        """One step; of a batch that is dealt out the samples of other workers need not be there.

        ``on_output`` is called on the first worker, for every micro-batch in its turn.
        """
        if self.gradients is None:
            self.prepare()
        gradients = self.gradients
        assert gradients is not None
        for batch in group:
            if not isinstance(batch, Dealt) or batch.parts:
                check_batch("fit", "train", samples_here(batch))
        batches = [as_dealt(batch) for batch in group]
        sizes = [batch.size for batch in batches]
        parts, samples = cut(sizes, self.micro_batches), sum(sizes)
        shares = [(part.end - part.begin) / samples for part in parts]
        gathers = self.sharded is None or on_gradients is not None
        mine = share(len(parts), gradients.workers.size, gradients.workers.rank)
        self.own_samples = sum(parts[number].end - parts[number].begin for number in mine)

        outputs = None if on_output is None else Outputs(gradients.workers, on_output)

        def compute(number: int) -> Tensor:
            batch = samples_of(batches[parts[number].batch], parts[number])
            output, loss = self.forward(batch)
            if outputs is not None:
                outputs.put(output, batch[-1])
            return loss

        self._follow_optimizer()
        self.optimizer.zero_grad()
        gradients.follow(self.parameters)
        gradients.note = self.note
        scale = self.scaler.get_scale()
        weights = [1.0] * len(parts) if self.weighting.is_sum else None
        masses = None
        if self.weighting.has_masses and len(parts) > 1:
            own = (samples_of(batches[parts[number].batch], parts[number]) for number in mine)
            masses = [self.weighting.mass(batch[-1]) for batch in own]
        losses = gradients.added(self.number, shares, compute, scale, gathers, weights, masses)
        self.note = gradients.note
        for number, loss in enumerate(losses):
            if not isfinite(loss):
                raise self._bad(f"loss is {loss}", batches, parts, [number])
        if outputs is not None:
            outputs.tell()
        rows = self._whole if gathers else self._own
        if self.scaler.enabled:
            is_finite = rows.is_finite()
            rows.scale(1 / scale)
        if gathers:
            gradients.give()
        if on_gradients is not None:
            on_gradients()
        norm = self._clipped_rows(rows)
        if norm is not None and not isfinite(norm) and not self.scaler.enabled:
            text = f"norm of the gradients is {norm}"
            raise self._bad(text, batches, parts, range(len(parts)))
        target: Any = self.optimizer if self.sharded is None else self.sharded
        if self.scaler.enabled:
            self.scaler.note_unscaled(target, is_finite)
        if self.scaler.step(target) and self.ema is not None:
            self.ema.update()
        self.scaler.update()
        return StepResult(mean_loss(losses, gradients.weights), samples, norm)

    def _clipped_rows(self, rows: Finishing) -> float | None:
        if self.clip_value is not None:
            rows.clip(self.clip_value)
        if self.clip_norm is None:
            return None
        norm = rows.norm()
        if not norm <= self.clip_norm:
            rows.scale(self.clip_norm / norm)
        return norm

    def _bad(
        self, what: str, batches: Sequence[Dealt], parts: Sequence[Part], numbers: Sequence[int]
    ) -> NotFiniteError:
        """The error for this step, the same for all workers; who has the micro-batch repeats it."""
        workers = found_workers()
        found = ""
        for number in numbers:
            if not found and number in share(len(parts), workers.size, workers.rank):
                found = self._origin(
                    samples_of(batches[parts[number].batch], parts[number]), number
                )
        told = [text.decode() for text in workers.gather(found.encode(), "what is not finite")]
        origin = next(filter(None, told), "no op gave that when the batch was repeated")
        return NotFiniteError(f"{what}: {origin}")

    def _origin(self, batch: Batch, number: int) -> str:
        with chance_of(random.get_state()[0], self.number, number):
            return origin_of(self.model, self.loss, batch, lambda: self._repeated(batch)) or ""

    def state_dict(self, copied: bool = True) -> dict[str, Any]:
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
