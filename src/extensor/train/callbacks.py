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
    """The events of training, in their order; a subclass defines those it is interested in.

    A record is what the log says of a step or an epoch: epoch, step, loss, learning rate and so on.
    ``state_dict`` is what a callback needs to go on in a resumed run. ``writes`` names what it alone
    writes into the folder of the run, which the trainer must have then.
    """

    writes: tuple[str, ...] = ()
    only_first = False  # whether only the first of several workers calls it, as it writes or shows

    def fit_began(self, trainer: Trainer) -> None:
        """Training begins, or goes on from a checkpoint."""

    def gradients_known(self, trainer: Trainer) -> None:
        """The gradients of a step are in ``.grad`` of the parameters, not clipped yet."""

    def wants_gradients(self, trainer: Trainer) -> bool:
        """Whether :meth:`gradients_known` is to be called in this step."""
        return type(self).gradients_known is not Callback.gradients_known

    def step_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        """The optimizer has taken a step."""

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        """An epoch is over, and its validation."""

    def fit_ended(self, trainer: Trainer) -> None:
        """Training is over, or was stopped by an error."""

    def state_dict(self) -> dict[str, Any]:
        """Plain values and arrays, by name."""
        return {}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave."""


def monitored(name: str, record: Mapping[str, Any], monitor: str) -> float:
    """The number called ``monitor`` in the record of an epoch."""
    value = record.get(monitor)
    if not isinstance(value, int | float):
        known = [key for key, x in record.items() if isinstance(x, int | float)]
        raise ValueError(f"{name}: monitor must be one of {known}, got monitor={monitor!r}")
    return float(value)


class BestValue(Callback):
    """Keeps the best value of ``monitor`` and how many epochs have gone by without a better one.

    Without a ``mode``, "min" or "max", the name says it: losses, errors and perplexities should fall.
    """

    def __init__(self, monitor: str, mode: str | None, min_delta: float = 0.0) -> None:
        op = type(self).__name__
        self.monitor = arguments.text(op, "monitor", monitor)
        if mode is None:
            mode = "min" if is_falling(monitor) else "max"
        self.mode = arguments.choice(op, "mode", mode, ("min", "max"))
        self.sign = 1.0 if mode == "min" else -1.0
        self.min_delta = arguments.number(op, "min_delta", min_delta, least=0)
        self.best = self.sign * inf
        self.bad = 0

    def improved(self, record: Mapping[str, Any]) -> bool:
        """Look at the record of an epoch."""
        value = monitored(type(self).__name__, record, self.monitor)
        better = self.sign * value < self.sign * self.best - self.min_delta
        self.best = value if better else self.best
        self.bad = 0 if better else self.bad + 1
        return better

    def state_dict(self) -> dict[str, Any]:
        watched = {"monitor": self.monitor, "mode": self.mode}
        return {**watched, "best": self.best, "bad": self.bad}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """The best of another number says nothing of this one: then it begins anew."""
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
    """Stops training when ``monitor`` has not improved by ``min_delta`` for ``patience`` epochs."""

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
    """Writes ``checkpoints/best.safetensors`` whenever ``monitor`` is better than ever before."""

    writes: tuple[str, ...] = ("checkpoints/best.safetensors",)

    def __init__(self, monitor: str = "validation_loss", mode: str | None = None) -> None:
        super().__init__(monitor, mode)

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        if self.improved(record):
            trainer.save("best")


class GradientHealth(Callback):
    """Logs the norm of each parameter's gradient every ``every`` steps.

    Those that are all zeros, or not finite, are named besides.
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
    """Shows epoch, loss, samples per second and the time left on ``stream``, standard error.

    In a notebook it is a bar below the cell, and in the end a table of the epochs, unless a stream
    is given. When the stream fails, as a terminal that is gone does, training goes on and nothing is
    shown.
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
            if not self._page.show(line, trainer.step, trainer.total_steps, trainer.history):
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
        """Show a line of its own; in a notebook it is printed above the bar."""
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
            self._page.end(self._summary(trainer), trainer.history)
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

    def show(self, line: str, step: int, steps: int, history: History) -> bool:
        """Show how far training is; False if the notebook does not take it any more."""
        return self._update(ProgressView(line, history, step, steps))

    def end(self, line: str, history: History) -> None:
        """Show what has come of it."""
        self._update(ProgressView(line, history))

    def _update(self, shown: ProgressView) -> bool:
        try:
            self._handle.update(shown)
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
