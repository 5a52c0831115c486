"""The trainer: epochs of steps, validation and callbacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, overload

from extensor import random
from extensor.arrays.dtypes import DType
from extensor.core import entries
from extensor.core.tensor import Tensor
from extensor.data.dataset import Dataset
from extensor.data.loader import DataLoader
from extensor.distributed.joining import workers as found_workers
from extensor.distributed.workers import WorkerLostError
from extensor.errors import arguments, type_error, value_error
from extensor.errors.explanation import explaining
from extensor.nn.module import Module
from extensor.optim import EMA, Optimizer, ReduceLROnPlateau
from extensor.train.callback import Callback, monitored
from extensor.train.callbacks import GradientHealth
from extensor.train.checks import checked_callbacks, checked_metrics, made_metrics
from extensor.train.dealing import gathered
from extensor.train.drift import Agreement
from extensor.train.evaluation import evaluated, predicted
from extensor.train.fitdata import EPOCHS, FitData, fit_arguments, fit_data
from extensor.train.given import check_columns, found_dataset
from extensor.train.history import History
from extensor.train.lock import locked
from extensor.train.logs import Logging, Timing
from extensor.train.loss_weighting import LossReduction
from extensor.train.metrics import Metric
from extensor.train.nonfinite import NotFiniteError
from extensor.train.outputs import plain, told_to_all
from extensor.train.progress import Progress
from extensor.train.readiness import check_ready, tried_in_training
from extensor.train.running import running_metrics
from extensor.train.signals import Interruption
from extensor.train.step import Loss, StepResult, TrainStep
from extensor.train.tasks import check_values
from extensor.train.together import (
    Figures,
    agreed,
    check_workers,
    checked_cutting,
    heard,
    kept_state,
    survive,
)
from extensor.train.tree_step import TreeStep
from extensor.train.working import Working

Validation = Iterable[Any] | Dataset | tuple[Any, Any] | float | None


class Trainer(Working):
    """Trains ``model``: ``loss(model(*inputs), target)`` for batches ``(*inputs, target)``.

    ``accumulate`` batches make one step, as if they were one batch: their gradients are added in one
    balanced tree. With ``micro_batches`` each is cut into that many parts, which several workers
    (``mpiexec -n 4``) take; all are added in that tree, so that any number of workers ends with the
    same bits. Each worker keeps the
    whole state of the optimizer, or with ``shard_optimizer`` its share of it. Batch norm takes the
    statistics of a part, or with ``sync_batch_norm`` those of all parts of a step.

    Losses of the library have the same value and gradients in parts as in one piece, whatever their
    reduction, weights and ignored targets. A loss of your own must be a mean over the samples; one
    batch is tried in parts first. ``loss_reduction="sum"`` says that it is a sum, a function of a
    part's target gives the number that the mean divides by, and ``"mean"`` takes the mean of the
    parts' losses even if that differs from the loss of the batch, as for contrastive losses.

    Schedules are those of the optimizer: it steps the automatic ones itself, the others are stepped
    after each epoch, a :class:`~extensor.optim.ReduceLROnPlateau` by ``monitor``. ``amp`` is the dtype
    of mixed precision, ``ema`` an average of the parameters, which evaluation then uses.
    ``compile="xla"`` lets XLA take the steps, on ``device``.

    ``metrics`` are computed in evaluation: names, as ``["accuracy", "f1"]``, which the loss gives
    their meaning, or a dict of objects. ``train_metrics`` are computed of the batches that are
    trained on, as they come, and stand in the log under their own names.

    With a ``folder`` the run is written there: configuration, logs, and a checkpoint after each epoch
    and every ``checkpoint_every`` steps, of which the last ``keep`` stay. :meth:`resume` goes on
    from the last one, and ends with the same bits as if nothing had happened. The folder must be
    new: ``{time}`` in its name is the date and time, and with ``overwrite`` an earlier run there is
    moved aside when training begins.

    >>> import numpy as np, extensor as ex
    >>> _ = ex.random.manual_seed(0)
    >>> x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
    >>> model = ex.nn.Linear(1, 1)
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.5)
    >>> trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, callbacks=[])
    >>> history = trainer.fit(x, 3 * x + 1, epochs=20, batch_size=8)
    >>> f"{model.weight.item():.3f} {model.bias.item():.3f}"
    '3.000 1.000'
    """

    @explaining
    def __init__(
        self,
        model: Module,
        loss: Loss,
        optimizer: Optimizer,
        *,
        metrics: Sequence[str] | Mapping[str, Metric | str] | None = None,
        train_metrics: Sequence[str] | Mapping[str, Metric | str] = (),
        accumulate: int = 1,
        micro_batches: int | None = None,
        shard_optimizer: bool = False,
        sync_batch_norm: bool = False,
        loss_reduction: LossReduction = None,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        amp: DType = None,
        ema: EMA | None = None,
        compile: str | None = None,
        device: str | None = None,
        monitor: str = "validation_loss",
        callbacks: Sequence[Callback] | None = None,
        folder: str | Path | None = None,
        overwrite: bool = False,
        checkpoint_every: int | None = None,
        keep: int = 3,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        accumulate = arguments.integer("Trainer", "accumulate", accumulate, 1)
        if checkpoint_every is not None:
            arguments.integer("Trainer", "checkpoint_every", checkpoint_every, 1)
        if checkpoint_every is not None and folder is None:
            raise value_error("Trainer", "checkpoints need a folder", folder=folder)
        cutting = checked_cutting(micro_batches, shard_optimizer, sync_batch_norm)
        parts = (model, loss, optimizer, clip_norm, clip_value, amp, ema)
        if cutting is None:
            take_step = TrainStep(*parts, compile, device, loss_reduction=loss_reduction)
        elif compile is None and device is None:
            take_step = TreeStep(*parts, **cutting, loss_reduction=loss_reduction)
        else:
            requirement = "micro_batches must be None where steps are compiled"
            raise value_error("Trainer", requirement, micro_batches=micro_batches)
        self.given_metrics = checked_metrics(metrics, loss)
        running = running_metrics(train_metrics, self.given_metrics, loss)
        self.monitor = arguments.text("Trainer", "monitor", monitor)
        chosen = default_callbacks(folder is not None) if callbacks is None else callbacks
        chosen = checked_callbacks(chosen)
        super().__init__(take_step, chosen, running, folder, overwrite, keep, config)
        names = [metric for metric in self.given_metrics.values() if isinstance(metric, str)]
        # Those that are only named are made when the first output is known.
        self.metrics: dict[str, Metric] = {} if names else dict(self.given_metrics)
        self.model = model
        self.optimizer = optimizer
        self.accumulate = accumulate
        self.checkpoint_every = checkpoint_every
        self.epochs = 0
        self.total_steps = 0
        self.last_step = StepResult(0.0, 0, None)
        self.columns: Sequence[str] | None = None  # of the table that was trained on last
        self._interruption = Interruption()
        self._batches = 0
        self._is_tried = False
        self._made_loader: Any = None  # by the last fit, of arrays
        self._begun: dict[str, Any] | None = None  # where it began, if workers may have to go back

    @overload
    def fit(
        self, train: Iterable[Any], epochs: int, validation: Validation = None, /
    ) -> History: ...

    @overload
    def fit(
        self,
        train: Any,
        y: Any = None,
        epochs: int = EPOCHS,
        validation: Validation = None,
        batch_size: int = 32,
        shuffle: bool = True,
    ) -> History: ...

    def fit(
        self,
        train: Any,
        y: Any = None,
        epochs: Any = None,
        validation: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
    ) -> History:
        """Train until ``epochs`` epochs (10) are over, counted from the very beginning of the run.

        ``fit(X, y)`` takes arrays, tensors, lists and tables of pandas and polars, ``fit(dataset)`` a
        data set: they are cut into batches of ``batch_size``, in an order of chance if ``shuffle``.
        ``fit(loader, epochs)`` takes batches ``(*inputs, target)`` as they come. ``validation`` is
        ``(X, y)``, a data set, a loader, or a fraction of the samples, which chance chooses.

        One batch is tried first: what does not fit is refused before anything is written. Returns
        what the log says of each epoch. Ctrl-C, SIGTERM and SIGHUP end the step that is being taken,
        write a checkpoint if there is a folder, and then raise: KeyboardInterrupt, or a SystemExit
        with the code 128 + signal. Another one later ends at once. The folder is locked: no other
        process can train in it meanwhile.
        """
        y, epochs, validation = fit_arguments(train, y, epochs, validation)
        made_before = self._made_loader if self._made_loader is self._loader else None
        state = random.get_state()
        try:
            data = fit_data(train, y, validation, batch_size, shuffle, made_before, self.split)
            self._check_loader(data.train)
            is_over = self.epoch >= epochs or self.stopped
            is_tried = is_over or check_ready(self, data.train, data.validation)
            self._make_folder()
        except BaseException:
            random.set_state(state)
            raise
        if data.goes_on:
            self._loader = data.made
        self._made_loader, self.split, self._is_tried = data.made, data.split, is_tried
        self.columns = data.columns
        check_workers(self, data.train, data.validation, epochs)
        self._begun = None
        while True:
            try:
                self._fit_until(epochs, data)
                return self.history
            except WorkerLostError as error:
                survive(self, error, self._begun)

    def _fit_until(self, epochs: int, data: FitData) -> None:
        with ExitStack() as begun:
            if self.run is not None and found_workers().is_first:
                begun.enter_context(locked(self.run.path, "fit"))
            begun.push(self._release)
            self._prepare(data.train, data.validation, epochs)
            with self._interruption:
                for callback in heard(self.callbacks):
                    callback.fit_began(self)
                    begun.callback(callback.fit_ended, self)
                while self.epoch < epochs and not self.stopped:
                    self._fit_epoch(data.train, data.validation)
                self._raise_if_noted()
        self._compare_workers()  # callbacks may have changed something at the end

    def _check_loader(self, train: Any) -> None:
        if not hasattr(train, "__len__") or len(train) == 0:
            given = len(train) if hasattr(train, "__len__") else type(train).__name__
            raise value_error("fit", "train must be a loader of at least one batch", train=given)
        needs_state = self.checkpoint_every is not None or self._restored.get("loader")
        if needs_state and not hasattr(train, "state_dict"):
            requirement = "checkpoints within an epoch need a loader with a state_dict"
            raise type_error("fit", requirement, train=type(train).__name__)

    def _prepare(self, train: Any, validation: Any, epochs: int) -> None:
        self._check_folder()
        self.take_step.note_options()
        restored = bool(self._restored)
        self._go_on_with(train, validation)
        if self._begun is None and found_workers().can_survive:
            self._begun = kept_state(self)
        self._open_folder(restored)
        self.epochs = epochs
        self._batches = len(train)
        if isinstance(self.take_step, TreeStep):
            self.take_step.prepare()
            self._agreement = Agreement(self)
        self.figures = Figures()
        self.total_steps = epochs * -(-self._batches // self.accumulate)

    def _fit_epoch(self, train: Iterable[Any], validation: Iterable[Any] | None) -> None:
        self.model.train()
        batches = self._dealt(train)
        while self.batch < self._batches:
            # Never more than there are: a loader that is asked for more begins its next epoch.
            group = tuple(islice(batches, min(self.accumulate, self._batches - self.batch)))
            if not group:
                raise value_error(
                    "fit", f"train must give {self._batches} batches", batches=self.batch
                )
            if not self._is_tried:
                self._is_tried = True
                tried_in_training(self, gathered(group[0], found_workers()), train)
            self.batch += len(group)
            self._fit_step(group)
        next(batches, None)
        self.batch = 0
        record: dict[str, Any] = {"event": "epoch", "epoch": self.epoch + 1, "step": self.step}
        record["loss"] = self.running_loss.compute()
        found = self.running_metrics.compute()
        record |= told_to_all(found)
        record["lr"] = self._rate()
        if validation is not None:
            found = self.evaluate_together(validation)
            record |= {f"validation_{name}": plain(value) for name, value in found.items()}
        for schedule in self.optimizer.schedules:
            if isinstance(schedule, ReduceLROnPlateau):
                schedule.step(monitored("ReduceLROnPlateau", record, self.monitor))
            elif not schedule.automatic:
                schedule.step()
        self.epoch += 1
        self.running_loss.reset()
        self.running_metrics.reset()
        self.history.append(record)
        self.figures.tell()
        for callback in heard(self.callbacks):
            callback.epoch_ended(self, record)
        self.stopped = agreed(self.stopped)
        self._compare_workers()
        if self.run is not None:
            self.save()
        self._raise_if_noted()

    def _fit_step(self, group: tuple[Any, ...]) -> None:
        is_wanted = any(callback.wants_gradients(self) for callback in self.callbacks)
        on_gradients = self._gradients_known if is_wanted else None
        try:
            on_output = self.running_metrics.update if self.running_metrics.given else None
            self._say_where()
            self.last_step = result = self.take_step(group, on_gradients, on_output)
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
        self.figures.samples += getattr(self.take_step, "own_samples", 0)
        for callback in heard(self.callbacks):
            callback.step_ended(self, record)
        is_due = self.checkpoint_every is not None and self.step % self.checkpoint_every == 0
        self._compare_workers(is_due)
        if is_due:
            self.save()
        if self._noted() is not None and hasattr(self._loader, "state_dict"):
            if self.run is not None:
                self._compare_workers()
                self.save()
            self._raise_if_noted()

    def _gradients_known(self) -> None:
        for callback in heard(self.callbacks):
            callback.gradients_known(self)

    def _rate(self) -> float:
        return float(self.optimizer.param_groups[0]["lr"])

    def know(self, output: Any) -> dict[str, Metric]:
        """Make the metrics that are only named, for outputs such as this; returns all metrics."""
        if len(self.metrics) < len(self.given_metrics):
            self.metrics = made_metrics(self.given_metrics, self.take_step.loss, output)
        self.running_metrics.know(output)
        return self.metrics

    def evaluate(self, loader: Any, y: Any = None, batch_size: int = 256) -> dict[str, Any]:
        """The mean loss and the metrics, in evaluation mode, of what :meth:`fit` takes to train on.

        That is ``evaluate(X, y)``, a data set, or a loader of batches.
        """
        check_columns("evaluate", loader, self.columns)
        dataset = found_dataset("evaluate", "loader", loader, y)
        if dataset is not None:
            batch_size = arguments.integer("evaluate", "batch_size", batch_size, 1)
            loader = DataLoader(dataset, batch_size)
        if y is not None:
            check_values("evaluate", self.take_step.loss, None, dataset.arrays[-1], "y")
        return evaluated(self.model, self.take_step, self.know, loader)

    @property
    def is_evaluated_here(self) -> bool:
        """True if nobody has put something in the place of :meth:`evaluate`."""
        return type(self).evaluate is Trainer.evaluate and "evaluate" not in vars(self)

    def predict(self, inputs: Any, batch_size: int = 256) -> Tensor:
        """The outputs for an array, tensor or table of inputs, or for the batches of a loader.

        Of a batch with several parts the last, the target, is not used.
        """
        check_columns("predict", inputs, self.columns)
        return predicted(self.model, self.take_step.ema, inputs, batch_size)

    def log(self, record: Mapping[str, Any]) -> None:
        """Write a record of one's own into the log, if there is one."""
        record = entries.mapping("log", record, "record")
        for callback in heard(self.callbacks):
            if isinstance(callback, Logging):
                callback.write(record)

    def stop(self) -> None:
        """End training after this epoch."""
        self.stopped = True

    def __repr__(self) -> str:
        loss = self.take_step.loss
        name = getattr(loss, "__name__", type(loss).__name__)
        metrics = f", metrics: {', '.join(self.given_metrics)}" if self.given_metrics else ""
        whole = f" of {self.epochs}" if self.epochs else ""
        place = f"epoch {self.epoch}{whole}, step {self.step:,}" if self.step else "not trained yet"
        return (
            f"Trainer({type(self.model).__name__} of {self.model.num_parameters():,} parameters, "
            f"{name}, {type(self.optimizer).__name__}(lr={self._rate():g}){metrics}; {place})"
        )


def default_callbacks(folder: bool) -> list[Callback]:
    """What a trainer has if it is given none: progress, and with a folder what is written there."""
    given = arguments.flag("default_callbacks", "folder", folder)
    written = [Logging(), Timing(), GradientHealth()] if given else []
    return [*written, Progress()]
