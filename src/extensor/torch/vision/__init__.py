"""The part of torchvision that needs no pictures from the network: transforms of tensors."""

from __future__ import annotations

from extensor.torch.vision import transforms as transforms

__all__ = ["transforms"]


def __dir__() -> list[str]:
    return sorted(__all__)
