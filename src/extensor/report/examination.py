"""A trained model examined: which classes it takes for which, and where it is most wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.data import Dataset
from extensor.ops import sigmoid
from extensor.report.png import is_picture, picture
from extensor.train import Experiment
from extensor.train.experiments.targets import OF_LOGITS

WORST = 24


class Sample(NamedTuple):
    """A sample of the test data: what it is, what the model says, and how wrong that is."""

    number: int
    truth: str
    found: str
    loss: float
    png: bytes | None


class Examination(NamedTuple):
    """What the model makes of the test data; there is no confusion where there are no classes."""

    worst: list[Sample]
    class_names: list[str]
    confusion: Any = None


def examine(dataset: Dataset, outputs: Any, targets: Any) -> Examination | None:
    """Look at the outputs for the samples of ``dataset``: scores of classes, or numbers.

    None if they are neither.
    """
    if outputs.ndim == 2 and targets.ndim == 1 and not np.issubdtype(targets.dtype, np.floating):
        return _classes(dataset, outputs, targets)
    if outputs.shape == targets.shape:
        errors = np.abs(outputs - targets).reshape(len(outputs), -1).mean(axis=1)
        return Examination(_worst(dataset, errors, _numbers(targets), _numbers(outputs)), [])
    return None


def examine_experiment(experiment: Experiment) -> Examination | None:
    """Look at what the model of ``experiment`` says of the test data."""
    outputs = experiment.trainer.predict(experiment.test_loader).numpy()
    if experiment.config["loss"]["name"] in OF_LOGITS:
        outputs = sigmoid(outputs).numpy()  # what is compared with 0 and 1
    targets = np.concatenate([batch[-1].numpy() for batch in experiment.test_loader])
    return examine(experiment.test_data, outputs, targets)


def _classes(dataset: Dataset, outputs: Any, targets: Any) -> Examination:
    count = outputs.shape[1]
    names = [str(name) for name in getattr(dataset, "classes", range(count))]
    scores = outputs.astype(np.float64)
    scores -= scores.max(axis=1, keepdims=True)
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(targets)), targets]
    found = scores.argmax(axis=1)
    confusion = np.bincount(targets * count + found, minlength=count * count)
    worst = _worst(dataset, losses, [names[i] for i in targets], [names[i] for i in found])
    return Examination(worst, names, confusion.reshape(count, count))


def _worst(
    dataset: Dataset, losses: Any, truths: Sequence[str], found: Sequence[str]
) -> list[Sample]:
    order = np.argsort(-losses, kind="stable")[:WORST].tolist()
    inputs = [dataset[index][0] for index in order]
    pictures: list[bytes | None] = [None] * len(order)
    if all(map(is_picture, inputs)):
        # One scale for all: what is dark in the data stays dark.
        low, high = (float(f([f(x) for x in inputs])) for f in (np.min, np.max))
        pictures = [picture(x, low, high) for x in inputs]
    return [
        Sample(index, truths[index], found[index], float(losses[index]), png)
        for index, png in zip(order, pictures, strict=True)
    ]


def _numbers(array: Any) -> list[str]:
    rows = array.reshape(len(array), -1)
    return [" ".join(f"{x:.4g}" for x in row[:4]) + " …" * (len(row) > 4) for row in rows]
