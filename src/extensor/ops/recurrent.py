"""The plain recurrence, and what it shares with the gated ones.

A recurrence is one op over the whole sequence. The inputs of all steps meet their weights in one
product, and so do the gradients of all steps in the rule; only the product with the last state is
left to each step. A cell is a sequence of one step.
"""

from __future__ import annotations

from typing import Any, Literal

from extensor.arrays.shapes import Shape, Shapes, check_shape, count
from extensor.arrays.supplement import as_factor
from extensor.core.creation import zeros_like
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.chain import chain_rule
from extensor.ops.joining import concatenate, stack
from extensor.ops.matrix import matmul
from extensor.ops.movement import swapaxes
from extensor.ops.selection import where

SHARED = """
Parameters
----------
x : (steps, batch, inputs)
    The sequences.
h0 : (batch, hidden)
    The hidden state before the first step.
c0 : (batch, hidden)
    The cell before the first step.
h : (batch, hidden)
    The hidden state.
c : (batch, hidden)
    The cell.
w_ih : (gates * hidden, inputs)
    Weight of the inputs, for all gates one below the other.
w_hh : (gates * hidden, hidden)
    Weight of the hidden state.
b_ih, b_hh : (gates * hidden,)
    What is added to the two products.
nonlinearity
    The function that is applied at each step.

Raises
------
ValueError
    If the shapes do not fit.
"""

Nonlinearity = Literal["tanh", "relu"]
NONLINEARITIES = ("tanh", "relu")


def check_weights(name: str, shapes: Shapes, gates: int, axes: int) -> Shape:
    """The shape of the outputs: (steps, batch, hidden), or (batch, hidden) for a cell's 2 axes."""
    x, w_hh = tuple(shapes["x"]), tuple(shapes["w_hh"])
    if len(x) != axes:
        form = "(steps, batch, inputs)" if axes == 3 else "(batch, inputs)"
        raise value_error(name, f"x must be {form}", x_shape=x)
    if axes == 3 and x[0] == 0:
        raise value_error(name, "x must have at least one step", x_shape=x)
    if len(w_hh) != 2 or w_hh[0] != gates * w_hh[1]:
        rows = "hidden" if gates == 1 else f"{gates} * hidden"
        raise value_error(name, f"w_hh must be ({rows}, hidden)", w_hh_shape=w_hh)
    expected = {"w_ih": (w_hh[0], x[-1]), "b_ih": w_hh[:1], "b_hh": w_hh[:1]}
    for key, shape in shapes.items():
        if key not in ("x", "w_hh"):
            check_shape(name, key, shape, expected.get(key, (x[-2], w_hh[1])))
    return (*x[:-1], w_hh[1])


def inputs_of_all_steps(xp: Any, x: Any, w_ih: Any, bias: Any) -> Any:
    """``x @ w_ih.T + bias`` of an array (steps, batch, inputs), in one product."""
    rows = xp.reshape(x, (count(x.shape[:-1]), x.shape[-1]))
    product = xp.matmul(as_factor(rows), as_factor(xp.matrix_transpose(w_ih)))
    product = product if bias is None else product + bias
    return xp.reshape(product, (*x.shape[:-1], w_ih.shape[0]))


def total_bias(b_ih: Any, b_hh: Any) -> Any:
    """The sum of two arrays or tensors that may be None."""
    return b_hh if b_ih is None else b_ih if b_hh is None else b_ih + b_hh


def states_before(first: Tensor, states: Tensor) -> Tensor:
    """The state that each step began with: ``first``, then all of ``states`` but the last."""
    return concatenate([first.reshape((1, *first.shape)), states[:-1]])


def to_weight(gradient: Tensor, inputs: Tensor) -> Tensor:
    """``gradient.T @ inputs`` summed over all steps, in one product."""
    rows = [part.reshape((count(part.shape[:-1]), part.shape[-1])) for part in (gradient, inputs)]
    return matmul(swapaxes(rows[0], 0, 1), rows[1])


def to_bias(gradient: Tensor) -> Tensor:
    """``gradient`` summed over steps and batch."""
    return gradient.sum(axis=tuple(range(gradient.ndim - 1)))


def as_sequence(x: Tensor) -> Tensor:
    """The argument of a cell as that of a sequence of one step."""
    return x.reshape((1, *x.shape))


def _rnn_shape(name: str, shapes: Shapes, nonlinearity: str) -> Shape:
    return _check_nonlinearity(name, shapes, nonlinearity, 3)


def _rnn_cell_shape(name: str, shapes: Shapes, nonlinearity: str) -> Shape:
    return _check_nonlinearity(name, shapes, nonlinearity, 2)


def _check_nonlinearity(name: str, shapes: Shapes, nonlinearity: str, axes: int) -> Shape:
    if nonlinearity not in NONLINEARITIES:
        raise value_error(
            name, f"nonlinearity must be one of {NONLINEARITIES}", nonlinearity=nonlinearity
        )
    return check_weights(name, shapes, 1, axes)


def _activate(xp: Any, x: Any, nonlinearity: str) -> Any:
    return xp.tanh(x) if nonlinearity == "tanh" else xp.maximum(x, xp.zeros((), dtype=x.dtype))


