"""``extensor sweep``: train with many values of some keys, and find the best."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

from extensor.cli.shared_options import (
    COMMAND,
    DATA_OPTIONS,
    PROGRAM,
    as_changes,
    command_config,
    is_data,
    new_run,
    signal_advice,
    train_command,
    trust_option,
)
from extensor.cli.sweep_settings import as_setting, read_sweep_settings
from extensor.cli.trial_processes import Job, failure_text, run_side_by_side, run_trial
from extensor.errors import value_error
from extensor.errors.messages import SWEEP_NOT_FOUND, known
from extensor.errors.screen import aligned, screen_line
from extensor.experiments.spec import Config, stored_config
from extensor.experiments.stored_runs import RUNS, is_stored
from extensor.experiments.sweeps import (
    Asked,
    Result,
    Rung,
    Space,
    Sweep,
    chosen_monitor,
    description_of,
    read_asked,
)
from extensor.report.run_records import display_value, title_of
from extensor.report.search_pages import (
    ON_TEST,
    rungs_text,
    sweep_heads,
    sweep_rows,
    write_sweep_page,
)
from extensor.settings import get_num_threads
from extensor.train import experiment
from extensor.train.fit_loop import ending_in_order
from extensor.train.metrics.registry import display_name
from extensor.train.run_folder import check_free, locked

_TRIALS = 20
_MOST_TRIALS = 9999
_SHOWN = 20  # rows of the table in the terminal
_OUTPUT = "output.txt"  # of a trial, what it would have shown
_PATIENCE = 60.0  # seconds, for trials of a sweep that was killed to end their step
_PAUSE = 0.05
_PAGE_PAUSE = 2.0  # seconds between two pages, which have all trials on them


def run(options: argparse.Namespace) -> None:
    """Search, or resume a search; the processes of the trials come here too."""
    with ending_in_order():
        if options.trial is not None:
            run_trial(_open_sweep(options.resume), options.trial, options.until, options.trust)
        elif options.resume is not None:
            _resume(options)
        else:
            _begin(options)


def _begin(options: argparse.Namespace) -> None:
    settings, dimensions = read_sweep_settings(options.set)
    if not dimensions:
        requirement = "a sweep needs a range, as optimizer.lr=1e-4..1e-1, or choices x,y,z"
        raise value_error("--set", requirement, set=options.set)
    trials = _TRIALS if options.trials is None else options.trials
    if not 2 <= trials <= _MOST_TRIALS:
        raise value_error("--trials", f"must be from 2 to {_MOST_TRIALS}", trials=trials)
    seed = 0 if options.seed is None else options.seed
    if not 0 <= seed < 2**64:
        raise value_error("--seed", "must be from 0 to 2**64 - 1", seed=seed)
    jobs = _number_of_jobs(options)
    config = command_config(options, settings)
    space, fixed = Space(dimensions), dict(as_changes(settings))
    trials = min(trials, space.combinations or trials)
    if options.name and description_of(RUNS / options.name).exists():
        hint = f"continue with {PROGRAM} sweep --resume {quote(options.name)}"
        raise value_error("--name", f"the sweep must be new ({hint})", name=options.name)
    with new_run(options.name) as folder, signal_advice(lambda: _saved_text(folder)):
        halving = options.halving is not False
        new = partial(Asked, list(options.set), trials, seed, halving, file=options.config)
        asked, lines = _rehearse(new, config, fixed, space, folder, options.monitor)
        sweep = Sweep(folder, asked, fixed, space)
        with locked(folder, "--name"):
            sweep.write()
            if is_data(options.config):
                print("\n".join(lines))
            # The functions that the trials run were named on this command line.
            _search(sweep, jobs, trust=True)


def _rehearse(
    new: Callable[..., Asked],
    config: Config,
    fixed: Mapping[str, Any],
    space: Space,
    folder: Path,
    monitor: str | None,
) -> tuple[Asked, list[str]]:
    """Build some trials, so that values that cannot be trained are refused now.

    Returns the settings, completed by those of the trials, and the lines on the data.
    """
    epochs, titles, keeps_best, has_validation = 0, [], True, True
    lines: list[str] = []
    for values in space.probes():
        trial = experiment(config, {**fixed, **values}, folder=folder / "trial", callbacks=[])
        watched = chosen_monitor(trial, monitor)
        epochs = max(epochs, trial.config["epochs"])
        titles.append(title_of(trial.config))
        keeps_best &= "early_stopping" in trial.config
        has_validation &= trial.validation_data is not None
        lines = lines or trial.lines
    data = {"data": trial.config["data"]}
    title = titles[0] if len(set(titles)) == 1 else title_of(data)
    return new(watched, epochs, title, keeps_best, has_validation, config), lines


def _resume(options: argparse.Namespace) -> None:
    names = ("config", "name", "trials", "seed", "monitor", "halving", *DATA_OPTIONS)
    if options.set or any(getattr(options, name) is not None for name in names):
        requirement = "the sweep keeps its settings; only --jobs may change"
        raise value_error("--resume", requirement, sweep=options.resume)
    jobs = _number_of_jobs(options)
    sweep = _open_sweep(options.resume)
    sweep.check_trust(options.trust, COMMAND)
    with locked(sweep.path, "--resume"), signal_advice(lambda: _saved_text(sweep.path)):
        _wait_for_trials(sweep)
        _search(sweep, jobs, options.trust)


def _open_sweep(name: str) -> Sweep:
    """The sweep in the folder called ``name``, or ``runs/<name>``."""
    for path in (Path(name), RUNS / name):
        if name and description_of(path).is_file():
            asked = read_asked(path)
            settings, dimensions = read_sweep_settings(asked.settings)
            return Sweep(path, asked, dict(as_changes(settings)), Space(dimensions))
    latest = sorted(path.parent.name for path in RUNS.glob("*/sweep.toml"))[-3:]
    raise SWEEP_NOT_FOUND.error(known(*latest) if latest else "", sweep=name)


def _number_of_jobs(options: argparse.Namespace) -> int:
    jobs = get_num_threads() if options.jobs is None else options.jobs
    if jobs < 1:
        raise value_error("--jobs", "must be 1 or more", jobs=jobs)
    return int(jobs)


def _wait_for_trials(sweep: Sweep) -> None:
    """Wait for trials of a sweep that was killed, which save and end by themselves."""
    _, numbers = sweep.results.waiting() or (None, [])
    until = time.monotonic() + _PATIENCE
    for number in numbers:
        while True:
            try:
                check_free(sweep.trial(number).path, "--resume")
                break
            except ValueError:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE)


def _saved_text(folder: Path) -> str:
    if not description_of(folder).exists():
        return "before the first trial"
    return f"and saved; continue with: {PROGRAM} sweep --resume {quote(str(folder))}"


def _search(sweep: Sweep, jobs: int, trust: bool) -> None:
    """Train the trials that are left, rung by rung, and print the results."""
    better = "lower" if sweep.results.falling else "higher"
    print(
        f"{rungs_text(sweep)}; {', '.join(sweep.space.dimensions)}; by "
        f"{display_name(sweep.asked.monitor)}, the {better} the better; "
        f"{min(jobs, sweep.asked.trials)} at a time",
        *([] if sweep.asked.has_validation else [ON_TEST]),
        sep="\n",
        flush=True,
    )
    while left := sweep.results.waiting():
        _train(sweep, *left, jobs, trust)
    best = sweep.write_best()
    if best is None:
        write_sweep_page(sweep)
        print("\n".join(_table(sweep)), flush=True)
        raise value_error("trials", "one at least must succeed", failed=sweep.asked.trials)
    command = _best_command(sweep)
    page = write_sweep_page(sweep, command)
    lines = [*_table(sweep), "", f"best        {best}", f"page        {page}", "", "next"]
    again = f"{PROGRAM} train {quote(str(best))}{trust_option(stored_config(best))}"
    print("\n".join([*lines, f"  {command}", f"  {again}"]))


def _train(sweep: Sweep, rung: Rung, numbers: list[int], jobs: int, trust: bool) -> None:
    over = rung.trials - len(numbers)
    last_page = time.monotonic()

    def done(number: int, code: int) -> None:
        nonlocal over, last_page
        folder = sweep.trial(number).path
        result = Result(number, rung.epochs, None, failure_text(code, folder / _OUTPUT))
        if code == 0:
            result = sweep.measured(number, rung.epochs)
        sweep.results.add(result)
        over += 1
        if time.monotonic() - last_page > _PAGE_PAUSE or over == rung.trials:
            last_page = time.monotonic()
            write_sweep_page(sweep)
        print(
            f"epoch {rung.epochs}  {over}/{rung.trials}  {screen_line(_result_text(sweep, result))}",
            file=sys.stderr,
        )

    threads = max(1, get_num_threads() // min(jobs, len(numbers)))
    # With -P, modules in the present folder cannot hide those of the library.
    python = [sys.executable, "-P", "-m", "extensor_cli", "sweep", f"--resume={sweep.path}"]
    python += [f"--until={rung.epochs}", *([COMMAND.trust] if trust else [])]
    started = [Job(x, [*python, f"--trial={x}"], sweep.trial(x).path / _OUTPUT) for x in numbers]
    environment = {**os.environ, "EXTENSOR_NUM_THREADS": str(threads)}
    run_side_by_side(started, jobs, environment, done)


def _result_text(sweep: Sweep, result: Result) -> str:
    if result.value is None:
        return f"trial {result.trial} failed: {result.failed}"
    values = sweep.values(result.trial).items()
    settings = "  ".join(as_setting(key, value) for key, value in values)
    value = display_value(sweep.asked.monitor, result.value)
    return f"trial {result.trial}  {display_name(sweep.asked.monitor)} {value}  {settings}"


def _best_command(sweep: Sweep) -> str:
    """The command that trains the best trial again."""
    best = sweep.results.best()
    assert best is not None
    asked = sweep.asked
    settings = [as_setting(key, value) for key, value in sweep.changes(best.trial).items()]
    needs_trust = not is_data(asked.file) and is_stored(asked.file)
    option = trust_option(asked.config) if needs_trust else ""
    return f"{train_command(asked.file, asked.config, settings, sweep.fixed)}{option}"


def _table(sweep: Sweep) -> list[str]:
    """The first rows in columns, and why trials failed."""
    rows = sweep_rows(sweep)
    good = [row for row in rows if row.failed is None]
    heads = ["", "trial", *map(screen_line, sweep_heads(sweep))]
    cells = [[row.mark, str(row.trial), *map(screen_line, row.cells)] for row in good[:_SHOWN]]
    lines = aligned([heads, *cells], left=1)
    if len(good) > _SHOWN:
        lines.append(f"and {len(good) - _SHOWN} more in {sweep.path / 'sweep.html'}")
    failed = [f"trial {row.trial} failed: {row.failed}" for row in rows if row.failed is not None]
    return ["", *lines, *map(screen_line, failed)]
