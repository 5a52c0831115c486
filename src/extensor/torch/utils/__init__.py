"""``torch.utils``: data sets and loaders, and recomputation."""

from __future__ import annotations

from extensor.torch.utils import checkpoint as checkpoint
from extensor.torch.utils import data as data

__all__ = ["checkpoint", "data"]


def __dir__() -> list[str]:
    return sorted(__all__)
