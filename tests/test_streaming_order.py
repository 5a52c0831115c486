"""The order of streaming: by blocks, lazily, the same for any number of workers, resumed anywhere."""

from __future__ import annotations

import re
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extensor.data import (
    ArrayDataset,
    BlockShuffle,
    DataLoader,
    RandomFlip,
    RandomSampler,
    SequentialSampler,
    ShardedDataset,
    ShardSampler,
)
from extensor.data.streaming import shuffle
from extensor.data.streaming.shuffle import Permutation
from extensor.random import Generator, randint

LENGTHS = [
    [],
    [0],
    [1],
    [7],
    [6, 4],
    [10, 1, 7, 0, 30],
    [1] * 9,
    [100, 3, 64, 65, 63],
]


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize(("block", "window"), [(1, 1), (3, 2), (4, 3), (64, 1), (1000, 50)])
def test_every_sample_comes_once(lengths: list[int], block: int, window: int) -> None:
    sampler = BlockShuffle(lengths, block, window)
    order = sampler.order(Generator(3))
    assert order.dtype == np.int64
    assert len(sampler) == len(order) == sum(lengths)
    np.testing.assert_array_equal(np.sort(order), np.arange(sum(lengths)))


def _blocks(lengths: list[int], block: int) -> dict[int, int]:
    """The number of the block of each sample, cut by hand."""
    found: dict[int, int] = {}
    number = sample = 0
    for length in lengths:
        for place in range(length):
            found[sample + place] = number + place // block
        number += -(-length // block)
        sample += length
    return found


@pytest.mark.parametrize(("block", "window"), [(4, 3), (5, 1), (16, 2)])
def test_windows_hold_whole_blocks(block: int, window: int) -> None:
    """Whoever reads the order has at most ``window`` blocks open, and comes back to none."""
    lengths = [100, 3, 64, 65, 63]
    of = _blocks(lengths, block)
    order = BlockShuffle(lengths, block, window).order(Generator(8)).tolist()
    sizes = Counter(of.values())
    open_blocks: dict[int, int] = {}
    done: set[int] = set()
    for sample in order:
        number = of[sample]
        assert number not in done
        open_blocks[number] = open_blocks.get(number, 0) + 1
        assert len(open_blocks) <= window
        if all(open_blocks[n] == sizes[n] for n in open_blocks):
            done |= open_blocks.keys()
            open_blocks = {}
    assert not open_blocks
    assert len(done) == len(sizes)


def test_blocks_and_samples_are_mixed() -> None:
    order = BlockShuffle([4000, 4000], 100, 8).order(Generator(5))
    first = order[:800]
    assert len({sample // 100 for sample in first.tolist()}) == 8
    # Of 8 blocks that follow each other in the file, two in a row would be chance.
    starts = sorted({sample // 100 for sample in first.tolist()})
    assert sum(b - a == 1 for a, b in pairwise(starts)) < 6
    # Neighbours in the order come from different blocks, 7 times of 8.
    changes = (first[1:] // 100 != first[:-1] // 100).mean()
    assert abs(changes - 7 / 8) < 0.05


def test_every_place_is_equally_likely() -> None:
    """Where sample 0 lands, over many epochs: chi-square with 11 degrees of freedom."""
    generator = Generator(1)
    sampler = BlockShuffle([6, 6], 2, 3)
    places = Counter(int(np.nonzero(sampler.order(generator) == 0)[0][0]) for _ in range(1800))
    chi_square = sum((places[i] - 150) ** 2 / 150 for i in range(12))
    assert chi_square < 31.3, places  # 1 in 1,000 is larger


def test_order_is_a_function_of_the_generator_alone() -> None:
    sampler = BlockShuffle([50, 30], 4, 3)
    first, second = sampler.order(Generator(1)), sampler.order(Generator(1))
    np.testing.assert_array_equal(first, second)
    assert (first != sampler.order(Generator(2))).any()
    generator = Generator(1)
    epochs = [sampler.order(generator).tolist() for _ in range(3)]
    assert epochs[0] == first.tolist()
    assert len({tuple(epoch) for epoch in epochs}) == 3
    state = Generator(1)
    sampler.order(state)
    large = Generator(1)
    BlockShuffle([10**15], 1000, 10).lazy_order(large)
    assert state.get_state() == large.get_state()  # what is drawn does not depend on the length


def test_lazy_equals_full() -> None:
    sampler = BlockShuffle([37, 50, 3], 4, 3)
    full = sampler.order(Generator(4))
    lazy = sampler.lazy_order(Generator(4))
    for begin in range(90):
        for end in (begin, begin + 1, begin + 7, 90, 200):
            np.testing.assert_array_equal(lazy[begin:end], full[begin:end])
    np.testing.assert_array_equal(lazy[-5:], full[-5:])
    np.testing.assert_array_equal(lazy[::7], full[::7])


def test_any_thread_may_ask_for_any_part() -> None:
    sampler = BlockShuffle([3000], 10, 5)
    full = sampler.order(Generator(4))
    lazy = sampler.lazy_order(Generator(4))
    begins = np.random.default_rng(0).integers(0, 3000, 300).tolist()
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda begin: lazy[begin : begin + 20], begins))
    for begin, part in zip(begins, parts, strict=True):
        np.testing.assert_array_equal(part, full[begin : begin + 20])


def test_an_epoch_of_any_length_begins_anywhere_at_once() -> None:
    lengths = np.full(1000, 10**12)
    order = BlockShuffle(lengths, 1024, 16).lazy_order(Generator(0))
    assert len(order) == 10**15
    place = 777_777_777_777_777
    part = order[place : place + 16 * 1024]
    assert len(set(part.tolist())) == 16 * 1024
    assert len({sample // 10**12 for sample in part.tolist()}) > 5
    np.testing.assert_array_equal(order[place + 5 : place + 9], part[5:9])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 16, 17, 64, 100, 1000, 4097])
def test_computed_permutations(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of more numbers than are kept, tried on few."""
    monkeypatch.setattr(shuffle, "_DRAWN", 0)
    permutation = Permutation(size, 12345)
    whole = permutation[:]
    np.testing.assert_array_equal(np.sort(whole), np.arange(size))
    for begin in range(0, size, max(1, size // 7)):
        np.testing.assert_array_equal(permutation[begin : begin + 3], whole[begin : begin + 3])


def test_computed_permutations_are_random(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "_DRAWN", 0)
    found = Counter(tuple(Permutation(4, key)[:].tolist()) for key in range(480))
    assert len(found) == 24
    chi_square = sum((count - 20) ** 2 / 20 for count in found.values())
    assert chi_square < 60  # 23 degrees of freedom: 1 in 20,000 is larger
    large = Permutation(10**5, 1)[:]
    assert abs(np.corrcoef(np.arange(10**5), large)[0, 1]) < 0.015


def test_read_ahead_comes_a_window_before() -> None:
    """All blocks after the first window are announced once, while the one before them is used."""
    lengths = [50, 7, 23]
    order = BlockShuffle(lengths, 4, 3).lazy_order(Generator(2))
    full = order[:].tolist()
    position = {sample: place for place, sample in enumerate(full)}
    announced: list[int] = []
    for begin in range(0, 80, 5):
        for first, count in order.ahead(begin, min(begin + 5, 80)):
            samples = range(first, first + count)
            announced += samples
            assert min(position[sample] for sample in samples) >= begin
            assert max(position[sample] for sample in samples) - begin < 3 * 3 * 4
    assert len(announced) == len(set(announced))
    assert sorted(announced) == sorted(full[80 - len(announced) :])
    assert len(announced) >= 80 - 3 * 4


@pytest.mark.parametrize(
    "sampler",
    [BlockShuffle([37, 50, 3], 4, 3), SequentialSampler(90), RandomSampler(90)],
    ids=["blocks", "sequential", "random"],
)
@pytest.mark.parametrize(("workers", "batch"), [(1, 1), (2, 1), (4, 1), (3, 5), (2, 8)])
@pytest.mark.parametrize("drop_last", [False, True])
def test_the_global_order_is_that_of_any_number_of_workers(
    sampler: Any, workers: int, batch: int, drop_last: bool
) -> None:
    """Micro-batch m of a step is samples [m*b, (m+1)*b) of that step in the whole order."""
    whole = sampler.order(Generator(7))
    shares = [ShardSampler(sampler, rank, workers, drop_last, batch) for rank in range(workers)]
    orders = [share.order(Generator(7)) for share in shares]
    assert {len(order) for order in orders} == {len(share) for share in shares}
    joined = np.stack([order.reshape(-1, batch) for order in orders], axis=1).reshape(-1)
    turn = workers * batch
    length = 90 // turn * turn if drop_last else -(-90 // turn) * turn
    np.testing.assert_array_equal(joined, np.resize(whole, length))
    lazy = shares[-1].lazy_order(Generator(7))
    for begin in range(0, len(orders[-1]), 3):
        np.testing.assert_array_equal(lazy[begin : begin + 5], orders[-1][begin : begin + 5])


def test_workers_of_few_samples() -> None:
    orders = [ShardSampler(SequentialSampler(2), rank, 5).order(Generator(0)) for rank in range(5)]
    assert [order.tolist() for order in orders] == [[0], [1], [0], [1], [0]]
    assert ShardSampler(SequentialSampler(0), 1, 3).order(Generator(0)).tolist() == []


def test_seeds_of_transforms_are_those_of_one_draw() -> None:
    """They are no longer drawn together, but are the same numbers, and leave the same state."""
    seen: list[int] = []

    def noting(batch: Any, generator: Generator) -> Any:
        seen.append(generator.seed)
        return batch

    loader = DataLoader(
        ArrayDataset(np.arange(35)), 5, shuffle=True, transform=noting, generator=Generator(6)
    )
    list(loader)
    expected = Generator(6)
    RandomSampler(35).order(expected)
    seeds = randint(0, 2**64, 7, "uint64", expected).numpy().tolist()
    assert seen == seeds
    assert loader.generator.get_state() == expected.get_state()


class Row:
    """A data set of numbers that notes what is asked of it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.asked: list[int] = []
        self.ahead: list[tuple[int, int]] = []
        self.lock = threading.Lock()

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> int:
        return index

    def batch(self, indices: Any) -> tuple[Any, ...]:
        with self.lock:
            self.asked += np.asarray(indices).tolist()
        return (np.asarray(indices),)

    def read_ahead(self, runs: list[tuple[int, int]]) -> None:
        with self.lock:
            self.ahead += runs


def _loader(seed: int, workers: int, size: int = 90) -> DataLoader:
    sampler = BlockShuffle([size - 40, 40], 4, 3)
    return DataLoader(Row(size), 7, sampler=sampler, workers=workers, generator=Generator(seed))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stop", range(1, 14))
def test_the_rest_of_an_epoch_from_every_position(stop: int, workers: int) -> None:
    """Exactly the rest, and nothing of what was before is read."""
    expected = [batch.tolist() for epoch in [_loader(3, 0)] for (batch,) in epoch]
    loader = _loader(3, workers)
    batches = iter(loader)
    begun = [next(batches)[0].tolist() for _ in range(stop)]
    state = loader.state_dict()
    batches.close()  # type: ignore[attr-defined]
    resumed = _loader(99, workers)
    resumed.load_state_dict(state)
    rest = [batch.tolist() for (batch,) in resumed]
    assert begun + rest == expected
    asked = resumed.dataset.asked  # type: ignore[attr-defined]
    assert sorted(asked) == sorted(x for batch in rest for x in batch)


def test_a_loader_reads_ahead_and_knows_no_whole_order() -> None:
    loader = _loader(3, 2)
    list(loader)
    assert loader.dataset.ahead  # type: ignore[attr-defined]
    huge = DataLoader(Row(10**15), 7, sampler=BlockShuffle([10**15], 1000, 2), workers=1)
    state = {"seed": 1, "counter": 0, "position": 10**13}
    huge.load_state_dict(state)
    (first,) = next(iter(huge))
    assert len(first) == 7
    in_order = DataLoader(Row(10**15), 7)
    in_order.load_state_dict({"seed": 1, "counter": 0, "position": 10**13})
    batch = in_order.dataset.batch  # type: ignore[attr-defined]
    in_order.dataset.batch = lambda part: batch(np.arange(part.start, part.stop))  # type: ignore[attr-defined, method-assign]
    assert next(iter(in_order))[0].tolist() == list(range(7 * 10**13, 7 * 10**13 + 7))


def test_what_cannot_be_read_ahead_fails_only_when_it_is_needed() -> None:
    class Failing(Row):
        def read_ahead(self, runs: Any) -> None:
            raise OSError("not now")

    loader = DataLoader(Failing(90), 7, sampler=BlockShuffle([90], 4, 3))
    assert sum(len(batch) for (batch,) in loader) == 90


def test_a_wrong_lazy_order_is_refused() -> None:
    loader = DataLoader(Row(10), 4, sampler=BlockShuffle([20], 4, 3), generator=Generator(0))
    with pytest.raises(ValueError, match=r"^DataLoader: indices must be in \[0, 9\], got index="):
        list(loader)


def test_transforms_resume_too(tmp_path: Path) -> None:
    images = np.arange(40 * 4, dtype=np.float32).reshape(40, 1, 1, 4)
    for number in range(2):
        np.save(tmp_path / f"{number}.npy", images[20 * number : 20 * number + 20])

    def made(seed: int) -> DataLoader:
        return DataLoader(
            ShardedDataset(tmp_path), 6, shuffle=True, transform=RandomFlip(), workers=1,
            generator=Generator(seed),
        )  # fmt: skip

    expected = [x.tolist() for (x,) in made(1)]
    loader = made(1)
    batches = iter(loader)
    begun = [next(batches)[0].tolist() for _ in range(3)]
    state = loader.state_dict()
    batches.close()  # type: ignore[attr-defined]
    resumed = made(5)
    resumed.load_state_dict(state)
    assert begun + [x.tolist() for (x,) in resumed] == expected


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            (3, 1, 1),
            TypeError,
            "source must be a ShardedDataset, or the lengths of shards, got source=3",
        ),
        (
            (np.array(4), 1, 1),
            TypeError,
            "source must be a ShardedDataset, or the lengths of shards, got source='ndarray'",
        ),
        (
            ([4], None, 2),
            ValueError,
            "block and window must be given with lengths, got block=None, window=2",
        ),
        (([4], 0, 2), ValueError, "block must be 1 or more, got block=0"),
        (([4], 2, 1.5), TypeError, "window must be an integer, got window=1.5"),
        (([4, -1], 2, 2), ValueError, "source[1] must be 0 or more, got source[1]=-1"),
        (([2**62, 2**62], 2, 2), ValueError, "lengths must be below 2**63 together"),
    ],
)
def test_wrong_arguments(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(f'BlockShuffle: {text}')}$"):
        BlockShuffle(*arguments)
