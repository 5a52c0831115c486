"""Products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from extensor.arrays.shapes import Shape, Shapes, axis_index, broadcast, check_shape, count
from extensor.arrays.supplement import as_factor
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.broadcasting import are_shapes_broadcastable, reduce_to_shape
from extensor.ops.chain import chain_rule
from extensor.ops.movement import permute, swapaxes


def _matmul_shape(name: str, shapes: Shapes) -> Shape:
    a, b = (tuple(shape) for shape in shapes.values())
    got = {"a_shape": a, "b_shape": b}
    if not a or not b:
        raise value_error(name, "a and b must have at least 1 axis", **got)
    if a[-1] != b[-2 if len(b) > 1 else 0]:
        raise value_error(name, "inner dimensions must agree", **got)
    if not are_shapes_broadcastable(a[:-2], b[:-2]):
        raise value_error(name, "batch axes must broadcast", **got)
    batch = broadcast(name, {"a": a[:-2], "b": b[:-2]})
    return batch + a[-2:-1] + (b[-1:] if len(b) > 1 else ())


@op(kernel="matmul", shape=_matmul_shape)
def matmul(xp: Any, a: Array, b: Array) -> Any:
    """The matrix product ``a @ b``.

    A vector on the left is a row, on the right a column, whose axis is gone from the result;
    axes before the last two are a batch and broadcast. Derivative: ``grad_output @ b.T`` and
    ``a.T @ grad_output``, summed over batches.

    Parameters
    ----------
    a : (..., n, k) or (k,)
        The left matrix, or a batch of them.
    b : (..., k, m) or (k,)
        The right matrix, or a batch of them.

    Returns
    -------
    Tensor
        The product, of shape (..., n, m).

    Raises
    ------
    ValueError
        If the inner dimensions differ, the batches do not broadcast, or an operand has no axis.

    >>> import extensor as ex
    >>> ex.matmul([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0])
    tensor([3., 7.])
    >>> ex.matmul_backward([[1.0]], [[1.0, 2.0]], [[3.0], [4.0]]).grad_a
    tensor([[3., 4.]])
    """
    return xp.matmul(as_factor(a), as_factor(b))


@matmul.backward(kernel="matmul_backward", unfolds=True)
def matmul_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output @ b.T`` and ``a.T @ grad_output``, with vectors seen as a row and a column."""
    if a.ndim == 1 and b.ndim == 1:
        return lambda: chain_rule(grad_output, b), lambda: chain_rule(grad_output, a)
    left = a.reshape((1, *a.shape)) if a.ndim == 1 else a
    right = b.reshape((*b.shape, 1)) if b.ndim == 1 else b
    batch = grad_output.shape[: grad_output.ndim - (a.ndim > 1) - (b.ndim > 1)]
    gradient = grad_output.reshape((*batch, left.shape[-2], right.shape[-1]))

    def grad_a() -> Tensor:
        product = matmul(gradient, swapaxes(right, -1, -2))
        return reduce_to_shape(product, left.shape).reshape(a.shape)

    def grad_b() -> Tensor:
        if right.ndim == 2:
            # One matrix for the whole batch: with all rows in one, the product sums them.
            product = matmul(swapaxes(_as_matrix(left), 0, 1), _as_matrix(gradient))
        else:
            product = matmul(swapaxes(left, -1, -2), gradient)
        return reduce_to_shape(product, right.shape).reshape(b.shape)

    return grad_a, grad_b


def _as_matrix(x: Tensor) -> Tensor:
    """All axes but the last in one."""
    return x if x.ndim == 2 else x.reshape((count(x.shape[:-1]), x.shape[-1]))


def _dot_shape(name: str, shapes: Shapes) -> Shape:
    a, b = shapes.values()
    if len(a) != 1 or len(b) != 1 or a != b:
        raise value_error(name, "a and b must be 1-D of one length", a_shape=a, b_shape=b)
    return ()


