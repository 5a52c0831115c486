"""How Classifier and Regressor train: gradients by hand, weights, parts, scaling and chance."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from estimating import IRIS, WORDS, both, equal, small, weights_of
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

import extensor as ex
from extensor.data.splitting import held_out


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
