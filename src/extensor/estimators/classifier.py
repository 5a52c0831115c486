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
)
from extensor.ops import sigmoid, softmax


@dataclass(eq=False, repr=False, kw_only=True)
class Classifier(Estimator):
    """A neural network that predicts classes or labels, as a scikit-learn estimator.

    The network is fully connected, with relu between its layers. It minimizes the cross entropy; for
    several labels per sample, the binary cross entropy of each. It computes in float32 if ``X`` has 16
    or 32-bit floats, otherwise in float64.

    Parameters
    ----------
    hidden : int or sequence of ints, default (100,)
        Widths of the hidden layers, the first one first. It may be empty: then the model is linear.
    epochs : int, default 100
        Number of passes over the samples.
    batch_size : int or {"auto"}, default "auto"
        Number of samples in a step. "auto" is a 64th of the samples, but 32 at least and 256 at most.
    optimizer : str or callable, default "adam"
        Name of an optimizer of `extensor.optim`, in any case, or a function of parameters, ``lr`` and
        ``weight_decay`` that returns one, such as ``functools.partial(ex.optim.SGD, momentum=0.9)``.
    lr : float, default 0.002
        Learning rate, greater than 0.
    weight_decay : float, default 0.001
        Weight decay of the optimizer, 0 or more.
    dropout : float, default 0.0
        Probability that a hidden unit is dropped in a step, at least 0 and less than 1.
    early_stopping : bool, default False
        Whether to hold out some samples, stop when their loss no longer falls, and keep the parameters
        of the best epoch.
    validation_fraction : float, default 0.1
        Fraction of the samples that early stopping holds out, drawn at random.
    patience : int, default 10
        Number of epochs in a row without improvement after which early stopping ends training.
    scale : bool, default True
        Whether to bring each feature to a mean of 0 and a standard deviation of 1.
    verbose : bool, default False
        Whether to show progress on standard error.
    random_state : int, extensor.random.Generator, numpy.random.Generator or RandomState, optional
        Source of the initial parameters, the order of the samples and all other random numbers.
        Default: a seed drawn from the default generator of `extensor.random`.
    warm_start : bool, default False
        Whether a further ``fit`` continues from the last one. `hidden`, `dropout`, `optimizer` and
        `scale` must stay the same then.
    class_weight : dict or {"balanced"}, optional
        Weight of each class in the loss, 0 or more, as a dict of classes and weights. Classes that it
        leaves out have the weight 1. "balanced" gives all classes the same total weight. Not for
        several labels. Default: all samples count the same.

    Attributes
    ----------
    classes_ : numpy.ndarray, (classes,)
        The classes, sorted; for several labels their numbers from 0.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : numpy.ndarray of str, (features,)
        Names of the features. It exists only if ``X`` was a table whose columns have names.
    model_ : Module
        The network. Its inputs are the scaled features, its outputs logits.
    history_ : list of dict
        The record of each epoch, as `extensor.train.History` has it.
    n_iter_ : int
        Number of epochs that the network was trained.

    See Also
    --------
    Regressor : The estimator for numbers.
    extensor.train.Trainer : The training loop, for models and data of your own.

    Notes
    -----
    Parameters are checked when ``fit`` begins, and a fit that fails leaves the estimator as it was. It can
    be used in the pipelines and searches of scikit-learn, which need not be installed. The result is
    the same to the bit for equal data, parameters and ``random_state``, on any number of threads.

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
    _read_targets = staticmethod(as_labels)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Classifier:
        """Fit the network to samples and their classes.

        Parameters
        ----------
        X : array_like or DataFrame, (samples, features)
            The samples: finite numbers. Words must be encoded first.
        y : array_like, (samples,) or (samples, labels)
            The class of each sample, an integer or a string. A matrix of 0 and 1 has a column for each
            of several labels that a sample may have at once.
        sample_weight : array_like, (samples,), optional
            Weight of each sample, 0 or more. A weight of 0 leaves the sample out, and only ratios of
            weights matter. Default: all samples count the same.

        Returns
        -------
        Classifier
            This estimator.

        Raises
        ------
        ValueError
            If ``X`` has NaN or infinity, ``y`` has another number of samples or fewer than two classes,
            a weight is negative, or a parameter of the estimator is out of its range. With a warm
            start, if features or classes differ from before.
        TypeError
            If ``X`` has strings, is sparse, or a parameter of the estimator has another type.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Classifier:
        """Train for one more epoch, with these samples.

        The first call creates the network. Features are scaled by all samples so far.

        Parameters
        ----------
        X : array_like or DataFrame, (samples, features)
            The samples: finite numbers. Words must be encoded first.
        y : array_like, (samples,) or (samples, labels)
            The class of each sample, or a matrix of 0 and 1.
        classes : array_like, (classes,), optional
            All classes that will occur. The first call needs them unless ``y`` is a matrix.
        sample_weight : array_like, (samples,), optional
            Weight of each sample, 0 or more, relative to the samples of all calls: a batch of weight 2
            has twice the loss. Default: 1.

        Returns
        -------
        Classifier
            This estimator.

        Raises
        ------
        ValueError
            If ``classes`` is missing in the first call or differs later, a class is unknown, the number
            of features differs, ``early_stopping`` is True or ``class_weight`` is "balanced"; and as in
            `fit`.
        TypeError
            As in `fit`.
        """
        return self._fit(X, y, sample_weight, partial=True, classes=classes)

    def decision_function(self, X: Any) -> Any:
        """Compute the scores of classes or labels.

        Parameters
        ----------
        X : array_like or DataFrame, (samples, features)
            The samples: finite numbers. Words must be encoded first.

        Returns
        -------
        numpy.ndarray, (samples, classes), (samples, labels) or (samples,)
            The logits. Two classes have one logit for each sample, above 0 for ``classes_[1]``.

        Raises
        ------
        ValueError
            If the estimator is not fitted (scikit-learn's ``NotFittedError`` if it is loaded), or ``X``
            has another number of features.
        """
        return self._scores("decision_function", X)

    def predict_proba(self, X: Any) -> Any:
        """Compute the probability of each class or label.

        Parameters
        ----------
        X : array_like or DataFrame, (samples, features)
            The samples: finite numbers. Words must be encoded first.

        Returns
        -------
        numpy.ndarray, (samples, classes) or (samples, labels)
            The probabilities, in the order of ``classes_``. Rows sum to 1 unless samples have several
            labels; then each number is the probability of its label.

        Raises
        ------
        ValueError
            As in `decision_function`.
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
        X : array_like or DataFrame, (samples, features)
            The samples: finite numbers. Words must be encoded first.

        Returns
        -------
        numpy.ndarray, (samples,) or (samples, labels)
            The most probable classes, in the dtype of ``classes_``, or a matrix of 0 and 1 for labels.

        Raises
        ------
        ValueError
            As in `decision_function`.
        """
        return self._labels("predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy.

        Parameters
        ----------
        X : array_like or DataFrame, (samples, features)
            The samples: finite numbers. Words must be encoded first.
        y : array_like, (samples,) or (samples, labels)
            The true classes or labels.
        sample_weight : array_like, (samples,), optional
            Weight of each sample in the fraction. Default: all samples count the same.

        Returns
        -------
        float
            The fraction of samples that are predicted correctly. With several labels, all of a sample's
            labels must be correct.

        Raises
        ------
        ValueError
            If ``y`` has not the shape that `predict` returns; and as in `decision_function`.
        """
        return self._score(self._labels("score", X), y, sample_weight, accuracy)

    def _scores(self, method: str, X: Any) -> Any:
        scores = self._outputs(method, X)
        return scores[:, 0] if self._network.task == "binary" else scores

    def _labels(self, method: str, X: Any) -> Any:
        scores = self._scores(method, X)
        if self._network.task == "multilabel":
            return (scores > 0).astype(np.int64)
        is_row = self._network.task == "binary"
        return self.classes_[(scores > 0).astype(np.int64) if is_row else scores.argmax(1)]

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
        if call.goes_on:
            known = self.classes_
            was_several = self._network.task == "multilabel"
            if several != was_several or (several and len(known) != targets.shape[1]):
                before = f"{len(known)} columns of 0 and 1"
                before = before if was_several else "one label for each sample"
                requirement = f"y must be as before, {before}"
                raise value_error(call.op, requirement, y_shape=targets.shape)
        elif several:
            known = np.arange(targets.shape[1])
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
