"""Random programs that write into tensors and views of them: right, or refused.

    PYTHONPATH=tests python -m soak.writing 100000 --seed 0

Each program has the seed of its place, so a finding is run again by ``--seed`` and a number of 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from writing_programs import outcome


def main(given: list[str] | None = None) -> int:
    """0 if nothing was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(given)
    last = options.seed + options.programs
    print(f"{options.programs} programs, seeds {options.seed} to {last - 1}", flush=True)
    outcomes = Counter(outcome(seed) for seed in range(options.seed, last))
    print(f"{outcomes.pop('right', 0)} right, {outcomes.pop('refused', 0)} refused")
    for finding in outcomes:
        print(finding)
    print(f"{len(outcomes)} findings")
    return int(bool(outcomes))


if __name__ == "__main__":
    sys.exit(main())
