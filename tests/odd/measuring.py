"""What trained models are to be measured on, that they cannot, and runs that are damaged."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from extensor.errors.messages import COLUMN_NOT_FOUND, PATH_NOT_FOUND, RUN_NOT_FOUND, known, meant
from odd.predicting import FINE, hours
from odd.running import Content, Files, array, arrays, pictures

ROWS: dict[str, tuple[Files, str, str]] = {
    "no targets": (
        {"n.csv": FINE},
        "classes n.csv",
        COLUMN_NOT_FOUND.text(meant("day"), column="y", source="n.csv"),
    ),
    "a class that is new": (
        {"n.csv": "a,b,word,day,y\n1,2,p,2024-01-01,\n1,2,p,2024-01-01,u\n1,2,p,2024-01-02,z\n"},
        "classes n.csv",
        "data: targets must be classes of the training data (u, v, w), got source='n.csv', line=4, "
        "column='y', cell='z'",
    ),
    "only holes for targets": (
        {"n.csv": "a,b,word,day,y\n1,2,p,2024-01-01,\n"},
        "classes n.csv",
        "data: n.csv must have targets, got column='y'",
    ),
    "words for numbers": (
        {"n.csv": "a,b,y\n1,2,x\n"},
        "numbers n.csv",
        "data: cells must be numbers, got source='n.csv', line=2, column='y', cell='x'",
    ),
    "infinity for numbers": (
        {"n.csv": "a,b,y\n1,2,inf\n"},
        "numbers n.csv",
        "data: numbers to be learned must be finite, and below 3.4e38, got source='n.csv', line=2",
    ),
    "a label of 2": (
        {"n.csv": "a,b,warm,wet\n1,2,1,0\n1,2,2,0\n"},
        "labels n.csv",
        "data: labels must be 0 or 1, got source='n.csv', line=3, column='warm', cell='2'",
    ),
    "a label less": (
        {"n.csv": "a,b,warm\n1,2,1\n"},
        "labels n.csv",
        COLUMN_NOT_FOUND.text(known("a", "b", "warm"), column="wet", source="n.csv"),
    ),
    "pictures without classes": (
        {"new": pictures(2, with_classes=False)},
        "pictures new",
        "ImageFolder: pictures must lie in the folders of their classes, got path='new/00.png'",
    ),
    "pictures of another class": (
        {"new/left": pictures(2, with_classes=False)},
        "pictures new",
        "data: folders must be classes of the training data, ['down', 'up'], got folder='new/left'",
    ),
    "a single picture": (
        {},
        "pictures pictures/up/01.png",
        "ImageFolder: could not read pictures/up/01.png (Not a dir",
    ),
    "a short text": (
        {"o.txt": "the"},
        "story o.txt",
        "data: o.txt must have at least 9 characters, got character",
    ),
    "a folder for a text": (
        {},
        "story pictures",
        "read_text: could not read pictures (Is a direct",
    ),
    "a short series": (
        {"n.csv": hours(count=1)},
        "series n.csv",
        "data: n.csv must have at least 8 rows, 6 of input and 2 to forecast, got rows=1",
    ),
    "a series with a gap": (
        {"n.csv": hours().replace(",8,", ",,")},
        "series n.csv",
        "data: a series must have a number to learn in each row, got source='n.csv', line=10",
    ),
    "a series without its column": (
        {"n.csv": hours().replace("load", "lod")},
        "series n.csv",
        COLUMN_NOT_FOUND.text(meant("lod"), column="load", source="n.csv"),
    ),
    "labels of another class": (
        {"o.npz": arrays(y=np.arange(40) % 3)},
        "points o.npz",
        "data: targets must be classes of the training data (0, 1), got path='o.npz', sample=2",
    ),
    "labels between classes": (
        {"o.npz": arrays(y=np.arange(40) % 2 / 2)},
        "points o.npz",
        "data: targets must be classes of the training data (0, 1), got path='o.npz', sample=1",
    ),
    "inputs without targets": (
        {},
        "points x.npy",
        "data: file must be .npz with x and y, or data.target (--target) the .npy",
    ),
    "inputs beside the targets of others": (
        {"w.npy": array(np.ones((40, 3)))},
        "arrays w.npy",
        "data: data.target must be the .npy file of these targets, which is not that of the training",
    ),
    "a task that is another": (
        {},
        "classes --set data.task=regression",
        "config: loss must fit the task regression, as MSELoss does, got loss='CrossEntropyLoss'",
    ),
    "a metric of another task": (
        {},
        "classes --set \"metrics=['r2']\"",
        "named_metric: name must be a metric for task='multi",
    ),
    "data that are gone": (
        {"classes.csv": lambda path: Path(path).unlink()},
        "classes",
        PATH_NOT_FOUND.text(path="classes.csv"),
    ),
    "data that have changed": (
        {"classes.csv": "a,b\n1,2\n"},
        "classes",
        COLUMN_NOT_FOUND.text(known("a", "b"), column="y", source="classes.csv"),
    ),
}

BEST = "runs/classes/checkpoints/best.safetensors"
DAMAGED = f"load: file must be a whole safetensors file, got path='{BEST}', 300 bytes"


def _shorten(path: str) -> None:
    Path(path).write_bytes(Path(path).read_bytes()[:300])


def _flip(path: str) -> None:
    content = bytearray(Path(path).read_bytes())
    content[-5] ^= 0xFF
    Path(path).write_bytes(bytes(content))


def _copy_of(other: str) -> Content:
    return lambda path: shutil.copy(other, path)


def _remove(path: str) -> None:
    shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink()


RUNS: dict[str, tuple[Files, str, str]] = {
    "no such run": ({}, "nothing", RUN_NOT_FOUND.text(run="nothing")),
    "no name": ({}, "''", RUN_NOT_FOUND.text(run="")),
    "a file for a run": ({}, "classes.csv", RUN_NOT_FOUND.text(run="classes.csv")),
    "no checkpoints": (
        {"runs/classes/checkpoints": _remove},
        "classes",
        "run: there must be a checkpoint, got run='runs/classes'",
    ),
    "a checkpoint that is cut off": (
        {BEST: _shorten},
        "classes",
        f"{DAMAGED} (damaged, cut short, or of another kind); take a good",
    ),
    "a checkpoint with a bit that is wrong": (
        {BEST: _flip},
        "classes",
        "load: content must be as it was written (its digest differs), got",
    ),
    "a checkpoint of pictures": (
        {BEST: _copy_of("runs/pictures/checkpoints/best.safetensors")},
        "classes",
        "load: the checkpoint must have been made with data of the kind table, got kind='pictures'",
    ),
    "a checkpoint of another table": (
        {BEST: _copy_of("runs/numbers/checkpoints/best.safetensors")},
        "classes",
        "Sequential.load_state_dict: keys and shapes must be those of the module, got shapes=",
    ),
    "no configuration": (
        {"runs/classes/config.toml": _remove},
        "classes",
        "run: the folder must have the run's config.toml, which is missing, got run='runs/classes'",
    ),
    "a configuration that is none": (
        {"runs/classes/config.toml": "epochs = = 3"},
        "classes",
        "config: file must be TOML (",
    ),
    "an empty configuration": (
        {"runs/classes/config.toml": ""},
        "classes",
        "config: [data] must be given, got tables=['seed",
    ),
    "a configuration of pictures": (
        {"runs/classes/config.toml": _copy_of("runs/pictures/config.toml")},
        "classes",
        "load: the checkpoint must have been made with data of the kind pictures, got kind='table'",
    ),
    "no such checkpoint": (
        {},
        "classes --checkpoint nope",
        "--checkpoint: must be latest or one of ['best', 'step-",
    ),
    "a table for a checkpoint": (
        {},
        "classes --checkpoint classes.csv",
        "load: file must be a whole safetensors file, got path='classes.csv'",
    ),
}
