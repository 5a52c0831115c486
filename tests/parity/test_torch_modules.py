"""PyTorch's samples of modules and optimizers for its own tests, through its names here."""

from __future__ import annotations

import sys
import unittest
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

if "expecttest" not in sys.modules:  # which PyTorch's tests import, and no sample needs
    stub: Any = ModuleType("expecttest")
    stub.TestCase, stub.ACCEPT = unittest.TestCase, False
    sys.modules["expecttest"] = stub
import pytorch_samples as samples  # noqa: E402
from torch.testing._internal.common_modules import module_db  # noqa: E402
from torch.testing._internal.common_optimizers import optim_db  # noqa: E402

import extensor.torch as ours  # noqa: E402

DTYPE = torch.float64
# Drawn by chance in training.
RANDOM = {"RReLU", "FractionalMaxPool2d", "FractionalMaxPool3d"}
# Their states are loaded before the first call, which fixes the shapes here; test_nn_lazy.py has them.
LAZY = {f"Lazy{kind}{axes}d" for kind in ("Conv", "ConvTranspose") for axes in (1, 2, 3)}
# A layer of PyTorch's is given, and targets that are refused here.
OTHERS = {"TransformerEncoder", "MarginRankingLoss"}
# Random indices name an element twice, which no pooling does.
TWICE = {"MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"}


def _name(info: Any) -> str:
    return str(info.module_cls.__name__)


MODULES = [
    info
    for info in module_db
    if hasattr(ours.nn, _name(info)) and _name(info) not in RANDOM | LAZY | OTHERS
]


def _run(module: Any, given: Any, sample: Any, world: Any) -> tuple[Any, list[Any]]:
    arguments = sample.forward_input
    args, kwargs = (given(x, True) for x in (tuple(arguments.args), dict(arguments.kwargs)))
    output = module(*args, **kwargs)
    roots = [x for x in samples.flat(output) if getattr(x, "requires_grad", False)]
    if roots:
        ones = [world.ones_like(x) for x in roots]
        world.autograd.backward(roots, ones)
    parameters = [p.grad for _, p in sorted(module.named_parameters())]
    inputs = [x.grad if x.is_leaf else None for x in samples.leaves((args, kwargs))]
    return output, [*parameters, *inputs]


def _same(x: Any, gradients: bool) -> Any:
    return x


def _difference(info: Any, sample: Any) -> str:
    constructor = sample.constructor_input
    if sample.forward_input is None:
        return ""
    theirs = info.module_cls(*constructor.args, **constructor.kwargs).to(DTYPE)
    try:
        args, kwargs = (samples.translated(x) for x in (constructor.args, constructor.kwargs))
        mine: Any = getattr(ours.nn, _name(info))(*args, **kwargs).double()
        state = {key: samples.translated(x) for key, x in theirs.state_dict().items()}
        mine.load_state_dict({k: x for k, x in state.items() if "num_batches" not in k})
        found, own = _run(mine, samples.translated, sample, ours)
    except Exception as error:
        return f"refused: {type(error).__name__}: {str(error)[:100]}"
    wanted, others = _run(theirs, _same, sample, torch)
    text = samples.difference(found, wanted, 1e-8)
    if any(np.isnan(samples.as_array(x)).any() for x in samples.flat(wanted)):
        return text  # where a result is no number, neither is its gradient
    for a, b in zip(own, others, strict=True):
        if text or _name(info) in TWICE:
            break
        # PyTorch's samples may be results themselves, which keep no gradient.
        if b is None or (a is None and not b.any()):
            continue
        text = "no gradient" if a is None or b is None else samples.difference(a, b, 1e-7)
    return text


@pytest.mark.parametrize("info", MODULES, ids=_name)
@pytest.mark.parametrize("training", [True, False])
def test_modules_agree(info: Any, training: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = info.module_inputs_func(
            info, device="cpu", dtype=DTYPE, requires_grad=True, training=training
        )
        found = [_difference(info, sample) for sample in given]
    wrong = [text for text in found if text and not text.startswith("refused")]
    assert not wrong, wrong
    assert not found or not all(text.startswith("refused") for text in found), found


OPTIMIZERS = [info for info in optim_db if hasattr(ours.optim, info.optim_cls.__name__)]
# Whose step counts in a tensor or a complex number, or chooses only how fast a step is.
SPEED = ("capturable", "foreach", "fused", "differentiable")


def _trajectory(world: Any, kind: Any, options: dict[str, Any]) -> Any:
    # Each step of LBFGS is twenty, in which roundings grow.
    steps = 1 if kind.__name__ == "LBFGS" else 6
    generator = np.random.default_rng(0)
    start = [generator.normal(size=shape) for shape in ((3, 2), (2,))]
    weights = [world.tensor(x).requires_grad_() for x in start]
    x, y = (world.tensor(generator.normal(size=shape)) for shape in ((8, 3), (8, 2)))
    optimizer = kind(weights, **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((x @ weights[0] + weights[1] - y) ** 2).mean()
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(steps)]
    return losses, [w.detach().numpy() for w in weights]


@pytest.mark.parametrize("info", OPTIMIZERS, ids=lambda info: info.optim_cls.__name__)
def test_optimizers_agree(info: Any) -> None:
    name = info.optim_cls.__name__
    compared = 0
    for sample in info.optim_inputs_func(device="cpu", dtype=DTYPE):
        options = {k: x for k, x in sample.kwargs.items() if k not in SPEED}
        if any(isinstance(x, torch.Tensor) for x in options.values()) or name == "Muon":
            continue
        wanted = _trajectory(torch, info.optim_cls, options)
        found = _trajectory(ours, getattr(ours.optim, name), options)
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-8, err_msg=str(options))
        for a, b in zip(found[1], wanted[1], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-10, err_msg=str(options))
        compared += 1
    assert compared or name == "Muon"
