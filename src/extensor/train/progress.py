"""Progress for a person to look at: a bar in a terminal or notebook, elsewhere a line for each epoch."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from extensor.errors import type_error
from extensor.errors.screen import exact_stream, screen_text
from extensor.train.callback import Callback
from extensor.train.notebook import Page, opened_page

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer

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
        self._page = opened_page() if self._is_free else None
        with self._showing():
            if self._page is not None:
                self._shown = self._begin
                self._show(trainer, self._begin)
            elif self.stream is not None and self.stream.isatty():
                self._bar = self._made_bar()
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

    def _made_bar(self) -> Any:
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

    >>> from extensor.train.progress import duration
    >>> [duration(x) for x in (0.5, 75, 3700)]
    ['0.5 s', '1:15', '1:01:40']
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
