"""Normalizations of networks: the output, and the gradients of the input, weight and bias."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.groups.cases import sample
from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, Call, Measure, Notes

# From (weight, bias, running_mean, running_var) to what the function takes besides x.
Arguments = Callable[..., tuple[Any, ...]]


def _last(weight: Any, bias: Any, *_: Any) -> tuple[Any, ...]:
    return tuple(weight.shape), weight, bias


def _last_of_weight(weight: Any, *_: Any) -> tuple[Any, ...]:
    return tuple(weight.shape), weight


def _eight_groups(weight: Any, bias: Any, *_: Any) -> tuple[Any, ...]:
    return 8, weight, bias


def _own(weight: Any, bias: Any, *_: Any) -> tuple[Any, ...]:
    return None, None, weight, bias, True


def _running(weight: Any, bias: Any, mean: Any, variance: Any) -> tuple[Any, ...]:
    return mean, variance, weight, bias, False


@dataclass(frozen=True)
class Layer:
    name: str
    function: str
    shape: tuple[int, ...]
    arguments: Arguments

    @property
    def parameters(self) -> int:
        """Numbers in a weight: one for each element of a row, or for each channel."""
        return self.shape[-1] if len(self.shape) == 2 else self.shape[1]


IMAGES = (16, 64, 32, 32)
LAYERS = (
    Layer("layer_norm", "layer_norm", (1024, 128), _last),
    Layer("layer_norm", "layer_norm", (4096, 768), _last),
    Layer("rms_norm", "rms_norm", (4096, 768), _last_of_weight),
    Layer("group_norm", "group_norm", IMAGES, _eight_groups),
    Layer("instance_norm", "instance_norm", IMAGES, _own),
    Layer("batch_norm", "batch_norm", IMAGES, _own),
    Layer("batch_norm", "batch_norm", (1024, 128), _own),
    Layer("batch_norm evaluating", "batch_norm", IMAGES, _running),
    Layer("batch_norm evaluating", "batch_norm", (1024, 128), _running),
)


def measures(libraries: Libraries, quick: bool, _notes: Notes) -> Iterator[Measure]:
    for layer in LAYERS[:1] if quick else LAYERS:
        for way, moved in (("forward", 2), ("backward", 3)):
            yield Measure(
                "normalization",
                f"{layer.name} {way}",
                " x ".join(map(str, layer.shape)),
                {label: partial(_call, libraries, label, layer, way) for label in (OURS, "torch")},
                recorded=way == "backward",
                bytes=4.0 * moved * math.prod(layer.shape),
            )


def _call(libraries: Libraries, label: str, layer: Layer, way: str) -> Call:
    recorded, vector = way == "backward", (layer.parameters,)
    x, weight, bias = (
        libraries.array(label, sample("normal", shape, seed), requires_grad=recorded)
        for seed, shape in enumerate((layer.shape, vector, vector))
    )
    running = (libraries.array(label, sample("positive", vector, seed)) for seed in (3, 4))
    given = layer.arguments(weight, bias, *running)
    # torch.batch_norm is another one than torch.nn.functional.batch_norm.
    path = f"nn.functional.{layer.function}" if label == "torch" else layer.function
    normalize = partial(libraries.find(label, path), x, *given)
    if not recorded:
        return normalize
    output = normalize()
    gradient = libraries.array(label, sample("normal", layer.shape, 9))
    grad = libraries[label].autograd.grad if label == "torch" else libraries[label].grad
    wanted = [x, *(tensor for tensor in (weight, bias) if any(tensor is used for used in given))]
    return partial(grad, output, wanted, gradient, retain_graph=True)
