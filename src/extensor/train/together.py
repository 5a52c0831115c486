"""What a trainer does because it is one of several workers."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from extensor import random
from extensor.core.tensor import Tensor
from extensor.data.dataset import ArrayDataset
from extensor.data.samplers import ShardSampler
from extensor.distributed.agreement import check_alike, digest, machine_facts
from extensor.distributed.joining import go_on_with
from extensor.distributed.joining import workers as found_workers
from extensor.distributed.workers import WorkerLostError
from extensor.errors import arguments, value_error
from extensor.io.regular_files import file_bytes
from extensor.io.state import load
from extensor.train.callback import Callback
from extensor.train.repeatability import repeatable_sample
from extensor.train.tree_step import TreeStep

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer

_LOOKED_AT = 16  # samples of a data set that are compared where not all are at hand


def checked_cutting(
    micro_batches: int | None, shard_optimizer: bool, sync_batch_norm: bool
) -> dict[str, Any] | None:
    """How a step is cut into micro-batches, if it is: several workers need it to be."""
    shards = arguments.flag("Trainer", "shard_optimizer", shard_optimizer)
    synchronises = arguments.flag("Trainer", "sync_batch_norm", sync_batch_norm)
    if micro_batches is not None:
        parts = arguments.integer("Trainer", "micro_batches", micro_batches, 1)
        return {"micro_batches": parts, "shards": shards, "synchronises": synchronises}
    size = found_workers().size
    if size > 1:
        requirement = (
            f"micro_batches must be given for {size} workers: into how many parts a batch is cut, "
            "whatever their number (micro_batches=8); with EXTENSOR_ALONE=1 each trains by itself"
        )
        raise value_error("Trainer", requirement, micro_batches=None)
    for name, given in (("shard_optimizer", shards), ("sync_batch_norm", synchronises)):
        if given:
            requirement = f"{name}=True needs micro_batches (micro_batches=8)"
            raise value_error("Trainer", requirement, micro_batches=None)
    return None


def heard(callbacks: Sequence[Callback]) -> Sequence[Callback]:
    """The callbacks that are called on this worker."""
    if found_workers().is_first:
        return callbacks
    return [callback for callback in callbacks if not callback.only_first]


def agreed(stopped: bool) -> bool:
    """Whether any worker wants to end; then all do."""
    workers = found_workers()
    if workers.size == 1:
        return stopped
    return b"1" in workers.gather(b"1" if stopped else b"0", "whether to stop")


def check_workers(trainer: Trainer, train: Any, validation: Any, epochs: int) -> None:
    """Refuse to begin if the workers are not about to do the same."""
    workers = found_workers()
    if workers.size == 1:
        return
    workers.place = "start"
    for name, loader in (("train", train), ("validation", validation)):
        if isinstance(getattr(loader, "sampler", None), ShardSampler):
            requirement = (
                f"{name} must have the samples of all workers, which are dealt out here: a loader "
                "without a ShardSampler"
            )
            raise value_error("fit", requirement, sampler=repr(loader.sampler))
    from extensor import __version__

    step = trainer.take_step
    model = step.model.state_dict()
    options = step.state_dict(False)["options"]
    parts = (step.clip_norm, step.clip_value, str(step.amp), trainer.accumulate)
    names = [type(callback).__name__ for callback in trainer.callbacks]
    check_alike(
        workers,
        machine_facts(__version__)
        | {
            "configuration": digest(
                json.dumps(trainer.config, sort_keys=True, default=str),
                type(step.optimizer).__name__,
                sorted(options.items(), key=str),
                parts,
                names,
                getattr(step, "micro_batches", None),
                getattr(step, "shards", None),
                getattr(step, "synchronises", None),
                epochs,
                trainer.checkpoint_every,
            ),
            "model": digest(*(x for name, t in model.items() for x in (name, np.asarray(t)))),
            "data": _data_digest(train),
            "data for validation": "" if validation is None else _data_digest(validation),
            "random numbers": digest(random.get_state()),
            "step": str(trainer.step),
        },
    )


def _data_digest(loader: Any) -> str:
    """Of all samples if they are in memory, else of some; and of the order that they come in."""
    dataset = getattr(loader, "dataset", None)
    state = loader.state_dict() if hasattr(loader, "state_dict") else None
    settings = [getattr(loader, name, None) for name in ("batch_size", "drop_last")]
    settings.append(type(getattr(loader, "sampler", None)).__name__)
    known = (len(loader) if hasattr(loader, "__len__") else None, *settings, state)
    if isinstance(dataset, ArrayDataset):
        return digest(*known, *(np.asarray(array) for array in dataset.arrays))
    if dataset is None or not hasattr(dataset, "__getitem__"):
        return digest(*known)
    chosen = np.unique(np.linspace(0, len(dataset) - 1, _LOOKED_AT).astype(int)).tolist()
    return digest(*known, len(dataset), *(repeatable_sample(dataset, index) for index in chosen))


def shared_state(path: Path | None) -> dict[str, Any] | None:
    """The checkpoint that the first worker has at ``path``, for all workers; None if it has none."""
    workers = found_workers()
    if workers.size == 1:
        return None if path is None else load(path, foreign=False)
    content = b"" if path is None or not workers.is_first else file_bytes(path)
    content = workers.broadcast(content if workers.is_first else None, "checkpoint")
    if not content:
        return None
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkpoint.safetensors"
        copy.write_bytes(content)
        return load(copy, foreign=False)


def kept_state(trainer: Trainer) -> dict[str, Any]:
    """The state of a trainer in memory of its own: that of a model is its very arrays."""

    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: kept(each) for key, each in value.items()}
        return np.array(value) if isinstance(value, np.ndarray | Tensor) else value

    return {key: kept(value) for key, value in trainer.state_dict().items()}


def survive(trainer: Trainer, error: WorkerLostError, begun: dict[str, Any] | None) -> None:
    """Go on with the workers that are left from the last checkpoint, or raise ``error``.

    That needs an MPI that can tell who is gone (Open MPI's ULFM). Without a checkpoint it is from
    ``begun``, where training began.
    """
    workers = found_workers()
    if not error.is_gone or begun is None or not isinstance(trainer.take_step, TreeStep):
        raise error
    left = workers.survivors()
    go_on_with(left)
    left.place = f"going on after step {trainer.step}"
    trainer.take_step.forget_workers()
    path = None if trainer.checkpoints is None else trainer.checkpoints.latest()
    state = shared_state(path)
    trainer.load_state_dict(begun if state is None else state)
    trainer._resumed = True
    if left.is_first:
        trainer.seen = trainer._stamp()
        gone = ", ".join(name for name in workers.names if name not in left.names)
        text = f"{gone} is gone; {left.size} workers go on from step {trainer.step}"
        sys.stderr.write(f"extensor: distributed: {text}\n")
        sys.stderr.flush()


class Figures:
    """What each worker did since it was last asked: samples, seconds, waiting and traffic."""

    def __init__(self) -> None:
        self.by_worker: list[dict[str, Any]] = []
        self.samples = 0
        self._begin()

    def _begin(self) -> None:
        traffic = found_workers().traffic
        self._before = (traffic.sent, traffic.received, traffic.waited)
        self._at = time.perf_counter()
        self._cpu = time.process_time()
        self.samples = 0

    def tell(self) -> None:
        """Let all workers know, at the end of an epoch."""
        workers = found_workers()
        if workers.size == 1:
            return
        seconds = time.perf_counter() - self._at
        sent, received, waited = self._before
        traffic = workers.traffic
        own = {
            "worker": workers.names[workers.rank],
            "samples_per_second": self.samples / seconds,
            "seconds": seconds,
            "processor_seconds": time.process_time() - self._cpu,
            "waited": traffic.waited - waited,
            "sent": traffic.sent - sent,
            "received": traffic.received - received,
        }
        told = workers.gather(json.dumps(own).encode(), "figures")
        self.by_worker = [json.loads(text) for text in told]
        self._begin()
