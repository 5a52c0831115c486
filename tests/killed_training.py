"""A small training run that uses everything, and a process that kills it again and again.

Run as a script with the words of a command: each attempt is a fork, so the library is imported once.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import extensor as ex
from extensor.data import ArrayDataset, DataLoader, RandomFlip
from extensor.random import Generator
from extensor.train import (
    Accuracy,
    BestCheckpoint,
    ConfusionMatrix,
    EarlyStopping,
    GradientHealth,
    Logging,
    Trainer,
)

EPOCHS = 3
CALLS = ("open", "write", "pwrite", "fsync", "close", "replace", "unlink")


def made(folder: Path, **options: Any) -> tuple[Trainer, DataLoader, DataLoader]:
    """A trainer for ``folder``, and data to train on and to validate with."""
    ex.random.manual_seed(7)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(36, 1, 3, 3)).astype(np.float32)
    y = (x.sum(axis=(1, 2, 3)) > 0).astype(np.int64)
    model = ex.nn.Sequential(
        ex.nn.Flatten(),
        ex.nn.Linear(9, 8),
        ex.nn.BatchNorm1d(8),
        ex.nn.Dropout(0.2),
        ex.nn.Linear(8, 2),
    )
    optimizer = ex.optim.AdamW(model.parameters(), lr=0.01)
    ex.optim.WarmupLR(optimizer, 4, automatic=True)
    ex.optim.StepLR(optimizer, 2)
    train = DataLoader(
        ArrayDataset(x, y), 4, shuffle=True, transform=RandomFlip(), generator=Generator(1)
    )
    callbacks = [
        EarlyStopping(patience=2),
        BestCheckpoint(),
        Logging(every=1),
        GradientHealth(every=2),
        *options.pop("callbacks", []),
    ]
    trainer = Trainer(
        model,
        ex.cross_entropy,
        optimizer,
        **{
            "metrics": {"accuracy": Accuracy(), "confusion": ConfusionMatrix(2)},
            "accumulate": 2,
            "clip_norm": 0.5,
            "ema": ex.optim.EMA(model, 0.9),
            "checkpoint_every": 2,
            "keep": 2,
            "config": {"seed": 7},
            **options,
        },
        folder=folder,
        callbacks=callbacks,
    )
    return trainer, train, DataLoader(ArrayDataset(x, y), 16)


def run(folder: Path, epochs: int = EPOCHS, **options: Any) -> Trainer:
    """Train in ``folder``, going on from what is there."""
    trainer, train, validation = made(folder, **options)
    trainer.resume()
    trainer.fit(train, epochs, validation)
    return trainer


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a run that must not depend on interruptions; the machine's may."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "machine.json"
    }


def _forked(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException as error:
        os.write(2, f"{error!r}\n".encode())
        os._exit(1)


def _status(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _dying_at(number: int, folder: Path) -> None:
    """Train, and end without any warning at the system call with that number."""
    count = 0

    def guarded(function: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            if count == number:
                os._exit(9)
            count += 1
            return function(*arguments, **options)

        return call

    for name in CALLS:
        setattr(os, name, guarded(getattr(os, name)))
    run(folder)


def at_system_calls(root: Path, every: int) -> None:
    """Die at each ``every``-th system call of a run, resume, and print how many runs it took."""
    expected = _reference(root)
    number = died = 0
    while True:
        folder = root / f"call-{number}"
        status = _status(_forked(lambda: _dying_at(number, folder)))  # noqa: B023
        assert status in (0, 9), status
        died += status == 9
        assert _status(_forked(lambda: run(folder))) == 0  # noqa: B023
        assert contents(folder) == expected, f"died at call {number}"
        if status == 0:
            break
        number += every
    print(died)


def at_random_moments(root: Path, kills: int, seed: int) -> None:
    """Kill runs at random moments, several times each, until there were ``kills``."""
    chance = random.Random(seed)
    begin = time.perf_counter()
    expected = _reference(root)
    whole = time.perf_counter() - begin
    killed = number = 0
    while killed < kills:
        folder = root / f"moment-{number}"
        number += 1
        status = 1
        while status:
            child = _forked(lambda: run(folder))  # noqa: B023
            time.sleep(chance.uniform(0, whole))
            os.kill(child, signal.SIGKILL)
            status = _status(child)
            assert status in (0, -signal.SIGKILL), status
            killed += status != 0
        assert contents(folder) == expected, f"run {number} with seed {seed}"
    print(killed)


def _reference(root: Path) -> dict[str, bytes]:
    assert _status(_forked(lambda: run(root / "undisturbed"))) == 0
    return contents(root / "undisturbed")


if __name__ == "__main__":
    command, folder, *numbers = sys.argv[1:]
    {"calls": at_system_calls, "moments": at_random_moments}[command](
        Path(folder), *map(int, numbers)
    )
