"""What a sweep searches, which values its trials have, and which of them go on."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extensor.cli.shared_options import as_changes
from extensor.cli.sweep_settings import as_setting, read_sweep_settings
from extensor.experiments.sweeps import Choices, Range, Result, Results, Rung, Space, rungs
from extensor.random.generator import Generator


def test_values_depend_on_the_seed_and_the_number_alone() -> None:
    keys: dict[str, Any] = {"lr": Range(1e-4, 1e-1, True), "p": Range(0.0, 0.5), "n": Range(2, 9)}
    space = Space(keys)
    first = [space.values(3, trial) for trial in range(1, 30)]
    assert [Space(keys).values(3, trial) for trial in range(29, 0, -1)] == first[::-1]
    assert len({tuple(values.values()) for values in first}) == 29
    assert space.values(4, 1) != first[0]
    # A key more does not change the values of those before it.
    more = Space({**keys, "last": Range(0.0, 1.0)})
    assert {key: more.values(3, 5)[key] for key in keys} == first[4]


@pytest.mark.parametrize("logarithmic", [False, True])
def test_ranges_are_uniform(logarithmic: bool) -> None:
    fractions = (np.arange(2000) + 0.5) / 2000
    low, high = 1e-3, 10.0
    expected = low + fractions * (high - low)
    if logarithmic:
        expected = np.logspace(np.log10(low), np.log10(high), 4001)[1::2]
    drawn = [Range(low, high, logarithmic).at(x) for x in fractions.tolist()]
    np.testing.assert_allclose(drawn, expected, rtol=6e-4)
    assert all(len(f"{x:.10g}".replace(".", "").lstrip("0")) <= 4 for x in drawn)


def test_whole_numbers_have_their_share() -> None:
    fractions = (np.arange(6000) + 0.5) / 6000
    drawn = Counter(Range(2, 7).at(x) for x in fractions.tolist())
    assert drawn == dict.fromkeys(range(2, 8), 1000)
    drawn = Counter(Range(1, 15, True).at(x) for x in fractions.tolist())
    assert all(isinstance(value, int) for value in drawn)
    for value in range(1, 16):
        share = math.log((value + 1) / value) / math.log(16)
        assert abs(drawn[value] - 6000 * share) <= 1
    assert Range(1, 15, True).at(1 - 2**-53) == 15


def test_choices_come_once_each() -> None:
    space = Space({"a": Choices((1, 2)), "b": Choices(("x", "y", "z"))})
    assert space.combinations == 6
    for seed in range(3):
        drawn = [tuple(space.values(seed, trial).values()) for trial in range(1, 7)]
        assert sorted(drawn) == [(a, b) for a in (1, 2) for b in "xyz"]
    assert drawn != sorted(drawn)
    assert Space({"a": Choices((1, 2)), "b": Range(0.0, 1.0)}).combinations is None


def test_probes_have_every_value() -> None:
    space = Space({"a": Choices((1, 2, 3)), "b": Range(4, 9), "seed": Choices(tuple(range(50)))})
    probes = space.probes()
    assert [(probe["a"], probe["b"]) for probe in probes] == [(1, 4), (2, 9), (3, 4)]


@pytest.mark.parametrize(
    ("epochs", "trials", "expected"),
    [
        (40, 20, [(4, 20), (13, 7), (40, 3)]),
        (9, 9, [(3, 9), (9, 3)]),
        (9, 10, [(1, 10), (3, 4), (9, 2)]),
        (2, 100, [(2, 100)]),
        (40, 3, [(40, 3)]),
    ],
)
def test_rungs(epochs: int, trials: int, expected: list[tuple[int, int]]) -> None:
    assert rungs(epochs, trials) == [Rung(*rung) for rung in expected]
    assert rungs(epochs, trials, halving=False) == [Rung(epochs, trials)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1e-4..1e-1", Range(1e-4, 1e-1, True)),
        ("1e-4..1e-1:linear", Range(1e-4, 1e-1, False)),
        ("0..0.5", Range(0, 0.5, False)),
        ("1..9", Range(1, 9, False)),
        ("1..10", Range(1, 10, True)),
        ("1..9:log", Range(1, 9, True)),
        ("-5..5", Range(-5, 5, False)),
        (" .5 .. 1. ", Range(0.5, 1.0, False)),
        ("[64],[128,128]", Choices(([64], [128, 128]))),
        ("0,1,2", Choices((0, 1, 2))),
        ("Adam,SGD", Choices(("Adam", "SGD"))),
        ('"a,b","c"', Choices(("a,b", "c"))),
        ("true, false", Choices((True, False))),
        ("[1, 2]", None),
        ("0.1", None),
        ('"1..2"', None),
        ("data/../other.npz", None),
    ],
)
def test_what_a_setting_means(text: str, expected: Any) -> None:
    fixed, searched = read_sweep_settings([f"model.key={text}"])
    assert searched == ({} if expected is None else {"model.key": expected})
    assert fixed == ([f"model.key={text}"] if expected is None else [])
    if isinstance(expected, Range):
        found = searched["model.key"]
        assert [type(x) for x in found.ends()] == [type(x) for x in expected.ends()]


@pytest.mark.parametrize("value", [0.1, 3, "SGD", "a b", "12", True, [4, 16, 3], "x,y", "true"])
def test_settings_that_are_printed_can_be_read(value: Any) -> None:
    assert as_changes([as_setting("a.b", value)]) == [("a.b", value)]


def _found(tmp_path: Path, falling: bool = False) -> Results:
    return Results(tmp_path / "trials.jsonl", rungs(3, 5), falling)


@pytest.mark.parametrize("falling", [False, True])
def test_the_best_third_goes_on(tmp_path: Path, falling: bool) -> None:
    found = _found(tmp_path, falling)
    values = {1: 0.5, 2: 0.9, 3: None, 4: 0.7, 5: 0.9}
    for trial in (4, 2, 5, 3):
        value = values[trial]
        found.add(Result(trial, 1, value, "burnt" if value is None else None))
    assert found.waiting() == (Rung(1, 5), [1])
    found.add(Result(1, 1, values[1]))
    # Rounded up, a third of five is two; of equals the first.
    assert found.waiting() == (Rung(3, 2), [1, 4] if falling else [2, 5])
    again = _found(tmp_path, falling)
    assert again.waiting() == found.waiting()
    best = [1, 4, 2, 5] if falling else [2, 5, 4, 1]
    assert [result.trial for result in again.standing()] == [*best, 3]
    again.add(Result(best[1], 3, 0.0, None))
    # Whoever came further stands before those who did not.
    assert again.standing()[0].trial == best[1]
    again.add(Result(best[0], 3, None, "lost"))
    assert again.waiting() is None
    assert [result.trial for result in again.standing()][-2:] == sorted([3, best[0]])
    lines = [json.loads(line) for line in (tmp_path / "trials.jsonl").read_text().splitlines()]
    assert [line["trial"] for line in lines[:5]] == [1, 2, 3, 4, 5]
    assert lines[2] == {"trial": 3, "epochs": 1, "failed": "burnt"}


def test_fewer_go_on_if_more_failed(tmp_path: Path) -> None:
    found = _found(tmp_path)
    for trial in range(1, 6):
        found.add(Result(trial, 1, None if trial < 5 else 0.1, "x" if trial < 5 else None))
    assert found.waiting() == (Rung(3, 1), [5])
    found.add(Result(5, 3, None, "x"))
    assert (found.waiting(), found.best()) == (None, None)


@pytest.mark.parametrize(
    "line",
    [
        '{"trial": 6, "epochs": 1, "value": 1.0}',
        '{"trial": 1, "epochs": 2, "value": 1.0}',
        '{"trial": 1, "epochs": 1, "value": NaN}',
        '{"trial": 1, "epochs": 1}',
        '{"trial": "1", "epochs": 1, "value": 1.0}',
        "[1]",
    ],
)
def test_results_of_something_else_are_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "trials.jsonl").write_text(f"{line}\n")
    expected = f"^sweep: {re.escape(str(tmp_path))}/trials.jsonl must be as the sweep wrote it, got"
    with pytest.raises(ValueError, match=expected):
        _found(tmp_path)


def test_seeds_of_trials_do_not_depend_on_how_many_there_are() -> None:
    """What the draws rest on: the n-th of a split is the same, however many are split off."""
    seeds = [generator.seed for generator in Generator(5).split(40)]
    assert [Generator(5).split(n)[-1].seed for n in range(1, 41)] == seeds
