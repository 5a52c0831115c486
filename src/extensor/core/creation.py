"""Making tensors from nothing: constants, ranges, and arrays of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from extensor.arrays import storage
from extensor.arrays.dtypes import (
    DType,
    as_dtype,
    bool_,
    first_misfit,
    float64,
    get_default_dtype,
    is_floating,
)
from extensor.arrays.shapes import check_possible, target
from extensor.core import modes
from extensor.core.door import namespace
from extensor.core.tensor import Tensor, is_recorded_in, to_array, wrap
from extensor.errors import shown, type_error, value_error
from extensor.errors.explanation import checked, explaining

if TYPE_CHECKING:
    from extensor.typing import TensorLike


def _leaf(array: Any, requires_grad: bool) -> Tensor:
    made = wrap(array)
    if requires_grad is not False:
        made.requires_grad = requires_grad
    return made


def _dtype(op: str, dtype: DType) -> np.dtype[Any]:
    return get_default_dtype() if dtype is None else as_dtype(dtype, op)


def _shape(op: str, *given: Any) -> tuple[int, ...]:
    """The shape, the first of the arguments of a call: the others are no sizes, as they are in PyTorch."""
    shape, dtype, *others = given
    if type(shape) is int and type(dtype) is int:
        sizes = (shape, dtype, *(size for size in others if type(size) is int))
        raise type_error(op, f"shape is one argument, write {op}({sizes})", dtype=dtype)
    return target(op, shape)


def _number(op: str, value: Any, dtype: DType) -> Any:
    if modes.mode.recording and is_recorded_in(value):
        raise type_error(op, "fill_value must not require grad (ex.broadcast_to keeps it)")
    dtype = None if dtype is None else as_dtype(dtype, op)
    if dtype is None or is_floating(dtype):
        return _one(op, to_array(value, dtype, op))
    if hasattr(value, "dtype"):
        value = _one(op, to_array(value, op=op)).item()  # an array would be cast
    misfit = None
    if isinstance(value, float | int):
        misfit = first_misfit(np.asarray(value), dtype, plain=True)
    if misfit is not None:
        raise value_error(op, f"fill_value must fit dtype {dtype}", fill_value=misfit)
    return _one(op, to_array(value, dtype, op))


def _one(op: str, array: Any) -> Any:
    if array.ndim:
        raise value_error(op, "fill_value must be one number", fill_value_shape=array.shape)
    return array


@explaining
def zeros(shape: int | Sequence[int], dtype: DType = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros.

    Parameters
    ----------
    shape : int or sequence of ints
        The shape.
    dtype : dtype_like, optional
        The dtype, by default the default dtype, float32 unless set.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        Zeros in ``shape``.

    Raises
    ------
    ValueError
        If a size is negative.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.zeros((2, 2))
    tensor([[0., 0.],
            [0., 0.]])
    """
    sizes = _shape("zeros", shape, dtype, requires_grad)
    return _leaf(storage.full(sizes, 0, _dtype("zeros", dtype)), requires_grad)


