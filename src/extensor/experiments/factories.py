"""Objects that a configuration names: models, losses, optimizers, schedules, callbacks and the trainer."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from extensor import data, models, nn, optim
from extensor.errors import arguments, value_error
from extensor.errors.messages import NAME_UNKNOWN, suggestion
from extensor.experiments.sources import PreparedData
from extensor.experiments.spec import (
    CheckpointsSpec,
    ClippingSpec,
    Config,
    ExperimentSpec,
    NamedSpec,
    SamplesSpec,
    check_keys,
)
from extensor.experiments.user_functions import import_function, working_folder_last
from extensor.io.regular_files import open_own
from extensor.nn.module import Module
from extensor.nn.preservation import preserve_state
from extensor.optim import EMA
from extensor.random.generator import Generator
from extensor.train.callbacks import (
    BestCheckpoint,
    Callback,
    EarlyStopping,
    GradientHealth,
    Progress,
)
from extensor.train.logs import Logging, Timing, read_log
from extensor.train.metrics import ConfusionMatrix, Metric, is_falling
from extensor.train.metrics.metric import Stateful
from extensor.train.run_folder import RunFolder
from extensor.train.trainer import Trainer

Choices = Mapping[str, Callable[..., Any]]

AUGMENTATIONS: Choices = {
    "RandomCrop": data.RandomCrop,
    "RandomFlip": data.RandomFlip,
    "Cutout": data.Cutout,
    "Mixup": data.Mixup,
}
MODELS: Choices = {name: getattr(models, name) for name in models.__all__ if name.islower()}
LOSSES: Choices = {name: getattr(nn, name) for name in nn.__all__ if name.endswith("Loss")}
OPTIMIZERS: Choices = {
    name: x
    for name, x in vars(optim).items()
    if isinstance(x, type) and issubclass(x, optim.Optimizer) and x is not optim.Optimizer
}
SCHEDULES: Choices = {
    name: getattr(optim, name)
    for name in optim.__all__
    # Those that take functions or other schedules cannot be written in a configuration.
    if name.endswith(("LR", "Plateau"))
    and name not in ("LambdaLR", "MultiplicativeLR", "SequentialLR")
}


def build_named(path: str, table: NamedSpec, choices: Choices, *first: Any, **filled: Any) -> Any:
    """Call what the table names with its arguments, after the ``first`` ones.

    ``filled`` are defaults for parameters that exist and that the table does not set.
    """
    function = named_function(path, table, choices)
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    names = [parameter.name for parameter in parameters[len(first) :]]
    if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
        check_keys(f"{path}.", table.arguments, names)
    options = {key: x for key, x in filled.items() if key in names} | table.arguments
    try:
        signature.bind(*first, **options)
    except TypeError as error:
        raise value_error("config", f"{path}: {error}", name=table.name) from None
    # The function may import its own modules only now.
    importing = working_folder_last() if table.is_function else nullcontext()
    try:
        with importing:
            return function(*first, **options)
    except TypeError as error:
        requirement = f"{path} must have values that fit ({error})"
        raise value_error("config", requirement, **options) from error


def named_function(path: str, table: NamedSpec, choices: Choices) -> Callable[..., Any]:
    """The function or class that the table's ``name`` stands for."""
    name = table.name
    if not isinstance(name, str):
        raise value_error("config", f"{path}.name must be a string", name=name)
    if table.is_function:
        return import_function(path, name)
    if name not in choices:
        raise NAME_UNKNOWN.error(suggestion(name, choices), name=name, entry=path)
    return choices[name]


BEST = "best"
_DATA = "data"  # the event in the log with the remarks on the data


class Findings(Callback):
    """Writes the remarks on the data into the log."""

    only_first = True

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)

    def fit_began(self, trainer: Trainer) -> None:
        if trainer.step == 0:
            trainer.log({"event": _DATA, "lines": self.lines})


def keep_findings(trainer: Trainer) -> None:
    """Keep the first remarks of a run that starts over.

    Its configuration is complete now, so nothing is inferred any more and the remarks would differ.
    """
    if trainer.run is None or not trainer.run.log.is_file():
        return
    first = next(iter(read_log(trainer.run.log)), {})
    for callback in trainer.callbacks:
        if isinstance(callback, Findings) and first.get("event") == _DATA:
            callback.lines = list(first.get("lines", callback.lines))


