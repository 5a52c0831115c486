"""Draw training programs, and run each on several numbers of workers and compiled.

    python tests/programs/run.py 60 --seed 1 [--workers 1 2 3] [--compiled]
    python tests/programs/run.py --seed 1 --only 17 --workers 1 2 --keep FOLDER
    python tests/programs/run.py --seed 1 --show 17 [--mode parts]

``--workers`` compares the bits, ``--compiled`` the tensors of compiled and plain steps; without either,
both are done. ``--keep`` leaves programs, tensors and logs in a folder: a program there can be run by
hand, as ``mpiexec -n 2 python FOLDER/017-parts.py`` (``PROGRAM_FOLDER`` names the folder of a run).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from programs.comparison import Verdict
from programs.grammar import MODES, Program, draw
from programs.trials import try_compiled, try_workers


def main() -> None:
    options = parse_arguments()
    if options.show is not None:
        print(draw(options.seed, options.show).text(options.mode))
        return
    numbers = options.only if options.only else range(options.count)
    programs = [draw(options.seed, number) for number in numbers]
    both = options.workers is None and not options.compiled
    sizes = (options.workers or [1, 2, 3]) if both or options.workers is not None else []
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        if options.keep is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        else:
            folder = options.keep.absolute()
            folder.mkdir(parents=True, exist_ok=False)
        begin = time.monotonic()
        if sizes:
            verdicts = try_workers(folder, programs, sizes)
            title = f"workers {' '.join(map(str, sizes))}"
            for program in programs:
                report(program, title, verdicts[program.number], counts)
        if both or options.compiled:
            for (number, mode), verdict in try_compiled(folder, programs).items():
                report(draw(options.seed, number), mode, verdict, counts)
    total = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    findings = sum(count for kind, count in counts.items() if Verdict(kind).is_finding)
    seconds = time.monotonic() - begin
    print(f"seed {options.seed}: {total}; {findings} findings ({seconds:.0f} s)")
    sys.exit(findings > 0)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("count", type=int, nargs="?", default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, nargs="*")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER")
    parser.add_argument("--show", type=int, metavar="NUMBER")
    parser.add_argument("--mode", default="parts", choices=MODES)
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    return parser.parse_args()


def report(program: Program, title: str, verdict: Verdict, counts: Counter[str]) -> None:
    """Print the line of a program, and count its verdict."""
    counts[verdict.kind] += 1
    mark = "BAD " if verdict.is_finding else "    "
    print(f"{mark}{program.number:3} {title:13} {verdict}\n        [{program.notes}]", flush=True)


if __name__ == "__main__":
    main()
