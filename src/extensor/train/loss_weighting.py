"""How the losses of a step's parts make up the loss of the whole: the weight of each part.

A loss that is a sum counts once for each part. A loss that is a mean counts by its mass, the number that it
divides by: samples, elements, targets that are not ignored, or the sum of their class weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.core.tensor import to_array
from extensor.distributed.tree import added
from extensor.errors import arguments, type_error, value_error
from extensor.train.tasks import CLASS_LOSSES, IGNORED, loss_name, loss_option

LossReduction = str | Callable[[Any], Any] | None  # "mean", "sum" or masses of targets


class OverPositions:
    """A loss of classes for each position of a text: the last axis has the scores."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss

    def __call__(self, output: Any, target: Any) -> Any:
        return self.loss(output.reshape((-1, output.shape[-1])), target.reshape((-1,)))


class LossWeighting:
    """The weights of parts, for ``loss`` or as ``reduction`` says.

    ``"mean"`` weighs each part by its samples, ``"sum"`` by 1, a function by what it gives for the
    part's target. Without one, losses of the library are known, and others are assumed to be means
    over the samples.
    """

    def __init__(self, loss: Any, reduction: LossReduction = None) -> None:
        if reduction not in (None, "mean", "sum") and not callable(reduction):
            requirement = "loss_reduction must be 'mean', 'sum', a function of a target, or None"
            raise value_error("Trainer", requirement, loss_reduction=arguments.briefly(reduction))
        if callable(reduction):
            arguments.takes("Trainer", "loss_reduction", reduction, "target")
        self._loss = loss.loss if isinstance(loss, OverPositions) else loss
        self._reduction = reduction
        self._name = loss_name(self._loss)

    @property
    def is_assumed(self) -> bool:
        """True if nothing says that the loss is a mean over samples."""
        return self._name is None and self._reduction is None

    @property
    def is_sum(self) -> bool:
        """True if the parts' losses are added up as they are."""
        if self._reduction is None and self._name is not None:
            return bool(loss_option(self._loss, "reduction", "mean") == "sum")
        return self._reduction == "sum"

    @property
    def has_masses(self) -> bool:
        """True if the targets say how much a part weighs."""
        if self._reduction is not None:
            return callable(self._reduction)
        return self._name is not None and not self.is_sum

    def mass(self, target: Any) -> float:
        """What the mean over a part with this target divides by."""
        if callable(self._reduction):
            return _checked_mass(self._reduction(target))
        array = np.asarray(to_array(target, op="fit"))
        if self._name in CLASS_LOSSES:
            return self._class_mass(array)
        if loss_option(self._loss, "reduction", "mean") == "batchmean":
            return float(len(array))
        return float(array.size)

    def _class_mass(self, target: Any) -> float:
        if is_floating(target.dtype):  # probabilities of classes, which lie on axis 1
            return target.size / target.shape[1] if target.ndim > 1 else 1.0
        is_kept = target != loss_option(self._loss, "ignore_index", IGNORED)
        weight = loss_option(self._loss, "weight", None)
        if weight is None:
            return float(np.count_nonzero(is_kept))
        weights = np.asarray(to_array(weight, op="fit")).astype(np.float64)
        if (weights < 0).any():
            requirement = "class weights must be 0 or greater where a step has several parts"
            raise value_error("fit", requirement, weight=float(weights.min()))
        # Classes that there are not are left for the loss to refuse.
        counted = target[is_kept & (target >= 0) & (target < len(weights))]
        return float(weights[counted].sum())

    def weights(self, targets: Sequence[Any], sizes: Sequence[int]) -> list[float]:
        """The weights of parts with these ``targets`` and numbers of samples."""
        if self.is_sum:
            return [1.0] * len(sizes)
        masses = [self.mass(x) for x in targets] if self.has_masses and len(sizes) > 1 else []
        total = added(masses)
        # Without any mass the loss of the whole is NaN, which shares of the samples let be seen.
        counted, whole = (masses, total) if total else (sizes, sum(sizes))
        return [mass / whole for mass in counted]


def _checked_mass(value: Any) -> float:
    try:
        mass = float(value)
    except (TypeError, ValueError):
        requirement = "loss_reduction must give a number for a target"
        raise type_error("fit", requirement, value=arguments.briefly(value)) from None
    if not isfinite(mass) or mass < 0:
        raise value_error("fit", "loss_reduction must give 0 or more for a target", value=mass)
    return mass
