"""Every op, from its rows in the case table: forward, backward, second order, layouts, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tolerances
from calls import (
    FLOATS,
    INTEGERS,
    arrays_of,
    as_leaf,
    call,
    first_floating,
    flat,
    hand_arguments,
    named,
)
from cases.case import Case, Error, Singular
from differences import gradient
from op_cases import CASES, ERRORS, SINGULAR

import extensor as ex
from extensor.core.op import OPS, Indices
from extensor.core.tensor import Tensor

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
DIFFERENTIABLE = [case for case in CASES if OPS[case.op].rule is not None]
every_differentiable = pytest.mark.parametrize("case", DIFFERENTIABLE, ids=lambda case: case.id)
SMOOTH = [case for case in DIFFERENTIABLE if case.smooth]
every_smooth = pytest.mark.parametrize("case", SMOOTH, ids=lambda case: case.id)


def _in_float64(x: Any) -> Any:
    if isinstance(x, list):
        return [_in_float64(item) for item in x]
    return x.astype(np.float64) if x.dtype.kind not in "biu" else x


@every_case
@pytest.mark.parametrize("dtype", FLOATS)
def test_forward_of_floats(case: Case, dtype: str, rng: np.random.Generator) -> None:
    arrays = arrays_of(case, rng, dtype)
    results = flat(call(case, arrays))
    expected = flat(case.reference(*map(_in_float64, arrays), **case.attributes))
    for result, reference in zip(results, expected, strict=True):
        assert isinstance(result, Tensor)
        assert result.shape == np.shape(reference)
        tolerances.assert_close(result, reference, dtype if result.dtype.kind not in "biu" else "")


@pytest.mark.parametrize("case", [c for c in CASES if c.integers], ids=lambda case: case.id)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_forward_of_integers(case: Case, dtype: str, rng: np.random.Generator) -> None:
    arrays = arrays_of(case, rng, dtype)
    floats = OPS[case.op].floats
    wide = [_as_floats(x) for x in arrays] if floats else arrays
    try:
        with np.errstate(all="ignore"):
            expected = flat(case.reference(*wide, **case.attributes))
    except TypeError:  # NumPy has no such op for bool
        with pytest.raises(TypeError, match=rf"^{case.op}: "):
            call(case, arrays)
        return
    for result, reference in zip(flat(call(case, arrays)), expected, strict=True):
        if result.dtype.kind == "f":
            assert result.dtype == ex.float32
            tolerances.assert_close(result, reference, "float32")
        else:
            np.testing.assert_array_equal(result.numpy(), reference)


def _as_floats(x: Any) -> Any:
    return [_as_floats(item) for item in x] if isinstance(x, list) else x.astype(np.float64)


def _objective(case: Case, weights: list[np.ndarray]) -> Any:
    """A scalar function of the case's inputs: the outputs, weighted at random and summed."""

    def scalar(*arrays: Any) -> float:
        outputs = first_floating(call(case, list(arrays)), OPS[case.op].rule)
        return float(sum((np.asarray(y) * w).sum() for y, w in zip(outputs, weights, strict=True)))

    return scalar


def _weights(case: Case, arrays: list[Any], rng: np.random.Generator) -> list[np.ndarray]:
    outputs = first_floating(call(case, arrays), OPS[case.op].rule)
    return [rng.uniform(0.5, 1.5, y.shape) for y in outputs]


@every_smooth
def test_backward_against_differences(case: Case, rng: np.random.Generator) -> None:
    arrays = arrays_of(case, rng, "float64")
    weights = _weights(case, arrays, rng)
    leaves = [as_leaf(x) for x in arrays]
    outputs = first_floating(call(case, leaves), OPS[case.op].rule)
    ex.backward(outputs, [ex.tensor(w) for w in weights])
    if OPS[case.op].variadic:
        sequence = arrays[0]
        scalar = _objective(case, weights)
        for position, leaf in enumerate(leaves[0]):
            numeric = gradient(lambda *x: scalar(list(x)), sequence, position)
            np.testing.assert_allclose(leaf.grad.numpy(), numeric, **tolerances.DIFFERENCES)
        return
    kinds = dict(zip(OPS[case.op].inputs, OPS[case.op].kinds, strict=True))
    for position, (name, leaf) in enumerate(named(case, leaves).items()):
        if kinds[name] is not Indices and leaf.requires_grad:
            numeric = gradient(_objective(case, weights), arrays, position)
            assert leaf.grad.dtype == leaf.dtype
            np.testing.assert_allclose(leaf.grad.numpy(), numeric, **tolerances.DIFFERENCES)


