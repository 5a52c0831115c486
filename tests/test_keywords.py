"""Every keyword has a value that changes what the call does: none is accepted and ignored."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import keyword_rows
import numpy as np
import pytest
from calls import arguments_of, arrays_of, as_leaf, first_floating, flat
from cases.case import Case
from keyword_effects import Row, assert_matters, candidates, described, keywords_of
from op_cases import CASES

import extensor as ex
from extensor import nn, optim
from extensor.core.op import OPS
from extensor.core.tensor import Tensor
from extensor.nn import init

ROWS: list[Row] = [
    *keyword_rows.MODULES,
    *keyword_rows.LOSSES,
    *keyword_rows.OPTIMIZERS,
    *keyword_rows.SCHEDULES,
    *keyword_rows.VALUES,
]
IN_PLACE = "taken so that PyTorch's code runs; the documentation says that it changes nothing"
HELD = "what the container holds, by position as a rule"
BASE = "a class to derive from; its subclasses have rows"
EXCEPTIONS = {
    **{
        (name, "inplace"): IN_PLACE
        for name in (
            "AlphaDropout CELU Dropout Dropout1d Dropout2d Dropout3d ELU FeatureAlphaDropout Hardsigmoid "
            "Hardswish Hardtanh LeakyReLU Mish RReLU ReLU ReLU6 SELU SiLU Threshold"
        ).split()
    },
    ("ModuleDict", "modules"): HELD,
    ("ModuleList", "modules"): HELD,
    ("ParameterDict", "parameters"): HELD,
    ("ParameterList", "values"): HELD,
    ("Schedule", "last_epoch"): BASE,
    ("Schedule", "automatic"): BASE,
    ("empty", "dtype"): "its numbers are whatever the memory held",
    ("empty", "requires_grad"): "its numbers are whatever the memory held",
    ("empty_like", "dtype"): "its numbers are whatever the memory held",
    ("empty_like", "requires_grad"): "its numbers are whatever the memory held",
    ("Generator", "seed"): "a source of numbers, not a call that gives some",
}


def _callables() -> Iterator[tuple[str, Any]]:
    """All public classes and functions whose keywords are looked at here."""
    for module in (nn, optim, ex.random):
        yield from ((name, getattr(module, name)) for name in module.__all__)
    for name, made in vars(init).items():
        if inspect.isfunction(made) and made.__module__ == init.__name__ and name[0] != "_":
            yield name, made
    creations = (
        "tensor Tensor asarray arange linspace eye one_hot full full_like zeros ones zeros_like "
        "ones_like empty empty_like"
    )
    yield from ((name, getattr(ex, name)) for name in creations.split())


def test_every_keyword_has_a_row_or_a_reason() -> None:
    rows = {(row.name, keyword) for row in ROWS for keyword in row.others}
    known = {
        (made.__name__, keyword)
        for _, made in _callables()
        if callable(made)
        for keyword in keywords_of(made)
    }
    assert known - rows - EXCEPTIONS.keys() == set()
    assert rows - known == set()
    assert EXCEPTIONS.keys() - known == set()


@pytest.mark.parametrize(
    ("row", "keyword"),
    [
        pytest.param(row, keyword, id=f"{row.name}-{keyword}")
        for row in (*ROWS, *keyword_rows.OPS)
        for keyword in row.others
    ],
)
def test_keywords_matter(row: Row, keyword: str) -> None:
    assert_matters(row, keyword)


def _arguments(case: Case) -> dict[str, Any]:
    """Those of a case, by name and made anew, as some ops change their inputs."""
    inputs = [as_leaf(x) for x in arrays_of(case, np.random.default_rng(0), "float64")]
    args, kwargs = arguments_of(case, inputs)
    return {**dict(zip(OPS[case.op].inputs, args, strict=False)), **kwargs}


def _effects(case: Case, **changed: Any) -> Any:
    """The outputs of an op, and its inputs with their gradients afterwards."""
    op, given = OPS[case.op], {**_arguments(case), **changed}
    ex.random.manual_seed(0)
    result = op.function(**given)
    for output in first_floating(result, op.rule):
        if output.requires_grad:
            numbers = np.linspace(0.5, 1.5, output.size).reshape(output.shape)
            output.backward(ex.Tensor(numbers, output.dtype), retain_graph=True)
    leaves = [x for x in flat(list(given.values())) if isinstance(x, Tensor)]
    return described([flat(result), [(x, x.grad) for x in leaves]])


def _matters_in(case: Case, keyword: str, others: list[Any]) -> bool:
    parameter = OPS[case.op].signature().parameters[keyword]
    base = _effects(case)
    given = case.attributes.get(keyword, parameter.default)
    for other in [*others, *candidates(parameter.annotation, given)]:
        try:
            if _effects(case, **{keyword: other}) != base:
                return True
        except (TypeError, ValueError, IndexError, RuntimeError):
            continue  # not for this input
    return False


ATTRIBUTES = [
    (name, keyword)
    for name, op in OPS.items()
    for keyword in op.attributes
    if keyword in op.signature().parameters
    and (name, keyword) not in {(r.name, k) for r in keyword_rows.OPS for k in r.others}
    and name != "einsum"
]


@pytest.mark.parametrize(("name", "keyword"), ATTRIBUTES)
def test_attributes_of_ops_matter(name: str, keyword: str) -> None:
    """The values come from the cases of the op, or are like those."""
    cases = [case for case in CASES if case.op == name]
    others = [case.attributes[keyword] for case in cases if keyword in case.attributes]
    assert any(_matters_in(case, keyword, others) for case in cases)


OPTIONAL = [
    (name, keyword)
    for name, op in OPS.items()
    for keyword in op.inputs
    if keyword in op.optional and keyword in op.signature().parameters
]


@pytest.mark.parametrize(("name", "keyword"), OPTIONAL)
def test_optional_inputs_of_ops_matter(name: str, keyword: str) -> None:
    """Leaving one out changes the outputs, or is refused."""

    def matters_in(case: Case) -> bool:
        if _arguments(case).get(keyword) is None:
            return False
        base = _effects(case)
        try:
            return bool(_effects(case, **{keyword: None})[0] != base[0])
        except ValueError:
            return True

    assert any(matters_in(case) for case in CASES if case.op == name)


def test_a_keyword_that_is_ignored_is_found() -> None:
    def scaled(x: float, scale: float = 1.0, offset: float = 0.0) -> float:
        return x * scale

    row = Row(scaled, {"x": 2.0}, {"scale": 3.0, "offset": 1.0}, lambda result: result)
    assert_matters(row, "scale")
    with pytest.raises(AssertionError):
        assert_matters(row, "offset")
