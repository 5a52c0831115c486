"""Gated recurrent units (Cho et al., 2014), with the reset gate after the product, as in PyTorch.

The weights hold the gates in PyTorch's order: reset (r), keep (z), the new state (n).
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
)


def _gru_shape(name: str, shapes: Shapes) -> Shape:
    return check_weights(name, shapes, 3, 3)


def _gru_cell_shape(name: str, shapes: Shapes) -> Shape:
    return check_weights(name, shapes, 3, 2)


def _run(xp: Any, x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> tuple[Any, Any]:
    """The hidden states of all steps, and their gates: reset, keep, new, and what reset multiplies."""
    inputs = inputs_of_all_steps(xp, x, w_ih, b_ih)
    weight, size = as_factor(xp.matrix_transpose(w_hh)), h.shape[-1]
    hidden, gates = [], []
    for t in range(x.shape[0]):
        own = xp.matmul(as_factor(h), weight)
        own = own if b_hh is None else own + b_hh
        reset, keep = (
            supplement.sigmoid(xp, (inputs[t, ...] + own)[:, i * size : (i + 1) * size])
            for i in range(2)
        )
        own = own[:, 2 * size :]
        new = xp.tanh(inputs[t, :, 2 * size :] + reset * own)
        h = (1 - keep) * new + keep * h
        hidden.append(h)
        gates.append(xp.concat([reset, keep, new, own], axis=-1))
    return xp.stack(hidden), xp.stack(gates)


def _gates_recorded(
    x: Tensor,
    before: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
) -> list[Tensor]:
    """The gates of all steps, on the tape, from the states ``before`` each."""
    of_x, of_h = (split(linear(*given), 3, -1) for given in ((x, w_ih, b_ih), (before, w_hh, b_hh)))
    reset, keep = (sigmoid(of_x[i] + of_h[i]) for i in range(2))
    return [reset, keep, tanh(of_x[2] + reset * of_h[2]), of_h[2]]


def _gradients(
    grad_output: Tensor,
    inputs: tuple[Tensor, Tensor, Tensor, Tensor],
    biases: tuple[Tensor | None, Tensor | None],
    output: Tensor,
    gates: Tensor | None,
) -> list[Any]:
    """The gradients of a sequence."""
    x, h0, w_ih, w_hh = inputs
    before = states_before(h0, output)
    if gates is None:
        reset, keep, new, own = _gates_recorded(x, before, w_ih, w_hh, *biases)
    else:
        reset, keep, new, own = split(gates, 4, axis=-1)
    # What the gradient of the state is multiplied with.
    to_new = (1 - keep) * (1 - new) * (1 + new)
    to_keep = (before - new) * keep * (1 - keep)
    to_reset = to_new * own * reset * (1 - reset)
    factors = concatenate([to_reset, to_keep, to_new * reset], -1)
    carried, found = zeros_like(h0), []
    for t in reversed(range(x.shape[0])):
        found.append(grad_output[t] + carried)
        inner = chain_rule(concatenate([found[-1]] * 3, -1), factors[t])
        carried = chain_rule(found[-1], keep[t]) + matmul(inner, w_hh)
    state = stack(found[::-1])
    shared = [chain_rule(state, factor) for factor in (to_reset, to_keep)]
    of_new = chain_rule(state, to_new)
    of_x = concatenate([*shared, of_new], -1)
    of_h = concatenate([*shared, chain_rule(of_new, reset)], -1)
    return [
        lambda: matmul(of_x, w_ih),
        carried,
        lambda: to_weight(of_x, x),
        lambda: to_weight(of_h, before),
        lambda: to_bias(of_x),
        lambda: to_bias(of_h),
    ]


@op(kernel="gru", shape=_gru_shape, floats=True, kept=("gates",))
def gru(
    xp: Any,
    x: Array,
    h0: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None = None,
    b_hh: Array | None = None,
) -> Any:
    """A gated recurrent unit: the hidden states of all steps, from ``h = h0`` on.

    With ``r, z, n`` the thirds of ``x @ w_ih.T + b_ih`` and ``u, v, w`` those of
    ``h @ w_hh.T + b_hh``, at each step ``r = sigmoid(r + u)``, ``z = sigmoid(z + v)``,
    ``n = tanh(n + r * w)`` and ``h = (1 - z) * n + z * h``. Derivative: with ``d`` and ``e``
    the gradients of the two triples, found step by step from the last to the first: in ``x``:
    ``d @ w_ih``; in ``w_ih``: ``d.T @ x``; in ``w_hh``: ``e.T @ h``; in the biases: ``sum(d)``
    and ``sum(e)``; in ``h0``: what reaches it through the first step.

    Parameters
    ----------
    w_ih : (3 * hidden, inputs)
        Weight of the inputs, for the three gates one below the other.
    w_hh : (3 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : (3 * hidden,)
        What is added to the two products.

    Returns
    -------
    Tensor
        The hidden states, of shape (steps, batch, hidden).

    >>> import extensor as ex
    >>> ex.gru(ex.zeros((2, 1, 1)), [[4.0]], ex.ones((3, 1)), ex.zeros((3, 1))).tolist()
    [[[2.0]], [[1.0]]]
    >>> x, h0, w = [[[1.0]], [[0.0]]], [[0.0]], ex.ones((3, 1))
    >>> output = ex.gru(x, h0, w, w)
    >>> output[-1]
    tensor([[0.16332248]])
    >>> ex.gru_backward([[[0.0]], [[1.0]]], x, h0, w, w, None, None, output).grad_x[0]
    tensor([[-0.03092682]])
    """
    return _run(xp, x, h0, w_ih, w_hh, b_ih, b_hh)


@gru.backward(kernel="gru_backward")
def gru_backward(
    grad_output: Tensor,
    x: Tensor,
    h0: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    output: Tensor,
    gates: Tensor | None = None,
) -> tuple[Any, ...]:
    """The gradients of all inputs, by one walk through time; by hand of both biases too."""
    return tuple(_gradients(grad_output, (x, h0, w_ih, w_hh), (b_ih, b_hh), output, gates))


@op(kernel="gru_cell", shape=_gru_cell_shape, floats=True, kept=("gates",))
def gru_cell(
    xp: Any,
    x: Array,
    h: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None = None,
    b_hh: Array | None = None,
) -> Any:
    """One step of `gru`: the new hidden state. Derivative: as for ``gru``, of one step.

    Parameters
    ----------
    x : (batch, inputs)
        The inputs of the step.
    w_ih : (3 * hidden, inputs)
        Weight of the inputs, for the three gates one below the other.
    w_hh : (3 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : (3 * hidden,)
        What is added to the two products.

    Returns
    -------
    Tensor
        The new hidden state, of shape (batch, hidden).

    >>> import extensor as ex
    >>> ex.gru_cell(ex.zeros((1, 1)), [[4.0]], ex.ones((3, 1)), ex.zeros((3, 1)))
    tensor([[2.]])
    >>> w = ex.ones((3, 1))
    >>> output = ex.gru_cell([[1.0]], [[0.0]], w, w)
    >>> output
    tensor([[0.20482421]])
    >>> ex.gru_cell_backward([[1.0]], [[1.0]], [[0.0]], w, w, None, None, output).grad_x
    tensor([[-0.03679001]])
    """
    hidden, gates = _run(xp, xp.expand_dims(x, axis=0), h, w_ih, w_hh, b_ih, b_hh)
    return hidden[0, ...], gates


@gru_cell.backward(kernel="gru_cell_backward")
def gru_cell_backward(
    grad_output: Tensor,
    x: Tensor,
    h: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    output: Tensor,
    gates: Tensor | None = None,
) -> tuple[Any, ...]:
    """The gradients of all inputs; by hand of both biases too."""
    inputs, output = (as_sequence(x), h, w_ih, w_hh), as_sequence(output)
    to_x, *others = _gradients(as_sequence(grad_output), inputs, (b_ih, b_hh), output, gates)
    return lambda: to_x()[0], *others
