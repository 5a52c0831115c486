"""The rules of convolutions by their kernels: all gradients in one call, with the formula's bits."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import _native
from extensor.core import door
from extensor.core.op import OPS, Rule
from extensor.core.tensor import wrap

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")

# The shapes of x and of weight, and the attributes.
Row = tuple[str, tuple[int, ...], tuple[int, ...], tuple[Any, ...]]
ROWS: list[Row] = [
    ("conv1d", (2, 4, 9), (6, 4, 3), (1, 0, 1, 1)),
    ("conv1d", (2, 4, 12), (6, 2, 3), (2, 1, 2, 2)),
    ("conv1d", (3, 2, 8), (17, 2, 4), (1, "same", 1, 1)),
    ("conv1d", (0, 2, 8), (3, 2, 3), (1, "valid", 1, 1)),
    ("conv2d", (2, 3, 9, 8), (16, 3, 3, 3), (1, 1, 1, 1)),
    ("conv2d", (2, 12, 7, 9), (12, 1, 3, 3), (2, 1, 1, 12)),
    ("conv2d", (1, 32, 8, 9), (32, 32, 3, 3), (1, "same", 1, 1)),
    ("conv2d", (1, 2, 9, 11), (1, 2, 2, 3), ((3, 2), (0, 1), (1, 2), 1)),
    ("conv2d", (0, 2, 5, 6), (2, 2, 3, 3), (1, 1, 1, 1)),
    ("conv_transpose1d", (2, 4, 7), (4, 3, 3), (2, 1, 1, 2, 1)),
    ("conv_transpose2d", (2, 4, 5, 6), (4, 9, 3, 3), (1, 0, 0, 1, 1)),
    ("conv_transpose2d", (2, 6, 4, 3), (6, 2, 2, 3), ((2, 3), 1, (1, 0), 3, (1, 2))),
]
every_row = pytest.mark.parametrize("row", ROWS, ids=str)


def _called(row: Row, dtype: str, rng: np.random.Generator) -> tuple[Rule, list[Any]]:
    """The rule and its arguments without ``needs``."""
    name, x_shape, weight_shape, how = row
    op = OPS[name]
    x, weight = (rng.uniform(-1, 1, shape).astype(dtype) for shape in (x_shape, weight_shape))
    gradient = rng.uniform(-1, 1, op.formula(x, weight, None, *how).shape).astype(dtype)
    assert op.rule is not None
    return op.rule, [gradient, x, weight, *how]


def _bits(gradients: Any) -> list[tuple[Any, ...] | None]:
    return [None if x is None else (x.dtype, x.shape, x.tobytes()) for x in gradients]


def _by_formula(rule: Rule, arguments: list[Any], needs: tuple[bool, ...]) -> list[Any]:
    tensors = [wrap(x) if isinstance(x, np.ndarray) else x for x in arguments]
    with ex.no_grad():
        return [None if x is None else x.numpy() for x in rule.by_formula(tensors, needs)]


@every_row
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_of_the_formula(row: Row, dtype: str, rng: np.random.Generator) -> None:
    """Whichever gradients are asked for, in whatever layout the arrays come."""
    rule, arguments = _called(row, dtype, rng)
    turned = [np.asfortranarray(x) if isinstance(x, np.ndarray) else x for x in arguments]
    for needs in product((True, False), repeat=3):
        expected = _bits(_by_formula(rule, arguments, needs))
        for given in (arguments, turned):
            planned = _native.plan(rule.kernel, *given, needs)
            assert not planned.depends_on_values
            for found in (rule.kernel(*given, needs), planned.run(), planned.run()):
                assert _bits(found) == expected, needs


@every_row
def test_tape_calls_one_kernel(row: Row, rng: np.random.Generator) -> None:
    name, x_shape, weight_shape, how = row
    x, weight = (ex.tensor(rng.normal(size=shape)) for shape in (x_shape, weight_shape))
    x.requires_grad = weight.requires_grad = True
    output = OPS[name].function(x, weight, None, *how)
    seen: list[Any] = []
    with door.watch(lambda computed: seen.append((computed.op, computed.kernel))):
        output.backward(np.ones(output.shape))
    assert seen == [(f"{name}_backward", f"{name}_backward")]


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_weights_that_are_no_numbers(value: float, rng: np.random.Generator) -> None:
    """They meet no zeros beside the gradient, and reach no channel but their own."""
    rule, arguments = _called(("conv2d", (2, 4, 9, 8), (6, 2, 3, 3), (2, 1, 1, 2)), "float64", rng)
    needs = (True, False, False)
    clean = rule.kernel(*arguments, needs)[0]
    planned = _native.plan(rule.kernel, *arguments, needs)
    weight = arguments[2].copy()
    weight[4, 1, 0, 2] = value
    wild = [*arguments[:2], weight, *arguments[3:]]
    found = rule.kernel(*wild, needs)[0]
    with door.by_formulas():
        expected = _by_formula(rule, wild, needs)[0]
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(found[:, :3], clean[:, :3])
    assert not np.isfinite(found[:, 3]).all()
    assert np.isfinite(found[:, 3]).any()
    assert _bits(planned.run(tuple(wild[:3]))) == _bits([found, None, None])


def test_transposed_convolution_of_weights_that_are_no_numbers() -> None:
    x, weight, bias = np.ones((1, 1, 2)), np.array([[[1.0, np.inf, 1.0]]]), np.array([0.5])
    kernel = OPS["conv_transpose1d"].kernel
    assert kernel is not None
    found = kernel(x, weight, bias, 2, 0, 0, 1, 1)
    np.testing.assert_array_equal(found, [[[1.5, np.inf, 2.5, np.inf, 1.5]]])


def test_declined_for_the_formula(rng: np.random.Generator) -> None:
    rule, arguments = _called(("conv2d", (1, 2, 4, 4), (4, 2, 3, 3), (1, 0, 1, 1)), "float64", rng)
    gradient, x, weight, *how = arguments
    needs = (True, True, True)
    assert rule.kernel(*arguments, needs) is not NotImplemented
    for given in (
        (gradient[0], x[0], weight, *how, needs),
        (gradient[..., :1], x, weight, *how, needs),
        (gradient[:, :3], x, weight, *how, needs),
        (gradient, x[:, :1], weight, *how, needs),
        (gradient, x, weight.astype("float32"), *how, needs),
        (*(part.astype("float16") for part in arguments[:3]), *how, needs),
        (gradient, x, weight, 2, "same", 1, 1, needs),
        (gradient, x, weight, 1, "full", 1, 1, needs),
        (gradient, x, weight, *how, (True, True)),
        (gradient, x, weight, *how),
    ):
        assert rule.kernel(*given) is NotImplemented
    rule, arguments = _called(
        ("conv_transpose2d", (1, 4, 2, 2), (4, 2, 3, 3), (2, 0, 1, 1, 1)), "float64", rng
    )
    gradient, x, weight, *how = arguments
    assert rule.kernel(*arguments, needs) is not NotImplemented
    for given in (
        (gradient[..., :-1], x, weight, *how, needs),
        (gradient, x, weight, 2, 0, 2, 1, 1, needs),
        (gradient, x, weight, 2, "valid", 1, 1, 1, needs),
    ):
        assert rule.kernel(*given) is NotImplemented
