"""Pooling of volumes, maxima with their places, and the way back."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from .case import Case, Error, Generator, Singular, distinct, real
from .pooling import DILATED, LINES, PLANES, adaptive_avg_pool, alone, avg_pool, max_pool

VOLUMES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 2, 4, 4, 2), {"kernel_size": 2}),
    ((1, 2, 3, 5, 4), {"kernel_size": (2, 3, 1), "stride": (1, 2, 2)}),
    ((1, 1, 4, 3, 5), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ((1, 1, 4, 5, 3), {"kernel_size": 2, "padding": (1, 0, 1), "ceil_mode": True}),
]
DEEP = ((1, 1, 5, 4, 5), {"kernel_size": 2, "dilation": (2, 1, 3), "stride": 1})


def _with_places(reference: Any) -> Any:
    """A reference of maxima, which finds the place of each by its rank."""

    def find(x: Any, **how: Any) -> tuple[Any, Any]:
        axes = x.ndim - 2
        flat = x.reshape(*x.shape[:2], -1)
        order = np.argsort(flat[..., ::-1], axis=-1, kind="stable")
        ranks = flat.shape[-1] - 1 - np.argsort(order, axis=-1)[..., ::-1]
        # Ranks from above, the first of equals lowest, so that no two elements are equal.
        best = -np.asarray(reference(-ranks.reshape(x.shape), **how)).astype(np.int64)
        lines = best.reshape(*x.shape[:2], -1)
        places = np.take_along_axis(np.argsort(ranks, axis=-1), lines, axis=-1)
        values = np.take_along_axis(flat, places, axis=-1)
        return values.reshape(best.shape), places.reshape((*x.shape[:2], *best.shape[-axes:]))

    return find


def _alone(reference: Any) -> Any:
    def both(x: Any, **how: Any) -> tuple[Any, Any]:
        values, places = reference(x[None], **how)
        return values[0], places[0]

    return both


def _adaptive_max(x: Any, output_size: Any) -> Any:
    axes = x.ndim - 2
    given = output_size if isinstance(output_size, tuple) else (output_size,) * axes
    sizes = [n if m is None else m for m, n in zip(given, x.shape[2:], strict=True)]
    result = np.empty((*x.shape[:2], *sizes), x.dtype)
    for at in product(*map(range, sizes)):
        window = tuple(
            slice(i * n // m, -(-(i + 1) * n // m))
            for i, n, m in zip(at, x.shape[2:], sizes, strict=True)
        )
        inside = x[(slice(None), slice(None), *window)]
        result[(..., *at)] = inside.max(axis=tuple(range(2, x.ndim)))
    return result


def _lp_pool(
    x: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    each = kernel_size if isinstance(kernel_size, tuple) else (kernel_size,) * (x.ndim - 2)
    means = avg_pool(np.power(x, norm_type), kernel_size, stride, 0, ceil_mode)
    return np.maximum(np.asarray(means) * prod(each), 0) ** (1 / norm_type)


def _max_unpool(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    axes = len(kernel_size)
    strides = stride or kernel_size
    size = output_size or tuple(
        (n - 1) * s - 2 * padding + k
        for n, s, k in zip(x.shape[-axes:], strides, kernel_size, strict=True)
    )
    result = np.zeros((*x.shape[:-axes], *size[-axes:]), x.dtype)
    for at in np.ndindex(*x.shape):
        result[(*at[:-axes], *np.unravel_index(indices[at], size[-axes:]))] = x[at]
    return result


def _places(size: int, *shape: int) -> Generator:
    """Different places below ``size`` for each line of the flattened last axes."""

    def generate(rng: np.random.Generator, _: Any) -> Any:
        lines = [rng.permutation(size)[: prod(shape[2:])] for _ in range(prod(shape[:2]))]
        return np.reshape(lines, shape).astype(np.int64)

    return generate


def _unfold(x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = (
        value if isinstance(value, tuple) else (value,) * 2
        for value in (kernel_size, dilation, padding, stride)
    )
    padded = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    tall, wide = dh * (kh - 1) + 1, dw * (kw - 1) + 1
    columns = [
        padded[:, :, i : i + tall : dh, j : j + wide : dw].reshape(x.shape[0], -1)
        for i in range(0, padded.shape[2] - tall + 1, sh)
        for j in range(0, padded.shape[3] - wide + 1, sw)
    ]
    return np.stack(columns, axis=-1)


def _fold(x: Any, output_size: Any, **how: Any) -> Any:
    """The adjoint of ``_unfold``, column by column."""
    size = output_size if isinstance(output_size, tuple) else (output_size,) * 2
    kernel = how["kernel_size"]
    elements = prod(kernel) if isinstance(kernel, tuple) else kernel**2
    shape = (x.shape[0], x.shape[1] // elements, *size)
    numbers = np.arange(1, prod(shape) + 1).reshape(shape)
    places = _unfold(numbers, **how).reshape(-1)
    sums = np.bincount(places, x.reshape(-1).astype(float), prod(shape) + 1)
    return sums[1:].reshape(shape).astype(x.dtype)


UNFOLDED: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 2, 3, 4), {"kernel_size": 2}),
    ((1, 2, 5, 4), {"kernel_size": (3, 2), "dilation": (1, 2), "padding": 1, "stride": 2}),
    ((1, 1, 4, 6), {"kernel_size": 2, "padding": (0, 1), "stride": (1, 3)}),
]

CASES = [
    *(Case("max_pool3d", (distinct(*s),), max_pool, how) for s, how in (*VOLUMES, DEEP)),
    Case("max_pool3d", (distinct(1, 4, 4, 2),), alone(max_pool), {"kernel_size": 2}),
    *(
        Case(f"max_pool{len(s) - 2}d_with_indices", (distinct(*s),), _with_places(max_pool), how)
        for s, how in (*VOLUMES, DEEP, *PLANES, DILATED[0], *LINES)
    ),
    *(
        Case(f"max_pool{n}d_with_indices", (distinct(2, *(4,) * n),),
             _alone(_with_places(max_pool)), {"kernel_size": 2})
        for n in (1, 2, 3)
    ),
    *(
        Case("avg_pool3d", (real(*s),), avg_pool, {**how, **more}, integers=False)
        for s, how in VOLUMES
        for more in ({}, {"count_include_pad": False}, {"divisor_override": 3})
    ),
    Case("avg_pool3d", (real(1, 4, 4, 2),), alone(avg_pool), {"kernel_size": 2}, integers=False),
    *(
        Case(f"adaptive_max_pool{n}d{suffix}", (distinct(*shape),), made(_adaptive_max),
             {"output_size": size})
        for suffix, made in (("", lambda f: f), ("_with_indices", _with_places))
        for n, shape, size in (
            (1, (2, 2, 7), 3), (1, (1, 2, 5), None), (2, (1, 2, 5, 4), 2),
            (2, (1, 2, 5, 4), (None, 3)), (2, (1, 2, 3, 2), (5, 1)), (3, (1, 2, 3, 5, 4), (2, 3, 4)),
        )
    ),
    *(
        Case(f"adaptive_max_pool{n}d", (distinct(2, *(4,) * n),), alone(_adaptive_max),
             {"output_size": 3})
        for n in (1, 2, 3)
    ),
    *(
        Case("adaptive_avg_pool3d", (real(*s),), f, {"output_size": size}, integers=False)
        for s, f, size in (
            ((1, 2, 3, 5, 4), adaptive_avg_pool, (2, None, 3)),
            ((2, 2, 3, 2, 4), adaptive_avg_pool, 2),
            ((2, 3, 2, 4), alone(adaptive_avg_pool), 2),
        )
    ),
    *(
        Case(f"lp_pool{len(s) - 2}d", (real(*s, low=0.2),), _lp_pool, how, integers=False)
        for s, how in (
            ((2, 2, 6), {"norm_type": 2, "kernel_size": 2}),
            ((1, 2, 6), {"norm_type": 3.0, "kernel_size": 3, "stride": 1}),
            ((1, 2, 5), {"norm_type": 1, "kernel_size": 2, "ceil_mode": True}),
            ((1, 2, 5, 4), {"norm_type": 2.0, "kernel_size": (3, 2), "stride": 1}),
            ((1, 2, 5, 4), {"norm_type": 3, "kernel_size": 2, "ceil_mode": True}),
            ((1, 2, 3, 4, 3), {"norm_type": 2.0, "kernel_size": (1, 2, 3), "stride": 1}),
            ((1, 1, 3, 4, 3), {"norm_type": 1.5, "kernel_size": 2, "ceil_mode": True}),
        )
    ),
    *(
        Case(f"max_unpool{len(s) - 2}d", (real(*s), _places(size, *s)), _max_unpool, how)
        for s, size, how in (
            ((2, 2, 3), 6, {"kernel_size": (2,)}),
            ((1, 2, 3), 5, {"kernel_size": (3,), "stride": (2,), "padding": 1}),
            ((1, 2, 3), 7, {"kernel_size": (2,), "output_size": (7,)}),
            ((2, 2, 2, 3), 24, {"kernel_size": (2, 2)}),
            ((2, 1, 2, 3), 15, {"kernel_size": (3, 3), "stride": (2, 2), "padding": 1}),
            ((1, 1, 2, 2), 25, {"kernel_size": (2, 2), "output_size": (5, 5)}),
            ((1, 2, 2, 2, 1), 32, {"kernel_size": (2, 2, 2)}),
            ((1, 1, 2, 2, 2), 27, {"kernel_size": (3, 3, 3), "stride": (2, 2, 2), "padding": 1}),
            ((1, 1, 1, 2, 1), 30, {"kernel_size": (2, 2, 2), "output_size": (2, 5, 3)}),
        )
    ),
    *(Case("unfold", (real(*s),), _unfold, how) for s, how in UNFOLDED),
    Case("unfold", (real(2, 3, 4),), alone(_unfold), {"kernel_size": 2}),
    *(
        Case("fold", (real(*_unfold(np.zeros(s), **how).shape),), _fold,
             {"output_size": s[2:], **how}, integers=False)
        for s, how in UNFOLDED
    ),
    Case("fold", (real(8, 4),), alone(_fold), {"output_size": 3, "kernel_size": 2}, integers=False),
]  # fmt: skip

INF = float("inf")
NAN = float("nan")
SINGULAR = [
    *(
        Singular(name, ([[[[[INF, NAN], [-INF, 1.0]]]]],), attributes)
        for name, attributes in [
            ("max_pool3d", {"kernel_size": (1, 2, 2)}),
            ("avg_pool3d", {"kernel_size": (1, 2, 2)}),
            ("adaptive_max_pool3d", {"output_size": 1}),
            ("adaptive_avg_pool3d", {"output_size": 1}),
        ]
    ),
    Singular("lp_pool1d", ([[[0.0, 0.0, INF, 1.0]]],), {"norm_type": 3, "kernel_size": 2}),
]


def _error(name: str, shape: Any, text: str, kind: Any = ValueError, **attributes: Any) -> Error:
    return Error(name, (np.ones(shape, "f4"),), f"{name}: {text}", attributes, kind)


VOLUME = "5-D (batch, channels, depth, height, width) or 4-D (channels, depth, height, width)"
DESCRIBED = {
    1: "3-D (batch, channels, length) or 2-D (channels, length)",
    2: "4-D (batch, channels, height, width) or 3-D (channels, height, width)",
    3: VOLUME,
}
ERRORS = [
    *(
        _error(name, (3,), f"x must be {VOLUME}, got x_shape=(3,)", **attributes)
        for name, attributes in [
            ("max_pool3d", {"kernel_size": 2}),
            ("avg_pool3d", {"kernel_size": 2}),
            ("adaptive_avg_pool3d", {"output_size": 2}),
        ]
    ),
    *(
        _error(
            f"{name}{n}d{suffix}", (3,), f"x must be {DESCRIBED[n]}, got x_shape=(3,)", **attributes
        )
        for n in (1, 2, 3)
        for name, suffix, attributes in [
            ("max_pool", "_with_indices", {"kernel_size": 2}),
            ("adaptive_max_pool", "", {"output_size": 2}),
            ("adaptive_max_pool", "_with_indices", {"output_size": 2}),
            ("lp_pool", "", {"norm_type": 2, "kernel_size": 2}),
        ]
    ),
    _error(
        "max_pool1d_with_indices",
        (1, 1, 2),
        "each window must see an element, got padding=1, dilation=3",
        kernel_size=2,
        stride=1,
        padding=1,
        dilation=3,
    ),
    _error(
        "lp_pool1d",
        (1, 1, 2),
        "norm_type must be above 0 and finite, got norm_type=0",
        norm_type=0,
        kernel_size=2,
    ),
    _error(
        "lp_pool1d",
        (1, 1, 2),
        "norm_type must be a number, got norm_type='str'",
        TypeError,
        norm_type="2",
        kernel_size=2,
    ),
    *(
        Error(
            f"max_unpool{n}d",
            (np.ones((1,) * (n + 2)), np.ones((2,) * (n + 2), int), 2),
            f"max_unpool{n}d: indices must have the shape of x, "
            f"got x_shape={(1,) * (n + 2)}, indices_shape={(2,) * (n + 2)}",
        )
        for n in (1, 2, 3)
    ),
    Error(
        "max_unpool1d",
        (np.ones((1, 1, 1)), [[[2]]], 2),
        "max_unpool1d: indices must be in [-2, 1] for the flattened axes, got index=2",
    ),
    Error(
        "max_unpool1d",
        (np.ones((1, 1, 1)), [[[-1]]], 2),
        "max_unpool1d: indices must not be negative, got index=-1",
    ),
    Error(
        "max_unpool1d",
        (np.ones((1, 1, 1)), [[[1]]], 2, None, 0, 4),
        "max_unpool1d: output_size must be 1 sizes, each less than a stride from (2,), "
        "got output_size=4",
    ),
    _error(
        "unfold",
        (3,),
        "x must be 4-D (batch, channels, height, width) or 3-D (channels, height, width), "
        "got x_shape=(3,)",
        kernel_size=2,
    ),
    _error(
        "fold",
        (3,),
        "x must be 3-D (batch, channels * kernel elements, windows) or one without batch, "
        "got x_shape=(3,)",
        output_size=2,
        kernel_size=2,
    ),
    _error(
        "fold",
        (1, 3, 1),
        "axis -2 of x must be divisible by the 4 elements of a window, got x_shape=(1, 3, 1)",
        output_size=2,
        kernel_size=2,
    ),
    _error(
        "fold",
        (1, 4, 2),
        "x must have shape (1, 4, 1), got x_shape=(1, 4, 2)",
        output_size=2,
        kernel_size=2,
    ),
]
