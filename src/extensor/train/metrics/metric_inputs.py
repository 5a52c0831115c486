"""Outputs and targets as metrics take them: checked against each other and the task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.core.tensor import to_array
from extensor.errors import type_error, value_error

_TOLERANCE = 1e-2  # of a sum of probabilities, which may be stored in 16 bits


def _arrays(op: str, output: Any, target: Any) -> tuple[Any, Any]:
    """Both as arrays of NumPy's."""
    return _array(op, output), _array(op, target)


def _array(op: str, given: Any) -> Any:
    is_plain = isinstance(given, float | list | tuple)
    with np.errstate(over="ignore" if is_plain else "warn"):
        array = np.asarray(to_array(given, op=op))
    # Python's numbers are not rounded to the default float, which could hide what they differ by.
    return to_array(given, np.float64, op) if is_plain and is_floating(array.dtype) else array


def _shapes(output: Any, target: Any) -> dict[str, Any]:
    """The shapes of two arrays that do not fit each other, for messages."""
    return {"output_shape": output.shape, "target_shape": target.shape}


def numbers(op: str, output: Any, target: Any) -> tuple[Any, Any]:
    """Numbers of the same shape.

    They are in float64: a sum over many samples in float32 would lose the small ones. An output
    may be infinite, and so is then its error.
    """
    first, second = _arrays(op, output, target)
    if first.shape != second.shape:
        requirement = "output and target must have the same shape"
        raise value_error(op, requirement, **_shapes(first, second))
    first, second = first.astype(np.float64), second.astype(np.float64)
    _check_no_nan(op, first)
    if not np.isfinite(second).all():
        requirement = "target must be finite numbers (leave out the samples that have none)"
        raise value_error(op, requirement, sample=_first_sample(~np.isfinite(second)))
    return first, second


def columns(op: str, output: Any, target: Any) -> tuple[Any, Any]:
    """The same, of shape (samples, columns)."""
    first, second = numbers(op, output, target)
    if first.ndim == 1:
        return first[:, None], second[:, None]
    if first.ndim != 2 or not first.shape[1]:
        requirement = "output and target must be (samples,) or (samples, columns)"
        hint = "" if first.ndim < 3 else " (x.reshape(len(x), -1) of both)"
        raise value_error(op, requirement + hint, **_shapes(first, second))
    return first, second


def binary_scores(op: str, output: Any, target: Any, tasks: Sequence[str]) -> tuple[Any, Any]:
    """The score of each sample, and whether it is positive, both of shape (samples, 1)."""
    scores, truth = _arrays(op, output, target)
    if scores.ndim not in (1, 2) or (scores.ndim == 2 and scores.shape[1] != 1):
        hint = ""
        if scores.ndim == 2:
            of_classes = "task='multiclass' for a score for each class"
            hint = f" ({_labels_hint(tasks) if scores.shape == truth.shape else of_classes})"
        requirement = "output must have one score for each sample, (samples,) or (samples, 1)"
        raise value_error(op, requirement + hint, **_shapes(scores, truth))
    if truth.shape not in (scores.shape[:1], (len(scores), 1)):
        requirement = "target must have 0 or 1 for each score, (samples,) or (samples, 1)"
        raise value_error(op, requirement, **_shapes(scores, truth))
    return _label_scores(op, scores.reshape(-1, 1), truth.reshape(-1, 1), "task='multiclass'")


def label_scores(op: str, output: Any, target: Any) -> tuple[Any, Any]:
    """The score of each label of each sample, and whether it has it: (samples, labels)."""
    scores, truth = _arrays(op, output, target)
    if scores.ndim != 2 or not scores.shape[1] or scores.shape != truth.shape:
        hint = ""
        if scores.ndim == 1:
            hint = " (task='binary' for one score for each sample)"
        elif truth.ndim == 1:
            hint = " (task='multiclass' for one class for each sample)"
        requirement = "output and target must have the same shape, (samples, labels)"
        raise value_error(op, requirement + hint, **_shapes(scores, truth))
    return _label_scores(op, scores, truth, "")


def _labels_hint(tasks: Sequence[str]) -> str:
    """Advice for several labels for each sample."""
    if "multilabel" in tasks:
        return "task='multilabel' for several labels for each sample"
    return "several labels for each sample are not what it measures"


def _label_scores(op: str, scores: Any, truth: Any, others: str) -> tuple[Any, Any]:
    wrong = (truth != 0) & (truth != 1)
    if wrong.any():
        value = (float if is_floating(truth.dtype) else int)(truth[wrong][0])
        hint = ""
        if value == -1:
            hint = " (target > 0 if they are -1 and 1)"
        elif value > 1 and others:
            hint = f" ({others} for more classes)"
        raise value_error(op, f"target must be 0 or 1{hint}", target=value)
    _check_no_nan(op, scores)
    return scores, truth == 1


def _check_no_nan(op: str, output: Any) -> None:
    """Refuse an output with NaN, which is neither right nor wrong."""
    if is_floating(output.dtype) and np.isnan(output).any():
        raise value_error(op, "output must have no NaN", sample=_first_sample(np.isnan(output)))


