"""What can be hung into training: a callback sees its events, and may ask it to stop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer


class Callback:
    """The events of training, in their order; a subclass defines those it is interested in.

    A record is what the log says of a step or an epoch: epoch, step, loss, learning rate and so on.
    ``state_dict`` is what a callback needs to go on in a resumed run. ``writes`` names what it alone
    writes into the folder of the run, which the trainer must have then.
    """

    writes: tuple[str, ...] = ()
    only_first = False  # whether only the first of several workers calls it, as it writes or shows

    def fit_began(self, trainer: Trainer) -> None:
        """Training begins, or goes on from a checkpoint."""

    def gradients_known(self, trainer: Trainer) -> None:
        """The gradients of a step are in ``.grad`` of the parameters, not clipped yet."""

    def wants_gradients(self, trainer: Trainer) -> bool:
        """Whether :meth:`gradients_known` is to be called in this step."""
        return type(self).gradients_known is not Callback.gradients_known

    def step_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        """The optimizer has taken a step."""

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        """An epoch is over, and its validation."""

    def fit_ended(self, trainer: Trainer) -> None:
        """Training is over, or was stopped by an error."""

    def state_dict(self) -> dict[str, Any]:
        """Plain values and arrays, by name."""
        return {}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave."""


def monitored(name: str, record: Mapping[str, Any], monitor: str) -> float:
    """The number called ``monitor`` in the record of an epoch."""
    value = record.get(monitor)
    if not isinstance(value, int | float):
        known = [key for key, x in record.items() if isinstance(x, int | float)]
        raise ValueError(f"{name}: monitor must be one of {known}, got monitor={monitor!r}")
    return float(value)
