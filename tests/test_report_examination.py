"""Examinations of each task: numbers against scikit-learn, what is listed, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_report import Page

import extensor as ex
from extensor.data import ArrayDataset
from extensor.report import Card, Chart, Examination, Table, examine
from extensor.report.run_page import examination_sections

RNG = np.random.default_rng(0)


def cards(found: Examination | None) -> dict[str, Card]:
    assert found is not None
    return {part.title: part for part in found.parts if isinstance(part, Card)}


def tables(found: Examination | None) -> dict[str, list[list[str]]]:
    assert found is not None
    return {part.title: part.rows for part in found.parts if isinstance(part, Table)}


def shown(found: Examination | None) -> str:
    assert found is not None
    text = "".join(examination_sections(found))
    Page(text)
    return text


def only(card: Card) -> Chart:
    (chart,) = card.charts
    return chart


def test_binary_against_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth = (RNG.random((200, 1)) < 0.4).astype(np.float32)
    logits = RNG.normal(size=(200, 1)) + truth
    found = examine(None, logits, truth, "binary", ["no", "yes"])
    assert found is not None
    labels, flat = truth[:, 0].astype(int), logits[:, 0]
    guess = flat > 0
    np.testing.assert_array_equal(found.confusion, metrics.confusion_matrix(labels, guess))
    roc, precision = (
        metrics.roc_auc_score(labels, flat),
        metrics.average_precision_score(labels, flat),
    )
    assert f"ROC curve: area {roc:.4f}" in cards(found)
    assert f"Precision and recall: average precision {precision:.4f}" in cards(found)
    report = metrics.classification_report(labels, guess, output_dict=True)
    rows = {row[0]: row[1:] for row in tables(found)["Each class"]}
    for name, key in (("no", "0"), ("yes", "1"), ("mean of the classes", "macro avg")):
        expected = [report[key][k] for k in ("precision", "recall", "f1-score", "support")]
        assert rows[name] == [*(f"{x:.4f}" for x in expected[:3]), f"{expected[3]:.0f}"]
    losses = [
        metrics.log_loss([y], [1 / (1 + np.exp(-z))], labels=[0, 1])
        for y, z in zip(labels, flat, strict=True)
    ]
    wrong = np.flatnonzero(guess != labels)
    expected = wrong[np.argsort(-np.array(losses)[wrong], kind="stable")][:24].tolist()
    assert [sample.number for sample in found.worst] == expected
    assert found.worst[0].loss == pytest.approx(losses[expected[0]], rel=1e-6)


def test_multiclass_against_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    labels = RNG.integers(0, 4, 300)
    logits = RNG.normal(size=(300, 4)) + 1.5 * np.eye(4)[labels]
    found = examine(None, logits, labels, "multiclass", ["a", "b", "c", "d"])
    assert found is not None
    np.testing.assert_array_equal(
        found.confusion, metrics.confusion_matrix(labels, logits.argmax(axis=1))
    )
    probabilities = np.array(ex.softmax(logits, axis=1))
    series = {s.name: s for s in only(cards(found)["ROC curves"]).series}
    rows = {row[0]: row for row in tables(found)["Each class"]}
    for i, name in enumerate("abcd"):
        expected = metrics.roc_auc_score(labels == i, probabilities[:, i])
        assert series[name].said == rows[name][4] == f"{expected:.4f}"
        average = metrics.average_precision_score(labels == i, probabilities[:, i])
        assert rows[name][5] == f"{average:.4f}"
    confidence, hits = probabilities.max(axis=1), logits.argmax(axis=1) == labels
    bins = np.minimum(np.ceil(confidence * 10).astype(int) - 1, 9)
    gaps = [abs(np.sum(confidence[bins == b] - hits[bins == b])) for b in range(10)]
    assert f"Calibration: expected error {sum(gaps) / 300:.4f}" in cards(found)


def test_labels_against_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth = RNG.random((150, 3)) < 0.4
    logits = RNG.normal(size=(150, 3)) + truth
    found = examine(None, logits, truth, "multilabel", ["x", "y", "z"])
    assert found is not None
    assert found.confusion is None
    report = metrics.classification_report(truth, logits > 0, output_dict=True, zero_division=0)
    rows = {row[0]: row for row in tables(found)["Each label"]}
    for i, name in enumerate("xyz"):
        expected = [report[str(i)][k] for k in ("precision", "recall", "f1-score")]
        assert rows[name][1:4] == [f"{x:.4f}" for x in expected]
        assert rows[name][4] == f"{metrics.roc_auc_score(truth[:, i], logits[:, i]):.4f}"
    first = found.worst[0]
    probability = 1 / (1 + np.exp(-logits))
    errors = []
    for label in range(3):
        bins = np.minimum(np.ceil(probability[:, label] * 10).astype(int) - 1, 9)
        gaps = probability[:, label] - truth[:, label]
        errors.append(sum(abs(gaps[bins == b].sum()) for b in range(10)) / 150)
    assert f"Calibration: expected error {np.mean(errors):.4f}" in cards(found)
    assert first.is_wrong
    expected_names = [n for n, there in zip("xyz", truth[first.number], strict=True) if there]
    assert first.truth == (", ".join(expected_names) or "none")


def test_regression_against_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth = RNG.normal(size=(50, 2)) * [1, 1e6]
    guess = truth + RNG.normal(size=(50, 2)) * [0.5, 1e5]
    names = [f"house {i}.json" for i in range(50)]
    found = examine(None, guess, truth, "regression", ["size", "price"], names)
    rows = {row[0]: row[1:] for row in tables(found)["Errors"]}
    for i, name in enumerate(("size", "price")):
        absolute = metrics.mean_absolute_error(truth[:, i], guess[:, i])
        square = metrics.root_mean_squared_error(truth[:, i], guess[:, i])
        assert float(rows[name][0].replace(",", "")) == pytest.approx(absolute, rel=1e-3)
        assert float(rows[name][1].replace(",", "")) == pytest.approx(square, rel=1e-3)
        assert rows[name][3] == f"{metrics.r2_score(truth[:, i], guess[:, i]):.4f}"
    scatter = only(cards(found)["Predicted and true of price"])
    expected = [(float(x), float(y)) for x, y in zip(truth[:, 1], guess[:, 1], strict=True)]
    assert scatter.series[0].points == expected
    assert scatter.series[0].labels == names
    low, high = scatter.limits or (0, 0)
    assert low < truth[:, 1].min() < truth[:, 1].max() < high
    bars = only(cards(found)["Residuals of size"]).series[0].points
    counts, edges = np.histogram(truth[:, 0] - guess[:, 0], len(bars))
    assert [y for _, y in bars] == counts.tolist()
    np.testing.assert_allclose([x for x, _ in bars], (edges[1:] + edges[:-1]) / 2)
    assert "house 7.json" in shown(found)


def test_many_numbers_are_drawn_in_part_and_it_is_said() -> None:
    truth = RNG.normal(size=2500)
    guess = truth.copy()
    guess[1234] += 9  # not among every third
    card = cards(examine(None, guess, truth, "regression"))["Predicted and true"]
    points = only(card).series[0].points
    assert len(points) < 1100
    assert (truth[1234], guess[1234]) in points
    assert f"{len(points):,} of 2,500 samples: one in 3, and the most wrong." in card.note


def test_sequences() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    tokens = RNG.integers(0, 5, (6, 7))
    logits = RNG.normal(size=(6, 7, 5)).astype(np.float32)
    tokens[0, 4:] = -100
    found = examine(None, logits, tokens, "sequence", list("abcde"))
    assert found is not None
    probabilities = np.array(ex.softmax(logits.astype(np.float64), axis=2))
    kept = tokens != -100
    loss = metrics.log_loss(tokens[kept], probabilities[kept], labels=range(5))
    right = metrics.accuracy_score(tokens[kept], logits[kept].argmax(axis=1))
    expected = ["39", f"{loss:.4f}", f"{np.exp(loss):.4g}", f"{right:.2%}"]
    assert tables(found)["Tokens"] == [expected]
    by_place = only(cards(found)["Loss at each place of a sequence"]).series[0]
    last = metrics.log_loss(tokens[1:, 6], probabilities[1:, 6], labels=range(5))
    assert by_place.points[-1] == (7, pytest.approx(last, rel=1e-12))
    assert by_place.labels[-1] == "5 tokens"
    assert len(found.worst) == 6
    number = found.worst[0].number
    assert found.worst[0].truth == "".join("abcde"[t] for t in tokens[number] if t >= 0)


def test_places_of_a_picture_are_classes_too() -> None:
    labels = RNG.integers(0, 3, (4, 2, 5))
    scores = np.moveaxis(np.eye(3)[labels], -1, 1) * 4
    labels[0, 0, 0] = -100
    labels[1, 0, 0] = (labels[1, 0, 0] + 1) % 3
    found = examine(None, scores, labels, "multiclass")
    assert found is not None
    assert found.confusion.sum() == 39
    assert [sample.number for sample in found.worst if sample.is_wrong] == [1]
    assert (found.worst[0].truth, found.worst[0].found) == ("10 places", "9 right")


def test_probabilities_are_taken_as_such() -> None:
    truth = np.array([0, 1, 1])
    found = examine(None, np.array([0.2, 0.9, 0.4]), truth, "binary", scores="probabilities")
    assert found is not None
    assert found.confusion.tolist() == [[1, 0], [1, 1]]
    assert found.worst[0].loss == pytest.approx(-np.log(0.4))
    assert found.worst[0].probability == pytest.approx(0.6)
    soft = examine(
        None, np.array([[0.2, 0.8]]), np.array([1]), "multiclass", scores="probabilities"
    )
    assert soft is not None
    assert soft.worst[0].loss == pytest.approx(-np.log(0.8))


def test_targets_may_be_probabilities() -> None:
    logits, target = np.array([[1.0, 0.0]]), np.array([[0.75, 0.25]])
    found = examine(None, logits, target, "multiclass")
    assert found is not None
    logs = logits[0] - np.log(np.exp(logits).sum())
    assert found.worst[0].loss == pytest.approx(-float(target[0] @ logs))
    assert found.confusion.tolist() == [[1, 0], [0, 0]]


def test_wrong_ones_come_first() -> None:
    labels = np.array([0, 1, 0, 1])
    scores = np.array([[0.1, 0.0], [0.0, 9.0], [0.0, 0.2], [0.0, 5.0]])
    found = examine(None, scores, labels, sample_names=["a.png", "b.png", "c.png", "d.png"])
    assert found is not None
    order = [(sample.name, sample.is_wrong) for sample in found.worst]
    assert order == [("c.png", True), ("a.png", False), ("d.png", False), ("b.png", False)]
    text = shown(found)
    assert "Where it is most wrong" in text
    assert "The others are right; these are the least certain." in text
    assert "c.png" in text


def test_when_nothing_is_wrong_it_says_so() -> None:
    labels = np.array([0, 1])
    text = shown(examine(None, 3 * np.eye(2), labels))
    assert "Nothing is wrong; these are the least certain." in text
    assert "most wrong" not in text


def test_all_wrong_has_no_others() -> None:
    text = shown(examine(None, 3 * np.eye(2), np.array([1, 0])))
    assert "least certain" not in text


def test_what_is_not_finite_is_left_out_and_said() -> None:
    scores = np.array([[2.0, 0.0], [np.nan, 0.0], [0.0, 3.0]])
    found = examine(None, scores, np.array([0, 0, 1]))
    assert found is not None
    assert found.confusion.tolist() == [[1, 0], [0, 1]]
    assert [sample.number for sample in found.worst] == [0, 2]
    assert "The outputs of 1 of 3 samples are not finite (#1)" in shown(found)


@pytest.mark.parametrize(
    ("task", "outputs", "targets"),
    [
        ("regression", np.full(3, np.nan), np.zeros(3)),
        ("binary", np.full(3, np.nan), np.zeros(3)),
        ("multiclass", np.full((3, 2), np.nan), np.zeros(3, int)),
        ("multilabel", np.full((3, 2), np.nan), np.zeros((3, 2))),
        ("sequence", np.full((3, 2, 4), np.nan), np.zeros((3, 2), int)),
    ],
)
def test_nothing_finite_at_all(task: str, outputs: Any, targets: Any) -> None:
    found = examine(None, outputs, targets, task)
    assert found is not None
    assert found.task == task
    assert found.worst == []
    assert "The outputs of 3 of 3 samples are not finite (#0, #1, #2)" in shown(found)


@pytest.mark.parametrize(
    ("task", "outputs", "targets"),
    [
        ("regression", np.array([1.0]), np.array([2.0])),
        ("regression", np.zeros((3, 5)), np.zeros((3, 5))),
        ("regression", np.array([1e300, -1e300]), np.array([-1e300, 1e300])),
        ("binary", np.array([0.3]), np.array([True])),
        ("binary", np.array([1e30, -1e30, np.inf]), np.array([0, 1, 0])),
        ("multiclass", np.array([[1.0, 2.0]]), np.array([0])),
        ("multiclass", np.array([[-np.inf, 2.0, 1.0]]), np.array([0])),
        ("multiclass", np.eye(60), np.arange(60)),
        ("multilabel", np.zeros((1, 1)), np.ones((1, 1))),
        ("sequence", np.zeros((1, 1, 2)), np.zeros((1, 1), int)),
    ],
)
def test_small_and_extreme_ones_make_a_page(task: str, outputs: Any, targets: Any) -> None:
    text = shown(examine(None, outputs, targets, task))
    assert "nan" not in text
    assert 'points="' in text or 'd="' in text


def test_many_classes_are_drawn_in_part_and_it_is_said() -> None:
    labels = np.arange(300) % 50
    logits = 2 * np.eye(50)[labels] + RNG.normal(size=(300, 50))
    found = examine(None, logits, labels)
    card = cards(found)["ROC curves"]
    assert len(only(card).series) == 8
    assert card.note.startswith("The 8 of 50 classes with the lowest F1.")
    assert len(tables(found)["Each class"]) == 42
    assert "The 40 of 50 classes with the lowest F1." in shown(found)


def test_names_come_from_the_data_if_none_are_given() -> None:
    dataset = ArrayDataset(np.zeros((2, 1)), np.array([0, 1]))
    dataset.classes = ["cat", "dog"]  # type: ignore[attr-defined]
    found = examine(dataset, np.eye(2), np.array([0, 1]))
    assert found is not None
    assert found.class_names == ["cat", "dog"]
    dataset.classes = ["cat"]  # type: ignore[attr-defined]  # not those of the model
    found = examine(dataset, np.eye(2), np.array([0, 1]))
    assert found is not None
    assert found.class_names == ["0", "1"]


LABELS = np.array([0, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (None, np.eye(2), LABELS, "classes"),
            "examine: task must be one of 'regression', 'binary', 'multiclass', 'multilabel', "
            "'sequence', got task='classes'",
        ),
        (
            (None, np.eye(2), LABELS, None, ["a"]),
            "examine: class_names must be 2, one for each class, got class_names=['a']",
        ),
        (
            (None, np.ones(2), LABELS, "binary", ["a", "b", "c"]),
            "examine: class_names must be 2, one for each class, the negative one first, "
            "got class_names=['a', 'b', 'c']",
        ),
        (
            (None, np.eye(2), LABELS, None, None, ["x"]),
            "examine: sample_names must be as many as the outputs, 2, got count=1",
        ),
        (
            (None, np.eye(2), LABELS, None, None, None, "odds"),
            "examine: scores must be 'logits' or 'probabilities', got scores='odds'",
        ),
        (
            (ArrayDataset(np.zeros(3)), np.eye(2), LABELS),
            "examine: outputs must be those of all samples of dataset, got outputs=2, dataset=3",
        ),
        (
            (None, np.eye(2), np.array([0]), "multiclass"),
            "examine: outputs and targets must be of the same samples, at least one, "
            "got outputs_shape=(2, 2), targets_shape=(1,)",
        ),
        (
            (None, np.eye(2), np.array([0, 2])),
            "examine: targets must be in [0, 1], or -100 to be left out, got target=2",
        ),
        (
            (None, np.eye(2), np.array([0.0, 1.0]), "multiclass"),
            "examine: targets must be class numbers, integers of shape (2,), "
            "got targets_shape=(2,), dtype='float64'",
        ),
        (
            (None, np.ones((2, 1)), LABELS, "multiclass"),
            "examine: outputs must have shape (N, classes, ...), of two classes or more, "
            "got outputs_shape=(2, 1)",
        ),
        (
            (None, np.eye(2), LABELS, "binary"),
            "examine: outputs must be one number a sample for 'binary', got outputs_shape=(2, 2)",
        ),
        (
            (None, np.ones(2), np.array([0, 0.5]), "binary"),
            "examine: targets must be 0 or 1, got target=0.5",
        ),
        (
            (None, np.array([0.5, 1.5]), LABELS, "binary", None, None, "probabilities"),
            "examine: outputs must be in [0, 1] with scores='probabilities', got output=1.5",
        ),
        (
            (None, np.eye(2), LABELS, "multilabel"),
            "examine: targets must have the shape of outputs, (N,) or (N, labels), "
            "got outputs_shape=(2, 2), targets_shape=(2,)",
        ),
        (
            (None, np.eye(2), LABELS, "regression"),
            "examine: targets must have the shape of outputs for 'regression', "
            "got outputs_shape=(2, 2), targets_shape=(2,)",
        ),
        (
            (None, np.eye(2), LABELS, "sequence"),
            "examine: outputs must have shape (N, T, V), and targets be integers of shape (N, T), "
            "got outputs_shape=(2, 2), targets_shape=(2,)",
        ),
        (
            (None, np.zeros((1, 2, 3)), np.array([[0, 3]]), "sequence"),
            "examine: targets must be in [0, 2], or -100 to be left out, got target=3",
        ),
    ],
)
def test_what_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message) + "$"):
        examine(*arguments)


def test_names_must_be_lists() -> None:
    with pytest.raises(
        TypeError, match="class_names must be a list of strings, got class_names='ab'"
    ):
        examine(None, np.eye(2), LABELS, class_names="ab")


def test_an_experiment_of_two_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from extensor.report import examine_experiment

    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 7},{(i * 3) % 5},{'yes' if i % 7 > 3 else 'no'}" for i in range(40)]
    Path("data.csv").write_text("\n".join(["a,b,answer", *rows]) + "\n")
    config = {
        "epochs": 1,
        "data": {"train": "data.csv", "target": "answer"},
        "model": {"name": "mlp", "sizes": [2, 4, 1]},
        "loss": {"name": "BCEWithLogitsLoss"},
    }
    made = ex.train.experiment(config, callbacks=[])
    found = examine_experiment(made)
    assert found is not None
    assert (found.task, found.class_names) == ("binary", ["no", "yes"])
    assert found.confusion.sum() == len(made.test_data)