class TextSamples(Callback):
    """Lets the model write a text after each epoch, and logs and shows it.

    Each epoch has its own random numbers, so other draws do not depend on the text.
    """

    only_first = True

    def __init__(
        self, vocabulary: Any, seed: int, spec: SamplesSpec, show: Callable[[str], None]
    ) -> None:
        self.vocabulary = vocabulary
        self.seed = seed
        length = 200 if spec.length is None else spec.length
        self.length = arguments.integer("config", "samples.length", length, 0)
        heat = 0.8 if spec.temperature is None else spec.temperature
        heat = arguments.number("config", "samples.temperature", heat, least=0)
        if heat == inf:
            raise value_error("config", "samples.temperature must be finite", temperature=heat)
        self.temperature = float(heat)
        prompt = "\n" if spec.prompt is None else spec.prompt
        self.prompt = arguments.text("config", "samples.prompt", prompt)
        self.show = show

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        model: Any = trainer.model
        begin = self.vocabulary.encode(self.prompt, replace=True)
        generator = Generator((self.seed << 20) + record["epoch"])
        with preserve_state(model):  # which only the first of several workers asks to write
            tokens = model.generate(begin, self.length, self.temperature, generator=generator)
        text = self.vocabulary.decode(tokens)
        trainer.log(
            {"event": "sample", "epoch": record["epoch"], "step": record["step"], "text": text}
        )
        self.show(f"epoch {record['epoch']} writes: {text.strip()[:200]}")


def write_test(run: RunFolder, step: int, values: Mapping[str, Any]) -> None:
    """Add the results of the test to the log of a finished run."""
    line = json.dumps({"event": "test", "step": step, **values}) + "\n"
    with open(run.log, "a", encoding="utf-8", opener=open_own) as file:
        file.write(line)


class BestWeights(BestCheckpoint):
    """A :class:`BestCheckpoint` that without a folder keeps the weights in memory."""

    writes: tuple[str, ...] = ()  # it needs no folder

    def __init__(self, monitor: str = "validation_loss", mode: str | None = None) -> None:
        super().__init__(monitor, mode)
        self.weights: dict[str, Any] | None = None

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        if not self.improved(record):
            return
        if trainer.run is not None:
            trainer.save(BEST)
        else:
            state = trainer.take_step.state_dict(copied=True)
            self.weights = deepcopy({key: state[key] for key in ("model", "ema")})


def load_weights(model: Module, state: Mapping[str, Any]) -> None:
    """Load trained parameters, or their averages, into ``model``."""
    model.load_state_dict(state["model"])
    if state["ema"]:
        ema = EMA(model)
        ema.load_state_dict(state["ema"])
        ema.copy_to()
    model.eval()


_POINTS = 200  # of a curve over the steps, about
_KEEP_TARGETS = {"RandomCrop", "RandomFlip", "Cutout"}  # augmentations that change inputs alone


