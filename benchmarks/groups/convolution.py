"""Convolutions of networks: the output, the gradient of the input and that of the weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from benchmarks.groups.cases import sample
from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, Call, Measure, Notes

WAYS = ("forward", "grad x", "grad weight")


@dataclass(frozen=True)
class Layer:
    """Square images and kernels; ``channels`` are those of the input and of the output."""

    name: str
    batch: int
    channels: tuple[int, int]
    size: int
    kernel: int
    padding: int
    stride: int = 1
    groups: int = 1

    @property
    def x_shape(self) -> tuple[int, ...]:
        return (self.batch, self.channels[0], self.size, self.size)

    @property
    def weight_shape(self) -> tuple[int, ...]:
        return (self.channels[1], self.channels[0] // self.groups, self.kernel, self.kernel)

    @property
    def outputs(self) -> int:
        along = (self.size + 2 * self.padding - self.kernel) // self.stride + 1
        return self.batch * self.channels[1] * along * along


LAYERS = (
    Layer("LeNet 1", 64, (1, 6), 28, 5, 2),
    Layer("LeNet 2", 64, (6, 16), 14, 5, 0),
    Layer("stem", 16, (3, 64), 32, 3, 1),
    Layer("residual 64", 16, (64, 64), 32, 3, 1),
    Layer("residual 128", 16, (128, 128), 16, 3, 1),
    Layer("residual 256", 16, (256, 256), 8, 3, 1),
    Layer("residual stride 2", 16, (64, 128), 32, 3, 1, stride=2),
    Layer("1x1", 16, (256, 64), 14, 1, 0),
    Layer("1x1 stride 2", 16, (64, 128), 32, 1, 0, stride=2),
    Layer("grouped", 16, (64, 64), 32, 3, 1, groups=4),
    Layer("depthwise 64", 4, (64, 64), 112, 3, 1, groups=64),
    Layer("depthwise 256", 4, (256, 256), 28, 3, 1, groups=256),
    Layer("depthwise stride 2", 4, (256, 256), 28, 3, 1, stride=2, groups=256),
)


def measures(libraries: Libraries, quick: bool, _notes: Notes) -> Iterator[Measure]:
    for layer in LAYERS[:2] if quick else LAYERS:
        for way in WAYS:
            yield Measure(
                "convolution",
                f"{layer.name} {way}",
                " x ".join(map(str, layer.x_shape)),
                {label: partial(_call, libraries, label, layer, way) for label in (OURS, "torch")},
                recorded=way != "forward",
                flops=2.0 * layer.outputs * layer.channels[0] // layer.groups * layer.kernel**2,
            )


def _call(libraries: Libraries, label: str, layer: Layer, way: str) -> Call:
    recorded = way != "forward"
    x, weight, bias = (
        libraries.array(label, sample("normal", shape, seed), requires_grad=recorded)
        for seed, shape in enumerate((layer.x_shape, layer.weight_shape, layer.channels[1:]))
    )
    convolve = partial(
        libraries.find(label, "conv2d"),
        *(x, weight, bias, layer.stride, layer.padding),
        groups=layer.groups,
    )
    if not recorded:
        return convolve
    output = convolve()
    gradient = libraries.array(label, sample("normal", tuple(output.shape), 9))
    grad = libraries[label].autograd.grad if label == "torch" else libraries[label].grad
    wanted = [x] if way == "grad x" else [weight, bias]
    return partial(grad, output, wanted, gradient, retain_graph=True)