def check_probabilities(op: str, output: Any) -> None:
    """Refuse what is no probability."""
    wrong = ~((output >= 0) & (output <= 1))
    if wrong.any():
        requirement = "output must be probabilities in [0, 1] (scores='logits' if they are not)"
        raise value_error(op, requirement, output=float(output[wrong][0]))


def _first_sample(wrong: Any) -> int:
    """The number of the first sample with something wrong in it."""
    return int(np.argwhere(wrong)[0][0]) if wrong.ndim else 0


class ClassScores(NamedTuple):
    """Scores of shape (samples, classes) and classes of shape (samples,).

    ``shares`` are the probabilities that stood in place of classes, if they did; the class is then
    the most probable. The classes were along ``axis`` of the output.
    """

    scores: Any
    classes: Any
    shares: Any
    axis: int


def class_scores(
    op: str,
    output: Any,
    target: Any,
    tasks: Sequence[str],
    axis: int | None = 1,
    ignore_index: int | None = None,
    probabilities: bool = False,
) -> ClassScores:
    """Scores and classes, or an error; what has the class ``ignore_index`` is left out.

    An ``axis`` that is None is found: the one that ``output`` has and ``target`` has not.
    """
    scores, classes = _arrays(op, output, target)
    is_narrow = scores.ndim == 1 or (scores.ndim == 2 and scores.shape[1] < 2)
    if is_narrow and axis in (None, 1):
        raise _too_few(op, scores, classes, 1, tasks)
    axis = _class_axis(op, scores, classes) if axis is None else axis
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
    return ClassScores(scores, classes, shares, axis)


def _by_sample(array: Any, axis: int) -> Any:
    return np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return tuple(np.delete(shape, axis).tolist())


def _class_axis(op: str, scores: Any, classes: Any) -> int:
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
    raise value_error(op, f"{requirement} ({hint})", **_shapes(scores, classes))


def _check_shapes(op: str, scores: Any, classes: Any, axis: int, tasks: Sequence[str]) -> None:
    within = -scores.ndim <= axis < scores.ndim
    if within and scores.shape[axis] < 2:
        raise _too_few(op, scores, classes, axis, tasks)
    if not within or classes.shape not in (scores.shape, _without(scores.shape, axis)):
        last = scores.ndim > 2 and scores.shape[:-1] == classes.shape and "sequence" in tasks
        hint = " (class_axis=-1 if they are along the last)" if last else ""
        requirement = f"output must be scores with the classes along axis {axis}{hint}, target"
        raise value_error(op, f"{requirement} their numbers", **_shapes(scores, classes))


def _too_few(op: str, scores: Any, classes: Any, axis: int, tasks: Sequence[str]) -> ValueError:
    requirement = f"output must have the scores of two or more classes along axis {axis}"
    join = "stack" if scores.ndim == 1 else "concatenate"
    hint = f"one logit x for each sample as two scores: ex.{join}([-x, x], axis=1)"
    if "binary" in tasks:
        hint = "task='binary' for one logit for each sample"
        hint += "" if scores.ndim < 3 else ", output and target reshaped to (samples,)"
    return value_error(op, f"{requirement} ({hint})", **_shapes(scores, classes))


def _shares(op: str, target: Any, axis: int, tasks: Sequence[str]) -> Any:
    wide = target.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        sums = wide.sum(axis=1)
    wrong = ~((wide >= 0).all(axis=1) & (np.abs(sums - 1) < _TOLERANCE))
    if wrong.any():
        place = int(wrong.argmax())
        raise value_error(
            op,
            "a target of the shape of output must be probabilities that sum to 1 "
            f"along axis {axis} ({_labels_hint(tasks)})",
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
    _check_no_nan(op, scores)


def _check_sums(op: str, scores: Any, axis: int) -> None:
    sums = scores.astype(np.float64).sum(axis=1)
    wrong = np.abs(sums - 1) >= _TOLERANCE
    if wrong.any():
        requirement = f"output must be probabilities that sum to 1 along axis {axis}"
        hint = "scores='logits' if they are not"
        raise value_error(op, f"{requirement} ({hint})", sum=float(sums[wrong.argmax()]))


def log_softmax(op: str, logits: Any) -> Any:
    """The logarithms of the probabilities, of shape (samples, classes)."""
    wide = logits.astype(np.float64, copy=False)
    highest = wide.max(axis=1, keepdims=True)
    if not np.isfinite(highest).all():
        sample = int((~np.isfinite(highest[:, 0])).argmax())
        requirement = "output must have a highest score that is finite, or no probability follows"
        raise value_error(op, requirement, sample=sample)
    shifted = wide - highest
    # Sorted, so that the same scores in another order have the same sum and remain a tie.
    total = np.exp(np.sort(shifted, axis=1)).sum(axis=1, keepdims=True)
    return shifted - np.log(total)


def log_sigmoid(logits: Any) -> Any:
    """The logarithms of the probabilities of one score each."""
    return -np.logaddexp(0, -logits.astype(np.float64))
