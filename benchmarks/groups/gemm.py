"""Matrix products of training, for each way the operands can lie in memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.groups.cases import sample
from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, PEERS, Call, Measure, Notes

SHAPES = (
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
LAYOUTS = ("NN", "NT", "TN")
# Sizes at which torch needs at most a second, which it does where the processor has no bfloat16.
SHORT_SHAPES = ((64, 784, 128), (512, 512, 512), (1024, 512, 128))


def measures(libraries: Libraries, quick: bool, _notes: Notes) -> Iterator[Measure]:
    for m, k, n in SHAPES[2:4] if quick else SHAPES:
        a, b = sample("normal", (m, k), 0), sample("normal", (k, n), 1)
        for layout in LAYOUTS:
            yield Measure(
                "gemm",
                layout,
                f"{m} x {k} x {n}",
                {
                    label: partial(_product, libraries, label, a, b, layout)
                    for label in (OURS, *PEERS)
                },
                flops=2.0 * m * k * n,
                bytes=4.0 * (m * k + k * n + m * n),
            )
    yield from _short_measures(libraries, quick)


def _short_measures(libraries: Libraries, quick: bool) -> Iterator[Measure]:
    """Products of bfloat16, beside our own of float32: a table of their own, with means of its own."""
    for m, k, n in SHORT_SHAPES[:1] if quick else SHORT_SHAPES:
        a, b = (
            sample("normal", shape, seed).astype(libraries[OURS].bfloat16).astype("float32")
            for seed, shape in enumerate(((m, k), (k, n)))
        )
        for layout in LAYOUTS:
            yield Measure(
                "gemm bfloat16",
                f"{layout} bfloat16",
                f"{m} x {k} x {n}",
                {
                    OURS: partial(_product, libraries, OURS, a, b, layout, short=True),
                    "torch": partial(_product, libraries, "torch", a, b, layout, short=True),
                    f"{OURS} float32": partial(_product, libraries, OURS, a, b, layout),
                },
            )


def _product(
    libraries: Libraries, label: str, a: Any, b: Any, layout: str, short: bool = False
) -> Call:
    """T: the operand is the transposed view of a matrix that lies the other way round."""
    stored_a = libraries.array(label, a.T.copy() if layout[0] == "T" else a)
    stored_b = libraries.array(label, b.T.copy() if layout[1] == "T" else b)
    if short:
        cast = "to" if label == "torch" else "astype"
        dtype = libraries[label].bfloat16
        stored_a, stored_b = (getattr(x, cast)(dtype) for x in (stored_a, stored_b))
    if label == "jax":
        # A transposed array is a copy in JAX; inside the compiled function it is none.
        compiled = libraries["jax"].jit(lambda a, b: _turned(a, b, layout, lambda a, b: a @ b))
        return lambda: compiled(stored_a, stored_b).block_until_ready()
    matmul = libraries.find(label, "matmul")
    call: Call = _turned(stored_a, stored_b, layout, partial(partial, matmul))
    return call


def _turned(a: Any, b: Any, layout: str, use: Any) -> Any:
    return use(a.T if layout[0] == "T" else a, b.T if layout[1] == "T" else b)
