"""Ops that leave the values as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.dtypes import DType, as_dtype
from extensor.arrays.shapes import same
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor


def _check_dtype(name: str, x: Any, dtype: DType) -> None:
    as_dtype(dtype, name)


@op(kernel="cast", shape=same, check=_check_dtype, widen=False)
def cast(xp: Any, x: Array, dtype: DType) -> Any:
    """The same values in another dtype, as a copy. Derivative: ``grad_output`` in the dtype of ``x``.

    >>> import extensor as ex
    >>> ex.cast(ex.tensor([1.5, -2.5]), ex.int32)
    tensor([ 1, -2], dtype=int32)
    """
    with np.errstate(all="ignore"):  # what does not fit is what IEEE 754 and C make of it
        return xp.astype(x, as_dtype(dtype), copy=True)


@cast.backward()
def cast_backward(grad_output: Tensor, input_dtype: DType) -> Tensor:
    """``grad_output`` in the dtype that the input had."""
    return cast(grad_output, input_dtype)


@op(shape=same, widen=False)
def identity(xp: Any, x: Array) -> Any:
    """The same values and the same memory, as a new place on the tape. Derivative: ``grad_output``.

    >>> import extensor as ex
    >>> x = ex.ones(2)
    >>> ex.identity(x).numpy() is x.numpy()
    True
    """
    return x


@identity.backward()
def identity_backward(grad_output: Tensor) -> Tensor:
    """``grad_output`` itself."""
    return grad_output


@op(kernel="clone", shape=same, widen=False)
def clone(xp: Any, x: Array) -> Any:
    """The same values in memory of their own. Derivative: ``grad_output``.

    >>> import extensor as ex
    >>> x = ex.ones(2)
    >>> ex.clone(x).numpy() is x.numpy()
    False
    """
    return xp.asarray(x, copy=True)


@clone.backward()
def clone_backward(grad_output: Tensor) -> Tensor:
    """``grad_output`` itself."""
    return grad_output
