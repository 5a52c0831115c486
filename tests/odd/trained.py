"""A small run of each kind of data."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from own_files import TEXT, write_labels, write_pictures, write_series

from odd.running import array, arrays, rows, run, write

NUMBERS = rows("a,b,y", lambda i: f"{i % 7},{i * 1.5 % 11:.1f},{i * 0.5}")
CLASSES = rows(
    "a,b,word,day,y",
    lambda i: f"{i % 7},{i * 1.5 % 11:.1f},{'pq'[i % 2]},2024-01-{i % 28 + 1:02d},{'uvw'[i % 3]}",
)


def write_runs(place: Path) -> None:
    """A small run of each kind of data, and the files of each."""
    write(
        {
            "numbers.csv": NUMBERS,
            "classes.csv": CLASSES,
            "points.npz": arrays(),
            "x.npy": array(np.random.default_rng(0).normal(size=(40, 3))),
            "y.npy": array(np.arange(40) % 2),
        }
    )
    write_pictures(count=20)
    Path("story.txt").write_text(TEXT[:600])
    write_series("series.csv", rows=80)
    write_labels()
    for command in (
        "numbers.csv --name numbers",
        "classes.csv --name classes",
        "pictures --name pictures --set data.size=8",
        "story.txt --name story --set data.context=8 --set model.width=16",
        "series.csv --name series --target load --horizon 2 --window 6",
        "labels.csv --name labels --target warm --target wet",
        "points.npz --name points",
        "x.npy --target y.npy --name arrays",
    ):
        result = run(f"train {command}")
        assert result.code == 0, result.err
    shutil.copytree(".", place, dirs_exist_ok=True)
