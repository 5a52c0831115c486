"""Batch norm over all micro-batches of a step, where one is being computed that way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import local
from typing import Any

import numpy as np

from extensor.arrays.dtypes import float32
from extensor.core import changes, door
from extensor.core.creation import asarray
from extensor.core.modes import no_grad, switched
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops import concatenate, rsqrt

Adding = Callable[[Tensor], Tensor]
_THOUSANDS = 4096  # in which elements are counted, as float32 has no odd numbers above 2**24


class _Place(local):
    """Of this thread: what adds up a tensor over all micro-batches of the step, if anything does.

    Modules that move their running statistics are noted in ``moved``, if somebody asks for them.
    """

    adding: Adding | None = None
    moved: list[Any] | None = None


_place = _Place()


def adding() -> Adding | None:
    """The function that adds up over micro-batches here; None where a batch stands for itself."""
    return _place.adding


def adding_by(added: Adding) -> AbstractContextManager[None]:
    """Let batch norm in this thread take the statistics of all micro-batches inside the block."""
    return switched(_place, adding=added)


def note_moved(module: Any) -> None:
    """Note that ``module`` has just moved its running statistics."""
    if _place.moved is not None:
        _place.moved.append(module)


def noting_moved(moved: list[Any]) -> AbstractContextManager[None]:
    """Collect the modules that move their running statistics in this thread inside the block."""
    return switched(_place, moved=moved)


def synchronised_batch_norm(
    x: Tensor,
    running: tuple[Tensor | None, Tensor | None],
    weight: Tensor | None,
    bias: Tensor | None,
    momentum: float,
    eps: float,
    added: Adding,
) -> Tensor:
    """As ``batch_norm`` in training, but mean and variance are those of all micro-batches.

    The variance is of differences to the mean of all, for which two sums must be waited for.
    """
    wide = x if x.dtype.itemsize >= float32.itemsize else x.astype(float32)
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    beside = (1, -1, *[1] * (x.ndim - 2))
    size = asarray(divmod(x.size // x.shape[1], _THOUSANDS), wide.dtype)
    # Sums and sizes in one tensor, since each call of ``added`` waits for all micro-batches.
    sums = added(concatenate([wide.sum(axis=axes), size]))
    count = _THOUSANDS * float(sums[-2]) + float(sums[-1])
    if count < 2:
        requirement = "more than 1 value is needed for each variance"
        raise value_error("batch_norm", requirement, x_shape=x.shape)
    mean = sums[:-2] / count
    centred = wide - mean.reshape(beside)
    variance = added((centred * centred).sum(axis=axes)) / count
    output = centred * rsqrt(variance + eps).reshape(beside)
    if weight is not None:
        output = output * weight.reshape(beside)
    if bias is not None:
        output = output + bias.reshape(beside)
    with no_grad():
        _move(running[0], mean, momentum)
        _move(running[1], variance * (count / (count - 1)), momentum)
    return output if output.dtype == x.dtype else output.astype(x.dtype)


def _move(running: Tensor | None, own: Tensor, momentum: float) -> None:
    if running is not None:
        # Into the same memory: state_dict() and other threads share it.
        new: Any = running * (1 - momentum) + own * momentum
        door.setitem(running._array, ..., np.asarray(new))
        changes.mark_all([running._array])
