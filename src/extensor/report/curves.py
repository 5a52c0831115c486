"""The curves in a log: one chart for each thing that is worth watching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, sqrt
from typing import Any, NamedTuple

Record = Mapping[str, Any]
Points = list[tuple[float, float]]

VALIDATION = "validation_"
_FRACTIONS = ("accuracy", "precision", "recall", "f1")  # how their names end
_NO_METRICS = ("event", "epoch", "step", "loss", "lr", f"{VALIDATION}loss")


class Series(NamedTuple):
    """A curve: its name, and values at steps of training. A faint one is drawn behind the others."""

    name: str
    points: Points
    faint: bool = False


class Chart(NamedTuple):
    """Curves that share their axes."""

    title: str
    series: list[Series]
    logarithmic: bool = False


def charts(records: Sequence[Record]) -> list[Chart]:
    """Loss, metrics, learning rate and gradients, as far as the log has them."""
    steps = [record for record in records if record["event"] == "step"]
    epochs = [record for record in records if record["event"] == "epoch"]
    found = [
        Chart(
            "Loss",
            [
                Series("training, at steps", points(steps, "loss"), faint=True),
                Series("training, mean of epochs", points(epochs, "loss")),
                Series("validation", points(epochs, f"{VALIDATION}loss")),
            ],
        )
    ]
    for key in metric_names(epochs):
        title = key.removeprefix(VALIDATION).replace("_", " ").capitalize()
        found.append(Chart(title, [Series("validation", points(epochs, key))]))
    found.append(Chart("Learning rate", [Series("of the first group", points(steps, "lr"))]))
    norms = Series("of all, before clipping", points(steps, "gradient_norm"))
    found.append(Chart("Norm of the gradient", [norms], logarithmic=True))
    found.append(Chart("Norm of the gradients of each layer", _layers(records), logarithmic=True))
    drawn = [chart._replace(series=[s for s in chart.series if s.points]) for chart in found]
    return [chart for chart in drawn if chart.series]


def metric_names(epochs: Sequence[Record]) -> list[str]:
    """The numbers that only the user's metrics put into the log."""
    names = {key: None for record in epochs for key, x in record.items() if _is_number(x)}
    return [name for name in names if name not in _NO_METRICS]


def shown(name: str, value: float) -> str:
    """A number for people: a fraction of samples in percent."""
    return f"{value:.2%}" if name.endswith(_FRACTIONS) else f"{value:.4g}"


def points(records: Sequence[Record], key: str) -> Points:
    """The values of ``key`` at the steps of the records that have it."""
    return [(r["step"], r[key]) for r in records if _is_number(r.get(key))]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and isfinite(value)


def _layers(records: Sequence[Record]) -> list[Series]:
    """Weight and bias of a layer together: their norm is the root of the sum of squares."""
    layers: dict[str, Points] = {}
    for record in records:
        if record["event"] == "gradients":
            squares: dict[str, float] = {}
            for name, norm in record["norms"].items():
                layer = name.rpartition(".")[0] or name
                squares[layer] = squares.get(layer, 0.0) + norm * norm
            for layer, square in squares.items():
                layers.setdefault(layer, []).append((record["step"], sqrt(square)))
    return [Series(name, points) for name, points in layers.items()]
