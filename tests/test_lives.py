"""Tensors and nodes that end: what Python promises of every object holds, and memory is used again."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import pytest

import extensor as ex


def test_a_weak_reference_is_cleared_and_told() -> None:
    told: list[Any] = []
    x = ex.ones(3)
    reference = weakref.ref(x, told.append)
    assert reference() is x
    del x
    assert reference() is None
    assert told == [reference]


def test_what_stands_in_used_memory_is_new() -> None:
    for _ in range(300):
        x = ex.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()
        x.register_hook(lambda gradient: gradient)
        del x
        y = ex.add(ex.ones(2), 1.0)
        assert (y.grad, y.requires_grad, y.is_leaf) == (None, False, True)
        assert weakref.getweakrefcount(y) == 0
        ex.sum(ex.multiply(y, y))  # nothing of a hook is left to be called


def test_more_tensors_than_are_kept_for_use_end_alike() -> None:
    tensors = [ex.ones(1) + i for i in range(1000)]
    assert [int(x) for x in tensors] == list(range(1, 1001))
    tensors.clear()
    tensors = [ex.ones(1) + i for i in range(1000)]
    assert [int(x) for x in tensors] == list(range(1, 1001))


@pytest.mark.parametrize("cls", [ex.Tensor, ex.nn.Parameter])
def test_the_class_is_held_once_by_each_of_its_objects(cls: type[ex.Tensor]) -> None:
    gc.collect()
    before = sys.getrefcount(cls)
    for _ in range(500):
        cls(ex.ones(2))
    assert abs(sys.getrefcount(cls) - before) < 50
    held = [cls(ex.ones(2)) for _ in range(500)]
    assert sys.getrefcount(cls) - before > 450
    del held


class Named(ex.Tensor):
    """As users may extend it: with a dictionary, slots, and an end of its own."""

    __slots__ = ("__dict__", "label")
    ended: list[str] = []  # noqa: RUF012 (of the class, on purpose)

    def __del__(self) -> None:
        self.ended.append(self.label)  # type: ignore[attr-defined]


def test_subclasses_end_as_python_ends_them() -> None:
    class Held:
        pass

    Named.ended.clear()
    x, held = Named([1.0]), Held()
    x.label, x.anything = "first", held  # type: ignore[attr-defined]
    reference, of_held = weakref.ref(x), weakref.ref(held)
    del held
    assert of_held() is not None
    del x
    assert Named.ended == ["first"]
    assert reference() is None
    assert of_held() is None


def test_a_subclass_that_is_saved_by_its_finalizer_lives_on() -> None:
    saved: list[Any] = []

    class Stubborn(ex.Tensor):
        def __del__(self) -> None:
            saved.append(self)

    Stubborn([1.0, 2.0])
    assert saved[0].tolist() == [1.0, 2.0]
    saved.clear()
    assert ex.ones(2).tolist() == [1.0, 1.0]


def test_a_cycle_through_a_gradient_is_collected() -> None:
    x = ex.ones(2)
    x.grad = x
    reference = weakref.ref(x)
    del x
    assert reference() is not None
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_a_long_graph_ends_without_a_deep_stack(order: str) -> None:
    x = y = ex.tensor([1.0], requires_grad=True)
    chain = []
    for _ in range(100_000):
        y = y + 1.0
        chain.append(y)
    if order == "backwards":
        chain.reverse()
    reference = weakref.ref(y)
    del y
    while chain:
        chain.pop()
    assert reference() is None
    assert x.is_leaf
