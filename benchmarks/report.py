"""The tables: one for each group and thread count, the targets, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.measure import (
    OURS,
    PEERS,
    RUNTIMES,
    Results,
    Row,
    geometric_mean,
    library_of,
    short,
)
from benchmarks.targets import Target, judge, most_allowed


def show(results: Results, console: Console) -> None:
    about = results.about
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    console.print(f"{about['date']}  {about['processor']}\n{versions}", highlight=False)
    for group in dict.fromkeys(row.group for row in results.rows):
        for threads in sorted({row.threads for row in results.rows}):
            rows = [row for row in results.rows if (row.group, row.threads) == (group, threads)]
            if rows:
                console.print(_group_table(group, threads, rows))
    console.print(_summary(results.rows, about["threads"]))
    if about["quick"]:
        console.print("[yellow]a quick run only shows that the suite works: measure without it[/]")
    _notes("left out", results.notes.skipped, "yellow", console)
    _notes("failed", results.notes.failed, "red", console)


def _group_table(group: str, threads: int, rows: Sequence[Row]) -> Table:
    title = f"{group}, {threads} thread{'s' if threads > 1 else ''}"
    labels = _labels(rows)
    caption = "ours / theirs: best (median of rounds); below 1 is ahead" if labels else None
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    table.add_column("measure")
    table.add_column("size", justify="right")
    table.add_column("machine" if group == "machine" else OURS, justify="right")
    limited = any(row.limit is not None for row in rows)
    if limited:
        table.add_column("/ limit", justify="right")
    for label in labels:
        table.add_column(f"/ {label}", justify="right")
    for row in rows:
        own = row.best.get(OURS, row.best.get("machine"))
        cells = [row.name, row.size, "-" if own is None else amount(own, row.unit)]
        if limited:
            cells.append("" if row.distance is None else f"{row.distance:.2f}")
        table.add_row(*cells, *(_ratio_cell(row, label) for label in labels))
    if labels and group != "start" and len(rows) > 1:
        means = {label: [r.ratio[label] for r in rows if label in r.ratio] for label in labels}
        blanks = [""] * (3 if limited else 2)
        table.add_section()
        cells = [_coloured(geometric_mean(means[label]), 1.0) for label in labels]
        table.add_row("geometric mean", *blanks, *cells)
    return table


def _labels(rows: Iterable[Row]) -> list[str]:
    """The contestants beside us, NumPy first, a library's variants together, our own variants last."""
    order = (*PEERS, *RUNTIMES, OURS)
    found = dict.fromkeys(label for row in rows for label in row.ratio)
    return sorted(found, key=lambda label: (order.index(library_of(label)), label))


def _ratio_cell(row: Row, label: str) -> str:
    if label not in row.ratio:
        return ""
    best = _coloured(row.ratio[label], most_allowed(row, label))
    return f"{best} [dim]({short(row.median_ratio[label])})[/]"


def _coloured(ratio: float, most: float) -> str:
    return f"[{'green' if ratio <= most else 'red'}]{short(ratio)}[/]"


def amount(value: float, unit: str) -> str:
    """A value with its unit, times in the unit that reads best."""
    if unit != "s":
        return f"{value:,.1f} {unit}"
    for scale, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value / 1e-9:.0f} ns"


def _summary(rows: Sequence[Row], thread_counts: Sequence[int]) -> Table:
    table = Table(title="targets", title_justify="left")
    table.add_column("measure")
    table.add_column("at most", justify="right")
    for threads in thread_counts:
        table.add_column(f"{threads} thread{'s' if threads > 1 else ''}", justify="right")
    table.add_column("verdict")
    for verdict in judge(rows, thread_counts):
        target = verdict.target
        colour = {"pass": "green", "fail": "red"}.get(verdict.word, "yellow")
        table.add_row(
            target.text,
            _shown(target.most, target),
            *(
                _shown(verdict.reached[threads], target) if threads in verdict.reached else "-"
                for threads in thread_counts
            ),
            f"[{colour}]{verdict.word}[/]",
        )
    return table


def _shown(value: float, target: Target) -> str:
    return amount(value, target.unit) if target.unit else f"{value:.2f}"


def _notes(title: str, texts: Sequence[str], colour: str, console: Console) -> None:
    if texts:
        console.print(f"[{colour}]{title}:[/]")
        for text in texts:
            console.print(f"  {escape(text)}", highlight=False)
