"""Pages of every task for the browser, with long names and long numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import extensor as ex
from extensor.data import ArrayDataset
from extensor.io.toml import as_toml
from extensor.report import Examination, compare, comparison_page, examine, write_report
from extensor.train.run_folder import RunFolder

LONG = "African bush elephant (Loxodonta africana) seen from rather far away"
STRIDE = 4111  # between steps, so that their numbers are long
TASKS = ("regression", "binary", "multiclass", "multilabel", "sequence")


def examined(task: str) -> Examination | None:
    """An examination of some hundred samples."""
    rng = np.random.default_rng(0)
    names = [f"{LONG.replace(' ', '_')}/IMG_{i:06d}.jpeg" for i in range(500)]
    if task == "regression":
        truth = -rng.gamma(2, 180_000, (500, 2))
        return examine(None, truth * 1.1 + 9e4, truth, task, [LONG, "rent"], names)
    if task == "binary":
        yes = (rng.random(500) < 0.3).astype(int)
        return examine(None, rng.normal(size=500) + yes, yes, task, ["no", LONG], names)
    if task == "multiclass":
        labels = rng.integers(0, 15, 500)
        scores = rng.normal(size=(500, 15)) + 3 * np.eye(15)[labels]
        pictures = rng.integers(0, 256, (500, 3, 8, 8)).astype(np.uint8)
        classes = [LONG, *(f"class {i}" for i in range(14))]
        return examine(ArrayDataset(pictures, labels), scores, labels, task, classes, names)
    if task == "multilabel":
        truth = rng.random((500, 5)) < 0.4
        return examine(None, rng.normal(size=(500, 5)) + truth, truth, task, [LONG, *"abcd"])
    tokens = rng.integers(0, 9, (20, 30))
    return examine(None, rng.normal(size=(20, 30, 9)), tokens, task, list("abcdefghi"))


def run_of(folder: Path, task: str, scale: float) -> RunFolder:
    """A run whose losses are as large as ``scale``."""
    run = RunFolder(folder / task)
    run.path.mkdir()
    config = {
        "data": {"train": LONG},
        "model": {"name": task},
        "loss": {"name": "CrossEntropyLoss"},
    }
    run.config.write_text(as_toml(config))
    run.machine.write_text(json.dumps({"command": ["extensor", "train"]}))
    records: list[dict[str, Any]] = [
        {"event": "data", "lines": [f"{LONG}  number  {LONG}"]},
        {"event": "test", "loss": scale, "accuracy": 0.5},
    ]
    noise = np.random.default_rng(1).normal(size=3000)
    for epoch in range(1, 7):
        for step in range(500 * (epoch - 1) + 1, 500 * epoch + 1):
            loss = scale * (1 + noise[step - 1] / 9 + 1000 / (step + 500))
            records.append(
                {"event": "step", "step": STRIDE * step, "loss": loss, "lr": 1e-3 / step}
            )
        value = scale * (1 + 1 / epoch)
        record = {"event": "epoch", "epoch": epoch, "step": 500 * STRIDE * epoch, "loss": value}
        record |= {"validation_loss": scale * (2 + (epoch - 4) ** 2), "accuracy": epoch / 9}
        records.append({**record, "validation_accuracy": epoch / 12})
        norms = {f"layer{i}.weight": 10.0**-i * epoch for i in range(14)}
        records.append({"event": "gradients", "step": 500 * STRIDE * epoch, "norms": norms})
        if task == "sequence":
            text = f"ROMEO:\n{LONG * 3}"
            records.append(
                {"event": "sample", "epoch": epoch, "step": 500 * STRIDE * epoch, "text": text}
            )
    run.log.write_text("".join(json.dumps(record) + "\n" for record in records))
    return run


def write_pages(folder: Path) -> list[str]:
    """A page for each task, and one that compares them. Returns their names."""
    runs = [run_of(folder, task, -1234567.0 / 100**i) for i, task in enumerate(TASKS)]
    net = ex.nn.Sequential(ex.nn.Linear(4, 8), ex.nn.ReLU(), ex.nn.Linear(8, 2))
    for run, task in zip(runs, TASKS, strict=True):
        write_report(run, examined(task), net.summary((1, 4)))
    (folder / "comparison.html").write_text(comparison_page(compare([run.path for run in runs])))
    return [*(f"{task}/report.html" for task in TASKS), "comparison.html"]
