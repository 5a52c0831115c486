"""``torch.optim.swa_utils``: averages of the parameters of a model."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from extensor.core.modes import no_grad
from extensor.torch.nn.module import Module

__all__ = ["AveragedModel", "get_ema_multi_avg_fn"]


class AveragedModel(Module):
    """A copy of a model whose parameters are averages.

    Parameters
    ----------
    model : Module
        The model.
    avg_fn : callable, optional
        ``avg_fn(average, parameter, count)``; by default the mean.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> model = torch.nn.Linear(2, 1)
    >>> average = torch.optim.swa_utils.AveragedModel(model)
    >>> average.update_parameters(model)
    >>> int(average.n_averaged)
    1
    """

    def __init__(
        self,
        model: Any,
        device: Any = None,
        avg_fn: Any = None,
        multi_avg_fn: Any = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        self.module = copy.deepcopy(model)
        self.n_averaged = 0
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Any) -> None:
        """Take the present parameters into the averages."""
        own, new = list(self.module.parameters()), list(model.parameters())
        if self.use_buffers:
            own, new = own + list(self.module.buffers()), new + list(model.buffers())
        with no_grad():
            if self.n_averaged == 0:
                for average, value in zip(own, new, strict=True):
                    average.copy_(value)
            elif self.multi_avg_fn is not None:
                self.multi_avg_fn(own, new, self.n_averaged)
            else:
                for average, value in zip(own, new, strict=True):
                    average.copy_(self._average(average, value))
            if not self.use_buffers:
                for average, value in zip(self.module.buffers(), model.buffers(), strict=True):
                    average.copy_(value)
        self.n_averaged += 1

    def _average(self, average: Any, value: Any) -> Any:
        if self.avg_fn is not None:
            return self.avg_fn(average, value, self.n_averaged)
        return average + (value - average) / (self.n_averaged + 1)


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """The function that keeps exponential averages."""

    def average(averages: Any, values: Any, count: int) -> None:
        for mean, value in zip(averages, values, strict=True):
            mean.copy_(mean * decay + value * (1 - decay))

    return average
