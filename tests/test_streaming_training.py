"""Training from shards: in little memory, and killed in mid-epoch to the same bits."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import ENVIRONMENT

import extensor as ex
from extensor.data import ArrayDataset, BlockShuffle, DataLoader, ShardedDataset, ShardSampler
from extensor.random import Generator
from extensor.train import Trainer

# For processes that use a module of the tests.
WITH_TESTS = {
    **ENVIRONMENT,
    "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), ENVIRONMENT["PYTHONPATH"]]),
}

# Reads an epoch of more data than it may have memory for, and prints how much memory it took.
READING = """
import resource, sys
import numpy as np
import extensor as ex
from extensor.data import BlockShuffle, DataLoader, ShardedDataset

folder, small, memory, room = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

def epoch(place):
    dataset = ShardedDataset(place, memory=memory)
    samples = total = 0
    for x, y in DataLoader(dataset, 64, shuffle=True, workers=2):
        samples += len(x)
        total += int(y.sum())
    return samples, total

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

epoch(small)
in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (in_use + room, in_use + room))
before = peak()
samples, total = epoch(folder)
after = peak()
try:
    np.empty(300_000_000, np.uint8)
except MemoryError:
    print(samples, total, after - before)
"""


def _sparse(path: Path, rows: int, columns: int) -> None:
    """A file of zeros that takes no room on the disk."""
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)}
        )
        file.truncate(file.tell() + rows * columns * 4)


def _sparse_shards(folder: Path, shards: int, rows: int) -> None:
    folder.mkdir()
    for number in range(shards):
        _sparse(folder / f"{number}.x.npy", rows, 1024)
        np.save(folder / f"{number}.y.npy", np.arange(rows))


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory is measured as Linux does"
)
def test_memory_is_bounded(tmp_path: Path) -> None:
    """300 MB are read by a process that may have 100 MB more than it has.

    The bound: 24 MB that shards may take, a piece of 4 MB for each of 2 threads, 7 batches of 256 KB,
    and some megabytes for the order and for what Python does not give back.
    """
    _sparse_shards(tmp_path / "large", 5, 15000)
    _sparse_shards(tmp_path / "small", 2, 300)
    shown = subprocess.run(
        [
            sys.executable,
            "-c",
            READING,
            tmp_path / "large",
            tmp_path / "small",
            "24000000",
            "100000000",
        ],
        env={**ENVIRONMENT, "MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    samples, total, kilobytes = map(int, shown.stdout.split())
    assert (samples, total) == (75000, 5 * 15000 * 14999 // 2)
    assert kilobytes < 45_000


def test_an_unlimited_reader_would_not_pass(tmp_path: Path) -> None:
    """The same with memory for all: the limit is one that can be broken."""
    _sparse_shards(tmp_path / "large", 5, 15000)
    _sparse_shards(tmp_path / "small", 2, 300)
    shown = subprocess.run(
        [
            sys.executable,
            "-c",
            READING,
            tmp_path / "large",
            tmp_path / "small",
            "400000000",
            "100000000",
        ],
        env={**ENVIRONMENT, "MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(r"ShardedDataset: could not read .* \(Cannot allocate memory\)", shown.stderr)


def _data(folder: Path) -> None:
    rng = np.random.default_rng(0)
    for number, size in enumerate((40, 25, 31)):
        x = rng.normal(size=(size, 5)).astype(np.float32)
        y = (x[:, 0] > x[:, 1]).astype(np.int64)
        if number == 1:
            np.savez_compressed(folder / f"{number}.npz", x=x, y=y)
        else:
            np.savez(folder / f"{number}.npz", x=x, y=y)


# Trains undisturbed, then killed at several steps of an epoch, each time resumed; compares the bits.
KILLED = """
import os, signal, sys
from pathlib import Path
import extensor as ex
from killed_training import _forked, _status, contents
from extensor.data import BlockShuffle, DataLoader, ShardedDataset
from extensor.random import Generator
from extensor.train import Callback, Logging, Trainer

root = Path(sys.argv[1])

class Kill(Callback):
    def __init__(self, step):
        self.step = step
    def step_ended(self, trainer, record):
        if trainer.step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)

def noisy(batch, generator):
    x, y = batch
    return x + ex.random.randn(x.shape, generator=generator).numpy() * 0.1, y

def run(folder, kill):
    ex.random.manual_seed(3)
    model = ex.nn.Sequential(ex.nn.Linear(5, 8), ex.nn.Dropout(0.2), ex.nn.Linear(8, 2))
    optimizer = ex.optim.AdamW(model.parameters(), lr=0.01)
    trainer = Trainer(
        model, ex.cross_entropy, optimizer, folder=folder, checkpoint_every=2, accumulate=2,
        callbacks=[Logging(every=1), Kill(kill)],
    )
    dataset = ShardedDataset(root / "shards")
    loader = DataLoader(
        dataset, 5, sampler=BlockShuffle(dataset, 6, 3), transform=noisy, workers=2,
        generator=Generator(1),
    )
    trainer.resume()
    trainer.fit(loader, 2)

def begun(folder, kill):
    return _status(_forked(lambda: run(folder, kill)))

assert begun(root / "undisturbed", 0) == 0
expected = contents(root / "undisturbed")
for kill in (1, 4, 7, 10, 11, 15):
    folder = root / f"killed-{kill}"
    assert begun(folder, kill) == -signal.SIGKILL
    assert begun(folder, 0) == 0
    assert contents(folder) == expected, kill
print(len(expected))
"""


def test_training_that_is_killed_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    _data(tmp_path / "shards")
    shown = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path],
        env=WITH_TESTS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    assert int(shown.stdout) >= 4


def _trained(loader: DataLoader) -> np.ndarray:
    ex.random.manual_seed(0)
    model = ex.models.mlp([5, 8, 2])
    trainer = Trainer(model, ex.cross_entropy, ex.optim.SGD(model.parameters(), 0.1), callbacks=[])
    trainer.fit(loader, 2)
    return np.concatenate([p.numpy().ravel() for p in model.parameters()])


def test_shards_train_as_the_same_rows_in_memory(tmp_path: Path) -> None:
    """In the same order, to the same bits: streaming is a way to read and nothing else."""
    _data(tmp_path)
    dataset = ShardedDataset(tmp_path)
    rows = ArrayDataset(*dataset.batch(slice(None)))
    sampler = BlockShuffle(dataset, 8, 2)
    streamed = DataLoader(dataset, 16, sampler=sampler, workers=2, generator=Generator(4))
    in_memory = DataLoader(rows, 16, sampler=sampler, generator=Generator(4))
    np.testing.assert_array_equal(_trained(streamed), _trained(in_memory))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_steps_of_several_workers_are_those_of_one(workers: int, tmp_path: Path) -> None:
    """The micro-batches of all workers, one after the other, are the batches of a single one."""
    _data(tmp_path)
    dataset = ShardedDataset(tmp_path)
    sampler = BlockShuffle(dataset, 6, 3)
    batch = 12 // workers
    whole = DataLoader(dataset, 12, sampler=sampler, generator=Generator(4))
    shares = [
        DataLoader(
            dataset,
            batch,
            sampler=ShardSampler(sampler, rank, workers, batch=batch),
            workers=1,
            generator=Generator(4),
        )
        for rank in range(workers)
    ]
    steps = 0
    for (x, _), *micro in zip(whole, *shares, strict=True):
        joined = np.concatenate([part[0].numpy() for part in micro])
        np.testing.assert_array_equal(joined, x.numpy())
        steps += 1
    assert steps == 8
