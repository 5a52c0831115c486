"""Sweeps: the values of each trial, their results, and the folder that holds both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, floor, inf, isfinite, log, prod
from pathlib import Path
from typing import Any, NamedTuple, get_origin, get_type_hints

import numpy as np

from extensor.errors import type_error, value_error
from extensor.errors.messages import MONITOR_NOT_MEASURED, suggestion
from extensor.experiments.api import LATEST, Experiment, experiment, resumed_experiment
from extensor.experiments.spec import Config, set_entry, stored_config
from extensor.experiments.stored_runs import PYTHON, SWEEP, Wording
from extensor.experiments.user_functions import check_trust
from extensor.io.atomic import write_atomically
from extensor.io.paths import explain_unreadable
from extensor.io.regular_files import check_own_folder, file_text
from extensor.io.toml import as_toml, parse_toml
from extensor.random import permutation, rand
from extensor.random.generator import Generator
from extensor.train.callbacks import monitored
from extensor.train.logs import History, read_log
from extensor.train.metrics import is_falling
from extensor.train.run_folder import RunFolder

_DIGITS = 4  # of a drawn value: more would only be harder to type
_SHUFFLED = 100_000  # combinations that are put into an order as a whole


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included; ``logarithmic``: each decade as often."""

    low: float
    high: float
    logarithmic: bool = False

    def at(self, fraction: float) -> float:
        """The value that has ``fraction``, in [0, 1), of the range below it."""
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        top = self.high + 1 if whole else self.high
        if self.logarithmic:
            value = exp(log(self.low) + fraction * (log(top) - log(self.low)))
        else:
            value = self.low + fraction * (top - self.low)
        value = floor(value) if whole else float(f"{value:.{_DIGITS}g}")
        return min(max(value, self.low), self.high)

    def ends(self) -> list[float]:
        """Values that show whether all of them can be used."""
        return [self.low, self.high]


@dataclass(frozen=True)
class Choices:
    """One of several values."""

    values: tuple[Any, ...]

    def at(self, fraction: float) -> Any:
        """The value that has ``fraction``, in [0, 1), of them before it."""
        return self.values[int(fraction * len(self.values))]

    def ends(self) -> list[Any]:
        """Values that show whether all of them can be used."""
        return list(self.values)


Dimension = Range | Choices


class Space:
    """The keys that are searched, each with its range or its choices.

    >>> from extensor.experiments.sweeps import Choices, Range, Space
    >>> space = Space({"optimizer.lr": Range(1e-4, 1e-1, True), "seed": Choices((0, 1, 2))})
    >>> space.values(seed=0, trial=1)
    {'optimizer.lr': 0.03931, 'seed': 1}
    """

    def __init__(self, dimensions: Mapping[str, Dimension]) -> None:
        self.dimensions = dict(dimensions)
        sizes = [len(d.values) if isinstance(d, Choices) else 0 for d in self.dimensions.values()]
        self.combinations = prod(sizes) or None  # None: there is a range among them

    def values(self, seed: int, trial: int) -> dict[str, Any]:
        """The values of a trial, counted from 1; they depend on its number and ``seed`` alone.

        Choices alone have only so many combinations: then none comes twice.
        """
        if self.combinations is not None and self.combinations <= _SHUFFLED:
            order = permutation(self.combinations, Generator(seed)).tolist()
            return self._combination(order[trial - 1])
        chance = Generator(seed).split(trial)[-1]
        fractions = rand(len(self.dimensions), dtype="float64", generator=chance).tolist()
        dimensions = self.dimensions.items()
        return {key: d.at(x) for (key, d), x in zip(dimensions, fractions, strict=True)}

    def _combination(self, number: int) -> dict[str, Any]:
        choices = {key: dimension.ends() for key, dimension in self.dimensions.items()}
        places = np.unravel_index(number, [len(x) for x in choices.values()], order="F")
        return {key: x[place] for (key, x), place in zip(choices.items(), places, strict=True)}

    def probes(self) -> list[dict[str, Any]]:
        """Trials that show whether all values can be used: together they have every end and choice."""
        ends = {key: dimension.ends() for key, dimension in self.dimensions.items()}
        # Another seed needs no proof; there may be many.
        most = max(2 if key == "seed" else len(values) for key, values in ends.items())
        return [
            {key: values[place % len(values)] for key, values in ends.items()}
            for place in range(most)
        ]


_FACTOR = 3


class Rung(NamedTuple):
    """``trials`` trials are trained until ``epochs`` epochs are over."""

    epochs: int
    trials: int


