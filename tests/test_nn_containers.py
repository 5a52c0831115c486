"""Sequential, ModuleList, ModuleDict, ParameterList and ParameterDict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn


def _layers(count: int) -> list[nn.Linear]:
    return [nn.Linear(2, 2) for _ in range(count)]


@pytest.mark.parametrize("make", [lambda layers: nn.Sequential(*layers), nn.ModuleList])
def test_lists_of_modules(make: Any) -> None:
    layers = _layers(4)
    held = make(layers[:3])
    assert held.append(layers[3]) is held
    assert len(held) == 4
    assert list(held) == layers
    assert held[1] is layers[1]
    assert held[-1] is layers[3]
    part = held[1:3]
    assert type(part) is type(held)
    assert list(part) == layers[1:3]
    new = nn.ReLU()
    held[1] = new
    assert list(held) == [layers[0], new, *layers[2:]]
    del held[0]
    assert list(held) == [new, *layers[2:]]
    assert list(held.state_dict()) == ["1.weight", "1.bias", "2.weight", "2.bias"]
    name = type(held).__name__
    with pytest.raises(IndexError, match=rf"^{name}: index must be in \[-3, 2\], got index=3$"):
        held[3]
    with pytest.raises(IndexError, match=rf"^{name}: index must be in \[-3, 2\], got index=-4$"):
        del held[-4]
    with pytest.raises(TypeError, match=rf"^{name}: an item must be a Module, got item='int'$"):
        held.append(3)


def test_sequential_runs_in_order_and_repeats() -> None:
    double, add = nn.Identity(), nn.Identity()
    double.forward = lambda x: x * 2  # type: ignore[method-assign]
    add.forward = lambda x: x + 1  # type: ignore[method-assign]
    assert nn.Sequential(double, add, double)(ex.tensor(3.0)).item() == 14.0
    assert nn.Sequential()(3) == 3


def test_a_part_of_a_sequential_can_grow() -> None:
    layers = _layers(4)
    part = nn.Sequential(*layers[:3])[1:]
    part.append(layers[3])
    assert list(part) == layers[1:]


def test_insert_and_pop() -> None:
    first, second, third = nn.ReLU(), nn.Tanh(), nn.Sigmoid()
    modules = nn.ModuleList([first, third])
    modules.insert(1, second)
    assert list(modules) == [first, second, third]
    assert [name for name, _ in modules.named_children()] == ["0", "1", "2"]
    assert modules.pop() is third
    assert modules.pop(0) is first
    assert list(modules.named_children()) == [("0", second)]
    named = nn.Sequential({"act": first, "last": third})
    named.insert(1, second)
    assert [name for name, _ in named.named_children()] == ["act", "2", "last"]


def test_sequential_with_names() -> None:
    first, second = _layers(2)
    net = nn.Sequential({"first": first, "second": second})
    assert net.first is first
    assert net[1] is second
    assert next(iter(net.state_dict())) == "first.weight"
    assert list(net[1:].state_dict()) == ["second.weight", "second.bias"]
    del net[0]
    assert list(net.state_dict()) == ["second.weight", "second.bias"]


def test_dict_of_modules() -> None:
    first, second = _layers(2)
    held = nn.ModuleDict({"a": first})
    held["b"] = second
    assert list(held) == list(held.keys()) == ["a", "b"]
    assert list(held.values()) == [first, second]
    assert list(held.items()) == [("a", first), ("b", second)]
    assert "a" in held
    assert "c" not in held
    held["a"] = second
    held.update([("c", first)])
    del held["b"]
    assert dict(held.items()) == {"a": second, "c": first}
    assert len(held) == 2
    assert dict(nn.ModuleDict(held).items()) == dict(held.items())
    with pytest.raises(KeyError):
        held["b"]
    with pytest.raises(KeyError):
        del held["training"]
    with pytest.raises(ValueError, match=r"^ModuleDict: name must be a new one.*got name='keys'$"):
        held["keys"] = first


def test_lists_and_dicts_of_parameters() -> None:
    many = nn.ParameterList([nn.Parameter([1.0]), ex.ones(2)])
    named = nn.ParameterDict({"w": ex.ones((2, 2))})
    named["b"] = nn.Parameter([0.0])
    net = nn.ModuleDict({"many": many, "named": named})
    assert [name for name, _ in net.named_parameters()] == [
        "many.0", "many.1", "named.w", "named.b",
    ]  # fmt: skip
    assert all(type(x) is nn.Parameter and x.requires_grad for x in net.parameters())
    assert many[1].shape == (2,)
    assert named["w"] is named.w
    with pytest.raises(TypeError) as caught:
        many.append(np.ones(2))
    assert str(caught.value) == "ParameterList: an item must be a Parameter, got item='ndarray'"


def test_names_cost_nothing_to_a_training_step() -> None:
    """A parameter in a container is the tensor the optimizer holds."""
    many = nn.ParameterList([ex.ones(2)])
    optimizer = ex.optim.SGD(many.parameters(), lr=0.5)
    (many[0] * many[0]).sum().backward()
    optimizer.step()
    assert many[0].tolist() == [0.0, 0.0]
