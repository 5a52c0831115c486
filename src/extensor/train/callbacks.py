"""Callbacks that watch a number, or the gradients."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from extensor.core import entries
from extensor.errors import arguments, type_error
from extensor.optim.clipping import norm_of
from extensor.train.callback import Callback, monitored
from extensor.train.metrics import is_falling

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer


class Best(Callback):
    """Keeps the best value of ``monitor`` and how many epochs have gone by without a better one.

    Without a ``mode``, "min" or "max", the name says it: losses, errors and perplexities should fall.
    """

    def __init__(self, monitor: str, mode: str | None, min_delta: float = 0.0) -> None:
        op = type(self).__name__
        self.monitor = arguments.text(op, "monitor", monitor)
        if mode is None:
            mode = "min" if is_falling(monitor) else "max"
        self.mode = arguments.choice(op, "mode", mode, ("min", "max"))
        self.sign = 1.0 if mode == "min" else -1.0
        self.min_delta = arguments.number(op, "min_delta", min_delta, least=0)
        self.best = self.sign * inf
        self.bad = 0

    def improved(self, record: Mapping[str, Any]) -> bool:
        """Look at the record of an epoch."""
        value = monitored(type(self).__name__, record, self.monitor)
        better = self.sign * value < self.sign * self.best - self.min_delta
        self.best = value if better else self.best
        self.bad = 0 if better else self.bad + 1
        return better

    def state_dict(self) -> dict[str, Any]:
        watched = {"monitor": self.monitor, "mode": self.mode}
        return {**watched, "best": self.best, "bad": self.bad}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """The best of another number says nothing of this one: then it begins anew."""
        op = f"{type(self).__name__}.load_state_dict"
        watched = {"monitor": self.monitor, "mode": self.mode}
        given = entries.mapping(op, state_dict)
        given = entries.with_keys(op, {**watched, **given}, [*watched, "best", "bad"])
        best = float(entries.number(op, "best", given["best"]))
        bad = entries.count(op, "bad", given["bad"])
        for key in watched:
            if not isinstance(given[key], str):
                kind = type(given[key]).__name__
                raise type_error(op, f"{key} must be a string", **{key: kind})
        if all(given[key] == value for key, value in watched.items()):
            self.best, self.bad = best, bad


class EarlyStopping(Best):
    """Stops training when ``monitor`` has not improved by ``min_delta`` for ``patience`` epochs."""

    def __init__(
        self,
        monitor: str = "validation_loss",
        patience: int = 5,
        mode: str | None = None,
        min_delta: float = 0.0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience = arguments.integer("EarlyStopping", "patience", patience, 1)

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        if not self.improved(record) and self.bad >= self.patience:
            trainer.stop()


class BestCheckpoint(Best):
    """Writes ``checkpoints/best.safetensors`` whenever ``monitor`` is better than ever before."""

    writes: tuple[str, ...] = ("checkpoints/best.safetensors",)

    def __init__(self, monitor: str = "validation_loss", mode: str | None = None) -> None:
        super().__init__(monitor, mode)

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        if self.improved(record):
            trainer.save("best")


class GradientHealth(Callback):
    """Logs the norm of each parameter's gradient every ``every`` steps.

    Those that are all zeros, or not finite, are named besides.
    """

    def __init__(self, every: int = 50) -> None:
        self.every = arguments.integer("GradientHealth", "every", every, 1)

    def wants_gradients(self, trainer: Trainer) -> bool:
        is_own = type(self).gradients_known is not GradientHealth.gradients_known
        return is_own or (trainer.step + 1) % self.every == 0

    def gradients_known(self, trainer: Trainer) -> None:
        step = trainer.step + 1  # the one that is being taken
        if step % self.every:
            return
        norms = {
            name: norm_of([parameter.grad._array], 2.0)
            for name, parameter in trainer.model.named_parameters()
            if parameter.grad is not None
        }
        trainer.log(
            {
                "event": "gradients",
                "step": step,
                "norms": {name: norm for name, norm in norms.items() if isfinite(norm)},
                "zero": [name for name, norm in norms.items() if norm == 0],
                "not_finite": [name for name, norm in norms.items() if not isfinite(norm)],
            }
        )
