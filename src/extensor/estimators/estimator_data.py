"""Data of estimators: a matrix of finite numbers, and targets; errors and warnings as in scikit-learn."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_bfloat16
from extensor.errors import arguments, marked, type_error, value_error
from extensor.errors.screen import screen_line


class NotFittedError(ValueError, AttributeError):
    """The stand-in for the error of this name where scikit-learn is not loaded."""


def not_fitted(op: str) -> Exception:
    """The error for an estimator that has learned nothing yet."""
    kind = _class_of_sklearn("NotFittedError", NotFittedError)
    error: Exception = marked(kind(f"{op}: the estimator must be fitted first, by fit"))
    return error


def warn_of_column(samples: int) -> None:
    """Warn that a matrix of one column is used as a row of labels."""
    text = "A column-vector y was passed when a 1d array was expected; y.ravel() has the shape "
    warn(f"{text}({samples},)", _class_of_sklearn("DataConversionWarning", UserWarning))


def _class_of_sklearn(name: str, stand_in: Any) -> Any:
    """The error or warning that scikit-learn calls ``name``, or ours where it is not loaded."""
    if sys.modules.get("sklearn") is None:
        return stand_in
    from sklearn import exceptions

    return getattr(exceptions, name)


def warn(text: str, kind: type[Warning] = UserWarning) -> None:
    """Warn of the line that called an estimator, however far that is from here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(__package__):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)


_NUMBERS = (int, float, np.number, np.bool_)
_SHOWN = 5  # of the names that do not match


def as_array(op: str, name: str, value: Any) -> Any:
    """Data of a user as a NumPy array, of whatever dtype."""
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
    _check_finite(op, "X", matrix, names_of(given))
    return matrix


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
        if _is_missing(value):
            flat[index] = np.nan
        elif not isinstance(value, _NUMBERS):
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


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or the NA or NaT of pandas."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _check_finite(op: str, name: str, array: Any, columns: list[Any] | None = None) -> None:
    """Refuse NaN, which also stands for missing values, and infinity."""
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
    """Refuse feature names that differ from those of fit, in the words of scikit-learn."""
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
    """Refuse a number of features that differs from that of fit."""
    if matrix.shape[1] != expected:
        requirement = (
            f"X has {matrix.shape[1]} features, but {estimator} is expecting {expected} features "
            "as input"
        )
        raise value_error(op, requirement)


def as_labels(op: str, y: Any, samples: int) -> Any:
    """A row of labels, or a matrix of 0 and 1 with a column for each label."""
    array = _rows(op, y, samples)
    if array.ndim == 2 and array.shape[1] == 1:
        warn_of_column(samples)
        array = array[:, 0]
    return _labels(op, "y", array)


def _labels(op: str, name: str, array: Any) -> Any:
    if array.dtype.kind == "O":
        array = _label_objects(op, name, array)
    if array.dtype.kind == "f":
        _check_finite(op, name, array)
    elif array.dtype.kind not in "biuOUS":
        raise _unknown(op, name, "unknown", array)
    if array.ndim == 2:
        if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
            raise _unknown(op, name, "multiclass-multioutput", array)
        return array.astype(np.int64)
    if array.dtype.kind == "f" and (array != np.round(array)).any():
        raise _unknown(op, name, "continuous", array)
    return array


def as_values(op: str, y: Any, samples: int) -> Any:
    """Numbers in float64: a row, or a matrix with a column for each output."""
    array = _rows(op, y, samples)
    numbers = _floating(op, "y", array, array).astype(np.float64, copy=False)
    _check_finite(op, "y", numbers)
    return numbers


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


def _label_objects(op: str, name: str, array: Any) -> Any:
    """Words as they are, or numbers as an array of their own; nothing missing, nothing mixed."""
    values = array.ravel().tolist()
    for row, value in enumerate(values):
        if _is_missing(value):
            raise value_error(op, f"{name} must have nothing missing, but contains NaN", row=row)
    if all(isinstance(value, str) for value in values):
        return array
    if all(isinstance(value, _NUMBERS) for value in values):
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


