"""ExTensor's own kernels against the same function compiled by XLA for the CPU.

Run: python benchmarks/xla_cpu.py [NAME ...] [--seconds 3]

Prints a Markdown table: the median time of a call by ExTensor alone and by ``ex.compile(...,
backend="xla", device="cpu")``, their ratio (above 1 compiling is slower), and how long the first
compiled call takes, with its trace and XLA's compilation. Both get the same network and a batch in NumPy
memory, wait for the result of each call, and take turns of a fifth of ``--seconds``. A row whose
results differ ends the run with an error. ``--seconds 0`` calls each once, to see that it works.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from xla_steps import by_xla, gpt, next_token_loss, times_in_turns, training_step

import extensor as ex
from extensor import nn

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # before JAX is imported, by the first compilation

HEADER = "| what | ExTensor | compiled by XLA | ratio | first compiled call |"
TURNS = 5
RNG = np.random.default_rng(0)


class Case(NamedTuple):
    """A network, a batch, and the loss of a training step; without a loss it is inference."""

    title: str
    network: Callable[[], nn.Module]
    x: Any
    y: Any = None
    loss: Callable[[Any, Any], Any] | None = None


def separable(inner: int, outer: int, stride: int) -> list[nn.Module]:
    """A convolution of each channel by itself, and one across channels."""
    return [
        nn.Conv2d(inner, inner, 3, stride, padding=1, groups=inner, bias=False),
        nn.BatchNorm2d(inner),
        nn.ReLU(),
        nn.Conv2d(inner, outer, 1, bias=False),
        nn.BatchNorm2d(outer),
        nn.ReLU(),
    ]


def mobilenet() -> nn.Module:
    """Eight depthwise separable blocks on 64x64 images, in the manner of MobileNet."""
    blocks = [(16, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2)]
    blocks += [(256, 256, 1), (256, 256, 1)]
    stem = [nn.Conv2d(3, 16, 3, 2, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    body = [layer for block in blocks for layer in separable(*block)]
    return nn.Sequential(*stem, *body, nn.AvgPool2d(4), nn.Flatten(), nn.Linear(256, 10))


class Unrolled(nn.Module):
    """A Python loop over an ``LSTMCell``, and a layer on its last state."""

    def __init__(self, features: int, hidden: int) -> None:
        self.cell = nn.LSTMCell(features, hidden)
        self.head = nn.Linear(hidden, 10)

    def forward(self, x: Any) -> Any:
        h, c = self.cell(x[:, 0])
        for step in range(1, x.shape[1]):
            h, c = self.cell(x[:, step], (h, c))
        return self.head(h)


def floats(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype("float32")


def classes(*shape: int, below: int = 10) -> Any:
    return RNG.integers(0, below, shape)


def cases() -> dict[str, Case]:
    entropy = ex.cross_entropy
    return {
        "lenet1": Case("LeNet-5, inference, batch 1", ex.models.lenet5, floats(1, 1, 28, 28)),
        "lenet64": Case("LeNet-5, inference, batch 64", ex.models.lenet5, floats(64, 1, 28, 28)),
        "mobilenet": Case(
            "MobileNet-like, 64x64, inference, batch 1", mobilenet, floats(1, 3, 64, 64)
        ),
        "resnet": Case(
            "ResNet-18, 32x32, inference, batch 1", ex.models.resnet18, floats(1, 3, 32, 32)
        ),
        "mlp": Case(
            "MLP 64-32-10, training, batch 32",
            lambda: ex.models.mlp([64, 32, 10]),
            *(floats(32, 64), classes(32), entropy),
        ),
        "mlp784": Case(
            "MLP 784-128-10, training, batch 64",
            lambda: ex.models.mlp([784, 128, 10]),
            *(floats(64, 784), classes(64), entropy),
        ),
        "lenet": Case(
            "LeNet-5, training, batch 64",
            ex.models.lenet5,
            *(floats(64, 1, 28, 28), classes(64), entropy),
        ),
        "lstm": Case(
            "loop over `LSTMCell`, 64 steps, hidden 64, training, batch 16",
            lambda: Unrolled(32, 64),
            *(floats(16, 64, 32), classes(16), entropy),
        ),
        "gpt": Case(
            "GPT of 2 layers, width 128, training, batch 16 x 64",
            gpt,
            *(classes(16, 64, below=256), classes(16, 64, below=256), next_token_loss),
        ),
    }


def contestant(case: Case, compiled: bool) -> Callable[[], Any]:
    """A call that ends when its result, the outputs or the loss, is in NumPy's memory."""
    ex.random.manual_seed(0)
    net = case.network()

    def infer(x: Any) -> Any:
        with ex.no_grad():
            return net(x)

    if case.loss is None:
        net.eval()
        function, batch = infer, (case.x,)
    else:
        function, batch = training_step(net, case.loss, 0.01), (case.x, case.y)
    chosen = by_xla(function) if compiled else function
    return lambda: chosen(*batch).numpy()


def row(case: Case, seconds: float) -> str:
    plain, compiled = contestant(case, False), contestant(case, True)
    begin = time.perf_counter()
    result = compiled()
    first = time.perf_counter() - begin
    np.testing.assert_allclose(result, plain(), rtol=1e-3, atol=1e-4, err_msg=case.title)
    times = times_in_turns((plain, compiled), TURNS, seconds / TURNS, warmup=True)
    here, there = map(median, times)
    cells = [
        case.title,
        f"{here:.3g} ms",
        f"{there:.3g} ms",
        f"{there / here:.1f}",
        f"{first:.1f} s",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    known = cases()
    parser = argparse.ArgumentParser(description="ExTensor against ex.compile on XLA's CPU")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    parser.add_argument("--seconds", type=float, default=3.0, help="of calls for each contestant")
    chosen = parser.parse_args()
    unknown = sorted(set(chosen.names) - set(known))
    if unknown:
        parser.error(f"unknown names {unknown}")
    print(HEADER)
    print("|---|---|---|---|---|", flush=True)
    for name in chosen.names or known:
        print(row(known[name], chosen.seconds), flush=True)


if __name__ == "__main__":
    main()
