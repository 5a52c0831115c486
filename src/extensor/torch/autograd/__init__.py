"""``torch.autograd``: gradients as values, functions with their own gradient, Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from extensor.core import backward_pass, modes
from extensor.core.tensor import Tensor as CoreTensor
from extensor.differentiation.custom_function import Function as CoreFunction
from extensor.torch import modes as grad_mode
from extensor.torch.autograd import functional as functional
from extensor.torch.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from extensor.torch.tensor_class import handed_out, wrapped

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "functional",
    "grad",
    "grad_mode",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]


def _as_list(x: Any) -> list[Any]:
    return [x] if isinstance(x, CoreTensor) or x is None else list(x)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``, always a tuple."""
    if is_grads_batched:
        raise NotImplementedError("grad: is_grads_batched is not implemented here")
    given = None if grad_outputs is None else _as_list(grad_outputs)
    unused = bool(allow_unused) or materialize_grads
    wanted = _as_list(inputs)
    found = backward_pass.grad(_as_list(outputs), wanted, given, create_graph, unused, retain_graph)
    if materialize_grads:
        found = tuple(
            wrapped(x._array * 0) if part is None else part
            for x, part in zip(wanted, found, strict=True)
        )
    return handed_out(found)  # type: ignore[no-any-return]


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Add the gradients of ``tensors`` to ``grad`` of the leaves."""
    given = None if grad_tensors is None else _as_list(grad_tensors)
    keep = create_graph if retain_graph is None else retain_graph
    backward_pass.backward(_as_list(tensors), given, keep, create_graph)


def Variable(data: Any, requires_grad: bool = False) -> Any:  # noqa: N802  as PyTorch has it
    """The tensor itself, as since PyTorch 0.4."""
    made = handed_out(CoreTensor.detach(data)) if requires_grad else data
    if requires_grad:
        made.requires_grad = True
    return made


def _not_here(name: str) -> Callable[..., None]:
    def refuse(*_: Any) -> None:
        raise NotImplementedError(f"ctx.{name}: not implemented here")

    return refuse


def _mark_non_differentiable(*outputs: Any) -> None:
    for x in outputs:
        if x.dtype.kind == "f":
            raise NotImplementedError("ctx.mark_non_differentiable: of integers only")


class Function(CoreFunction):
    """A function with its own gradient: ``forward`` and ``backward`` are static methods.

    ``forward`` takes the context first, or there is a third method ``setup_context``.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * grad_output
    >>> x = torch.ones(2, requires_grad=True)
    >>> Cube.apply(x).sum().backward()
    >>> x.grad
    tensor([3., 3.])
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = vars(cls)
        if "forward" in own:
            cls.forward = staticmethod(_forward(own["forward"].__func__, own.get("setup_context")))  # type: ignore[method-assign]
        if "backward" in own:
            cls.backward = staticmethod(_backward(own["backward"].__func__))  # type: ignore[method-assign]

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward`` and put the call on the tape."""
        return handed_out(super().apply(*args, **kwargs))


def _forward(function: Callable[..., Any], setup: Any) -> Callable[..., Any]:
    @wraps(function)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx.mark_dirty = _not_here("mark_dirty")
        ctx.set_materialize_grads = _not_here("set_materialize_grads")
        ctx.mark_non_differentiable = _mark_non_differentiable
        if setup is None:
            return function(ctx, *args, **kwargs)
        output = function(*args, **kwargs)
        setup.__func__(ctx, args, output)
        return output

    return forward


def _backward(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def backward(ctx: Any, *gradients: Any) -> Any:
        handed_out(ctx._saved)
        return function(ctx, *handed_out(gradients))

    return backward


class set_detect_anomaly:  # noqa: N801
    """Look for NaN in gradients from now on; as a context, inside the block.

    Parameters
    ----------
    mode : bool
        Whether to look.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = modes.mode.anomaly
        modes.mode.anomaly = bool(mode)

    def __enter__(self) -> None:
        """Nothing: the mode is set when the object is made."""

    def __exit__(self, *error: object) -> None:
        modes.mode.anomaly = self._before


def detect_anomaly(check_nan: bool = True) -> Any:
    """Look for NaN in gradients inside the block."""
    return modes.detect_anomaly()


def __dir__() -> list[str]:
    return sorted(__all__)
