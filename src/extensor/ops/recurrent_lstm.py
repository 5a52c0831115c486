"""Long short-term memory (Hochreiter and Schmidhuber, 1997): gates that write, keep and read a cell.

The weights hold the gates in PyTorch's order: write (i), keep (f), the new value (g), read (o).
"""

from __future__ import annotations

from typing import Any

from extensor.arrays import supplement
from extensor.arrays.shapes import Shape, Shapes
from extensor.arrays.supplement import as_factor
from extensor.core.creation import zeros_like
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.activation import sigmoid, tanh
from extensor.ops.chain import chain_rule
from extensor.ops.joining import concatenate, split, stack
from extensor.ops.matrix import linear, matmul
from extensor.ops.recurrent import SHARED as SHARED
from extensor.ops.recurrent import (
    as_sequence,
    check_weights,
    inputs_of_all_steps,
    states_before,
    to_bias,
    to_weight,
    total_bias,
)


def _lstm_shape(name: str, shapes: Shapes) -> list[Shape]:
    output = check_weights(name, shapes, 4, 3)
    return [output, output[1:]]


def _lstm_cell_shape(name: str, shapes: Shapes) -> list[Shape]:
    return [check_weights(name, shapes, 4, 2)] * 2


def _run(
    xp: Any, x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any
) -> tuple[Any, Any, Any]:
    """The hidden states, the gates and the cells of all steps."""
    inputs = inputs_of_all_steps(xp, x, w_ih, total_bias(b_ih, b_hh))
    weight, size = as_factor(xp.matrix_transpose(w_hh)), h.shape[-1]
    hidden, gates, cells = [], [], []
    for t in range(x.shape[0]):
        inner = inputs[t, ...] + xp.matmul(as_factor(h), weight)
        write, keep, new, read = (inner[:, i * size : (i + 1) * size] for i in range(4))
        write, keep, read = (supplement.sigmoid(xp, gate) for gate in (write, keep, read))
        new = xp.tanh(new)
        c = keep * c + write * new
        h = read * xp.tanh(c)
        hidden.append(h)
        gates.append(xp.concat([write, keep, new, read], axis=-1))
        cells.append(c)
    return xp.stack(hidden), xp.stack(gates), xp.stack(cells)


