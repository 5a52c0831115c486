"""Linear, and the modules that compute nothing: Identity and Flatten."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from extensor.arrays.dtypes import DType
from extensor.core.creation import empty
from extensor.core.tensor import Tensor
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn import init
from extensor.nn.inputs import in_dtype_of
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.ops import flatten, linear

if TYPE_CHECKING:
    from extensor.typing import TensorLike


@also_takes(**DEVICE)
class Linear(Module):
    """``x @ weight.T + bias``; the weight is (out_features, in_features).

    >>> import extensor as ex
    >>> ex.nn.Linear(3, 2)(ex.ones((4, 3))).shape
    (4, 2)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, *, dtype: DType = None
    ) -> None:
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), dtype))
        self.bias = Parameter(empty((out_features,), dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights and bias anew."""
        uniform_by_fan_in(self.weight, self.bias)

    def forward(self, x: TensorLike) -> Tensor:
        return linear(in_dtype_of(self, self.weight, x), self.weight, self.bias)


def uniform_by_fan_in(weight: Parameter, bias: Parameter | None) -> None:
    """PyTorch's beginning of linear and convolutional layers: within ``1 / sqrt(fan_in)``."""
    fan_in, _ = init.calculate_fans(weight.shape)
    bound = 1 / sqrt(fan_in) if fan_in else 0.0
    init.uniform_(weight, -bound, bound)
    if bias is not None:
        init.uniform_(bias, -bound, bound)


class Identity(Module):
    """``x`` itself; arguments of the constructor are taken and forgotten."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, x: Tensor) -> Tensor:
        return x


class Flatten(Module):
    """Joins the axes from ``start_dim`` to ``end_dim``: all but the batch, unless told otherwise."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, x: TensorLike) -> Tensor:
        return flatten(x, self.start_dim, self.end_dim)
