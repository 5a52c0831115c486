"""Transposed convolutions: what the gradient of a convolution's input is, as a layer of its own."""

from __future__ import annotations

from typing import Any

from extensor.arrays.shapes import Shape, Shapes, check_shape
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.convolution import SHARED as SHARED
from extensor.ops.convolution import (
    check_numbers,
    conv2d,
    conv2d_grad_weight,
    convolve_back,
    sliding,
    with_bias,
)
from extensor.ops.movement import squeeze, unsqueeze
from extensor.ops.windows import (
    Ints,
    Sliding,
    as_batch,
    for_axes,
    in_plane,
    ints,
    of_one,
    rule_of_one,
    sizes,
)

WEIGHT = {
    1: "3-D (in_channels, out_channels / groups, length)",
    2: "4-D (in_channels, out_channels / groups, height, width)",
    3: "5-D (in_channels, out_channels / groups, depth, height, width)",
}


def sliding_back(
    name: str,
    size: Shape,
    kernel_size: Shape,
    stride: Ints,
    padding: Ints,
    output_padding: Ints,
    dilation: Ints,
) -> list[Sliding]:
    """The windows of the convolution whose input is the output here."""
    axes = len(size)
    strides, dilations = ints(name, "stride", stride, axes), ints(name, "dilation", dilation, axes)
    removed = ints(name, "padding", padding, axes, least=0)
    added = ints(name, "output_padding", output_padding, axes, least=0)
    if any(more >= s for more, s in zip(added, strides, strict=True)):
        got = {"output_padding": output_padding, "stride": stride}
        raise value_error(name, "output_padding must be smaller than stride", **got)
    output_size = tuple(
        (n - 1) * s + d * (k - 1) + 1 - 2 * less + more
        for n, k, s, d, less, more in zip(
            size, kernel_size, strides, dilations, removed, added, strict=True
        )
    )
    if min(*size, *output_size) < 1:
        got = {"x_size": size, "output_size": output_size}
        raise value_error(name, "x and the output must have elements", **got)
    return sliding(name, output_size, kernel_size, stride, padding, dilation)


def transposed_shape(
    name: str,
    axes: int,
    shapes: Shapes,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: Any,
    dilation: Any,
) -> Shape:
    x, alone = as_batch(name, shapes["x"], axes)
    weight, bias = tuple(shapes["weight"]), shapes["bias"]
    if len(weight) != axes + 2:
        raise value_error(name, f"weight must be {WEIGHT[axes]}", weight_shape=weight)
    (groups,) = ints(name, "groups", groups, 1)
    if x[1] % groups:
        got = {"in_channels": x[1], "groups": groups}
        raise value_error(name, "in_channels must be divisible by groups", **got)
    if weight[0] != x[1]:
        raise value_error(
            name,
            f"weight must have in_channels = {x[1]} on axis 0",
            weight_shape=weight,
            x_shape=x,
        )
    channels = weight[1] * groups
    check_shape(name, "bias", bias, (channels,))
    how = (stride, padding, output_padding, dilation)
    return (*x[alone:1], channels, *sizes(sliding_back(name, x[2:], weight[2:], *how)))


