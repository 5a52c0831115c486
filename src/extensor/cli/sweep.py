"""``extensor sweep``: train with many values of some keys, and say which are the best."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from extensor.cli.described import as_words, is_data
from extensor.cli.jobs import Job, exit_words, run_side_by_side
from extensor.cli.runs import new_run
from extensor.cli.searched import as_setting, read_settings
from extensor.cli.settings import as_changes, command_config, trust_option
from extensor.cli.trial import run_trial
from extensor.cli.wording import COMMAND
from extensor.errors import value_error
from extensor.errors.screen import screen_line
from extensor.report.curves import shown
from extensor.report.sweep_page import (
    ON_TEST,
    rungs_text,
    sweep_heads,
    sweep_rows,
    write_sweep_page,
)
from extensor.report.writing import title_of
from extensor.settings import get_num_threads
from extensor.train import experiment
from extensor.train.experiments.config import Config, stored_config
from extensor.train.experiments.runs import RUNS, is_stored
from extensor.train.lock import check_free, locked
from extensor.train.signals import Ended, ending_in_order
from extensor.train.sweeps.halving import Rung
from extensor.train.sweeps.results import Result
from extensor.train.sweeps.space import Space
from extensor.train.sweeps.sweep import Asked, Sweep, chosen_monitor, description_of, read_asked

_TRIALS = 20
_MOST_TRIALS = 9999
_SHOWN = 20  # rows of the table in the terminal
_OUTPUT = "output.txt"  # of a trial, what it would have shown
_PATIENCE = 60.0  # seconds, for trials of a sweep that was killed to end their step
_PAUSE = 0.05
_DRAW = 2.0  # seconds between two pages, which have all trials on them


def run(options: argparse.Namespace) -> None:
    """Search, or go on with a search; the processes of the trials come here too."""
    with ending_in_order():
        if options.trial is not None:
            run_trial(_opened(options.resume), options.trial, options.until, options.trust)
        elif options.resume is not None:
            _go_on(options)
        else:
            _begin(options)


def _begin(options: argparse.Namespace) -> None:
    settings, dimensions = read_settings(options.set)
    if not dimensions:
        requirement = "a sweep needs a range, as optimizer.lr=1e-4..1e-1, or choices x,y,z"
        raise value_error("--set", requirement, set=options.set)
    trials = _TRIALS if options.trials is None else options.trials
    if not 2 <= trials <= _MOST_TRIALS:
        raise value_error("--trials", f"must be from 2 to {_MOST_TRIALS}", trials=trials)
    seed = 0 if options.seed is None else options.seed
    if not 0 <= seed < 2**64:
        raise value_error("--seed", "must be from 0 to 2**64 - 1", seed=seed)
    jobs = _checked_jobs(options)
    config = command_config(options, settings)
    space, fixed = Space(dimensions), dict(as_changes(settings))
    trials = min(trials, space.combinations or trials)
    if options.name and description_of(RUNS / options.name).exists():
        hint = f"go on with extensor sweep --resume {quote(options.name)}"
        raise value_error("--name", f"the sweep must be new ({hint})", name=options.name)
    with new_run(options.name) as folder, _telling(folder):
        proof = _proved(config, fixed, space, folder, options.monitor)
        halving = options.halving is not False
        asked = Asked(
            list(options.set), trials, seed, halving, proof.monitor, proof.epochs, proof.title,
            proof.keeps_best, proof.has_validation, config, options.config,
        )  # fmt: skip
        sweep = Sweep(folder, asked, fixed, space)
        with locked(folder, "--name"):
            sweep.write()
            if is_data(options.config):
                print("\n".join(proof.lines))
            # What the trials run was named on this command line.
            _search(sweep, jobs, trust=True)


class _Proof(NamedTuple):
    """What trials that were built, and not trained, say of all of them."""

    monitor: str
    epochs: int
    title: str
    keeps_best: bool
    has_validation: bool
    lines: list[str]


def _proved(
    config: Config, fixed: Mapping[str, Any], space: Space, folder: Path, monitor: str | None
) -> _Proof:
    """Build some trials, so that what cannot be trained is refused now."""
    proofs = []
    for values in space.probes():
        made = experiment(config, {**fixed, **values}, folder=folder / "trial", callbacks=[])
        proofs.append(
            _Proof(
                chosen_monitor(made, monitor),
                made.config["epochs"],
                title_of(made.config),
                "early_stopping" in made.config,
                made.validation_data is not None,
                made.lines,
            )
        )
    titles = {proof.title for proof in proofs}
    return proofs[-1]._replace(
        epochs=max(proof.epochs for proof in proofs),
        title=proofs[0].title if len(titles) == 1 else title_of({"data": made.config["data"]}),
        keeps_best=all(proof.keeps_best for proof in proofs),
        has_validation=all(proof.has_validation for proof in proofs),
        lines=proofs[0].lines,
    )


def _go_on(options: argparse.Namespace) -> None:
    given = [options.config, options.name, options.trials, options.seed, options.monitor]
    given += [options.target, options.task, options.window, options.horizon]
    if options.set or options.halving is not None or any(x is not None for x in given):
        requirement = "the sweep has all of that already; only --jobs may be other than it was"
        raise value_error("--resume", requirement, sweep=options.resume)
    jobs = _checked_jobs(options)
    sweep = _opened(options.resume)
    sweep.check_trust(options.trust, COMMAND)
    with locked(sweep.path, "--resume"), _telling(sweep.path):
        _wait_for_trials(sweep)
        _search(sweep, jobs, options.trust)


def _opened(name: str) -> Sweep:
    """The sweep in the folder called ``name``, or ``runs/<name>``."""
    for path in (Path(name), RUNS / name):
        if name and description_of(path).is_file():
            asked = read_asked(path)
            settings, dimensions = read_settings(asked.settings)
            return Sweep(path, asked, dict(as_changes(settings)), Space(dimensions))
    known = sorted(path.parent.name for path in RUNS.glob("*/sweep.toml"))[-3:]
    hint = f" (there are: {', '.join(known)})" if known else ""
    raise value_error("--resume", f"the folder of a sweep must be there{hint}", sweep=name)


def _checked_jobs(options: argparse.Namespace) -> int:
    jobs = get_num_threads() if options.jobs is None else options.jobs
    if jobs < 1:
        raise value_error("--jobs", "must be 1 or more", jobs=jobs)
    return int(jobs)


def _wait_for_trials(sweep: Sweep) -> None:
    """Those of a sweep that was killed save and end by themselves."""
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


@contextmanager
def _telling(folder: Path) -> Iterator[None]:
    """Let a signal that ends the command say how to go on."""

    def words() -> str:
        if not description_of(folder).exists():
            return "before the first trial"
        return f"and saved; go on with: extensor sweep --resume {quote(str(folder))}"

    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted {words()}") from None
    except Ended as end:
        raise Ended(end.signal, f"ended by {end.signal.name} {words()}") from None


def _search(sweep: Sweep, jobs: int, trust: bool) -> None:
    """Train the trials that are left, rung by rung, and show what came of it."""
    print(
        f"{rungs_text(sweep)}; {', '.join(sweep.space.dimensions)}; by "
        f"{_name(sweep)}, the {'lower' if sweep.results.falling else 'higher'} the better; "
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
    command = _command(sweep)
    page = write_sweep_page(sweep, command)
    lines = [*_table(sweep), "", f"best        {best}", f"page        {page}", "", "next"]
    again = f"extensor train {quote(str(best))}{trust_option(stored_config(best))}"
    print("\n".join([*lines, f"  {command}", f"  {again}"]))


def _train(sweep: Sweep, rung: Rung, numbers: list[int], jobs: int, trust: bool) -> None:
    over = rung.trials - len(numbers)
    drawn = time.monotonic()

    def done(number: int, code: int) -> None:
        nonlocal over, drawn
        folder = sweep.trial(number).path
        result = Result(number, rung.epochs, None, exit_words(code, folder / _OUTPUT))
        if code == 0:
            result = sweep.measured(number, rung.epochs)
        sweep.results.add(result)
        over += 1
        if time.monotonic() - drawn > _DRAW or over == rung.trials:
            drawn = time.monotonic()
            write_sweep_page(sweep)
        print(
            f"epoch {rung.epochs}  {over}/{rung.trials}  {screen_line(_said(sweep, result))}",
            file=sys.stderr,
        )

    threads = max(1, get_num_threads() // min(jobs, len(numbers)))
    # The path of the present folder must not come before that of the library.
    python = [sys.executable, "-P", "-m", "extensor_cli", "sweep", f"--resume={sweep.path}"]
    python += [COMMAND.trust] if trust else []
    run_side_by_side(
        [
            Job(
                number,
                [*python, "--trial", str(number), "--until", str(rung.epochs)],
                sweep.trial(number).path / _OUTPUT,
            )
            for number in numbers
        ],
        jobs,
        {**os.environ, "EXTENSOR_NUM_THREADS": str(threads)},
        done,
    )


def _name(sweep: Sweep) -> str:
    return sweep.asked.monitor.replace("_", " ")


def _said(sweep: Sweep, result: Result) -> str:
    if result.value is None:
        return f"trial {result.trial} failed: {result.failed}"
    values = sweep.values(result.trial).items()
    settings = "  ".join(as_setting(key, value) for key, value in values)
    value = shown(sweep.asked.monitor, result.value)
    return f"trial {result.trial}  {_name(sweep)} {value}  {settings}"


def _command(sweep: Sweep) -> str:
    """What trains the best one again."""
    best = sweep.results.best()
    assert best is not None
    words = as_words(sweep.asked.file, sweep.asked.config, sweep.fixed)
    parts = ["extensor", "train", *words]
    for key, value in sweep.changes(best.trial).items():
        parts += ["--set", as_setting(key, value)]
    file = sweep.asked.file
    needs_trust = file is not None and not is_data(file) and is_stored(file)
    option = trust_option(sweep.asked.config) if needs_trust else ""
    return " ".join(map(quote, parts)) + option


def _table(sweep: Sweep) -> list[str]:
    """The first rows in columns, and why trials failed."""
    rows = sweep_rows(sweep)
    good = [row for row in rows if row.failed is None]
    heads = ["", "trial", *map(screen_line, sweep_heads(sweep))]
    cells = [[row.mark, str(row.trial), *map(screen_line, row.cells)] for row in good[:_SHOWN]]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    lines = [
        "  ".join(
            text.ljust(width) if place == 0 else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in [heads, *cells]
    ]
    if len(good) > _SHOWN:
        lines.append(f"and {len(good) - _SHOWN} more in {sweep.path / 'sweep.html'}")
    failed = [f"trial {row.trial} failed: {row.failed}" for row in rows if row.failed is not None]
    return ["", *lines, *map(screen_line, failed)]
