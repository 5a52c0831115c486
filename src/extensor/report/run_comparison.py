"""Comparison of runs: results, the best, differences in configurations; as a table or a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

from extensor.data.splitting import TEST
from extensor.data.splitting import VALIDATION as VALIDATION_PART
from extensor.errors import arguments, type_error, value_error
from extensor.errors.screen import aligned, screen_line
from extensor.experiments.build import build_model
from extensor.experiments.factories import MODELS
from extensor.experiments.spec import ExperimentSpec, NamedSpec, stored_config
from extensor.experiments.stored_runs import find_run, flat
from extensor.random.generator import Generator, drawing_from
from extensor.report.chart import UNKNOWN, Chart, Series
from extensor.report.document import TableCell, chart_section, document, element, section, table
from extensor.report.run_records import (
    LOSS,
    VALIDATION,
    Record,
    display_value,
    figures_of_test,
    is_number,
    kept_epoch,
    metric_names,
    metric_title,
    name_of,
    of_event,
    points,
    read_records,
    seconds_of,
)
from extensor.train import RunFolder
from extensor.train.callbacks import duration
from extensor.train.metrics.registry import direction_of, display_name

_LOSSES = ("loss", LOSS)  # values of the loss that a run is trained with
_SPLIT_KEYS = (
    "test", "validation", "test_fraction", "validation_fraction", "stratify", "group", "in_order",
    "window", "horizon", "context",
)  # fmt: skip
_LONGEST = 60  # letters of a value of a configuration
_NARROW = 4  # columns; more need the whole width of the page
_HEAD = 10  # letters of a heading in a line, if the column is not wider
_UNBROKEN = 24  # letters of a word in a heading, such as the name of a run, that is not broken


@dataclass(frozen=True)
class Run:
    """The content of the files of one run."""

    name: str
    config: Mapping[str, Any]
    epochs: Sequence[Record]
    tests: Mapping[str, float]
    seconds: float | None
    parameters: int | None
    kept: int | None  # the epoch whose weights are kept, if that is not the last

    def values(self, key: str) -> list[float]:
        """The numbers of that name, one for each epoch that has it."""
        return [record[key] for record in self.epochs if is_number(record.get(key))]

    def kept_value(self, key: str) -> float | None:
        """The number of that name in the epoch that is kept, or the last one."""
        if self.kept is None:
            return next(reversed(self.values(key)), None)
        value = next(record.get(key) for record in self.epochs if record["epoch"] == self.kept)
        return value if is_number(value) else None


@dataclass(frozen=True)
class ComparisonColumn:
    """One property of all runs, None where it is unknown, and which runs are the best."""

    name: str
    values: list[str | None]
    best: frozenset[int] = frozenset()


@dataclass(frozen=True)
class RunComparison:
    """Runs, and the properties in which they differ or agree.

    ``keys`` are the numbers in the logs that at least two runs share, ``settings`` the entries of
    the configurations that differ.
    """

    runs: list[Run]
    keys: list[str]
    columns: list[ComparisonColumn]
    same: list[ComparisonColumn]
    settings: list[ComparisonColumn]
    notes: list[str]


def compare(runs: Iterable[str | Path]) -> RunComparison:
    """Compare runs: folders, or their names in ``runs/``, two or more."""
    if isinstance(runs, str | Path) or not isinstance(runs, Iterable):
        raise type_error("compare", "runs must be a list of folders", runs=arguments.briefly(runs))
    folders = [find_run(run) for run in runs]
    if len(folders) < 2:
        requirement = "there must be two runs or more"
        raise value_error("compare", requirement, runs=[str(run.path) for run in folders])
    places = [folder.path.resolve() for folder in folders]
    for number, place in enumerate(places):
        if place in places[:number]:
            requirement = "runs must differ"
            raise value_error("compare", requirement, twice=str(folders[number].path))
    names = [place.name for place in places]
    if len(set(names)) < len(names):
        names = [str(folder.path) for folder in folders]
    return _comparison([_read(*pair) for pair in zip(folders, names, strict=True)])


def _read(folder: RunFolder, name: str) -> Run:
    records = read_records("compare", folder)
    epochs = [r for r in of_event(records, "epoch") if is_number(r.get("epoch"))]
    if not epochs:
        requirement = "the log of a run must have an epoch (train it first)"
        raise value_error("compare", requirement, run=str(folder.path))
    config = stored_config(folder.config)
    seconds = seconds_of(folder)
    best = kept_epoch(config, epochs)
    return Run(
        name, config, epochs, figures_of_test(records), seconds, _parameters(config),
        None if best is None else best.epoch,
    )  # fmt: skip


def _parameters(config: Mapping[str, Any]) -> int | None:
    """The number of parameters of a model of the library; users' models are not run for this."""
    table = config.get("model")
    if not isinstance(table, dict) or table.get("name") not in MODELS:
        return None
    try:
        with drawing_from(Generator(0)):  # building a model draws its weights
            return int(build_model(ExperimentSpec(model=NamedSpec(table)), {})[0].num_parameters())
    except (ValueError, TypeError):
        return None


