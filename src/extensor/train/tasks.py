"""The tables of tasks and losses, checks of targets against a loss, and trials of a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from extensor import nn, ops
from extensor.arrays.dtypes import is_floating
from extensor.core.door import watchers
from extensor.core.tensor import Tensor, to_array
from extensor.errors import type_error, value_error
from extensor.nn.module import Module
from extensor.nn.preservation import preserve_state

IGNORED = -100
PROBABILITIES = "probabilities"


@dataclass(frozen=True)
class LossTraits:
    """A loss: the op that computes it, and the targets and outputs that it takes.

    ``targets`` are "classes" (numbers from 0 on), "truth" (0 or 1), "signs" (-1 or 1), "numbers",
    "distributions", or "several" for a loss of more than one target. ``outputs`` says what the model
    must give. ``weights`` is the name of the argument for class weights. The targets of a loss
    ``of_any_scale`` may be standardized, because the loss has no fixed scale.
    """

    op: str
    targets: str
    outputs: str = "scores"
    weights: str | None = None
    of_any_scale: bool = False

    @property
    def scores(self) -> str:
        """How metrics read the outputs of a model with this loss."""
        return PROBABILITIES if self.outputs == PROBABILITIES else "logits"


# By the names of their modules. Of several with the same targets, the first is the default.
LOSSES = {
    "CrossEntropyLoss": LossTraits("cross_entropy", "classes", weights="weight"),
    "NLLLoss": LossTraits("nll_loss", "classes", "logarithms of probabilities", "weight"),
    "BCEWithLogitsLoss": LossTraits(
        "binary_cross_entropy_with_logits", "truth", weights="pos_weight"
    ),
    "BCELoss": LossTraits("binary_cross_entropy", "truth", PROBABILITIES),
    "FocalLoss": LossTraits("focal_loss", "truth"),
    "MSELoss": LossTraits("mse_loss", "numbers", of_any_scale=True),
    "L1Loss": LossTraits("l1_loss", "numbers", of_any_scale=True),
    "SmoothL1Loss": LossTraits("smooth_l1_loss", "numbers"),
    "HuberLoss": LossTraits("huber_loss", "numbers"),
    "HingeLoss": LossTraits("hinge_loss", "signs"),
    "KLDivLoss": LossTraits("kl_div", "distributions"),
    "TripletMarginLoss": LossTraits("triplet_margin_loss", "several"),
    "CosineEmbeddingLoss": LossTraits("cosine_embedding_loss", "several"),
}
# The losses of one output and one target, by op.
_BY_OP = {traits.op: traits for traits in LOSSES.values() if traits.targets != "several"}
_MODULES: dict[str, type[nn.Module]] = {
    traits.op: getattr(nn, name) for name, traits in LOSSES.items() if traits.op in _BY_OP
}
CLASS_LOSSES = tuple(op for op, traits in _BY_OP.items() if traits.targets == "classes")


@dataclass(frozen=True)
class Task:
    """A task: its kind of targets, its default loss and its default metrics.

    ``targets`` is the kind of targets that its losses take; ``class_axis`` is the axis of the outputs
    with a score for each class, label or number. The first of ``metrics`` is the main one.
    """

    name: str
    targets: str
    loss: str
    metrics: tuple[str, ...]
    class_axis: int = 1

    @property
    def op(self) -> str:
        """The op of the default loss."""
        return LOSSES[self.loss].op

    @property
    def is_of_labels(self) -> bool:
        """Whether each score stands for itself, and is compared with 0 or 1."""
        return self.targets == "truth"

    @property
    def is_of_one_class(self) -> bool:
        """Whether each sample has one class, of two or more."""
        return self.name in ("binary", "multiclass")


TASKS = {
    task.name: task
    for task in (
        Task(
            "regression",
            "numbers",
            "MSELoss",
            ("r2", "root_mean_squared_error", "mean_absolute_error"),
        ),
        Task("binary", "truth", "BCEWithLogitsLoss", ("accuracy", "roc_auc", "f1")),
        Task("multiclass", "classes", "CrossEntropyLoss", ("accuracy", "f1")),
        Task("multilabel", "truth", "BCEWithLogitsLoss", ("f1", "average_precision", "accuracy")),
        Task("sequence", "tokens", "CrossEntropyLoss", ("perplexity", "accuracy"), class_axis=-1),
    )
}


def loss_traits(name: str) -> LossTraits:
    """The traits of the loss module called ``name``; a loss of the user takes anything.

    >>> from extensor.train.tasks import loss_traits
    >>> loss_traits("BCELoss").scores, loss_traits("mine:loss").targets
    ('probabilities', '')
    """
    return LOSSES.get(name) or LossTraits("", "")


def loss_name(loss: Any) -> str | None:
    """The name of the op that ``loss`` computes; None for a loss of the user.

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
    """Whether a call of ``loss`` computes exactly what ``module`` does."""
    kind, own = type(loss), vars(loss)
    is_overridden = kind.__call__ is not module.__call__ or kind.forward is not module.forward
    return not (is_overridden or "forward" in own or loss._hooks)


