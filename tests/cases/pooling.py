from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .case import Case, Error, Singular, distinct, real


def _each(value: Any, axes: int) -> tuple[int, ...]:
    values = value if isinstance(value, tuple) else (value,)
    return values * axes if len(values) == 1 else values


def _windows(x, kernel_size, stride, padding, dilation, ceil_mode):
    """For each output the elements of its window in the padded input, which is NaN outside.

    Counted as windows are: one more as long as it begins inside and the last one did not reach the
    end (with ``ceil_mode``), or as long as it ends inside.
    """
    axes = x.ndim - 2
    kernel, dilations, added = (_each(v, axes) for v in (kernel_size, dilation, padding))
    strides = kernel if stride is None else _each(stride, axes)
    starts = []
    for n, k, s, p, d in zip(x.shape[2:], kernel, strides, added, dilations, strict=True):
        reach, end = d * (k - 1), n + 2 * p
        places = [0]
        while places[-1] + s + reach < end:
            places.append(places[-1] + s)
        if ceil_mode and places[-1] + reach + 1 < end and places[-1] + s < n + p:
            places.append(places[-1] + s)
        starts.append(places)
    widths = [(p, p + d * k) for k, p, d in zip(kernel, added, dilations, strict=True)]
    padded = np.pad(x.astype(float), [(0, 0), (0, 0), *widths], constant_values=np.nan)
    for at in product(*(range(len(places)) for places in starts)):
        window = tuple(
            slice(places[i], places[i] + d * (k - 1) + 1, d)
            for i, places, k, d in zip(at, starts, kernel, dilations, strict=True)
        )
        yield at, window, padded[(slice(None), slice(None), *window)]


def _collected(found):
    """Arrays (batch, channels) by position, as one array."""
    last = max(found)
    out = np.zeros((*found[last].shape, *(i + 1 for i in last)))
    for at, values in found.items():
        out[(slice(None), slice(None), *at)] = values
    return out


def max_pool(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    windows = _windows(x, kernel_size, stride, padding, dilation, ceil_mode)
    inside = tuple(range(2, x.ndim))
    return _collected({at: np.nanmax(seen, axis=inside) for at, _, seen in windows})


def avg_pool(
    x,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
):
    axes, found = x.ndim - 2, {}
    ends = [n + 2 * p for n, p in zip(x.shape[2:], _each(padding, axes), strict=True)]
    for at, window, seen in _windows(x, kernel_size, stride, padding, 1, ceil_mode):
        inside = tuple(range(2, x.ndim))
        total = np.nansum(seen, axis=inside)
        area = [min(w.stop, end) - w.start for w, end in zip(window, ends, strict=True)]
        counted = np.prod(area) if count_include_pad else (~np.isnan(seen)).sum(axis=inside)
        found[at] = total / (counted if divisor_override is None else divisor_override)
    return _collected(found)


def adaptive_avg_pool(x, output_size):
    sizes = [
        n if m is None else m
        for m, n in zip(_each(output_size, x.ndim - 2), x.shape[2:], strict=True)
    ]
    found = {}
    for at in product(*map(range, sizes)):
        window = tuple(
            slice(int(np.floor(i * n / m)), int(np.ceil((i + 1) * n / m)))
            for i, n, m in zip(at, x.shape[2:], sizes, strict=True)
        )
        seen = x[(slice(None), slice(None), *window)].astype(float)
        found[at] = seen.mean(axis=tuple(range(2, x.ndim)))
    return _collected(found)


def alone(reference):
    """The same of one sample, without the axis of the batch."""
    return lambda x, **how: reference(x[None], **how)[0]


PLANES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 2, 4, 4), {"kernel_size": 2}),
    ((1, 2, 5, 7), {"kernel_size": (2, 3)}),
    ((1, 1, 1, 1), {"kernel_size": 1}),
    ((1, 1, 3, 4), {"kernel_size": (3, 4)}),
    ((1, 1, 6, 5), {"kernel_size": 3, "stride": (2,), "padding": (1,)}),
    ((1, 1, 4, 5), {"kernel_size": (2, 3), "stride": (1, 2)}),
    ((1, 2, 4, 5), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ((1, 1, 3, 4), {"kernel_size": (2, 3), "stride": 1, "padding": (1, 0)}),
    ((1, 1, 5, 6), {"kernel_size": 2, "stride": 3, "ceil_mode": True}),
    ((1, 1, 4, 5), {"kernel_size": 2, "padding": 1, "ceil_mode": True}),
    ((1, 1, 3, 6), {"kernel_size": (4, 3), "stride": 2, "padding": 1, "ceil_mode": True}),
]
LINES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 6), {"kernel_size": 2}),
    ((1, 2, 7), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ((1, 2, 6), {"kernel_size": (4,), "stride": (3,), "ceil_mode": True}),
    ((1, 1, 1), {"kernel_size": 1}),
]
DILATED: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((1, 1, 5, 5), {"kernel_size": 2, "dilation": 2, "stride": 1}),
    ((1, 1, 6, 5), {"kernel_size": (2, 3), "dilation": (3, 2), "padding": 1}),
]