def _comparison(runs: list[Run]) -> RunComparison:
    known = {key: None for run in runs for key in (LOSS, *metric_names(run.epochs), "loss")}
    owners = {key: [run.name for run in runs if run.values(key)] for key in known}
    keys = [key for key, names in owners.items() if len(names) > 1]
    columns = _columns(runs, keys)
    same = [column for column in columns if len(set(column.values)) == 1]
    differing = [column for column in columns if column not in same]
    notes = _notes(runs)
    alone = [f"{display_name(key)} ({x[0]})" for key, x in owners.items() if len(x) == 1]
    if alone:
        notes.append(f"In one run only: {', '.join(alone)}.")
    return RunComparison(runs, keys, differing, same, _setting_columns(runs), notes)


def _text(value: Any, as_text: Callable[[Any], str]) -> str | None:
    return None if value is None else as_text(value)


_IDENTITY: dict[str, Callable[[Run], str | None]] = {
    "model": lambda run: name_of(run.config, "model"),
    "data": lambda run: name_of(run.config, "data"),
    "epochs": lambda run: str(run.epochs[-1]["epoch"]),
    "kept epoch": lambda run: _text(run.kept, str),
}
_COSTS: dict[str, Callable[[Run], str | None]] = {
    "parameters": lambda run: _text(run.parameters, "{:,}".format),
    "time": lambda run: _text(run.seconds, duration),
}


def _columns(runs: Sequence[Run], keys: Sequence[str]) -> list[ComparisonColumn]:
    """The properties that at least one run has: names, numbers of validation and test, costs."""
    columns = _property_columns(runs, _IDENTITY)
    same_loss = _have_same_loss(runs)
    for key in [key for key in keys if key.startswith(VALIDATION)] or keys:
        columns += _epoch_columns(runs, key, same_loss)
    for key in {key: None for run in runs for key in run.tests}:
        sign = direction_of(key) * (same_loss or key not in _LOSSES)
        values = [run.tests.get(key) for run in runs]
        columns.append(_number_column(f"test {display_name(key)}", key, values, sign))
    columns += _property_columns(runs, _COSTS)
    return [column for column in columns if any(x is not None for x in column.values)]


def _property_columns(
    runs: Sequence[Run], properties: Mapping[str, Callable[[Run], str | None]]
) -> list[ComparisonColumn]:
    return [ComparisonColumn(name, [of(run) for run in runs]) for name, of in properties.items()]


def _have_same_loss(runs: Sequence[Run]) -> bool:
    return len({name_of(run.config, "loss") for run in runs}) == 1


def _notes(runs: Sequence[Run]) -> list[str]:
    """Reasons to read the numbers with care."""
    notes = []
    if not _have_same_loss(runs):
        notes.append("The runs have different losses, whose values cannot be compared.")
    if any(run.kept is not None for run in runs):
        notes.append(
            "The kept epoch is the one that evaluate and predict use: the best one if the run stops "
            "early, otherwise the last."
        )
    if len({name_of(run.config, "data") for run in runs}) > 1:
        notes.append("The runs have different data, so their scores are not for the same samples.")
    elif len({_split_key(run.config) for run in runs}) > 1:
        notes.append(
            "The runs divide the data differently, so their scores are not for the same samples."
        )
    return notes


def _split_key(config: Mapping[str, Any]) -> str:
    """The settings that decide which samples are for training, validation and the test."""
    table = config.get("data")
    data = table if isinstance(table, Mapping) else {}
    usual: dict[str, Any] = {"test_fraction": TEST, "stratify": True, "in_order": False}
    if data.get("kind", "arrays") != "arrays":
        usual["validation_fraction"] = VALIDATION_PART
    entries = {key: data.get(key, usual.get(key)) for key in _SPLIT_KEYS}
    # The seed matters only where a part is drawn at random.
    is_random = "validation_fraction" in data or (
        "train" in data and not {"test", "validation"} <= set(data)
    )
    return json.dumps([entries, config.get("seed") if is_random else None], default=str)


def _epoch_columns(runs: Sequence[Run], key: str, same_loss: bool) -> list[ComparisonColumn]:
    """The best value of a number and the kept one; without a direction only the kept one."""
    sign = direction_of(key)
    marked_sign = sign * (same_loss or key not in _LOSSES)
    word = "last" if all(run.kept is None for run in runs) else "kept"
    kept = [run.kept_value(key) for run in runs]
    columns = [_number_column(f"{word} {display_name(key)}", key, kept, marked_sign)]
    if sign:
        best = [best_value(run.values(key), sign) for run in runs]
        column = _number_column(f"best {display_name(key)}", key, best, marked_sign)
        columns = [column, *(columns if word == "last" or best != kept else [])]
    return columns


def best_value(values: Sequence[float], sign: int) -> float | None:
    """The highest value if ``sign`` is 1, the lowest if it is -1."""
    return sign * max(sign * value for value in values) if values else None


