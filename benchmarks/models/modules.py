"""A training step of one of our modules beside torch's module of the same keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, Call, MissingError, Setup

# Small, so that many steps on one batch stay where the first one was.
RATES = {"SGD": 1e-4, "AdamW": 1e-6}

Build = Callable[[Any], Any]  # from a library to a module
Loss = Callable[[Any, Any, Any], Any]  # from a library, a module and its inputs to a loss


def contestants(
    libraries: Libraries,
    ours: Build,
    torchs: Build,
    loss: Loss,
    inputs: Sequence[np.ndarray],
    optimizer: str,
) -> dict[str, Setup]:
    """Ours, torch's and torch's with a fused optimizer, from the same weights."""
    arguments = (libraries, torchs, loss, inputs, optimizer)
    return {
        OURS: partial(_ours, libraries, ours, torchs, loss, inputs, optimizer),
        "torch": partial(_torch, *arguments, {}),
        "torch fused": partial(_torch, *arguments, {"fused": True}),
    }


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def classes(count: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, count, shape)


def mean_square(_library: Any, module: Any, inputs: Any) -> Any:
    """A loss that costs next to nothing: the mean square of the output."""
    output = module(inputs[0])
    output = output[0] if isinstance(output, tuple) else output
    return (output * output).mean()


def _step(library: Any, module: Any, loss_of: Loss, inputs: Any, optimizer: Any) -> Call:
    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of(library, module, inputs)
        loss.backward()
        optimizer.step()
        return loss

    return step


def _torch_module(libraries: Libraries, build: Build) -> Any:
    torch = libraries["torch"]
    torch.manual_seed(0)
    return build(torch)


def _ours(
    libraries: Libraries, build: Build, torchs: Build, loss: Loss, inputs: Any, optimizer: str
) -> Call:
    ex = libraries[OURS]
    try:
        module = build(ex)
    except AttributeError as error:
        raise MissingError(f"{OURS} has no {error.name}") from error
    if "torch" in libraries:
        weights = _torch_module(libraries, torchs).state_dict()
        keys = module.state_dict().keys()
        module.load_state_dict({key: weights[key].numpy() for key in keys})
    given = [libraries.array(OURS, x) for x in inputs]
    steps = getattr(ex.optim, optimizer)(module.parameters(), lr=RATES[optimizer])
    return _step(ex, module, loss, given, steps)


def _torch(
    libraries: Libraries, build: Build, loss: Loss, inputs: Any, optimizer: str, options: Any
) -> Call:
    torch = libraries["torch"]
    module = _torch_module(libraries, build)
    given = [libraries.array("torch", x) for x in inputs]
    steps = getattr(torch.optim, optimizer)(module.parameters(), lr=RATES[optimizer], **options)
    return _step(torch, module, loss, given, steps)