@pytest.mark.parametrize("case", [c for c in SMOOTH if c.second], ids=lambda case: case.id)
def test_second_order_against_differences(case: Case, rng: np.random.Generator) -> None:
    """The gradient of the gradient, as the derivative of the first along a random direction."""
    arrays = arrays_of(case, rng, "float64")
    weights = _weights(case, arrays, rng)
    sources = flat(arrays)
    moving = [i for i, x in enumerate(sources) if x.dtype == np.float64]
    directions = [rng.uniform(0.5, 1.5, sources[i].shape) for i in moving]

    def first_order(*moved: Any) -> tuple[Any, list[Tensor]]:
        filled = list(sources)
        for i, x in zip(moving, moved, strict=True):
            filled[i] = x
        leaves = [as_leaf(x) for x in filled]
        wanted = [leaves[i] for i in moving]
        given = [leaves] if OPS[case.op].variadic else leaves
        outputs = first_floating(call(case, given), OPS[case.op].rule)
        seeds = [ex.tensor(w) for w in weights]
        grads = ex.grad(outputs, wanted, seeds, create_graph=True, allow_unused=True)
        total = ex.tensor(0.0, dtype="float64")
        for g, d in zip(grads, directions, strict=True):
            total = total if g is None else total + (g * ex.tensor(d)).sum()
        return total, wanted

    total, wanted = first_order(*(sources[i] for i in moving))
    if not total.requires_grad:
        found: Any = [None] * len(wanted)  # a linear op: its gradient depends on nothing
    else:
        found = ex.grad(total, wanted, allow_unused=True)
    for position, second in enumerate(found):
        numeric = gradient(
            lambda *x: first_order(*x)[0].item(), [sources[i] for i in moving], position
        )
        actual = np.zeros_like(numeric) if second is None else second.numpy()
        np.testing.assert_allclose(actual, numeric, **tolerances.DIFFERENCES)


@pytest.mark.parametrize("case", [c for c in SMOOTH if c.second], ids=lambda case: case.id)
def test_second_order_of_one_gradient_alone(case: Case, rng: np.random.Generator) -> None:
    """Asked for the gradient of one input only, a rule has the derivative it has among all."""
    leaves = [as_leaf(x) for x in flat(arrays_of(case, rng, "float64"))]
    given = [leaves] if OPS[case.op].variadic else leaves
    outputs = first_floating(call(case, given), OPS[case.op].rule)
    seeds = [ex.tensor(rng.uniform(0.5, 1.5, y.shape)) for y in outputs]
    wanted = [x for x in leaves if isinstance(x, Tensor) and x.requires_grad]

    def derivatives(gradients: Any, position: int) -> list[Any]:
        found = gradients[position]
        if found is None or not found.requires_grad:
            return [None] * len(wanted)
        return list(ex.grad(found, wanted, ex.ones_like(found), False, True, retain_graph=True))

    among_all = ex.grad(outputs, wanted, seeds, create_graph=True, allow_unused=True)
    for position, leaf in enumerate(wanted):
        alone = ex.grad(outputs, [leaf], seeds, create_graph=True, allow_unused=True)
        pairs = zip(derivatives(alone, 0), derivatives(among_all, position), strict=True)
        for actual, expected in pairs:
            assert (actual is None) == (expected is None)
            if actual is not None:
                np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-12)


@every_differentiable
@pytest.mark.parametrize("dtype", FLOATS)
def test_tape_equals_hand_call(case: Case, dtype: str, rng: np.random.Generator) -> None:
    leaves = [as_leaf(x) for x in arrays_of(case, rng, dtype)]
    rule = OPS[case.op].rule
    assert rule is not None
    output = call(case, leaves)
    outputs = first_floating(output, rule)
    seeds = [ex.tensor(rng.uniform(-1, 1, y.shape), dtype=y.dtype) for y in outputs]
    ex.backward(outputs, seeds, retain_graph=True)
    arguments = hand_arguments(case, leaves, output)
    by_hand = flat(getattr(ex, rule.name)(seeds if rule.several else seeds[0], **arguments))
    differentiable = [x for x in flat(leaves) if isinstance(x, Tensor) and x.requires_grad]
    for leaf, gradient_by_hand in zip(differentiable, by_hand, strict=False):
        assert leaf.grad is not None
        assert leaf.grad.shape == leaf.shape
        assert leaf.grad.dtype == leaf.dtype
        assert leaf.grad.numpy().tobytes() == gradient_by_hand.numpy().tobytes()


# A product of matrices is summed in blocks that follow the memory, so a layout may show in its last bit.
BLOCKED = (
    *("matmul", "linear", "einsum", "tensordot", "scaled_dot_product_attention"),
    *("inv", "solve", "det", "slogdet", "cholesky", "eigh", "matrix_power"),
    *("rnn", "rnn_cell", "lstm", "lstm_cell", "gru", "gru_cell"),
)


