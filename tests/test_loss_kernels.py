"""Kernels of losses, PReLU, GLU and division with a remainder against their formulas, to the bit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import tolerances

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS
from extensor.core.tensor import wrap

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")

every_float = pytest.mark.parametrize("dtype", ["float32", "float64"])
# The attributes after the reduction.
PAIR_LOSSES: dict[str, list[tuple[Any, ...]]] = {
    "mse_loss": [()],
    "l1_loss": [()],
    "smooth_l1_loss": [(1.0,), (0.3,), (2,)],
    "huber_loss": [(1.0,), (0.3,), (2,)],
    "hinge_loss": [()],
    "kl_div": [(False,), (True,)],
}
ROUNDED = ("kl_div",)  # exp and log of kernels are not those of NumPy


def _assert_same(found: Any, expected: Any) -> None:
    """Bit for bit, signs of zeros too; NaN may be any NaN."""
    assert found is not NotImplemented
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[number]), np.signbit(expected[number]))


def _by_formula(rule: Any, *arguments: Any) -> list[np.ndarray]:
    given = [wrap(x) if isinstance(x, np.ndarray) else x for x in arguments]
    with ex.no_grad(), np.errstate(all="ignore"):
        return [x.numpy() for x in rule.by_formula(given, (True,) * len(rule.fields))]


def _special(dtype: str, count: int) -> list[np.ndarray]:
    """Every combination of zeros, kinks, infinities, NaN and numbers in between."""
    info = np.finfo(dtype)
    tiny = (info.smallest_subnormal, info.tiny)
    some = [0.0, *tiny, 0.3, 0.5, 1.0, 1.5, 3.0, 90.0, info.max, np.inf]
    values = np.array([*some, *(-x for x in some), np.nan], dtype)
    return [np.ascontiguousarray(x.ravel()) for x in np.meshgrid(*[values] * count)]


@pytest.mark.parametrize("name", PAIR_LOSSES)
@every_float
def test_losses_at_special_values(name: str, dtype: str) -> None:
    op = OPS[name]
    prediction, target = _special(dtype, 2)
    gradient = np.resize(np.array([1.0, -0.5, 0.0, 3.0], dtype), prediction.size)
    for attributes in PAIR_LOSSES[name]:
        loss = op.kernel(prediction, target, "none", *attributes)
        found = op.rule.kernel(gradient, prediction, target, "none", *attributes, (True, True))
        expected = _by_formula(op.rule, gradient, prediction, target, "none", *attributes)
        pairs = [
            (loss, op.formula(prediction, target, "none", *attributes)),
            *zip(found, expected, strict=True),
        ]
        for result, reference in pairs:
            if name in ROUNDED:
                np.testing.assert_allclose(result, reference, tolerances.of(dtype)["rtol"])
            else:
                _assert_same(result, reference)


@pytest.mark.parametrize("name", PAIR_LOSSES)
@every_float
def test_losses_over_lengths(name: str, dtype: str, rng: np.random.Generator) -> None:
    op = OPS[name]
    reductions = ["mean", "sum", "none", *(["batchmean"] if name == "kl_div" else [])]
    for length, attributes in itertools.product((*range(1, 40), 40_000), PAIR_LOSSES[name]):
        pair = [rng.uniform(0.1, 3, (2, length)).astype(dtype) for _ in range(2)]
        wide = [x.astype("float64") for x in pair]
        for reduction in reductions:
            found = op.kernel(*pair, reduction, *attributes)
            expected = op.formula(*wide, reduction, *attributes)
            np.testing.assert_allclose(found, expected, **tolerances.of(dtype))
            gradient = rng.uniform(-1, 1, found.shape).astype(dtype)
            gradients = op.rule.kernel(gradient, *pair, reduction, *attributes, (True, True))
            references = _by_formula(op.rule, gradient, *pair, reduction, *attributes)
            for result, reference in zip(gradients, references, strict=True):
                np.testing.assert_allclose(result, reference, **tolerances.of(dtype))
            for i, needs in enumerate([(True, False), (False, True)]):
                only = op.rule.kernel(gradient, *pair, reduction, *attributes, needs)
                assert only[1 - i] is None
                _assert_same(only[i], gradients[i])


@every_float
def test_losses_of_strided_arrays(dtype: str, rng: np.random.Generator) -> None:
    pair = [rng.uniform(-2, 2, (7, 9)).astype(dtype) for _ in range(2)]
    gradient = rng.uniform(-1, 1, (7, 9)).astype(dtype)
    op = OPS["huber_loss"]
    expected = op.kernel(*pair, "none", 1.0)
    gradients = op.rule.kernel(gradient, *pair, "none", 1.0, (True, True))
    strided = [np.repeat(x, 2, axis=1)[:, ::2] for x in (gradient, *pair)]
    _assert_same(op.kernel(*strided[1:], "none", 1.0), expected)
    for found, same in zip(
        op.rule.kernel(*strided, "none", 1.0, (True, True)), gradients, strict=True
    ):
        _assert_same(found, same)


def test_kernels_leave_complaints_to_python() -> None:
    x, y = ex.tensor([0.5, 2.0]), ex.tensor([1.0, 1.0])
    for reduction in ("mean", "sum", "none"):
        with pytest.raises(ValueError, match=r"prediction must be in \[0, 1\], got prediction=2.0"):
            ex.binary_cross_entropy(x, y, reduction)
    with pytest.raises(ValueError, match="beta must be 0 or greater, got beta=-1"):
        ex.smooth_l1_loss(x, y, beta=-1.0)
    with pytest.raises(ValueError, match="delta must be above 0, got delta=0"):
        ex.huber_loss(x, y, delta=0.0)
    with pytest.raises(ValueError, match="got reduction='batchmean'"):
        ex.mse_loss(x, y, "batchmean")
    assert ex.kl_div(x[0], y[0], "batchmean").item() == ex.kl_div(x[0], y[0], "sum").item()


@every_float
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_nll_loss_over_sizes(dtype: str, reduction: str, rng: np.random.Generator) -> None:
    op = OPS["nll_loss"]
    for shape in ((1, 1), (1, 5), (7, 3), (5000, 11), (300, 1000)):
        x = rng.uniform(-9, 0, shape).astype(dtype)
        target = rng.integers(0, shape[1], shape[0])
        target[1:][rng.random(shape[0] - 1) < 0.2] = -7
        x[target == -7] = np.nan
        found = op.kernel(x, target, None, reduction, -7)
        wide = op.formula(x.astype("float64"), target, None, reduction, -7)
        np.testing.assert_allclose(found, wide, **tolerances.of(dtype))
        gradient = np.array(0.7, dtype)
        _assert_same(
            op.rule.kernel(gradient, shape, target, reduction, None, -7),
            _by_formula(op.rule, gradient, shape, target, reduction, None, -7)[0],
        )


def _layouts(x: np.ndarray) -> list[np.ndarray]:
    """The same numbers contiguous, in Fortran's order, with gaps, and backwards in memory."""
    if x.ndim == 0:
        return [x]
    backwards = np.ascontiguousarray(x[::-1])[::-1]
    return [x, np.asfortranarray(x), np.repeat(x[..., None], 2, axis=-1)[..., 0], backwards]


