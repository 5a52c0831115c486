"""Running statistics against PyTorch's, over several steps of training."""

from __future__ import annotations

import numpy as np
import pytest

import extensor as ex

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
@pytest.mark.parametrize("draw", range(8))
def test_statistics_move_as_there(name: str, draw: int, rng: np.random.Generator) -> None:
    shape = (*rng.integers(1, 5, 2), *rng.integers(2, 5, draw % 3 + 1))
    momentum = float(rng.uniform(0, 1))
    attribute = {"training": True} if name == "batch_norm" else {"use_input_stats": True}
    start = rng.normal(0, 1, shape[1]), rng.uniform(1, 2, shape[1])
    ours = [ex.tensor(x) for x in start]
    theirs = [torch.tensor(x) for x in start]
    for _ in range(3):
        x = rng.normal(1, 3, shape)
        getattr(ex, name)(x, *ours, **attribute, momentum=momentum)
        getattr(torch.nn.functional, name)(torch.tensor(x), *theirs, **attribute, momentum=momentum)
        for mine, peer in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine.numpy(), peer.numpy(), rtol=1e-12)
