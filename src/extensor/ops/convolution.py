"""Convolutions. One is linear in its input and in its weight, so three ops are each other's rules.

``conv2d`` gives an output of an input and a weight, ``conv2d_grad_x`` an input of an output and a
weight, ``conv2d_grad_weight`` a weight of an output and an input. Convolutions along one axis are
those along two with a height of 1.
"""

from __future__ import annotations

from typing import Any, Literal

from extensor.arrays.dtypes import bool_
from extensor.arrays.shapes import Shape, Shapes, check_shape, count
from extensor.arrays.supplement import in_c_order
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.movement import squeeze, unsqueeze
from extensor.ops.windows import (
    Ints,
    Sliding,
    as_batch,
    check_axes,
    counts,
    folded,
    for_axes,
    in_plane,
    ints,
    kernels,
    of_one,
    rule_of_one,
    unfolded,
)

SHARED = """
Parameters
----------
stride
    The distance between neighbouring windows: a number, or one for each axis.
padding
    The number of zeros on each side of ``x``: a number, or one for each axis. "same" keeps the
    size, with one zero more after than before where the number is odd; "valid" is 0.
dilation
    The distance between neighbouring elements of a window: a number, or one for each axis.
groups
    The number of groups. Each connects its share of the input's channels with its share of the
    output's.
bias : (out_channels,)
    Numbers to add to the channels of the result.

Raises
------
ValueError
    If the shapes do not fit, ``groups`` does not divide the channels, or the padded input is
    smaller than a window.
"""

Padding = Ints | Literal["same", "valid"]
WEIGHT = {
    1: "3-D (out_channels, in_channels / groups, length)",
    2: "4-D (out_channels, in_channels / groups, height, width)",
    3: "5-D (out_channels, in_channels / groups, depth, height, width)",
}


