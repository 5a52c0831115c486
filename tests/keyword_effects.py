"""What a call gives, as something to compare: two calls with the same effects had the same keywords."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args, get_origin

import numpy as np
import pytest

import extensor as ex
from extensor.core.tensor import Tensor


class Row(NamedTuple):
    """A call that is right, and for each keyword another value, which must change its effects.

    A value may be a dict of several keywords, where one alone is refused or does nothing.
    """

    call: Callable[..., Any]
    base: Mapping[str, Any]
    others: Mapping[str, Any]
    effects: Callable[[Any], Any]

    @property
    def name(self) -> str:
        return self.call.__name__


class Refused(NamedTuple):
    """A value that must raise an error."""

    value: Any


def described(value: Any) -> Any:
    """Arrays by their bytes, so that they can be compared with ``==``; containers by their items."""
    if isinstance(value, Tensor | np.ndarray | np.generic):
        array = np.asarray(getattr(value, "_array", value))
        return str(array.dtype), array.shape, array.tobytes()
    if isinstance(value, Mapping):
        return {key: described(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    return value


def effects_of(row: Row, changed: Mapping[str, Any]) -> Any:
    """The effects of a call with some arguments changed, by numbers that are always the same."""
    ex.random.manual_seed(0)
    with np.errstate(all="ignore"):
        return described(row.effects(row.call(**{**row.base, **changed})))


def assert_matters(row: Row, keyword: str) -> None:
    """Fail if the other value of ``keyword`` changes nothing."""
    other = row.others[keyword]
    if isinstance(other, Refused):
        effects_of(row, {})
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            effects_of(row, {keyword: other.value})
        return
    changed = other if isinstance(other, dict) else {keyword: other}
    found = effects_of(row, changed)
    beside = {name: value for name, value in changed.items() if name != keyword}
    try:
        base = effects_of(row, beside)
    except (TypeError, ValueError):  # without this keyword the others are refused
        base = effects_of(row, {})
    assert found != base


def keywords_of(function: Callable[..., Any]) -> set[str]:
    """The parameters that have a name and a default."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name for p in parameters if p.default is not p.empty}


def candidates(annotation: Any, value: Any) -> Iterator[Any]:
    """Other values of the same kind as ``value``, and those that the annotation names."""
    for kind in (annotation, *get_args(annotation)):
        if get_origin(kind) is Literal:
            yield from get_args(kind)
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, 2 * value, 0, 1)
    elif isinstance(value, float):
        yield from (value + 0.5, value / 2, value - 0.75, 0.25)
    elif isinstance(value, tuple | list) and value:
        for other in candidates(None, value[0]):
            yield (other, *value[1:])
        yield tuple(reversed(value))
    elif value is None:
        yield from (0, 1, -1, 0.5, (0, 1), True)
