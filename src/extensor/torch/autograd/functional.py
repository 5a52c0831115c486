"""``torch.autograd.functional``: Jacobians, Hessians and their products with vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor.core import backward_pass
from extensor.core.tensor import Tensor as CoreTensor
from extensor.differentiation import derivatives
from extensor.torch.tensor_class import handed_out

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vjp"]


def _given(func: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors of this package, for the core."""
    return lambda *inputs: func(*handed_out(inputs))


def _as_tuple(x: Any) -> tuple[Any, ...]:
    return (x,) if isinstance(x, CoreTensor) else tuple(x)


def _refuse(**options: Any) -> None:
    for name, value in options.items():
        if value:
            raise NotImplementedError(f"{name}: not implemented here")


def jacobian(
    func: Any,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivative of each output by each input."""
    _refuse(strict=strict)
    return handed_out(derivatives.jacobian(_given(func), inputs, create_graph))


def hessian(
    func: Any,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of one output."""
    _refuse(strict=strict)
    return handed_out(derivatives.hessian(_given(func), inputs, create_graph))


def vjp(
    func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """The output, and the product of a vector and the Jacobian."""
    _refuse(strict=strict)
    output, pull = derivatives.vjp(_given(func), *_as_tuple(inputs))
    vectors = [1.0] if v is None else _as_tuple(v)
    return handed_out(output), handed_out(pull(*vectors, create_graph=create_graph))


def jvp(
    func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """The output, and the product of the Jacobian and a vector."""
    _refuse(strict=strict, create_graph=create_graph)
    output, tangent = derivatives.jvp(_given(func), _as_tuple(inputs), _as_tuple(v))
    return handed_out(output), handed_out(tangent)


def hvp(
    func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """The output, and the product of the Hessian and a vector."""
    _refuse(strict=strict)
    given = [x.detach().requires_grad_() for x in _as_tuple(inputs)]
    output = func(*given)
    first = backward_pass.grad(output, given, create_graph=True)
    second = backward_pass.grad(first, given, list(_as_tuple(v)), create_graph, True)
    return output.detach(), handed_out(second[0] if isinstance(inputs, CoreTensor) else second)
