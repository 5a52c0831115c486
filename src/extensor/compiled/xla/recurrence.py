"""Recurrences as loops of XLA's: their programs are as short as one step, however long the sequence.

The gradients are those of :mod:`extensor.ops.recurrent` and its kin, found by the same walk.
"""

from __future__ import annotations

from typing import Any

from extensor.compiled.xla.library import Needs, jax, jnp, kernels_by_name, wide
from extensor.ops.recurrent import total_bias


def _rounded(results: Any, dtype: Any) -> Any:
    return tuple(None if x is None else x.astype(dtype) for x in results)


def _inputs(x: Any, w_ih: Any, bias: Any) -> Any:
    product = jnp.matmul(x, w_ih.T)
    return product if bias is None else product + bias


def _before(first: Any, states: Any) -> Any:
    return jnp.concatenate([first[None], states[:-1]])


def _to_weight(gradient: Any, inputs: Any) -> Any:
    return jnp.einsum("tbo,tbi->oi", gradient, inputs)


def _gradients(x: Any, w_ih: Any, of_x: Any, of_h: Any, before: Any, *carried: Any) -> Any:
    """The gradients of all inputs, from those of the two products of all steps."""
    weights = _to_weight(of_x, x), _to_weight(of_h, before)
    return jnp.matmul(of_x, w_ih), *carried, *weights, of_x.sum(axis=(0, 1)), of_h.sum(axis=(0, 1))


def _activated(x: Any, nonlinearity: str) -> Any:
    return jnp.tanh(x) if nonlinearity == "tanh" else jnp.maximum(x, 0)


def rnn(x: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, nonlinearity: str) -> Any:
    """The states of all steps."""
    dtype = x.dtype
    x, h0, w_ih, w_hh, bias = map(wide, (x, h0, w_ih, w_hh, total_bias(b_ih, b_hh)))

    def step(h: Any, given: Any) -> tuple[Any, Any]:
        h = _activated(given + jnp.matmul(h, w_hh.T), nonlinearity)
        return h, h

    return jax.lax.scan(step, h0, _inputs(x, w_ih, bias))[1].astype(dtype)


def rnn_backward(
    grad_output: Any,
    x: Any,
    h0: Any,
    w_ih: Any,
    w_hh: Any,
    output: Any,
    nonlinearity: str,
    needs: Needs,
) -> Any:
    """One walk back through time."""
    dtype = x.dtype
    grad_output, x, h0, w_ih, w_hh, output = map(wide, (grad_output, x, h0, w_ih, w_hh, output))

    def step(carried: Any, given: Any) -> tuple[Any, Any]:
        gradient, state = given
        gradient = gradient + carried
        if nonlinearity == "tanh":
            inner = gradient * (1 - state) * (1 + state)
        else:
            inner = jnp.where(state > 0, gradient, 0)
        return jnp.matmul(inner, w_hh), inner

    carried, gradient = jax.lax.scan(step, jnp.zeros_like(h0), (grad_output, output), reverse=True)
    results = _gradients(x, w_ih, gradient, gradient, _before(h0, output), carried)
    return _rounded(results, dtype)


