"""Keeping gradients in bounds, in place and before a step."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from operator import is_not
from typing import Any

import numpy as np

from extensor.arrays.dtypes import float64, get_default_dtype
from extensor.core import changes, door, modes, tracing
from extensor.core.tensor import Tensor, wrap
from extensor.errors import value_error
from extensor.errors.explanation import checked
from extensor.optim.update import Parameters, Update, rebind, tensors_in


@np.errstate(all="ignore")
def gradient_norm(gradients: list[Any], order: float) -> Any:
    """The norm of all elements of all arrays together, in float64."""
    total = np.zeros((), float64)
    for gradient in gradients:
        size = np.abs(np.asarray(gradient, float64))
        if order == inf:
            total = np.maximum(total, size.max(initial=0.0))
        elif order == 0:
            total = total + np.count_nonzero(size)
        else:
            total = total + np.sum(size**order)
    return np.asarray(total if order in (0, inf) else total ** (1 / order))


def scale_update(xp: Any, gradient: Any, factor: float) -> tuple[Any]:
    """``gradient * factor``."""
    return (gradient * factor,)


def clip_update(xp: Any, gradient: Any, bound: float) -> tuple[Any]:
    """``gradient`` with every element brought into ``[-bound, bound]``."""
    return (xp.clip(gradient, -bound, bound),)


_scale = Update(scale_update, roles=1)
_bound = Update(clip_update, roles=1)
# By the kernel if it has one; while a function is traced, arrays without values give such an array.
norm_array = door.computation("gradient_norm", "gradient_norm", gradient_norm)


def multiply_gradients(gradients: list[Any], factor: Any) -> None:
    """Multiply the arrays by ``factor`` in place, all in one call."""
    _scale([gradients], (factor,))


def clip_values(gradients: list[Any], bound: float) -> None:
    """Bring every element of the arrays into ``[-bound, bound]`` in place, all in one call."""
    _bound([gradients], (bound,))


def multiply_gradients_of(tensors: Sequence[Tensor], gradients: list[Any], factor: Any) -> None:
    """The same for ``gradients`` that tensors have, and may have to be given anew."""
    before = gradients.copy()
    multiply_gradients(gradients, factor)
    _give_anew(tensors, before, gradients)
    changes.mark_all(gradients, modes.mode.anomaly)


def _give_anew(tensors: Sequence[Tensor], before: list[Any], gradients: list[Any]) -> None:
    """Let tensors have the arrays in which their gradients are now, where these could not be changed."""
    if any(map(is_not, before, gradients)):
        rebind([x.grad for x in tensors if x.grad is not None], before, gradients)


def norm_of(gradients: list[Any], order: float) -> float:
    """:func:`norm_array` as a number."""
    return float(norm_array(gradients, order))


def gradients_of(op: str, parameters: Parameters) -> list[Any]:
    """The arrays of all gradients, each once, and writeable."""
    found = [x.grad._array for x in tensors_in(op, parameters) if x.grad is not None]
    # A gradient that two tensors hold is one: it would be scaled twice, and count twice.
    unique = list({id(x): x for x in found}.values())
    for index, array in enumerate(unique):
        if isinstance(array, np.ndarray) and not array.flags.writeable:
            raise value_error(op, "a gradient must not be read-only", index=index)
    return unique


@checked
def clip_grad_norm(
    parameters: Parameters,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale all gradients by one factor so that their common norm is at most ``max_norm``.

    Call it between ``backward`` and ``step``. Gradients within the bound are not touched.

    Parameters
    ----------
    parameters : Tensor, iterable of Tensor or Module
        Whose gradients to clip; those without one are skipped.
    max_norm : float
        Largest allowed norm.
    norm_type : float, default 2.0
        Order of the norm over all elements together; ``inf`` for the largest magnitude.
    error_if_nonfinite : bool, default False
        Whether to raise an error if the norm is infinite or NaN.

    Returns
    -------
    Tensor
        The norm before clipping, a 0-d tensor.

    Raises
    ------
    ValueError
        If ``max_norm`` or ``norm_type`` is negative, or a gradient is read-only.
    RuntimeError
        If the norm is not finite and ``error_if_nonfinite`` is set.

    See Also
    --------
    clip_grad_value : Clips each element.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([0.0, 0.0], requires_grad=True)
    >>> w.grad = ex.tensor([3.0, 4.0])
    >>> ex.optim.clip_grad_norm([w], max_norm=1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6, 0.8])
    """
    if not float(max_norm) >= 0:
        raise value_error("clip_grad_norm", "max_norm must be 0 or greater", max_norm=max_norm)
    if not float(norm_type) >= 0:
        raise value_error("clip_grad_norm", "norm_type must be 0 or greater", norm_type=norm_type)
    tensors = tensors_in("clip_grad_norm", parameters)
    gradients = gradients_of("clip_grad_norm", tensors)
    trace = tracing.current()
    arguments = gradients, float(max_norm), float(norm_type), error_if_nonfinite
    if trace is not None and trace.hides_values:
        return wrap(trace.formula("clip_grad_norm", _clip, arguments, gradients))
    if trace is not None and not error_if_nonfinite:
        return _clip_traced(tensors, gradients, float(max_norm), float(norm_type))
    before = gradients.copy()
    norm = _clip(*arguments)
    _give_anew(tensors, before, gradients)
    return wrap(norm)


