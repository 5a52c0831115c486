"""What metrics are given: outputs and targets that fit each other and the task, or an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.core.tensor import to_array
from extensor.errors import value_error


def arrays(op: str, output: Any, target: Any) -> tuple[Any, Any]:
    """Both as arrays of NumPy's."""
    return _array(op, output), _array(op, target)


def _array(op: str, given: Any) -> Any:
    is_plain = isinstance(given, float | list | tuple)
    with np.errstate(over="ignore" if is_plain else "warn"):
        array = np.asarray(to_array(given, op=op))
    # Python's numbers are not rounded to the default float, which could hide what they differ by.
    return to_array(given, np.float64, op) if is_plain and is_floating(array.dtype) else array


def shapes(output: Any, target: Any) -> dict[str, Any]:
    """What messages show of two arrays that do not fit each other."""
    return {"output_shape": output.shape, "target_shape": target.shape}


def numbers(op: str, output: Any, target: Any) -> tuple[Any, Any]:
    """Numbers of the same shape.

    They are in float64: a sum over many samples in float32 would lose the small ones. An output
    may be infinite, and so is then its error.
    """
    first, second = arrays(op, output, target)
    if first.shape != second.shape:
        requirement = "output and target must have the same shape"
        raise value_error(op, requirement, **shapes(first, second))
    first, second = first.astype(np.float64), second.astype(np.float64)
    check_no_nan(op, first)
    if not np.isfinite(second).all():
        requirement = "target must be finite numbers (leave out the samples that have none)"
        raise value_error(op, requirement, sample=first_sample(~np.isfinite(second)))
    return first, second


def columns(op: str, output: Any, target: Any) -> tuple[Any, Any]:
    """The same, of shape (samples, columns)."""
    first, second = numbers(op, output, target)
    if first.ndim == 1:
        return first[:, None], second[:, None]
    if first.ndim != 2 or not first.shape[1]:
        requirement = "output and target must be (samples,) or (samples, columns)"
        hint = "" if first.ndim < 3 else " (x.reshape(len(x), -1) of both)"
        raise value_error(op, requirement + hint, **shapes(first, second))
    return first, second


def one_label(op: str, output: Any, target: Any, tasks: Sequence[str]) -> tuple[Any, Any]:
    """The score of each sample, and whether it is positive, both of shape (samples, 1)."""
    scores, truth = arrays(op, output, target)
    if scores.ndim not in (1, 2) or (scores.ndim == 2 and scores.shape[1] != 1):
        hint = ""
        if scores.ndim == 2:
            of_classes = "task='multiclass' for a score for each class"
            hint = f" ({labels_hint(tasks) if scores.shape == truth.shape else of_classes})"
        requirement = "output must have one score for each sample, (samples,) or (samples, 1)"
        raise value_error(op, requirement + hint, **shapes(scores, truth))
    if truth.shape not in (scores.shape[:1], (len(scores), 1)):
        requirement = "target must have 0 or 1 for each score, (samples,) or (samples, 1)"
        raise value_error(op, requirement, **shapes(scores, truth))
    return _checked_labels(op, scores.reshape(-1, 1), truth.reshape(-1, 1), "task='multiclass'")


def several_labels(op: str, output: Any, target: Any) -> tuple[Any, Any]:
    """The score of each label of each sample, and whether it has it: (samples, labels)."""
    scores, truth = arrays(op, output, target)
    if scores.ndim != 2 or not scores.shape[1] or scores.shape != truth.shape:
        hint = ""
        if scores.ndim == 1:
            hint = " (task='binary' for one score for each sample)"
        elif truth.ndim == 1:
            hint = " (task='multiclass' for one class for each sample)"
        requirement = "output and target must have the same shape, (samples, labels)"
        raise value_error(op, requirement + hint, **shapes(scores, truth))
    return _checked_labels(op, scores, truth, "")


def labels_hint(tasks: Sequence[str]) -> str:
    """What to do with several labels for each sample."""
    if "multilabel" in tasks:
        return "task='multilabel' for several labels for each sample"
    return "several labels for each sample are not what it measures"


def _checked_labels(op: str, scores: Any, truth: Any, others: str) -> tuple[Any, Any]:
    wrong = (truth != 0) & (truth != 1)
    if wrong.any():
        value = (float if is_floating(truth.dtype) else int)(truth[wrong][0])
        hint = ""
        if value == -1:
            hint = " (target > 0 if they are -1 and 1)"
        elif value > 1 and others:
            hint = f" ({others} for more classes)"
        raise value_error(op, f"target must be 0 or 1{hint}", target=value)
    check_no_nan(op, scores)
    return scores, truth == 1


def check_no_nan(op: str, output: Any) -> None:
    """Refuse an output with NaN, which is neither right nor wrong."""
    if is_floating(output.dtype) and np.isnan(output).any():
        raise value_error(op, "output must have no NaN", sample=first_sample(np.isnan(output)))


def check_probabilities(op: str, output: Any) -> None:
    """Refuse what is no probability."""
    wrong = ~((output >= 0) & (output <= 1))
    if wrong.any():
        requirement = "output must be probabilities in [0, 1] (scores='logits' if they are not)"
        raise value_error(op, requirement, output=float(output[wrong][0]))


def first_sample(wrong: Any) -> int:
    """The number of the first sample with something wrong in it."""
    return int(np.argwhere(wrong)[0][0]) if wrong.ndim else 0
