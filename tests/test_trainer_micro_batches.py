"""A trainer whose batches are cut into micro-batches, on one worker."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_distributed_steps import Mail, MailWorkers

import extensor as ex
from extensor.data import ArrayDataset, DataLoader, RandomFlip
from extensor.random import Generator
from extensor.train import Logging, NotFiniteError, Trainer
from extensor.train.batch_sharding import as_shard, sharded_batches

X = np.random.default_rng(0).normal(size=(24, 6)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 3, 24)


def made(folder: Path | None = None, **options: Any) -> tuple[Trainer, DataLoader]:
    ex.random.manual_seed(4)
    nn = ex.nn
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 3))
    optimizer = options.pop("optimizer", ex.optim.Adam)(model.parameters(), lr=0.01)
    options = {"micro_batches": 3, "clip_norm": 0.5, "ema": ex.optim.EMA(model, 0.9)} | options
    callbacks = [Logging(1)] if folder is not None else []
    trainer = Trainer(
        model, ex.cross_entropy, optimizer, folder=folder, callbacks=callbacks, **options
    )
    loader = DataLoader(ArrayDataset(X, Y), 6, shuffle=True, generator=Generator(1))
    return trainer, loader


def bits(trainer: Trainer) -> bytes:
    state = trainer.take_step.state_dict()
    arrays = [np.asarray(x) for part in ("model", "optimizer", "ema") for x in state[part].values()]
    return b"".join(array.tobytes() for array in arrays)


@pytest.mark.parametrize("amp", [None, "bfloat16"])
def test_sharing_out_and_overlap_change_no_bit(amp: str | None) -> None:
    found = set()
    for shards in (False, True):
        for overlap in (False, True):
            trainer, loader = made(shard_optimizer=shards, amp=amp, clip_value=0.01)
            trainer.take_step.overlap = overlap  # type: ignore[attr-defined]
            trainer.fit(loader, 2)
            found.add(bits(trainer))
    assert len(found) == 1


@pytest.mark.parametrize("shards", [False, True])
def test_a_run_resumed_within_an_epoch_has_the_same_bits(tmp_path: Path, shards: bool) -> None:
    whole, loader = made(tmp_path / "whole", checkpoint_every=1, keep=99)
    whole.fit(loader, 3)
    for step in (1, 4, 7):
        again, loader = made(
            tmp_path / f"again{step}", checkpoint_every=1, keep=99, shard_optimizer=shards
        )
        shutil.copytree(tmp_path / "whole", tmp_path / f"again{step}")
        again.resume(tmp_path / f"again{step}/checkpoints/step-{step:09d}.safetensors")
        again.fit(loader, 3)
        for number in (step + 1, 12):
            name = f"checkpoints/step-{number:09d}.safetensors"
            places = (tmp_path / "whole" / name, tmp_path / f"again{step}" / name)
            first, second = (place.read_bytes() for place in places)
            assert first == second


def test_accumulated_batches_are_added_by_the_tree() -> None:
    """Two batches of one part each are the micro-batches of one batch in two parts."""
    found = []
    for size, accumulate, parts in ((6, 1, 2), (3, 2, 1)):
        trainer, _ = made(micro_batches=parts, accumulate=accumulate)
        data = ArrayDataset(X[:18], Y[:18])
        trainer.fit(DataLoader(data, size), 2)
        found.append(bits(trainer))
    assert found[0] == found[1]


def accumulating(micro_batches: int | None, adds_by_tree: bool = True) -> tuple[Trainer, Any]:
    """Nothing of chance in it, and a parameter that not every batch has a gradient for."""
    ex.random.manual_seed(4)
    layers = ex.nn.Sequential(ex.nn.Linear(6, 8), ex.nn.Tanh(), ex.nn.Linear(8, 3))
    model = ex.nn.ModuleDict({"layers": layers, "spare": ex.nn.Linear(3, 3)})
    model.forward = lambda x: layers(x)  # type: ignore[method-assign]
    optimizer = ex.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)

    def loss(output: Any, target: Any) -> Any:
        is_changed = int(target[0]) == 1
        return ex.cross_entropy(model["spare"](output) if is_changed else output, target)

    options: dict[str, Any] = {"clip_norm": 0.5, "callbacks": [], "accumulate": 5}
    trainer = Trainer(model, loss, optimizer, micro_batches=micro_batches, **options)
    trainer.take_step.adds_by_tree = adds_by_tree
    return trainer, DataLoader(ArrayDataset(X, Y), 3)


def test_without_micro_batches_they_are_added_by_the_same_tree() -> None:
    weights, losses = set(), set()
    for parts in (None, 1):
        trainer, loader = accumulating(parts)
        history = trainer.fit(loader, 3)
        weights.add(bits(trainer))
        losses.add(tuple(record["loss"] for record in history))
    assert len(weights) == len(losses) == 1


def test_a_run_that_added_them_one_by_one_goes_on_so() -> None:
    """Checkpoints of 0.1.0 do not say how they were added."""
    whole, loader = accumulating(None, adds_by_tree=False)
    whole.fit(loader, 4)
    by_tree, loader = accumulating(None)
    by_tree.fit(loader, 4)
    assert bits(whole) != bits(by_tree)
    first, loader = accumulating(None, adds_by_tree=False)
    first.fit(loader, 2)
    state = first.state_dict()
    assert state.pop("adds_by_tree") is False
    second, loader = accumulating(None)
    second.load_state_dict(state)
    second.fit(loader, 4)
    assert bits(second) == bits(whole)
    state["adds_by_tree"] = "yes"
    with pytest.raises(TypeError, match="adds_by_tree must be True or False"):
        second.load_state_dict(state)


def test_without_micro_batches_nothing_is_cut() -> None:
    trainer, loader = made(micro_batches=None)
    assert type(trainer.take_step).__name__ == "LocalStep"
    trainer.fit(loader, 1)


def test_the_mean_over_parts_is_that_of_the_batch() -> None:
    """Without chance and batch statistics only rounding differs, also where parts are not even."""
    results = []
    for parts in (None, 4):
        ex.random.manual_seed(0)
        model = ex.nn.Linear(6, 3)
        optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
        trainer = Trainer(model, ex.cross_entropy, optimizer, micro_batches=parts, callbacks=[])
        history = trainer.fit(DataLoader(ArrayDataset(X, Y), 7), 2)
        results.append((model.weight.numpy(), [record["loss"] for record in history]))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-6)


def test_what_is_not_finite_is_found() -> None:
    trainer, _ = made()
    bad = X.copy()
    bad[4, 0] = np.nan
    with pytest.raises(NotFiniteError, match="loss is nan: part 0 of the batch is not finite"):
        trainer.fit(DataLoader(ArrayDataset(bad, Y), 6), 1)


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match="Trainer: micro_batches must be 1 or"):
        made(micro_batches=0)
    with pytest.raises(ValueError, match="shard_optimizer=True needs micro_batches"):
        made(micro_batches=None, shard_optimizer=True)
    trainer, loader = made(optimizer=ex.optim.LAMB, shard_optimizer=True)
    with pytest.raises(ValueError, match=r"optimizer must be one of SGD, Adam, .*'LAMB'"):
        trainer.fit(loader, 1)


class Counted:
    """Samples that say which of them were read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.read.append(index)
        return index, index