@every_float
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("classes", [1, 2, 17, 100])
def test_weights_and_smoothed_labels(
    classes: int, smoothing: float, reduction: Any, dtype: str, rng: np.random.Generator
) -> None:
    """One of the weights is 0, and its class has a logit without a limit."""
    op, rows = OPS["cross_entropy"], 9
    logits = rng.normal(size=(rows, classes)).astype(dtype) * 3
    target = rng.integers(0, classes, rows)
    weight = rng.uniform(0.5, 2, classes).astype(dtype)
    if classes > 2:
        weight[1], logits[::2, 1] = 0, -np.inf
    for weights, ignored in itertools.product((weight, None), (-100, int(target[0]))):
        if (target == ignored).all() or (weights is None and smoothing and classes > 2):
            continue
        attributes = (target, weights, reduction, smoothing, ignored)
        with np.errstate(all="ignore"):
            expected = op.formula(logits, *attributes)
        tolerances.assert_close(op.kernel(logits, *attributes), expected, dtype)
        given = [np.array(0.7, dtype), logits, target, reduction, weights, smoothing, ignored]
        found = op.rule.kernel(*given, (True, False))[0]
        with np.errstate(all="ignore"):
            wrapped = [wrap(x) if isinstance(x, np.ndarray) else x for x in given]
            expected = op.rule.by_formula(wrapped, (True, False))[0].numpy()
        tolerances.assert_close(found, expected, dtype)