def _clip(gradients: list[Any], max_norm: float, order: float, must_be_finite: bool) -> Any:
    """Scale the arrays down to a norm of ``max_norm``, in place; the norm that they had."""
    norm = norm_of(gradients, order)
    if must_be_finite and not isfinite(norm):
        raise RuntimeError(
            f"clip_grad_norm: the norm of the gradients must be finite, got norm={norm}"
        )
    if not norm <= max_norm:
        multiply_gradients(gradients, max_norm / norm)
        changes.mark_all(gradients, modes.mode.anomaly)
    wide = any(gradient.dtype == float64 for gradient in gradients)
    return np.asarray(norm, float64 if wide else get_default_dtype())


def _clip_traced(
    tensors: list[Tensor], gradients: list[Any], max_norm: float, order: float
) -> Tensor:
    norm = norm_array(gradients, order)
    xp = door.namespace(norm)
    factor = xp.where(norm <= max_norm, xp.ones_like(norm), max_norm / norm)
    before = gradients.copy()
    for index, gradient in enumerate(before):
        gradients[index] = gradient * xp.astype(factor, gradient.dtype)
    _give_anew(tensors, before, gradients)
    wide = any(gradient.dtype == float64 for gradient in gradients)
    return wrap(xp.astype(norm, float64 if wide else get_default_dtype()))


@checked
def clip_grad_value(parameters: Parameters, clip_value: float) -> None:
    """Clip every element of every gradient to ``[-clip_value, clip_value]``, in place.

    Parameters
    ----------
    parameters : Tensor, iterable of Tensor or Module
        Whose gradients to clip; those without one are skipped.
    clip_value : float
        Largest allowed magnitude.

    Raises
    ------
    ValueError
        If ``clip_value`` is negative or a gradient is read-only.

    See Also
    --------
    clip_grad_norm : Keeps the direction.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([0.0, 0.0], requires_grad=True)
    >>> w.grad = ex.tensor([3.0, -0.5])
    >>> ex.optim.clip_grad_value([w], 1.0)
    >>> w.grad
    tensor([ 1. , -0.5])
    """
    if not float(clip_value) >= 0:
        raise value_error(
            "clip_grad_value", "clip_value must be 0 or greater", clip_value=clip_value
        )
    tensors = tensors_in("clip_grad_value", parameters)
    gradients = gradients_of("clip_grad_value", tensors)
    before = gradients.copy()
    clip_values(gradients, clip_value)
    _give_anew(tensors, before, gradients)
    changes.mark_all(gradients, modes.mode.anomaly)
