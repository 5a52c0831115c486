"""What metrics of one class among several are given: scores along an axis, and the class of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.errors import type_error, value_error
from extensor.train.metrics.given import (
    arrays,
    check_no_nan,
    check_probabilities,
    labels_hint,
    shapes,
)

TOLERANCE = 1e-2  # of a sum of probabilities, which may be stored in 16 bits


class Chosen(NamedTuple):
    """Scores of shape (samples, classes) and classes of shape (samples,).

    ``shares`` are the probabilities that stood in place of classes, if they did; the class is then
    the most probable. The classes were along ``axis`` of the output.
    """

    scores: Any
    classes: Any
    shares: Any
    axis: int


def chosen(
    op: str,
    output: Any,
    target: Any,
    tasks: Sequence[str],
    axis: int | None = 1,
    ignore_index: int | None = None,
    probabilities: bool = False,
) -> Chosen:
    """Scores and classes, or an error; what has the class ``ignore_index`` is left out.

    An ``axis`` that is None is found: the one that ``output`` has and ``target`` has not.
    """
    scores, classes = arrays(op, output, target)
    is_narrow = scores.ndim == 1 or (scores.ndim == 2 and scores.shape[1] < 2)
    if is_narrow and axis in (None, 1):
        raise _too_few(op, scores, classes, 1, tasks)
    axis = _found_axis(op, scores, classes) if axis is None else axis
    _check_shapes(op, scores, classes, axis, tasks)
    shares = None
    if classes.shape == scores.shape:
        shares = _shares(op, _by_sample(classes, axis), axis, tasks)
        classes = shares.argmax(axis=1)
    elif is_floating(classes.dtype):
        requirement = "target must be class numbers, integers (target.astype('int64') if they are)"
        raise type_error(op, requirement, target_dtype=str(classes.dtype))
    scores, classes = _by_sample(scores, axis), classes.reshape(-1).astype(np.int64)
    if ignore_index is not None:
        counted = classes != ignore_index
        scores, classes = scores[counted], classes[counted]
        shares = None if shares is None else shares[counted]
    _check_values(op, scores, classes)
    if probabilities:
        check_probabilities(op, scores)
        _check_sums(op, scores, axis)
    return Chosen(scores, classes, shares, axis)


def _by_sample(array: Any, axis: int) -> Any:
    return np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return tuple(np.delete(shape, axis).tolist())


def _found_axis(op: str, scores: Any, classes: Any) -> int:
    """The axis of the classes; the first is that of the samples."""
    fitting = [i for i in range(1, scores.ndim) if _without(scores.shape, i) == classes.shape]
    if len(fitting) == 1:
        return fitting[0]
    if scores.ndim == 2 and scores.shape == classes.shape:
        return 1
    if fitting:
        requirement = "the axis of the classes must be the only one that fits target"
        hint = f"class_axis={fitting[-1]} or another says which it is"
    elif scores.shape == classes.shape and scores.ndim:
        requirement = "target must be class numbers, or the axis of its probabilities be said"
        hint = "class_axis=1 or another"
    else:
        requirement = "output must have the shape of target and an axis more, that of the classes"
        hint = "the samples come first"
    raise value_error(op, f"{requirement} ({hint})", **shapes(scores, classes))


def _check_shapes(op: str, scores: Any, classes: Any, axis: int, tasks: Sequence[str]) -> None:
    within = -scores.ndim <= axis < scores.ndim
    if within and scores.shape[axis] < 2:
        raise _too_few(op, scores, classes, axis, tasks)
    if not within or classes.shape not in (scores.shape, _without(scores.shape, axis)):
        last = scores.ndim > 2 and scores.shape[:-1] == classes.shape and "sequence" in tasks
        hint = " (class_axis=-1 if they are along the last)" if last else ""
        requirement = f"output must be scores with the classes along axis {axis}{hint}, target"
        raise value_error(op, f"{requirement} their numbers", **shapes(scores, classes))


def _too_few(op: str, scores: Any, classes: Any, axis: int, tasks: Sequence[str]) -> ValueError:
    requirement = f"output must have the scores of two or more classes along axis {axis}"
    join = "stack" if scores.ndim == 1 else "concatenate"
    hint = f"one logit x for each sample as two scores: ex.{join}([-x, x], axis=1)"
    if "binary" in tasks:
        hint = "task='binary' for one logit for each sample"
        hint += "" if scores.ndim < 3 else ", output and target reshaped to (samples,)"
    return value_error(op, f"{requirement} ({hint})", **shapes(scores, classes))


def _shares(op: str, target: Any, axis: int, tasks: Sequence[str]) -> Any:
    wide = target.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        sums = wide.sum(axis=1)
    wrong = ~((wide >= 0).all(axis=1) & (np.abs(sums - 1) < TOLERANCE))
    if wrong.any():
        place = int(wrong.argmax())
        raise value_error(
            op,
            "a target of the shape of output must be probabilities that sum to 1 "
            f"along axis {axis} ({labels_hint(tasks)})",
            sum=float(sums[place]),
            least=float(wide[place].min()),
        )
    return wide


def _check_values(op: str, scores: Any, classes: Any) -> None:
    number = scores.shape[1]
    wrong = (classes < 0) | (classes >= number)
    if wrong.any():
        value = int(classes[wrong.argmax()])
        hint = f" (ignore_index={value} leaves it out)" if value < 0 else ""
        requirement = f"target must be classes in [0, {number - 1}], those of output{hint}"
        raise value_error(op, requirement, target=value)
    check_no_nan(op, scores)


def _check_sums(op: str, scores: Any, axis: int) -> None:
    sums = scores.astype(np.float64).sum(axis=1)
    wrong = np.abs(sums - 1) >= TOLERANCE
    if wrong.any():
        requirement = f"output must be probabilities that sum to 1 along axis {axis}"
        hint = "scores='logits' if they are not"
        raise value_error(op, f"{requirement} ({hint})", sum=float(sums[wrong.argmax()]))
