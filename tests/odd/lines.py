"""Command lines that say what cannot be, or say it twice."""

from __future__ import annotations

import os
from pathlib import Path

from extensor.errors.messages import KEY_UNKNOWN, RUN_NOT_FOUND, meant
from odd.running import Files

INSIDE = "--name: must name a folder inside runs/"
OF_DATA = "is for a data file; for a configuration, use --set data."
TOML: Files = {"c.toml": "[data]\ntrain = 'classes.csv'\n"}
TASKS = "'regression', 'binary', 'multiclass', 'multilabel', 'sequence'"


def _out_of_runs(path: str) -> None:
    Path("outside").mkdir()
    os.symlink("../outside", path)


ROWS: dict[str, tuple[Files, str, str]] = {
    "two files": (
        {},
        "train classes.csv numbers.csv",
        "one argument too many, got 'numbers.csv' (see extensor",
    ),
    "an option misspelt": (
        {},
        "train classes.csv --taget y",
        "unknown option (did you mean --target?), got '--taget' (see extensor train --help)",
    ),
    "an option that is an entry": (
        {},
        "train classes.csv --epochs 3",
        "unknown option (--set changes the configuration: --set epochs=20), got '--epochs' (see",
    ),
    "a task that is none": (
        {},
        "train classes.csv --task clasify",
        f"--task must be one of {TASKS}, got 'clasify' (see",
    ),
    "half a row": (
        {},
        "train series.csv --window 2.5",
        "--window must be an integer, got '2.5' (see extensor tr",
    ),
    "an option without its value": (
        {},
        "train classes.csv --target",
        "--target must have a value (see extensor train --help)",
    ),
    "a run alone": ({}, "predict classes", "FILE must be given (see extensor predict --help)"),
    "two files to predict": (
        {},
        "predict classes classes.csv numbers.csv",
        "one argument too many, got 'numbers.csv' (see",
    ),
    "a format that is none": (
        {},
        "predict classes classes.csv --format xml",
        "--format must be one of 'table', 'csv', 'js",
    ),
    "a temperature in words": (
        {},
        "predict story the --temperature hot",
        "--temperature must be a number, got 'hot' (see",
    ),
    "a target of a configuration": (
        TOML,
        "train c.toml --target y",
        f"--target: {OF_DATA}target=..., got target=['y']",
    ),
    "a task of a configuration": (
        TOML,
        "train c.toml --task binary",
        f"--task: {OF_DATA}task=..., got task='binary'",
    ),
    "a window of 0 of a configuration": (
        TOML,
        "train c.toml --window 0",
        f"--window: {OF_DATA}window=..., got window=0",
    ),
    "a target of nothing": ({}, "train --target y", f"--target: {OF_DATA}target=..., got target=["),
    "a configuration that is binary": (
        {"c.toml": bytes(range(256))},
        "train c.toml",
        "config: file must be TOML, in UTF-8, got path",
    ),
    "a configuration that is not there": (
        {},
        "train c.toml",
        "config: could not read c.toml (No such file or directory)",
    ),
    "a kind that is none": (
        {"c.toml": "[data]\ntrain = 'classes.csv'\nkind = 'tabel'\n"},
        "train c.toml",
        "config: data.kind must be one of ['arrays', 'table', 'series', 'pictures', 'text'], got",
    ),
    "a configuration of no file": (
        {"c.toml": "[data]\ntest = 'classes.csv'\n"},
        "train c.toml",
        "config: data.train must be given, the file or folder to train on, got entries=",
    ),
    "a file of no name": (
        {},
        "train ''",
        "config: data.train must be the name of a file, got data.train=''",
    ),
    "a run and a file": (
        {},
        "train classes.csv --resume classes",
        "--resume: a resumed run keeps its configuration and its name",
    ),
    "a run and a name": (
        {},
        "train --resume classes --name b",
        "--resume: a resumed run keeps its configuration and its name, got",
    ),
    "a run and a target": (
        {},
        "train --resume classes --target y",
        f"--target: {OF_DATA}target=..., got target=['y']",
    ),
    "a run of another task": (
        {},
        "train --resume classes --set data.task=regression",
        "--resume: data.task must stay 'multiclass' in this run (for a new run: extensor train runs",
    ),
    "a run that is not there": (
        {},
        "train --resume nope",
        RUN_NOT_FOUND.text(run="nope"),
    ),
    "a checkpoint of no run": (
        {},
        "train classes.csv --checkpoint x",
        "--checkpoint: needs --resume, which names the run",
    ),
    "a name above": ({}, "train classes.csv --name ../x", f"{INSIDE}, got name='../x'"),
    "a name further above": (
        {},
        "train classes.csv --name a/../../x",
        f"{INSIDE}, got name='a/../../x'",
    ),
    "a name from the root": ({}, "train classes.csv --name /tmp/x", f"{INSIDE}, got name='/tmp/x'"),
    "a name of another system": (
        {},
        r"train classes.csv --name '..\x'",
        f"{INSIDE}, got name='..\\\\x'",
    ),
    "no name": ({}, "train classes.csv --name ''", f"{INSIDE}, got name=''"),
    "a name of a point": ({}, "train classes.csv --name .", f"{INSIDE}, got name='.'"),
    "a name of two lines": ({}, "train classes.csv --name 'a\nb'", f"{INSIDE}, got name='a\\nb'"),
    "a name through a link": (
        {"runs/link": _out_of_runs},
        "train classes.csv --name link/a",
        f"{INSIDE}, and not a link out of it, got name='link/a'",
    ),
    "a name of 300 letters": (
        {},
        f"train classes.csv --name {'a' * 300}",
        "--name: must have at most 255 bytes, got bytes=300",
    ),
    "a name of many folders": (
        {},
        f"train classes.csv --name {'/'.join(['a' * 99] * 30)}",
        "--name: must have at most 1000 bytes, got bytes=2999",
    ),
    "a name that is taken": (
        {},
        "train classes.csv --name classes",
        "--name: the run must be new (continue with extensor tr",
    ),
    "a name inside a run": (
        {},
        "train classes.csv --name classes/x",
        "--name: must not lie in another run (runs/classes)",
    ),
    "a change without a value": (
        {},
        "train classes.csv --set data.task",
        "--set: a change must be KEY=VALUE, got change='dat",
    ),
    "an entry that is none": (
        {},
        "train classes.csv --set data.taks=binary",
        KEY_UNKNOWN.text(meant("data.task"), key="data.taks"),
    ),
    "a batch of 0": (
        {},
        "train classes.csv --set data.batch_size=0",
        "DataLoader: batch_size must be 1 or more",
    ),
    "other outputs than classes": (
        {},
        "train classes.csv --set model.outputs=7",
        "config: model.outputs must be 3, as the data say, got outputs=7",
    ),
    "other inputs than columns": (
        {},
        "train classes.csv --set model.inputs=3",
        "config: model.inputs must be 10, as the data say, got inputs=3",
    ),
    "augmented tables": (
        {},
        "train classes.csv --set data.augment.RandomFlip={}",
        "config: data.augment is for pictures, arrays, not for table, got augment=",
    ),
    "a metric of another task": (
        {},
        "train classes.csv --set \"metrics=['r2']\"",
        "named_metric: name must be a metric for tas",
    ),
}
