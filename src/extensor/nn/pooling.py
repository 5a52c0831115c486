"""Pooling as modules, with PyTorch's arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from extensor.core.tensor import Tensor
from extensor.errors.keywords import also_takes
from extensor.nn.module import Module
from extensor.ops import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    avg_pool1d,
    avg_pool2d,
    max_pool1d,
    max_pool2d,
)
from extensor.ops.pooling_average import Sizes
from extensor.ops.windows import Ints

if TYPE_CHECKING:
    from extensor.typing import TensorLike


@also_takes(return_indices=(False,))
class _MaxPool(Module):
    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        dilation: Ints = 1,
        *,
        ceil_mode: bool = False,
    ) -> None:
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.ceil_mode = ceil_mode

    def _options(self) -> tuple[Ints, Ints | None, Ints, Ints, bool]:
        return self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode


class MaxPool1d(_MaxPool):
    """The largest element of each window of (batch, channels, length)."""

    def forward(self, x: TensorLike) -> Tensor:
        return max_pool1d(x, *self._options())


class MaxPool2d(_MaxPool):
    """The largest element of each window of (batch, channels, height, width)."""

    def forward(self, x: TensorLike) -> Tensor:
        return max_pool2d(x, *self._options())


class _AvgPool(Module):
    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def _options(self) -> tuple[Ints, Ints | None, Ints, bool, bool]:
        return self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad


class AvgPool1d(_AvgPool):
    """The mean of each window of (batch, channels, length)."""

    def forward(self, x: TensorLike) -> Tensor:
        return avg_pool1d(x, *self._options())


class AvgPool2d(_AvgPool):
    """The mean of each window of (batch, channels, height, width)."""

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def forward(self, x: TensorLike) -> Tensor:
        return avg_pool2d(x, *self._options(), self.divisor_override)


class _AdaptiveAvgPool(Module):
    def __init__(self, output_size: Sizes) -> None:
        self.output_size = output_size


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of ``output_size`` windows that cover (batch, channels, length)."""

    def forward(self, x: TensorLike) -> Tensor:
        return adaptive_avg_pool1d(x, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of ``output_size`` windows that cover (batch, channels, height, width)."""

    def forward(self, x: TensorLike) -> Tensor:
        return adaptive_avg_pool2d(x, self.output_size)
