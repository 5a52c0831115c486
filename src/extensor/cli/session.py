"""All that a configuration describes, built: data, loaders, model and trainer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from extensor import models, nn, optim, random, train
from extensor.cli.build import built, named
from extensor.cli.config import Config
from extensor.cli.data import augmentation, preparation, read_data, standardized
from extensor.cli.targets import (
    CLASSES,
    NUMBERS,
    OWN,
    check_chosen,
    check_labels,
    kind_of,
    target_preparation,
)
from extensor.core.modes import no_grad
from extensor.data import DataLoader, Dataset
from extensor.errors import value_error
from extensor.nn import loss as losses

MODELS = {name: getattr(models, name) for name in models.__all__ if name.islower()}
LOSSES = {name: x for name, x in vars(losses).items() if name.endswith("Loss") and name[0] != "_"}
OPTIMIZERS = {
    name: x
    for name, x in vars(optim).items()
    if isinstance(x, type) and issubclass(x, optim.Optimizer) and x is not optim.Optimizer
}
SCHEDULES = {
    name: getattr(optim, name)
    for name in optim.__all__
    if name.endswith(("LR", "Plateau")) and name != "LambdaLR"
}
METRICS: dict[str, Callable[..., train.Metric]] = {
    "accuracy": train.Accuracy,
    "top_k_accuracy": train.TopKAccuracy,
    "precision": train.Precision,
    "recall": train.Recall,
    "f1": train.F1,
    "perplexity": train.Perplexity,
    "mean_absolute_error": train.MeanAbsoluteError,
    "root_mean_squared_error": train.RootMeanSquaredError,
}
_FALLING = ("loss", "error", "perplexity")  # how the names of numbers end that should go down
_POINTS = 200  # of a curve over the steps, about


class Session(NamedTuple):
    """A run that could begin now; ``example`` is the input of one sample."""

    config: Config
    train_data: Dataset
    test_data: Dataset
    train_loader: DataLoader
    test_loader: DataLoader
    model: nn.Module
    trainer: train.Trainer
    example: tuple[Any, ...]


def opened(config: Config, folder: Path | None = None) -> Session:
    """Build everything; nothing is written before training begins.

    Without a folder it is for a model that is trained already, of which checkpoints give the averages.
    """
    train_data, test_data = read_data(config)
    config = standardized(config, train_data)
    random.manual_seed(config["seed"])
    prepared = preparation(config, train_data)
    table = config["data"]
    options = {"batch_size": table.get("batch_size", 32), "workers": table.get("workers", 0)}
    targets = target_preparation(config, train_data)
    train_loader = DataLoader(
        train_data, shuffle=True, transform=[*targets, *augmentation(config), *prepared], **options
    )
    test_loader = DataLoader(test_data, transform=[*targets, *prepared], **options)
    model = built_model(config)
    kind = kind_of(config, train_data)
    is_chosen = "name" not in config.get("loss", {})
    config = _completed(config, kind if kind != OWN else kind_of({}, train_data))
    loss = _loss(config["loss"])
    chosen = config["loss"]["name"] if is_chosen else None
    sample, classes = _tried(model, loss, train_loader, test_loader, kind == CLASSES, chosen)
    example = sample[:-1]
    trainer = _trainer(config, model, loss, len(train_loader), classes, folder)
    trainer.evaluate([sample])  # what the metrics do not take is found now too
    return Session(
        config, train_data, test_data, train_loader, test_loader, model, trainer, example
    )


def built_model(config: Config) -> nn.Module:
    """The model, with its first parameters."""
    model = built("model", config["model"], MODELS)
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise value_error(
            "config", "model must be a Module", name=config["model"]["name"], kind=kind
        )
    return model


def _completed(config: Config, kind: str) -> Config:
    """``config`` with what is usual for such targets, so that later commands need not look at them."""
    loss = "CrossEntropyLoss" if kind == CLASSES else "MSELoss"
    metrics = {CLASSES: ["accuracy"], NUMBERS: ["root_mean_squared_error"]}.get(kind, [])
    optimizer = {"name": "Adam", **config.get("optimizer", {})}
    table = {"name": loss, **config.get("loss", {})}
    return {"metrics": metrics, **config, "loss": table, "optimizer": optimizer}


def _loss(table: Config) -> Any:
    """A loss of the library is made; a function of the user's is one already."""
    own = ":" in str(table["name"])
    return named("loss", table, LOSSES) if own else built("loss", table, LOSSES)


