"""Powers of e, logarithms and roots."""

from __future__ import annotations

from typing import Any

from extensor.op import Array, op
from extensor.ops.chain import over
from extensor.ops.shapes import same
from extensor.tensor import Tensor


@op(kernel="log", shape=same, floats=True)
def log(xp: Any, x: Array) -> Any:
    """The natural logarithm. Derivative: ``1 / x``, with ``x`` lifted to ``eps``.

    >>> import extensor as ex
    >>> ex.log_backward([1.0, 1.0], [2.0, 4.0])
    tensor([0.5 , 0.25])
    """
    return xp.log(x)


@log.backward(kernel="log_backward")
def log_backward(grad_output: Tensor, x: Tensor, eps: float = 1e-10) -> Tensor:
    """``grad_output / x``."""
    return over(grad_output, x, eps)
