"""The plot of a test of learning rates: a small page, or a picture by Matplotlib."""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path

from extensor.io.atomic import write_atomically
from extensor.report.document import document, section
from extensor.report.scatter import STYLE, rate_chart
from extensor.train import RateTest


def can_write(path: Path) -> bool:
    """Whether there is what such a file needs: pictures need Matplotlib."""
    return path.suffix != ".png" or find_spec("matplotlib") is not None


def write_rate_plot(path: Path, found: RateTest, title: str) -> None:
    """Write the loss over the rates, and the suggestion, to a ``.html`` or ``.png`` file."""
    content = _picture(found, title) if path.suffix == ".png" else _page(found, title).encode()
    write_atomically(path, content)


def _page(found: RateTest, title: str) -> str:
    chart = rate_chart(
        found.rates.tolist(), found.losses.tolist(), found.smooth.tolist(), found.suggestion
    )
    rates = {
        "suggested": found.suggestion,
        "lowest loss": found.minimum,
        "steepest fall": found.steepest,
    }
    facts = {name: f"{rate:.2g}" for name, rate in rates.items() if rate is not None}
    note = (
        "<p>The pale curve is the loss of each batch, the other its running mean. The suggestion is "
        "where that falls most steeply, or a tenth of where it is lowest if that is less.</p>"
    )
    sections = [section("Loss over the learning rate", chart + note)]
    return document(title, "", facts, sections, style=STYLE, interactive=False)


def _picture(found: RateTest, title: str) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel="learning rate", ylabel="loss", xscale="log")
    axes.plot(found.rates, found.losses, color="0.75", linewidth=1, label="of each batch")
    axes.plot(found.rates, found.smooth, label="running mean")
    if found.suggestion is not None:
        axes.axvline(found.suggestion, color="C1", linestyle="--", label="suggested")
    axes.grid(alpha=0.3)
    axes.legend()
    content = io.BytesIO()
    figure.savefig(content, dpi=110, format="png")
    return content.getvalue()
