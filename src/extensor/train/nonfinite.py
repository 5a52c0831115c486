"""Where the first NaN or infinity of a step came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.core import door
from extensor.nn.module import Module
from extensor.nn.preservation import preserve_state


class NotFiniteError(FloatingPointError):
    """Training stopped as a loss, the norm of the gradients or a parameter is NaN or infinite.

    The message names the step, the part of the batch, the parameter or the op that it came from, and
    the last checkpoint. A step whose loss or norm is not finite changes no parameter.

    Examples
    --------
    >>> import extensor as ex
    >>> model = ex.nn.Linear(1, 1)
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    >>> trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, callbacks=[])
    >>> try:
    ...     trainer.fit([[1.0], [float("nan")]], [[1.0], [2.0]], epochs=1, shuffle=False)
    ... except ex.train.NotFiniteError as error:
    ...     print(error)
    step 1 of epoch 1: loss is nan: part 0 of the batch is not finite in sample 1
    """


class _OriginError(Exception):
    """Raised at the op, so that the modules it passes add their path to it."""


def origin_of(
    model: Module, loss: Callable[..., Any], batch: Sequence[Any], compute: Callable[[], Any]
) -> str | None:
    """The part of ``batch``, the tensor of ``model``, or the op of ``compute`` that gave the first.

    ``compute`` must repeat what was done with the batch. None if all is well then.
    """
    for index, part in enumerate(batch):
        row = first_infinite(np.asarray(part))
        if row is not None:
            return f"part {index} of the batch is not finite in sample {row}"
    for name, tensor in model.state_dict().items():
        if _kind(np.asarray(tensor)):
            return f"{name} is not finite since the step before"
    try:
        with preserve_state(model, loss), door.watch(_stop_at_first):
            compute()
    except _OriginError as found:
        return str(found)
    return None


def _stop_at_first(computed: Any) -> None:
    kind = _kind_in(computed.outputs)
    if kind and not _kind_in(computed.inputs):
        raise _OriginError(f"{computed.rule or computed.op} gave {kind} for finite inputs")


def _kind_in(value: Any) -> str:
    """ "NaN" or "infinity" if any of the arrays and numbers in ``value`` is; otherwise nothing."""
    if isinstance(value, list | tuple):
        return next(filter(None, map(_kind_in, value)), "")
    if isinstance(value, np.ndarray):
        return _kind(value)
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if value != value else "infinity"
    return ""


def _kind(array: Any) -> str:
    if not is_floating(array.dtype) or np.isfinite(array).all():
        return ""
    return "NaN" if np.isnan(array).any() else "infinity"


def first_infinite(rows: Any) -> int | None:
    """The first row of an array that has NaN or infinity, or None."""
    if not is_floating(rows.dtype) or rows.ndim == 0 or np.isfinite(rows).all():
        return None
    return int((~np.isfinite(rows.reshape(len(rows), -1)).all(axis=1)).argmax())
