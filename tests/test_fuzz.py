"""Random calls of every op and every rule: the process lives, and the answer is right or an error.

Half of the calls are rows of the case table with something changed (a layout, a dtype, a NaN, an
argument of a wrong kind), the others are random from end to end. What comes out must be what the
formula gives, or an error of ours that names the function; and no input may change. Every test has
its own fixed seed, so that a red one can be run again.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from agreement import Allowance, difference
from drawn_calls import HUGE, HUGE_MASK, Rng, bytes_of, rows, shown
from op_calls import RULES, anything_for, op_from_row, rule_from_row

import extensor as ex
from extensor.core.binding import PublicFunction
from extensor.core.door import ENGINE
from extensor.core.op import OPS

CALLS = 40
NAMES = {*OPS, *(f"{name}_backward" for name in RULES)}
ALLOWED = (ValueError, TypeError, IndexError, RuntimeError, MemoryError)


def _attempt(name: str, function: Callable[[], Any], context: str) -> Any:
    """The result, or the error if it is one of ours. A warning is neither.

    Only a Python number that does not fit the dtype it meets may warn, as it does in NumPy.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "(overflow|invalid value) encountered in cast")
        try:
            return function()
        except ALLOWED as error:
            known = isinstance(error, MemoryError) or str(error).startswith(f"{name}:")
            if not known:
                raise AssertionError(f"{context}: {type(error).__name__}: {error}") from error
            return error


def _check(
    name: str, owner: Any, function: Callable[[], Any], by_formula: Callable[[], Any], args: Any
) -> bool:
    """One call by all ways: whether it gave a result."""
    context = f"{name}({shown(args)})"
    before = bytes_of(args)
    ex.random.manual_seed(0)
    found = _attempt(name, function, context)
    assert bytes_of(args) == before, f"{context}: changed an input"
    ex.random.manual_seed(0)
    kernel, owner.kernel = owner.kernel, None
    try:
        expected = _attempt(name, by_formula, context)
    finally:
        owner.kernel = kernel
    if isinstance(expected, Exception):
        assert type(found) is type(expected), f"{context}: {found!r} instead of {expected!r}"
        return False
    assert not isinstance(found, Exception), f"{context}: {found!r}, the formula has a result"
    text = difference(found, expected, Allowance.of(name, args))
    assert text is None, f"{context}: {text}"
    return True


def _check_op(name: str, args: list[Any], kwargs: dict[str, Any]) -> bool:
    op, function = OPS[name], getattr(ex, name)
    return _check(
        name,
        op,
        lambda: function(*args, **kwargs),
        lambda: PublicFunction(op.public, op.bound, op.call)(*args, **kwargs),
        [*args, *kwargs.values()],
    )


@pytest.mark.parametrize("name", OPS)
def test_ops_from_rows(name: str, rng: Rng) -> None:
    chosen = itertools.islice(itertools.cycle(rows(name)), CALLS)
    succeeded = sum(_check_op(name, *op_from_row(row, rng)) for row in chosen)
    assert succeeded >= CALLS // 8, "nearly every call is refused: the test sees nothing"


@pytest.mark.parametrize("name", OPS)
def test_ops_on_anything(name: str, rng: Rng) -> None:
    for _ in range(CALLS):
        _check_op(name, anything_for(OPS[name].parameters, rng), {})


def _check_rule(name: str, args: list[Any]) -> bool:
    rule = OPS[name].rule
    assert rule is not None
    function = getattr(ex, rule.name)
    return _check(rule.name, rule, lambda: function(*args), lambda: function(*args), args)


@pytest.mark.parametrize("name", RULES)
def test_rules_from_rows(name: str, rng: Rng) -> None:
    chosen = itertools.islice(itertools.cycle(rows(name)), CALLS)
    succeeded = sum(_check_rule(name, rule_from_row(row, rng)) for row in chosen)
    assert succeeded >= CALLS // 8, "nearly every call is refused: the test sees nothing"


