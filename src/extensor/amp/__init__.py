"""Mixed precision: products in 16 bits, everything delicate and the parameters in float32."""

from extensor.amp.autocasting import autocast
from extensor.amp.gradient_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]


def __dir__() -> list[str]:
    return sorted(__all__)
