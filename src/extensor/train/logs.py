"""The log of a run: a line of JSON for each event, and a table of the epochs.

What stands in it does not depend on the time of day or on interruptions, so a run that was resumed has
the same log as one that was not. How long things took stands in a file of its own.
"""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from extensor.core import entries
from extensor.errors import arguments, value_error
from extensor.io.atomic import write_atomically
from extensor.io.paths import as_path, unreadable
from extensor.io.regular_files import file_text, open_own
from extensor.train.callback import Callback
from extensor.train.run import RunFolder

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer


class Logging(Callback):
    """Writes ``log.jsonl``, every ``every`` steps and after each epoch, and ``log.csv``."""

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
        """Add a line to the log, which the file has even if this process is killed next."""
        if self._file is not None:
            self._file.write((json.dumps(record, default=_as_list) + "\n").encode())
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
        """How many lines the log has. They are on the disk when this is said.

        Not bytes: two runs may word a line differently, and have the same checkpoints.
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
    """Writes ``timing.jsonl``: how long each epoch took, and how many samples it had in a second.

    Of an epoch that was interrupted it is the time since training went on.
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
        if trainer.figures.by_worker:
            line["workers"] = trainer.figures.by_worker
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
    """The records of a log; a last line that was cut short by a crash is left out."""
    records = []
    try:
        lines = file_text(as_path("read_log", path)).splitlines()
    except UnicodeDecodeError as error:
        raise value_error("read_log", f"file must be text ({error})", path=str(path)) from None
    except OSError as error:
        raise unreadable("read_log", path, error) from error
    for line in lines:
        try:
            records.append(json.loads(line))
        except (ValueError, RecursionError):  # nested too deeply, or a number of too many digits
            break
    return records


def _as_list(value: Any) -> Any:
    return np.asarray(value).tolist()
