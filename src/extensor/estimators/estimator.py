"""The base of classifier and regressor: parameters, fitting step by step, and outputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar, NamedTuple, TypeVar

from extensor.data.splitting import held_out
from extensor.errors import arguments, shown, value_error
from extensor.errors.suggestions import nearest
from extensor.estimators.estimator_data import (
    as_matrix,
    check_names,
    check_width,
    combined_weights,
    feature_names,
    not_fitted,
    sample_weights,
)
from extensor.estimators.network import (
    Network,
    RandomState,
    WeightedSamples,
    check_options,
    generator_of,
)
from extensor.nn import Module

_TABLE = (
    '<table style="border-collapse: collapse">'
    '<caption style="text-align: left; font-weight: bold">{head}</caption>{rows}</table>'
)
_ROW = '<tr><td style="text-align: left">{name}</td><td style="text-align: left">{value}</td></tr>'


Self = TypeVar("Self", bound="Estimator")


class FitGoal(NamedTuple):
    """The goal of a fit: the task, its outputs and targets, and attributes that fit sets."""

    task: str
    outputs: int
    targets: Any
    learned: dict[str, Any]
    factors: Any = None  # weights by class
    strata: Any = None  # classes by number


class FitCall(NamedTuple):
    """A call of fit or partial_fit, and whether it continues from an earlier one."""

    op: str
    is_partial: bool
    goes_on: bool
    classes: Any


@dataclass(eq=False, repr=False, kw_only=True)
class Estimator:
    """An estimator over a network; a fit that fails leaves it as it was."""

    hidden: int | Sequence[int] = field(default=(100,), kw_only=False)
    epochs: int = 100
    batch_size: int | str = "auto"
    optimizer: str | Callable[..., Any] = "adam"
    lr: float = 0.002
    weight_decay: float = 0.001
    dropout: float = 0.0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    patience: int = 10
    scale: bool = True
    verbose: bool = False
    random_state: RandomState = None
    warm_start: bool = False

    model_: Module = field(init=False)
    history_: list[dict[str, Any]] = field(init=False)
    n_iter_: int = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: Any = field(init=False)
    _network: Network = field(init=False)
    _estimator_type: ClassVar[str]

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls).parameters
        return {name: parameter.default for name, parameter in parameters.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default True
            Has no effect, as no parameter is an estimator.

        Returns
        -------
        dict of str to object
            The parameters as they were set.
        """
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self: Self, **params: Any) -> Self:
        """Set parameters by name. The next fit checks them.

        Parameters
        ----------
        **params : object
            The new values.

        Returns
        -------
        Estimator
            This estimator.

        Raises
        ------
        ValueError
            If a name is not a parameter.
        """
        known = self._defaults()
        for name in params:
            if name not in known:
                op = f"{type(self).__name__}.set_params"
                requirement = f"{name} must be a parameter{nearest(name, known)}"
                raise value_error(op, requirement, **{name: arguments.briefly(params[name])})
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def _changed(self) -> dict[str, str]:
        """The parameters that are no defaults, as they are shown."""
        return {
            name: repr(shown(value))
            for name, value in self.get_params().items()
            # By their repr, as == on arrays gives an array.
            if repr(value) != repr(self._defaults()[name])
        }

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self._changed().items())
        return f"{type(self).__name__}({given})"

    def _repr_html_(self) -> str:
        """A table of the changed parameters and of facts about the fit."""
        facts = {name: str(value) for name, value in self._facts().items()}
        rows = {**self._changed(), **(facts or {"fitted": "not yet"})}
        cells = "".join(_ROW.format(name=escape(k), value=escape(v)) for k, v in rows.items())
        return _TABLE.format(head=escape(type(self).__name__), rows=cells)

    @staticmethod
    def _read_targets(op: str, y: Any, samples: int) -> Any:
        raise NotImplementedError

    def _goal(self, call: FitCall, targets: Any, weights: Any) -> FitGoal:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

        is_classifier = self._estimator_type == "classifier"
        return Tags(
            estimator_type=self._estimator_type,
            target_tags=TargetTags(required=True, multi_output=not is_classifier),
            classifier_tags=ClassifierTags(multi_label=True) if is_classifier else None,
            regressor_tags=None if is_classifier else RegressorTags(),
        )

    def _fit(
        self: Self, X: Any, y: Any, sample_weight: Any, partial: bool = False, classes: Any = None
    ) -> Self:
        """Fit anew. With ``partial`` or a warm start continue, with ``partial`` for one epoch."""
        name = type(self).__name__
        op = f"{name}.{'partial_fit' if partial else 'fit'}"
        options = check_options(name, self.get_params())
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
            weights = combined_weights(op, weights, None, partial)
        goal = self._goal(FitCall(op, partial, goes_on, classes), targets, weights)
        # In partial_fit the weights of one part count relative to other parts.
        both = combined_weights(op, weights, goal.factors, as_they_are=partial)
        samples = WeightedSamples(matrix, goal.targets, weights, both)
        if goes_on:
            network, past = self._network.continued(op, options), self.history_
        else:
            chance = generator_of(name, self.random_state)
            sizes = (matrix.shape[1], goal.outputs)
            network = Network.create(name, goal.task, sizes, matrix.dtype, options, chance)
            past = []
        validation = None
        if options.early_stopping:
            count, fraction = len(samples.inputs), options.validation_fraction
            learned, held = held_out(op, count, fraction, goal.strata, network.generator)
            samples, validation = samples.at(learned), samples.at(held)
        if options.scale:
            network.learn_scaling(op, samples)
        epochs = 1 if partial else options.epochs
        history = network.train(op, samples, validation, epochs, options)
        # The records count epochs and steps on from those of the fits before.
        done = past[-1] if past else {"epoch": 0, "step": 0}
        counted = [
            record | {x: done[x] + record[x] for x in ("epoch", "step")} for record in history
        ]
        if not goes_on:
            vars(self).pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = names
        vars(self).update(goal.learned)
        self._network, self.model_ = network, network.model
        self.history_ = [*past, *counted]
        self.n_iter_ = len(self.history_)
        self.n_features_in_ = matrix.shape[1]
        return self

    def _outputs(self, method: str, X: Any) -> Any:
        """The outputs of the network for each sample."""
        name = type(self).__name__
        op = f"{name}.{method}"
        if not self.__sklearn_is_fitted__():
            raise not_fitted(op)
        check_names(op, name, getattr(self, "feature_names_in_", None), feature_names(op, X))
        matrix = as_matrix(op, X)
        check_width(op, name, self.n_features_in_, matrix)
        return self._network.outputs(op, matrix)

    def _score(
        self, predicted: Any, y: Any, sample_weight: Any, measure: Callable[..., float]
    ) -> float:
        op = f"{type(self).__name__}.score"
        true = self._read_targets(op, y, len(predicted))
        if true.size != predicted.size:
            requirement = "y must be of the shape that predict gives"
            given = {"predicted_shape": predicted.shape, "y_shape": true.shape}
            raise value_error(op, requirement, **given)
        return measure(predicted, true, sample_weights(op, sample_weight, len(predicted)))

    def _facts(self) -> dict[str, Any]:
        if not self.__sklearn_is_fitted__():
            return {}
        losses = {k: f"{v:.4g}" for k, v in self.history_[-1].items() if k.endswith("loss")}
        return {"features": self.n_features_in_, "epochs trained": self.n_iter_, **losses}
