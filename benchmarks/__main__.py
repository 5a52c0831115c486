"""``python -m benchmarks``: measures in a process for each thread count, then reports."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from benchmarks import plot, report
from benchmarks.environment import ROOT, available_cores, for_threads, processor
from benchmarks.groups import ALL
from benchmarks.measure import Results


def main() -> int:
    options = _options()
    console = Console()
    if options.show:
        results = Results.from_json(json.loads(options.show.read_text()))
        folder = options.show.parent
    else:
        results = _measure(options)
        folder = options.out
        _write(results, folder)
    report.show(results, console)
    console.print(plot.draw(results, folder), highlight=False, markup=False)
    return 1 if results.notes.failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds, to see that it works")
    parser.add_argument("--only", metavar="GROUP", help=f"some of {','.join(ALL)}")
    parser.add_argument(
        "--match", default="", metavar="TEXT", help="only rows whose name and size match"
    )
    parser.add_argument("--threads", default="1,2", help="thread counts, each in its own process")
    parser.add_argument("--out", type=Path, help="where the results go (benchmarks/results)")
    parser.add_argument("--show", type=Path, metavar="JSON", help="report on an earlier run")
    options = parser.parse_args()
    options.groups = options.only.split(",") if options.only else list(ALL)
    for group in options.groups:
        if group not in ALL:
            parser.error(f"--only: must be among {', '.join(ALL)}, got --only={options.only}")
    try:
        options.threads = sorted({int(count) for count in options.threads.split(",")})
    except ValueError:
        parser.error(f"--threads: must be numbers like 1,2, got --threads={options.threads}")
    if options.threads[0] < 1:
        parser.error(f"--threads: must be at least 1, got --threads={options.threads[0]}")
    if options.out is None:
        # A quick run, or one of a few rows, must not pass for a measurement.
        partial = "quick" if options.quick else "some" if options.match else ""
        options.out = ROOT / "benchmarks" / "results" / partial
    return options


def _measure(options: argparse.Namespace) -> Results:
    cores = len(available_cores())
    results = Results(
        {
            "date": time.strftime("%Y-%m-%d %H:%M:%S"),
            "processor": f"{processor()}, {cores} cores",
            "quick": options.quick,
            "threads": [count for count in options.threads if count <= cores],
            "versions": {},
        }
    )
    for threads in options.threads:
        if threads > cores:
            results.notes.skip(f"{threads} threads: only {cores} cores to run on")
            continue
        # Fresh processes start alike whatever the thread count: once is enough.
        first = threads == results.about["threads"][0]
        groups = [group for group in options.groups if group != "start" or first]
        part = _in_process(threads, groups, options)
        results.about["versions"] |= part.about["versions"]
        results.rows += part.rows
        results.notes.merge(part.notes)
    return results


def _in_process(threads: int, groups: list[str], options: argparse.Namespace) -> Results:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.json"
        command = [sys.executable, "-m", "benchmarks.worker", "--out", str(out)]
        command += ["--threads", str(threads), "--groups", ",".join(groups)]
        command += ["--match", options.match, *(["--quick"] if options.quick else [])]
        code = subprocess.run(command, env=for_threads(threads), cwd=ROOT).returncode
        found = out.exists()
        part = (
            Results.from_json(json.loads(out.read_text())) if found else Results({"versions": {}})
        )
    if code != 0:
        part.notes.fail(f"{threads} threads: the process ended early, with code {code}")
    return part


def _write(results: Results, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    date = results.about["date"].translate(str.maketrans({" ": "-", ":": None}))
    for threads in results.about["threads"]:
        rows = [row for row in results.rows if row.threads == threads]
        part = Results({**results.about, "threads": [threads]}, rows, results.notes)
        (folder / f"{date}-{threads}.json").write_text(json.dumps(part.to_json(), indent=1))
    (folder / "latest.json").write_text(json.dumps(results.to_json(), indent=1))


if __name__ == "__main__":
    sys.exit(main())
