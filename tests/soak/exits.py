"""Programs that end while daemon threads are inside ops, at random moments.

    PYTHONPATH=tests python -m soak.exits 400 --seed 0

Each must end with exit code 0 and print nothing. A finding is run again by its seed and threads:
``python tests/daemon_threads.py SEED THREADS``.
"""

from __future__ import annotations

import argparse
import sys

from test_exit import ended


def main(given: list[str] | None = None) -> int:
    """0 if nothing was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=int, nargs="?", default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(given)
    last = options.seed + options.programs
    print(f"{options.programs} programs, seeds {options.seed} to {last - 1}, 1 or 2 threads")
    found = 0
    for seed in range(options.seed, last):
        code, text = ended(seed, seed % 2 + 1)
        if code or text:
            found += 1
            print(f"seed {seed}, {seed % 2 + 1} threads: exit code {code}\n{text}", flush=True)
    print(f"{found} findings")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
