"""The tree over micro-batches, the rows of gradients and the norm of blocks."""

from __future__ import annotations

from itertools import pairwise
from math import fsum, sqrt

import numpy as np
import pytest

from extensor.distributed.exchange import BLOCK, Layout
from extensor.distributed.micro_batches import PartialSums, TreeNode, parts, share, total, tree_sum
from extensor.distributed.optimizer_sharding import block_squares, norm_of_blocks


def recursion(begin: int, end: int) -> str:
    """What is added to what: the left part is the largest power of two that leaves something."""
    count = end - begin
    if count == 1:
        return str(begin)
    left = 1 << (count - 1).bit_length() - 1
    return f"({recursion(begin, begin + left)}+{recursion(begin + left, end)})"


def written(left: str, right: str) -> str:
    return f"({left}+{right})"


@pytest.mark.parametrize("workers", range(1, 9))
@pytest.mark.parametrize("count", range(1, 18))
def test_any_number_of_workers_adds_as_the_recursion_does(count: int, workers: int) -> None:
    nodes: list[tuple[TreeNode, str]] = []
    for rank in range(workers):
        mine = share(count, workers, rank)
        sums = PartialSums(count, written)
        for number in mine:
            sums.put(TreeNode(0, number), str(number))
        assert [node for node, _ in sums.nodes] == parts(count, mine)
        nodes += sums.nodes
    assert total(count, nodes, written) == recursion(0, count)


@pytest.mark.parametrize(("count", "workers"), [(8, 3), (3, 8), (17, 4)])
def test_every_micro_batch_belongs_to_one_worker(count: int, workers: int) -> None:
    dealt = [number for rank in range(workers) for number in share(count, workers, rank)]
    assert dealt == list(range(count))


def test_a_worker_with_a_whole_subtree_sends_one_part() -> None:
    assert parts(8, range(4, 8)) == [(2, 1)]
    assert parts(8, range(2, 5)) == [(1, 1), (0, 4)]
    assert parts(5, range(4, 5)) == [(2, 1)]  # it has no neighbour until the top
    assert parts(8, range(0)) == []


def test_numbers_are_added_by_the_tree() -> None:
    numbers = [1e16, 1.0, -1e16, 1.0, 1.0]
    assert tree_sum(numbers) == ((1e16 + 1.0) + (-1e16 + 1.0)) + 1.0
    assert tree_sum([]) == 0.0


SHAPES = [(3, 5), (1000,), (), (2048, 2), (7,)]
DTYPES = ["f4", "f4", "f8", "f4", "f4"]


@pytest.mark.parametrize("size", [1, 4096, 10_000, 1 << 22])
@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_rows_are_cut_without_gaps(size: int, workers: int) -> None:
    layout = Layout(SHAPES, DTYPES, size)
    rows = layout.rows()
    for bucket in layout.buckets:
        assert (bucket.end - bucket.begin) % BLOCK == 0 < bucket.end - bucket.begin
        chunks = [bucket.chunk(workers, rank) for rank in range(workers)]
        edges = [edge for chunk in chunks for edge in chunk]
        assert (edges[0], edges[-1]) == (bucket.begin, bucket.end)
        assert edges == sorted(edges)
        rows[bucket.row][bucket.begin : bucket.end] += 1
    assert all((row == 1).all() for row in rows)
    for index, shape in enumerate(SHAPES):
        view = layout.view(rows, index)
        assert (view.shape, view.dtype) == (shape, DTYPES[index])
        assert view.base is not None
        view += 1
    assert sum(int((row == 2).sum()) for row in rows) == sum(map(int, map(np.prod, SHAPES)))
    assert sum(layout.waited_for) == sum(map(len, layout.buckets_of))


@pytest.mark.parametrize("length", [0, BLOCK, 5 * BLOCK, 200 * BLOCK])
def test_the_norm_of_blocks_is_the_norm(length: int) -> None:
    row = np.random.default_rng(0).standard_normal(length).astype("f4") * 1e20
    norm = norm_of_blocks(block_squares(row))
    assert norm == pytest.approx(sqrt(fsum(float(x) ** 2 for x in row)), rel=1e-13)


def test_squares_do_not_depend_on_where_a_block_was_computed() -> None:
    row = np.random.default_rng(1).standard_normal(300 * BLOCK).astype("f4")
    cuts = [0, 1, 7, 64, 65, 200, 300]
    squares = [block_squares(row[a * BLOCK : b * BLOCK]) for a, b in pairwise(cuts)]
    assert np.concatenate(squares).tobytes() == block_squares(row).tobytes()


def test_a_norm_with_an_infinity_is_not_finite() -> None:
    row = np.zeros(2 * BLOCK, "f4")
    row[5] = np.inf
    assert norm_of_blocks(block_squares(row)) == np.inf
    row[-1] = np.nan
    assert np.isnan(norm_of_blocks(block_squares(row)))
