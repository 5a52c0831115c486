"""What a configuration names, built: the model, the loss and the trainer."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from extensor import models, optim
from extensor.errors import arguments, value_error
from extensor.nn import loss as losses
from extensor.nn.module import Module
from extensor.train.callback import Callback
from extensor.train.callbacks import BestCheckpoint, EarlyStopping, GradientHealth
from extensor.train.experiments.best import BestWeights
from extensor.train.experiments.config import Config
from extensor.train.experiments.goal import Goal, in_units
from extensor.train.experiments.kinds import Prepared
from extensor.train.experiments.named import built, named
from extensor.train.experiments.user_functions import is_function_name
from extensor.train.experiments.writing import Findings, TextSamples
from extensor.train.logs import Logging, Timing
from extensor.train.loss_weighting import OverPositions
from extensor.train.metrics import ConfusionMatrix, Metric, is_falling, named_metric
from extensor.train.metrics.base import Stateful
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
_POINTS = 200  # of a curve over the steps, about
_KEEP_TARGETS = {"RandomCrop", "RandomFlip", "Cutout"}  # augmentations that change inputs alone


def built_model(config: Config, known: Mapping[str, Any]) -> tuple[Module, Config]:
    """The model, with its first parameters, and the configuration with the sizes that it has.

    ``known`` are arguments that the data know, for a model that has them and is not told others.
    """
    table = config["model"]
    if "sizes" in table:
        if (
            config["data"].get("kind", "arrays") != "arrays"
        ):  # which may have more classes than seen
            _check_sizes(table["sizes"], known)
        known = {}
    if config["data"].get("kind", "arrays") != "arrays" and not is_function_name(table.get("name")):
        _check_known(table, known)
    parameters = inspect.signature(named("model", table, MODELS)).parameters
    filled = {key: value for key, value in known.items() if key in parameters}
    table = {**filled, **table}
    model = built("model", table, MODELS)
    if not isinstance(model, Module):
        kind = type(model).__name__
        raise value_error("config", "model must be a Module", name=table["name"], kind=kind)
    return model, {**config, "model": table}


def _check_known(table: Config, known: Mapping[str, Any]) -> None:
    """Refuse sizes that are not those of the data."""
    for key in ("inputs", "outputs", "in_channels", "num_classes", "vocabulary"):
        if key in table and table[key] != known.get(key, table[key]):
            requirement = f"model.{key} must be {known[key]}, as the data say"
            raise value_error("config", requirement, **{key: table[key]})


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


def built_loss(table: Config, goal: Goal) -> Any:
    """A loss of the library is made; a function of the user's is one already."""
    if is_function_name(table["name"]):
        return named("loss", table, LOSSES)
    loss = built("loss", table, LOSSES)
    return OverPositions(loss) if goal.task == "sequence" else loss


