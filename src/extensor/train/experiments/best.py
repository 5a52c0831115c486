"""The best epoch of a run: its weights are kept, and what is measured and handed on is their model."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from extensor.nn.module import Module
from extensor.optim import EMA
from extensor.train.callbacks import BestCheckpoint

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer

BEST = "best"


class BestWeights(BestCheckpoint):
    """A :class:`BestCheckpoint` that without a folder keeps the weights in memory."""

    writes: tuple[str, ...] = ()  # it needs no folder

    def __init__(self, monitor: str = "validation_loss", mode: str | None = None) -> None:
        super().__init__(monitor, mode)
        self.weights: dict[str, Any] | None = None

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        if not self.improved(record):
            return
        if trainer.run is not None:
            trainer.save(BEST)
        else:
            state = trainer.take_step.state_dict(copied=True)
            self.weights = deepcopy({key: state[key] for key in ("model", "ema")})


def load_weights(model: Module, state: Mapping[str, Any]) -> None:
    """Put what was learned into ``model``, the averages if there are any."""
    model.load_state_dict(state["model"])
    if state["ema"]:
        ema = EMA(model)
        ema.load_state_dict(state["ema"])
        ema.copy_to()
    model.eval()
