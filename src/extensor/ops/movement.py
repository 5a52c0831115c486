"""Other shapes for the same elements. All are views where the memory allows."""

from __future__ import annotations

from typing import Any

from extensor.errors import value_error
from extensor.op import Array, op
from extensor.ops.shapes import Shape, Shapes, count, target
from extensor.tensor import Tensor


def _reshape(name: str, shapes: Shapes, shape: Any) -> Shape:
    (source,) = shapes.values()
    sizes = list(shape) if isinstance(shape, list | tuple) else [shape]
    if sizes.count(-1) > 1:
        raise value_error(name, "only one size may be -1", shape=tuple(sizes))
    wanted = list(target(name, [1 if size == -1 else size for size in sizes]))
    if -1 in sizes:
        known = count(wanted)
        wanted[sizes.index(-1)] = count(source) // known if known else 0
    if count(wanted) != count(source):
        raise value_error(
            name, f"{tuple(source)} has {count(source)} elements", shape=tuple(sizes)
        )
    return tuple(wanted)


@op(shape=_reshape, widen=False)
def reshape(xp: Any, x: Array, shape: Shape) -> Any:
    """The elements in another shape; one size may be -1. Derivative: ``grad_output`` in the old shape.

    >>> import extensor as ex
    >>> ex.reshape([1.0, 2.0, 3.0, 4.0], (2, -1))
    tensor([[1., 2.],
            [3., 4.]])
    """
    return xp.reshape(x, _reshape("reshape", {"x": x.shape}, shape))


@reshape.backward()
def reshape_backward(grad_output: Tensor, input_shape: Shape) -> Tensor:
    """``grad_output`` in ``input_shape``."""
    return reshape(grad_output, input_shape)