def _strided(x: np.ndarray) -> np.ndarray:
    """The same values, every axis with a gap and the first reversed."""
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    view = wide[(..., *(slice(None, None, 2) for _ in x.shape))]
    if x.ndim:
        view = view[::-1]
    view[...] = x
    return view


def _read_only(x: np.ndarray) -> np.ndarray:
    copy = x.copy()
    copy.flags.writeable = False
    return copy


def _fortran(x: np.ndarray) -> np.ndarray:
    return x.copy(order="F")


def _mapped(function: Any, x: Any) -> Any:
    return [_mapped(function, item) for item in x] if isinstance(x, list) else function(x)


@every_case
@pytest.mark.parametrize("layout", [_strided, _read_only, _fortran])
def test_layouts_change_nothing(case: Case, layout: Any, rng: np.random.Generator) -> None:
    arrays = arrays_of(case, rng, "float32")
    unusual = [_mapped(layout, x) for x in arrays]
    before = [x.copy() for x in flat(unusual)]
    rule = OPS[case.op].rule
    for plain, other in zip(
        _results_and_gradients(case, arrays, rule),
        _results_and_gradients(case, unusual, rule),
        strict=True,
    ):
        if case.op in BLOCKED:
            tolerances.assert_close(plain, other, "float32")
        else:
            np.testing.assert_array_equal(np.asarray(plain), np.asarray(other))
    for x, saved in zip(flat(unusual), before, strict=True):
        np.testing.assert_array_equal(x, saved)


def _results_and_gradients(case: Case, arrays: list[Any], rule: Any) -> list[Any]:
    inputs = [_mapped(_sharing_leaf, x) for x in arrays]
    result = call(case, inputs)
    if rule is None:
        return flat(result)
    outputs = first_floating(result, rule)
    seeds = [ex.tensor(np.linspace(-1, 1, y.size).reshape(y.shape), dtype=y.dtype) for y in outputs]
    ex.backward(outputs, seeds)
    return [*flat(result), *(x.grad for x in flat(inputs) if x.requires_grad)]


def _sharing_leaf(x: np.ndarray) -> Tensor:
    made = ex.asarray(x)
    if x.dtype.kind == "f":
        made.requires_grad = True
    return made


ELEMENTWISE = [
    case
    for case in CASES
    if OPS[case.op].shape is not None
    and OPS[case.op].shape.__name__ in ("broadcast", "same")
    and not OPS[case.op].variadic
    and not case.attributes
]


@pytest.mark.parametrize("case", ELEMENTWISE, ids=lambda case: case.id)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3), (1, 1, 1), (2, 0, 1)], ids=str)
def test_scalars_and_empty(case: Case, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    arrays = [np.resize(x, shape) for x in arrays_of(case, rng, "float64")]
    results = _results_and_gradients(case, arrays, OPS[case.op].rule)
    expected = np.asarray(case.reference(*arrays))
    tolerances.assert_close(results[0], expected, "float64")
    for gradient_of_input, x in zip(results[1:], arrays, strict=False):
        assert gradient_of_input.shape == x.shape


@pytest.mark.parametrize("row", SINGULAR, ids=lambda row: f"{row.op}{row.inputs}")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zero_in_zero_out(row: Singular, dtype: str) -> None:
    """By hand and through the tape, a zero gradient stays zero at a singular point."""
    inputs = [ex.tensor(x, dtype=dtype, requires_grad=True) for x in row.inputs]
    case = Case(row.op, (), lambda: None, row.attributes)
    output = call(case, inputs)
    ex.backward(output, ex.zeros_like(output), retain_graph=True)
    for x in inputs:
        np.testing.assert_array_equal(np.asarray(x.grad), np.zeros(x.shape))
    arguments = hand_arguments(case, inputs, output)
    function = getattr(ex, f"{row.op}_backward")
    for gradient_by_hand in flat(function(ex.zeros_like(output), **arguments)):
        np.testing.assert_array_equal(
            np.asarray(gradient_by_hand), np.zeros(gradient_by_hand.shape)
        )
    if row.ieee is not None:
        found = flat(function(ex.ones_like(output), **arguments, eps=0))
        for value, expected in zip(found, row.ieee, strict=True):
            np.testing.assert_array_equal(np.asarray(value), np.full(value.shape, expected))
        for x in inputs:
            x.zero_grad()
        with ex.gradient_eps(0):
            ex.backward(output, ex.ones_like(output))
        for x, expected in zip(inputs, row.ieee, strict=True):
            np.testing.assert_array_equal(np.asarray(x.grad), np.full(x.shape, expected))


@pytest.mark.parametrize("row", ERRORS, ids=lambda row: f"{row.function}: {row.text[:40]}")
def test_error_texts(row: Error) -> None:
    with pytest.raises(row.kind) as caught:
        getattr(ex, row.function)(*row.arguments, **row.attributes)
    assert str(caught.value) == row.text
