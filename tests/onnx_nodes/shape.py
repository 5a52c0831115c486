"""Nodes that make, move, join and cut tensors."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from onnx.helper import tensor_dtype_to_np_dtype

import extensor as ex
from extensor import Tensor


def ints(x: Any) -> tuple[int, ...]:
    """A list of ints that ONNX gives as a tensor."""
    return tuple(int(item) for item in x)


def _constant(
    *,
    value: Any = None,
    value_int: int | None = None,
    value_ints: Any = None,
    value_float: float | None = None,
) -> Tensor:
    if value is not None:
        return ex.asarray(value)
    if value_float is not None:
        return ex.tensor(value_float, ex.float32)
    return ex.tensor(value_ints if value_int is None else value_int, ex.int64)


def _constant_of_shape(shape: Tensor, *, value: Any = None) -> Tensor:
    fill = np.zeros(1, np.float32) if value is None else value
    return ex.full(ints(shape), fill[0], fill.dtype)


def _eye_like(x: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    wanted = x.dtype if dtype is None else tensor_dtype_to_np_dtype(dtype)
    return ex.eye(*x.shape, k, wanted)


def _range(start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    return ex.arange(start.item(), limit.item(), delta.item(), start.dtype)


def _one_hot(indices: Tensor, depth: Tensor, values: Tensor, *, axis: int = -1) -> Tensor:
    classes, counted = int(depth.item()), ex.cast(indices, ex.int64)
    chosen = ex.one_hot(ex.where(counted < 0, counted + classes, counted), classes, ex.bool_)
    off, on = values
    return ex.moveaxis(ex.where(chosen, on, off), -1, axis)


def _shape(x: Tensor, *, start: int = 0, end: int | None = None) -> Tensor:
    return ex.tensor(x.shape[start:end], ex.int64)


def _reshape(x: Tensor, shape: Tensor, *, allowzero: int = 0) -> Tensor:
    wanted = ints(shape)
    if not allowzero:
        wanted = tuple(size or x.shape[axis] for axis, size in enumerate(wanted))
    return ex.reshape(x, wanted)


def _flatten(x: Tensor, *, axis: int = 1) -> Tensor:
    first = prod(x.shape[:axis])
    return ex.reshape(x, (first, x.size // first))


def _squeeze(x: Tensor, axes: Tensor | None = None) -> Tensor:
    return ex.squeeze(x, None if axes is None else ints(axes))


def _expand(x: Tensor, shape: Tensor) -> Tensor:
    return ex.broadcast_to(x, ex.broadcast_shapes(x.shape, ints(shape)))


def _split(x: Tensor, split: Tensor | None = None, *, axis: int = 0, num_outputs: int) -> Any:
    """Without sizes in equal parts, of which the last may be smaller."""
    part = -(-x.shape[axis] // num_outputs)
    sizes = (part,) * num_outputs if split is None else ints(split)
    return ex.split(x, [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)], axis)


def _pad(
    x: Tensor,
    pads: Tensor,
    value: Tensor | None = None,
    axes: Tensor | None = None,
    *,
    mode: str = "constant",
) -> Tensor:
    widths = [(0, 0)] * x.ndim
    before_and_after = zip(*np.split(pads.numpy(), 2), strict=True)
    chosen = range(x.ndim) if axes is None else ints(axes)
    for axis, added in zip(chosen, before_and_after, strict=True):
        widths[axis] = added
    return ex.pad(x, widths, mode, 0.0 if value is None else value.item())


def _slice(
    x: Tensor,
    starts: Tensor,
    ends: Tensor,
    axes: Tensor | None = None,
    steps: Tensor | None = None,
) -> Tensor:
    index = [slice(None)] * x.ndim
    chosen = range(len(starts)) if axes is None else ints(axes)
    strides = (1,) * len(starts) if steps is None else ints(steps)
    for axis, start, end, step in zip(chosen, ints(starts), ints(ends), strides, strict=True):
        # An end before the first element, which Python would count from the back.
        stop = None if step < 0 and end < -x.shape[axis] else end
        index[axis] = slice(start, stop, step)
    return x[tuple(index)]


def _depth_to_space(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    n, c, h, w = x.shape
    b, depth = blocksize, c // blocksize**2
    if mode == "DCR":
        parts = ex.transpose(x.reshape(n, b, b, depth, h, w), (0, 3, 4, 1, 5, 2))
    else:
        parts = ex.transpose(x.reshape(n, depth, b, b, h, w), (0, 1, 4, 2, 5, 3))
    return parts.reshape(n, depth, h * b, w * b)


def _space_to_depth(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    n, c, h, w = x.shape
    b = blocksize
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    parts = ex.transpose(x.reshape(n, c, h // b, b, w // b, b), order)
    return parts.reshape(n, c * b * b, h // b, w // b)


def _upsample(x: Tensor, scales: Tensor, *, mode: str = "nearest") -> Tensor:
    for axis, times in enumerate(ints(scales)):
        x = ex.repeat(x, times, axis)
    return x


def _trilu(x: Tensor, k: Tensor | None = None, *, upper: int = 1) -> Tensor:
    diagonal = 0 if k is None else int(k.item())
    return ex.triu(x, diagonal) if upper else ex.tril(x, diagonal)


NODES: dict[str, Any] = {
    "Concat": lambda *tensors, axis: ex.concatenate(tensors, axis),
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "EyeLike": _eye_like,
    "Flatten": _flatten,
    "OneHot": _one_hot,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "Shape": _shape,
    "Size": lambda x: ex.tensor(x.size, ex.int64),
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": lambda x, repeats: ex.tile(x, ints(repeats)),
    "Transpose": lambda x, *, perm=None: ex.transpose(x, perm),
    "Trilu": _trilu,
    "Unsqueeze": lambda x, axes: ex.unsqueeze(x, ints(axes)),
    "Upsample": _upsample,
}
