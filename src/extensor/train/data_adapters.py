"""Data adapters: arrays, tables, data sets and loaders as the loaders that fit, evaluate and predict use."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor import random
from extensor.arrays.dtypes import get_default_dtype, is_floating
from extensor.core.tensor import Tensor, to_array
from extensor.data.dataset import (
    ArrayDataset,
    check_no_words,
    check_rows,
    column_names,
    frame_array,
    is_frame,
    is_series,
)
from extensor.data.loader import DataLoader
from extensor.data.picture_files import ImageFolder
from extensor.errors import arguments, type_error, value_error
from extensor.nn.module import Module
from extensor.random.generator import Generator

EPOCHS = 10


def is_data(value: Any) -> bool:
    """True for an array, a tensor, a table, or nested lists of numbers."""
    if isinstance(value, type):
        return False
    has_values = hasattr(value, "__array__") or is_frame(value) or is_series(value)
    kinds = int | float | np.number | np.bool_
    return has_values or (isinstance(value, list) and isinstance(_first(value), kinds))


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


def dataset_of(op: str, name: str, data: Any, y: Any) -> Any:
    """The data set itself, or one made of arrays; None for a loader."""
    if y is not None:
        return as_dataset(op, data, y)
    if is_dataset(data):
        return data
    if is_inputs(data):
        requirement = f"y must be given beside arrays and tables: {op}(X, y)"
        raise type_error(op, requirement, **{name: type(data).__name__})
    check_loader(op, name, data)
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
        arrays = [
            x if isinstance(x, Tensor) and x.ndim else as_array("predict", "inputs", x)
            for x in several
        ]
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


def _inputs_of(batches: Iterable[Any]) -> Iterable[Any]:
    for batch in batches:
        check_batch("predict", "inputs", batch, parts=1)
        yield batch[:-1] if len(batch) > 1 else batch


def fit_arguments(train: Any, y: Any, epochs: Any, validation: Any) -> tuple[Any, int, Any]:
    """The targets, the epochs and the validation data; ``fit(loader, 5, others)`` has no targets."""
    if isinstance(y, int | np.integer) and not isinstance(y, bool):
        if epochs is not None and validation is not None:
            given = arguments.briefly(epochs)
            raise type_error("fit", "epochs must be given once", epochs=y, again=given)
        return (
            None,
            arguments.integer("fit", "epochs", y, 0),
            (epochs if validation is None else validation),
        )
    if y is not None and not is_samples(train):
        if not is_samples(y):
            arguments.integer("fit", "epochs", y)
        requirement = "y is for arrays and tables; a loader gives the targets in its batches"
        raise type_error("fit", requirement, train=arguments.briefly(train))
    number = arguments.integer("fit", "epochs", EPOCHS if epochs is None else epochs, 0)
    return y, number, validation


class Split(NamedTuple):
    """The part of the samples that are validation data, and the generator's state that chose them."""

    fraction: float
    samples: int
    generator: list[int]


class FitData(NamedTuple):
    """The loaders, and what a later fit must know of them.

    ``made`` is the loader of arrays or of a data set, ``goes_on`` whether it takes the place of the
    one before it, ``columns`` the names of a table's.
    """

    train: Any
    validation: Any
    made: DataLoader | None
    goes_on: bool
    split: Split | None
    columns: Sequence[str] | None


def fit_data(
    train: Any,
    y: Any,
    validation: Any,
    batch_size: int,
    shuffle: bool,
    made_before: DataLoader | None,
    split: Split | None,
) -> FitData:
    """Loaders of what is given; ``made_before`` and ``split`` are those of the run so far."""
    batch_size = arguments.integer("fit", "batch_size", batch_size, 1)
    shuffle = arguments.flag("fit", "shuffle", shuffle)
    dataset = dataset_of("fit", "train", train, y)
    columns = check_columns("fit", train, None)
    if is_pair(validation) and is_frame(train):
        check_columns("fit", validation[0], columns)
    if is_fraction(validation):
        dataset, validation, split = split_dataset(
            train if dataset is None else dataset, validation, split
        )
    validation = validation_loader(validation, batch_size)
    if dataset is None:
        return FitData(train, validation, None, False, split, columns)
    before = made_before
    if before is not None:
        # A loader that is alike goes on where the one before is.
        made = DataLoader(dataset, batch_size, shuffle, generator=Generator(0))
        is_alike = type(made.sampler) is type(before.sampler) and batch_size == before.batch_size
        if is_alike and len(dataset) == len(before.dataset):
            made.load_state_dict(before.state_dict())
            return FitData(made, validation, made, True, split, columns)
    made = DataLoader(dataset, batch_size, shuffle)
    return FitData(made, validation, made, False, split, columns)


