"""The log of a run: a line of JSON for each event, a table of the epochs, and TensorBoard's events.

What stands in it does not depend on the time of day or on interruptions, so a run that was resumed has
the same log as one that was not. How long things took stands in a file of its own.
"""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Iterable, Mapping
from math import isnan
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extensor.core import entries
from extensor.errors import arguments, type_error, value_error
from extensor.errors.suggestions import nearest
from extensor.io.atomic import write_atomically
from extensor.io.paths import as_path, explain_unreadable
from extensor.io.regular_files import file_text, open_own
from extensor.train.callbacks import Callback, GradientHealth, Progress
from extensor.train.evaluation import plain
from extensor.train.metrics.registry import best_mode
from extensor.train.run_folder import RunFolder

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer

_ROWS = 20  # of a table that is shown
_EVENT = "event"


class History(list[dict[str, Any]]):
    """The records of a run's epochs, oldest first: a list of dicts that is displayed as a table.

    `Trainer.fit` returns it, and ``trainer.history`` has it while training lasts. A resumed run has
    the epochs before the interruption too.

    Parameters
    ----------
    records : iterable of dict, default ()
        The records. They have "event", "epoch" and "step", counted from 1, "loss", "lr", the
        training metrics by name, and "validation_loss" and "validation_<metric>" if there were
        validation data.

    Raises
    ------
    TypeError
        If `records` is no list of dicts.

    Examples
    --------
    >>> from extensor.train import History
    >>> history = History([{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}])
    >>> history
    epoch  loss
        1   0.5
        2  0.25
    >>> history.best("loss")["epoch"]
    2
    >>> history.column("loss")
    [0.5, 0.25]
    """

    def __init__(self, records: Iterable[dict[str, Any]] = ()) -> None:
        is_list = isinstance(records, Iterable) and not isinstance(records, str | bytes | Mapping)
        several = list(records) if is_list else []
        if not is_list or not all(isinstance(record, dict) for record in several):
            given = arguments.briefly(records)
            raise type_error("History", "records must be a list of dicts", records=given)
        super().__init__(several)

    def column(self, name: str) -> list[Any]:
        """Return one value of each epoch.

        Parameters
        ----------
        name : str
            Name of the value, such as "validation_loss".

        Returns
        -------
        list
            The values, oldest first; None for an epoch without one.

        Raises
        ------
        ValueError
            If no epoch has the name.
        """
        name = arguments.text("column", "name", name)
        if not any(name in record for record in self):
            known = self._names()
            raise value_error("column", f"name must be in the log{nearest(name, known)}", name=name)
        return [record.get(name) for record in self]

    def best(self, monitor: str = "validation_loss", mode: str | None = None) -> dict[str, Any]:
        """Return the record of the best epoch, the first of equals.

        Parameters
        ----------
        monitor : str, default "validation_loss"
            Name of the number to compare. NaN is left out.
        mode : {"min", "max"}, optional
            Whether less or more is better. Default: "min" for names that end with "loss", "error"
            or "perplexity", "max" for accuracy and the other known metrics.

        Returns
        -------
        dict
            The record.

        Raises
        ------
        ValueError
            If no epoch has such a number, or if `mode` is needed for it.
        """
        mode = best_mode("best", monitor, mode)
        values = zip(self, self.column(monitor), strict=True)
        known = [x for x, value in values if isinstance(value, int | float) and not isnan(value)]
        if not known:
            raise value_error("best", "monitor must be a number in some epoch", monitor=monitor)
        return (min if mode == "min" else max)(known, key=itemgetter(monitor))

    def to_pandas(self) -> Any:
        """Return the records as a pandas ``DataFrame``, with a row for each epoch.

        Returns
        -------
        pandas.DataFrame
            The table, without the column "event".

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            from pandas import DataFrame  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            requirement = "to_pandas: pandas must be installed, see pip install pandas"
            raise ImportError(requirement) from None
        return DataFrame(list(self)).drop(columns=_EVENT, errors="ignore")

    def _names(self) -> list[str]:
        return list({name: None for record in self for name in record if name != _EVENT})

    def _cells(self) -> list[list[str]]:
        """The numbers as a table of texts: names first, then the last epochs."""
        kinds = int | float
        names = [x for x in self._names() if any(isinstance(row.get(x), kinds) for row in self)]
        rows = [[_text(record.get(name)) for name in names] for record in self[-_ROWS:]]
        return [names, *rows]

    def __repr__(self) -> str:
        cells = self._cells()
        if not cells[0]:
            return list.__repr__(self)
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in cells
        ]
        return "\n".join([*_left_out(self), *lines])

    def _repr_html_(self) -> str:
        from html import escape

        cells = self._cells()
        head, *rows = (
            "".join(f"<{tag}>{escape(text)}</{tag}>" for text in row)
            for row, tag in zip(cells, ["th"] + ["td"] * (len(cells) - 1), strict=True)
        )
        caption = "".join(f"<caption>{escape(text)}</caption>" for text in _left_out(self))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _left_out(history: History) -> list[str]:
    return [f"the last {_ROWS} of {len(history)} epochs"] if len(history) > _ROWS else []


def _text(value: Any) -> str:
    if isinstance(value, bool | int):
        return str(value)
    return f"{value:.4g}" if isinstance(value, float) else ""


_SUFFIX = ".extensor"  # of files that TensorBoard has written, and may cut
_HEAD, _TAIL = 12, 4  # bytes around each record: its length and a checksum, another checksum


class Logging(Callback):
    """Write the log of the run: ``log.jsonl`` and ``log.csv`` in the run folder.

    ``log.jsonl`` has a line of JSON for each record: steps, epochs, and events such as those of
    `GradientHealth`. ``log.csv`` is a table of the epochs.

    Parameters
    ----------
    every : int, default 50
        Number of steps between two records of steps, 1 or more. Epochs are always written.

    Raises
    ------
    ValueError
        If `every` is less than 1. A trainer without a folder raises when `Trainer.fit` begins.

    See Also
    --------
    read_log : Read ``log.jsonl``.

    Notes
    -----
    A line is in the file even if the process is killed right after. The log contains no times, and
    a resumed run first cuts it back to its checkpoint: in the end it is the same as without the
    interruption. Of several workers the first one writes.

    Examples
    --------
    >>> import tempfile, extensor as ex
    >>> model, logging = ex.nn.Linear(1, 1), ex.train.Logging(every=1)
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trainer = ex.train.Trainer(
    ...         model, ex.mse_loss, optimizer, callbacks=[logging], folder=folder
    ...     )
    ...     history = trainer.fit(ex.ones((4, 1)), ex.ones((4, 1)), epochs=2)
    ...     [record["event"] for record in ex.train.read_log(trainer.run.log)]
    ['step', 'epoch', 'step', 'epoch']
    """

    writes = ("log.jsonl", "log.csv")
    only_first = True

    def __init__(self, every: int = 50) -> None:
        self.every = arguments.integer("Logging", "every", every, 1)
        self._file: io.BufferedRandom | None = None
        self._lines = 0
        self._length: int | None = None  # in bytes, which older checkpoints have instead of lines

    def fit_began(self, trainer: Trainer) -> None:
        path = run_of(trainer, "Logging").log
        # What was logged after the checkpoint that training goes on from, is logged again.
        self._file = open(path, "r+b", opener=_open_or_make)  # noqa: SIM115
        self._file.truncate(self._end(path.stat().st_size))
        self._file.seek(0)
        self._lines, self._length = sum(1 for _ in self._file), None
        self._file.seek(0, os.SEEK_END)
        self._write_table(trainer)

    def _end(self, size: int) -> int:
        """Where the log that belongs to the checkpoint ends; the file may be shorter."""
        assert self._file is not None
        if self._length is not None:
            return min(self._length, size)
        for _ in range(self._lines):
            self._file.readline()
        return self._file.tell()

    def write(self, record: Mapping[str, Any]) -> None:
        """Add a line to the log. Nothing happens while no training runs.

        Parameters
        ----------
        record : mapping of str to object
            Numbers, strings, arrays, and lists and dicts of these.
        """
        if self._file is not None:
            self._file.write((json.dumps(record, default=plain) + "\n").encode())
            self._file.flush()
            self._lines += 1

    def step_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        if record["step"] % self.every == 0:
            self.write(record)

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        self.write(record)
        self._write_table(trainer)

    def _write_table(self, trainer: Trainer) -> None:
        """The table is small, and written anew each time: so its columns may change."""
        rows = [
            {key: value for key, value in record.items() if isinstance(value, int | float)}
            for record in trainer.history
        ]
        text = io.StringIO()
        writer = csv.DictWriter(text, list({key: None for row in rows for key in row}))
        writer.writeheader()
        writer.writerows(rows)
        write_atomically(run_of(trainer, "Logging").table, text.getvalue().encode())

    def state_dict(self) -> dict[str, Any]:
        """Return the number of lines in the log, which are on the disk then.

        Returns
        -------
        dict
            The number as "lines".
        """
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
        return {"lines": self._lines} if self._length is None else {"length": self._length}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        op = "Logging.load_state_dict"
        key = "length" if "length" in entries.mapping(op, state_dict) else "lines"
        given = entries.with_keys(op, state_dict, [key])
        count = entries.count(op, key, given[key])
        self._lines, self._length = (0, count) if key == "length" else (count, None)

    def fit_ended(self, trainer: Trainer) -> None:
        if self._file is not None:
            self.state_dict()
            self._file.close()
            self._file = None


class Timing(Callback):
    """Write ``timing.jsonl``: how long each epoch took, and its samples per second.

    Each line is a record with "epoch", "seconds", a wall-clock time that includes the validation,
    and "samples_per_second". With several workers "workers" has the figures of each.

    See Also
    --------
    Logging : The log without times, which is the same in every run.

    Notes
    -----
    The trainer must have a folder. For an epoch that was interrupted the time is that since the run
    was resumed. Of several workers the first one writes.

    Examples
    --------
    >>> import tempfile, extensor as ex
    >>> model = ex.nn.Linear(1, 1)
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trainer = ex.train.Trainer(
    ...         model, ex.mse_loss, optimizer, callbacks=[ex.train.Timing()], folder=folder
    ...     )
    ...     history = trainer.fit(ex.ones((4, 1)), ex.ones((4, 1)), epochs=2)
    ...     [sorted(line) for line in ex.train.read_log(trainer.run.timing)][0]
    ['epoch', 'samples_per_second', 'seconds']
    """

    writes = ("timing.jsonl",)
    only_first = True

    def fit_began(self, trainer: Trainer) -> None:
        self._path = run_of(trainer, "Timing").timing
        if self._path.exists():
            # Epochs after the checkpoint that training goes on from, and a line cut short, go.
            past = [line for line in read_log(self._path) if line["epoch"] <= trainer.epoch]
            text = "".join(json.dumps(line) + "\n" for line in past)
            write_atomically(self._path, text.encode())
        self._restart()

    def _restart(self) -> None:
        self._begin = time.perf_counter()
        self._samples = 0

    def step_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        self._samples += trainer.last_step.samples

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        seconds = time.perf_counter() - self._begin
        line: dict[str, Any] = {
            "epoch": record["epoch"],
            "seconds": seconds,
            "samples_per_second": self._samples / seconds,
        }
        if trainer.take_step.worker_figures:
            line["workers"] = trainer.take_step.worker_figures
        with open(self._path, "a", encoding="utf-8", opener=open_own) as file:
            file.write(json.dumps(line) + "\n")
        self._restart()


def _open_or_make(path: str, flags: int) -> int:
    return open_own(path, flags | os.O_CREAT)


def run_of(trainer: Trainer, name: str) -> RunFolder:
    """The folder of the trainer's run, which ``name`` writes into."""
    if trainer.run is None:
        raise value_error(name, "the trainer must have a folder", folder=None)
    return trainer.run


