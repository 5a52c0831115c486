"""The parity table: for each op with a counterpart in PyTorch, that function and how to draw calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import pytest
from draws import (
    Call,
    Draw,
    Rng,
    along,
    binary,
    fixed,
    one_of,
    reduction,
    special,
    unary,
    whole,
    with_choice,
)

torch = pytest.importorskip("torch")
F = torch.nn.functional


@dataclass(frozen=True)
class Row:
    """``theirs`` takes the tensors, then our attributes by name."""

    op: str
    theirs: Callable[..., Any]
    draw: Draw


def dims(axis: Any, x: Any) -> Any:
    return tuple(range(x.ndim)) if axis is None else axis


def _prod(x: Any, axis: Any, keepdims: bool) -> Any:
    """There it takes one axis at a time."""
    axes = dims(axis, x)
    order = sorted((i % x.ndim for i in ((axes,) if isinstance(axes, int) else axes)), reverse=True)
    for i in order:
        x = torch.prod(x, i, keepdims)
    return x


def _counted(x: Any, axis: Any, keepdims: bool) -> Any:
    """There it has no keepdim."""
    result = torch.count_nonzero(x, dims(axis, x)) if x.ndim else torch.count_nonzero(x)
    return result.reshape(torch.sum(x, dims(axis, x), keepdims).shape)


def _normal_pdf(x: Any) -> Any:
    return torch.exp(torch.distributions.Normal(0.0, 1.0).log_prob(x))


NONZERO = {"avoid": (0.0,), "gap": 0.3}
POSITIVE = {"low": 0.3, "high": 3.0}
INSIDE = {"low": -0.9, "high": 0.9}
WIDE = {"low": -6.0, "high": 6.0}


def _clipped(rng: Rng) -> Call:
    call = unary()(rng)
    low = float(rng.uniform(-2, 1))
    call.attributes.update(min_val=low, max_val=low + float(rng.uniform(0, 2)))
    return call


def _clipped_or_open(rng: Rng) -> Call:
    call = _clipped(rng)
    for bound in rng.choice(["min_val", "max_val"], rng.integers(2)):
        call.attributes[bound] = None
    return call


ARITHMETIC = [
    Row("add", torch.add, binary()),
    Row("subtract", torch.sub, binary()),
    Row("multiply", torch.mul, binary()),
    Row("divide", torch.div, binary(second=NONZERO)),
    Row("power", torch.pow, binary(POSITIVE)),
    Row("floor_divide", lambda a, b: torch.div(a, b, rounding_mode="floor"), binary({}, NONZERO)),
    Row("modulo", torch.remainder, binary(WIDE, NONZERO)),
    # Whole numbers tie; both sides share the gradient then.
    Row("maximum", torch.maximum, one_of(binary(), whole(2))),
    Row("minimum", torch.minimum, one_of(binary(), whole(2))),
    Row("negative", torch.neg, unary()),
    Row("reciprocal", torch.reciprocal, unary(**NONZERO)),
    Row("square", torch.square, unary()),
]

ELEMENTWISE = [
    *(
        Row(name, getattr(torch, name), unary(**domain))
        for domain, names in (
            ({}, "exp expm1 abs sign ceil floor round trunc sin cos tanh sinh cosh asinh atan erf"),
            (POSITIVE, "log log2 log10 log1p sqrt rsqrt"),
            (INSIDE, "asin acos atanh tan"),
            ({"low": 1.1, "high": 3.0}, "acosh"),
        )
        for name in names.split()
    ),
    Row("atan2", torch.atan2, binary(NONZERO, NONZERO)),
    Row("normal_cdf", torch.special.ndtr, unary(**WIDE)),
    Row("normal_pdf", _normal_pdf, unary(**WIDE)),
    Row(
        "clip",
        lambda x, min_val, max_val: torch.clamp(x, min_val, max_val),
        _clipped_or_open,
    ),
]


COMPARISON = [
    *(
        Row(name, theirs, whole(2))
        for name, theirs in {
            "equal": torch.eq,
            "not_equal": torch.ne,
            "less": torch.lt,
            "less_equal": torch.le,
            "greater": torch.gt,
            "greater_equal": torch.ge,
        }.items()
    ),
    *(
        Row(name, getattr(torch, name), one_of(whole(2), whole(2, 2, bool)))
        for name in "logical_and logical_or logical_xor".split()
    ),
    *(
        Row(name, getattr(torch, name), one_of(whole(2, 99, int), whole(2, 2, bool)))
        for name in "bitwise_and bitwise_or bitwise_xor".split()
    ),
    Row("bitwise_not", torch.bitwise_not, one_of(whole(1, 99, int), whole(1, 2, bool))),
    Row("logical_not", torch.logical_not, one_of(whole(1), whole(1, 2, bool))),
    *(Row(name, getattr(torch, name), special) for name in "isnan isinf isfinite".split()),
]


def _over(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction there with our arguments."""
    return lambda x, axis, keepdims: function(x, dims(axis, x), keepdims)


