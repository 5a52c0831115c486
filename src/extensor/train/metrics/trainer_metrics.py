"""The metrics by name: which fit a task, how they are made, and how their numbers are read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from extensor.core import entries
from extensor.core.modes import no_grad
from extensor.errors import arguments, type_error, value_error
from extensor.errors.messages import METRIC_OPTION_UNKNOWN, METRIC_UNKNOWN, suggestion
from extensor.train.metrics import classification, probability, regression
from extensor.train.metrics.metric import Metric
from extensor.train.tasks import TASKS, loss_name, possible_tasks, task_of

METRICS: dict[str, type[Metric]] = {
    "accuracy": classification.Accuracy,
    "balanced_accuracy": classification.BalancedAccuracy,
    "precision": classification.Precision,
    "recall": classification.Recall,
    "f1": classification.F1,
    "roc_auc": probability.ROCAUC,
    "average_precision": probability.AveragePrecision,
    "log_loss": probability.LogLoss,
    "calibration_error": probability.CalibrationError,
    "top_k_accuracy": classification.TopKAccuracy,
    "confusion_matrix": classification.ConfusionMatrix,
    "r2": regression.R2,
    "mean_absolute_error": regression.MeanAbsoluteError,
    "root_mean_squared_error": regression.RootMeanSquaredError,
    "median_absolute_error": regression.MedianAbsoluteError,
    "perplexity": probability.Perplexity,
}
# How the names of other numbers end that should go down or up, and of those that are from 0 to 1.
_FALLING = ("loss", "error", "perplexity")
_RISING = ("correlation", "kappa", "iou", "dice")
_FRACTIONS = ("accuracy", "precision", "recall", "f1", "roc_auc", "calibration_error")


def named_metric(
    name: str,
    task: str = "multiclass",
    num_classes: int | None = None,
    scores: str = "logits",
    **options: Any,
) -> Metric:
    """The metric called ``name``, for ``task``.

    ``num_classes`` and ``scores``, "logits" or "probabilities", are passed on if the metric takes
    them, ``options`` anyway. For "sequence" the classes are along the last axis, if nothing else is
    said.

    >>> from extensor.train.metrics import named_metric
    >>> metric = named_metric("f1", "binary")
    >>> metric.update([1.0, -1.0, 1.0], [1, 0, 0])
    >>> round(metric.compute(), 4)
    0.6667
    """
    op = "named_metric"
    kind = METRICS.get(arguments.text(op, "name", name))
    if kind is None:
        raise METRIC_UNKNOWN.error(suggestion(name, METRICS), name=name)
    fitting = metrics_for(task)
    if name not in fitting:
        requirement = f"name must be a metric for task={task!r}: {', '.join(fitting)}"
        raise value_error(op, requirement, name=name)
    known = inspect.signature(kind).parameters
    for option in options:
        if option not in known:
            raise METRIC_OPTION_UNKNOWN.error(suggestion(option, known), option=option, name=name)
    filled: dict[str, Any] = {"task": task, "scores": scores}
    if num_classes is not None and task != "binary":
        filled["num_classes"] = num_classes
    if TASKS[task].class_axis != 1:
        filled["class_axis"] = TASKS[task].class_axis
    return kind(**{key: x for key, x in filled.items() if key in known} | options)


def metrics_for(task: str) -> tuple[str, ...]:
    """The names of all metrics that fit ``task``.

    >>> from extensor.train.metrics import metrics_for
    >>> metrics_for("sequence")
    ('accuracy', 'log_loss', 'top_k_accuracy', 'perplexity')
    """
    arguments.choice("metrics_for", "task", task, tuple(TASKS))
    return tuple(name for name, kind in METRICS.items() if task in kind.tasks)


def default_metrics(task: str) -> tuple[str, ...]:
    """The names of the metrics for ``task`` if none are asked for; the first is the one to look at.

    >>> from extensor.train.metrics import default_metrics
    >>> default_metrics("binary")
    ('accuracy', 'roc_auc', 'f1')
    """
    arguments.choice("default_metrics", "task", task, tuple(TASKS))
    return TASKS[task].metrics


def display_name(name: str) -> str:
    """The name of a metric or another number of a run, as people read it."""
    return name.replace("_", " ")


def is_falling(name: str) -> bool:
    """True if the number called ``name`` should go down: a loss, an error, a perplexity.

    >>> from extensor.train.metrics import is_falling
    >>> is_falling("validation_log_loss"), is_falling("r2")
    (True, False)
    """
    return direction_of(arguments.text("is_falling", "name", name)) < 0


def direction_of(name: str) -> int:
    """1 if the number called ``name`` should go up, -1 if it should go down, 0 if nobody can tell."""
    for known, kind in METRICS.items():
        if name.endswith(known) and kind.higher_is_better is not None:
            return 1 if kind.higher_is_better else -1
    return -1 if name.endswith(_FALLING) else int(name.endswith((*_RISING, *_FRACTIONS)))


def best_mode(op: str, monitor: str, mode: str | None) -> str:
    """``mode``, or "min" or "max" as the name of the number tells."""
    direction = direction_of(arguments.text(op, "monitor", monitor))
    if mode is None and direction == 0:
        requirement = "mode must be 'min' or 'max' for a number not known to be better so"
        raise value_error(op, requirement, monitor=monitor)
    known = "min" if direction < 0 else "max"
    chosen: str = arguments.choice(op, "mode", known if mode is None else mode, ("min", "max"))
    return chosen


def is_fraction(name: str) -> bool:
    """True if the number called ``name`` is from 0 to 1 and shown in percent.

    >>> from extensor.train.metrics import is_fraction
    >>> is_fraction("validation_accuracy"), is_fraction("r2")
    (True, False)
    """
    return arguments.text("is_fraction", "name", name).endswith(_FRACTIONS)


_ARGUMENT = "train_metrics"


class RunningMetrics:
    """Metrics by name, of the batches since the epoch began.

    A checkpoint has their state, so that a run resumed within an epoch has the same log. Of an epoch
    whose first batches they have not seen they say nothing. Those that are only named are made for
    ``loss`` when the first output is known.
    """

    def __init__(self, given: Mapping[str, Metric | str], loss: Any) -> None:
        self.given = dict(given)
        self.metrics: dict[str, Any] = {}  # none before the first output
        self.partial = False
        self._loss = loss
        self._waiting: Mapping[str, Any] = {}  # states of metrics that are not made yet

    def know(self, output: Any) -> None:
        """Make what is only named, for outputs such as ``output``."""
        if self.given and not self.metrics:
            made = metrics_for_output(self.given, self._loss, output)
            for name, metric in made.items():
                check_stateful(name, metric)
                metric.reset()
            self.metrics = _load_copies(made, self._waiting) if self._waiting else made
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
        metrics = _load_copies(self.metrics, used) if used else self.metrics

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
        given = {
            name: deepcopy(known.get(name, name)) for name in names_as_metrics(given, _ARGUMENT)
        }
    given = metrics_by_name(given, loss, _ARGUMENT)
    for name, metric in given.items():
        if not isinstance(metric, str):
            check_stateful(name, metric)
    return RunningMetrics(given, loss)


def _load_copies(metrics: Mapping[str, Any], states: Mapping[str, Any]) -> dict[str, Any]:
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


_TAKEN = ("loss", "lr", "epoch", "step", "event")


def metrics_by_name(metrics: Any, loss: Any, argument: str = "metrics") -> dict[str, Any]:
    """The metrics by name: each an object, or a name of its own that ``loss`` gives a meaning."""
    if metrics is None:
        return {}
    if isinstance(metrics, str | bytes) or not isinstance(metrics, Mapping | Sequence):
        requirement = f"{argument} must be a list of names, as ['accuracy'], or a dict of metrics"
        raise type_error("Trainer", requirement, **{argument: arguments.briefly(metrics)})
    given = dict(metrics) if isinstance(metrics, Mapping) else names_as_metrics(metrics, argument)
    for name, metric in given.items():
        arguments.text("Trainer", "the name of a metric", name)
        if name in _TAKEN:
            requirement = f"the name of a metric must not be one the log has anyway, {_TAKEN}"
            raise value_error("Trainer", requirement, name=name)
        if isinstance(metric, str):
            _check_named(argument, metric, loss)
            continue
        methods = (getattr(metric, method, None) for method in ("reset", "update", "compute"))
        if isinstance(metric, type) or not all(map(callable, methods)):
            arguments.instance("Trainer", f"{argument}[{name!r}]", metric, Metric, "a Metric")
    return given


def names_as_metrics(names: Sequence[Any], argument: str) -> dict[str, str]:
    """Each name, which stands for itself."""
    for name in names:
        arguments.text("Trainer", f"a name in {argument}", name)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise value_error("Trainer", f"{argument} must be given once each", name=twice)
    return {name: name for name in names}


def _check_named(argument: str, name: str, loss: Any) -> None:
    """Refuse a name that stands for nothing, for none of the tasks that ``loss`` may be of."""
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
    """The metrics, those that are only named made for such outputs."""
    task, classes = task_of(loss, output)
    return {
        name: _named_metric(metric, loss, str(task), classes) if isinstance(metric, str) else metric
        for name, metric in given.items()
    }


def _named_metric(name: str, loss: Any, task: str, num_classes: int | None) -> Metric:
    """The metric called ``name``; losses of probabilities have outputs that are no logits."""
    of_probabilities = loss_name(loss) == "binary_cross_entropy"
    return named_metric(name, task, num_classes, "probabilities" if of_probabilities else "logits")