class TrainerBuilder(NamedTuple):
    """Makes the trainer of a configuration: its optimizer, schedule and callbacks."""

    spec: ExperimentSpec
    prepared: PreparedData
    folder: Path | None
    batches: int

    @property
    def steps(self) -> int:
        """How many steps an epoch has."""
        return -(-self.batches // (self.spec.accumulate or 1))

    def build(
        self,
        model: Module,
        loss: Any,
        metrics: Mapping[str, Metric],
        callbacks: Sequence[Callback] | None,
        is_trained: bool,
    ) -> Trainer:
        """Create the trainer. For a model that ``is_trained``, checkpoints have loaded the averages.

        ``callbacks`` are added to those that write into the folder. By default it is the progress.
        """
        spec = self.spec
        parameters = model.parameters()
        optimizer = build_named(
            "optimizer", spec.optimizer or NamedSpec({}), OPTIMIZERS, parameters
        )
        if spec.schedule is not None:
            _build_schedule(spec.schedule, optimizer, spec.epochs, self.steps)
        own = self._callbacks(callbacks)
        checkpoints = spec.checkpoints or CheckpointsSpec()
        clipping = spec.clipping or ClippingSpec()
        ema = None if spec.ema is None or is_trained else optim.EMA(model, **spec.ema.to_dict())
        return Trainer(
            model,
            loss,
            optimizer,
            metrics=metrics,
            train_metrics={} if is_trained else self._training_metrics(metrics),
            accumulate=1 if spec.accumulate is None else spec.accumulate,
            micro_batches=spec.micro_batches,
            shard_optimizer=bool(spec.shard_optimizer),
            sync_batch_norm=bool(spec.sync_batch_norm),
            loss_reduction=spec.loss_reduction,
            clip_norm=clipping.norm,
            clip_value=clipping.value,
            amp=spec.amp,
            compile=None if is_trained else spec.compile,
            device=None if is_trained else spec.device,
            ema=ema,
            callbacks=[] if is_trained else own,
            folder=self.folder,
            checkpoint_every=None if self.folder is None else checkpoints.every,
            keep=3 if checkpoints.keep is None else checkpoints.keep,
            config=spec.to_dict(),
        )

    def _callbacks(self, shown: Sequence[Callback] | None) -> list[Callback]:
        """The callbacks that write into the folder, choose the best epoch, and show progress."""
        spec, progress = self.spec, Progress()
        best = (spec.checkpoints or CheckpointsSpec()).best
        callbacks: list[Callback] = []
        choosing: list[Callback] = []  # that stop early and keep the best weights
        if self.folder is not None:
            every = max(1, min(50, spec.epochs * self.steps // _POINTS))
            callbacks = [Logging(every), Timing(), GradientHealth(every)]
            if best is not None and spec.early_stopping is None:
                callbacks.append(BestCheckpoint(best, self._mode("checkpoints.best", best)))
            if spec.data.kind is not None:  # which runs of the first release do not have
                callbacks.append(Findings(self.prepared.lines))
        if spec.early_stopping is not None:
            options: Config = {"monitor": "validation_loss", **spec.early_stopping.to_dict()}
            monitor = options["monitor"]
            if best not in (None, monitor):
                requirement = f"checkpoints.best must be what early_stopping watches, {monitor!r}"
                raise value_error("config", requirement, best=best)
            mode = self._mode("early_stopping.monitor", monitor)
            choosing = [EarlyStopping(mode=mode, **options), BestWeights(monitor, mode)]
        if spec.samples is not None and self.prepared.preparation.kind == "text":
            say = progress.say if shown is None else lambda _: None
            vocabulary = self.prepared.preparation.vocabulary  # type: ignore[attr-defined]
            callbacks.append(TextSamples(vocabulary, spec.seed, spec.samples, say))
        return [*callbacks, *choosing, *([progress] if shown is None else shown)]

    def _training_metrics(self, metrics: Mapping[str, Metric]) -> dict[str, Metric]:
        """The first metric with a state, to be measured on the training batches.

        There is none for randomly mixed targets, for a loss that is a user's function, and in runs of
        the first release, whose logs have none so far.
        """
        data = self.spec.data
        changed = set(data.augment or {}) - _KEEP_TARGETS
        if changed or ":" in self.spec.loss_name or data.kind is None:
            return {}
        for name, metric in metrics.items():
            if isinstance(metric, Stateful) and type(metric) is not ConfusionMatrix:
                return {name: deepcopy(metric)}
        return {}

    def _mode(self, key: str, monitor: str) -> str:
        """Whether the number to choose by is to fall or to rise."""
        metrics = self.spec.metrics or ()
        names = ["loss", *(f"validation_{name}" for name in ("loss", *metrics))]
        if monitor not in names:
            name = key.rpartition(".")[2]
            raise value_error("config", f"{key} must be one of {names}", **{name: monitor})
        is_validated = self.prepared.validation is not None or self.spec.data.kind is None
        if monitor.startswith("validation_") and not is_validated:
            requirement = (
                f"{key} needs data to choose by, which the test data are not: "
                "set data.validation_fraction=0.1, or data.validation to a file"
            )
            raise value_error("config", requirement)
        return "min" if is_falling(monitor) else "max"


def _build_schedule(table: NamedSpec, optimizer: optim.Optimizer, epochs: int, steps: int) -> None:
    """A schedule counts steps if it has a whole to divide, or a beginning; others count epochs."""
    parameters = inspect.signature(named_function("schedule", table, SCHEDULES)).parameters
    by_step = bool({"total_steps", "warmup_steps"} & set(parameters))
    options = {key: value for key, value in table.entries.items() if key != "every"}
    if "every" in table.entries:
        every = table.entries["every"]
        if every not in ("step", "epoch"):
            raise value_error("config", "schedule.every must be 'step' or 'epoch'", every=every)
        by_step = every == "step"
    whole = epochs * steps if by_step else epochs
    filled = {"total_steps": whole, "T_max": whole, "automatic": by_step}
    build_named("schedule", NamedSpec(options), SCHEDULES, optimizer, **filled)
