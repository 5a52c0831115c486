"""One Adam step over all parameters of a model, with gradients that are there already."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.groups.cases import sample
from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, Call, Measure, MissingError, Notes

# The parameters of the MLP 784-128-10, and ten square layers.
MODELS = {
    "100k": ((128, 784), (128,), (10, 128), (10,)),
    "10M": ((1000, 1000),) * 10,
}
TORCH = {"torch": {}, "torch foreach": {"foreach": True}, "torch fused": {"fused": True}}
_RATE = 1e-4


def measures(libraries: Libraries, quick: bool, _notes: Notes) -> Iterator[Measure]:
    for size in ("100k",) if quick else MODELS:
        shapes = MODELS[size]
        values = [sample("normal", shape, seed) for seed, shape in enumerate(shapes)]
        gradients = [sample("normal", shape, 50 + seed) for seed, shape in enumerate(shapes)]
        contestants = {
            OURS: partial(_ours, libraries, values, gradients),
            **{
                label: partial(_torch, libraries, options, values, gradients)
                for label, options in TORCH.items()
            },
            "jax": partial(_jax, libraries, values, gradients),
        }
        count = sum(array.size for array in values)
        # Reads parameter, gradient and two moments; writes all but the gradient.
        yield Measure("optim", "Adam step", size, contestants, recorded=True, bytes=28.0 * count)


def _ours(libraries: Libraries, values: list[Any], gradients: list[Any]) -> Call:
    ex = libraries[OURS]
    if not hasattr(getattr(ex, "optim", None), "Adam"):
        raise MissingError("extensor has no optim.Adam")
    parameters = [libraries.array(OURS, value, requires_grad=True) for value in values]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = libraries.array(OURS, gradient)
    optimizer = ex.optim.Adam(parameters, lr=_RATE)

    def step() -> Any:
        optimizer.step()
        return parameters[-1]

    return step


def _torch(libraries: Libraries, options: dict[str, bool], values: Any, gradients: Any) -> Call:
    parameters = [libraries.array("torch", value, requires_grad=True) for value in values]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = libraries.array("torch", gradient)
    optimizer = libraries["torch"].optim.Adam(parameters, lr=_RATE, **options)

    def step() -> Any:
        optimizer.step()
        return parameters[-1]

    return step


def _jax(libraries: Libraries, values: list[Any], gradients: list[Any]) -> Call:
    jax = libraries["jax"]
    update = jax.jit(partial(jax_adam, jax), donate_argnums=(0,))
    parameters = [libraries.array("jax", value) for value in values]
    given = [libraries.array("jax", gradient) for gradient in gradients]
    state = jax_adam_state(jax, parameters)

    def step() -> Any:
        nonlocal state
        state = update(state, given)
        return jax.block_until_ready(state)[0][-1]

    return step


def jax_adam_state(jax: Any, parameters: list[Any]) -> Any:
    zeros = [jax.numpy.zeros_like(parameter) for parameter in parameters]
    return parameters, zeros, [zero.copy() for zero in zeros], jax.numpy.zeros(())


def jax_adam(jax: Any, state: Any, gradients: list[Any], rate: float = _RATE) -> Any:
    """Adam as a function, with the defaults that all libraries share."""
    parameters, means, squares, count = state
    count = count + 1
    means = [0.9 * m + 0.1 * g for m, g in zip(means, gradients, strict=True)]
    squares = [0.999 * v + 0.001 * g * g for v, g in zip(squares, gradients, strict=True)]
    first, second = 1 - 0.9**count, 1 - 0.999**count
    parameters = [
        p - rate * (m / first) / (jax.numpy.sqrt(v / second) + 1e-8)
        for p, m, v in zip(parameters, means, squares, strict=True)
    ]
    return parameters, means, squares, count