CASES = [
    *(Case("max_pool2d", (distinct(*s),), max_pool, how) for s, how in (*PLANES, *DILATED)),
    *(Case("max_pool1d", (distinct(*s),), max_pool, how) for s, how in LINES),
    Case("max_pool1d", (distinct(1, 2, 7),), max_pool, {"kernel_size": 3, "dilation": 2}),
    *(
        Case("avg_pool2d", (real(*s),), avg_pool, {**how, **more}, integers=False)
        for s, how in PLANES
        for more in ({}, {"count_include_pad": False}, {"divisor_override": 3})
    ),
    *(
        Case("avg_pool1d", (real(*s),), avg_pool, {**how, **more}, integers=False)
        for s, how in LINES
        for more in ({}, {"count_include_pad": False})
    ),
    *(
        Case(
            "adaptive_avg_pool2d",
            (real(1, 2, 5, 4),),
            adaptive_avg_pool,
            {"output_size": size},
            integers=False,
        )
        for size in (1, 2, 3, 7, (5, 1), (None, 3), None)
    ),
    *(
        Case(
            "adaptive_avg_pool1d",
            (real(2, 2, 7),),
            adaptive_avg_pool,
            {"output_size": size},
            integers=False,
        )
        for size in (1, 3, (4,), 9, None)
    ),
    *(Case("max_pool2d", (distinct(*s[1:]),), alone(max_pool), how) for s, how in PLANES[5:8]),
    *(Case("max_pool1d", (distinct(*s[1:]),), alone(max_pool), how) for s, how in LINES),
    *(
        Case(f"{name}{axes}d", (real(*s[1:]),), alone(reference), how, integers=False)
        for name, reference, axes, s, how in [
            *(("avg_pool", avg_pool, 2, *row) for row in PLANES[5:8]),
            *(("avg_pool", avg_pool, 1, *row) for row in LINES),
            ("adaptive_avg_pool", adaptive_avg_pool, 2, (1, 2, 5, 4), {"output_size": (2, None)}),
            ("adaptive_avg_pool", adaptive_avg_pool, 1, (1, 2, 7), {"output_size": 3}),
        ]
    ),
]

INF = float("inf")
NAN = float("nan")
WINDOW = {"kernel_size": 2}
SINGULAR = [
    Singular(f"{name}1d", ([[[first, second, 1.0]]],), attributes)
    for name, attributes in [
        ("max_pool", WINDOW),
        ("avg_pool", WINDOW),
        ("adaptive_avg_pool", {"output_size": 2}),
    ]
    for first, second in [(INF, -INF), (NAN, INF), (-INF, -INF)]
] + [
    Singular(f"{name}2d", ([[[[INF, NAN], [-INF, 1.0]]]],), attributes)
    for name, attributes in [
        ("max_pool", WINDOW),
        ("avg_pool", WINDOW),
        ("adaptive_avg_pool", {"output_size": 1}),
    ]
]


def _error(name, shape, text, kind=ValueError, **attributes) -> Error:
    return Error(name, (np.ones(shape, "f4"),), f"{name}: {text}", attributes, kind)


