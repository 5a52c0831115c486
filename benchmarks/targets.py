"""What has to be reached: each target picks rows and says how far our ratio may go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.groups.cases import HEADLINE
from benchmarks.groups.convolution import LAYERS, WAYS
from benchmarks.groups.gemm import LAYOUTS, SHAPES
from benchmarks.measure import OURS, Row, geometric_mean

_OPS = frozenset(f"{case.name} {way}" for case in HEADLINE for way in ("forward", "backward"))


@dataclass(frozen=True)
class Target:
    """The ratio to the best of ``peers`` over ``expected`` rows; without peers, our own value."""

    text: str
    most: float
    group: str
    names: frozenset[str]
    size: str | None
    peers: tuple[str, ...]
    combine: Callable[[Iterable[float]], float] = max
    expected: int = 1
    unit: str = ""

    def covers(self, row: Row) -> bool:
        size = self.size is None or row.size == self.size
        return row.group == self.group and row.name in self.names and size


@dataclass(frozen=True)
class Verdict:
    """What was reached with each thread count, and how many of the expected rows were measured."""

    target: Target
    reached: dict[int, float]
    measured: dict[int, int]

    @property
    def word(self) -> str:
        fewest = min(self.measured.values(), default=0)
        complete = fewest == self.target.expected
        over = any(value > self.target.most for value in self.reached.values())
        # A single row can break a maximum; a mean says nothing before it is complete.
        if over and (complete or self.target.combine is max):
            return "fail"
        return "pass" if complete else f"{fewest} of {self.target.expected} measured"


def _one(
    text: str, most: float, where: tuple[str, str, str], *peers: str, unit: str = ""
) -> Target:
    group, name, size = where
    return Target(text, most, group, frozenset({name}), size, peers, unit=unit)


_TORCH_ADAM = ("torch", "torch foreach", "torch fused")
_BLAS = ("numpy", "torch")
_GEMMS = len(SHAPES) * len(LAYOUTS)
_SGD = "MLP 784-128-10 SGD"


def _convolutions(kind: str, most: float) -> Target:
    """All layers of a kind: output, gradient of the input, gradient of the weight."""
    layers = (layer.name for layer in LAYERS if layer.name.startswith(kind))
    names = frozenset(f"{name} {way}" for name in layers for way in WAYS)
    text = f"{kind} convolutions, geometric mean, of torch"
    return Target(text, most, "convolution", names, None, ("torch",), geometric_mean, len(names))


TARGETS: Sequence[Target] = (
    _one("add of 16, not recorded, of torch", 0.4, ("call", "add", "16"), "torch"),
    _one(
        "multiply + sum + backward of 16, of torch",
        0.3,
        ("call", "multiply + sum + backward", "16"),
        "torch",
    ),
    Target("16 ops at 2^20, the worst, of torch", 1.0, "ops", _OPS, "2^20", ("torch",), max, 32),
    Target(
        "16 ops at 2^20, geometric mean, of torch",
        0.7,
        "ops",
        _OPS,
        "2^20",
        ("torch",),
        geometric_mean,
        32,
    ),
    Target(
        "GEMM, geometric mean, of the better of OpenBLAS and MKL",
        1.0,
        "gemm",
        frozenset(LAYOUTS),
        None,
        _BLAS,
        geometric_mean,
        _GEMMS,
    ),
    Target("GEMM, the worst", 1.1, "gemm", frozenset(LAYOUTS), None, _BLAS, max, _GEMMS),
    _convolutions("LeNet", 0.5),
    _convolutions("residual", 0.9),
    _convolutions("depthwise", 0.8),
    _one("Adam, 100k, of torch's fastest", 0.3, ("optim", "Adam step", "100k"), *_TORCH_ADAM),
    _one("Adam, 10M, of torch's fastest", 0.9, ("optim", "Adam step", "10M"), *_TORCH_ADAM),
    _one("MLP step, batch 1, of torch", 0.25, ("train", _SGD, "batch 1"), "torch"),
    _one("MLP step, batch 64, of torch", 0.55, ("train", _SGD, "batch 64"), "torch"),
    _one("MLP step, batch 1024, of torch", 0.75, ("train", _SGD, "batch 1024"), "torch"),
    _one("MLP step, batch 64, of JAX jit", 1.0, ("train", _SGD, "batch 64"), "jax"),
    *(
        _one(f"{text}, of torch's fastest", most, ("train", name, size), "torch", "torch fused")
        for text, most, name, size in (
            ("LeNet-5 step", 0.5, "LeNet-5 SGD", "batch 64"),
            ("2 residual blocks", 0.9, "2 residual blocks SGD", "batch 32"),
            ("2 transformer layers", 0.7, "2 transformer layers AdamW", "batch 16"),
            ("LSTM over 64 steps", 0.6, "LSTM 128 x 64 SGD", "batch 32"),
        )
    ),
    _one("LeNet-5 epoch, of torch", 0.5, ("epoch", "LeNet-5 epoch", "60,000 images"), "torch"),
    _one("import beyond numpy", 60e-3, ("start", "import beyond numpy", ""), unit="s"),
    _one("installed size", 10.0, ("start", "installed size", ""), unit="MB"),
)


def value_for(target: Target, row: Row) -> float | None:
    """What a target looks at in a row: our ratio to the best of its peers, or our value."""
    if OURS not in row.best:
        return None
    if not target.peers:
        return row.best[OURS]
    ratios = [row.ratio[peer] for peer in target.peers if peer in row.ratio]
    # "the better of two" needs both; of torch's settings, those that exist here.
    if not ratios or (target.peers == _BLAS and len(ratios) < 2):
        return None
    return max(ratios)


def most_allowed(row: Row, peer: str) -> float:
    """The ratio at which a cell turns red: its target's, or 1."""
    single = [t.most for t in TARGETS if t.covers(row) and peer in t.peers and t.combine is max]
    return min(single, default=1.0)


def judge(rows: Sequence[Row], thread_counts: Sequence[int]) -> list[Verdict]:
    verdicts = []
    for target in TARGETS:
        # Fresh processes are measured once, with the first thread count.
        counts = thread_counts[:1] if target.group == "start" else thread_counts
        values: dict[int, list[float]] = {threads: [] for threads in counts}
        for row in rows:
            value = value_for(target, row) if target.covers(row) else None
            if value is not None:
                values[row.threads].append(value)
        reached = {threads: target.combine(found) for threads, found in values.items() if found}
        measured = {threads: len(found) for threads, found in values.items()}
        verdicts.append(Verdict(target, reached, measured))
    return verdicts
