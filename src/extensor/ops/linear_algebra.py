"""Inverses, determinants and decompositions of square matrices: the last two axes, the others are a batch.

LAPACK computes them, through NumPy. The rules are products of matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, broadcast
from extensor.core.creation import eye, zeros_like
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.arrangement import tril
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.chain import chain_divide, chain_rule
from extensor.ops.diagonals import diag_embed
from extensor.ops.matrix import matmul
from extensor.ops.movement import swapaxes, unsqueeze
from extensor.ops.selection import where

SHARED = """
Parameters
----------
x : (..., n, n)
    Square matrices.

Raises
------
ValueError
    If the last two axes are not of one size, or a matrix does not allow it.
"""
_INVERTIBLE = "matrices must be invertible"


def _square(name: str, shape: Shape, key: str = "x") -> Shape:
    if len(shape) < 2 or shape[-1] != shape[-2]:
        got = {f"{key}_shape": tuple(shape)}
        raise value_error(name, f"{key} must be square matrices", **got)
    return tuple(shape)


def _same_square(name: str, shapes: Shapes, *_: Any) -> Shape:
    return _square(name, shapes["x"])


def _batch(name: str, shapes: Shapes, *_: Any) -> Shape:
    return _square(name, shapes["x"])[:-2]


def _by_lapack(name: str, requirement: str, compute: Callable[[], Any], shape: Shape) -> Any:
    """A result of LAPACK, or an error that says what the matrices lack."""
    try:
        return compute()
    except np.linalg.LinAlgError:
        raise value_error(name, requirement, x_shape=tuple(shape)) from None


def _transposed(x: Tensor) -> Tensor:
    return swapaxes(x, -1, -2)


@op(shape=_same_square, floats=True)
def inv(xp: Any, x: Array) -> Any:
    """The inverse of a matrix. Derivative: ``-output.T @ grad_output @ output.T``.

    Returns
    -------
    Tensor
        The inverses, in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.inv([[2.0, 0.0], [0.0, 4.0]])
    tensor([[0.5 , 0.  ],
            [0.  , 0.25]])
    >>> ex.inv_backward([[1.0]], [[0.5]])
    tensor([[-0.25]])
    """
    return _by_lapack("inv", _INVERTIBLE, lambda: xp.linalg.inv(x), x.shape)


@inv.backward()
def inv_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """``-output.T @ grad_output @ output.T``."""
    turned = _transposed(output)
    return -matmul(matmul(turned, grad_output), turned)


def _solved(name: str, shapes: Shapes) -> Shape:
    a, b = _square(name, shapes["a"], "a"), tuple(shapes["b"])
    rows = b[-1:] if len(b) == 1 else b[-2:-1]
    if rows != a[-1:]:
        raise value_error(name, "b must have as many rows as a", a_shape=a, b_shape=b)
    batch = broadcast(name, {"a": a[:-2], "b": b[:-2]})
    return (*batch, *a[-1:]) if len(b) == 1 else (*batch, *b[-2:])


@op(shape=_solved, floats=True)
def solve(xp: Any, a: Array, b: Array) -> Any:
    """The solution ``x`` of ``a @ x = b``.

    Derivative: ``solve(a.T, grad_output)`` for ``b``, and minus that times ``output.T`` for ``a``.

    Parameters
    ----------
    a : (..., n, n)
        Square matrices.
    b : (n,) or (..., n, k)
        Right sides: one vector, or columns.

    Returns
    -------
    Tensor
        The solutions, in the shape of ``b`` with the batch of ``a``.

    >>> import extensor as ex
    >>> ex.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0])
    tensor([1. , 0.5])
    >>> ex.solve_backward([1.0], [[2.0]], [4.0], [2.0])
    solve_gradients(grad_a=tensor([[-1.]]), grad_b=tensor([0.5]))
    """
    if b.ndim > 1:
        return _by_lapack("solve", _INVERTIBLE, lambda: xp.linalg.solve(a, b), a.shape)
    column = xp.reshape(b, (-1, 1))
    found = _by_lapack("solve", _INVERTIBLE, lambda: xp.linalg.solve(a, column), a.shape)
    return xp.squeeze(found, axis=-1)


@solve.backward()
def solve_backward(grad_output: Tensor, a: Tensor, b: Tensor, output: Tensor) -> tuple[Any, Any]:
    """``solve(a.T, grad_output)`` for ``b``, and minus that times ``output.T`` for ``a``."""
    is_vector = b.ndim == 1
    gradient = unsqueeze(grad_output, -1) if is_vector else grad_output
    solution = unsqueeze(output, -1) if is_vector else output
    of_b = solve(_transposed(a), gradient)
    shape = (*b.shape, 1) if is_vector else b.shape
    return (
        lambda: reduce_to_shape(-matmul(of_b, _transposed(solution)), a.shape),
        lambda: reduce_to_shape(of_b, shape).reshape(b.shape),
    )


@op(shape=_batch, floats=True)
def det(xp: Any, x: Array) -> Any:
    """The determinant. Derivative: ``output * inv(x).T``; refused where a matrix has no inverse.

    Returns
    -------
    Tensor
        The determinants, in the shape of the batch.

    >>> import extensor as ex
    >>> ex.det([[2.0, 1.0], [0.0, 4.0]])
    tensor(8.)
    >>> ex.det_backward(1.0, [[2.0, 0.0], [0.0, 4.0]], 8.0)
    tensor([[4., 0.],
            [0., 2.]])
    """
    return xp.linalg.det(x)


@det.backward()
def det_backward(grad_output: Tensor, x: Tensor, output: Tensor) -> Tensor:
    """``grad_output * output * inv(x).T``."""
    each = chain_rule(grad_output, output)
    return chain_rule(each.reshape((*each.shape, 1, 1)), _transposed(inv(x)))


@op(shape=lambda name, shapes: [_batch(name, shapes)] * 2, floats=True)
def slogdet(xp: Any, x: Array) -> tuple[Any, Any]:
    """The sign of the determinant and the logarithm of its magnitude, without overflow.

    Derivative: ``inv(x).T`` for the logarithm, 0 for the sign; refused where a matrix has no
    inverse.

    Returns
    -------
    tuple of Tensor
        The signs, and the logarithms, both in the shape of the batch; 0 and -inf for a matrix
        without an inverse.

    >>> import extensor as ex
    >>> ex.slogdet([[1.0, 0.0], [0.0, -1.0]])
    (tensor(-1.), tensor(0.))
    >>> ex.slogdet_backward([0.0, 1.0], [[2.0]])
    tensor([[0.5]])
    """
    sign, logarithm = xp.linalg.slogdet(x)
    return sign, logarithm


@slogdet.backward()
def slogdet_backward(grad_outputs: list[Tensor], x: Tensor) -> Tensor:
    """The gradient of the logarithm times ``inv(x).T``."""
    each = grad_outputs[1]
    return chain_rule(each.reshape((*each.shape, 1, 1)), _transposed(inv(x)))


def _symmetric(xp: Any, x: Any) -> Any:
    return (x + xp.matrix_transpose(x)) / 2


@op(shape=_same_square, floats=True)
def cholesky(xp: Any, x: Array) -> Any:
    """The lower triangle ``L`` with ``L @ L.T`` the symmetric part of ``x``, ``(x + x.T) / 2``.

    Derivative: with ``P`` the lower triangle of ``L.T @ grad_output``, its diagonal halved, the
    symmetric part of ``inv(L).T @ P @ inv(L)``.

    Returns
    -------
    Tensor
        Lower triangles with positive diagonals, in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.cholesky([[4.0, 2.0], [2.0, 5.0]])
    tensor([[2., 0.],
            [1., 2.]])
    >>> ex.cholesky_backward([[1.0]], [[2.0]])
    tensor([[0.25]])
    """
    requirement = "matrices must be positive definite"
    compute = lambda: xp.linalg.cholesky(_symmetric(xp, x))  # noqa: E731
    return _by_lapack("cholesky", requirement, compute, x.shape)


@cholesky.backward()
def cholesky_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """The symmetric part of ``inv(L).T @ P @ inv(L)``."""
    product = tril(matmul(_transposed(output), tril(grad_output)))
    half = product - 0.5 * product * eye(output.shape[-1], dtype=output.dtype)
    inverse = inv(output)
    gradient = matmul(matmul(_transposed(inverse), half), inverse)
    return 0.5 * (gradient + _transposed(gradient))


def _eigen(name: str, shapes: Shapes) -> list[Shape]:
    shape = _square(name, shapes["x"])
    return [shape[:-1], shape]


@op(shape=_eigen, floats=True)
def eigh(xp: Any, x: Array) -> tuple[Any, Any]:
    """The eigenvalues, in increasing order, and eigenvectors of the symmetric part of ``x``.

    Derivative: with ``V`` the vectors as columns, the symmetric part of
    ``V @ (diag(g) + (V.T @ h) / (w[j] - w[i])) @ V.T`` for the gradients ``g`` of the values ``w``
    and ``h`` of the vectors. Vectors of equal eigenvalues have none: it is infinite there, unless
    ``V.T @ h`` is 0.

    Returns
    -------
    tuple of Tensor
        The eigenvalues, of shape (..., n), and the eigenvectors as columns, in the shape of ``x``.
        The signs of eigenvectors are arbitrary.

    >>> import extensor as ex
    >>> values, vectors = ex.eigh([[2.0, 0.0], [0.0, 1.0]])
    >>> values
    tensor([1., 2.])
    >>> ex.eigh_backward([[1.0, 0.0], [[0.0, 0.0], [0.0, 0.0]]], [[2.0, 0.0], [0.0, 1.0]])
    tensor([[0., 0.],
            [0., 1.]])
    """
    requirement = "eigenvalues must be found, so elements must be finite"
    compute = lambda: xp.linalg.eigh(_symmetric(xp, x))  # noqa: E731
    values, vectors = _by_lapack("eigh", requirement, compute, x.shape)
    return values, vectors


@eigh.backward()
def eigh_backward(grad_outputs: list[Tensor], x: Tensor) -> Tensor:
    """``V @ (diag(g) + (V.T @ h) / (w[j] - w[i])) @ V.T``, its symmetric part."""
    of_values, of_vectors = grad_outputs
    values, vectors = eigh(x)
    turned = _transposed(vectors)
    gaps = unsqueeze(values, -2) - unsqueeze(values, -1)
    own = eye(values.shape[-1], dtype=values.dtype) == 1
    mixed = where(own, 0.0, matmul(turned, of_vectors))
    inner = diag_embed(of_values) + chain_divide(mixed, where(own, 1.0, gaps))
    gradient = matmul(matmul(vectors, inner), turned)
    return 0.5 * (gradient + _transposed(gradient))


def _powered(name: str, shapes: Shapes, n: Any) -> Shape:
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise type_error(name, "n must be an int", n=n)
    if abs(int(n)) > 1000:
        raise value_error(name, "n must be in [-1000, 1000]", n=n)
    return _square(name, shapes["x"])


@op(shape=_powered, floats=True)
def matrix_power(xp: Any, x: Array, n: int) -> Any:
    """The product of ``n`` times ``x``; of its inverse, if ``n`` is negative.

    Derivative: the sum of ``(x.T)**k @ grad_output @ (x.T)**(n - 1 - k)`` over all ``k`` below ``n``.

    Parameters
    ----------
    n
        The power, from -1000 to 1000.

    Returns
    -------
    Tensor
        The powers, in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.matrix_power([[1.0, 1.0], [0.0, 1.0]], 3)
    tensor([[1., 3.],
            [0., 1.]])
    >>> ex.matrix_power_backward([[1.0]], [[3.0]], 2)
    tensor([[6.]])
    """
    compute = lambda: np.linalg.matrix_power(x, int(n))  # noqa: E731
    return _by_lapack("matrix_power", _INVERTIBLE, compute, x.shape)


@matrix_power.backward()
def matrix_power_backward(grad_output: Tensor, x: Tensor, n: int) -> Tensor:
    """The sum of ``(x.T)**k @ grad_output @ (x.T)**(n - 1 - k)``."""
    if n == 0:
        return zeros_like(x)
    base = _transposed(x) if n > 0 else _transposed(inv(x))
    # Horner's scheme: each turn appends a factor on the left and adds a term with all on the right.
    right, total = grad_output, grad_output
    for _ in range(abs(int(n)) - 1):
        right = matmul(right, base)
        total = matmul(base, total) + right
    if n > 0:
        return total
    return -matmul(matmul(base, total), base)