def _padding(name: str, padding: Any, reaches: Shape, stride: Any) -> list[tuple[int, int]]:
    """The zeros before and after each axis; ``reaches`` are the extents of the kernel less 1."""
    if not isinstance(padding, str):
        widths = ints(name, "padding", padding, len(reaches), least=0)
        return [(width, width) for width in widths]
    if padding == "valid":
        return [(0, 0)] * len(reaches)
    if padding != "same":
        raise value_error(name, "padding must be ints, 'same' or 'valid'", padding=padding)
    if set(ints(name, "stride", stride, len(reaches))) != {1}:
        raise value_error(name, "padding='same' needs a stride of 1", stride=stride)
    return [(reach // 2, reach - reach // 2) for reach in reaches]


def sliding(
    name: str, size: Shape, kernel_size: Shape, stride: Ints, padding: Padding, dilation: Ints
) -> list[Sliding]:
    """The windows of a convolution along each axis."""
    axes = len(size)
    strides, dilations = ints(name, "stride", stride, axes), ints(name, "dilation", dilation, axes)
    reaches = tuple(d * (k - 1) for d, k in zip(dilations, kernel_size, strict=True))
    added = _padding(name, padding, reaches, stride)
    room = tuple(n + sum(both) - r for n, both, r in zip(size, added, reaches, strict=True))
    if min(room) < 1 or min(kernel_size) < 1:
        raise value_error(
            name,
            "the kernel must have elements and fit into the padded input",
            x_size=size,
            kernel_size=kernel_size,
            padding=padding,
            dilation=dilation,
        )
    return [
        Sliding(n, k, s, d, before, (free - 1) // s + 1)
        for n, k, s, d, (before, _), free in zip(
            size, kernel_size, strides, dilations, added, room, strict=True
        )
    ]


def _check_weight(name: str, weight: Shape, axes: int) -> None:
    if len(weight) != axes + 2:
        raise value_error(name, f"weight must be {WEIGHT[axes]}", weight_shape=weight)


def _check_channels(name: str, x: Shape, weight: Shape, groups: Any) -> None:
    (groups,) = ints(name, "groups", groups, 1)
    for which, channels in (("in_channels", x[1]), ("out_channels", weight[0])):
        if channels % groups:
            got = {which: channels, "groups": groups}
            raise value_error(name, f"{which} must be divisible by groups", **got)
    if weight[1] * groups != x[1]:
        raise value_error(
            name,
            f"weight must have in_channels / groups = {x[1] // groups} on axis 1",
            weight_shape=weight,
            x_shape=x,
        )


def convolution_shape(
    name: str, axes: int, shapes: Shapes, stride: Any, padding: Any, dilation: Any, groups: Any
) -> Shape:
    x, alone = as_batch(name, shapes["x"], axes)
    weight, bias = tuple(shapes["weight"]), shapes.get("bias")
    _check_weight(name, weight, axes)
    _check_channels(name, x, weight, groups)
    check_shape(name, "bias", bias, weight[:1])
    along = sliding(name, x[2:], weight[2:], stride, padding, dilation)
    return (*x[alone:1], weight[0], *counts(along))


def check_numbers(name: str, x: Any, *_: Any) -> None:
    """Integers are convolved exactly; of booleans there is no sum."""
    if x.dtype == bool_:
        raise type_error(name, "needs numbers (x.astype makes them)", dtype=str(x.dtype))


def _columns(xp: Any, x: Any, along: list[Sliding], groups: int) -> Any:
    """The windows of ``x`` as matrices (batch, groups, in_channels / groups * kernel, windows)."""
    rows = x.shape[1] // groups * count(kernels(along))
    return xp.reshape(unfolded(xp, x, along), (x.shape[0], groups, rows, count(counts(along))))


def _outputs(xp: Any, gradient: Any, groups: int) -> Any:
    """An output as matrices (batch, groups, out_channels / groups, windows)."""
    batch, channels, *windows = gradient.shape
    return xp.reshape(in_c_order(gradient), (batch, groups, channels // groups, count(windows)))


def _filters(xp: Any, weight: Any, groups: int) -> Any:
    """A weight as matrices (groups, out_channels / groups, in_channels / groups * kernel)."""
    channels, *rest = weight.shape
    return xp.reshape(in_c_order(weight), (groups, channels // groups, count(rest)))


def convolve(xp: Any, x: Any, weight: Any, bias: Any, along: list[Sliding], groups: int) -> Any:
    """The formula of every convolution, along as many axes as ``along`` has."""
    outputs = xp.matmul(_filters(xp, weight, groups), _columns(xp, x, along, groups))
    result = xp.reshape(outputs, (x.shape[0], weight.shape[0], *counts(along)))
    return with_bias(xp, result, bias)


def with_bias(xp: Any, result: Any, bias: Any) -> Any:
    """``bias``, if there is one, added to each channel."""
    if bias is None:
        return result
    return result + xp.reshape(bias, (*bias.shape, *(1,) * (result.ndim - 2)))


def convolve_back(xp: Any, gradient: Any, weight: Any, along: list[Sliding], groups: int) -> Any:
    """The formula of the gradient of the input, and so of every transposed convolution."""
    filters = xp.matrix_transpose(_filters(xp, weight, groups))
    columns = xp.matmul(filters, _outputs(xp, gradient, groups))
    shape = (gradient.shape[0], groups * weight.shape[1], *kernels(along), *counts(along))
    return folded(xp, xp.reshape(columns, shape), along)


@op(kernel="conv2d", shape=for_axes(2, convolution_shape), check=check_numbers)
def conv2d(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Any:
    """The convolution (in fact cross-correlation) of pictures with ``weight``, plus ``bias``.

    Element p, q of output channel o is
    ``sum(weight[o, c, i, j] * x[n, c, s * p + d * i, s * q + d * j]) + bias[o]`` over c, i and
    j, for the stride s and the dilation d. Derivative: :func:`conv2d_grad_x`,
    :func:`conv2d_grad_weight`, and the sum of ``grad_output`` for each channel.

    Parameters
    ----------
    x : (batch, in_channels, height, width)
        The pictures. The batch axis may be missing.
    weight : (out_channels, in_channels / groups, height, width)
        The windows.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, height, width). An axis of ``n`` elements
        becomes ``(n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1``.

    >>> import extensor as ex
    >>> x = ex.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]])
    >>> ex.conv2d(x, [[[[1.0, 1.0]]]], [0.5])
    tensor([[[[ 3.5,  5.5],
              [ 9.5, 11.5]]]])
    >>> ex.conv2d_backward(ex.ones((1, 1, 2, 2)), x, [[[[1.0, 1.0]]]]).grad_weight
    tensor([[[[12., 16.]]]])
    """
    if x.ndim == 3:
        how = (stride, padding, dilation, groups)
        return of_one(conv2d.op, x, (weight, bias), how)
    along = sliding("conv2d", x.shape[2:], weight.shape[2:], stride, padding, dilation)
    return convolve(xp, x, weight, bias, along, groups)


@conv2d.backward(kernel="conv2d_backward")
def conv2d_backward(
    grad_output: Tensor,
    x: Tensor,
    weight: Tensor,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> tuple[Any, Any, Any]:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too."""
    how = (stride, padding, dilation, groups)
    if x.ndim == 3:
        return rule_of_one(conv2d_backward, grad_output, x, weight, *how)
    return (
        lambda: conv2d_grad_x(grad_output, weight, x.shape[2:], *how),
        lambda: conv2d_grad_weight(grad_output, x, weight.shape[2:], *how),
        lambda: grad_output.sum(axis=(0, 2, 3)),
    )


def _check_output(name: str, gradient: Shape, shapes: Shapes, *how: Any) -> None:
    check_shape(name, "gradient", gradient, convolution_shape(name, 2, shapes, *how))


def _conv2d_grad_x_shape(name: str, shapes: Shapes, size: Ints, *how: Any) -> Shape:
    gradient, weight = (tuple(shape) for shape in shapes.values())
    check_axes(name, gradient, 2, "gradient")
    _check_weight(name, weight, 2)
    (groups,) = ints(name, "groups", how[-1], 1)
    x = (gradient[0], weight[1] * groups, *ints(name, "size", size, 2, least=0))
    _check_output(name, gradient, {"x": x, "weight": weight}, *how)
    return x


@op(kernel="conv2d_grad_x", shape=_conv2d_grad_x_shape, check=check_numbers)
def conv2d_grad_x(
    xp: Any,
    gradient: Array,
    weight: Array,
    size: Ints,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Any:
    """The gradient of the input of :func:`conv2d`, whose height and width are ``size``.

    ``gradient`` is that of the output: each of its elements, times ``weight``, is added to the window
    it came from. Derivative: :func:`conv2d` of ``grad_output`` and ``weight``, and
    :func:`conv2d_grad_weight` of ``gradient`` and ``grad_output``.

    Parameters
    ----------
    gradient : (batch, out_channels, height, width)
        The gradient of the result of `conv2d`.
    weight : (out_channels, in_channels / groups, height, width)
        The windows.
    size
        The height and the width of the input of `conv2d`.

    Returns
    -------
    Tensor
        The gradient, of shape ``(batch, in_channels, *size)``.

    >>> import extensor as ex
    >>> ex.conv2d_grad_x([[[[1.0, 10.0]]]], [[[[1.0, 2.0, 3.0]]]], (1, 4))
    tensor([[[[ 1., 12., 23., 30.]]]])
    >>> ex.conv2d_grad_x([[[[1.0]]]], [[[[2.0, 3.0]]]], (1, 2))
    tensor([[[[2., 3.]]]])
    >>> ex.conv2d_grad_x_backward([[[[1.0, 1.0]]]], [[[[1.0]]]], [[[[2.0, 3.0]]]], (1, 2)).grad_gradient
    tensor([[[[5.]]]])
    """
    of_x = ints("conv2d_grad_x", "size", size, 2, least=0)
    along = sliding("conv2d_grad_x", of_x, weight.shape[2:], stride, padding, dilation)
    return convolve_back(xp, gradient, weight, along, groups)


@conv2d_grad_x.backward()
def conv2d_grad_x_backward(
    grad_output: Tensor,
    gradient: Tensor,
    weight: Tensor,
    size: Ints,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> tuple[Any, Any]:
    """``grad_output`` seen as the input of a convolution, whose output ``gradient`` belongs to."""
    how = (stride, padding, dilation, groups)
    return (
        lambda: conv2d(grad_output, weight, None, *how),
        lambda: conv2d_grad_weight(gradient, grad_output, weight.shape[2:], *how),
    )


def _conv2d_grad_weight_shape(name: str, shapes: Shapes, kernel_size: Ints, *how: Any) -> Shape:
    gradient, x = (tuple(shape) for shape in shapes.values())
    check_axes(name, gradient, 2, "gradient")
    check_axes(name, x, 2)
    (groups,) = ints(name, "groups", how[-1], 1)
    weight = (gradient[1], x[1] // groups, *ints(name, "kernel_size", kernel_size, 2))
    _check_output(name, gradient, {"x": x, "weight": weight}, *how)
    return weight


@op(kernel="conv2d_grad_weight", shape=_conv2d_grad_weight_shape, check=check_numbers)
def conv2d_grad_weight(
    xp: Any,
    gradient: Array,
    x: Array,
    kernel_size: Ints,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Any:
    """The gradient of the weight of :func:`conv2d`, whose height and width are ``kernel_size``.

    ``gradient`` is that of the output: each of its elements times the window of ``x`` it came from,
    summed. Derivative: :func:`conv2d` of ``x`` and ``grad_output``, and :func:`conv2d_grad_x` of
    ``gradient`` and ``grad_output``.

    Parameters
    ----------
    gradient : (batch, out_channels, height, width)
        The gradient of the result of `conv2d`.
    x : (batch, in_channels, height, width)
        The input of `conv2d`.
    kernel_size
        The height and the width of a window.

    Returns
    -------
    Tensor
        The gradient, of shape ``(out_channels, in_channels / groups, *kernel_size)``.

    >>> import extensor as ex
    >>> ex.conv2d_grad_weight([[[[1.0, 10.0]]]], [[[[1.0, 2.0, 3.0, 4.0]]]], (1, 3))
    tensor([[[[21., 32., 43.]]]])
    >>> ex.conv2d_grad_weight([[[[1.0]]]], [[[[2.0, 3.0]]]], (1, 2))
    tensor([[[[2., 3.]]]])
    >>> ex.conv2d_grad_weight_backward([[[[1.0, 1.0]]]], [[[[1.0]]]], [[[[2.0, 3.0]]]], (1, 2)).grad_gradient
    tensor([[[[5.]]]])
    """
    kernel = ints("conv2d_grad_weight", "kernel_size", kernel_size, 2)
    along = sliding("conv2d_grad_weight", x.shape[2:], kernel, stride, padding, dilation)
    columns = xp.matrix_transpose(_columns(xp, x, along, groups))
    products = xp.matmul(_outputs(xp, gradient, groups), columns)
    return xp.reshape(xp.sum(products, axis=0), (gradient.shape[1], x.shape[1] // groups, *kernel))


@conv2d_grad_weight.backward()
def conv2d_grad_weight_backward(
    grad_output: Tensor,
    gradient: Tensor,
    x: Tensor,
    kernel_size: Ints,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> tuple[Any, Any]:
    """``grad_output`` seen as the weight of a convolution, whose output ``gradient`` belongs to."""
    how = (stride, padding, dilation, groups)
    return (
        lambda: conv2d(x, grad_output, None, *how),
        lambda: conv2d_grad_x(gradient, grad_output, x.shape[2:], *how),
    )


@op(kernel="conv1d", shape=for_axes(1, convolution_shape), check=check_numbers)
def conv1d(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Any:
    """The convolution (in fact cross-correlation) of sequences with ``weight``, plus ``bias``.

    Element p of output channel o is ``sum(weight[o, c, i] * x[n, c, s * p + d * i]) + bias[o]``
    over c and i, for the stride s and the dilation d. Derivative: as for :func:`conv2d`, with a
    height of 1.

    Parameters
    ----------
    x : (batch, in_channels, length)
        The sequences. The batch axis may be missing.
    weight : (out_channels, in_channels / groups, length)
        The windows.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, length). ``n`` elements become
        ``(n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1``.

    >>> import extensor as ex
    >>> ex.conv1d([[[1.0, 2.0, 3.0]]], [[[1.0, 10.0]]], padding="same")
    tensor([[[21., 32.,  3.]]])
    >>> ex.conv1d_backward(ex.ones((1, 1, 2)), [[[1.0, 2.0, 3.0]]], [[[1.0, 10.0]]]).grad_x
    tensor([[[ 1., 11., 10.]]])
    """
    if x.ndim == 2:
        how = (stride, padding, dilation, groups)
        return of_one(conv1d.op, x, (weight, bias), how)
    along = sliding("conv1d", x.shape[2:], weight.shape[2:], stride, padding, dilation)
    return convolve(xp, x, weight, bias, along, groups)


@conv1d.backward(kernel="conv1d_backward")
def conv1d_backward(
    grad_output: Tensor,
    x: Tensor,
    weight: Tensor,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> tuple[Any, Any, Any]:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too."""
    if x.ndim == 2:
        options = (stride, padding, dilation, groups)
        return rule_of_one(conv1d_backward, grad_output, x, weight, *options)
    how = (in_plane(stride, 1), in_plane(padding, 0), in_plane(dilation, 1), groups)
    gradient, image, kernel = (unsqueeze(line, 2) for line in (grad_output, x, weight))
    return (
        lambda: squeeze(conv2d_grad_x(gradient, kernel, image.shape[2:], *how), 2),
        lambda: squeeze(conv2d_grad_weight(gradient, image, kernel.shape[2:], *how), 2),
        lambda: grad_output.sum(axis=(0, 2)),
    )
