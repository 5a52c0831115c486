"""The trainer: epochs of steps, validation and callbacks.

It has the state that a checkpoint holds (:class:`TrainerState`), the way a step is taken
(:class:`LocalStep` or a subclass) and the run on disk (:class:`RunStorage`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

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
from extensor.train.checkpoint_files import Checkpoints
from extensor.train.data_adapters import EPOCHS, check_columns, dataset_of, fit_arguments, fit_data
from extensor.train.evaluation import evaluate_batches, predicted
from extensor.train.fit_loop import FitLoop, Interruption
from extensor.train.logs import History, Logging, default_callbacks
from extensor.train.loss_parts import LossReduction
from extensor.train.metrics import Metric
from extensor.train.metrics.trainer_metrics import (
    metrics_by_name,
    metrics_for_output,
    running_metrics,
)
from extensor.train.nonfinite import NotFiniteError
from extensor.train.rehearsal import check_ready
from extensor.train.run_folder import RunFolder, RunStorage
from extensor.train.step_strategy import CompiledStep, LocalStep, Loss, StepResult
from extensor.train.tasks import check_values
from extensor.train.trainer_state import TrainerState

Validation = Iterable[Any] | Dataset | tuple[Any, Any] | float | None


class Trainer(TrainerState):
    """Train, evaluate and use a model.

    A trainer brings together a model, a loss and an optimizer, and `fit` runs the loop: epochs of
    steps, validation, schedules, callbacks, and a checkpoint after each epoch if there is a folder.
    Each step minimizes ``loss(model(*inputs), target)`` for a batch ``(*inputs, target)``.

    Parameters
    ----------
    model : Module
        The model. It is changed in place.
    loss : callable
        Loss of ``ex.nn`` or of ``ex``, such as ``ex.nn.CrossEntropyLoss()`` or ``ex.mse_loss``, or a
        function of output and target that returns a tensor of one number. For class weights pass them
        to the loss: ``ex.nn.CrossEntropyLoss(weight=[1.0, 5.0])``.
    optimizer : Optimizer
        The optimizer of the model's parameters. Its schedules are stepped too: automatic ones with
        every step, the others after each epoch.
    metrics : list of str, or dict of str to Metric or str, optional
        Metrics of the validation data and of `evaluate`. A name such as "accuracy", "f1" or "r2"
        follows the task, which is inferred from the loss and the outputs. A loss of your own has no
        known task and needs objects: ``{"accuracy": ex.train.Accuracy()}``. Default: none.
    train_metrics : list of str, or dict of str to Metric or str, default ()
        Metrics of the training batches, computed while the epoch lasts. Each needs a state, so metrics
        that keep all samples are refused.
    accumulate : int, default 1
        Number of batches in a step. Their gradients are averaged as if they were one batch. The last
        step of an epoch takes the batches that are left.
    micro_batches : int, optional
        Number of parts that each batch is cut into. Several workers, started by MPI, need it: they
        share the parts and get the same bits as one worker. Default: batches are computed whole.
    shard_optimizer : bool, default False
        Whether each worker keeps only its part of the optimizer's state. Needs `micro_batches`.
    sync_batch_norm : bool, default False
        Whether batch norm takes the mean and variance of all parts of a step, not of each part alone.
        Needs `micro_batches`.
    loss_reduction : {"mean", "sum"} or callable, optional
        How the losses of the parts of a step make up its loss, if it has several by `accumulate` or
        `micro_batches`: the mean over the samples, the sum, or a mean that divides by the number that
        a function returns for the target of a part. Default: what the loss of the library says;
        "mean" for a loss of your own, which is tried on one batch and refused if that is wrong.
    clip_norm : float, optional
        Bound of the norm of all gradients together, greater than 0. Larger ones are scaled down.
    clip_value : float, optional
        Bound of the magnitude of each element of the gradients, greater than 0. With both, values are
        clipped first.
    amp : dtype_like, optional
        Mixed precision: bfloat16 or float16, which scales the loss automatically. Default: none.
    ema : EMA, optional
        Averages of the parameters, updated after each step. Validation, `evaluate` and `predict` use
        them.
    compile : {"native", "xla"}, optional
        Backend that compiles the steps, see `ex.compile`. It excludes `micro_batches` and float16,
        and "xla" needs JAX. Default: steps run as they are written.
    device : str, optional
        Device of steps that XLA compiles, such as "cpu", "gpu" or "gpu:1". Default: JAX's default
        device.
    monitor : str, default "validation_loss"
        Number of an epoch's record that `ReduceLROnPlateau` follows, if the optimizer has one.
    callbacks : sequence of Callback, optional
        Objects whose methods are called during training, in this order. Default: those of
        `default_callbacks`, which show progress on standard error and write the log into the folder.
        ``callbacks=[]`` is silent.
    folder : str or Path, optional
        Folder of the run. It gets the configuration, a checkpoint after each epoch, and the files of
        the callbacks, see `RunFolder`. No earlier run may be in it, unless `resume` is called first.
        ``{time}`` in the name stands for the date and time. Default: nothing is written.
    overwrite : bool, default False
        Whether to rename an earlier run in `folder` to ``<folder>-earlier`` when training begins.
    checkpoint_every : int, optional
        Number of steps between further checkpoints. It needs a folder and a loader with a state, such
        as `DataLoader`.
    keep : int, default 3
        Number of checkpoints to keep, 1 or more. Named ones do not count.
    config : mapping, optional
        Configuration of your own that is written into the folder and the checkpoints.

    Attributes
    ----------
    model, optimizer, accumulate, monitor, checkpoint_every
        The parameters.
    history : History
        The records of all epochs of the run.
    epoch, step : int
        Number of epochs and of steps that are over, counted from the beginning of the run.
    batch : int
        Number of batches of this epoch that are over.
    epochs, total_steps : int
        Numbers at which the current or last `fit` ends.
    rate : float
        Learning rate of the optimizer's first group.
    metrics : dict of str to Metric
        The metrics. Those passed by name appear when the first output is known.
    callbacks : list of Callback
        The callbacks.
    last_step : StepResult
        ``loss``, ``samples`` and ``gradient_norm`` of the last step. The norm is None unless
        `clip_norm` is given.
    stopped : bool
        Whether training was stopped, by `stop` or a callback. A stopped run trains no further.
    run : RunFolder or None
        The paths in the folder.
    checkpoints : Checkpoints or None
        The checkpoints in the folder.
    config : dict
        The configuration.
    workers : Workers
        The workers of this run; a single one if none were started.

    Raises
    ------
    TypeError
        If a parameter has another type.
    ValueError
        If a parameter is out of its range or needs another one, the optimizer has no parameter of the
        model, or there is no such metric.

    See Also
    --------
    experiment : Build data, model and trainer from a configuration.
    Callback : The events of training.
    tune_lr : Find a learning rate.
    ex.Classifier, ex.Regressor : Estimators with the interface of scikit-learn.

    Notes
    -----
    A step clears the gradients, computes the loss of its batches and the gradients, clips these, and
    lets the optimizer, the automatic schedules and the averages advance. The model is in training mode
    in an epoch, and in evaluation mode during validation, `evaluate` and `predict`.

    Metrics by name are "accuracy", "balanced_accuracy", "precision", "recall", "f1", "roc_auc",
    "average_precision", "log_loss", "calibration_error", "top_k_accuracy" and "confusion_matrix" for
    classes and labels, "r2", "mean_absolute_error", "root_mean_squared_error" and
    "median_absolute_error" for numbers, and "perplexity" for classes and texts. A name that does not
    fit the task raises an error. Your own metric is a subclass of `Metric`.

    There is no argument for weights of samples. Put the weights into the target, as one more column,
    and let a loss of your own read them; it must be a mean over the samples or say its
    `loss_reduction`.

    The result is the same to the bit on any number of threads, with any number of workers for the same
    `micro_batches`, and if a run was interrupted and resumed.

    Examples
    --------
    >>> import numpy as np, extensor as ex
    >>> _ = ex.random.manual_seed(0)
    >>> x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
    >>> model = ex.nn.Linear(1, 1)
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.5)
    >>> trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, metrics=["r2"], callbacks=[])
    >>> history = trainer.fit(x, 3 * x + 1, epochs=20, validation=0.25, batch_size=8)
    >>> f"{model.weight.item():.3f} {model.bias.item():.3f}"
    '3.000 1.000'
    >>> round(history[-1]["validation_r2"], 3)
    1.0
    >>> trainer.predict([[2.0]]).shape
    (1, 1)
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
        self.accumulate = arguments.integer("Trainer", "accumulate", accumulate, 1)
        if checkpoint_every is not None:
            arguments.integer("Trainer", "checkpoint_every", checkpoint_every, 1)
            if folder is None:
                raise value_error("Trainer", "checkpoints need a folder", folder=folder)
        # The only place where a trainer joins the workers; everything below is handed the value.
        self._workers = join_workers()
        take_step = choose_strategy(
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
        super().__init__(take_step, several, running, config)
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
    def run(self) -> RunFolder | None:
        """The folder of the run, if it has one."""
        return self.storage.run

    @property
    def checkpoints(self) -> Checkpoints | None:
        """The checkpoints of the run, if it has a folder."""
        return self.storage.checkpoints

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
        """Train until ``epochs`` epochs are over, counted from the beginning of the run.

        Call it as ``fit(X, y, epochs)``, ``fit(dataset, epochs=5)`` or ``fit(loader, epochs)``; the
        short form also takes validation data as its third argument. A second call continues:
        ``fit(X, y, 5)`` and then ``fit(X, y, 8)`` train for 8 epochs in all.

        Parameters
        ----------
        train : array_like, DataFrame, tuple of these, Dataset or loader
            The inputs, samples first; a tuple for a model of several inputs. Or a data set, which has
            the targets too, or a loader: an object with a length that gives a batch
            ``(*inputs, target)`` at a time, each time from the beginning, such as a `DataLoader` or a
            list of batches. Its length is the number of batches in an epoch.
        y : array_like or DataFrame, (samples, ...), optional
            The targets, if `train` has inputs only. Their shape and dtype must fit the loss: class
            numbers for `ex.cross_entropy`, numbers of the outputs' shape for `ex.mse_loss`.
        epochs : int, default 10
            Number of epochs of the whole run, including those that are over. If that many are over,
            nothing is trained.
        validation : tuple of (X, y), Dataset, loader or float, optional
            Data that are evaluated after each epoch, and not trained on. A number between 0 and 1 is
            the fraction of the samples that are drawn at random for it; later calls and a resumed run
            keep the same samples. Default: no validation.
        batch_size : int, default 32
            Number of samples in a batch of arrays or of a data set, also for validation. The last batch
            may have fewer. A loader has its own batches.
        shuffle : bool, default True
            Whether the samples of arrays or of a data set come in a new random order in each epoch. A
            loader decides by itself.

        Returns
        -------
        History
            A record of each epoch of the run, a dict with "epoch", "step", "loss" and "lr", the
            training metrics, "validation_loss" and "validation_<metric>". "loss" is the mean of the
            losses of the epoch's steps, weighted by their samples; each is measured before its update.

        Raises
        ------
        ValueError
            If shapes, targets, metrics, callbacks or the folder do not fit.
        TypeError
            If data have another type or hold words, or targets have another dtype than the loss takes.
        NotFiniteError
            If a loss is NaN or infinite, or with ``clip_norm`` the norm of the gradients, or a
            parameter when a checkpoint is due. The message names the origin.
        KeyboardInterrupt
            After Ctrl-C.
        SystemExit
            After SIGTERM or SIGHUP, with the code 128 + signal.
        WorkerLostError
            If another worker does not answer, and the others cannot continue without it.

        Notes
        -----
        Arrays keep their dtype. Floats of lists and tables get the default dtype. Before anything is
        written, one batch is tried on copies of the model's attributes if data and model allow it.

        Ctrl-C, SIGTERM and SIGHUP end training after the current step and its checkpoint; if the
        loader has no ``state_dict``, after the current epoch. A second Ctrl-C ends it at once.

        Examples
        --------
        >>> import extensor as ex
        >>> from extensor.data import ArrayDataset, DataLoader
        >>> model = ex.nn.Linear(2, 1)
        >>> optimizer = ex.optim.Adam(model.parameters(), lr=0.1)
        >>> trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, callbacks=[])
        >>> x, y = ex.ones((12, 2)), ex.ones((12, 1))
        >>> history = trainer.fit(DataLoader(ArrayDataset(x, y), batch_size=4), 2, (x, y))
        >>> [record["step"] for record in history], trainer.step
        ([3, 6], 6)
        """
        y, epochs, validation = fit_arguments(train, y, epochs, validation)
        made_before = self._made_loader if self._made_loader is self.loader else None
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
            self.loader = data.made
        self._made_loader, self.split = data.made, data.split
        self.columns = data.columns
        FitLoop(self, data, epochs, is_tried).run()
        return self.history

    def _check_loader(self, train: Any) -> None:
        if not hasattr(train, "__len__") or len(train) == 0:
            given = len(train) if hasattr(train, "__len__") else type(train).__name__
            raise value_error("fit", "train must be a loader of at least one batch", train=given)
        needs_state = self.checkpoint_every is not None or self.waiting.get("loader")
        if needs_state and not hasattr(train, "state_dict"):
            requirement = "checkpoints within an epoch need a loader with a state_dict"
            raise type_error("fit", requirement, train=type(train).__name__)

    def active_callbacks(self) -> Sequence[Callback]:
        """Return the callbacks that are called on this worker.

        Returns
        -------
        sequence of Callback
            All of them on the first worker; on the others those without ``only_first``.
        """
        is_first = self.workers.is_first
        return [callback for callback in self.callbacks if is_first or not callback.only_first]

    @property
    def rate(self) -> float:
        """The learning rate of the optimizer's first group."""
        return float(self.optimizer.param_groups[0]["lr"])

    def create_metrics(self, output: Any) -> dict[str, Metric]:
        """Create the metrics that were passed by name, if that has not happened yet.

        Parameters
        ----------
        output : Tensor or array_like
            An output of the model. Its shape and the loss decide on the task.

        Returns
        -------
        dict of str to Metric
            All metrics.
        """
        if len(self.metrics) < len(self.given_metrics):
            self.metrics = metrics_for_output(self.given_metrics, self.take_step.loss, output)
        self.running_metrics.create(output)
        return self.metrics

    def evaluate(self, loader: Any, y: Any = None, batch_size: int = 256) -> dict[str, Any]:
        """Compute the mean loss and the metrics of data, without training.

        The model computes in evaluation mode, with the averages of ``ema`` if there are any.

        Parameters
        ----------
        loader : array_like, DataFrame, tuple of these, Dataset or loader
            The data, as for `fit`.
        y : array_like or DataFrame, (samples, ...), optional
            The targets, if `loader` has inputs only.
        batch_size : int, default 256
            Number of samples in a batch. A loader has its own. Metrics are those of all samples, and
            the loss is the mean over the samples.

        Returns
        -------
        dict of str to float or numpy.ndarray
            "loss" and the value of each metric by its name.

        Raises
        ------
        ValueError
            If shapes or targets do not fit, or there are no samples.
        TypeError
            If data have another type or hold words.

        Examples
        --------
        >>> import extensor as ex
        >>> model = ex.nn.Linear(2, 1)
        >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
        >>> trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, metrics=["r2"], callbacks=[])
        >>> sorted(trainer.evaluate(ex.ones((4, 2)), ex.zeros((4, 1))))
        ['loss', 'r2']
        """
        check_columns("evaluate", loader, self.columns)
        dataset = dataset_of("evaluate", "loader", loader, y)
        if dataset is not None:
            batch_size = arguments.integer("evaluate", "batch_size", batch_size, 1)
            loader = DataLoader(dataset, batch_size)
        if y is not None:
            check_values("evaluate", self.take_step.loss, None, dataset.arrays[-1], "y")
        return evaluate_batches(self.model, self.take_step, self.create_metrics, loader)

    def evaluate_together(self, loader: Any) -> dict[str, Any]:
        """Evaluate on all workers, each of which computes some of the batches.

        All workers must call it. In one process it is the same as `evaluate`.

        Parameters
        ----------
        loader : loader
            The batches. On several workers all have the same ones.

        Returns
        -------
        dict of str to object
            As of `evaluate`, the same on all workers.
        """
        return self.take_step.evaluate(self, loader)

    @property
    def is_evaluated_here(self) -> bool:
        """True if nobody has put something in the place of :meth:`evaluate`."""
        return type(self).evaluate is Trainer.evaluate and "evaluate" not in vars(self)

    def predict(self, inputs: Any, batch_size: int = 256) -> Tensor:
        """Compute the outputs of the model, without training.

        The model computes in evaluation mode, with the averages of ``ema`` if there are any. Outputs
        are those of the model: logits, not classes, for `ex.cross_entropy`.

        Parameters
        ----------
        inputs : array_like, DataFrame, tuple of these, Dataset or loader
            The inputs, as for `fit`. The last part of a loader's batch, the target, is not used; a
            batch may have inputs only if it has one part.
        batch_size : int, default 256
            Number of samples that are computed at once. A loader has its own.

        Returns
        -------
        Tensor, (samples, ...)
            The outputs of all samples, in order.

        Raises
        ------
        ValueError
            If there are no samples, several inputs have different numbers of them, or a table has
            other columns than the one trained on.
        TypeError
            If data have another type or hold words.
        """
        check_columns("predict", inputs, self.columns)
        return predicted(self.model, self.take_step.ema, inputs, batch_size)

    def log(self, record: Mapping[str, Any]) -> None:
        """Write a record of your own into the log, if there is one.

        Parameters
        ----------
        record : mapping of str to object
            Numbers, strings, arrays, and lists and dicts of these. Give it an "event" that tells it
            from others.

        Raises
        ------
        TypeError
            If `record` is no mapping.
        """
        record = entries.mapping("log", record, "record")
        for callback in self.active_callbacks():
            if isinstance(callback, Logging):
                callback.write(record)

    def save(self, name: str | None = None) -> Path:
        """Write a checkpoint now.

        On several workers all must call it; the first one writes.

        Parameters
        ----------
        name : str, optional
            Name of the file, without its ending. It is only replaced by one of the same name. Default:
            that of the step, of which the last ``keep`` are kept.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            If the trainer has no folder, or `name` is a path.
        NotFiniteError
            If a parameter is NaN or infinite. Nothing is written then.
        """
        self.storage.required_checkpoints("save")
        if not self.take_step.is_finite():
            error = NotFiniteError("a parameter is not finite, so no checkpoint was written")
            raise NotFiniteError(self.describe_stop(error))
        # On all workers, as they gather the state together; the first one writes it.
        return self.storage.write(self._state(copied=False), self.step, name)

    def describe_stop(self, error: NotFiniteError) -> str:
        """Return where an error stopped training, and the last checkpoint.

        Parameters
        ----------
        error : NotFiniteError
            The error.

        Returns
        -------
        str
            The step, the epoch, the error, and the path of the last checkpoint if there is one.
        """
        text = f"step {self.step + 1} of epoch {self.epoch + 1}: {error}"
        latest = self.storage.latest()
        return text if latest is None else f"{text}; the last good checkpoint is {latest}"

    def resume(self, path: str | Path | None = None) -> bool:
        """Load a checkpoint, from which `fit` then continues.

        Create model, optimizer, schedules and callbacks as before. Options that differ from those the
        run was created with take effect from here on. Changes that callbacks made during training are
        kept.

        Parameters
        ----------
        path : str or Path, optional
            The checkpoint. Default: the one of the highest step in the folder.

        Returns
        -------
        bool
            False if there is no checkpoint; `fit` then begins a new run.

        Raises
        ------
        ValueError
            If the file is damaged, is no checkpoint of a run or does not fit the trainer, or if there
            is neither a path nor a folder. The trainer is not changed then.
        OSError
            If the file cannot be read.

        Examples
        --------
        >>> import tempfile, extensor as ex
        >>> def trainer(folder):
        ...     model = ex.nn.Linear(1, 1)
        ...     optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
        ...     return ex.train.Trainer(model, ex.mse_loss, optimizer, callbacks=[], folder=folder)
        >>> x = ex.ones((8, 1))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     history = trainer(folder).fit(x, x, epochs=2)
        ...     again = trainer(folder)
        ...     again.resume(), len(again.fit(x, x, epochs=5))
        (True, 5)
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
        self.storage.seen = seen
        return state is not None

    def state_dict(self) -> dict[str, Any]:
        """Return everything that the rest of the run depends on.

        Returns
        -------
        dict of str to object
            The state of model, optimizer, schedules, averages, loader, callbacks and random numbers,
            the progress and the history. Checkpoints hold it.
        """
        return self._state(copied=True)

    def stop(self) -> None:
        """End training after this epoch, with its validation and checkpoint."""
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
) -> LocalStep:
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
            f"micro_batches must be given for {workers.size} workers (micro_batches=8 cuts each batch "
            "into 8 parts, on any number of workers; with EXTENSOR_ALONE=1 each process trains alone)"
        )
        raise value_error("Trainer", requirement, micro_batches=None)
    for name, flag in (("shard_optimizer", shards), ("sync_batch_norm", synchronises)):
        if flag:
            requirement = f"{name}=True needs micro_batches (micro_batches=8)"
            raise value_error("Trainer", requirement, micro_batches=None)
