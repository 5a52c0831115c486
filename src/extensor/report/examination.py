"""The result of an examination, and the parts that all tasks share: names, and the worst samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from extensor.errors import arguments, type_error, value_error
from extensor.report.chart import UNKNOWN, Card, TableCard
from extensor.report.png import is_picture, picture

WORST = 24
IGNORED = -100  # the class of what is left out, as the losses have it


class Sample(NamedTuple):
    """A sample of the test data: its truth, what the model found instead, and how wrong that is.

    ``is_wrong`` is None where there is no right and wrong; ``probability`` belongs to ``found``.
    """

    number: int
    truth: str
    found: str
    loss: float
    png: bytes | None
    name: str = ""
    is_wrong: bool | None = None
    probability: float | None = None


class Examination(NamedTuple):
    """How a model does on the test data; there is no confusion where there are no classes.

    ``parts`` are more cards for the page, ``notes`` are to be read first, and ``measure`` is the
    name of the loss of a sample.
    """

    worst: list[Sample]
    class_names: list[str]
    confusion: Any = None
    task: str = ""
    parts: Sequence[Card | TableCard] = ()
    notes: Sequence[str] = ()
    measure: str = "loss"


@dataclass
class ExaminedSamples:
    """The samples of an examination: outputs and targets as arrays, and the names that are known."""

    dataset: Any
    outputs: Any
    targets: Any
    class_names: list[str] | None
    sample_names: list[str] | None
    are_logits: bool

    def names(self, count: int, what: str) -> list[str]:
        """The names of the classes: from the caller, from the data, or their numbers."""
        if self.class_names is not None:
            if len(self.class_names) != count:
                requirement = f"class_names must be {count}, one for each {what}"
                raise value_error("examine", requirement, class_names=self.class_names)
            return self.class_names
        own = getattr(self.dataset, "classes", None)
        known = isinstance(own, Sequence) and not isinstance(own, str) and len(own) == count
        return [str(name) for name in (own if known else range(count))]  # type: ignore[union-attr]

    def worst(
        self,
        numbers: Any,
        losses: Any,
        wrong: Any,
        truth: Callable[[int], str],
        found: Callable[[int], str],
        probability: Any = None,
    ) -> list[Sample]:
        """The samples to look at: first those that are wrong, the most wrong first, then the least certain.

        ``numbers`` are those of the samples; ``truth`` and ``found`` take places in that array.
        """
        order = np.lexsort((-losses, ~wrong) if wrong is not None else (-losses,))[:WORST].tolist()
        pictures = self._pictures([int(numbers[place]) for place in order])
        return [
            Sample(
                int(numbers[place]),
                truth(place),
                found(place),
                float(losses[place]),
                png,
                "" if self.sample_names is None else self.sample_names[int(numbers[place])],
                None if wrong is None else bool(wrong[place]),
                None if probability is None else float(probability[place]),
            )
            for place, png in zip(order, pictures, strict=True)
        ]

    def _pictures(self, numbers: list[int]) -> list[bytes | None]:
        inputs = [] if self.dataset is None else [self.dataset[number][0] for number in numbers]
        if not inputs or not all(map(is_picture, inputs)):
            return [None] * len(numbers)
        # One scale for all, so that dark samples stay dark.
        arrays = [np.asarray(x) for x in inputs]
        low, high = (float(f([f(x) for x in arrays])) for f in (np.min, np.max))
        return [picture(x, low, high) for x in arrays]


def list_of_names(name: str, value: Any, count: int | None = None) -> list[str] | None:
    """A list of strings, or None."""
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        brief = {name: arguments.briefly(value)}
        raise type_error("examine", f"{name} must be a list of strings", **brief)
    if count is not None and len(value) != count:
        requirement = f"{name} must be as many as the outputs, {count}"
        raise value_error("examine", requirement, count=len(value))
    return [str(x) for x in value]


def check_class_numbers(targets: Any, count: int) -> None:
    """Raise if a target is neither one of ``count`` classes nor to be left out."""
    wrong = ((targets < 0) | (targets >= count)) & (targets != IGNORED)
    if wrong.any():
        requirement = f"targets must be in [0, {count - 1}], or {IGNORED} to be left out"
        raise value_error("examine", requirement, target=int(targets[wrong][0]))


def log_probabilities(are_logits: bool, scores: Any) -> Any:
    """The logarithms of probabilities, or of those that rows of logits stand for."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if not are_logits:
            return np.log(scores)
        shifted = scores - scores.max(axis=1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def notes_on_invalid(valid: Any) -> list[str]:
    """A note on samples whose outputs are not finite, if there are any."""
    bad = np.flatnonzero(~valid).tolist()
    if not bad:
        return []
    first = ", ".join(f"#{number}" for number in bad[:5]) + (", …" if len(bad) > 5 else "")
    return [
        f"The outputs of {len(bad):,} of {len(valid):,} samples are not finite ({first}); "
        "nothing below counts them."
    ]


def rate_text(value: float, digits: int = 4) -> str:
    """A rate for a table; a dash where there is none."""
    return UNKNOWN if np.isnan(value) else f"{value:.{digits}f}"
