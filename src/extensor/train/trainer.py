"""The trainer: epochs of steps, validation and callbacks.

It is a loop over three values: the state that a checkpoint holds (:class:`TrainerState`), the way a step
is taken (:class:`StepStrategy`) and the run on disk (:class:`RunStorage`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from extensor import random
from extensor.arrays.dtypes import DType
from extensor.core import entries
from extensor.core.tensor import Tensor
from extensor.data.dataset import Dataset
from extensor.data.loader import DataLoader
from extensor.distributed.rendezvous import workers as join_workers
from extensor.distributed.workers import Workers
from extensor.errors import arguments, type_error, value_error
from extensor.errors.explanation import explaining
from extensor.io.paths import as_path
from extensor.nn.module import Module
from extensor.optim import EMA, Optimizer
from extensor.train.callbacks import Callback, checked_callbacks
from extensor.train.checkpointing import Checkpoints, RunStorage
from extensor.train.data_adapters import (
    EPOCHS,
    Split,
    check_columns,
    dataset_of,
    fit_arguments,
    fit_data,
)
from extensor.train.evaluation import evaluate_batches, predicted
from extensor.train.fit_loop import FitLoop, Interruption
from extensor.train.logs import History, Logging, default_callbacks
from extensor.train.loss_parts import LossReduction
from extensor.train.metrics import Mean, Metric
from extensor.train.metrics.trainer_metrics import (
    RunningMetrics,
    metrics_by_name,
    metrics_for_output,
    running_metrics,
)
from extensor.train.nonfinite import NotFiniteError
from extensor.train.rehearsal import check_ready
from extensor.train.run_folder import RunFolder
from extensor.train.step_strategy import LocalStep, Loss, StepResult, StepStrategy
from extensor.train.tasks import check_values
from extensor.train.trainer_state import (
    TrainerState,
)

Validation = Iterable[Any] | Dataset | tuple[Any, Any] | float | None
T = TypeVar("T")


class _Delegated(Generic[T]):
    """An attribute of a trainer that its ``holder``, another attribute, has."""

    def __init__(self, holder: str) -> None:
        self._holder = holder

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, trainer: Any, owner: type | None = None) -> T:
        held: Any = self if trainer is None else getattr(trainer, self._holder)
        value: T = held if trainer is None else getattr(held, self._name)
        return value

    def __set__(self, trainer: Any, value: T) -> None:
        setattr(getattr(trainer, self._holder), self._name, value)


class Trainer:
    """Train a model on batches ``(*inputs, target)``.

    Each step minimizes ``loss(model(*inputs), target)``. The result does not depend on the number of
    workers, on interruptions, or on whether a run was resumed.

    Parameters
    ----------
    model : Module
        The model to train.
    loss : callable
        A loss of ``ex.nn``, or a function of output and target that returns a tensor of one number. Your
        own loss must be a mean over the samples if a step has several parts, see `loss_reduction`.
    optimizer : Optimizer
        The optimizer of the model's parameters. It steps its automatic schedules itself; the trainer
        steps the others after each epoch.
    metrics : list of str or dict of str to Metric or str, optional
        Metrics of the validation data. The loss gives a name such as ``"accuracy"`` its meaning.
    train_metrics : list of str or dict of str to Metric or str, optional
        Metrics of the training batches.
    accumulate : int
        Number of batches in one step. Their gradients are added in one balanced tree.
    micro_batches : int, optional
        Number of parts each batch is cut into. Several workers share the parts and end with the same
        bits as one.
    shard_optimizer : bool
        Whether each worker keeps only its share of the optimizer's state.
    sync_batch_norm : bool
        Whether batch norm uses the statistics of all parts of a step.
    loss_reduction : {"mean", "sum"} or callable, optional
        How the losses of the parts make up the whole. A function of a part's target returns the number
        that the mean divides by. Losses of the library need none.
    clip_norm, clip_value : float, optional
        Bounds of the norm of all gradients, and of each of their elements.
    amp : dtype, optional
        The dtype of mixed precision.
    ema : EMA, optional
        An average of the parameters, which evaluation then uses.
    compile : str, optional
        A backend that compiles the steps, such as ``"xla"``.
    device : str, optional
        The device of compiled steps.
    monitor : str
        The number that a :class:`~extensor.optim.ReduceLROnPlateau` follows.
    callbacks : list of Callback, optional
        Without it, those of :func:`default_callbacks`.
    folder : str or Path, optional
        Where to write the configuration, the log, and a checkpoint after each epoch. It must be new.
        ``{time}`` in its name is replaced by the date and time.
    overwrite : bool
        Whether to move an earlier run in `folder` aside when training begins.
    checkpoint_every : int, optional
        Number of steps between further checkpoints.
    keep : int
        Number of checkpoints to keep.
    config : mapping, optional
        A configuration to store with the run.

    Examples
    --------
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

    # Of the state, which a checkpoint holds.
    epoch = _Delegated[int]("state")  # completed epochs
    step = _Delegated[int]("state")
    batch = _Delegated[int]("state")  # completed batches of this epoch
    stopped = _Delegated[bool]("state")
    running_loss = _Delegated[Mean]("state")
    running_metrics = _Delegated[RunningMetrics]("state")
    history = _Delegated[History]("state")
    callbacks = _Delegated[list[Callback]]("state")
    config = _Delegated[dict[str, Any]]("state")
    preparation = _Delegated[dict[str, Any] | None]("state")
    split = _Delegated[Split | None]("state")
    # Of the run on disk.
    run = _Delegated[RunFolder | None]("storage")
    checkpoints = _Delegated[Checkpoints | None]("storage")
    overwrite = _Delegated[bool]("storage")
    is_timed = _Delegated[bool]("storage")
    seen = _Delegated[Any]("storage")

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
        self.accumulate = arguments.integer("Trainer", "accumulate", accumulate, 1)
        if checkpoint_every is not None:
            arguments.integer("Trainer", "checkpoint_every", checkpoint_every, 1)
            if folder is None:
                raise value_error("Trainer", "checkpoints need a folder", folder=folder)
        # The only place where a trainer joins the workers; everything below is handed the value.
        self._workers = join_workers()
        self.take_step: StepStrategy = choose_strategy(
            (model, loss, optimizer, clip_norm, clip_value, amp, ema, loss_reduction),
            self._workers,
            (micro_batches, shard_optimizer, sync_batch_norm),
            (compile, device),
        )
        self.given_metrics = metrics_by_name(metrics, loss)
        running = running_metrics(train_metrics, self.given_metrics, loss)
        self.monitor = arguments.text("Trainer", "monitor", monitor)
        chosen = default_callbacks(folder is not None) if callbacks is None else callbacks
        several = checked_callbacks(chosen)
        self.storage = RunStorage(folder, overwrite, keep, self._workers)
        self.state = TrainerState(self.take_step, several, running, config)
        is_named = any(isinstance(metric, str) for metric in self.given_metrics.values())
        # Metrics that are only named are made when the first output is known.
        self.metrics: dict[str, Metric] = {} if is_named else dict(self.given_metrics)
        self.model = model
        self.optimizer = optimizer
        self.checkpoint_every = checkpoint_every
        self.epochs = 0
        self.total_steps = 0
        self.last_step = StepResult(0.0, 0, None)
        self.columns: Sequence[str] | None = None  # of the table that was trained on last
        self.interruption = Interruption()
        self._made_loader: Any = None  # by the last fit, of arrays

    @property
    def workers(self) -> Workers:
        """The workers that train together; one that is alone if there are no others."""
        return self._workers

    @workers.setter
    def workers(self, workers: Workers) -> None:
        self._workers = self.take_step.workers = self.storage.workers = workers

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
        """Train until `epochs` epochs are over, counted from the beginning of the run.

        One batch is tried first, so data that do not fit are refused before anything is written.
        Ctrl-C, SIGTERM and SIGHUP end training after the current step and its checkpoint.

        Parameters
        ----------
        train : array_like, table, tuple of these, dataset or loader
            Inputs, or a data set or loader that has the targets too.
        y : array_like, optional
            The targets, if `train` has inputs only. ``fit(loader, 5)`` takes the epochs here.
        epochs : int
            Number of epochs of the whole run, 10 by default.
        validation : tuple of (X, y), dataset, loader or float, optional
            Validation data, or the fraction of the samples to draw at random for it.
        batch_size : int
            Samples in a batch. A loader has its own.
        shuffle : bool
            Whether to draw the order of the samples at random.

        Returns
        -------
        History
            A record of each epoch.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C.
        SystemExit
            After SIGTERM or SIGHUP, with the code 128 + signal.
        NotFiniteError
            If a loss or gradient turns NaN or infinite.
        """
        y, epochs, validation = fit_arguments(train, y, epochs, validation)
        made_before = self._made_loader if self._made_loader is self.state.loader else None
        state = random.get_state()
        try:
            data = fit_data(train, y, validation, batch_size, shuffle, made_before, self.split)
            self._check_loader(data.train)
            is_over = self.epoch >= epochs or self.stopped
            is_tried = is_over or check_ready(self, data.train, data.validation)
            self.storage.create_folder(self.step)
        except BaseException:
            random.set_state(state)
            raise
        if data.goes_on:
            self.state.loader = data.made
        self._made_loader, self.split = data.made, data.split
        self.columns = data.columns
        FitLoop(self, data, epochs, is_tried).run()
        return self.history

    def _check_loader(self, train: Any) -> None:
        if not hasattr(train, "__len__") or len(train) == 0:
            given = len(train) if hasattr(train, "__len__") else type(train).__name__
            raise value_error("fit", "train must be a loader of at least one batch", train=given)
        needs_state = self.checkpoint_every is not None or self.state.waiting.get("loader")
        if needs_state and not hasattr(train, "state_dict"):
            requirement = "checkpoints within an epoch need a loader with a state_dict"
            raise type_error("fit", requirement, train=type(train).__name__)

    def active_callbacks(self) -> Sequence[Callback]:
        """The callbacks that are called on this worker."""
        if self.workers.is_first:
            return self.callbacks
        return [callback for callback in self.callbacks if not callback.only_first]

    @property
    def rate(self) -> float:
        """The learning rate of the optimizer's first group."""
        return float(self.optimizer.param_groups[0]["lr"])

    def know(self, output: Any) -> dict[str, Metric]:
        """Make the metrics that are only named, for outputs such as this; returns all metrics."""
        if len(self.metrics) < len(self.given_metrics):
            self.metrics = metrics_for_output(self.given_metrics, self.take_step.loss, output)
        self.running_metrics.know(output)
        return self.metrics

    def evaluate(self, loader: Any, y: Any = None, batch_size: int = 256) -> dict[str, Any]:
        """Compute the mean loss and the metrics in evaluation mode.

        Parameters
        ----------
        loader : array_like, table, dataset or loader
            The data, as for :meth:`fit`.
        y : array_like, optional
            The targets, if `loader` has inputs only.
        batch_size : int
            Samples in a batch. A loader has its own.

        Returns
        -------
        dict
            ``"loss"`` and the value of each metric by its name.
        """
        check_columns("evaluate", loader, self.columns)
        dataset = dataset_of("evaluate", "loader", loader, y)
        if dataset is not None:
            batch_size = arguments.integer("evaluate", "batch_size", batch_size, 1)
            loader = DataLoader(dataset, batch_size)
        if y is not None:
            check_values("evaluate", self.take_step.loss, None, dataset.arrays[-1], "y")
        return evaluate_batches(self.model, self.take_step, self.know, loader)

    def evaluate_together(self, loader: Any) -> dict[str, Any]:
        """:meth:`evaluate` by all workers, which must all call it: each computes some batches."""
        metrics_for = self.know if self.given_metrics else None
        return self.take_step.evaluate(
            loader, self.step, self.evaluate, metrics_for, self.is_evaluated_here
        )

    @property
    def is_evaluated_here(self) -> bool:
        """True if nobody has put something in the place of :meth:`evaluate`."""
        return type(self).evaluate is Trainer.evaluate and "evaluate" not in vars(self)

    def predict(self, inputs: Any, batch_size: int = 256) -> Tensor:
        """Compute the model's outputs in evaluation mode.

        Parameters
        ----------
        inputs : array_like, table, dataset or loader
            The inputs. The last part of a loader's batch, the target, is not used.
        batch_size : int
            Samples in a batch. A loader has its own.

        Returns
        -------
        Tensor
            The outputs of all samples, of shape (samples, ...).
        """
        check_columns("predict", inputs, self.columns)
        return predicted(self.model, self.take_step.ema, inputs, batch_size)

    def log(self, record: Mapping[str, Any]) -> None:
        """Write a record into the log, if there is one."""
        record = entries.mapping("log", record, "record")
        for callback in self.active_callbacks():
            if isinstance(callback, Logging):
                callback.write(record)

    def save(self, name: str | None = None) -> Path:
        """Write a checkpoint: of this step, or one that is called ``name``."""
        self.storage.required_checkpoints("save")
        if not self.take_step.is_finite():
            error = NotFiniteError("a parameter is not finite, so no checkpoint was written")
            raise NotFiniteError(self.describe_stop(error))
        # On all workers, as they gather the state together; the first one writes it.
        return self.storage.write(self.state.state_dict(copied=False), self.step, name)

    def describe_stop(self, error: NotFiniteError) -> str:
        """Where ``error`` stopped training, and the last good checkpoint."""
        text = f"step {self.step + 1} of epoch {self.epoch + 1}: {error}"
        latest = self.storage.latest()
        return text if latest is None else f"{text}; the last good checkpoint is {latest}"

    def resume(self, path: str | Path | None = None) -> bool:
        """Continue from a checkpoint.

        Options that you created the trainer, optimizer or schedules with, and that differ from those of
        the checkpoint, take effect from here on. Changes that callbacks made during training are kept.

        Parameters
        ----------
        path : str or Path, optional
            The checkpoint; by default the last one in the folder.

        Returns
        -------
        bool
            False if there is no checkpoint.

        Raises
        ------
        ValueError
            If the file is no checkpoint of a run, or does not fit the trainer.
        """
        seen = self.storage.stamp()
        if path is None:
            path = self.storage.required_checkpoints("resume").latest()
        state = self.storage.read(None if path is None else as_path("resume", path))
        if state is not None:
            if "progress" not in state:
                raise value_error("resume", "path must be a checkpoint of a run", path=str(path))
            self.load_state_dict(state)
        self.storage.is_resumed = True
        self.seen = seen
        return state is not None

    def state_dict(self) -> dict[str, Any]:
        """Everything that the rest of the run depends on."""
        return self.state.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave; random numbers and the loader when training begins."""
        self.state.load_state_dict(state)

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
            f"{name}, {type(self.optimizer).__name__}(lr={self.rate:g}){metrics}; {place})"
        )


def choose_strategy(
    parts: tuple[Any, ...],
    workers: Workers,
    cutting: tuple[int | None, bool, bool],
    compilation: tuple[str | None, str | None],
) -> StepStrategy:
    """The strategy for ``parts``, which every strategy takes.

    ``cutting`` are ``micro_batches``, ``shard_optimizer`` and ``sync_batch_norm``, ``compilation``
    are ``compile`` and ``device``.
    """
    micro_batches, *flags = cutting
    backend, device = compilation
    shards = arguments.flag("Trainer", "shard_optimizer", flags[0])
    synchronises = arguments.flag("Trainer", "sync_batch_norm", flags[1])
    if micro_batches is None:
        _check_whole_batches(workers, shards, synchronises)
        if backend is not None:
            from extensor.train.compiled_step import CompiledStep

            return CompiledStep(*parts, backend=backend, device=device)
        if device is not None:
            requirement = "device is where a compiled step runs (compile='xla')"
            raise value_error("Trainer", requirement, device=device)
        return LocalStep(*parts)
    count = arguments.integer("Trainer", "micro_batches", micro_batches, 1)
    if backend is not None or device is not None:
        requirement = "micro_batches must be None where steps are compiled"
        raise value_error("Trainer", requirement, micro_batches=micro_batches)
    from extensor.train.data_parallel import DataParallelStep

    return DataParallelStep(
        *parts, workers=workers, micro_batches=count, shards=shards, synchronises=synchronises
    )


def _check_whole_batches(workers: Workers, shards: bool, synchronises: bool) -> None:
    if workers.size > 1:
        requirement = (
            f"micro_batches must be given for {workers.size} workers: into how many parts a batch is "
            "cut, whatever their number (micro_batches=8); with EXTENSOR_ALONE=1 each trains by itself"
        )
        raise value_error("Trainer", requirement, micro_batches=None)
    for name, flag in (("shard_optimizer", shards), ("sync_batch_norm", synchronises)):
        if flag:
            requirement = f"{name}=True needs micro_batches (micro_batches=8)"
            raise value_error("Trainer", requirement, micro_batches=None)
