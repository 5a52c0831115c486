"""The part of a trainer that is one of several workers, whose steps all take together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from extensor import random
from extensor.data.loader import DataLoader
from extensor.data.sample_noise import ReadingChance
from extensor.distributed.joining import workers as found_workers
from extensor.random.global_generators import preserve_global_generators
from extensor.random.seeds import EVALUATION, derived_seeds
from extensor.train.dealing import dealt
from extensor.train.drift import CHECK_EVERY, Agreement
from extensor.train.joint_evaluation import can_share, evaluated_jointly
from extensor.train.metrics import Metric
from extensor.train.repeatability import check_repeatable
from extensor.train.saving import Resumable
from extensor.train.signals import Interruption
from extensor.train.tree_step import TreeStep


class Working(Resumable):
    """What differs if steps are cut into micro-batches; without them nothing does."""

    accumulate: int
    given_metrics: Mapping[str, Any]
    know: Callable[[Any], Mapping[str, Metric]]
    evaluate: Callable[[Any], dict[str, Any]]
    _is_repeatable = False
    _shared: tuple[Any, bool] = (None, False)  # a loader, and whether its batches can be dealt out
    _interruption: Interruption
    _agreement: Agreement

    @property
    def is_evaluated_here(self) -> bool:
        """True if nobody has put something in the place of :meth:`Trainer.evaluate`."""
        raise NotImplementedError

    def _dealt(self, train: Any) -> Iterator[Any]:
        if not isinstance(self.take_step, TreeStep):
            return iter(train)
        parts, workers = self.take_step.micro_batches, found_workers()
        chance = ReadingChance(random.get_state()[0], self.epoch)
        batches = dealt(train, self.batch, self.accumulate, parts, workers, chance)
        return batches if workers.size == 1 else self._tried_twice(batches)

    def _tried_twice(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The batches, after the first of them has shown that the model has no hidden state."""
        assert isinstance(self.take_step, TreeStep)
        for batch in batches:
            if not self._is_repeatable:
                check_repeatable(self.take_step, batch)
                self._is_repeatable = True
            yield batch

    def _say_where(self) -> None:
        """Let a step of micro-batches know its number, and all workers of a signal that came."""
        if isinstance(self.take_step, TreeStep):
            found_workers().place = f"step {self.step + 1}"
            self._agreement.note_options()
            self.take_step.number = self.step
            self.take_step.note = self._interruption.noted or 0

    def _compare_workers(self, is_due: bool = True) -> None:
        """Raise if the workers have drifted apart; every so many steps also if it is not due."""
        if isinstance(self.take_step, TreeStep) and (is_due or self.step % CHECK_EVERY == 0):
            self._agreement.check()

    def evaluate_together(self, loader: Any) -> dict[str, Any]:
        """:meth:`Trainer.evaluate` by all workers, which must all call it: each computes some batches."""
        if not isinstance(self.take_step, TreeStep):
            return self.evaluate(loader)
        (seed,) = derived_seeds(random.get_state()[0], EVALUATION, self.step, range(1))
        if isinstance(loader, DataLoader):
            loader.check_threads()
        # All of it in one order: whoever draws then draws the same on any number of workers.
        with preserve_global_generators(seed):
            return self._evaluated_by_all(loader)

    def _evaluated_by_all(self, loader: Any) -> dict[str, Any]:
        workers = found_workers()
        if workers.size == 1 or not self.is_evaluated_here:
            return self.evaluate(loader)
        workers.place = f"evaluation after step {self.step}"
        if self._shared[0] is not loader:
            own = b"1" if can_share(self.take_step, loader) else b"0"
            self._shared = loader, b"0" not in workers.gather(own, "whether to share")
        if not self._shared[1]:
            return self.evaluate(loader)
        metrics_for = self.know if self.given_metrics else None
        return evaluated_jointly(self.take_step, metrics_for, loader, workers)

    def _noted(self) -> int | None:
        """The signal that ends training: of several workers the one that all know of."""
        if isinstance(self.take_step, TreeStep) and found_workers().size > 1:
            return self.take_step.note or None
        return self._interruption.noted

    def _raise_if_noted(self) -> None:
        if isinstance(self.take_step, TreeStep) and found_workers().size > 1:
            # A signal that only this worker knows of is told to all with the next step.
            if not self.take_step.note:
                return
            self._interruption.noted = self.take_step.note
        self._interruption.raise_if_noted()

    def _release(self, kind: type[BaseException] | None, *_: object) -> None:
        """Let the optimizer have its whole state again; after an error nobody may be there to ask."""
        is_possible = kind is None or found_workers().size == 1
        if is_possible and isinstance(self.take_step, TreeStep):
            self.take_step.release()
