"""The regressor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from extensor.errors import value_error
from extensor.estimators import scikit_learn
from extensor.estimators.base import Call, Estimator, Goal
from extensor.estimators.classifier import RandomState
from extensor.estimators.losses import REGRESSION
from extensor.estimators.scores import r2
from extensor.estimators.targets import as_values
from extensor.estimators.weights import sample_weights


class Regressor(Estimator):
    """A network that gives a number, or several, for each sample, as an estimator.

    ``y`` is a row of numbers, or a matrix with a column for each output; it is fitted by the squared
    error. With ``scale`` features and targets are brought to a mean of 0 and a deviation of 1.
    The other parameters, and what it has after fit, are those of
    :class:`~extensor.estimators.Classifier`; predictions are in float64.

    >>> import numpy as np, extensor as ex
    >>> x = np.linspace(-1, 1, 64)[:, None]
    >>> model = ex.Regressor(hidden=(16,), lr=0.02, random_state=0).fit(x, 100 * x[:, 0] ** 2)
    >>> model.score(x, 100 * x[:, 0] ** 2) > 0.99
    True
    >>> model.predict([[0.5]]).shape
    (1,)
    """

    _of_one: tuple[int, ...]  # the shape of a sample's target
    _estimator_type: ClassVar[str] = "regressor"

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
        self.scale = scale
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """Learn from samples ``X``, an array or table, and their numbers ``y``.

        ``sample_weight`` counts samples: 0 is as if a sample were not there, and weights matter only
        beside each other.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """One more epoch, with these samples; they are scaled by all that came so far.

        Weights count as they are: a part of weight 2 moves the network twice as far.
        """
        return self._fit(X, y, sample_weight, partial=True)

    def predict(self, X: Any) -> Any:
        """The number of each sample, or a row of them, as ``y`` was when it was fitted."""
        return self._values("predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², the share of the variance that is predicted; 1 at best, 0 for the mean alone."""
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

    def _goal(self, call: Call, targets: Any, weights: Any) -> Goal:
        if call.goes_on and targets.shape[1:] != self._of_one:
            as_before = f"of {self._of_one[0]} columns" if self._of_one else "a row"
            requirement = f"y must be as before, {as_before}"
            raise value_error(call.op, requirement, y_shape=targets.shape)
        columns = targets.reshape(len(targets), -1)
        return Goal(REGRESSION, columns.shape[1], columns, {"_of_one": targets.shape[1:]})

    def __sklearn_tags__(self) -> Any:
        return scikit_learn.tags("regressor")
