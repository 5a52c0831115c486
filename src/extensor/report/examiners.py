"""Examinations of trained models, a function for each task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from extensor.data import Dataset
from extensor.errors import arguments, value_error
from extensor.experiments.goal import Goal
from extensor.ops import sigmoid
from extensor.report.class_examination import examine_binary, examine_labels, examine_multiclass
from extensor.report.examination import Examination, ExaminedSamples, list_of_names
from extensor.report.regression_examination import examine_numbers
from extensor.report.sequence_examination import examine_sequences
from extensor.train import Experiment

EXAMINERS: dict[str, Callable[[ExaminedSamples], Examination]] = {
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
    """Examine the outputs for the samples of ``dataset``: scores of classes, or numbers.

    ``task`` is "regression", "binary", "multiclass", "multilabel" or "sequence"; without one it
    follows from the shapes: classes or numbers, and None is returned if it is neither.
    ``class_names`` are the names of the classes (of two, the negative one first), of the labels, or
    of the numbers of a regression; ``sample_names`` name the samples, such as their files.
    ``scores`` says whether outputs are "logits" or "probabilities".

    >>> import numpy as np
    >>> from extensor.report import examine
    >>> examination = examine(None, np.array([2.0, -1.0, 0.5]), np.array([1, 0, 0]), "binary")
    >>> examination.confusion.tolist(), examination.worst[0].number
    ([[1, 1], [0, 1]], 2)
    """
    outputs, targets = np.asarray(outputs), np.asarray(targets)
    arguments.choice("examine", "scores", scores, _SCORES)
    if task is None:
        task = _guess_task(outputs, targets)
        if task is None:
            return None
    if task not in EXAMINERS:
        words = ", ".join(map(repr, EXAMINERS))
        raise value_error("examine", f"task must be one of {words}", task=arguments.briefly(task))
    count = len(outputs) if outputs.ndim else 0
    if count == 0 or targets.ndim == 0 or len(targets) != count:
        requirement = "outputs and targets must be of the same samples, at least one"
        shapes = {"outputs_shape": outputs.shape, "targets_shape": targets.shape}
        raise value_error("examine", requirement, **shapes)
    if dataset is not None and hasattr(dataset, "__len__") and len(dataset) != count:
        requirement = "outputs must be those of all samples of dataset"
        raise value_error("examine", requirement, outputs=count, dataset=len(dataset))
    classes = list_of_names("class_names", class_names)
    names = list_of_names("sample_names", sample_names, count)
    samples = ExaminedSamples(dataset, outputs, targets, classes, names, scores == "logits")
    return EXAMINERS[task](samples)


def _guess_task(outputs: Any, targets: Any) -> str | None:
    if outputs.ndim == 2 and targets.ndim == 1 and not np.issubdtype(targets.dtype, np.floating):
        return "multiclass"
    return "regression" if outputs.shape == targets.shape and outputs.ndim else None


def examine_experiment(experiment: Experiment) -> Examination | None:
    """Examine the model of ``experiment``, of its best epoch, on the test data."""
    goal = experiment.goal
    outputs = experiment.test_outputs()
    targets = np.concatenate([batch[-1].numpy() for batch in experiment.test_loader])
    task: str | None = goal.task
    if ":" in experiment.config["loss"]["name"]:
        task = None  # the outputs for a user's loss may be anything
    elif task in ("binary", "multilabel") and not np.isin(targets, (0, 1)).all():
        # Targets between 0 and 1 are probabilities: the model predicts numbers.
        task = None
        outputs = outputs if goal.scores == "probabilities" else sigmoid(outputs).numpy()
    elif task == "multiclass":
        # Each target, one or more a sample, must have scores of classes.
        shape = (*outputs.shape[:1], *outputs.shape[2:])
        task = task if outputs.ndim > 1 and targets.shape == shape else None
    if goal.mean:
        outputs, targets = goal.in_units(outputs), goal.in_units(targets)
    return examine(
        experiment.test_data,
        outputs,
        targets,
        task,
        _output_names(goal, task, outputs),
        experiment.sample_names,
        goal.scores,
    )


def _output_names(goal: Goal, task: str | None, outputs: Any) -> list[str] | None:
    """The names of classes, labels or numbers, if there are as many as the model has outputs."""
    names = goal.names if task == "regression" else goal.classes
    count = 2 if task == "binary" else outputs.shape[1] if outputs.ndim > 1 else 1
    return list(names) if task is not None and len(names) == count else None
