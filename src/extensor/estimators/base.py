"""What classifier and regressor share: fitting step by step, and asking the network."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from extensor.errors import value_error
from extensor.estimators.inputs import as_matrix, check_names, check_width, feature_names
from extensor.estimators.options import Options, checked_options, generator_of
from extensor.estimators.parameters import Parametrized
from extensor.estimators.scikit_learn import not_fitted
from extensor.estimators.training import Network, Samples, held_out
from extensor.estimators.weights import multiplied, sample_weights
from extensor.nn import Module

Self = TypeVar("Self", bound="Estimator")


class Goal(NamedTuple):
    """What is to be learned: the task, its outputs and targets, and what fit says of them."""

    task: str
    outputs: int
    targets: Any
    learned: dict[str, Any]
    factors: Any = None  # weights by class
    strata: Any = None  # classes by number


class Call(NamedTuple):
    """How samples came: by which method, and whether they go on with what is known already."""

    op: str
    is_partial: bool
    goes_on: bool
    classes: Any


class Estimator(Parametrized):
    """An estimator over a network; a fit that fails leaves it as it was."""

    model_: Module
    history_: list[dict[str, Any]]
    n_iter_: int
    n_features_in_: int
    feature_names_in_: Any
    random_state: Any
    _network: Network

    def _read_targets(self, op: str, y: Any, samples: int) -> Any:
        raise NotImplementedError

    def _goal(self, call: Call, targets: Any, weights: Any) -> Goal:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _fit(
        self: Self, X: Any, y: Any, sample_weight: Any, partial: bool = False, classes: Any = None
    ) -> Self:
        """Learn anew, or with ``partial``, for one epoch, and in a warm start from what is known."""
        name = type(self).__name__
        op = f"{name}.{'partial_fit' if partial else 'fit'}"
        options = checked_options(name, self.get_params())
        if partial and options.early_stopping:
            requirement = "early_stopping must be False, as one epoch has nothing to stop"
            raise value_error(op, requirement, early_stopping=True)
        goes_on = self.__sklearn_is_fitted__() and (partial or options.warm_start)
        names = feature_names(op, X)
        if goes_on:
            check_names(op, name, getattr(self, "feature_names_in_", None), names)
        matrix = as_matrix(op, X)
        if goes_on:
            check_width(op, name, self.n_features_in_, matrix)
        weights = sample_weights(op, sample_weight, len(matrix))
        targets = self._read_targets(op, y, len(matrix))
        if weights is not None:
            # Nothing may depend on a sample that does not count, not even the order of the others.
            kept = weights > 0
            matrix, targets, weights = matrix[kept], targets[kept], weights[kept]
            weights = multiplied(op, weights, None, partial)
        goal = self._goal(Call(op, partial, goes_on, classes), targets, weights)
        # Of several parts, the weights of one count beside those of the others.
        both = multiplied(op, weights, goal.factors, as_they_are=partial)
        samples = Samples(matrix, goal.targets, weights, both)
        if goes_on:
            network, past = self._network.continued(op, options), self.history_
        else:
            chance = generator_of(name, self.random_state)
            sizes = (matrix.shape[1], goal.outputs)
            network = Network.made(name, goal.task, sizes, matrix.dtype, options, chance)
            past = []
        history = self._trained(op, network, samples, goal.strata, options, partial)
        if not goes_on:
            vars(self).pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = names
        vars(self).update(goal.learned)
        self._network, self.model_ = network, network.model
        self.history_ = [*past, *_counted_on(past, history)]
        self.n_iter_ = len(self.history_)
        self.n_features_in_ = matrix.shape[1]
        return self

    def _trained(
        self, op: str, network: Network, samples: Samples, strata: Any, options: Options, once: bool
    ) -> list[dict[str, Any]]:
        validation = None
        if options.early_stopping:
            count, fraction = len(samples.inputs), options.validation_fraction
            learned, held = held_out(op, count, fraction, strata, network.generator)
            samples, validation = samples.at(learned), samples.at(held)
        if options.scale:
            network.learn_scaling(op, samples)
        return network.train(op, samples, validation, 1 if once else options.epochs, options)

    def _outputs(self, method: str, X: Any) -> Any:
        """What the network says of each sample."""
        name = type(self).__name__
        op = f"{name}.{method}"
        if not self.__sklearn_is_fitted__():
            raise not_fitted(op)
        check_names(op, name, getattr(self, "feature_names_in_", None), feature_names(op, X))
        matrix = as_matrix(op, X)
        check_width(op, name, self.n_features_in_, matrix)
        return self._network.outputs(op, matrix)

    def _facts(self) -> dict[str, Any]:
        if not self.__sklearn_is_fitted__():
            return {}
        losses = {k: f"{v:.4g}" for k, v in self.history_[-1].items() if k.endswith("loss")}
        return {"features": self.n_features_in_, "epochs trained": self.n_iter_, **losses}


def _counted_on(past: list[dict[str, Any]], history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of epochs that came after those of ``past``."""
    if not past:
        return history
    return [
        {**record, **{key: past[-1][key] + record[key] for key in ("epoch", "step")}}
        for record in history
    ]
