"""Products of matrices and vectors, and ``torch.linalg`` as far as the core has it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from extensor import ops
from extensor.arrays.dtypes import is_floating
from extensor.core.tensor import Tensor as CoreTensor
from extensor.torch import reductions
from extensor.torch.elementwise import of_two
from extensor.torch.sizes import dims_of
from extensor.torch.tensor_class import Tensor, array_of, functions_of, named, wrapped

_matmul = of_two(ops.matmul)


def _same_dtype(op: str, a: Any, b: Any) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(f"{op}: both must be of one dtype, got {a.dtype} and {b.dtype}")


def matmul(input: Any, other: Any) -> Tensor:
    """The product of matrices, with batches that broadcast, or of vectors."""
    _same_dtype("matmul", input, other)
    return _matmul(input, other)  # type: ignore[no-any-return]


def mm(input: Any, mat2: Any) -> Tensor:
    """The product of two matrices."""
    return _of("mm", input, mat2, 2, 2)


def bmm(input: Any, mat2: Any) -> Tensor:
    """The products of two batches of matrices."""
    if input.ndim == mat2.ndim == 3 and input.shape[0] != mat2.shape[0]:
        raise RuntimeError(f"bmm: batches must be equal, got {input.shape[0]} and {mat2.shape[0]}")
    return _of("bmm", input, mat2, 3, 3)


def mv(input: Any, vec: Any) -> Tensor:
    """The product of a matrix and a vector."""
    return _of("mv", input, vec, 2, 1)


def dot(input: Any, tensor: Any) -> Tensor:
    """The sum of the products of two vectors."""
    return _of("dot", input, tensor, 1, 1)


def _of(op: str, a: Any, b: Any, first: int, second: int) -> Tensor:
    if (a.ndim, b.ndim) != (first, second):
        raise RuntimeError(
            f"{op}: inputs must have {first} and {second} dimensions, got {a.ndim} and {b.ndim}"
        )
    return matmul(a, b)


@named
def inner(input: Any, other: Any) -> Any:
    """The sums of the products along the last dimensions."""
    if input.ndim == 0 or other.ndim == 0:
        return ops.multiply(input, other)
    return ops.tensordot(input, other, ((-1,), (-1,)))


@named
def outer(input: Any, vec2: Any) -> Any:
    """The products of each two elements of two vectors."""
    return ops.outer(input, vec2)


@named
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """``beta * input + alpha * mat1 @ mat2``."""
    return _sum(input, ops.matmul(mat1, mat2), beta, alpha)


def _sum(input: Any, product: Any, beta: float, alpha: float) -> Any:
    """``beta * input + alpha * product`` in the dtype of the tensors; a beta of 0 leaves out even NaN."""
    mixed, product = product.dtype, _times(product, alpha)
    if beta == 0:
        return ops.broadcast_to(product, np.broadcast_shapes(input.shape, product.shape))
    total = ops.add(_times(input, beta), product)
    return ops.cast(total, np.bool_) if input.dtype == np.bool_ == mixed else total


def _times(x: Any, factor: float) -> Any:
    if factor == 1:
        return x
    return ops.multiply(x, factor if is_floating(x.dtype) else int(factor))


@named
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """``beta * input + alpha *`` the sum of the products of a batch."""
    return _sum(input, ops.sum(ops.matmul(batch1, batch2), 0), beta, alpha)


@named
def addr(input: Any, vec1: Any, vec2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """``beta * input + alpha * outer(vec1, vec2)``."""
    return _sum(input, ops.outer(vec1, vec2), beta, alpha)


@named
def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products by Einstein's notation."""
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    return ops.einsum(equation, *operands)


@named
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """The sums of products along dimensions."""
    return ops.tensordot(a, b, dims if isinstance(dims, int) else tuple(tuple(x) for x in dims))


