"""Runs beside each other: the table in the terminal, the page, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import extensor, files
from test_report import HOSTILE, Page

import extensor as ex
from extensor.errors.messages import RUN_NOT_FOUND, known
from extensor.io.toml import as_toml
from extensor.report import compare, comparison_page
from extensor.train.run_folder import RunFolder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def made(
    name: str,
    losses: list[float],
    accuracies: list[float] | None = None,
    changes: dict[str, Any] | None = None,
    *more: dict[str, Any],
    metric: str = "accuracy",
) -> RunFolder:
    """A run with these numbers in its log."""
    config = {
        "seed": 0,
        "data": {"name": "digits"},
        "model": {"name": "mlp", "sizes": [64, 10]},
        "loss": {"name": "CrossEntropyLoss"},
        **(changes or {}),
    }
    run = RunFolder(Path("runs") / name)
    run.path.mkdir(parents=True)
    run.config.write_text(as_toml(config))
    run.machine.write_text("{}")
    records = [
        {"event": "epoch", "epoch": i, "step": 5 * i, "loss": 2 * x, "validation_loss": x}
        for i, x in enumerate(losses, 1)
    ]
    for record, value in zip(records, accuracies or [], strict=bool(accuracies)):
        record[f"validation_{metric}"] = value
    run.log.write_text("".join(json.dumps(record) + "\n" for record in [*records, *more]))
    run.timing.write_text('{"epoch": 1, "seconds": 75.0}\n')
    return run


def test_the_table() -> None:
    made("a", [0.5, 0.25, 0.375], [0.5, 0.75, 0.625])
    made("b", [0.5, 0.375], [0.5, 0.875], {"seed": 1, "optimizer": {"lr": 0.1}},
         {"event": "test", "accuracy": 0.5})  # fmt: skip
    before = files()
    done = extensor("compare", "a", "runs/b")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "                   best        best        last\n"
        "             validation  validation  validation      test\n"
        "run  epochs        loss    accuracy    accuracy  accuracy\n"
        "a         3        0.25*     75.00%      62.50%         -\n"
        "b         2       0.375      87.50%*     87.50%*   50.00%\n"
        "\n"
        "* the best of its column\n"
        "\n"
        "the same for all: model mlp, data digits, last validation loss 0.375, parameters 650, "
        "time 1:15\n"
        "\n"
        "configuration  a    b\n"
        "seed           0    1\n"
        "optimizer.lr   -  0.1\n"
    )
    assert files() == before


def test_the_page() -> None:
    made("a", [0.5, 0.25, 0.375], [0.5, 0.75, 0.625])
    made("b", [0.5, 0.375], [0.5, 0.875], {"seed": 1})
    made("c", [0.625, 0.75, 0.5], [0.5, 0.25, 0.5], {"seed": 2})
    done = extensor("compare", "a", "b", "c", "--output", "page.html")
    assert done.code == 0
    assert done.out.endswith("\n\npage  page.html\n")
    text = Path("page.html").read_text()
    parsed = Page(text)
    assert parsed.all("script") == [{}]
    lines = parsed.all("polyline")
    expected = [("a", "3"), ("b", "2"), ("c", "3")] * 3
    assert [(line["data-name"], line["data-points"]) for line in lines] == expected
    # Each run has its own colour, in all charts.
    colours = [(line["data-name"], line["class"]) for line in lines]
    assert len(set(colours)) == 3
    assert [line["data-y"] for line in lines][:3] == [
        "0.5 0.25 0.375",
        "0.5 0.375",
        "0.625 0.75 0.5",
    ]
    assert [line["data-x"] for line in lines][:2] == ["1 2 3", "1 2"]
    # Row by row: two of the first run, three of the second.
    best = re.findall(r'<td class="best">([^<]*)</td>', text)
    assert best == ["0.25", "0.375", "0.375", "87.50%", "87.50%"]
    assert "<b>87.50%</b>best validation accuracy: b" in text


def test_the_best_are_marked() -> None:
    made("a", [0.5, 0.25, 0.375], [0.5, 0.75, 0.625])
    made("b", [0.5, 0.375], [0.5, 0.875])
    found = compare(["a", "b"])
    best = {column.name: set(column.best) for column in found.columns if column.best}
    assert best == {
        "best validation loss": {0},
        "best validation accuracy": {1},
        "last validation accuracy": {1},
    }
    # The same for all, which is no reason to praise one.
    assert "last validation loss" in {column.name for column in found.same}


def test_different_tasks_are_compared_by_what_they_share() -> None:
    made("a", [0.5], [0.75])
    made("b", [0.125], [0.25], {"loss": {"name": "MSELoss"}, "data": {"train": "x.csv"}},
         metric="root_mean_squared_error")  # fmt: skip
    found = compare(["a", "b"])
    names = [column.name for column in found.columns]
    assert names == ["data", "best validation loss", "last validation loss"]
    assert not any(column.best for column in found.columns)
    assert found.notes == [
        "The runs have different losses, whose values cannot be compared.",
        "The runs have different data, so their scores are not for the same samples.",
        "In one run only: validation accuracy (a), validation root mean squared error (b).",
    ]
    text = comparison_page(found)
    assert "whose values cannot be compared" in text
    assert "<h2>Accuracy, validation</h2>" not in text


def test_what_only_two_of_three_share() -> None:
    made("a", [0.5], [0.75])
    made("b", [0.25], [0.5])
    made("c", [0.125])
    found = compare(["a", "b", "c"])
    column = next(c for c in found.columns if c.name == "best validation accuracy")
    assert (column.values, column.best) == (["75.00%", "50.00%", None], {0})


def test_without_validation_the_loss_is_compared() -> None:
    for name, loss in (("a", 0.5), ("b", 0.25)):
        run = made(name, [])
        record = {"event": "epoch", "epoch": 1, "step": 1, "loss": loss}
        run.log.write_text(json.dumps(record) + "\n")
    found = compare(["a", "b"])
    assert [column.name for column in found.columns] == ["best loss", "last loss"]
    assert found.columns[0].best == {1}


def test_names_that_are_the_same_are_told_apart() -> None:
    made("x/run", [0.5])
    made("y/run", [0.25])
    found = compare(["x/run", Path("runs/y/run")])
    assert [run.name for run in found.runs] == ["runs/x/run", "runs/y/run"]


def test_chance_and_the_code_of_users_are_left_alone() -> None:
    made("a", [0.5])
    made("b", [0.25], None, {"model": {"name": "mine:build"}})
    Path("mine.py").write_text("raise SystemExit('must not run')\n")
    state = ex.random.get_state()
    found = compare(["a", "b"])
    assert ex.random.get_state() == state
    column = next(c for c in found.columns if c.name == "parameters")
    assert column.values == ["650", None]


def test_everything_is_escaped() -> None:
    made("a", [0.5], None, {HOSTILE: HOSTILE})
    made("b & <i>", [0.25])
    text = comparison_page(compare(["a", "b & <i>"]))
    assert Page(text).all("script") == [{}]
    assert text.count("<script") == 1
    assert Page(text).all("i") == Page(text.replace("b & <i>", "")).all("i")


def damaged(change: Callable[[RunFolder], None]) -> str:
    made("a", [0.5])
    run = made("b", [0.25])
    change(run)
    done = extensor("compare", "a", "b", "--output", "page.html")
    assert done.code == 2
    assert done.out == ""
    assert not Path("page.html").exists()
    return done.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda run: run.log.unlink(),
            "read_log: could not read runs/b/log.jsonl (No such file or directory)",
        ),
        (
            lambda run: run.log.write_text("{}\n{\n{}\n"),
            "compare: each line of the log must be a record in JSON, "
            "got path='runs/b/log.jsonl', line=2",
        ),
        (
            lambda run: run.log.write_text(""),
            "compare: the log of a run must have an epoch (train it first), got run='runs/b'",
        ),
        (
            lambda run: run.log.write_bytes(b"\xff\n"),
            "read_log: file must be text ('utf-8' codec can't decode byte 0xff in position 0: "
            "invalid start byte), got path='runs/b/log.jsonl'",
        ),
        (
            lambda run: run.config.write_text("a = ["),
            "config: file must be TOML (Invalid value (at end of document)), "
            "got path='runs/b/config.toml'",
        ),
        (
            lambda run: run.config.unlink(),
            RUN_NOT_FOUND.text(known("a"), run="b"),
        ),
    ],
)
def test_damaged_runs_are_refused_by_name(change: Any, message: str) -> None:
    assert damaged(change) == f"extensor compare: {message}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a",), "compare: there must be two runs or more, got runs=['runs/a']"),
        (("a", "runs/a"), "compare: runs must differ, got twice='runs/a'"),
        (
            ("a", "nobody"),
            RUN_NOT_FOUND.text(known("a", "b"), run="nobody"),
        ),
        (
            ("a", "b", "--output", "page.txt"),
            "--output: file must end with .html, got output='page.txt'",
        ),
        (
            ("a", "b", "--output", "no/page.html"),
            "--output: the folder must exist, got output='no/page.html'",
        ),
        (("a", "b", "--output", "old.html"), "--output: file must be new, got output='old.html'"),
    ],
)  # fmt: skip
def test_what_is_refused(arguments: tuple[str, ...], message: str) -> None:
    made("a", [0.5])
    made("b", [0.25])
    Path("old.html").write_text("mine")
    before = files()
    done = extensor("compare", *arguments)
    assert (done.code, done.err) == (2, f"extensor compare: {message}\n")
    assert files() == before


def test_one_name_is_no_list() -> None:
    with pytest.raises(TypeError, match="compare: runs must be a list of folders, got runs='ab'"):
        compare("ab")


def test_metrics_of_runs_with_different_losses_have_a_best() -> None:
    made("a", [0.5], [0.75], metric="log_loss")
    made("b", [0.125], [0.25], {"loss": {"name": "FocalLoss"}}, metric="log_loss")
    best = {column.name: set(column.best) for column in compare(["a", "b"]).columns}
    assert best["best validation loss"] == set()
    assert best["best validation log loss"] == {1}


STOPPING = {"early_stopping": {"monitor": "validation_loss", "patience": 2}}


def test_runs_that_keep_their_best_epoch() -> None:
    """What is handed on is that of the epoch of the lowest loss, whatever else was best when."""
    made("a", [0.5, 0.25, 0.375], [0.5, 0.625, 0.75], STOPPING,
         {"event": "test", "step": 15, "loss": 0.3, "accuracy": 0.5})  # fmt: skip
    made("b", [0.5, 0.375], [0.5, 0.875])
    found = compare(["a", "b"])
    columns = {column.name: column.values for column in (*found.columns, *found.same)}
    assert columns["kept epoch"] == ["2", None]
    assert columns["best validation loss"] == ["0.25", "0.375"]
    assert "kept validation loss" not in columns
    assert columns["best validation accuracy"] == ["75.00%", "87.50%"]
    assert columns["kept validation accuracy"] == ["62.50%", "87.50%"]
    assert columns["test accuracy"] == ["50.00%", None]
    assert not any(name.startswith("last ") for name in columns)
    assert found.notes == [
        "The kept epoch is the one that evaluate and predict use: the best one if the run stops "
        "early, otherwise the last."
    ]


def _data(**changes: Any) -> dict[str, Any]:
    return {"data": {"train": "table.csv", "kind": "table", **changes}}


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ({"seed": 1}, {"seed": 2}, True),  # of digits, which nothing divides
        ({"seed": 1, **_data()}, {"seed": 1, **_data()}, True),
        ({"seed": 1, **_data()}, {"seed": 2, **_data()}, False),
        (_data(), _data(test_fraction=0.2, validation_fraction=0.1, stratify=True), True),
        (_data(), _data(validation_fraction=0.2), False),
        (_data(group="who"), _data(), False),
        ({"seed": 1, **_data(test="b", validation="c")}, _data(test="b", validation="c"), True),
        (_data(test="b"), _data(), False),
    ],
)
def test_data_that_are_divided_differently(first: Any, second: Any, alike: bool) -> None:
    made("a", [0.5], None, first)
    made("b", [0.25], None, second)
    note = "The runs divide the data differently, so their scores are not for the same samples."
    assert (note not in compare(["a", "b"]).notes) == alike
