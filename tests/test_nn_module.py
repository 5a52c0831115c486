"""Modules: what they are made of, how they are set and cast, and how they fail."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from networks import NAMES, Block, Net

import extensor as ex
from extensor import nn


def test_parts_are_found_by_path() -> None:
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert [name for name, _ in net.named_parameters("net", recurse=False)] == ["net.scale"]
    assert [name for name, _ in net.named_buffers()] == ["seen", "scratch"]
    assert [name for name, _ in net.named_children()] == ["blocks"]
    assert [name for name, _ in net.named_modules()] == [
        "",
        "blocks",
        *[f"blocks.{i}{part}" for i in (0, 1) for part in ("", ".conv1", ".conv2")],
    ]
    assert len(list(net.parameters())) == len(NAMES)
    assert list(net.buffers()) == [net.seen, net.scratch]  # type: ignore[attr-defined]
    assert list(net.children()) == [net.blocks]
    assert next(net.modules()) is net
    assert net.num_parameters() == 3 + 2 * (9 + 3 + 9)


def test_a_part_by_its_path() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU()))
    assert all(net.get_submodule(path) is part for path, part in net.named_modules())
    with pytest.raises(ValueError, match=r"get_submodule: there is no module 2, got path='1\.2'"):
        net.get_submodule("1.2")


def test_a_buffer_may_be_registered_again() -> None:
    norm = nn.BatchNorm1d(2)
    norm.register_buffer("running_mean", ex.ones(2), persistent=False)
    assert norm.running_mean.tolist() == [1.0, 1.0]
    assert "running_mean" not in norm.state_dict()
    with pytest.raises(ValueError, match="name must be a new one"):
        norm.register_buffer("weight", ex.ones(2))


def test_gradients_are_forgotten_or_zero() -> None:
    layer = nn.Linear(2, 2, bias=False)
    optimizer = ex.optim.SGD(layer.parameters(), lr=0.1)
    for holder in (layer, optimizer):
        layer(ex.ones((1, 2))).sum().backward()
        holder.zero_grad(set_to_none=False)
        assert layer.weight.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
        holder.zero_grad()
        assert layer.weight.grad is None


def test_what_is_shared_counts_once_and_is_saved_by_every_name() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    net[2].weight = net[0].weight
    net.append(net[0])
    assert [name for name, _ in net.named_parameters()] == ["0.weight", "0.bias", "2.bias"]
    assert [name for name, _ in net.named_children()] == ["0", "1", "2"]
    assert list(net.state_dict()) == [
        f"{i}.{part}" for i in (0, 2, 3) for part in ("weight", "bias")
    ]
    copied = copy.deepcopy(net)
    assert copied[2].weight is copied[0].weight is copied[3].weight
    assert copied[0].weight is not net[0].weight


def test_parameter_is_a_leaf_tensor() -> None:
    array = np.ones(2, np.float32)
    parameter = nn.Parameter(array)
    assert isinstance(parameter, ex.Tensor)
    assert parameter.requires_grad
    assert parameter.is_leaf
    assert parameter._array is array
    assert type(parameter * 2) is ex.Tensor
    assert not nn.Parameter([1.0], requires_grad=False).requires_grad
    assert type(copy.deepcopy(parameter)) is nn.Parameter
    assert type(pickle.loads(pickle.dumps(parameter))) is nn.Parameter


def test_assignment() -> None:
    layer = nn.Linear(2, 2)
    layer.weight = nn.Parameter(ex.ones((2, 2)))
    layer.bias = None
    assert list(layer.state_dict()) == ["weight"]
    with pytest.raises(TypeError) as caught:
        layer.weight = ex.ones((2, 2))  # type: ignore[assignment]
    assert str(caught.value) == "Linear: weight must be a Parameter or None, got weight='Tensor'"
    net = nn.Sequential(layer)
    with pytest.raises(TypeError) as caught:
        setattr(net, "0", ex.relu)
    assert str(caught.value) == "Sequential: 0 must be a Module or None, got 0='Dispatcher'"
    del layer.weight
    assert layer.num_parameters() == 0


@pytest.mark.parametrize("name", ["a.b", "", "forward", "weight", 3])
@pytest.mark.parametrize("method", ["register_buffer", "register_parameter", "add_module"])
def test_registered_names(method: str, name: Any) -> None:
    layer = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="name must be") as caught:
        getattr(layer, method)(name, None)
    assert str(caught.value) == (
        f"{method}: name must be a new one, not empty and without a dot, got name={name!r}"
    )


def test_registering_is_setting() -> None:
    module = nn.Module()
    module.register_parameter("p", nn.Parameter([1.0]))
    module.add_module("m", nn.ReLU())
    module.register_buffer("b", ex.ones(1))
    module.b = module.b + 1  # type: ignore[attr-defined]
    assert list(module.state_dict()) == ["p", "b"]
    assert module.state_dict()["b"].item() == 2.0
    assert list(module.children()) == [module.m]  # type: ignore[attr-defined]


def test_forward_must_be_written() -> None:
    with pytest.raises(NotImplementedError, match=r"^Module: needs a method forward$"):
        nn.Module()()


def test_parts_may_be_added_on_the_way() -> None:
    net = Net()
    for name, parameter in net.named_parameters():
        net.register_buffer(f"old_{name.replace('.', '_')}", parameter.detach().clone())
    for child in net.children():
        net.register_buffer(f"of_{type(child).__name__}", ex.ones(1))
    assert len(list(net.buffers())) == 2 + len(NAMES) + 1


def test_training_mode() -> None:
    net = Net()
    assert all(module.training for module in net.modules())
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    assert net.train() is net
    assert all(module.training for module in net.modules())


def test_apply_goes_from_the_inside_out() -> None:
    kinds: list[str] = []
    net = Net()
    assert net.apply(lambda module: kinds.append(type(module).__name__)) is net
    assert kinds == ["Linear", "Linear", "Block"] * 2 + ["ModuleList", "Net"]


def test_freezing() -> None:
    net = Net()
    net.blocks[0].requires_grad_(False)
    assert net.num_parameters(trainable_only=True) == net.num_parameters() - 21
    net(ex.ones((2, 3))).sum().backward()
    assert net.blocks[0].conv1.weight.grad is None
    assert net.blocks[1].conv1.weight.grad is not None
    net.zero_grad()
    assert all(parameter.grad is None for parameter in net.parameters())
    assert net.requires_grad_() is net
    assert all(parameter.requires_grad for parameter in net.parameters())


def test_casting() -> None:
    net = Net()
    net.register_buffer("count", ex.tensor([3]))
    net(ex.ones((2, 3))).sum().backward()
    before = list(net.parameters())
    for method, dtype in [
        ("double", ex.float64),
        ("half", ex.float16),
        ("bfloat16", ex.bfloat16),
        ("float", ex.float32),
    ]:
        assert getattr(net, method)() is net
        assert {x.dtype for x in (*net.parameters(), net.seen, net.scratch)} == {dtype}
        assert {x.grad.dtype for x in net.parameters()} == {dtype}
    assert net.count.dtype == ex.int64  # type: ignore[attr-defined]
    assert all(x is y for x, y in zip(before, net.parameters(), strict=True))
    assert all(x.requires_grad and x.is_leaf for x in before)
    with pytest.raises(TypeError, match=r"^to: dtype must be floating, got dtype='int32'$"):
        net.to("int32")


def test_the_tape_notices_a_cast() -> None:
    layer = nn.Linear(2, 2)
    loss = (layer(ex.ones((1, 2), requires_grad=True)) ** 2).sum()
    layer.double()
    with pytest.raises(RuntimeError, match="was changed in place"):
        loss.backward()


# Errors.


def test_an_error_names_the_path() -> None:
    net = nn.Sequential({"net": Net()})
    net.net.blocks[1].conv2 = nn.Linear(4, 3)
    with pytest.raises(ValueError, match=r"^net") as caught:
        net(ex.ones((2, 3)))
    assert str(caught.value) == (
        "net.blocks.1.conv2: linear: the last axes of x and weight must agree, "
        "got x_shape=(2, 3), weight_shape=(3, 4)"
    )


def test_an_error_of_the_root_is_unchanged() -> None:
    with pytest.raises(ValueError, match=r"^linear: the last axes"):
        nn.Linear(2, 3)(ex.ones((2, 3)))


class Failing(nn.Module):
    def __init__(self, error: Exception) -> None:
        self.error = error

    def forward(self, x: Any) -> Any:
        raise self.error


@pytest.mark.parametrize(
    ("error", "args"),
    [
        (RuntimeError("text"), ("0: text",)),
        (AssertionError(), ("0",)),
        (KeyError("key"), ("key",)),
        (OSError(2, "no such file"), (2, "no such file")),
        (ValueError(3), (3,)),
    ],
)
def test_only_messages_are_changed(error: Exception, args: tuple[Any, ...]) -> None:
    with pytest.raises(type(error)) as caught:
        nn.Sequential(Failing(error))(1)
    assert caught.value is error
    assert error.args == args


class Borrowing(nn.Module):
    """Calls a module that is no attribute of it."""

    def __init__(self, other: nn.Module) -> None:
        self.others = [other]

    def forward(self, x: Any) -> Any:
        return self.others[0](x)


def test_a_module_from_elsewhere_goes_by_its_kind() -> None:
    net = nn.Sequential(Borrowing(nn.Sequential(Failing(ValueError("text")))))
    with pytest.raises(ValueError, match=r"^0\.Sequential\.0: text$"):
        net(1)


def test_keywords_reach_forward() -> None:
    block = Block()
    x = ex.ones((2, 3))
    np.testing.assert_array_equal(block(x, scale=2.0).numpy(), 2 * block(x).numpy())


def test_nn_is_imported_when_it_is_asked_for() -> None:
    code = (
        "import sys, extensor as ex; assert 'extensor.nn' not in sys.modules; "
        "ex.nn.Linear; ex.xavier_uniform; assert 'nn' in ex.__all__"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_can_not_hold_itself() -> None:
    net = ex.nn.Sequential(ex.nn.Linear(2, 3))
    for module, value in ((net[0], net), (net, net)):
        with pytest.raises(ValueError, match="parent must not be a module that holds this one"):
            module.parent = value
    net[0].parent = (net,)
    assert [name for name, _ in net.named_modules()] == ["", "0"]


def _holding_itself() -> nn.Module:
    """A module whose child holds it: the dict of attributes takes what an assignment refuses."""
    net = nn.Sequential(nn.Sequential(nn.Linear(2, 3)))
    vars(net[0][0])["parent"] = net
    return net


WALKS = {
    "modules": lambda net: list(net.modules()),
    "parameters": lambda net: list(net.parameters()),
    "buffers": lambda net: list(net.buffers()),
    "num_parameters": lambda net: net.num_parameters(),
    "state_dict": lambda net: net.state_dict(),
    "load_state_dict": lambda net: net.load_state_dict({}),
    "train": lambda net: net.train(),
    "apply": lambda net: net.apply(print),
    "zero_grad": lambda net: net.zero_grad(),
    "to": lambda net: net.double(),
    "summary": lambda net: net.summary((1, 2)),
    "a module around it": lambda net: nn.Sequential(net),
}


@pytest.mark.parametrize("walk", WALKS.values(), ids=list(WALKS))
def test_a_module_that_holds_itself_is_named(walk: Any) -> None:
    text = r"^Sequential: a module must not hold itself, got path='(0\.)?0\.0\.parent'$"
    with pytest.raises(ValueError, match=text):
        walk(_holding_itself())


def test_a_module_that_holds_itself_is_shown_and_copied() -> None:
    net = _holding_itself()
    assert "(parent): ..." in repr(net)
    assert copy.deepcopy(net)[0][0].parent is not net


def test_the_error_says_where_a_module_is_held() -> None:
    net = nn.Sequential(nn.Sequential(nn.Linear(2, 3)))
    with pytest.raises(ValueError, match=r"Linear: parent must not be .*, path='parent\.0\.0'$"):
        net[0][0].parent = net