@named
def kron(input: Any, other: Any) -> Any:
    """The Kronecker product."""
    ndim = max(input.ndim, other.ndim)
    a, b = (ops.reshape(x, (1,) * (ndim - x.ndim) + tuple(x.shape)) for x in (input, other))
    left = tuple(size for each in a.shape for size in (each, 1))
    right = tuple(size for each in b.shape for size in (1, each))
    product = ops.multiply(ops.reshape(a, left), ops.reshape(b, right))
    return ops.reshape(product, tuple(m * n for m, n in zip(a.shape, b.shape, strict=True)))


@named
def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """The cross product along a dimension of size 3."""
    if dim is None:
        dim = next(axis for axis, size in enumerate(input.shape) if size == 3)
    a, b = (ops.moveaxis(x, dim, 0) for x in (input, other))
    parts = [ops.subtract(a[i] * b[j], a[j] * b[i]) for i, j in ((1, 2), (2, 0), (0, 1))]
    return ops.stack(parts, dim)


@named
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = None) -> Any:
    """The distance of each row of one to each row of the other."""
    difference = ops.subtract(ops.unsqueeze(x1, -2), ops.unsqueeze(x2, -3))
    return reductions.norm(difference, p, -1)


@named
def matrix_power(input: Any, n: int) -> Any:
    """A matrix multiplied with itself."""
    if n < 0:
        raise NotImplementedError("matrix_power: n below 0 is not implemented here")
    result: Any = wrapped(np.eye(input.shape[-1], dtype=input.dtype))
    for _ in range(n):
        result = ops.matmul(result, input)
    return result


def chain_matmul(*matrices: Any) -> Any:
    """The product of several matrices."""
    result = matrices[0]
    for matrix in matrices[1:]:
        result = matmul(result, matrix)
    return result


FUNCTIONS = functions_of(globals())
FUNCTIONS |= {
    "ger": outer,
    "addmv": addmm,
    "baddbmm": addmm,
}


# torch.linalg


def vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of the elements, or along dimensions."""
    return reductions.norm(x, ord, dim, keepdim, dtype)  # type: ignore[no-any-return]


@named
def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The norm of matrices: Frobenius, or the greatest sum of magnitudes of a column or row."""
    if ord == "fro":
        return ops.norm(A, 2, dims_of(dim), keepdim)
    if ord in (1, float("inf")):
        rows, columns = (axis % A.ndim for axis in dim)
        along, other = (rows, columns) if ord == 1 else (columns, rows)
        sums = ops.sum(ops.abs(A), along, True)
        result = ops.max_reduce(sums, other, True)
        return result if keepdim else ops.squeeze(result, (rows, columns))
    raise NotImplementedError(f"matrix_norm: ord={ord!r} is not implemented here")


def linalg_norm(
    A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of a vector or of a matrix."""
    is_matrix = (dim is None and A.ndim == 2) or (isinstance(dim, tuple | list) and len(dim) == 2)
    if ord is not None and is_matrix:
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim)  # type: ignore[no-any-return]
    return reductions.norm(A, 2 if ord is None else ord, dim, keepdim, dtype)  # type: ignore[no-any-return]


def _without_gradient(op: str, function: Any) -> Any:
    """A function of NumPy's, which has no gradient here: of what is not recorded only."""

    def call(*inputs: Any, **options: Any) -> Any:
        for x in inputs:
            if isinstance(x, CoreTensor) and x.requires_grad:
                raise NotImplementedError(f"linalg.{op}: has no gradient here; detach() the input")
        arrays = [array_of(x, op) if not isinstance(x, int | float | str) else x for x in inputs]
        result = function(*arrays, **options)
        return tuple(wrapped(x) for x in result) if isinstance(result, tuple) else wrapped(result)

    call.__name__ = call.__qualname__ = op
    return call


linalg = SimpleNamespace(
    norm=linalg_norm,
    vector_norm=vector_norm,
    matrix_norm=matrix_norm,
    matmul=matmul,
    matrix_power=matrix_power,
    cross=lambda input, other, *, dim=-1: cross(input, other, dim),
    multi_dot=lambda tensors: chain_matmul(*tensors),
    diagonal=None,
    **{
        name: _without_gradient(name, getattr(np.linalg, name))
        for name in "inv det slogdet solve cholesky qr svd eigh eigvalsh pinv".split()
    },
)
del linalg.diagonal
