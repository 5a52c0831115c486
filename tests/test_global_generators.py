# ruff: noqa: NPY002
"""Code of users that draws from Python's and NumPy's global generators, where steps are cut into parts."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data import ArrayDataset, DataLoader
from extensor.data.epoch_batches import ReadingChance
from extensor.distributed import Gradients
from extensor.distributed.micro_batches import part_noise
from extensor.distributed.part_effects import check_repeatable as check_repeatable_part
from extensor.random.global_generators import preserve_global_generators
from extensor.train import Trainer
from extensor.train.batch_sharding import sharded_batches
from extensor.train.worker_checks import check_repeatable, repeatable_sample

X = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)


class Noisy:
    """Samples with noise of both generators."""

    def __len__(self) -> int:
        return len(X)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        noise = np.float32(np.random.normal() + random.random())
        return X[index] + noise, X[index, :1]


class Sometimes(Noisy):
    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return super().__getitem__(index) if index == 7 else (X[index], X[index, :1])


class Whole(Noisy):
    def batch(self, indices: Any) -> tuple[Any, Any]:
        return X[indices] + np.float32(np.random.normal()), X[indices, :1]


class Shuffling:
    """A sampler that draws its order from NumPy."""

    def __len__(self) -> int:
        return len(X)

    def order(self, generator: Any) -> Any:
        return np.random.permutation(len(X))


def states() -> list[str]:
    return [str(random.getstate()), str(np.random.get_state())]


def bits(batches: Any) -> list[bytes]:
    return [np.asarray(x).tobytes() for batch in batches for x in batch]


@pytest.fixture(autouse=True)
def unequal_processes() -> Iterator[None]:
    """As in several workers, nothing is known about these generators; one normal is in reserve."""
    random.seed()
    np.random.seed()
    np.random.normal()
    before = states()
    yield
    assert states() == before


def test_a_micro_batch_has_its_own_numbers() -> None:
    def drawn(step: int, number: int) -> tuple[Any, ...]:
        with part_noise(1, step, number):
            return np.random.normal(), np.random.rand(), random.random(), random.gauss(0, 1)

    assert drawn(2, 3) == drawn(2, 3)
    every = [drawn(step, number) for step in range(3) for number in (0, 1, 70)]
    assert len({x for row in every for x in row}) == 36


def test_a_generator_of_another_kind_is_put_back() -> None:
    own: Any = np.random
    before = own.get_bit_generator()
    kept = np.random.get_state(legacy=False)
    own.set_bit_generator(np.random.PCG64(5))
    try:
        expected = np.random.RandomState(np.random.PCG64(5)).random_sample(3)
        first = np.random.random_sample()
        with preserve_global_generators(0):
            np.random.random_sample(10)
        found = [first, *np.random.random_sample(2)]
    finally:
        own.set_bit_generator(before)
        np.random.set_state(kept)
    assert found == expected.tolist()


def test_micro_batches_that_wait_for_each_other_keep_their_numbers() -> None:
    """With synchronised batch norm they take turns."""
    model = ex.nn.Sequential(ex.nn.Linear(3, 2), ex.nn.BatchNorm1d(2))
    drawn: dict[int, list[float]] = {number: [] for number in range(3)}

    def compute(number: int) -> ex.Tensor:
        drawn[number] += [random.random(), np.random.rand()]
        output = model(ex.tensor(X[4 * number : 4 * number + 4]))
        drawn[number] += [random.random(), np.random.rand()]
        return output.sum()

    Gradients(model, sync_batch_norm=True)(5, [1 / 3] * 3, compute)
    for number, found in drawn.items():
        with part_noise(ex.random.get_state()[0], 5, number):
            expected = [random.random(), np.random.rand(), random.random(), np.random.rand()]
        assert found == expected


def noise(batch: Any, generator: Any) -> Any:
    return (batch[0] + np.float32(np.random.normal()), *batch[1:])


@pytest.mark.parametrize("dataset", [Noisy(), Sometimes(), ArrayDataset(X, X[:, :1])])
@pytest.mark.parametrize("transform", [(), noise])
def test_samples_are_the_same_whoever_reads_them(dataset: Any, transform: Any) -> None:
    """Parts of batches, as workers read them, have the noise of the whole."""
    sampler = Shuffling() if transform else None
    loader = DataLoader(dataset, 5, sampler=sampler, transform=transform)
    whole = list(loader.seeded(ReadingChance(1, 2)))
    for begin, end in ((0, 2), (2, 4)):
        parts = loader.dealt(
            lambda number, part=range(begin, end): range(
                part.start, min(part.stop, loader.samples_in(number))
            ),
            chance=ReadingChance(1, 2),
        )
        own = [tuple(x[begin:end] for x in batch) for batch in whole]
        assert bits(batch for _, batch in parts) == [x for x in bits(own) if x]
    is_noisy = transform or not isinstance(dataset, ArrayDataset)
    assert (bits(loader.seeded(ReadingChance(1, 3))) != bits(whole)) == bool(is_noisy)


def test_an_epoch_that_is_resumed_has_the_same_noise() -> None:
    loader = DataLoader(Noisy(), 5)
    whole = list(loader.seeded(ReadingChance(1, 2)))
    batches = loader.seeded(ReadingChance(1, 2))
    next(batches)
    state = loader.state_dict()
    again = DataLoader(Noisy(), 5)
    again.load_state_dict(state)
    assert bits(again.seeded(ReadingChance(1, 2))) == bits(whole[1:])


def test_noise_that_cannot_be_seeded_is_refused() -> None:
    with pytest.raises(ValueError, match="a data set that reads whole batches must not draw"):
        next(DataLoader(Whole(), 5).seeded(ReadingChance(1, 2)))
    with pytest.raises(ValueError, match="must be read without threads with micro_batches"):
        next(DataLoader(Noisy(), 5, workers=2).seeded(ReadingChance(1, 2)))
    with pytest.raises(ValueError, match="must be read without threads with micro_batches"):
        DataLoader(Noisy(), 5, workers=2).check_threads()
    quiet = DataLoader(ArrayDataset(X), 5, transform=lambda batch, _: batch, workers=2)
    assert len(list(quiet.seeded(ReadingChance(1, 2)))) == 3


def test_a_loader_of_a_user_draws_the_same_in_each_process() -> None:
    class Own:
        def __iter__(self) -> Iterator[Any]:
            return ((ex.tensor(np.random.rand(2)), ex.tensor([random.random()])) for _ in range(3))

    workers = ex.distributed.workers()
    first, second = (
        bits(sharded_batches(Own(), 0, 1, 2, workers, ReadingChance(1, 2))) for _ in range(2)
    )
    assert first == second
    assert bits(sharded_batches(Own(), 1, 1, 2, workers, ReadingChance(1, 2)))[:4] == first[2:]


class Net(ex.nn.Module):
    def __init__(self, kind: str) -> None:
        self.linear, self.norm = ex.nn.Linear(3, 1), ex.nn.BatchNorm1d(1)
        self.dropout = ex.nn.Dropout(0.5)
        self.kind, self.calls = kind, 0
        self.own: Any = {"numpy": np.random.default_rng(0), "extensor": ex.random.Generator(0)}
        count = 0

        def helper() -> float:
            nonlocal count
            count += 1
            return float(count)

        self.helper = helper

    def forward(self, x: Any) -> Any:
        self.calls += 1
        noise = {
            "global": lambda: float(np.random.normal() + random.random()),
            "count": lambda: float(self.calls),
            "closure": self.helper,
            "numpy": lambda: float(self.own["numpy"].normal()),
            "extensor": lambda: float(ex.random.rand(1, generator=self.own["extensor"]).item()),
        }[self.kind]()
        return self.dropout(self.norm(self.linear(x))) + noise


def trainer_of(kind: str, **options: Any) -> Trainer:
    ex.random.manual_seed(0)
    model = Net(kind)
    optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    return Trainer(model, ex.mse_loss, optimizer, callbacks=[], **options)


def fitted(**options: Any) -> list[Any]:
    trainer = trainer_of("global", **options)
    loader = DataLoader(Noisy(), 4, shuffle=True)
    history = trainer.fit(loader, 2, DataLoader(Noisy(), 4))
    return [bits([trainer.model.state_dict().values()]), history[-1]["validation_loss"]]


@pytest.mark.parametrize("sync", [False, True])
def test_a_run_depends_on_the_seed_of_the_library_alone(sync: bool) -> None:
    """Also its validation."""
    assert fitted(micro_batches=2, sync_batch_norm=sync) == fitted(
        micro_batches=2, sync_batch_norm=sync
    )


def test_without_micro_batches_everything_is_drawn_as_it_always_was() -> None:
    with preserve_global_generators(3):
        first = fitted()
    with preserve_global_generators(3):
        again = fitted()
        moved = states()
    with preserve_global_generators(4):
        other = fitted()
    assert first == again != other
    with preserve_global_generators(3):
        assert states() != moved


@pytest.mark.parametrize("kind", ["global", "count", "closure", "numpy", "extensor"])
def test_a_model_with_hidden_state_is_found(kind: str) -> None:
    step = trainer_of(kind, micro_batches=2).take_step
    batch = (ex.tensor(X[:8]), ex.tensor(X[:8, :1]))
    if kind == "global":
        check_repeatable(step, batch)
        return
    with pytest.raises(ValueError, match="a model must give the same for the same micro-batch"):
        check_repeatable(step, batch)
    assert step.model.calls == 0  # type: ignore[attr-defined]


def test_hidden_state_is_found_where_the_loss_reads_the_model() -> None:
    model, factors = Net("global"), itertools.count(1)

    def loss(output: Any, target: Any) -> Any:
        return next(factors) * ex.mse_loss(output, target) + model.penalty  # type: ignore[attr-defined]

    def forward(x: Any) -> Any:
        model.penalty = ex.zeros(())
        return Net.forward(model, x)

    model.forward = forward  # type: ignore[method-assign]
    optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    trainer = Trainer(model, loss, optimizer, callbacks=[], micro_batches=2)
    with pytest.raises(ValueError, match="a model must give the same for the same micro-batch"):
        check_repeatable(trainer.take_step, (ex.tensor(X[:8]), ex.tensor(X[:8, :1])))


@pytest.mark.parametrize("kind", ["global", "count", "closure", "numpy", "extensor"])
def test_parts_with_hidden_state_are_found(kind: str) -> None:
    model = Net(kind)

    def compute(number: int) -> Any:
        return (model(ex.asarray(X[:4])) ** 2).mean()

    if kind == "global":
        check_repeatable_part([model], compute, 0, 0, 1)
        return
    with pytest.raises(ValueError, match=r"the same loss whenever it is computed.*got part=1"):
        check_repeatable_part([model], compute, 0, 0, 1)
    assert model.calls == 0


def test_parts_that_read_an_iterator_are_not_tried() -> None:
    model, batches = Net("global"), iter([X[:4], X[4:8]])

    def compute(number: int) -> Any:
        return (model(ex.asarray(next(batches))) ** 2).mean()

    check_repeatable_part([model], compute, 0, 0, 0)
    assert len(list(batches)) == 2


def test_a_data_set_with_hidden_state_is_found() -> None:
    class Counting(Noisy):
        calls = 0

        def __getitem__(self, index: int) -> tuple[Any, Any]:
            self.calls += 1
            return X[index] + self.calls, X[index, :1]

    assert repeatable_sample(Noisy(), 3) == repeatable_sample(Noisy(), 3)
    with pytest.raises(ValueError, match=r"the same sample whenever it is asked.*sample=3"):
        repeatable_sample(Counting(), 3)


@pytest.mark.parametrize("draw", [np.random.rand, ex.random.rand, random.random])
def test_what_keeps_numbers_that_it_has_drawn_is_found(draw: Any) -> None:
    """The worker that takes the first part would draw other numbers than the one alone."""

    class Keeping(ex.nn.Linear):
        factor: Any = None

        def forward(self, x: Any) -> Any:
            if self.factor is None:
                self.factor = float(draw())
            return super().forward(x) * self.factor

    class KeepingSet(Noisy):
        factor: Any = None

        def __getitem__(self, index: int) -> tuple[Any, Any]:
            if self.factor is None:
                self.factor = np.float32(draw())
            return X[index] * self.factor, X[index, :1]

    model: Any = Keeping(X.shape[1], 1)
    optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    trainer = Trainer(model, ex.mse_loss, optimizer, callbacks=[], micro_batches=2)
    with pytest.raises(ValueError, match="a model must give the same for the same micro-batch"):
        check_repeatable(trainer.take_step, (ex.tensor(X[:8]), ex.tensor(X[:8, :1])))
    with pytest.raises(ValueError, match="the same loss whenever it is computed"):
        check_repeatable_part([model], lambda _: model(ex.tensor(X[:4])).mean(), 0, 0, 1)
    assert model.factor is None
    with pytest.raises(ValueError, match="the same sample whenever it is asked"):
        repeatable_sample(KeepingSet(), 3)


def test_samples_that_are_no_numbers_are_left_to_the_loader() -> None:
    """Which says what it takes; NumPy cannot view them as bytes."""

    class Objects(Noisy):
        def __getitem__(self, index: int) -> tuple[Any, Any]:
            return {"x": X[index]}, X[index, :1]

    assert repeatable_sample(Objects(), 3) == repeatable_sample(Objects(), 3)
    with pytest.raises(TypeError, match="DataLoader: dtype must be"):
        next(iter(DataLoader(Objects(), batch_size=2)))
