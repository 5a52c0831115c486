"""New inputs of a model: read, checked, and prepared as those were that it was trained with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from extensor.core.tensor import to_array
from extensor.data import ArrayDataset, DataLoader, Dataset
from extensor.errors import arguments, type_error, value_error
from extensor.train.experiments.config import Config
from extensor.train.experiments.data import as_inputs, check_samples, preparation, read_file


def input_loader(config: Config, inputs: Any, batch_size: int) -> DataLoader:
    """The batches of ``inputs``: a file, a folder of pictures, an array or a data set."""
    batch_size = arguments.integer("predict", "batch_size", batch_size, 1)
    dataset = _dataset(config, inputs)
    check_samples("inputs", dataset)
    _check_columns(config, dataset)
    return DataLoader(dataset, batch_size, transform=preparation(config, dataset))


def _dataset(config: Config, inputs: Any) -> Dataset:
    if isinstance(inputs, str | os.PathLike):
        return read_file(os.fspath(inputs), config["data"], with_target=False)
    if hasattr(inputs, "__array__") or isinstance(inputs, list):
        array = to_array(inputs, op="predict")
        if array.ndim == 0:
            raise value_error("predict", "inputs must have an axis of samples", inputs_shape=())
        return ArrayDataset(as_inputs(array))
    has_items = hasattr(inputs, "__len__") and hasattr(inputs, "__getitem__")
    if not has_items or isinstance(inputs, type | bytes | Mapping | tuple):
        requirement = "inputs must be an array, a tensor, a data set or a file"
        raise type_error("predict", requirement, inputs=arguments.briefly(inputs))
    return inputs  # type: ignore[no-any-return]


def _check_columns(config: Config, inputs: Any) -> None:
    """Refuse a table of other columns than the model was trained with, where they are known."""
    table = inputs.arrays[0] if isinstance(inputs, ArrayDataset) else None
    if table is None or table.ndim != 2:
        return
    mean = config["data"].get("normalize", {}).get("mean")
    sizes = config["model"].get("sizes") if config["model"].get("name") == "mlp" else None
    columns = len(mean) if isinstance(mean, list) else sizes[0] if sizes else table.shape[1]
    if table.shape[1] != columns:
        requirement = f"inputs must have {columns} columns, those that the model was trained with"
        hint = " (the targets are none of them)" if table.shape[1] == columns + 1 else ""
        raise value_error("data", requirement + hint, columns=table.shape[1])
