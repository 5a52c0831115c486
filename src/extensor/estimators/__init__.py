"""Estimators as scikit-learn means them: networks for tables of numbers, by fit and predict."""

from extensor.estimators.classifier import Classifier
from extensor.estimators.regressor import Regressor

__all__ = ["Classifier", "Regressor"]


def __dir__() -> list[str]:
    return sorted(__all__)
