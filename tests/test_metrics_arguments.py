"""What metrics are made with: the texts for what they cannot be, and for other numbers of classes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from extensor import train


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (
            lambda: train.F1(2).update(np.eye(3), [0, 1, 1]),
            "F1: output must have the scores of 2 classes along axis 1, got classes=3",
        ),
        (
            lambda: train.ConfusionMatrix(3).update(np.eye(2), [0, 1]),
            "ConfusionMatrix: output must have the scores of 3 classes along axis 1, got classes=2",
        ),
        (
            lambda: train.Recall(3, task="multilabel").update(np.eye(2), np.eye(2)),
            "Recall: output must have the scores of 3 labels, got labels=2",
        ),
        (
            lambda: train.TopKAccuracy().update(np.eye(3), [0, 1, 1]),
            "TopKAccuracy: output must have at least 5 classes along axis 1, or k be less, "
            "got classes=3",
        ),
        (lambda: train.TopKAccuracy(0), "TopKAccuracy: k must be 1 or more, got k=0"),
        (lambda: train.TopKAccuracy("5"), "TopKAccuracy: k must be an integer, got k='5'"),
        (lambda: train.Recall(0), "Recall: num_classes must be 2 or more, got num_classes=0"),
        (lambda: train.Recall(None), "Recall: num_classes must be an integer, got num_classes=None"),
        (lambda: train.F1(), "F1: num_classes must be an integer, got num_classes=None"),
        (
            lambda: train.F1(3, task="binary"),
            "F1: num_classes must be 2 or None for task='binary', got num_classes=3",
        ),
        (
            lambda: train.F1(0, task="multilabel"),
            "F1: num_classes must be 1 or more, got num_classes=0",
        ),
        (
            lambda: train.Accuracy("multiclass"),
            "Accuracy: ignore_index must be an integer, got ignore_index='multiclass'",
        ),
        (
            lambda: train.Accuracy(task="regression"),
            "Accuracy: task must be 'multiclass', 'binary', 'multilabel' or 'sequence', "
            "got task='regression'",
        ),
        (
            lambda: train.BalancedAccuracy(3, task="multilabel"),
            "BalancedAccuracy: task must be 'multiclass' or 'binary', got task='multilabel'",
        ),
        (
            lambda: train.TopKAccuracy(task="binary"),
            "TopKAccuracy: task must be 'multiclass' or 'sequence', got task='binary'",
        ),
        (
            lambda: train.ROCAUC(scores="odds"),
            "ROCAUC: scores must be 'logits' or 'probabilities', got scores='odds'",
        ),
        (
            lambda: train.LogLoss(class_axis="last"),
            "LogLoss: class_axis must be an integer, got class_axis='last'",
        ),
        (
            lambda: train.LogLoss(-1, task="binary"),
            "LogLoss: ignore_index must be None for task='binary', whose targets are 0 or 1, "
            "got ignore_index=-1",
        ),
        (
            lambda: train.Accuracy(task="multilabel", class_axis=1),
            "Accuracy: class_axis must be None for task='multilabel', which has no such axis, "
            "got class_axis=1",
        ),
        (
            lambda: train.Precision(2, "micro"),
            "Precision: average must be 'auto', 'macro', 'weighted' or None, got average='micro'",
        ),
        (
            lambda: train.CalibrationError(0),
            "CalibrationError: bins must be 1 or more, got bins=0",
        ),
        (
            lambda: train.CalibrationError(2**62),
            f"CalibrationError: bins must be at most 1000000, got bins={2**62}",
        ),
        (
            lambda: train.F1(2**62),
            f"F1: num_classes must be at most 1048576, got num_classes={2**62}",
        ),
        (
            lambda: train.Mean().update([1.0], [1.0]),
            "Mean: a mean takes numbers, by add(value, count), not outputs",
        ),
        (lambda: train.Metric().compute(), "Metric: needs a method compute"),
    ],
)  # fmt: skip
def test_errors(work: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=f"^{re.escape(text)}$"):
        work()
