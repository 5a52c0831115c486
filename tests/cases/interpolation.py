from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, real


def _weight(mode: str, place: float, j: int, size: int) -> float:
    """How much element ``j`` of an axis counts at ``place``."""
    if mode == "cubic":
        four = np.floor(place) + np.arange(-1, 3)
        return float(sum(_keys(place - n, -0.75) for n in four if np.clip(n, 0, size - 1) == j))
    return max(0.0, 1 - abs(np.clip(place, 0, size - 1) - j))


def _keys(d: float, a: float) -> float:
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def _matrix(
    old: int, new: int, mode: str, factor: float | None, corners: bool | None, antialias: bool
) -> Any:
    """Row ``i`` has the weights of element ``i`` of the new axis."""
    step = 1 / factor if factor else old / new
    if corners:
        step = (old - 1) / max(new - 1, 1)
    rows = np.zeros((new, old))
    for i in range(new):
        if mode == "area":
            rows[i, i * old // new : -(-(i + 1) * old // new)] = 1
        elif mode.startswith("nearest"):
            rows[i, min(int((i + 0.5 * (mode == "nearest-exact")) * step), old - 1)] = 1
        elif antialias:
            wide = max(step, 1.0)
            for j in range(old):
                d = (j + 0.5 - (i + 0.5) * step) / wide
                rows[i, j] = _keys(d, -0.5) if mode == "cubic" else max(0.0, 1 - abs(d))
        else:
            place = i * step if corners else (i + 0.5) * step - 0.5
            rows[i] = [_weight(mode, place, j, old) for j in range(old)]
    return rows / rows.sum(axis=1, keepdims=True)


def _interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    axes = x.ndim - 2
    factors = np.broadcast_to(np.nan if scale_factor is None else scale_factor, axes)
    sizes = (
        [int(n * f) for n, f in zip(x.shape[2:], factors, strict=True)] if size is None else size
    )
    kind = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    for i, new in enumerate(np.broadcast_to(sizes, axes)):
        factor = None if size is not None or recompute_scale_factor else float(factors[i])
        rows = _matrix(x.shape[i + 2], int(new), kind, factor, align_corners, antialias)
        x = np.moveaxis(np.tensordot(rows, x, axes=(1, i + 2)), 0, i + 2)
    return x


def _case(*shape: int, **attributes: Any) -> Case:
    whole = attributes.get("mode", "nearest").startswith("nearest")
    return Case("interpolate", (real(*shape),), _interpolate, attributes, integers=whole)


CASES = [
    _case(2, 3, 5, size=8),
    _case(1, 2, 4, size=4),
    _case(1, 2, 3, 4, scale_factor=2.0),
    _case(1, 2, 5, 4, scale_factor=(0.5, 1.7)),
    _case(1, 2, 5, scale_factor=1.7, recompute_scale_factor=True),
    _case(1, 1, 2, 3, 4, size=(3, 3, 5)),
    _case(1, 2, 7, size=4, mode="nearest-exact"),
    _case(1, 2, 5, size=3, mode="area"),
    _case(1, 2, 5, 3, size=(2, 7), mode="area"),
    _case(2, 2, 5, size=8, mode="linear"),
    _case(2, 2, 5, size=8, mode="linear", align_corners=True),
    _case(2, 2, 5, size=1, mode="linear", align_corners=True),
    _case(1, 2, 5, 3, scale_factor=(1.5, 2), mode="bilinear"),
    _case(1, 2, 5, 3, scale_factor=1.5, mode="bilinear", recompute_scale_factor=True),
    _case(1, 2, 7, 9, size=(3, 4), mode="bilinear", antialias=True),
    _case(1, 2, 3, 4, size=(5, 3), mode="bicubic"),
    _case(1, 2, 3, 4, size=(5, 3), mode="bicubic", align_corners=True),
    _case(1, 1, 9, 8, size=(3, 10), mode="bicubic", antialias=True),
    _case(1, 1, 2, 3, 2, size=(3, 4, 5), mode="trilinear"),
    _case(0, 2, 3, size=5, mode="linear"),
]

ERRORS = [
    Error(
        "interpolate",
        (np.zeros((1, 1, 2)),),
        "interpolate: exactly one of size and scale_factor must be given, "
        "got size=None, scale_factor=None",
    ),
    Error(
        "interpolate",
        (np.zeros((1, 1, 2)), 3, None, "cubic"),
        "interpolate: mode must be one of nearest, nearest-exact, linear, bilinear, bicubic, "
        "trilinear, area, got mode='cubic'",
    ),
    Error(
        "interpolate",
        (np.zeros((1, 1, 2)), 3, None, "bilinear"),
        "interpolate: x must have 4 axes for this mode, got mode='bilinear', x_shape=(1, 1, 2)",
    ),
    Error(
        "interpolate",
        (np.zeros((1, 1, 2)), 3, None, "nearest", False),
        "interpolate: align_corners must be None unless mode is one of linear, bilinear, bicubic, "
        "trilinear, got mode='nearest', align_corners=False",
    ),
    Error(
        "interpolate",
        (np.zeros((1, 1, 2)), 3, None, "linear", None, None, True),
        "interpolate: antialias must be False unless mode is bilinear or bicubic, "
        "got mode='linear', antialias=True",
    ),
    Error(
        "interpolate",
        (np.zeros((1, 1, 2)), 3, None, "linear", None, True),
        "interpolate: recompute_scale_factor must not be set where size is given, got size=3",
    ),
    Error(
        "interpolate",
        (np.zeros((1, 1, 0)), 3),
        "interpolate: x must have elements along each axis, got x_shape=(1, 1, 0)",
    ),
    Error(
        "interpolate",
        (np.zeros((1, 1, 2)), None, 0.1),
        "interpolate: the result must have elements, got scale_factor=0.1",
    ),
    Error(
        "interpolate",
        (np.zeros((1, 1, 2)), None, -1.0),
        "interpolate: scale_factor must be a positive number or 1 of them, got scale_factor=-1.0",
    ),
    Error(
        "interpolate",
        (np.zeros((1, 1, 2)), None, ("a",)),
        "interpolate: scale_factor must be a positive number or 1 of them, got scale_factor=('a',)",
        kind=TypeError,
    ),
    Error(
        "interpolate",
        (np.zeros((1, 1, 2), int), 3, None, "linear"),
        "interpolate: x must be floating (x.astype makes it so), got x_dtype='int64'",
        kind=TypeError,
    ),
    Error(
        "interpolate_backward",
        (np.zeros((1, 1, 2)), (1, 1, 2), 3),
        "interpolate_backward: grad_output must have shape (1, 1, 3), "
        "got grad_output_shape=(1, 1, 2)",
    ),
]
