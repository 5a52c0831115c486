"""Callbacks: the events of training, and callbacks that watch a number or the gradients."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, TextIO

from extensor.core import entries
from extensor.errors import arguments, type_error, value_error
from extensor.errors.screen import exact_stream, screen_text
from extensor.optim.clipping import norm_of
from extensor.train.metrics import is_falling

if TYPE_CHECKING:
    from extensor.train.logs import History
    from extensor.train.trainer import Trainer


class Callback:
    """Base class of callbacks, whose methods a trainer calls during training.

    A subclass defines the methods for the events it is interested in; the others do nothing. The
    order is: ``fit_began``; in each step ``gradients_known`` and ``step_ended``; after the
    validation of an epoch ``epoch_ended``; ``fit_ended``. Pass instances as
    ``Trainer(callbacks=[...])``, which calls them in the order of the list.

    Attributes
    ----------
    writes : tuple of str, default ()
        Paths in the run folder that only this callback writes. Two callbacks of a trainer must not
        share one.
    only_first : bool, default False
        Whether only the first of several workers calls it. Set it if the callback writes files or
        shows something, never if it changes the model, the optimizer or the trainer.

    See Also
    --------
    EarlyStopping, BestCheckpoint, GradientHealth, Progress, Logging, Timing, TensorBoard

    Notes
    -----
    A record is a dict with the numbers of a step or an epoch. Both have "event", "epoch" and
    "step", counted from 1, "loss", and "lr", the learning rate of the first parameter group. A step
    with ``clip_norm`` also has "gradient_norm", the norm before clipping. An epoch also has the
    training metrics by name and, with validation data, "validation_loss" and "validation_<metric>".

    An exception in a callback ends training: `Trainer.fit` calls ``fit_ended`` of all callbacks and
    raises it. The last checkpoint stays valid.

    On several workers each worker has its own callbacks and gets the same records. Callbacks that
    change the training must change it alike on all workers; otherwise an error names the worker
    that differs.

    Examples
    --------
    >>> import extensor as ex
    >>> class Losses(ex.train.Callback):
    ...     def fit_began(self, trainer):
    ...         self.values = []
    ...     def epoch_ended(self, trainer, record):
    ...         self.values.append(record["loss"])
    >>> model, losses = ex.nn.Linear(1, 1), Losses()
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    >>> trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, callbacks=[losses])
    >>> history = trainer.fit(ex.ones((8, 1)), ex.ones((8, 1)), epochs=3)
    >>> losses.values == history.column("loss")
    True
    """

    writes: tuple[str, ...] = ()
    only_first = False  # whether only the first of several workers calls it, as it writes or shows

    def fit_began(self, trainer: Trainer) -> None:
        """Called when training begins, or continues from a checkpoint.

        Parameters
        ----------
        trainer : Trainer
            The trainer. Its state is that of the checkpoint, if there is one.
        """

    def gradients_known(self, trainer: Trainer) -> None:
        """Called in a step when the gradients are known, before they are clipped.

        Parameters
        ----------
        trainer : Trainer
            The trainer. The gradients are in ``.grad`` of the parameters; ``trainer.step`` is the
            number of steps before this one.
        """

    def wants_gradients(self, trainer: Trainer) -> bool:
        """Whether `gradients_known` is to be called in this step.

        Parameters
        ----------
        trainer : Trainer
            The trainer; ``trainer.step`` is the number of steps before this one.

        Returns
        -------
        bool
            By default True if the class defines `gradients_known`.
        """
        return type(self).gradients_known is not Callback.gradients_known

    def step_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        """Called when the optimizer has taken a step.

        Parameters
        ----------
        trainer : Trainer
            The trainer; ``trainer.step`` counts this step.
        record : mapping of str to object
            The numbers of the step, see the notes of `Callback`.
        """

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        """Called after an epoch and its validation, before its checkpoint is written.

        Parameters
        ----------
        trainer : Trainer
            The trainer; ``trainer.epoch`` counts this epoch. ``trainer.stop()`` makes it the last
            one.
        record : mapping of str to object
            The numbers of the epoch, see the notes of `Callback`. ``trainer.history`` has it too.
        """

    def fit_ended(self, trainer: Trainer) -> None:
        """Called when training is over, or was ended by an error or a signal.

        Parameters
        ----------
        trainer : Trainer
            The trainer.
        """

    def state_dict(self) -> dict[str, Any]:
        """Return what the callback needs to continue in a resumed run.

        Returns
        -------
        dict of str to object
            Numbers, strings, arrays, and lists and dicts of these. Each checkpoint contains them.
        """
        return {}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` returned.

        Parameters
        ----------
        state_dict : mapping of str to object
            The state in the checkpoint.
        """


