"""The curves of classifiers against scikit-learn, and curves that are drawn with fewer points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extensor.report.chart import corners
from extensor.report.classification_cards import (
    area,
    calibration,
    mean_rate,
    precision_recall_curve,
    precision_recall_steps,
    rates,
    roc_curve,
)

metrics = pytest.importorskip("sklearn.metrics")


def scored(samples: int = 300, digits: int = 2) -> tuple[Any, Any]:
    """Truth and scores; rounded, so that many are the same."""
    rng = np.random.default_rng(samples)
    truth = rng.random(samples) < 0.3
    return truth, np.round(1 / (1 + np.exp(-rng.normal(size=samples) - truth)), digits)


@pytest.mark.parametrize(("samples", "digits"), [(2, 1), (20, 1), (300, 2), (300, 9)])
def test_roc_curve(samples: int, digits: int) -> None:
    truth, scores = scored(samples, digits)
    truth[:2] = True, False
    found = roc_curve(truth, scores)
    assert found is not None
    x, y, thresholds = metrics.roc_curve(truth, scores, drop_intermediate=False)
    np.testing.assert_allclose(found.x, x, rtol=1e-15)
    np.testing.assert_allclose(found.y, y, rtol=1e-15)
    np.testing.assert_array_equal(found.thresholds, thresholds)
    assert area(found) == pytest.approx(metrics.roc_auc_score(truth, scores), rel=1e-12)


@pytest.mark.parametrize(("samples", "digits"), [(2, 1), (20, 1), (300, 2), (300, 9)])
def test_precision_recall_curve(samples: int, digits: int) -> None:
    truth, scores = scored(samples, digits)
    truth[:2] = True, False
    found = precision_recall_curve(truth, scores)
    assert found is not None
    precision, recall, thresholds = metrics.precision_recall_curve(truth, scores)
    # Theirs goes from everything found to nothing.
    np.testing.assert_allclose(found.x, recall[::-1], rtol=1e-15)
    np.testing.assert_allclose(found.y, precision[::-1], rtol=1e-15)
    np.testing.assert_array_equal(found.thresholds[1:], thresholds[::-1])
    expected = metrics.average_precision_score(truth, scores)
    steps = precision_recall_steps(truth, scores)
    assert steps is not None
    assert area(steps) == pytest.approx(expected, rel=1e-12)


def test_there_is_no_curve_without_both_classes() -> None:
    scores = np.array([0.1, 0.4])
    assert roc_curve(np.array([True, True]), scores) is None
    assert roc_curve(np.array([False, False]), scores) is None
    assert precision_recall_curve(np.array([False, False]), scores) is None


@pytest.mark.parametrize("digits", [1, 9])  # with one, all lie on the edges of the bins
def test_calibration(digits: int) -> None:
    calibrated = pytest.importorskip("sklearn.calibration")
    truth, scores = scored(300, digits)
    found = calibration(truth, scores)
    frequency, probability = calibrated.calibration_curve(truth, scores, n_bins=10)
    known = found.counts > 0
    np.testing.assert_allclose(found.frequency[known], frequency, rtol=1e-15)
    np.testing.assert_allclose(found.probability[known], probability, rtol=1e-14)
    assert found.counts.sum() == 300
    weights = found.counts[known] / 300
    expected = float(np.sum(weights * np.abs(frequency - probability)))
    assert found.error() == pytest.approx(expected, rel=1e-12)


def test_rates_of_classes() -> None:
    rng = np.random.default_rng(0)
    truth, found = rng.integers(0, 5, 200), rng.integers(0, 4, 200)
    truth[truth == 3] = 2  # 3 never occurs, 4 is never found
    confusion = metrics.confusion_matrix(truth, found, labels=range(6))
    own = rates(np.diag(confusion), confusion.sum(axis=0), confusion.sum(axis=1))
    report = metrics.classification_report(
        truth, found, labels=range(6), output_dict=True, zero_division=np.nan
    )
    for i in range(6):
        expected = report[str(i)]
        got = [own.precision[i], own.recall[i], own.support[i]]
        np.testing.assert_allclose(got, [expected[k] for k in ("precision", "recall", "support")])
    f1 = metrics.f1_score(truth, found, labels=range(6), average=None, zero_division=0)
    np.testing.assert_allclose(np.nan_to_num(own.f1), f1)
    assert np.isnan(own.f1[5])  # neither found nor there
    assert own.f1[3] == own.f1[4] == 0
    for average, weights in (("macro", None), ("weighted", own.support)):
        expected = metrics.precision_recall_fscore_support(
            truth, found, labels=range(6), average=average, zero_division=0
        )
        means = [mean_rate(values, weights) for values in own[:3]]
        np.testing.assert_allclose(means, expected[:3], rtol=1e-12)


def test_corners_are_kept() -> None:
    x = np.arange(10_001.0)
    y = np.zeros(10_001)
    y[[1, 4321, 9998]] = 50.0, -30.0, 20.0
    kept, distance = corners(x / 25, y)
    assert len(kept) <= 400
    assert {0, 1, 4321, 9998, 10_000} <= set(kept.tolist())
    assert distance < 0.1


def test_few_points_are_all_kept() -> None:
    kept, distance = corners(np.arange(400), np.zeros(400))
    assert kept.tolist() == list(range(400))
    assert distance == 0


def test_how_far_the_others_lie_is_known() -> None:
    rng = np.random.default_rng(0)
    x, y = np.linspace(0, 350, 5000), rng.normal(size=5000) * 20
    kept, distance = corners(x, y)
    assert len(kept) == 400
    assert set(kept) >= {int(y.argmax()), int(y.argmin())}
    a, b = np.stack([x, y], 1)[kept[:-1]], np.stack([x, y], 1)[kept[1:]]
    furthest = 0.0
    for i in range(5000):
        piece = min(np.searchsorted(kept, i, "right"), len(kept) - 1) - 1
        line = b[piece] - a[piece]
        along = np.clip((np.array([x[i], y[i]]) - a[piece]) @ line / (line @ line), 0, 1)
        furthest = max(furthest, float(np.hypot(*(a[piece] + along * line - (x[i], y[i])))))
    assert distance == pytest.approx(furthest, rel=1e-9)
