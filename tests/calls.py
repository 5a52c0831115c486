"""Calling an op of the case table in several ways."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from cases.case import Case

import extensor as ex
from extensor.core.op import OPS, Rule
from extensor.core.tensor import Tensor

FLOATS = ["float64", "float32", "float16", "bfloat16"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]


def numpy_dtype(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def arrays_of(case: Case, rng: np.random.Generator, dtype: str) -> list[Any]:
    """Inputs of the case in a float dtype, or in whole numbers away from zero."""
    if dtype in FLOATS:
        return [_generated(g, rng, numpy_dtype(dtype)) for g in case.inputs]
    return [_whole(_generated(g, rng, np.dtype(np.float64)), dtype) for g in case.inputs]


def _generated(generator: Any, rng: np.random.Generator, dtype: np.dtype) -> Any:
    if isinstance(generator, list):
        return [_generated(g, rng, dtype) for g in generator]
    return generator(rng, dtype)


def _whole(x: Any, dtype: str) -> Any:
    if isinstance(x, list):
        return [_whole(item, dtype) for item in x]
    if x.dtype != np.float64:  # indices and masks keep their own dtype
        return x
    if dtype == "bool":
        return x > 0
    away = np.where(x > 0, np.ceil(x), np.floor(x))
    return (np.abs(away) if dtype.startswith("u") else away).astype(dtype)


def as_leaf(x: Any) -> Any:
    """Float arrays as leaves that require grad, sequences element by element."""
    if isinstance(x, list):
        return [as_leaf(item) for item in x]
    made = ex.tensor(x)
    if made.dtype.kind == "f" or made.dtype.name == "bfloat16":
        made.requires_grad = True
    return made


def flat(x: Any) -> list[Any]:
    """A result or a list of inputs as a flat list."""
    if isinstance(x, list | tuple):
        return [item for part in x for item in flat(part)]
    return [x]


def first_floating(result: Any, rule: Rule | None) -> list[Tensor]:
    """The outputs that carry a gradient."""
    outputs = flat(result)
    return outputs if rule is not None and rule.several else outputs[:1]


def named(case: Case, inputs: list[Any]) -> dict[str, Any]:
    """The inputs of the case by the op's names for them."""
    return dict(zip(case.names or OPS[case.op].inputs, inputs, strict=False))


def arguments_of(case: Case, inputs: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a call takes: by name where an attribute comes before an input, or an input is left out."""
    if case.op == "einsum":
        return (case.attributes["spec"], *inputs[0]), {}
    op = OPS[case.op]
    if case.names or op.bound != op.parameters.bound:
        return (), {**named(case, inputs), **case.attributes}
    return tuple(inputs), dict(case.attributes)


def call(case: Case, inputs: list[Any]) -> Any:
    args, kwargs = arguments_of(case, inputs)
    return getattr(ex, case.op)(*args, **kwargs)


def hand_arguments(case: Case, inputs: list[Any], output: Any) -> dict[str, Any]:
    """The arguments of the case's rule after ``grad_output``, found by their names."""
    op = OPS[case.op]
    assert op.rule is not None
    given = named(case, inputs)
    if op.bound != op.parameters.bound and not op.variadic:
        # What the op draws or converts itself, a mask say, is an input of its formula only.
        bound = op.bound(*arguments_of(case, inputs))[: op.arity]
        given = {name: x for name, x in zip(op.inputs, bound, strict=True) if x is not None}
    arguments: dict[str, Any] = {}
    for name in op.rule.names:
        if name == "output":
            arguments[name] = flat(output)[0].detach()
        elif name == "indices" and name not in given:
            arguments[name] = flat(output)[1].detach()
        elif name == "shapes":
            arguments[name] = [x.shape for x in inputs[0]]
        elif name in given:
            arguments[name] = _detached(given[name])
        elif name in case.attributes:
            arguments[name] = case.attributes[name]
        elif name in op.attributes or name == "eps":
            continue
        elif name.endswith("_shape"):
            stem = name.removesuffix("_shape")
            value = given[op.inputs[0] if stem == "input" else stem]
            arguments[name] = None if value is None else value.shape
        elif name.endswith("_dtype"):
            stem = name.removesuffix("_dtype")
            arguments[name] = given[op.inputs[0] if stem == "input" else stem].dtype
        elif name in op.optional:
            arguments[name] = None
    return arguments


def _detached(x: Any) -> Any:
    if isinstance(x, list):
        return [_detached(item) for item in x]
    return x.detach() if isinstance(x, Tensor) else x
