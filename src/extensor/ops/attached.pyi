"""What the ops attach to Tensor. Written by tools/exports.py from the registry."""

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
        """The magnitude of ``x``. Derivative: ``sign(x)``, 0 at 0."""
    def acos(self) -> Tensor:
        """The angle in [0, pi] whose cosine is ``x``; NaN outside [-1, 1].

        Derivative: ``-1 / sqrt(1 - x**2)``, infinite at -1 and 1.
        """
    def acosh(self) -> Tensor:
        """The number from 0 upwards whose hyperbolic cosine is ``x``; NaN below 1.

        Derivative: ``1 / sqrt(x**2 - 1)``, infinite at 1.
        """
    def add(self, b: TensorLike) -> Tensor:
        """``a + b``. Derivative: ``grad_output`` for both, summed to their shapes."""
    def all(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """True if every element over ``axis`` is true (not 0); True over nothing."""
    def any(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """True if an element over ``axis`` is true (not 0); False over nothing."""
    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """The index of the first largest element along ``axis``, or of all; NaN counts as largest."""
    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """The index of the first smallest element along ``axis``, or of all; NaN counts as smallest."""
    def argsort(self, axis: int = -1, descending: bool = False) -> Tensor:
        """The indices that sort ``x`` along ``axis``; equal elements stay in their order."""
    def asin(self) -> Tensor:
        """The angle in [-pi/2, pi/2] whose sine is ``x``; NaN outside [-1, 1].

        Derivative: ``1 / sqrt(1 - x**2)``, infinite at -1 and 1.
        """
    def asinh(self) -> Tensor:
        """The number whose hyperbolic sine is ``x``. Derivative: ``1 / sqrt(1 + x**2)``."""
    def astype(self, dtype: DTypeLike) -> Tensor:
        """The same values in another dtype, as a copy. Derivative: ``grad_output`` in the dtype of ``x``."""
    def atan(self) -> Tensor:
        """The angle in [-pi/2, pi/2] whose tangent is ``x``. Derivative: ``1 / (1 + x**2)``."""
    def atanh(self) -> Tensor:
        """The number whose hyperbolic tangent is ``x``; NaN outside [-1, 1].

        Derivative: ``1 / (1 - x**2)``, infinite at -1 and 1.
        """
    def bitwise_and(self, b: TensorLike) -> Tensor:
        """The bits that both have; of booleans, whether both are true."""
    def bitwise_not(self) -> Tensor:
        """Every bit turned over; of booleans, whether it is false."""
    def bitwise_or(self, b: TensorLike) -> Tensor:
        """The bits that either has; of booleans, whether either is true."""
    def bitwise_xor(self, b: TensorLike) -> Tensor:
        """The bits that exactly one has; of booleans, whether exactly one is true."""
    def broadcast_to(self, shape: int | Sequence[int]) -> Tensor:
        """``x`` stretched to ``shape``, as a read-only view. Derivative: the sum over the stretched axes."""
    def ceil(self) -> Tensor:
        """The smallest whole number not below ``x``. Derivative: 0."""
    def clip(self, min_val: float | None, max_val: float | None) -> Tensor:
        """``x`` held between ``min_val`` and ``max_val``; None is no bound.

        Where ``min_val`` exceeds ``max_val``, all is ``max_val``. Derivative: 1 inside, bounds included, else 0.
        """
    def clone(self) -> Tensor:
        """The same values in memory of their own. Derivative: ``grad_output``."""
    def cos(self) -> Tensor:
        """The cosine. Derivative: ``-sin(x)``."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine. Derivative: ``sinh(x)``."""
    def count_nonzero(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False
    ) -> Tensor:
        """How many elements over ``axis`` are not 0."""
    def cumsum(self, axis: int = 0) -> Tensor:
        """The sum of each element and all before it along ``axis``.

        Derivative: the sum of ``grad_output`` at each element and all after it.
        """
    def diag(self, k: int = 0) -> Tensor:
        """A matrix with ``x`` on diagonal ``k``, or, if ``x`` is a matrix, its diagonal ``k``.

        Derivative: ``grad_output``'s diagonal, or a matrix with ``grad_output`` on it.
        """
    def divide(self, b: TensorLike) -> Tensor:
        """``a / b``. Derivative: ``grad_output / b`` and ``-grad_output * a / b**2``.

        The rule lifts a ``b`` whose magnitude is below ``eps`` to ``eps``, and leaves every other alone.
        """
    def dot(self, b: TensorLike) -> Tensor:
        """``sum(a * b)`` of two vectors. Derivative: ``grad_output * b`` and ``grad_output * a``."""
    def equal(self, b: TensorLike) -> Tensor:
        """True where ``a == b``."""
    def erf(self) -> Tensor:
        """The error function. Derivative: ``2 / sqrt(pi) * exp(-x**2)``."""
    def exp(self) -> Tensor:
        """``e ** x``. Derivative: ``output``."""
    def expand_dims(self, axis: int | Sequence[int]) -> Tensor:
        """``x`` with new axes of size 1, at ``axis`` of the result. Derivative: the same without them."""
    def expm1(self) -> Tensor:
        """``e ** x - 1``, with all its digits near 0. Derivative: ``exp(x)``."""
    def flatten(self, start_axis: int = 0, end_axis: int = -1) -> Tensor:
        """The axes from ``start_axis`` to ``end_axis``, both included, as one.

        Derivative: ``grad_output`` in the old shape.
        """
    def flip(self, axis: int | Sequence[int] | None = None) -> Tensor:
        """``x`` backwards along ``axis``, or along every axis. Derivative: ``grad_output`` backwards."""
    def floor(self) -> Tensor:
        """The largest whole number not above ``x``. Derivative: 0."""
    def floor_divide(self, b: TensorLike) -> Tensor:
        """``floor(a / b)``. Derivative: 0 for both."""
    def gather(self, indices: TensorLike, axis: int) -> Tensor:
        """The elements of ``x`` at ``indices`` along ``axis``, line by line.

        This is NumPy's ``take_along_axis``: the other axes broadcast.
        Derivative: ``grad_output`` added where it was read.
        """
    def greater(self, b: TensorLike) -> Tensor:
        """True where ``a > b``."""
    def greater_equal(self, b: TensorLike) -> Tensor:
        """True where ``a >= b``."""
    def identity(self) -> Tensor:
        """The same values and the same memory, as a new place on the tape. Derivative: ``grad_output``."""
    def index_select(self, indices: TensorLike, axis: int) -> Tensor:
        """The slices of ``x`` at the 1-D ``indices`` along ``axis``.

        Derivative: ``grad_output`` added where it was read.
        """
    def isfinite(self) -> Tensor:
        """True where ``x`` is neither NaN nor infinite."""
    def isinf(self) -> Tensor:
        """True where ``x`` is infinite."""
    def isnan(self) -> Tensor:
        """True where ``x`` is NaN."""
    def less(self, b: TensorLike) -> Tensor:
        """True where ``a < b``."""
    def less_equal(self, b: TensorLike) -> Tensor:
        """True where ``a <= b``."""
    def log(self) -> Tensor:
        """The natural logarithm. Derivative: ``1 / x``, with ``x`` lifted to ``eps``."""
    def log10(self) -> Tensor:
        """The logarithm to base 10. Derivative: ``1 / (x * ln(10))``, denominator lifted to ``eps``."""
    def log1p(self) -> Tensor:
        """``ln(1 + x)``, with all its digits near 0. Derivative: ``1 / (1 + x)``, infinite at -1."""
    def log2(self) -> Tensor:
        """The logarithm to base 2. Derivative: ``1 / (x * ln(2))``, denominator lifted to ``eps``."""
    def log_softmax(self, axis: int = -1) -> Tensor:
        """``x - log(sum(exp(x)))`` over ``axis``, without overflow.

        Derivative: ``grad_output - exp(output) * sum(grad_output)``, exactly 0 for a single element.
        A row of -inf alone gives NaN; an axis of size 0 gives an empty result.
        """
    def logical_and(self, b: TensorLike) -> Tensor:
        """True where both are true (not 0)."""
    def logical_not(self) -> Tensor:
        """True where ``x`` is false (0)."""
    def logical_or(self, b: TensorLike) -> Tensor:
        """True where either is true (not 0)."""
    def logical_xor(self, b: TensorLike) -> Tensor:
        """True where exactly one is true (not 0)."""
    def logsumexp(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """``log(sum(exp(x)))`` over ``axis`` without overflow. Derivative: ``exp(x - output)``.

        -inf over nothing and over elements that are all -inf, where the derivative is 0.
        """
    def masked_fill(self, mask: TensorLike, value: float) -> Tensor:
        """``value`` where ``mask`` is true, else ``x``. Derivative: ``grad_output``, 0 where filled."""
    def matmul(self, b: TensorLike) -> Tensor:
        """``a @ b``. Derivative: ``grad_output @ b.T`` and ``a.T @ grad_output``, summed over batches.

        A vector on the left is a row, on the right a column, whose axis is gone from the result; axes
        before the last two are a batch and broadcast.
        """
    def max(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The largest element over ``axis``, NaN if there is one (``max`` is the same function).

        Derivative: ``grad_output`` to the largest element; several that tie share it equally.
        """
    def max_reduce(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The largest element over ``axis``, NaN if there is one (``max`` is the same function).

        Derivative: ``grad_output`` to the largest element; several that tie share it equally.
        """
    def maximum(self, b: TensorLike) -> Tensor:
        """The larger of ``a`` and ``b``; NaN if either is. Derivative: to the larger, a tie is shared equally."""
    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The mean over ``axis``, NaN over nothing. Derivative: ``grad_output / n`` to every element."""
    def min(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The smallest element over ``axis``, NaN if there is one (``min`` is the same function).

        Derivative: ``grad_output`` to the smallest element; several that tie share it equally.
        """
    def min_reduce(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The smallest element over ``axis``, NaN if there is one (``min`` is the same function).

        Derivative: ``grad_output`` to the smallest element; several that tie share it equally.
        """
    def minimum(self, b: TensorLike) -> Tensor:
        """The smaller of ``a`` and ``b``; NaN if either is. Derivative: to the smaller, a tie is shared."""
    def modulo(self, b: TensorLike) -> Tensor:
        """The remainder of ``a / b`` with the sign of ``b``. Derivative: 1 and ``-floor(a / b)``."""
    def moveaxis(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
        """``x`` with axes moved from ``source`` to ``destination``. Derivative: the axes moved back."""
    def multiply(self, b: TensorLike) -> Tensor:
        """``a * b``. Derivative: ``grad_output * b`` and ``grad_output * a``."""
    def negative(self) -> Tensor:
        """``-x``. Derivative: -1."""
    def norm(
        self, ord: float = 2, axis: int | Sequence[int] | None = None, keepdims: bool = False
    ) -> Tensor:
        """``sum(abs(x)**ord)**(1 / ord)`` over ``axis``, the largest magnitude for ``ord=inf``.

        Derivative: ``sign(x) * (abs(x) / output)**(ord - 1)``; 0 at elements that are 0, and so all
        over a vector of zeros; for ``ord=inf`` the sign, shared equally among the largest magnitudes.
        """
    def not_equal(self, b: TensorLike) -> Tensor:
        """True where ``a != b``."""
    def outer(self, b: TensorLike) -> Tensor:
        """``a[i] * b[j]`` for all i and j. Derivative: ``grad_output @ b`` and ``a @ grad_output``."""
    def pad(
        self,
        pad_width: int | Sequence[int] | Sequence[Sequence[int]],
        mode: Literal["constant", "reflect", "symmetric", "edge", "replicate", "wrap", "circular"] = "constant",
        value: float = 0.0,
    ) -> Tensor:
        """``x`` with elements added before and after each axis; ``pad_width`` is NumPy's.

        ``mode`` is "constant" (``value``), "reflect" (the edge not repeated), "symmetric" (the edge
        repeated), "edge" or "replicate" (the last element), "wrap" or "circular" (from the other end).
        Derivative: ``grad_output`` without what was added; where that is a copy, added to its original.
        """
    def power(self, b: TensorLike) -> Tensor:
        """``a ** b`` for any real exponent. Derivative: ``b * a**(b - 1)`` and ``a**b * ln(a)``.

        The derivative in ``b`` is 0 where ``a`` is 0 and ``b`` is not negative, -inf where ``a`` is 0
        and ``b`` is negative, and NaN where ``a`` is negative. The rule lifts an ``a`` whose magnitude is
        below ``eps`` to ``eps`` where ``b < 1``, as only there it is a denominator.
        """
    def prod(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The product over ``axis``, 1 over nothing. Derivative: the product of all the other elements.

        It is never found by division, so one zero, or two, are exact in every order.
        """
    def ravel(self) -> Tensor:
        """All elements along one axis. Derivative: ``grad_output`` in the old shape."""
    def reciprocal(self) -> Tensor:
        """``1 / x``. Derivative: ``-output**2``, and infinite at 0."""
    def relu(self) -> Tensor:
        """``max(x, 0)``. Derivative: 1 where ``x`` is positive, else 0, also at 0."""
    def repeat(self, repeats: int | Sequence[int], axis: int | None = None) -> Tensor:
        """Each element along ``axis``, or of the flattened ``x``, ``repeats`` times in a row.

        ``repeats`` may give a number for each element. Derivative: the sum over an element's copies.
        """
    def roll(self, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Tensor:
        """The elements moved ``shift`` places along ``axis``, round from the end to the beginning.

        With ``axis=None`` the flattened tensor is rolled. Derivative: ``grad_output`` rolled back.
        """
    def round(self) -> Tensor:
        """The nearest whole number, halves to the even one. Derivative: 0."""
    def rsqrt(self) -> Tensor:
        """``1 / sqrt(x)``. Derivative: ``-output**3 / 2``, infinite at 0."""
    def scatter_add(self, indices: TensorLike, updates: TensorLike, axis: int) -> Tensor:
        """A copy of ``x`` with ``updates`` added at ``indices`` along ``axis``, line by line.

        Derivative: ``grad_output`` to ``x``, ``grad_output`` read at ``indices`` to ``updates``.
        """
    def sigmoid(self) -> Tensor:
        """``1 / (1 + exp(-x))``, without overflow. Derivative: ``output * (1 - output)``."""
    def sign(self) -> Tensor:
        """-1, 0 or 1: the sign of ``x``, NaN for NaN. Derivative: 0."""
    def sin(self) -> Tensor:
        """The sine. Derivative: ``cos(x)``."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine. Derivative: ``cosh(x)``."""
    def softmax(self, axis: int = -1) -> Tensor:
        """``exp(x)`` divided by its sum over ``axis``, without overflow.

        Derivative: ``output * (grad_output - sum(grad_output * output))``, exactly 0 for one element.
        A row of -inf alone gives NaN, as 0 / 0; an axis of size 0 gives an empty result.
        """
    def sort(self, axis: int = -1, descending: bool = False) -> Tensor:
        """The elements of ``x`` in order along ``axis``. Derivative: to where each element came from.

        Of equal elements the first comes first, also in descending order.
        """
    def split(self, indices_or_sections: int | Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
        """``x`` cut along ``axis`` into equal sections, or before each index; the parts are views.

        Derivative: the gradients of the parts, joined.
        """
    def sqrt(self) -> Tensor:
        """The square root. Derivative: ``1 / (2 * output)``, denominator lifted to ``eps``."""
    def square(self) -> Tensor:
        """``x * x``. Derivative: ``2 * x``."""
    def squeeze(self, axis: int | Sequence[int] | None = None) -> Tensor:
        """``x`` without ``axis``, which must have size 1; None removes every such axis.

        Derivative: ``grad_output`` in the old shape.
        """
    def std(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: float = 0
    ) -> Tensor:
        """``sqrt(var(x))`` over ``axis``. Derivative: ``(x - mean) / ((n - ddof) * output)``, 0 at 0."""
    def subtract(self, b: TensorLike) -> Tensor:
        """``a - b``. Derivative: ``grad_output`` and ``-grad_output``."""
    def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The sum over ``axis``, 0 over nothing. Derivative: ``grad_output`` to every element."""
    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        """``x`` with two axes exchanged. Derivative: the axes exchanged again."""
    def take(self, indices: TensorLike, axis: int | None = None) -> Tensor:
        """The slices of ``x`` at ``indices`` along ``axis``, or the elements of the flattened ``x``.

        Derivative: ``grad_output`` added where it was read.
        """
    def tan(self) -> Tensor:
        """The tangent. Derivative: ``1 + output**2``."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent. Derivative: ``1 - output**2``."""
    def tile(self, reps: int | Sequence[int]) -> Tensor:
        """``x`` laid side by side ``reps`` times along each axis. Derivative: the sum over the copies."""
    def topk(self, k: int, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
        """The ``k`` largest elements along ``axis``, largest first, and their indices.

        With ``largest=False`` the smallest, smallest first. Of equal elements the first is taken.
        Derivative: ``grad_output`` (of the values) to the elements taken, 0 to the others.
        """
    def tril(self, k: int = 0) -> Tensor:
        """``x`` with zeros above diagonal ``k`` of its last two axes. Derivative: the same part."""
    def triu(self, k: int = 0) -> Tensor:
        """``x`` with zeros below diagonal ``k`` of its last two axes. Derivative: the same part."""
    def trunc(self) -> Tensor:
        """``x`` without its fraction. Derivative: 0."""
    def unsqueeze(self, axis: int | Sequence[int]) -> Tensor:
        """``x`` with new axes of size 1, at ``axis`` of the result. Derivative: the same without them."""
    def var(
        self, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: float = 0
    ) -> Tensor:
        """``sum((x - mean)**2) / (n - ddof)`` over ``axis``.

        Derivative: ``2 * (x - mean) / (n - ddof)``. NaN over nothing, and of a single element with
        ``ddof=1``, as in NumPy.
        """
    @overload
    def reshape(self, shape: int | Sequence[int]) -> Tensor:
        """The elements in another shape; one size may be -1. Derivative: back to the old shape."""
    @overload
    def reshape(self, *shape: int) -> Tensor: ...
    @overload
    def permute(self, axes: Sequence[int]) -> Tensor:
        """``x`` with its axes in the order ``axes``. Derivative: the axes put back."""
    @overload
    def permute(self, *axes: int) -> Tensor: ...
    @overload
    def transpose(self, axes: Sequence[int] | None = None) -> Tensor:
        """``x`` with its axes in the order ``axes``; None reverses them. Derivative: the axes put back."""
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
