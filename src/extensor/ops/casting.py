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

    Parameters
    ----------
    dtype
        The dtype of the result.

    Returns
    -------
    Tensor
        A copy of ``x`` in ``dtype``.

    Raises
    ------
    TypeError
        If ``dtype`` is not supported.

    >>> import extensor as ex
    >>> ex.cast(ex.tensor([1.5, -2.5]), ex.int32)
    tensor([ 1, -2], dtype=int32)
    >>> ex.cast([1.7, -1.7], ex.int32)
    tensor([ 1, -1], dtype=int32)
    >>> ex.cast_backward(ex.tensor([1.0], ex.float64), ex.float32).dtype
    dtype('float32')
    """
    with np.errstate(all="ignore"):  # what does not fit is what IEEE 754 and C make of it
        return xp.astype(x, as_dtype(dtype), copy=True)


@cast.backward(kernel="cast", unfolds=True)
def cast_backward(grad_output: Tensor, input_dtype: DType) -> Tensor:
    """``grad_output`` in the dtype that the input had."""
    return cast(grad_output, input_dtype)


@op(kernel="identity", shape=same, widen=False)
def identity(xp: Any, x: Array) -> Any:
    """The same values and the same memory, as a new place on the tape. Derivative: ``grad_output``.

    Returns
    -------
    Tensor
        A new tensor on the memory of ``x``.

    >>> import extensor as ex
    >>> x = ex.ones(2)
    >>> ex.identity(x).numpy() is x.numpy()
    True
    >>> ex.identity([1.0, 2.0])
    tensor([1., 2.])
    >>> ex.identity_backward([1.0, 2.0])
    tensor([1., 2.])
    """
    return x


@identity.backward(kernel="identity", unfolds=True)
def identity_backward(grad_output: Tensor) -> Tensor:
    """``grad_output`` itself."""
    return grad_output


@op(kernel="clone", shape=same, widen=False)
def clone(xp: Any, x: Array) -> Any:
    """The same values in memory of their own. Derivative: ``grad_output``.

    Returns
    -------
    Tensor
        A copy of ``x``.

    >>> import extensor as ex
    >>> x = ex.ones(2)
    >>> ex.clone(x).numpy() is x.numpy()
    False
    >>> ex.clone([1.0, 2.0])
    tensor([1., 2.])
    >>> ex.clone_backward([1.0, 2.0])
    tensor([1., 2.])
    """
    return xp.asarray(x, copy=True)


@clone.backward()
def clone_backward(grad_output: Tensor) -> Tensor:
    """``grad_output`` itself."""
    return grad_output
