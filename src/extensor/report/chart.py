"""What is drawn: charts, the curves in them, and the cards of the page that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

UNKNOWN = "\N{EN DASH}"  # in a table, where nothing is known

Points = list[tuple[float, float]]
Kind = Literal["line", "joined", "dots", "bars"]  # joined: a line with dots on it


class Series(NamedTuple):
    """A curve: its name, and values at steps of training. A faint one is drawn behind the others.

    ``labels`` are words for each point. ``said`` is what the legend says beside the name, if it is
    not the last value; ``colour`` the number of its colour and how many there are, if it is not its
    place in the chart.
    """

    name: str
    points: Points
    faint: bool = False
    kind: Kind = "line"
    labels: Sequence[str] = ()
    said: str | None = None
    colour: tuple[int, int] | None = None


class Mark(NamedTuple):
    """A thin line upwards, and what it says."""

    at: float
    text: str


class Chart(NamedTuple):
    """Curves that share their axes, which are called ``across`` and ``up``.

    ``limits`` are those of both axes, if not the values'. ``guides`` are dashed lines, each from a
    point to a point.
    """

    title: str
    series: list[Series]
    logarithmic: bool = False
    across: str = "step"
    up: str = ""
    marks: Sequence[Mark] = ()
    limits: tuple[float, float] | None = None
    guides: Sequence[tuple[tuple[float, float], tuple[float, float]]] = ()
    height: int = 240


class Card(NamedTuple):
    """A part of the page: charts below each other, and words about them."""

    title: str
    charts: list[Chart]
    note: str = ""


class Table(NamedTuple):
    """A part of the page: a row of headings, and rows whose first cell is a name."""

    title: str
    heads: list[str]
    rows: list[list[str]]
    note: str = ""
