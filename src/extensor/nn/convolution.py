"""Convolutions as modules: images are (batch, channels, height, width), or one without the batch."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Literal

from extensor.arrays.dtypes import DType
from extensor.arrays.shapes import Shape
from extensor.core.creation import asarray, empty
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.inputs import in_dtype_of
from extensor.nn.linear import uniform_by_fan_in
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.ops import conv1d, conv2d, conv_transpose1d, conv_transpose2d, pad
from extensor.ops.convolution import Padding
from extensor.ops.windows import Ints

if TYPE_CHECKING:
    from extensor.typing import TensorLike

PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]
PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


@also_takes(**DEVICE)
class _Convolution(Module):
    """The weight, (out_channels, in_channels / groups, *kernel_size), the bias and the options."""

    _axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Padding = 0,
        dilation: Ints = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        *,
        dtype: DType = None,
    ) -> None:
        if padding_mode not in PADDING_MODES:
            raise value_error(
                type(self).__name__,
                f"padding_mode must be one of {', '.join(PADDING_MODES)}",
                padding_mode=padding_mode,
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.groups = groups
        self.padding_mode = padding_mode
        kernel = _each(kernel_size, self._axes)
        self.weight = Parameter(empty((*_channels(self), *kernel), dtype))
        self.bias = Parameter(empty((out_channels,), dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights and bias anew."""
        uniform_by_fan_in(self.weight, self.bias)

    def _padded(self, x: Any) -> tuple[Any, Any]:
        """The input, and the zeros the convolution still has to add."""
        x = in_dtype_of(self, self.weight, x)
        if self.padding_mode == "zeros" or self.padding == "valid":
            return x, self.padding
        if self.padding == "same":
            kernel, dilation = _each(self.kernel_size, self._axes), _each(self.dilation, self._axes)
            reaches = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
            widths = [(reach // 2, reach - reach // 2) for reach in reaches]
        else:
            widths = [(width, width) for width in _each(self.padding, self._axes)]
        x = asarray(x)
        return pad(x, [*[(0, 0)] * (x.ndim - self._axes), *widths], self.padding_mode), 0


def _each(value: Any, axes: int) -> Shape:
    """An int for each axis."""
    return tuple(value) if isinstance(value, list | tuple) else (index(value),) * axes


def _channels(module: Any) -> Shape:
    """The first two sizes of the weight of a convolution: out_channels, in_channels / groups."""
    for which in ("in_channels", "out_channels"):
        if module.groups < 1 or getattr(module, which) % module.groups:
            raise value_error(
                type(module).__name__,
                f"{which} must be divisible by groups",
                **{which: getattr(module, which), "groups": module.groups},
            )
    return module.out_channels, module.in_channels // module.groups


class Conv1d(_Convolution):
    """A convolution of (batch, channels, length)."""

    _axes = 1

    def forward(self, x: TensorLike) -> Tensor:
        x, zeros = self._padded(x)
        return conv1d(x, self.weight, self.bias, self.stride, zeros, self.dilation, self.groups)


class Conv2d(_Convolution):
    """A convolution of (batch, channels, height, width).

    >>> import extensor as ex
    >>> ex.nn.Conv2d(3, 8, 3, padding=1)(ex.ones((2, 3, 5, 5))).shape
    (2, 8, 5, 5)
    """

    _axes = 2

    def forward(self, x: TensorLike) -> Tensor:
        x, zeros = self._padded(x)
        return conv2d(x, self.weight, self.bias, self.stride, zeros, self.dilation, self.groups)


@also_takes(**DEVICE, padding_mode=("zeros",))
class _TransposedConvolution(Module):
    """The weight, (in_channels, out_channels / groups, *kernel_size), the bias and the options."""

    _axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Ints = 0,
        output_padding: Ints = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Ints = 1,
        *,
        dtype: DType = None,
    ) -> None:
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.output_padding = output_padding
        self.groups = groups
        self.dilation = dilation
        _channels(self)
        shape = (in_channels, out_channels // groups, *_each(kernel_size, self._axes))
        self.weight = Parameter(empty(shape, dtype))
        self.bias = Parameter(empty((out_channels,), dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights and bias anew."""
        uniform_by_fan_in(self.weight, self.bias)

    def _check_output_size(self, output_size: Any) -> None:
        if output_size is not None:
            requirement = "output_size must be None (output_padding of the constructor sets it)"
            raise value_error(type(self).__name__, requirement, output_size=output_size)

    def _options(self) -> tuple[Any, ...]:
        return self.stride, self.padding, self.output_padding, self.groups, self.dilation


class ConvTranspose1d(_TransposedConvolution):
    """The transpose of a convolution of (batch, channels, length)."""

    _axes = 1

    def forward(self, x: TensorLike, output_size: None = None) -> Tensor:
        self._check_output_size(output_size)
        x = in_dtype_of(self, self.weight, x)
        return conv_transpose1d(x, self.weight, self.bias, *self._options())


class ConvTranspose2d(_TransposedConvolution):
    """The transpose of a convolution of (batch, channels, height, width).

    >>> import extensor as ex
    >>> ex.nn.ConvTranspose2d(8, 3, 2, stride=2)(ex.ones((2, 8, 5, 5))).shape
    (2, 3, 10, 10)
    """

    _axes = 2

    def forward(self, x: TensorLike, output_size: None = None) -> Tensor:
        self._check_output_size(output_size)
        x = in_dtype_of(self, self.weight, x)
        return conv_transpose2d(x, self.weight, self.bias, *self._options())
