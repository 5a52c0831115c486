from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .case import Case, Error, real


def _each(value: Any, axes: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple) else (value,) * axes


def _starts(x, kernel, stride, padding, dilation):
    """The padded input, and for each output the index of its window there."""
    axes = len(kernel)
    strides, dilations = _each(stride, axes), _each(dilation, axes)
    reach = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
    if padding == "same":
        widths = [(r // 2, r - r // 2) for r in reach]
    else:
        widths = [(p, p) for p in _each(0 if padding == "valid" else padding, axes)]
    padded = np.pad(x, [(0, 0), (0, 0), *widths])
    counts = [
        (n - r - 1) // s + 1 for n, r, s in zip(padded.shape[2:], reach, strides, strict=True)
    ]
    windows = {
        at: tuple(
            slice(i * s, i * s + r + 1, d)
            for i, s, r, d in zip(at, strides, reach, dilations, strict=True)
        )
        for at in product(*map(range, counts))
    }
    return padded, windows, counts


def _check_numbers(x):
    if x.dtype == bool:
        raise TypeError("no sums of booleans")


def convolution(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    _check_numbers(x)
    padded, windows, counts = _starts(x, weight.shape[2:], stride, padding, dilation)
    out = np.zeros((len(x), len(weight), *counts), np.result_type(x, weight))
    inside, outside = weight.shape[1], len(weight) // groups
    for channel in range(len(weight)):
        first = channel // outside * inside
        for at, window in windows.items():
            seen = padded[(slice(None), slice(first, first + inside), *window)]
            product_sum = (seen * weight[channel]).sum(axis=tuple(range(1, x.ndim)))
            out[(slice(None), channel, *at)] = product_sum
    return out if bias is None else out + bias.reshape(-1, *(1,) * (x.ndim - 2))


def grad_x(gradient, weight, size, groups=1, **how):
    """A column of the convolution's matrix for each element of the input."""
    _check_numbers(gradient)
    shape = (len(gradient), weight.shape[1] * groups, *_each(size, 2))
    out = np.zeros(shape, gradient.dtype)
    for index in np.ndindex(shape):
        one = np.zeros(shape, gradient.dtype)
        one[index] = 1
        out[index] = (convolution(one, weight, groups=groups, **how) * gradient).sum()
    return out


def grad_weight(gradient, x, kernel_size, groups=1, **how):
    _check_numbers(gradient)
    shape = (gradient.shape[1], x.shape[1] // groups, *_each(kernel_size, 2))
    out = np.zeros(shape, gradient.dtype)
    for index in np.ndindex(shape):
        one = np.zeros(shape, gradient.dtype)
        one[index] = 1
        out[index] = (convolution(x, one, groups=groups, **how) * gradient).sum()
    return out


def transposed(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Each element of the input stamps the kernel on a canvas, whose edges are cut off."""
    _check_numbers(x)
    axes, inside = x.ndim - 2, len(weight) // groups
    strides, dilations, cut, more = (
        _each(v, axes) for v in (stride, dilation, padding, output_padding)
    )
    reach = [d * (k - 1) for d, k in zip(dilations, weight.shape[2:], strict=True)]
    canvas = [
        (n - 1) * s + r + 1 + m
        for n, s, r, m in zip(x.shape[2:], strides, reach, more, strict=True)
    ]
    out = np.zeros((len(x), groups * weight.shape[1], *canvas), np.result_type(x, weight))
    for n, channel, *at in np.ndindex(x.shape):
        first = channel // inside * weight.shape[1]
        window = (
            slice(i * s, i * s + r + 1, d)
            for i, s, r, d in zip(at, strides, reach, dilations, strict=True)
        )
        stamp = x[(n, channel, *at)] * weight[channel]
        out[(n, slice(first, first + weight.shape[1]), *window)] += stamp
    kept = (slice(p, size - p) for p, size in zip(cut, canvas, strict=True))
    out = out[(slice(None), slice(None), *kept)]
    return out if bias is None else out + bias.reshape(-1, *(1,) * axes)


# The shapes of x and weight, and the attributes. Of each row one Case has a bias and one has none.
PLANES: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 2, 4, 5), (3, 2, 2, 3), {}),
    ((1, 1, 3, 3), (1, 1, 3, 3), {}),
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((2, 2, 2, 3), (3, 2, 1, 1), {}),
    ((0, 2, 3, 3), (2, 2, 2, 2), {}),
    ((1, 2, 5, 4), (2, 2, 2, 3), {"stride": 2}),
    ((1, 1, 4, 5), (2, 1, 1, 2), {"stride": (3, 2)}),
    ((1, 2, 3, 2), (2, 2, 3, 2), {"padding": 1}),
    ((1, 1, 2, 2), (1, 1, 2, 1), {"padding": (3, 2)}),
    ((1, 1, 6, 5), (2, 1, 3, 2), {"dilation": 2}),
    ((1, 1, 5, 4), (1, 1, 2, 2), {"stride": 2, "padding": 2, "dilation": (3, 1)}),
    ((1, 4, 3, 3), (4, 2, 2, 2), {"groups": 2}),
    ((1, 3, 3, 4), (6, 1, 2, 3), {"padding": 1, "groups": 3}),
    ((1, 1, 4, 3), (2, 1, 3, 2), {"padding": "same"}),
    ((1, 1, 4, 3), (1, 1, 2, 3), {"padding": "same", "dilation": (3, 1)}),
    ((1, 2, 4, 3), (1, 2, 3, 3), {"padding": "valid"}),
]
LINES: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 2, 6), (3, 2, 3), {}),
    ((1, 1, 1), (1, 1, 1), {}),
    ((1, 2, 7), (2, 2, 2), {"stride": 3}),
    ((1, 2, 4), (2, 2, 3), {"padding": 2, "dilation": (2,)}),
    ((2, 4, 5), (2, 2, 3), {"padding": "same", "groups": 2}),
    ((1, 1, 4), (2, 1, 2), {"padding": "same"}),
    ((1, 3, 4), (3, 1, 2), {"stride": (2,), "groups": 3, "padding": (1,)}),
]
TRANSPOSED: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 2, 2, 3), (2, 3, 2, 2), {}),
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((0, 2, 2, 2), (2, 1, 2, 2), {}),
    ((1, 2, 3, 2), (2, 1, 3, 2), {"stride": 2, "padding": 1, "output_padding": 1}),
    ((1, 1, 2, 3), (1, 2, 2, 2), {"stride": (3, 2), "output_padding": (2, 0)}),
    ((1, 4, 2, 2), (4, 1, 3, 3), {"groups": 2, "dilation": (1, 2), "padding": (0, 2)}),
]


VOLUMES = [
    ((2, 2, 3, 2, 3), (3, 2, 2, 1, 2), {}),
    ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), {}),
    ((0, 2, 2, 2, 2), (2, 2, 2, 2, 2), {}),
    ((1, 2, 5, 4, 3), (2, 2, 2, 2, 3), {"stride": (2, 1, 1), "padding": (1, 0, 1)}),
    ((1, 1, 6, 3, 3), (2, 1, 3, 2, 1), {"dilation": (2, 1, 2), "stride": 2, "padding": 1}),
    ((1, 4, 3, 2, 2), (4, 2, 2, 2, 1), {"groups": 2}),
    ((1, 1, 4, 3, 2), (1, 1, 2, 3, 2), {"padding": "same"}),
    ((1, 1, 4, 3, 2), (2, 1, 3, 1, 2), {"padding": "same", "dilation": (1, 3, 1)}),
    ((1, 1, 3, 3, 2), (1, 1, 2, 3, 2), {"padding": "valid"}),
]
VOLUMES_TRANSPOSED = [
    ((2, 2, 2, 1, 2), (2, 3, 2, 2, 1), {}),
    ((0, 2, 2, 1, 2), (2, 1, 2, 2, 1), {}),
    ((1, 2, 3, 2, 2), (2, 1, 3, 2, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    ((1, 1, 2, 2, 1), (1, 2, 2, 1, 2), {"stride": (3, 2, 1), "output_padding": (2, 0, 0)}),
    ((1, 4, 2, 2, 1), (4, 1, 3, 1, 3), {"groups": 2, "dilation": (1, 1, 2), "padding": (1, 0, 2)}),
]


def _with_and_without_bias(op, rows, reference, channels):
    for x, weight, attributes in rows:
        inputs = (real(*x), real(*weight))
        bias = real(channels(weight, attributes))
        yield Case(op, (*inputs, bias), reference, attributes)
        yield Case(op, inputs, reference, attributes)


def _output_channels(weight, attributes):
    return weight[0]


def _transposed_channels(weight, attributes):
    return weight[1] * attributes.get("groups", 1)


LINES_TRANSPOSED = [
    ((2, 2, 3), (2, 3, 2), {}),
    ((1, 2, 3), (2, 1, 3), {"stride": 2, "padding": 1, "output_padding": (1,)}),
    ((1, 4, 3), (4, 1, 2), {"groups": 2, "dilation": 3}),
]


def _gradient_cases():
    for x, weight, attributes in PLANES:
        output = convolution(np.zeros(x), np.zeros(weight), **attributes).shape
        yield Case(
            "conv2d_grad_x",
            (real(*output), real(*weight)),
            grad_x,
            {"size": x[2:], **attributes},
        )
        yield Case(
            "conv2d_grad_weight",
            (real(*output), real(*x)),
            grad_weight,
            {"kernel_size": weight[2:], **attributes},
        )


def alone(reference):
    """The same of one sample, without the axis of the batch."""
    return lambda x, *others, **how: reference(x[None], *others, **how)[0]


CASES = [
    *_with_and_without_bias("conv2d", PLANES, convolution, _output_channels),
    *_with_and_without_bias("conv1d", LINES, convolution, _output_channels),
    *_with_and_without_bias("conv_transpose2d", TRANSPOSED, transposed, _transposed_channels),
    *_with_and_without_bias("conv_transpose1d", LINES_TRANSPOSED, transposed, _transposed_channels),
    *_with_and_without_bias("conv3d", VOLUMES, convolution, _output_channels),
    *_with_and_without_bias(
        "conv_transpose3d", VOLUMES_TRANSPOSED, transposed, _transposed_channels
    ),
    *_gradient_cases(),
    *(
        Case(op, (real(*x), real(*weight), real(2)), alone(reference), attributes)
        for op, x, weight, reference, attributes in [
            ("conv2d", (3, 5, 4), (2, 3, 2, 3), convolution, {"padding": (1, 0)}),
            ("conv3d", (2, 3, 3, 2), (2, 2, 2, 1, 2), convolution, {"padding": (1, 0, 1)}),
            ("conv_transpose3d", (2, 2, 1, 2), (2, 2, 2, 1, 2), transposed, {"stride": 2}),
            ("conv1d", (4, 5), (2, 2, 3), convolution, {"groups": 2, "padding": "same"}),
            ("conv_transpose2d", (3, 2, 2), (3, 2, 3, 2), transposed, {"stride": 2}),
            ("conv_transpose1d", (2, 4), (2, 1, 3), transposed, {"groups": 2, "padding": 1}),
        ]
    ),
]


def _ones(*shape: int):
    return np.ones(shape, "f4")


def _error(name, shapes, text, kind=ValueError, **attributes) -> Error:
    return Error(name, tuple(_ones(*s) for s in shapes), f"{name}: {text}", attributes, kind)


IMAGE, KERNEL = (1, 2, 4, 5), (3, 2, 2, 2)
PADDED = "the kernel must have elements and fit into the padded input"
ERRORS = [
    _error(
        "conv2d",
        [(4, 5), KERNEL],
        "x must be 4-D (batch, channels, height, width) or 3-D (channels, height, width), "
        "got x_shape=(4, 5)",
    ),
    _error(
        "conv1d",
        [IMAGE, KERNEL],
        "x must be 3-D (batch, channels, length) or 2-D (channels, length), "
        "got x_shape=(1, 2, 4, 5)",
    ),
    _error(
        "conv3d",
        [(4, 5), KERNEL],
        "x must be 5-D (batch, channels, depth, height, width) or 4-D (channels, depth, height, "
        "width), got x_shape=(4, 5)",
    ),
    _error(
        "conv3d",
        [(1, 2, 3, 4, 5), KERNEL],
        "weight must be 5-D (out_channels, in_channels / groups, depth, height, width), "
        "got weight_shape=(3, 2, 2, 2)",
    ),
    _error(
        "conv_transpose3d",
        [(1, 2, 3, 4, 5), KERNEL],
        "weight must be 5-D (in_channels, out_channels / groups, depth, height, width), "
        "got weight_shape=(3, 2, 2, 2)",
    ),
    Error(
        "conv2d",
        (np.ones(IMAGE, bool), np.ones(KERNEL, bool)),
        "conv2d: needs numbers (x.astype makes them), got dtype='bool'",
        kind=TypeError,
    ),
    _error(
        "conv2d",
        [IMAGE, (3, 2, 2)],
        "weight must be 4-D (out_channels, in_channels / groups, height, width), "
        "got weight_shape=(3, 2, 2)",
    ),
    _error(
        "conv1d",
        [(1, 2, 4), KERNEL],
        "weight must be 3-D (out_channels, in_channels / groups, length), "
        "got weight_shape=(3, 2, 2, 2)",
    ),
    _error(
        "conv2d",
        [(1, 3, 4, 4), (4, 1, 2, 2)],
        "in_channels must be divisible by groups, got in_channels=3, groups=2",
        groups=2,
    ),
    _error(
        "conv2d",
        [(1, 4, 4, 4), (3, 2, 2, 2)],
        "out_channels must be divisible by groups, got out_channels=3, groups=2",
        groups=2,
    ),
    _error(
        "conv2d",
        [(1, 4, 4, 4), (2, 4, 2, 2)],
        "weight must have in_channels / groups = 2 on axis 1, "
        "got weight_shape=(2, 4, 2, 2), x_shape=(1, 4, 4, 4)",
        groups=2,
    ),
    _error("conv2d", [IMAGE, KERNEL, (2,)], "bias must have shape (3,), got bias_shape=(2,)"),
    _error(
        "conv2d",
        [IMAGE, (3, 2, 5, 5)],
        f"{PADDED}, got x_size=(4, 5), kernel_size=(5, 5), padding=0, dilation=1",
    ),
    _error(
        "conv1d",
        [(1, 1, 4), (1, 1, 3)],
        f"{PADDED}, got x_size=(4,), kernel_size=(3,), padding=0, dilation=2",
        dilation=2,
    ),
    _error(
        "conv2d",
        [IMAGE, (3, 2, 0, 1)],
        f"{PADDED}, got x_size=(4, 5), kernel_size=(0, 1), padding='valid', dilation=1",
        padding="valid",
    ),
    _error("conv2d", [IMAGE, KERNEL], "stride must be at least 1, got stride=0", stride=0),
    _error(
        "conv2d",
        [IMAGE, KERNEL],
        "stride must be an int or 2 ints, got stride=(1, 2, 3)",
        stride=(1, 2, 3),
    ),
    _error(
        "conv2d",
        [IMAGE, KERNEL],
        "dilation must be an int or 2 ints, got dilation=1.5",
        TypeError,
        dilation=1.5,
    ),
    _error(
        "conv1d",
        [(1, 2, 4), (3, 2, 2)],
        "stride must be an int, got stride=(1, 1)",
        stride=(1, 1),
    ),
    _error(
        "conv2d",
        [IMAGE, KERNEL],
        "padding must be at least 0, got padding=(0, -1)",
        padding=(0, -1),
    ),
    _error(
        "conv2d",
        [IMAGE, KERNEL],
        "padding must be ints, 'same' or 'valid', got padding='full'",
        padding="full",
    ),
    _error(
        "conv2d",
        [IMAGE, KERNEL],
        "padding='same' needs a stride of 1, got stride=(1, 2)",
        padding="same",
        stride=(1, 2),
    ),
    _error("conv2d", [IMAGE, KERNEL], "groups must be at least 1, got groups=0", groups=0),
    _error(
        "conv2d", [IMAGE, KERNEL], "groups must be an int, got groups='2'", TypeError, groups="2"
    ),
    *(
        _error(
            f"{name}_backward",
            [(1, 3), *shapes],
            f"grad_output must have shape {expected}, got grad_output_shape=(1, 3)",
            **attributes,
        )
        for name, shapes, expected, attributes in [
            ("conv2d", [IMAGE, KERNEL], (1, 3, 3, 4), {}),
            ("conv2d", [IMAGE, KERNEL], (1, 3, 4, 5), {"padding": "same"}),
            ("conv1d", [(1, 2, 4), (3, 2, 2)], (1, 3, 2), {"stride": 2}),
            ("conv2d_grad_x", [(1, 3, 3, 4), KERNEL], IMAGE, {"size": (4, 5)}),
            ("conv2d_grad_weight", [(1, 3, 3, 4), IMAGE], KERNEL, {"kernel_size": 2}),
            ("conv_transpose2d", [(1, 3, 3, 4), KERNEL], IMAGE, {}),
            ("conv_transpose1d", [(1, 3, 3), (3, 2, 2)], (1, 2, 6), {"stride": 2}),
        ]
    ),
    _error(
        "conv2d_grad_x",
        [(1, 3, 3, 4), KERNEL],
        "gradient must have shape (1, 3, 2, 4), got gradient_shape=(1, 3, 3, 4)",
        size=(3, 5),
    ),
    _error(
        "conv2d_grad_x",
        [(1, 3, 3), KERNEL],
        "gradient must be 4-D (batch, channels, height, width), got gradient_shape=(1, 3, 3)",
        size=(3, 5),
    ),
    _error(
        "conv2d_grad_x",
        [(1, 3, 3, 4), KERNEL],
        "size must be an int or 2 ints, got size=(3, 3, 3)",
        size=(3, 3, 3),
    ),
    _error(
        "conv2d_grad_weight",
        [(1, 3, 3, 4), IMAGE],
        "gradient must have shape (1, 3, 2, 4), got gradient_shape=(1, 3, 3, 4)",
        kernel_size=(3, 2),
    ),
    _error(
        "conv2d_grad_weight",
        [(1, 3, 3, 4), (2, 4, 5)],
        "x must be 4-D (batch, channels, height, width), got x_shape=(2, 4, 5)",
        kernel_size=2,
    ),
    _error(
        "conv2d_grad_weight",
        [(1, 3, 3, 4), IMAGE],
        "kernel_size must be at least 1, got kernel_size=0",
        kernel_size=0,
    ),
    _error(
        "conv_transpose2d",
        [IMAGE, (2, 2)],
        "weight must be 4-D (in_channels, out_channels / groups, height, width), "
        "got weight_shape=(2, 2)",
    ),
    _error(
        "conv_transpose1d",
        [(1, 2, 4), KERNEL],
        "weight must be 3-D (in_channels, out_channels / groups, length), "
        "got weight_shape=(3, 2, 2, 2)",
    ),
    _error(
        "conv_transpose2d",
        [IMAGE, KERNEL],
        "weight must have in_channels = 2 on axis 0, "
        "got weight_shape=(3, 2, 2, 2), x_shape=(1, 2, 4, 5)",
    ),
    _error(
        "conv_transpose2d",
        [(1, 3, 4, 5), KERNEL],
        "in_channels must be divisible by groups, got in_channels=3, groups=2",
        groups=2,
    ),
    _error(
        "conv_transpose2d",
        [(1, 3, 4, 5), KERNEL, (3,)],
        "bias must have shape (2,), got bias_shape=(3,)",
    ),
    _error(
        "conv_transpose2d",
        [(1, 3, 4, 5), KERNEL],
        "output_padding must be smaller than stride, got output_padding=(0, 1), stride=1",
        output_padding=(0, 1),
    ),
    _error(
        "conv_transpose2d",
        [(1, 3, 1, 5), KERNEL],
        "x and the output must have elements, got x_size=(1, 5), output_size=(0, 4)",
        padding=1,
    ),
    _error(
        "conv_transpose1d",
        [(1, 3, 4), (3, 2, 2)],
        "padding must be an int, got padding='same'",
        TypeError,
        padding="same",
    ),
]