def lstm(x: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """The hidden states, the last cell, and the gates and cells of all steps."""
    dtype = x.dtype
    x, h0, c0, w_ih, w_hh, bias = map(wide, (x, h0, c0, w_ih, w_hh, total_bias(b_ih, b_hh)))

    def step(state: Any, given: Any) -> tuple[Any, Any]:
        h, c = state
        write, keep, new, read = jnp.split(given + jnp.matmul(h, w_hh.T), 4, axis=-1)
        write, keep, read = (jax.nn.sigmoid(gate) for gate in (write, keep, read))
        new = jnp.tanh(new)
        c = keep * c + write * new
        h = read * jnp.tanh(c)
        return (h, c), (h, jnp.concatenate([write, keep, new, read], axis=-1), c)

    (_, last), (hidden, gates, cells) = jax.lax.scan(step, (h0, c0), _inputs(x, w_ih, bias))
    return _rounded((hidden, last, gates, cells), dtype)


def lstm_backward(
    grad_outputs: list[Any],
    x: Any,
    h0: Any,
    c0: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    gates: Any,
    cells: Any,
    needs: Needs,
) -> Any:
    """One walk back through time."""
    if gates is None or cells is None:
        return NotImplemented
    dtype = x.dtype
    x, h0, c0, w_ih, w_hh, gates, cells = map(wide, (x, h0, c0, w_ih, w_hh, gates, cells))
    grad_hidden, grad_c = map(wide, grad_outputs)
    write, keep, new, read = jnp.split(gates, 4, axis=-1)
    level = jnp.tanh(cells)
    by_cell = jnp.stack(
        [
            new * write * (1 - write),
            _before(c0, cells) * keep * (1 - keep),
            write * (1 - new) * (1 + new),
        ],
        axis=1,
    )
    to_read = level * read * (1 - read)
    to_cell = read * (1 - level) * (1 + level)

    def step(state: Any, given: Any) -> tuple[Any, Any]:
        carried, grad_c = state
        gradient, of_cell, of_read, cell, kept = given
        grad_h = gradient + carried
        grad_c = grad_c + grad_h * cell
        inner = jnp.concatenate([*(grad_c * of_cell), grad_h * of_read], axis=-1)
        return (jnp.matmul(inner, w_hh), grad_c * kept), inner

    given = (grad_hidden, by_cell, to_read, to_cell, keep)
    (carried, grad_c), gradient = jax.lax.scan(
        step, (jnp.zeros_like(h0), grad_c), given, reverse=True
    )
    before = _before(h0, read * level)
    results = _gradients(x, w_ih, gradient, gradient, before, carried, grad_c)
    return _rounded(results, dtype)


def gru(x: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """The states of all steps, and their gates."""
    dtype = x.dtype
    x, h0, w_ih, w_hh, b_ih, b_hh = map(wide, (x, h0, w_ih, w_hh, b_ih, b_hh))

    def step(h: Any, given: Any) -> tuple[Any, Any]:
        own = jnp.matmul(h, w_hh.T)
        parts = jnp.split(own if b_hh is None else own + b_hh, 3, axis=-1)
        of_x = jnp.split(given, 3, axis=-1)
        reset, keep = (jax.nn.sigmoid(of_x[i] + parts[i]) for i in range(2))
        new = jnp.tanh(of_x[2] + reset * parts[2])
        h = (1 - keep) * new + keep * h
        return h, (h, jnp.concatenate([reset, keep, new, parts[2]], axis=-1))

    return _rounded(jax.lax.scan(step, h0, _inputs(x, w_ih, b_ih))[1], dtype)


def gru_backward(
    grad_output: Any,
    x: Any,
    h0: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    output: Any,
    gates: Any,
    needs: Needs,
) -> Any:
    """One walk back through time."""
    if gates is None:
        return NotImplemented
    dtype = x.dtype
    given = (grad_output, x, h0, w_ih, w_hh, output, gates)
    grad_output, x, h0, w_ih, w_hh, output, gates = map(wide, given)
    reset, keep, new, own = jnp.split(gates, 4, axis=-1)
    before = _before(h0, output)
    to_new = (1 - keep) * (1 - new) * (1 + new)
    to_keep = (before - new) * keep * (1 - keep)
    to_reset = to_new * own * reset * (1 - reset)
    factors = jnp.concatenate([to_reset, to_keep, to_new * reset], axis=-1)

    def step(carried: Any, given: Any) -> tuple[Any, Any]:
        gradient, factor, kept = given
        state = gradient + carried
        inner = jnp.concatenate([state] * 3, axis=-1) * factor
        return state * kept + jnp.matmul(inner, w_hh), state

    carried, state = jax.lax.scan(
        step, jnp.zeros_like(h0), (grad_output, factors, keep), reverse=True
    )
    shared = [state * to_reset, state * to_keep]
    of_x = jnp.concatenate([*shared, state * to_new], axis=-1)
    of_h = jnp.concatenate([*shared, state * to_new * reset], axis=-1)
    return _rounded(_gradients(x, w_ih, of_x, of_h, before, carried), dtype)


KERNELS = kernels_by_name(rnn, rnn_backward, lstm, lstm_backward, gru, gru_backward)
