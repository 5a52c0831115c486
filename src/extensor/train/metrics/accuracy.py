"""How often the class is found, or is among the first."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from extensor.errors import arguments, value_error
from extensor.train.metrics.tasks import AnyTask, MeanOfClasses, Scores, TokenTask


class Accuracy(MeanOfClasses):
    """The fraction of samples whose highest score is that of their class; NaN of none.

    >>> from extensor.train import Accuracy
    >>> accuracy = Accuracy()
    >>> accuracy.update([[0.1, 0.9], [0.8, 0.2]], [1, 1])
    >>> accuracy.compute()
    0.5

    Of the classes that share the highest score the first is taken. The ``task`` says what outputs
    and targets are, here and in the other metrics of classes:

    - "multiclass": scores of shape (N, C, ...) and class numbers of shape (N, ...), or probabilities
      of the scores' shape, of which the highest counts. Another ``class_axis`` can be named.
    - "binary": one score for each sample, (N,) or (N, 1), and 0 or 1 in either shape. A sample is
      positive if its logit is above 0, or its probability above 0.5 with ``scores="probabilities"``.
    - "multilabel": the same for each of several labels, both of shape (N, L). A sample is right if
      all its labels are.
    - "sequence": scores of shape (N, T, V) and (N, T) numbers of tokens, each of which counts. The
      classes are along ``class_axis``; without it along the one axis, not the first, without which
      the output has the target's shape.

    What has the class ``ignore_index`` does not count. What is none of this is refused.

    >>> accuracy = Accuracy(task="binary")
    >>> accuracy.update([[2.0], [-1.0], [0.5], [-3.0]], [1, 0, 0, 0])
    >>> accuracy.compute()
    0.75
    """

    tasks: ClassVar[tuple[str, ...]] = ("multiclass", "binary", "multilabel", "sequence")

    def __init__(
        self,
        ignore_index: int | None = None,
        *,
        task: AnyTask = "multiclass",
        scores: Scores = "logits",
        class_axis: int | None = None,
    ) -> None:
        super().__init__()
        self._settle(task, scores, ignore_index, class_axis)

    def update(self, output: Any, target: Any) -> None:
        if self._of_labels:
            scores, truth = self._labelled(output, target)
            right = (self._found(scores) == truth).all(axis=1)
        else:
            scores, classes, _, _ = self._chosen(output, target)
            right = scores.argmax(axis=1) == classes
        self._take(int(np.count_nonzero(right)), len(right), scores.shape[1])


class TopKAccuracy(MeanOfClasses):
    """The fraction of samples whose class is among the ``k`` highest scores; ties count against it."""

    tasks: ClassVar[tuple[str, ...]] = ("multiclass", "sequence")

    def __init__(
        self,
        k: int = 5,
        ignore_index: int | None = None,
        *,
        task: TokenTask = "multiclass",
        scores: Scores = "logits",
        class_axis: int | None = None,
    ) -> None:
        super().__init__()
        self.k = arguments.integer("TopKAccuracy", "k", k, 1)
        self._settle(task, scores, ignore_index, class_axis)

    def update(self, output: Any, target: Any) -> None:
        scores, classes, _, axis = self._chosen(output, target)
        number = scores.shape[1]
        if number < self.k:
            requirement = f"output must have at least {self.k} classes along axis {axis}"
            raise value_error("TopKAccuracy", f"{requirement}, or k be less", classes=number)
        places = np.arange(len(classes))
        better = scores >= scores[places, classes][:, None]
        better[places, classes] = False
        self._take(int(np.count_nonzero(better.sum(axis=1) < self.k)), len(classes), number)
