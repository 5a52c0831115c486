"""Every forward and every rule of the case table, traced and run by XLA, against the reference engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tolerances
from calls import arrays_of, as_leaf, call, first_floating, flat, hand_arguments
from cases.case import Case
from op_cases import CASES, SINGULAR

import extensor as ex
from extensor.compiled.xla import KERNELS
from extensor.core import door
from extensor.core.op import OPS
from extensor.core.tensor import Tensor

# All cases in float32, and the first of each op in these: what takes the time is to compile.
OTHERS = ("float64", "float16", "bfloat16", "int32", "uint8", "bool")
# What cannot be as it is here, by op or by op and dtype, with the reason. Nothing else may differ.
EXCEPTIONS: dict[str, str] = {
    **dict.fromkeys(
        ("fractional_max_pool2d_with_indices", "fractional_max_pool3d_with_indices"),
        "where windows begin is asked for while tracing; refused, with the op",
    ),
    "embedding_bag": "where bags begin is asked for while tracing; refused, with the op",
    "divide bool": "XLA takes a bool that becomes a float, times x, for a choice of x or 0: 0/0 is 0",
    "index_add bool": "XLA adds no bools; refused, with the op and its arguments",
    **dict.fromkeys(
        "bincount nonzero unique unique_inverse unique_counts".split(),
        "the shape of the result depends on the values; refused",
    ),
    "ctc_loss": "its states are NumPy arrays, made from the labels; refused",
    "multilabel_margin_loss": "its masks are NumPy arrays, made from the labels; refused",
    "matrix_power": "computed by NumPy alone; refused",
    "eigh": "its vectors are rounded otherwise in float32",
    "scatter_add bool": "XLA adds no bools; refused, with the op and its arguments",
}
# Ops whose gradients differ at one of the points below, with the reason.
_SUBNORMAL = "1 / 3e38 is subnormal, and XLA takes subnormal numbers for 0"
AT_POINTS: dict[str, str] = {"divide": _SUBNORMAL, "chain_divide": _SUBNORMAL}
POINTS = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-30, 3e38, -3e38, 88.0, -104.0, 0.5)


def _combinations(name: str) -> list[tuple[Case, str]]:
    cases = [_seeded(case) for case in CASES if case.op == name]
    found = [(case, "float32") for case in cases]
    for dtype in OTHERS:
        chosen = [case for case in cases if case.integers or "float" in dtype][:1]
        found += [(case, dtype) for case in chosen if f"{name} {dtype}" not in EXCEPTIONS]
    return found


def _seeded(case: Case) -> Case:
    """The generators of the table give the same blocks to every call, which no program can know of."""
    if "generator" not in case.attributes:
        return case
    return replace(case, attributes={**case.attributes, "generator": ex.random.Generator(5)})


def _reseeded(combinations: list[tuple[Case, str]]) -> None:
    for case, _ in combinations:
        if "generator" in case.attributes:
            case.attributes["generator"].manual_seed(5)


def _results(case: Case, leaves: Any, seeds: list[Any]) -> list[Tensor]:
    """The outputs, the gradients by the tape and by hand, and the gradients of those."""
    output = call(case, leaves)
    outputs = flat(output)
    found = [x.detach() for x in outputs]
    rule = OPS[case.op].rule
    roots = [x for x in first_floating(outputs, rule) if x.requires_grad]
    if not roots:
        return found
    seeds = [ex.asarray(x).astype(y.dtype) for x, y in zip(seeds, roots, strict=False)]
    inputs = [x for x in flat(leaves) if isinstance(x, Tensor) and x.requires_grad]
    # In float64, where the last digits of long sums do not count.
    twice = case.second and case.smooth and roots[0].dtype == ex.float64
    gradients = ex.grad(roots, inputs, seeds, create_graph=twice, allow_unused=True)
    found += [x.detach() for x in gradients if x is not None]
    if rule is not None and not twice:
        arguments = hand_arguments(case, leaves, output)
        by_hand = getattr(ex, rule.name)(seeds if rule.several else seeds[0], **arguments)
        found += [x.detach() for x in flat(by_hand) if isinstance(x, Tensor)]
    if twice:
        inner = [(x * x).sum() for x in gradients if x is not None and x.requires_grad]
        if inner:
            second = ex.grad(inner, inputs, allow_unused=True)
            found += [x.detach() for x in second if x is not None]
    return found


def _leaves(x: Any) -> Any:
    if isinstance(x, list):
        return [_leaves(item) for item in x]
    leaf = x.detach() if isinstance(x, Tensor) else as_leaf(x)
    if leaf.dtype.kind == "f" or leaf.dtype.name == "bfloat16":
        leaf.requires_grad = True
    return leaf


def _seeds(case: Case, arrays: Any) -> list[Any]:
    outputs = flat(call(case, _leaves(arrays)))
    return [np.linspace(-1, n + 1, y.size).reshape(y.shape) for n, y in enumerate(outputs)]


def _agree(function: Callable[..., Any], inputs: Any, labels: list[str], again: Any = None) -> None:
    """Traced once; the dtypes, shapes and values of the reference engine."""
    with door.by_formulas():
        expected = function(inputs)
    if again is not None:
        again()
    compiled = ex.compile(function)
    actual = compiled(inputs)
    assert compiled.traces == 1
    assert len(actual) == len(expected)
    for label, ours, theirs in zip(labels, actual, expected, strict=True):
        assert [x.dtype for x in ours] == [x.dtype for x in theirs], label
        assert [x.shape for x in ours] == [x.shape for x in theirs], label
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            try:
                tolerances.assert_close(one.numpy(), other.numpy(), one.dtype)
            except AssertionError as error:
                raise AssertionError(f"{label}, result {place}: {error}") from None


@pytest.mark.parametrize("name", [name for name in OPS if name not in EXCEPTIONS])
def test_xla_gives_the_values_of_the_reference(name: str, rng: np.random.Generator) -> None:
    combinations, inputs = [], []
    for case, dtype in _combinations(name):
        arrays = arrays_of(case, rng, dtype)
        try:
            seeds = _seeds(case, arrays)
        except TypeError:  # refused here too, as NumPy has no such op for bool
            continue
        combinations.append((case, dtype))
        inputs.append((arrays, seeds))
    _reseeded(combinations)

    def all_of_them(given: Any) -> Any:
        parts = zip(combinations, given, strict=True)
        return [_results(case, _leaves(arrays), seeds) for (case, _), (arrays, seeds) in parts]

    labels = [f"{case.id} {dtype}" for case, dtype in combinations]
    assert labels
    _agree(all_of_them, inputs, labels, lambda: _reseeded(combinations))


ELEMENTWISE = [
    case
    for case in CASES
    if getattr(OPS[case.op].shape, "__name__", "") in ("broadcast", "same")
    and not OPS[case.op].variadic
    and not case.attributes
    and not case.op.startswith("bitwise")
    and case.op != "where"
]


@pytest.mark.parametrize("name", sorted({case.op for case in ELEMENTWISE}))
def test_special_values_are_those_of_the_reference(name: str) -> None:
    """Zeros, infinities, NaN and the ends of the range, in every combination of two."""
    case = next(case for case in ELEMENTWISE if case.op == name)
    grid = np.meshgrid(*[np.array(POINTS, "float32")] * len(case.inputs), indexing="ij")
    left_out = AT_POINTS.get(name) is not None

    def both(arrays: Any) -> Any:
        leaves = _leaves(list(arrays))
        output = call(case, leaves)
        inputs = [x for x in leaves if x.requires_grad]
        if not output.requires_grad or left_out:
            return [[output.detach()]]
        gradients = ex.grad(output, inputs, ex.ones_like(output), allow_unused=True)
        return [[output.detach(), *[x.detach() for x in gradients if x is not None]]]

    with np.errstate(all="ignore"):
        _agree(both, [x.ravel() for x in grid], [name])


WHOLE = {"int8": (0, 1, -1, 2, 7, -128, 127), "uint8": (0, 1, 2, 255), "bool": (False, True)}


@pytest.mark.parametrize("name", sorted({c.op for c in ELEMENTWISE if c.integers}))
def test_whole_numbers_at_their_ends_are_those_of_the_reference(name: str) -> None:
    case = next(case for case in ELEMENTWISE if case.op == name)
    inputs, kinds = [], []
    for dtype, points in WHOLE.items():
        if f"{name} {dtype}" in EXCEPTIONS:
            continue
        grid = np.meshgrid(*[np.array(points, dtype)] * len(case.inputs), indexing="ij")
        arrays = [x.ravel() for x in grid]
        if name == "power":  # of which the check of exponents is a check of values
            arrays[1] = np.abs(arrays[1] // 2) if dtype == "int8" else arrays[1]
        try:
            with np.errstate(all="ignore"):
                call(case, arrays)
        except TypeError:  # refused here too
            continue
        inputs.append(arrays)
        kinds.append(f"{name} {dtype}")
    with np.errstate(all="ignore"):
        _agree(lambda given: [[call(case, list(x))] for x in given], inputs, kinds)


def test_a_zero_gradient_stays_zero_where_the_derivative_is_not_finite() -> None:
    def gradients(given: Any) -> Any:
        found = []
        for row, arrays in zip(SINGULAR, given, strict=True):
            leaves = [_leaves(x) for x in arrays]
            output = call(Case(row.op, (), lambda: None, row.attributes), leaves)
            found.append(list(ex.grad(output, leaves, ex.zeros_like(output))))
        return found

    inputs = [[np.asarray(x, "float32") for x in row.inputs] for row in SINGULAR]
    for row, found in zip(SINGULAR, ex.compile(gradients)(inputs), strict=True):
        for x in found:
            np.testing.assert_array_equal(x.numpy(), np.zeros(x.shape), err_msg=row.op)


def test_exceptions_are_of_ops_and_have_reasons_and_kernels_have_names_of_ours() -> None:
    for name, reason in {**EXCEPTIONS, **AT_POINTS}.items():
        assert name.split()[0] in OPS
        assert len(reason) > 20
    rules = {op.rule.name for op in OPS.values() if op.rule is not None}
    fills = {"random_bits", "random_uniform", "random_normal", "random_integers"}
    others = {"random_bernoulli", "gradient_norm", "conv2d_grad_x", "conv2d_grad_weight"}
    assert set(KERNELS) <= {*OPS, *rules, *fills, *others}
