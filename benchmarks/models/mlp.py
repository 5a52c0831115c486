"""MLP 784-128-10 with relu and cross-entropy, on random digits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.groups.optim import jax_adam, jax_adam_state
from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, Call, Setup

_WEIGHTS = 784 * 128 + 128 * 10
# Small, so that thousands of steps on one batch stay where the first one was.
RATES = {"SGD": 1e-4, "Adam": 1e-6}


def contestants(libraries: Libraries, batch: int, optimizer: str) -> dict[str, Setup]:
    data = _data(batch)
    setups: dict[str, Setup] = {
        OURS: partial(_ours, libraries, data, optimizer),
        "torch": partial(_torch, libraries, data, optimizer, {}),
        "torch fused": partial(_torch, libraries, data, optimizer, {"fused": True}),
        "jax": partial(_jax, libraries, data, optimizer),
    }
    if optimizer == "SGD":
        setups["numpy"] = partial(_numpy, data)
    return setups


def work(batch: int) -> tuple[float, float]:
    """Every weight enters two products for each row, those of the second layer three."""
    flops = 2.0 * batch * (2 * _WEIGHTS + 128 * 10)
    # The weights are read twice and written once; their gradients written and read.
    return flops, 4.0 * (5 * _WEIGHTS + 2 * batch * 784)


def _data(batch: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)

    def uniform(bound: float, *shape: int) -> np.ndarray:
        return generator.uniform(-bound, bound, shape).astype(np.float32)

    return {
        "weight1": uniform(784**-0.5, 128, 784),
        "bias1": uniform(784**-0.5, 128),
        "weight2": uniform(128**-0.5, 10, 128),
        "bias2": uniform(128**-0.5, 10),
        "x": generator.uniform(0, 1, (batch, 784)).astype(np.float32),
        "target": generator.integers(0, 10, batch),
    }


_PARAMETERS = ("weight1", "bias1", "weight2", "bias2")


def _ours(libraries: Libraries, data: dict[str, np.ndarray], optimizer: str) -> Call:
    ex = libraries[OURS]
    for path in ("linear", "relu", "cross_entropy", f"optim.{optimizer}"):
        libraries.find(OURS, path)
    w1, b1, w2, b2 = (libraries.array(OURS, data[k], requires_grad=True) for k in _PARAMETERS)
    x, target = libraries.array(OURS, data["x"]), libraries.array(OURS, data["target"])
    steps = getattr(ex.optim, optimizer)([w1, b1, w2, b2], lr=RATES[optimizer])

    def step() -> Any:
        steps.zero_grad()
        loss = ex.cross_entropy(ex.linear(ex.relu(ex.linear(x, w1, b1)), w2, b2), target)
        loss.backward()
        steps.step()
        return loss

    return step


def _torch(
    libraries: Libraries, data: dict[str, np.ndarray], optimizer: str, options: dict[str, bool]
) -> Call:
    torch = libraries["torch"]
    functional = torch.nn.functional
    w1, b1, w2, b2 = (libraries.array("torch", data[k], requires_grad=True) for k in _PARAMETERS)
    x, target = libraries.array("torch", data["x"]), libraries.array("torch", data["target"])
    steps = getattr(torch.optim, optimizer)([w1, b1, w2, b2], lr=RATES[optimizer], **options)

    def step() -> Any:
        steps.zero_grad()
        hidden = functional.relu(functional.linear(x, w1, b1))
        loss = functional.cross_entropy(functional.linear(hidden, w2, b2), target)
        loss.backward()
        steps.step()
        return loss

    return step


def _jax(libraries: Libraries, data: dict[str, np.ndarray], optimizer: str) -> Call:
    jax = libraries["jax"]
    rate = RATES[optimizer]
    x, target = libraries.array("jax", data["x"]), libraries.array("jax", data["target"])

    def loss_of(parameters: Any, x: Any, target: Any) -> Any:
        w1, b1, w2, b2 = parameters
        logits = jax.nn.relu(x @ w1.T + b1) @ w2.T + b2
        chosen = jax.numpy.take_along_axis(jax.nn.log_softmax(logits), target[:, None], axis=-1)
        return -chosen.mean()

    def train(state: Any, x: Any, target: Any) -> Any:
        parameters = state[0]
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, target)
        if optimizer == "Adam":
            return jax_adam(jax, state, gradients, rate), loss
        return ([p - rate * g for p, g in zip(parameters, gradients, strict=True)],), loss

    compiled = jax.jit(train, donate_argnums=(0,))
    parameters = [libraries.array("jax", data[k]) for k in _PARAMETERS]
    state = jax_adam_state(jax, parameters) if optimizer == "Adam" else (parameters,)

    def step() -> Any:
        nonlocal state
        state, loss = compiled(state, x, target)
        jax.block_until_ready(state)
        return loss

    return step


def _numpy(data: dict[str, np.ndarray]) -> Call:
    """The step as one would write it by hand, gradients and all."""
    w1, b1, w2, b2 = (data[k].copy() for k in _PARAMETERS)
    x, target = data["x"], data["target"]
    rows = np.arange(len(x))
    rate = np.float32(RATES["SGD"])

    def step() -> Any:
        hidden = np.maximum(x @ w1.T + b1, 0)
        logits = hidden @ w2.T + b2
        logits -= logits.max(axis=1, keepdims=True)
        e = np.exp(logits)
        total = e.sum(axis=1, keepdims=True)
        loss = (np.log(total[:, 0]) - logits[rows, target]).mean()
        grad = e / total
        grad[rows, target] -= 1
        grad /= len(x)
        grad_hidden = (grad @ w2) * (hidden > 0)
        for parameter, gradient in (
            (w2, grad.T @ hidden),
            (b2, grad.sum(axis=0)),
            (w1, grad_hidden.T @ x),
            (b1, grad_hidden.sum(axis=0)),
        ):
            parameter -= rate * gradient
        return loss

    return step
