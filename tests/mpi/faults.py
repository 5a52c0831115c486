"""Faults at random, one in each run: each must be noticed in time and the worker be named.

    python tests/mpi/faults.py 100 [--mpi FOLDER ...] [--hosts] [--seed 0]

A run that goes on afterwards, with another number of workers, must end with the same bits. Where Open MPI's
ULFM is used, killed workers must be survived in place. ``--mpi`` names the folders of environments to choose
from, with Open MPI or MPICH; ``--hosts`` adds network namespaces as hosts, whose links are cut (needs root).
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mpi import hosts
from mpi.running import DEADLINE, Outcome, is_mpich, launcher, trained

SLACK = 8.0  # seconds that a machine which others use too may take for a step, or to be told
KINDS = ("kill", "stop", "raise", "exit", "sysexit")
WHEN = ("start", "step", "step", "checkpoint")
HOSTS = 4


class Fault(NamedTuple):
    """What happens to whom and when."""

    python: str
    workers: int
    kind: str
    step: int
    rank: int
    when: str
    again: int  # workers that go on
    on_hosts: bool
    ulfm: bool
    shards: bool

    def start(self) -> list[str]:
        if self.on_hosts:
            kind = "mpich" if is_mpich(self.python) else "openmpi"
            return hosts.launcher(kind, self.python, self.workers)
        return launcher(self.workers, self.python, self.ulfm)

    def words(self) -> list[str]:
        fault = f"{self.kind}:{self.step}:{self.rank}"
        return ["--fault", fault, "--when", self.when, *(["--shard"] if self.shards else [])]

    def __str__(self) -> str:
        mpi = "MPICH" if is_mpich(self.python) else "Open MPI"
        place = " on hosts" if self.on_hosts else " with ULFM" if self.ulfm else ""
        return f"{mpi}{place}, {self.workers} workers, {' '.join(self.words())}"


def drawn(chance: random.Random, pythons: list[str], with_hosts: bool) -> Fault:
    python = chance.choice(pythons)
    on_hosts = with_hosts and chance.random() < 0.3
    workers = chance.choice((2, 3, 4))
    kind = chance.choice(("link", "link", *KINDS) if on_hosts else KINDS)
    when = chance.choice(WHEN)
    ulfm = (
        kind == "kill" and when != "start" and not on_hosts
        and not is_mpich(python) and chance.random() < 0.7
    )  # fmt: skip
    again = chance.choice([n for n in (1, 2, 3, 4) if n != workers])
    rank, step = chance.randrange(workers), chance.randint(1, 7)
    shards = chance.random() < 0.5
    return Fault(python, workers, kind, step, rank, when, again, on_hosts, ulfm, shards)


def noticed(fault: Fault) -> list[str]:
    """Patterns of which one must be said: they name the worker, in our words and not a launcher's."""
    rank, size = fault.rank, fault.workers
    others = [f"worker {n} of {size} .* is there, but not all others" for n in range(size)]
    others.pop(rank)
    named = rf"worker {rank} of {size} \([^)]*\)"
    return [
        rf"{named}[^(\n]*(did not answer within|cannot be reached)",
        rf"{named} is gone",
        rf"that ended {named}",
        rf"(?s){'.*'.join(f'(?=.*{other})' for other in others)}" if others else "(?!)",
    ]


def when_noticed(fault: Fault, outcome: Outcome) -> tuple[str, float] | None:
    """What was said, and when; None also if another worker was said to be gone before."""
    so_far = ""
    for at, line in outcome.lines:
        so_far += line
        for pattern in noticed(fault):
            found = re.search(pattern, so_far)
            if found:
                return " ".join(found[0].split()) or "all others said that they are there", at
        if re.search(r"worker \d of \d .* is gone", line):
            return None
    return None


def tried(fault: Fault, wanted: str) -> tuple[bool, str]:
    """Whether all was as it should be, and what was."""
    with tempfile.TemporaryDirectory() as folder:
        after = "|".join([*noticed(fault)[:3], "is there, but not all others"])
        after = "" if fault.ulfm else after
        first = trained(fault.start(), fault.python, folder, *fault.words(), after=after)
        mark = Path(folder) / "fault-done"
        if not mark.exists():
            return False, f"the fault did not happen: {first.text[-1000:]}"
        if fault.on_hosts:
            hosts.mend_all(HOSTS)
        said = when_noticed(fault, first)
        if said is None:
            return False, f"the worker was not named: exit {first.code}, {first.text[-1500:]}"
        if fault.ulfm:
            survived = first.code == 0 and first.digest == wanted
            return survived, "survived" if survived else first.text[-2000:]
        seconds = said[1] - mark.stat().st_mtime
        start = launcher(fault.again, fault.python)
        second = trained(start, fault.python, folder)
        same = second.code == 0 and second.digest == wanted
    launched = "its launcher had to be ended" if first.was_ended else f"exit {first.code}"
    result = "same bits" if same else f"NOT THE SAME: exit {second.code}, {second.text[-1500:]}"
    text = f"after {seconds:.1f} s: {said[0][:110]}; {launched}; {fault.again} workers: {result}"
    return same and first.code != 0 and seconds < DEADLINE + SLACK, text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--mpi", nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--hosts", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    pythons = [str(Path(x).absolute() / "bin" / "python") for x in options.mpi] or [sys.executable]
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        wanted = trained([], sys.executable, folder).digest
    print(f"seed {options.seed}; undisturbed {wanted}", flush=True)
    good = ended = 0
    if options.hosts:
        hosts.up(HOSTS)
    try:
        for number in range(1, options.count + 1):
            fault = drawn(chance, pythons, options.hosts)
            is_good, text = tried(fault, wanted)
            good += is_good
            ended += "had to be ended" in text
            print(f"{number} {'good' if is_good else 'BAD'}: {fault}: {text}", flush=True)
    finally:
        if options.hosts:
            hosts.down(HOSTS)
    print(f"{good} of {options.count} as they should be; {ended} launchers had to be ended")
    sys.exit(good != options.count)


if __name__ == "__main__":
    main()
