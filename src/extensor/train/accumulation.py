"""Gradients of the batches that make one step, added by the tree that workers add theirs by."""

from __future__ import annotations

from collections.abc import Sequence

from extensor.core.tensor import Tensor
from extensor.distributed.tree import Node, Sums

_Gradients = list[Tensor | None]


class Accumulated:
    """The gradients of ``count`` batches: each batch leaves its own in ``.grad``, and gives them up."""

    def __init__(self, parameters: Sequence[Tensor], count: int) -> None:
        self.parameters = parameters
        self._sums: Sums[_Gradients] = Sums(count, _added)

    def take(self, number: int) -> None:
        """Take those of batch ``number``, the next one."""
        taken = [parameter.grad for parameter in self.parameters]
        for parameter in self.parameters:
            parameter.grad = None
        self._sums.put(Node(0, number), taken)

    def give(self) -> None:
        """Let the parameters have the sums of all batches."""
        ((_, total),) = self._sums.nodes
        for parameter, gradient in zip(self.parameters, total, strict=True):
            parameter.grad = gradient


def _added(left: _Gradients, right: _Gradients) -> _Gradients:
    return [b if a is None else a if b is None else a + b for a, b in zip(left, right, strict=True)]
