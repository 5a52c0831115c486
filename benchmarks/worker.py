"""One thread count: pins itself, runs the groups, writes rows and notes to a file."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks.environment import pin


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--groups", required=True)
    parser.add_argument("--match", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    pin(options.threads)
    # Only now: libraries count the cores they may use when they are imported.
    measure_all(options)


def measure_all(options: argparse.Namespace) -> None:
    """Writes ``out`` after every group, so that a crash costs no more than the group it is in."""
    from benchmarks.groups import TIMED, start
    from benchmarks.libraries import Libraries
    from benchmarks.machine import measure_limits
    from benchmarks.measure import Results
    from benchmarks.runner import Settings, run

    threads, quick, out = options.threads, options.quick, options.out
    groups, pattern = options.groups.split(","), re.compile(options.match)
    settings = Settings.make(threads, quick)
    libraries = Libraries(threads)
    results = Results({"versions": libraries.versions()})
    notes = results.notes
    for name, reason in libraries.absent.items():
        notes.skip(f"{name} left out: {reason}")

    def save() -> None:
        out.write_text(json.dumps(results.to_json()))

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    # No refresh by itself: its thread would run inside the timed loops.
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False) as progress:
        task = progress.add_task("")

        def say(text: str) -> None:
            progress.update(task, description=f"{threads} threads: {text}", refresh=True)

        say("the machine's limits")
        limits = measure_limits(threads, quick, notes)
        if "machine" in groups:
            results.rows += limits.rows(threads)
        save()
        for group in (group for group in TIMED if group in groups):
            for measure in TIMED[group](libraries, quick, notes):
                if not pattern.search(f"{measure.name} {measure.size}"):
                    continue
                say(f"{group}: {measure.name} {measure.size}")
                row = run(measure, libraries, settings, limits, notes)
                if row is not None:
                    results.rows.append(row)
            save()
        if "start" in groups:
            say("start: fresh processes")
            results.rows += start.rows(libraries, settings, notes)
            save()


if __name__ == "__main__":
    main()