def read_log(path: str | Path) -> list[dict[str, Any]]:
    r"""Read a file with a record of JSON on each line, such as ``log.jsonl`` or ``timing.jsonl``.

    Parameters
    ----------
    path : str or Path
        The file, for example ``trainer.run.log``.

    Returns
    -------
    list of dict
        The records. A line that was cut short by a crash ends the list.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no text.

    Examples
    --------
    >>> import tempfile, pathlib, extensor as ex
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log.jsonl"
    ...     _ = path.write_text('{"event": "epoch", "epoch": 1}\n{"event": "epo')
    ...     ex.train.read_log(path)
    [{'event': 'epoch', 'epoch': 1}]
    """
    records = []
    try:
        with explain_unreadable("read_log", path):
            lines = file_text(as_path("read_log", path)).splitlines()
    except UnicodeDecodeError as error:
        raise value_error("read_log", f"file must be text ({error})", path=str(path)) from None
    for line in lines:
        try:
            records.append(json.loads(line))
        except (ValueError, RecursionError):  # nested too deeply, or a number of too many digits
            break
    return records


class TensorBoard(Callback):
    """Write the numbers of steps and epochs for TensorBoard.

    The files ``events.*`` in the run folder have curves named "step/loss", "epoch/validation_loss"
    and so on, over the number of steps.

    Parameters
    ----------
    every : int, default 50
        Number of steps between two points of the step curves, 1 or more.

    Raises
    ------
    ImportError
        When `Trainer.fit` begins, if tensorboardX is not installed (``pip install
        extensor[tensorboard]``).
    ValueError
        If `every` is less than 1. A trainer without a folder raises when `Trainer.fit` begins.

    Notes
    -----
    A resumed run first cuts the files back to its checkpoint, so no step appears twice. Of several
    workers the first one writes.

    Examples
    --------
    >>> import extensor as ex
    >>> callbacks = [*ex.train.default_callbacks(folder=True), ex.train.TensorBoard(every=10)]
    >>> callbacks[-1].every
    10
    """

    writes = ("events",)
    only_first = True

    def __init__(self, every: int = 50) -> None:
        self.every = arguments.integer("TensorBoard", "every", every, 1)
        self._writer: Any = None

    def fit_began(self, trainer: Trainer) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise ImportError(
                "TensorBoard: tensorboardX must be installed, see pip install extensor[tensorboard]"
            ) from None
        folder = run_of(trainer, "TensorBoard").path
        for path in sorted(folder.glob(f"events.*{_SUFFIX}")):
            with open(path, "r+b", opener=open_own) as file:
                file.truncate(_events_length(file.read(), trainer.step))
        # Named by the second alone, a file of the same second would be written over.
        suffix = f".{trainer.step}{_SUFFIX}"
        self._writer = SummaryWriter(str(folder), filename_suffix=suffix)

    def step_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        if record["step"] % self.every == 0:
            self._write("step", record)

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        self._write("epoch", record)

    def _write(self, kind: str, record: Mapping[str, Any]) -> None:
        for key, value in record.items():
            if isinstance(value, float):
                self._writer.add_scalar(f"{kind}/{key}", value, record["step"])

    def state_dict(self) -> dict[str, Any]:
        """Write what is buffered to the disk; the state itself is empty.

        Returns
        -------
        dict
            An empty dict.
        """
        if self._writer is not None:
            self._writer.flush()
        return {}

    def fit_ended(self, trainer: Trainer) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _events_length(content: bytes, step: int) -> int:
    """How much of a file is of steps up to ``step``, and whole."""
    from tensorboardX.proto.event_pb2 import Event  # type: ignore[import-untyped, unused-ignore]

    place = 0
    while place + _HEAD <= len(content):
        end = place + _HEAD + int.from_bytes(content[place : place + 8], "little") + _TAIL
        if end > len(content):
            break
        try:
            event = Event.FromString(content[place + _HEAD : end - _TAIL])
        except Exception:  # of a library that this one uses, by many names
            break
        if event.step > step:
            break
        place = end
    return place


def default_callbacks(folder: bool) -> list[Callback]:
    """Return the callbacks of a trainer that is given none.

    Parameters
    ----------
    folder : bool
        Whether the trainer has a folder.

    Returns
    -------
    list of Callback
        `Logging`, `Timing` and `GradientHealth` if there is a folder; then `Progress`.

    Examples
    --------
    >>> import extensor as ex
    >>> [type(callback).__name__ for callback in ex.train.default_callbacks(folder=True)]
    ['Logging', 'Timing', 'GradientHealth', 'Progress']
    """
    given = arguments.flag("default_callbacks", "folder", folder)
    written = [Logging(), Timing(), GradientHealth()] if given else []
    return [*written, Progress()]
