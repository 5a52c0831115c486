"""``extensor train``: train what a configuration describes, and print what to do next."""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from shlex import quote

from extensor.cli.report_command import write_pages
from extensor.cli.shared_options import (
    COMMAND,
    PROGRAM,
    as_changes,
    command_config,
    read_config,
    refuse_data_options,
    separate_port,
    signal_advice,
    split_setting,
    trust_option,
)
from extensor.cli.train_workers import (
    advice_on_loss,
    folder_of_first,
    joined_workers,
    launch_workers,
)
from extensor.distributed.rendezvous import leave_workers
from extensor.distributed.workers import Workers
from extensor.errors import value_error
from extensor.errors.screen import screen_line
from extensor.experiments.api import resumed_experiment
from extensor.experiments.spec import Config, ExperimentSpec, check_effect
from extensor.experiments.stored_runs import find_run
from extensor.io.toml import as_toml
from extensor.report import Series, terminal_plot
from extensor.report.run_records import (
    VALIDATION,
    Record,
    best_epoch,
    display_value,
    metric_names,
    of_event,
    points,
)
from extensor.settings import get_num_threads
from extensor.train import Checkpoints, Experiment, RunFolder, experiment, read_log
from extensor.train.fit_loop import ending_in_order
from extensor.train.metrics.registry import display_name

_MOST_COLUMNS = 30  # that are described on the screen


def run(options: argparse.Namespace) -> None:
    """Train, or resume a run; then write the report."""
    if options.restarts is not None or options.launcher:
        raise SystemExit(launch_workers(options))
    with joined_workers(options.traceback) as workers:
        _run(options, workers)


def _run(options: argparse.Namespace, workers: Workers) -> None:
    separate_port(options)
    if options.resume is None and options.checkpoint != "latest":
        requirement = "needs --resume, which names the run"
        raise value_error("--checkpoint", requirement, checkpoint=options.checkpoint)
    if options.resume is not None and (options.config or options.name is not None):
        requirement = "a resumed run keeps its configuration and its name"
        raise value_error("--resume", requirement, run=options.resume)
    if options.device is not None:
        options.set = [*options.set, "compile=xla", f"device={options.device}"]
    if options.resume is None:
        run, config = None, command_config(options, options.set)
    else:
        refuse_data_options(options)
        run = find_run(options.resume)
        config = read_config(run.config, options.set)
    if options.print_config:
        is_complete = run is not None or ExperimentSpec.from_dict(config).has_model
        text = as_toml(config if is_complete else experiment(config).config)
        print(text if workers.is_first else "", end="")
        return
    with ending_in_order():
        if run is None:
            _begin(config, options, workers)
        else:
            _resume(run, options, workers)


def _begin(config: Config, options: argparse.Namespace, workers: Workers) -> None:
    changes = {key: (None, value) for key, value in map(split_setting, options.set)}
    check_effect(changes, ExperimentSpec.from_dict(config))
    with folder_of_first(workers, options.name) as folder:
        with signal_advice(lambda: "before training began"):
            training = experiment(config, folder=folder)
        with _live_page(options.live, folder, workers):
            _train(training, folder)


def _resume(run: RunFolder, options: argparse.Namespace, workers: Workers) -> None:
    with signal_advice(lambda: "before training continued"):
        changes = as_changes(options.set)
        training = resumed_experiment(
            run, options.checkpoint, changes, COMMAND, trust=options.trust
        )
    with _live_page(options.live, run.path, workers):
        _train(training, run.path)


def _live_page(live: str | None, folder: Path, workers: Workers) -> AbstractContextManager[None]:
    if live is None or not workers.is_first:
        return nullcontext()
    from extensor.cli.live import live_page  # with Python's servers, 15 ms

    return live_page(live, folder)


def _train(training: Experiment, folder: Path) -> None:
    trainer = training.trainer
    if trainer.workers.is_first:
        print("\n".join([*_first_lines(training), *_change_lines(training)]), flush=True)
    shell = _shell_name(training, folder)
    with (
        signal_advice(lambda: _saved_text(training, folder)),
        advice_on_loss(trainer.workers, shell),
    ):
        training.fit()
        is_reporting = trainer.workers.is_first
        leave_workers()  # nobody has to wait for the report
    if not is_reporting:
        return
    with signal_advice(lambda: f"during the report; write it with: {PROGRAM} report {shell}"):
        print("\n".join(_last_lines(training, folder)))


def _saved_text(training: Experiment, folder: Path) -> str:
    checkpoints = Checkpoints(RunFolder(folder).checkpoints)
    latest = checkpoints.latest()
    if latest is None:
        saved = "before the first checkpoint"
    elif latest == checkpoints.of(training.trainer.step):
        saved = f"and saved in {latest}"
    else:
        saved = f"after step {training.trainer.step:,}; the last checkpoint is {latest}"
    return f"{saved}; continue with: {PROGRAM} train --resume {_shell_name(training, folder)}"


