"""Activations as modules, with PyTorch's names and arguments.

``inplace`` is taken so that PyTorch's code runs. It saves no memory here: the input stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from extensor import ops
from extensor.arrays.dtypes import DType, get_default_dtype
from extensor.core.creation import full
from extensor.core.tensor import Tensor
from extensor.errors import arguments, value_error
from extensor.errors.keywords import DEVICE, NOTHING, also_takes
from extensor.nn.inputs import in_dtype_of
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter

if TYPE_CHECKING:
    from extensor.typing import TensorLike


class _Elementwise(Module):
    """An activation without options."""

    def __init__(self, inplace: bool = False) -> None:
        pass


class ReLU(_Elementwise):
    """``max(x, 0)``."""

    def forward(self, x: TensorLike) -> Tensor:
        return ops.relu(x)


class ReLU6(_Elementwise):
    """``min(max(x, 0), 6)``."""

    def forward(self, x: TensorLike) -> Tensor:
        return ops.relu6(x)


class LeakyReLU(Module):
    """``x`` where it is positive, else ``negative_slope * x``."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        self.negative_slope = negative_slope

    def forward(self, x: TensorLike) -> Tensor:
        return ops.leaky_relu(x, self.negative_slope)


@also_takes(**DEVICE)
class PReLU(Module):
    """``x`` where it is positive, else ``weight * x``: one learned weight, or one per channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, *, dtype: DType = None) -> None:
        self.init = init
        self.weight = Parameter(full((num_parameters,), init, dtype or get_default_dtype()))

    def forward(self, x: TensorLike) -> Tensor:
        return ops.prelu(in_dtype_of(self, self.weight, x), self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.weight.size}"


class ELU(Module):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha = alpha

    def forward(self, x: TensorLike) -> Tensor:
        return ops.elu(x, self.alpha)


class SELU(_Elementwise):
    """``scale * elu(x, alpha)`` with the constants that keep mean 0 and variance 1."""

    def forward(self, x: TensorLike) -> Tensor:
        return ops.selu(x)


class SiLU(_Elementwise):
    """``x * sigmoid(x)``."""

    def forward(self, x: TensorLike) -> Tensor:
        return ops.silu(x)


class Mish(_Elementwise):
    """``x * tanh(softplus(x))``."""

    def forward(self, x: TensorLike) -> Tensor:
        return ops.mish(x)


class GELU(Module):
    """``x * Phi(x)``, with ``Phi`` the normal distribution function; ``"tanh"`` approximates it."""

    def __init__(self, approximate: str = "none") -> None:
        if approximate not in ("none", "tanh"):
            raise value_error(
                "GELU", "approximate must be 'none' or 'tanh'", approximate=approximate
            )
        self.approximate = approximate

    def forward(self, x: TensorLike) -> Tensor:
        return ops.gelu(x, self.approximate == "tanh")


_EXACT_SOFTPLUS = 20.0  # from here on a threshold of PyTorch's hides an overflow, and nothing else


class Softplus(Module):
    """``log(1 + exp(beta * x)) / beta``, and ``x`` itself where ``beta * x`` is above ``threshold``.

    A threshold of 20 or more has no effect: the two are closer than ``3e-9 / beta`` there, and the
    formula does not overflow.
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta = beta
        self.threshold = arguments.number("Softplus", "threshold", threshold)

    def forward(self, x: TensorLike) -> Tensor:
        smooth = ops.softplus(x, self.beta)
        if self.threshold >= _EXACT_SOFTPLUS:
            return smooth
        return ops.where(ops.greater(ops.multiply(x, self.beta), self.threshold), x, smooth)


class Softsign(Module):
    """``x / (1 + |x|)``."""

    def forward(self, x: TensorLike) -> Tensor:
        return ops.softsign(x)


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``."""

    def forward(self, x: TensorLike) -> Tensor:
        return ops.sigmoid(x)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, x: TensorLike) -> Tensor:
        return ops.tanh(x)


class Hardsigmoid(_Elementwise):
    """``min(max(x + 3, 0), 6) / 6``."""

    def forward(self, x: TensorLike) -> Tensor:
        return ops.hard_sigmoid(x)


class Hardswish(_Elementwise):
    """``x * min(max(x + 3, 0), 6) / 6``."""

    def forward(self, x: TensorLike) -> Tensor:
        return ops.hard_swish(x)


@also_takes(min_value=NOTHING, max_value=NOTHING)
class Hardtanh(Module):
    """``min(max(x, min_val), max_val)``."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, x: TensorLike) -> Tensor:
        return ops.hard_tanh(x, self.min_val, self.max_val)


class GLU(Module):
    """``a * sigmoid(b)`` for the two halves of ``x`` along ``dim``."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, x: TensorLike) -> Tensor:
        return ops.glu(x, self.dim)


class Softmax(Module):
    """``exp(x)`` divided by its sum along ``dim``."""

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: TensorLike) -> Tensor:
        return ops.softmax(x, self.dim)


class LogSoftmax(Module):
    """The logarithm of the softmax along ``dim``."""

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: TensorLike) -> Tensor:
        return ops.log_softmax(x, self.dim)
