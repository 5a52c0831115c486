"""Damaged and hostile states: every pair of bytes swapped, and drawn changes with a right digest.

    PYTHONPATH=tests python -m soak.files 100000 --seed 7

Change ``n`` of a seed is always the same, so a finding is run again by ``--first n`` and a number of 1.
A file is refused as damaged, or gives a state that :func:`extensor.save` writes and reads again. A
dict is taken over by a trainer and all that belongs to it, or refused by an error of ours, and then
nothing has changed.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import extensor as ex
from extensor.data import ArrayDataset, DataLoader, RandomFlip
from extensor.io import DamagedFileError
from extensor.io.safetensors_layout import unique
from extensor.io.state_file import unpacked
from extensor.random import Generator
from extensor.train import BestCheckpoint, EarlyStopping, Trainer

DEEP = "\ufdd0deep"  # stands for more brackets than Python's own writer of JSON could write
RAW = "\ufdd0raw"  # a number that only a text can have
OURS = re.compile(r"^[\w.]+: .+")
HOSTILE: list[Any] = [
    None, True, False, 0, 1, -1, 3, 2**63, 2**64, 10**400, 0.5, -0.0, 1e308, float("nan"),
    float("inf"), "", "x", "weight", "\ud800", [], [1], [[]], [{}], [None, "x"], {}, {"": ""},
    {"": "nowhere"}, {"": 3}, {"": {}}, {"": "model.0.weight", "a": 1}, DEEP, RAW, "F32", "BOOL",
    "F8_E4M3", "0" * 64,
]  # fmt: skip


def small_state() -> dict[str, Any]:
    """A state with all that a file can hold, and few bytes."""
    model = ex.nn.Sequential(ex.nn.Linear(2, 2), ex.nn.BatchNorm1d(2))
    return {
        "model": model.state_dict(),
        "flags": np.array([True, False, True]),
        "progress": {"epoch": 3, "loss": 0.25, "rates": [0.1, [None, True]], "name": "a.b/ü"},
        "nothing": {},
    }


def content_of(state: dict[str, Any]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        ex.save(Path(folder) / "a", state)
        return (Path(folder) / "a").read_bytes()


def swapped(content: bytes, first: int, second: int) -> bytes:
    changed = bytearray(content)
    changed[first], changed[second] = content[second], content[first]
    return bytes(changed)


def swaps(content: bytes) -> list[tuple[int, int]]:
    """All pairs of different bytes of the length and the header."""
    end = 8 + int.from_bytes(content[:8], "little")
    return [(i, j) for i, j in combinations(range(end), 2) if content[i] != content[j]]


def is_refused(content: bytes) -> bool:
    """True if the file is known to be damaged."""
    try:
        unpacked(content, "swapped")
    except DamagedFileError:
        return True
    return False


def changed_file(seed: int, number: int, content: bytes) -> bytes:
    """A file with drawn changes and a digest that fits them."""
    chance = random.Random(f"{seed}/{number}")
    if chance.random() < 0.3:
        return _with_digest(_changed_bytes(chance, content))
    length = int.from_bytes(content[:8], "little")
    fields = json.loads(content[8 : 8 + length])
    metadata = fields["__metadata__"]
    metadata["extensor"] = json.loads(metadata["extensor"])
    metadata["extensor"]["digest"] = "0" * 64
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        fields = _changed(chance, fields)
    return _with_digest(_written(fields, content[8 + length :]))


def _written(fields: Any, data: bytes) -> bytes:
    metadata = fields.get("__metadata__") if isinstance(fields, dict) else None
    if isinstance(metadata, dict):
        metadata = {
            key: value if isinstance(value, str) else _text(value)
            for key, value in metadata.items()
        }
        fields = {**fields, "__metadata__": metadata}
    header = _text(fields).encode("utf-8", "surrogatepass")
    return len(header).to_bytes(8, "little") + header + data


def _text(value: Any) -> str:
    text = json.dumps(value)
    for mark, meant in ((DEEP, "[" * 5000 + "]" * 5000), (RAW, "1e999")):
        text = text.replace(json.dumps(mark), meant)
    return text


def _changed_bytes(chance: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 5))):
        place = chance.randrange(len(changed))
        changed[place] = chance.choice((0, 1, 2, 32, 34, 44, 48, 92, 123, 125, 255))
    return bytes(changed)


def _with_digest(content: bytes) -> bytes:
    """Put the digest where the file has 64 hexadecimal digits, if it has."""
    found = re.search(rb"[0-9a-f]{64}", content)
    if found is None:
        return content
    begin, end = found.span()
    blank = content[:begin] + b"0" * 64 + content[end:]
    return content[:begin] + hashlib.sha256(blank).hexdigest().encode() + content[end:]


def _changed(chance: random.Random, tree: Any) -> Any:
    """``tree`` with something in it replaced, left out, renamed, added or exchanged."""
    tree = copy.deepcopy(tree)
    places = list(_places(tree))
    owner, key = chance.choice(places)
    kind = chance.choice(("replace", "replace", "remove", "rename", "add", "exchange"))
    if kind == "replace":
        owner[key] = copy.deepcopy(chance.choice(HOSTILE))
    elif kind == "remove":
        del owner[key]
    elif kind == "exchange":
        other, name = chance.choice(places)
        owner[key] = copy.deepcopy(other[name])
    elif isinstance(owner, dict):
        name = chance.choice(("", "x", "weight", "0", "\ud800", "__metadata__"))
        owner[name] = owner.pop(key) if kind == "rename" else copy.deepcopy(chance.choice(HOSTILE))
    else:
        owner.append(copy.deepcopy(chance.choice(HOSTILE)))
    return tree


def _places(tree: Any) -> Any:
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])


def file_finding(content: bytes) -> str | None:
    """What is wrong with how a changed file is read, if anything."""
    try:
        state = unpacked(content, "changed")
    except DamagedFileError:
        return None
    except ValueError as error:
        ours = re.match(r"^load: (format must be 1|tensors must have dtypes among)", str(error))
        return None if ours else f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    header = content[8 : 8 + int.from_bytes(content[:8], "little")]
    if "extensor" not in json.loads(header, object_pairs_hook=unique).get("__metadata__", {}):
        return None  # there is nothing of ours in it any more
    again = unpacked(content_of(state), "again")
    return None if same(state, again) else f"read as {state}, written as {again}"


def same(first: Any, second: Any) -> bool:
    """The same dicts in the same order, and arrays of the same bits."""
    if isinstance(first, dict):
        if not isinstance(second, dict) or list(first) != list(second):
            return False
        return all(same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, ex.Tensor | np.ndarray):
        a, b = (np.asarray(x) for x in (first, second))
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(first) is type(second) and (first == second or first != first)


def made_trainer() -> tuple[Trainer, DataLoader]:
    """A trainer with all that has a state, after one epoch."""
    ex.random.manual_seed(0)
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(6, 1, 2, 2)
    model = ex.nn.Sequential(ex.nn.Flatten(), ex.nn.Linear(4, 2), ex.nn.BatchNorm1d(2))
    optimizer = ex.optim.AdamW(model.parameters(), lr=0.01)
    ex.optim.WarmupLR(optimizer, 4, automatic=True)
    ex.optim.ReduceLROnPlateau(optimizer)
    trainer = Trainer(
        model,
        ex.cross_entropy,
        optimizer,
        ema=ex.optim.EMA(model, 0.9),
        monitor="loss",
        callbacks=[EarlyStopping("loss"), BestCheckpoint("loss")][:1],
    )
    loader = DataLoader(
        ArrayDataset(x, np.arange(6) % 2), 3, True, transform=RandomFlip(), generator=Generator(1)
    )
    trainer.fit(loader, 1)
    return trainer, loader


def state_finding(
    seed: int, number: int, trainer: Trainer, loader: DataLoader, good: dict[str, Any]
) -> str | None:
    """What is wrong with how a changed dict is taken over, if anything."""
    chance = random.Random(f"state/{seed}/{number}")
    part = chance.choice(("trainer", "loader", *good))
    if part not in _owners(trainer, loader):
        part = "trainer"
    owner = _owners(trainer, loader)[part]
    state = {"changed": copy.deepcopy(good if part == "trainer" else good[part])}
    for _ in range(chance.choice((1, 1, 2))):
        changed = _changed(chance, state)
        state = changed if "changed" in changed else {"changed": chance.choice(HOSTILE)}
    before = owner.state_dict()
    before = before if part != "model" else {key: x.numpy().copy() for key, x in before.items()}
    text = None
    try:
        owner.load_state_dict(state["changed"])
    except (ValueError, TypeError) as error:
        if not OURS.match(str(error)) or "\n" in str(error):
            text = f"{type(error).__name__}: {error}"
        after = owner.state_dict()
        if part == "model":
            after = {key: x.numpy() for key, x in after.items()}
        if not same(before, after):
            text = f"changed, and raised {type(error).__name__}: {error}"
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
    else:
        try:
            content_of(trainer.state_dict())
        except Exception as error:
            text = f"gives a state that cannot be saved, {type(error).__name__}: {error}"
    trainer.load_state_dict(good)
    loader.load_state_dict(good["loader"])
    return text and f"{part}: {text}"


def _owners(trainer: Trainer, loader: DataLoader) -> dict[str, Any]:
    return {
        "trainer": trainer,
        "loader": loader,
        "model": trainer.model,
        "optimizer": trainer.optimizer,
        "scaler": trainer.take_step.scaler,
        "ema": trainer.take_step.ema,
    }


def run(
    seed: int,
    changes: int,
    first: int = 0,
    every: int = 1,
    report: Callable[[str], None] = print,
) -> int:
    """How many changes are taken wrongly; ``every`` how many swaps one is tried."""
    content = content_of(small_state())
    findings = 0
    pairs = swaps(content)[seed % every :: every] if first == 0 else []
    for i, j in pairs:
        if not is_refused(swapped(content, i, j)):
            findings += 1
            report(f"swapping bytes {i} and {j} is not seen")
    trainer, loader = made_trainer()
    good = copy.deepcopy(trainer.state_dict())
    for number in range(first, first + changes):
        texts = [file_finding(changed_file(seed, number, content))]
        texts.append(state_finding(seed, number, trainer, loader, good))
        for text in filter(None, texts):
            findings += 1
            report(f"python -m soak.files 1 --seed {seed} --first {number}\n    {text}")
    return findings


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="soak.files", description=__doc__.split("\n")[0])
    parser.add_argument("changes", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args(arguments)
    print(f"soak.files: {given.changes} changes, seed {given.seed}", flush=True)
    findings = run(given.seed, given.changes, given.first)
    print(f"soak.files: {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
