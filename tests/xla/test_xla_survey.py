"""Every forward and every rule of the case table, traced and run by XLA, against the reference engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tolerances
from calls import arrays_of, call, first_floating, flat
from cases.case import Case
from op_cases import CASES

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS
from extensor.core.tensor import Tensor, wrap


def _leaf(x: Any) -> Any:
    if isinstance(x, list):
        return [_leaf(item) for item in x]
    leaf = x.clone() if isinstance(x, Tensor) else ex.tensor(x)
    leaf = leaf.detach()
    if "float" in str(leaf.dtype):
        leaf.requires_grad = True
    return leaf


def _results(cases: list[Case], inputs: list[Any]) -> list[list[Tensor]]:
    """For each case the outputs, then the gradients of the inputs that have one."""
    results = []
    for case, given in zip(cases, inputs, strict=True):
        leaves = _leaf(given)
        outputs = flat(call(case, leaves))
        found = [x.detach() for x in outputs]
        rule = OPS[case.op].rule
        roots = [x for x in first_floating(outputs, rule) if x.requires_grad]
        for number, root in enumerate(roots, start=1):
            seed = np.linspace(-1, number, root.size).reshape(root.shape).astype(root.dtype)
            root.backward(wrap(seed), retain_graph=True)
        found += [x.grad for x in flat(leaves) if x.grad is not None]
        results.append(found)
    return results


def _seeded(case: Case) -> Case:
    """The generators of the table give the same blocks to every call, which no program can know of."""
    if "generator" not in case.attributes:
        return case
    return replace(case, attributes={**case.attributes, "generator": ex.random.Generator(5)})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OPS)
def test_xla_gives_the_values_of_the_reference(
    name: str, dtype: str, rng: np.random.Generator
) -> None:
    cases = [case for case in CASES if case.op == name]
    if dtype == "float64":
        cases = cases[:1]  # the same programs with other numbers: compiling takes the time here
    inputs = [arrays_of(case, rng, dtype) for case in cases]
    with door.by_formulas():
        expected = _results([_seeded(case) for case in cases], inputs)
    cases = [_seeded(case) for case in cases]
    compiled = ex.compile(lambda given: _results(cases, given))
    actual = compiled(inputs)
    assert compiled.traces == 1
    for case, ours, theirs in zip(cases, actual, expected, strict=True):
        assert [x.dtype for x in ours] == [x.dtype for x in theirs], case.id
        assert [x.shape for x in ours] == [x.shape for x in theirs], case.id
        for one, other in zip(ours, theirs, strict=True):
            tolerances.assert_close(one.numpy(), other.numpy(), one.dtype)
