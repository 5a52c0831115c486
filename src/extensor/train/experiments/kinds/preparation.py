"""What was learnt about data: it prepares new ones alike, and goes with the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from extensor.data import Dataset
from extensor.train.experiments.config import Config
from extensor.train.experiments.goal import Goal


class Samples(NamedTuple):
    """Samples as a model takes them, and what a person calls each; without names they are counted."""

    dataset: Dataset
    names: Sequence[str] | None = None
    lines: Sequence[str] = ()  # what is to be said of them


class Preparation:
    """What makes batches of files, arrays and tables, for one kind of data.

    ``goal`` says what is learned. Everything is plain: ``state_dict`` stands in each checkpoint.
    """

    kind: ClassVar[str]
    goal: Goal

    def arguments(self) -> dict[str, Any]:
        """The sizes that a model must have for these data, by the names that models give them."""
        raise NotImplementedError

    def transforms(self) -> list[Any]:
        """What is done with the inputs of every batch."""
        return []

    def target_transforms(self) -> list[Any]:
        """What is done with the targets of every batch, before chance changes it."""
        return []

    def labelled(self, source: Any) -> Samples:
        """Inputs and targets of a file, to measure a model by."""
        raise NotImplementedError

    def unlabelled(self, source: Any) -> Samples:
        """The inputs in a file, a table or an array, to predict from; targets in it are ignored."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Plain values and arrays."""
        raise NotImplementedError


class Prepared(NamedTuple):
    """Data ready to train on: the parts, what was learnt, and what a person should know of them.

    Without a part for validation, as in configurations that ask for none, the test data are looked
    at after each epoch, and nothing may be chosen by them.
    """

    config: Config
    preparation: Preparation
    train: Dataset
    validation: Dataset | None
    test: Dataset
    lines: list[str]
    names: Sequence[str] | None = None  # of the samples of test
    targets: Any = None  # those to train on, where they are known, as the loss takes them
