"""Wrong arguments outside of the case table: every text is ours, and names the argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn, optim


def _leaf() -> ex.Tensor:
    return ex.ones(2, requires_grad=True)


def _one_cycle(**options: Any) -> list[float]:
    groups = [{"params": [_leaf()]}, {"params": [_leaf()]}]
    optimizer = optim.SGD(groups, lr=0.1, momentum=0.9)
    optim.OneCycleLR(optimizer, [0.1, 0.2], 10, **options)
    return [group["momentum"] for group in optimizer.param_groups]


ERRORS = [
    (
        lambda: ex.add_backward(ex.ones(3), 3, 3),
        "add_backward: a_shape must be a tuple of ints, got a_shape=3",
    ),
    (
        lambda: ex.full_like(ex.ones(2), [1, 2]),
        "full_like: fill_value must be one number, got fill_value_shape=(2,)",
    ),
    (
        lambda: ex.clip(ex.ones(2), "a", 1.0),
        "clip: min_val must be a number or None, got min_val='a'",
    ),
    (
        lambda: ex.clip(ex.ones(2), 0.0, ex.ones(2)),
        "clip: max_val must be a number, or use maximum and minimum, "
        "got max_val=Tensor(float32, shape=(2,))",
    ),
    (
        lambda: ex.clip(ex.ones(2), ex.tensor(0.0, requires_grad=True), 1.0),
        "clip: min_val must be a number without a gradient, or use maximum and minimum, "
        "got min_val=Tensor(float32, shape=())",
    ),
    (
        lambda: nn.MSELoss(reduction=3),
        "MSELoss: reduction must be a string, got reduction=3",
    ),
    (
        lambda: nn.KLDivLoss(reduction=3),
        "KLDivLoss: reduction must be a string, got reduction=3",
    ),
    (
        lambda: nn.RNN(2, 3, nonlinearity=3),
        "RNN: nonlinearity must be a string, got nonlinearity=3",
    ),
    (
        lambda: nn.Conv2d(1, 1, 3, padding_mode=3),
        "Conv2d: padding_mode must be a string, got padding_mode=3",
    ),
    (
        lambda: nn.AdaptiveAvgPool2d("3"),
        "AdaptiveAvgPool2d: output_size must be an int, a sequence of ints or None, "
        "got output_size='3'",
    ),
    (
        lambda: ex.random.rand((2, 3), requires_grad=[]),
        "rand: requires_grad must be a bool, got requires_grad=[]",
    ),
    (lambda: ex.relu_backward(ex.ones(2), None), "relu_backward: x must be a tensor, got x=None"),
    (
        lambda: ex.split_backward([]),
        "split_backward: grad_outputs must be a sequence of at least one tensor, "
        "got grad_outputs=[]",
    ),
    (
        lambda: ex.concatenate_backward(ex.ones(2), []),
        "concatenate_backward: there must be at least one shape, got shapes=[]",
    ),
    (
        lambda: ex.zeros(2, dtype=[1]),
        "zeros: dtype must be bool, int8-64, uint8-64, float16, bfloat16, float32 or float64, "
        "got dtype=[1]",
    ),
    (lambda: ex.zeros(2, 3), "zeros: shape is one argument, write zeros((2, 3)), got dtype=3"),
    (lambda: ex.ones(2, 3, 4), "ones: shape is one argument, write ones((2, 3, 4)), got dtype=3"),
    (lambda: ex.empty(2, 0), "empty: shape is one argument, write empty((2, 0)), got dtype=0"),
    (
        lambda: ex.zeros(2, requires_grad=np.ones(2)),
        "zeros: requires_grad must be a bool, got requires_grad=ndarray(float64, shape=(2,))",
    ),
    (
        lambda: ex.zeros((2**40, 2**40)),
        "zeros: shape must have fewer than 2**60 elements, got shape=(1099511627776, 1099511627776)",
    ),
    (lambda: ex.arange("a"), "arange: start must be a number, got start='a'"),
    (lambda: ex.linspace(0, 1, "a"), "linspace: num must be an int, got num='a'"),
    (lambda: ex.eye(2, k=[]), "eye: k must be an int, got k=[]"),
    (
        lambda: ex.grad(3, _leaf()),
        "grad: outputs must be tensors, got outputs[0]=3",
    ),
    (lambda: ex.backward([3.0]), "backward: tensors must be tensors, got tensors[0]=3.0"),  # type: ignore[list-item]
    (
        lambda: ex.sum(_leaf()).backward(retain_graph=np.ones(2)),
        "backward: retain_graph must be a bool or None, got retain_graph=ndarray(float64, shape=(2,))",
    ),
    (lambda: ex.jacobian(3, ex.ones(2)), "jacobian: fn must be a function, got fn=3"),
    (
        lambda: ex.random.rand(2, generator=3),
        "rand: generator must be a Generator, got generator='int'",
    ),
    (
        lambda: ex.random.randn(2, requires_grad="x"),
        "randn: requires_grad must be a bool, got requires_grad='x'",
    ),
    (lambda: ex.set_num_threads("x"), "set_num_threads: count must be an int, got count='x'"),
    (
        lambda: nn.init.zeros_([1.0]),
        "zeros_: tensor must be a tensor, got tensor=[1.0]",
    ),
    (
        lambda: nn.init.xavier_normal(3, "a", (2, 3)),
        "xavier_normal: fan_out must be an int, got fan_out='a'",
    ),
    (lambda: nn.Linear("a", 2), "Linear: in_features must be an int, got in_features='a'"),
    (lambda: nn.Dropout("a"), "Dropout: p must be a number, got p='a'"),
    (
        lambda: nn.Conv2d(1, 2, kernel_size="x"),
        "Conv2d: kernel_size must be an int or a sequence of ints, got kernel_size='x'",
    ),
    (lambda: nn.ModuleList(3), "ModuleList: modules must be iterable or None, got modules=3"),
    (
        lambda: nn.ModuleDict([1]),  # type: ignore[list-item]
        "ModuleDict: items must be a mapping, or pairs of a name and an item, got item=1",
    ),
    (lambda: nn.Sequential(nn.ReLU())["a"], "Sequential: index must be an int, got index='a'"),
    (
        lambda: nn.Sequential().get_submodule(3),
        "get_submodule: path must be a string, got path=3",
    ),
    (
        lambda: nn.LSTMCell(2, 3)(ex.ones((1, 2)), ex.ones((1, 3))),
        "LSTMCell: hx must be a tuple of 2 tensors, got hx=Tensor(float32, shape=(1, 3))",
    ),
    (lambda: optim.SGD([_leaf()], lr="x"), "SGD: lr must be a number, got lr='x'"),
    (
        lambda: optim.SGD([{"params": [_leaf()], "lr": "x"}]),
        "SGD: lr must be a number, got lr='x'",
    ),
    (
        lambda: optim.SGD([_leaf()], dampening=[1]),
        "SGD: dampening must be a number, got dampening=[1]",
    ),
    (
        lambda: optim.Adam([_leaf()], betas=("a", 0.9)),
        "Adam: betas must be two numbers, got betas=('a', 0.9)",
    ),
    (
        lambda: optim.SGD(3, 0.1),
        "SGD: params must be an iterable of tensors or dicts, got params='int'",
    ),
    (
        lambda: ex.sgd_step(ex.ones(2), ex.ones(2), 1j),
        "sgd_step: lr must be a number, got lr=1j",
    ),
    (
        lambda: ex.clip_grad_norm(3, 1.0),
        "clip_grad_norm: parameters must be tensors, got parameters=3",
    ),
    (
        lambda: optim.StepLR(3, 2),
        "StepLR: optimizer must be an Optimizer, got optimizer=3",
    ),
    (
        lambda: optim.StepLR(optim.SGD([_leaf()]), "x"),
        "StepLR: step_size must be a number, got step_size='x'",
    ),
    (
        lambda: _one_cycle(base_momentum=[0.8]),
        "OneCycleLR: base_momentum must have 2 values, got values=1",
    ),
    (
        lambda: optim.orthogonalize(ex.ones((2, 2)), steps=np.array([np.nan], ex.bfloat16)),
        "orthogonalize: steps must be an integer, got steps='ndarray'",
    ),
    (
        lambda: optim.orthogonalize(ex.ones((2, 2)), steps=2**40),
        "orthogonalize: steps must be from 0 to 99, got steps=1099511627776",
    ),
    (
        lambda: ex.amp.GradScaler().scale(3.0),
        "scale: loss must be a tensor, got loss=3.0",
    ),
    (
        lambda: ex.from_dlpack(np.ones(2, ">f4")),
        "from_dlpack: x must be memory that NumPy can share, got x=ndarray(>f4, shape=(2,))",
    ),
    (
        lambda: np.ones(3) in ex.ones(2),
        "contains: value must be a number, or broadcast to (2,), "
        "got value=ndarray(float64, shape=(3,))",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), ERRORS, ids=[text for _, text in ERRORS])
def test_texts(call: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert str(caught.value) == text


def test_bounds_may_be_tensors() -> None:
    x = ex.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    y = ex.clip(x, ex.tensor(0.0), np.float32(1.5))
    y.sum().backward()
    assert y.tolist() == [0.0, 0.5, 1.5]
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 1.0, 0.0]
    by_hand = ex.clip_backward(ex.ones(3), x.detach(), ex.tensor(0.0), ex.tensor(1.5))
    assert by_hand.tolist() == [0.0, 1.0, 0.0]


def test_a_padding_index_that_is_a_tensor_is_not_changed() -> None:
    padding = ex.tensor(-1)
    assert nn.Embedding(5, 3, padding).padding_idx == 4
    assert padding.item() == -1


def test_momenta_of_groups() -> None:
    momenta = _one_cycle(base_momentum=[0.8, 0.7], max_momentum=[0.9, 0.95])
    assert momenta == [0.9, 0.95]


def test_a_schedule_that_does_not_fit_leaves_the_optimizer() -> None:
    optimizer = optim.SGD([_leaf()], lr=0.1, momentum=0.5)
    with pytest.raises(ValueError, match="max_momentum must have 1 values"):
        optim.OneCycleLR(optimizer, 0.1, 10, max_momentum=[0.9, 0.8])
    assert optimizer.schedules == []
    assert optimizer.param_groups[0]["momentum"] == 0.5


def test_errors_of_given_functions_are_left_alone() -> None:
    def fails(*args: Any) -> Any:
        raise KeyError("mine")

    optimizer = optim.SGD([_leaf()])
    for call in (
        lambda: ex.jacobian(fails, ex.ones(2)),
        lambda: ex.checkpoint(fails, ex.ones(2)),
        lambda: optim.LambdaLR(optimizer, fails),
        lambda: nn.Sequential(_Failing())(1),
    ):
        with pytest.raises(KeyError, match="mine"):
            call()


class _Failing(nn.Module):
    def forward(self, x: Any) -> Any:
        raise KeyError("mine")


def test_a_rule_checks_its_inputs_beside_the_output() -> None:
    output = ex.ones((2, 3))
    with pytest.raises(ValueError, match=r"rnn_cell_backward: x must be \(batch, inputs\)"):
        ex.rnn_cell_backward(
            output, ex.ones(()), ex.ones((2, 3)), ex.ones((3, 4)), ex.ones((3, 3)), output
        )  # fmt: skip
