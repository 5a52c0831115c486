"""The metrics of a trainer: made from names once the outputs are known, and kept over an epoch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from extensor.core import entries
from extensor.core.modes import no_grad
from extensor.errors import arguments, type_error, value_error
from extensor.train.metrics.metric import Metric
from extensor.train.metrics.registry import metrics_for, named_metric
from extensor.train.tasks import possible_tasks, scores_for, task_of

_ARGUMENT = "train_metrics"


class RunningMetrics:
    """Metrics by name, over the batches since the epoch began.

    A checkpoint has their state, so that a run resumed within an epoch has the same log. They have no
    values for an epoch whose first batches they did not see. Metrics given by name are created for
    ``loss`` when the first output is known.
    """

    def __init__(self, given: Mapping[str, Metric | str], loss: Any) -> None:
        self.given = dict(given)
        self.metrics: dict[str, Any] = {}  # none before the first output
        self.partial = False
        self._loss = loss
        self._waiting: Mapping[str, Any] = {}  # states of metrics that are not made yet

    def create(self, output: Any) -> None:
        """Create the metrics given by name, for outputs such as ``output``."""
        if self.given and not self.metrics:
            made = metrics_for_output(self.given, self._loss, output)
            for name, metric in made.items():
                check_stateful(name, metric)
                metric.reset()
            self.metrics = _load_copies(made, self._waiting) if self._waiting else made
            self._waiting = {}

    def update(self, output: Any, target: Any) -> None:
        """Add a batch."""
        self.create(output)
        with no_grad():
            for metric in self.metrics.values():
                metric.update(output, target)

    def compute(self) -> dict[str, Any]:
        """The values of the epoch so far."""
        if self.partial:
            return {}
        return {name: metric.compute() for name, metric in self.metrics.items()}

    def reset(self) -> None:
        """Start a new epoch."""
        self.partial = False
        self._waiting = {}
        for metric in self.metrics.values():
            metric.reset()

    def state_dict(self) -> dict[str, Any]:
        """The states so far by name; none if the epoch was seen only in part."""
        if self.partial:
            return {}
        made = {name: metric.state_dict() for name, metric in self.metrics.items()}
        return made or dict(self._waiting)

    def prepared_state(self, op: str, state: Any, batch: int) -> Callable[[], None]:
        """Check ``state``, saved after ``batch`` batches; returns the function that loads it.

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
        metrics = _load_copies(self.metrics, used) if used else self.metrics

        def commit() -> None:
            if not used:
                self.reset()
            self.partial = is_partial
            self.metrics = metrics
            self._waiting = {} if metrics else used

        return commit


def running_metrics(given: Any, known: Mapping[str, Metric | str], loss: Any) -> RunningMetrics:
    """The metrics in ``given``, objects or names; a name may be that of a metric in ``known``."""
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        # A copy, because the known metric is updated with other batches.
        given = {
            name: deepcopy(known.get(name, name)) for name in names_as_metrics(given, _ARGUMENT)
        }
    given = metrics_by_name(given, loss, _ARGUMENT)
    for name, metric in given.items():
        if not isinstance(metric, str):
            check_stateful(name, metric)
    return RunningMetrics(given, loss)


def _load_copies(metrics: Mapping[str, Any], states: Mapping[str, Any]) -> dict[str, Any]:
    """Copies with these states. If a state does not fit, no metric has changed."""
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


_TAKEN = ("loss", "lr", "epoch", "step", "event")


def metrics_by_name(metrics: Any, loss: Any, argument: str = "metrics") -> dict[str, Any]:
    """The metrics by name: each an object, or the name of a metric that fits ``loss``."""
    if metrics is None:
        return {}
    if isinstance(metrics, str | bytes) or not isinstance(metrics, Mapping | Sequence):
        requirement = f"{argument} must be a list of names, as ['accuracy'], or a dict of metrics"
        raise type_error("Trainer", requirement, **{argument: arguments.briefly(metrics)})
    given = dict(metrics) if isinstance(metrics, Mapping) else names_as_metrics(metrics, argument)
    for name, metric in given.items():
        arguments.text("Trainer", "the name of a metric", name)
        if name in _TAKEN:
            requirement = (
                f"the name of a metric must not be one that the log already uses, {_TAKEN}"
            )
            raise value_error("Trainer", requirement, name=name)
        if isinstance(metric, str):
            _check_named(argument, metric, loss)
            continue
        methods = (getattr(metric, method, None) for method in ("reset", "update", "compute"))
        if isinstance(metric, type) or not all(map(callable, methods)):
            arguments.instance("Trainer", f"{argument}[{name!r}]", metric, Metric, "a Metric")
    return given


def names_as_metrics(names: Sequence[Any], argument: str) -> dict[str, str]:
    """Each name, mapped to itself."""
    for name in names:
        arguments.text("Trainer", f"a name in {argument}", name)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise value_error("Trainer", f"{argument} must not be repeated", name=twice)
    return {name: name for name in names}


def _check_named(argument: str, name: str, loss: Any) -> None:
    """Refuse an unknown name, and a metric that fits none of the tasks that ``loss`` may be for."""
    tasks = possible_tasks(loss)
    if not tasks:
        requirement = (
            f"{argument} must be objects, as {{{name!r}: Accuracy()}}, for a loss that does not "
            "say whether it is of classes or of numbers"
        )
        raise value_error("Trainer", requirement, loss=arguments.briefly(loss))
    fitting = [task for task in tasks if name in metrics_for(task)]
    _named_metric(name, loss, (fitting or tasks)[-1], 2)


def metrics_for_output(given: Mapping[str, Any], loss: Any, output: Any) -> dict[str, Metric]:
    """The metrics, where those given by name are created for such outputs."""
    task, classes = task_of(loss, output)
    return {
        name: _named_metric(metric, loss, str(task), classes) if isinstance(metric, str) else metric
        for name, metric in given.items()
    }


def _named_metric(name: str, loss: Any, task: str, num_classes: int | None) -> Metric:
    """The metric called ``name``, for outputs that are logits or probabilities, as ``loss`` takes."""
    return named_metric(name, task, num_classes, scores_for(loss))
