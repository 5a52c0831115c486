"""The history of a run: a list of records, and a table of them."""

from __future__ import annotations

import copy
import html.parser
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_trainer import _data, _trainer

import extensor as ex
from extensor.train import History

X, Y = _data(16).arrays


def _record(epoch: int, **numbers: Any) -> dict[str, Any]:
    return {"event": "epoch", "epoch": epoch, **numbers}


RECORDS = [
    _record(1, loss=0.5, validation_accuracy=0.25, confusion=[[1, 2], [3, 4]]),
    _record(2, loss=0.25, validation_accuracy=0.75),
    _record(3, loss=float("nan"), validation_accuracy=0.75, lr=1e-05),
]
HISTORY = History(RECORDS)


def test_it_is_a_list() -> None:
    assert RECORDS[:2] == HISTORY[:2]
    assert History(RECORDS[:2]) == RECORDS[:2]
    assert isinstance(HISTORY, list)
    assert [len(HISTORY), HISTORY[-1]["epoch"], len([*HISTORY, 1])] == [3, 3, 4]
    for again in (copy.deepcopy(HISTORY), pickle.loads(pickle.dumps(HISTORY))):
        assert type(again) is History
        assert again[:2] == RECORDS[:2]


def test_fit_gives_one_and_a_checkpoint_keeps_it() -> None:
    trainer = _trainer()
    history = trainer.fit(X, Y, epochs=2)
    assert type(history) is History
    assert history is trainer.history
    state = trainer.state_dict()
    assert state["history"] == {"0": history[0], "1": history[1]}
    other = _trainer()
    other.load_state_dict(state)
    assert type(other.history) is History
    assert other.history == list(history)


def test_columns_and_the_best() -> None:
    assert HISTORY.column("validation_accuracy") == [0.25, 0.75, 0.75]
    assert HISTORY.column("lr") == [None, None, 1e-05]
    assert HISTORY.best("loss")["epoch"] == 2
    assert HISTORY.best("validation_accuracy")["epoch"] == 2
    assert HISTORY.best("validation_accuracy", mode="min")["epoch"] == 1
    assert HISTORY.best("lr", "max")["epoch"] == 3


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: HISTORY.column("validation_acc"),
            "column: name must be in the log (did you mean 'validation_accuracy'?), "
            "got name='validation_acc'",
        ),
        (
            lambda: HISTORY.best("lr"),
            "best: mode must be 'min' or 'max' for a number that is not one of the library's metrics, "
            "got monitor='lr'",
        ),
        (
            lambda: HISTORY.best("confusion", "min"),
            "best: monitor must be a number in some epoch, got monitor='confusion'",
        ),
        (
            lambda: History().best("loss"),
            "column: name must be in the log (known: none), got name='loss'",
        ),
        (
            lambda: History([1]),  # type: ignore[list-item]
            "History: records must be a list of dicts, got records='list'",
        ),
    ],
)
def test_errors(call: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(text)}$"):
        call()


def test_text() -> None:
    assert repr(HISTORY).splitlines() == [
        "epoch  loss  validation_accuracy     lr",
        "    1   0.5                 0.25       ",
        "    2  0.25                 0.75       ",
        "    3   nan                 0.75  1e-05",
    ]
    assert repr(History()) == "[]"
    long = History([_record(i, loss=1.0) for i in range(1, 101)])
    lines = repr(long).splitlines()
    assert lines[0] == "the last 20 of 100 epochs"
    assert [len(lines), lines[2].split()[0], lines[-1].split()[0]] == [22, "81", "100"]


class Cells(html.parser.HTMLParser):
    """The texts of a page, and the tags around them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_html() -> None:
    found = Cells(HISTORY._repr_html_())
    assert found.texts == [
        "epoch", "loss", "validation_accuracy", "lr",
        "1", "0.5", "0.25", "2", "0.25", "0.75", "3", "nan", "0.75", "1e-05",
    ]  # fmt: skip
    hostile = Cells(History([{"<script>alert(1)</script>": 1.0}])._repr_html_())
    assert "script" not in hostile.tags
    assert hostile.texts == ["<script>alert(1)</script>", "1"]


def test_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    table = HISTORY.to_pandas()
    assert list(table.columns) == ["epoch", "loss", "validation_accuracy", "confusion", "lr"]
    np.testing.assert_array_equal(table["validation_accuracy"], [0.25, 0.75, 0.75])
    assert isinstance(History().to_pandas(), pd.DataFrame)
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^to_pandas: pandas must be installed, see pip install"):
        HISTORY.to_pandas()


def test_tensors_in_a_record_do_not_hinder() -> None:
    assert repr(History([{"a": ex.ones(2), "b": 1}])) == "b\n1"
