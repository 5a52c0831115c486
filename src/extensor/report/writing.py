"""The report and the plots of a run, written into its folder."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from extensor.io.atomic import write_atomically
from extensor.io.regular_files import file_text
from extensor.nn.summary import Summary
from extensor.report.chart import Chart
from extensor.report.curves import LOSS, VALIDATION, charts, metric_names, of_event, said, shown
from extensor.report.findings import Examination
from extensor.report.page import page
from extensor.report.records import (
    data_lines,
    figures_of_test,
    kept_epoch,
    monitor_of,
    name_of,
    read_machine,
    read_records,
    read_settings,
    seconds_of,
    workers_of,
)
from extensor.train import RunFolder
from extensor.train.progress import duration
from extensor.train.redaction import redact_lines


def write_report(
    run: RunFolder, examination: Examination | None = None, summary: Summary | None = None
) -> Path:
    """Write ``report.html``: what the files of the run say, and what was found out besides."""
    records = read_records("write_report", run)
    config = read_settings(run)
    text = page(
        title_of(config),
        run.path.name,
        _facts(run, config, records, summary),
        _charts(config, records, examination),
        examination,
        summary,
        redact_lines(file_text(run.config)),
        read_machine("write_report", run),
        data_lines(records),
        of_event(records, "sample"),
        workers_of(run),
    )
    path = run.path / "report.html"
    write_atomically(path, text.encode())
    return path


def title_of(config: Mapping[str, Any]) -> str:
    """The names of the model and the data."""
    model, data = name_of(config, "model"), name_of(config, "data")
    return f"{model or 'A model'} on {data or 'its data'}"


def _charts(
    config: Mapping[str, Any],
    records: Sequence[Mapping[str, Any]],
    examination: Examination | None = None,
) -> list[Chart]:
    loss = config.get("loss")
    table = loss if isinstance(loss, Mapping) else {}
    # With weights or smoothing the exponential of the loss is no perplexity.
    is_plain = table.get("name") in ("CrossEntropyLoss", "NLLLoss") and not (
        {"weight", "label_smoothing"} & set(table)
    )
    tokens = examination is not None and examination.task == "sequence"
    return charts(records, monitor_of(config), tokens and is_plain)


def _facts(
    run: RunFolder,
    config: Mapping[str, Any],
    records: list[dict[str, Any]],
    summary: Summary | None,
) -> dict[str, str]:
    """The numbers for those who read no further: of the epoch that is handed on."""
    epochs = of_event(records, "epoch")
    facts = {f"test {said(key)}": shown(key, x) for key, x in figures_of_test(records).items()}
    if epochs:
        last = epochs[-1]
        best = kept_epoch(config, epochs)
        chosen = last if best is None else next(r for r in epochs if r["epoch"] == best.epoch)
        names = metric_names(epochs)
        for key in (*names, LOSS, "loss"):
            if isinstance(chosen.get(key), int | float):  # NaN too: that is what it came to
                both = f"{VALIDATION}{key}" in chosen
                facts[f"{'training ' if both else ''}{said(key)}"] = shown(key, chosen[key])
        if best is not None:
            facts["best epoch"] = str(best.epoch)
        facts["epochs"] = str(last["epoch"])
        facts["steps"] = f"{last['step']:,}"
    seconds = seconds_of(run)
    if seconds is not None:
        facts["time"] = duration(seconds)
    if summary is not None:
        facts["parameters"] = f"{summary.parameters:,}"
    return facts


def write_plots(run: RunFolder) -> Path | None:
    """Write ``curves.png``, or None without Matplotlib: ``pip install extensor[plot]``."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    drawn = _charts(read_settings(run), read_records("write_plots", run))
    rows = -(-len(drawn) // 2)
    figure = Figure(figsize=(11, 3.2 * rows), layout="constrained")
    for number, chart in enumerate(drawn, 1):
        axes = figure.add_subplot(rows, 2, number, title=chart.title, xlabel=chart.across)
        for mark in chart.marks:
            axes.axvline(mark.at, color="gray", linewidth=0.8, linestyle=":")
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
