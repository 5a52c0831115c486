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


def _reduced(name: str, theirs: str = "", **fixed: Any) -> SampleRow:
    """A loss whose arguments are called as PyTorch's, but for those that are deprecated there."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if {"size_average", "reduce"} & kwargs.keys() or args[0].ndim == 0:
            return None
        return getattr(ex, name)(*args, **kwargs, **fixed)

    return SampleRow(name, f"nn.functional.{theirs or name}", call)


def _normalize(x: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    return ex.normalize(x, p, dim, eps) if p > 0 and x.ndim else None


def _cdist(a: Any, b: Any, p: float = 2.0, *_: Any, **__: Any) -> Any:
    return ex.cdist(a, b, p) if a.size and b.size else None


def _pairwise(a: Any, b: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    return ex.pairwise_distance(a, b, p, eps, keepdim) if p >= 0 else None


LOSSES = [
    *(_reduced(name) for name in ("soft_margin_loss", "poisson_nll_loss")),
    SampleRow(
        "multi_margin_loss",
        "nn.functional.multi_margin_loss",
        lambda x, target, *a, **k: ex.multi_margin_loss(x, target, *a, **k) if x.ndim > 1 else None,
    ),
    _reduced("multilabel_margin_loss"),
    _reduced("multilabel_soft_margin_loss"),
    SampleRow(
        "cosine_similarity",
        "nn.functional.cosine_similarity",
        lambda a, b, dim=1, eps=1e-8: ex.cosine_similarity(a, b, dim, eps) if a.ndim else None,
    ),
    SampleRow("pairwise_distance", "nn.functional.pairwise_distance", _pairwise),
    SampleRow("cdist", "cdist", _cdist),
    SampleRow("normalize", "nn.functional.normalize", _normalize),
]


def _solve(a: Any, b: Any, left: bool = True) -> Any:
    # PyTorch takes some stacks of matrices for vectors.
    is_plain = b.ndim == 1 or (b.ndim >= 2 and b.shape[-2] == a.shape[-1] and b.ndim == a.ndim)
    return ex.solve(a, b) if left and is_plain else None


def _cholesky(x: Any, upper: bool = False) -> Any:
    return None if upper else ex.cholesky(x)


LINEAR_ALGEBRA = [
    SampleRow("inv", "linalg.inv", ex.inv),
    SampleRow("solve", "linalg.solve", _solve),
    SampleRow("slogdet", "linalg.slogdet", ex.slogdet),
    SampleRow("cholesky", "linalg.cholesky", _cholesky),
    SampleRow("matrix_power", "linalg.matrix_power", ex.matrix_power),
]
ROWS = [*ELEMENTWISE, *ACTIVATION, *AXES, *LOSSES, *LINEAR_ALGEBRA]