@op(shape=_dot_shape)
def dot(xp: Any, a: Array, b: Array) -> Any:
    """The scalar product of two vectors, ``sum(a * b)``.

    Derivative: ``grad_output * b`` and ``grad_output * a``.

    Parameters
    ----------
    a, b : (n,)
        The vectors.

    Returns
    -------
    Tensor
        The product, with no axis.

    Raises
    ------
    ValueError
        If ``a`` and ``b`` are not vectors of one length.

    >>> import extensor as ex
    >>> ex.dot([1.0, 2.0], [3.0, 4.0])
    tensor(11.)
    >>> ex.dot_backward(1.0, [1.0, 2.0], [3.0, 4.0]).grad_a
    tensor([3., 4.])
    """
    return xp.matmul(as_factor(a), as_factor(b))


@dot.backward()
def dot_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output * b`` and ``grad_output * a``."""
    return lambda: chain_rule(grad_output, b), lambda: chain_rule(grad_output, a)


def _outer_shape(name: str, shapes: Shapes) -> Shape:
    a, b = shapes.values()
    if len(a) != 1 or len(b) != 1:
        raise value_error(name, "a and b must be 1-D", a_shape=a, b_shape=b)
    return (a[0], b[0])


@op(shape=_outer_shape)
def outer(xp: Any, a: Array, b: Array) -> Any:
    """The outer product of two vectors, ``a[i] * b[j]`` for all i and j.

    Derivative: ``grad_output @ b`` and ``a @ grad_output``.

    Parameters
    ----------
    a : (n,)
        The vector along the first axis.
    b : (m,)
        The vector along the second axis.

    Returns
    -------
    Tensor
        The products, of shape (n, m).

    >>> import extensor as ex
    >>> ex.outer([1.0, 2.0], [3.0, 4.0])
    tensor([[3., 4.],
            [6., 8.]])
    >>> ex.outer_backward([[1.0, 1.0]], [2.0], [3.0, 4.0]).grad_a
    tensor([7.])
    """
    return a[:, None] * b[None, :]


@outer.backward()
def outer_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output @ b`` and ``a @ grad_output``."""
    return lambda: matmul(grad_output, b), lambda: matmul(a, grad_output)


def _linear_shape(name: str, shapes: Shapes) -> Shape:
    x, weight, bias = shapes.values()
    if len(weight) != 2:
        raise value_error(name, "weight must be 2-D (out, in)", weight_shape=weight)
    if not x or x[-1] != weight[1]:
        raise value_error(
            name, "the last axes of x and weight must agree", x_shape=x, weight_shape=weight
        )
    check_shape(name, "bias", bias, weight[:1])
    return (*x[:-1], weight[0])


@op(kernel="linear", shape=_linear_shape)
def linear(xp: Any, x: Array, weight: Array, bias: Array | None = None) -> Any:
    """A linear layer, ``x @ weight.T + bias``.

    Derivative: ``grad_output @ weight``, ``grad_output.T @ x`` and the sum of ``grad_output``
    over all axes but the last.

    Parameters
    ----------
    x : (..., in)
        The inputs.
    weight : (out, in)
        The weight.
    bias : (out,)
        Numbers to add to the outputs.

    Returns
    -------
    Tensor
        The outputs, of shape (..., out).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    >>> import extensor as ex
    >>> ex.linear([1.0, 2.0], [[3.0, 4.0], [5.0, 6.0]], [0.5, 0.5])
    tensor([11.5, 17.5])
    >>> ex.linear_backward([1.0, 1.0], [1.0, 2.0], [[3.0, 4.0], [5.0, 6.0]]).grad_x
    tensor([ 8., 10.])
    """
    product = xp.matmul(as_factor(x), as_factor(xp.matrix_transpose(weight)))
    return product if bias is None else product + bias


