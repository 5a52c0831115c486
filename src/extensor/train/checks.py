"""What a trainer is given: of the kind that is meant, or an error that shows the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from extensor.arrays.dtypes import get_default_dtype, is_floating
from extensor.core.tensor import Tensor, to_array
from extensor.data.dataset import ArrayDataset
from extensor.data.folder import ImageFolder
from extensor.data.loader import DataLoader
from extensor.errors import arguments, type_error, value_error
from extensor.nn.module import Module
from extensor.optim import EMA, Optimizer
from extensor.train.callback import Callback
from extensor.train.metrics import Metric

_LOADER = "DataLoader(ArrayDataset(x, y), batch_size=32, shuffle=True)"


def check_parts(model: Any, loss: Any, optimizer: Any, ema: Any) -> None:
    """Refuse what cannot be trained, by what, or with what."""
    arguments.instance("Trainer", "model", model, Module, "a Module")
    if not callable(loss) or isinstance(loss, type):
        hint = f", such as {loss.__name__}(), not the class" if isinstance(loss, type) else ""
        requirement = f"loss must be a function of output and target, or a loss of ex.nn{hint}"
        raise type_error("Trainer", requirement, loss=arguments.briefly(loss))
    arguments.takes("Trainer", "loss", loss, "output", "target")
    arguments.instance("Trainer", "optimizer", optimizer, Optimizer, "an Optimizer")
    if ema is not None:
        arguments.instance("Trainer", "ema", ema, EMA, "an EMA or None")
    own = {id(parameter) for parameter in model.parameters()}
    given = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    if own and not any(id(parameter) in own for parameter in given):
        requirement = (
            "optimizer must have parameters of the model, as model.parameters() gives them"
        )
        raise value_error("Trainer", requirement, optimizer=type(optimizer).__name__)


def checked_metrics(metrics: Any) -> dict[str, Metric]:
    """The metrics by name."""
    if metrics is None:
        return {}
    if not isinstance(metrics, Mapping):
        requirement = "metrics must be a dict of names and metrics, as {'accuracy': Accuracy()}"
        raise type_error("Trainer", requirement, metrics=arguments.briefly(metrics))
    for name, metric in metrics.items():
        arguments.text("Trainer", "the name of a metric", name)
        methods = (getattr(metric, method, None) for method in ("reset", "update", "compute"))
        if isinstance(metric, type) or not all(map(callable, methods)):
            arguments.instance("Trainer", f"metrics[{name!r}]", metric, Metric, "a Metric")
    return dict(metrics)


def checked_callbacks(callbacks: Any, op: str = "Trainer") -> list[Callback]:
    """The callbacks as a list."""
    if isinstance(callbacks, Mapping | str | bytes) or not isinstance(callbacks, Iterable):
        requirement = "callbacks must be a list of callbacks"
        raise type_error(op, requirement, callbacks=arguments.briefly(callbacks))
    several = list(callbacks)
    for index, callback in enumerate(several):
        arguments.instance(op, f"callbacks[{index}]", callback, Callback, "a Callback")
    return several


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


def check_loss(value: Any) -> None:
    """Refuse what is no loss to be differentiated."""
    if not isinstance(value, Tensor):
        given = arguments.briefly(value)
        raise type_error("Trainer", "loss must give a tensor of one number", loss=given)
    if value.size != 1:
        requirement = "loss must give a tensor of one number (reduction='mean' or 'sum')"
        raise value_error("Trainer", requirement, loss_shape=value.shape)


def prediction_batches(inputs: Any, batch_size: int) -> Iterable[Any]:
    """The batches of an array, a table, a data set or a loader, without their targets."""
    batch_size = arguments.integer("predict", "batch_size", batch_size, 1)
    if isinstance(inputs, ArrayDataset | ImageFolder):
        inputs = DataLoader(inputs, batch_size)
    elif hasattr(inputs, "__array__") or (isinstance(inputs, list) and _is_of_numbers(inputs)):
        array = inputs if isinstance(inputs, Tensor) else _array(inputs)
        if array.ndim == 0:
            requirement = "inputs must have an axis of samples"
            raise value_error("predict", requirement, inputs_shape=array.shape)
        places = range(0, len(array), batch_size)
        return ((array[place : place + batch_size],) for place in places)
    if isinstance(inputs, str | bytes | Mapping | type) or not isinstance(inputs, Iterable):
        requirement = "inputs must be an array, a tensor, or a loader of batches"
        raise type_error("predict", requirement, inputs=arguments.briefly(inputs))
    return _inputs_of(inputs)


def _inputs_of(batches: Iterable[Any]) -> Iterable[Any]:
    for batch in batches:
        check_batch("predict", "inputs", batch, parts=1)
        yield batch[:-1] if len(batch) > 1 else batch


def _array(inputs: Any) -> Any:
    array = to_array(inputs, op="predict")
    # A table has its numbers in float64, whatever the model was trained with.
    is_wide = not isinstance(inputs, np.ndarray | np.generic) and is_floating(array.dtype)
    return array.astype(get_default_dtype(), copy=False) if is_wide else array


def _is_of_numbers(value: Any) -> bool:
    while isinstance(value, list) and value:
        value = value[0]
    return isinstance(value, int | float)
