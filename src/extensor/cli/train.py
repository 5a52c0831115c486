"""``extensor train``: train what a configuration describes, and say what to do next."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

from extensor.cli.described import check_no_data
from extensor.cli.live import live_page, sort_out
from extensor.cli.report import written
from extensor.cli.runs import new_run
from extensor.cli.settings import as_changes, command_config, read_config, trust_option
from extensor.cli.several import (
    is_first,
    one_of_several,
    restarted,
    saying_how_to_go_on,
    told_by_first,
    workers_said,
)
from extensor.cli.wording import COMMAND
from extensor.distributed.joining import part
from extensor.errors import value_error
from extensor.errors.screen import screen_line
from extensor.report import Series, terminal_plot
from extensor.report.curves import best_epoch, metric_names, points, shown
from extensor.settings import get_num_threads
from extensor.train import Checkpoints, Experiment, RunFolder, experiment, read_log
from extensor.train.experiments.config import Config, has_model
from extensor.train.experiments.continuation import check_effect
from extensor.train.experiments.opening import resumed_experiment
from extensor.train.experiments.runs import found_run
from extensor.train.run import as_toml
from extensor.train.signals import Ended, ending_in_order

_MOST_COLUMNS = 30  # that are described on the screen


def run(options: argparse.Namespace) -> None:
    """Train, or go on with a run; then write the report."""
    if options.restarts is not None or options.launcher:
        raise SystemExit(restarted(options))
    with one_of_several(options.traceback):
        _run(options)


def _run(options: argparse.Namespace) -> None:
    sort_out(options)
    if options.resume is None and options.checkpoint != "latest":
        requirement = "is for --resume, which says of which run"
        raise value_error("--checkpoint", requirement, checkpoint=options.checkpoint)
    if options.resume is not None and (options.config or options.name is not None):
        raise value_error("--resume", "the run has a configuration and a name", run=options.resume)
    if options.device is not None:
        options.set = [*options.set, "compile=xla", f"device={options.device}"]
    if options.resume is not None:
        check_no_data(options)
        config = read_config(found_run(options.resume).config, options.set)
        if options.print_config:
            print(as_toml(config) if is_first() else "", end="")
            return
        with ending_in_order():
            _go_on(found_run(options.resume), options)
        return
    config = command_config(options, options.set)
    if options.print_config:
        shown = as_toml(config if has_model(config) else experiment(config).config)
        print(shown if is_first() else "", end="")
        return
    with ending_in_order():
        _begin(config, options)


def _begin(config: Config, options: argparse.Namespace) -> None:
    given = (setting.partition("=") for setting in options.set)
    check_effect({key.strip(): (None, value.strip()) for key, _, value in given}, config)
    with told_by_first(new_run, options.name) as folder:
        with _saying(lambda: "before training began"):
            made = experiment(config, folder=folder)
        with live_page(options.live if is_first() else None, folder):
            _train(made, folder)


def _go_on(run: RunFolder, options: argparse.Namespace) -> None:
    with _saying(lambda: "before training went on"):
        changes = as_changes(options.set)
        made = resumed_experiment(run, options.checkpoint, changes, COMMAND, trust=options.trust)
    with live_page(options.live if is_first() else None, run.path):
        _train(made, run.path)


def _train(made: Experiment, folder: Path) -> None:
    if is_first():
        print("\n".join([_opening(made), *_changed(made)]), flush=True)
    shell = _shell(made, folder)
    with _saying(lambda: _saved(made, folder)), saying_how_to_go_on(shell):
        made.fit()
        is_reporting = is_first()
        part()  # nobody has to wait for the report
    if not is_reporting:
        return
    with _saying(lambda: f"during the report; write it with: extensor report {shell}"):
        print(_ending(made, folder))


@contextmanager
def _saying(where: Callable[[], str]) -> Iterator[None]:
    """Let a signal that ends the command say what it ended, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted {where()}") from None
    except Ended as end:
        raise Ended(end.signal, f"ended by {end.signal.name} {where()}") from None


def _saved(made: Experiment, folder: Path) -> str:
    checkpoints = Checkpoints(RunFolder(folder).checkpoints)
    latest = checkpoints.latest()
    if latest is None:
        saved = "before the first checkpoint"
    elif latest == checkpoints.of(made.trainer.step):
        saved = f"and saved in {latest}"
    else:
        saved = f"after step {made.trainer.step:,}; the last checkpoint is {latest}"
    return f"{saved}; go on with: extensor train --resume {_shell(made, folder)}"


