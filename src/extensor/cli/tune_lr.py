"""``extensor tune-lr``: try learning rates for some steps, and say which to begin with."""

from __future__ import annotations

import argparse
import sys
from math import log10
from pathlib import Path
from shlex import quote

from extensor.cli.described import as_words, is_data
from extensor.cli.outputs import new_file
from extensor.cli.settings import command_config, trust_option
from extensor.errors import value_error
from extensor.report import Series, terminal_plot
from extensor.report.rate_plot import can_write, write_rate_plot
from extensor.report.writing import title_of
from extensor.train import RateTest, experiment, tune_lr
from extensor.train.experiments.config import Config

_ENDINGS = (".html", ".png")


def run(options: argparse.Namespace) -> None:
    """Try the rates, and print what was found; only ``--output`` is written."""
    output = None if options.output is None else _new_plot(options.output)
    config = command_config(options, options.set)
    made = experiment(config, {"checkpoints": None}, callbacks=[])
    if is_data(options.config):
        print("\n".join(made.lines), flush=True)
    found = tune_lr(made, low=options.low, high=options.high, steps=options.steps)
    if output is not None:
        write_rate_plot(output, found, f"Learning rates for {title_of(made.config)}")
    print("\n".join(_lines(found)))
    if found.suggestion is None:
        raise value_error(
            "tune-lr",
            "the loss must fall at some rate (look at the data, the loss and the model)",
            lowest=round(float(found.smooth.min()), 4),
            first=round(float(found.losses[0]), 4),
        )
    table = "schedule" if "max_lr" in made.config.get("schedule", {}) else "optimizer"
    print("\n".join(_advice(config, table, float(f"{found.suggestion:.2g}"), options)))


def _new_plot(name: str) -> Path:
    path = new_file(name, _ENDINGS)
    if not can_write(path):
        requirement = "a .png needs Matplotlib: pip install 'extensor[plot]'"
        raise value_error("--output", requirement, output=name)
    return path


def _lines(found: RateTest) -> list[str]:
    first, last = found.rates[0], found.rates[-1]
    ending = "where the loss diverged" if found.diverged else "and the loss did not diverge"
    lines = [f"{len(found.rates)} steps from {first:.2g} to {last:.2g}, {ending}", ""]
    if (sys.stdout.encoding or "").lower().startswith("utf"):
        points = [(log10(x), y) for x, y in zip(found.rates, found.smooth, strict=True)]
        lines += [terminal_plot(Series("loss, smooth, over the rate in logarithms", points)), ""]
    lines += [f"lowest loss    {found.minimum:.2g}", f"steepest fall  {found.steepest:.2g}"]
    if found.suggestion is not None:
        lines.append(
            f"suggested      {found.suggestion:.2g}, a tenth of the rate of the lowest loss"
        )
    return lines


def _advice(config: Config, table: str, rate: float, options: argparse.Namespace) -> list[str]:
    """What to put into the configuration; some schedules have the rate, not the optimizer."""
    key = "max_lr" if table == "schedule" else "lr"
    keys = [setting.partition("=")[0].strip() for setting in options.set]
    settings = [s for s, k in zip(options.set, keys, strict=True) if k != f"{table}.{key}"]
    parts = ["extensor", "train", *as_words(options.config, config, keys)]
    for setting in (*settings, f"{table}.{key}={rate}"):
        parts += ["--set", setting]
    trust = trust_option(config) if options.trust else ""
    command = " ".join(map(quote, parts)) + trust
    return ["", f"[{table}]", f"{key} = {rate}", "", "next", f"  {command}"]
