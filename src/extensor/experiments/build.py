"""From a spec to a model: defaults for what it leaves open, loaders, model, loss and one rehearsal."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from math import log2
from typing import Any

import numpy as np

from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.data import DataLoader, WeightedSampler
from extensor.errors import value_error
from extensor.experiments.factories import (
    AUGMENTATIONS,
    LOSSES,
    MODELS,
    build_named,
    named_function,
)
from extensor.experiments.goal import Goal, balance, metrics_in_units
from extensor.experiments.sources import Preparation, PreparedData, Samples
from extensor.experiments.sources.array_targets import check_default_loss, check_labels
from extensor.experiments.spec import ExperimentSpec, NamedSpec
from extensor.nn.module import Module
from extensor.nn.preservation import preserve_state
from extensor.optim import SGD
from extensor.train.evaluation import evaluate_batches
from extensor.train.loss_parts import OverPositions
from extensor.train.metrics import Metric, named_metric
from extensor.train.step_strategy import LocalStep, check_loss
from extensor.train.tasks import LOSSES as LOSS_TRAITS
from extensor.train.tasks import TASKS, loss_traits

_EPOCHS = 10  # for arrays with a chosen model
_STEPS = 3000  # of the optimizer, about, if nothing stops it earlier
_LEAST_SIDE = 8  # pixels that a network of convolutions needs
_LEAST_PATIENCE = 10  # epochs


def complete_spec(spec: ExperimentSpec, prepared: PreparedData) -> ExperimentSpec:
    """Add a model, a loss and all other defaults to ``spec``.

    For arrays with a chosen model only loss, metrics, optimizer and epochs are added.
    """
    goal, kind = prepared.preparation.goal, prepared.preparation.kind
    result = spec.with_defaults(metrics=list(goal.row.metrics))
    result = result.with_entries(loss=_complete_loss(spec, prepared))
    if kind == "arrays" and spec.has_model:
        usual: dict[str, Any] = {"optimizer": {"name": "Adam"}}
        epochs = _EPOCHS
    else:
        usual = _usual_tables(prepared)
        data = spec.data.with_defaults(batch_size=usual.pop("batch_size"))
        result = result.with_entries(data=data)
        per_epoch = -(-len(prepared.train) // max(1, data.batch_size or 1))
        epochs = max(3, min(usual.pop("most_epochs"), round(_STEPS / per_epoch)))
    result = result.with_defaults(seed=spec.seed, epochs=epochs)
    for key, table in usual.items():
        if key == "schedule" and spec.optimizer is not None and "lr" in spec.optimizer.entries:
            continue  # a chosen rate is kept
        result = result.with_entries(**{key: _complete_table(spec, key, table)})
    if "early_stopping" in usual and result.early_stopping is not None:
        patience = max(_LEAST_PATIENCE, result.epochs // 5)
        if result.early_stopping.patience is None:
            stopping = result.early_stopping.with_entries(patience=patience)
            result = result.with_entries(early_stopping=stopping)
    return result


def _complete_table(spec: ExperimentSpec, key: str, usual: dict[str, Any]) -> dict[str, Any]:
    """The entries of a written table, with the usual ones."""
    section = getattr(spec, key)
    written = {} if section is None else section.to_dict()
    if "sizes" in written:
        usual = {name: x for name, x in usual.items() if name != "hidden"}
    # Defaults of one model or optimizer do not fit another.
    is_same = written.get("name", usual.get("name")) == usual.get("name")
    is_chosen = key == "model" and "name" in written
    return {**usual, **written} if is_same and not is_chosen else written


def _complete_loss(spec: ExperimentSpec, prepared: PreparedData) -> NamedSpec:
    goal = prepared.preparation.goal
    table = (spec.loss or NamedSpec({})).with_defaults(name=goal.row.loss)
    if spec.data.class_weight != "balanced":
        return table
    if goal.task == "regression" or prepared.targets is None:
        requirement = f"data.class_weight is for classes, not for the task {goal.task}"
        raise value_error("config", requirement, class_weight=spec.data.class_weight)
    argument = loss_traits(str(table.name)).weights
    if argument is None:
        able = " or ".join(name for name, traits in LOSS_TRAITS.items() if traits.weights)
        requirement = f"data.class_weight needs a loss with weights, {able}"
        raise value_error("config", requirement, loss=table.name)
    weights = [round(x, 6) for x in balance(goal, prepared.targets)]
    return NamedSpec({**table.entries, argument: table.entries.get(argument, weights)})


# Averages of the parameters, and the end when they get no better.
_BEST_EPOCH: dict[str, Any] = {
    "ema": {"decay": 0.99, "warmup": True},
    "early_stopping": {"monitor": "validation_loss"},
}


_PICTURES: dict[str, Any] = {
    "batch_size": 32,
    "most_epochs": 60,
    "model": {"name": "convnet"},
    "optimizer": {"name": "AdamW", "lr": 2e-3, "weight_decay": 0.05},
    **_BEST_EPOCH,
}
_TEXT: dict[str, Any] = {
    "batch_size": 32,
    "most_epochs": 100,
    "model": {"name": "gpt", "p": 0.1},
    "optimizer": {"name": "AdamW", "weight_decay": 0.1},
    "schedule": {"name": "OneCycleLR", "max_lr": 3e-3},
    "clipping": {"norm": 1.0},
    "samples": {"length": 200},
}


def _usual_tables(prepared: PreparedData) -> dict[str, Any]:
    """The usual tables for data of this kind. Arrays are taken as pictures if they are worth it.

    For tables one layer, wider for many features, and about six batches in an epoch: found by trial
    on those of ``benchmarks/own_data.py``, where less regular networks and longer training gained
    nothing.
    """
    kind, known = prepared.preparation.kind, prepared.preparation.arguments()
    if kind == "text":
        return dict(_TEXT)
    side = known.get("image_size", 0)
    is_large = min(side if isinstance(side, list) else [side]) >= _LEAST_SIDE
    if kind == "pictures" or (kind == "arrays" and is_large):
        return dict(_PICTURES)
    return {
        "batch_size": 2 ** min(7, max(4, round(log2(max(1, len(prepared.train) / 6))))),
        "most_epochs": 200,
        "model": {"name": "mlp", "hidden": [256 if known["inputs"] >= 32 else 100], "p": 0.2},
        "optimizer": {"name": "AdamW", "lr": 1e-3, "weight_decay": 0.01},
        **_BEST_EPOCH,
    }


_BATCH = 32  # samples, by default


def measure_model(
    spec: ExperimentSpec, model: Module, preparation: Preparation, samples: Samples
) -> dict[str, Any]:
    """The loss and the metrics of ``model`` on samples with targets."""
    transforms = [*preparation.target_transforms(), *preparation.transforms()]
    batch_size = _BATCH if spec.data.batch_size is None else spec.data.batch_size
    loader = DataLoader(samples.dataset, batch_size, transform=transforms)
    optimizer = SGD(model.parameters(), lr=0.0)  # which evaluation does not step
    step = LocalStep(model, build_loss(spec, preparation.goal), optimizer, amp=spec.amp)
    return evaluate_batches(model, step, partial(build_metrics, spec, preparation.goal), loader)


def build_loaders(
    spec: ExperimentSpec, prepared: PreparedData
) -> tuple[DataLoader, DataLoader | None, DataLoader]:
    data = spec.data
    options: dict[str, Any] = {
        "batch_size": _BATCH if data.batch_size is None else data.batch_size,
        "workers": data.workers or 0,
    }
    targets = prepared.preparation.target_transforms()
    inputs = prepared.preparation.transforms()
    augmentations = [
        build_named(f"data.augment.{name}", NamedSpec({**table, "name": name}), AUGMENTATIONS)
        for name, table in (data.augment or {}).items()
    ]
    order = _training_order(spec, prepared)
    train = DataLoader(
        prepared.train, **order, transform=[*targets, *augmentations, *inputs], **options
    )
    test = DataLoader(prepared.test, transform=[*targets, *inputs], **options)
    if prepared.validation is None:
        return train, None, test
    return train, DataLoader(prepared.validation, transform=[*targets, *inputs], **options), test


def _training_order(spec: ExperimentSpec, prepared: PreparedData) -> dict[str, Any]:
    """The order of the training samples: shuffled, or rare classes more often."""
    if spec.data.sampling != "weighted":
        return {"shuffle": True}
    goal = prepared.preparation.goal
    if prepared.targets is None or not goal.row.is_of_one_class:
        requirement = "data.sampling is for classes, whose samples are known"
        raise value_error("config", requirement, sampling="weighted")
    numbers = np.asarray(prepared.targets).reshape(-1).astype(np.int64)
    weights = np.array(balance(Goal("multiclass", classes=goal.classes), numbers))
    return {"sampler": WeightedSampler(weights[numbers], len(numbers))}


def build_model(spec: ExperimentSpec, known: Mapping[str, Any]) -> tuple[Module, ExperimentSpec]:
    """The model, with its first parameters, and the configuration with the sizes that it has.

    ``known`` are arguments that the data know, for a model that has them and is not told others.
    """
    table = spec.model or NamedSpec({})
    is_checked = spec.data.kind not in (None, "arrays")  # which may have more classes than seen
    if "sizes" in table.entries:
        if is_checked:
            _check_sizes(table.entries["sizes"], known)
        known = {}
    if is_checked and not table.is_function:
        for key in ("inputs", "outputs", "in_channels", "num_classes", "vocabulary"):
            size = table.entries.get(key)
            if key in table.entries and size != known.get(key, size):
                requirement = f"model.{key} must be {known[key]}, as the data say"
                raise value_error("config", requirement, **{key: size})
    parameters = inspect.signature(named_function("model", table, MODELS)).parameters
    filled = {key: value for key, value in known.items() if key in parameters}
    table = table.with_defaults(**filled)
    model = build_named("model", table, MODELS)
    if not isinstance(model, Module):
        kind = type(model).__name__
        raise value_error("config", "model must be a Module", name=table.name, kind=kind)
    return model, spec.with_entries(model=table)


def _check_sizes(sizes: Any, known: Mapping[str, Any]) -> None:
    """Refuse layers that do not fit the data at their ends."""
    if not isinstance(sizes, list) or not sizes:
        return
    for place, size, key in (("begin", sizes[0], "inputs"), ("end", sizes[-1], "outputs")):
        if known.get(key, size) != size:
            hint = "model.hidden alone lets the data say both"
            requirement = (
                f"model.sizes must {place} with {known[key]}, the {key} of the data ({hint})"
            )
            raise value_error("config", requirement, sizes=sizes)


def build_loss(spec: ExperimentSpec, goal: Goal) -> Any:
    """Create a loss of the library, or import the user's function."""
    table = spec.loss or NamedSpec({})
    if table.is_function:
        return named_function("loss", table, LOSSES)
    loss = build_named("loss", table, LOSSES)
    return OverPositions(loss) if goal.task == "sequence" else loss