@pytest.mark.parametrize("threads", [0, 2])
def test_a_loader_reads_only_what_is_wanted(threads: int) -> None:
    data = Counted()
    loader = DataLoader(data, 3, workers=threads)
    wanted = [range(0), range(1, 3), range(0), range(1)]
    found = [x[0].tolist() if x else [] for _, x in loader.dealt(wanted.__getitem__)]
    assert found == [[], [4, 5], [], [9]]
    assert sorted(data.read) == [4, 5, 9]


def test_transforms_see_the_whole_batch() -> None:
    def reversed_batch(batch: Any, generator: Any) -> Any:
        return tuple(part[::-1] for part in batch)

    loader = DataLoader(ArrayDataset(np.arange(10)), 4, transform=reversed_batch)
    found = [x[0].tolist() if x else [] for _, x in loader.dealt(lambda number: range(1, 2))]
    assert found == [[2], [6], [8]]


@pytest.mark.parametrize("transform", [(), RandomFlip()])
@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("workers", [2, 3, 5])
def test_workers_have_all_samples_between_them(
    workers: int, accumulate: int, transform: Any
) -> None:
    """Also from the middle of an epoch on, and the loader says afterwards that it is over."""
    pictures = np.random.default_rng(0).normal(size=(23, 1, 2, 2)).astype(np.float32)

    def loader() -> DataLoader:
        data = ArrayDataset(pictures, np.arange(23))
        made = DataLoader(data, 4, shuffle=True, transform=transform, generator=Generator(3))
        made.load_state_dict({"seed": 3, "counter": 0, "position": 2})
        return made

    whole = [as_shard(batch) for batch in loader()]
    found = [np.zeros_like(batch.parts[0].numpy()) for batch in whole]
    for rank in range(workers):
        dealer = loader()
        of_worker = MailWorkers(Mail(), rank, workers)
        for number, batch in enumerate(sharded_batches(dealer, 2, accumulate, 4, of_worker)):
            assert batch.size == whole[number].size
            if batch.parts:
                count = len(batch.parts[0])
                found[number][batch.begin : batch.begin + count] += batch.parts[0].numpy()
        assert dealer.state_dict()["position"] == 0
    for batch, array in zip(whole, found, strict=True):
        assert array.tobytes() == batch.parts[0].numpy().tobytes()