def _shell(made: Experiment, folder: Path) -> str:
    """A run as the commands take it, with consent if it needs that."""
    return quote(str(folder)) + trust_option(made.config)


def _opening(made: Experiment) -> str:
    trainer = made.trainer
    begun = f", from step {trainer.step:,}" if trainer.step else ""
    model = screen_line(made.config["model"]["name"])
    return "\n".join(
        [
            *([] if begun else _shortened(made.lines)),
            f"{model}: {made.model.num_parameters():,} parameters, {made.config['loss']['name']}, "
            f"{made.config['optimizer']['name']}; {workers_said()}{get_num_threads()} threads; "
            f"{_limit(made)}{begun}",
        ]
    )


def _shortened(lines: list[str]) -> list[str]:
    """The lines without those of columns that are too many to be read."""
    columns = [number for number, line in enumerate(lines) if line.startswith("  ")]
    if len(columns) <= _MOST_COLUMNS:
        return lines
    first, last = columns[_MOST_COLUMNS], columns[-1] + 1
    more = f"  and {last - first:,} more columns, in the log of the run"
    return [*lines[:first], more, *lines[last:]]


def _limit(made: Experiment) -> str:
    stopping = made.config.get("early_stopping")
    most = "at most " if stopping else ""
    watched = f", until {stopping['monitor'].replace('_', ' ')} gets no better" if stopping else ""
    epochs = made.config["epochs"]
    return f"{most}{epochs} epoch{'s' if epochs != 1 else ''}{watched}"


def _changed(made: Experiment) -> list[str]:
    """What is other than before, and the rate that comes of it."""
    lines = [
        f"{screen_line(key)} is now {'unset' if after is None else screen_line(after)}, "
        f"it was {'unset' if before is None else screen_line(before)}"
        for key, (before, after) in made.changes.items()
    ]
    rate = made.trainer.optimizer.param_groups[0]["lr"]
    return [*lines, f"learning rate {rate:.6g}"] if lines else []


def _ending(made: Experiment, folder: Path) -> str:
    run = RunFolder(folder)
    results = _results(made)
    place, shell = quote(str(folder)), _shell(made, folder)
    example = {"table": "FILE.csv", "series": "FILE.csv", "pictures": "FOLDER", "text": "'Once'"}
    return "\n".join(
        [
            *_plot(run),
            *_best(made, run),
            *(f"test {name.replace('_', ' ')} {shown(name, x)}" for name, x in results.items()),
            "",
            f"run folder  {folder}",
            *written(made, run),
            "",
            "next",
            f"  extensor evaluate {shell}",
            f"  extensor predict {shell} {example.get(made.preparation.kind, 'FILE.npy')}",
            *_going_on(made, shell),
            f"  cp {place}/config.toml my.toml, change it, then extensor train my.toml",
        ]
    )


def _best(made: Experiment, run: RunFolder) -> list[str]:
    """Which epoch is handed on, where one is chosen."""
    if "early_stopping" not in made.config:
        return []
    monitor = made.config["early_stopping"]["monitor"]
    epochs = [record for record in read_log(run.log) if record["event"] == "epoch"]
    best = best_epoch(epochs, monitor)
    if best is None:
        return []
    what = monitor.replace("_", " ")
    return [f"epoch {best.epoch} of {len(epochs)} had the best {what}, and is tested and kept"]


def _going_on(made: Experiment, shell: str) -> list[str]:
    """How to train longer, unless the run found that nothing gets better."""
    if made.trainer.stopped:
        return []
    return [f"  extensor train --resume {shell} --set epochs={2 * made.config['epochs']}"]


def _results(made: Experiment) -> dict[str, Any]:
    """What the test gave: at the end, or where it is looked at after each epoch, the last time."""
    if made.trainer.run is not None:
        tests = [x for x in read_log(made.trainer.run.log) if x["event"] == "test"]
        if tests:
            last = tests[-1]
            return {name: last[name] for name in (*made.trainer.metrics, "loss") if name in last}
    last = made.trainer.history[-1]
    names = [name for name in (*made.trainer.metrics, "loss") if f"validation_{name}" in last]
    return {name: last[f"validation_{name}"] for name in names}


def _plot(run: RunFolder) -> list[str]:
    """The first metric over the epochs, if the terminal has the characters for it."""
    epochs = [record for record in read_log(run.log) if record["event"] == "epoch"]
    names = metric_names(epochs)
    if not names or not (sys.stdout.encoding or "").lower().startswith("utf"):
        return []
    series = Series(names[0].replace("_", " "), points(epochs, names[0]))
    return [terminal_plot(series), ""]
