"""Metrics of the training batches of an epoch, as they come."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from extensor.core import entries
from extensor.core.modes import no_grad
from extensor.errors import type_error
from extensor.train.checks import by_name, checked_metrics, made_metrics
from extensor.train.metrics import Metric

Made = Callable[[Mapping[str, Any], Any], dict[str, Metric]]
_ARGUMENT = "train_metrics"


class RunningMetrics:
    """Metrics by name, of the batches since the epoch began.

    A checkpoint has their state, so that a run resumed within an epoch has the same log. Of an epoch
    whose first batches they have not seen they say nothing. Those that are only named are made by
    ``made`` when the first output is known.
    """

    def __init__(self, given: Mapping[str, Metric | str], made: Made) -> None:
        self.given = dict(given)
        self.metrics: dict[str, Any] = {}  # none before the first output
        self.partial = False
        self._made = made
        self._waiting: Mapping[str, Any] = {}  # states of metrics that are not made yet

    def know(self, output: Any) -> None:
        """Make what is only named, for outputs such as ``output``."""
        if self.given and not self.metrics:
            made = self._made(self.given, output)
            for name, metric in made.items():
                check_stateful(name, metric)
                metric.reset()
            self.metrics = _loaded(made, self._waiting) if self._waiting else made
            self._waiting = {}

    def update(self, output: Any, target: Any) -> None:
        """Take a batch into account."""
        self.know(output)
        with no_grad():
            for metric in self.metrics.values():
                metric.update(output, target)

    def compute(self) -> dict[str, Any]:
        """The values of the epoch so far."""
        if self.partial:
            return {}
        return {name: metric.compute() for name, metric in self.metrics.items()}

    def reset(self) -> None:
        """An epoch begins."""
        self.partial = False
        self._waiting = {}
        for metric in self.metrics.values():
            metric.reset()

    def state_dict(self) -> dict[str, Any]:
        """The sums so far by name; nothing of an epoch seen in part."""
        if self.partial:
            return {}
        made = {name: metric.state_dict() for name, metric in self.metrics.items()}
        return made or dict(self._waiting)

    def prepared_state(self, op: str, state: Any, batch: int) -> Callable[[], None]:
        """What takes over ``state``, of an epoch of which ``batch`` batches are over.

        The run may have had other metrics before, or none.
        """
        given = entries.mapping(op, state, "train_metrics")
        states = {
            name: entries.mapping(op, given[name], f"train_metrics.{name}")
            for name in self.given
            if name in given
        }
        is_partial = batch > 0 and len(states) < len(self.given)
        used = {} if is_partial or not batch else states
        metrics = _loaded(self.metrics, used) if used else self.metrics

        def commit() -> None:
            if not used:
                self.reset()
            self.partial = is_partial
            self.metrics = metrics
            self._waiting = {} if metrics else used

        return commit


def running_metrics(given: Any, known: Mapping[str, Metric | str], loss: Any) -> RunningMetrics:
    """The metrics that ``given`` names or holds; a name may be that of one ``known`` already."""
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        # A copy, as what the known one sees is another matter.
        given = {name: deepcopy(known.get(name, name)) for name in by_name(given, _ARGUMENT)}
    given = checked_metrics(given, loss, _ARGUMENT)
    for name, metric in given.items():
        if not isinstance(metric, str):
            check_stateful(name, metric)
    return RunningMetrics(given, lambda names, output: made_metrics(names, loss, output))


def _loaded(metrics: Mapping[str, Any], states: Mapping[str, Any]) -> dict[str, Any]:
    """Copies that have these states: if one does not fit, none has changed."""
    copies = {name: deepcopy(metric) for name, metric in metrics.items()}
    for name, metric in copies.items():
        metric.load_state_dict(dict(states[name]))
    return copies


def check_stateful(name: str, metric: Any) -> None:
    """Refuse a metric that a checkpoint could not hold."""
    if not all(hasattr(metric, method) for method in ("state_dict", "load_state_dict")):
        requirement = (
            f"train_metrics[{name!r}] must have a state_dict, so that a run can be resumed within "
            "an epoch (among metrics, which are of validation data, it needs none)"
        )
        raise type_error("Trainer", requirement, metric=type(metric).__name__)
