"""All that a configuration describes, put together: data, loaders, model and trainer."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from extensor import random
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.data import DataLoader, Dataset, WeightedSampler
from extensor.distributed.joining import workers as found_workers
from extensor.errors import arguments, value_error
from extensor.io.state import load
from extensor.nn.module import Module
from extensor.nn.preservation import preserve_state
from extensor.optim import SGD
from extensor.train.callback import Callback
from extensor.train.evaluation import predicted
from extensor.train.experiments.best import BEST, BestWeights, load_weights
from extensor.train.experiments.config import Config
from extensor.train.experiments.continuation import Changes
from extensor.train.experiments.data import augmentation
from extensor.train.experiments.digest import check_same, digest_of
from extensor.train.experiments.goal import Goal, balance
from extensor.train.experiments.kinds import Preparation, Prepared, Samples, prepared, stored
from extensor.train.experiments.parts import (
    built_loss,
    built_metrics,
    built_model,
    built_trainer,
)
from extensor.train.experiments.recipes import completed
from extensor.train.experiments.targets import check_chosen, check_labels, check_scores
from extensor.train.experiments.writing import write_test
from extensor.train.outputs import plain
from extensor.train.run import as_toml
from extensor.train.trainer import Trainer


@dataclass(frozen=True, eq=False, repr=False)
class Experiment:
    """What :func:`experiment` builds: a run that could begin now, or go on.

    ``config`` is the whole configuration, with every default written out. ``example`` is the input
    of one sample. ``changes`` has what is other than when the run was left, if it is one that goes
    on: by key, the values before and after. ``generator_state`` is where random numbers begin.
    ``preparation`` is what was learnt about the data, ``lines`` what a person should know of them.
    Without data for validation the test data are looked at after each epoch.
    """

    config: Config
    train_data: Dataset
    validation_data: Dataset | None
    test_data: Dataset
    train_loader: DataLoader
    validation_loader: DataLoader | None
    test_loader: DataLoader
    model: Module
    trainer: Trainer
    example: tuple[Any, ...]
    generator_state: tuple[int, int]
    preparation: Preparation
    lines: list[str]
    sample_names: Sequence[str] | None = None
    changes: Changes = field(default_factory=dict)

    @property
    def goal(self) -> Goal:
        """The task, and what the numbers in targets and outputs stand for."""
        return self.preparation.goal

    def fit(self) -> list[dict[str, Any]]:
        """Train until the epochs of the configuration are over. Returns what the log says of each.

        Whatever was drawn since the experiment was built does not matter: a run depends on its
        configuration alone. Signals end it as they end :meth:`Trainer.fit`. Where there are data for
        validation, the test data are looked at once, when all is over, with the best weights.
        """
        history = self.train_until(self.config["epochs"])
        if self.trainer.run is not None and self.validation_loader is not None:
            workers = found_workers()
            workers.barrier("best weights")  # which the first one has written by then
            found = self._chosen().evaluate_together(self.test_loader)
            found = {key: plain(value) for key, value in found.items()}
            if workers.is_first:
                write_test(self.trainer.run, self.trainer.step, found)
        return history

    def train_until(self, epochs: int) -> list[dict[str, Any]]:
        """Train until ``epochs`` epochs are over, perhaps a part of all, and test nothing.

        The schedule stays that of the whole run, so what goes on later comes to the same bits.
        """
        if self.trainer.step == 0:
            random.set_state(self.generator_state)
        validation = self.validation_loader or self.test_loader
        return self.trainer.fit(self.train_loader, epochs, validation)

    def evaluate(self) -> dict[str, Any]:
        """The loss and the metrics on the test data, by the best weights if a best epoch is kept."""
        found: dict[str, Any] = self._chosen().evaluate(self.test_loader)
        return found

    def predict(self, inputs: Any, batch_size: int = 256) -> Tensor:
        """The outputs for an array, a data set or a file, prepared as the training data are."""
        loader = input_loader(self.preparation, inputs, batch_size)
        outputs: Tensor = self._chosen().predict(loader)
        return outputs

    def test_outputs(self) -> Any:
        """What the model gives for the test data, an array."""
        return self._chosen().predict(self.test_loader).numpy()

    def best_model(self) -> Module | None:
        """The model of the best epoch, if the run keeps one and an epoch is over."""
        keeper = [x for x in self.trainer.callbacks if isinstance(x, BestWeights)]
        if not keeper:
            return None
        weights = keeper[0].weights
        if self.trainer.checkpoints is not None:
            path = self.trainer.checkpoints.folder / f"{BEST}.safetensors"
            weights = load(path, foreign=False) if path.is_file() else None
        if weights is None:
            return None
        model = deepcopy(self.model)
        load_weights(model, weights)
        return model

    def _chosen(self) -> Any:
        best = self.best_model()
        return self.trainer if best is None else _Looking(best, self.trainer)


class _Looking:
    """Measures another model as a trainer does, which stays as it is."""

    def __init__(self, model: Module, trainer: Trainer) -> None:
        self.model = model
        self.trainer = trainer

    def evaluate(self, loader: DataLoader) -> dict[str, Any]:
        with _lent(self.trainer, self.model):
            return self.trainer.evaluate(loader)

    def evaluate_together(self, loader: DataLoader) -> dict[str, Any]:
        with _lent(self.trainer, self.model):
            return self.trainer.evaluate_together(loader)

    def predict(self, loader: DataLoader) -> Tensor:
        return predicted(self.model, None, loader, 1)


@contextmanager
def _lent(trainer: Trainer, model: Module) -> Iterator[None]:
    """Within the block ``trainer`` evaluates ``model``."""
    step = trainer.take_step
    before = (trainer.model, step.model, step.ema)
    trainer.model, step.model, step.ema = model, model, None
    try:
        yield
    finally:
        trainer.model, step.model, step.ema = before


def input_loader(preparation: Preparation, inputs: Any, batch_size: int) -> DataLoader:
    """The batches of ``inputs``: a file, a folder of pictures, an array or a data set."""
    batch_size = arguments.integer("predict", "batch_size", batch_size, 1)
    samples = preparation.unlabelled(inputs)
    return DataLoader(samples.dataset, batch_size, transform=preparation.transforms())


def measured(
    config: Config, model: Module, preparation: Preparation, samples: Samples
) -> dict[str, Any]:
    """The loss and the metrics of ``model`` on samples with targets."""
    transforms = [*preparation.target_transforms(), *preparation.transforms()]
    loader = DataLoader(samples.dataset, config["data"].get("batch_size", 32), transform=transforms)
    loss = built_loss(config["loss"], preparation.goal)
    first = next(iter(loader))
    with preserve_state(model), no_grad():
        output = model(*first[:-1])
    axis = -1 if preparation.goal.task == "sequence" else 1
    classes = output.shape[axis] if output.ndim > 1 else None
    metrics = built_metrics(config["metrics"], classes, preparation.goal)
    optimizer = SGD(model.parameters(), lr=0.0)  # which a trainer has, and nobody steps
    trainer = Trainer(model, loss, optimizer, metrics=metrics, amp=config.get("amp"), callbacks=[])
    return trainer.evaluate(loader)


def assembled(
    config: Config,
    folder: Path | None = None,
    callbacks: Sequence[Callback] | None = None,
    trained: Module | None = None,
    learnt: Any = None,
    is_new: bool = True,
) -> Experiment:
    """Build everything; nothing is written before training begins.

    ``trained`` is a model that is trained already, and only looked at. ``learnt`` is what an earlier
    part of the run has learnt about the data. Only a new configuration is filled up.
    """
    made = prepared(config, learnt)
    if learnt is not None and trained is None:
        check_same(learnt.get("digest"), made.train, made.validation, made.test)
    chosen = None if "name" in config.get("loss", {}) else made.preparation.goal.task
    config = completed(made.config, made) if is_new else made.config
    random.manual_seed(config["seed"])
    goal = made.preparation.goal
    table = config["data"]
    options = {"batch_size": table.get("batch_size", 32), "workers": table.get("workers", 0)}
    targets, inputs = made.preparation.target_transforms(), made.preparation.transforms()
    train_loader = DataLoader(
        made.train,
        **_order(config, made),
        transform=[*targets, *augmentation(config), *inputs],
        **options,
    )
    test_loader = DataLoader(made.test, transform=[*targets, *inputs], **options)
    validation_loader = None
    if made.validation is not None:
        validation_loader = DataLoader(made.validation, transform=[*targets, *inputs], **options)
    if trained is None:
        model, config = built_model(config, made.preparation.arguments())
    else:
        model = trained
    # As it is read when the run goes on: checkpoints have its entries in the same order.
    config = tomllib.loads(as_toml(config))
    loss = built_loss(config["loss"], goal)
    with preserve_state(model):
        sample, classes = _tried(model, loss, made, test_loader, chosen, config)
    trainer = built_trainer(
        config, model, loss, len(train_loader), classes, made, folder, trained is not None,
        callbacks,
    )  # fmt: skip
    with preserve_state(model):
        trainer.evaluate([sample])  # what the metrics do not take is found now too
    trainer.preparation = stored(
        made.preparation, digest_of(made.train, made.validation, made.test)
    )
    return Experiment(
        config, made.train, made.validation, made.test, train_loader, validation_loader,
        test_loader, model, trainer, sample[:-1], random.get_state(), made.preparation, made.lines,
        made.names,
    )  # fmt: skip


def _order(config: Config, made: Prepared) -> dict[str, Any]:
    """How samples to train on are drawn: each once, or those of rare classes more often."""
    if config["data"].get("sampling") != "weighted":
        return {"shuffle": True}
    goal = made.preparation.goal
    if made.targets is None or goal.task not in ("binary", "multiclass"):
        requirement = "data.sampling is for classes, whose samples are known"
        raise value_error("config", requirement, sampling="weighted")
    numbers = np.asarray(made.targets).reshape(-1).astype(np.int64)
    weights = np.array(balance(Goal("multiclass", classes=goal.classes), numbers))
    return {"sampler": WeightedSampler(weights[numbers], len(numbers))}


def _tried(
    model: Module,
    loss: Any,
    made: Prepared,
    test_loader: DataLoader,
    chosen: str | None,
    config: Config,
) -> tuple[tuple[Any, ...], int | None]:
    """One sample through model and loss: what does not fit is found before anything is written.

    ``chosen`` is the task if nobody named a loss. Returns the sample, and among how many classes
    the model chooses if it does.
    """
    first = next(iter(DataLoader(test_loader.dataset, transform=test_loader.transforms)))
    if len(first) < 2:
        raise value_error("data", "samples must have inputs and a target", parts=len(first))
    *inputs, target = first
    name = config["loss"]["name"]
    model.eval()
    with no_grad():
        output = model(*inputs)
        axis = -1 if made.preparation.goal.task == "sequence" else 1
        classes = output.shape[axis] if output.ndim > 1 else None
        if made.preparation.kind == "arrays":
            if classes is not None and made.preparation.goal.task == "multiclass":
                check_labels({"train": made.train, "test": made.test}, classes)
                if made.validation is not None:
                    check_labels({"validation": made.validation}, classes)
            if chosen is not None:
                check_chosen(name, output, target)
        check_scores(name, config["model"]["name"])
        _check_outputs(output, made)
        loss(output, target)
    return first, classes


def _check_outputs(output: Tensor, made: Prepared) -> None:
    """Refuse a model that has not as many outputs as there are classes, labels or numbers."""
    goal = made.preparation.goal
    if made.preparation.kind in ("arrays", "text") or output.ndim != 2:
        return
    if output.shape[1] != goal.outputs:
        requirement = f"the model must have {goal.outputs} outputs for the task {goal.task}"
        requirement = requirement.replace(" 1 outputs", " one output")
        raise value_error("config", requirement, outputs=output.shape[1])
