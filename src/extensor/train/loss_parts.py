"""Losses of a step with several parts: how much each part weighs, and whether the parts make up the whole.

A loss that is a sum counts once for each part. A loss that is a mean counts by its mass, the number that it
divides by: samples, elements, targets that are not ignored, or the sum of their class weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import product
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from ml_dtypes import finfo

from extensor import random
from extensor.arrays.dtypes import as_dtype, is_floating
from extensor.core.modes import no_grad
from extensor.core.structures import map_leaves
from extensor.core.tensor import Tensor, to_array
from extensor.distributed.micro_batches import tree_sum
from extensor.errors import arguments, type_error, value_error
from extensor.train.tasks import CLASS_LOSSES, IGNORED, loss_name, loss_option, on_trial

if TYPE_CHECKING:
    from extensor.train.step_strategy import Batch, LocalStep

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
        self._loss = loss.loss if isinstance(loss, OverPositions) else loss
        self._reduction = reduction
        self._name = loss_name(self._loss)

    def check(self) -> None:
        """Refuse a reduction that has no meaning."""
        reduction = self._reduction
        if callable(reduction):
            arguments.takes("Trainer", "loss_reduction", reduction, "target")
        elif reduction not in (None, "mean", "sum"):
            requirement = "loss_reduction must be 'mean', 'sum', a function of a target, or None"
            raise value_error("Trainer", requirement, loss_reduction=arguments.briefly(reduction))

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
            value = self._reduction(target)
            try:
                mass = float(value)
            except (TypeError, ValueError):
                requirement = "loss_reduction must give a number for a target"
                raise type_error("fit", requirement, value=arguments.briefly(value)) from None
            if not isfinite(mass) or mass < 0:
                requirement = "loss_reduction must give 0 or more for a target"
                raise value_error("fit", requirement, value=mass)
            return mass
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
        total = tree_sum(masses)
        # Without any mass the loss of the whole is NaN, which shares of the samples let be seen.
        counted, whole = (masses, total) if total else (sizes, sum(sizes))
        return [mass / whole for mass in counted]


Losses = tuple[float, list[float]]  # of a batch, and of each of its parts


def _error_for_parts(found: Losses, shares: Sequence[float], is_sum: bool) -> ValueError:
    whole, losses = found
    if is_sum:
        advice = "it is a sum over them: say loss_reduction='sum'"
    else:
        advice = (
            "it depends on the samples together, on class weights or on ignored targets; "
            "ex.nn.CrossEntropyLoss weighs its parts by itself, loss_reduction= takes a function "
            "of a part's target that gives what the mean divides by, and loss_reduction='mean' "
            "takes the mean over the parts as it is"
        )
    mean = sum(share * loss for share, loss in zip(shares, losses, strict=True))
    requirement = (
        f"loss must be a mean over the samples to be computed in {len(losses)} parts ({advice})"
    )
    return value_error("fit", requirement, of_the_batch=whole, of_its_parts=mean)


def _error_for_accumulation(loss: float, accumulate: int) -> ValueError:
    """Batches that are accumulated are whole, so nothing but a sum is unlike a mean of their losses."""
    requirement = (
        "loss must be a mean over the samples where accumulate is greater than 1, since batches "
        "are averaged by their samples; it is a sum: say loss_reduction='sum', or 'mean' to average "
        "the sums"
    )
    return value_error("fit", requirement, loss=loss, accumulate=accumulate)


def check_loss_in_parts(take_step: LocalStep, batch: Batch, accumulate: int) -> None:
    """Refuse a loss of the user's own that is no mean over the samples, if a step has several parts.

    First slices of the output are compared with the whole, then parts of the input. Without
    micro-batches the batches are whole, and only a sum over the samples is refused.
    """
    if not take_step.weighting.is_assumed:
        return
    count = max(take_step.micro_batches or 1, min(accumulate, 2))
    size = len(batch[0])
    parts = cut([size], min(count, size))
    shares = [(part.end - part.begin) / size for part in parts]
    found: Losses | None = None
    for by_slices in (True, False):
        losses = _rehearse_losses(take_step, batch, parts, by_slices)
        if losses is not None:
            precision = _precision(take_step, by_slices or found is not None)
            found = losses
            if _is_close(precision, found, shares):
                return
    if found is None:
        return
    is_sum = _is_close(precision, found, [1.0] * len(parts))
    if (take_step.micro_batches or 1) > 1:
        raise _error_for_parts(found, shares, is_sum)
    if is_sum:
        raise _error_for_accumulation(found[0], accumulate)


def _rehearse_losses(
    take_step: LocalStep, batch: Batch, parts: Sequence[MicroBatch], by_slices: bool
) -> Losses | None:
    """The loss of a batch and of its parts; None if they cannot be compared.

    With ``by_slices`` the outputs are computed once and cut, so that only the loss is compared. That
    is done in float32 or wider: the rounding of mixed precision would hide what differs.
    """
    model = take_step.model
    with on_trial(model, take_step.loss):
        for training, context in product((False, True), (nullcontext, take_step.precision)):
            model.train(training)
            try:
                with no_grad(), context():
                    output = model(*batch[:-1])
                with no_grad(), nullcontext() if by_slices else context():
                    return _losses(take_step, _widen(output), batch, parts, by_slices)
            except Exception:  # the step itself says what is wrong
                continue
    return None


def _losses(
    step: LocalStep, output: Any, batch: Batch, parts: Sequence[MicroBatch], by_slices: bool
) -> Losses | None:
    *inputs, target = batch
    state = random.get_state()
    whole, again = (float(step.value(output, target)) for _ in range(2))
    if random.get_state() != state or whole != again:
        return None  # a loss that draws, counts its calls or is NaN
    losses = []
    for part in parts:
        *own, wanted = (x[part.begin : part.end] for x in batch)
        cut_output = _cut(output, part, len(inputs[0])) if by_slices else _widen(step.model(*own))
        losses.append(float(step.value(cut_output, wanted)))
    return whole, losses


def _cut(output: Any, part: MicroBatch, size: int) -> Any:
    """The samples of a part in an output: a tensor, or a tuple, list or dict of such."""

    def cut_tensor(tensor: Any) -> Any:
        if not isinstance(tensor, Tensor | np.ndarray):
            raise TypeError("this is no tensor")
        if not tensor.ndim or tensor.shape[0] != size:
            raise ValueError("the first axis is not that of samples")
        return tensor[part.begin : part.end]

    return map_leaves(output, cut_tensor)


def _widen(output: Any) -> Any:
    """An output whose floating-point tensors are float32 or wider."""

    def widen(tensor: Any) -> Any:
        is_narrow = isinstance(tensor, Tensor) and is_floating(tensor.dtype)
        return tensor.astype("float32") if is_narrow and tensor.dtype.itemsize < 4 else tensor

    return map_leaves(output, widen)


def _precision(take_step: LocalStep, is_wide: bool) -> float:
    """The rounding of the losses; if it ``is_wide`` they were computed in float32 or wider."""
    dtypes = [x.dtype for x in take_step.model.parameters() if is_floating(x.dtype)]
    if take_step.amp is not None and not is_wide:
        dtypes.append(as_dtype(take_step.amp, "Trainer"))
    single = float(np.finfo(np.float32).eps)
    precisions = [float(finfo(dtype).eps) for dtype in dtypes]  # type: ignore[no-untyped-call]
    precision = max(precisions, default=single)
    return min(precision, single) if is_wide else precision


def _is_close(precision: float, found: Losses, weights: Sequence[float]) -> bool:
    """Whether the difference of the whole and its parts is rounding."""
    whole, losses = found
    terms = [weight * loss for weight, loss in zip(weights, losses, strict=True)]
    return abs(sum(terms) - whole) <= sqrt(precision) * max(abs(whole), sum(map(abs, terms)))


class MicroBatch(NamedTuple):
    """Samples ``begin`` to ``end`` of batch ``batch`` of a step."""

    batch: int
    begin: int
    end: int


def cut(sizes: Sequence[int], micro_batches: int) -> list[MicroBatch]:
    """The micro-batches of a step, in order: ``micro_batches`` of each batch if it has the samples.

    >>> [tuple(part) for part in cut([5, 1], 2)]
    [(0, 0, 2), (0, 2, 5), (1, 0, 1)]
    """
    return [
        MicroBatch(batch, begin, end)
        for batch, size in enumerate(sizes)
        for number in range(micro_batches)
        for begin, end in [(size * number // micro_batches, size * (number + 1) // micro_batches)]
        if begin < end
    ]
