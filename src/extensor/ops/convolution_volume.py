"""Convolutions of volumes: those of pictures, whose channels are the slices that a window sees.

A window of a depth of ``k`` sees ``k`` slices. They become channels of one picture, so that one
convolution of pictures sums over the depth too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from extensor.arrays.shapes import Shape
from extensor.arrays.supplement import in_c_order
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.convolution import SHARED as SHARED
from extensor.ops.convolution import (
    Padding,
    check_numbers,
    conv2d,
    conv2d_grad_weight,
    conv2d_grad_x,
    convolution_shape,
    sliding,
    with_bias,
)
from extensor.ops.convolution_transposed import (
    conv_transpose2d,
    sliding_back,
    transposed_shape,
)
from extensor.ops.folding import fold, unfold
from extensor.ops.movement import permute
from extensor.ops.padding import pad
from extensor.ops.windows import Ints, Sliding, for_axes, ints, of_one, rule_of_one

Call = Callable[[Any], Callable[..., Any]]


def _of_tensors(function: Any) -> Callable[..., Any]:
    return function  # type: ignore[no-any-return]


def _of_arrays(function: Any) -> Callable[..., Any]:
    """The same op inside of a formula."""
    return function.op.compute  # type: ignore[no-any-return]


class _Plane(NamedTuple):
    """The attributes of the convolution of pictures."""

    stride: Shape
    padding: Padding
    dilation: Shape


def _plane(name: str, stride: Ints, padding: Padding, dilation: Ints) -> _Plane:
    added = padding if isinstance(padding, str) else ints(name, "padding", padding, 3, least=0)[1:]
    return _Plane(
        ints(name, "stride", stride, 3)[1:], added, ints(name, "dilation", dilation, 3)[1:]
    )


def _lacks(depth: Sliding) -> int:
    """The slices that the last window sees behind a padding of ``depth.before`` on both sides."""
    reach = (depth.windows - 1) * depth.stride + (depth.kernel - 1) * depth.dilation + 1
    return max(0, reach - depth.size - 2 * depth.before)


def _along(depth: Sliding) -> tuple[Shape, ...]:
    return (
        (depth.kernel, 1),
        (depth.dilation, 1),
        (depth.before, 0),
        (depth.stride, 1),
    )


def _slabs(of: Call, x: Any, depth: Sliding) -> Any:
    """Volumes as pictures (batch * windows, channels * kernel, height, width), one for each window."""
    batch, channels, _, height, width = x.shape
    if _lacks(depth):
        x = of(pad)(x, ((0, 0), (0, 0), (0, _lacks(depth)), (0, 0), (0, 0)), "constant", 0.0)
    lines = x.reshape((batch, channels, x.shape[2], height * width))
    rows = channels * depth.kernel
    columns = of(unfold)(lines, *_along(depth))
    columns = columns.reshape((batch, rows, depth.windows, height, width))
    return _pictures(of, columns)


def _from_slabs(of: Call, pictures: Any, batch: int, depth: Sliding) -> Any:
    """The adjoint: each slice of each window added to the slice of the volume that it is."""
    _, rows, height, width = pictures.shape
    columns = _volumes(of, pictures, batch, depth.windows)
    columns = columns.reshape((batch, rows, depth.windows * height * width))
    size = depth.size + _lacks(depth)
    lines = of(fold)(columns, (size, height * width), *_along(depth))
    volume = lines.reshape((batch, rows // depth.kernel, size, height, width))
    return volume[:, :, : depth.size] if _lacks(depth) else volume


def _pictures(of: Call, x: Any) -> Any:
    """Each slice as a picture: (batch * depth, channels, height, width)."""
    batch, channels, depth, height, width = x.shape
    slices = in_c_order(of(permute)(x, (0, 2, 1, 3, 4)))
    return slices.reshape((batch * depth, channels, height, width))


def _volumes(of: Call, pictures: Any, batch: int, depth: int) -> Any:
    """Pictures of ``depth`` slices as volumes again."""
    slices = pictures.reshape((batch, depth, *pictures.shape[1:]))
    return in_c_order(of(permute)(slices, (0, 2, 1, 3, 4)))


def _flat(weight: Any) -> Any:
    """A weight whose depth is part of its channels."""
    first, second, depth, height, width = weight.shape
    return in_c_order(weight).reshape((first, second * depth, height, width))


@op(shape=for_axes(3, convolution_shape), check=check_numbers)
def conv3d(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Any:
    """The convolution (in fact cross-correlation) of volumes with ``weight``, plus ``bias``.

    The formula is that of :func:`conv2d` with one axis more. Derivative: that of :func:`conv2d` with
    the slices of a window as channels.

    Parameters
    ----------
    x : (batch, in_channels, depth, height, width)
        The volumes. The batch axis may be missing.
    weight : (out_channels, in_channels / groups, depth, height, width)
        The windows.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, depth, height, width). An axis of ``n`` elements
        becomes ``(n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1``.

    >>> import extensor as ex
    >>> x = ex.arange(8, dtype="float32").reshape(1, 1, 2, 2, 2)
    >>> ex.conv3d(x, ex.ones((1, 1, 2, 1, 2)), [0.5])
    tensor([[[[[10.5],
               [18.5]]]]])
    >>> ex.conv3d_backward(ex.ones((1, 1, 1, 2, 1)), x, ex.ones((1, 1, 2, 1, 2))).grad_weight.flatten()
    tensor([ 2.,  4., 10., 12.])
    """
    if x.ndim == 4:
        return of_one(conv3d.op, x, (weight, bias), (stride, padding, dilation, groups))
    depth, *_ = sliding("conv3d", x.shape[2:], weight.shape[2:], stride, padding, dilation)
    plane = _plane("conv3d", stride, padding, dilation)
    slabs = _slabs(_of_arrays, x, depth)
    pictures = conv2d.op.compute(slabs, _flat(weight), bias, *plane, groups)
    return _volumes(_of_arrays, pictures, x.shape[0], depth.windows)


@conv3d.backward()
def conv3d_backward(
    grad_output: Tensor,
    x: Tensor,
    weight: Tensor,
    stride: Ints = 1,
    padding: Padding = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> tuple[Any, Any, Any]:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too."""
    how = (stride, padding, dilation)
    if x.ndim == 4:
        return rule_of_one(conv3d_backward, grad_output, x, weight, *how, groups)
    name = "conv3d_backward"
    depth, *_ = sliding(name, x.shape[2:], weight.shape[2:], *how)
    plane, gradient = _plane(name, *how), _pictures(_of_tensors, grad_output)

    def to_x() -> Tensor:
        slabs = conv2d_grad_x(gradient, _flat(weight), x.shape[3:], *plane, groups)
        volume: Tensor = _from_slabs(_of_tensors, slabs, x.shape[0], depth)
        return volume

    def to_weight() -> Tensor:
        slabs = _slabs(_of_tensors, x, depth)
        flat = conv2d_grad_weight(gradient, slabs, weight.shape[3:], *plane, groups)
        return flat.reshape(weight.shape)

    return to_x, to_weight, lambda: grad_output.sum(axis=(0, 2, 3, 4))


@op(shape=for_axes(3, transposed_shape), check=check_numbers)
def conv_transpose3d(
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
    """The transposed convolution of volumes, as `conv_transpose2d` of pictures.

    Derivative: that of :func:`conv_transpose2d` with the slices of a window as channels.

    Parameters
    ----------
    x : (batch, in_channels, depth, height, width)
        The input. The batch axis may be missing.
    weight : (in_channels, out_channels / groups, depth, height, width)
        The windows.
    padding
        The number of elements to take off each side of the result.
    output_padding
        The number of elements to add to the far end of the result, where a strided convolution
        drops elements.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, depth, height, width). An axis of ``n`` elements
        becomes
        ``(n - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1``.

    >>> import extensor as ex
    >>> weight = ex.tensor([[[[[1.0, 3.0]]]]])
    >>> ex.conv_transpose3d([[[[[1.0, 2.0]]]]], weight)
    tensor([[[[[1., 5., 6.]]]]])
    >>> ex.conv_transpose3d_backward([[[[[1.0, 1.0, 1.0]]]]], [[[[[1.0, 2.0]]]]], weight).grad_x
    tensor([[[[[4., 4.]]]]])
    """
    if x.ndim == 4:
        options = (stride, padding, output_padding, groups, dilation)
        return of_one(conv_transpose3d.op, x, (weight, bias), options)
    name, how = "conv_transpose3d", (stride, padding, output_padding, dilation)
    depth, *_ = sliding_back(name, x.shape[2:], weight.shape[2:], *how)
    added = ints(name, "output_padding", output_padding, 3, least=0)[1:]
    plane = _plane(name, stride, padding, dilation)
    pictures = _pictures(_of_arrays, x)
    slabs = conv_transpose2d.op.compute(
        pictures, _flat(weight), None, plane.stride, plane.padding, added, groups, plane.dilation
    )
    return with_bias(xp, _from_slabs(_of_arrays, slabs, x.shape[0], depth), bias)


@conv_transpose3d.backward()
def conv_transpose3d_backward(
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
    how = (stride, padding, output_padding, dilation)
    if x.ndim == 4:
        options = (stride, padding, output_padding, groups, dilation)
        return rule_of_one(conv_transpose3d_backward, grad_output, x, weight, *options)
    name = "conv_transpose3d_backward"
    depth, *_ = sliding_back(name, x.shape[2:], weight.shape[2:], *how)
    plane = _plane(name, stride, padding, dilation)
    slabs = _slabs(_of_tensors, grad_output, depth)

    def to_x() -> Tensor:
        pictures = conv2d(slabs, _flat(weight), None, *plane, groups)
        volume: Tensor = _volumes(_of_tensors, pictures, x.shape[0], depth.windows)
        return volume

    def to_weight() -> Tensor:
        pictures = _pictures(_of_tensors, x)
        flat = conv2d_grad_weight(pictures, slabs, weight.shape[3:], *plane, groups)
        return flat.reshape(weight.shape)

    return to_x, to_weight, lambda: grad_output.sum(axis=(0, 2, 3, 4))
