"""What the files of a run say, read and checked: a damaged one is named."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from extensor.errors import value_error
from extensor.io.paths import unreadable
from extensor.io.regular_files import file_text
from extensor.report.curves import (
    LOSS,
    Best,
    Record,
    best_epoch,
    direction,
    is_number,
    of_event,
)
from extensor.train import RunFolder, read_log
from extensor.train.experiments.config import stored_config
from extensor.train.redaction import redact_command


def read_records(op: str, run: RunFolder) -> list[dict[str, Any]]:
    """The records of the log; only its last line may be cut short, as a crash leaves it."""
    records = read_log(run.log)
    try:
        lines = len(file_text(run.log).splitlines())
    except OSError as error:
        raise unreadable(op, run.log, error) from error
    whole = [isinstance(record, dict) for record in records]
    if not all(whole) or len(records) < lines - 1:
        line = 1 + (whole.index(False) if not all(whole) else len(records))
        requirement = "each line of the log must be a record in JSON"
        raise value_error(op, requirement, path=str(run.log), line=line)
    return records


def read_machine(op: str, run: RunFolder) -> Mapping[str, Any]:
    """What is known of the machine."""
    try:
        machine = json.loads(file_text(run.machine))
    except OSError as error:
        raise unreadable(op, run.machine, error) from error
    except (ValueError, RecursionError):
        machine = None
    if not isinstance(machine, dict):
        raise value_error(op, "file must be a table in JSON", path=str(run.machine))
    command = machine.get("command")
    if isinstance(command, list):  # of an earlier version, or written by others
        machine["command"] = redact_command(list(map(str, command)))
    return machine


def read_settings(run: RunFolder) -> dict[str, Any]:
    """The configuration, with whatever keys it has."""
    return stored_config(run.config)


def seconds_of(run: RunFolder) -> float | None:
    """How long the epochs took together, if that is known."""
    if not run.timing.is_file():
        return None
    lines = [line for line in read_log(run.timing) if isinstance(line, dict)]
    return float(sum(line["seconds"] for line in lines if is_number(line.get("seconds"))))


_OF_WORKERS = ("samples_per_second", "seconds", "waited", "sent", "received")


def workers_of(run: RunFolder) -> dict[str, str]:
    """What each of several workers did in the last epoch, if that is known."""
    lines = read_log(run.timing) if run.timing.is_file() else []
    told = lines[-1].get("workers") if lines and isinstance(lines[-1], dict) else None
    found = {}
    for each in told if isinstance(told, list) else []:
        if isinstance(each, dict) and all(is_number(each.get(name)) for name in _OF_WORKERS):
            waited = each["waited"] / each["seconds"] if each["seconds"] else 0.0
            found[str(each.get("worker"))] = (
                f"{each['samples_per_second']:,.0f} samples/s, waited {waited:.0%} of the time, "
                f"sent {each['sent'] / 1e6:,.1f} MB, received {each['received'] / 1e6:,.1f} MB"
            )
    return found


def monitor_of(config: Mapping[str, Any]) -> str | None:
    """The number by which the run keeps its best checkpoint, if it does."""
    tables = [config.get(key) for key in ("early_stopping", "checkpoints")]
    stopping, checkpoints = (x if isinstance(x, Mapping) else None for x in tables)
    best = None if checkpoints is None else checkpoints.get("best")
    if stopping is not None:
        best = stopping.get("monitor", LOSS)
    return best if isinstance(best, str) and direction(best) else None


def kept_epoch(config: Mapping[str, Any], epochs: Sequence[Record]) -> Best | None:
    """The epoch whose weights are handed on, of a run that stops early; otherwise it is the last."""
    monitor = monitor_of(config) if isinstance(config.get("early_stopping"), Mapping) else None
    best = None if monitor is None else best_epoch(epochs, monitor)
    return best if best is not None and best.key == monitor else None


def figures_of_test(records: list[dict[str, Any]]) -> dict[str, float]:
    """What the log says of the test after training, the last one if there are several."""
    tests = of_event(records, "test")
    numbers = {k: x for k, x in tests[-1].items() if is_number(x)} if tests else {}
    found = {k.removeprefix("test_"): x for k, x in numbers.items() if k not in ("epoch", "step")}
    return dict(sorted(found.items(), key=lambda item: item[0] == "loss"))  # which comes last


def data_lines(records: list[dict[str, Any]]) -> list[str]:
    """What the log says of the data."""
    found = of_event(records, "data")
    lines = found[-1].get("lines") if found else None
    return [str(line) for line in lines] if isinstance(lines, list) else []


def name_of(config: Mapping[str, Any], key: str) -> str | None:
    """The name in the table ``key`` of a configuration, or what stands in its place."""
    table = config.get(key)
    if not isinstance(table, Mapping):
        return None if table is None else str(table)
    name = table.get("name") or (table.get("train") if key == "data" else None)
    return None if name is None else str(name)