def _tried(
    model: nn.Module,
    loss: Any,
    train_loader: DataLoader,
    test_loader: DataLoader,
    is_classes: bool,
    chosen: str | None,
) -> tuple[tuple[Any, ...], int | None]:
    """One sample through model and loss: what does not fit is found before anything is written.

    ``chosen`` is the loss if it is none that the user named. Returns the sample, and among how many
    classes the model chooses if it does.
    """
    first = next(iter(DataLoader(test_loader.dataset, transform=test_loader.transforms)))
    if len(first) < 2:
        raise value_error("data", "samples must have inputs and a target", parts=len(first))
    *inputs, target = first
    model.eval()
    with no_grad():
        output = model(*inputs)
        classes = output.shape[1] if output.ndim > 1 else None
        if classes is not None and is_classes:
            check_labels(train_loader.dataset, test_loader.dataset, classes)
        if chosen is not None:
            check_chosen(chosen, output, target)
        loss(output, target)
    model.train()
    return first, classes


def _trainer(
    config: Config,
    model: nn.Module,
    loss: Any,
    batches: int,
    classes: int | None,
    folder: Path | None,
) -> train.Trainer:
    optimizer = built("optimizer", config["optimizer"], OPTIMIZERS, model.parameters())
    steps = -(-batches // config.get("accumulate", 1))
    if "schedule" in config:
        _schedule(config["schedule"], optimizer, config["epochs"], steps)
    checkpoints, clipping = config.get("checkpoints", {}), config.get("clipping", {})
    training = folder is not None
    return train.Trainer(
        model,
        loss,
        optimizer,
        metrics=_metrics(config["metrics"], classes),
        accumulate=config.get("accumulate", 1),
        clip_norm=clipping.get("norm"),
        clip_value=clipping.get("value"),
        amp=config.get("amp"),
        ema=optim.EMA(model, **config["ema"]) if training and "ema" in config else None,
        callbacks=_callbacks(config, steps) if training else [],
        folder=folder,
        checkpoint_every=checkpoints.get("every") if training else None,
        keep=checkpoints.get("keep", 3),
        config=config,
    )


def _callbacks(config: Config, steps: int) -> list[train.Callback]:
    every = max(1, min(50, config["epochs"] * steps // _POINTS))
    callbacks = [train.Logging(every), train.Timing(), train.GradientHealth(every)]
    best = config.get("checkpoints", {}).get("best")
    if best is not None:
        names = ["loss", *(f"validation_{name}" for name in ("loss", *config["metrics"]))]
        if best not in names:
            raise value_error("config", f"checkpoints.best must be one of {names}", best=best)
        mode = "min" if best.endswith(_FALLING) else "max"
        callbacks.append(train.BestCheckpoint(best, mode))
    return [*callbacks, train.Progress()]


def _schedule(table: Config, optimizer: optim.Optimizer, epochs: int, steps: int) -> None:
    """A schedule counts steps if it has a whole to divide, or a beginning; others count epochs."""
    parameters = inspect.signature(named("schedule", table, SCHEDULES)).parameters
    by_step = bool({"total_steps", "warmup_steps"} & set(parameters))
    options = {key: value for key, value in table.items() if key != "every"}
    if "every" in table:
        if table["every"] not in ("step", "epoch"):
            requirement = "schedule.every must be 'step' or 'epoch'"
            raise value_error("config", requirement, every=table["every"])
        by_step = table["every"] == "step"
    whole = epochs * steps if by_step else epochs
    filled = {"total_steps": whole, "T_max": whole, "automatic": by_step}
    built("schedule", options, SCHEDULES, optimizer, **filled)


def _metrics(names: Sequence[Any], classes: int | None) -> Mapping[str, train.Metric]:
    tables = {name: {"name": name} for name in names}
    return {
        name: built("metrics", table, METRICS, num_classes=classes)
        for name, table in tables.items()
    }


def load_weights(model: nn.Module, state: Mapping[str, Any]) -> None:
    """Put what was learned into ``model``, the averages if there are any."""
    model.load_state_dict(state["model"])
    if state["ema"]:
        ema = optim.EMA(model)
        ema.load_state_dict(state["ema"])
        ema.copy_to()
    model.eval()
