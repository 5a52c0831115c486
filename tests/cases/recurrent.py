from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from .case import Case, Error, real

ROWS = {"rnn": 1, "lstm": 4, "gru": 3}


def _step(kind: str, x: Any, states: Any, weights: Any, nonlinearity: str = "tanh") -> Any:
    w_ih, w_hh, *biases = weights
    b_ih, b_hh = biases or (0.0, 0.0)
    h = states[0]
    own, inner = h @ w_hh.T + b_hh, x @ w_ih.T + b_ih
    if kind == "rnn":
        return (np.tanh(inner + own) if nonlinearity == "tanh" else np.maximum(inner + own, 0),)
    if kind == "lstm":
        i, f, g, o = np.split(inner + own, 4, -1)
        c = expit(f) * states[1] + expit(i) * np.tanh(g)
        return expit(o) * np.tanh(c), c
    (r, z, n), (u, v, w) = np.split(inner, 3, -1), np.split(own, 3, -1)
    z = expit(z + v)
    return ((1 - z) * np.tanh(n + expit(r + u) * w) + z * h,)


def cell(kind: str) -> Any:
    count = 2 if kind == "lstm" else 1

    def reference(x: Any, *rest: Any, **attributes: Any) -> Any:
        return list(_step(kind, x, rest[:count], rest[count:], **attributes))

    return reference


def sequence(kind: str) -> Any:
    count = 2 if kind == "lstm" else 1

    def reference(x: Any, *rest: Any, **attributes: Any) -> Any:
        states, outputs = rest[:count], []
        for step in x:
            states = _step(kind, step, states, rest[count:], **attributes)
            outputs.append(states[0])
        return [np.stack(outputs), *states[1:]]

    return reference


def _inputs(kind: str, steps: Any, batch: int, inputs: int, hidden: int, bias: bool) -> Any:
    rows = ROWS[kind] * hidden
    states = [real(batch, hidden)] * (2 if kind == "lstm" else 1)
    weights = [real(rows, inputs), real(rows, hidden), *[real(rows)] * (2 * bias)]
    return (real(*steps, batch, inputs), *states, *weights)


CASES = [
    Case(
        f"{kind}{suffix}",
        _inputs(kind, steps, batch, inputs, hidden, bias),
        reference(kind),
        attributes,
        integers=False,
    )
    for kind in ROWS
    for suffix, reference, lengths in (("_cell", cell, [()]), ("", sequence, [(1,), (4,)]))
    for steps in lengths
    for batch, inputs, hidden, bias in [(2, 3, 2, True), (1, 1, 3, False)]
    for attributes in ([{}, {"nonlinearity": "relu"}] if kind == "rnn" else [{}])
]


def _ones(*shapes: Any) -> tuple[Any, ...]:
    return tuple(np.ones(shape, "f4") for shape in shapes)


def _error(op: str, arguments: Any, text: str, **attributes: Any) -> Error:
    return Error(op, arguments, f"{op}: {text}", attributes)


ERRORS = [
    *(
        error
        for kind, rows in ROWS.items()
        for error in (
            _error(
                kind,
                _ones(*[(2, 3)] * (3 if kind == "lstm" else 2), (rows, 3), (rows, 1)),
                "x must be (steps, batch, inputs), got x_shape=(2, 3)",
            ),
            _error(
                f"{kind}_cell",
                _ones(*[(4, 2, 3)] * (3 if kind == "lstm" else 2), (rows, 3), (rows, 1)),
                "x must be (batch, inputs), got x_shape=(4, 2, 3)",
            ),
            _error(
                kind,
                _ones((0, 2, 3), *[(2, 1)] * (2 if kind == "lstm" else 1), (rows, 3), (rows, 1)),
                "x must have at least one step, got x_shape=(0, 2, 3)",
            ),
        )
    ),
    _error(
        "rnn",
        _ones((4, 2, 3), (2, 5), (5, 3), (4, 5)),
        "w_hh must be (hidden, hidden), got w_hh_shape=(4, 5)",
    ),
    _error(
        "gru",
        _ones((4, 2, 3), (2, 5), (15, 3), (20, 5)),
        "w_hh must be (3 * hidden, hidden), got w_hh_shape=(20, 5)",
    ),
    _error(
        "gru",
        _ones((4, 2, 3), (2, 5), (15, 2), (15, 5)),
        "w_ih must have shape (15, 3), got w_ih_shape=(15, 2)",
    ),
    _error(
        "gru",
        _ones((4, 2, 3), (1, 5), (15, 3), (15, 5)),
        "h0 must have shape (2, 5), got h0_shape=(1, 5)",
    ),
    _error(
        "lstm_cell",
        _ones((2, 3), (2, 5), (2, 4), (20, 3), (20, 5)),
        "c must have shape (2, 5), got c_shape=(2, 4)",
    ),
    _error(
        "rnn_cell",
        _ones((2, 3), (2, 5), (5, 3), (5, 5), (4,)),
        "b_ih must have shape (5,), got b_ih_shape=(4,)",
    ),
    _error(
        "rnn_cell",
        _ones((2, 3), (2, 5), (5, 3), (5, 5)),
        "nonlinearity must be one of ('tanh', 'relu'), got nonlinearity='sine'",
        nonlinearity="sine",
    ),
    _error(
        "gru_backward",
        (*_ones((4, 2, 3), (4, 2, 3), (2, 5), (15, 3), (15, 5)), None, None, *_ones((4, 2, 5))),
        "grad_output must have shape (4, 2, 5), got grad_output_shape=(4, 2, 3)",
    ),
]
