"""The classifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from extensor.errors import arguments, shown, value_error
from extensor.estimators import scikit_learn
from extensor.estimators.base import Call, Estimator, Goal
from extensor.estimators.losses import BINARY, MULTICLASS, MULTILABEL
from extensor.estimators.scores import accuracy
from extensor.estimators.targets import as_labels, classes_of, numbered
from extensor.estimators.weights import class_weights, sample_weights
from extensor.ops import sigmoid, softmax
from extensor.random import Generator

RandomState = int | Generator | np.random.Generator | np.random.RandomState | None


class Classifier(Estimator):
    """A network that tells classes apart, or labels that are there or not, as an estimator.

    ``y`` is a row of labels, numbers or words, or a matrix of 0 and 1 with a column for each label.
    ``hidden`` are the widths of the hidden layers. ``optimizer`` is the name of one of
    :mod:`extensor.optim`, or a function of parameters, ``lr`` and ``weight_decay`` that makes one.
    With ``early_stopping`` a ``validation_fraction`` of the samples is held out, training ends when
    their loss has not improved for ``patience`` epochs, and the best epoch counts. ``class_weight``
    is a dict of weights, or "balanced" for classes that count the same. With ``scale`` the features
    are brought to a mean of 0 and a deviation of 1. With ``warm_start`` fit goes on from the last.
    Chance comes from ``random_state`` alone; if that is None, from :mod:`extensor.random`.

    It computes in float32 if ``X`` is of that dtype, otherwise in float64. After fit it has
    ``classes_``, ``n_features_in_``, for tables ``feature_names_in_``, the module ``model_``, the
    epochs' records ``history_``, and their number ``n_iter_``.

    >>> import extensor as ex
    >>> x = [[0.0, 0.1], [0.2, 0.0], [0.9, 1.0], [1.0, 0.8]]
    >>> model = ex.Classifier(hidden=(8,), epochs=50, lr=0.05, random_state=0)
    >>> model.fit(x, ["small", "small", "large", "large"])
    Classifier(hidden=(8,), epochs=50, lr=0.05, random_state=0)
    >>> model.predict([[0.1, 0.1], [0.9, 0.9]])
    array(['small', 'large'], dtype='<U5')
    >>> model.predict_proba([[0.1, 0.1]]).round(2)
    array([[0., 1.]])
    >>> model.classes_
    array(['large', 'small'], dtype='<U5')
    """

    classes_: Any
    _estimator_type: ClassVar[str] = "classifier"

    def __init__(
        self,
        hidden: int | Sequence[int] = (100,),
        *,
        epochs: int = 100,
        batch_size: int | str = "auto",
        optimizer: str | Callable[..., Any] = "adam",
        lr: float = 0.002,
        weight_decay: float = 0.001,
        dropout: float = 0.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        patience: int = 10,
        class_weight: str | Mapping[Any, float] | None = None,
        scale: bool = True,
        verbose: bool = False,
        random_state: RandomState = None,
        warm_start: bool = False,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.lr = lr
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.class_weight = class_weight
        self.scale = scale
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Classifier:
        """Learn from samples ``X``, an array or table, and their labels ``y``.

        ``sample_weight`` counts samples: 0 is as if a sample were not there, and weights matter only
        beside each other.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Classifier:
        """One more epoch, with these samples. The first call needs all ``classes`` there will be.

        Features are scaled by all samples that came so far. Weights count as they are: a part of
        weight 2 moves the network twice as far.
        """
        return self._fit(X, y, sample_weight, partial=True, classes=classes)

    def decision_function(self, X: Any) -> Any:
        """The scores of classes or labels; of two classes one, above 0 for the second."""
        return self._scores("decision_function", X)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, or of each label to be there."""
        scores = self._scores("predict_proba", X)
        if self._network.task == MULTICLASS:
            return softmax(scores, 1).numpy()
        found = sigmoid(scores).numpy()
        return np.stack([1 - found, found], 1) if self._network.task == BINARY else found

    def predict(self, X: Any) -> Any:
        """The label of each sample, or for several labels 1 where it is there."""
        return self._labels("predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of samples that are predicted right; with several labels, in all of them."""
        found = self._labels("score", X)
        op = f"{type(self).__name__}.score"
        labels = as_labels(op, y, len(found))
        if labels.shape != found.shape:
            requirement = "y must be of the shape that predict gives"
            raise value_error(op, requirement, predicted_shape=found.shape, y_shape=labels.shape)
        return accuracy(found, labels, sample_weights(op, sample_weight, len(found)))

    def _scores(self, method: str, X: Any) -> Any:
        scores = self._outputs(method, X)
        return scores[:, 0] if self._network.task == BINARY else scores

    def _labels(self, method: str, X: Any) -> Any:
        scores = self._scores(method, X)
        if self._network.task == MULTILABEL:
            return (scores > 0).astype(np.int64)
        is_row = self._network.task == BINARY
        return self.classes_[(scores > 0).astype(np.int64) if is_row else scores.argmax(1)]

    def _read_targets(self, op: str, y: Any, samples: int) -> Any:
        return as_labels(op, y, samples)

    def _goal(self, call: Call, targets: Any, weights: Any) -> Goal:
        name = type(self).__name__
        if call.is_partial and isinstance(self.class_weight, str):
            requirement = "class_weight must be None or a dict, as a part does not show all classes"
            raise value_error(call.op, requirement, class_weight=self.class_weight)
        known = self._known(call, targets)
        if targets.ndim == 2:
            if self.class_weight is not None:
                requirement = "class_weight must be None where samples have several labels"
                given = arguments.briefly(self.class_weight)
                raise value_error(name, requirement, class_weight=given)
            return Goal(MULTILABEL, len(known), targets.astype(np.float64), {"classes_": known})
        numbers = numbered(call.op, targets, known)
        factors = class_weights(name, self.class_weight, known, numbers, weights)
        learned = {"classes_": known}
        if len(known) == 2:
            column = numbers[:, None].astype(np.float64)
            return Goal(BINARY, 1, column, learned, factors, numbers)
        return Goal(MULTICLASS, len(known), numbers, learned, factors, numbers)

    def _known(self, call: Call, targets: Any) -> Any:
        """The classes: those that are known, given, or found among the labels."""
        several = targets.ndim == 2
        found = np.arange(targets.shape[1]) if several else None
        if call.goes_on:
            known = self.classes_
            was_several = self._network.task == MULTILABEL
            if several != was_several or (several and len(known) != targets.shape[1]):
                requirement = f"y must be as before, {_said(was_several, known)}"
                raise value_error(call.op, requirement, y_shape=targets.shape)
        elif several:
            known = found
        elif call.classes is not None:
            known = classes_of(call.op, call.classes)
        elif call.is_partial:
            requirement = "classes must be given in the first call, all that there will be"
            raise value_error(call.op, requirement, classes=None)
        else:
            known = np.unique(targets)
        if call.classes is not None:
            given = classes_of(call.op, call.classes)
            if not np.array_equal(given, known):
                requirement = "classes must be those of y and of the first call"
                raise value_error(call.op, requirement, classes=shown(given.tolist()))
        if len(known) < 2 and not several:
            raise value_error(call.op, "y must have more than one class", classes=len(known))
        return known

    def _facts(self) -> dict[str, Any]:
        facts = super()._facts()
        return {"classes": len(self.classes_), **facts} if facts else {}

    def __sklearn_tags__(self) -> Any:
        return scikit_learn.tags("classifier")


def _said(several: bool, known: Any) -> str:
    return f"{len(known)} columns of 0 and 1" if several else "one label for each sample"
