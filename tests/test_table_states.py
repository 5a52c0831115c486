"""States of encoders: nothing that is not one becomes an encoder, or an error that is not ours."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest

from extensor.data.table import TableEncoder, as_table


def _spoiled(state: Any, path: str, value: Any) -> Any:
    state = copy.deepcopy(state)
    *way, last = path.split(".")
    place = state
    for key in way:
        place = place[key]
    if value is KeyError:
        del place[last]
    else:
        place[last] = value
    return state


COLUMNS = "encoder.columns"
SPOILED: list[tuple[str, Any, str]] = [
    ("names", KeyError, "the keys of encoder must be ['names', 'columns', 'dropped'], got keys="),
    ("names", ["a", "a", "c"], "encoder must have names that differ, and a reason"),
    ("names", [], f"the keys of {COLUMNS} must be [], got keys="),
    ("names", ["a", 3, "c"], "encoder.names must be a list of strings, none empty"),
    ("names", "abc", "encoder.names must be a list of strings, none empty"),
    ("names", ["a", "b", "one"], "encoder must have names that differ, and a reason"),
    ("columns", [1], f"{COLUMNS} must be a mapping, got columns='list'"),
    ("columns.0", KeyError, f"the keys of {COLUMNS} must be ['0', '1', '2'], got keys="),
    ("columns.0.kind", "text", f"{COLUMNS}.0.kind must be 'number', 'category' or 'date'"),
    ("columns.0.kind", ["number"], f"{COLUMNS}.0.kind must be 'number', 'category' or 'date'"),
    ("columns.0.kind", "date", f"the keys of {COLUMNS}.0.state must be"),
    ("columns.0.state.mean", "1", f"{COLUMNS}.0.state.mean must be a number, got mean='1'"),
    ("columns.0.state.mean", float("nan"), f"{COLUMNS}.0.state must have a mean, a deviation and"),
    ("columns.0.state.mean", 10**400, f"{COLUMNS}.0.state.mean must be a number that fits"),
    ("columns.0.state.deviation", -1.0, f"{COLUMNS}.0.state must have a mean, a deviation and"),
    ("columns.0.state.deviation", float("inf"), f"{COLUMNS}.0.state must have a mean, a dev"),
    ("columns.0.state.low", 1e9, f"{COLUMNS}.0.state must have a mean, a deviation and a range"),
    ("columns.0.state.missing", -1, f"{COLUMNS}.0.state.missing must be from 0 to 2**63 - 1"),
    ("columns.0.state.missing", None, f"{COLUMNS}.0.state.missing must be an integer"),
    ("columns.1.state.levels", ["y", "x"], f"{COLUMNS}.1.state.levels must be 1 to 50 words in"),
    ("columns.1.state.levels", ["x", "x"], f"{COLUMNS}.1.state.levels must be 1 to 50 words in"),
    ("columns.1.state.levels", [], f"{COLUMNS}.1.state.levels must be 1 to 50 words in"),
    ("columns.1.state.levels", [f"{i:02}" for i in range(51)], f"{COLUMNS}.1.state.levels must be"),
    ("columns.1.state.levels", {"x": 1}, f"{COLUMNS}.1.state.levels must be a list of strings"),
    ("columns.1.state.rest", 0.5, f"{COLUMNS}.1.state.rest must be an integer, got rest=0.5"),
    ("columns.1.state.is_plain", "no", f"{COLUMNS}.1.state.is_plain must be True or False"),
    ("columns.2.state.cycles", ["week", "year"], f"{COLUMNS}.2.state.cycles must be of ['year',"),
    ("columns.2.state.cycles", ["month"], f"{COLUMNS}.2.state.cycles must be of ['year', 'week',"),
    ("columns.2.state.order", "ydm", f"{COLUMNS}.2.state.order must be one of ['ymd', 'dmy', 'mdy']"),
    ("columns.2.state.order", [1], f"{COLUMNS}.2.state.order must be one of ['ymd', 'dmy', 'mdy']"),
    ("columns.2.state.high", 1e300, f"{COLUMNS}.2.state must have a range of years that dates have"),
    ("dropped.names", ["one", "two"], "encoder must have names that differ, and a reason"),
    ("dropped.names", None, "encoder.dropped.names must be a list of strings, none empty"),
    ("dropped.reasons", [""], "encoder.dropped.reasons must be a list of strings, none empty"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(SPOILED)))
def test_states_that_are_refused(case: int) -> None:
    path, value, text = SPOILED[case]
    table = as_table(
        {"a": [1.0, 2.0], "b": ["x", "y"], "c": ["2020-01-01", "2020-05-06"], "one": [1, 1]}
    )
    state = TableEncoder.fit(table).state_dict()
    TableEncoder.from_state(state)
    spoiled = _spoiled(state, path, value)
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(f'predict: {text}')}"):
        TableEncoder.from_state(spoiled, op="predict")


def test_no_state_crashes(rng: np.random.Generator) -> None:
    """Any value in any place is refused in our words, or makes an encoder that works."""
    table = as_table(
        {
            "size": rng.normal(size=9),
            "gone": [None, *rng.normal(size=8)],
            "city": [*"abcabcab", None],
            "when": np.datetime64("2019-06-01T00:00:00") + rng.integers(0, 10**8, 9),
            "same": [1] * 9,
        }
    )
    encoder = TableEncoder.fit(table)
    state = encoder.state_dict()
    values = [
        None,
        -1,
        0,
        10**400,
        0.5,
        float("nan"),
        float("inf"),
        "x",
        "",
        [],
        [1],
        ["x"],
        {},
        {"x": 1},
        True,
    ]

    def paths(place: Any, way: str = "") -> Any:
        for key, inner in place.items():
            yield f"{way}{key}"
            if isinstance(inner, dict):
                yield from paths(inner, f"{way}{key}.")

    for path in paths(state):
        for value in [*values, KeyError]:
            made = _made(_spoiled(state, path, value))
            if isinstance(made, str):
                assert made.startswith("load: ")
            else:
                made.describe()
                if made.names == encoder.names:
                    assert np.isfinite(made.encode(table)).all()


def _made(state: Any) -> TableEncoder | str:
    try:
        return TableEncoder.from_state(state)
    except (ValueError, TypeError) as error:
        return str(error)
