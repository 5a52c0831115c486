"""``extensor info``: this machine and the parts of the library, or the state of a run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from extensor.errors.screen import screen_line
from extensor.experiments.factories import LOSSES, MODELS, OPTIMIZERS, SCHEDULES
from extensor.experiments.sources.array_configurations import SETS
from extensor.experiments.spec import read_config
from extensor.experiments.stored_runs import RUNS, find_run
from extensor.report.run_records import of_event, read_records, title_of
from extensor.train import RunFolder
from extensor.train.metrics import METRICS
from extensor.train.metrics.registry import display_name
from extensor.train.run_folder import machine


def run(options: argparse.Namespace) -> None:
    """Print names and values below each other."""
    known = _library_facts() if options.run is None else _run_facts(find_run(options.run))
    facts = {screen_line(name): value for name, value in known.items()}
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:{width}}  {screen_line(value)}")


def _library_facts() -> Mapping[str, Any]:
    facts = {name: value for name, value in machine().items() if name != "command"}
    named = {
        "data": SETS,
        "models": MODELS,
        "losses": LOSSES,
        "optimizers": OPTIMIZERS,
        "schedules": SCHEDULES,
        "metrics": METRICS,
    }
    facts |= {kind: ", ".join(sorted(choices)) for kind, choices in named.items()}
    runs = sorted(path.parent.name for path in RUNS.glob("*/config.toml"))
    return {**facts, "runs": ", ".join(runs) or "none here"}


def _run_facts(folder: RunFolder) -> Mapping[str, Any]:
    config = read_config(folder.config)
    records = read_records("info", folder) if folder.log.exists() else []
    epochs = of_event(records, "epoch")
    facts = {"run": folder.path, "trains": title_of(config)}
    facts["epochs"] = f"{len(epochs)} of {config['epochs']}"
    if epochs:
        numbers = {k: x for k, x in epochs[-1].items() if isinstance(x, int | float)}
        facts |= {display_name(k): f"{x:.6g}" for k, x in numbers.items() if k != "epoch"}
    names = sorted(path.stem for path in folder.checkpoints.glob("*.safetensors"))
    return {**facts, "checkpoints": ", ".join(names) or "none"}