def monitored(name: str, record: Mapping[str, Any], monitor: str) -> float:
    """The number called ``monitor`` in the record of an epoch."""
    value = record.get(monitor)
    if not isinstance(value, int | float):
        known = [key for key, x in record.items() if isinstance(x, int | float)]
        raise ValueError(f"{name}: monitor must be one of {known}, got monitor={monitor!r}")
    return float(value)


class BestValue(Callback):
    """Keep the best value of a number, and count the epochs without a better one.

    Parameters
    ----------
    monitor : str
        Name of the number in the records of the epochs.
    mode : {"min", "max"}, optional
        Whether less or more is better. Default: "max" or "min" for the library's metrics, "min" for
        names that end with "loss", "error" or "perplexity". ``fit`` refuses other names without it.
    min_delta : float, default 0.0
        Improvement that counts, 0 or more.
    """

    def __init__(self, monitor: str, mode: str | None, min_delta: float = 0.0) -> None:
        op = type(self).__name__
        self.monitor = arguments.text(op, "monitor", monitor)
        self.is_mode_given = mode is not None
        if mode is None:
            mode = "min" if is_falling(monitor) else "max"
        self.mode = arguments.choice(op, "mode", mode, ("min", "max"))
        self.sign = 1.0 if self.mode == "min" else -1.0
        self.min_delta = arguments.number(op, "min_delta", min_delta, least=0)
        self.best = self.sign * inf
        self.bad = 0

    def improved(self, record: Mapping[str, Any]) -> bool:
        """Compare the record of an epoch with the best one so far.

        Parameters
        ----------
        record : mapping of str to object
            The numbers of the epoch.

        Returns
        -------
        bool
            Whether it is better by more than ``min_delta``. NaN is never better.

        Raises
        ------
        ValueError
            If the record has no number named ``monitor``.
        """
        value = monitored(type(self).__name__, record, self.monitor)
        better = self.sign * value < self.sign * self.best - self.min_delta
        self.best = value if better else self.best
        self.bad = 0 if better else self.bad + 1
        return better

    def state_dict(self) -> dict[str, Any]:
        watched = {"monitor": self.monitor, "mode": self.mode}
        return {**watched, "best": self.best, "bad": self.bad}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` returned.

        A state of another monitor or mode is ignored, as its best value means something else.

        Parameters
        ----------
        state_dict : mapping of str to object
            The state in the checkpoint.
        """
        op = f"{type(self).__name__}.load_state_dict"
        watched = {"monitor": self.monitor, "mode": self.mode}
        given = entries.mapping(op, state_dict)
        given = entries.with_keys(op, {**watched, **given}, [*watched, "best", "bad"])
        best = float(entries.number(op, "best", given["best"]))
        bad = entries.count(op, "bad", given["bad"])
        for key in watched:
            if not isinstance(given[key], str):
                kind = type(given[key]).__name__
                raise type_error(op, f"{key} must be a string", **{key: kind})
        if all(given[key] == value for key, value in watched.items()):
            self.best, self.bad = best, bad


class EarlyStopping(BestValue):
    """Stop training when a number has not improved for some epochs.

    The weights stay those of the last epoch. Add `BestCheckpoint` to keep those of the best one.

    Parameters
    ----------
    monitor : str, default "validation_loss"
        Name of the number in the records of the epochs: "loss", a training metric, or
        "validation_loss" and "validation_<metric>" if `Trainer.fit` gets validation data.
    patience : int, default 5
        Number of epochs in a row without improvement after which training stops, 1 or more.
    mode : {"min", "max"}, optional
        Whether less or more is better. Default: "max" or "min" for the library's metrics, "min" for
        names that end with "loss", "error" or "perplexity". ``fit`` refuses other names without it.
    min_delta : float, default 0.0
        Amount, in units of the number, by which a value must be better than the best one so far to
        count as an improvement. 0 or more; an equal value is never better.

    Attributes
    ----------
    best : float
        The best value so far; infinite before the first epoch.
    bad : int
        Number of epochs since then.

    Raises
    ------
    ValueError
        If ``patience`` is less than 1, ``min_delta`` is negative, or ``mode`` is another word. An
        unknown monitor raises when `Trainer.fit` begins, before anything is written.

    See Also
    --------
    BestCheckpoint : Keep the weights of the best epoch.

    Notes
    -----
    NaN counts as no improvement. Best value and count are in the checkpoints, so a resumed run
    stops at the same epoch; with another monitor or mode they begin anew. On several workers all
    get the same numbers and stop after the same epoch.

    Examples
    --------
    >>> import extensor as ex
    >>> model = ex.nn.Linear(1, 1)
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.0)  # never improves
    >>> stopping = ex.train.EarlyStopping("loss", patience=2)
    >>> trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, callbacks=[stopping])
    >>> history = trainer.fit(ex.ones((4, 1)), ex.zeros((4, 1)), epochs=10)
    >>> len(history), stopping.bad
    (3, 2)
    """

    def __init__(
        self,
        monitor: str = "validation_loss",
        patience: int = 5,
        mode: str | None = None,
        min_delta: float = 0.0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience = arguments.integer("EarlyStopping", "patience", patience, 1)

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        if not self.improved(record) and self.bad >= self.patience:
            trainer.stop()


class BestCheckpoint(BestValue):
    """Write a checkpoint whenever a number is better than in all epochs before.

    The file is ``checkpoints/best.safetensors`` in the run folder; each better epoch replaces it.
    It is besides the checkpoints of the last epochs, and ``keep`` does not delete it.

    Parameters
    ----------
    monitor : str, default "validation_loss"
        Name of the number in the records of the epochs: "loss", a training metric, or
        "validation_loss" and "validation_<metric>" if `Trainer.fit` gets validation data.
    mode : {"min", "max"}, optional
        Whether less or more is better. Default: "max" or "min" for the library's metrics, "min" for
        names that end with "loss", "error" or "perplexity". ``fit`` refuses other names without it.

    Raises
    ------
    ValueError
        If ``mode`` is another word. An unknown monitor, or a trainer without a folder, raises when
        `Trainer.fit` begins.

    See Also
    --------
    EarlyStopping : Stop when the number does not improve any more.
    load_trained : Load the model of a checkpoint.

    Notes
    -----
    The first of equal values counts, and NaN never does. On several workers the first one writes
    the file; all of them must have the callback, as they gather the state together.

    Examples
    --------
    >>> import tempfile, extensor as ex
    >>> model, best = ex.nn.Linear(1, 1), ex.train.BestCheckpoint("loss")
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trainer = ex.train.Trainer(
    ...         model, ex.mse_loss, optimizer, callbacks=[best], folder=folder
    ...     )
    ...     history = trainer.fit(ex.ones((4, 1)), ex.ones((4, 1)), epochs=2)
    ...     (trainer.run.checkpoints / "best.safetensors").exists()
    True
    """

    writes: tuple[str, ...] = ("checkpoints/best.safetensors",)

    def __init__(self, monitor: str = "validation_loss", mode: str | None = None) -> None:
        super().__init__(monitor, mode)

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        if self.improved(record):
            trainer.save("best")


class GradientHealth(Callback):
    """Log the norm of each parameter's gradient every few steps.

    The log gets a record with "event": "gradients", the "step", the "norms" by parameter name, and
    in "zero" and "not_finite" the names of the parameters whose gradients are all zeros, or contain
    NaN or infinity. The norms are taken before clipping.

    Parameters
    ----------
    every : int, default 50
        Number of steps between two records, 1 or more.

    See Also
    --------
    Logging : Writes the records. Without it they are lost.

    Examples
    --------
    >>> import tempfile, extensor as ex
    >>> model = ex.nn.Linear(1, 1)
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    >>> callbacks = [ex.train.Logging(), ex.train.GradientHealth(every=1)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trainer = ex.train.Trainer(
    ...         model, ex.mse_loss, optimizer, callbacks=callbacks, folder=folder
    ...     )
    ...     history = trainer.fit(ex.ones((4, 1)), ex.ones((4, 1)), epochs=1)
    ...     log = ex.train.read_log(trainer.run.log)
    >>> next(list(record["norms"]) for record in log if record["event"] == "gradients")
    ['weight', 'bias']
    """

    def __init__(self, every: int = 50) -> None:
        self.every = arguments.integer("GradientHealth", "every", every, 1)

    def wants_gradients(self, trainer: Trainer) -> bool:
        is_own = type(self).gradients_known is not GradientHealth.gradients_known
        return is_own or (trainer.step + 1) % self.every == 0

    def gradients_known(self, trainer: Trainer) -> None:
        step = trainer.step + 1  # the one that is being taken
        if step % self.every:
            return
        norms = {
            name: norm_of([parameter.grad._array], 2.0)
            for name, parameter in trainer.model.named_parameters()
            if parameter.grad is not None
        }
        trainer.log(
            {
                "event": "gradients",
                "step": step,
                "norms": {name: norm for name, norm in norms.items() if isfinite(norm)},
                "zero": [name for name, norm in norms.items() if norm == 0],
                "not_finite": [name for name, norm in norms.items() if not isfinite(norm)],
            }
        )


_REFRESH = 0.1  # seconds between two pictures of the bar
_HIDDEN = ("event", "epoch", "step")


class Progress(Callback):
    """Show the epoch, the loss, samples per second and the time left.

    A terminal gets a bar, redrawn at most ten times a second, and a line for each epoch; a file or
    pipe only the lines. In a notebook a bar is shown below the cell, with a table of the epochs at
    the end, unless a stream is passed.

    Parameters
    ----------
    stream : text file, optional
        Where to write, an object with ``write`` and ``isatty``. Default: standard error.

    Raises
    ------
    TypeError
        If ``stream`` is no text file.

    Notes
    -----
    If the stream fails, for example because the terminal was closed, training continues and nothing
    is shown any more. Of several workers only the first one shows its progress; samples per second
    count those of all workers.

    Examples
    --------
    >>> import io, extensor as ex
    >>> model, stream = ex.nn.Linear(1, 1), io.StringIO()
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    >>> trainer = ex.train.Trainer(
    ...     model, ex.mse_loss, optimizer, callbacks=[ex.train.Progress(stream)]
    ... )
    >>> history = trainer.fit(ex.ones((4, 1)), ex.ones((4, 1)), epochs=1)
    >>> stream.getvalue()[:15]
    'epoch 1/1  loss'
    """

    only_first = True

    def __init__(self, stream: TextIO | None = None) -> None:
        if stream is not None and not (hasattr(stream, "write") and hasattr(stream, "isatty")):
            raise type_error("Progress", "stream must be a text file", stream=type(stream).__name__)
        # There is no standard error if its descriptor was closed.
        self.stream: TextIO | None = sys.stderr if stream is None else stream
        self._is_free = stream is None  # to be shown elsewhere
        self._bar: Any = None
        self._page: Page | None = None

    def fit_began(self, trainer: Trainer) -> None:
        self._samples = 0
        self._begin = self._epoch_begin = time.perf_counter()
        self._first_step = trainer.step
        self._shown = self._begin - _REFRESH
        self._page = open_page() if self._is_free else None
        with self._showing():
            if self._page is not None:
                self._shown = self._begin
                self._show(trainer, self._begin)
            elif self.stream is not None and self.stream.isatty():
                self._bar = self._new_bar()
                self._bar.start()
                self._task = self._bar.add_task("", total=None)

    @contextmanager
    def _showing(self) -> Iterator[None]:
        """A stream that fails is not used again."""
        try:
            yield
        except (OSError, ValueError) as error:
            closed = getattr(self.stream, "closed", False)
            if not (closed or isinstance(error, OSError | UnicodeError)):
                raise
            bar, self._bar, self.stream = self._bar, None, None
            if bar is not None:
                with suppress(OSError, ValueError):
                    bar.stop()  # gives standard output back

    def _new_bar(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        return RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            console=Console(file=exact_stream(self.stream)),
            auto_refresh=False,  # a thread of its own would take time from training
            transient=True,
        )

    def step_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        self._samples += trainer.last_step.samples
        if self._bar is None and self._page is None:
            return
        now = time.perf_counter()
        if now - self._shown >= _REFRESH:
            self._shown = now
            with self._showing():
                self._show(trainer, now)

    def _show(self, trainer: Trainer, now: float) -> None:
        done = trainer.step - self._first_step
        line = f"epoch {trainer.epoch + 1}/{trainer.epochs}  "
        if done:
            left = (trainer.total_steps - trainer.step) * (now - self._begin) / done
            line += (
                f"loss {trainer.running_loss.compute():.4f}  "
                f"{self._rate(now):,.0f} samples/s  {duration(left)} left"
            )
        if self._page is not None:
            view = ProgressView(line, trainer.history, trainer.step, trainer.total_steps)
            if not self._page.show(view):
                self._page = None
            return
        self._bar.update(
            self._task,
            total=trainer.total_steps,
            completed=trainer.step,
            description=line,
            refresh=True,
        )

    def _rate(self, now: float) -> float:
        return self._samples / max(now - self._epoch_begin, 1e-9)

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        now = time.perf_counter()
        numbers = "  ".join(
            f"{key} {value:.4g}"
            for key, value in record.items()
            if isinstance(value, int | float) and key not in _HIDDEN
        )
        line = (
            f"epoch {record['epoch']}/{trainer.epochs}  {numbers}  "
            f"{self._rate(now):,.0f} samples/s  {duration(now - self._epoch_begin)}"
        )
        if self._page is None:  # whose table has the epoch when it is shown next
            self.say(line)
        self._samples = 0
        self._epoch_begin = now

    def say(self, line: str) -> None:
        """Show a line of text; in a notebook it is printed above the bar.

        Parameters
        ----------
        line : str
            The line. Control characters are escaped.
        """
        line = screen_text(line)  # names of metrics, and texts that a model writes
        with self._showing():
            if self._page is not None:
                print(line)
            elif self._bar is not None:
                self._bar.console.print(line, markup=False, highlight=False)
            elif self.stream is not None:
                print(line, file=self.stream, flush=True)

    def fit_ended(self, trainer: Trainer) -> None:
        with self._showing():
            if self._bar is not None:
                self._bar.stop()
        self._bar = None
        if self._page is not None:
            self._page.show(ProgressView(self._summary(trainer), trainer.history))
        self._page = None

    def _summary(self, trainer: Trainer) -> str:
        took = duration(time.perf_counter() - self._begin)
        if trainer.epoch < trainer.epochs and not trainer.stopped:
            return f"ended in epoch {trainer.epoch + 1}/{trainer.epochs}, step {trainer.step:,}, {took}"
        return f"{trainer.epoch} epochs, {trainer.step:,} steps, {took}"


def duration(seconds: float) -> str:
    """Seconds as a person writes them.

    >>> from extensor.train.callbacks import duration
    >>> [duration(x) for x in (0.5, 75, 3700)]
    ['0.5 s', '1:15', '1:01:40']
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Page:
    """A bar, a line and the table of epochs, in the place that ``handle`` stands for."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def show(self, view: ProgressView) -> bool:
        """Show how far training is; False if the notebook does not take it any more."""
        try:
            self._handle.update(view)
        except Exception:  # training does not end because nobody looks
            return False
        return True


class ProgressView:
    """What a notebook is given to show: with colours where it can, else as text."""

    def __init__(
        self, line: str, history: History | None, step: int | None = None, steps: int = 0
    ) -> None:
        self.line = line
        self.history = copy(history)
        self.step = step
        self.steps = steps

    def _repr_html_(self) -> str:
        from html import escape

        table = self.history._repr_html_() if self.history else ""
        line = f'<div style="font-family:monospace;white-space:pre">{escape(self.line)}</div>'
        if self.step is None:
            return f"<div>{table}{line}</div>"
        bar = f'<progress value="{self.step}" max="{self.steps}" style="width:20em"></progress>'
        return f"<div>{bar}{line}{table}</div>"

    def __repr__(self) -> str:
        table = [repr(self.history)] if self.history else []
        return "\n".join([*table, self.line])


def open_page() -> Page | None:
    """A place below the cell that is being run; None if there is none."""
    module: Any = sys.modules.get("IPython")
    shell = module.get_ipython() if hasattr(module, "get_ipython") else None
    if getattr(shell, "kernel", None) is None:
        return None
    try:
        handle = module.display.display(ProgressView("", None), display_id=True)
    except Exception:
        return None
    return None if handle is None else Page(handle)


def checked_callbacks(callbacks: Any, op: str = "Trainer") -> list[Callback]:
    """The callbacks as a list."""
    if isinstance(callbacks, Mapping | str | bytes) or not isinstance(callbacks, Iterable):
        requirement = "callbacks must be a list of callbacks"
        raise type_error(op, requirement, callbacks=arguments.briefly(callbacks))
    several = list(callbacks)
    for index, callback in enumerate(several):
        arguments.instance(op, f"callbacks[{index}]", callback, Callback, "a Callback")
        for other in several[:index]:
            shared = sorted({*other.writes} & {*callback.writes})
            if callback is other or shared:
                what = f" that write {shared[0]}" if shared else ""
                given = type(callback).__name__
                requirement = f"callbacks{what} must be given once"
                raise value_error(op, requirement, **{f"callbacks[{index}]": given})
    return several
