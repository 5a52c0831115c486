"""Several small networks that learn apart and answer together."""

from __future__ import annotations

from collections.abc import Sequence

from extensor import nn
from extensor.core.tensor import Tensor
from extensor.errors import arguments
from extensor.models.mlp import mlp
from extensor.random import randint


class Committee(nn.Module):
    """Networks of one kind with first parameters of their own; their answer is the mean of all.

    Each batch to train on is for one of them, which chance chooses: so they stay different, and the
    mean is wrong less often than each of them. They need as many times more epochs.
    """

    def __init__(self, members: Sequence[nn.Module]) -> None:
        self.members = nn.ModuleList(members)

    def forward(self, x: Tensor) -> Tensor:
        """The output of one member in training, otherwise the mean of all."""
        if self.training:
            chosen = int(randint(0, len(self.members), ()).item())
            output: Tensor = self.members[chosen](x)
            return output
        total: Tensor = self.members[0](x)
        for member in list(self.members)[1:]:
            total = total + member(x)
        return total / len(self.members)


def committee(
    inputs: int, outputs: int, hidden: Sequence[int] = (100,), p: float = 0.0, members: int = 5
) -> Committee:
    """``members`` networks as :func:`mlp` makes them, which learn apart and answer together.

    >>> import extensor as ex
    >>> net = ex.models.committee(4, 3, members=2)
    >>> net(ex.zeros((5, 4))).shape
    (5, 3)
    """
    members = arguments.integer("committee", "members", members, 1)
    return Committee(
        [mlp(inputs=inputs, hidden=hidden, outputs=outputs, p=p) for _ in range(members)]
    )