def _before_activation(gradient: Tensor, output: Tensor, nonlinearity: str) -> Tensor:
    if nonlinearity == "tanh":
        return chain_rule(gradient, (1 - output) * (1 + output))
    return where(output > 0, gradient, zeros_like(gradient))


@op(kernel="rnn", shape=_rnn_shape, floats=True)
def rnn(
    xp: Any,
    x: Array,
    h0: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None = None,
    b_hh: Array | None = None,
    nonlinearity: Nonlinearity = "tanh",
) -> Any:
    """A recurrent network: ``h = tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)``, step by step.

    Derivative: with ``d`` the gradient before the nonlinearity,
    ``(grad_output + d_next @ w_hh) * (1 - output**2)``: in ``x``: ``d @ w_ih``; in ``w_ih``:
    ``d.T @ x``; in ``w_hh``: ``d.T @ h``; in the biases: ``sum(d)``; in ``h0``: ``d @ w_hh`` of
    the first step.

    Parameters
    ----------
    w_ih : (hidden, inputs)
        Weight of the inputs.
    w_hh : (hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : (hidden,)
        What is added to the two products.

    Returns
    -------
    Tensor
        The hidden states of all steps, of shape (steps, batch, hidden).

    >>> import extensor as ex
    >>> ex.rnn(ex.ones((3, 1, 1)), [[0.0]], [[1.0]], [[2.0]], nonlinearity="relu").tolist()
    [[[1.0]], [[3.0]], [[7.0]]]
    >>> x, h0, one = [[[1.0]], [[0.0]]], [[0.0]], [[1.0]]
    >>> output = ex.rnn(x, h0, one, one)
    >>> output[-1]
    tensor([[0.64201504]])
    >>> ex.rnn_backward([[[0.0]], [[1.0]]], x, h0, one, one, output).grad_x[0]
    tensor([[0.24686788]])
    """
    inputs = inputs_of_all_steps(xp, x, w_ih, total_bias(b_ih, b_hh))
    weight, h = as_factor(xp.matrix_transpose(w_hh)), h0
    steps = []
    for t in range(x.shape[0]):
        h = _activate(xp, inputs[t, ...] + xp.matmul(as_factor(h), weight), nonlinearity)
        steps.append(h)
    return xp.stack(steps)


@rnn.backward(kernel="rnn_backward")
def rnn_backward(
    grad_output: Tensor,
    x: Tensor,
    h0: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    output: Tensor,
    nonlinearity: Nonlinearity = "tanh",
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """The gradients of all inputs, by one walk through time; by hand of both biases too."""
    carried, found = zeros_like(h0), []
    for t in reversed(range(output.shape[0])):
        inner = _before_activation(grad_output[t] + carried, output[t], nonlinearity)
        found.append(inner)
        carried = matmul(inner, w_hh)
    gradient = stack(found[::-1])
    return (
        lambda: matmul(gradient, w_ih),
        carried,
        lambda: to_weight(gradient, x),
        lambda: to_weight(gradient, states_before(h0, output)),
        lambda: to_bias(gradient),
        lambda: to_bias(gradient),
    )


@op(kernel="rnn_cell", shape=_rnn_cell_shape, floats=True)
def rnn_cell(
    xp: Any,
    x: Array,
    h: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None = None,
    b_hh: Array | None = None,
    nonlinearity: Nonlinearity = "tanh",
) -> Any:
    """One step of `rnn`: ``tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)``.

    Derivative: as for ``rnn``, of one step.

    Parameters
    ----------
    x : (batch, inputs)
        The inputs of the step.
    w_ih : (hidden, inputs)
        Weight of the inputs.
    w_hh : (hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : (hidden,)
        What is added to the two products.

    Returns
    -------
    Tensor
        The new hidden state, of shape (batch, hidden).

    >>> import extensor as ex
    >>> ex.rnn_cell([[1.0]], [[3.0]], [[1.0]], [[2.0]], nonlinearity="relu")
    tensor([[7.]])
    >>> output = ex.rnn_cell([[1.0]], [[0.0]], [[1.0]], [[1.0]])
    >>> output
    tensor([[0.7615942]])
    >>> ex.rnn_cell_backward([[1.0]], [[1.0]], [[0.0]], [[1.0]], [[1.0]], output).grad_x
    tensor([[0.4199743]])
    """
    inputs = inputs_of_all_steps(xp, x, w_ih, total_bias(b_ih, b_hh))
    own = xp.matmul(as_factor(h), as_factor(xp.matrix_transpose(w_hh)))
    return _activate(xp, inputs + own, nonlinearity)


@rnn_cell.backward(kernel="rnn_cell_backward")
def rnn_cell_backward(
    grad_output: Tensor,
    x: Tensor,
    h: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    output: Tensor,
    nonlinearity: Nonlinearity = "tanh",
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """The gradients of all inputs; by hand of both biases too."""
    gradient = _before_activation(grad_output, output, nonlinearity)
    return (
        lambda: matmul(gradient, w_ih),
        lambda: matmul(gradient, w_hh),
        lambda: to_weight(gradient, x),
        lambda: to_weight(gradient, h),
        lambda: to_bias(gradient),
        lambda: to_bias(gradient),
    )
