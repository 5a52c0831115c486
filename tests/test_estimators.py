"""Classifier and Regressor: against scikit-learn, NumPy by hand, and what estimators promise."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import (
    check_classifier_multioutput,
    check_dataframe_column_names_consistency,
    estimator_checks_generator,
)

import extensor as ex
from extensor.estimators.training import held_out
from extensor.train import NotFiniteError

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


# A batch holds all samples of the check of weights, which can be equal to repetitions only then.
CHECKED = [kind(hidden=(16,), epochs=10, lr=0.02, batch_size=100) for kind in BOTH]
with warnings.catch_warnings():
    # Theirs to inherit from is not there when scikit-learn is not.
    warnings.filterwarnings("ignore", "Estimator .* does not inherit", UserWarning)
    # The check of array namespaces needs a setting of its own: see the test below.
    CHECKS = [
        pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.func.__name__}-{i}")
        for one in CHECKED
        for i, (estimator, check) in enumerate(estimator_checks_generator(one))
        if "check_array_api_input" not in str(check)
    ]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", CHECKED, ids=lambda x: type(x).__name__)
def test_names_of_features(estimator: Any) -> None:
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)


def test_several_labels_as_scikit_learn_checks_them() -> None:
    check_classifier_multioutput("Classifier", CHECKED[0])


def run(program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_check_of_array_namespaces() -> None:
    """SciPy looks at the setting when it is imported."""
    run(
        "import warnings\n"
        "warnings.filterwarnings('ignore', 'Estimator .* does not inherit')\n"
        "import extensor as ex\n"
        "from sklearn.utils.estimator_checks import estimator_checks_generator\n"
        "for kind in (ex.Classifier, ex.Regressor):\n"
        "    for estimator, check in estimator_checks_generator(kind(4, epochs=2)):\n"
        "        if 'check_array_api_input' in str(check):\n"
        "            check(estimator)\n",
        SCIPY_ARRAY_API="1",
    )


def test_without_scikit_learn() -> None:
    found = run(
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('sklearn', 'pandas', 'scipy', 'joblib', 'IPython')))\n"
        "import pickle, warnings\n"
        "import extensor as ex\n"
        "x, y = [[0.0], [0.1], [1.0], [1.1]], ['a', 'a', 'b', 'b']\n"
        "try:\n    ex.Classifier().predict(x)\n"
        "except (ValueError, AttributeError) as error:\n    print(type(error).__name__, error)\n"
        "model = ex.Classifier(4, epochs=50, lr=0.05, random_state=0).fit(x, y)\n"
        "print(pickle.loads(pickle.dumps(model)).predict(x).tolist(), model.score(x, y), model)\n"
        "with warnings.catch_warnings(record=True) as noted:\n"
        "    warnings.simplefilter('always')\n"
        "    model.fit(x, [['a'], ['a'], ['b'], ['b']])\n"
        "print(noted[0].category.__name__, noted[0].message)\n"
        "model = ex.Regressor(4, epochs=2, random_state=0).fit(x, [1, 2, 3, 4])\n"
        "print(model.partial_fit(x, [1, 2, 3, 4]).n_iter_, model.get_params()['hidden'])\n"
    )
    assert found.splitlines() == [
        "NotFittedError Classifier.predict: the estimator must be fitted first, by fit",
        "['a', 'a', 'b', 'b'] 1.0 Classifier(hidden=4, epochs=50, lr=0.05, random_state=0)",
        "UserWarning A column-vector y was passed when a 1d array was expected; "
        "y.ravel() has the shape (4,)",
        "3 4",
    ]


def test_kinds_are_known() -> None:
    assert is_classifier(ex.Classifier())
    assert is_regressor(ex.Regressor())


def test_in_a_pipeline() -> None:
    """The features are scaled as StandardScaler does it."""
    x, y = IRIS[0] * [1, 100, 1e-3, 1] + [0, 1e4, 0, 7], WORDS
    behind = make_pipeline(StandardScaler(), small(scale=False)).fit(x, y)
    own = small().fit(x, y)
    np.testing.assert_allclose(own.predict_proba(x), behind.predict_proba(x), 1e-9, 1e-12)
    assert "Classifier" in behind._repr_html_()


def test_grid_search_in_processes() -> None:
    searches = [
        GridSearchCV(small(epochs=20), {"lr": [1e-6, 0.02]}, cv=3, n_jobs=jobs).fit(*IRIS)
        for jobs in (1, 2)
    ]
    one, two = (search.cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_array_equal(one, two)
    assert searches[1].best_params_ == {"lr": 0.02}
    assert searches[1].score(*IRIS) > 0.9


def test_cross_validation() -> None:
    x = IRIS[0]
    parts = KFold(3, shuffle=True, random_state=0)
    assert cross_val_score(small(epochs=40), x, WORDS, cv=parts).min() > 0.9
    regressor = small(ex.Regressor, epochs=20)
    assert cross_val_score(regressor, x[:, 1:], x[:, 0], cv=parts).min() > 0.7


@both
def test_clone(kind: Any) -> None:
    momentum = partial(ex.optim.SGD, momentum=0.9)
    one = small(kind, hidden=[8], optimizer=momentum).fit(*IRIS)
    other = clone(one)
    assert other.get_params().keys() == one.get_params().keys()
    assert other.optimizer.func is ex.optim.SGD
    assert not other.__sklearn_is_fitted__()
    assert equal(other.fit(*IRIS), one)


@both
def test_pickle(kind: Any, tmp_path: Path) -> None:
    import joblib

    x, y = IRIS
    one = small(kind, dropout=0.2).fit(x, y)
    expected = one.predict(x)
    loaded = pickle.loads(pickle.dumps(one))
    joblib.dump(one, tmp_path / "one")
    mapped = joblib.load(tmp_path / "one", mmap_mode="r")
    np.testing.assert_array_equal(loaded.predict(x), expected)
    # A map of a file is computed by the formulas, which round otherwise than the kernels.
    np.testing.assert_allclose(mapped.predict(x), expected, 1e-12)
    assert loaded.history_ == mapped.history_ == one.history_
    one.partial_fit(x, y)
    assert equal(loaded.partial_fit(x, y), one)
    np.testing.assert_allclose(mapped.partial_fit(x, y).predict(x), one.predict(x), 1e-9)


def test_a_table_with_words() -> None:
    table = pd.DataFrame(IRIS[0].astype(np.float32), columns=list("abcd"))
    labels = pd.Series(WORDS, dtype="category")
    model = small(epochs=20).fit(table, labels)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert set(model.predict(table)) <= set(WORDS)
    assert model.score(table, labels) == accuracy_score(WORDS, model.predict(table)) > 0.9
    plain = small(epochs=20).fit(IRIS[0].astype(np.float32), WORDS)
    assert not hasattr(plain, "feature_names_in_")
    assert equal(model, plain)
    mixed = table.astype({"a": "Float64", "b": object})
    np.testing.assert_array_equal(model.predict(mixed), plain.predict(mixed.to_numpy(float)))
    model.fit(IRIS[0], WORDS)
    assert not hasattr(model, "feature_names_in_")


def test_tensors_and_lists() -> None:
    x, y = IRIS[0].astype(np.float32), IRIS[1]
    array = small().fit(x, y)
    assert equal(small().fit(ex.tensor(x), ex.tensor(y)), array)
    assert array.predict_proba(ex.tensor(x)).dtype == np.float32
    doubles = small().fit(IRIS[0], y)
    assert equal(small().fit(IRIS[0].tolist(), y.tolist()), doubles)
    assert doubles.predict_proba(x).dtype == np.float64
    assert small(ex.Regressor).fit(x, y).predict(x).dtype == np.float64


@pytest.mark.parametrize(
    "labels", [[0, 1, 2], [True, False], ["b", "a"], [2.0, -1.0], [b"x", b"y"]]
)
def test_labels_come_back(labels: list[Any]) -> None:
    y = np.array(labels)[IRIS[1] % len(labels)]
    model = small(epochs=1).fit(IRIS[0], y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    assert model.predict(IRIS[0]).dtype == y.dtype


def descended(
    x: Any, y: Any, weights: Any, start: tuple[Any, Any], steps: int, lr: float, link: Any
) -> tuple[Any, Any]:
    """A linear model by gradient descent on its weighted mean loss, by hand."""
    w, b = (np.array(part) for part in start)
    share = (weights / weights.sum())[:, None]
    for _ in range(steps):
        error = link(x @ w.T + b, y) * share
        w, b = w - lr * error.T @ x, b - lr * error.sum(0)
    return w, b


def softmax_error(scores: Any, y: Any) -> Any:
    powers = np.exp(scores)
    return powers / powers.sum(1, keepdims=True) - np.eye(3)[y]


def logistic_error(scores: Any, y: Any) -> Any:
    return 1 / (1 + np.exp(-scores)) - (y[:, None] == 1)


def squared_error(scores: Any, y: Any) -> Any:
    return 2 * (scores - y[:, None])


@pytest.mark.parametrize(
    ("kind", "link", "classes"),
    [
        (ex.Classifier, softmax_error, 3),
        (ex.Classifier, logistic_error, 2),
        (ex.Regressor, squared_error, 3),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_training_is_descent(
    kind: Any, link: Any, classes: int, weighted: bool, rng: np.random.Generator
) -> None:
    chosen = IRIS[1] < classes
    x, y = IRIS[0][chosen], IRIS[1][chosen]
    weights = rng.integers(0, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    given = weights if weighted else None
    linear = partial(
        kind, (), optimizer="SGD", weight_decay=0.0, batch_size=1000, scale=False, random_state=3
    )
    start = weights_of(linear(epochs=1, lr=1e-30).fit(x, y, given))
    found = weights_of(linear(epochs=4, lr=0.01).fit(x, y, given))
    expected = descended(x, y, weights, (start[0], start[1]), 4, 0.01, link)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, 1e-10)


@both
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_parts_go_on(kind: Any, dropout: float) -> None:
    """One more epoch is one more epoch, in the same bits; three are a fit of three."""
    x, y = IRIS
    options = {"dropout": dropout, "batch_size": 16}
    whole = small(kind, epochs=3, **options).fit(x, y)
    more = small(kind, epochs=2, **options).fit(x, y).partial_fit(x, y)
    parts = small(kind, **options)
    for _ in range(3):
        parts.partial_fit(x, y, **({"classes": [0, 1, 2]} if kind is ex.Classifier else {}))
    warm = small(kind, epochs=1, warm_start=True, **options).fit(x, y).fit(x, y).fit(x, y)
    for other in (more, parts, warm):
        assert equal(other, whole)
        assert other.history_ == whole.history_
        assert other.n_iter_ == 3


@both
def test_weights_of_parts_count_as_they_are(kind: Any) -> None:
    x, y = IRIS[0][:1], IRIS[1][:1]
    options = {"hidden": (), "optimizer": "sgd", "weight_decay": 0.0, "scale": False}
    classes = {"classes": [0, 1, 2]} if kind is ex.Classifier else {}
    moved = []
    for lr, weight in ((1e-30, 1.0), (0.01, 1.0), (0.01, 3.0)):
        model = small(kind, lr=lr, **options).partial_fit(x, y, **classes, sample_weight=[weight])
        moved.append(weights_of(model)[0])
    np.testing.assert_allclose(moved[2] - moved[0], 3 * (moved[1] - moved[0]), 1e-9)
    if kind is ex.Classifier:
        model = small(lr=0.01, class_weight={0: 3.0}, **options).partial_fit(x, y, **classes)
        np.testing.assert_array_equal(weights_of(model)[0], moved[2])


def test_scaling_of_parts() -> None:
    """By all samples so far, as StandardScaler does it; a constant feature is only shifted."""
    x = np.column_stack([IRIS[0], np.full(150, 0.1)])
    model, scaler = small(ex.Regressor), StandardScaler()
    for part, weights in ((x[:40], None), (x[40:], np.arange(110)), (x[:3], [2.0, 0.0, 2.0])):
        model.partial_fit(part, part[:, 0], weights)
        scaler.partial_fit(part, sample_weight=weights)
    inputs, targets = model._network.inputs, model._network.targets
    np.testing.assert_allclose(inputs.mean, scaler.mean_, 1e-12)
    np.testing.assert_allclose(inputs.deviation, scaler.scale_, 1e-12)
    assert inputs.deviation[-1] == 1
    np.testing.assert_allclose(targets.deviation, scaler.scale_[:1], 1e-12)


def test_scaling_with_weights(rng: np.random.Generator) -> None:
    weights = rng.integers(0, 3, 150)
    model = small().fit(*IRIS, weights)
    scaler = StandardScaler().fit(IRIS[0], sample_weight=weights)
    np.testing.assert_allclose(model._network.inputs.mean, scaler.mean_, 1e-12)
    np.testing.assert_allclose(model._network.inputs.deviation, scaler.scale_, 1e-12)


@both
def test_weight_of_zero_is_no_sample(kind: Any, rng: np.random.Generator) -> None:
    """To the bit, and in batches of any size."""
    x, y = IRIS
    weights = rng.integers(0, 3, 150) / 2
    kept = weights > 0
    for options in ({}, {"early_stopping": True}):
        without = small(kind, **options).fit(x[kept], y[kept], weights[kept])
        assert equal(small(kind, **options).fit(x, y, weights), without)
    assert equal(small(kind).fit(x, y, kept), small(kind).fit(x[kept], y[kept]))
    assert equal(small(kind).fit(x, y, np.full(150, 7.5)), small(kind).fit(x, y))


@both
def test_whole_weights_are_repetitions(kind: Any, rng: np.random.Generator) -> None:
    x, y = IRIS
    weights = rng.integers(1, 4, 150)
    weighted = small(kind, batch_size=1000).fit(x, y, weights)
    repeated = small(kind, batch_size=1000).fit(x.repeat(weights, 0), y.repeat(weights))
    for a, b in zip(weights_of(weighted), weights_of(repeated), strict=True):
        np.testing.assert_allclose(a, b, 1e-9, 1e-12)


def test_class_weights(rng: np.random.Generator) -> None:
    x, y = IRIS[0][:110], WORDS[:110]  # 50, 50 and 10
    balanced = small(class_weight="balanced").fit(x, y)
    given = small(scale=False)
    own = small(class_weight="balanced", scale=False).fit(x, y)
    given.fit(x, y, compute_sample_weight("balanced", y))
    np.testing.assert_allclose(given.predict_proba(x), own.predict_proba(x), 1e-9)
    rare = y == "virginica"
    plain = small().fit(x, y)
    column = list(plain.classes_).index("virginica")
    mean = [model.predict_proba(x)[rare, column].mean() for model in (plain, balanced)]
    assert mean[1] > mean[0] + 0.1
    table = {"virginica": 5.0}
    by_name = small(class_weight=table, scale=False).fit(x, y)
    given.fit(x, y, np.where(rare, 5.0, 1.0))
    np.testing.assert_allclose(given.predict_proba(x), by_name.predict_proba(x), 1e-9)


def test_balanced_weights_count_repetitions() -> None:
    x, y = IRIS[0][:110], IRIS[1][:110]
    weights = 1 + np.arange(110) % 3
    one = small(class_weight="balanced", batch_size=1000).fit(x, y, weights)
    other = small(class_weight="balanced", batch_size=1000)
    other.fit(x.repeat(weights, 0), y.repeat(weights))
    np.testing.assert_allclose(one.predict_proba(x), other.predict_proba(x), 1e-9)


def test_several_labels() -> None:
    x, y = make_multilabel_classification(100, 6, n_classes=4, random_state=0)
    model = small(hidden=(32,), epochs=60).fit(x, y)
    found = model.predict(x)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert found.shape == (100, 4)
    assert model.score(x, y) == accuracy_score(y, found) > 0.6
    chances = model.predict_proba(x)
    np.testing.assert_array_equal(chances > 0.5, found)
    np.testing.assert_allclose(chances, 1 / (1 + np.exp(-model.decision_function(x))), 1e-12)
    parts = small(epochs=1).partial_fit(x, y).partial_fit(x[:10], y[:10])
    assert parts.predict(x).shape == (100, 4)
    weights = np.arange(100) % 2
    assert equal(small().fit(x, y, weights), small().fit(x[1::2], y[1::2]))


def test_several_outputs() -> None:
    x, y = IRIS[0][:, :2], IRIS[0][:, 2:] * [1, 1000]
    model = small(ex.Regressor, epochs=40).fit(x, y)
    assert model.predict(x).shape == (150, 2)
    assert model.score(x, y) == pytest.approx(r2_score(y, model.predict(x)), 1e-12)
    assert model.score(x, y) > 0.5
    assert small(ex.Regressor).fit(x, y[:, :1]).predict(x).shape == (150, 1)
    assert small(ex.Regressor).fit(x, y[:, 0]).predict(x).shape == (150,)


def test_scores(rng: np.random.Generator) -> None:
    x, y = IRIS
    weights = rng.uniform(0, 2, 150)
    model = small().fit(x, y)
    expected = accuracy_score(y, model.predict(x), sample_weight=weights)
    assert model.score(x, y, weights) == pytest.approx(expected, 1e-12)
    values = np.column_stack([x[:, 0], np.ones(150)])
    model = small(ex.Regressor).fit(x, values)
    for target in (values, values + np.array([0, 1])):
        expected = r2_score(target, model.predict(x), sample_weight=weights)
        assert model.score(x, target, weights) == pytest.approx(expected, 1e-12)
    with pytest.warns(UserWarning, match="R\\^2 of one sample is not defined"):
        assert np.isnan(model.score(x[:1], values[:1]))


@both
def test_chance_comes_from_the_state_alone(kind: Any) -> None:
    x, y = IRIS
    make = partial(small, kind, dropout=0.3, batch_size=32)
    before = ex.random.get_state()
    first = make().fit(x, y)
    assert ex.random.get_state() == before
    ex.random.manual_seed(99)
    try:
        assert equal(make().fit(x, y), first)
        assert not equal(make(random_state=1).fit(x, y), first)
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda seed: make(random_state=seed).fit(x, y), [0, 1, 0, 1]))
        assert ex.random.get_state() == (99, 0)
        assert equal(found[0], first)
        assert equal(found[2], first)
        assert equal(found[1], found[3])
        ex.random.manual_seed(5)
        drawn = [make(random_state=None).fit(x, y) for _ in range(2)]
        assert not equal(*drawn)
        ex.random.manual_seed(5)
        assert equal(make(random_state=None).fit(x, y), drawn[0])
    finally:
        ex.random.set_state(before)


@pytest.mark.parametrize(
    "make", [np.random.RandomState, np.random.default_rng, ex.random.Generator]
)
def test_sources_of_chance(make: Any) -> None:
    source = make(4)
    first, second = (small(random_state=source).fit(*IRIS) for _ in range(2))
    assert not equal(first, second)
    assert equal(small(random_state=make(4)).fit(*IRIS), first)


@both
def test_early_stopping(kind: Any) -> None:
    x, y = IRIS
    model = small(kind, early_stopping=True, epochs=200, patience=3, lr=0.05).fit(x, y)
    losses = [record["validation_loss"] for record in model.history_]
    assert model.n_iter_ == len(losses) < 200
    assert int(np.argmin(losses)) == len(losses) - 4
    best = small(kind, early_stopping=True, epochs=len(losses) - 3, lr=0.05).fit(x, y)
    assert equal(best, model)
    assert [record["epoch"] for record in model.history_] == list(range(1, len(losses) + 1))
    assert not model.model_.training


def test_held_out_samples() -> None:
    strata = np.repeat([0, 1, 2], [60, 30, 10])
    learned, held = held_out("fit", 100, 0.2, strata, ex.random.Generator(0))
    assert sorted([*learned, *held]) == list(range(100))
    assert np.bincount(strata[held]).tolist() == [12, 6, 2]
    other = held_out("fit", 100, 0.2, strata, ex.random.Generator(1))[1]
    assert not np.array_equal(held, other)


@both
@pytest.mark.parametrize("name", ["adam", "ADAMW", "Sgd", "RMSprop", "lion", "Adadelta", "lamb"])
def test_optimizers(kind: Any, name: str) -> None:
    chosen = next(getattr(ex.optim, x) for x in ex.optim.__all__ if x.lower() == name.lower())
    made: list[Any] = []

    def noted(params: Any, lr: float, weight_decay: float) -> Any:
        made.append((lr, weight_decay))
        return chosen(params, lr=lr, weight_decay=weight_decay)

    one = small(kind, optimizer=name, epochs=1, weight_decay=0.5).fit(*IRIS)
    assert equal(small(kind, optimizer=noted, epochs=1, weight_decay=0.5).fit(*IRIS), one)
    assert made == [(0.02, 0.5)]


def test_another_rate_from_here_on() -> None:
    x, y = IRIS
    model = small().fit(x, y)
    before = weights_of(model)
    model.set_params(lr=1e-30, weight_decay=0.0).partial_fit(x, y)
    for a, b in zip(before, weights_of(model), strict=True):
        np.testing.assert_allclose(a, b, 1e-12)
    assert model.history_[-1]["lr"] == 1e-30


def test_size_of_batches() -> None:
    x, y = load_digits(return_X_y=True)
    steps = {}
    for size in ("auto", 100, 10_000):
        model = ex.Classifier(4, epochs=1, batch_size=size, random_state=0).fit(x, y)
        steps[size] = model.history_[-1]["step"]
    assert steps == {"auto": 57, 100: 18, 10_000: 1}  # of 32, and 1797 samples


@both
def test_failure_changes_nothing(kind: Any) -> None:
    x, y = IRIS
    table = pd.DataFrame(x, columns=list("abcd"))
    model = small(kind, optimizer="sgd", warm_start=True).fit(table, y)
    expected, before = model.predict(table), dict(vars(model))
    broken = table.copy()
    broken.iloc[7, 2] = np.nan
    for wrong in (
        partial(model.fit, broken, y),
        partial(model.fit, table, y[:-1]),
        partial(model.partial_fit, table, y, sample_weight=-np.ones(150)),
    ):
        with pytest.raises(ValueError, match=r"^(Classifier|Regressor)\.(partial_)?fit: "):
            wrong()
    model.set_params(lr=1e200)
    with pytest.raises(NotFiniteError):
        model.fit(table, y)
    model.set_params(lr=0.02)
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict(table), expected)


@both
def test_shown(kind: Any) -> None:
    name = kind.__name__
    assert repr(kind()) == f"{name}()"
    model = kind((8,), random_state=0, optimizer="<b>")
    assert repr(model) == f"{name}(hidden=(8,), optimizer='<b>', random_state=0)"
    assert "&lt;b&gt;" in model._repr_html_()
    assert "not yet" in model._repr_html_()
    fitted = small(kind).fit(*IRIS)
    assert "not yet" not in fitted._repr_html_()
    assert f"{fitted.history_[-1]['loss']:.4g}" in fitted._repr_html_()


@both
def test_parameters(kind: Any) -> None:
    model = kind(epochs=3)
    assert model.set_params(lr=0.5, hidden=(2,)) is model
    assert (model.lr, model.hidden, model.epochs) == (0.5, (2,), 3)
    with pytest.raises(ValueError, match="must be a parameter") as caught:
        model.set_params(lr=0.1, epoch=5)
    name = kind.__name__
    assert str(caught.value) == (
        f"{name}.set_params: epoch must be a parameter (did you mean 'epochs'?), got epoch=5"
    )
    assert model.lr == 0.5


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    small(epochs=2).fit(*IRIS)
    assert capsys.readouterr() == ("", "")
    small(epochs=2, verbose=True).fit(*IRIS)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "epoch 2/2" in shown.err