@every_float
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_nll_loss_with_weights(reduction: Any, dtype: str, rng: np.random.Generator) -> None:
    op, rule = OPS["nll_loss"], OPS["nll_loss"].rule
    logs = rng.normal(size=(9, 5)).astype(dtype)
    target, weight = np.arange(9) % 5, np.array([0, 1, 2, 0.5, 3], dtype)
    logs[:, 0] = -np.inf
    for ignored in (-100, 3):
        expected = op.formula(logs, target, weight, reduction, ignored)
        found = op.kernel(logs, target, weight, reduction, ignored)
        tolerances.assert_close(found, expected, dtype)
        given = [np.array(0.7, dtype), (9, 5), target, reduction, weight, ignored]
        expected = _by_formula(rule, *given)[0]
        tolerances.assert_close(rule.kernel(*given), expected, dtype)
        assert not np.signbit(rule.kernel(*given)[:, 0]).any()


@every_float
def test_weights_that_add_up_to_nothing_are_for_the_formula(dtype: str) -> None:
    logits, target, weight = np.ones((2, 3), dtype), np.zeros(2, int), np.array([0, 1, 1], dtype)
    kernel = OPS["cross_entropy"].kernel
    assert kernel(logits, target, weight, "mean", 0.0, -100) is NotImplemented
    assert kernel(logits, target, weight, "sum", 0.0, -100) == 0
    assert kernel(logits, target, weight[:2], "sum", 0.0, -100) is NotImplemented
    assert kernel(logits, target, None, "sum", 1.5, -100) is NotImplemented


PRELU_SHAPES = [
    ((), ()), ((5,), (1,)), ((4, 3), (3,)), ((4, 3), ()), ((2, 3, 4, 5), (3,)), ((2, 1, 5), (1,)),
    ((300, 70), (70,)), ((3, 40, 90), (40,)), ((0, 3), (3,)), ((3, 0), (0,)), ((0,), (1,)),
]  # fmt: skip


@every_float
@pytest.mark.parametrize(("shape", "alpha_shape"), PRELU_SHAPES)
def test_prelu(dtype: str, shape: Any, alpha_shape: Any, rng: np.random.Generator) -> None:
    op = OPS["prelu"]
    x, gradient = (rng.uniform(-3, 3, shape).astype(dtype) for _ in range(2))
    x[rng.random(shape) < 0.1] = 0
    gradient[rng.random(shape) < 0.1] = 0
    alpha = rng.uniform(-1, 1, alpha_shape).astype(dtype)
    expected = op.formula(x, alpha)
    gradients = _by_formula(op.rule, gradient, x, alpha)
    for a, b, c in itertools.product(_layouts(x), _layouts(gradient), _layouts(alpha)):
        _assert_same(op.kernel(a, c), expected)
        found = op.rule.kernel(b, a, c, (True, True))
        for result, reference in zip(found, gradients, strict=True):
            assert result.shape == reference.shape
            _assert_same(result, reference)
    only = op.rule.kernel(gradient, x, alpha, (False, True))
    assert only[0] is None
    _assert_same(only[1], gradients[1])


@every_float
def test_prelu_at_special_values(dtype: str) -> None:
    op = OPS["prelu"]
    gradient, x = _special(dtype, 2)
    for slope in (0.0, -0.5, np.inf, np.nan):
        alpha = np.array(slope, dtype)
        _assert_same(op.kernel(x, alpha), op.formula(x, alpha))
        found = op.rule.kernel(gradient, x, alpha, (True, True))
        for result, reference in zip(found, _by_formula(op.rule, gradient, x, alpha), strict=True):
            _assert_same(result, reference)


