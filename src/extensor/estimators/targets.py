"""Targets of estimators: labels of classes, labels that are there or not, or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.errors import value_error
from extensor.estimators.inputs import NUMBERS, as_array, as_numbers, check_finite, is_missing
from extensor.estimators.scikit_learn import warn_of_column


def as_labels(op: str, given: Any, samples: int) -> Any:
    """A row of labels, or a matrix of 0 and 1 with a column for each label."""
    array = _rows(op, given, samples)
    if array.ndim == 2 and array.shape[1] == 1:
        warn_of_column(samples)
        array = array[:, 0]
    return _labels(op, "y", array)


def _labels(op: str, name: str, array: Any) -> Any:
    if array.dtype.kind == "O":
        array = _of_objects(op, name, array)
    if array.dtype.kind == "f":
        check_finite(op, name, array)
    elif array.dtype.kind not in "biuOUS":
        raise _unknown(op, name, "unknown", array)
    if array.ndim == 2:
        if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
            raise _unknown(op, name, "multiclass-multioutput", array)
        return array.astype(np.int64)
    if array.dtype.kind == "f" and (array != np.round(array)).any():
        raise _unknown(op, name, "continuous", array)
    return array


def as_values(op: str, given: Any, samples: int) -> Any:
    """Numbers in float64: a row, or a matrix with a column for each output."""
    return as_numbers(op, "y", _rows(op, given, samples))


def _rows(op: str, given: Any, samples: int) -> Any:
    if given is None:
        requirement = "y must be given (it requires y to be passed, but the target y is None)"
        raise value_error(op, requirement)
    array = as_array(op, "y", given)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        requirement = "y must have one axis, or two for several targets"
        raise value_error(op, requirement, y_shape=array.shape)
    if len(array) != samples:
        requirement = f"y must have a target for each of the {samples} samples"
        raise value_error(op, requirement, targets=len(array))
    return array


def _of_objects(op: str, name: str, array: Any) -> Any:
    """Words as they are, or numbers as an array of their own; nothing missing, nothing mixed."""
    values = array.ravel().tolist()
    for row, value in enumerate(values):
        if is_missing(value):
            raise value_error(op, f"{name} must have nothing missing, but contains NaN", row=row)
    if all(isinstance(value, str) for value in values):
        return array
    if all(isinstance(value, NUMBERS) for value in values):
        numbers = np.array(values).reshape(array.shape)
        if numbers.dtype.kind != "O":  # integers of any length
            return numbers
    raise _unknown(op, name, "unknown", array)


def _unknown(op: str, name: str, kind: str, array: Any) -> ValueError:
    requirement = (
        f"{name} must be labels, one for each sample, or a matrix of 0 and 1 "
        f"(Unknown label type: {kind})"
    )
    return value_error(op, requirement, shape=array.shape, dtype=str(array.dtype))


def classes_of(op: str, given: Any) -> Any:
    """The classes that are given for all later calls, in their order."""
    array = as_array(op, "classes", given)
    if array.ndim != 1 or not array.size:
        raise value_error(op, "classes must be a row of labels", classes_shape=array.shape)
    return np.unique(_labels(op, "classes", array))


def numbered(op: str, labels: Any, classes: Any) -> Any:
    """For each label the number of its class."""
    are_numbers = [x.dtype.kind in "biuf" for x in (labels, classes)]
    if are_numbers[0] != are_numbers[1]:
        numbers, strange = np.zeros(len(labels), np.int64), np.ones(len(labels), bool)
    else:
        if "O" in (labels.dtype.kind, classes.dtype.kind):
            labels, classes = labels.astype(object), classes.astype(object)
        numbers = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
        strange = classes[numbers] != labels
    if strange.any():
        row = int(np.argmax(strange))
        raise value_error(
            op, "y must be of the classes that are known", row=row, label=labels.tolist()[row]
        )
    return numbers