def _number_column(
    name: str, key: str, values: Sequence[float | None], sign: int
) -> ComparisonColumn:
    known = [sign * x for x in values if x is not None]
    best = [i for i, x in enumerate(values) if x is not None and sign * x == max(known)]
    texts = [_text(x, lambda y: display_value(key, y)) for x in values]
    return ComparisonColumn(name, texts, frozenset(best if sign and len(known) > 1 else ()))


def _setting_columns(runs: Sequence[Run]) -> list[ComparisonColumn]:
    tables = [{key: _setting_text(x) for key, x in flat(run.config).items()} for run in runs]
    rows = {key: [each.get(key) for each in tables] for table in tables for key in table}
    return [
        ComparisonColumn(key, [_text(x, _shorten) for x in row])
        for key, row in rows.items()
        if len(set(row)) > 1
    ]


def _setting_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def comparison_table(comparison: RunComparison) -> str:
    """Lines for the terminal: a row for each run, and below what differs in the configurations."""
    names = ComparisonColumn("run", [run.name for run in comparison.runs])
    lines = _lines([names, *comparison.columns])
    if any(column.best for column in comparison.columns):
        lines += ["", "* the best of its column"]
    if comparison.same:
        lines += ["", f"the same for all: {screen_line(_same_text(comparison))}"]
    if comparison.settings:
        keys = ComparisonColumn("configuration", [x.name for x in comparison.settings])
        values = [
            ComparisonColumn(run.name, [column.values[number] for column in comparison.settings])
            for number, run in enumerate(comparison.runs)
        ]
        lines += ["", *_lines([keys, *values])]
    notes = [screen_line(note) for note in comparison.notes]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _same_text(comparison: RunComparison) -> str:
    return ", ".join(f"{column.name} {column.values[0]}" for column in comparison.same)


def _lines(columns: Sequence[ComparisonColumn]) -> list[str]:
    """Columns beside each other, their headings in as many lines as they need."""
    laid_out = [_head_and_cells(column) for column in columns]
    height = max(len(head) for head, _ in laid_out)
    padded = [[""] * (height - len(head)) + head + cells for head, cells in laid_out]
    return aligned(list(zip(*padded, strict=True)), left=1, gap=1)


def _head_and_cells(column: ComparisonColumn) -> tuple[list[str], list[str]]:
    """The lines of the heading, and the values; the last letter has room for the star of the best."""
    cells = [
        f"{'-' if value is None else screen_line(value)}{'*' if i in column.best else ' '}"
        for i, value in enumerate(column.values)
    ]
    name = screen_line(column.name)
    longest = max(map(len, name.split()), default=0)
    width = max(_HEAD, min(longest, _UNBROKEN), *map(len, cells))
    head = wrap(name, width, break_on_hyphens=False) or [""]
    return [f"{line} " for line in head], cells


def comparison_page(comparison: RunComparison) -> str:
    """The whole page."""
    names = [run.name for run in comparison.runs]
    sections = [section("Runs", _runs_table(comparison), wide=True)]
    sections += map(chart_section, _charts(comparison))
    if comparison.settings:
        heads = ["configuration", *names]
        rows = [[column.name, *map(_cell, column.values)] for column in comparison.settings]
        title = "Differences between the configurations"
        sections.append(section(title, table(heads, rows), len(heads) > _NARROW))
    facts = {}
    for column in comparison.columns:
        if len(column.best) == 1 and not column.name.startswith(("last ", "kept ")):
            (number,) = column.best
            name = f"best {column.name.removeprefix('best ')}: {comparison.runs[number].name}"
            facts[name] = _cell(column.values[number])
    return document(f"Comparison of {len(names)} runs", ", ".join(names), facts, sections)


def _cell(value: str | None) -> str:
    return UNKNOWN if value is None else value


def _runs_table(comparison: RunComparison) -> str:
    columns = comparison.columns
    rows = []
    for number, run in enumerate(comparison.runs):
        texts = [(_cell(column.values[number]), number in column.best) for column in columns]
        cells = [TableCell(escape(text), "best") if is_best else text for text, is_best in texts]
        rows.append([run.name, *cells])
    notes = list(comparison.notes)
    if comparison.same:
        notes.insert(0, f"The same for all: {_same_text(comparison)}.")
    if any(column.best for column in columns):
        notes.insert(0, "The best of a column is coloured.")
    content = table(["run", *(column.name for column in columns)], rows)
    return content + "".join(element("p", escape(note)) for note in notes)


def _charts(comparison: RunComparison) -> list[Chart]:
    """The numbers that runs share, over their epochs: steps are not the same in all."""
    charts = []
    for key in comparison.keys:
        series = []
        for number, run in enumerate(comparison.runs):
            curve = points(run.epochs, key, at="epoch")
            sign = direction_of(key)
            best = best_value([y for _, y in curve], sign) if sign else None
            words = None if best is None else f"best {display_value(key, best)}"
            colour = (number, len(comparison.runs))
            series.append(Series(run.name, curve, said=words, colour=colour))
        part = "validation" if key.startswith(VALIDATION) else "training"
        title = f"{metric_title(key.removeprefix(VALIDATION))}, {part}"
        charts.append(Chart(title, [s for s in series if s.points], across="epoch"))
    return charts