def _moment(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis, keepdims, ddof: function(
        x, dims(axis, x), correction=ddof, keepdim=keepdims
    )


def _position(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis, keepdims: function(x, axis, keepdims)


BITS = reduction(whole_numbers=True)
TIED = one_of(reduction(), BITS)
TIED_ON_ONE_AXIS = one_of(reduction(several=False), reduction(several=False, whole_numbers=True))
# At least two along every axis: one element has a deviation of 0.
SPREAD = reduction((2, 3, 5), least=1, choices={"ddof": (0, 1)})
REDUCTION = [
    Row("sum", _over(torch.sum), reduction((0, 1, 2, 5))),
    Row("mean", _over(torch.mean), reduction((1, 2, 5, 17))),
    # amax shares ties equally, as we do; max along an axis does not: see the known differences.
    Row("max_reduce", _over(torch.amax), TIED),
    Row("min_reduce", _over(torch.amin), TIED),
    Row("prod", _prod, TIED),
    Row("cumsum", lambda x, axis: torch.cumsum(x, axis), along(sizes=(0, 1, 2, 5))),
    Row("var", _moment(torch.var), SPREAD),
    Row("std", _moment(torch.std), SPREAD),
    Row(
        "logsumexp",
        lambda x, axis, keepdims: torch.logsumexp(x, dims(axis, x) if x.ndim else 0, keepdims),
        reduction(**WIDE),
    ),
    Row(
        "norm",
        lambda x, ord, axis, keepdims: torch.linalg.vector_norm(x, ord, axis, keepdims),
        reduction(choices={"ord": (1, 2, 2.5, 3, inf)}, **NONZERO),
    ),
    Row("argmax", _position(torch.argmax), TIED_ON_ONE_AXIS),
    Row("argmin", _position(torch.argmin), TIED_ON_ONE_AXIS),
    Row("any", _over(torch.any), BITS),
    Row("all", _over(torch.all), BITS),
    Row("count_nonzero", _counted, BITS),
]

MATRIX = [
    Row(
        "matmul",
        torch.matmul,
        one_of(
            fixed((3, 4), (4, 5)),
            fixed((4,), (4, 5)),
            fixed((3, 4), (4,)),
            fixed((4,), (4,)),
            fixed((2, 3, 4), (2, 4, 5)),
            fixed((2, 3, 4), (4, 5)),
            fixed((3, 4), (2, 4, 5)),
            fixed((2, 1, 3, 4), (6, 4, 1)),
            fixed((4,), (2, 3, 4, 5)),
            fixed((2, 3, 5, 4), (4,)),
            fixed((1, 1), (1, 1)),
            fixed((33, 17), (17, 40)),
            fixed((0, 3), (3, 2)),
            fixed((2, 0), (0, 3)),
        ),
    ),
    Row("dot", torch.dot, one_of(fixed((5,), (5,)), fixed((1,), (1,)), fixed((40,), (40,)))),
    Row("outer", torch.outer, one_of(fixed((3,), (5,)), fixed((1,), (2,)), fixed((4,), (0,)))),
    Row(
        "linear",
        F.linear,
        one_of(
            fixed((4,), (3, 4), (3,)),
            fixed((5, 4), (3, 4), (3,)),
            fixed((2, 5, 4), (3, 4), (3,)),
            fixed((5, 4), (3, 4)),
            fixed((2, 3, 5, 4), (1, 4), (1,)),
        ),
    ),
    Row(
        "tensordot",
        lambda a, b, axes: torch.tensordot(a, b, dims=axes),
        one_of(
            fixed((2, 3, 4), (3, 4, 5), axes=2),
            fixed((2, 3), (3, 5), axes=1),
            fixed((2, 3), (4, 5), axes=0),
            fixed((2, 3, 4), (4, 5, 2), axes=([0, 2], [2, 0])),
            fixed((3, 4, 2), (5, 3, 4), axes=([1, 0], [2, 1])),
        ),
    ),
    Row(
        "einsum",
        lambda *operands, spec: torch.einsum(spec, *operands),
        one_of(
            fixed((2, 3), (3, 4), spec="ij,jk->ik"),
            fixed((2, 3), (3, 4), spec="ij,jk"),
            fixed((2, 3, 4), (2, 4, 5), spec="bij,bjk->bik"),
            fixed((2, 3, 4), (4, 5), spec="...j,jk->...k"),
            fixed((3, 3), spec="ii->i"),
            fixed((3, 3), spec="ii"),
            fixed((2, 3), spec="ij->ji"),
            fixed((2, 3), spec="ij->"),
            fixed((2,), (3,), (4,), spec="i,j,k->kij"),
            fixed((2, 3), (2, 3), (2, 3), spec="ij,ij,ij->i"),
        ),
    ),
]

ACTIVATION = [
    Row("relu", torch.relu, unary(avoid=(0.0,))),
    Row(
        "leaky_relu",
        lambda x, alpha: F.leaky_relu(x, alpha),
        with_choice("alpha", 0.01, 0.5, 0.0, avoid=(0.0,)),
    ),
    Row(
        "prelu",
        F.prelu,
        one_of(
            fixed((3,), (1,)),
            fixed((2, 3), (3,)),
            fixed((2, 3, 4), (3,)),
            fixed((2, 3, 4, 2), (3,)),
            fixed((2, 3, 4), (1,)),
        ),
    ),
    Row("sigmoid", torch.sigmoid, unary(**WIDE)),
    Row(
        "gelu",
        lambda x, approximate: F.gelu(x, approximate="tanh" if approximate else "none"),
        with_choice("approximate", False, True),
    ),
    Row("softmax", lambda x, axis: torch.softmax(x, axis), along(low=0)),
    Row("log_softmax", lambda x, axis: torch.log_softmax(x, axis), along(low=0)),
    Row("relu6", F.relu6, unary(low=-3, high=9)),
    # As they define it: hardsigmoid's own derivative in float64 is a float32's sixth.
    Row("hard_sigmoid", lambda x: F.relu6(x + 3) / 6, unary(**WIDE)),
    Row("hard_swish", F.hardswish, unary(**WIDE)),
    Row(
        "hard_tanh",
        lambda x, min_val, max_val: F.hardtanh(x, min_val, max_val),
        _clipped,
    ),
    Row("elu", lambda x, alpha: F.elu(x, alpha), with_choice("alpha", 1.0, 0.3, 2.0, **WIDE)),
    Row("selu", F.selu, unary(**WIDE)),
    # Without the threshold of 20, from which on softplus is x there.
    Row(
        "softplus",
        lambda x, beta: F.softplus(x, beta, threshold=1e9),
        with_choice("beta", 1.0, 0.4, 3.0, **WIDE),
    ),
    Row("softsign", F.softsign, unary(**NONZERO)),
    Row("silu", F.silu, unary(**WIDE)),
    Row("mish", F.mish, unary(**WIDE)),
    Row("glu", lambda x, axis: F.glu(x, axis), along(sizes=(2, 4, 6))),
]