@explaining
def ones(shape: int | Sequence[int], dtype: DType = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones.

    Parameters
    ----------
    shape : int or sequence of ints
        The shape.
    dtype : dtype_like, optional
        The dtype, by default the default dtype, float32 unless set.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        Ones in ``shape``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.ones(3, dtype=ex.int64)
    tensor([1, 1, 1])
    """
    sizes = _shape("ones", shape, dtype, requires_grad)
    return _leaf(storage.full(sizes, 1, _dtype("ones", dtype)), requires_grad)


@explaining
def full(
    shape: int | Sequence[int],
    fill_value: TensorLike,
    dtype: DType = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor with one value in every element.

    Parameters
    ----------
    shape : int or sequence of ints
        The shape.
    fill_value : tensor_like
        The value: a number or a tensor of one element without axes.
    dtype : dtype_like, optional
        The dtype, by default that of ``fill_value``.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        The value in ``shape``.

    Raises
    ------
    ValueError
        If ``fill_value`` has axes or does not fit an integer ``dtype``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.full((2, 2), 0.5)
    tensor([[0.5, 0.5],
            [0.5, 0.5]])
    """
    value = _number("full", fill_value, dtype)
    return _leaf(storage.full(target("full", shape), value, value.dtype), requires_grad)


@explaining
def empty(shape: int | Sequence[int], dtype: DType = None, requires_grad: bool = False) -> Tensor:
    """A tensor whose elements are not set; write to them before reading.

    Parameters
    ----------
    shape : int or sequence of ints
        The shape.
    dtype : dtype_like, optional
        The dtype, by default the default dtype, float32 unless set.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        Memory in ``shape``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.empty((2, 3)).shape
    (2, 3)
    """
    sizes = _shape("empty", shape, dtype, requires_grad)
    return _leaf(storage.empty(sizes, _dtype("empty", dtype)), requires_grad)


@explaining
def zeros_like(x: TensorLike, dtype: DType = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape and dtype of another tensor.

    Parameters
    ----------
    x : tensor_like
        The tensor whose shape and dtype to take.
    dtype : dtype_like, optional
        Another dtype.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        Zeros in the shape of ``x``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.zeros_like([1.0, 2.0])
    tensor([0., 0.])
    """
    return full_like(x, 0, dtype, requires_grad)


@explaining
def ones_like(x: TensorLike, dtype: DType = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape and dtype of another tensor.

    Parameters
    ----------
    x : tensor_like
        The tensor whose shape and dtype to take.
    dtype : dtype_like, optional
        Another dtype.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        Ones in the shape of ``x``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.ones_like([1.0, 2.0])
    tensor([1., 1.])
    """
    return full_like(x, 1, dtype, requires_grad)


@explaining
def full_like(
    x: TensorLike, fill_value: TensorLike, dtype: DType = None, requires_grad: bool = False
) -> Tensor:
    """One value in the shape and dtype of another tensor.

    Parameters
    ----------
    x : tensor_like
        The tensor whose shape and dtype to take.
    fill_value : tensor_like
        The value: a number or a tensor of one element without axes.
    dtype : dtype_like, optional
        Another dtype.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        The value in the shape of ``x``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.full_like([1.0, 2.0], 7)
    tensor([7., 7.])
    """
    like = to_array(x, op="full_like")
    dtype = like.dtype if dtype is None else as_dtype(dtype, "full_like")
    if not is_floating(dtype):
        fill_value = _number("full_like", fill_value, dtype)
    elif type(fill_value) is not int and type(fill_value) is not float:
        fill_value = _number("full_like", fill_value, None)
    if isinstance(like, np.ndarray):
        return _leaf(storage.full(like.shape, fill_value, dtype), requires_grad)
    filled = namespace(like).full_like(like, fill_value, dtype=dtype)
    return _leaf(filled, requires_grad)


@explaining
def empty_like(x: TensorLike, dtype: DType = None, requires_grad: bool = False) -> Tensor:
    """Unset elements in the shape and dtype of another tensor.

    Parameters
    ----------
    x : tensor_like
        The tensor whose shape and dtype to take.
    dtype : dtype_like, optional
        Another dtype.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        Memory in the shape of ``x``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.empty_like([1.0, 2.0]).shape
    (2,)
    """
    like = to_array(x, op="empty_like")
    return empty(like.shape, like.dtype if dtype is None else dtype, requires_grad)


@checked
def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: DType = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers from ``start`` up to, not including, ``stop``; ``arange(n)`` counts from 0.

    Parameters
    ----------
    start : float
        The first number, or the end if ``stop`` is not given.
    stop : float, optional
        The end, which is not included.
    step : float, default 1
        The distance between neighbours. It may be negative.
    dtype : dtype_like, optional
        The dtype, by default int64 for ints and the default dtype for floats.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        The numbers, along one axis.

    Raises
    ------
    ValueError
        If ``step`` is 0 or a number is not finite.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.arange(3)
    tensor([0, 1, 2])
    >>> ex.arange(1, 2, 0.25)
    tensor([1.  , 1.25, 1.5 , 1.75])
    """
    # NumPy's integers of few bits would overflow in what is computed of them here.
    start, step = _as_number(start), _as_number(step)
    stop = None if stop is None else _as_number(stop)
    if step == 0:
        raise value_error("arange", "step must not be 0", step=step)
    if stop is None:
        start, stop = 0, start
    if not all(isfinite(x) for x in (start, stop, step)):
        requirement = "start, stop and step must be finite"
        raise value_error("arange", requirement, start=start, stop=stop, step=step)
    if not abs(stop - start) < 2**60 * abs(step):
        requirement = "the result must have fewer than 2**60 elements"
        raise value_error("arange", requirement, start=start, stop=stop, step=step)
    array = np.arange(start, stop, step)
    if dtype is not None or is_floating(array.dtype):
        array = _as_range_dtype("arange", array, _dtype("arange", dtype))
    return _leaf(array, requires_grad)


def _as_number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


@checked
def linspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    dtype: DType = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers evenly spaced from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop : float
        The first and the last number.
    num : int, default 50
        How many numbers.
    endpoint : bool, default True
        Whether ``stop`` is the last number, or the one after it.
    dtype : dtype_like, optional
        The dtype, by default the default dtype.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        The numbers, along one axis.

    Raises
    ------
    ValueError
        If ``num`` is negative.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.linspace(0, 1, 3)
    tensor([0. , 0.5, 1. ])
    """
    if num < 0:
        raise value_error("linspace", "num must be 0 or more", num=num)
    target("linspace", num, "num")
    with np.errstate(all="ignore"):
        array = np.linspace(start, stop, num, endpoint=endpoint, dtype=float64)
    return _leaf(_as_range_dtype("linspace", array, _dtype("linspace", dtype)), requires_grad)


def _as_range_dtype(op: str, array: Any, dtype: DType) -> Any:
    """Evenly spaced numbers in the dtype asked for, which must have them."""
    if dtype == bool_:
        raise type_error(op, "dtype must be one of numbers", dtype=str(dtype))
    if not is_floating(dtype) and array.size:
        low, high = min(array[0], array[-1]), max(array[0], array[-1])
        limits = np.iinfo(dtype)
        if not (limits.min <= low and high <= limits.max):
            got = {"first": array[0].item(), "last": array[-1].item()}
            raise value_error(op, f"all numbers must fit dtype {dtype}", **got)
    return array.astype(dtype)


@checked
def eye(
    n: int, m: int | None = None, k: int = 0, dtype: DType = None, requires_grad: bool = False
) -> Tensor:
    """Ones on a diagonal of a matrix, zeros elsewhere.

    Parameters
    ----------
    n : int
        The number of rows.
    m : int, optional
        The number of columns, by default ``n``.
    k : int, default 0
        The number of the diagonal: 0 is the main one, positive ones are above it.
    dtype : dtype_like, optional
        The dtype, by default the default dtype.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        The matrix, of shape (n, m).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    rows, columns = target("eye", (n, n if m is None else m), "n, m")
    k = max(-rows, min(k, columns))
    return _leaf(np.eye(rows, columns, k, _dtype("eye", dtype)), requires_grad)


@explaining
def asarray(data: TensorLike, dtype: DType = None) -> Tensor:
    """``data`` as a tensor, sharing its memory where it can.

    Parameters
    ----------
    data : tensor_like
        A number, nested lists, an array or a tensor.
    dtype : dtype_like, optional
        The dtype. Without one arrays keep theirs and Python floats get the default dtype.

    Returns
    -------
    Tensor
        ``data`` itself if it is a tensor of this dtype, else a new tensor.

    Examples
    --------
    >>> import extensor as ex
    >>> import numpy as np
    >>> array = np.zeros(2)
    >>> x = ex.asarray(array)
    >>> array[0] = 1
    >>> x
    tensor([1., 0.], dtype=float64)
    """
    return (
        data
        if isinstance(data, Tensor) and dtype is None
        else wrap(to_array(data, dtype, "asarray"))
    )


def from_dlpack(x: Any) -> Tensor:
    """A tensor on the memory of any object that supports DLPack, without a copy.

    Parameters
    ----------
    x : object with ``__dlpack__``
        An array or tensor of NumPy, PyTorch or another library, on the CPU.

    Returns
    -------
    Tensor
        A tensor that shares the memory.

    Raises
    ------
    TypeError
        If ``x`` does not support DLPack or NumPy cannot share its memory.

    Examples
    --------
    >>> import extensor as ex
    >>> import numpy as np
    >>> ex.from_dlpack(np.arange(3))
    tensor([0, 1, 2])
    """
    if not hasattr(x, "__dlpack__"):
        raise type_error("from_dlpack", "x must have __dlpack__", x=type(x).__name__)
    try:
        array = np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        requirement = "x must be memory that NumPy can share"
        raise type_error("from_dlpack", requirement, x=shown(x)) from error
    return wrap(to_array(array, op="from_dlpack"))


@explaining
def one_hot(indices: TensorLike, num_classes: int | None = None, dtype: DType = None) -> Tensor:
    """A 1 at each index along a new last axis, zeros elsewhere.

    Parameters
    ----------
    indices : tensor_like of ints
        Class indices of any shape.
    num_classes : int, optional
        The size of the new axis, by default the largest index plus 1.
    dtype : dtype_like, optional
        The dtype, by default the default dtype.

    Returns
    -------
    Tensor
        Of shape ``(*indices.shape, num_classes)``.

    Raises
    ------
    ValueError
        If an index is negative or not below ``num_classes``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.one_hot([0, 2], 3)
    tensor([[1., 0., 0.],
            [0., 0., 1.]])
    """
    classes = to_array(indices, op="one_hot")
    if is_floating(classes.dtype):
        raise type_error("one_hot", "indices must be integers", dtype=str(classes.dtype))
    if num_classes is None:
        num_classes = int(classes.max()) + 1 if classes.size else 0
    if classes.size and not (classes.min() >= 0 and classes.max() < num_classes):
        worst = classes.max() if classes.min() >= 0 else classes.min()
        raise value_error("one_hot", f"indices must be in [0, {num_classes - 1}]", index=int(worst))
    target("one_hot", num_classes, "num_classes")
    check_possible("one_hot", (*classes.shape, num_classes))
    return wrap((classes[..., None] == np.arange(num_classes)).astype(_dtype("one_hot", dtype)))
