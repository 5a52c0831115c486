"""Sizes are checked before anything is allocated or looped over."""

from __future__ import annotations

import os
import subprocess
import sys

import extreme_sizes
import pytest

import extensor as ex
from extensor import nn

unshadowed = pytest.mark.skipif(
    "EXTENSOR_SANITIZED" in os.environ,
    reason="a sanitizer needs all addresses, and ends the process where an allocation is too large",
)
TOO_LARGE = "must have fewer than 2**60 elements"


@unshadowed
def test_extreme_sizes_end_in_our_words() -> None:
    code, found, end = extreme_sizes.ended([2**40, 2**62, 10**30, -(2**63)], 3, 120)
    assert (code, found) == (0, []), end


# Each in a process of its own, as it may crash or never come back: what it is, what it says.
REFUSED = [
    ("ex.repeat(ex.ones((4,)), 2**62)",
     f"repeat: the result {TOO_LARGE}, got shape=({2**64},)"),
    ("ex.tile(ex.ones((6, 4)).T[::2], (2**62, 1))",
     f"tile: the result {TOO_LARGE}, got shape=({2**63}, 6)"),
    ("ex.split(ex.ones((0, 17, 5)), 2**40)",
     f"split: an axis of size 0 has at most 65536 sections, got indices_or_sections={2**40}"),
    ("ex.repeat_backward(ex.ones(()), [10**9], 5)",
     "repeat_backward: grad_output must have shape (5000000000,), got grad_output_shape=()"),
    ("ex.pad(ex.ones((2,)), 2**62, 'reflect')",
     f"pad: the result {TOO_LARGE}, got shape=({2 + 2**63},)"),
    ("ex.broadcast_to(ex.ones(()), (2**40, 2**40))",
     f"broadcast_to: shape {TOO_LARGE}, got shape=({2**40}, {2**40})"),
    ("ex.zeros((2**62, 0))", f"zeros: shape {TOO_LARGE}, got shape=({2**62}, 0)"),
    ("ex.add(*[ex.broadcast_to(ex.ones(()), s) for s in ((2**40, 1), (1, 2**40))])",
     f"add: the result {TOO_LARGE}, got shape=({2**40}, {2**40})"),
    ("ex.concatenate([ex.broadcast_to(ex.ones(()), (2**59,))] * 2)",
     f"concatenate: the result {TOO_LARGE}, got shape=({2**60},)"),
    ("ex.random.rand(2**40, 2**40)", f"rand: shape {TOO_LARGE}, got shape=({2**40}, {2**40})"),
    ("ex.arange(0, 1, 1e-30)", "arange: the result must have fewer than 2**60 elements, "
     "got start=0, stop=1, step=1e-30"),
    ("ex.linspace(0, 1, 2**62)", f"linspace: num {TOO_LARGE}, got num={2**62}"),
    ("ex.one_hot([0, 1], 2**60 - 1)",
     f"one_hot: the result {TOO_LARGE}, got shape=(2, {2**60 - 1})"),
    ("ex.diag(ex.ones((2,)), 2**40)",
     f"diag: the result {TOO_LARGE}, got shape=({2 + 2**40}, {2 + 2**40})"),
    ("ex.set_num_threads(10**9)", "set_num_threads: count must be 4096 or less, got count=1000000000"),
]  # fmt: skip


def test_what_cannot_be_is_refused() -> None:
    lines = [
        f"try:\n    {call}\nexcept ValueError as error:\n    print(error, flush=True)"
        for call, _ in REFUSED
    ]
    code = "\n".join(["import extensor as ex", *lines])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [text for _, text in REFUSED]


@pytest.mark.parametrize("times", [10**9, 2**62, 10**30])
def test_nothing_repeated_is_nothing(times: int) -> None:
    assert ex.repeat(ex.ones((0,)), times).shape == (0,)
    assert ex.repeat(ex.ones((3, 0)), times, 1).shape == (3, 0)
    if times == 10**9:
        assert ex.repeat(ex.ones((3, 0)), times, 0).shape == (3 * times, 0)
        assert ex.repeat_backward(ex.ones((3 * times, 0)), (3, 0), times, 0).shape == (3, 0)
    assert ex.tile(ex.ones((0, 3)), (times, 2)).shape == (0, 6)
    assert ex.repeat_backward(ex.ones((0,)), (0,), times).shape == (0,)


@pytest.mark.parametrize("far", [10**30, -(10**30)])
def test_far_diagonals_and_shifts(far: int) -> None:
    x = ex.arange(6.0).reshape(2, 3)
    assert ex.tril(x, far).tolist() == (x if far > 0 else 0 * x).tolist()
    assert ex.triu(x, far).tolist() == (0 * x if far > 0 else x).tolist()
    assert ex.eye(2, 3, far).tolist() == ex.zeros((2, 3)).tolist()
    assert ex.roll(x, far).tolist() == ex.roll(x, far % 6).tolist()
    assert ex.roll(x, (far, 1), (0, 1)).tolist() == ex.roll(x, (far % 2, 1), (0, 1)).tolist()


def test_padding_far_beyond_the_edges_is_periodic() -> None:
    x = ex.tensor([1.0, 2.0, 3.0])
    for mode in ("reflect", "symmetric", "wrap"):
        padded = ex.pad(x, (0, 10**6), mode)
        period = {"reflect": 4, "symmetric": 6, "wrap": 3}[mode]
        assert bool((padded[period:] == padded[:-period]).all())


def test_a_module_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match=TOO_LARGE.replace("*", r"\*")):
        nn.Linear(2**40, 2**40)


def test_memory_that_is_not_there_is_a_memory_error() -> None:
    with pytest.raises(
        MemoryError, match=r"^out of memory: an array needs 4503599627370496 bytes$"
    ):
        ex.zeros(2**50)


@unshadowed
def test_so_it_is_where_numpy_asks_for_it() -> None:
    with pytest.raises(MemoryError):
        ex.repeat(ex.ones(2), 2**50)


def test_a_diagonal_beyond_all_indices() -> None:
    x = ex.ones((2, 4), requires_grad=True)
    ex.sum(ex.diag(x, 10**30)).backward()
    assert x.grad is not None
    assert not x.grad.numpy().any()
