"""The files of a run, read and checked, and the numbers in its log with their names for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from typing import Any, NamedTuple

from extensor.errors import value_error
from extensor.io.paths import explain_unreadable
from extensor.io.redaction import redact_command
from extensor.io.regular_files import file_text
from extensor.report.axis import readable
from extensor.report.chart import Points
from extensor.train import RunFolder, read_log
from extensor.train.metrics import is_fraction
from extensor.train.metrics.registry import direction_of, display_name

Record = Mapping[str, Any]

VALIDATION = "validation_"
LOSS = f"{VALIDATION}loss"
_NO_METRICS = ("event", "epoch", "step", "loss", "lr", LOSS)
_WORKER_NUMBERS = ("samples_per_second", "seconds", "waited", "sent", "received")


class BestEpoch(NamedTuple):
    """The epoch in which a number was best, and the step it ended with."""

    key: str
    epoch: int
    step: int
    value: float


def read_records(op: str, run: RunFolder) -> list[dict[str, Any]]:
    """The records of the log; only its last line may be cut short, as a crash leaves it."""
    records = read_log(run.log)
    with explain_unreadable(op, run.log):
        lines = len(file_text(run.log).splitlines())
    whole = [isinstance(record, dict) for record in records]
    if not all(whole) or len(records) < lines - 1:
        line = 1 + (whole.index(False) if not all(whole) else len(records))
        requirement = "each line of the log must be a record in JSON"
        raise value_error(op, requirement, path=str(run.log), line=line)
    return records


def read_machine(op: str, run: RunFolder) -> Mapping[str, Any]:
    """The description of the machine that the run was trained on."""
    try:
        with explain_unreadable(op, run.machine):
            machine = json.loads(file_text(run.machine))
    except (ValueError, RecursionError):
        machine = None
    if not isinstance(machine, dict):
        raise value_error(op, "file must be a table in JSON", path=str(run.machine))
    command = machine.get("command")
    if isinstance(command, list):  # of an earlier version, or written by others
        machine["command"] = redact_command(list(map(str, command)))
    return machine


def seconds_of(run: RunFolder) -> float | None:
    """How long the epochs took together, if that is known."""
    if not run.timing.is_file():
        return None
    lines = [line for line in read_log(run.timing) if isinstance(line, dict)]
    return float(sum(line["seconds"] for line in lines if is_number(line.get("seconds"))))


def workers_of(run: RunFolder) -> dict[str, str]:
    """The speed and the traffic of each of several workers in the last epoch, if that is known."""
    lines = read_log(run.timing) if run.timing.is_file() else []
    entries = lines[-1].get("workers") if lines and isinstance(lines[-1], dict) else None
    workers = {}
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and all(is_number(entry.get(key)) for key in _WORKER_NUMBERS):
            waited = entry["waited"] / entry["seconds"] if entry["seconds"] else 0.0
            workers[str(entry.get("worker"))] = (
                f"{entry['samples_per_second']:,.0f} samples/s, waited {waited:.0%} of the time, "
                f"sent {entry['sent'] / 1e6:,.1f} MB, received {entry['received'] / 1e6:,.1f} MB"
            )
    return workers


def monitor_of(config: Mapping[str, Any]) -> str | None:
    """The number by which the run chooses its best checkpoint, if it does."""
    tables = [config.get(key) for key in ("early_stopping", "checkpoints")]
    stopping, checkpoints = (x if isinstance(x, Mapping) else None for x in tables)
    best = None if checkpoints is None else checkpoints.get("best")
    if stopping is not None:
        best = stopping.get("monitor", LOSS)
    return best if isinstance(best, str) and direction_of(best) else None


def kept_epoch(config: Mapping[str, Any], epochs: Sequence[Record]) -> BestEpoch | None:
    """The epoch whose weights are kept, if the run stops early; None if that is the last one."""
    monitor = monitor_of(config) if isinstance(config.get("early_stopping"), Mapping) else None
    best = None if monitor is None else best_epoch(epochs, monitor)
    return best if best is not None and best.key == monitor else None


def figures_of_test(records: Sequence[Record]) -> dict[str, float]:
    """The numbers of the test after training, of the last one if there are several."""
    tests = of_event(records, "test")
    numbers = {k: x for k, x in tests[-1].items() if is_number(x)} if tests else {}
    figures = {k.removeprefix("test_"): x for k, x in numbers.items() if k not in ("epoch", "step")}
    return dict(sorted(figures.items(), key=lambda item: item[0] == "loss"))  # which comes last


def data_lines(records: list[dict[str, Any]]) -> list[str]:
    """The lines in the log that describe the data."""
    events = of_event(records, "data")
    lines = events[-1].get("lines") if events else None
    return [str(line) for line in lines] if isinstance(lines, list) else []


def name_of(config: Mapping[str, Any], key: str) -> str | None:
    """The name in the table ``key`` of a configuration, or the value in its place."""
    table = config.get(key)
    if not isinstance(table, Mapping):
        return None if table is None else str(table)
    name = table.get("name") or (table.get("train") if key == "data" else None)
    return None if name is None else str(name)


def title_of(config: Mapping[str, Any]) -> str:
    """The names of the model and the data."""
    model, data = name_of(config, "model"), name_of(config, "data")
    return f"{model or 'A model'} on {data or 'its data'}"


def best_epoch(epochs: Sequence[Record], monitor: str | None = None) -> BestEpoch | None:
    """The epoch in which ``monitor`` was best; without one the validation loss, or the first metric."""
    names = [*([] if monitor is None else [monitor]), LOSS, *metric_names(epochs)]
    for name in filter(direction_of, names):
        sign = direction_of(name)
        known = [
            BestEpoch(name, r["epoch"], r["step"], r[name])
            for r in epochs
            if all(is_number(r.get(key)) for key in (name, "epoch", "step"))
        ]
        if known:
            values = [sign * best.value for best in known]
            return known[values.index(max(values))]
    return None


def of_event(records: Sequence[Record], event: str) -> list[Record]:
    """The records of one kind."""
    return [record for record in records if record.get("event") == event]


def metric_names(epochs: Sequence[Record]) -> list[str]:
    """The names of the metrics in the log, those of validation first."""
    names = {key: None for record in epochs for key, x in record.items() if is_number(x)}
    metrics = [name for name in names if name not in _NO_METRICS]
    return sorted(metrics, key=lambda name: not name.startswith(VALIDATION))


def metric_title(name: str) -> str:
    """The name of a metric as a heading."""
    return display_name(name).capitalize()


def display_value(name: str, value: Any) -> str:
    """A number for people: a fraction of samples in percent; anything but a number stays as it is."""
    if not isinstance(value, int | float):
        return str(value)
    if isnan(value):
        return "undefined"
    return f"{value:.2%}" if is_fraction(name) else readable(value)


def points(records: Sequence[Record], key: str, at: str = "step") -> Points:
    """The values of ``key`` at the steps of the records that have it."""
    return [(r[at], r[key]) for r in records if is_number(r.get(key)) and is_number(r.get(at))]


def is_number(value: Any) -> bool:
    """Whether ``value`` is a number that can be drawn."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isfinite(value) if isinstance(value, float) else abs(value) < 2**63
