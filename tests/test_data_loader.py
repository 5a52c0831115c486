"""Data sets, samplers and the loader: order, batches, threads, and going on in mid-epoch."""

from __future__ import annotations

import re
import threading
import time
from itertools import chain
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data import (
    ArrayDataset,
    DataLoader,
    RandomFlip,
    RandomSampler,
    SequentialSampler,
    ShardSampler,
    WeightedSampler,
)
from extensor.random import Generator


class Squares:
    """A data set of the slow kind: samples one by one, each from the thread that asks."""

    def __init__(self, size: int, delay: float = 0.0) -> None:
        self.size = size
        self.delay = delay
        self.threads: set[str] = set()

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        assert type(index) is int
        self.threads.add(threading.current_thread().name)
        time.sleep(self.delay * (index % 3))
        return np.full((1, 2, 2), index, np.float32), index * index


def _rows(loader: DataLoader) -> list[list[int]]:
    return [batch[-1].tolist() for batch in loader]


def test_array_dataset_keeps_dtypes() -> None:
    images = np.arange(12, dtype=np.uint8).reshape(4, 3)
    dataset = ArrayDataset(images, ex.tensor([0.0, 1.0, 2.0, 3.0]))
    assert len(dataset) == 4
    first, second = dataset.batch(np.array([3, 0, 3]))
    np.testing.assert_array_equal(first, images[[3, 0, 3]])
    assert first.dtype == np.uint8
    np.testing.assert_array_equal(second, [3, 0, 3])
    assert np.shares_memory(dataset.batch(slice(1, 3))[0], images)


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ((), "ArrayDataset: at least one array must be given, got arrays=()"),
        (
            (np.ones(2), np.ones(3)),
            "ArrayDataset: arrays must have the same length, got shapes=[(2,), (3,)]",
        ),
        ((np.ones(()),), "ArrayDataset: arrays must have the same length, got shapes=[()]"),
    ],
)
def test_array_dataset_errors(arrays: tuple[Any, ...], text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        ArrayDataset(*arrays)


def test_split_has_each_sample_once() -> None:
    first, second = ArrayDataset(np.arange(10)).split(0.3, Generator(1))
    assert (len(first), len(second)) == (7, 3)
    assert sorted([*first.arrays[0], *second.arrays[0]]) == list(range(10))
    assert list(first.arrays[0]) != sorted(first.arrays[0])


@pytest.mark.parametrize(("drop_last", "sizes"), [(False, [4, 4, 2]), (True, [4, 4])])
@pytest.mark.parametrize("dataset", [ArrayDataset(np.arange(10)), list(range(10))])
def test_batches_in_order(dataset: Any, drop_last: bool, sizes: list[int]) -> None:
    loader = DataLoader(dataset, 4, drop_last=drop_last)
    batches = _rows(loader)
    assert [len(batch) for batch in batches] == sizes
    assert len(loader) == len(sizes)
    assert list(chain(*batches)) == list(range(sum(sizes)))


@pytest.mark.parametrize("dataset", [ArrayDataset(np.arange(10)), list(range(10))])
def test_the_sampler_says_how_many(dataset: Any) -> None:
    assert _rows(DataLoader(dataset, 4, sampler=SequentialSampler(6))) == [[0, 1, 2, 3], [4, 5]]


def test_a_loader_in_order_draws_nothing() -> None:
    before = ex.random.get_state()
    list(DataLoader(ArrayDataset(np.arange(10)), 4))
    assert ex.random.get_state() == before


def test_empty_dataset_gives_no_batch() -> None:
    assert _rows(DataLoader(ArrayDataset(np.ones((0, 3))), 4, shuffle=True)) == []


def test_shuffle_is_a_new_order_each_epoch_and_repeats_by_seed() -> None:
    loaders = [
        DataLoader(ArrayDataset(np.arange(50)), 8, shuffle=True, generator=Generator(3))
        for _ in range(2)
    ]
    first = [[list(chain(*_rows(loader))) for _ in range(3)] for loader in loaders]
    assert first[0] == first[1]
    assert all(sorted(order) == list(range(50)) for order in first[0])
    assert len({tuple(order) for order in [*first[0], list(range(50))]}) == 4


def test_without_a_generator_the_default_one_gives_the_seed() -> None:
    def order() -> list[list[int]]:
        return _rows(DataLoader(ArrayDataset(np.arange(20)), 20, shuffle=True))

    before = ex.random.get_state()
    ex.random.manual_seed(5)
    first, second = order(), order()
    ex.random.manual_seed(5)
    assert order() == first != second
    ex.random.set_state(before)


def test_batches_are_tensors_of_the_dataset() -> None:
    dataset = ArrayDataset(np.arange(6, dtype=np.float64).reshape(3, 2), np.array([1, 2, 3]))
    ((x, y),) = DataLoader(dataset, 3)
    assert isinstance(x, ex.Tensor)
    assert x.dtype == np.float64
    assert y.tolist() == [1, 2, 3]


def test_samples_of_any_dataset_are_stacked() -> None:
    ((x, y),) = DataLoader(Squares(3), 3)
    assert x.shape == (3, 1, 2, 2)
    assert y.tolist() == [0, 1, 4]


def test_chance_of_transforms_is_new_for_each_batch_and_epoch() -> None:
    images = np.broadcast_to(np.arange(9.0), (32, 1, 1, 9))
    loader = DataLoader(ArrayDataset(images), 16, transform=RandomFlip(), generator=Generator(0))
    flips = [tuple((x.numpy()[:, 0, 0, 0] > 0).tolist()) for _ in range(2) for (x,) in loader]
    assert len(set(flips)) == 4


@pytest.mark.parametrize("workers", [1, 3])
def test_threads_do_not_change_the_batches(workers: int) -> None:
    def batches(count: int) -> list[Any]:
        loader = DataLoader(
            Squares(23, delay=0.001),
            4,
            shuffle=True,
            transform=RandomFlip(),
            workers=count,
            generator=Generator(9),
        )
        return [tuple(x.tolist() for x in batch) for _ in range(2) for batch in loader]

    assert batches(workers) == batches(0)


def test_threads_do_the_reading_and_end() -> None:
    dataset = Squares(40)
    loader = DataLoader(dataset, 4, workers=2)
    for _ in loader:
        break  # the rest is cancelled when the iterator goes
    assert all(name.startswith("extensor-loader") for name in dataset.threads)
    assert not any(t.name.startswith("extensor-loader") for t in threading.enumerate())


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_in_a_dataset_reaches_the_user(workers: int) -> None:
    class Broken(Squares):
        def __getitem__(self, index: int) -> Any:
            if index == 5:
                raise RuntimeError("sample 5 cannot be read")
            return super().__getitem__(index)

    batches = iter(DataLoader(Broken(8), 2, workers=workers))
    assert next(batches)[1].tolist() == [0, 1]
    assert next(batches)[1].tolist() == [4, 9]
    with pytest.raises(RuntimeError, match="sample 5 cannot be read"):
        next(batches)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stop", [0, 1, 4, 6, 9, 12])
def test_iteration_goes_on_where_it_was(stop: int, workers: int) -> None:
    """After any number of batches, 6 to an epoch, a new loader gives the rest of that epoch."""

    def made(seed: int) -> DataLoader:
        return DataLoader(
            Squares(23),
            4,
            shuffle=True,
            transform=RandomFlip(),
            workers=workers,
            generator=Generator(seed),
        )

    def given(loader: DataLoader, epochs: int) -> Any:
        for _ in range(epochs):
            for batch in loader:
                yield [x.tolist() for x in batch]

    expected = list(given(made(3), 3))
    loader = made(3)
    iterator = given(loader, 3)
    begun = [next(iterator) for _ in range(stop)]
    state = loader.state_dict()
    iterator.close()
    resumed = made(99)
    resumed.load_state_dict(state)
    # At the end of an epoch, before anyone has asked for more, that epoch has no batches left.
    epochs = 3 - max(stop - 1, 0) // 6
    rest = list(given(resumed, epochs))
    assert begun + rest == expected


def test_an_epoch_that_was_left_early_is_not_gone_on_with() -> None:
    loader = DataLoader(ArrayDataset(np.arange(10)), 4)
    assert next(iter(loader))[0].tolist() == [0, 1, 2, 3]
    assert _rows(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"batch_size": 0},
            ValueError,
            "DataLoader: batch_size must be 1 or more, got batch_size=0",
        ),
        ({"workers": -1}, ValueError, "DataLoader: workers must be 0 or more, got workers=-1"),
        ({"prefetch": 0}, ValueError, "DataLoader: prefetch must be 1 or more, got prefetch=0"),
        (
            {"sampler": SequentialSampler(2), "shuffle": True},
            ValueError,
            "DataLoader: sampler and shuffle exclude each other, got shuffle=True",
        ),
        (
            {"dataset": 3},
            TypeError,
            "DataLoader: dataset must have a length and items, got dataset=3",
        ),
        (
            {"sampler": SequentialSampler(9)},
            ValueError,
            "DataLoader: indices must be in [0, 2], got index=8",
        ),
        (
            {"dataset": [np.ones(2), np.ones(3)], "batch_size": 2},
            ValueError,
            "DataLoader: samples of a batch must have the same shape, got shapes=[(2,), (3,)]",
        ),
        (
            {"dataset": [(1, 2), (1,)], "batch_size": 2},
            ValueError,
            "DataLoader: samples must have the same number of parts, got parts=2",
        ),
    ],
)
def test_loader_errors(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        list(DataLoader(**{"dataset": ArrayDataset(np.arange(3)), **options}))
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({}, "keys must be ['seed', 'counter', 'position'], got keys=[]"),
        (
            {"seed": 0, "counter": 0, "position": 4},
            "position must be in [0, 3], the batches of this loader, got position=4",
        ),
    ],
)
def test_states_that_do_not_fit(state: dict[str, int], text: str) -> None:
    message = f"DataLoader.load_state_dict: {text}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        DataLoader(list(range(3))).load_state_dict(state)


