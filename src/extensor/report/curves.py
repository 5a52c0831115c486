"""The curves in a log: one chart for each thing that is worth watching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, isfinite, isnan, sqrt
from typing import Any, NamedTuple

from extensor.report.axis import readable
from extensor.report.chart import Chart, Mark, Points, Series
from extensor.train.metrics import is_falling, is_fraction

Record = Mapping[str, Any]

VALIDATION = "validation_"
LOSS = f"{VALIDATION}loss"
# How names of numbers end that should rise, beside those of fractions.
_RISING = ("r2", "correlation", "kappa", "iou", "dice")
_NO_METRICS = ("event", "epoch", "step", "loss", "lr", LOSS)
_LARGEST = 700.0  # whose exponential is finite


class Best(NamedTuple):
    """The epoch in which a number was best, and the step it ended with."""

    key: str
    epoch: int
    step: int
    value: float


def charts(
    records: Sequence[Record], monitor: str | None = None, perplexity: bool = False
) -> list[Chart]:
    """Loss, metrics, learning rate and gradients, as far as the log has them.

    The epoch is marked in which ``monitor`` was best, see :func:`best_epoch`. With ``perplexity``
    the loss is one of tokens, whose exponential is shown too if the log has none.
    """
    steps = of_event(records, "step")
    epochs = of_event(records, "epoch")
    best = best_epoch(epochs, monitor)
    marks = [] if best is None else [Mark(best.step, _words(best))]
    found = [
        Chart(
            "Loss",
            [
                Series("training, at steps", points(steps, "loss"), faint=True),
                *_both(epochs, "loss", "training, mean of epochs"),
            ],
            marks=marks,
        )
    ]
    names = {key.removeprefix(VALIDATION): None for key in metric_names(epochs)}
    if perplexity and "perplexity" not in names:
        names["perplexity"] = None
        epochs = [_with_perplexity(record) for record in epochs]
    found += [Chart(title_of_metric(name), _both(epochs, name), marks=marks) for name in names]
    found.append(Chart("Learning rate", [Series("of the first group", points(steps, "lr"))]))
    norms = Series("of all, before clipping", points(steps, "gradient_norm"))
    found.append(Chart("Norm of the gradient", [norms], logarithmic=True))
    found.append(Chart("Norm of the gradients of each layer", _layers(records), logarithmic=True))
    shown_ones = [chart._replace(series=[s for s in chart.series if s.points]) for chart in found]
    return [chart for chart in shown_ones if chart.series]


def _both(epochs: Sequence[Record], name: str, training: str = "training") -> list[Series]:
    """A number on the data to train on and on those to validate with, always in the same colours."""
    series = []
    for number, (part, key) in enumerate(((training, name), ("validation", f"{VALIDATION}{name}"))):
        having = [r for r in epochs if is_number(r.get(key)) and is_number(r.get("step"))]
        labels = [f"epoch {record.get('epoch')}" for record in having]
        series.append(Series(part, points(having, key), labels=labels, colour=(number, 2)))
    return series


def _with_perplexity(record: Record) -> Record:
    found = {
        key.replace("loss", "perplexity"): exp(record[key])
        for key in ("loss", LOSS)
        if is_number(record.get(key)) and record[key] < _LARGEST
    }
    return {**record, **found}


def _words(best: Best) -> str:
    name = best.key.removeprefix(VALIDATION)
    part = "" if best.key.startswith(VALIDATION) else "training "
    return f"best {part}{said(name)}: epoch {best.epoch}"


def best_epoch(epochs: Sequence[Record], monitor: str | None = None) -> Best | None:
    """When ``monitor`` was best; if there is none the validation loss, or the first metric."""
    names = [*([] if monitor is None else [monitor]), LOSS, *metric_names(epochs)]
    for name in filter(direction, names):
        sign = direction(name)
        known = [
            Best(name, r["epoch"], r["step"], r[name])
            for r in epochs
            if all(is_number(r.get(key)) for key in (name, "epoch", "step"))
        ]
        if known:
            values = [sign * best.value for best in known]
            return known[values.index(max(values))]
    return None


def direction(name: str) -> int:
    """1 if the number of that name should rise, -1 if it should fall, 0 if nobody knows."""
    return -1 if is_falling(name) else int(is_fraction(name) or name.endswith(_RISING))


def of_event(records: Sequence[Record], event: str) -> list[Record]:
    """The records of one kind."""
    return [record for record in records if record.get("event") == event]


def metric_names(epochs: Sequence[Record]) -> list[str]:
    """The numbers that only the user's metrics put into the log, those of validation first."""
    names = {key: None for record in epochs for key, x in record.items() if is_number(x)}
    metrics = [name for name in names if name not in _NO_METRICS]
    return sorted(metrics, key=lambda name: not name.startswith(VALIDATION))


def said(name: str) -> str:
    """The name of a number for people."""
    return name.replace("_", " ")


def title_of_metric(name: str) -> str:
    """The name of a metric as a heading."""
    return said(name).capitalize()


def shown(name: str, value: Any) -> str:
    """A number for people: a fraction of samples in percent; what is no single number, as it is."""
    if not isinstance(value, int | float):
        return str(value)
    if isnan(value):
        return "undefined"
    return f"{value:.2%}" if is_fraction(name) else readable(value)


def points(records: Sequence[Record], key: str, at: str = "step") -> Points:
    """The values of ``key`` at the steps of the records that have it."""
    return [(r[at], r[key]) for r in records if is_number(r.get(key)) and is_number(r.get(at))]


def is_number(value: Any) -> bool:
    """Whether ``value`` is one that can be drawn."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isfinite(value) if isinstance(value, float) else abs(value) < 2**63


def _layers(records: Sequence[Record]) -> list[Series]:
    """Weight and bias of a layer together: their norm is the root of the sum of squares."""
    layers: dict[str, Points] = {}
    for record in of_event(records, "gradients"):
        squares: dict[str, float] = {}
        for name, norm in record["norms"].items():
            if is_number(norm):
                layer = name.rpartition(".")[0] or name
                squares[layer] = squares.get(layer, 0.0) + norm * norm
        for layer, square in squares.items():
            layers.setdefault(layer, []).append((record["step"], sqrt(square)))
    return [Series(name, points) for name, points in layers.items()]
