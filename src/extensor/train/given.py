"""What users give to train on, to measure and to predict: arrays, tables and data sets as one kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from extensor.arrays.dtypes import get_default_dtype, is_floating
from extensor.core.tensor import Tensor, to_array
from extensor.data.dataset import ArrayDataset
from extensor.data.folder import ImageFolder
from extensor.data.frames import (
    check_no_words,
    check_rows,
    column_names,
    frame_array,
    is_frame,
    is_series,
)
from extensor.data.loader import DataLoader
from extensor.errors import arguments, type_error, value_error
from extensor.train.checks import check_batch, check_loader


def is_data(value: Any) -> bool:
    """True for an array, a tensor, a table, or nested lists of numbers."""
    if isinstance(value, type):
        return False
    has_values = hasattr(value, "__array__") or is_frame(value) or is_series(value)
    return has_values or (isinstance(value, list) and _is_of_numbers(value))


def is_inputs(value: Any) -> bool:
    """True for data, or a tuple of them for a model of several inputs."""
    several = isinstance(value, tuple) and len(value) > 0
    return all(map(is_data, value)) if several else is_data(value)


def is_samples(value: Any) -> bool:
    """True for inputs, or a list of the arrays of each sample; a list of batches looks like it."""
    return is_inputs(value) or (isinstance(value, list) and is_data(_first(value)))


def is_dataset(value: Any) -> bool:
    """True for what has samples by their number, and does not give batches one after the other."""
    if isinstance(value, ArrayDataset | ImageFolder):
        return True
    is_sized = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    return is_sized and not isinstance(value, Iterable | type) and not is_data(value)


def _is_of_numbers(value: Any) -> bool:
    return isinstance(_first(value), int | float | np.number | np.bool_)


def _first(value: Any) -> Any:
    while isinstance(value, list) and value:
        value = value[0]
    return value


def as_array(op: str, name: str, value: Any) -> Any:
    """Data as an array; lists and tables have floats of the default dtype, arrays their own."""
    if is_frame(value) or is_series(value):
        return frame_array(op, name, value)
    check_no_words(op, name, _first(value))
    array = to_array(value, op=op)
    is_wide = not isinstance(value, np.ndarray | np.generic | Tensor) and is_floating(array.dtype)
    array = array.astype(get_default_dtype(), copy=False) if is_wide else array
    if array.ndim == 0:
        raise value_error(op, f"{name} must have an axis of samples", **{f"{name}_shape": ()})
    return array


def as_dataset(op: str, inputs: Any, y: Any) -> ArrayDataset:
    """Inputs and their targets, which must be as many."""
    several = inputs if isinstance(inputs, tuple) else (inputs,)
    for name, each in (*(("X", x) for x in several), ("y", y)):
        check_no_words(op, name, _first(each))
        if not is_samples(each):
            requirement = f"{name} must be an array, a tensor, a table or a list of numbers"
            raise type_error(op, requirement, **{name: arguments.briefly(each)})
    for each in several:
        check_rows(op, each, y)
    arrays = [as_array(op, "X", each) for each in several]
    target = as_array(op, "y", y)
    for each in arrays:
        if len(each) != len(target):
            requirement = "X and y must have the same number of samples"
            raise value_error(op, requirement, X=len(each), y=len(target))
    return ArrayDataset(*arrays, target)


def found_dataset(op: str, name: str, given: Any, y: Any) -> Any:
    """The data set that is given, or made of arrays; None for a loader."""
    if y is not None:
        return as_dataset(op, given, y)
    if is_dataset(given):
        return given
    if is_inputs(given):
        requirement = f"y must be given beside arrays and tables: {op}(X, y)"
        raise type_error(op, requirement, **{name: type(given).__name__})
    check_loader(op, name, given)
    return None


def check_columns(op: str, inputs: Any, known: Sequence[str] | None) -> Sequence[str] | None:
    """The names of a table's columns, which must be the ``known`` ones if there are any."""
    if not is_frame(inputs):
        return known
    names = column_names(inputs)
    if known is not None and names != known:
        requirement = f"the table must have the columns {_shortly(known)} in this order"
        raise value_error(op, requirement, columns=_shortly(names))
    return names


def _shortly(names: Sequence[str]) -> list[str]:
    return [*names] if len(names) <= 8 else [*names[:7], "..."]


def prediction_batches(inputs: Any, batch_size: int) -> Iterable[Any]:
    """The batches of an array, a table, a data set or a loader, without their targets."""
    batch_size = arguments.integer("predict", "batch_size", batch_size, 1)
    if is_inputs(inputs):
        several = inputs if isinstance(inputs, tuple) else (inputs,)
        arrays = [x if isinstance(x, Tensor) and x.ndim else _input(x) for x in several]
        if len({len(x) for x in arrays}) > 1:
            lengths = [len(x) for x in arrays]
            requirement = "inputs must have the same number of samples"
            raise value_error("predict", requirement, samples=lengths)
        places = range(0, len(arrays[0]), batch_size)
        return (tuple(x[place : place + batch_size] for x in arrays) for place in places)
    if is_dataset(inputs):
        inputs = DataLoader(inputs, batch_size)
    if isinstance(inputs, str | bytes | Mapping | type) or not isinstance(inputs, Iterable):
        requirement = "inputs must be an array, a tensor, or a loader of batches"
        raise type_error("predict", requirement, inputs=arguments.briefly(inputs))
    return _inputs_of(inputs)


def _input(value: Any) -> Any:
    return as_array("predict", "inputs", value)


def _inputs_of(batches: Iterable[Any]) -> Iterable[Any]:
    for batch in batches:
        check_batch("predict", "inputs", batch, parts=1)
        yield batch[:-1] if len(batch) > 1 else batch
