"""The regressor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from extensor.errors import value_error
from extensor.estimators.estimator import Estimator, FitCall, FitGoal
from extensor.estimators.estimator_data import as_values, r2, sample_weights, tags


@dataclass(eq=False, repr=False, kw_only=True)
class Regressor(Estimator):
    """A neural network that predicts numbers, as a scikit-learn estimator.

    It minimizes the squared error. It computes in float32 if ``X`` is float16 or float32, otherwise in
    float64. Predictions are float64.

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
        Bring each feature and each target to a mean of 0 and a standard deviation of 1.
    verbose : bool
        Show progress on standard error.
    random_state : int, Generator, RandomState or None
        The source of random numbers. None draws a seed from :mod:`extensor.random`.
    warm_start : bool
        Continue from the last fit.

    Attributes
    ----------
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
    >>> import numpy as np, extensor as ex
    >>> x = np.linspace(-1, 1, 64)[:, None]
    >>> model = ex.Regressor(hidden=(16,), lr=0.02, random_state=0).fit(x, 100 * x[:, 0] ** 2)
    >>> model.score(x, 100 * x[:, 0] ** 2) > 0.99
    True
    >>> model.predict([[0.5]]).shape
    (1,)
    """

    _of_one: tuple[int, ...] = field(init=False)  # the shape of a sample's target
    _estimator_type: ClassVar[str] = "regressor"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """Fit the network to samples and their numbers.

        Parameters
        ----------
        X : array_like of shape (samples, features)
            The samples, as an array or a table of numbers.
        y : array_like of shape (samples,) or (samples, outputs)
            The numbers to predict.
        sample_weight : array_like of shape (samples,), optional
            A weight for each sample. A weight of 0 leaves the sample out, and only ratios of weights matter.

        Returns
        -------
        Regressor
            The fitted estimator.

        Raises
        ------
        ValueError
            If ``X`` or ``y`` is not finite.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """Train for one more epoch, with these samples.

        Features and targets are scaled by all samples so far.

        Parameters
        ----------
        X : array_like of shape (samples, features)
            The samples, as an array or a table of numbers.
        y : array_like of shape (samples,) or (samples, outputs)
            The numbers to predict.
        sample_weight : array_like of shape (samples,), optional
            A weight for each sample. A batch of weight 2 moves the network twice as far.

        Returns
        -------
        Regressor
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, partial=True)

    def predict(self, X: Any) -> Any:
        """Predict the number, or the row of numbers, of each sample.

        Parameters
        ----------
        X : array_like of shape (samples, features)
            The samples, as an array or a table of numbers.

        Returns
        -------
        ndarray of shape (samples,) or (samples, outputs)
            The predictions, in the shape of the ``y`` of fit.
        """
        return self._values("predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute R², the fraction of the variance that is predicted.

        Parameters
        ----------
        X : array_like of shape (samples, features)
            The samples, as an array or a table of numbers.
        y : array_like of shape (samples,) or (samples, outputs)
            The true numbers.
        sample_weight : array_like of shape (samples,), optional
            A weight for each sample.

        Returns
        -------
        float
            1 at best, and 0 for a model that always predicts the mean.
        """
        found = self._values("score", X)
        op = f"{type(self).__name__}.score"
        values = as_values(op, y, len(found))
        if values.size != found.size:
            requirement = "y must be of the shape that predict gives"
            raise value_error(op, requirement, predicted_shape=found.shape, y_shape=values.shape)
        return r2(found, values, sample_weights(op, sample_weight, len(found)))

    def _values(self, method: str, X: Any) -> Any:
        values = self._outputs(method, X).astype("float64", copy=False)
        return values.reshape(len(values), *self._of_one)

    def _read_targets(self, op: str, y: Any, samples: int) -> Any:
        return as_values(op, y, samples)

    def _goal(self, call: FitCall, targets: Any, weights: Any) -> FitGoal:
        if call.goes_on and targets.shape[1:] != self._of_one:
            as_before = f"of {self._of_one[0]} columns" if self._of_one else "a row"
            requirement = f"y must be as before, {as_before}"
            raise value_error(call.op, requirement, y_shape=targets.shape)
        columns = targets.reshape(len(targets), -1)
        return FitGoal("regression", columns.shape[1], columns, {"_of_one": targets.shape[1:]})

    def __sklearn_tags__(self) -> Any:
        return tags("regressor")
