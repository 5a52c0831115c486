"""Rules that are recorded as the calls of their formulas, and have the bits of their kernels."""

from __future__ import annotations

import numpy as np
import pytest
from calls import arrays_of, as_leaf, call, flat
from cases.case import Case
from op_cases import CASES

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS

UNFOLDING = [
    case
    for case in CASES
    if (rule := OPS[case.op].rule) is not None and rule.unfolds and not OPS[case.op].variadic
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", UNFOLDING, ids=lambda case: case.id)
def test_recording_a_rule_changes_no_bit(case: Case, dtype: str, rng: np.random.Generator) -> None:
    leaves = [as_leaf(x) for x in flat(arrays_of(case, rng, dtype))]
    wanted = [x for x in leaves if isinstance(x, ex.Tensor) and x.requires_grad]
    output = call(case, leaves)
    if not output.requires_grad:
        return
    seed = ex.tensor(rng.uniform(-1, 1, output.shape).astype(output.dtype), requires_grad=True)
    plain, recorded = (
        ex.grad(output, wanted, seed, retain_graph=True, create_graph=create, allow_unused=True)
        for create in (False, True)
    )
    for a, b in zip(plain, recorded, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")
def test_third_derivatives_are_as_many_calls_as_they_need() -> None:
    """No rule is computed by a kernel and then once more by its formula."""
    ex.random.manual_seed(0)
    layer, x = ex.nn.Linear(1, 8), ex.ones((4, 1), requires_grad=True)
    seen = []
    with door.watch(lambda event: seen.append(event.op)):
        value = ex.tanh(layer(x))
        for _ in range(3):
            value = ex.grad(value.sum(), x, create_graph=True)
    assert "identity" not in seen  # which the derivative of a kernel's values begins with
    assert len(seen) < 120
