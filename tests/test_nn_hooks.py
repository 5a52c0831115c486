"""Hooks of modules: before and after a forward, and on the way back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from networks import Block

import extensor as ex
from extensor import nn


def test_forward_hooks() -> None:
    layer = nn.Linear(2, 2)
    seen: list[Any] = []
    x = ex.ones((1, 2))
    plain = layer(x).numpy()
    removals = [
        layer.register_forward_pre_hook(lambda module, args: seen.append(("look", args))),
        layer.register_forward_pre_hook(lambda module, args: args[0] * 0),
        layer.register_forward_hook(lambda module, args, output: seen.append((module, output))),
        layer.register_forward_hook(lambda module, args, output: output + 1),
    ]
    result = layer(x)
    assert layer.bias is not None
    np.testing.assert_array_equal(result.numpy()[0], layer.bias.numpy() + 1)
    assert seen[0] == ("look", (x,))
    assert seen[1][0] is layer
    assert len(seen) == 2
    for remove in removals:
        remove()
    np.testing.assert_array_equal(layer(x).numpy(), plain)
    assert not layer._hooks


def test_a_hook_registered_twice_is_removed_once_by_each() -> None:
    layer, seen = nn.Linear(2, 2), []
    x = ex.ones((1, 2))

    def hook(module: nn.Module, args: Any, output: Any) -> None:
        seen.append(output)

    first, second = layer.register_forward_hook(hook), layer.register_forward_hook(hook)
    layer(x)
    first()
    first()
    layer(x)
    assert len(seen) == 2 + 1
    second()
    layer(x)
    assert len(seen) == 3
    first()
    assert not layer._hooks


def test_a_handle_removes_its_hook() -> None:
    layer, seen = nn.Linear(2, 2), []
    x = ex.ones((1, 2), requires_grad=True)
    with layer.register_forward_hook(lambda *args: seen.append("module")):
        layer(x)
    handle = x.register_hook(lambda gradient: seen.append("tensor"))
    layer(x).sum().backward()
    handle.remove()
    handle.remove()
    layer(x).sum().backward()
    assert seen == ["module", "tensor"]


def test_a_backward_hook_needs_tensors() -> None:
    class Named(nn.Module):
        def forward(self, x: Any) -> Any:
            return {"y": x}

    net = Named()
    net.register_full_backward_hook(lambda *args: None)
    with pytest.raises(TypeError, match=r"a tensor or a tuple of tensors, got output='dict'"):
        net(ex.ones(2))


def test_pre_hook_may_give_several_arguments() -> None:
    block = Block()
    x = ex.ones((2, 3))
    block.register_forward_pre_hook(lambda module, args: (*args, 2.0))
    np.testing.assert_array_equal(block(x).numpy(), 2 * block.forward(x).numpy())


def test_backward_hook_sees_both_gradients() -> None:
    block = Block()
    seen: list[Any] = []
    remove = block.register_full_backward_hook(lambda *found: seen.append(found))
    x = ex.tensor(np.ones((2, 3), np.float32), requires_grad=True)
    (block(x, 2.0) * 3).sum().backward()
    ((module, grad_input, grad_output),) = seen
    assert module is block
    assert len(grad_input) == 2
    assert grad_input[1] is None
    np.testing.assert_array_equal(grad_input[0].numpy(), x.grad.numpy())
    assert grad_output[0].tolist() == [[3.0] * 3] * 2
    remove()
    block(x).sum().backward()
    assert len(seen) == 1


def test_backward_hook_runs_once_for_an_input_that_is_used_twice() -> None:
    class Square(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * x

    square, seen = Square(), []
    square.register_full_backward_hook(lambda _, grad_input, __: seen.append(grad_input))
    x = ex.tensor([3.0], requires_grad=True)
    square(x).backward()
    assert [g.tolist() for (g,) in seen] == [[6.0]]


def test_backward_hook_replaces_the_gradient() -> None:
    block = Block()
    block.register_full_backward_hook(lambda _, grad_input, __: grad_input[0] * 0)
    x = ex.ones((2, 3), requires_grad=True)
    block(x).sum().backward()
    assert x.grad.tolist() == [[0.0] * 3] * 2
    assert block.conv1.weight.grad is not None
    block.register_full_backward_hook(lambda _, grad_input, __: (None, None))
    with pytest.raises(ValueError, match="must return 1 gradients") as caught:
        block(x).sum().backward()
    assert str(caught.value) == (
        "register_full_backward_hook: a hook must return 1 gradients, one for each input, "
        "got gradients=2"
    )


def test_backward_hook_without_a_gradient_of_the_input() -> None:
    block, seen = Block(), []
    block.register_full_backward_hook(lambda _, *found: seen.append(found))
    block(ex.ones((2, 3))).sum().backward()
    ((grad_input, grad_output),) = seen
    assert grad_input == (None,)
    assert grad_output[0].shape == (2, 3)


def test_backward_hook_of_several_outputs_and_second_order() -> None:
    class Both(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * x, "text", x * x * x

    both, seen = Both(), []
    both.register_full_backward_hook(lambda _, __, grad_output: seen.append(grad_output))
    x = ex.tensor([2.0], requires_grad=True)
    square, text, cube = both(x)
    assert text == "text"
    first = ex.grad(square + cube, x, create_graph=True)
    assert first.item() == 4.0 + 12.0
    assert [None if g is None else g.item() for g in seen[0]] == [1.0, None, 1.0]
    assert ex.grad(first, x).item() == 2.0 + 12.0


def test_nothing_is_recorded_without_grad() -> None:
    block, seen = Block(), []
    block.register_full_backward_hook(lambda *found: seen.append(found))
    with ex.no_grad():
        assert block(ex.ones((2, 3))).is_leaf
    assert seen == []
