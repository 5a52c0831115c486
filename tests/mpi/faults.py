"""Faults at random, one in each run: all must be noticed in time, and a restart must end with the same bits.

    python tests/mpi/faults.py 100 [--ulfm] [--seed 0]

Each line says what happened to whom and when, how it was noticed and after how long, and what another
number of workers made of it. With --ulfm (Open MPI) workers that are killed must be survived in place.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEADLINE = 4.0
SLACK = 30.0  # seconds for starting, importing and ending on a machine that others use too
KINDS = ("kill", "stop", "raise", "exit", "sysexit")
WHEN = ("start", "step", "step", "step", "checkpoint")


def launcher(ulfm: bool = False) -> list[str]:
    """The mpiexec beside this Python, and what Open MPI's needs."""
    mpiexec = str(Path(sys.executable).with_name("mpiexec"))
    about = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=True)
    is_open = "hydra" not in about.stdout.lower()
    spare = ["--oversubscribe"] if is_open else []
    return [mpiexec, *spare, *(["--with-ft", "ulfm"] if ulfm else [])]


def environment() -> dict[str, str]:
    found = os.environ | {"PYTHONPATH": str(HERE.parents[1] / "src"), "EXTENSOR_NUM_THREADS": "1"}
    found |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return found | {"EXTENSOR_DEADLINE": str(DEADLINE), "PYTHONWARNINGS": "ignore"}


def run(command: list[str], limit: float = 120.0) -> tuple[int, str, float]:
    """Exit code, output and seconds; one that does not end is ended with all that it started."""
    begin = time.monotonic()
    process = subprocess.Popen(
        command,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said = process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said = process.communicate()[0] + b"\ndid not end"
    return process.returncode, said.decode(errors="replace"), time.monotonic() - begin


def train(start: list[str], workers: int, folder: str, *words: str) -> tuple[int, str, float]:
    program = [sys.executable, str(HERE / "training.py"), folder, *words]
    return run([*start, "-n", str(workers), *program])


def digest(text: str) -> str:
    found = re.search(r"digest (\w+)", text)
    return found[1] if found else ""


NOTICED = (
    r"worker \d+ of \d+ \([^)]*\)[^(]*did not answer within [^)]*\)",
    r"worker \d+ of \d+ \([^)]*\) is gone",
    r"that ended worker \d+ of \d+",
    r"start: not all workers were there within \S+ s",
    r"process rank \d+ with PID \d+ on node \S+ exited on\s+signal \d+",
    r"Process name: \[\S+,\d+\]\s+Exit code:\s+\d+",
    r"PID \d+ RUNNING AT \S+\s+=\s+EXIT CODE: \d+",
    r"a mistake on one worker",
)


def noticed(text: str) -> str:
    for pattern in NOTICED:
        found = re.search(pattern, text)
        if found:
            return " ".join(found[0].split())
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--ulfm", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    plain = launcher()
    with tempfile.TemporaryDirectory() as folder:
        code, text, _ = train(plain, 1, folder)
    assert code == 0, text
    wanted = digest(text)
    print(f"undisturbed {wanted}", flush=True)
    good = 0
    for number in range(1, options.count + 1):
        workers = chance.choice((2, 3, 4))
        kind = "kill" if options.ulfm else chance.choice(KINDS)
        when = chance.choice(WHEN[1:] if options.ulfm else WHEN)
        fault = f"{kind}:{chance.randint(1, 7)}:{chance.randrange(workers)}"
        words = ["--fault", fault, "--when", when, *chance.choice(([], ["--shard"]))]
        again = chance.choice([n for n in (1, 2, 3, 4) if n != workers])
        with tempfile.TemporaryDirectory() as folder:
            code, text, seconds = train(launcher(options.ulfm), workers, folder, *words)
            how = noticed(text)
            if not how and kind == "exit" and code == 3:
                how = "MPICH's mpiexec ends with the worker's exit code and says no more"
            if options.ulfm and workers > 1:
                is_good = code == 0 and digest(text) == wanted
                after = "survived" if is_good else text[-2000:]
            else:
                second, others, _ = train(plain, again, folder)
                same = second == 0 and digest(others) == wanted
                is_good = code != 0 and bool(how) and seconds < DEADLINE + SLACK and same
                after = f"{again} workers: " + ("same bits" if same else others[-2000:])
        good += is_good
        print(
            f"{number} {'good' if is_good else 'BAD'}: {workers} workers, {' '.join(words)}: exit "
            f"{code} after {seconds:.1f} s ({how or text[-500:]}); {after}",
            flush=True,
        )
    print(f"{good} of {options.count} as they should be")
    sys.exit(good != options.count)


if __name__ == "__main__":
    main()