ERRORS = [
    *(
        _error(
            f"{name}{axes}d",
            (3,),
            f"x must be {described}, got x_shape=(3,)",
            **attributes,
        )
        for name, attributes in [
            ("max_pool", WINDOW),
            ("avg_pool", WINDOW),
            ("adaptive_avg_pool", {"output_size": 2}),
        ]
        for axes, described in [
            (1, "3-D (batch, channels, length) or 2-D (channels, length)"),
            (2, "4-D (batch, channels, height, width) or 3-D (channels, height, width)"),
        ]
    ),
    *(
        _error(f"{name}2d", (1, 1, 4, 4), text, **attributes)
        for name in ("max_pool", "avg_pool")
        for text, attributes in [
            (
                "padding must be at most half of kernel_size, got padding=2, kernel_size=3",
                {"kernel_size": 3, "padding": 2},
            ),
            (
                "the window must fit into the padded input, "
                "got x_size=(4, 4), kernel_size=(2, 7), padding=(0, 1), dilation=1",
                {"kernel_size": (2, 7), "padding": (0, 1)},
            ),
            ("kernel_size must be at least 1, got kernel_size=0", {"kernel_size": 0}),
            ("stride must be at least 1, got stride=0", {"kernel_size": 2, "stride": 0}),
            (
                "kernel_size must be an int or 2 ints, got kernel_size=(1, 1, 1)",
                {"kernel_size": (1, 1, 1)},
            ),
        ]
    ),
    *(
        Error(
            f"{name}{axes}d",
            (np.ones((1, 1, 4, 4)[2 - axes :], dtype),),
            f"{name}{axes}d: x must be floating (x.astype makes it so), got x_dtype='{dtype}'",
            attributes,
            TypeError,
        )
        for name, attributes in [("avg_pool", WINDOW), ("adaptive_avg_pool", {"output_size": 2})]
        for axes in (1, 2)
        for dtype in ("int64", "uint8", "bool")
    ),
    *(
        _error(
            "avg_pool2d",
            (1, 1, 4, 4),
            f"divisor_override must be None or an int other than 0, got divisor_override={divisor}",
            kind,
            kernel_size=2,
            divisor_override=divisor,
        )
        for divisor, kind in [(0, ValueError), (1.5, TypeError), (True, TypeError)]
    ),
    _error(
        "max_pool1d",
        (1, 1, 4),
        "kernel_size must be an int, got kernel_size=None",
        TypeError,
        kernel_size=None,
    ),
    _error(
        "max_pool2d",
        (1, 1, 0, 4),
        "the window must fit into the padded input, "
        "got x_size=(0, 4), kernel_size=2, padding=1, dilation=1",
        kernel_size=2,
        padding=1,
    ),
    _error(
        "max_pool1d",
        (1, 1, 4),
        "the window must fit into the padded input, "
        "got x_size=(4,), kernel_size=3, padding=0, dilation=2",
        kernel_size=3,
        dilation=2,
    ),
    _error(
        "adaptive_avg_pool2d",
        (1, 1, 0, 4),
        "x must have elements along the axes to pool, got x_shape=(1, 1, 0, 4)",
        output_size=1,
    ),
    _error(
        "adaptive_avg_pool2d",
        (1, 1, 4, 4),
        "output_size must be an int or 2 ints, got output_size=(2, 2, 2)",
        output_size=(2, 2, 2),
    ),
    _error(
        "adaptive_avg_pool1d",
        (1, 1, 4),
        "output_size must be at least 1, got output_size=0",
        output_size=0,
    ),
    *(
        Error(
            f"{name}{axes}d_backward",
            (np.ones((1, 1), "f4"), np.ones(shape, "f4") if name == "max_pool" else shape),
            f"{name}{axes}d_backward: grad_output must have shape {(1, 1, *(2,) * axes)}, "
            "got grad_output_shape=(1, 1)",
            attributes,
        )
        for name, attributes in [
            ("max_pool", WINDOW),
            ("avg_pool", WINDOW),
            ("adaptive_avg_pool", {"output_size": 2}),
        ]
        for axes, shape in [(1, (1, 1, 5)), (2, (1, 1, 4, 5))]
    ),
]