def built_trainer(
    config: Config,
    model: Module,
    loss: Any,
    batches: int,
    classes: int | None,
    made: Prepared,
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
    progress = Progress()
    shown = [progress] if callbacks is None else list(callbacks)
    writing = _writing(config, steps, folder, made)
    choosing = _choosing(config, made)
    if "samples" in config and made.preparation.kind == "text":
        say = progress.say if callbacks is None else lambda _: None
        _check_samples(config["samples"])
        vocabulary = made.preparation.vocabulary  # type: ignore[attr-defined]
        writing.append(TextSamples(vocabulary, config["seed"], config["samples"], say))
    metrics = built_metrics(config["metrics"], classes, made.preparation.goal)
    return Trainer(
        model,
        loss,
        optimizer,
        metrics=metrics,
        train_metrics={} if is_trained else _of_training(config, metrics),
        accumulate=config.get("accumulate", 1),
        micro_batches=config.get("micro_batches"),
        shard_optimizer=config.get("shard_optimizer", False),
        sync_batch_norm=config.get("sync_batch_norm", False),
        loss_reduction=config.get("loss_reduction"),
        clip_norm=clipping.get("norm"),
        clip_value=clipping.get("value"),
        amp=config.get("amp"),
        compile=None if is_trained else config.get("compile"),
        device=None if is_trained else config.get("device"),
        ema=optim.EMA(model, **config["ema"]) if "ema" in config and not is_trained else None,
        callbacks=[] if is_trained else [*writing, *choosing, *shown],
        folder=folder,
        checkpoint_every=None if folder is None else checkpoints.get("every"),
        keep=checkpoints.get("keep", 3),
        config=config,
    )


def _check_samples(table: Config) -> None:
    """Refuse what no text can be written with."""
    arguments.integer("config", "samples.length", table.get("length", 0), 0)
    heat = arguments.number("config", "samples.temperature", table.get("temperature", 1.0), least=0)
    if heat == float("inf"):
        raise value_error("config", "samples.temperature must be finite", temperature=heat)
    arguments.text("config", "samples.prompt", table.get("prompt", "a"))


def _of_training(config: Config, metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """The first metric that a checkpoint can hold, for what is trained on.

    Of targets that chance mixes, and of outputs that only a loss of the user's own knows, there is
    none; nor in a run of the first release, whose log has none so far.
    """
    changed = set(config["data"].get("augment", {})) - _KEEP_TARGETS
    if changed or is_function_name(config["loss"]["name"]) or "kind" not in config["data"]:
        return {}
    able = {
        name: deepcopy(x)
        for name, x in metrics.items()
        if isinstance(x, Stateful) and type(x) is not ConfusionMatrix
    }
    return dict(list(able.items())[:1])


def _writing(config: Config, steps: int, folder: Path | None, made: Prepared) -> list[Callback]:
    """The callbacks that write into the folder of the run."""
    if folder is None:
        return []
    every = max(1, min(50, config["epochs"] * steps // _POINTS))
    callbacks: list[Callback] = [Logging(every), Timing(), GradientHealth(every)]
    best = config.get("checkpoints", {}).get("best")
    if best is not None and "early_stopping" not in config:
        callbacks.append(BestCheckpoint(best, _mode(config, "checkpoints.best", best, made)))
    if "kind" in config["data"]:  # which runs of the first release do not have
        callbacks.append(Findings(made.lines))
    return callbacks


def _choosing(config: Config, made: Prepared) -> list[Callback]:
    """The callbacks that end a run when nothing gets better, and keep what was best."""
    if "early_stopping" not in config:
        return []
    options = {"monitor": "validation_loss", **config["early_stopping"]}
    monitor = options["monitor"]
    best = config.get("checkpoints", {}).get("best", monitor)
    if best != monitor:
        requirement = f"checkpoints.best must be what early_stopping watches, {monitor!r}"
        raise value_error("config", requirement, best=best)
    mode = _mode(config, "early_stopping.monitor", monitor, made)
    return [EarlyStopping(mode=mode, **options), BestWeights(monitor, mode)]


def _mode(config: Config, key: str, monitor: str, made: Prepared) -> str:
    """Whether the number to choose by is to fall or to rise."""
    names = ["loss", *(f"validation_{name}" for name in ("loss", *config["metrics"]))]
    if monitor not in names:
        name = key.rpartition(".")[2]
        raise value_error("config", f"{key} must be one of {names}", **{name: monitor})
    if made.validation is None and monitor.startswith("validation_") and "kind" in config["data"]:
        requirement = (
            f"{key} needs data to choose by, which the test data are not: "
            "set data.validation_fraction=0.1, or data.validation to a file"
        )
        raise value_error("config", requirement)
    return "min" if is_falling(monitor) else "max"


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


def built_metrics(names: Sequence[Any], classes: int | None, goal: Goal) -> Mapping[str, Metric]:
    """Metrics by name, of numbers in their own units."""
    made = {name: named_metric(name, goal.task, classes, goal.scores) for name in names}
    return in_units(made, goal)