def scores_for(loss: Any) -> str:
    """How metrics read the outputs of a model that is trained with ``loss``."""
    return _BY_OP.get(loss_name(loss) or "", loss_traits("")).scores


def possible_tasks(loss: Any) -> tuple[str, ...]:
    """The tasks that ``loss`` may be for; the shape of an output decides between them."""
    traits = _BY_OP.get(loss_name(loss) or "")
    return tuple(x.name for x in TASKS.values() if traits and x.targets == traits.targets)


def task_of_targets(targets: str, columns: int) -> str | None:
    """The task of a loss with this kind of targets, for outputs of so many columns."""
    fitting = [task for task in TASKS.values() if task.targets == targets]
    if not fitting:
        return None
    return (
        ("multilabel" if columns > 1 else "binary") if fitting[0].is_of_labels else fitting[0].name
    )


def task_of(loss: Any, output: Any) -> tuple[str | None, int | None]:
    """The task of a model with outputs like ``output``, and the number of its classes or labels."""
    traits = _BY_OP.get(loss_name(loss) or "")
    shape = tuple(getattr(output, "shape", ()))
    size = shape[1] if len(shape) > 1 else 1
    task = None if traits is None else task_of_targets(traits.targets, size)
    return task, size if task in ("multiclass", "multilabel") else None


def check_target(op: str, loss: Any, output: Any, target: Any, name: str = "target") -> None:
    """Refuse targets whose shape does not fit ``loss`` and the output, with a hint how to reshape them."""
    known = loss_name(loss)
    if known is None or not isinstance(output, Tensor) or not hasattr(target, "shape"):
        return
    array = np.asarray(to_array(target, op=op))
    shapes = {"output_shape": output.shape, f"{name}_shape": tuple(array.shape)}
    if known not in CLASS_LOSSES:
        if output.shape != array.shape:
            hint = _reshaped(output.shape, array.shape)
            requirement = f"{name} must have the shape of the model's output for {known}{hint}"
            raise value_error(op, requirement, **shapes)
        return
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


def check_values(op: str, loss: Any, output: Any, target: Any, name: str = "target") -> None:
    """Refuse target values that ``loss`` cannot use, such as a class that the output does not have."""
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
    elif _BY_OP[known].targets == "truth":
        wrong = ~((array >= 0) & (array <= 1))
        requirement = f"{name} must be 0 or 1, or between, for {known}"
    elif _BY_OP[known].targets == "signs":
        wrong = ~np.isin(array, (-1, 1))
        requirement = f"{name} must be -1 or 1 for {known}"
    if wrong is not None and wrong.any():
        place = np.unravel_index(int(wrong.argmax()), wrong.shape)
        raise value_error(op, requirement, value=array[place].item(), sample=int(place[0]))


def _reshaped(wanted: tuple[int, ...], given: tuple[int, ...]) -> str:
    """A hint how to turn a row of targets into a column, or back."""
    if given == wanted[:1] and wanted[1:] == (1,):
        return " (y[:, None], or of a table's column y.to_frame())"
    return " (y[:, 0])" if given == (*wanted, 1) else ""


def loss_option(loss: Any, name: str, default: Any) -> Any:
    """The option ``name`` of a loss of the library: a function, a partial of it, or a module."""
    if isinstance(loss, partial):
        return loss.keywords.get(name, default)
    return getattr(loss, name, default) if isinstance(loss, nn.Module) else default


def is_watched(model: Module) -> bool:
    """Whether hooks or watchers would see a call of the model."""
    return bool(watchers) or any(module._hooks for module in model.modules())


class UncopiedError(Exception):
    """The attributes of a model or loss cannot be copied, so it cannot be tried."""


@contextmanager
def on_trial(model: Module, loss: Any) -> Iterator[None]:
    """Let model and loss change inside the block, and restore them afterwards.

    The objects stay the same, because functions may refer to them: a loss that adds
    ``model.penalty`` reads what the forward pass of this model has set. Only their attributes are
    replaced by copies.
    """
    holders: list[Any] = list(model.modules())
    if hasattr(loss, "__dict__") and loss_name(loss) is None:
        holders += [loss, *(loss.modules() if isinstance(loss, Module) else ())]
    holders = list({id(x): x for x in holders if not isinstance(x, FunctionType)}.values())
    kept: dict[int, Any] = {id(x): x for x in (*holders, *model.parameters())}
    if loss_name(loss) is not None:
        kept[id(loss)] = loss
    contents = [dict(vars(x)) for x in holders]
    try:
        copies = deepcopy(contents, kept)
    except Exception:
        raise UncopiedError from None
    with preserve_state(model, loss):
        try:
            _exchange(holders, copies)
            yield
        finally:
            _exchange(holders, contents)


def _exchange(holders: list[Any], contents: list[dict[str, Any]]) -> None:
    for holder, attributes in zip(holders, contents, strict=True):
        vars(holder).clear()
        vars(holder).update(attributes)
