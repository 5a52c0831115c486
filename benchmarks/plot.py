"""The picture: our time over theirs, a bar for each measure and library, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import PEERS, Results, Row, library_of, short

_COLOURS = {"numpy": "#4c78a8", "torch": "#e45756", "jax": "#f2a93b"}
_BAR = 0.28
# The same for every panel; a bar that would leave it is cut and keeps its number.
_LEFT, _RIGHT = 0.04, 25.0
_TITLES = {
    "call": "calls and matrix products",
    "gemm": "calls and matrix products",
    "gemm bfloat16": "calls and matrix products",
    "convolution": "convolutions",
    "normalization": "normalization",
}
_REST = "optimizers and training steps"


def draw(results: Results, folder: Path) -> str:
    """Write latest.png for the most threads, latest-N.png for the others; say what was done."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return "no plot: matplotlib is missing (pip install 'extensor[plot]')"
    written = []
    counts = sorted({row.threads for row in results.rows}, reverse=True)
    for threads in counts:
        panels = _panels([row for row in results.rows if row.threads == threads])
        if panels:
            name = "latest.png" if threads == counts[0] else f"latest-{threads}.png"
            figure = _figure(pyplot, panels, threads, results.about)
            figure.savefig(folder / name, dpi=120)
            pyplot.close(figure)
            written.append(str(folder / name))
    return (
        f"plots: {', '.join(written)}" if written else "no plot: nothing with a ratio was measured"
    )


def _panels(rows: Sequence[Row]) -> dict[str, list[tuple[str, dict[str, float]]]]:
    """Forward and backward of the ops at their largest size, and all else that has a peer by theme."""
    ops = [row for row in rows if row.group == "ops" and row.ratio]
    size = ops[-1].size if ops else ""
    panels: dict[str, list[tuple[str, dict[str, float]]]] = {}
    for row in rows:
        if row.group == "start" or not row.ratio or (row.group == "ops" and row.size != size):
            continue
        if row.group == "ops":
            name, way = row.name.rsplit(" ", 1)
            panels.setdefault(f"ops {way}, {size} elements", []).append((name, _by_peer(row)))
        else:
            name = f"{row.name}, {row.size}"
            panels.setdefault(_TITLES.get(row.group, _REST), []).append((name, _by_peer(row)))
    return panels


def _by_peer(row: Row) -> dict[str, float]:
    """Our ratio to each library's fastest variant."""
    ratios: dict[str, float] = {}
    for label, ratio in row.ratio.items():
        peer = library_of(label)
        ratios[peer] = max(ratio, ratios.get(peer, 0.0))
    return ratios


def _figure(pyplot: Any, panels: dict[str, Any], threads: int, about: dict[str, Any]) -> Any:
    longest = max(len(entries) for entries in panels.values())
    height = 1.6 + 0.4 * longest
    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(5.2 * len(panels), height), squeeze=False, layout="constrained"
    )
    for axis, (title, entries) in zip(axes[0], panels.items(), strict=True):
        _panel(axis, title, entries, longest)
    versions = about["versions"]
    handles = [
        pyplot.Rectangle((0, 0), 1, 1, color=_COLOURS[peer], label=f"{peer} {versions[peer]}")
        for peer in PEERS
        if any(peer in ratios for entries in panels.values() for _, ratios in entries)
    ]
    plural = "s" if threads > 1 else ""
    quick = "\n(quick run: not a measurement)" if about["quick"] else ""
    figure.suptitle(f"ExTensor's time / theirs, {threads} thread{plural}{quick}", fontsize=13)
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    return figure


def _panel(axis: Any, title: str, entries: Sequence[tuple[str, Any]], longest: int) -> None:
    axis.axvspan(_LEFT, 1, color="#2ca02c", alpha=0.07, linewidth=0)
    for index, (_, ratios) in enumerate(entries):
        shown = [peer for peer in PEERS if peer in ratios]
        for place, peer in enumerate(shown):
            y = index + (place - (len(shown) - 1) / 2) * _BAR
            ratio = ratios[peer]
            end = min(max(ratio, 2.2 * _LEFT), _RIGHT / 2.2)
            axis.barh(y, end - 1, height=_BAR, left=1, color=_COLOURS[peer])
            side = {"ha": "right"} if ratio < 1 else {"ha": "left"}
            # Written just outside the bar's end, with a hair of space.
            position = end / 1.05 if ratio < 1 else end * 1.05
            axis.text(position, y, short(ratio), va="center_baseline", fontsize=6.5, **side)
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_xlim(_LEFT, _RIGHT)
    ticks = (0.1, 0.25, 0.5, 1, 2, 4, 10)
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=8)
    axis.xaxis.minorticks_off()
    axis.set_yticks(range(len(entries)), [name for name, _ in entries], fontsize=8)
    # Bars are equally thick in every panel, and the first entry is at the top.
    axis.set_ylim(longest - 0.4, -0.6)
    axis.set_title(title, fontsize=10)
    axis.set_xlabel("left of 1: ExTensor is faster", fontsize=8)
    axis.grid(axis="x", alpha=0.3, linewidth=0.5)
    axis.set_axisbelow(True)
    for edge in ("top", "right", "left"):
        axis.spines[edge].set_visible(False)
    axis.tick_params(axis="y", length=0)
    axis.tick_params(axis="x", labeltop=longest > 20)
