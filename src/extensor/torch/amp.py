"""``torch.amp``: mixed precision on the CPU."""

from __future__ import annotations

import warnings
from typing import Any

from extensor import amp as core
from extensor.torch.dtypes import named_dtype

__all__ = ["GradScaler", "autocast"]


class autocast(core.autocast):  # noqa: N801  as PyTorch has it
    """Compute products in 16 bits inside a block or a decorated function.

    For a device that is not there it warns and changes nothing, as PyTorch does.

    Parameters
    ----------
    device_type : str
        "cpu".
    dtype : dtype_like, optional
        bfloat16, the default, or float16.
    enabled : bool, default True
        Whether the block changes anything.
    cache_enabled : bool, optional
        Without meaning here.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> with torch.autocast("cpu", enabled=False):
    ...     (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    dtype('float32')
    """

    def __init__(
        self,
        device_type: str = "cuda",
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if enabled and device_type != "cpu":
            warnings.warn(
                f"autocast: there is no device {device_type!r}, so it is disabled", stacklevel=2
            )
            enabled = False
        super().__init__(None if dtype is None or not enabled else named_dtype(dtype), enabled)


class GradScaler(core.GradScaler):
    """Multiplies a loss so that small gradients of float16 do not vanish.

    Parameters
    ----------
    device : str, default "cuda"
        "cpu"; for a device that is not there it warns and changes nothing.
    init_scale, growth_factor, backoff_factor, growth_interval : float
        As in ``ex.amp.GradScaler``.
    enabled : bool, default True
        If False, losses and gradients are left as they are.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and device != "cpu":
            warnings.warn(
                f"GradScaler: there is no device {device!r}, so it is disabled", stacklevel=2
            )
            enabled = False
        super().__init__(init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    def is_enabled(self) -> bool:
        """Whether losses are scaled."""
        return bool(self.enabled)


def __dir__() -> list[str]:
    return sorted(__all__)