def test_random_sampler() -> None:
    generator = Generator(0)
    assert sorted(RandomSampler(6).order(generator)) == list(range(6))
    some = RandomSampler(100, num_samples=5).order(generator)
    assert len(set(some.tolist())) == 5
    many = RandomSampler(3, replacement=True, num_samples=50).order(generator)
    assert len(many) == 50
    assert set(many.tolist()) == {0, 1, 2}


def test_weighted_sampler_draws_in_proportion() -> None:
    order = WeightedSampler([1, 0, 3], 4000).order(Generator(0))
    counts = np.bincount(order, minlength=3)
    assert counts[1] == 0
    assert abs(counts[2] / 4000 - 0.75) < 4 * (0.75 * 0.25 / 4000) ** 0.5
    once = WeightedSampler([1, 1, 1], 3, replacement=False).order(Generator(0))
    assert sorted(once) == [0, 1, 2]


@pytest.mark.parametrize("drop_last", [False, True])
def test_shards_divide_an_order(drop_last: bool) -> None:
    order = RandomSampler(10).order(Generator(4)).tolist()
    shards = [
        ShardSampler(RandomSampler(10), rank, 4, drop_last).order(Generator(4)).tolist()
        for rank in range(4)
    ]
    assert {len(shard) for shard in shards} == {2 if drop_last else 3}
    joined = [shards[i % 4][i // 4] for i in range(4 * len(shards[0]))]
    assert joined == (order[:8] if drop_last else order + order[:2])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: RandomSampler(3, num_samples=4),
            "RandomSampler: num_samples must be at most 3 without replacement, got num_samples=4",
        ),
        (lambda: SequentialSampler(-1), "SequentialSampler: size must be 0 or more, got size=-1"),
        (
            lambda: WeightedSampler([0.0, 0.0], 1),
            "WeightedSampler: weights must not all be 0, got sum=0.0",
        ),
        (
            lambda: WeightedSampler([1.0, -1.0], 1),
            "WeightedSampler: weights must be a row of finite numbers, none negative, "
            "got weights_shape=(2,)",
        ),
        (
            lambda: ShardSampler(RandomSampler(3), 2, 2),
            "ShardSampler: rank must be in [0, workers - 1], got rank=2, workers=2",
        ),
    ],
)
def test_sampler_errors(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
