"""Python threads that differentiate at the same time, with leaves, hooks and random numbers in common.

    PYTHONPATH=tests python -m soak.threads 200 --seed 0

Gradients are whole numbers, so their sum is exact in any order: each round it must be that of all
threads. What a thread draws by a function that is run again must be what it drew before.
"""

from __future__ import annotations

import argparse
import sys
import threading

import numpy as np

import extensor as ex

THREADS = 8
PASSES = 50


def rounds_lost(seed: int) -> list[str]:
    """One round of all threads on one leaf of random shape; what went wrong in it."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 257, 2)
    w = ex.ones((int(rows), int(columns)), requires_grad=True)
    x = ex.asarray(rng.integers(0, 4, (3, rows)).astype("float32"))
    findings: list[str] = []

    def work() -> None:
        for _ in range(PASSES):
            ex.sum(x @ w).backward()
            leaf = ex.ones(64, requires_grad=True)
            dropped = ex.checkpoint(lambda t: ex.dropout(ex.dropout(t)), leaf)
            dropped.sum().backward()
            if leaf.grad.tolist() != dropped.tolist():
                findings.append(f"seed {seed}: other numbers the second time")

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = np.repeat(x.numpy().sum(axis=0)[:, None], columns, axis=1) * THREADS * PASSES
    if not np.array_equal(w.grad.numpy(), expected):
        findings.append(f"seed {seed}: {w.grad.numpy().sum()} of {expected.sum()} added")
    return findings


def main(given: list[str] | None = None) -> int:
    """0 if nothing was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(given)
    last = options.seed + options.rounds
    print(
        f"{options.rounds} rounds of {THREADS} threads, {PASSES} passes each, "
        f"seeds {options.seed} to {last - 1}",
        flush=True,
    )
    findings = [finding for seed in range(options.seed, last) for finding in rounds_lost(seed)]
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
