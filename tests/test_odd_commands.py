"""Odd command lines, predictions and runs: refused in a line, or done as they are meant."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from odd import answering, lines, measuring, predicting
from odd.running import Files, refused, run, works, write
from odd.trained import write_runs

import extensor as ex
from extensor.errors import is_ours
from extensor.experiments.sources import restore_preparation
from extensor.experiments.spec import ExperimentSpec, read_config
from extensor.train import Predictor


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of each kind."""
    place = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("training"))
        patch.setattr("extensor.cli.report_command.write_plots", lambda _: None)
        write_runs(place)
    return place


@pytest.fixture(autouse=True)
def here(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("extensor.cli.report_command.write_plots", lambda _: None)
    return tmp_path


REFUSED: dict[str, tuple[Files, str, str]] = {
    **{
        f"predict: {name}": (given, f"predict {command}", message)
        for name, (given, command, message) in predicting.ROWS.items()
    },
    **{
        f"evaluate: {name}": (given, f"evaluate {command}", message)
        for name, (given, command, message) in measuring.ROWS.items()
    },
    **{
        f"run: {name}": (given, f"evaluate {command}", message)
        for name, (given, command, message) in measuring.RUNS.items()
    },
    **lines.ROWS,
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    given, command, message = REFUSED[case]
    write(given)
    refused(command, message)


@pytest.mark.parametrize("case", answering.ROWS)
def test_what_is_odd_but_means_something(case: str) -> None:
    given, command, out, err = answering.ROWS[case]
    write(given)
    works(command, *out, err=err)


def test_a_run_whose_data_have_changed() -> None:
    """Also where only rows have changed that it does not train on."""
    made = Predictor.load("classes").trained.experiment
    row = int((made.sample_names or ["row 0"])[0].split()[1])
    text = Path("classes.csv").read_text().splitlines()
    text[row] = "6,1.0,q,2024-01-09,u" if text[row][0] != "6" else "5,1.0,q,2024-01-09,u"
    Path("classes.csv").write_text("\n".join(text) + "\n")
    refused("train --resume classes", "data: the data must be the same as when the run began")


def test_a_target_called_as_the_rows_are() -> None:
    """The numbers of the rows must not be lost."""
    text = Path("numbers.csv").read_text().replace("a,b,y", "a,b,row")
    Path("n.csv").write_text(text)
    works("train n.csv --target row --name rows")
    assert works("predict rows n.csv").out.startswith("row number,row\n1,")


def test_what_lies_on_the_screen_moves_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    from extensor.cli.predict import _print_table
    from extensor.train import Predictions

    _print_table(Predictions({"file": ["a\x1b[2J.png"], "class": ["[red]x"], "p(\n)": [0.123456]}))
    shown = capsys.readouterr().out
    assert r"a\x1b[2J.png" in shown
    assert "[red]x" in shown
    assert "0.1235" in shown


def test_json_has_what_csv_has() -> None:
    table = works("predict labels labels.csv").out.splitlines()
    found = json.loads(works("predict labels labels.csv --format json").out)
    assert len(found) == len(table) - 1
    assert [";".join(row["labels"]) for row in found] == [line.split(",")[1] for line in table[1:]]


def test_commands_that_are_none() -> None:
    result = run("trian")
    assert result.code == 2
    assert "got 'trian' (did you mean train?)" in result.err
    assert len(result.err.splitlines()) == 1


SOURCES = {
    "numbers": "numbers.csv",
    "classes": "classes.csv",
    "pictures": "pictures",
    "story": "story.txt",
    "series": "series.csv",
    "labels": "labels.csv",
    "points": "points.npz",
}
VALUES: list[Any] = [
    None, True, 0, -1, 2**70, float("nan"), float("inf"), 1e300, -1.5, "", "x", [], ["x"], [1.5],
    [None], {}, {"a": 1}, np.ones((2, 2)),
]  # fmt: skip


def _paths(tree: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield (*at, key)
            yield from _paths(tree[key], (*at, key))


def _inside(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def _changed(state: Any) -> Iterator[tuple[str, Any]]:
    """The state with one thing in it deleted, of another kind, doubled, turned round or too large."""
    for path in _paths(state):
        old = _inside(state, path)
        others = list(VALUES)
        if isinstance(old, list):
            others += [old + old, old[::-1], old[:-1]]
        if isinstance(old, int | float) and not isinstance(old, bool):
            others += [-old, old * 1000, old + 1, str(old)]
        if isinstance(old, dict):
            others.append({**old, "more": 1})
        for number, value in enumerate([*others, None]):
            new = copy.deepcopy(state)
            if number == len(others):
                del _inside(new, path[:-1])[path[-1]]
            else:
                _inside(new, path[:-1])[path[-1]] = value
            yield f"{path} = {value!r}", new


@pytest.mark.parametrize("run", SOURCES)
def test_states_changed_by_hand_are_refused_in_our_words(run: str) -> None:
    predictor, source = Predictor.load(run), SOURCES[run]
    config = read_config(f"runs/{run}/config.toml")
    state = ex.load(predictor.trained.checkpoint)["preparation"]
    refusals = 0

    def used(changed: Any) -> None:
        predictor.preparation = predictor.trained.preparation = restore_preparation(
            ExperimentSpec.from_dict(config), changed
        )
        if run == "story":
            predictor.generate("the", 2)
        else:
            predictor.table(source).csv()

    for what, changed in _changed(state):
        error = _error_of(used, changed)
        assert error is None or is_ours(error), (what, error)
        refusals += error is not None
    assert refusals > 50


def _error_of(call: Callable[[Any], object], value: Any) -> Exception | None:
    try:
        call(value)
    except (ValueError, TypeError, OSError) as error:
        return error
    return None


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            ("kind",),
            "pictures",
            "load: the checkpoint must have been made with data of the kind tab",
        ),
        (
            ("learnt", "goal", "classes"),
            ["u", "u", "v"],
            "load: goal must have names and classes for",
        ),
        (
            ("learnt", "goal", "task"),
            "fly",
            "load: goal.task must be 'regression', 'binary', 'multic",
        ),
        (
            ("learnt", "encoder", "names"),
            [],
            "load: the keys of encoder.columns must be [], got keys",
        ),
        (
            ("learnt", "found"),
            {"decimal": ","},
            "load: preparation.found must say how a table is wri",
        ),
        ((), None, "load: preparation must be a mapping, got preparation='NoneType'"),
    ],
)
def test_checkpoints_changed_by_hand(path: tuple[str, ...], value: Any, message: str) -> None:
    checkpoint = measuring.BEST
    state = ex.load(checkpoint)
    _inside(state, ("preparation", *path)[:-1])[("preparation", *path)[-1]] = value
    ex.save(checkpoint, state)
    refused("predict classes classes.csv", message)


def test_inputs_of_python_that_are_none() -> None:
    """Whatever is given to a predictor, an error of it is ours, or the system's on a file."""
    given = [None, 3, "", b"a.csv", [], {}, [1, 2], [[1, 2]], np.ones(3), np.ones((2, 9)), object(),
             iter([1]), True, float("nan"), {"a": 1}, "a\0b", "x" * 5000, Path("nowhere")]  # fmt: skip
    for name in SOURCES:
        predictor = Predictor.load(name)
        for value in given:
            for call in (predictor.predict, predictor.evaluate, predictor.table):
                if value is None and call == predictor.evaluate:
                    continue  # the test data
                error = _error_of(call, value)
                told = isinstance(error, OSError) and (
                    "data: no" in str(error) or "could not" in str(error)
                )
                assert error is None or told or is_ours(error), (name, value, error)
