"""Files as people have them, small: a table with categories and gaps, pictures, a text, a series."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

TEXT = "the cat sat on the mat. the dog ate the hat. a bird sang in the tree. " * 30


def write_table(path: str = "table.csv", rows: int = 90, with_target: bool = True) -> Path:
    """Three kinds of plants by numbers and words, of which some are missing."""
    rng = np.random.default_rng(0)
    kind = np.arange(rows) % 3
    size = rng.normal(3 * kind, 1.0).round(2)
    colour = np.array(["red", "green", "blue"])[(kind + (rng.random(rows) < 0.2)) % 3]
    day = [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(rows)]
    names = np.array(["ash", "birch", "cedar"])[kind]
    columns: dict[str, Any] = {"size": size, "colour": colour, "day": day, "weight": size * 2}
    columns |= {"plant": names} if with_target else {}
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for i, row in enumerate(zip(*columns.values(), strict=True)):
            cells = [str(x) for x in row]
            if i % 7 == 3:
                cells[0] = ""
            if i % 11 == 5:
                cells[1] = "NA"
            writer.writerow(cells)
    return Path(path)


def write_pictures(folder: str = "pictures", count: int = 12, with_classes: bool = True) -> Path:
    """Pictures of mixed sizes: bright above, or bright below."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for number in range(count):
        kind = number % 2
        height, width = (int(x) for x in rng.integers(9, 20, 2))
        pixels = rng.integers(0, 60, (height, width, 3)).astype(np.uint8)
        half = slice(None, height // 2) if kind else slice(height // 2, None)
        pixels[half] += 150
        place = Path(folder) / (("down", "up")[kind] if with_classes else "")
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(place / f"{number:02d}.png")
    return Path(folder)


def write_text(path: str = "story.txt", text: str = TEXT) -> Path:
    place = Path(path)
    place.write_text(text, encoding="utf-8")
    return place


def write_series(path: str = "series.csv", rows: int = 160) -> Path:
    """Hours of a wave, and a second column that tells a little of it."""
    rng = np.random.default_rng(0)
    wave = 10 + 3 * np.sin(np.arange(rows) * 2 * np.pi / 24) + rng.normal(0, 0.1, rows)
    hours = np.datetime64("2024-01-01T00:00") + np.arange(rows).astype("timedelta64[h]")
    lines = [f"{t},{x:.3f},{i % 24}" for i, (t, x) in enumerate(zip(hours, wave, strict=True))]
    Path(path).write_text("\n".join(["time,load,hour", *lines]) + "\n")
    return Path(path)


def write_labels(path: str = "labels.csv", rows: int = 80) -> Path:
    """Two labels of each row, by two numbers."""
    x = np.random.default_rng(0).normal(size=(rows, 2)).round(3)
    lines = [f"{a},{b},{int(a > 0)},{int(b > 0)}" for a, b in x]
    Path(path).write_text("\n".join(["a,b,warm,wet", *lines]) + "\n")
    return Path(path)


def write_numbers(path: str = "numbers.csv", rows: int = 90) -> Path:
    """A number of its own unit, by two others."""
    x = np.random.default_rng(0).normal(size=(rows, 2)).round(3)
    lines = [f"{a},{b},{1000 + 200 * a - 90 * b:.1f}" for a, b in x]
    Path(path).write_text("\n".join(["a,b,price", *lines]) + "\n")
    return Path(path)
