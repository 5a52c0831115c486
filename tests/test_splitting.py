"""Splits: disjoint, of the sizes asked for, in the shares that scikit-learn has, and always the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data.splitting import split_indices
from extensor.random import Generator

FRACTIONS = [(0.1, 0.2), (0.0, 0.3), (0.25, 0.0), (0.0, 0.0), (1 / 3, 1 / 3), (0.45, 0.5)]


def _checked(parts: tuple[Any, ...], count: int) -> list[int]:
    for part in parts:
        assert part.dtype == np.int64
        assert (np.diff(part) > 0).all()
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(count))
    return [len(part) for part in parts]


@pytest.mark.parametrize(("validation", "test"), FRACTIONS)
@pytest.mark.parametrize("count", [20, 101, 1000])
def test_sizes(count: int, validation: float, test: float) -> None:
    parts = split_indices(count, validation, test, Generator(1))
    sizes = _checked(parts, count)
    quotas = [count * (1 - validation - test), count * validation, count * test]
    assert all(abs(size - quota) < 1 for size, quota in zip(sizes, quotas, strict=True))
    assert [size > 0 for size in sizes] == [True, validation > 0, test > 0]


@pytest.mark.parametrize(
    ("count", "fractions", "sizes"),
    [
        (10, (0.1, 0.2), [7, 1, 2]),
        (11, (0.1, 0.2), [8, 1, 2]),  # 7.7, 1.1, 2.2
        (14, (0.1, 0.2), [10, 1, 3]),  # 9.8, 1.4, 2.8
        (7, (0.1, 0.1), [5, 1, 1]),  # 5.6, 0.7, 0.7
        (3, (1 / 3, 1 / 3), [1, 1, 1]),
        (1, (0.0, 0.0), [1, 0, 0]),
        (10, (0.3, 0.6), [1, 3, 6]),  # 1 - 0.3 - 0.6 is 0.10000000000000003 in floats
    ],
)
def test_largest_remainders(count: int, fractions: tuple[float, float], sizes: list[int]) -> None:
    assert _checked(split_indices(count, *fractions, Generator(0)), count) == sizes
    assert _checked(split_indices(count, *fractions, in_order=True), count) == sizes


def test_chance_is_that_of_the_generator() -> None:
    first = split_indices(50, generator=Generator(3))
    for part, again in zip(first, split_indices(50, generator=Generator(3)), strict=True):
        np.testing.assert_array_equal(part, again)
    assert first[2].tolist() != split_indices(50, generator=Generator(4))[2].tolist()
    ex.random.manual_seed(3)
    np.testing.assert_array_equal(split_indices(50)[2], first[2])
    generator = Generator(3)
    split_indices(50, generator=generator, in_order=True)
    assert generator.counter == 0


def test_every_sample_is_as_likely_to_be_tested() -> None:
    tested = np.zeros(20)
    for seed in range(400):
        tested[split_indices(20, 0.1, 0.25, Generator(seed))[2]] += 1
    # 400 draws of 1/4: the deviation is 8.7.
    assert np.abs(tested - 100).max() < 5 * 8.7


def test_in_order() -> None:
    train, validation, test = split_indices(10, 0.2, 0.3, in_order=True)
    assert train.tolist() == [0, 1, 2, 3, 4]
    assert validation.tolist() == [5, 6]
    assert test.tolist() == [7, 8, 9]


@pytest.mark.parametrize("seed", range(10))
def test_shares_as_scikit_learn(seed: int) -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    rng = np.random.default_rng(seed)
    count = int(rng.integers(100, 500))
    classes = rng.choice(4, count, p=[0.5, 0.3, 0.15, 0.05])
    train, validation, test = split_indices(count, 0.0, 0.2, Generator(seed), stratify=classes)
    sizes = _checked((train, validation, test), count)
    theirs = selection.train_test_split(
        np.arange(count), test_size=sizes[2], stratify=classes, random_state=seed
    )
    for part, other in zip((train, test), theirs, strict=True):
        ours = np.bincount(classes[part], minlength=4)
        assert np.abs(ours - np.bincount(classes[other], minlength=4)).max() <= 1
        assert np.abs(ours - len(part) * np.bincount(classes) / count).max() < 1


@pytest.mark.parametrize("seed", range(10))
def test_shares_of_three_parts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(60, 400))
    classes = rng.choice(6, count, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05])
    parts = split_indices(count, 0.15, 0.25, Generator(seed), stratify=classes)
    sizes = _checked(parts, count)
    assert sizes == _checked(split_indices(count, 0.15, 0.25, Generator(seed)), count)
    numbers = np.bincount(classes, minlength=6)
    for part, size in zip(parts, sizes, strict=True):
        found = np.bincount(classes[part], minlength=6)
        assert np.abs(found - numbers * size / count)[numbers >= 3].max() < 2


def test_rare_classes_are_trained_on() -> None:
    classes = np.array([0] * 60 + [1] * 30 + [2] * 5 + [3, 3, 4])
    for seed in range(20):
        parts = split_indices(98, 0.1, 0.2, Generator(seed), stratify=classes)
        assert _checked(parts, 98) == [69, 10, 19]
        train = np.bincount(classes[parts[0]], minlength=5)
        assert train[3:].tolist() == [2, 1]
        assert train.min() >= 1
    # Small fractions to train on, and still a sample of every class.
    classes = np.repeat(np.arange(10), 4)
    train = split_indices(40, 0.3, 0.4, Generator(0), stratify=classes)[0]
    assert np.bincount(classes[train], minlength=10).min() >= 1
    classes = np.array([0] * 80 + [1] * 3 + [2] * 3)
    parts = split_indices(86, 0.45, 0.5, Generator(0), stratify=classes)
    assert np.bincount(classes[parts[0]], minlength=3).min() >= 1
    assert _checked(parts, 86) == [4, 39, 43]


@pytest.mark.parametrize(
    "classes",
    [[True, False] * 20, [*"ab"] * 20, np.array([*"ab"] * 20, object), ex.tensor([0, 1] * 20)],
)
def test_classes_of_any_kind(classes: Any) -> None:
    expected = split_indices(40, generator=Generator(5), stratify=np.array([0, 1] * 20))
    # In which order the classes come is of no consequence here: they are alike.
    found = split_indices(40, generator=Generator(5), stratify=classes)
    assert _checked(found, 40) == [len(part) for part in expected]
    numbers = np.arange(40) % 2
    for part, other in zip(found, expected, strict=True):
        assert np.bincount(numbers[part]).tolist() == np.bincount(numbers[other]).tolist()


@pytest.mark.parametrize("seed", range(10))
def test_groups_stay_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 40, 400)
    parts = split_indices(400, 0.2, 0.25, Generator(seed), groups=groups)
    sizes = _checked(parts, 400)
    for one in range(3):
        for other in range(one):
            assert not set(groups[parts[one]]) & set(groups[parts[other]])
    largest = int(np.bincount(groups).max())
    for size, quota in zip(sizes, (220, 80, 100), strict=True):
        assert abs(size - quota) <= largest


def test_every_part_gets_a_group() -> None:
    groups = np.array([0] * 98 + [1, 2])
    for seed in range(5):
        parts = split_indices(100, 0.1, 0.2, Generator(seed), groups=groups)
        assert all(_checked(parts, 100))
        assert all(len(set(groups[part])) == 1 for part in parts)


@pytest.mark.parametrize("seed", range(10))
def test_groups_and_shares(seed: int) -> None:
    """Near to what scikit-learn finds, which tries one group after the other too."""
    selection = pytest.importorskip("sklearn.model_selection")
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(60), 10)
    # Each group leans to one class.
    classes = np.where(rng.random(600) < 0.7, np.repeat(rng.integers(0, 3, 60), 10), 0)
    parts = split_indices(600, 0.0, 0.2, Generator(seed), stratify=classes, groups=groups)
    _checked(parts, 600)
    train, _, test = parts
    assert not set(groups[train]) & set(groups[test])
    shares = np.bincount(classes) / 600
    ours = np.abs(np.bincount(classes[test], minlength=3) / len(test) - shares).max()
    folds = selection.StratifiedGroupKFold(5, shuffle=True, random_state=seed)
    theirs = max(
        np.abs(np.bincount(classes[fold], minlength=3) / len(fold) - shares).max()
        for _, fold in folds.split(groups[:, None], classes, groups)
    )
    assert ours <= max(theirs, 0.05)
    assert abs(len(test) - 120) <= 20


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"count": 0}, "count must be 1 or more, got count=0"),
    ({"count": 2.5}, "count must be an integer, got count=2.5"),
    ({"test": 1.5}, "test must be in [0, 1], got test=1.5"),
    ({"test": "a"}, "test must be a number, got test='a'"),
    ({"validation": float("nan")}, "validation must be in [0, 1], got validation=nan"),
    ({"validation": 0.5, "test": 0.5},
     "validation and test must leave samples to train on, got validation=0.5, test=0.5"),
    ({"count": 4},
     "validation must have at least one sample, got count=4, validation=0.1, test=0.2, sizes=[3, 0, 1]"),
    ({"count": 2, "validation": 0.4, "test": 0.5},
     "train must have at least one sample, got count=2, validation=0.4, test=0.5, sizes=[0, 1, 1]"),
    ({"count": 10, "test": 0.001, "validation": 0.0},
     "test must have at least one sample, got count=10, validation=0.0, test=0.001, sizes=[10, 0, 0]"),
    ({"stratify": [0, 1]}, "stratify must have one for each of 10 samples, got length=2"),
    ({"stratify": 3}, "stratify must be a row, one for each sample, got stratify=3"),
    ({"stratify": np.zeros((10, 1))}, "stratify must be a row, one for each sample, got stratify='ndarray'"),
    ({"groups": [1.0] * 9 + [np.nan]}, "groups must not be missing, got sample=9"),
    ({"groups": [*"abcdefghi", None]},
     "groups must be words or numbers, none missing, got sample=9"),
    ({"groups": np.array([[1], [2]] * 5, object).tolist()},
     "groups must be a row, one for each sample, got groups='list'"),
    ({"groups": [0] * 5 + [1] * 5}, "there must be a group for each of 3 parts, got groups=2"),
    ({"stratify": np.arange(10)},
     "validation must have at least one sample, got count=10, classes=10, "
     "samples_of_the_smallest=1, sizes=[10, 0, 0]"),
    ({"in_order": True, "stratify": [0] * 10},
     "in_order must be alone, without stratify and groups, got in_order=True"),
    ({"in_order": "yes"}, "in_order must be True or False, got in_order='yes'"),
    ({"generator": 3}, "generator must be a Generator, got generator=3"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_is_refused(case: int) -> None:
    given, text = REFUSED[case]
    generator = Generator(0)
    with pytest.raises((ValueError, TypeError)) as caught:
        split_indices(**{"count": 10, "generator": generator, **given})
    assert str(caught.value) == f"split_indices: {text}"
    assert generator.counter == 0
