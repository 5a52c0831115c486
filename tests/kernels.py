"""The kernels under test, inputs for them, and the comparison of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import extensor as ex
from extensor.core.op import OPS, Op, Rule
from extensor.core.tensor import wrap

assert ex.bfloat16.itemsize == 2  # asking for it makes it known to the kernels

ATTRIBUTES: dict[str, tuple[Any, ...]] = {
    "clip": (-1.0, 1.0),
    "hard_tanh": (-0.75, 1.25),
    "leaky_relu": (0.1,),
    "elu": (1.5,),
    "softplus": (2.0,),
    "lift": (0.5,),
    "cast": (np.dtype("float32"),),
    "masked_fill": (0.25,),
}
# Which arrays are booleans; of a rule the first array is grad_output.
BOOLEAN = {"where": 0, "where_backward": 1, "masked_fill": 1, "masked_fill_backward": 1}
# The shape rules of ops that work element by element.
ELEMENTWISE = {"same", "broadcast", "_gelu", "_softplus", "_hardtanh_shape"}


@dataclass(frozen=True)
class Elementwise:
    """A kernel that works element by element, and its formula on the same arrays.

    ``count`` is the number of arrays; of a rule the first is ``grad_output``.
    """

    name: str
    count: int
    kernel: Callable[[Sequence[Any]], Any]
    formula: Callable[[Sequence[Any]], Any]
    boolean: int | None = None

    def __repr__(self) -> str:
        return self.name


def _default_attributes(op: Op) -> tuple[Any, ...]:
    if op.name in ATTRIBUTES:
        return ATTRIBUTES[op.name]
    return tuple(op.parameters.defaults[op.arity :])


def _of_op(op: Op) -> Elementwise:
    attributes = _default_attributes(op)
    assert op.kernel is not None
    kernel = op.kernel
    return Elementwise(
        op.name,
        op.arity,
        lambda arrays: kernel(*arrays, *attributes),
        lambda arrays: op.formula(*arrays, *attributes),
        BOOLEAN.get(op.name),
    )


def _of_rule(op: Op, rule: Rule) -> Elementwise:
    attributes = dict(zip(op.attributes, _default_attributes(op), strict=True))
    tensors = [i for i, (role, _) in enumerate(rule.roles) if role in ("tensor", "output")]

    def arguments(arrays: Sequence[Any]) -> list[Any]:
        given = iter(arrays)
        result = [next(given)]
        for (role, _), name in zip(rule.roles, rule.names, strict=True):
            if role in ("tensor", "output"):
                result.append(next(given))
            elif role == "shape":
                result.append(tuple(arrays[0].shape))
            elif role == "dtype":
                result.append(arrays[0].dtype)
            else:
                result.append(1e-10 if role == "eps" else attributes[name])
        return result

    def kernel(arrays: Sequence[Any]) -> Any:
        needs = () if rule.single else ((True,) * len(rule.fields),)
        return rule.kernel(*arguments(arrays), *needs)

    def formula(arrays: Sequence[Any]) -> Any:
        wrapped = [wrap(x) if isinstance(x, np.ndarray) else x for x in arguments(arrays)]
        with ex.no_grad():
            found = rule.by_formula(wrapped, (True,) * len(rule.fields))
        return found[0].numpy() if rule.single else tuple(x.numpy() for x in found)

    return Elementwise(rule.name, 1 + len(tensors), kernel, formula, BOOLEAN.get(rule.name))


def _elementwise() -> Iterator[Elementwise]:
    for op in OPS.values():
        if op.shape is None or op.shape.__name__ not in ELEMENTWISE:
            continue
        if op.kernel is not None:
            yield _of_op(op)
        if op.rule is not None and op.rule.kernel is not None:
            yield _of_rule(op, op.rule)


KERNELS = list(_elementwise())
# The ops with kernels of any other structure: reductions, products, losses, layers.
STRUCTURED = [
    name
    for name, op in OPS.items()
    if (op.kernel is not None or (op.rule is not None and op.rule.kernel is not None))
    and (op.shape is None or op.shape.__name__ not in ELEMENTWISE)
]


def special_values(dtype: np.dtype) -> np.ndarray:
    """Zeros, infinities, NaN, the smallest and largest numbers, and some in between."""
    info = ml_dtypes.finfo(dtype)
    positive = [
        0.0, float(info.smallest_subnormal), float(info.tiny) / 2, float(info.tiny), 1e-3, 0.5, 1.0,
        1.5, 3.0, 20.0, 90.0, 710.0, float(info.max) / 4, float(info.max) * 0.98, np.inf,
    ]  # fmt: skip
    return np.array([*positive, *(-x for x in positive), np.nan]).astype(dtype)


def operands_of(
    target: Elementwise, rng: np.random.Generator, dtype: np.dtype, size: int
) -> list[Any]:
    """Numbers of all magnitudes, every twentieth of them special."""
    result = []
    for position in range(target.count):
        x = rng.uniform(-4, 4, size) * 10.0 ** rng.integers(-2, 2, size)
        with np.errstate(over="ignore"):
            x = x.astype(dtype)
        places = rng.random(size) < 0.05
        x[places] = rng.choice(special_values(dtype), int(places.sum()))
        result.append(rng.random(size) > 0.5 if position == target.boolean else x)
    return result


def results_of(value: Any) -> list[np.ndarray]:
    assert value is not NotImplemented
    results = list(value) if isinstance(value, tuple) else [value]
    assert all(isinstance(x, np.ndarray) for x in results)
    return results


def assert_same_bits(found: Any, expected: Any) -> None:
    """Bit for bit; NaN may be any NaN."""
    for a, b in zip(results_of(found), results_of(expected), strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        if a.dtype.kind == "b":
            np.testing.assert_array_equal(a, b)
            continue
        number = ~np.isnan(b)
        np.testing.assert_array_equal(np.isnan(a), ~number)
        bits = f"u{a.dtype.itemsize}"
        np.testing.assert_array_equal(
            np.ascontiguousarray(a).view(bits)[number], np.ascontiguousarray(b).view(bits)[number]
        )
