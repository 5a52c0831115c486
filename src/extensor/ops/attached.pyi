"""The methods that ops attach to Tensor. Written by tools/exports.py from the registry."""

from collections.abc import Sequence
from typing import Literal, overload, Self

from extensor._native import TensorBase
from extensor.core.tensor import Tensor
from extensor.ops.indexing import At
from extensor.typing import DTypeLike, Index, TensorLike

class Attached(TensorBase):
    @property
    def T(self) -> Tensor:
        """The transpose: all axes in reverse order."""
    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
    @property
    def at(self) -> At:
        """``x.at[index].set(values)`` and ``x.at[index].add(values)`` give a changed copy."""
    def abs(self) -> Tensor:
        """The magnitude of ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def acos(self) -> Tensor:
        """The angle in [0, pi] whose cosine is ``x``; NaN outside [-1, 1].

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def acosh(self) -> Tensor:
        """The number from 0 upwards whose hyperbolic cosine is ``x``; NaN below 1.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def add(self, b: TensorLike) -> Tensor:
        """The sum ``a + b``.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def all(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """True if every element over ``axis`` is true (not 0); True over nothing.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.

        Notes
        -----
        The result has no gradient.
        """
    def any(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """True if an element over ``axis`` is true (not 0); False over nothing.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.

        Notes
        -----
        The result has no gradient.
        """
    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """The index of the first largest element along ``axis``, or of all; NaN counts as largest.

        Parameters
        ----------
        axis : int, optional
            The axis to search along. By default all elements are searched, as if flattened.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The indices, of dtype int64, in the shape of ``x`` without ``axis``, or with size 1
            there.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or there is no element to choose.

        Notes
        -----
        The result has no gradient.
        """
    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """The index of the first smallest element along ``axis``, or of all; NaN counts as smallest.

        Parameters
        ----------
        axis : int, optional
            The axis to search along. By default all elements are searched, as if flattened.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The indices, of dtype int64, in the shape of ``x`` without ``axis``, or with size 1
            there.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or there is no element to choose.

        Notes
        -----
        The result has no gradient.
        """
    def argsort(self, axis: int = -1, descending: bool = False) -> Tensor:
        """The indices that sort ``x`` along ``axis``; equal elements stay in their order.

        Parameters
        ----------
        axis : int, default -1
            The axis to sort along.
        descending : bool, default False
            Whether the largest elements come first.

        Returns
        -------
        Tensor
            The indices, of dtype int64, in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``axis`` is out of range.

        Notes
        -----
        The result has no gradient.
        """
    def asin(self) -> Tensor:
        """The angle in [-pi/2, pi/2] whose sine is ``x``; NaN outside [-1, 1].

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def asinh(self) -> Tensor:
        """The number whose hyperbolic sine is ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def astype(self, dtype: DTypeLike) -> Tensor:
        """The same values in another dtype, as a copy.

        Parameters
        ----------
        dtype : dtype_like
            The dtype of the result.

        Returns
        -------
        Tensor
            A copy of ``x`` in ``dtype``.

        Raises
        ------
        TypeError
            If ``dtype`` is not supported.
        """
    def atan(self) -> Tensor:
        """The angle in [-pi/2, pi/2] whose tangent is ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def atanh(self) -> Tensor:
        """The number whose hyperbolic tangent is ``x``; NaN outside [-1, 1].

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def bitwise_and(self, b: TensorLike) -> Tensor:
        """The bits that both have; of booleans, whether both are true.

        Parameters
        ----------
        a, b : tensor_like
            Integers or booleans.

        Returns
        -------
        Tensor
            The bits, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        TypeError
            If an operand is floating.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def bitwise_not(self) -> Tensor:
        """The complement of every bit; of booleans, whether it is false.

        Returns
        -------
        Tensor
            The bits, in the shape of ``x``.

        Raises
        ------
        TypeError
            If ``x`` is floating.

        Notes
        -----
        The result has no gradient.
        """
    def bitwise_or(self, b: TensorLike) -> Tensor:
        """The bits that either has; of booleans, whether either is true.

        Parameters
        ----------
        a, b : tensor_like
            Integers or booleans.

        Returns
        -------
        Tensor
            The bits, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        TypeError
            If an operand is floating.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def bitwise_xor(self, b: TensorLike) -> Tensor:
        """The bits that exactly one has; of booleans, whether exactly one is true.

        Parameters
        ----------
        a, b : tensor_like
            Integers or booleans.

        Returns
        -------
        Tensor
            The bits, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        TypeError
            If an operand is floating.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def broadcast_to(self, shape: int | Sequence[int]) -> Tensor:
        """``x`` stretched to ``shape``, as a read-only view.

        Parameters
        ----------
        shape : int or sequence of ints
            The shape of the result.

        Returns
        -------
        Tensor
            ``x`` in ``shape``, without a copy. It cannot be written to.

        Raises
        ------
        ValueError
            If ``x`` does not broadcast to ``shape``.
        """
    def ceil(self) -> Tensor:
        """The smallest whole number not below ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def clip(self, min_val: float | None, max_val: float | None) -> Tensor:
        """``x`` limited to ``[min_val, max_val]``.

        If ``min_val`` exceeds ``max_val``, every element becomes ``max_val``.

        Parameters
        ----------
        min_val, max_val : float
            The bounds; None for no bound.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def clone(self) -> Tensor:
        """The same values in memory of their own.

        Returns
        -------
        Tensor
            A copy of ``x``.
        """
    def copysign(self, b: TensorLike) -> Tensor:
        """The magnitude of ``a`` with the sign of ``b``.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def cos(self) -> Tensor:
        """The cosine.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def cosh(self) -> Tensor:
        """The hyperbolic cosine.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def count_nonzero(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False
    ) -> Tensor:
        """The number of elements over ``axis`` that are not 0.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.

        Notes
        -----
        The result has no gradient.
        """
    def cummax(self, axis: int = 0) -> tuple[Tensor, Tensor]:
        """The largest of each element and all before it along ``axis``, and its index.

        Of equal elements the last is taken; NaN counts as largest.

        Parameters
        ----------
        axis : int, default 0
            The axis to go along.

        Returns
        -------
        tuple of Tensor
            The running maxima, and their indices of dtype int64, both in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``axis`` is out of range.
        """
    def cummin(self, axis: int = 0) -> tuple[Tensor, Tensor]:
        """The smallest of each element and all before it along ``axis``, and its index.

        Of equal elements the last is taken; NaN counts as smallest.

        Parameters
        ----------
        axis : int, default 0
            The axis to go along.

        Returns
        -------
        tuple of Tensor
            The running minima, and their indices of dtype int64, both in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``axis`` is out of range.
        """
    def cumprod(self, axis: int = 0) -> Tensor:
        """The product of each element and all before it along ``axis``.

        Parameters
        ----------
        axis : int, default 0
            The axis to go along.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``axis`` is out of range.
        """
    def cumsum(self, axis: int = 0) -> Tensor:
        """The sum of each element and all before it along ``axis``.

        Parameters
        ----------
        axis : int, default 0
            The axis to sum along.

        Returns
        -------
        Tensor
            The running sums, in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``axis`` is out of range.
        """
    def diag(self, k: int = 0) -> Tensor:
        """A matrix with ``x`` on diagonal ``k``, or, if ``x`` is a matrix, its diagonal ``k``.

        Parameters
        ----------
        k : int, default 0
            The number of the diagonal: 0 is the main one, positive ones are above it.

        Returns
        -------
        Tensor
            A square matrix for a vector, a vector for a matrix.

        Raises
        ------
        ValueError
            If ``x`` has neither one nor two axes.
        """
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """A diagonal of two axes of ``x``, as the last axis of the result.

        Parameters
        ----------
        offset : int, default 0
            The number of the diagonal: 0 is the main one, positive ones are above it.
        axis1 : int, default 0
            The axes of the rows and of the columns.
        axis2 : int, default 1
            The axes of the rows and of the columns.

        Returns
        -------
        Tensor
            The diagonals. Their axis stands behind all others.

        Raises
        ------
        ValueError
            If the axes are out of range or the same.
        """
    def digamma(self) -> Tensor:
        """The derivative of ``lgamma``; -inf at 0, NaN at -1, -2, ...

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def divide(self, b: TensorLike) -> Tensor:
        """The quotient ``a / b``. Infinite or NaN where ``b`` is 0.

        The rule lifts a ``b`` whose magnitude is below ``eps`` to ``eps``, and leaves every other alone.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def dot(self, b: TensorLike) -> Tensor:
        """The scalar product of two vectors, ``sum(a * b)``.

        Parameters
        ----------
        a, b : tensor_like, (n,)
            The vectors.

        Returns
        -------
        Tensor
            The product, with no axis.

        Raises
        ------
        ValueError
            If ``a`` and ``b`` are not vectors of one length.
        """
    def equal(self, b: TensorLike) -> Tensor:
        """True where ``a == b``, element by element.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def erf(self) -> Tensor:
        """The error function.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def erfc(self) -> Tensor:
        """The complementary error function ``1 - erf(x)``, with all its digits where it is tiny.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def erfinv(self) -> Tensor:
        """The inverse of the error function; infinite at -1 and 1, NaN outside.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def exp(self) -> Tensor:
        """The exponential, ``e ** x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def exp2(self) -> Tensor:
        """``2 ** x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def expand_dims(self, axis: int | Sequence[int]) -> Tensor:
        """``x`` with new axes of size 1.

        Parameters
        ----------
        axis : int or sequence of ints
            The places of the new axes among those of the result.

        Returns
        -------
        Tensor
            ``x`` in its new shape, as a view.

        Raises
        ------
        ValueError
            If an axis is out of range or named twice.
        """
    def expm1(self) -> Tensor:
        """``e ** x - 1``, accurate near 0 too.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def flatten(self, start_axis: int = 0, end_axis: int = -1) -> Tensor:
        """The axes from ``start_axis`` to ``end_axis``, both included, as one.

        Parameters
        ----------
        start_axis : int, default 0
            The first and the last axis to join.
        end_axis : int, default -1
            The first and the last axis to join.

        Returns
        -------
        Tensor
            ``x`` with these axes as one: a view where the memory allows it.

        Raises
        ------
        ValueError
            If an axis is out of range or ``start_axis`` is behind ``end_axis``.
        """
    def flip(self, axis: int | Sequence[int] | None = None) -> Tensor:
        """``x`` in reverse order along axes.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reverse, by default all.

        Returns
        -------
        Tensor
            The elements in reverse order, in the shape of ``x``, as a view.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.
        """
    def floor(self) -> Tensor:
        """The largest whole number not above ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def floor_divide(self, b: TensorLike) -> Tensor:
        """The quotient rounded down, ``floor(a / b)``.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def fmod(self, b: TensorLike) -> Tensor:
        """The remainder of ``a / b`` with the sign of ``a``, as in C.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def gather(self, indices: TensorLike, axis: int) -> Tensor:
        """Elements of ``x`` at ``indices`` along ``axis``, line by line.

        This is NumPy's ``take_along_axis``: the other axes broadcast.

        Parameters
        ----------
        indices : tensor_like, ints with as many axes as ``x``
            The positions along ``axis``; negative ones count from the end.
        axis : int
            The axis of the positions.

        Returns
        -------
        Tensor
            The elements, in the shape of ``indices``.

        Raises
        ------
        ValueError
            If an index or ``axis`` is out of range.
        """
    def greater(self, b: TensorLike) -> Tensor:
        """True where ``a > b``, element by element.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def greater_equal(self, b: TensorLike) -> Tensor:
        """True where ``a >= b``, element by element.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def hypot(self, b: TensorLike) -> Tensor:
        """``sqrt(a**2 + b**2)``, without overflow.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def identity(self) -> Tensor:
        """The same values and the same memory, as a new place on the tape.

        Returns
        -------
        Tensor
            A new tensor on the memory of ``x``.
        """
    def index_select(self, indices: TensorLike, axis: int) -> Tensor:
        """The slices of ``x`` at the 1-D ``indices`` along ``axis``.

        Parameters
        ----------
        indices : tensor_like, (n,), ints
            The positions; negative ones count from the end.
        axis : int
            The axis of the positions.

        Returns
        -------
        Tensor
            The slices, with ``n`` elements along ``axis``.

        Raises
        ------
        ValueError
            If an index or ``axis`` is out of range.
        """
    def isfinite(self) -> Tensor:
        """True where ``x`` is neither NaN nor infinite.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Notes
        -----
        The result has no gradient.
        """
    def isinf(self) -> Tensor:
        """True where ``x`` is infinite.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Notes
        -----
        The result has no gradient.
        """
    def isnan(self) -> Tensor:
        """True where ``x`` is NaN.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Notes
        -----
        The result has no gradient.
        """
    def kthvalue(self, k: int, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
        """The ``k``-th smallest element along ``axis``, and its index; NaN counts as largest.

        Of equal elements the first comes first.

        Parameters
        ----------
        k : int
            The rank, from 1 on.
        axis : int, default -1
            The axis to search along.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        tuple of Tensor
            The elements, and their indices of dtype int64.

        Raises
        ------
        ValueError
            If ``k`` or ``axis`` is out of range.
        """
    def lerp(self, end: TensorLike, weight: TensorLike) -> Tensor:
        """The point between ``start`` and ``end``, ``start + weight * (end - start)``; exact at both.

        Parameters
        ----------
        start, end : tensor_like
            The points at the weights 0 and 1.
        weight : tensor_like
            How far along. All three broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which all three broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def less(self, b: TensorLike) -> Tensor:
        """True where ``a < b``, element by element.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def less_equal(self, b: TensorLike) -> Tensor:
        """True where ``a <= b``, element by element.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def lgamma(self) -> Tensor:
        """The logarithm of the magnitude of the gamma function; inf at 0, -1, -2, ...

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def log(self) -> Tensor:
        """The natural logarithm. -inf at 0, NaN below.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def log10(self) -> Tensor:
        """The logarithm to base 10. -inf at 0, NaN below.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def log1p(self) -> Tensor:
        """``ln(1 + x)``, accurate near 0 too. -inf at -1, NaN below.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def log2(self) -> Tensor:
        """The logarithm to base 2. -inf at 0, NaN below.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def log_softmax(self, axis: int = -1) -> Tensor:
        """The logarithm of `softmax`, ``x - log(sum(exp(x)))`` over ``axis``, without overflow.

        Parameters
        ----------
        axis : int, default -1
            The axis whose probabilities are to sum to 1.

        Returns
        -------
        Tensor
            Log-probabilities, in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``axis`` is out of range.
        """
    def logcumsumexp(self, axis: int = 0) -> Tensor:
        """The logarithm of the running sum of ``exp(x)`` along ``axis``, without overflow.

        Parameters
        ----------
        axis : int, default 0
            The axis to go along.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``axis`` is out of range.
        """
    def logical_and(self, b: TensorLike) -> Tensor:
        """True where both are true (not 0).

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def logical_not(self) -> Tensor:
        """True where ``x`` is false (0).

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Notes
        -----
        The result has no gradient.
        """
    def logical_or(self, b: TensorLike) -> Tensor:
        """True where either is true (not 0).

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def logical_xor(self, b: TensorLike) -> Tensor:
        """True where exactly one is true (not 0).

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def logsumexp(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """``log(sum(exp(x)))`` over ``axis``, without overflow.

        -inf over nothing and over elements that are all -inf, where the derivative is 0.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.
        """
    def masked_fill(self, mask: TensorLike, value: float) -> Tensor:
        """A copy of ``x`` with ``value`` where ``mask`` is true.

        Parameters
        ----------
        mask : tensor_like, bools
            Where to write ``value``. It broadcasts with ``x``.
        value : float
            The number to write.

        Returns
        -------
        Tensor
            The copy, in the shape to which ``x`` and ``mask`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def matmul(self, b: TensorLike) -> Tensor:
        """The matrix product ``a @ b``.

        A vector on the left is a row, on the right a column, whose axis is gone from the result;
        axes before the last two are a batch and broadcast.

        Parameters
        ----------
        b : tensor_like, (..., k, m) or (k,)
            The right matrix, or a batch of them.

        Returns
        -------
        Tensor
            The product, of shape (..., n, m).

        Raises
        ------
        ValueError
            If the inner dimensions differ, the batches do not broadcast, or an operand has no axis.
        """
    def max(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The largest element over ``axis``, NaN if there is one (``max`` is the same function).

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice, or if a reduced axis has size 0.
        """
    def max_reduce(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The largest element over ``axis``, NaN if there is one (``max`` is the same function).

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice, or if a reduced axis has size 0.
        """
    def maximum(self, b: TensorLike) -> Tensor:
        """The larger of ``a`` and ``b``; NaN if either is.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The mean over ``axis``, NaN over nothing.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.
        """
    def median(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The middle element over ``axis``, or the mean of the two middle ones, as in NumPy.

        NaN if an element is.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice, or if a reduced axis has size 0.
        """
    def min(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The smallest element over ``axis``, NaN if there is one (``min`` is the same function).

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice, or if a reduced axis has size 0.
        """
    def min_reduce(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The smallest element over ``axis``, NaN if there is one (``min`` is the same function).

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice, or if a reduced axis has size 0.
        """
    def minimum(self, b: TensorLike) -> Tensor:
        """The smaller of ``a`` and ``b``; NaN if either is.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def modulo(self, b: TensorLike) -> Tensor:
        """The remainder of ``a / b`` with the sign of ``b``.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def moveaxis(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
        """``x`` with axes moved from ``source`` to ``destination``.

        Parameters
        ----------
        source : int or sequence of ints
            The axes to move.
        destination : int or sequence of ints
            Their new places, as many as there are in ``source``.

        Returns
        -------
        Tensor
            ``x`` in its new shape, as a view.

        Raises
        ------
        ValueError
            If an axis is out of range or named twice.
        """
    def multiply(self, b: TensorLike) -> Tensor:
        """The product ``a * b``, element by element.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def nan_to_num(
        self, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
    ) -> Tensor:
        """``x`` with NaN and infinities replaced by numbers.

        Parameters
        ----------
        nan : float, default 0.0
            What stands for NaN.
        posinf, neginf : float, optional
            What stands for the infinities, by default the largest and the smallest number of the dtype.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def nanmean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The mean over ``axis`` of the elements that are not NaN, NaN if there are none.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.
        """
    def nansum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The sum over ``axis`` of the elements that are not NaN.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.
        """
    def negative(self) -> Tensor:
        """The negative, ``-x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def nonzero(self) -> tuple[Tensor, ...]:
        """The indices of the elements that are not 0, one tensor for each axis, as in NumPy.

        A 0-d tensor counts as a line of one element.

        Returns
        -------
        tuple of Tensor
            The indices along each axis, of dtype int64, in the order of the elements.

        Notes
        -----
        The result has no gradient.
        """
    def norm(
        self, ord: float = 2, axis: int | Sequence[int] | None = None, keepdims: bool = False
    ) -> Tensor:
        """The p-norm over ``axis``, ``sum(abs(x)**ord)**(1 / ord)``.

        For ``ord=inf`` it is the largest magnitude.

        Parameters
        ----------
        ord : float, default 2
            The order of the norm.
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The norms, in the shape of ``x`` without the reduced axes, or with size 1 there.

        Raises
        ------
        ValueError
            If ``ord`` is not possible or ``axis`` is out of range.
        """
    def not_equal(self, b: TensorLike) -> Tensor:
        """True where ``a != b``, element by element.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.

        Notes
        -----
        The result has no gradient.

        Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
        """
    def outer(self, b: TensorLike) -> Tensor:
        """The outer product of two vectors, ``a[i] * b[j]`` for all i and j.

        Parameters
        ----------
        b : tensor_like, (m,)
            The vector along the second axis.

        Returns
        -------
        Tensor
            The products, of shape (n, m).
        """
    def pad(
        self,
        pad_width: int | Sequence[int] | Sequence[Sequence[int]],
        mode: Literal["constant", "reflect", "symmetric", "edge", "replicate", "wrap", "circular"] = "constant",
        value: float = 0.0,
    ) -> Tensor:
        """``x`` with elements added before and after each axis.

        Parameters
        ----------
        pad_width : int or sequence of ints or sequence of sequences of ints
            As in NumPy: a number for all sides, a pair (before, after) for all axes, or such a pair
            for each axis.
        mode : {'constant', 'reflect', 'symmetric', 'edge', 'replicate', 'wrap', 'circular'}, default 'constant'
            Which elements are added. "constant": ``value``; "reflect": the mirror image without the
            edge; "symmetric": with the edge; "edge" or "replicate": the last element; "wrap" or
            "circular": those of the other end.
        value : float, default 0.0
            The element that "constant" adds.

        Returns
        -------
        Tensor
            The longer tensor.

        Raises
        ------
        ValueError
            If ``pad_width`` does not fit the axes, or an axis is too short for ``mode``.
        """
    def power(self, b: TensorLike) -> Tensor:
        """``a`` to the power ``b``, for any real exponent.

        The derivative in ``b`` is 0 where ``a`` is 0 and ``b`` is not negative, -inf where ``a`` is 0
        and ``b`` is negative, and NaN where ``a`` is negative. The rule lifts an ``a`` whose magnitude is
        below ``eps`` to ``eps`` where ``b < 1``, as only there it is a denominator.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def prod(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The product over ``axis``, 1 over nothing.

        It is never found by division, so one zero, or two, are exact in every order.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.
        """
    def quantile(
        self, q: float, axis: int | Sequence[int] | None = None, keepdims: bool = False
    ) -> Tensor:
        """The number below which the share ``q`` of the elements over ``axis`` lies.

        Between two elements it lies on a line. NaN if an element is.

        Parameters
        ----------
        q : float
            The share, from 0 to 1.
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The quantiles, in the shape of ``x`` without the reduced axes, or with size 1 there.

        Raises
        ------
        ValueError
            If ``q`` or ``axis`` is out of range, or a reduced axis has size 0.
        """
    def ravel(self) -> Tensor:
        """All elements along one axis.

        Returns
        -------
        Tensor
            All elements, of shape ``(x.size,)``: a view where the memory allows it.

        Raises
        ------
        ValueError
            If an axis is out of range or named twice.
        """
    def reciprocal(self) -> Tensor:
        """The reciprocal, ``1 / x``. Infinite at 0.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def relu(self) -> Tensor:
        """The rectified linear unit, ``max(x, 0)``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def repeat(self, repeats: int | Sequence[int], axis: int | None = None) -> Tensor:
        """Each element along ``axis``, or of the flattened ``x``, ``repeats`` times in a row.

        ``repeats`` may give a number for each element.

        Parameters
        ----------
        repeats : int or sequence of ints
            The number of copies, or one number for each element along ``axis``.
        axis : int, optional
            The axis to repeat along. By default the flattened ``x`` is repeated.

        Returns
        -------
        Tensor
            The result, longer along ``axis``.

        Raises
        ------
        ValueError
            If there is not one number for each element, or ``axis`` is out of range.
        """
    def roll(self, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Tensor:
        """Elements moved along axes; those that leave at one end come back at the other.

        Parameters
        ----------
        shift : int or sequence of ints
            The number of places, one for each axis. Negative numbers move towards the beginning.
        axis : int or sequence of ints, optional
            The axis or axes. By default the flattened ``x`` is rolled.

        Returns
        -------
        Tensor
            The rolled elements, in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``shift`` and ``axis`` have different lengths or ``axis`` is out of range.
        """
    def round(self) -> Tensor:
        """The nearest whole number, halves to the even one.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def rsqrt(self) -> Tensor:
        """The reciprocal of the square root, ``1 / sqrt(x)``. Infinite at 0, NaN below.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def scatter(self, indices: TensorLike, updates: TensorLike, axis: int) -> Tensor:
        """A copy of ``x`` with ``updates`` written at ``indices`` along ``axis``, line by line.

        Of several values for one place the last stays.

        Parameters
        ----------
        indices : tensor_like, ints with as many axes as ``x``
            The positions along ``axis``; negative ones count from the end.
        updates : tensor_like
            The values, which broadcast to the shape of ``indices``.
        axis : int
            The axis of the positions.

        Returns
        -------
        Tensor
            The copy, in the shape of ``x``.

        Raises
        ------
        ValueError
            If the shapes do not fit, or an index or ``axis`` is out of range.
        """
    def scatter_add(self, indices: TensorLike, updates: TensorLike, axis: int) -> Tensor:
        """A copy of ``x`` with ``updates`` added at ``indices`` along ``axis``, line by line.

        Parameters
        ----------
        indices : tensor_like, ints with as many axes as ``x``
            The positions along ``axis``; negative ones count from the end.
        updates : tensor_like
            The values to add, in the shape of ``indices``.
        axis : int
            The axis of the positions.

        Returns
        -------
        Tensor
            The copy, in the shape of ``x``.

        Raises
        ------
        ValueError
            If the shapes do not fit, or an index or ``axis`` is out of range.
        """
    def scatter_reduce(
        self,
        indices: TensorLike,
        updates: TensorLike,
        axis: int,
        reduce: Literal["sum", "prod", "mean", "amax", "amin"],
        include_self: bool = True,
    ) -> Tensor:
        """A copy of ``x`` with ``updates`` combined at ``indices`` along ``axis``, line by line.

        Parameters
        ----------
        indices : tensor_like, ints with as many axes as ``x``
            The positions along ``axis``; negative ones count from the end.
        updates : tensor_like
            The values, which broadcast to the shape of ``indices``.
        axis : int
            The axis of the positions.
        reduce : {'sum', 'prod', 'mean', 'amax', 'amin'}
            How values for the same place are combined.
        include_self : bool, default True
            Whether the value of ``x`` is one of them. If not, it stays only where nothing is written.

        Returns
        -------
        Tensor
            The copy, in the shape of ``x``.

        Raises
        ------
        ValueError
            If the shapes do not fit, or an index or ``axis`` is out of range.
        """
    def sigmoid(self) -> Tensor:
        """The logistic function ``1 / (1 + exp(-x))``, without overflow.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def sign(self) -> Tensor:
        """-1, 0 or 1: the sign of ``x``, NaN for NaN.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def sin(self) -> Tensor:
        """The sine.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def sinh(self) -> Tensor:
        """The hyperbolic sine.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def softmax(self, axis: int = -1) -> Tensor:
        """``exp(x)`` divided by its sum over ``axis``, without overflow.

        Parameters
        ----------
        axis : int, default -1
            The axis whose elements are to sum to 1.

        Returns
        -------
        Tensor
            Positive numbers that sum to 1 over ``axis``, in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``axis`` is out of range.
        """
    def sort(self, axis: int = -1, descending: bool = False) -> Tensor:
        """The elements of ``x`` in order along ``axis``.

        Of equal elements the first comes first, also in descending order.

        Parameters
        ----------
        axis : int, default -1
            The axis to sort along.
        descending : bool, default False
            Whether the largest elements come first.

        Returns
        -------
        Tensor
            The sorted elements, in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``axis`` is out of range.
        """
    def split(self, indices_or_sections: int | Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
        """``x`` cut along ``axis`` into equal sections, or before each index; the parts are views.

        Parameters
        ----------
        indices_or_sections : int or sequence of ints
            The number of equal sections, or the positions before which to cut.
        axis : int, default 0
            The axis to cut along.

        Returns
        -------
        tuple of Tensor
            The parts, as views of ``x``.

        Raises
        ------
        ValueError
            If the axis cannot be cut into equal sections, or ``axis`` is out of range.
        """
    def sqrt(self) -> Tensor:
        """The square root. NaN below 0.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def square(self) -> Tensor:
        """The square, ``x * x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def squeeze(self, axis: int | Sequence[int] | None = None) -> Tensor:
        """``x`` without ``axis``, which must have size 1; None removes every such axis.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to remove, by default all of size 1.

        Returns
        -------
        Tensor
            ``x`` in its new shape, as a view.

        Raises
        ------
        ValueError
            If an axis does not have size 1 or is out of range.
        """
    def std(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: float = 0
    ) -> Tensor:
        """The standard deviation over ``axis``, ``sqrt(var(x))``.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.
        ddof : float, default 0
            What is subtracted from the number of elements: 0, or 1 for an unbiased estimate.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.
        """
    def subtract(self, b: TensorLike) -> Tensor:
        """The difference ``a - b``.

        Parameters
        ----------
        a, b : tensor_like
            The operands. They broadcast against each other.

        Returns
        -------
        Tensor
            The result, in the shape to which ``a`` and ``b`` broadcast.

        Raises
        ------
        ValueError
            If the shapes do not broadcast.
        """
    def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The sum over ``axis``, 0 over nothing.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.
        """
    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        """``x`` with two axes exchanged.

        Parameters
        ----------
        axis1, axis2 : int
            The axes to exchange.

        Returns
        -------
        Tensor
            ``x`` in its new shape, as a view.

        Raises
        ------
        ValueError
            If an axis is out of range or named twice.
        """
    def take(self, indices: TensorLike, axis: int | None = None) -> Tensor:
        """Slices of ``x`` at ``indices`` along ``axis``, or elements of the flattened ``x``.

        Parameters
        ----------
        indices : tensor_like, ints of any shape
            The positions; negative ones count from the end.
        axis : int, optional
            The axis of the positions. By default ``x`` is flattened.

        Returns
        -------
        Tensor
            The slices; the axes of ``indices`` stand in the place of ``axis``.

        Raises
        ------
        ValueError
            If an index or ``axis`` is out of range.
        """
    def tan(self) -> Tensor:
        """The tangent.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def tanh(self) -> Tensor:
        """The hyperbolic tangent.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def tile(self, reps: int | Sequence[int]) -> Tensor:
        """``x`` laid side by side ``reps`` times along each axis.

        Parameters
        ----------
        reps : int or sequence of ints
            The number of copies along each axis. Axes that are missing on either side count as 1.

        Returns
        -------
        Tensor
            The copies side by side.
        """
    def topk(self, k: int, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
        """The ``k`` largest elements along ``axis``, largest first, and their indices.

        With ``largest=False`` the smallest, smallest first. Of equal elements the first is taken.

        Parameters
        ----------
        k : int
            The number of elements.
        axis : int, default -1
            The axis to search along.
        largest : bool, default True
            Whether to take the largest elements, or the smallest.

        Returns
        -------
        tuple of Tensor
            The elements, and their indices of dtype int64; ``k`` of each along ``axis``.

        Raises
        ------
        ValueError
            If ``k`` exceeds the size of ``axis`` or ``axis`` is out of range.
        """
    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """The sum of a diagonal of two axes of ``x``.

        Parameters
        ----------
        offset : int, default 0
            The number of the diagonal: 0 is the main one, positive ones are above it.
        axis1 : int, default 0
            The axes of the rows and of the columns.
        axis2 : int, default 1
            The axes of the rows and of the columns.

        Returns
        -------
        Tensor
            The sums, in the shape of ``x`` without the two axes.

        Raises
        ------
        ValueError
            If the axes are out of range or the same.
        """
    def tril(self, k: int = 0) -> Tensor:
        """``x`` with zeros above diagonal ``k`` of its last two axes.

        Parameters
        ----------
        k : int, default 0
            The number of the last diagonal that stays: 0 is the main one, positive ones are above
            it.

        Returns
        -------
        Tensor
            The lower triangles, in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``x`` has fewer than two axes.
        """
    def triu(self, k: int = 0) -> Tensor:
        """``x`` with zeros below diagonal ``k`` of its last two axes.

        Parameters
        ----------
        k : int, default 0
            The number of the first diagonal that stays: 0 is the main one, positive ones are above
            it.

        Returns
        -------
        Tensor
            The upper triangles, in the shape of ``x``.

        Raises
        ------
        ValueError
            If ``x`` has fewer than two axes.
        """
    def trunc(self) -> Tensor:
        """``x`` without its fraction.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
    def unique(self) -> Tensor:
        """The distinct values of ``x`` in increasing order.

        Returns
        -------
        Tensor
            The values, along one axis.

        Notes
        -----
        The result has no gradient.
        """
    def unsqueeze(self, axis: int | Sequence[int]) -> Tensor:
        """``x`` with new axes of size 1.

        Parameters
        ----------
        axis : int or sequence of ints
            The places of the new axes among those of the result.

        Returns
        -------
        Tensor
            ``x`` in its new shape, as a view.

        Raises
        ------
        ValueError
            If an axis is out of range or named twice.
        """
    def var(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: float = 0
    ) -> Tensor:
        """The variance over ``axis``, ``sum((x - mean)**2) / (n - ddof)``.

        Parameters
        ----------
        axis : int or sequence of ints, optional
            The axis or axes to reduce, by default all. A negative number counts from the last axis.
        keepdims : bool, default False
            Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.
        ddof : float, default 0
            What is subtracted from the number of elements: 0, or 1 for an unbiased estimate.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
            with size 1.

        Raises
        ------
        ValueError
            If ``axis`` is out of range or names an axis twice.
        """
    @overload
    def reshape(self, shape: int | Sequence[int]) -> Tensor:
        """The elements in another shape; one size may be -1.

        Parameters
        ----------
        shape : int or sequence of ints
            The new shape. One size may be -1, which is the size that is left.

        Returns
        -------
        Tensor
            ``x`` in ``shape``: a view where the memory allows it, else a copy.

        Raises
        ------
        ValueError
            If the number of elements differs.
        """
    @overload
    def reshape(self, *shape: int) -> Tensor: ...
    @overload
    def permute(self, axes: Sequence[int]) -> Tensor:
        """``x`` with its axes in another order.

        Parameters
        ----------
        axes : sequence of ints
            The axes of ``x`` in their new order.

        Returns
        -------
        Tensor
            ``x`` in its new shape, as a view.

        Raises
        ------
        ValueError
            If ``axes`` does not name each axis once.
        """
    @overload
    def permute(self, *axes: int) -> Tensor: ...
    @overload
    def transpose(self, axes: Sequence[int] | None = None) -> Tensor:
        """``x`` with its axes in another order.

        Parameters
        ----------
        axes : sequence of ints, optional
            The axes of ``x`` in their new order, by default reversed.

        Returns
        -------
        Tensor
            ``x`` in its new shape, as a view.

        Raises
        ------
        ValueError
            If ``axes`` does not name each axis once.
        """
    @overload
    def transpose(self, *axes: int) -> Tensor: ...
    def __add__(self, other: TensorLike, /) -> Tensor: ...
    def __radd__(self, other: TensorLike, /) -> Tensor: ...
    def __sub__(self, other: TensorLike, /) -> Tensor: ...
    def __rsub__(self, other: TensorLike, /) -> Tensor: ...
    def __mul__(self, other: TensorLike, /) -> Tensor: ...
    def __rmul__(self, other: TensorLike, /) -> Tensor: ...
    def __truediv__(self, other: TensorLike, /) -> Tensor: ...
    def __rtruediv__(self, other: TensorLike, /) -> Tensor: ...
    def __floordiv__(self, other: TensorLike, /) -> Tensor: ...
    def __rfloordiv__(self, other: TensorLike, /) -> Tensor: ...
    def __mod__(self, other: TensorLike, /) -> Tensor: ...
    def __rmod__(self, other: TensorLike, /) -> Tensor: ...
    def __pow__(self, other: TensorLike, /) -> Tensor: ...
    def __rpow__(self, other: TensorLike, /) -> Tensor: ...
    def __matmul__(self, other: TensorLike, /) -> Tensor: ...
    def __rmatmul__(self, other: TensorLike, /) -> Tensor: ...
    def __and__(self, other: TensorLike, /) -> Tensor: ...
    def __rand__(self, other: TensorLike, /) -> Tensor: ...
    def __or__(self, other: TensorLike, /) -> Tensor: ...
    def __ror__(self, other: TensorLike, /) -> Tensor: ...
    def __xor__(self, other: TensorLike, /) -> Tensor: ...
    def __rxor__(self, other: TensorLike, /) -> Tensor: ...
    def __iadd__(self, other: TensorLike, /) -> Self: ...
    def __isub__(self, other: TensorLike, /) -> Self: ...
    def __imul__(self, other: TensorLike, /) -> Self: ...
    def __itruediv__(self, other: TensorLike, /) -> Self: ...
    def __ifloordiv__(self, other: TensorLike, /) -> Self: ...
    def __imod__(self, other: TensorLike, /) -> Self: ...
    def __ipow__(self, other: TensorLike, /) -> Self: ...
    def __imatmul__(self, other: TensorLike, /) -> Self: ...
    def __iand__(self, other: TensorLike, /) -> Self: ...
    def __ior__(self, other: TensorLike, /) -> Self: ...
    def __ixor__(self, other: TensorLike, /) -> Self: ...
    def __eq__(self, other: TensorLike, /) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: TensorLike, /) -> Tensor: ...  # type: ignore[override]
    def __lt__(self, other: TensorLike, /) -> Tensor: ...
    def __le__(self, other: TensorLike, /) -> Tensor: ...
    def __gt__(self, other: TensorLike, /) -> Tensor: ...
    def __ge__(self, other: TensorLike, /) -> Tensor: ...
    def __pos__(self, /) -> Tensor: ...
    def __neg__(self, /) -> Tensor: ...
    def __abs__(self, /) -> Tensor: ...
    def __invert__(self, /) -> Tensor: ...
    def __getitem__(self, index: Index, /) -> Tensor: ...
    def __setitem__(self, index: Index, value: TensorLike, /) -> None: ...
