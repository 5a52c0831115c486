"""Arrays that a configuration describes: data sets by name, files of arrays, and their parts.

Configurations of the first release read tables and folders of pictures as arrays too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extensor import data as library_data
from extensor.arrays.dtypes import get_default_dtype, is_floating
from extensor.data import ArrayDataset, Dataset, ImageFolder
from extensor.data.splitting import TEST, least_share, split_indices
from extensor.errors import value_error
from extensor.errors.messages import NAME_UNKNOWN, suggestion
from extensor.experiments.sources.array_targets import check_targets, class_names, class_numbers
from extensor.experiments.sources.preparation import part_name
from extensor.experiments.spec import DataSpec, ExperimentSpec, is_function_name
from extensor.experiments.user_functions import import_function, working_folder_last
from extensor.io.paths import existing
from extensor.random.generator import Generator
from extensor.train.nonfinite import first_infinite

SETS: dict[str, Callable[..., Any]] = {
    "digits": library_data.digits,
    "mnist": library_data.mnist,
    "fashion_mnist": library_data.fashion_mnist,
    "cifar10": library_data.cifar10,
}
_ROWS = 4096  # checked together, so that data may exceed the memory


def read_arrays(spec: ExperimentSpec) -> tuple[Dataset, Dataset | None, Dataset]:
    """The data to train on, to validate by, if that is asked for, and to test on; checked."""
    data = spec.data
    if data.name is None:
        train, test = _read_own_files(data)
    elif is_function_name(data.name):
        with working_folder_last():
            train, test = import_function("data", data.name)()
    elif data.name in SETS:
        train, test = SETS[data.name](**data.options("root"))
    else:
        raise NAME_UNKNOWN.error(suggestion(data.name, SETS), name=data.name, entry="data")
    # Before the division, while samples have the numbers that the file gives them.
    check_samples("train", train)
    if test is not None:
        check_samples("test", test)
    check_targets(spec, train, train if test is None else test)
    if test is None:
        train, test = train.split(_test_fraction(data), Generator(spec.seed))
        for part, dataset in (("train", train), ("test", test)):
            if len(dataset) == 0:
                raise value_error("data", f"{part} must have at least one sample", samples=0)
    return *_hold_out_validation(spec, train), test


def _hold_out_validation(spec: ExperimentSpec, train: Dataset) -> tuple[Dataset, Dataset | None]:
    """The data to train on, and a part of them or a file to validate by, if either is asked for."""
    data = spec.data
    if data.validation is not None:
        validation = read_array_file(data.validation, data)
        check_samples("validation", validation)
        return train, validation
    fraction = data.validation_fraction
    if fraction is None:
        return train, None
    if not isinstance(train, ArrayDataset):
        requirement = "data.validation_fraction needs arrays; give data.validation, a file"
        raise value_error("config", requirement, validation_fraction=fraction)
    is_apart = data.name is not None or data.test is not None
    taken = 0.0 if is_apart else _test_fraction(data)
    if not 0 < fraction < 1 - taken:
        requirement = "data.validation_fraction must be above 0 and leave samples to train on"
        given = {"validation_fraction": fraction, "test_fraction": taken}
        raise value_error("config", requirement, **given)
    numbers = class_numbers(train)
    share = max(
        fraction / (1 - taken), least_share(len(train))
    )  # of the rest without the test part
    try:
        # The generator of the test part would choose the same places.
        learned, held, _ = split_indices(
            len(train),
            validation=share,
            test=0.0,
            generator=Generator(spec.seed).split(1)[0],
            stratify=None if numbers is None else np.asarray(numbers),
        )
    except ValueError:
        requirement = f"{data.train or 'data'} must have samples for each part"
        requirement += f" (data.validation_fraction={fraction:.3g})"
        raise value_error("data", requirement, samples_without_the_test=len(train)) from None
    return ArrayDataset(*train.batch(learned)), ArrayDataset(*train.batch(held))


def _test_fraction(data: DataSpec) -> float:
    return TEST if data.test_fraction is None else data.test_fraction


def _read_own_files(data: DataSpec) -> tuple[Any, Any]:
    """Files of the user; None without any for testing, when a part of the others is for that."""
    if data.train is None:
        raise value_error("config", f"data must have a name ({', '.join(SETS)}) or train, a file")
    train = read_array_file(data.train, data)
    if data.test is not None:
        test = read_array_file(data.test, data)
        first, second = (class_names(data, part) for part in ("train", "test"))
        if first != second:
            # They are numbered in their order, so the same number would mean another class.
            requirement = "train and test must have the same classes"
            raise value_error("data", requirement, train=first, test=second)
        return train, test
    if not isinstance(train, ArrayDataset):
        raise value_error("config", "data.test must be given for pictures", train=data.train)
    return train, None


def read_array_file(
    path: str, data: DataSpec, with_target: bool = True
) -> ArrayDataset | ImageFolder:
    """Read the samples in a file or folder, with the options of ``[data]``."""
    place = existing(path)
    if place.is_dir():
        size = tuple(data.size) if isinstance(data.size, list) else data.size
        options = {key: x for key, x in (("size", size), ("mode", data.mode)) if x is not None}
        return ImageFolder(place, **options)  # type: ignore[arg-type]
    if place.suffix == ".csv":
        target: Any = (-1 if data.target is None else data.target) if with_target else None
        parts = library_data.read_csv(place, target, **data.options("delimiter", "header"))
    else:
        parts = _load_arrays(path, data, with_target)
    inputs, *targets = parts if isinstance(parts, tuple) else (parts,)
    return ArrayDataset(as_inputs(inputs), *map(as_targets, targets))


def _load_arrays(path: str, data: DataSpec, with_target: bool) -> tuple[Any, ...]:
    """Read and check the arrays in an ``.npz``, or in an ``.npy`` and that of its targets."""
    target = part_name(data, "target", "y")
    if with_target and not isinstance(target, str):
        requirement = "data.target must be the name of one array, or an .npy file of targets"
        raise value_error("config", requirement, target=target)
    stored = library_data.read_arrays(path)
    if isinstance(stored, dict):
        keys = [part_name(data, "inputs", "x"), *([target] if with_target else [])]
        for key in keys:
            if key not in stored:
                requirement = f"file must have the array {key!r}"
                raise value_error("data", requirement, path=path, arrays=list(stored))
        arrays = {key: stored[key] for key in keys}
    else:
        arrays = {path: stored}
        if with_target:
            if data.target is None:
                requirement = (
                    "file must be .npz with x and y, or data.target (--target) the .npy file of "
                    "targets"
                )
                raise value_error("data", requirement, path=path)
            if data.target == path:
                requirement = "data.target must be another file than that of the inputs"
                raise value_error("config", requirement, target=data.target)
            arrays[target] = library_data.read_arrays(str(data.target))
    for name, array in arrays.items():
        _check_array(path, name, array)
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        requirement = f"arrays must have as many samples each ({path})"
        raise value_error("data", requirement, samples=lengths)
    return tuple(arrays.values())


def _check_array(path: str, name: str, array: Any) -> None:
    where = {"path": path} if name == path else {"path": path, "array": name}
    if isinstance(array, dict):
        requirement = "data.target must be an .npy file, which has one array"
        raise value_error("config", requirement, target=name)
    if array.ndim == 0:
        raise value_error("data", "there must be an axis of samples", **where, shape=())
    if not (is_floating(array.dtype) or array.dtype.kind in "biu"):
        hint = " (numpy.unique(y, return_inverse=True)[1] numbers words)"
        hint = hint if array.dtype.kind in "US" else ""
        requirement = f"arrays must be of numbers{hint}"
        raise value_error("data", requirement, **where, dtype=str(array.dtype))


def as_inputs(array: Any) -> Any:
    """Floats in the dtype of models; bytes and tokens as they are."""
    if not is_floating(array.dtype):
        return array
    with np.errstate(over="ignore"):  # an infinity is refused with all others
        return array.astype(get_default_dtype(), copy=False)


def as_targets(array: Any) -> Any:
    """Classes as int64, and numbers as a column, the shape of a single output."""
    if not is_floating(array.dtype):
        if array.dtype == np.uint64 and len(array) and int(array.max()) >= 2**63:
            requirement = "targets must be whole numbers below 2**63, or floats"
            raise value_error("data", requirement, target=int(array.max()))
        return array.astype(np.int64, copy=False)
    array = as_inputs(array)
    return array[:, None] if array.ndim == 1 else array


def check_samples(part: str, dataset: Dataset) -> None:
    """Refuse data of which nothing can be learned: none, or not finite."""
    if len(dataset) == 0:
        raise value_error("data", f"{part} must have at least one sample", samples=0)
    if not isinstance(dataset, ArrayDataset):
        return
    for array in dataset.arrays:
        for begin in range(0, len(array) if is_floating(array.dtype) else 0, _ROWS):
            rows = array[begin : begin + _ROWS]
            first = first_infinite(rows)
            if first is not None:
                value = rows[first][~np.isfinite(rows[first])].flat[0]
                raise value_error(
                    "data",
                    f"{part} must have no NaN or infinity",
                    sample=begin + first,
                    value=float(value),
                    **({"dtype": array.dtype.name} if np.isinf(value) else {}),
                )
