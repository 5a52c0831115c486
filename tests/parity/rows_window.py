"""The rows of the parity table whose ops look at windows: convolutions and poolings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from cases.case import distinct
from draws import Call, Draw, Rng, flag, values
from rows import F, Row, torch


def _int_or_ints(rng: Rng, axes: int, low: int, high: int) -> Any:
    if flag(rng):
        return int(rng.integers(low, high + 1))
    return tuple(int(n) for n in rng.integers(low, high + 1, axes))


def _each(value: Any, axes: int) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,) * axes


class Geometry:
    """Channels, sizes and attributes that fit each other."""

    def __init__(self, rng: Rng, axes: int, named: bool = False) -> None:
        most = 4 if axes < 3 else 3  # float32 rounds sums of many products more than is allowed
        self.groups = int(rng.choice([1, 1, 2, 3]))
        self.channels = tuple(self.groups * int(n) for n in rng.integers(1, most, 2))
        self.batch = int(rng.choice([0, 1, 2, 3], p=[0.1, 0.3, 0.3, 0.3]))
        self.kernel = tuple(int(n) for n in rng.integers(1, most, axes))
        self.stride = _int_or_ints(rng, axes, 1, 3)
        self.dilation = _int_or_ints(rng, axes, 1, 2)
        self.padding = _int_or_ints(rng, axes, 0, 3)
        if named and rng.random() < 0.4:
            self.padding = str(rng.choice(["same", "valid"]))
            self.stride = 1
        room = [
            d * (k - 1) + 1 for d, k in zip(_each(self.dilation, axes), self.kernel, strict=True)
        ]
        self.size = tuple(
            int(n + extra) for n, extra in zip(room, rng.integers(0, 5, axes), strict=True)
        )
        self.more = (self.stride, self.padding, self.dilation, self.groups)

    @property
    def attributes(self) -> dict[str, Any]:
        return dict(zip(("stride", "padding", "dilation", "groups"), self.more, strict=True))


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """There padding="same" may warn of a copy."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Using padding='same'")
            return function(*args, **kwargs)

    return call


