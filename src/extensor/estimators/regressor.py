"""The regressor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from extensor.errors import value_error
from extensor.estimators.estimator import Estimator, FitCall, FitGoal
from extensor.estimators.estimator_data import as_values, r2


@dataclass(eq=False, repr=False, kw_only=True)
class Regressor(Estimator):
    """A neural network that predicts numbers, as a scikit-learn estimator.

    The network is fully connected, with relu between its layers. It minimizes the mean squared error.
    It computes in float32 if ``X`` has 16 or 32-bit floats, otherwise in float64. Predictions are
    float64.

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
        Whether to bring each feature and each target to a mean of 0 and a standard deviation of 1.
    verbose : bool, default False
        Whether to show progress on standard error.
    random_state : int, extensor.random.Generator, numpy.random.Generator or RandomState, optional
        Source of the initial parameters, the order of the samples and all other random numbers.
        Default: a seed drawn from the default generator of `extensor.random`.
    warm_start : bool, default False
        Whether a further ``fit`` continues from the last one. `hidden`, `dropout`, `optimizer` and
        `scale` must stay the same then.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : numpy.ndarray of str, (features,)
        Names of the features. It exists only if ``X`` was a table whose columns have names.
    model_ : Module
        The network. Its inputs are the scaled features, its outputs the scaled targets.
    history_ : list of dict
        The record of each epoch, as `extensor.train.History` has it. Losses are those of scaled targets.
    n_iter_ : int
        Number of epochs that the network was trained.

    See Also
    --------
    Classifier : The estimator for classes and labels.
    extensor.train.Trainer : The training loop, for models and data of your own.

    Notes
    -----
    Parameters are checked when ``fit`` begins, and a fit that fails leaves the estimator as it was. It can
    be used in the pipelines and searches of scikit-learn, which need not be installed. The result is
    the same to the bit for equal data, parameters and ``random_state``, on any number of threads.

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
    _read_targets = staticmethod(as_values)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """Fit the network to samples and their numbers.

        Parameters
        ----------
        X : array_like or DataFrame, (samples, features)
            The samples: finite numbers. Words must be encoded first.
        y : array_like, (samples,) or (samples, outputs)
            The numbers to predict.
        sample_weight : array_like, (samples,), optional
            Weight of each sample, 0 or more. A weight of 0 leaves the sample out, and only ratios of
            weights matter. Default: all samples count the same.

        Returns
        -------
        Regressor
            This estimator.

        Raises
        ------
        ValueError
            If ``X`` or ``y`` has NaN or infinity, ``y`` has another number of samples, a weight is
            negative, or a parameter of the estimator is out of its range. With a warm start, if the
            number of features or outputs differs from before.
        TypeError
            If ``X`` or ``y`` has strings or is sparse, or a parameter of the estimator has another type.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """Train for one more epoch, with these samples.

        The first call creates the network. Features and targets are scaled by all samples so far.

        Parameters
        ----------
        X : array_like or DataFrame, (samples, features)
            The samples: finite numbers. Words must be encoded first.
        y : array_like, (samples,) or (samples, outputs)
            The numbers to predict.
        sample_weight : array_like, (samples,), optional
            Weight of each sample, 0 or more, relative to the samples of all calls: a batch of weight 2
            has twice the loss. Default: 1.

        Returns
        -------
        Regressor
            This estimator.

        Raises
        ------
        ValueError
            If the number of features or outputs differs from before, or ``early_stopping`` is True; and
            as in `fit`.
        TypeError
            As in `fit`.
        """
        return self._fit(X, y, sample_weight, partial=True)

    def predict(self, X: Any) -> Any:
        """Predict the number, or the row of numbers, of each sample.

        Parameters
        ----------
        X : array_like or DataFrame, (samples, features)
            The samples: finite numbers. Words must be encoded first.

        Returns
        -------
        numpy.ndarray, (samples,) or (samples, outputs)
            The predictions in float64, with as many axes as the ``y`` of `fit`.

        Raises
        ------
        ValueError
            If the estimator is not fitted (scikit-learn's ``NotFittedError`` if it is loaded), or ``X``
            has another number of features.
        """
        return self._values("predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute R², the fraction of the variance that is predicted.

        Parameters
        ----------
        X : array_like or DataFrame, (samples, features)
            The samples: finite numbers. Words must be encoded first.
        y : array_like, (samples,) or (samples, outputs)
            The true numbers.
        sample_weight : array_like, (samples,), optional
            Weight of each sample. Default: all samples count the same.

        Returns
        -------
        float
            The mean of R² over the outputs: 1 at best, and 0 for a model that always predicts the mean.
            NaN, with a warning, for a single sample.

        Raises
        ------
        ValueError
            If ``y`` has not the size of the predictions; and as in `predict`.
        """
        return self._score(self._values("score", X), y, sample_weight, r2)

    def _values(self, method: str, X: Any) -> Any:
        values = self._outputs(method, X).astype("float64", copy=False)
        return values.reshape(len(values), *self._of_one)

    def _goal(self, call: FitCall, targets: Any, weights: Any) -> FitGoal:
        if call.goes_on and targets.shape[1:] != self._of_one:
            as_before = f"of {self._of_one[0]} columns" if self._of_one else "a row"
            requirement = f"y must be as before, {as_before}"
            raise value_error(call.op, requirement, y_shape=targets.shape)
        columns = targets.reshape(len(targets), -1)
        return FitGoal("regression", columns.shape[1], columns, {"_of_one": targets.shape[1:]})