@op(kernel="conv_transpose2d", shape=for_axes(2, transposed_shape), check=check_numbers)
def conv_transpose2d(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Any:
    """The transposed convolution, which adds ``weight`` times each element to a window.

    This is :func:`conv2d_grad_x` as a layer. Derivative: :func:`conv2d` of ``grad_output``,
    :func:`conv2d_grad_weight` of ``x`` and ``grad_output``, and the sum for each channel.

    Parameters
    ----------
    x : (batch, in_channels, height, width)
        The input. The batch axis may be missing.
    weight : (in_channels, out_channels / groups, height, width)
        The windows.
    padding
        The number of elements to take off each side of the result.
    output_padding
        The number of elements to add to the far end of the result, where a strided convolution
        drops elements.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, height, width). An axis of ``n`` elements
        becomes
        ``(n - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1``.

    >>> import extensor as ex
    >>> ex.conv_transpose2d([[[[1.0, 10.0]]]], [[[[1.0, 2.0, 3.0]]]], stride=2)
    tensor([[[[ 1.,  2., 13., 20., 30.]]]])
    >>> ex.conv_transpose2d([[[[1.0, 2.0]]]], [[[[1.0, 3.0]]]])
    tensor([[[[1., 5., 6.]]]])
    >>> ex.conv_transpose2d_backward([[[[1.0, 1.0, 1.0]]]], [[[[1.0, 2.0]]]], [[[[1.0, 3.0]]]]).grad_x
    tensor([[[[4., 4.]]]])
    """
    how = (stride, padding, output_padding, dilation)
    if x.ndim == 3:
        options = (stride, padding, output_padding, groups, dilation)
        return of_one(conv_transpose2d.op, x, (weight, bias), options)
    along = sliding_back("conv_transpose2d", x.shape[2:], weight.shape[2:], *how)
    return with_bias(xp, convolve_back(xp, x, weight, along, groups), bias)


@conv_transpose2d.backward(kernel="conv_transpose2d_backward")
def conv_transpose2d_backward(
    grad_output: Tensor,
    x: Tensor,
    weight: Tensor,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> tuple[Any, Any, Any]:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too."""
    if x.ndim == 3:
        options = (stride, padding, output_padding, groups, dilation)
        return rule_of_one(conv_transpose2d_backward, grad_output, x, weight, *options)
    how = (stride, padding, dilation, groups)
    return (
        lambda: conv2d(grad_output, weight, None, *how),
        lambda: conv2d_grad_weight(x, grad_output, weight.shape[2:], *how),
        lambda: grad_output.sum(axis=(0, 2, 3)),
    )


@op(kernel="conv_transpose1d", shape=for_axes(1, transposed_shape), check=check_numbers)
def conv_transpose1d(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Any:
    """The transposed convolution of sequences, as `conv_transpose2d` of pictures.

    Derivative: as for :func:`conv_transpose2d`, with a height of 1.

    Parameters
    ----------
    x : (batch, in_channels, length)
        The input. The batch axis may be missing.
    weight : (in_channels, out_channels / groups, length)
        The windows.
    padding
        The number of elements to take off each side of the result.
    output_padding
        The number of elements to add to the far end of the result, where a strided convolution
        drops elements.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, length). ``n`` elements become
        ``(n - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1``.

    >>> import extensor as ex
    >>> ex.conv_transpose1d([[[1.0, 10.0]]], [[[1.0, 2.0, 3.0]]], padding=1)
    tensor([[[12., 23.]]])
    >>> ex.conv_transpose1d([[[1.0, 2.0]]], [[[1.0, 3.0]]])
    tensor([[[1., 5., 6.]]])
    >>> ex.conv_transpose1d_backward([[[1.0, 1.0, 1.0]]], [[[1.0, 2.0]]], [[[1.0, 3.0]]]).grad_x
    tensor([[[4., 4.]]])
    """
    how = (stride, padding, output_padding, dilation)
    if x.ndim == 2:
        options = (stride, padding, output_padding, groups, dilation)
        return of_one(conv_transpose1d.op, x, (weight, bias), options)
    along = sliding_back("conv_transpose1d", x.shape[2:], weight.shape[2:], *how)
    return with_bias(xp, convolve_back(xp, x, weight, along, groups), bias)


@conv_transpose1d.backward(kernel="conv_transpose1d_backward")
def conv_transpose1d_backward(
    grad_output: Tensor,
    x: Tensor,
    weight: Tensor,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> tuple[Any, Any, Any]:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too."""
    if x.ndim == 2:
        options = (stride, padding, output_padding, groups, dilation)
        return rule_of_one(conv_transpose1d_backward, grad_output, x, weight, *options)
    how = (in_plane(stride, 1), in_plane(padding, 0), in_plane(dilation, 1), groups)
    gradient, image, kernel = (unsqueeze(line, 2) for line in (grad_output, x, weight))
    return (
        lambda: squeeze(conv2d(gradient, kernel, None, *how), 2),
        lambda: squeeze(conv2d_grad_weight(image, gradient, kernel.shape[2:], *how), 2),
        lambda: grad_output.sum(axis=(0, 2)),
    )
