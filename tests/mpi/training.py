"""A small run that workers train together: models and options by name, faults on demand.

    mpiexec -n 2 python tests/mpi/training.py FOLDER --model gpt --fault kill:3:1

The first worker prints the digest of the last checkpoint, which is that of any other number of workers.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import extensor as ex
from extensor.data import ArrayDataset, DataLoader, RandomFlip, ShardedDataset
from extensor.random import Generator
from extensor.train import Accuracy, BestCheckpoint, GradientHealth, Logging, Timing, Trainer

EPOCHS = 2


class LSTM(ex.nn.Module):
    """The last state of a recurrent network, and what is made of it."""

    def __init__(self) -> None:
        self.recurrent = ex.nn.LSTM(3, 8, batch_first=True)
        self.dropout = ex.nn.Dropout(0.2)
        self.head = ex.nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        return self.head(self.dropout(self.recurrent(x)[0][:, -1]))


def pictures() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(44, 1, 8, 8)).astype(np.float32), rng.integers(0, 4, 44)


def made_lenet() -> tuple[Any, Any, dict[str, Any]]:
    model = ex.nn.Sequential(ex.models.lenet5(4, image_size=8), ex.nn.Dropout(0.1))
    settings = {"amp": "bfloat16", "clip_norm": 0.5, "train_metrics": {"accuracy": Accuracy()}}
    return model, pictures(), {**settings, "batch": 6, "accumulate": 2, "transform": RandomFlip()}


class Block(ex.nn.Module):
    """A residual block."""

    def __init__(self) -> None:
        nn = ex.nn
        self.inner = nn.Sequential(
            nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout2d(0.1)
        )

    def forward(self, x: Any) -> Any:
        return x + self.inner(x)


def made_resnet() -> tuple[Any, Any, dict[str, Any]]:
    nn = ex.nn
    stem = nn.Conv2d(1, 8, 3, bias=False), nn.BatchNorm2d(8, momentum=None), nn.ReLU()
    model = nn.Sequential(*stem, Block(), Block(), nn.Flatten(), nn.Linear(8 * 36, 4))
    settings = {"amp": "bfloat16", "clip_value": 0.05, "train_metrics": {"accuracy": Accuracy()}}
    return model, pictures(), {**settings, "accumulate": 2, "transform": RandomFlip()}


def made_gpt() -> tuple[Any, Any, dict[str, Any]]:
    tokens = np.random.default_rng(0).integers(0, 16, (40, 9))
    model = ex.models.gpt(16, context=8, layers=2, heads=2, width=16, p=0.1)
    settings = {"amp": "float16", "clip_norm": 0.3, "accumulate": 2}
    return model, (tokens[:, :-1], tokens[:, 1:]), settings


def made_lstm() -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(0)
    data = rng.normal(size=(41, 6, 3)).astype(np.float32), rng.integers(0, 4, 41)
    return LSTM(), data, {"amp": "float16", "clip_norm": 0.1, "accumulate": 3}


MODELS = {"lenet": made_lenet, "resnet": made_resnet, "gpt": made_gpt, "lstm": made_lstm}


def loss(output: Any, target: Any) -> Any:
    if output.ndim == 3:
        return ex.cross_entropy(output.reshape(-1, output.shape[-1]), target.reshape(-1))
    return ex.cross_entropy(output, target)


class Fault:
    """``kind:step:rank``, once: a file in the folder says that it was.

    It is no callback, as checkpoints must not know of it.
    """

    def __init__(self, fault: str, folder: Path) -> None:
        self.kind, step, rank = fault.split(":")
        self.step, self.rank = int(step), int(rank)
        self.mark = folder / "fault-done"

    def happen(self) -> None:
        if ex.distributed.workers().rank != self.rank or self.mark.exists():
            return
        self.mark.parent.mkdir(parents=True, exist_ok=True)
        self.mark.write_text(str(os.getpid()))
        print(f"worker {self.rank}: {self.kind}", flush=True)
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.kind == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif self.kind == "raise":
            raise RuntimeError("a mistake on one worker")
        elif self.kind == "exit":
            os._exit(3)
        elif self.kind == "sysexit":
            sys.exit(3)
        elif self.kind == "term":
            os.kill(os.getpid(), signal.SIGTERM)
        elif self.kind == "link":
            cut_link()


def streamed(options: argparse.Namespace, data: Any) -> ShardedDataset:
    """The same samples in shards, which the first worker writes."""
    folder = Path(options.stream)
    workers = ex.distributed.workers()
    if workers.is_first and not folder.exists():
        folder.mkdir(parents=True)
        for number in range(0, len(data[0]), 10):
            x, y = (part[number : number + 10] for part in data)
            np.savez(folder / f"{number:03}.npz", x=x, y=y)
    workers.barrier("shards")
    return ShardedDataset(folder)


def cut_link() -> None:
    """Of the host that this worker is on, a network namespace: nothing is told to the others."""
    subprocess.run(["ip", "link", "set", "eth0", "down"], check=True)


def made(options: argparse.Namespace) -> tuple[Trainer, DataLoader, DataLoader]:
    ex.random.manual_seed(3)
    model, data, settings = MODELS[options.model]()
    optimizer = ex.optim.AdamW(model.parameters(), lr=0.01)
    ex.optim.WarmupLR(optimizer, 3, automatic=True)
    ex.optim.StepLR(optimizer, 1)
    transform, batch = settings.pop("transform", ()), settings.pop("batch", 12)
    dataset: Any = ArrayDataset(*data) if options.stream is None else streamed(options, data)
    train = DataLoader(
        dataset, batch, shuffle=True, transform=transform, workers=options.threads,
        generator=Generator(1),
    )  # fmt: skip
    held = ArrayDataset(*(part[:10] for part in data))
    folder = Path(options.folder)
    trainer = Trainer(
        model,
        loss,
        optimizer,
        micro_batches=options.micro,
        shard_optimizer=options.shard,
        sync_batch_norm=options.sync,
        ema=ex.optim.EMA(model, 0.9),
        callbacks=[Logging(1), Timing(), GradientHealth(3), BestCheckpoint()],
        folder=folder / "run",
        checkpoint_every=2,
        **settings,
    )
    if options.fault:
        fault = Fault(options.fault, folder)
        save = trainer.save

        def saved(name: str | None = None) -> Path:
            if options.when == "checkpoint" and trainer.step >= fault.step:
                fault.happen()
            return save(name)

        trainer.save = saved  # type: ignore[method-assign]
        if options.when == "step":
            inner = trainer.take_step.forward

            def forward(batch: Any) -> Any:
                if trainer.step + 1 >= fault.step and trainer.model.training:
                    fault.happen()
                return inner(batch)

            trainer.take_step.forward = forward  # type: ignore[method-assign]
    trainer.take_step.overlap = not options.no_overlap  # type: ignore[attr-defined]
    return trainer, train, DataLoader(held, 5)


def parsed(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--model", default="lenet", choices=MODELS)
    parser.add_argument("--micro", type=int, default=4)
    parser.add_argument("--shard", action="store_true")
    parser.add_argument("--no-overlap", action="store_true")
    parser.add_argument("--sync", action="store_true", help="batch norm over all micro-batches")
    parser.add_argument("--stream", metavar="FOLDER", help="of shards to read the data from")
    parser.add_argument("--threads", type=int, default=0, help="that read")
    parser.add_argument("--fault")
    parser.add_argument("--when", default="step", choices=("start", "step", "checkpoint"))
    parser.add_argument("--other-data", type=int, help="the worker that has other data")
    return parser.parse_args(words)


def digest_of(folder: Path) -> str:
    path = sorted((folder / "run" / "checkpoints").glob("step-*"))[-1]
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def main() -> None:
    options = parsed()
    if options.fault and options.when == "start":
        kind, _, rank = options.fault.split(":")
        if _rank() == int(rank):
            mark = Path(options.folder) / "fault-done"
            if not mark.exists():
                mark.parent.mkdir(parents=True, exist_ok=True)
                mark.write_text(str(os.getpid()))
                _at_start(kind)
    trainer, train, held = made(options)
    workers = ex.distributed.workers()
    if options.other_data == workers.rank:
        train.dataset.arrays[0][0] += 1  # type: ignore[union-attr, index]
    trainer.resume()
    trainer.fit(train, EPOCHS, held)
    if ex.distributed.workers().is_first:  # it may be another one than before
        print(f"digest {digest_of(Path(options.folder))}", flush=True)


def _rank() -> int:
    return int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0")))


def _at_start(kind: str) -> None:
    print(f"worker {_rank()}: {kind} at the start", flush=True)
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif kind == "raise":
        raise RuntimeError("a mistake on one worker")
    elif kind == "exit":
        os._exit(3)
    elif kind == "sysexit":
        sys.exit(3)
    elif kind == "link":
        cut_link()


if __name__ == "__main__":
    main()
