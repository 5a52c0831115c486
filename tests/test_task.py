"""Which task the targets make: by themselves, by the loss, or as it is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extensor.experiments.goal import Goal, TargetFacts, balance, choose_task, summary_of_array
from extensor.experiments.spec import ExperimentSpec
from extensor.report.examiners import EXAMINERS
from extensor.train import tasks
from extensor.train.metrics import metrics_for
from extensor_cli import main


def _seen(*values: Any, columns: int = 1, samples: int = 100) -> TargetFacts:
    words = any(isinstance(value, str) for value in values)
    whole = not words and all(isinstance(value, int) for value in values)
    return TargetFacts(columns, samples, words, whole, list(values))


def _task(seen: TargetFacts, **config: Any) -> str:
    return choose_task(seen, ExperimentSpec.from_dict({"data": {}, **config})).name


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (_seen("no", "yes"), "binary"),
        (_seen(0, 1), "binary"),
        (_seen(1, 2), "binary"),
        (_seen(0.0, 1.0), "binary"),
        (_seen(0.5, 1.5), "regression"),
        (_seen("a", "b", "c"), "multiclass"),
        (_seen(*range(10)), "multiclass"),
        (_seen(*range(20), samples=100), "multiclass"),
        (_seen(*range(20), samples=99), "regression"),
        (_seen(*range(21), samples=10_000), "regression"),
        (_seen(1.0, 2.0, 3.5), "regression"),
        (_seen(0, 1, columns=3), "multilabel"),
        (_seen(0, 1, 2, columns=2), "regression"),
    ],
)
def test_by_the_targets_alone(seen: TargetFacts, expected: str) -> None:
    assert _task(seen) == expected


@pytest.mark.parametrize(
    ("loss", "seen", "expected"),
    [
        ("MSELoss", _seen(0, 1), "regression"),
        ("L1Loss", _seen(*range(5)), "regression"),
        ("CrossEntropyLoss", _seen(0, 1), "multiclass"),
        ("BCEWithLogitsLoss", _seen(0, 1), "binary"),
        ("BCEWithLogitsLoss", _seen(0, 1, columns=2), "multilabel"),
        ("FocalLoss", _seen("a", "b"), "binary"),
    ],
)
def test_by_the_loss(loss: str, seen: TargetFacts, expected: str) -> None:
    assert _task(seen, loss={"name": loss}) == expected


def test_as_it_is_said() -> None:
    assert _task(_seen(*range(5)), data={"task": "regression"}) == "regression"
    assert _task(_seen(*range(50)), data={"task": "multiclass"}) == "multiclass"


def test_a_model_of_two_outputs_learns_two_classes_as_two() -> None:
    assert _task(_seen("a", "b"), model={"sizes": [3, 2]}) == "multiclass"
    assert _task(_seen("a", "b"), model={"num_classes": 2}) == "multiclass"
    assert _task(_seen("a", "b"), model={"sizes": [3, 1]}) == "binary"


TASKS = "['regression', 'binary', 'multiclass', 'multilabel', 'sequence']"
REFUSED: list[tuple[TargetFacts, dict[str, Any], str]] = [
    (
        _seen(0, 1),
        {"data": {"task": "binery"}},
        f"config: data.task must be one of {TASKS} (did you mean 'binary'?), got task='binery'",
    ),
    (_seen(0, 1), {"data": {"task": 3}}, f"config: data.task must be one of {TASKS}, got task=3"),
    (
        _seen(0, 1),
        {"data": {"task": "regression"}, "loss": {"name": "CrossEntropyLoss"}},
        "config: loss must fit the task regression, as MSELoss does, got loss='CrossEntropyLoss'",
    ),
    (
        _seen("a", "b"),
        {"data": {"task": "regression"}},
        "data: targets must be numbers for the task regression, got values=['a', 'b']",
    ),
    (
        _seen("a", "b", "c"),
        {"data": {"task": "binary"}},
        "data: the target must be one column of two values for the task binary, "
        "got columns=1, values=['a', 'b', 'c']",
    ),
    (
        _seen(0, 1),
        {"data": {"task": "multilabel"}},
        "data: targets must be two or more columns of 0 and 1 for the task multilabel, "
        "got columns=1, values=[0, 1]",
    ),
    (
        _seen(0.5, 1.5),
        {"data": {"task": "multiclass"}},
        "data: targets must be words or whole numbers for the task multiclass, "
        "got values=[0.5, 1.5]",
    ),
    (
        _seen(0, 1, columns=2),
        {"data": {"task": "multiclass"}},
        "data: the target must be one column for the task multiclass, got columns=2",
    ),
    (
        _seen(0, 1),
        {"data": {"task": "sequence"}},
        "config: the task sequence is for texts (a .txt file), got task='sequence'",
    ),
    (_seen(7), {}, "data: the target must have at least two different values, got values=[7]"),
    (
        _seen("a", 1, columns=2),
        {},
        "data: targets must be numbers for several columns, or 0 and 1, got values=['a', 1]",
    ),
    (
        _seen("a", "b"),
        {"loss": {"name": "MSELoss"}},
        "data: targets must be numbers for MSELoss, got values=['a', 'b']",
    ),
    (
        _seen(*range(5)),
        {"loss": {"name": "BCEWithLogitsLoss"}},
        "data: the target must be one column of two values for BCEWithLogitsLoss, "
        "got columns=1, values=[0, 1, 2, 3]",
    ),
    (
        _seen(0, 1),
        {"loss": {"name": "HingeLoss"}},
        "data: targets must be -1 or 1 for HingeLoss, got values=[0, 1]",
    ),
]


@pytest.mark.parametrize(("seen", "config", "text"), REFUSED, ids=[x[2][:40] for x in REFUSED])
def test_what_cannot_be(seen: TargetFacts, config: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        choose_task(seen, ExperimentSpec.from_dict({"data": {}, **config}))
    assert str(caught.value) == text


def test_arrays_are_seen() -> None:
    seen = summary_of_array(np.array([[0.0, 1.0], [1.0, 1.0]]))
    assert (seen.columns, seen.samples, seen.are_whole, seen.is_truth) == (2, 2, False, True)
    assert summary_of_array(np.array([3, 3, 4])).distinct == [3, 4]


def test_numbers_are_scaled_and_come_back() -> None:
    numbers = np.random.default_rng(0).normal(50, 9, (40, 2))
    goal = Goal("regression", ("a", "b")).learned_scale(numbers)
    scaled = goal.scaled(numbers)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=1e-6)
    np.testing.assert_allclose(goal.in_units(scaled), numbers, rtol=1e-5)
    assert Goal.from_state(goal.state_dict()) == goal


def test_constant_numbers_are_scaled_by_one() -> None:
    goal = Goal("regression").learned_scale(np.full((3, 1), 7.0))
    assert (goal.mean, goal.std) == ((7.0,), (1.0,))


def test_answers_are_names() -> None:
    binary = Goal("binary", ("y",), ("no", "yes"))
    assert binary.answers(np.array([[-1.0], [2.0]])).tolist() == ["no", "yes"]
    np.testing.assert_allclose(binary.probabilities(np.array([[0.0]])), [[0.5, 0.5]])
    several = Goal("multiclass", ("y",), ("a", "b", "c"))
    assert several.answers(np.array([[0.0, 5.0, 1.0]])).tolist() == ["b"]
    np.testing.assert_allclose(several.probabilities(np.zeros((1, 3))), np.full((1, 3), 1 / 3))
    labels = Goal("multilabel", ("x", "y"), ("x", "y"))
    assert labels.answers(np.array([[1.0, -1.0], [2.0, 0.5]])) == [["x"], ["x", "y"]]
    assert binary.answers(np.array([[800.0], [-800.0]])).tolist() == ["yes", "no"]


def test_classes_are_balanced_as_scikit_learn_does() -> None:
    sklearn = pytest.importorskip("sklearn.utils.class_weight")
    numbers = np.random.default_rng(0).choice(3, 60, p=[0.6, 0.3, 0.1])
    expected = sklearn.compute_class_weight("balanced", classes=np.arange(3), y=numbers)
    found = balance(Goal("multiclass", classes=("a", "b", "c")), numbers)
    np.testing.assert_allclose(found, expected)
    assert balance(Goal("binary", classes=("a", "b")), np.array([[0.0], [0.0], [1.0]])) == [2.0]


@pytest.mark.parametrize(
    "changed",
    [{"task": "fly"}, {"names": "y"}, {"classes": [1]}, {"std": [0.0], "mean": [1.0]}, {"x": 1}],
)
def test_states_that_are_none(changed: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match="load:"):
        Goal.from_state({**Goal("binary").state_dict(), **changed})


def test_every_task_is_a_choice_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    choices = "{" + ",".join(tasks.TASKS) + "}"
    assert choices in "".join(capsys.readouterr().out.split())


def test_the_table_of_tasks_fits_losses_and_metrics() -> None:
    for task in tasks.TASKS.values():
        assert tasks.LOSSES[task.loss].op == task.op
        assert task.name in EXAMINERS
        assert {*task.metrics} <= {*metrics_for(task.name)}
