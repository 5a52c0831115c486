"""A step of training by ``ex.compile`` against the same step written by hand with ``jax.grad``.

Run: JAX_PLATFORMS=cpu python benchmarks/xla.py [mlp] [blocks] [gpt]

Both update by gradient descent, on batches in NumPy memory, and wait for the loss of each step. The
two take turns; of many steps the median counts, and the best stand beside it: the best one of thousands
says how lucky its threads were. By hand the step is jitted as a whole and its parameters
are donated, as one would who knows JAX. Prints a table: the times in milliseconds, their ratios, and how
far the losses of the first step are apart.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from xla_steps import by_xla, gpt, next_token_loss, times_in_turns, training_step

import extensor as ex
from extensor import nn

RATE = 0.05
TURNS = 12


def cross_entropy(logits: Any, target: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), target[:, None], 1).mean()


def linear(p: dict[str, Any], name: str, x: Any) -> Any:
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def mlp_by_hand(p: dict[str, Any], x: Any, y: Any) -> Any:
    return cross_entropy(linear(p, "3", jax.nn.relu(linear(p, "1", x))), y)


class Block(nn.Module):
    """Two convolutions with batch normalization, and what came in added."""

    def __init__(self, channels: int) -> None:
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels, track_running_stats=False)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels, track_running_stats=False)

    def forward(self, x: Any) -> Any:
        inner = ex.relu(self.norm1(self.first(x)))
        return ex.relu(x + self.norm2(self.second(inner)))


def norm(p: dict[str, Any], name: str, x: Any) -> Any:
    mean = x.mean((0, 2, 3), keepdims=True)
    variance = ((x - mean) ** 2).mean((0, 2, 3), keepdims=True)
    scaled = (x - mean) * lax.rsqrt(variance + 1e-5) * p[f"{name}.weight"][:, None, None]
    return scaled + p[f"{name}.bias"][:, None, None]


def conv(p: dict[str, Any], name: str, x: Any) -> Any:
    return lax.conv_general_dilated(x, p[f"{name}.weight"], (1, 1), ((1, 1), (1, 1)))


def blocks_by_hand(p: dict[str, Any], x: Any, y: Any) -> Any:
    for i in (0, 1):
        inner = jax.nn.relu(norm(p, f"{i}.norm1", conv(p, f"{i}.first", x)))
        x = jax.nn.relu(x + norm(p, f"{i}.norm2", conv(p, f"{i}.second", inner)))
    return cross_entropy(linear(p, "3", x.reshape(x.shape[0], -1)), y)


def layer_norm(p: dict[str, Any], name: str, x: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * p[f"{name}.weight"] + p[f"{name}.bias"]


def gpt_by_hand(names: list[str], heads: int) -> Callable[..., Any]:
    layers = sorted({name.split(".")[1] for name in names if name.startswith("blocks.")})

    def loss(p: dict[str, Any], tokens: Any, y: Any) -> Any:
        length = tokens.shape[1]
        x = p["tokens.weight"][tokens] + p["positions.weight"][:length]
        for layer in layers:
            block = f"blocks.{layer}"
            inner = layer_norm(p, f"{block}.norm1", x)
            q, k, v = (
                part.reshape(*part.shape[:2], heads, -1).swapaxes(1, 2)
                for part in jnp.split(linear(p, f"{block}.attention.qkv", inner), 3, -1)
            )
            scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]).astype("f4")
            scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
            mean = (jax.nn.softmax(scores) @ v).swapaxes(1, 2).reshape(x.shape)
            x = x + linear(p, f"{block}.attention.out", mean)
            inner = layer_norm(p, f"{block}.norm2", x)
            inner = jax.nn.gelu(linear(p, f"{block}.linear1", inner), approximate=False)
            x = x + linear(p, f"{block}.linear2", inner)
        x = layer_norm(p, "norm", x)
        logits = x @ p["head.weight"].T
        return cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))

    return loss


def case(name: str) -> tuple[nn.Module, Any, Any, Callable[..., Any], Callable[..., Any]]:
    """The network, a batch, its loss here and the whole of it by hand."""
    rng = np.random.default_rng(0)
    ex.random.manual_seed(0)
    if name == "mlp":
        x, y = rng.random((64, 784), "float32"), rng.integers(0, 10, 64)
        return ex.models.mlp([784, 128, 10]), x, y, ex.cross_entropy, mlp_by_hand
    if name == "blocks":
        x, y = rng.random((32, 32, 32, 32), "float32"), rng.integers(0, 10, 32)
        net = nn.Sequential(Block(32), Block(32), nn.Flatten(), nn.Linear(32**3, 10))
        return net, x, y, ex.cross_entropy, blocks_by_hand
    net = gpt()
    x, y = rng.integers(0, 256, (16, 64)), rng.integers(0, 256, (16, 64))
    names = [name for name, _ in net.named_parameters()]
    return net, x, y, next_token_loss, gpt_by_hand(names, 4)


def steps(name: str) -> tuple[Callable[[], float], Callable[[], float]]:
    """One step by ``ex.compile`` and one by hand, from the same weights; each gives its loss."""
    net, x, y, loss, by_hand = case(name)
    kept = {"parameters": {key: jnp.array(p.numpy()) for key, p in net.named_parameters()}}

    step = by_xla(training_step(net, loss, RATE))

    @partial(jax.jit, donate_argnums=0)
    def hand(parameters: Any, x: Any, y: Any) -> Any:
        value, gradients = jax.value_and_grad(by_hand)(parameters, x, y)
        return value, jax.tree.map(lambda p, g: p - RATE * g, parameters, gradients)

    def theirs() -> float:
        value, kept["parameters"] = hand(kept["parameters"], x, y)
        return float(value)

    return lambda: float(step(x, y)), theirs


def main() -> None:
    print(
        "| step | ex.compile | jax.grad | ratio | best | best of jax.grad | ratio | losses differ by |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in sys.argv[1:] or ["mlp", "blocks", "gpt"]:
        both = steps(name)
        ours, theirs = (run() for run in both)
        times = times_in_turns(both, TURNS * (200 if name == "mlp" else 3))
        cells = []
        for chosen in (median, min):
            here, there = map(chosen, times)
            cells += [f"{here:.3f}", f"{there:.3f}", f"{here / there:.2f}"]
        print(f"| {name} | {' | '.join(cells)} | {abs(ours - theirs):.0e} |", flush=True)


if __name__ == "__main__":
    main()
