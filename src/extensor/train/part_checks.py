"""Whether the parts of a step can be computed one by one, found out before the first step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
from ml_dtypes import finfo

from extensor import random
from extensor.arrays.dtypes import as_dtype, is_floating
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.data.loader import DataLoader
from extensor.errors import value_error
from extensor.nn.preservation import preserve_state
from extensor.train.dealing import Part, cut, deals
from extensor.train.step import Batch, TrainStep
from extensor.train.tree_step import TreeStep
from extensor.train.trial import UncopiedError, copied_step, is_watched

Losses = tuple[float, list[float]]  # of a batch, and of each of its parts


def check_parts_fit(take_step: TrainStep, batch: Batch, loader: Any, accumulate: int) -> None:
    """Refuse a loss whose parts do not make up the whole, and parts that are too small.

    What cannot be tried without a trace is not tried.
    """
    if is_watched(take_step.model) or len(batch[0]) < 2:
        return
    with preserve_state(take_step.model, take_step.loss):
        try:
            _check_loss(take_step, batch, accumulate)
            _check_smallest(take_step, batch, loader, accumulate)
        except UncopiedError:
            return


def _check_loss(take_step: TrainStep, batch: Batch, accumulate: int) -> None:
    """Refuse a loss of the user's own that is not the mean of the losses of parts.

    Without micro-batches the batches are whole, and only a sum over the samples is refused.
    """
    micro_batches = take_step.micro_batches if isinstance(take_step, TreeStep) else 1
    count = max(micro_batches, min(accumulate, 2))
    if count < 2 or not take_step.weighting.is_assumed:
        return
    size = len(batch[0])
    parts = cut([size], min(count, size))
    shares = [(part.end - part.begin) / size for part in parts]
    found: Losses | None = None
    precision = 0.0
    for by_slices in (True, False):
        losses = _rehearsed(take_step, batch, parts, by_slices)
        if losses is not None:
            precision = _precision(take_step, by_slices or found is not None)
            found = losses
            if _is_close(precision, found, shares):
                return
    if found is None:
        return
    is_sum = _is_close(precision, found, [1.0] * len(parts))
    if micro_batches > 1:
        raise _error_for_parts(found, shares, is_sum)
    if is_sum:
        raise _error_for_accumulation(found[0], accumulate)


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


def _rehearsed(
    take_step: TrainStep, batch: Batch, parts: Sequence[Part], by_slices: bool
) -> Losses | None:
    """The loss of a batch and of its parts; None if they cannot be compared.

    With ``by_slices`` the outputs are computed once and cut, so that only the loss is compared. That
    is done in float32 or wider: the rounding of mixed precision would hide what differs.
    """
    one = copied_step(take_step)
    for training, context in product((False, True), (nullcontext, one.precision)):
        one.model.train(training)
        try:
            with no_grad(), context():
                output = one.model(*batch[:-1])
            with no_grad(), nullcontext() if by_slices else context():
                return _losses(one, _widened(output), batch, parts, by_slices)
        except Exception:  # the step itself says what is wrong
            continue
    return None


def _losses(
    one: TrainStep, output: Any, batch: Batch, parts: Sequence[Part], by_slices: bool
) -> Losses | None:
    *inputs, target = batch
    state = random.get_state()
    whole, again = (float(one.value(output, target)) for _ in range(2))
    if random.get_state() != state or whole != again:
        return None  # a loss that draws, counts its calls or is NaN
    losses = []
    for part in parts:
        *own, wanted = (x[part.begin : part.end] for x in batch)
        cut_output = _cut(output, part, len(inputs[0])) if by_slices else _widened(one.model(*own))
        losses.append(float(one.value(cut_output, wanted)))
    return whole, losses


def _cut(output: Any, part: Part, size: int) -> Any:
    """The samples of a part in an output: a tensor, or a tuple, list or dict of such."""

    def cut_tensor(tensor: Any) -> Any:
        if not isinstance(tensor, Tensor | np.ndarray):
            raise TypeError("this is no tensor")
        if not tensor.ndim or tensor.shape[0] != size:
            raise ValueError("the first axis is not that of samples")
        return tensor[part.begin : part.end]

    return _mapped(cut_tensor, output)


def _widened(output: Any) -> Any:
    """An output whose floating-point tensors are float32 or wider."""

    def widen(tensor: Any) -> Any:
        is_narrow = isinstance(tensor, Tensor) and is_floating(tensor.dtype)
        return tensor.astype("float32") if is_narrow and tensor.dtype.itemsize < 4 else tensor

    return _mapped(widen, output)


def _mapped(function: Callable[[Any], Any], output: Any) -> Any:
    """An output with ``function`` of each of its tensors."""
    if isinstance(output, Mapping):
        return {key: _mapped(function, value) for key, value in output.items()}
    if not isinstance(output, tuple | list):
        return function(output)
    found = [_mapped(function, value) for value in output]
    kind: Any = type(output)
    return kind(*found) if hasattr(output, "_fields") else kind(found)


def _precision(take_step: TrainStep, is_wide: bool) -> float:
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


def _check_smallest(take_step: TrainStep, batch: Batch, loader: Any, accumulate: int) -> None:
    """Refuse data whose last part has one sample, if the model cannot be trained on one alone."""
    sizes = _part_sizes(take_step, loader, accumulate)
    if sizes is None or min(sizes) > 1:
        return
    error = _error_for(take_step, batch, 1)
    if error is None or _error_for(take_step, batch, 2) is not None:
        return
    cutting = isinstance(take_step, TreeStep)
    fewer = ", fewer micro_batches or sync_batch_norm=True" if cutting else ""
    requirement = (
        f"no {'part of a ' if cutting else ''}batch may have 1 sample, which the model cannot be "
        f"trained on alone ({error}): use another batch_size, DataLoader(drop_last=True){fewer}"
    )
    raise value_error("fit", requirement, sizes=sorted(set(sizes)))


def _part_sizes(take_step: TrainStep, loader: Any, accumulate: int) -> list[int] | None:
    """The samples of what is computed at once, in all batches; None if the loader does not say."""
    if isinstance(loader, DataLoader) and deals(loader):
        sizes = [loader.samples_in(number) for number in range(len(loader))]
    elif isinstance(loader, tuple | list):
        sizes = [len(batch[0]) for batch in loader]
    else:
        return None
    if not isinstance(take_step, TreeStep):
        return sizes
    if take_step.synchronises:
        groups = range(0, len(sizes), accumulate)
        return [sum(sizes[begin : begin + accumulate]) for begin in groups]
    return [end - begin for _, begin, end in cut(sizes, take_step.micro_batches)]


def _error_for(take_step: TrainStep, batch: Batch, samples: int) -> str | None:
    """What training on so many samples fails with."""
    one = copied_step(take_step)
    one.model.train()
    try:
        with no_grad(), one.precision():
            one.model(*(x[:samples] for x in batch[:-1]))
    except Exception as error:
        return str(error)
    return None
