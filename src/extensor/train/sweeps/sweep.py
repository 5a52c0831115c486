"""A sweep: its folder, what was asked, and its trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from extensor.errors import type_error, value_error
from extensor.io.atomic import write_atomically
from extensor.io.paths import unreadable
from extensor.io.regular_files import check_own_folder, file_text
from extensor.io.toml import parse_toml
from extensor.train.callback import monitored
from extensor.train.experiments import Experiment, experiment
from extensor.train.experiments.config import Config, nearest, set_entry, stored_config
from extensor.train.experiments.opening import LATEST, resumed_experiment
from extensor.train.experiments.runs import SWEEP
from extensor.train.experiments.user_functions import check_trust
from extensor.train.experiments.wording import PYTHON, Wording
from extensor.train.history import History
from extensor.train.logs import read_log
from extensor.train.metrics import is_falling
from extensor.train.run import RunFolder, as_toml
from extensor.train.sweeps.halving import rungs
from extensor.train.sweeps.results import Result, Results
from extensor.train.sweeps.space import Space

VALIDATION = "validation_"


@dataclass(frozen=True)
class Asked:
    """What was asked of a sweep; ``settings`` are those of the command line, as they were given.

    ``config`` is what stood in the file, so it does not matter if that is changed meanwhile. What it
    leaves open each trial fills up for itself, as a run of its own would, so that all its entries fit
    each other; but all have the same ``epochs``, as the rungs are parts of them: if nobody says how
    many, the most that any of the values asks for. ``keeps_best`` says that trials stop early and
    keep the weights of their best epoch, ``has_validation`` that there are data to choose by.
    """

    settings: list[str]
    trials: int
    seed: int
    halving: bool
    monitor: str
    epochs: int
    title: str
    keeps_best: bool
    has_validation: bool
    config: Config
    file: str | None = None


class Sweep:
    """The folder of a sweep: ``sweep.toml``, ``trials.jsonl``, ``best.toml``, and a run for each trial.

    ``fixed`` are entries of the configuration that all trials have, ``space`` what they differ in.
    """

    def __init__(self, path: Path, asked: Asked, fixed: Mapping[str, Any], space: Space) -> None:
        self.path = path
        self.asked = asked
        self.fixed = dict(fixed)
        self.space = space
        self._values: dict[int, dict[str, Any]] = {}
        self.rungs = rungs(asked.epochs, asked.trials, asked.halving)
        self.results = Results(path / "trials.jsonl", self.rungs, is_falling(asked.monitor))

    def write(self) -> None:
        """Write what was asked."""
        write_atomically(description_of(self.path), as_toml(vars(self.asked)).encode())

    def trial(self, number: int) -> RunFolder:
        """The folder of a trial."""
        width = max(3, len(str(self.asked.trials)))
        return RunFolder(self.path / f"trial-{number:0{width}}")

    def values(self, number: int) -> dict[str, Any]:
        """What is searched, as it is in a trial."""
        if number not in self._values:
            self._values[number] = self.space.values(self.asked.seed, number)
        return dict(self._values[number])

    def changes(self, number: int) -> dict[str, Any]:
        """All that a trial has other than the file."""
        epochs = {} if "epochs" in self.asked.config else {"epochs": self.asked.epochs}
        return {**epochs, **self.fixed, **self.values(number)}

    def check_trust(self, trust: bool, wording: Wording = PYTHON) -> None:
        """Refuse functions that the sweep names in its file, unless the caller trusts it."""
        source = description_of(self.path)
        check_trust(self.asked.config, source, trust, wording)
        searched = [(key, x) for key, d in self.space.dimensions.items() for x in d.ends()]
        for key, value in (*self.fixed.items(), *searched):
            config: Config = {}
            set_entry(config, key, value)
            check_trust(config, source, trust, wording)

    def opened(self, number: int, trust: bool = False, wording: Wording = PYTHON) -> Experiment:
        """The experiment of a trial, new or where it was left."""
        self.check_trust(trust, wording)
        folder = self.trial(number)
        check_own_folder(folder.path)
        if folder.is_run():
            return resumed_experiment(folder, LATEST, (), wording, trust=trust)
        return experiment(self.asked.config, self.changes(number), folder=folder.path)

    def measured(self, number: int, epochs: int) -> Result:
        """The objective of a trial that was trained until ``epochs`` epochs were over.

        Of one that stops early it is that of the epoch whose weights are kept, of others the last.
        """
        run = self.trial(number)
        records = [x for x in read_log(run.log) if x["event"] == "epoch"]
        past = [record for record in records if record["epoch"] <= epochs]
        stopping = stored_config(run.config).get("early_stopping")
        record = past[-1] if stopping is None else _kept(past, stopping)
        value = monitored("sweep", record, self.asked.monitor)
        if isfinite(value):
            loss = record.get(f"{VALIDATION}loss")
            known = isinstance(loss, int | float) and isfinite(loss)
            return Result(number, epochs, value, None, record["epoch"], loss if known else None)
        return Result(number, epochs, None, f"{self.asked.monitor} is {value}")

    def write_best(self) -> Path | None:
        """Write ``best.toml``, the configuration of the best trial, if there is one."""
        best = self.results.best()
        if best is None:
            return None
        place = self.trial(best.trial).config
        config = parse_toml("sweep", file_text(place), place)
        path = self.path / "best.toml"
        write_atomically(path, as_toml(config).encode())
        return path


def _kept(records: list[dict[str, Any]], stopping: Mapping[str, Any]) -> dict[str, Any]:
    """The record of the best epoch, or the last if no epoch has the number to choose by."""
    watched = stopping.get("monitor", f"{VALIDATION}loss")
    known = [x for x in records if isfinite(monitored("sweep", x, watched))]
    if not known:
        return records[-1]
    return History(known).best(watched, "min" if is_falling(watched) else "max")


def description_of(path: Path) -> Path:
    """Where a sweep says what was asked of it."""
    return path / SWEEP


def read_asked(path: Path) -> Asked:
    """What was asked of the sweep in the folder ``path``."""
    place = description_of(path)
    try:
        text = file_text(place)
    except OSError as error:
        raise unreadable("sweep", place, error) from error
    except UnicodeDecodeError as error:
        raise value_error("sweep", f"file must be TOML ({error})", path=str(place)) from None
    table = parse_toml("sweep", text, place)
    kinds = {
        "settings": list, "trials": int, "seed": int, "halving": bool, "monitor": str,
        "epochs": int, "title": str, "keeps_best": bool, "has_validation": bool,
        "config": dict, "file": str,
    }  # fmt: skip
    given = {"file": "", **table}
    for key in {**kinds, **given}:
        if key not in kinds or key not in given or type(given[key]) is not kinds[key]:
            raise type_error("sweep", f"{place} must be as the sweep wrote it", key=key)
    return Asked(**{**given, "file": given["file"] or None})


def chosen_monitor(made: Experiment, name: str | None) -> str:
    """The number that a sweep goes by: ``name``, or the first metric of the validation.

    Without metrics it is the loss.
    """
    known = [f"{VALIDATION}{metric}" for metric in (*made.trainer.metrics, "loss")]
    if name is None:
        return known[0]
    full = name if name.startswith(VALIDATION) else f"{VALIDATION}{name}"
    if full not in known:
        hint = nearest(full, known)
        raise value_error("--monitor", f"must be a number of the validation{hint}", monitor=name)
    return full