@every_float
@pytest.mark.parametrize(
    "shape", [(2,), (10,), (9002,), (4, 6), (2, 6, 8), (64, 200), (0, 4), (4, 0)]
)
def test_glu(dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    op = OPS["glu"]
    for axis in range(-len(shape), len(shape)):
        x = rng.uniform(-9, 9, shape).astype(dtype)
        expected = op.formula(x.astype("float64"), axis)
        gradient = rng.uniform(-1, 1, expected.shape).astype(dtype)
        reference = _by_formula(op.rule, gradient, x, axis)[0]
        first = op.kernel(x, axis), op.rule.kernel(gradient, x, axis)
        tolerances.assert_close(first[0], expected, dtype)
        tolerances.assert_close(first[1], reference, dtype)
        for a, b in itertools.product(_layouts(x), _layouts(gradient)):
            _assert_same(op.kernel(a, axis), first[0])
            _assert_same(op.rule.kernel(b, a, axis), first[1])


@every_float
def test_glu_at_special_values(dtype: str) -> None:
    op = OPS["glu"]
    a, b, gradient = _special(dtype, 3)
    x = np.stack([a, b], axis=1)
    rtol = tolerances.of(dtype)["rtol"]
    tiny = 2 * float(np.finfo(dtype).smallest_subnormal)
    with np.errstate(all="ignore"):
        expected = op.formula(x, -1)
    np.testing.assert_allclose(op.kernel(x, -1), expected, rtol, tiny)
    found = op.rule.kernel(gradient[:, None], x, -1)
    np.testing.assert_allclose(found, _by_formula(op.rule, gradient[:, None], x, -1)[0], rtol, tiny)


@every_float
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 40), (0, 3), (3, 0)])
def test_rule_of_logsumexp(dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    op = OPS["logsumexp"]
    x = rng.uniform(-9, 9, shape).astype(dtype)
    if x.ndim > 1:
        x[:1] = -np.inf
    axes = [None, *range(-x.ndim, x.ndim), (), *itertools.combinations(range(x.ndim), 2)]
    for axis, keepdims in itertools.product(axes, (False, True)):
        output = op.formula(x, axis, keepdims)
        gradient = rng.uniform(-1, 1, output.shape).astype(dtype)
        expected = _by_formula(op.rule, gradient, x, output, axis, keepdims)[0]
        for a, b in itertools.product(_layouts(x), _layouts(gradient)):
            found = op.rule.kernel(b, a, output, axis, keepdims)
            assert found.shape == expected.shape
            tolerances.assert_close(found, expected, dtype)


def test_rules_decline_gradients_of_other_shapes() -> None:
    x = np.ones((4, 6), "float32")
    for gradient in (np.ones((4, 6), "float32"), np.ones((1, 3), "float32"), np.ones(4, "float32")):
        assert OPS["glu"].rule.kernel(gradient, x, 1) is NotImplemented
    for gradient in (np.ones((4, 1), "float32"), np.ones(6, "float32"), np.float64(1) * np.ones(4)):
        found = OPS["logsumexp"].rule.kernel(gradient, x, np.ones(4, "float32"), 1, False)
        assert found is NotImplemented
    needs = (True, True)
    alpha = np.ones(1, "float32")
    assert OPS["prelu"].rule.kernel(x[:1], x, alpha, needs) is NotImplemented
    assert OPS["huber_loss"].rule.kernel(x[:1], x, x, "none", 1.0, needs) is NotImplemented
    assert OPS["huber_loss"].rule.kernel(x, x, x, "mean", 1.0, needs) is NotImplemented


@every_float
def test_division_has_the_bits_of_numpy(dtype: str, rng: np.random.Generator) -> None:
    """Quotients of all sizes, exact multiples, and quotients that are rounded up to whole ones."""
    size = 20_000
    b = (rng.uniform(-4, 4, size) * 10.0 ** rng.integers(-30, 30, size)).astype(dtype)
    whole = np.floor(10.0 ** rng.uniform(0, 12, size)).astype(dtype)
    with np.errstate(all="ignore"):
        dividends = [
            (rng.uniform(-4, 4, size) * 10.0 ** rng.integers(-30, 30, size)).astype(dtype),
            (b * rng.uniform(-99, 99, size)).astype(dtype),
            whole * b,
            np.nextafter(whole * b, np.array(0, dtype)),
            np.nextafter(whole * b, np.array(np.inf, dtype)),
        ]
        for a in dividends:
            _assert_same(OPS["modulo"].kernel(a, b), np.remainder(a, b))
            _assert_same(OPS["floor_divide"].kernel(a, b), np.floor_divide(a, b))
        special = _special(dtype, 2)
        _assert_same(OPS["modulo"].kernel(*special), np.remainder(*special))
        _assert_same(OPS["floor_divide"].kernel(*special), np.floor_divide(*special))
