"""Inputs of estimators: a matrix of finite numbers, and the names of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_bfloat16
from extensor.errors import arguments, marked, type_error, value_error
from extensor.errors.screen import screen_line
from extensor.estimators.scikit_learn import warn

NUMBERS = (int, float, np.number, np.bool_)
_SHOWN = 5  # of the names that do not match


def as_array(op: str, name: str, value: Any) -> Any:
    """What users give as a NumPy array, of whatever dtype."""
    if hasattr(value, "tocsr"):
        requirement = f"{name} must be dense: sparse ones are not supported ({name}.toarray())"
        raise type_error(op, requirement, **{name: type(value).__name__})
    try:
        array = np.asarray(getattr(value, "_array", value))
    except MemoryError:
        raise
    except Exception:
        array = None  # lists of different lengths, or an object that cannot be one
    if array is None or (array.ndim == 0 and array.dtype.kind not in "biufc"):
        requirement = f"{name} must be an array, a table, or lists of equal lengths"
        raise type_error(op, requirement, **{name: arguments.briefly(value)})
    if array.dtype.kind == "c":
        requirement = f"{name} must be real (Complex data not supported)"
        raise value_error(op, requirement, dtype=str(array.dtype))
    return array.astype(np.float32) if is_bfloat16(array.dtype) else array


def as_matrix(op: str, given: Any) -> Any:
    """``X`` in float32 or float64: finite numbers of some samples and some features."""
    array = as_array(op, "X", given)
    if array.ndim != 2:
        requirement = "X must have two axes, samples and features"
        if array.ndim == 1:
            requirement += (
                " (Reshape your data: X.reshape(1, -1) is one sample, X.reshape(-1, 1) one feature)"
            )
        raise value_error(op, requirement, X_shape=array.shape)
    for axis, what in enumerate(("sample", "feature")):
        if array.shape[axis] == 0:
            found = f"0 {what}(s) (shape={array.shape}) while a minimum of 1 is required"
            raise value_error(op, f"X must have {what}s ({found})")
    matrix = _floating(op, "X", given, array)
    check_finite(op, "X", matrix, names_of(given))
    return matrix


def as_numbers(op: str, name: str, given: Any) -> Any:
    """An array in float64 of finite numbers."""
    numbers = _floating(op, name, given, as_array(op, name, given)).astype(np.float64, copy=False)
    check_finite(op, name, numbers)
    return numbers


def _floating(op: str, name: str, given: Any, array: Any) -> Any:
    if array.dtype.kind == "O":
        return _of_objects(op, name, given, array)
    if array.dtype.kind not in "biuf":
        requirement = f"{name} must be numbers (words must be encoded first)"
        raise type_error(op, requirement, dtype=str(array.dtype))
    is_single = array.dtype in (np.float16, np.float32)
    return array.astype(np.float32 if is_single else np.float64, copy=False)


def _of_objects(op: str, name: str, given: Any, array: Any) -> Any:
    """Numbers of several kinds in one table, some of which may be missing."""
    flat = array.ravel().tolist()
    for index, value in enumerate(flat):
        if is_missing(value):
            flat[index] = np.nan
        elif not isinstance(value, NUMBERS):
            requirement = (
                f"{name} must be numbers: an argument must be neither a string nor any other "
                "object but a number (words must be encoded first)"
            )
            where = _where(np.unravel_index(index, array.shape), names_of(given))
            raise type_error(op, requirement, **where, type=type(value).__name__)
    try:
        return np.array(flat, np.float64).reshape(array.shape)
    except OverflowError:
        raise value_error(op, f"{name} must be numbers that float64 can hold") from None


def is_missing(value: Any) -> bool:
    """None, NaN, and what pandas has in their place."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def check_finite(op: str, name: str, array: Any, columns: list[Any] | None = None) -> None:
    """Refuse NaN, which stands for what is missing too, and infinity."""
    finite = np.isfinite(array)
    if finite.all():
        return
    missing = np.isnan(array)
    found, kind = (missing, "NaN") if missing.any() else (~finite, "inf")
    requirement = f"{name} must be finite and have nothing missing, but contains {kind}"
    raise value_error(op, requirement, **_where(np.argwhere(found)[0], columns))


def _where(place: Any, columns: list[Any] | None) -> dict[str, Any]:
    row, *others = (int(index) for index in place)
    if not others:
        return {"row": row}
    return {"row": row, "column": others[0] if columns is None else columns[others[0]]}


def names_of(given: Any) -> list[Any] | None:
    """The columns of a table, whatever they are called."""
    columns = getattr(given, "columns", None)
    try:
        return None if columns is None else list(columns)
    except TypeError:
        return None


def feature_names(op: str, given: Any) -> Any:
    """The names of the columns in an array, or None where there are none that are words."""
    names = names_of(given)
    are_words = [isinstance(name, str) for name in names or ()]
    if names is None or not any(are_words):
        return None
    if not all(are_words):
        requirement = "the columns of X must all have strings for names, or none"
        raise type_error(op, requirement, name=names[are_words.index(False)])
    array = np.empty(len(names), object)
    array[:] = names
    return array


def check_names(op: str, estimator: str, expected: Any, names: Any) -> None:
    """Refuse other names of features than those of fit, in the words of scikit-learn."""
    if names is None or expected is None:
        if names is not None:
            warn(f"X has feature names, but {estimator} was fitted without feature names")
        elif expected is not None:
            text = "X does not have valid feature names, but"
            warn(f"{text} {estimator} was fitted with feature names")
        return
    if list(names) == list(expected):
        return
    text = "The feature names should match those that were passed during fit.\n"
    unseen = sorted(set(names) - set(expected))
    missing = sorted(set(expected) - set(names))
    text += _listed("Feature names unseen at fit time:", unseen)
    text += _listed("Feature names seen at fit time, yet now missing:", missing)
    if not unseen and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    raise marked(ValueError(f"{op}: {text}"))  # of several lines, which scikit-learn's tests want


def _listed(head: str, names: list[str]) -> str:
    if not names:
        return ""
    shown = [f"- {screen_line(name)}\n" for name in names[:_SHOWN]]
    return "".join([f"{head}\n", *shown, "- ...\n" if len(names) > _SHOWN else ""])


def check_width(op: str, estimator: str, expected: int, matrix: Any) -> None:
    """Refuse another number of features than that of fit."""
    if matrix.shape[1] != expected:
        requirement = (
            f"X has {matrix.shape[1]} features, but {estimator} is expecting {expected} features "
            "as input"
        )
        raise value_error(op, requirement)
