"""The classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from extensor.errors import arguments, shown, value_error
from extensor.estimators.estimator import Estimator, FitCall, FitGoal
from extensor.estimators.estimator_data import (
    accuracy,
    as_labels,
    class_labels,
    class_numbers,
    class_weights,
    sample_weights,
    tags,
)
from extensor.ops import sigmoid, softmax


@dataclass(eq=False, repr=False, kw_only=True)
class Classifier(Estimator):
    """A neural network that predicts classes or labels, as a scikit-learn estimator.

    It computes in float32 if ``X`` is float16 or float32, otherwise in float64.

    Parameters
    ----------
    hidden : int or sequence of int
        The widths of the hidden layers.
    epochs : int
        The number of passes over the samples.
    batch_size : int or "auto"
        The number of samples in a step. "auto" chooses 32 to 256 by the number of samples.
    optimizer : str or callable
        The name of an optimizer of :mod:`extensor.optim`, or a function of parameters, ``lr`` and
        ``weight_decay`` that returns one.
    lr : float
        The learning rate.
    weight_decay : float
        The weight decay.
    dropout : float
        The probability that a hidden unit is dropped, below 1.
    early_stopping : bool
        Hold out some samples, stop when their loss no longer improves, and keep the best epoch.
    validation_fraction : float
        The fraction of samples to hold out for early stopping.
    patience : int
        The number of epochs without improvement after which training stops.
    scale : bool
        Bring each feature to a mean of 0 and a standard deviation of 1.
    verbose : bool
        Show progress on standard error.
    random_state : int, Generator, RandomState or None
        The source of random numbers. None draws a seed from :mod:`extensor.random`.
    warm_start : bool
        Continue from the last fit.
    class_weight : dict, "balanced" or None
        The weights of the classes. "balanced" gives each class the same total weight.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted, or the numbers of the labels.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        The names of the features, if ``X`` is a table that has them.
    model_ : Module
        The network.
    history_ : list of dict
        The record of each epoch.
    n_iter_ : int
        The number of epochs.

    Examples
    --------
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

    class_weight: str | Mapping[Any, float] | None = None
    classes_: Any = field(init=False)
    _estimator_type: ClassVar[str] = "classifier"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Classifier:
        """Fit the network to samples and their classes.

        Parameters
        ----------
        X : array_like of shape (samples, features)
            The samples, as an array or a table of numbers.
        y : array_like of shape (samples,) or (samples, labels)
            The class of each sample, a number or a word. A matrix of 0 and 1 has a column for each label.
        sample_weight : array_like of shape (samples,), optional
            A weight for each sample. A weight of 0 leaves the sample out, and only ratios of weights matter.

        Returns
        -------
        Classifier
            The fitted estimator.

        Raises
        ------
        ValueError
            If ``X`` is not finite, or ``y`` has fewer than two classes.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Classifier:
        """Train for one more epoch, with these samples.

        Features are scaled by all samples so far.

        Parameters
        ----------
        X : array_like of shape (samples, features)
            The samples, as an array or a table of numbers.
        y : array_like of shape (samples,) or (samples, labels)
            The class of each sample, or a matrix of 0 and 1.
        classes : array_like, optional
            All classes that will occur. The first call needs them.
        sample_weight : array_like of shape (samples,), optional
            A weight for each sample. A batch of weight 2 moves the network twice as far.

        Returns
        -------
        Classifier
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, partial=True, classes=classes)

    def decision_function(self, X: Any) -> Any:
        """Compute the scores of classes or labels.

        Parameters
        ----------
        X : array_like of shape (samples, features)
            The samples, as an array or a table of numbers.

        Returns
        -------
        ndarray of shape (samples, classes) or (samples,)
            The scores. Two classes have one score, above 0 for the second.
        """
        return self._scores("decision_function", X)

    def predict_proba(self, X: Any) -> Any:
        """Compute the probability of each class or label.

        Parameters
        ----------
        X : array_like of shape (samples, features)
            The samples, as an array or a table of numbers.

        Returns
        -------
        ndarray of shape (samples, classes)
            The probabilities, in the order of ``classes_``.
        """
        scores = self._scores("predict_proba", X)
        if self._network.task == "multiclass":
            return softmax(scores, 1).numpy()
        found = sigmoid(scores).numpy()
        return np.stack([1 - found, found], 1) if self._network.task == "binary" else found

    def predict(self, X: Any) -> Any:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array_like of shape (samples, features)
            The samples, as an array or a table of numbers.

        Returns
        -------
        ndarray of shape (samples,) or (samples, labels)
            The classes, or a matrix of 0 and 1 for labels.
        """
        return self._labels("predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy.

        Parameters
        ----------
        X : array_like of shape (samples, features)
            The samples, as an array or a table of numbers.
        y : array_like of shape (samples,) or (samples, labels)
            The true classes or labels.
        sample_weight : array_like of shape (samples,), optional
            A weight for each sample.

        Returns
        -------
        float
            The fraction of samples that are predicted correctly. With several labels, all must be correct.
        """
        found = self._labels("score", X)
        op = f"{type(self).__name__}.score"
        labels = as_labels(op, y, len(found))
        if labels.shape != found.shape:
            requirement = "y must be of the shape that predict gives"
            raise value_error(op, requirement, predicted_shape=found.shape, y_shape=labels.shape)
        return accuracy(found, labels, sample_weights(op, sample_weight, len(found)))

    def _scores(self, method: str, X: Any) -> Any:
        scores = self._outputs(method, X)
        return scores[:, 0] if self._network.task == "binary" else scores

    def _labels(self, method: str, X: Any) -> Any:
        scores = self._scores(method, X)
        if self._network.task == "multilabel":
            return (scores > 0).astype(np.int64)
        is_row = self._network.task == "binary"
        return self.classes_[(scores > 0).astype(np.int64) if is_row else scores.argmax(1)]

    def _read_targets(self, op: str, y: Any, samples: int) -> Any:
        return as_labels(op, y, samples)

    def _goal(self, call: FitCall, targets: Any, weights: Any) -> FitGoal:
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
            return FitGoal(
                "multilabel", len(known), targets.astype(np.float64), {"classes_": known}
            )
        numbers = class_numbers(call.op, targets, known)
        factors = class_weights(name, self.class_weight, known, numbers, weights)
        learned = {"classes_": known}
        if len(known) == 2:
            column = numbers[:, None].astype(np.float64)
            return FitGoal("binary", 1, column, learned, factors, numbers)
        return FitGoal("multiclass", len(known), numbers, learned, factors, numbers)

    def _known(self, call: FitCall, targets: Any) -> Any:
        """The classes: known from before, passed by the caller, or found among the labels."""
        several = targets.ndim == 2
        found = np.arange(targets.shape[1]) if several else None
        if call.goes_on:
            known = self.classes_
            was_several = self._network.task == "multilabel"
            if several != was_several or (several and len(known) != targets.shape[1]):
                requirement = f"y must be as before, {_said(was_several, known)}"
                raise value_error(call.op, requirement, y_shape=targets.shape)
        elif several:
            known = found
        elif call.classes is not None:
            known = class_labels(call.op, call.classes)
        elif call.is_partial:
            requirement = "classes must be given in the first call, all that there will be"
            raise value_error(call.op, requirement, classes=None)
        else:
            known = np.unique(targets)
        if call.classes is not None:
            given = class_labels(call.op, call.classes)
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
        return tags("classifier")


def _said(several: bool, known: Any) -> str:
    return f"{len(known)} columns of 0 and 1" if several else "one label for each sample"
