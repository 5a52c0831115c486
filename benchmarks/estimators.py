"""Estimators beside scikit-learn's networks: score and seconds on its data sets.

    python -m benchmarks.estimators

Each is fitted as it is when nothing is said, on three quarters of the samples and scored on the
rest, for five seeds; scikit-learn's stand behind a StandardScaler.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import extensor as ex

SEEDS = range(5)
CLASSES = ("iris", "wine", "breast_cancer", "digits")
NUMBERS = ("diabetes",)


def measured(make: Callable[[int], Any], name: str) -> tuple[Any, Any]:
    """The scores and the seconds of fit, one for each seed."""
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    scores, seconds = [], []
    for seed in SEEDS:
        train_x, test_x, train_y, test_y = train_test_split(x, y, test_size=0.25, random_state=seed)
        estimator = make(seed)
        begin = time.perf_counter()
        estimator.fit(train_x, train_y)
        seconds.append(time.perf_counter() - begin)
        scores.append(estimator.score(test_x, test_y))
    return np.array(scores), np.array(seconds)


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{'data':<14}{'ExTensor':>20}{'scikit-learn':>20}{'seconds':>10}{'its':>8}")
    ex.Classifier(epochs=1).fit([[0.0], [1.0]], [0, 1])  # what is loaded once
    for name in (*CLASSES, *NUMBERS):
        is_number = name in NUMBERS
        ours, peer = (ex.Regressor, MLPRegressor) if is_number else (ex.Classifier, MLPClassifier)
        own, own_time = measured(lambda seed, made=ours: made(random_state=seed), name)
        other, other_time = measured(
            lambda seed, made=peer: make_pipeline(StandardScaler(), made(random_state=seed)), name
        )
        print(
            f"{name:<14}"
            f"{own.mean():>12.4f} ± {own.std():.3f}{other.mean():>12.4f} ± {other.std():.3f}"
            f"{np.median(own_time):>10.3f}{np.median(other_time):>8.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
