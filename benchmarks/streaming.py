"""Training from shards on the disk against training from the same rows in memory.

    python -m benchmarks.streaming --gigabytes 1

Makes shards in a temporary folder, takes them out of the system's cache, and trains the same MLP in two
processes that take turns: one streams all shards, the other has as many rows in memory as ``--kept``
says. Prints the median time of a step in both, the peak memory of the first, and how long it takes to
go on in the middle of an epoch. All that was made is deleted.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from operator import truediv
from pathlib import Path
from typing import Any

import numpy as np

import extensor as ex
from extensor.data import ArrayDataset, DataLoader, ShardedDataset
from extensor.random import Generator

CLASSES = 10
_CHUNK = 4096  # rows that are made together


def make_shards(folder: Path, gigabytes: float, columns: int, shard: int, sparse: bool) -> None:
    """Rows of noise in which the first columns tell the class; or zeros that take no room."""
    rows = int(gigabytes * 2**30 / (4 * columns))
    per_shard = max(1, shard // (4 * columns))
    rng = np.random.default_rng(0)
    for number, begin in enumerate(range(0, rows, per_shard)):
        count = min(per_shard, rows - begin)
        labels = rng.integers(0, CLASSES, count)
        np.save(folder / f"shard-{number:05d}.y.npy", labels)
        path = folder / f"shard-{number:05d}.x.npy"
        with path.open("wb") as file:
            np.lib.format.write_array_header_1_0(
                file, {"descr": "<f4", "fortran_order": False, "shape": (count, columns)}
            )
            if sparse:
                file.truncate(file.tell() + count * columns * 4)
            for first in range(0, 0 if sparse else count, _CHUNK):
                chunk = labels[first : first + _CHUNK]
                values = rng.random((len(chunk), columns), np.float32)
                values[np.arange(len(chunk)), chunk] += 2
                file.write(values.data)
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def loader_of(options: argparse.Namespace, folder: str, kept: int | None) -> DataLoader:
    """The batches of all shards, or of their first rows, in memory."""
    shards = ShardedDataset(folder, memory=options.memory << 20)
    dataset: Any = shards
    if kept is not None:
        dataset = ArrayDataset(*shards.batch(slice(0, min(kept, len(shards)))))
    return DataLoader(
        dataset,
        options.batch,
        shuffle=True,
        drop_last=True,
        workers=options.workers,
        prefetch=options.prefetch,
        generator=Generator(1),
    )


def work(options: argparse.Namespace) -> None:
    """A process that trains some steps whenever it is told to, and says how long each took."""
    kept = None if options.role == "shards" else (options.kept << 20) // (4 * options.columns)
    if kept is None:
        loader = loader_of(options, options.folder, None)
    else:
        loader = loader_of(options, options.folder, kept)
    if options.threads:
        ex.set_num_threads(options.threads)
    ex.random.manual_seed(0)
    model = ex.models.mlp([options.columns, options.width, options.width, CLASSES])
    optimizer = ex.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    batches = iter(loader)

    def next_batch() -> Any:
        nonlocal batches
        found = next(batches, None)
        if found is None:
            batches = iter(loader)
            found = next(batches)
        return found

    for line in sys.stdin:
        times = []
        processor = time.process_time()
        for _ in range(int(line)):
            begin = time.perf_counter()
            x, y = next_batch()
            loss = ex.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            times.append(time.perf_counter() - begin)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        processor = time.process_time() - processor
        print(sum(times), statistics.median(times), processor, peak, flush=True)


class Turns:
    """The two processes, told in turn to train."""

    def __init__(self, folder: Path, arguments: list[str]) -> None:
        command = [sys.executable, "-m", "benchmarks.streaming", *arguments]
        self.processes = {
            role: subprocess.Popen(
                [*command, "--role", role, "--folder", str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for role in ("shards", "memory")
        }

    def steps(self, role: str, number: int) -> list[float]:
        """Seconds in all, their median, those of processors, and the peak of memory in KB."""
        process = self.processes[role]
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
        return [float(word) for word in process.stdout.readline().split()]

    def close(self) -> None:
        for process in self.processes.values():
            process.communicate()


def resumed(options: argparse.Namespace, folder: Path) -> tuple[float, bool]:
    """Seconds until the next batch in mid-epoch, and whether it is the one that was to come."""
    loader = loader_of(options, str(folder), None)
    middle = {"seed": 1, "counter": 0, "position": len(loader) // 2}
    loader.load_state_dict(middle)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    expected = [part.numpy() for part in next(batches)]
    batches.close()
    begin = time.perf_counter()
    again = loader_of(options, str(folder), None)
    again.load_state_dict(state)
    found = [part.numpy() for part in next(iter(again))]
    seconds = time.perf_counter() - begin
    return seconds, all(map(np.array_equal, found, expected))


def main() -> None:
    """Make, measure, print, delete."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--columns", type=int, default=1024)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--shard", type=int, default=256, help="megabytes of a shard")
    parser.add_argument("--memory", type=int, default=256, help="megabytes that shards may take")
    parser.add_argument("--kept", type=int, default=512, help="megabytes of rows in memory")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--prefetch", type=int, default=4)
    parser.add_argument("--threads", type=int, help="of kernels")
    parser.add_argument("--steps", type=int, default=50, help="in a turn")
    parser.add_argument("--turns", type=int, help="default: until all shards were read")
    parser.add_argument("--every", type=int, default=1, help="turns for one of the other process")
    parser.add_argument("--sparse", action="store_true", help="zeros that take no room")
    parser.add_argument("--within", help="where the temporary folder is made")
    parser.add_argument("--role", choices=("shards", "memory"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role:
        work(options)
        return
    folder = Path(tempfile.mkdtemp(prefix="extensor-streaming-", dir=options.within))
    try:
        begin = time.perf_counter()
        make_shards(folder, options.gigabytes, options.columns, options.shard << 20, options.sparse)
        print(f"{options.gigabytes:g} GB made in {time.perf_counter() - begin:.0f} s", flush=True)
        measure(options, folder)
    finally:
        shutil.rmtree(folder)


def measure(options: argparse.Namespace, folder: Path) -> None:
    """Let the two train in turn."""
    seconds, same = resumed(options, folder)
    print(f"goes on in mid-epoch after {seconds * 1e3:.0f} ms, with the same batch: {same}")
    epoch = len(loader_of(options, str(folder), None))
    turns = options.turns or -(-epoch // options.steps)
    both = Turns(folder, sys.argv[1:])
    totals: dict[str, list[float]] = {"shards": [], "memory": []}
    medians: dict[str, list[float]] = {"shards": [], "memory": []}
    processors: dict[str, list[float]] = {"shards": [], "memory": []}
    peak = 0.0
    for role in totals:
        both.steps(role, 5)
    for turn in range(turns):
        for role in totals if turn % options.every == 0 else ("shards",):
            total, median, processor, kilobytes = both.steps(role, options.steps)
            totals[role].append(total / options.steps)
            medians[role].append(median)
            processors[role].append(processor / options.steps)
            peak = max(peak, kilobytes if role == "shards" else 0.0)
    both.close()
    for role, times in totals.items():
        print(
            f"{role:7} {statistics.median(medians[role]) * 1e3:8.3f} ms a step (median), "
            f"{statistics.mean(times) * 1e3:8.3f} ms (mean), "
            f"{statistics.mean(processors[role]) * 1e3:8.3f} ms of processors, "
            f"{len(times) * options.steps} steps"
        )
    by_time = statistics.median(map(truediv, totals["shards"][:: options.every], totals["memory"]))
    by_processors = statistics.mean(processors["shards"]) / statistics.mean(processors["memory"])
    step = options.batch * options.columns * 4
    rate = step / statistics.mean(totals["shards"]) / 2**20
    read = step * turns * options.steps / 2**30
    print(
        f"shards against memory: {by_time:.3f} by time (median of turns), "
        f"{by_processors:.3f} by time of processors; {rate:.0f} MB/s, {read:.1f} GB read"
    )
    print(f"peak memory of the process that streams: {peak / 1024:.0f} MB")


if __name__ == "__main__":
    main()
