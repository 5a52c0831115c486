"""One good use of every metric for every task: what makes it, and what it is updated with."""

from __future__ import annotations

from typing import Any

from drawn_calls import Rng

from soak.public_calls import Example, real, whole


def _of_classes(rng: Rng) -> tuple[Any, ...]:
    return real(rng, 5, 3), whole(rng, 3, 5)


def _of_two(rng: Rng) -> tuple[Any, ...]:
    return real(rng, 5, 1), whole(rng, 2, 5)


def _of_labels(rng: Rng) -> tuple[Any, ...]:
    return real(rng, 5, 3), whole(rng, 2, 5, 3)


def _of_tokens(rng: Rng) -> tuple[Any, ...]:
    return real(rng, 2, 4, 3), whole(rng, 3, 2, 4)


def _of_numbers(rng: Rng) -> tuple[Any, ...]:
    return real(rng, 3, 4), real(rng, 3, 4)


def _metrics(
    name: str, arguments: tuple[Any, ...] = (), tasks: str = "multiclass binary multilabel"
) -> dict[tuple[str, str], Example]:
    """The metric called ``name`` for each of ``tasks``; its update is what uses it."""
    used = {
        "multiclass": _of_classes, "binary": _of_two, "multilabel": _of_labels,
        "sequence": _of_tokens,
    }  # fmt: skip
    return {
        (name, task): Example(
            lambda rng, task=task: arguments if task in ("multiclass", "sequence") else (),
            lambda rng, task=task: {"task": task, "scores": "logits"},
            used[task],
        )
        for task in tasks.split()
    }


# By name and task: what makes one, and what it is updated with.
METRICS: dict[tuple[str, str], Example] = {
    **_metrics("Accuracy", (-1,), "multiclass binary multilabel sequence"),
    **_metrics("BalancedAccuracy", (3, -1), "multiclass binary"),
    **_metrics("Precision", (3, "macro", -1)),
    **_metrics("Recall", (3, None, -1)),
    **_metrics("F1", (3, "weighted", -1)),
    **_metrics("ROCAUC", (-1,)),
    **_metrics("AveragePrecision", (-1,)),
    **_metrics("LogLoss", (-1,), "multiclass binary multilabel sequence"),
    **_metrics("CalibrationError", (5, -1)),
    **_metrics("TopKAccuracy", (2, -1), "multiclass sequence"),
    **_metrics("ConfusionMatrix", (3, -1)),
    **_metrics("Perplexity", (-1,), "multiclass sequence"),
    **{
        (name, "regression"): Example(lambda rng: (), used=_of_numbers)
        for name in "MeanAbsoluteError RootMeanSquaredError MedianAbsoluteError R2".split()
    },
}
