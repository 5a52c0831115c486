"""``extensor train``: train what a configuration describes, and say what to do next."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from extensor.cli.config import read_config
from extensor.cli.report import written
from extensor.cli.runs import found_run, new_run
from extensor.cli.session import Session, opened
from extensor.cli.targets import targets_said
from extensor.errors import value_error
from extensor.report import Series, terminal_plot
from extensor.report.curves import metric_names, points, shown
from extensor.settings import get_num_threads
from extensor.train import Checkpoints, RunFolder, read_log
from extensor.train.run import as_toml


def run(options: argparse.Namespace) -> None:
    """Train, or go on with a run; then write the report."""
    if options.resume is not None and (options.config or options.name):
        raise value_error("--resume", "the run has a configuration and a name", run=options.resume)
    source = options.config if options.resume is None else found_run(options.resume).config
    config = read_config(source, options.set)
    if options.print_config:
        print(as_toml(config), end="")
        return
    folder = new_run(options.name) if options.resume is None else found_run(options.resume).path
    session = opened(config, folder)
    if options.resume is not None:
        session.trainer.resume()
    print(_opening(session), flush=True)
    _fit(session, folder)
    print(_ending(session, folder))


def _opening(session: Session) -> str:
    trainer = session.trainer
    begun = f", from step {trainer.step:,}" if trainer.step else ""
    return (
        f"{type(session.model).__name__}: {session.model.num_parameters():,} parameters; "
        f"{len(session.train_data):,} samples to train on, {len(session.test_data):,} to test, "
        f"{targets_said(session.config, session.train_data)}; "
        f"{get_num_threads()} threads; {session.config['epochs']} epochs{begun}"
    )


def _fit(session: Session, folder: Path) -> None:
    trainer = session.trainer
    try:
        trainer.fit(session.train_loader, session.config["epochs"], session.test_loader)
    except KeyboardInterrupt:
        latest = Checkpoints(RunFolder(folder).checkpoints).latest()
        saved = "before the first checkpoint" if latest is None else f"and saved in {latest}"
        raise KeyboardInterrupt(
            f"interrupted {saved}; go on with: extensor train --resume {folder}"
        ) from None


def _ending(session: Session, folder: Path) -> str:
    run = RunFolder(folder)
    last = session.trainer.history[-1]
    results = {name: last[f"validation_{name}"] for name in (*session.trainer.metrics, "loss")}
    return "\n".join(
        [
            *_plot(run),
            *(f"test {name.replace('_', ' ')} {shown(name, x)}" for name, x in results.items()),
            "",
            f"run folder  {folder}",
            *written(session, run),
            "",
            "next",
            f"  extensor evaluate {folder}",
            f"  extensor predict {folder} FILE.npy",
            f"  extensor train --resume {folder} --set epochs={2 * session.config['epochs']}",
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
