"""A trained model examined: which classes it takes for which, and where it is most wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from extensor.data import Dataset, ImageFolder
from extensor.errors import arguments, value_error
from extensor.report.examined_classes import examine_binary, examine_labels, examine_multiclass
from extensor.report.examined_numbers import examine_numbers
from extensor.report.examined_sequences import examine_sequences
from extensor.report.findings import Examination, Examined, checked_names
from extensor.train import Experiment
from extensor.train.experiments.targets import OF_CLASSES, OF_LOGITS, OF_TRUTH, class_names

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
    """Look at what the model of ``experiment`` says of the test data."""
    outputs = experiment.trainer.predict(experiment.test_loader).numpy()
    targets = np.concatenate([batch[-1].numpy() for batch in experiment.test_loader])
    dataset, loss = experiment.test_data, experiment.config["loss"]["name"]
    task = None
    if loss in OF_CLASSES and _are_places(outputs, targets):
        task = "multiclass"
    elif loss in OF_TRUTH and outputs.shape == targets.shape:
        if not np.isin(targets, (0, 1)).all():  # probabilities, which are numbers
            if loss in OF_LOGITS:
                outputs = 1 / (1 + np.exp(-outputs.astype(np.float64)))
        elif outputs.ndim == 1 or outputs.shape[1:] == (1,):
            task = "binary"
        elif outputs.ndim == 2:
            task = "multilabel"
    files = None
    if isinstance(dataset, ImageFolder):
        files = [path.relative_to(dataset.root).as_posix() for path, _ in dataset.samples]
    names = _names(experiment) if task in ("binary", "multiclass") else None
    if names is not None and len(names) != (2 if task == "binary" else outputs.shape[1]):
        names = None  # the model has more outputs than the data have classes
    scores = "probabilities" if loss == "BCELoss" else "logits"
    return examine(dataset, outputs, targets, task, names, files, scores)


def _are_places(outputs: Any, targets: Any) -> bool:
    """Whether there are scores of classes for each target, which is one or more of a sample."""
    shape = (*outputs.shape[:1], *outputs.shape[2:])
    return bool(outputs.ndim > 1 and targets.shape == shape)


def _names(experiment: Experiment) -> list[str] | None:
    """The words that the classes are in a file."""
    table = experiment.config["data"]
    return class_names(table["train"], table) if "train" in table else None
