"""Small estimators for tests, and whether two have learned the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import extensor as ex

IRIS: tuple[Any, Any] = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]
BOTH = [ex.Classifier, ex.Regressor]
both = pytest.mark.parametrize("kind", BOTH, ids=lambda kind: kind.__name__)


def small(kind: Any = ex.Classifier, **options: Any) -> Any:
    return kind(**{"hidden": (8,), "epochs": 5, "lr": 0.02, "random_state": 0, **options})


def weights_of(estimator: Any) -> list[Any]:
    return [np.array(x) for x in estimator.model_.state_dict().values()]


def equal(a: Any, b: Any) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(weights_of(a), weights_of(b), strict=True))
