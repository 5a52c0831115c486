"""Nodes that look at whole axes: reductions, running sums, orders, products."""

from __future__ import annotations

from typing import Any

import extensor as ex
from extensor import Tensor


def _reduced(f: Any) -> Any:
    """The axes are an input or, before opset 18, an attribute."""

    def node(
        x: Tensor, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> Tensor:
        axes = () if axes is None else tuple(int(axis) for axis in axes)
        if not axes and noop_with_empty_axes:
            return x
        return f(x, axis=axes or None, keepdims=bool(keepdims))

    return node


def _l1(x: Tensor, **how: Any) -> Tensor:
    return ex.norm(x, 1, **how)


def _log_sum(x: Tensor, **how: Any) -> Tensor:
    return ex.log(ex.sum(x, **how))


def _sum_square(x: Tensor, **how: Any) -> Tensor:
    return ex.sum(ex.square(x), **how)


def _place_of(best: Any) -> Any:
    def node(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
        if select_last_index:
            return x.shape[axis] - 1 - best(ex.flip(x, axis), axis, bool(keepdims))
        return best(x, axis, bool(keepdims))

    return node


def _cumsum(x: Tensor, axis: Tensor, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
    along = int(axis.item())
    if reverse:
        return ex.flip(_cumsum(ex.flip(x, along), axis, exclusive=exclusive), along)
    total = ex.cast(ex.cumsum(x, along), x.dtype)  # ours adds up small ints in int64, as NumPy
    return total - x if exclusive else total


def _top_k(x: Tensor, k: Tensor, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> Any:
    return ex.topk(x, int(k.item()), axis, bool(largest))


def _gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,  # noqa: N803
    transB: int = 0,  # noqa: N803
) -> Tensor:
    product = alpha * ex.matmul(a.T if transA else a, b.T if transB else b)
    return product if c is None else product + beta * c


def _lp_normalization(x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    return ex.chain_divide(x, ex.norm(x, p, axis, keepdims=True))  # 0 / 0 is 0


NODES: dict[str, Any] = {
    "ArgMax": _place_of(ex.argmax),
    "ArgMin": _place_of(ex.argmin),
    "CumSum": _cumsum,
    "Einsum": lambda *operands, equation: ex.einsum(equation, *operands),
    "Gemm": _gemm,
    "LpNormalization": _lp_normalization,
    "MatMul": ex.matmul,
    "ReduceL1": _reduced(_l1),
    "ReduceL2": _reduced(ex.norm),
    "ReduceLogSum": _reduced(_log_sum),
    "ReduceLogSumExp": _reduced(ex.logsumexp),
    "ReduceMax": _reduced(ex.max),
    "ReduceMean": _reduced(ex.mean),
    "ReduceMin": _reduced(ex.min),
    "ReduceProd": _reduced(ex.prod),
    "ReduceSum": _reduced(ex.sum),
    "ReduceSumSquare": _reduced(_sum_square),
    "TopK": _top_k,
}
