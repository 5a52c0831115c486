"""Arrays that a configuration describes: read, prepared for a model, and looked through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extensor import data
from extensor.arrays.dtypes import get_default_dtype, is_floating
from extensor.data import ArrayDataset, Dataset, ImageFolder, Normalize
from extensor.data.splitting import split_indices
from extensor.errors import value_error
from extensor.io.paths import existing
from extensor.random.generator import Generator
from extensor.train.experiments.config import Config, nearest
from extensor.train.experiments.named import built, named
from extensor.train.experiments.targets import (
    check_targets,
    class_names,
    class_numbers,
    table_options,
)
from extensor.train.experiments.user_functions import is_function_name, working_folder_last

SETS: dict[str, Callable[..., Any]] = {
    "digits": data.digits,
    "mnist": data.mnist,
    "fashion_mnist": data.fashion_mnist,
    "cifar10": data.cifar10,
}
AUGMENTATIONS: dict[str, Callable[..., Any]] = {
    "RandomCrop": data.RandomCrop,
    "RandomFlip": data.RandomFlip,
    "Cutout": data.Cutout,
    "Mixup": data.Mixup,
}
_TEST = 0.2  # of arrays without a file to test on
_ROWS = 4096  # looked at together, so that data larger than the memory can be checked


def read_data(config: Config) -> tuple[Dataset, Dataset | None, Dataset]:
    """The data to train on, to validate by, if that is asked for, and to test on; checked."""
    table = config["data"]
    name = table.get("name")
    if name is None:
        train, test = _own(config)
    elif is_function_name(name):
        with working_folder_last():
            train, test = named("data", table, SETS)()
    elif name in SETS:
        options = {"root": table["root"]} if "root" in table else {}
        train, test = SETS[name](**options)
    else:
        raise value_error("config", f"data: unknown name{nearest(name, SETS)}", name=name)
    if name is not None:
        _check_parts(config, train, test)
    return *_validation(config, train), test


def _check_parts(config: Config, train: Dataset, test: Dataset) -> None:
    for part, dataset in (("train", train), ("test", test)):
        check_samples(part, dataset)
    check_targets(config, train, test)


def _validation(config: Config, train: Dataset) -> tuple[Dataset, Dataset | None]:
    """A part of the data to train on, or a file, if either is asked for."""
    table = config["data"]
    if "validation" in table:
        validation = read_file(table["validation"], table)
        check_samples("validation", validation)
        return train, validation
    fraction = table.get("validation_fraction")
    if fraction is None:
        return train, None
    if not isinstance(train, ArrayDataset):
        requirement = "data.validation_fraction needs arrays; give data.validation, a file"
        raise value_error("config", requirement, validation_fraction=fraction)
    taken = 0.0 if "name" in table or "test" in table else table.get("test_fraction", _TEST)
    if not 0 < fraction < 1 - taken:
        requirement = "data.validation_fraction must be above 0 and leave samples to train on"
        given = {"validation_fraction": fraction, "test_fraction": taken}
        raise value_error("config", requirement, **given)
    numbers = class_numbers(train)
    share = max(fraction / (1 - taken), min(0.3, 1 / len(train)))  # of what the test leaves
    try:
        # Another generator than that of the test part, which would choose the same places.
        chosen, held, _ = split_indices(
            len(train), validation=share, test=0.0,
            generator=Generator(config["seed"]).split(1)[0],
            stratify=None if numbers is None else np.asarray(numbers),
        )  # fmt: skip
    except ValueError:
        requirement = f"{table.get('train', 'data')} must have samples for each part"
        requirement += f" (data.validation_fraction={fraction:.3g})"
        raise value_error("data", requirement, samples_without_the_test=len(train)) from None
    return ArrayDataset(*train.batch(chosen)), ArrayDataset(*train.batch(held))


def _own(config: Config) -> tuple[Dataset, Dataset]:
    """Files of the user; without any for testing a part of the others, always the same."""
    table = config["data"]
    if "train" not in table:
        raise value_error("config", f"data must have a name ({', '.join(SETS)}) or train, a file")
    train = read_file(table["train"], table)
    if "test" in table:
        test = read_file(table["test"], table)
        first, second = (class_names(table[part], table) for part in ("train", "test"))
        if first != second:
            # They are numbered in their order, so the same number would mean another class.
            raise value_error(
                "data", "train and test must have the same classes", train=first, test=second
            )
        _check_parts(config, train, test)
        return train, test
    if not isinstance(train, ArrayDataset):
        raise value_error("config", "data.test must be given for pictures", train=table["train"])
    _check_parts(config, train, train)  # while samples have the numbers that the file gives them
    parts = train.split(table.get("test_fraction", _TEST), Generator(config["seed"]))
    for part, dataset in zip(("train", "test"), parts, strict=True):
        if len(dataset) == 0:
            raise value_error("data", f"{part} must have at least one sample", samples=0)
    return parts


def read_file(path: str, table: Config, with_target: bool = True) -> ArrayDataset | ImageFolder:
    """The samples in a file or folder; the options that say how are those of ``[data]``."""
    place = existing(path)
    if place.is_dir():
        options = {key: table[key] for key in ("size", "mode") if key in table}
        if isinstance(options.get("size"), list):
            options["size"] = tuple(options["size"])
        return ImageFolder(place, **options)
    if place.suffix == ".csv":
        target = table.get("target", -1) if with_target else None
        parts = data.read_csv(place, target, **table_options(table))
    else:
        parts = _arrays(path, table, with_target)
    inputs, *targets = parts if isinstance(parts, tuple) else (parts,)
    return ArrayDataset(as_inputs(inputs), *map(as_targets, targets))


def _arrays(path: str, table: Config, with_target: bool) -> tuple[Any, ...]:
    """The arrays in an ``.npz``, or in an ``.npy`` beside that of its targets; checked."""
    target = table.get("target", "y")
    if with_target and not isinstance(target, str):
        requirement = "data.target must be the name of one array, or an .npy file of targets"
        raise value_error("config", requirement, target=target)
    stored = data.read_arrays(path)
    if isinstance(stored, dict):
        keys = [table.get("inputs", "x"), *([target] if with_target else [])]
        for key in keys:
            if key not in stored:
                requirement = f"file must have the array {key!r}"
                raise value_error("data", requirement, path=path, arrays=list(stored))
        found = {key: stored[key] for key in keys}
    else:
        found = {path: stored}
        if with_target and "target" not in table:
            requirement = (
                "file must be .npz with x and y, or data.target (--target) the .npy file of targets"
            )
            raise value_error("data", requirement, path=path)
        if with_target and target == path:
            requirement = "data.target must be another file than that of the inputs"
            raise value_error("config", requirement, target=target)
        if with_target:
            found[target] = data.read_arrays(target)
    for name, array in found.items():
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
    lengths = {name: len(array) for name, array in found.items()}
    if len(set(lengths.values())) > 1:
        requirement = f"arrays must have as many samples each ({path})"
        raise value_error("data", requirement, samples=lengths)
    return tuple(found.values())


def as_inputs(array: Any) -> Any:
    """Floats in the dtype of models; bytes and tokens as they are."""
    if not is_floating(array.dtype):
        return array
    with np.errstate(over="ignore"):  # an infinity is refused with all others
        return array.astype(get_default_dtype(), copy=False)


def as_targets(array: Any) -> Any:
    """Classes as int64; numbers as a column, which is what a model of one output gives."""
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
            rows = array[begin : begin + _ROWS].reshape(min(_ROWS, len(array) - begin), -1)
            bad = ~np.isfinite(rows).all(axis=1)
            if bad.any():
                first = int(bad.argmax())
                value = rows[first][~np.isfinite(rows[first])][0]
                raise value_error(
                    "data",
                    f"{part} must have no NaN or infinity",
                    sample=begin + first,
                    value=float(value),
                    **({"dtype": array.dtype.name} if np.isinf(value) else {}),
                )


def standardized(config: Config, train: Dataset) -> Config:
    """``config`` with ``standardize`` replaced by the numbers it stands for in these data.

    So that a trained model can be used where the data it was trained on are not.
    """
    table = dict(config["data"])
    if not table.pop("standardize", False):
        return config
    if "normalize" in table or not isinstance(train, ArrayDataset):
        requirement = "data.standardize needs arrays, and no data.normalize beside it"
        raise value_error("config", requirement, standardize=True)
    inputs = train.arrays[0]
    axes = tuple(axis for axis in range(inputs.ndim) if axis != 1)
    deviation = inputs.std(axis=axes, dtype=np.float64)
    table["normalize"] = {
        "mean": inputs.mean(axis=axes, dtype=np.float64).tolist(),
        # What never changes tells nothing, whatever it is divided by.
        "std": np.where(deviation > 0, deviation, 1.0).tolist(),
    }
    return {**config, "data": table}


def input_transforms(config: Config, dtype: str) -> list[Any]:
    """What is done with every batch; bytes are divided by 255 if nothing else is said."""
    options = config["data"].get("normalize")
    if options is None:
        options = {"scale": 255.0} if dtype == "uint8" else None
    return [] if options is None else [Normalize(**options)]


def augmentation(config: Config) -> list[Any]:
    """What chance does with the batches to train on."""
    tables = config["data"].get("augment", {})
    return [
        built(f"data.augment.{name}", {**options, "name": name}, AUGMENTATIONS)
        for name, options in tables.items()
    ]
