"""``extensor train``: train what a configuration describes, and say what to do next."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from extensor.cli.report import written
from extensor.cli.runs import new_run
from extensor.cli.settings import as_changes, read_config
from extensor.cli.several import (
    is_first,
    one_of_several,
    restarted,
    saying_how_to_go_on,
    told_by_first,
    workers_said,
)
from extensor.cli.wording import COMMAND
from extensor.errors import value_error
from extensor.report import Series, terminal_plot
from extensor.report.curves import metric_names, points, shown
from extensor.settings import get_num_threads
from extensor.train import Checkpoints, Experiment, RunFolder, experiment, read_log
from extensor.train.experiments.config import Config
from extensor.train.experiments.continuation import check_effect
from extensor.train.experiments.opening import resumed_experiment
from extensor.train.experiments.runs import found_run
from extensor.train.experiments.targets import targets_said
from extensor.train.run import as_toml
from extensor.train.signals import Ended, ending_in_order


def run(options: argparse.Namespace) -> None:
    """Train, or go on with a run; then write the report."""
    if options.restarts is not None or options.launcher:
        raise SystemExit(restarted(options))
    with one_of_several():
        _run(options)


def _run(options: argparse.Namespace) -> None:
    if options.resume is None and options.checkpoint != "latest":
        requirement = "is for --resume, which says of which run"
        raise value_error("--checkpoint", requirement, checkpoint=options.checkpoint)
    if options.resume is not None and (options.config or options.name is not None):
        raise value_error("--resume", "the run has a configuration and a name", run=options.resume)
    source = options.config if options.resume is None else found_run(options.resume).config
    config = read_config(source, options.set)
    if options.print_config:
        print(as_toml(config) if is_first() else "", end="")
        return
    with ending_in_order():
        if options.resume is None:
            _begin(config, options)
        else:
            _go_on(found_run(options.resume), options)


def _begin(config: Config, options: argparse.Namespace) -> None:
    given = (setting.partition("=") for setting in options.set)
    check_effect({key.strip(): (None, value.strip()) for key, _, value in given}, config)
    with told_by_first(new_run, options.name) as folder:
        with _saying(lambda: "before training began"):
            made = experiment(config, folder=folder)
        _train(made, folder)


def _go_on(run: RunFolder, options: argparse.Namespace) -> None:
    with _saying(lambda: "before training went on"):
        made = resumed_experiment(run, options.checkpoint, as_changes(options.set), COMMAND)
    _train(made, run.path)


def _train(made: Experiment, folder: Path) -> None:
    if is_first():
        print("\n".join([_opening(made), *_changed(made)]), flush=True)
    with _saying(lambda: _saved(made, folder)), saying_how_to_go_on(folder):
        made.fit()
    if not is_first():
        return
    with _saying(lambda: f"during the report; write it with: extensor report {quote(str(folder))}"):
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
    return f"{saved}; go on with: extensor train --resume {quote(str(folder))}"


def _opening(made: Experiment) -> str:
    trainer = made.trainer
    begun = f", from step {trainer.step:,}" if trainer.step else ""
    return (
        f"{type(made.model).__name__}: {made.model.num_parameters():,} parameters; "
        f"{len(made.train_data):,} samples to train on, {len(made.test_data):,} to test, "
        f"{targets_said(made.config, made.train_data)}; "
        f"{workers_said()}{get_num_threads()} threads; {made.config['epochs']} epochs{begun}"
    )


def _changed(made: Experiment) -> list[str]:
    """What is other than before, and the rate that comes of it."""
    lines = [
        f"{key} is now {'unset' if after is None else after}, "
        f"it was {'unset' if before is None else before}"
        for key, (before, after) in made.changes.items()
    ]
    rate = made.trainer.optimizer.param_groups[0]["lr"]
    return [*lines, f"learning rate {rate:.6g}"] if lines else []


def _ending(made: Experiment, folder: Path) -> str:
    run = RunFolder(folder)
    last = made.trainer.history[-1]
    names = [name for name in (*made.trainer.metrics, "loss") if f"validation_{name}" in last]
    results = {name: last[f"validation_{name}"] for name in names}
    shell = quote(str(folder))
    return "\n".join(
        [
            *_plot(run),
            *(f"test {name.replace('_', ' ')} {shown(name, x)}" for name, x in results.items()),
            "",
            f"run folder  {folder}",
            *written(made, run),
            "",
            "next",
            f"  extensor evaluate {shell}",
            f"  extensor predict {shell} FILE.npy",
            f"  extensor train --resume {shell} --set epochs={2 * made.config['epochs']}",
            "  extensor train --print-config > my.toml, change it, then extensor train my.toml",
        ]
    )


def _plot(run: RunFolder) -> list[str]:
    """The first metric over the epochs, if the terminal has the characters for it."""
    epochs = [record for record in read_log(run.log) if record["event"] == "epoch"]
    names = metric_names(epochs)
    if not names or not (sys.stdout.encoding or "").lower().startswith("utf"):
        return []
    series = Series(names[0].replace("_", " "), points(epochs, names[0]))
    return [terminal_plot(series), ""]
