"""Calls of ops and of rules, drawn from the rows of the case table or from nothing at all."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from calls import FLOATS, arguments_of, arrays_of, call, flat, hand_arguments, numpy_dtype
from cases.case import Case
from drawn_calls import Rng, anything, disguised, plain, spoiled, tensors

from extensor.core.binding import Parameters
from extensor.core.op import OPS

RULES = [name for name, op in OPS.items() if op.rule is not None]


def op_from_row(row: Case, rng: Rng) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of one way to call an op, disguised, one of them perhaps spoiled."""
    dtype = str(rng.choice(FLOATS))
    given = arrays_of(row, rng, dtype)
    if rng.random() < 0.2:
        given = [_recast(x, rng) for x in given]
    inputs = [disguised(x, rng) for x in given]
    args, kwargs = arguments_of(row, inputs)
    values = spoiled([*args, *kwargs.values()], rng)
    return values[: len(args)], dict(zip(kwargs, values[len(args) :], strict=True))


def _recast(x: Any, rng: Rng) -> Any:
    """Floats in a float dtype of their own."""
    if isinstance(x, list):
        return [_recast(item, rng) for item in x]
    if not isinstance(x, np.ndarray):
        return x
    floating = x.dtype.kind == "f" or x.dtype == ml_dtypes.bfloat16
    return x.astype(numpy_dtype(str(rng.choice(FLOATS)))) if floating else x


def rule_from_row(row: Case, rng: Rng) -> list[Any]:
    """The same for its rule."""
    rule = OPS[row.op].rule
    assert rule is not None
    dtype = str(rng.choice(FLOATS))
    inputs = [tensors(x) for x in arrays_of(row, rng, dtype)]
    with np.errstate(all="ignore"):
        output = call(row, inputs)
    given = rule.parameters.bound((None,), hand_arguments(row, inputs, output))[1:]
    outputs = flat(output) if rule.several else flat(output)[:1]
    seeds: Any = [rng.uniform(-1, 1, x.shape).astype(numpy_dtype(dtype)) for x in outputs]
    values = [seeds if rule.several else seeds[0], *(plain(x) for x in given)]
    if rng.random() < 0.2:
        values = [_recast(x, rng) for x in values]
    return spoiled([disguised(x, rng) for x in values], rng)


def anything_for(parameters: Parameters, rng: Rng) -> list[Any]:
    """As many arguments as there are parameters, or now and then another number of them."""
    count = parameters.count
    given = int(rng.integers(0, count + 2)) if rng.random() < 0.2 else count
    return [anything(rng) for _ in range(given)]
