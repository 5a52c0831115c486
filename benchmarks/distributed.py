"""Data-parallel training on 1, 2 and 4 workers, beside PyTorch's DDP, and what more workers would reach.

    python benchmarks/distributed.py [--models mlp conv] [--workers 1 2 4] [--steps 12] [--rounds 5]

Prints tables in Markdown. Needs mpi4py and an mpiexec beside this Python; the same model in PyTorch's
DDP on gloo is measured in turns with it if torch is installed. Every worker has one thread, here and there.

A step is a multilayer perceptron of 2.1 million parameters on 2,048 samples, or two convolutions with batch
norm and two linear layers, as many parameters, on 512 pictures. "Least" is what any sum over workers must
send: twice the parameters, less the part that a worker keeps. "Hidden" is the part of the time of an
exchange after the backward pass that is no longer waited for when it runs beside it. "Efficiency" is the
processor time of one worker for a step, divided by that of all workers together.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

WIDTH, CLASSES = 1024, 10
SAMPLES = {"mlp": 2048, "conv": 512}
ROOT = Path(__file__).resolve().parents[1]
WARM = 2  # steps that are not measured
SMALL, LARGE = 1024, 1 << 23  # bytes of messages


def data(model: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    shape = (WIDTH,) if model == "mlp" else (3, 32, 32)
    count = SAMPLES[model]
    return rng.normal(size=(count, *shape)).astype(np.float32), rng.integers(0, CLASSES, count)


def network(nn: Any, model: str) -> Any:
    """The same layers of either library."""
    if model == "mlp":
        return nn.Sequential(
            nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, CLASSES),
        )  # fmt: skip
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 8 * 8, 512), nn.ReLU(), nn.Linear(512, CLASSES),
    )  # fmt: skip


def ours(options: argparse.Namespace) -> None:
    """What one worker does."""
    import extensor as ex

    workers = ex.distributed.workers()
    ex.set_num_threads(1)
    ex.random.manual_seed(0)
    model = network(ex.nn, options.model)
    optimizer = ex.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = (ex.asarray(part) for part in data(options.model))
    size = len(x) // options.micro
    weights = [1 / options.micro] * options.micro

    def compute(number: int) -> Any:
        part = slice(number * size, (number + 1) * size)
        return ex.cross_entropy(model(x[part]), y[part])

    found: dict[str, Any] = {"parameters": model.num_parameters()}
    for name in ("overlap", "after"):
        gradients = ex.distributed.Gradients(
            model, overlap=name == "overlap", bucket_bytes=options.bucket_bytes
        )
        seconds, waits = [], []
        for step in range(options.steps + WARM):
            workers.barrier("benchmark")
            if step == WARM:
                cpu, sent = time.process_time(), workers.traffic.sent
            begin, before = time.perf_counter(), workers.traffic.waited
            optimizer.zero_grad()
            gradients(step, weights, compute)
            optimizer.step()
            seconds.append(time.perf_counter() - begin)
            waits.append(workers.traffic.waited - before)
        own = [time.process_time() - cpu, workers.traffic.sent - sent]
        told = [json.loads(text) for text in workers.gather(json.dumps(own).encode(), "figures")]
        found[name] = {
            "steps": seconds[WARM:],
            "processor": sum(each[0] for each in told) / options.steps,
            "sent": max(each[1] for each in told) / options.steps,
            "waited": median(waits[WARM:]),
        }
    found["message"], found["byte"] = message_costs(workers)
    if workers.is_first:
        print(json.dumps(found), flush=True)


def message_costs(workers: Any, count: int = 256) -> tuple[float, float]:
    """Seconds of a small message to send and to receive, and of a byte in a large one."""
    if workers.size == 1:
        return 0.0, 0.0
    costs = []
    for size, number in ((SMALL, count), (LARGE, 4)):
        arrays = [np.zeros(size, np.uint8) for _ in range(2 * number)]
        seconds = []
        for _ in range(7):
            workers.barrier("messages")
            begin = time.perf_counter()
            transfer = workers.transfer()
            if workers.rank < 2:
                for tag in range(number):
                    transfer.receive(1 - workers.rank, tag, arrays[tag])
                for tag in range(number):
                    transfer.send(1 - workers.rank, tag, arrays[number + tag])
            transfer.wait("messages")
            seconds.append((time.perf_counter() - begin) / number)
        costs.append(median(seconds))
    return costs[0], max(costs[1] - costs[0], 0.0) / LARGE


def theirs(options: argparse.Namespace) -> None:
    """The same by PyTorch, as worker RANK of WORLD_SIZE."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    nn = torch.nn
    model = network(nn, options.model)
    if dist.get_world_size() > 1:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    size = SAMPLES[options.model] // dist.get_world_size()
    here = slice(dist.get_rank() * size, (dist.get_rank() + 1) * size)
    x, y = (torch.from_numpy(part)[here] for part in data(options.model))
    seconds = []
    for step in range(options.steps + WARM):
        dist.barrier()
        if step == WARM:
            cpu = time.process_time()
        begin = time.perf_counter()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
    processor = torch.tensor([time.process_time() - cpu])
    dist.all_reduce(processor)
    if dist.get_rank() == 0:
        figures = {"steps": seconds[WARM:], "processor": float(processor) / options.steps}
        print(json.dumps(figures), flush=True)
    dist.destroy_process_group()


