"""``extensor tune-lr``: try learning rates for some steps, and suggest one."""

from __future__ import annotations

import argparse
import sys
from math import log10

from extensor.cli.shared_options import (
    command_config,
    is_data,
    new_file,
    split_setting,
    train_command,
    trust_option,
)
from extensor.errors import value_error
from extensor.experiments.spec import Config
from extensor.report import Series, terminal_plot
from extensor.report.run_records import title_of
from extensor.report.search_pages import can_write_plot, write_rate_plot
from extensor.train import RateTest, experiment, tune_lr


def run(options: argparse.Namespace) -> None:
    """Try the rates, and print a suggestion; only ``--output`` is written."""
    output = new_file(options.output, (".html", ".png"))
    if output is not None and not can_write_plot(output):
        requirement = "a .png needs Matplotlib: pip install 'extensor[plot]'"
        raise value_error("--output", requirement, output=options.output)
    config = command_config(options, options.set)
    trial = experiment(config, {"checkpoints": None}, callbacks=[])
    if is_data(options.config):
        print("\n".join(trial.lines), flush=True)
    test = tune_lr(trial, low=options.low, high=options.high, steps=options.steps)
    if output is not None:
        write_rate_plot(output, test, f"Learning rates for {title_of(trial.config)}")
    print("\n".join(_result_lines(test)))
    if test.suggestion is None:
        raise value_error(
            "tune-lr",
            "the loss must fall at some rate (look at the data, the loss and the model)",
            lowest=round(float(test.smooth.min()), 4),
            first=round(float(test.losses[0]), 4),
        )
    table = "schedule" if "max_lr" in trial.config.get("schedule", {}) else "optimizer"
    print("\n".join(_advice(config, table, float(f"{test.suggestion:.2g}"), options)))


def _result_lines(test: RateTest) -> list[str]:
    first, last = test.rates[0], test.rates[-1]
    ending = "where the loss diverged" if test.diverged else "and the loss did not diverge"
    lines = [f"{len(test.rates)} steps from {first:.2g} to {last:.2g}, {ending}", ""]
    if (sys.stdout.encoding or "").lower().startswith("utf"):
        points = [(log10(x), y) for x, y in zip(test.rates, test.smooth, strict=True)]
        lines += [terminal_plot(Series("loss, smooth, over the rate in logarithms", points)), ""]
    lines += [f"lowest loss    {test.minimum:.2g}", f"steepest fall  {test.steepest:.2g}"]
    if test.suggestion is not None:
        lines.append(
            f"suggested      {test.suggestion:.2g}, a tenth of the rate of the lowest loss"
        )
    return lines


def _advice(config: Config, table: str, rate: float, options: argparse.Namespace) -> list[str]:
    """The entry for the configuration; in some schedules it stands there, not in the optimizer."""
    key = "max_lr" if table == "schedule" else "lr"
    keys = [split_setting(setting)[0] for setting in options.set]
    settings = [s for s, k in zip(options.set, keys, strict=True) if k != f"{table}.{key}"]
    settings.append(f"{table}.{key}={rate}")
    trust = trust_option(config) if options.trust else ""
    command = f"{train_command(options.config, config, settings, keys)}{trust}"
    return ["", f"[{table}]", f"{key} = {rate}", "", "next", f"  {command}"]
