"""Products in 16 bits inside a block."""

from __future__ import annotations

import warnings
from contextlib import ContextDecorator

from extensor.arrays.dtypes import DType, as_dtype, bfloat16, is_bfloat16, is_half
from extensor.core import door, precision
from extensor.errors import type_error
from extensor.errors.explanation import explaining


class autocast(ContextDecorator):  # noqa: N801  as PyTorch has it
    """Compute matrix products and convolutions in ``dtype``, in a block or a decorated function.

    Parameters stay float32: each product rounds its inputs to 16 bits, sums in float32 and gives 16
    bits; gradients come back in float32. Losses, normalizations, softmax and sums compute in float32.
    The backward pass needs no block around it. bfloat16 has the range of float32 and needs nothing
    else; with float16 small gradients vanish unless a :class:`GradScaler` is used.

    Parameters
    ----------
    dtype : dtype_like, optional
        bfloat16, the default, or float16.
    enabled : bool, default True
        Whether the block changes anything.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.ones((2, 2), requires_grad=True)
    >>> with ex.amp.autocast("float16"):
    ...     y = ex.matmul(w, w)
    >>> y.dtype
    dtype('float16')
    >>> y.sum().backward()
    >>> w.grad.dtype
    dtype('float32')
    """

    @explaining
    def __init__(self, dtype: DType = None, enabled: bool = True) -> None:
        chosen = bfloat16() if dtype is None else as_dtype(dtype, "autocast")
        if not is_half(chosen):
            raise type_error("autocast", "dtype must be bfloat16 or float16", dtype=str(chosen))
        self.dtype = chosen if enabled else None
        self._outer: list[tuple[DType, bool]] = []

    def __enter__(self) -> autocast:
        if self.dtype is not None:
            _say_once_where_it_is_not_faster(self.dtype)
        self._outer.append(precision.switch(self.dtype))
        return self

    def __exit__(self, *error: object) -> None:
        precision.restore(self._outer.pop())


_said: list[bool] = []


def _say_once_where_it_is_not_faster(dtype: DType) -> None:
    has_units = door.multiplies_bfloat16() and is_bfloat16(dtype)
    if not has_units and not _said:
        _said.append(True)
        warnings.warn(
            "autocast: products of 16-bit floats run in float32 units here, so they save memory, "
            "not time",
            stacklevel=3,
        )
