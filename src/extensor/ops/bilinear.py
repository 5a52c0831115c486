"""A map that is linear in each of two inputs."""

from __future__ import annotations

from typing import Any

from extensor.arrays.shapes import Shape, Shapes, check_shape, count
from extensor.arrays.supplement import as_factor
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.matrix import linear, matmul
from extensor.ops.movement import permute


def _shape(name: str, shapes: Shapes) -> Shape:
    x1, x2, weight = (tuple(shapes[key]) for key in ("x1", "x2", "weight"))
    got = {"x1_shape": x1, "x2_shape": x2, "weight_shape": weight}
    if len(weight) != 3:
        raise value_error(name, "weight must be 3-D (out, in1, in2)", **got)
    if not x1 or not x2 or x1[:-1] != x2[:-1] or (x1[-1], x2[-1]) != weight[1:]:
        wanted = "x1 must be (..., in1) and x2 (..., in2) with the same axes in front"
        raise value_error(name, wanted, **got)
    check_shape(name, "bias", shapes.get("bias"), weight[:1])
    return (*x1[:-1], weight[0])


@op(shape=_shape, floats=True)
def bilinear(xp: Any, x1: Array, x2: Array, weight: Array, bias: Array | None = None) -> Any:
    """``sum(x1[i] * weight[o, i, j] * x2[j])`` over i and j for each output o, plus ``bias``.

    Derivative: the same sum with ``grad_output`` in the place of what it is taken by.

    Parameters
    ----------
    x1 : (..., in1)
        The first input.
    x2 : (..., in2)
        The second input.
    weight : (out, in1, in2)
        A matrix for each output.
    bias : (out,)
        Numbers to add to the outputs.

    Returns
    -------
    Tensor
        The result, (..., out).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    >>> import extensor as ex
    >>> ex.bilinear([2.0, 1.0], [3.0], [[[1.0], [10.0]]], [0.5])
    tensor([36.5])
    >>> ex.bilinear_backward([1.0], [2.0, 1.0], [3.0], [[[1.0], [10.0]]]).grad_x2
    tensor([12.])
    """
    out, in1, in2 = weight.shape
    front = x1.shape[:-1]
    rows = xp.reshape(x1, (count(front), in1))
    # (rows, in1) times (in1, out * in2): a row of in2 numbers for each output.
    flat = xp.reshape(xp.permute_dims(weight, (1, 0, 2)), (in1, out * in2))
    parts = xp.reshape(xp.matmul(as_factor(rows), as_factor(flat)), (count(front), out, in2))
    result = xp.sum(parts * xp.reshape(x2, (count(front), 1, in2)), axis=-1)
    result = xp.reshape(result, (*front, out))
    return result if bias is None else result + bias


@bilinear.backward()
def bilinear_backward(
    grad_output: Tensor, x1: Tensor, x2: Tensor, weight: Tensor
) -> tuple[Any, Any, Any, Any]:
    """The gradients of both inputs, ``weight`` and ``bias``; by hand the last comes without one too."""
    out, in1, in2 = weight.shape
    many = count(x1.shape[:-1])
    first, second = x1.reshape(many, in1), x2.reshape(many, in2)
    gradient = grad_output.reshape(many, out, 1)

    def to_x1() -> Tensor:
        pairs = (gradient * second.reshape(many, 1, in2)).reshape(many, out * in2)
        flat = permute(weight, (1, 0, 2)).reshape(in1, out * in2)
        return linear(pairs, flat).reshape(x1.shape)

    def to_x2() -> Tensor:
        pairs = (gradient * first.reshape(many, 1, in1)).reshape(many, out * in1)
        return matmul(pairs, weight.reshape(out * in1, in2)).reshape(x2.shape)

    def to_weight() -> Tensor:
        pairs = (gradient * first.reshape(many, 1, in1)).reshape(many, out * in1)
        return matmul(pairs.T, second).reshape(weight.shape)

    return to_x1, to_x2, to_weight, lambda: grad_output.reshape(many, out).sum(axis=0)
