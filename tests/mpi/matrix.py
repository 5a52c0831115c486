"""Every model on every number of workers: each must end with the same checkpoint file.

    python tests/mpi/matrix.py [--mpi FOLDER ...] [--hosts] [--models lenet gpt]

``--mpi`` names the folders of environments to run in, beside this one: one with Open MPI's wheel, one with
MPICH's. With ``--hosts`` four network namespaces stand for hosts and speak TCP, which needs root.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mpi import hosts
from mpi.running import is_mpich, launcher, trained

MODELS = ("lenet", "resnet", "gpt", "lstm")
WORKERS = (1, 2, 3, 4, 8)
OPTIONS: tuple[list[str], ...] = ([], ["--shard"], ["--no-overlap"], ["--shard", "--no-overlap"])
MORE = {  # what only some models are tried with
    "resnet": (["--sync"], ["--sync", "--shard"]),
    "lenet": (["--stream"], ["--stream", "--threads", "2", "--shard"]),
}


def kind_of(words: list[str]) -> str:
    """What changes the bits: all else must not."""
    return " ".join(word for word in words if word in ("--sync", "--stream"))


def launched(python: str, count: int, on_hosts: bool) -> list[str]:
    if not on_hosts:
        return launcher(count, python)
    return hosts.launcher("mpich" if is_mpich(python) else "openmpi", python, count)


def digest(start: list[str], python: str, model: str, words: list[str]) -> tuple[str, str]:
    """Of the last checkpoint, and all that was said."""
    with tempfile.TemporaryDirectory() as folder:
        given = ["--model", model, *words]
        if "--stream" in words:
            given.insert(given.index("--stream") + 1, f"{folder}/shards")
        outcome = trained(start, python, folder, *given, limit=180.0)
    return outcome.digest if outcome.code == 0 else "", outcome.text


def cases(options: argparse.Namespace) -> Iterator[tuple[str, str, int, list[str]]]:
    pythons = [str(Path(folder).absolute() / "bin" / "python") for folder in options.mpi]
    counts = (4,) if options.hosts else WORKERS
    for model, python, count in product(options.models, pythons or [sys.executable], counts):
        for words in (*OPTIONS, *MORE.get(model, ())):
            yield model, python, count, list(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--hosts", action="store_true")
    options = parser.parse_args()
    os.environ["EXTENSOR_DEADLINE"] = "120"
    wanted: dict[tuple[str, str], str] = {}
    bad = runs = 0
    begin = time.monotonic()
    if options.hosts:
        hosts.up(4)
    try:
        for model, python, count, words in cases(options):
            kind = kind_of(words)
            if (model, kind) not in wanted:
                wanted[model, kind] = digest([], sys.executable, model, words)[0]
                print(f"{model} {kind}: {wanted[model, kind]}")
            start = launched(python, count, options.hosts)
            found, text = digest(start, python, model, words)
            runs += 1
            if not found or found != wanted[model, kind]:
                bad += 1
                print(f"BAD {model}, {count} workers, {python} {' '.join(words)}\n{text}")
            sys.stdout.flush()
    finally:
        if options.hosts:
            hosts.down(4)
    seconds = time.monotonic() - begin
    print(f"{runs - bad} of {runs} runs ended with the bits of one process ({seconds:.0f} s)")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