def _run_recorded(
    x: Tensor, h: Tensor, c: Tensor, w_ih: Tensor, w_hh: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The gates and the cells of all steps, on the tape."""
    inputs, gates, cells = linear(x, w_ih, bias), [], []
    for t in range(x.shape[0]):
        write, keep, new, read = split(inputs[t] + linear(h, w_hh), 4, axis=-1)
        gate = [sigmoid(write), sigmoid(keep), tanh(new), sigmoid(read)]
        c = gate[1] * c + gate[0] * gate[2]
        h = gate[3] * tanh(c)
        gates.append(concatenate(gate, -1))
        cells.append(c)
    return stack(gates), stack(cells)


def _gradients(
    grad_hidden: Tensor,
    grad_c: Tensor,
    inputs: tuple[Tensor, Tensor, Tensor, Tensor, Tensor],
    bias: Tensor | None,
    gates: Tensor | None,
    cells: Tensor | None,
) -> list[Any]:
    """The gradients of a sequence: ``grad_hidden`` of all steps, ``grad_c`` of the last cell."""
    x, h0, c0, w_ih, w_hh = inputs
    if gates is None or cells is None:
        gates, cells = _run_recorded(*inputs, bias)
    write, keep, new, read = split(gates, 4, axis=-1)
    level = tanh(cells)
    # What the gradient of the cell, and for the last gate that of the state, is multiplied with.
    to_write = new * write * (1 - write)
    to_keep = states_before(c0, cells) * keep * (1 - keep)
    to_new = write * (1 - new) * (1 + new)
    to_read = level * read * (1 - read)
    to_cell = read * (1 - level) * (1 + level)
    carried, found = zeros_like(h0), []
    for t in reversed(range(x.shape[0])):
        grad_h = grad_hidden[t] + carried
        grad_c = grad_c + chain_rule(grad_h, to_cell[t])
        by_cell = [chain_rule(grad_c, factor[t]) for factor in (to_write, to_keep, to_new)]
        found.append(concatenate([*by_cell, chain_rule(grad_h, to_read[t])], -1))
        carried = matmul(found[-1], w_hh)
        grad_c = chain_rule(grad_c, keep[t])
    gradient = stack(found[::-1])
    return [
        lambda: matmul(gradient, w_ih),
        carried,
        grad_c,
        lambda: to_weight(gradient, x),
        lambda: to_weight(gradient, states_before(h0, read * level)),
        lambda: to_bias(gradient),
        lambda: to_bias(gradient),
    ]


@op(kernel="lstm", shape=_lstm_shape, floats=True, kept=("gates", "cells"))
def lstm(
    xp: Any,
    x: Array,
    h0: Array,
    c0: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None = None,
    b_hh: Array | None = None,
) -> tuple[Any, Any, Any, Any]:
    """A long short-term memory: the hidden states of all steps and the last cell.

    At each step ``i, f, g, o`` are the quarters of ``x @ w_ih.T + b_ih + h @ w_hh.T + b_hh``;
    then ``c = sigmoid(f) * c + sigmoid(i) * tanh(g)`` and ``h = sigmoid(o) * tanh(c)``.
    Derivative: with ``d`` the gradient of those quarters, found step by step from the last to
    the first: in ``x``: ``d @ w_ih``; in ``w_ih``: ``d.T @ x``; in ``w_hh``: ``d.T @ h``; in
    the biases: ``sum(d)``; in the states: what reaches them through the first step.

    Parameters
    ----------
    w_ih : (4 * hidden, inputs)
        Weight of the inputs, for the four gates one below the other.
    w_hh : (4 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : (4 * hidden,)
        What is added to the two products.

    Returns
    -------
    tuple of Tensor
        The hidden states, of shape (steps, batch, hidden), and the last cell, of shape (batch,
        hidden).

    >>> import extensor as ex
    >>> zero = ex.zeros((1, 1))
    >>> output, c = ex.lstm(ex.zeros((2, 1, 1)), zero, [[4.0]], ex.ones((4, 1)), ex.zeros((4, 1)))
    >>> c
    tensor([[1.]])
    >>> x, state, w = [[[1.0]], [[0.0]]], [[0.0]], ex.ones((4, 1))
    >>> output, cell = ex.lstm(x, state, state, w, w)
    >>> output[-1]
    tensor([[0.29081303]])
    >>> ex.lstm_backward([[[[0.0]], [[1.0]]], [[0.0]]], x, state, state, w, w).grad_x[0]
    tensor([[0.27750337]])
    """
    hidden, gates, cells = _run(xp, x, h0, c0, w_ih, w_hh, b_ih, b_hh)
    return hidden, xp.asarray(cells[-1, ...], copy=True), gates, cells


@lstm.backward(kernel="lstm_backward")
def lstm_backward(
    grad_outputs: list[Tensor],
    x: Tensor,
    h0: Tensor,
    c0: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
    gates: Tensor | None = None,
    cells: Tensor | None = None,
) -> tuple[Any, ...]:
    """The gradients of all inputs, by one walk through time; by hand of both biases too."""
    inputs, bias = (x, h0, c0, w_ih, w_hh), total_bias(b_ih, b_hh)
    grad_hidden, grad_c = grad_outputs
    return tuple(_gradients(grad_hidden, grad_c, inputs, bias, gates, cells))


@op(kernel="lstm_cell", shape=_lstm_cell_shape, floats=True, kept=("gates", "cells"))
def lstm_cell(
    xp: Any,
    x: Array,
    h: Array,
    c: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None = None,
    b_hh: Array | None = None,
) -> tuple[Any, Any, Any, Any]:
    """One step of `lstm`: the new hidden state and the new cell.

    Derivative: as for ``lstm``, of one step.

    Parameters
    ----------
    x : (batch, inputs)
        The inputs of the step.
    w_ih : (4 * hidden, inputs)
        Weight of the inputs, for the four gates one below the other.
    w_hh : (4 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : (4 * hidden,)
        What is added to the two products.

    Returns
    -------
    tuple of Tensor
        The new hidden state and the new cell, of shape (batch, hidden).

    >>> import extensor as ex
    >>> zero = ex.zeros((1, 1))
    >>> ex.lstm_cell(zero, zero, [[4.0]], ex.ones((4, 1)), ex.zeros((4, 1)))[1]
    tensor([[2.]])
    >>> w = ex.ones((4, 1))
    >>> ex.lstm_cell([[1.0]], [[0.0]], [[0.0]], w, w)
    (tensor([[0.36960638]]), tensor([[0.55676997]]))
    >>> ex.lstm_cell_backward([[[1.0]], [[0.0]]], [[1.0]], [[0.0]], [[0.0]], w, w).grad_x
    tensor([[0.3479709]])
    """
    hidden, gates, cells = _run(xp, xp.expand_dims(x, axis=0), h, c, w_ih, w_hh, b_ih, b_hh)
    return hidden[0, ...], cells[0, ...], gates, cells


@lstm_cell.backward(kernel="lstm_cell_backward")
def lstm_cell_backward(
    grad_outputs: list[Tensor],
    x: Tensor,
    h: Tensor,
    c: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
    gates: Tensor | None = None,
    cells: Tensor | None = None,
) -> tuple[Any, ...]:
    """The gradients of all inputs; by hand of both biases too."""
    inputs, bias = (as_sequence(x), h, c, w_ih, w_hh), total_bias(b_ih, b_hh)
    grad_h, grad_c = grad_outputs
    to_x, *others = _gradients(as_sequence(grad_h), grad_c, inputs, bias, gates, cells)
    return lambda: to_x()[0], *others
