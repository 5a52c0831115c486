"""All that a configuration describes, put together: data, loaders, model and trainer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from extensor import random
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.data import DataLoader, Dataset
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.train.callback import Callback
from extensor.train.experiments.config import Config
from extensor.train.experiments.continuation import Changes
from extensor.train.experiments.data import augmentation, preparation, read_data, standardized
from extensor.train.experiments.inputs import input_loader
from extensor.train.experiments.parts import built_loss, built_model, built_trainer
from extensor.train.experiments.targets import (
    CLASSES,
    NUMBERS,
    OWN,
    check_chosen,
    check_labels,
    kind_of,
    target_preparation,
)
from extensor.train.trainer import Trainer


@dataclass(frozen=True, eq=False, repr=False)
class Experiment:
    """What :func:`experiment` builds: a run that could begin now, or go on.

    ``config`` is the whole configuration, with every default written out. ``example`` is the input
    of one sample. ``changes`` has what is other than when the run was left, if it is one that goes
    on: by key, the values before and after. ``generator_state`` is where random numbers begin.
    """

    config: Config
    train_data: Dataset
    test_data: Dataset
    train_loader: DataLoader
    test_loader: DataLoader
    model: Module
    trainer: Trainer
    example: tuple[Any, ...]
    generator_state: tuple[int, int]
    changes: Changes = field(default_factory=dict)

    def fit(self) -> list[dict[str, Any]]:
        """Train until the epochs of the configuration are over. Returns what the log says of each.

        Whatever was drawn since the experiment was built does not matter: a run depends on its
        configuration alone. Signals end it as they end :meth:`Trainer.fit`.
        """
        if self.trainer.step == 0:
            random.set_state(self.generator_state)
        return self.trainer.fit(self.train_loader, self.config["epochs"], self.test_loader)

    def evaluate(self) -> dict[str, Any]:
        """The loss and the metrics on the test data."""
        return self.trainer.evaluate(self.test_loader)

    def predict(self, inputs: Any, batch_size: int = 256) -> Tensor:
        """The outputs for an array, a data set or a file, prepared as the training data are."""
        return self.trainer.predict(input_loader(self.config, inputs, batch_size))


def assembled(
    config: Config,
    folder: Path | None = None,
    callbacks: Sequence[Callback] | None = None,
    trained: Module | None = None,
) -> Experiment:
    """Build everything; nothing is written before training begins.

    ``trained`` is a model that is trained already, and only looked at.
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
    model = built_model(config) if trained is None else trained
    kind = kind_of(config, train_data)
    is_chosen = "name" not in config.get("loss", {})
    config = _completed(config, kind if kind != OWN else kind_of({}, train_data))
    loss = built_loss(config["loss"])
    chosen = config["loss"]["name"] if is_chosen else None
    sample, classes = _tried(model, loss, train_loader, test_loader, kind == CLASSES, chosen)
    trainer = built_trainer(
        config, model, loss, len(train_loader), classes, folder, trained is not None, callbacks
    )
    trainer.evaluate([sample])  # what the metrics do not take is found now too
    return Experiment(
        config, train_data, test_data, train_loader, test_loader, model, trainer,
        sample[:-1], random.get_state(),
    )  # fmt: skip


def _completed(config: Config, kind: str) -> Config:
    """``config`` with what is usual for such targets, so that later commands need not look at them."""
    loss = "CrossEntropyLoss" if kind == CLASSES else "MSELoss"
    metrics = {CLASSES: ["accuracy"], NUMBERS: ["root_mean_squared_error"]}.get(kind, [])
    optimizer = {"name": "Adam", **config.get("optimizer", {})}
    table = {"name": loss, **config.get("loss", {})}
    return {"metrics": metrics, **config, "loss": table, "optimizer": optimizer}


def _tried(
    model: Module,
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