def _convolution(axes: int) -> Draw:
    def draw(rng: Rng) -> Call:
        of = Geometry(rng, axes, named=True)
        inside, outside = of.channels
        inputs = [
            values(rng, (of.batch, inside, *of.size)),
            values(rng, (outside, inside // of.groups, *of.kernel)),
        ]
        if flag(rng):
            inputs.append(values(rng, (outside,)))
        return Call(inputs, of.attributes)

    return draw


def _transposed(axes: int) -> Draw:
    def draw(rng: Rng) -> Call:
        of = Geometry(rng, axes)
        inside, outside = of.channels
        reach = [d * (k - 1) for d, k in zip(_each(of.dilation, axes), of.kernel, strict=True)]
        padding = tuple(int(rng.integers(0, n // 2 + 1)) for n in reach)
        added = tuple(int(rng.integers(0, s)) for s in _each(of.stride, axes))
        inputs = [
            values(rng, (of.batch, inside, *(int(n) for n in rng.integers(1, 5, axes)))),
            values(rng, (inside, outside // of.groups, *of.kernel)),
        ]
        if flag(rng):
            inputs.append(values(rng, (outside,)))
        return Call(inputs, {**of.attributes, "padding": padding, "output_padding": added})

    return draw


def _output_shape(of: Geometry) -> tuple[int, ...]:
    windows = (
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(
            of.size,
            _each(of.padding, 2),
            _each(of.dilation, 2),
            of.kernel,
            _each(of.stride, 2),
            strict=True,
        )
    )
    return (of.batch, of.channels[1], *windows)


def _grad_x(rng: Rng) -> Call:
    of = Geometry(rng, 2)
    weight = (of.channels[1], of.channels[0] // of.groups, *of.kernel)
    inputs = [values(rng, _output_shape(of)), values(rng, weight)]
    return Call(inputs, {"size": of.size, **of.attributes})


def _grad_weight(rng: Rng) -> Call:
    of = Geometry(rng, 2)
    inputs = [values(rng, _output_shape(of)), values(rng, (of.batch, of.channels[0], *of.size))]
    return Call(inputs, {"kernel_size": of.kernel, **of.attributes})


def _their_grad_x(gradient: Any, weight: Any, size: Any, groups: int, **how: Any) -> Any:
    shape = (gradient.shape[0], weight.shape[1] * groups, *size)
    return torch.nn.grad.conv2d_input(shape, weight, gradient, groups=groups, **how)


def _their_grad_weight(gradient: Any, x: Any, kernel_size: Any, groups: int, **how: Any) -> Any:
    shape = (gradient.shape[1], x.shape[1] // groups, *kernel_size)
    return torch.nn.grad.conv2d_weight(x, shape, gradient, groups=groups, **how)


def _pooling(axes: int, maximum: bool) -> Draw:
    def draw(rng: Rng) -> Call:
        kernel = _int_or_ints(rng, axes, 1, 4)
        dilation = _int_or_ints(rng, axes, 1, 2) if maximum else 1
        sizes = [
            d * (k - 1) + 1 + int(rng.integers(0, 6))
            for d, k in zip(_each(dilation, axes), _each(kernel, axes), strict=True)
        ]
        shape = (int(rng.integers(1, 3)), int(rng.integers(1, 4)), *sizes)
        # Whole numbers tie: the first of them gets the gradient.
        x = rng.integers(0, 3, shape).astype(float) if flag(rng) else distinct(*shape)(rng, float)
        attributes = {
            "kernel_size": kernel,
            "stride": None if flag(rng) else _int_or_ints(rng, axes, 1, 4),
            "padding": tuple(int(rng.integers(0, k // 2 + 1)) for k in _each(kernel, axes)),
            "ceil_mode": flag(rng),
        }
        more = {"dilation": dilation} if maximum else {"count_include_pad": flag(rng)}
        return Call([x], {**attributes, **more})

    return draw


def _adaptive(axes: int) -> Draw:
    def draw(rng: Rng) -> Call:
        shape = tuple(int(n) for n in rng.integers(1, 12, axes + 2))
        sizes = [None if rng.random() < 0.2 else int(rng.integers(1, 9)) for _ in range(axes)]
        whole = int(rng.integers(1, 9))
        return Call([values(rng, shape)], {"output_size": whole if flag(rng) else tuple(sizes)})

    return draw


def _norms(axes: int) -> Draw:
    def draw(rng: Rng) -> Call:
        shape = tuple(int(n) for n in rng.integers(3, 7, axes + 2))
        attributes = {
            "norm_type": float(rng.choice([1.0, 2.0, 3.0])),
            "kernel_size": int(rng.integers(1, 4)),
            "stride": None if flag(rng) else int(rng.integers(1, 4)),
            "ceil_mode": flag(rng),
        }
        return Call([values(rng, shape, low=0.2)], attributes)

    return draw


def _unpooled(axes: int) -> Draw:
    """Places that do not come twice, where PyTorch's gradient is another."""

    def draw(rng: Rng) -> Call:
        kernel = tuple(int(n) for n in rng.integers(1, 4, axes))
        shape = tuple(int(n) for n in rng.integers(1, 4, axes + 2))
        places = prod(k * n for k, n in zip(kernel, shape[2:], strict=True))
        lines = [rng.permutation(places)[: prod(shape[2:])] for _ in range(prod(shape[:2]))]
        return Call([values(rng, shape), np.reshape(lines, shape)], {"kernel_size": kernel})

    return draw


def _unfolding(rng: Rng) -> Call:
    of = Geometry(rng, 2)
    attributes = {
        "kernel_size": of.kernel, "dilation": of.dilation, "padding": of.padding,
        "stride": of.stride,
    }  # fmt: skip
    return Call([values(rng, (max(of.batch, 1), of.channels[0], *of.size))], attributes)


def _folding(rng: Rng) -> Call:
    call = _unfolding(rng)
    (x,) = call.inputs
    columns = F.unfold(torch.tensor(x), **call.attributes)
    return Call(
        [values(rng, tuple(columns.shape))], {"output_size": x.shape[2:], **call.attributes}
    )


def _their_line(x: Any, output_size: Any) -> Any:
    """There an axis cannot be left as it is."""
    (size,) = output_size if isinstance(output_size, tuple) else (output_size,)
    return F.adaptive_avg_pool1d(x, x.shape[2] if size is None else size)


def _their_maxima(axes: int, suffix: str) -> Callable[..., Any]:
    """There an axis of sequences cannot be left as it is."""

    def call(x: Any, output_size: Any) -> Any:
        if axes == 1:
            (size,) = output_size if isinstance(output_size, tuple) else (output_size,)
            output_size = x.shape[2] if size is None else size
        return getattr(F, f"adaptive_max_pool{axes}d{suffix}")(x, output_size)

    return call


MODES = (
    ("nearest", 1), ("nearest", 2), ("nearest", 3), ("nearest-exact", 2), ("area", 1), ("area", 2),
    ("linear", 1), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3),
)  # fmt: skip


def _resampled(rng: Rng) -> Call:
    mode, axes = MODES[rng.integers(len(MODES))]
    attributes: dict[str, Any] = {"mode": mode}
    if flag(rng):
        attributes["size"] = _int_or_ints(rng, axes, 1, 9)
    else:
        attributes["scale_factor"] = tuple(float(n) for n in rng.choice([0.5, 1.5, 2.0, 2.7], axes))
        attributes["recompute_scale_factor"] = flag(rng)
    if mode in ("linear", "bilinear", "bicubic", "trilinear"):
        attributes["align_corners"] = flag(rng)
    if mode in ("bilinear", "bicubic"):
        attributes["antialias"] = flag(rng)
    return Call([values(rng, tuple(int(n) for n in rng.integers(2, 6, axes + 2)))], attributes)


def _shuffled(name: str, times: int, spread: int) -> Draw:
    """Channels that are divisible by the factor to a power, or sizes by the factor itself."""

    def draw(rng: Rng) -> Call:
        r = int(rng.integers(1, 4))
        channels, height, width = (int(n) for n in rng.integers(1, 4, 3))
        shape = (
            int(rng.integers(1, 3)),
            channels * r**times,
            height * r**spread,
            width * r**spread,
        )
        return Call([values(rng, shape)], {name: r})

    return draw


def _sampled(rng: Rng) -> Call:
    axes = int(rng.integers(2, 4))
    modes = ["bilinear", "nearest", "bicubic"] if axes == 2 else ["bilinear", "nearest"]
    batch, channels, *sizes = (int(n) for n in rng.integers(1, 5, axes + 2))
    grid = (batch, *(int(n) for n in rng.integers(1, 5, axes)), axes)
    attributes = {
        "mode": str(rng.choice(modes)), "align_corners": flag(rng),
        "padding_mode": str(rng.choice(["zeros", "border", "reflection"])),
    }  # fmt: skip
    return Call([values(rng, (batch, channels, *sizes)), values(rng, grid)], attributes)


def _affine(rng: Rng) -> Call:
    axes = int(rng.integers(2, 4))
    size = tuple(int(n) for n in rng.integers(2, 5, axes + 2))
    return Call(
        [values(rng, (size[0], axes, axes + 1))], {"size": size, "align_corners": flag(rng)}
    )


def _fractional(axes: int) -> Draw:
    def draw(rng: Rng) -> Call:
        kernel = int(rng.integers(1, 4))
        sizes = tuple(int(n) for n in rng.integers(1, 4, axes))
        shape = (*(int(n) for n in rng.integers(1, 4, 2)), *(n + kernel for n in sizes))
        samples = rng.random((*shape[:2], axes))
        attributes = {"kernel_size": kernel, "output_size": sizes, "samples": samples}
        return Call([distinct(*shape)(rng, float)], attributes)

    return draw


def _their_fractional(axes: int) -> Callable[..., Any]:
    function = getattr(F, f"fractional_max_pool{axes}d_with_indices")

    def call(x: Any, samples: Any, **attributes: Any) -> Any:
        return function(x, **attributes, _random_samples=torch.tensor(samples).to(x.dtype))

    return call


WINDOWS = [
    *(
        Row(f"fractional_max_pool{n}d_with_indices", _their_fractional(n), _fractional(n))
        for n in (2, 3)
    ),
    Row("grid_sample", F.grid_sample, _sampled),
    Row("affine_grid", F.affine_grid, _affine),
    Row("conv1d", _quiet(F.conv1d), _convolution(1)),
    Row("conv2d", _quiet(F.conv2d), _convolution(2)),
    Row("conv3d", _quiet(F.conv3d), _convolution(3)),
    Row("conv_transpose3d", F.conv_transpose3d, _transposed(3)),
    Row("conv2d_grad_x", _their_grad_x, _grad_x),
    Row("conv2d_grad_weight", _their_grad_weight, _grad_weight),
    Row("conv_transpose1d", F.conv_transpose1d, _transposed(1)),
    Row("conv_transpose2d", F.conv_transpose2d, _transposed(2)),
    *(
        Row(f"max_pool{n}d{suffix}", getattr(F, f"max_pool{n}d{suffix}"), _pooling(n, maximum=True))
        for n in (1, 2, 3)
        for suffix in ("", "_with_indices")
    ),
    *(
        Row(f"adaptive_max_pool{n}d{suffix}", _their_maxima(n, suffix), _adaptive(n))
        for n in (1, 2, 3)
        for suffix in ("", "_with_indices")
    ),
    *(Row(f"max_unpool{n}d", getattr(F, f"max_unpool{n}d"), _unpooled(n)) for n in (1, 2, 3)),
    *(Row(f"lp_pool{n}d", getattr(F, f"lp_pool{n}d"), _norms(n)) for n in (1, 2, 3)),
    Row("avg_pool3d", F.avg_pool3d, _pooling(3, maximum=False)),
    Row("adaptive_avg_pool3d", F.adaptive_avg_pool3d, _adaptive(3)),
    Row("unfold", F.unfold, _unfolding),
    Row("fold", F.fold, _folding),
    Row("avg_pool1d", F.avg_pool1d, _pooling(1, maximum=False)),
    Row("avg_pool2d", F.avg_pool2d, _pooling(2, maximum=False)),
    Row("adaptive_avg_pool1d", _their_line, _adaptive(1)),
    Row("adaptive_avg_pool2d", F.adaptive_avg_pool2d, _adaptive(2)),
    Row("interpolate", F.interpolate, _resampled),
    Row("pixel_shuffle", F.pixel_shuffle, _shuffled("upscale_factor", 2, 0)),
    Row("pixel_unshuffle", F.pixel_unshuffle, _shuffled("downscale_factor", 0, 1)),
    Row("channel_shuffle", F.channel_shuffle, _shuffled("groups", 1, 0)),
]
