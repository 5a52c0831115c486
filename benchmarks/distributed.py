"""Data-parallel training on 1, 2 and 4 workers: seconds, processor time, bytes, and what is hidden.

    python benchmarks/distributed.py [--workers 1 2 4] [--steps 12]

Needs mpi4py and an mpiexec beside this Python. The same model in PyTorch's DDP on gloo is measured in
turns with it if torch is installed, with as many workers and one thread each.

A step is a multilayer perceptron of 2.1 million parameters. "Least" is what any sum over workers must
send: twice the parameters, less the part that a worker keeps. "Hidden" is the part of the time of an
exchange after the backward pass that is no longer waited for when it runs beside it. "Efficiency" is the
processor time of one worker for a step, divided by that of all workers together.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

WIDTH, CLASSES = 1024, 10
ROOT = Path(__file__).resolve().parents[1]


def data(samples: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(samples, WIDTH)).astype(np.float32), rng.integers(0, CLASSES, samples)


def ours(options: argparse.Namespace) -> None:
    """What one worker does."""
    import extensor as ex
    from extensor.distributed.tree import share

    workers = ex.distributed.workers()
    ex.set_num_threads(1)
    ex.random.manual_seed(0)
    nn = ex.nn
    model = nn.Sequential(
        nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
        nn.Linear(WIDTH, CLASSES),
    )  # fmt: skip
    optimizer = ex.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = (ex.asarray(part) for part in data(options.batch))
    size = options.batch // options.micro
    weights = [1 / options.micro] * options.micro
    found: dict[str, Any] = {"workers": workers.size, "parameters": model.num_parameters()}
    for overlap in (True, False):
        gradients = ex.distributed.Gradients(
            model, overlap=overlap, bucket_bytes=options.bucket_bytes
        )

        def compute(number: int) -> Any:
            part = slice(number * size, (number + 1) * size)
            return ex.cross_entropy(model(x[part]), y[part])

        seconds, waits = [], []
        for step in range(options.steps + 2):
            workers.barrier("benchmark")
            if step == 2:
                cpu, sent = time.process_time(), workers.traffic.sent
                waited = workers.traffic.waited
            begin, before = time.perf_counter(), workers.traffic.waited
            gradients(step, weights, compute)
            optimizer.step()
            seconds.append(time.perf_counter() - begin)
            waits.append(workers.traffic.waited - before)
        own = [
            time.process_time() - cpu,
            workers.traffic.sent - sent,
            workers.traffic.waited - waited,
        ]
        told = [json.loads(text) for text in workers.gather(json.dumps(own).encode(), "figures")]
        found["overlap" if overlap else "after"] = {
            "seconds": median(seconds[2:]),
            "best": min(seconds[2:]),
            "processor": sum(each[0] for each in told) / options.steps,
            "sent": max(each[1] for each in told) / options.steps,
            "sent_by_all": sum(each[1] for each in told) / options.steps,
            "waited": median(waits[2:]),
        }
    found["micro_batches_here"] = len(share(options.micro, workers.size, workers.rank))
    if workers.is_first:
        print(json.dumps(found), flush=True)


def theirs(options: argparse.Namespace) -> None:
    """The same by PyTorch, as worker RANK of WORLD_SIZE."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    nn = torch.nn
    model: Any = nn.Sequential(
        nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
        nn.Linear(WIDTH, CLASSES),
    )  # fmt: skip
    if dist.get_world_size() > 1:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    size = options.batch // dist.get_world_size()
    here = slice(dist.get_rank() * size, (dist.get_rank() + 1) * size)
    x, y = (torch.from_numpy(part)[here] for part in data(options.batch))
    seconds = []
    for step in range(options.steps + 2):
        dist.barrier()
        if step == 2:
            cpu = time.process_time()
        begin = time.perf_counter()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
    processor = torch.tensor([time.process_time() - cpu])
    dist.all_reduce(processor)
    if dist.get_rank() == 0:
        figures = {"seconds": median(seconds[2:]), "best": min(seconds[2:])}
        print(json.dumps(figures | {"processor": float(processor) / options.steps}), flush=True)
    dist.destroy_process_group()


def measured(count: int, words: list[str]) -> dict[str, Any]:
    launcher = Path(sys.executable).with_name("mpiexec")
    about = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=True)
    is_open = "open" in about.stdout.lower() or "prte" in about.stdout.lower()
    spare = ["--oversubscribe", "--bind-to", "none"] if is_open else []
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "EXTENSOR_NUM_THREADS": "1"}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [launcher, *spare, "-n", str(count), sys.executable, __file__, "--as", "ours", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def measured_torch(count: int, words: list[str]) -> dict[str, Any]:
    common = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}
    common |= {"WORLD_SIZE": str(count), "GLOO_SOCKET_IFNAME": "lo"}
    command = [sys.executable, __file__, "--as", "theirs", *words]
    started = [
        subprocess.Popen(
            command, env=common | {"RANK": str(rank)}, stdout=subprocess.PIPE, text=True
        )
        for rank in range(count)
    ]
    said = [process.communicate()[0] for process in started]
    return json.loads(said[0].splitlines()[-1])  # type: ignore[no-any-return]


def has_torch() -> bool:
    from importlib.util import find_spec

    return find_spec("torch") is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--as", dest="role", choices=("ours", "theirs"))
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--micro", type=int, default=4)
    parser.add_argument("--bucket-bytes", type=int, default=1 << 20)
    options = parser.parse_args()
    if options.role is not None:
        (ours if options.role == "ours" else theirs)(options)
        return
    words = [f"--{name}={getattr(options, name)}" for name in ("steps", "batch", "micro")]
    words.append(f"--bucket-bytes={options.bucket_bytes}")
    rows: dict[int, list[dict[str, Any]]] = {count: [] for count in options.workers}
    others: dict[int, list[dict[str, Any]]] = {count: [] for count in options.workers}
    for _ in range(options.rounds):
        for count in options.workers:
            rows[count].append(measured(count, words))
            if has_torch():
                others[count].append(measured_torch(count, words))
    alone = min(each["overlap"]["processor"] for each in rows[min(rows)])
    for count, found in rows.items():
        best = min(found, key=lambda each: each["overlap"]["processor"])
        with_, after = best["overlap"], best["after"]
        whole = 4 * best["parameters"]
        least = 2 * whole * (count - 1) / count
        hidden = 1 - with_["waited"] / after["waited"] if after["waited"] else 0.0
        line = (
            f"{count} workers: {1e3 * with_['seconds']:.0f} ms a step "
            f"(best {1e3 * min(each['overlap']['best'] for each in found):.0f}; exchange after the "
            f"backward pass {1e3 * after['seconds']:.0f}), processor {1e3 * with_['processor']:.0f} ms, "
            f"efficiency {100 * alone / with_['processor']:.0f} %"
        )
        if count > 1:
            line += (
                f", sent {with_['sent'] / 1e6:.2f} MB a worker, {with_['sent'] / least:.3f} of the "
                f"least; waited {1e3 * with_['waited']:.1f} ms, {1e3 * after['waited']:.1f} after "
                f"the backward pass, hidden {100 * hidden:.0f} %"
            )
        if others[count]:
            torch = min(each["best"] for each in others[count])
            ratio = min(each["overlap"]["best"] for each in found) / torch
            line += f"; torch DDP {1e3 * torch:.0f} ms, ours {ratio:.2f} of it"
        print(line)


if __name__ == "__main__":
    main()