def is_pair(value: Any) -> bool:
    """True for ``(X, y)``, of which neither is a batch."""
    is_two = isinstance(value, tuple) and len(value) == 2
    return is_two and is_samples(value[0]) and is_data(value[1])


def validation_loader(validation: Any, batch_size: int) -> Any:
    """The loader of validation data: one, or made of ``(X, y)`` or a data set."""
    if validation is None:
        return None
    if is_pair(validation):
        validation = as_dataset("fit", *validation)
    if is_dataset(validation):
        return DataLoader(validation, batch_size)
    if isinstance(validation, tuple | list) and any(map(is_data, validation)):
        requirement = "validation must be (X, y), a fraction, a data set or a loader of batches"
        raise type_error("fit", requirement, validation=f"a {type(validation).__name__}")
    check_loader("fit", "validation", validation)
    return validation


def is_fraction(validation: Any) -> bool:
    """True for a number, which must then be between 0 and 1."""
    kinds = int | float | np.integer | np.floating
    real = isinstance(validation, kinds) and not isinstance(validation, bool)
    if real and not 0 < validation < 1:
        requirement = "validation must be between 0 and 1 as a fraction"
        raise value_error("fit", requirement, validation=arguments.briefly(validation))
    return real


def split_dataset(
    dataset: Any, fraction: float, before: Split | None
) -> tuple[ArrayDataset, ArrayDataset, Split]:
    """The samples to train on, those to validate with, and what chose them: chance, but only once.

    A run that goes on must not train on what it was validated with.
    """
    if not isinstance(dataset, ArrayDataset):
        requirement = "validation must be (X, y), a data set or a loader; a fraction is of arrays"
        raise type_error("fit", requirement, train=type(dataset).__name__)
    samples, held = len(dataset), round(len(dataset) * fraction)
    if not 0 < held < samples:
        requirement = "validation must leave samples to train on, and have some"
        raise value_error("fit", requirement, validation=fraction, samples=samples)
    made = Split(float(fraction), samples, list(random.get_state()))
    if before is not None:
        if before[:2] != made[:2]:
            requirement = (
                f"validation must stay {before.fraction:g} of {before.samples} samples in this run "
                "(data split beforehand may change: ArrayDataset(X, y).split(fraction))"
            )
            raise value_error("fit", requirement, validation=fraction, samples=samples)
        made = before
    generator = Generator(0)
    generator.set_state(tuple(made.generator))
    train, validation = dataset.split(fraction, generator)
    if before is None:
        random.set_state(generator.get_state())
    return train, validation, made


_LOADER = "DataLoader(ArrayDataset(x, y), batch_size=32, shuffle=True)"


def check_loader(op: str, name: str, loader: Any) -> None:
    """Refuse what gives no batches, and say how a loader is made of it."""
    if isinstance(loader, DataLoader):
        return
    is_data = hasattr(loader, "__array__") or isinstance(loader, str | bytes | Mapping | type)
    # A data set has samples by their number, but does not give batches one after the other.
    if is_data or not isinstance(loader, Iterable):
        requirement = f"{name} must be a loader of batches (inputs, target), as {_LOADER}"
        raise type_error(op, requirement, **{name: arguments.briefly(loader)})
    if isinstance(loader, tuple | list) and loader:
        check_batch(op, name, loader[0])


def check_batch(op: str, name: str, batch: Any, parts: int = 2) -> None:
    """Refuse a batch without inputs or without a target."""
    if not isinstance(batch, tuple | list):
        requirement = f"{name} must give batches (inputs, target), as {_LOADER}"
        raise type_error(op, requirement, batch=arguments.briefly(batch))
    if len(batch) < parts:
        requirement = f"{name} must give batches with a target beside the inputs, as {_LOADER}"
        raise value_error(op, requirement, parts=len(batch))
    first = batch[0]
    if not getattr(first, "shape", None) and not (isinstance(first, list) and first):
        requirement = f"{name} must give batches of arrays with an axis of samples"
        raise type_error(op, requirement, inputs=arguments.briefly(first))


def check_inputs(op: str, model: Module, inputs: Sequence[Any]) -> None:
    """Refuse a model that takes another number of inputs than a batch has."""
    try:
        inspect.signature(model.forward).bind(*inputs)
    except TypeError:
        requirement = f"the model must take {len(inputs)} inputs, as many as a batch has"
        raise type_error(op, requirement, model=type(model).__name__) from None


def can_share_batches(loader: Any) -> bool:
    """True for a DataLoader; a subclass with a way of its own to give batches goes that way."""
    return getattr(type(loader), "__iter__", None) is DataLoader.__iter__