def build_metrics(spec: ExperimentSpec, goal: Goal, output: Tensor) -> dict[str, Metric]:
    """Metrics by name for such outputs, of numbers in their own units."""
    classes = output.shape[goal.row.class_axis] if output.ndim > 1 else None
    metrics = {
        name: named_metric(name, goal.task, classes, goal.scores) for name in spec.metrics or ()
    }
    return metrics_in_units(metrics, goal)


def rehearse(
    spec: ExperimentSpec,
    model: Module,
    loss: Any,
    prepared: PreparedData,
    loader: DataLoader,
    has_loss: bool,
) -> tuple[tuple[Any, ...], dict[str, Metric]]:
    """Pass one sample through model, loss and metrics, and return the sample and the metrics.

    ``has_loss`` tells whether the configuration names a loss. The trainer rehearses again with the first
    training batch, whose targets may be mixed.
    """
    goal = prepared.preparation.goal
    # A loader draws random numbers for its transforms, so it is read within the block too.
    with preserve_state(model), no_grad():
        sample = next(iter(DataLoader(loader.dataset, transform=loader.transforms)))
        if len(sample) < 2:
            raise value_error("data", "samples must have inputs and a target", parts=len(sample))
        *inputs, target = sample
        model.eval()
        output = model(*inputs)
        if prepared.preparation.kind == "arrays":
            if output.ndim > 1 and goal.task == "multiclass":
                parts = {x: getattr(prepared, x) for x in ("train", "test", "validation")}
                check_labels(parts, output.shape[1])
            if not has_loss:
                check_default_loss(spec.loss_name, output, target)
        _check_scores(spec)
        _check_outputs(output, prepared)
        check_loss(loss(output, target))
        metrics = build_metrics(spec, goal, output)
        for metric in metrics.values():
            metric.reset()
            metric.update(output, target)
            metric.compute()
            metric.reset()
    return sample, metrics


def _check_scores(spec: ExperimentSpec) -> None:
    """Refuse a loss of probabilities for a model of the library, all of which give scores."""
    traits, name = spec.loss_traits, str(spec.model_entries.get("name"))
    if traits.outputs != "scores" and ":" not in name:
        instead = next(x.loss for x in TASKS.values() if x.targets == traits.targets)
        requirement = (
            f"{spec.loss_name} takes {traits.outputs}, and {name} gives scores, "
            f"which {instead} takes"
        )
        raise value_error("config", requirement, loss=spec.loss_name)


def _check_outputs(output: Tensor, prepared: PreparedData) -> None:
    """Refuse a model that has not as many outputs as there are classes, labels or numbers."""
    goal = prepared.preparation.goal
    if prepared.preparation.kind in ("arrays", "text") or output.ndim != 2:
        return
    if output.shape[1] != goal.outputs:
        requirement = f"the model must have {goal.outputs} outputs for the task {goal.task}"
        requirement = requirement.replace(" 1 outputs", " one output")
        raise value_error("config", requirement, outputs=output.shape[1])
