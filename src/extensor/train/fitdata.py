"""What fit is given, as loaders to train on and to validate with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor import random
from extensor.data.dataset import ArrayDataset
from extensor.data.frames import is_frame
from extensor.data.loader import DataLoader
from extensor.errors import arguments, type_error, value_error
from extensor.random.generator import Generator
from extensor.train.checks import check_loader
from extensor.train.given import (
    as_dataset,
    check_columns,
    found_dataset,
    is_data,
    is_dataset,
    is_samples,
)
from extensor.train.resuming import Split

EPOCHS = 10


def fit_arguments(train: Any, y: Any, epochs: Any, validation: Any) -> tuple[Any, int, Any]:
    """The targets, the epochs and the validation data; ``fit(loader, 5, others)`` has no targets."""
    if isinstance(y, int | np.integer) and not isinstance(y, bool):
        if epochs is not None and validation is not None:
            given = arguments.briefly(epochs)
            raise type_error("fit", "epochs must be given once", epochs=y, again=given)
        return None, arguments.integer("fit", "epochs", y, 0), _either(validation, epochs)
    if y is not None and not is_samples(train):
        if not is_samples(y):
            arguments.integer("fit", "epochs", y)
        requirement = "y is for arrays and tables; a loader gives the targets in its batches"
        raise type_error("fit", requirement, train=arguments.briefly(train))
    number = arguments.integer("fit", "epochs", EPOCHS if epochs is None else epochs, 0)
    return y, number, validation


def _either(first: Any, second: Any) -> Any:
    return second if first is None else first


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
    dataset = found_dataset("fit", "train", train, y)
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
    made, goes_on = _training_loader(dataset, batch_size, shuffle, made_before)
    return FitData(made, validation, made, goes_on, split, columns)


def is_pair(value: Any) -> bool:
    """True for ``(X, y)``, of which neither is a batch."""
    is_two = isinstance(value, tuple) and len(value) == 2
    return is_two and is_samples(value[0]) and is_data(value[1])


def validation_loader(validation: Any, batch_size: int) -> Any:
    """The loader of validation data: one, or made of ``(X, y)`` or a data set."""
    if validation is None:
        return None
    if is_pair(validation):
        return DataLoader(as_dataset("fit", *validation), batch_size)
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


def _training_loader(
    dataset: Any, batch_size: int, shuffle: bool, before: DataLoader | None
) -> tuple[DataLoader, bool]:
    """A loader of ``dataset``, and whether it goes on where the one ``before``, which is alike, is."""
    if before is not None:
        made = DataLoader(dataset, batch_size, shuffle, generator=Generator(0))
        alike = type(made.sampler) is type(before.sampler) and batch_size == before.batch_size
        if alike and len(dataset) == len(before.dataset):
            made.load_state_dict(before.state_dict())
            return made, True
    return DataLoader(dataset, batch_size, shuffle), False
