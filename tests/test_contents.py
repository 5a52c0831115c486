"""What things hold, and whether it is still the same, as a compiled function asks before each run."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import _native
from extensor.core.tensor import wrap

A, B, C = object(), object(), object()


def cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]  # type: ignore[index]


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        ([A, B], [A, B]),
        ({"x": A}, ["x", A]),
        (({"x": A, "y": B}, "y", "z"), [B, None]),
        (cell(A), [A]),
        ({A}, [A]),
        (OrderedDict(x=A), ["x"]),
        ([], []),
    ],
)
def test_contents_of_things(thing: Any, expected: list[Any]) -> None:
    found = _native.contents([thing])
    assert len(found) == len(expected)
    assert all(x is y for x, y in zip(found, expected, strict=True))
    assert _native.holds([thing], expected)
    assert not _native.holds([thing], [*expected, A])
    assert not _native.holds([thing, [C]], expected)


def test_contents_of_a_tensor_are_all_that_can_be_replaced() -> None:
    x = wrap(np.ones(2, np.float32))
    found = _native.contents([x])
    for change in (
        lambda: setattr(x, "grad", ex.ones(2)),
        lambda: setattr(x, "_array", np.ones(2, np.float32)),
        lambda: setattr(x, "requires_grad", True),
        lambda: x.register_hook(lambda g: g),
    ):
        assert _native.holds([x], found)
        change()
        assert not _native.holds([x], found)
        found = _native.contents([x])


def test_a_change_in_any_place_is_seen() -> None:
    inner, options = [A, B], {"x": A}
    things = [inner, options, (options, "x"), cell(C)]
    found = _native.contents(things)
    assert _native.holds(things, found)
    options["x"] = B
    assert not _native.holds(things, found)
    options["x"] = A
    assert _native.holds(things, found)
    inner.append(C)
    assert not _native.holds(things, found)


def test_what_is_no_list_or_cannot_be_looked_through_is_refused() -> None:
    with pytest.raises(TypeError, match=r"contents: needs a list"):
        _native.contents((A,))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"holds: needs a list"):
        _native.holds([A], (A,))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not iterable"):
        _native.contents([1])
    with pytest.raises(TypeError, match="not iterable"):
        _native.holds([1], [])
    with pytest.raises(TypeError, match="unhashable"):
        _native.contents([({}, [])])


def _described(*arrays: Any) -> bytes | None:
    return _native.description(arrays)


def test_a_description_tells_dtypes_and_shapes_apart() -> None:
    given = [
        (),
        (np.ones(3),),
        (np.ones(3, np.float32),),
        (np.ones(3, np.int64),),
        (np.ones((3, 1)),),
        (np.ones(()),),
        (np.ones(3), np.ones(2)),
        (np.ones(2), np.ones(3)),
        (np.ones(3), np.ones(2), np.ones(0)),
    ]
    found = [_described(*arrays) for arrays in given]
    assert None not in found
    assert len(set(found)) == len(given)
    assert found == [_described(*(x.copy() for x in arrays)) for arrays in given]  # type: ignore[attr-defined]


def test_what_has_no_description() -> None:
    x = np.ones(3)
    odd = [x.astype(">f8"), np.array(["a"]), np.ones(2, "M8[s]"), np.ones(2, complex), [1.0], None]
    assert [_described(given) for given in odd] == [None] * len(odd)
    assert _described(x, x) is None
    assert _described(*(np.ones(2) for _ in range(17))) is None
    assert _described(*(np.ones((1,) * 60) for _ in range(5))) is None
    with pytest.raises(TypeError, match="description: needs a tuple of arrays"):
        _native.description([x])  # type: ignore[arg-type]
