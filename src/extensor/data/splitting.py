"""Samples to train on, to choose by, and to test on: none of them twice."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from extensor import random
from extensor.errors import arguments, type_error, value_error
from extensor.random.generator import Generator

_OP = "split_indices"
_PARTS = ("train", "validation", "test")
VALIDATION, TEST = 0.1, 0.2  # default shares of the samples
TEXT_PART = 0.05  # the share of either of a text, which is long
_LARGEST_LEAST = 0.3


def split_indices(
    count: int,
    validation: float = VALIDATION,
    test: float = TEST,
    generator: Generator | None = None,
    stratify: Any = None,
    groups: Any = None,
    in_order: bool = False,
) -> tuple[Any, Any, Any]:
    """The indices to train on, to validate with and to test on, each in order.

    ``validation`` and ``test`` are the fractions of ``count``, rounded so that all samples are used.
    With 0 a part is empty. A part with a greater fraction must get at least one sample.

    ``stratify`` has the class of each sample, of which every part gets its share. A class with fewer
    samples than there are parts is only trained on, and no class is only tested.

    ``groups`` says which samples belong together: no group is in two parts. Groups are taken in a
    random order, each into the part that is furthest from its size; with ``stratify`` too, into the
    part that lacks most of its classes. So the sizes and shares are only near to what was asked for.

    ``in_order`` takes the first to train on and the last to test on, as for what happens in time.

    >>> from extensor.data.splitting import split_indices
    >>> from extensor.random import Generator
    >>> [part.tolist() for part in split_indices(8, 0.25, 0.25, Generator(0))]
    [[2, 3, 4, 5], [6, 7], [0, 1]]
    """
    count = arguments.integer(_OP, "count", count, 1)
    fractions = _fractions(validation, test)
    in_order = arguments.flag(_OP, "in_order", in_order)
    if generator is not None:
        arguments.instance(_OP, "generator", generator, Generator, "a Generator")
    if in_order and not (stratify is None and groups is None):
        raise value_error(_OP, "in_order must be alone, without stratify and groups", in_order=True)
    classes = None if stratify is None else _number_values("stratify", stratify, count)
    together = None if groups is None else _number_values("groups", groups, count)
    sizes = _apportion(count, fractions)
    _check_parts(sizes, fractions, {"count": count, "validation": validation, "test": test})
    if in_order:
        parts = np.repeat(np.arange(3), sizes)
    else:
        known = np.zeros(count, np.int64) if classes is None else classes
        if together is not None:
            parts = _parts_of_groups(together, known, sizes, generator)
        else:
            parts = _parts_of_classes(known, fractions, generator)
    train, validated, tested = (np.flatnonzero(parts == part) for part in range(3))
    return train, validated, tested


def _fractions(validation: Any, test: Any) -> list[Fraction]:
    """The exact shares of the parts: of 0.1 as it is written, not of the float next to it."""
    given = {"validation": validation, "test": test}
    shares = []
    for name, value in given.items():
        number = arguments.number(_OP, name, value, fraction=True)
        shares.append(Fraction(repr(float(number))))
    train = 1 - sum(shares, Fraction(0))
    if train <= 0:
        raise value_error(_OP, "validation and test must leave samples to train on", **given)
    return [train, *shares]


def _apportion(count: int, shares: Sequence[Fraction]) -> list[int]:
    """``count`` in whole numbers by their shares: what is left goes to the largest remainders."""
    total = sum(shares)
    quotas = [count * share / total for share in shares]
    sizes = [int(quota) for quota in quotas]
    by_remainder = sorted(range(len(shares)), key=lambda i: sizes[i] - quotas[i])
    for part in by_remainder[: count - sum(sizes)]:
        sizes[part] += 1
    return sizes


def _check_parts(sizes: Sequence[int], shares: Sequence[Fraction], given: dict[str, Any]) -> None:
    for name, size, share in zip(_PARTS, sizes, shares, strict=True):
        if share > 0 and size == 0:
            requirement = f"{name} must have at least one sample"
            raise value_error(_OP, requirement, **given, sizes=list(sizes))


def _number_values(name: str, values: Any, count: int) -> Any:
    """Values of any kind as numbers from 0, in the order of the values or of their appearance."""
    try:
        array = np.asarray(getattr(values, "_array", values))
    except (TypeError, ValueError):
        array = np.empty(0, "V")
    if array.ndim != 1 or array.dtype.kind not in "biufUOM":
        given = arguments.briefly(values)
        raise type_error(_OP, f"{name} must be a row, one for each sample", **{name: given})
    if len(array) != count:
        requirement = f"{name} must have one for each of {count} samples"
        raise value_error(_OP, requirement, length=len(array))
    if array.dtype.kind == "O":
        numbers: dict[Any, int] = {}
        objects = array.tolist()
        for place, x in enumerate(objects):
            if x is None or not isinstance(x, str | int | float | np.generic) or x != x:
                requirement = f"{name} must be words or numbers, none missing"
                raise value_error(_OP, requirement, sample=place)
            numbers.setdefault(x, len(numbers))
        return np.array([numbers[x] for x in objects], np.int64)
    if (array != array).any():
        raise value_error(_OP, f"{name} must not be missing", sample=int((array != array).argmax()))
    return np.unique(array, return_inverse=True)[1]


def _parts_of_classes(
    classes: Any, fractions: Sequence[Fraction], generator: Generator | None
) -> Any:
    """The part of each sample, so that every class has its share in each."""
    numbers = np.bincount(classes)
    table = _class_shares(numbers.tolist(), fractions)
    given = {"classes": len(numbers), "samples_of_the_smallest": int(numbers.min())}
    _check_parts(np.sum(table, 0).tolist(), fractions, {"count": len(classes), **given})
    parts = np.empty(len(classes), np.int64)
    order = random.permutation(len(classes), generator).numpy()
    # The samples class by class, in each in random order.
    sorted_by_class = order[np.argsort(classes[order], kind="stable")]
    parts[sorted_by_class] = np.repeat(np.tile(np.arange(3), len(table)), np.ravel(table))
    return parts


def _class_shares(numbers: Sequence[int], fractions: Sequence[Fraction]) -> list[list[int]]:
    """How many samples of each class go into each part; the sums are those of all samples."""
    asked = sum(fraction > 0 for fraction in fractions)
    table = [[number, 0, 0] for number in numbers]
    large = [i for i, number in enumerate(numbers) if number >= asked]
    pool = sum(numbers[i] for i in large)
    sizes = _apportion(sum(numbers), fractions)
    sizes[0] -= sum(numbers) - pool  # those of small classes
    if sizes[0] < 0:
        sizes = _apportion(pool, fractions)
    quotas = {
        (i, part): Fraction(numbers[i] * sizes[part], max(pool, 1))
        for i in large
        for part in range(3)
    }
    left = list(sizes)
    for i in large:
        table[i] = [int(quotas[i, part]) for part in range(3)]
        left = [a - b for a, b in zip(left, table[i], strict=True)]
    remainders = sorted(quotas, key=lambda key: (int(quotas[key]) - quotas[key], key))
    _give_the_rest(table, numbers, left, remainders)
    _give_each_to_train(table, large)
    return table


def _give_the_rest(
    table: list[list[int]],
    numbers: Sequence[int],
    left: list[int],
    places: Sequence[tuple[int, int]],
) -> None:
    """Fill places of classes and parts: one sample each by their remainders, then all that is left."""
    for again in (False, True):
        for i, part in places:
            if left[part] > 0 and sum(table[i]) < numbers[i]:
                number = min(left[part], numbers[i] - sum(table[i])) if again else 1
                table[i][part] += number
                left[part] -= number


def _give_each_to_train(table: list[list[int]], large: Sequence[int]) -> None:
    """Exchange samples of two classes until none is without one to train on."""
    for i in large:
        if table[i][0] == 0:
            part = max((1, 2), key=lambda part: table[i][part])
            rich = max(large, key=lambda other: table[other][0])
            table[i][part] -= 1
            table[i][0] += 1
            if table[rich][0] > 1 and rich != i:
                table[rich][0] -= 1
                table[rich][part] += 1


def _parts_of_groups(
    groups: Any, classes: Any, sizes: Sequence[int], generator: Generator | None
) -> Any:
    """The part of each sample, the same for all of a group."""
    number = int(groups.max()) + 1
    empty = [part for part in range(3) if sizes[part] > 0]
    if number < len(empty):
        requirement = f"there must be a group for each of {len(empty)} parts"
        raise value_error(_OP, requirement, groups=number)
    held = np.zeros((number, int(classes.max()) + 1))
    np.add.at(held, (groups, classes), 1)
    # Of each class, so that a rare one counts as much as a frequent one.
    shares = held / held.sum(0)
    lacking = np.repeat(np.array(sizes)[:, None] / len(groups), held.shape[1], axis=1)
    allowed = list(empty)
    part_of = np.empty(number, np.int64)
    order = random.permutation(number, generator).tolist()
    for left, group in zip(range(number, 0, -1), order, strict=True):
        choices = empty if left == len(empty) else allowed
        part = max(choices, key=lambda part: lacking[part] @ shares[group])
        part_of[group] = part
        lacking[part] -= shares[group]
        empty = [x for x in empty if x != part]
    return part_of[groups]


def least_share(count: int) -> float:
    """The smallest share that contains a sample, for parts without a given size."""
    return min(_LARGEST_LEAST, 1 / max(count, 1))


def random_halves(op: str, count: int, fraction: float, generator: Generator | None) -> list[Any]:
    """Places in random order, cut in two: the second has ``fraction`` of them."""
    arguments.number(op, "fraction", fraction, fraction=True)
    order = random.permutation(count, generator).numpy()
    return np.split(order, [count - round(count * fraction)])


def held_out(
    op: str, count: int, fraction: float, strata: Any, generator: Generator | None
) -> tuple[Any, Any]:
    """The places of samples to learn from, and of a fraction to validate with.

    ``strata``, classes by their numbers, have the same share of both as far as they can.
    """
    number = round(count * fraction)
    if not 0 < number < count:
        requirement = "validation_fraction must leave samples to learn from and to validate with"
        raise value_error(op, requirement, validation_fraction=fraction, samples=count)
    order = random.permutation(count, generator).numpy()
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    chosen = ((np.arange(number) + 0.5) * (count / number)).astype(np.int64)
    return np.sort(np.delete(order, chosen)), np.sort(order[chosen])