def rungs(epochs: int, trials: int, halving: bool = True) -> list[Rung]:
    """From the first rung to the last, which has all the epochs and at least two trials.

    >>> from extensor.experiments.sweeps import rungs
    >>> rungs(40, 20)
    [Rung(epochs=4, trials=20), Rung(epochs=13, trials=7), Rung(epochs=40, trials=3)]
    """
    lengths, left = [epochs], [trials]
    while halving and left[-1] > _FACTOR and lengths[-1] >= _FACTOR:
        lengths.append(lengths[-1] // _FACTOR)
        left.append(-(-left[-1] // _FACTOR))
    return [Rung(*rung) for rung in zip(reversed(lengths), left, strict=True)]


class Result(NamedTuple):
    """The objective of a trial at the end of a rung, or why it failed there.

    ``epoch`` is the one that ``value`` is of, and ``loss`` the validation's in it, if they are known.
    """

    trial: int
    epochs: int
    value: float | None
    failed: str | None = None
    epoch: int | None = None
    loss: float | None = None


class Results:
    """The file ``trials.jsonl``: a line for each trial and rung, in their order.

    It does not depend on which trial was faster, nor on interruptions.
    """

    def __init__(self, path: Path, rungs: Sequence[Rung], falling: bool) -> None:
        self.path = path
        self.rungs = list(rungs)
        self.falling = falling
        self._results: dict[tuple[int, int], Result] = {}
        for record in read_log(path) if path.exists() else ():
            result = self._read_line(record)
            self._results[result.epochs, result.trial] = result

    def _read_line(self, record: Any) -> Result:
        """A line of the file, or an error if it is none of this sweep."""
        trial, epochs, value, failed, epoch, loss = (
            record.get(key) if isinstance(record, dict) else None for key in Result._fields
        )
        if (
            not isinstance(trial, int)
            or not 1 <= trial <= self.rungs[0].trials
            or epochs not in [rung.epochs for rung in self.rungs]
            or _is_number(value) == isinstance(failed, str)
            or not (epoch is None or isinstance(epoch, int))
            or not (loss is None or _is_number(loss))
        ):
            raise value_error(
                "sweep", f"{self.path} must be as the sweep wrote it", line=json.dumps(record)[:80]
            )
        return Result(trial, epochs, value, failed, epoch, loss)

    def add(self, result: Result) -> None:
        """Keep a result, on the disk too."""
        self._results[result.epochs, result.trial] = result
        lines = [
            json.dumps(
                {key: x for key, x in self._results[place]._asdict().items() if x is not None}
            )
            for place in sorted(self._results)
        ]
        write_atomically(self.path, ("\n".join(lines) + "\n").encode())

    def waiting(self) -> tuple[Rung, list[int]] | None:
        """The first rung with trials left to train, and these trials, or None.

        If too many trials failed, a rung has fewer than planned.
        """
        members = list(range(1, self.rungs[0].trials + 1))
        for place, rung in enumerate(self.rungs):
            left = [trial for trial in members if (rung.epochs, trial) not in self._results]
            if left:
                return rung._replace(trials=len(members)), left
            if place + 1 < len(self.rungs):
                best = self._ranked(self._results[rung.epochs, trial] for trial in members)
                members = sorted(x.trial for x in best[: self.rungs[place + 1].trials])
        return None

    def _ranked(self, results: Any) -> list[Result]:
        """The results without failures, the best first.

        Ties, which are frequent among accuracies of few samples, go to the lower loss, then to the first
        trial.
        """
        sign = 1.0 if self.falling else -1.0

        def key(result: Result) -> tuple[float, float, int]:
            assert result.value is not None
            return sign * result.value, inf if result.loss is None else result.loss, result.trial

        return sorted((result for result in results if result.value is not None), key=key)

    def standing(self) -> list[Result]:
        """The last result of each trial, by rung and then by value. Failed trials come last."""
        last = {result.trial: result for _, result in sorted(self._results.items())}
        ranked = self._ranked(last.values())
        ranked.sort(key=lambda result: -result.epochs)
        failed = [result for _, result in sorted(last.items()) if result.value is None]
        return ranked + failed

    def best(self) -> Result | None:
        """The best result of the last rung that was reached, if any trial did not fail."""
        return next((result for result in self.standing() if result.value is not None), None)

    def of(self, trial: int) -> list[Result]:
        """The results of a trial, one for each rung it was trained in."""
        return [result for (_, number), result in sorted(self._results.items()) if number == trial]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and isfinite(value)


VALIDATION = "validation_"


@dataclass(frozen=True)
class Asked:
    """The settings of a sweep. ``settings`` are the arguments of the command line.

    ``config`` is a copy of the configuration file, which may change later. Each trial completes it like
    a single run, so its entries fit each other. All trials have the same ``epochs``, which the rungs
    divide. By default it is the largest default of any value. ``keeps_best`` tells whether trials stop
    early and keep their best weights, ``has_validation`` whether there are validation data.
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

    ``fixed`` are the entries that all trials share, ``space`` those that differ.
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
        """Write the settings."""
        write_atomically(description_of(self.path), as_toml(vars(self.asked)).encode())

    def trial(self, number: int) -> RunFolder:
        """The folder of a trial."""
        width = max(3, len(str(self.asked.trials)))
        return RunFolder(self.path / f"trial-{number:0{width}}")

    def values(self, number: int) -> dict[str, Any]:
        """The values that are searched, in one trial."""
        if number not in self._values:
            self._values[number] = self.space.values(self.asked.seed, number)
        return dict(self._values[number])

    def changes(self, number: int) -> dict[str, Any]:
        """The entries in which a trial differs from the file."""
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
        """The objective of a trial after ``epochs`` epochs.

        It is that of the last epoch, or for early stopping that of the epoch whose weights are kept.
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
    """The file with the settings of a sweep."""
    return path / SWEEP


def read_asked(path: Path) -> Asked:
    """Read the settings of the sweep in the folder ``path``."""
    place = description_of(path)
    try:
        with explain_unreadable("sweep", place):
            text = file_text(place)
    except UnicodeDecodeError as error:
        raise value_error("sweep", f"file must be TOML ({error})", path=str(place)) from None
    table = parse_toml("sweep", text, place)
    hints = {**get_type_hints(Asked), "file": str}
    kinds = {key: get_origin(hint) or hint for key, hint in hints.items()}
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
        raise MONITOR_NOT_MEASURED.error(suggestion(full, known), monitor=name)
    return full
