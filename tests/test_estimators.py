"""Classifier and Regressor as estimators: the checks of scikit-learn, and what it does with them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from estimating import BOTH, IRIS, WORDS, both, equal, small
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_classifier_multioutput,
    check_dataframe_column_names_consistency,
    estimator_checks_generator,
)

import extensor as ex
from extensor.train import NotFiniteError

# A batch holds all samples of the check of weights, which can be equal to repetitions only then.
CHECKED = [kind(hidden=(16,), epochs=10, lr=0.02, batch_size=100) for kind in BOTH]
with warnings.catch_warnings():
    # Their class to inherit from is not there where scikit-learn is not installed.
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
