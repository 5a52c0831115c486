"""What a configuration names, built: the model, the loss and the trainer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from extensor import models, optim
from extensor.errors import value_error
from extensor.nn import loss as losses
from extensor.nn.module import Module
from extensor.train.callback import Callback
from extensor.train.callbacks import BestCheckpoint, GradientHealth
from extensor.train.experiments.config import Config
from extensor.train.experiments.named import built, named
from extensor.train.logs import Logging, Timing
from extensor.train.metrics import MeanAbsoluteError, Metric, Perplexity, RootMeanSquaredError
from extensor.train.metrics_classification import F1, Accuracy, Precision, Recall, TopKAccuracy
from extensor.train.progress import Progress
from extensor.train.trainer import Trainer

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
METRICS: dict[str, Callable[..., Metric]] = {
    "accuracy": Accuracy,
    "top_k_accuracy": TopKAccuracy,
    "precision": Precision,
    "recall": Recall,
    "f1": F1,
    "perplexity": Perplexity,
    "mean_absolute_error": MeanAbsoluteError,
    "root_mean_squared_error": RootMeanSquaredError,
}
_FALLING = ("loss", "error", "perplexity")  # how the names of numbers end that should go down
_POINTS = 200  # of a curve over the steps, about


def built_model(config: Config) -> Module:
    """The model, with its first parameters."""
    model = built("model", config["model"], MODELS)
    if not isinstance(model, Module):
        kind = type(model).__name__
        raise value_error(
            "config", "model must be a Module", name=config["model"]["name"], kind=kind
        )
    return model


def built_loss(table: Config) -> Any:
    """A loss of the library is made; a function of the user's is one already."""
    own = ":" in str(table["name"])
    return named("loss", table, LOSSES) if own else built("loss", table, LOSSES)


def built_trainer(
    config: Config,
    model: Module,
    loss: Any,
    batches: int,
    classes: int | None,
    folder: Path | None,
    is_trained: bool,
    callbacks: Sequence[Callback] | None,
) -> Trainer:
    """A trainer with the optimizer, the schedule and the metrics.

    Of a model that ``is_trained``, checkpoints give the averages. ``callbacks`` are beside those
    that write into the folder, without any it is the progress.
    """
    optimizer = built("optimizer", config["optimizer"], OPTIMIZERS, model.parameters())
    steps = -(-batches // config.get("accumulate", 1))
    if "schedule" in config:
        _schedule(config["schedule"], optimizer, config["epochs"], steps)
    checkpoints, clipping = config.get("checkpoints", {}), config.get("clipping", {})
    shown = [Progress()] if callbacks is None else list(callbacks)
    return Trainer(
        model,
        loss,
        optimizer,
        metrics=_metrics(config["metrics"], classes),
        accumulate=config.get("accumulate", 1),
        micro_batches=config.get("micro_batches"),
        shard_optimizer=config.get("shard_optimizer", False),
        clip_norm=clipping.get("norm"),
        clip_value=clipping.get("value"),
        amp=config.get("amp"),
        ema=optim.EMA(model, **config["ema"]) if "ema" in config and not is_trained else None,
        callbacks=[] if is_trained else [*_writing(config, steps, folder), *shown],
        folder=folder,
        checkpoint_every=None if folder is None else checkpoints.get("every"),
        keep=checkpoints.get("keep", 3),
        config=config,
    )


def _writing(config: Config, steps: int, folder: Path | None) -> list[Callback]:
    """The callbacks that write into the folder of the run."""
    if folder is None:
        return []
    every = max(1, min(50, config["epochs"] * steps // _POINTS))
    callbacks: list[Callback] = [Logging(every), Timing(), GradientHealth(every)]
    best = config.get("checkpoints", {}).get("best")
    if best is not None:
        names = ["loss", *(f"validation_{name}" for name in ("loss", *config["metrics"]))]
        if best not in names:
            raise value_error("config", f"checkpoints.best must be one of {names}", best=best)
        mode = "min" if best.endswith(_FALLING) else "max"
        callbacks.append(BestCheckpoint(best, mode))
    return callbacks


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


def _metrics(names: Sequence[Any], classes: int | None) -> Mapping[str, Metric]:
    tables = {name: {"name": name} for name in names}
    return {
        name: built("metrics", table, METRICS, num_classes=classes)
        for name, table in tables.items()
    }
