"""Layers one after the other: what suffices for tables of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from extensor import nn
from extensor.errors import arguments, type_error, value_error


def mlp(sizes: Sequence[int], p: float = 0.0) -> nn.Sequential:
    """Linear layers from ``sizes[0]`` inputs to ``sizes[-1]`` outputs, with relu between them.

    Inputs of more axes are flattened; ``p`` is the rate of the dropout after each relu.

    >>> import extensor as ex
    >>> net = ex.models.mlp([64, 32, 10])
    >>> net(ex.zeros((3, 1, 8, 8))).shape
    (3, 10)
    """
    if not isinstance(sizes, Sequence) or isinstance(sizes, str | bytes):
        requirement = "sizes must be a list of integers, such as [64, 32, 10]"
        raise type_error("mlp", requirement, sizes=arguments.briefly(sizes))
    if len(sizes) < 2:
        raise value_error("mlp", "sizes must have at least two numbers", sizes=list(sizes))
    sizes = [arguments.integer("mlp", "sizes", size, 1) for size in sizes]
    arguments.number("mlp", "p", p, fraction=True)
    layers: list[nn.Module] = [nn.Flatten()]
    for number, (inputs, outputs) in enumerate(pairwise(sizes)):
        if number:
            layers.append(nn.ReLU())
            layers += [nn.Dropout(p)] if p else []
        layers.append(nn.Linear(inputs, outputs))
    return nn.Sequential(*layers)
