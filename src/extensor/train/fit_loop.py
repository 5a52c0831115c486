"""The loop of training: epochs of steps, validation, schedules, callbacks and checkpoints."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from extensor.distributed.workers import WorkerLostError
from extensor.errors import value_error
from extensor.optim import ReduceLROnPlateau
from extensor.train.callbacks import monitored
from extensor.train.data_adapters import FitData
from extensor.train.evaluation import plain
from extensor.train.nonfinite import NotFiniteError
from extensor.train.rehearsal import rehearse_training

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer

# Windows knows no SIGHUP.
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_GRACE = 1.0  # seconds


class Ended(SystemExit):
    """A signal other than Ctrl-C came; the exit code is the one that shells give for it."""

    def __init__(self, number: int, text: str = "") -> None:
        super().__init__(128 + number)
        self.signal = signal.Signals(number)
        self.text = text


def end(number: int, _frame: object = None) -> None:
    """A handler: leave through everything that tidies up, undisturbed by more of its kind."""
    for other in ENDING:
        if signal.getsignal(other) is end:
            signal.signal(other, signal.SIG_IGN)
    raise Ended(number)


@contextmanager
def ending_in_order() -> Iterator[None]:
    """SIGTERM and SIGHUP raise :class:`Ended`, unless they are ignored or have a handler."""
    taken = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken if _may_set() else ():
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken if _may_set() else ():
            signal.signal(number, signal.SIG_DFL)


class Interruption:
    """Within the block, the first signal that would end training is only noted.

    The next one does at once what it did before; but SIGTERM and SIGHUP only after a while, as
    those who send them (a shell and its terminal, a cluster) often send several. A signal that is
    ignored, as nohup and background jobs have it, stays so, and so does a handler of the user's own
    for SIGTERM or SIGHUP.
    """

    def __init__(self) -> None:
        self.noted: int | None = None
        self._previous: dict[int, Any] = {}
        self._when = 0.0

    def __enter__(self) -> Interruption:
        self.noted = None
        for number in (signal.SIGINT, *ENDING) if _may_set() else ():
            handler = signal.getsignal(number)
            ours = handler in (signal.SIG_DFL, end)
            if ours or (number == signal.SIGINT and handler not in (signal.SIG_IGN, None)):
                self._previous[number] = handler
                signal.signal(number, self._note)
        return self

    def _note(self, number: int, frame: object) -> None:
        now = time.monotonic()
        if self.noted is None:
            self.noted, self._when = number, now
        elif number == signal.SIGINT or now - self._when >= _GRACE:
            self._restore()
            os.kill(os.getpid(), number)

    def _restore(self) -> None:
        while self._previous:
            signal.signal(*self._previous.popitem())

    def __exit__(self, *_: object) -> None:
        self._restore()

    def raise_if_noted(self) -> None:
        """Do now what the signal asked for."""
        if self.noted == signal.SIGINT:
            raise KeyboardInterrupt
        if self.noted is not None:
            raise Ended(self.noted)


def _may_set() -> bool:
    """Python lets only this thread set handlers."""
    return threading.current_thread() is threading.main_thread()


@dataclass(eq=False)
class FitLoop:
    """Trains until ``epochs`` epochs are over; the first batch may have been tried already."""

    trainer: Trainer
    data: FitData
    epochs: int
    is_tried: bool
    _count: int = 0  # batches of an epoch
    _begin: dict[str, Any] | None = None  # the first state, if workers may be lost

    def run(self) -> None:
        """Train, with fewer workers if some are lost and MPI can go on without them."""
        self._check_workers()
        while True:
            try:
                self._fit()
                return
            except WorkerLostError as error:
                self._survive(error)

    def _check_workers(self) -> None:
        trainer, data = self.trainer, self.data
        names = [type(callback).__name__ for callback in trainer.callbacks]
        config = json.dumps(trainer.config, sort_keys=True, default=str)
        settings = [config, trainer.accumulate, names, self.epochs, trainer.checkpoint_every]
        loaders = {"train": data.train, "validation": data.validation}
        trainer.take_step.check_start(loaders, settings, trainer.step)

    def _fit(self) -> None:
        trainer = self.trainer
        with ExitStack() as stack:
            stack.enter_context(trainer.storage.lock())
            stack.push(lambda kind, *_: trainer.take_step.end_fit(kind))
            self._prepare()
            with trainer.interruption:
                for callback in trainer.active_callbacks():
                    callback.fit_began(trainer)
                    stack.callback(callback.fit_ended, trainer)
                while trainer.epoch < self.epochs and not trainer.stopped:
                    self._fit_epoch()
                self._end_by_signal()
        self._check_agreement()  # callbacks may have changed something at the end

    def _prepare(self) -> None:
        """Bring state, folder and workers to where training goes on."""
        trainer = self.trainer
        trainer.storage.check_folder(trainer.step)
        trainer.take_step.options.note()
        is_restored = bool(trainer.waiting)
        trainer.continue_with(self.data.train, self.data.validation)
        if self._begin is None and trainer.workers.can_survive:
            self._begin = trainer.snapshot()
        if trainer.run is not None and trainer.workers.is_first:
            trainer.run.write_descriptions(trainer.config)
            if is_restored and not trainer.storage.has_checkpoint(trainer.step):
                trainer.save()  # it came from elsewhere: a run that is killed now goes on from here
            trainer.storage.tidy(trainer.step)
        trainer.take_step.begin_fit()
        trainer.epochs = self.epochs
        self._count = len(self.data.train)
        trainer.total_steps = self.epochs * -(-self._count // trainer.accumulate)

    def _fit_epoch(self) -> None:
        trainer, train = self.trainer, self.data.train
        trainer.model.train()
        batches = trainer.take_step.batches(train, trainer.epoch, trainer.batch, trainer.accumulate)
        while trainer.batch < self._count:
            # Never more than there are: a loader that is asked for more begins its next epoch.
            group = tuple(islice(batches, min(trainer.accumulate, self._count - trainer.batch)))
            if not group:
                requirement = f"train must give {self._count} batches"
                raise value_error("fit", requirement, batches=trainer.batch)
            if not self.is_tried:
                self.is_tried = True
                rehearse_training(trainer, trainer.take_step.whole_batch(group[0]), train)
            trainer.batch += len(group)
            self._fit_step(group)
        next(batches, None)
        trainer.batch = 0
        record = self._epoch_record()
        self._step_schedules(record)
        trainer.epoch += 1
        trainer.begin_epoch()
        trainer.history.append(record)
        trainer.take_step.end_epoch()
        for callback in trainer.active_callbacks():
            callback.epoch_ended(trainer, record)
        trainer.stopped = trainer.take_step.is_any(trainer.stopped, "whether to stop")
        self._check_agreement()
        if trainer.run is not None:
            trainer.save()
        self._end_by_signal()

    def _epoch_record(self) -> dict[str, Any]:
        """The log's record of an epoch, after its validation."""
        trainer = self.trainer
        record: dict[str, Any] = {
            "event": "epoch",
            "epoch": trainer.epoch + 1,
            "step": trainer.step,
            "loss": trainer.running_loss.compute(),
            **trainer.take_step.shared_values(trainer.running_metrics.compute()),
            "lr": trainer.rate,
        }
        if self.data.validation is not None:
            values = trainer.evaluate_together(self.data.validation)
            record |= {f"validation_{name}": plain(value) for name, value in values.items()}
        return record

    def _step_schedules(self, record: dict[str, Any]) -> None:
        """Step the schedules that the optimizer does not step itself."""
        for schedule in self.trainer.optimizer.schedules:
            if isinstance(schedule, ReduceLROnPlateau):
                schedule.step(monitored("ReduceLROnPlateau", record, self.trainer.monitor))
            elif not schedule.automatic:
                schedule.step()

    def _fit_step(self, group: tuple[Any, ...]) -> None:
        trainer, take_step = self.trainer, self.trainer.take_step
        wants_gradients = any(callback.wants_gradients(trainer) for callback in trainer.callbacks)
        on_gradients = self._announce_gradients if wants_gradients else None
        on_output = trainer.running_metrics.update if trainer.running_metrics.given else None
        take_step.begin_step(trainer.step, trainer.interruption.noted)
        try:
            trainer.last_step = result = take_step(group, on_gradients, on_output)
        except NotFiniteError as error:
            reason = trainer.describe_stop(error)
            trainer.log({"event": "stopped", "step": trainer.step + 1, "reason": reason})
            raise NotFiniteError(reason) from None
        trainer.step += 1
        trainer.running_loss.add(result.loss, result.samples)
        record: dict[str, Any] = {"event": "step", "epoch": trainer.epoch + 1, "step": trainer.step}
        record |= {"loss": result.loss, "lr": trainer.rate}
        if result.gradient_norm is not None:
            record["gradient_norm"] = result.gradient_norm
        for callback in trainer.active_callbacks():
            callback.step_ended(trainer, record)
        self._save_after_step()

    def _announce_gradients(self) -> None:
        for callback in self.trainer.active_callbacks():
            callback.gradients_known(self.trainer)

    def _save_after_step(self) -> None:
        """Save if it is time to, or if a signal ends training within the epoch."""
        trainer, every = self.trainer, self.trainer.checkpoint_every
        is_due = every is not None and trainer.step % every == 0
        self._check_agreement(is_due)
        if is_due:
            trainer.save()
        # A loader without a state could not go on within the epoch, so that one is finished first.
        signal = trainer.take_step.known_signal(trainer.interruption.noted)
        if signal is not None and hasattr(trainer.loader, "state_dict"):
            if trainer.run is not None:
                self._check_agreement()
                trainer.save()
            self._end_by_signal()

    def _end_by_signal(self) -> None:
        """Raise for a signal; on several workers only for one that all know of."""
        interruption = self.trainer.interruption
        signal = self.trainer.take_step.known_signal(interruption.noted)
        if signal is not None:
            interruption.noted = signal
        if signal == interruption.noted:  # otherwise it is told to all with the next step
            interruption.raise_if_noted()

    def _check_agreement(self, is_due: bool = True) -> None:
        trainer = self.trainer
        trainer.take_step.check_agreement(trainer.step, trainer.loader, is_due)

    def _survive(self, error: WorkerLostError) -> None:
        """Go on with the workers that are left from the last checkpoint, or raise ``error``.

        That needs an MPI that can tell who is gone (Open MPI's ULFM). Without a checkpoint training
        begins again.
        """
        if self._begin is None:
            raise error
        trainer, before = self.trainer, self.trainer.workers
        trainer.workers = left = trainer.take_step.survivors(error)
        left.place = f"going on after step {trainer.step}"
        state = trainer.storage.read(trainer.storage.latest())
        trainer.load_state_dict(self._begin if state is None else state)
        trainer.storage.is_resumed = True
        if left.is_first:
            trainer.storage.look()
            gone = ", ".join(name for name in before.names if name not in left.names)
            text = f"{gone} is gone; {left.size} workers go on from step {trainer.step}"
            sys.stderr.write(f"extensor: distributed: {text}\n")
            sys.stderr.flush()