def _shell_name(training: Experiment, folder: Path) -> str:
    """A run as an argument for a shell, with ``--trust`` if it needs that."""
    return quote(str(folder)) + trust_option(training.config)


def _first_lines(training: Experiment) -> list[str]:
    trainer = training.trainer
    begun = f", from step {trainer.step:,}" if trainer.step else ""
    size = trainer.workers.size
    threads = f"{get_num_threads()} thread{'s' if get_num_threads() != 1 else ''}"
    several = f"{size} workers with {threads} each" if size > 1 else threads
    model = screen_line(training.config["model"]["name"])
    return [
        *([] if begun else _shorten(training.lines)),
        f"{model}: {training.model.num_parameters():,} parameters, {training.config['loss']['name']}, "
        f"{training.config['optimizer']['name']}; {several}; "
        f"{_epochs_text(training)}{begun}",
    ]


def _shorten(lines: list[str]) -> list[str]:
    """The lines without columns that are too many to be read."""
    columns = [number for number, line in enumerate(lines) if line.startswith("  ")]
    if len(columns) <= _MOST_COLUMNS:
        return lines
    first, last = columns[_MOST_COLUMNS], columns[-1] + 1
    more = f"  and {last - first:,} more columns, in the log of the run"
    return [*lines[:first], more, *lines[last:]]


def _epochs_text(training: Experiment) -> str:
    stopping = training.config.get("early_stopping")
    most = "at most " if stopping else ""
    watched = f", until {display_name(stopping['monitor'])} no longer improves" if stopping else ""
    epochs = training.config["epochs"]
    return f"{most}{epochs} epoch{'s' if epochs != 1 else ''}{watched}"


def _change_lines(training: Experiment) -> list[str]:
    """The settings that have changed, and the learning rate that follows from them."""
    lines = []
    for key, values in training.changes.items():
        before, after = ("unset" if x is None else screen_line(x) for x in values)
        lines.append(f"{screen_line(key)} is now {after}, it was {before}")
    rate = training.trainer.optimizer.param_groups[0]["lr"]
    return [*lines, f"learning rate {rate:.6g}"] if lines else []


def _last_lines(training: Experiment, folder: Path) -> list[str]:
    run = RunFolder(folder)
    records = read_log(run.log)
    place, shell = quote(str(folder)), _shell_name(training, folder)
    example = {"table": "FILE.csv", "series": "FILE.csv", "pictures": "FOLDER", "text": "'Once'"}
    return [
        *_plot_lines(of_event(records, "epoch")),
        *_best_epoch_lines(training, of_event(records, "epoch")),
        *_result_lines(training, of_event(records, "test")),
        "",
        f"run folder  {folder}",
        *write_pages(training, run),
        "",
        "next",
        f"  {PROGRAM} evaluate {shell}",
        f"  {PROGRAM} predict {shell} {example.get(training.preparation.kind, 'FILE.npy')}",
        *_resume_lines(training, shell),
        f"  cp {place}/config.toml my.toml, change it, then {PROGRAM} train my.toml",
    ]


def _best_epoch_lines(training: Experiment, epochs: list[Record]) -> list[str]:
    """The epoch that is kept, where one is chosen."""
    if "early_stopping" not in training.config:
        return []
    monitor = training.config["early_stopping"]["monitor"]
    best = best_epoch(epochs, monitor)
    if best is None:
        return []
    name = display_name(monitor)
    return [f"epoch {best.epoch} of {len(epochs)} had the best {name}, and is tested and kept"]


def _resume_lines(training: Experiment, shell: str) -> list[str]:
    """How to train longer, unless the run stopped because nothing got better."""
    if training.trainer.stopped:
        return []
    return [f"  {PROGRAM} train --resume {shell} --set epochs={2 * training.config['epochs']}"]


def _result_lines(training: Experiment, tests: list[Record]) -> list[str]:
    """The results of the test: of the end, or of the last epoch if each epoch is tested."""
    last, prefix = (tests[-1], "") if tests else (training.trainer.history[-1], VALIDATION)
    names = [x for x in (*training.trainer.metrics, "loss") if f"{prefix}{x}" in last]
    return [f"test {display_name(x)} {display_value(x, last[f'{prefix}{x}'])}" for x in names]


def _plot_lines(epochs: list[Record]) -> list[str]:
    """The first metric over the epochs, if the terminal has the characters for the plot."""
    names = metric_names(epochs)
    if not names or not (sys.stdout.encoding or "").lower().startswith("utf"):
        return []
    series = Series(display_name(names[0]), points(epochs, names[0]))
    return [terminal_plot(series), ""]
