"""``extensor info``: this machine and what is here to train, or what is known of a run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from extensor.errors.screen import screen_line
from extensor.report.records import read_records
from extensor.report.writing import title_of
from extensor.train import RunFolder
from extensor.train.experiments.config import read_config
from extensor.train.experiments.data import SETS
from extensor.train.experiments.parts import LOSSES, MODELS, OPTIMIZERS, SCHEDULES
from extensor.train.experiments.runs import RUNS, found_run
from extensor.train.metrics import METRICS
from extensor.train.run import machine


def run(options: argparse.Namespace) -> None:
    """Print what is known."""
    known = _of_everything() if options.run is None else _of_run(found_run(options.run))
    facts = {screen_line(name): value for name, value in known.items()}
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:{width}}  {screen_line(value)}")


def _of_everything() -> Mapping[str, Any]:
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


def _of_run(folder: RunFolder) -> Mapping[str, Any]:
    config = read_config(folder.config)
    records = read_records("info", folder) if folder.log.exists() else []
    epochs = [record for record in records if record.get("event") == "epoch"]
    facts = {"run": folder.path, "trains": title_of(config)}
    facts["epochs"] = f"{len(epochs)} of {config['epochs']}"
    if epochs:
        numbers = {k: x for k, x in epochs[-1].items() if isinstance(x, int | float)}
        facts |= {
            name.replace("_", " "): f"{x:.6g}" for name, x in numbers.items() if name != "epoch"
        }
    names = sorted(path.stem for path in folder.checkpoints.glob("*.safetensors"))
    return {**facts, "checkpoints": ", ".join(names) or "none"}
