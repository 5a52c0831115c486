from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .case import Case, Error, Generator, real


def _keys(d: float) -> float:
    d, a = abs(d), -0.75
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def _moved(place: float, size: int, padding_mode: str, align: bool) -> float:
    if padding_mode == "reflection":
        low, high = (0, size - 1) if align else (-0.5, size - 0.5)
        while high > low and not low <= place <= high:
            place = 2 * low - place if place < low else 2 * high - place
        place = low if high == low else place
    return place if padding_mode == "zeros" else min(max(place, 0), size - 1)


def _read_along(place: float, size: int, mode: str, padding_mode: str, align: bool) -> list[Any]:
    """Pairs of an index and its weight."""
    place = (place + 1) / 2 * (size - 1) if align else ((place + 1) * size - 1) / 2
    if mode == "bicubic":
        first = int(np.floor(place))
        four = range(first - 1, first + 3)
        return [(round(_moved(i, size, padding_mode, align)), _keys(place - i)) for i in four]
    place = _moved(place, size, padding_mode, align)
    if mode == "nearest":
        return [(round(place), 1.0)]
    first = int(np.floor(place))
    return [(first, first + 1 - place), (first + 1, place - first)]


def _grid_sample(
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    result = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    how = (mode, padding_mode, bool(align_corners))
    for n, *at in np.ndindex(*grid.shape[:-1]):
        places = [float(p) for p in grid[(n, *at)][::-1]]
        along = [_read_along(p, size, *how) for p, size in zip(places, x.shape[2:], strict=True)]
        for pairs in product(*along):
            index, weights = zip(*pairs, strict=True)
            if all(0 <= i < size for i, size in zip(index, x.shape[2:], strict=True)):
                result[(n, slice(None), *at)] += np.prod(weights) * x[(n, slice(None), *index)]
    return result


def _places(*shape: int, steps: int) -> Generator:
    """Places that are a tenth of an element away from all points where something jumps."""

    def generate(rng: np.random.Generator, dtype: Any) -> Any:
        eighths = rng.integers(-2 * steps, 2 * steps, shape) + rng.choice([0.3, 0.7], shape)
        return (eighths / (1.25 * steps)).astype(dtype)

    return generate


def _affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    result = np.empty((size[0], *size[2:], len(size) - 2))
    for n, *at in np.ndindex(*result.shape[:-1]):
        lines = [
            (2 * i / max(m - 1, 1) - (m > 1)) if align_corners else (2 * i + 1) / m - 1
            for i, m in zip(at, size[2:], strict=True)
        ]
        result[(n, *at)] = theta[n] @ np.array([*lines[::-1], 1.0])
    return result


def _bilinear(x1: Any, x2: Any, weight: Any, bias: Any = None) -> Any:
    result = np.einsum("...i,oij,...j->...o", x1, weight, x2)
    return result if bias is None else result + bias


def _case(x: Any, grid: Any, steps: int = 4, **attributes: Any) -> Case:
    inputs = (real(*x), _places(*grid, steps=steps))
    return Case("grid_sample", inputs, _grid_sample, attributes, integers=False)


CASES = [
    *(
        _case((2, 2, 3, 4), (2, 2, 3, 2), padding_mode=padding, mode=mode, align_corners=align)
        for padding in ("zeros", "border", "reflection")
        for mode in ("bilinear", "nearest", "bicubic")
        for align in (False, True)
    ),
    _case((1, 1, 1, 2), (1, 2, 2, 2), padding_mode="reflection", align_corners=True),
    _case((1, 2, 2, 3, 2), (1, 2, 1, 3, 3)),
    _case((1, 2, 2, 3, 2), (1, 2, 1, 3, 3), mode="nearest", padding_mode="border"),
    _case((0, 2, 2, 3), (0, 2, 1, 2)),
    *(
        Case("affine_grid", (real(*theta),), _affine_grid, how, integers=False)
        for theta, how in (
            ((2, 2, 3), {"size": (2, 1, 3, 2)}),
            ((1, 2, 3), {"size": (1, 4, 1, 3), "align_corners": True}),
            ((1, 3, 4), {"size": (1, 1, 2, 1, 3)}),
        )
    ),
    Case("bilinear", (real(3, 2), real(3, 4), real(5, 2, 4), real(5)), _bilinear, integers=False),
    Case("bilinear", (real(3, 2), real(3, 4), real(5, 2, 4)), _bilinear, integers=False),
    Case("bilinear", (real(2, 3, 2), real(2, 3, 1), real(2, 2, 1)), _bilinear, integers=False),
    Case("bilinear", (real(2), real(3), real(2, 2, 3), real(2)), _bilinear, integers=False),
    Case("bilinear", (real(0, 2), real(0, 3), real(1, 2, 3)), _bilinear, integers=False),
]

PICTURE, GRID = np.ones((1, 1, 2, 2)), np.zeros((1, 1, 1, 2))
ERRORS = [
    Error(
        "grid_sample",
        (PICTURE, np.zeros((1, 1, 1, 3))),
        "grid_sample: x must be (batch, channels, ...) with 2 or 3 axes more, and grid have a place "
        "in it for each element of the result, got x_shape=(1, 1, 2, 2), grid_shape=(1, 1, 1, 3)",
    ),
    Error(
        "grid_sample",
        (PICTURE, GRID, "cubic"),
        "grid_sample: mode must be one of bilinear, nearest, bicubic, got mode='cubic'",
    ),
    Error(
        "grid_sample",
        (PICTURE, GRID, "nearest", "wrap"),
        "grid_sample: padding_mode must be one of zeros, border, reflection, got padding_mode='wrap'",
    ),
    Error(
        "grid_sample",
        (np.ones((1, 1, 2, 2, 2)), np.zeros((1, 1, 1, 1, 3)), "bicubic"),
        "grid_sample: mode must not be bicubic for volumes, got x_shape=(1, 1, 2, 2, 2), "
        "grid_shape=(1, 1, 1, 1, 3)",
    ),
    Error(
        "affine_grid",
        (np.ones((1, 2, 3)), (2, 1, 2, 2)),
        "affine_grid: theta must be (batch, 2, 3) and size (batch, channels, height, width), or one "
        "more, got theta_shape=(1, 2, 3), size=(2, 1, 2, 2)",
    ),
    Error(
        "bilinear",
        (np.ones(2), np.ones(3), np.ones((1, 3, 2))),
        "bilinear: x1 must be (..., in1) and x2 (..., in2) with the same axes in front, "
        "got x1_shape=(2,), x2_shape=(3,), weight_shape=(1, 3, 2)",
    ),
    Error(
        "bilinear",
        (np.ones(2), np.ones(3), np.ones((2, 3))),
        "bilinear: weight must be 3-D (out, in1, in2), "
        "got x1_shape=(2,), x2_shape=(3,), weight_shape=(2, 3)",
    ),
]
