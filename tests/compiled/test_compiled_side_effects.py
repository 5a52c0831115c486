"""Side effects of a compiled function: refused by name, undone, and results that would be one."""

from __future__ import annotations

import collections
import contextvars
import dataclasses
import functools
import importlib
import io
import itertools
import os
import pathlib
import random
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import extensor as ex

X = np.linspace(0.5, 1.5, 6, dtype="float64")
COUNT = 0


def iterator() -> Callable[[Any], Any]:
    values = iter([1.0, 2.0, 3.0])
    return lambda x: x * next(values)


def generator() -> Callable[[Any], Any]:
    values = (float(i) for i in range(1, 4))
    return lambda x: x * next(values)


def endless_iterator() -> Callable[[Any], Any]:
    values = itertools.count(1)
    return lambda x: x * next(values)


def iterator_of_a_map() -> Callable[[Any], Any]:
    values = map(lambda i: i + 1.0, range(3))  # noqa: C417
    return lambda x: x * next(values)


def own_iterator() -> Callable[[Any], Any]:
    class Values:
        place = 0

        def __next__(self) -> float:
            self.place += 1
            return float(self.place)

        def __iter__(self) -> Iterator[float]:
            return self

    values = Values()
    return lambda x: x * next(values)


def file_that_is_read() -> Callable[[Any], Any]:
    values = io.StringIO("1 2 3 4")
    return lambda x: x * float(values.read(2))


def random_of_python() -> Callable[[Any], Any]:
    return lambda x: x * random.random()


def own_random_of_python() -> Callable[[Any], Any]:
    values = random.Random(0)
    return lambda x: x * values.random()


def random_of_numpy() -> Callable[[Any], Any]:
    return lambda x: x * float(np.random.rand())  # noqa: NPY002


def generator_of_numpy() -> Callable[[Any], Any]:
    values = np.random.default_rng(0)
    return lambda x: x * float(values.random())


def nonlocal_counter() -> Callable[[Any], Any]:
    n = 0

    def function(x: Any) -> Any:
        nonlocal n
        n += 1
        return x * n

    return function


def global_counter() -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        global COUNT
        COUNT += 1
        return x

    return function


def appended_to_a_deque() -> Callable[[Any], Any]:
    losses: collections.deque[Any] = collections.deque()

    def function(x: Any) -> Any:
        losses.append(1.0)
        return x

    return function


def added_to_a_set() -> Callable[[Any], Any]:
    names: set[str] = set()

    def function(x: Any) -> Any:
        names.add("a")
        return x

    return function


def count_of_a_namespace() -> Callable[[Any], Any]:
    holder = types.SimpleNamespace(n=0)

    def function(x: Any) -> Any:
        holder.n += 1
        return x

    return function


def array_that_is_written() -> Callable[[Any], Any]:
    counts = np.zeros(2)

    def function(x: Any) -> Any:
        counts[0] += 1
        return x

    return function


def slot_that_is_set() -> Callable[[Any], Any]:
    class Options:
        __slots__ = ("n",)

    holder = Options()
    holder.n = 0

    def function(x: Any) -> Any:
        holder.n += 1
        return x

    return function


def environment_that_is_set() -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        os.environ["EXTENSOR_TEST_SET"] = str(len(os.environ.get("EXTENSOR_TEST_SET", "")))
        return x

    return function


def context_that_is_set() -> Callable[[Any], Any]:
    holder: contextvars.ContextVar[int] = contextvars.ContextVar("n", default=0)

    def function(x: Any) -> Any:
        holder.set(holder.get() + 1)
        return x

    return function


SIDE_EFFECTS = [
    (iterator, "values"), (generator, "values"), (endless_iterator, "values"),
    (iterator_of_a_map, "values"), (own_iterator, "values"),
    (file_that_is_read, "values"), (random_of_python, "the state of random"),
    (own_random_of_python, "values"), (random_of_numpy, "the state of numpy.random"),
    (generator_of_numpy, "values"), (nonlocal_counter, "n"), (global_counter, "COUNT"),
    (appended_to_a_deque, "losses"), (added_to_a_set, "names"), (count_of_a_namespace, "holder.n"),
    (array_that_is_written, "counts"), (slot_that_is_set, "holder"), (environment_that_is_set, "environ"),
    (context_that_is_set, "holder"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "name"), SIDE_EFFECTS)