def class_labels(op: str, classes: Any) -> Any:
    """The classes that are given for all later calls, in their order."""
    array = as_array(op, "classes", classes)
    if array.ndim != 1 or not array.size:
        raise value_error(op, "classes must be a row of labels", classes_shape=array.shape)
    return np.unique(_labels(op, "classes", array))


def class_numbers(op: str, labels: Any, classes: Any) -> Any:
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


def sample_weights(op: str, given: Any, samples: int) -> Any:
    """A weight for each sample, or None where all count the same."""
    if given is None:
        return None
    array = as_array(op, "sample_weight", given)
    if array.dtype.kind not in "biuf":
        requirement = "sample_weight must be numbers"
        raise type_error(op, requirement, sample_weight=type(given).__name__)
    weights = np.full(samples, array, np.float64) if array.ndim == 0 else array.astype(np.float64)
    if weights.shape != (samples,):
        requirement = f"sample_weight must be a row of {samples}, one for each sample"
        raise value_error(op, requirement, sample_weight_shape=weights.shape)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        worst = int(np.argmin(np.isfinite(weights) & (weights >= 0)))
        requirement = "sample_weight must be finite and not negative"
        raise value_error(op, requirement, row=worst, weight=float(weights[worst]))
    if not weights.any():
        raise value_error(op, "a weight must be other than zero (sample_weight is zeros)")
    return weights


def class_weights(op: str, given: Any, classes: Any, numbers: Any, weights: Any) -> Any:
    """A weight for each sample by the number of its class, or None where all count the same.

    ``"balanced"`` gives every class the same share, whatever the samples and their weights are.
    """
    if given is None:
        return None
    if isinstance(given, str) and given == "balanced":
        counts = np.bincount(numbers, weights, len(classes))
        with np.errstate(divide="ignore"):  # a class of partial_fit that has not come yet
            return (counts.sum() / (len(classes) * counts))[numbers]
    if not isinstance(given, Mapping):
        requirement = "class_weight must be None, 'balanced' or a dict of classes and weights"
        raise value_error(op, requirement, class_weight=arguments.briefly(given))
    known = classes.tolist()
    factors = np.ones(len(known))
    for label, weight in given.items():
        if label not in known:
            some = ", ".join(map(repr, known[:10])) + (" and so on" if len(known) > 10 else "")
            raise value_error(op, f"class_weight must name classes of {some}", label=label)
        factors[known.index(label)] = arguments.number(
            op, f"class_weight[{label!r}]", weight, least=0
        )
    if not np.isfinite(factors).all():
        raise value_error(op, "class_weight must be finite", class_weight=factors.tolist())
    return factors[numbers]


def combined_weights(op: str, weights: Any, factors: Any, as_they_are: bool) -> Any:
    """Both together, or None where all are 1; their mean is 1, unless they stay ``as_they_are``."""
    both = weights if factors is None else factors if weights is None else weights * factors
    if both is None:
        return None
    if not both.any():
        raise value_error(op, "class_weight must leave a weight that is not zero")
    if not as_they_are:
        both = both / both.max()  # whose sum is finite
        both = both / both.mean()
    return None if (both == 1).all() else both


def accuracy(predicted: Any, labels: Any, weights: Any) -> float:
    """The share of samples that are right, of several labels in all of them."""
    right = predicted == labels
    return float(np.average(right.all(axis=1) if right.ndim == 2 else right, weights=weights))


def r2(predicted: Any, values: Any, weights: Any) -> float:
    """R², averaged over the outputs."""
    if len(values) < 2:
        warn("score: R^2 of one sample is not defined")
        return float("nan")
    several = values.reshape(len(values), -1)
    errors = np.average((several - predicted.reshape(several.shape)) ** 2, 0, weights)
    spread = np.average((several - np.average(several, 0, weights)) ** 2, 0, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = 1 - errors / spread
    # A target that is always the same: right, or no better than its mean.
    constant = spread == 0
    return float(np.where(constant, np.where(errors == 0, 1.0, 0.0), scores).mean())
