"""Layers one after the other: what suffices for tables of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from extensor import nn
from extensor.errors import arguments, type_error, value_error

_HIDDEN = (64, 64)


def mlp(
    sizes: Sequence[int] | None = None,
    p: float = 0.0,
    *,
    hidden: Sequence[int] = _HIDDEN,
    inputs: int | None = None,
    outputs: int | None = None,
) -> nn.Sequential:
    """Linear layers from ``sizes[0]`` inputs to ``sizes[-1]`` outputs, with relu between them.

    Instead of sizes, ``inputs``, ``hidden`` and ``outputs`` may be given; ``hidden`` may be empty.
    Inputs of more axes are flattened; ``p`` is the rate of the dropout after each relu.

    Parameters
    ----------
    sizes : sequence of ints, optional
        The numbers of inputs, of units of each hidden layer, and of outputs.
    p : float, default 0.0
        The rate of the dropout after each relu.
    hidden : sequence of ints, default (64, 64)
        The units of the hidden layers, if ``sizes`` is not given. It may be empty.
    inputs, outputs : int, optional
        The numbers of inputs and outputs, if ``sizes`` is not given.

    Returns
    -------
    Sequential
        The network.

    Raises
    ------
    ValueError
        If neither ``sizes`` nor both ``inputs`` and ``outputs`` are given, or all are.

    Examples
    --------
    >>> import extensor as ex
    >>> net = ex.models.mlp([64, 32, 10])
    >>> net(ex.zeros((3, 1, 8, 8))).shape
    (3, 10)
    >>> ex.models.mlp(inputs=4, hidden=[16], outputs=3).num_parameters()
    131
    """
    apart = {"inputs": inputs, "outputs": outputs}
    if sizes is None:
        if inputs is None or outputs is None:
            requirement = "sizes must be given, or both inputs and outputs"
            raise value_error("mlp", requirement, sizes=None, **apart)
        between = [arguments.integer("mlp", "hidden", x, 1) for x in _listed("hidden", hidden)]
        ends = [arguments.integer("mlp", name, size, 1) for name, size in apart.items()]
        sizes = [ends[0], *between, ends[1]]
    elif inputs is not None or outputs is not None or _listed("hidden", hidden) != [*_HIDDEN]:
        requirement = "sizes must stand alone, without inputs, hidden and outputs"
        raise value_error("mlp", requirement, hidden=arguments.briefly(hidden), **apart)
    else:
        sizes = _listed("sizes", sizes)
        if len(sizes) < 2:
            raise value_error("mlp", "sizes must have at least two numbers", sizes=sizes)
        sizes = [arguments.integer("mlp", "sizes", size, 1) for size in sizes]
    arguments.number("mlp", "p", p, fraction=True)
    layers: list[nn.Module] = [nn.Flatten()]
    for number, (before, after) in enumerate(pairwise(sizes)):
        if number:
            layers.append(nn.ReLU())
            layers += [nn.Dropout(p)] if p else []
        layers.append(nn.Linear(before, after))
    return nn.Sequential(*layers)


def _listed(name: str, sizes: Any) -> list[Any]:
    if not isinstance(sizes, Sequence) or isinstance(sizes, str | bytes):
        requirement = f"{name} must be a list of integers, such as [64, 32, 10]"
        raise type_error("mlp", requirement, **{name: arguments.briefly(sizes)})
    return list(sizes)