def test_a_side_effect_is_refused_by_name(make: Callable[[], Any], name: str) -> None:
    compiled = ex.compile(make())
    with pytest.raises(ValueError, match="must not have side effects") as error:
        [compiled(X) for _ in range(2)]
    assert name in str(error.value).partition("got changed=")[2]


def test_a_side_effect_in_an_installed_package_is_refused_at_the_first_call(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only its code names is known after the first trace alone."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    text = """
class Inner:
    place = 0

class Values:
    def __init__(self):
        self.inner = Inner()

    def take(self):
        self.inner.place += 1
        return float(self.inner.place)
"""
    (folder / "package_with_a_place.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    values = importlib.import_module("package_with_a_place").Values()
    compiled = ex.compile(lambda x: x * values.take())
    with pytest.raises(ValueError, match=r"must not have side effects.*values\.inner\.place"):
        compiled(X)


def test_what_a_refused_function_has_changed_is_put_back() -> None:
    n, losses, names = 0, collections.deque([1.0]), {"a"}
    holder, counts = types.SimpleNamespace(n=0), np.zeros(2)
    state = np.random.get_state(legacy=False)  # noqa: NPY002

    def function(x: Any) -> Any:
        nonlocal n
        n += 1
        holder.n += 1
        counts[0] += 1
        losses.append(x)
        names.clear()
        return x * np.random.rand()  # noqa: NPY002

    with pytest.raises(ValueError, match="must not have side effects"):
        ex.compile(function)(X)
    assert (n, holder.n, list(losses), names) == (0, 0, [1.0], {"a"})
    assert counts.tolist() == [0, 0]
    assert repr(np.random.get_state(legacy=False)) == repr(state)  # noqa: NPY002


def test_a_property_that_is_computed_once_is_kept() -> None:
    class Options:
        def __init__(self) -> None:
            self.half = 1.0

        @functools.cached_property
        def whole(self) -> float:
            return 2 * self.half

    options = Options()
    compiled = ex.compile(lambda x: x * options.whole)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(X).numpy(), 2 * X)
    del options.whole
    options.half = 3.0
    np.testing.assert_array_equal(compiled(X).numpy(), 6 * X)


def test_reading_a_generator_is_refused() -> None:
    batches = iter(ex.data.DataLoader(ex.data.ArrayDataset(np.ones((4, 6))), batch_size=2))
    with pytest.raises(RuntimeError, match="cannot be read inside a compiled function"):
        ex.compile(lambda x: x * next(batches)[0])(X)
    with pytest.raises(RuntimeError, match="cannot be read inside a compiled function"):
        ex.compile(lambda x: x * ex.random.get_state()[1])(X)


@dataclasses.dataclass(frozen=True)
class Result:
    loss: Any
    parts: list[Any]
    name: str = "a"


def test_a_dataclass_is_a_result() -> None:
    compiled = ex.compile(lambda x: Result(x.sum(), [x * 2, 3], "b"))
    for _ in range(3):
        result = compiled(X)
        assert type(result) is Result
        assert (result.parts[1], result.name) == (3, "b")
        np.testing.assert_allclose(float(result.loss), X.sum())
        np.testing.assert_array_equal(result.parts[0].numpy(), 2 * X)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: types.SimpleNamespace(loss=x * 2),
        lambda x: lambda: x * 2,
        lambda x: functools.partial(print, x * 2),
        lambda x: {1: types.SimpleNamespace(loss=[x * 2])},
        lambda x: (y * 2 for y in [x * 2]),
    ],
)
def test_a_result_that_would_keep_a_placeholder_is_refused(make: Any) -> None:
    with pytest.raises(TypeError, match="results must be tensors, numbers, or lists"):
        ex.compile(make)(X)


def test_a_cache_must_not_keep_tensors_of_the_trace() -> None:
    weight = ex.tensor(X)

    @functools.lru_cache
    def doubled() -> Any:
        return weight * 2

    @functools.lru_cache
    def bound() -> Any:
        return weight

    with pytest.raises(ValueError, match="a cache would keep tensors") as error:
        ex.compile(lambda x: x * doubled())(X)
    assert "the cache of doubled" in str(error.value)
    np.testing.assert_array_equal(doubled().numpy(), 2 * X)  # nothing of the trace is left in it
    compiled = ex.compile(lambda x: x * bound())
    for _ in range(3):
        np.testing.assert_array_equal(compiled(X).numpy(), X * X)
