"""What a trainer is given: of the kind that is meant, or an error that shows the way."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from extensor.core.tensor import Tensor
from extensor.data.loader import DataLoader
from extensor.errors import arguments, type_error, value_error
from extensor.errors.suggestions import nearest
from extensor.nn.module import Module
from extensor.optim import EMA, Optimizer
from extensor.train.callback import Callback
from extensor.train.metrics import Metric
from extensor.train.tasks import possible_tasks, task_of

_LOADER = "DataLoader(ArrayDataset(x, y), batch_size=32, shuffle=True)"
_TAKEN = ("loss", "lr", "epoch", "step", "event")


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


def checked_metrics(metrics: Any, loss: Any, argument: str = "metrics") -> dict[str, Any]:
    """The metrics by name: each an object, or a name of its own that ``loss`` gives a meaning."""
    if metrics is None:
        return {}
    if isinstance(metrics, str | bytes) or not isinstance(metrics, Mapping | Sequence):
        requirement = f"{argument} must be a list of names, as ['accuracy'], or a dict of metrics"
        raise type_error("Trainer", requirement, **{argument: arguments.briefly(metrics)})
    given = dict(metrics) if isinstance(metrics, Mapping) else by_name(metrics, argument)
    for name, metric in given.items():
        arguments.text("Trainer", "the name of a metric", name)
        if name in _TAKEN:
            requirement = f"the name of a metric must not be one the log has anyway, {_TAKEN}"
            raise value_error("Trainer", requirement, name=name)
        if isinstance(metric, str):
            _check_named(argument, metric, loss)
            continue
        methods = (getattr(metric, method, None) for method in ("reset", "update", "compute"))
        if isinstance(metric, type) or not all(map(callable, methods)):
            arguments.instance("Trainer", f"{argument}[{name!r}]", metric, Metric, "a Metric")
    return given


def by_name(names: Sequence[Any], argument: str) -> dict[str, str]:
    """Each name, which stands for itself."""
    for name in names:
        arguments.text("Trainer", f"a name in {argument}", name)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise value_error("Trainer", f"{argument} must be given once each", name=twice)
    return {name: name for name in names}


def _check_named(argument: str, name: str, loss: Any) -> None:
    """Refuse a name that stands for nothing, for none of the tasks that ``loss`` may be of."""
    tasks = possible_tasks(loss)
    if not tasks:
        requirement = (
            f"{argument} must be objects, as {{{name!r}: Accuracy()}}, for a loss that does not "
            "say whether it is of classes or of numbers"
        )
        raise value_error("Trainer", requirement, loss=arguments.briefly(loss))
    for task in tasks:
        try:
            named_metric(name, task, 2)
        except ValueError:
            if task == tasks[-1]:
                raise
        else:
            return


def made_metrics(given: Mapping[str, Any], loss: Any, output: Any) -> dict[str, Metric]:
    """The metrics, those that are only named made for such outputs."""
    task, classes = task_of(loss, output)
    return {
        name: named_metric(metric, str(task), classes) if isinstance(metric, str) else metric
        for name, metric in given.items()
    }


def named_metric(name: str, task: str, num_classes: int | None) -> Metric:
    """The metric called ``name`` for such a task."""
    from extensor.train import metrics as numbers
    from extensor.train import metrics_classification as classes

    known: dict[str, Any] = {}
    if task == "regression":
        known["mean_absolute_error"] = numbers.MeanAbsoluteError
        known["root_mean_squared_error"] = numbers.RootMeanSquaredError
    elif task == "multiclass":
        known |= {"accuracy": classes.Accuracy, "top_k_accuracy": classes.TopKAccuracy}
        known["perplexity"] = numbers.Perplexity
        several: dict[str, Any] = {
            "precision": classes.Precision,
            "recall": classes.Recall,
            "f1": classes.F1,
        }
        several["confusion_matrix"] = classes.ConfusionMatrix
        known |= {key: partial(kind, num_classes) for key, kind in several.items()}
    if name not in known:
        requirement = f"metric must be one of a {task} task{nearest(name, known)}"
        raise value_error("Trainer", requirement, metric=name)
    return known[name]()  # type: ignore[no-any-return]


def checked_callbacks(callbacks: Any, op: str = "Trainer") -> list[Callback]:
    """The callbacks as a list."""
    if isinstance(callbacks, Mapping | str | bytes) or not isinstance(callbacks, Iterable):
        requirement = "callbacks must be a list of callbacks"
        raise type_error(op, requirement, callbacks=arguments.briefly(callbacks))
    several = list(callbacks)
    for index, callback in enumerate(several):
        arguments.instance(op, f"callbacks[{index}]", callback, Callback, "a Callback")
        for other in several[:index]:
            shared = sorted({*other.writes} & {*callback.writes})
            if callback is other or shared:
                what = f" that write {shared[0]}" if shared else ""
                given = type(callback).__name__
                requirement = f"callbacks{what} must be given once"
                raise value_error(op, requirement, **{f"callbacks[{index}]": given})
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


def check_inputs(op: str, model: Module, inputs: Sequence[Any]) -> None:
    """Refuse a model that takes another number of inputs than a batch has."""
    try:
        inspect.signature(model.forward).bind(*inputs)
    except TypeError:
        requirement = f"the model must take {len(inputs)} inputs, as many as a batch has"
        raise type_error(op, requirement, model=type(model).__name__) from None


def check_loss(value: Any) -> None:
    """Refuse what is no loss to be differentiated."""
    if not isinstance(value, Tensor):
        given = arguments.briefly(value)
        raise type_error("Trainer", "loss must give a tensor of one number", loss=given)
    if value.size != 1:
        requirement = "loss must give a tensor of one number (reduction='mean' or 'sum')"
        raise value_error("Trainer", requirement, loss_shape=value.shape)
