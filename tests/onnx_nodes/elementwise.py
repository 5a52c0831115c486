"""Nodes that work element by element: arithmetic, comparisons, activations, casts."""

from __future__ import annotations

from functools import reduce
from typing import Any

from onnx.helper import tensor_dtype_to_np_dtype

import extensor as ex
from extensor import Tensor
from extensor.arrays.dtypes import is_floating

# The values that SELU was derived with, as ONNX writes them.
SELU = (1.67326319217681884765625, 1.05070102214813232421875)


def _without_sign(f: Any, a: Tensor, b: Tensor, sign: Tensor) -> Tensor:
    """``f`` of the magnitudes, with ``sign``: division towards 0, and its remainder."""
    return sign * f(ex.abs(a), ex.abs(b))


def _div(a: Tensor, b: Tensor) -> Tensor:
    if is_floating(a.dtype):
        return ex.divide(a, b)
    return _without_sign(ex.floor_divide, a, b, ex.sign(a) * ex.sign(b))


def _mod(a: Tensor, b: Tensor, *, fmod: int = 0) -> Tensor:
    return _without_sign(ex.modulo, a, b, ex.sign(a)) if fmod else ex.modulo(a, b)


def _pow(a: Tensor, b: Tensor) -> Tensor:
    return ex.cast(ex.power(a, b), a.dtype)


def _of_all(f: Any) -> Any:
    return lambda *tensors: reduce(f, tensors)


def _mean(*tensors: Tensor) -> Tensor:
    return reduce(ex.add, tensors) / len(tensors)


def _clip(x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    """Ours has two bounds; with one it is the larger or the smaller of two."""
    if low is not None and high is not None:
        return ex.clip(x, low.item(), high.item())
    x = x if low is None else ex.maximum(x, low)
    return x if high is None else ex.minimum(x, high)


def _is_inf(x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    wanted = ex.where(x < 0, bool(detect_negative), bool(detect_positive))
    return ex.logical_and(ex.isinf(x), wanted)


def _cast(x: Tensor, *, to: int, saturate: int = 1, round_mode: str = "up") -> Tensor:
    """The last two are for the small floats only, which are not ours."""
    return ex.cast(x, tensor_dtype_to_np_dtype(to))


def _cast_like(x: Tensor, like: Tensor, *, saturate: int = 1) -> Tensor:
    return ex.cast(x, like.dtype)


def _prelu(x: Tensor, slope: Tensor) -> Tensor:
    """ONNX has the slopes on the last axes, we on axis 1."""
    return ex.swapaxes(ex.prelu(ex.swapaxes(x, 1, -1), slope), 1, -1)


def _selu(x: Tensor, *, alpha: float = SELU[0], gamma: float = SELU[1]) -> Tensor:
    return ex.selu(x) if (alpha, gamma) == SELU else gamma * ex.elu(x, alpha)


def _hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    """Ours has the slope 1 / 6, as in PyTorch."""
    return ex.hard_sigmoid(6 * (alpha * x + beta - 0.5))


def _thresholded_relu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return ex.where(x > alpha, x, 0.0)


def _hardmax(x: Tensor, *, axis: int = -1) -> Tensor:
    chosen = ex.one_hot(ex.argmax(x, axis), x.shape[axis], x.dtype)
    return ex.moveaxis(chosen, -1, axis)


NODES: dict[str, Any] = {
    "Abs": ex.abs,
    "Acos": ex.acos,
    "Acosh": ex.acosh,
    "Add": ex.add,
    "And": ex.logical_and,
    "Asin": ex.asin,
    "Asinh": ex.asinh,
    "Atan": ex.atan,
    "Atanh": ex.atanh,
    "BitwiseAnd": ex.bitwise_and,
    "BitwiseNot": ex.bitwise_not,
    "BitwiseOr": ex.bitwise_or,
    "BitwiseXor": ex.bitwise_xor,
    "Cast": _cast,
    "CastLike": _cast_like,
    "Ceil": ex.ceil,
    "Celu": lambda x, *, alpha=1.0: alpha * ex.elu(x / alpha),
    "Clip": _clip,
    "Cos": ex.cos,
    "Cosh": ex.cosh,
    "Div": _div,
    "Elu": ex.elu,
    "Equal": ex.equal,
    "Erf": ex.erf,
    "Exp": ex.exp,
    "Floor": ex.floor,
    "Gelu": lambda x, *, approximate="none": ex.gelu(x, approximate == "tanh"),
    "Greater": ex.greater,
    "GreaterOrEqual": ex.greater_equal,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": ex.hard_swish,
    "Hardmax": _hardmax,
    "Identity": ex.identity,
    "IsInf": _is_inf,
    "IsNaN": ex.isnan,
    "LeakyRelu": ex.leaky_relu,
    "Less": ex.less,
    "LessOrEqual": ex.less_equal,
    "Log": ex.log,
    "LogSoftmax": ex.log_softmax,
    "Max": _of_all(ex.maximum),
    "Mean": _mean,
    "Min": _of_all(ex.minimum),
    "Mish": ex.mish,
    "Mod": _mod,
    "Mul": ex.multiply,
    "Neg": ex.negative,
    "Not": ex.logical_not,
    "Or": ex.logical_or,
    "PRelu": _prelu,
    "Pow": _pow,
    "Reciprocal": ex.reciprocal,
    "Relu": ex.relu,
    "Round": ex.round,
    "Selu": _selu,
    "Sigmoid": ex.sigmoid,
    "Sign": ex.sign,
    "Sin": ex.sin,
    "Sinh": ex.sinh,
    "Softmax": ex.softmax,
    "Softplus": ex.softplus,
    "Softsign": ex.softsign,
    "Sqrt": ex.sqrt,
    "Sub": ex.subtract,
    "Sum": _of_all(ex.add),
    "Swish": lambda x, *, alpha=1.0: ex.silu(alpha * x) / alpha,
    "Tan": ex.tan,
    "Tanh": ex.tanh,
    "ThresholdedRelu": _thresholded_relu,
    "Where": ex.where,
    "Xor": ex.logical_xor,
}
