"""The ops that are measured: their inputs, what the peers call them, what they must move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

# What a library calls an op: a name, or a function from its module to the function that is timed.
Named = str | Callable[[Any], Callable[..., Any]]


@dataclass(frozen=True)
class Case:
    """``moved``: arrays of the full size that the forward and the backward must read or write.

    A peer without a name is looked up under ours. ``square`` cases work on a matrix, row by row.
    """

    name: str
    inputs: tuple[str, ...] = ("normal",)
    moved: tuple[float, float] = (2, 3)
    torch: Named | None = None
    jax: Named | None = None
    numpy: Named | None = None
    ours: Named | None = None
    square: bool = False

    def named(self, library: str) -> Named:
        name: Named | None = getattr(self, "ours" if library == "extensor" else library)
        return self.name if name is None else name


def sample(kind: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    if kind == "normal":
        return generator.standard_normal(shape, np.float32)
    if kind == "positive":
        return generator.uniform(0.5, 2.0, shape).astype(np.float32)
    if kind == "unit":
        return generator.uniform(-0.9, 0.9, shape).astype(np.float32)
    if kind == "slopes":  # one number, or one for each column
        return generator.uniform(0.0, 0.5, shape[1:] or 1).astype(np.float32)
    if kind == "classes":
        return generator.integers(0, shape[-1], shape[:-1])
    raise ValueError(f"sample: kind must be a known one, got kind={kind!r}")


def _last(path: str) -> Named:
    """A torch function that wants to be told the axis."""
    return lambda torch: partial(getattr(torch, path), dim=-1)


def _numpy_softmax(np: Any) -> Callable[..., Any]:
    def softmax(x: Any) -> Any:
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    return softmax


def _numpy_log_softmax(np: Any) -> Callable[..., Any]:
    def log_softmax(x: Any) -> Any:
        shifted = x - x.max(axis=-1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))

    return log_softmax


def _jax_cross_entropy(jax: Any) -> Callable[..., Any]:
    def cross_entropy(x: Any, target: Any) -> Any:
        chosen = jax.numpy.take_along_axis(jax.nn.log_softmax(x), target[:, None], axis=-1)
        return -chosen.mean()

    return cross_entropy


def _jax_nll_loss(jax: Any) -> Callable[..., Any]:
    def nll_loss(x: Any, target: Any) -> Any:
        return -jax.numpy.take_along_axis(x, target[:, None], axis=-1).mean()

    return nll_loss


def _jax_huber(jax: Any) -> Callable[..., Any]:
    def huber(a: Any, b: Any) -> Any:
        size = jax.numpy.abs(a - b)
        return jax.numpy.where(size < 1, 0.5 * size * size, size - 0.5).mean()

    return huber


def _jax_kl_div(jax: Any) -> Callable[..., Any]:
    return lambda x, target: (target * (jax.numpy.log(target) - x)).mean()


def _jax_prelu(jax: Any) -> Callable[..., Any]:
    return lambda x, alpha: jax.numpy.where(x > 0, x, alpha * x)


_TWO = ("normal", "normal")

# The ops of the acceptance table. The gradient of an addition is the incoming one: nothing moves.
HEADLINE = (
    Case("add", _TWO, (3, 0)),
    Case("multiply", _TWO, (3, 5)),
    Case("divide", ("normal", "positive"), (3, 5)),
    Case("relu", numpy=lambda np: lambda x: np.maximum(x, 0)),
    Case("leaky_relu", numpy=lambda np: lambda x: np.maximum(x, 0.01 * x)),
    Case("sigmoid", numpy=lambda np: lambda x: 1 / (1 + np.exp(-x))),
    Case("tanh"),
    Case("gelu", jax=lambda jax: partial(jax.nn.gelu, approximate=False)),
    Case("exp"),
    Case("log", ("positive",)),
    Case("sqrt", ("positive",)),
    Case("sum", ("positive",), (1, 0)),
    Case("mean", ("positive",), (1, 1)),
    Case("max", moved=(1, 2), ours="max_reduce"),
    Case("softmax", torch=_last("softmax"), numpy=_numpy_softmax, square=True),
    Case("log_softmax", torch=_last("log_softmax"), numpy=_numpy_log_softmax, square=True),
)

# Enough of each kind for a quick run.
QUICK = tuple(c for c in HEADLINE if c.name in ("add", "divide", "gelu", "sum", "softmax"))

FURTHER = (
    Case("subtract", _TWO, (3, 1)),
    Case("power", ("positive", "unit"), (3, 5), torch="pow"),
    # PyTorch's own floor_divide has no gradient.
    Case("floor_divide", ("normal", "positive"), (3, 2),
         torch=lambda torch: partial(torch.div, rounding_mode="floor")),
    Case("modulo", ("normal", "positive"), (3, 4), torch="remainder", jax="remainder",
         numpy="remainder"),
    Case("maximum", _TWO, (3, 5)),
    Case("minimum", _TWO, (3, 5)),
    Case("negative", moved=(2, 2)),
    Case("reciprocal", ("positive",)),
    Case("square"),
    Case("abs"),
    Case("sin"),
    Case("cos"),
    Case("tan", ("unit",)),
    Case("asin", ("unit",), jax="arcsin"),
    Case("acos", ("unit",), jax="arccos"),
    Case("atan", jax="arctan"),
    Case("sinh"),
    Case("cosh"),
    Case("asinh", jax="arcsinh", numpy="arcsinh"),
    Case("expm1"),
    Case("log1p", ("positive",)),
    Case("log2", ("positive",)),
    Case("log10", ("positive",)),
    Case("erf"),
    Case("rsqrt", ("positive",)),
    Case("silu"),
    Case("softplus"),
    Case("mish"),
    Case("elu"),
    Case("selu"),
    Case("prelu", ("normal", "slopes"), jax=_jax_prelu),
    Case("prelu_channels", ("normal", "slopes"), ours="prelu", torch="prelu", jax=_jax_prelu,
         square=True),
    Case("glu", moved=(1.5, 2.5), square=True),
    Case("hard_swish", torch="hardswish"),
    Case("hard_sigmoid", torch="hardsigmoid"),
    Case("min", moved=(1, 2), ours="min_reduce"),
    Case("var", moved=(1, 2), torch=lambda torch: partial(torch.var, correction=0)),
    Case("logsumexp", moved=(1, 2), torch=_last("logsumexp"), ours=lambda ex: _axis(ex.logsumexp),
         jax=lambda jax: partial(jax.nn.logsumexp, axis=-1), square=True),
    Case("cumsum", moved=(2, 2), torch=_last("cumsum"), ours=lambda ex: _axis(ex.cumsum),
         jax=lambda jax: partial(jax.numpy.cumsum, axis=-1),
         numpy=lambda np: partial(np.cumsum, axis=-1), square=True),
    Case("mse_loss", _TWO, (2, 4), jax=lambda jax: lambda a, b: jax.numpy.square(a - b).mean()),
    Case("l1_loss", _TWO, (2, 4), jax=lambda jax: lambda a, b: jax.numpy.abs(a - b).mean()),
    Case("smooth_l1_loss", _TWO, (2, 4), jax=_jax_huber),
    Case("huber_loss", _TWO, (2, 4), jax=_jax_huber),
    Case("hinge_loss", _TWO, (2, 4), torch=lambda _torch: lambda a, b: (1 - a * b).relu().mean(),
         jax=lambda jax: lambda a, b: jax.nn.relu(1 - a * b).mean()),
    # Of a vector the batchmean is the mean, of which PyTorch would warn.
    Case("kl_div", ("normal", "positive"), (2, 4), jax=_jax_kl_div,
         torch=lambda torch: partial(torch.nn.functional.kl_div, reduction="batchmean")),
    Case("nll_loss", ("normal", "classes"), (0, 1), jax=_jax_nll_loss, square=True),
    Case("cross_entropy", ("normal", "classes"), (1, 2), jax=_jax_cross_entropy, square=True),
)  # fmt: skip


def _axis(function: Callable[..., Any]) -> Callable[..., Any]:
    return partial(function, axis=-1)