@pytest.mark.parametrize("name", RULES)
def test_rules_on_anything(name: str, rng: Rng) -> None:
    rule = OPS[name].rule
    assert rule is not None
    for _ in range(CALLS):
        _check_rule(name, anything_for(rule.parameters, rng))


# Ops that go through all elements of a huge array and need no memory for it: right, but for days.
# argmax and the like are here because NumPy's own loops are.
ELEMENT_BY_ELEMENT = {"same", "broadcast", "_gelu", "_softplus", "_bounded"}
RESULT_AS_LARGE = [
    name
    for name, op in OPS.items()
    if op.shape is not None
    and op.shape.__name__ in ELEMENT_BY_ELEMENT
    and name not in ("cast", "identity")  # views, where the dtype stays
]


@pytest.mark.parametrize("name", RESULT_AS_LARGE)
def test_huge_results_are_refused(name: str) -> None:
    op = OPS[name]
    attributes = [1.0 if x is ... else x for x in op.parameters.defaults[op.arity :]]
    bits = name.startswith("bitwise")
    args = [HUGE_MASK if bits or input in ("cond", "mask") else HUGE for input in op.inputs]
    found = _attempt(name, lambda: getattr(ex, name)(*args, *attributes), name)
    assert isinstance(found, MemoryError | ValueError), found


LINE = np.broadcast_to(HUGE[0, 0:1], 2**30)
HOLLOW = np.empty((2**40, 0), np.float32)
THREE = np.ones(3, np.float32)
HUGE_CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("matmul", (HUGE, HUGE)),
    ("matmul", (HOLLOW, HOLLOW.T)),
    ("matmul", (HOLLOW, np.empty((0, 3), np.float32))),
    ("matmul_backward", (HUGE, HUGE, HUGE)),
    ("linear", (HUGE, HUGE)),
    ("outer", (LINE, LINE)),
    ("einsum", ("ij,jk->ik", HUGE, HUGE)),
    ("multiply_backward", (HUGE, HUGE, HUGE)),
    ("relu_backward", (HUGE, HUGE)),
    ("softmax", (HUGE,)),
    ("concatenate", ([HUGE, HUGE],)),
    ("stack", ([HUGE, HUGE],)),
    ("roll", (HUGE, 1)),
    ("tile", (THREE, 2**62)),
    ("tile", (THREE, (2**40, 2**40))),
    ("repeat", (THREE, 2**62)),
    ("pad", (THREE, 2**62)),
    ("broadcast_to", (THREE, (2**62, 2**62, 3))),
    ("sum_backward", (np.float32(1), (2**62, 2**62))),
    ("mean_backward", (np.float32(1), (2**62, 2**62))),
    ("reshape_backward", (THREE, (2**62, 2**62))),
    ("gather", (THREE, np.array([2**62]), 0)),
    ("take", (THREE, np.array([-(2**63)]), 0)),
    *((name, (HOLLOW, 1)) for name in ("sum", "mean", "max_reduce", "prod", "var", "logsumexp")),
]


@pytest.mark.parametrize(("name", "args"), HUGE_CALLS, ids=[name for name, _ in HUGE_CALLS])
def test_huge_calls_are_refused(name: str, args: tuple[Any, ...]) -> None:
    if name == "softmax" and ENGINE == "reference":
        pytest.skip("the formula reads all of its 2**40 elements before it asks for memory")
    found = _attempt(name, lambda: getattr(ex, name)(*args), name)
    assert isinstance(found, MemoryError | ValueError), found


def test_huge_extents_without_elements() -> None:
    assert ex.sum(HOLLOW, axis=0).shape == (0,)
    assert ex.sum(HOLLOW).item() == 0
    assert ex.softmax(HOLLOW).shape == HOLLOW.shape
    assert ex.add(HOLLOW, HOLLOW).shape == HOLLOW.shape
    assert ex.matmul(HOLLOW.T, HOLLOW).shape == (0, 0)
