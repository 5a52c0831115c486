"""The report and the plots of a run, written into its folder."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path
from typing import Any

from extensor.io.atomic import write_atomically
from extensor.nn.summary import Summary
from extensor.report.curves import VALIDATION, charts, metric_names, shown
from extensor.report.examination import Examination
from extensor.report.page import page
from extensor.train import RunFolder, read_log
from extensor.train.progress import duration


def write_report(
    run: RunFolder, examination: Examination | None = None, summary: Summary | None = None
) -> Path:
    """Write ``report.html``: what the files of the run say, and what was found out besides."""
    records = read_log(run.log)
    config = run.config.read_text(encoding="utf-8")
    machine = json.loads(run.machine.read_text(encoding="utf-8"))
    text = page(
        title_of(tomllib.loads(config)),
        run.path.name,
        _facts(run, records, summary),
        charts(records),
        examination,
        summary,
        config,
        machine,
        _workers(run),
    )
    path = run.path / "report.html"
    write_atomically(path, text.encode())
    return path


def title_of(config: dict[str, Any]) -> str:
    """The names of the model and the data."""
    model, data = config.get("model", {}), config.get("data", {})
    return f"{model.get('name', 'A model')} on {data.get('name') or data.get('train', 'its data')}"


def _facts(
    run: RunFolder, records: list[dict[str, Any]], summary: Summary | None
) -> dict[str, str]:
    """The numbers for those who read no further."""
    epochs = [record for record in records if record["event"] == "epoch"]
    facts = {}
    if epochs:
        last = epochs[-1]
        for key in (*metric_names(epochs), f"{VALIDATION}loss", "loss"):
            if key in last:
                facts[key.replace("_", " ")] = shown(key, last[key])
        facts["epochs"] = str(last["epoch"])
        facts["steps"] = f"{last['step']:,}"
    if run.timing.is_file():
        facts["time"] = duration(sum(line["seconds"] for line in read_log(run.timing)))
    if summary is not None:
        facts["parameters"] = f"{summary.parameters:,}"
    return facts


def _workers(run: RunFolder) -> dict[str, str]:
    """What each of several workers did in the last epoch."""
    lines = read_log(run.timing) if run.timing.is_file() else []
    found = lines[-1].get("workers", []) if lines else []
    return {
        str(each["worker"]): (
            f"{each['samples_per_second']:,.0f} samples/s, "
            f"waited {100 * each['waited'] / each['seconds']:.0f} % of the time, "
            f"sent {each['sent'] / 1e6:,.1f} MB, received {each['received'] / 1e6:,.1f} MB"
        )
        for each in found
    }


def write_plots(run: RunFolder) -> Path | None:
    """Write ``curves.png``, or None without Matplotlib: ``pip install extensor[plot]``."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    drawn = charts(read_log(run.log))
    rows = -(-len(drawn) // 2)
    figure = Figure(figsize=(11, 3.2 * rows), layout="constrained")
    for number, chart in enumerate(drawn, 1):
        axes = figure.add_subplot(rows, 2, number, title=chart.title, xlabel="step")
        for series in chart.series:
            axes.plot(*zip(*series.points, strict=True), label=series.name, linewidth=1.2)
        if chart.logarithmic:
            axes.set_yscale("log")
        axes.grid(alpha=0.3)
        if len(chart.series) > 1:
            axes.legend(fontsize="small")
    content = io.BytesIO()
    figure.savefig(content, dpi=110)
    path = run.path / "curves.png"
    write_atomically(path, content.getvalue())
    return path