def measured(count: int, words: list[str]) -> dict[str, Any]:
    launcher = str(Path(sys.executable).with_name("mpiexec"))
    about = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=True)
    spare = [] if "hydra" in about.stdout.lower() else ["--oversubscribe", "--bind-to", "none"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "EXTENSOR_NUM_THREADS": "1"}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [launcher, *spare, "-n", str(count), sys.executable, __file__, "--as", "ours", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def measured_torch(count: int, words: list[str]) -> dict[str, Any]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    common = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    common |= {"WORLD_SIZE": str(count), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--as", "theirs", *words]
    started = [
        subprocess.Popen(
            command, env=common | {"RANK": str(rank)}, stdout=subprocess.PIPE, text=True
        )
        for rank in range(count)
    ]
    said = [process.communicate()[0] for process in started]
    return json.loads(said[0].splitlines()[-1])  # type: ignore[no-any-return]


Figures = dict[int, list[dict[str, Any]]]


def best(found: list[dict[str, Any]], value: Callable[[dict[str, Any]], float]) -> float:
    """The least over the rounds: what else runs on a machine only adds."""
    return min(value(each) for each in found)


def step_of(figures: dict[str, Any]) -> float:
    return median(figures["steps"])


def speed_rows(rows: Figures, others: Figures) -> Iterator[list[str]]:
    yield ["workers", "step", "torch DDP", "ratio", "processor time", "torch DDP", "efficiency"]
    alone = best(rows[min(rows)], lambda each: each["overlap"]["processor"])
    for count, found in rows.items():
        step = best(found, lambda each: step_of(each["overlap"]))
        processor = best(found, lambda each: each["overlap"]["processor"])
        torch = best(others[count], step_of) if others[count] else None
        yield [
            str(count),
            milliseconds(step),
            "-" if torch is None else milliseconds(torch),
            "-" if torch is None else f"{step / torch:.2f}",
            milliseconds(processor),
            milliseconds(best(others[count], lambda each: each["processor"])) if torch else "-",
            f"{alone / processor:.0%}",
        ]


def traffic_rows(rows: Figures) -> Iterator[list[str]]:
    yield ["workers", "sent by a worker", "of the least", "waited after", "beside", "hidden"]
    for count, found in rows.items():
        if count == 1:
            continue
        least = 2 * 4 * found[0]["parameters"] * (count - 1) / count
        sent = found[0]["overlap"]["sent"]
        after = best(found, lambda each: each["after"]["waited"])
        beside = best(found, lambda each: each["overlap"]["waited"])
        yield [
            str(count),
            f"{sent / 1e6:.2f} MB",
            f"{sent / least:.3f}",
            milliseconds(after),
            milliseconds(beside),
            f"{max(0.0, 1 - beside / after):.0%}" if after else "-",
        ]


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms"


def markdown(rows: Iterator[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---:"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def compare(model: str, options: argparse.Namespace) -> None:
    """Measure one model in turns with the other library, and print the tables."""
    words = [f"--model={model}", f"--steps={options.steps}", f"--micro={options.micro}"]
    words.append(f"--bucket-bytes={options.bucket_bytes}")
    rows: Figures = {count: [] for count in options.workers}
    others: Figures = {count: [] for count in options.workers}
    for _ in range(options.rounds):
        for count in options.workers:
            rows[count].append(measured(count, words))
            if find_spec("torch") is not None:
                others[count].append(measured_torch(count, words))
    print(
        f"### {model}\n\n{markdown(speed_rows(rows, others))}\n\n{markdown(traffic_rows(rows))}\n"
    )
    if {1, 2} <= set(rows):
        from distributed_simulation import Costs, simulation_rows

        steps = [x for each in rows[1] for x in each["overlap"]["steps"]]
        costs = Costs(
            steps=[x / options.micro for x in steps],
            parameters=rows[1][0]["parameters"],
            message=best(rows[2], lambda each: each["message"]),
            byte=best(rows[2], lambda each: each["byte"]),
        )
        beside = best(rows[2], lambda each: step_of(each["overlap"]))
        print(
            f"{markdown(simulation_rows(costs, options.micro, beside))}\n\nBetween two workers here a "
            f"message takes {1e6 * costs.message:.1f} us, and {1e9 * costs.byte:.3f} ns for each byte.\n"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--as", dest="role", choices=("ours", "theirs"))
    parser.add_argument("--model", choices=SAMPLES)
    parser.add_argument("--models", nargs="+", choices=SAMPLES, default=list(SAMPLES))
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--micro", type=int, default=4)
    parser.add_argument("--bucket-bytes", type=int, default=1 << 20)
    options = parser.parse_args()
    if options.role is not None:
        (ours if options.role == "ours" else theirs)(options)
        return
    for model in options.models:
        compare(model, options)


if __name__ == "__main__":
    main()
