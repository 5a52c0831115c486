"""Time ExTensor's float32 GEMM beside OpenBLAS (of NumPy) and MKL (of torch).

Each contender is the same C++ timing loop in a process of its own, so no thread pool spins beside
another; they take turns shape by shape, and the best time of all rounds counts.

    python benchmarks/native/gemm.py --peers /path/to/venv/lib/python3.11/site-packages
"""

import argparse
import glob
import math
import os
import subprocess
import sysconfig
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=c++20", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"]
LAYOUTS = ("NN", "NT", "TN")
SHAPES = (  # m, k, n
    (64, 784, 128),
    (784, 64, 128),
    (64, 128, 10),
    (1, 784, 128),
    (128, 784, 512),
    (512, 512, 512),
    (1024, 128, 512),
    (1024, 512, 128),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
)


def build(folder: str, isa: str) -> str:
    """Compile the benchmark for one instruction set and return its path."""
    program = os.path.join(folder, "gemm_bench")
    kernel = [ROOT / "native/kernels/matrix/gemm.cpp", ROOT / "native/runtime/scratch.cpp"]
    sources = [*kernel, ROOT / "benchmarks/native/gemm_bench.cpp"]
    options = [f"-march=x86-64-{isa}", f"-DEX_ISA={isa}", "-pthread", "-ldl", "-o", program]
    subprocess.run(["g++", *FLAGS, *map(str, sources), *options], check=True)
    return program


def contenders(program: str, packages: str) -> dict[str, list[str]]:
    """Return the command of each contender: ours first."""
    found = {"ours": [program, "serve"]}
    for library in glob.glob(f"{packages}/numpy.libs/libscipy_openblas64_*"):
        found["openblas"] = [program, "serve", library, "scipy_sgemm_64_", "scipy_sgemv_64_"]
    for library in glob.glob(f"{packages}/torch/lib/libtorch_cpu.so"):
        found["mkl"] = [program, "serve", library, "sgemm_", "sgemv_"]
    return found


class Worker:
    """One contender, waiting for shapes."""

    def __init__(self, command: list[str], threads: int) -> None:
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, str(threads))
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.threads = threads

    def time(self, shape: tuple[int, int, int], layout: str, seconds: float) -> float:
        """Return the best time of one product, in seconds."""
        assert self.process.stdin
        assert self.process.stdout
        print(*shape, layout, self.threads, seconds, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def close(self) -> None:
        """Let the process end."""
        self.process.communicate()


def measure(
    commands: dict[str, list[str]], threads: int, rounds: int, seconds: float
) -> dict[tuple[tuple[int, int, int], str], dict[str, float]]:
    """Return the best time of every contender at every shape and layout."""
    workers = {name: Worker(command, threads) for name, command in commands.items()}
    best = {(shape, layout): {} for shape in SHAPES for layout in LAYOUTS}
    for _ in range(rounds):
        for (shape, layout), times in best.items():
            for name, worker in workers.items():
                now = worker.time(shape, layout, seconds)
                times[name] = min(times.get(name, math.inf), now)
                time.sleep(0.01 * (threads > 1))  # let the threads of this one fall asleep
    for worker in workers.values():
        worker.close()
    return best


def report(best: dict, peak: float, threads: int) -> None:
    """Print a table of ratios and the fraction of the FMA peak."""
    names = list(next(iter(best.values())))
    print(f"\n{threads} thread(s), FMA peak {peak * threads:.1f} GF/s")
    print(
        "(m, k, n)          layout", *(f"{name + ' us':>13}" for name in names), " ratio  of peak"
    )
    ratios = []
    for (shape, layout), times in best.items():
        ratios.append(times["ours"] / min(t for name, t in times.items() if name != "ours"))
        rate = 2e-9 * math.prod(shape) / times["ours"] / (peak * threads)
        columns = " ".join(f"{times[name] * 1e6:13.2f}" for name in names)
        print(f"{shape!s:20} {layout:4} {columns} {ratios[-1]:7.3f} {rate:6.1%}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.3f}, worst {max(ratios):.3f}")


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", default=sysconfig.get_path("purelib"), help="site-packages")
    parser.add_argument("--isa", default="v3", choices=("v2", "v3", "v4"))
    parser.add_argument("--threads", type=int, nargs="*", default=(1, 2), choices=(1, 2))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="per shape and round")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, options.isa)
        peak = float(subprocess.run([program, "peak"], capture_output=True, check=True).stdout)
        commands = contenders(program, options.peers)
        for threads in options.threads:
            report(measure(commands, threads, options.rounds, options.seconds), peak, threads)


if __name__ == "__main__":
    main()