@linear.backward(kernel="linear_backward", unfolds=True)
def linear_backward(grad_output: Tensor, x: Tensor, weight: Tensor) -> tuple[Any, Any, Any]:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too."""

    samples = count(x.shape[:-1])
    rows = grad_output.reshape((samples, weight.shape[0]))
    return (
        lambda: matmul(rows, weight).reshape(x.shape),
        lambda: matmul(swapaxes(rows, 0, 1), x.reshape((samples, weight.shape[1]))),
        lambda: reduce_to_shape(grad_output, weight.shape[:1]),
    )


Axes = int | Sequence[int | Sequence[int]]


def _contracted_axes(name: str, a: Shape, b: Shape, axes: Any) -> tuple[list[int], list[int]]:
    """The axes of ``a`` and of ``b`` that are multiplied and summed, in pairs."""
    if isinstance(axes, int):
        if not 0 <= axes <= min(len(a), len(b)):
            raise value_error(
                name, "axes must be from 0 to the number of axes", axes=axes, a_shape=a, b_shape=b
            )
        pairs = list(range(len(a) - axes, len(a))), list(range(axes))
    else:
        if not isinstance(axes, list | tuple) or len(axes) != 2:
            raise type_error(name, "axes must be an int or a pair of sequences of ints", axes=axes)
        first, second = (item if isinstance(item, list | tuple) else [item] for item in axes)
        pairs = (
            [axis_index(name, item, len(a), "axes[0]") for item in first],
            [axis_index(name, item, len(b), "axes[1]") for item in second],
        )
        if len(first) != len(second) or any(len(set(item)) != len(item) for item in pairs):
            raise value_error(
                name, "axes must name as many axes of a as of b, none twice", axes=axes
            )
    if [a[i] for i in pairs[0]] != [b[i] for i in pairs[1]]:
        raise value_error(
            name, "axes must pair axes of equal sizes", axes=axes, a_shape=a, b_shape=b
        )
    return pairs


def _free(ndim: int, contracted: Sequence[int]) -> list[int]:
    return [i for i in range(ndim) if i not in contracted]


def _tensordot_shape(name: str, shapes: Shapes, axes: Any = 2) -> Shape:
    a, b = (tuple(shape) for shape in shapes.values())
    of_a, of_b = _contracted_axes(name, a, b, axes)
    return (*(a[i] for i in _free(len(a), of_a)), *(b[i] for i in _free(len(b), of_b)))


@op(shape=_tensordot_shape)
def tensordot(xp: Any, a: Array, b: Array, axes: Axes = 2) -> Any:
    """The products of ``a`` and ``b`` summed over pairs of axes.

    ``axes`` is a pair: the axes of ``a``, and the axes of ``b`` they meet; or a number n, for the
    last n of ``a`` and the first n of ``b``. The result has the other axes of ``a``, then those of
    ``b``. Derivative: ``grad_output`` times the other input, summed over that input's own axes.

    Parameters
    ----------
    a, b
        The operands.
    axes
        The axes of ``a`` and the axes of ``b`` to sum over, or how many of them.

    Returns
    -------
    Tensor
        The products, with the other axes of ``a``, then those of ``b``.

    Raises
    ------
    ValueError
        If the sizes of paired axes differ or an axis is out of range.

    >>> import extensor as ex
    >>> ex.tensordot(ex.ones((2, 3, 4)), ex.ones((4, 3, 5)), axes=([1, 2], [1, 0])).shape
    (2, 5)
    >>> ex.tensordot([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0], 1)
    tensor([3., 7.])
    >>> ex.tensordot_backward(1.0, [1.0, 2.0], [3.0, 4.0], 1).grad_a
    tensor([3., 4.])
    """
    return xp.tensordot(a, b, axes=_contracted_axes("tensordot", a.shape, b.shape, axes))


@tensordot.backward()
def tensordot_backward(
    grad_output: Tensor, a: Tensor, b: Tensor, axes: Axes = 2
) -> tuple[Any, Any]:
    """``grad_output`` times ``b`` summed over the free axes of ``b``, and the same with ``a``."""
    of_a, of_b = _contracted_axes("tensordot_backward", a.shape, b.shape, axes)
    free_a, free_b = _free(a.ndim, of_a), _free(b.ndim, of_b)

    def grad_a() -> Tensor:
        last = list(range(len(free_a), grad_output.ndim))
        product = tensordot(grad_output, b, (last, free_b))
        made = free_a + [of_a[of_b.index(i)] for i in sorted(of_b)]
        return permute(product, [made.index(i) for i in range(a.ndim)])

    def grad_b() -> Tensor:
        product = tensordot(a, grad_output, (free_a, list(range(len(free_a)))))
        made = [of_b[of_a.index(i)] for i in sorted(of_a)] + free_b
        return permute(product, [made.index(i) for i in range(b.ndim)])

    return grad_a, grad_b
