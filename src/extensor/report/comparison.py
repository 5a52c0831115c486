"""Runs beside each other: what each came to, which is best, and what differs in their configurations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extensor import random
from extensor.errors import arguments, type_error, value_error
from extensor.report.curves import (
    LOSS,
    VALIDATION,
    Record,
    direction,
    is_number,
    metric_names,
    of_event,
    said,
    shown,
)
from extensor.report.records import (
    figures_of_test,
    kept_epoch,
    name_of,
    read_records,
    read_settings,
    seconds_of,
)
from extensor.train import RunFolder
from extensor.train.experiments.kinds.parts import TEST
from extensor.train.experiments.kinds.parts import VALIDATION as VALIDATION_PART
from extensor.train.experiments.parts import MODELS, built_model
from extensor.train.experiments.runs import found_run
from extensor.train.progress import duration

_OF_TRAINING = ("loss", LOSS)  # values of the loss that a run is trained with
_DIVIDING = (
    "test", "validation", "test_fraction", "validation_fraction", "stratify", "group", "in_order",
    "window", "horizon", "context",
)  # fmt: skip
_LONGEST = 60  # letters of a value of a configuration


@dataclass(frozen=True)
class Run:
    """What the files of one run say."""

    name: str
    config: Mapping[str, Any]
    epochs: Sequence[Record]
    tests: Mapping[str, float]
    seconds: float | None
    parameters: int | None
    kept: int | None  # the epoch whose weights are handed on, if that is not the last

    def values(self, key: str) -> list[float]:
        """The numbers of that name, one for each epoch that has it."""
        return [record[key] for record in self.epochs if is_number(record.get(key))]

    def handed_on(self, key: str) -> float | None:
        """The number of that name in the epoch that is kept, or the last that there is."""
        if self.kept is None:
            return next(reversed(self.values(key)), None)
        value = next(record.get(key) for record in self.epochs if record["epoch"] == self.kept)
        return value if is_number(value) else None


@dataclass(frozen=True)
class Column:
    """One thing of all runs, None where it is not known, and which of them are the best."""

    name: str
    values: list[str | None]
    best: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Comparison:
    """Runs, what differs between them and what does not.

    ``keys`` are the numbers in the logs that at least two runs share, ``settings`` the entries of
    the configurations that differ.
    """

    runs: list[Run]
    keys: list[str]
    columns: list[Column]
    same: list[Column]
    settings: list[Column]
    notes: list[str]


def compare(runs: Iterable[str | Path]) -> Comparison:
    """Compare runs: folders, or their names in ``runs/``, two or more."""
    if isinstance(runs, str | Path) or not isinstance(runs, Iterable):
        raise type_error("compare", "runs must be a list of folders", runs=arguments.briefly(runs))
    folders = [found_run(run) for run in runs]
    if len(folders) < 2:
        requirement = "there must be two runs or more"
        raise value_error("compare", requirement, runs=[str(run.path) for run in folders])
    places = [folder.path.resolve() for folder in folders]
    for number, place in enumerate(places):
        if place in places[:number]:
            requirement = "runs must differ"
            raise value_error("compare", requirement, twice=str(folders[number].path))
    return _compared(
        [_read(folder, name) for folder, name in zip(folders, _names(folders), strict=True)]
    )


def _names(folders: Sequence[RunFolder]) -> list[str]:
    """The names of the folders, or their paths if some have the same name."""
    names = [folder.path.resolve().name for folder in folders]
    return names if len(set(names)) == len(names) else [str(folder.path) for folder in folders]


def _read(folder: RunFolder, name: str) -> Run:
    records = read_records("compare", folder)
    epochs = [r for r in of_event(records, "epoch") if is_number(r.get("epoch"))]
    if not epochs:
        requirement = "the log of a run must have an epoch (train it first)"
        raise value_error("compare", requirement, run=str(folder.path))
    config = read_settings(folder)
    seconds = seconds_of(folder)
    best = kept_epoch(config, epochs)
    return Run(
        name, config, epochs, figures_of_test(records), seconds, _parameters(config),
        None if best is None else best.epoch,
    )  # fmt: skip


def _parameters(config: Mapping[str, Any]) -> int | None:
    """How many parameters a model of the library has; those of users are not run for this."""
    table = config.get("model")
    if not isinstance(table, dict) or table.get("name") not in MODELS:
        return None
    state = random.get_state()
    try:
        return int(built_model(dict(config), {})[0].num_parameters())
    except (ValueError, TypeError):
        return None
    finally:
        random.set_state(state)


def _compared(runs: list[Run]) -> Comparison:
    known = {key: None for run in runs for key in (LOSS, *metric_names(run.epochs), "loss")}
    having = {key: [run.name for run in runs if run.values(key)] for key in known}
    keys = [key for key, names in having.items() if len(names) > 1]
    alone = [f"{said(key)} ({names[0]})" for key, names in having.items() if len(names) == 1]
    losses = {name_of(run.config, "loss") for run in runs}
    same_loss = len(losses) == 1
    columns = [
        Column("model", [name_of(run.config, "model") for run in runs]),
        Column("data", [name_of(run.config, "data") for run in runs]),
        Column("epochs", [str(run.epochs[-1]["epoch"]) for run in runs]),
        Column("kept epoch", [_text(run.kept, str) for run in runs]),
    ]
    told = [key for key in keys if key.startswith(VALIDATION)] or keys
    for key in told:
        columns += _figures(runs, key, same_loss)
    tests = {key: None for run in runs for key in run.tests}
    columns += [_test(runs, key, same_loss) for key in tests]
    columns += [
        Column("parameters", [_text(run.parameters, "{:,}".format) for run in runs]),
        Column("time", [_text(run.seconds, duration) for run in runs]),
    ]
    columns = [column for column in columns if any(x is not None for x in column.values)]
    same = [column for column in columns if len(set(column.values)) == 1]
    notes = (
        []
        if same_loss
        else ["The runs have different losses, whose values say nothing of each other."]
    )
    if any(run.kept is not None for run in runs):
        notes.append(
            "Kept is the epoch whose weights are handed on: the best of a run that stops early, "
            "otherwise the last."
        )
    if len({name_of(run.config, "data") for run in runs}) > 1:
        notes.append("The runs have different data, so their figures are not of the same samples.")
    elif len({_division(run.config) for run in runs}) > 1:
        notes.append(
            "The runs divide the data differently, so their figures are not of the same samples."
        )
    if alone:
        notes.append(f"In one run only: {', '.join(alone)}.")
    settings = _settings(runs)
    return Comparison(
        runs, keys, [column for column in columns if column not in same], same, settings, notes
    )


def _division(config: Mapping[str, Any]) -> str:
    """What decides which samples are for training, validation and the test."""
    table = config.get("data")
    data = table if isinstance(table, Mapping) else {}
    usual: dict[str, Any] = {"test_fraction": TEST, "stratify": True, "in_order": False}
    if data.get("kind", "arrays") != "arrays":
        usual["validation_fraction"] = VALIDATION_PART
    entries = {key: data.get(key, usual.get(key)) for key in _DIVIDING}
    by_chance = "validation_fraction" in data or (
        "train" in data and not {"test", "validation"} <= set(data)
    )
    return json.dumps([entries, config.get("seed") if by_chance else None], default=str)


def _figures(runs: Sequence[Run], key: str, same_loss: bool) -> list[Column]:
    """The best value of a number and the one that is handed on; without a direction only that."""
    sign = direction(key)
    values = [run.values(key) for run in runs]
    comparable = same_loss or key not in _OF_TRAINING
    word = "last" if all(run.kept is None for run in runs) else "kept"
    handed_on = [run.handed_on(key) for run in runs]
    columns = [_column(f"{word} {said(key)}", key, handed_on, sign * comparable)]
    if sign:
        best = [sign * max(sign * y for y in x) if x else None for x in values]
        column = _column(f"best {said(key)}", key, best, sign * comparable)
        columns = [column, *(columns if word == "last" or best != handed_on else [])]
    return columns


def _test(runs: Sequence[Run], key: str, same_loss: bool) -> Column:
    comparable = same_loss or key not in _OF_TRAINING
    values = [run.tests.get(key) for run in runs]
    return _column(f"test {said(key)}", key, values, direction(key) * comparable)


def _column(name: str, key: str, values: Sequence[float | None], sign: int) -> Column:
    known = [sign * x for x in values if x is not None]
    best = (
        [i for i, x in enumerate(values) if x is not None and sign * x == max(known)]
        if sign and len(known) > 1
        else []
    )
    return Column(name, [_text(x, lambda y: shown(key, y)) for x in values], frozenset(best))


def _text(value: Any, words: Any) -> str | None:
    return None if value is None else str(words(value))


def _settings(runs: Sequence[Run]) -> list[Column]:
    tables = [_flat(run.config) for run in runs]
    keys = {key: None for table in tables for key in table}
    columns = [Column(key, [table.get(key) for table in tables]) for key in keys]
    differing = [column for column in columns if len(set(column.values)) > 1]
    return [Column(c.name, [_cut(value) for value in c.values]) for c in differing]


def _flat(table: Mapping[str, Any], path: str = "") -> dict[str, str]:
    """The entries of a configuration by their whole names, but for how a run was gone on with."""
    flat: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{path}{key}.") if path or key != "resumed" else {}
        else:
            words = isinstance(value, str)
            flat[path + key] = value if words else json.dumps(value, default=str)
    return flat


def _cut(value: str | None) -> str | None:
    return value if value is None or len(value) <= _LONGEST else f"{value[:_LONGEST]} ..."
