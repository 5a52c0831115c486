"""Nodes that go along a sequence: attention and recurrences."""

from __future__ import annotations

from math import inf
from typing import Any

import extensor as ex
from extensor import Tensor


def _heads(x: Tensor, number: int | None) -> Tensor:
    """(batch, length, heads * features) as (batch, heads, length, features)."""
    if x.ndim == 4:
        return x
    return ex.swapaxes(x.reshape(*x.shape[:2], number, -1), 1, 2)


def _restricted(mask: Tensor | None, seen: Tensor) -> Tensor:
    """``mask``, of bools or of floats that are added, where ``seen`` too."""
    if mask is None:
        return seen
    if mask.dtype == ex.bool_:
        return ex.logical_and(mask, seen)
    return ex.where(seen, mask, -inf)


def _attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    lengths: Tensor | None = None,
    *,
    scale: float | None = None,
    is_causal: int = 0,
    q_num_heads: int | None = None,
    kv_num_heads: int | None = None,
    softmax_precision: int | None = None,
    left_window_size: int = -1,
    right_window_size: int = -1,
) -> tuple[Tensor, Tensor, Tensor]:
    """``lengths`` are the numbers of keys that count, one for each sample.

    The precision of the softmax is not asked for: ours is float32 at least.
    """
    flat = q.ndim == 3
    q, k, v = (_heads(q, q_num_heads), _heads(k, kv_num_heads), _heads(v, kv_num_heads))
    if past_key is not None:
        k, v = ex.concatenate([past_key, k], 2), ex.concatenate([past_value, v], 2)  # type: ignore[list-item]
    queries, keys = q.shape[2], k.shape[2]
    offset = 0 if past_key is None else past_key.shape[2]
    if mask is not None and mask.shape[-1] < keys:
        hidden = False if mask.dtype == ex.bool_ else -inf
        added = (0, keys - mask.shape[-1])
        mask = ex.pad(mask, [(0, 0)] * (mask.ndim - 1) + [added], value=hidden)
    if lengths is not None:
        lengths = lengths.reshape(-1, 1, 1, 1)
        offset = lengths - queries  # type: ignore[assignment]
        mask = _restricted(mask, ex.arange(keys) < lengths)
    ahead = ex.arange(keys) - (ex.arange(queries)[:, None] + offset)
    causal = bool(is_causal) and past_key is None and lengths is None
    if is_causal and not causal:  # ours begins at the first key
        mask = _restricted(mask, ahead <= 0)
    if left_window_size >= 0:
        mask = _restricted(mask, -ahead <= left_window_size)
    if right_window_size >= 0:
        mask = _restricted(mask, ahead <= right_window_size)
    groups = q.shape[1] // k.shape[1]
    output = ex.scaled_dot_product_attention(
        q,
        ex.repeat(k, groups, axis=1),
        ex.repeat(v, groups, axis=1),
        mask,
        causal,
        scale,
    )
    if flat:
        output = ex.swapaxes(output, 1, 2).reshape(*output.shape[0:3:2], -1)
    return output, k, v


def _in_order(parameter: Tensor, order: tuple[int, ...]) -> Tensor:
    """The gates, which ONNX has in another order."""
    gates = ex.split(parameter, len(order))
    return ex.concatenate([gates[i] for i in order])


def _recurrence(run: Any, order: tuple[int, ...]) -> Any:
    """``run(x, h0, c0, *weights)`` gives all hidden states and the last of each kind of state."""

    def node(
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None = None,
        lengths: Tensor | None = None,
        h0: Tensor | None = None,
        c0: Tensor | None = None,
        *,
        hidden_size: int,
        direction: str = "forward",
        layout: int = 0,
    ) -> tuple[Tensor, ...]:
        if layout:
            x, h0, c0 = (None if a is None else ex.swapaxes(a, 0, 1) for a in (x, h0, c0))  # type: ignore[assignment]
        if lengths is not None and min(lengths.tolist()) < x.shape[0]:
            raise NotImplementedError("sequences of different lengths")
        results = []
        for i in range(w.shape[0]):
            backward = direction == "reverse" or i == 1
            zero = ex.zeros((x.shape[1], hidden_size), x.dtype)
            states = [zero if state is None else state[i] for state in (h0, c0)]
            biases = () if b is None else ex.split(b[i], 2)
            weights = [_in_order(parameter, order) for parameter in (w[i], r[i], *biases)]
            hidden, *last = run(ex.flip(x, 0) if backward else x, *states, *weights)
            results.append([ex.flip(hidden, 0) if backward else hidden, *last])
        hidden, *last = zip(*results, strict=True)
        outputs = [ex.stack(hidden, 1), *(ex.stack(states) for states in last)]
        if layout:
            outputs = [ex.moveaxis(state, -2, 0) for state in outputs]
        return tuple(outputs)

    return node


def _rnn(x: Tensor, h0: Tensor, _: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
    hidden = ex.rnn(x, h0, *weights)
    return hidden, hidden[-1]


def _gru(x: Tensor, h0: Tensor, _: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
    """Ours resets the product with the state, ONNX's default the state before the product."""
    if x.shape[0] > 1 or ex.any(h0 != 0):
        raise NotImplementedError("a reset before the product")
    hidden = ex.gru(x, h0, *weights)
    return hidden, hidden[-1]


def _lstm(x: Tensor, h0: Tensor, c0: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
    hidden, cell = ex.lstm(x, h0, c0, *weights)
    return hidden, hidden[-1], cell


NODES: dict[str, Any] = {
    "Attention": _attention,
    "GRU": _recurrence(_gru, (1, 0, 2)),
    "LSTM": _recurrence(_lstm, (0, 2, 3, 1)),
    "RNN": _recurrence(_rnn, (0,)),
}
