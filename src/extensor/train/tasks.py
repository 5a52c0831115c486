"""What a loss asks for: the task that it is of, and targets that fit the outputs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from extensor import nn, ops
from extensor.arrays.dtypes import is_floating
from extensor.core.tensor import Tensor, to_array
from extensor.errors import type_error, value_error

_MODULES: dict[str, type[nn.Module]] = {
    "cross_entropy": nn.CrossEntropyLoss,
    "nll_loss": nn.NLLLoss,
    "mse_loss": nn.MSELoss,
    "l1_loss": nn.L1Loss,
    "smooth_l1_loss": nn.SmoothL1Loss,
    "huber_loss": nn.HuberLoss,
    "binary_cross_entropy": nn.BCELoss,
    "binary_cross_entropy_with_logits": nn.BCEWithLogitsLoss,
    "focal_loss": nn.FocalLoss,
    "hinge_loss": nn.HingeLoss,
    "kl_div": nn.KLDivLoss,
}
CLASS_LOSSES = ("cross_entropy", "nll_loss")
_NUMBERS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_TRUTH = ("binary_cross_entropy", "binary_cross_entropy_with_logits", "focal_loss")
IGNORED = -100


def loss_name(loss: Any) -> str | None:
    """The op that ``loss`` is, or is a module of; None for one of the user's own.

    >>> import extensor as ex
    >>> from extensor.train.tasks import loss_name
    >>> loss_name(ex.nn.MSELoss()), loss_name(ex.cross_entropy), loss_name(lambda a, b: a)
    ('mse_loss', 'cross_entropy', None)
    """
    function: Any = loss.func if isinstance(loss, partial) and not loss.args else loss
    for name, module in _MODULES.items():
        is_module = isinstance(loss, module) and _is_called_as(loss, module)
        if is_module or function is getattr(ops, name):
            return name
    return None


def _is_called_as(loss: nn.Module, module: type[nn.Module]) -> bool:
    """Whether a call of ``loss`` computes what one of ``module`` does, and nothing else."""
    kind, own = type(loss), vars(loss)
    is_overridden = kind.__call__ is not module.__call__ or kind.forward is not module.forward
    return not (is_overridden or "forward" in own or loss._hooks)


def possible_tasks(loss: Any) -> tuple[str, ...]:
    """The tasks that ``loss`` may be of; which of them it is, an output says."""
    name = loss_name(loss)
    if name in CLASS_LOSSES:
        return ("multiclass",)
    if name in _NUMBERS:
        return ("regression",)
    return ("binary", "multilabel") if name in _TRUTH else ()


def task_of(loss: Any, output: Any) -> tuple[str | None, int | None]:
    """The task of a model with such outputs, and the number of its classes or labels."""
    tasks = possible_tasks(loss)
    shape = tuple(getattr(output, "shape", ()))
    size = shape[1] if len(shape) > 1 else 1
    if len(tasks) == 2:
        return ("binary", None) if size == 1 else ("multilabel", size)
    if not tasks:
        return None, None
    return tasks[0], size if tasks[0] == "multiclass" else None


def check_target(op: str, loss: Any, output: Any, target: Any, name: str = "target") -> None:
    """Refuse targets that ``loss`` does not take for such outputs, and say how they would fit."""
    known = loss_name(loss)
    if known is None or not isinstance(output, Tensor) or not hasattr(target, "shape"):
        return
    array = np.asarray(to_array(target, op=op))
    shapes = {"output_shape": output.shape, f"{name}_shape": tuple(array.shape)}
    if known in CLASS_LOSSES:
        _check_classes(op, known, output, array, name, shapes)
        return
    if output.shape != array.shape:
        hint = _reshaped(output.shape, array.shape)
        requirement = f"{name} must have the shape of the model's output for {known}{hint}"
        raise value_error(op, requirement, **shapes)


def check_values(op: str, loss: Any, output: Any, target: Any, name: str = "target") -> None:
    """Refuse values that ``loss`` gives no meaning to: other classes, or neither 0 nor 1."""
    known = loss_name(loss)
    if known is None or not hasattr(target, "shape"):
        return
    array = np.asarray(to_array(target, op=op))
    classes = output.shape[1] if getattr(output, "ndim", 0) > 1 else None
    wrong: Any = None
    if known in CLASS_LOSSES and classes is not None and not is_floating(array.dtype):
        wrong = ((array < 0) | (array >= classes)) & (
            array != loss_option(loss, "ignore_index", IGNORED)
        )
        requirement = f"{name} must be in [0, {classes - 1}], the classes of the model's output"
    elif known in _TRUTH:
        wrong = ~((array >= 0) & (array <= 1))
        requirement = f"{name} must be 0 or 1, or between, for {known}"
    elif known == "hinge_loss":
        wrong = ~np.isin(array, (-1, 1))
        requirement = f"{name} must be -1 or 1 for {known}"
    if wrong is not None and wrong.any():
        place = np.unravel_index(int(wrong.argmax()), wrong.shape)
        raise value_error(op, requirement, value=array[place].item(), sample=int(place[0]))


def _check_classes(
    op: str, known: str, output: Tensor, array: Any, name: str, shapes: dict[str, Any]
) -> None:
    if output.ndim < 2 or output.shape[1] < 2:
        requirement = (
            f"the model must give two or more scores for each sample, along axis 1, for {known} "
            "(one is for ex.nn.BCEWithLogitsLoss())"
        )
        raise value_error(op, requirement, **shapes)
    wanted = output.shape[:1] + output.shape[2:]
    if array.shape == output.shape and is_floating(array.dtype):
        return  # probabilities
    if array.shape != wanted:
        hint = " (y.argmax(axis=1))" if array.shape == output.shape else ""
        hint = hint or _reshaped(wanted, array.shape)
        requirement = f"{name} must be class numbers of shape {wanted} for {known}{hint}"
        raise value_error(op, requirement, **shapes)
    if array.dtype.kind not in "iu":
        requirement = f"{name} must be class numbers, integers, for {known} (y.astype('int64'))"
        raise type_error(op, requirement, **{f"{name}_dtype": str(array.dtype)})


def _reshaped(wanted: tuple[int, ...], given: tuple[int, ...]) -> str:
    """The way from a row to a column, or back."""
    if given == wanted[:1] and wanted[1:] == (1,):
        return " (y[:, None], or of a table's column y.to_frame())"
    return " (y[:, 0])" if given == (*wanted, 1) else ""


def loss_option(loss: Any, name: str, default: Any) -> Any:
    """What a loss of the library was given as ``name``: a function, a partial of it, or a module."""
    if isinstance(loss, partial):
        return loss.keywords.get(name, default)
    return getattr(loss, name, default) if isinstance(loss, nn.Module) else default
