"""PyTorch's names of ops, and how their calls are said here; None for a sample that cannot be said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import extensor as ex


class SampleRow(NamedTuple):
    """``call`` takes what PyTorch's function takes, with tensors of ours, and calls ``op``."""

    op: str
    name: str
    call: Callable[..., Any]
    variant: str = ""

    @property
    def ops(self) -> list[str]:
        return self.op.split()


def _elementwise(name: str) -> SampleRow:
    return SampleRow(name, name, getattr(ex, name))


def _nan_to_num(x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    return ex.nan_to_num(x, 0.0 if nan is None else nan, posinf, neginf)


def _rrelu(x: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Any:
    return None if training else ex.rrelu(x, lower, upper)


def _shrink(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, lambd=0.5: function(x, lambd) if lambd >= 0 else None


ELEMENTWISE = [
    *(_elementwise(name) for name in "copysign fmod hypot heaviside lerp sinc".split()),
    *(_elementwise(name) for name in "logaddexp logaddexp2 xlogy exp2".split()),
    *(_elementwise(name) for name in "erfc erfinv lgamma digamma".split()),
    SampleRow("nan_to_num", "nan_to_num", _nan_to_num),
    *(
        SampleRow("polygamma", "polygamma", lambda x, n: ex.polygamma(x, n), f"polygamma_n_{n}")
        for n in (0, 1, 2, 3, 4)
    ),
]
ACTIVATION = [
    SampleRow("softmin", "nn.functional.softmin", lambda x, dim, **_: ex.softmin(x, dim)),
    SampleRow("log_sigmoid", "nn.functional.logsigmoid", ex.log_sigmoid),
    SampleRow("celu", "nn.functional.celu", lambda x, alpha=1.0: ex.celu(x, alpha)),
    SampleRow(
        "threshold",
        "nn.functional.threshold",
        lambda x, threshold, value: ex.threshold(x, float(threshold), float(value)),
    ),
    SampleRow("soft_shrink", "nn.functional.softshrink", _shrink(ex.soft_shrink)),
    SampleRow("hard_shrink", "nn.functional.hardshrink", _shrink(ex.hard_shrink)),
    SampleRow("tanh_shrink", "nn.functional.tanhshrink", ex.tanh_shrink),
    SampleRow("rrelu", "nn.functional.rrelu", _rrelu),
]


def _along(name: str) -> SampleRow:
    return SampleRow(name, name, lambda x, axis, dtype=None: getattr(ex, name)(x, axis))


def _scatter_reduce(x: Any, axis: int, indices: Any, updates: Any, reduce: str, **kw: Any) -> Any:
    # PyTorch reads as many of the updates as there are indices, and writes to a part of x.
    same = tuple(
        m == n
        for k, (m, n) in enumerate(zip(x.shape, indices.shape, strict=True))
        if k != axis % max(x.ndim, 1)
    )
    if updates.shape != indices.shape or not all(same):
        return None
    return ex.scatter_reduce(x, indices, updates, axis, reduce, **kw)


def _scatter(x: Any, axis: int, indices: Any, updates: Any, **_: Any) -> Any:
    if not isinstance(updates, ex.Tensor) or updates.shape != indices.shape or x.ndim == 0:
        return None
    rest = [k for k in range(x.ndim) if k != axis % x.ndim]
    if any(x.shape[k] != indices.shape[k] for k in rest):
        return None
    return ex.scatter(x, indices, updates, axis)


def _searchsorted(
    x: Any,
    values: Any,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
    out_int32: bool = False,
) -> Any:
    if sorter is not None or out_int32:
        return None
    return ex.searchsorted(x, values, side or ("right" if right else "left"))


def _quantile(
    x: Any, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    if not isinstance(q, float) or interpolation != "linear":
        return None
    return ex.quantile(x, q, dim, keepdim)


def _diagonals(name: str) -> SampleRow:
    function = getattr(ex, name)

    def call(x: Any, offset: int = 0, dim1: Any = None, dim2: Any = None) -> Any:
        first, second = (0, 1) if name == "diagonal" else (-2, -1)
        return function(
            x, offset, first if dim1 is None else dim1, second if dim2 is None else dim2
        )

    return SampleRow(name, name, call)


def _nan_reduction(name: str) -> SampleRow:
    function = getattr(ex, name)
    return SampleRow(name, name, lambda x, dim=None, keepdim=False: function(x, dim, keepdim))


AXES = [
    *(_along(name) for name in "cumprod cummax cummin logcumsumexp".split()),
    SampleRow("scatter", "scatter", _scatter),
    *(
        SampleRow("scatter_reduce", "scatter_reduce", _scatter_reduce, variant)
        for variant in ("sum", "prod", "mean", "amax", "amin")
    ),
    SampleRow("searchsorted", "searchsorted", _searchsorted),
    SampleRow(
        "bucketize",
        "bucketize",
        lambda x, boundaries, right=False, out_int32=False: (
            None if out_int32 else ex.bucketize(x, boundaries, right)
        ),
    ),
    *(_diagonals(name) for name in ("diagonal", "diag_embed")),
    SampleRow("trace", "trace", ex.trace),
    SampleRow("quantile", "quantile", _quantile),
    SampleRow(
        "kthvalue", "kthvalue", lambda x, k, dim=-1, keepdim=False: ex.kthvalue(x, k, dim, keepdim)
    ),
    *(_nan_reduction(name) for name in ("nansum", "nanmean")),
    SampleRow("kron", "kron", ex.kron),
    SampleRow("cross", "linalg.cross", lambda a, b, dim=-1: ex.cross(a, b, dim)),
    SampleRow("rot90", "rot90", lambda x, k=1, dims=(0, 1): ex.rot90(x, k, tuple(dims))),
]
ROWS = [*ELEMENTWISE, *ACTIVATION, *AXES]
