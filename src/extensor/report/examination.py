"""A trained model examined: which classes it takes for which, and where it is most wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from extensor.data import Dataset
from extensor.errors import arguments, value_error
from extensor.ops import sigmoid
from extensor.report.examined_classes import examine_binary, examine_labels, examine_multiclass
from extensor.report.examined_numbers import examine_numbers
from extensor.report.examined_sequences import examine_sequences
from extensor.report.findings import Examination, Examined, checked_names
from extensor.train import Experiment
from extensor.train.experiments.goal import Goal

_TASKS: dict[str, Callable[[Examined], Examination]] = {
    "regression": examine_numbers,
    "binary": examine_binary,
    "multiclass": examine_multiclass,
    "multilabel": examine_labels,
    "sequence": examine_sequences,
}
_SCORES = ("logits", "probabilities")


def examine(
    dataset: Dataset | None,
    outputs: Any,
    targets: Any,
    task: str | None = None,
    class_names: Sequence[str] | None = None,
    sample_names: Sequence[str] | None = None,
    scores: str = "logits",
) -> Examination | None:
    """Look at the outputs for the samples of ``dataset``: scores of classes, or numbers.

    ``task`` is "regression", "binary", "multiclass", "multilabel" or "sequence"; without one the
    shapes say whether it is classes or numbers, and None is returned if it is neither.
    ``class_names`` are those of the classes (of two, the negative one first), of the labels, or of
    the numbers of a regression; ``sample_names`` those of the samples, such as their files.
    ``scores`` says whether outputs are "logits" or "probabilities".

    >>> import numpy as np
    >>> from extensor.report import examine
    >>> found = examine(None, np.array([2.0, -1.0, 0.5]), np.array([1, 0, 0]), "binary")
    >>> found.confusion.tolist(), found.worst[0].number
    ([[1, 1], [0, 1]], 2)
    """
    outputs, targets = np.asarray(outputs), np.asarray(targets)
    arguments.choice("examine", "scores", scores, _SCORES)
    if task is None:
        task = _task_of(outputs, targets)
        if task is None:
            return None
    if task not in _TASKS:
        words = ", ".join(map(repr, _TASKS))
        raise value_error("examine", f"task must be one of {words}", task=arguments.briefly(task))
    count = len(outputs) if outputs.ndim else 0
    if count == 0 or targets.ndim == 0 or len(targets) != count:
        requirement = "outputs and targets must be of the same samples, at least one"
        shapes = {"outputs_shape": outputs.shape, "targets_shape": targets.shape}
        raise value_error("examine", requirement, **shapes)
    if dataset is not None and hasattr(dataset, "__len__") and len(dataset) != count:
        requirement = "outputs must be those of all samples of dataset"
        raise value_error("examine", requirement, outputs=count, dataset=len(dataset))
    return _TASKS[task](
        Examined(
            dataset,
            outputs,
            targets,
            checked_names("class_names", class_names),
            checked_names("sample_names", sample_names, count),
            scores == "logits",
        )
    )


def _task_of(outputs: Any, targets: Any) -> str | None:
    if outputs.ndim == 2 and targets.ndim == 1 and not np.issubdtype(targets.dtype, np.floating):
        return "multiclass"
    return "regression" if outputs.shape == targets.shape and outputs.ndim else None


def examine_experiment(experiment: Experiment) -> Examination | None:
    """Look at what the model of ``experiment``, that of its best epoch, says of the test data."""
    goal = experiment.goal
    outputs = experiment.test_outputs()
    targets = np.concatenate([batch[-1].numpy() for batch in experiment.test_loader])
    task: str | None = goal.task
    if ":" in experiment.config["loss"]["name"]:
        task = None  # outputs of a loss of one's own may be anything
    elif task in ("binary", "multilabel") and not np.isin(targets, (0, 1)).all():
        # Probabilities are numbers.
        task, outputs = None, _positive(goal, outputs)
    elif task == "multiclass" and not _are_places(outputs, targets):
        task = None
    if goal.mean:
        outputs, targets = goal.in_units(outputs), goal.in_units(targets)
    return examine(
        experiment.test_data,
        outputs,
        targets,
        task,
        _names(goal, task, outputs),
        experiment.sample_names,
        goal.scores,
    )


def _positive(goal: Goal, outputs: Any) -> Any:
    """The probability of each label."""
    if goal.scores == "probabilities":
        return outputs
    return sigmoid(outputs).numpy()


def _names(goal: Goal, task: str | None, outputs: Any) -> list[str] | None:
    """The names of classes, labels or numbers, if there are as many as the model has outputs."""
    names = goal.names if task == "regression" else goal.classes
    count = 2 if task == "binary" else outputs.shape[1] if outputs.ndim > 1 else 1
    return list(names) if task is not None and len(names) == count else None


def _are_places(outputs: Any, targets: Any) -> bool:
    """Whether there are scores of classes for each target, which is one or more of a sample."""
    shape = (*outputs.shape[:1], *outputs.shape[2:])
    return bool(outputs.ndim > 1 and targets.shape == shape)
