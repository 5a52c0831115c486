"""The trainer: epochs of steps, validation, callbacks and checkpoints, and going on from one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from extensor import random
from extensor.arrays.dtypes import DType
from extensor.core import entries
from extensor.core.tensor import Tensor
from extensor.errors import arguments, type_error, value_error
from extensor.io.paths import as_path, make_folder
from extensor.io.state import DamagedFileError, load
from extensor.nn.module import Module
from extensor.optim import EMA, Optimizer, ReduceLROnPlateau
from extensor.train.callback import Callback, monitored
from extensor.train.callbacks import GradientHealth
from extensor.train.checkpoints import Checkpoints
from extensor.train.checks import (
    check_loader,
    checked_callbacks,
    checked_metrics,
)
from extensor.train.evaluation import evaluated, predicted
from extensor.train.lock import locked
from extensor.train.logs import Logging, Timing
from extensor.train.metrics import Mean, Metric
from extensor.train.nonfinite import NotFiniteError
from extensor.train.progress import Progress
from extensor.train.resuming import checked_progress, load_callbacks
from extensor.train.run import RunFolder
from extensor.train.signals import Interruption
from extensor.train.step import Loss, StepResult, TrainStep


class Trainer:
    """Trains ``model``: ``loss(model(*inputs), target)`` for batches ``(*inputs, target)``.

    ``accumulate`` batches make one step, as if they were one batch. Schedules are those of the
    optimizer: it steps the automatic ones itself, the others are stepped after each epoch, a
    :class:`~extensor.optim.ReduceLROnPlateau` by ``monitor``. ``amp`` is the dtype of mixed
    precision, ``ema`` an average of the parameters, which evaluation then uses. ``metrics``, by
    name, are computed in evaluation. ``compile="xla"`` lets XLA take the steps, on ``device``.

    With a ``folder`` the run is written there: configuration, logs, and a checkpoint after each epoch
    and every ``checkpoint_every`` steps, of which the last ``keep`` stay. :meth:`resume` goes on
    from the last one, and ends with the same bits as if nothing had happened.

    >>> import numpy as np, extensor as ex
    >>> from extensor.data import ArrayDataset, DataLoader
    >>> _ = ex.random.manual_seed(0)
    >>> x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
    >>> model = ex.nn.Linear(1, 1)
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.5)
    >>> trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, callbacks=[])
    >>> history = trainer.fit(DataLoader(ArrayDataset(x, 3 * x + 1), batch_size=8), epochs=20)
    >>> f"{model.weight.item():.3f} {model.bias.item():.3f}"
    '3.000 1.000'
    """

    def __init__(
        self,
        model: Module,
        loss: Loss,
        optimizer: Optimizer,
        *,
        metrics: Mapping[str, Metric] | None = None,
        accumulate: int = 1,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        amp: DType = None,
        ema: EMA | None = None,
        compile: str | None = None,
        device: str | None = None,
        monitor: str = "validation_loss",
        callbacks: Sequence[Callback] | None = None,
        folder: str | Path | None = None,
        checkpoint_every: int | None = None,
        keep: int = 3,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        accumulate = arguments.integer("Trainer", "accumulate", accumulate, 1)
        if checkpoint_every is not None:
            arguments.integer("Trainer", "checkpoint_every", checkpoint_every, 1)
        if checkpoint_every is not None and folder is None:
            raise value_error("Trainer", "checkpoints need a folder", folder=folder)
        self.model = model
        self.optimizer = optimizer
        self.take_step = TrainStep(
            model, loss, optimizer, clip_norm, clip_value, amp, ema, compile, device
        )
        self.metrics = checked_metrics(metrics)
        self.accumulate = accumulate
        self.monitor = arguments.text("Trainer", "monitor", monitor)
        keep = arguments.integer("Checkpoints", "keep", keep, 1)
        path = None if folder is None else as_path("Trainer", folder, name="folder")
        self.run = None if path is None else RunFolder(path)
        self.checkpoints = None if self.run is None else Checkpoints(self.run.checkpoints, keep)
        self.checkpoint_every = checkpoint_every
        self.config = {} if config is None else dict(entries.mapping("Trainer", config, "config"))
        self.callbacks = checked_callbacks(
            default_callbacks(self.run is not None) if callbacks is None else callbacks
        )
        self.epoch = 0  # those that are over
        self.step = 0
        self.batch = 0  # those of this epoch that are over
        self.epochs = 0
        self.total_steps = 0
        self.running_loss = Mean()
        self.history: list[dict[str, Any]] = []
        self.last_step = StepResult(0.0, 0, None)
        self.stopped = False
        self._interruption = Interruption()
        self._resumed = False
        self.seen = self._stamp()  # the checkpoints in the folder when this trainer last looked
        self._loader: Any = None
        self._batches = 0
        self._restored: dict[str, Any] = {}  # of the checkpoint, what waits for fit

    def fit(
        self, train: Iterable[Any], epochs: int, validation: Iterable[Any] | None = None
    ) -> list[dict[str, Any]]:
        """Train until ``epochs`` epochs are over, counted from the very beginning of the run.

        Returns what the log says of each. Ctrl-C, SIGTERM and SIGHUP end the step that is being
        taken, write a checkpoint if there is a folder, and then raise: KeyboardInterrupt, or a
        SystemExit with the code 128 + signal. Another one later ends at once. The folder is locked:
        no other process can train in it meanwhile.
        """
        check_loader("fit", "train", train)
        epochs = arguments.integer("fit", "epochs", epochs, 0)
        if validation is not None:
            check_loader("fit", "validation", validation)
        self._check_loader(train)
        with ExitStack() as begun:
            if self.run is not None:
                make_folder("fit", self.run.path)
                begun.enter_context(locked(self.run.path, "fit"))
            self._prepare(train, epochs)
            with self._interruption:
                for callback in self.callbacks:
                    callback.fit_began(self)
                    begun.callback(callback.fit_ended, self)
                while self.epoch < epochs and not self.stopped:
                    self._fit_epoch(train, validation)
                self._interruption.raise_if_noted()
        return self.history

    def _check_loader(self, train: Any) -> None:
        if not hasattr(train, "__len__") or len(train) == 0:
            given = len(train) if hasattr(train, "__len__") else type(train).__name__
            raise value_error("fit", "train must be a loader of at least one batch", train=given)
        needs_state = self.checkpoint_every is not None or self._restored.get("loader")
        if needs_state and not hasattr(train, "state_dict"):
            requirement = "checkpoints within an epoch need a loader with a state_dict"
            raise type_error("fit", requirement, train=type(train).__name__)

    def _prepare(self, train: Any, epochs: int) -> None:
        if self.run is not None and self.checkpoints is not None:
            if self.step == 0 and not self._resumed and self.run.holds_a_run():
                raise value_error(
                    "fit",
                    "folder must be new, or resume() be called first",
                    folder=str(self.run.path),
                )
            if self._stamp() != self.seen:
                raise value_error(
                    "fit",
                    "folder must be as resume() or the last fit left it (someone else has trained "
                    "there since; call resume() again)",
                    folder=str(self.run.path),
                )
        self.take_step.note_options()
        restored = bool(self._restored)
        self._go_on_with(train)
        if self.run is not None and self.checkpoints is not None:
            self.run.write_descriptions(self.config)
            if restored and not self.checkpoints.of(self.step).exists():
                self.save()  # it came from elsewhere: what is killed now must go on from here
            self.checkpoints.set_aside(self.step)
            self.checkpoints.tidy(self.step)
            self.seen = self._stamp()
        self.epochs = epochs
        self._batches = len(train)
        self.total_steps = epochs * -(-self._batches // self.accumulate)

    def _go_on_with(self, train: Any) -> None:
        """Bring the loader, and random numbers, to where the checkpoint or the last fit left off."""
        if self._restored:
            # Not earlier: whoever makes loaders and models after resume() draws random numbers.
            if self._restored["loader"]:
                train.load_state_dict(self._restored["loader"])
            random.set_state(self._restored["generators"]["default"])
            self._restored = {}
        elif self.batch and train is self._loader and hasattr(train, "state_dict"):
            train.load_state_dict(train.state_dict())
        elif self.batch:
            self.batch = 0
            self.running_loss.reset()
        self._loader = train

    def _fit_epoch(self, train: Iterable[Any], validation: Iterable[Any] | None) -> None:
        self.model.train()
        batches = iter(train)
        while self.batch < self._batches:
            # Never more than there are: a loader that is asked for more begins its next epoch.
            group = tuple(islice(batches, min(self.accumulate, self._batches - self.batch)))
            if not group:
                raise value_error(
                    "fit", f"train must give {self._batches} batches", batches=self.batch
                )
            self.batch += len(group)
            self._fit_step(group)
        next(batches, None)
        self.batch = 0
        record: dict[str, Any] = {"event": "epoch", "epoch": self.epoch + 1, "step": self.step}
        record |= {"loss": self.running_loss.compute(), "lr": self._rate()}
        if validation is not None:
            found = self.evaluate(validation)
            record |= {f"validation_{name}": plain(value) for name, value in found.items()}
        for schedule in self.optimizer.schedules:
            if isinstance(schedule, ReduceLROnPlateau):
                schedule.step(monitored("ReduceLROnPlateau", record, self.monitor))
            elif not schedule.automatic:
                schedule.step()
        self.epoch += 1
        self.running_loss.reset()
        self.history.append(record)
        for callback in self.callbacks:
            callback.epoch_ended(self, record)
        if self.run is not None:
            self.save()
        self._interruption.raise_if_noted()

    def _fit_step(self, group: tuple[Any, ...]) -> None:
        try:
            self.last_step = result = self.take_step(group, self._gradients_known)
        except NotFiniteError as error:
            reason = self._stopped_by(error)
            self.log({"event": "stopped", "step": self.step + 1, "reason": reason})
            raise NotFiniteError(reason) from None
        self.step += 1
        self.running_loss.add(result.loss, result.samples)
        record: dict[str, Any] = {"event": "step", "epoch": self.epoch + 1, "step": self.step}
        record |= {"loss": result.loss, "lr": self._rate()}
        if result.gradient_norm is not None:
            record["gradient_norm"] = result.gradient_norm
        for callback in self.callbacks:
            callback.step_ended(self, record)
        if self.checkpoint_every is not None and self.step % self.checkpoint_every == 0:
            self.save()
        if self._interruption.noted is not None and hasattr(self._loader, "state_dict"):
            if self.run is not None:
                self.save()
            self._interruption.raise_if_noted()

    def _gradients_known(self) -> None:
        for callback in self.callbacks:
            callback.gradients_known(self)

    def _rate(self) -> float:
        return float(self.optimizer.param_groups[0]["lr"])

    def _stopped_by(self, error: NotFiniteError) -> str:
        text = f"step {self.step + 1} of epoch {self.epoch + 1}: {error}"
        latest = None if self.checkpoints is None else self.checkpoints.latest()
        return text if latest is None else f"{text}; the last good checkpoint is {latest}"

    def evaluate(self, loader: Iterable[Any]) -> dict[str, Any]:
        """The mean loss of the batches of ``loader``, and the metrics, in evaluation mode."""
        return evaluated(self.model, self.take_step, self.metrics, loader)

    def predict(self, inputs: Any, batch_size: int = 256) -> Tensor:
        """The outputs for an array, tensor or table of inputs, or for the batches of a loader.

        Of a batch with several parts the last, the target, is not used.
        """
        return predicted(self.model, self.take_step.ema, inputs, batch_size)

    def log(self, record: Mapping[str, Any]) -> None:
        """Write a record of one's own into the log, if there is one."""
        record = entries.mapping("log", record, "record")
        for callback in self.callbacks:
            if isinstance(callback, Logging):
                callback.write(record)

    def stop(self) -> None:
        """End training after this epoch."""
        self.stopped = True

    def save(self, name: str | None = None) -> Path:
        """Write a checkpoint: of this step, or one that is called ``name``."""
        if self.checkpoints is None:
            raise value_error("save", "the trainer must have a folder", folder=None)
        if not self.take_step.is_finite():
            error = NotFiniteError("a parameter is not finite, so no checkpoint was written")
            raise NotFiniteError(self._stopped_by(error))
        state = self._state(copied=False)
        if name is not None:
            return self.checkpoints.save_as(name, state)
        path = self.checkpoints.save(state, self.step)
        self.seen = self._stamp()
        return path

    def resume(self, path: str | Path | None = None) -> bool:
        """Go on from ``path``, or from the last checkpoint in the folder; False if there is none.

        What trainer, optimizer and schedules are made with now counts, if it is not what they were
        made with then: another ``lr`` takes effect from here on, under a schedule as the rate it
        begins with, while its count stays. What was changed by hand while it trained is kept.
        """
        if path is None and self.checkpoints is None:
            raise value_error("resume", "the trainer must have a folder", folder=None)
        seen = self._stamp()
        if path is None and self.checkpoints is not None:
            path = self.checkpoints.latest()
        if path is not None:
            try:
                state = load(path, foreign=False)
            except DamagedFileError as error:
                raise self._damaged(error) from None
            if "progress" not in state:
                raise value_error("resume", "path must be a checkpoint of a run", path=str(path))
            self.load_state_dict(state)
        self._resumed = True
        self.seen = seen
        return path is not None

    def _damaged(self, error: DamagedFileError) -> DamagedFileError:
        good = None if self.checkpoints is None else self.checkpoints.latest_good()
        if good is None:
            return error
        return DamagedFileError(f"{error}; the last good one is for resume({str(good)!r})")

    def _stamp(self) -> Any:
        return None if self.checkpoints is None else self.checkpoints.stamp()

    def state_dict(self) -> dict[str, Any]:
        """Everything that the rest of the run depends on."""
        return self._state(copied=True)

    def _state(self, copied: bool) -> dict[str, Any]:
        has_state = hasattr(self._loader, "state_dict")
        return {
            **self.take_step.state_dict(copied),
            "generators": {"default": list(random.get_state())},
            "loader": self._loader.state_dict() if has_state else {},
            "progress": {
                "epoch": self.epoch,
                "step": self.step,
                "batch": self.batch,
                "stopped": self.stopped,
                "running_loss": self.running_loss.state_dict(),
            },
            "history": {str(i): record for i, record in enumerate(self.history)},
            "callbacks": {
                f"{i}-{type(callback).__name__}": callback.state_dict()
                for i, callback in enumerate(self.callbacks)
            },
            "config": self.config,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave; random numbers and the loader when training begins."""
        op = "Trainer.load_state_dict"
        names = [f"{i}-{type(callback).__name__}" for i, callback in enumerate(self.callbacks)]
        progress = checked_progress(op, state, names)
        commits = [
            self.take_step.prepared_state(op, state),
            self.running_loss._prepared_state(progress.pop("running_loss"), op, "running_loss"),
        ]
        load_callbacks(self.callbacks, state["callbacks"])
        for commit in commits:
            commit()
        self.__dict__.update(progress)


def default_callbacks(folder: bool) -> list[Callback]:
    """What a trainer has if it is given none: progress, and with a folder what is written there."""
    given = arguments.flag("default_callbacks", "folder", folder)
    written = [Logging(), Timing(), GradientHealth()] if given else []
    return [*written, Progress()]


def plain(value: Any) -> Any:
    """The value of a metric as logs and checkpoints hold it: an array as lists."""
    return value if isinstance(value, str | int | float) else np.asarray(value).tolist()
