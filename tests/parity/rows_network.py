"""The rows of the parity table that are layers of networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from draws import Call, Draw, Rng, Shape, values
from rows import F, Row, torch

EPS = (1e-5, 0.1)
WEIGHTED = ("x", "weight", "bias")


def _some(rng: Rng, x: Shape, own: Shape, names: tuple[str, ...], **attributes: Any) -> Call:
    """``x`` and the first few of its parameters, all of shape ``own``."""
    count = int(rng.integers(1, len(names) + 1))
    inputs = [values(rng, x), *(values(rng, own) for _ in names[1:count])]
    return Call(inputs, attributes, names[:count])


def _sizes(rng: Rng, count: int) -> Shape:
    return tuple(int(n) for n in rng.choice((1, 2, 3, 5), count))


def _last_axes(names: tuple[str, ...], *eps: Any) -> Draw:
    def draw(rng: Rng) -> Call:
        own = (*_sizes(rng, int(rng.integers(0, 2))), int(rng.choice((3, 4, 17))))
        shape: Any = own[0] if len(own) == 1 and rng.random() < 0.5 else own
        x = (*_sizes(rng, int(rng.integers(0, 3))), *own)
        more = {"normalized_shape": shape, "eps": eps[rng.integers(0, len(eps))]}
        return _some(rng, x, own, names, **more)

    return draw


def _groups(rng: Rng) -> Call:
    groups, each = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    x = (int(rng.integers(1, 4)), groups * each, *_sizes(rng, int(rng.integers(0, 3))), 4)
    return _some(rng, x, x[1:2], WEIGHTED, num_groups=groups, eps=float(rng.choice(EPS)))


def _channels(rng: Rng, running: bool, **attributes: Any) -> Call:
    x = (*_sizes(rng, 2), *_sizes(rng, int(rng.integers(0, 2))), 4)
    mean, var = (np.float64(values(rng, x[1:2], low=low, high=2.0)) for low in (-2.0, 0.5))
    statistics = {"running_mean": mean, "running_var": var} if running else {}
    more = {"running_mean": None, "running_var": None, **statistics, **attributes}
    return _some(rng, x, x[1:2], WEIGHTED, **more, eps=float(rng.choice(EPS)))


def _batch_norm(rng: Rng) -> Call:
    training = bool(rng.integers(0, 2))
    return _channels(rng, running=not training, training=training)


def _instance_norm(rng: Rng) -> Call:
    own = bool(rng.integers(0, 2))
    return _channels(rng, running=not own, use_input_stats=own)


def _with_statistics(function: Any) -> Any:
    """Theirs with our order of inputs: the statistics are attributes here, and have no gradient."""

    def theirs(x: Any, weight: Any = None, bias: Any = None, **attributes: Any) -> Any:
        running = [attributes.pop(key) for key in ("running_mean", "running_var")]
        given = [None if s is None else torch.tensor(s).to(x.dtype) for s in running]
        return function(x, *given, weight, bias, **attributes)

    return theirs


def _local(rng: Rng) -> Call:
    x = (*_sizes(rng, 2), *_sizes(rng, int(rng.integers(1, 4))))
    attributes = {"size": int(rng.integers(1, 6)), "alpha": 0.5, "beta": 0.75, "k": 1.5}
    return Call([values(rng, x)], attributes)


NORMALIZATION = [
    Row(
        "layer_norm",
        lambda x, *parameters, normalized_shape, eps: F.layer_norm(
            x, np.atleast_1d(normalized_shape).tolist(), *parameters, eps=eps
        ),
        _last_axes(WEIGHTED, *EPS),
    ),
    Row(
        "rms_norm",
        lambda x, *parameters, normalized_shape, eps: F.rms_norm(
            x, np.atleast_1d(normalized_shape).tolist(), *parameters, eps=eps
        ),
        _last_axes(WEIGHTED[:2], None, *EPS),
    ),
    Row(
        "group_norm",
        lambda x, *parameters, num_groups, eps: F.group_norm(x, num_groups, *parameters, eps=eps),
        _groups,
    ),
    Row("batch_norm", _with_statistics(F.batch_norm), _batch_norm),
    Row("instance_norm", _with_statistics(F.instance_norm), _instance_norm),
    Row("local_response_norm", F.local_response_norm, _local),
]


def _embedding(rng: Rng) -> Call:
    rows, features = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    indices = rng.integers(0, rows, _sizes(rng, int(rng.integers(0, 3))))
    padding = None if rng.random() < 0.5 else int(rng.integers(-rows, rows))
    return Call([np.asarray(indices), values(rng, (rows, features))], {"padding_idx": padding})


def _bilinear(rng: Rng) -> Call:
    front, (first, second, out) = _sizes(rng, int(rng.integers(1, 3))), _sizes(rng, 3)
    inputs = [values(rng, (*front, first)), values(rng, (*front, second))]
    more = [values(rng, (out, first, second)), values(rng, (out,))][: int(rng.integers(1, 3))]
    return Call([*inputs, *more])


LOOKUP = [
    Row("bilinear", F.bilinear, _bilinear),
    Row(
        "embedding",
        lambda indices, weight, padding_idx: F.embedding(indices, weight, padding_idx),
        _embedding,
    ),
]


def _attention(rng: Rng) -> Call:
    batch = _sizes(rng, int(rng.integers(0, 3)))
    queries, keys = (int(n) for n in rng.choice((1, 2, 5, 17, 140), 2, p=(0.2, 0.3, 0.3, 0.1, 0.1)))
    features, wide = (int(n) for n in rng.integers(1, 9, 2))
    shapes = (*batch, queries, features), (*batch, keys, features), (*batch, keys, wide)
    inputs = [values(rng, shape) for shape in shapes]
    kind = rng.integers(0, 4)
    if kind == 1:
        inputs.append(rng.random((queries, keys)) < 0.6)
    elif kind == 2:
        inputs.append(values(rng, (*batch, queries, keys)))
    scale = None if rng.random() < 0.5 else float(rng.uniform(0.1, 1))
    attributes: dict[str, Any] = {"causal": bool(kind == 3), "scale": scale}
    if batch and kind in (0, 1, 3) and rng.random() < 0.4:
        inputs[0] = values(rng, (*batch[:-1], 3 * batch[-1], queries, features))
        attributes["enable_gqa"] = True
    return Call(inputs, attributes)


def _their_attention(
    q: Any, k: Any, v: Any, mask: Any = None, *, causal: bool, scale: Any, enable_gqa: bool = False
) -> Any:
    """By their formula: their fast kernels cannot be differentiated twice."""
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return F.scaled_dot_product_attention(
            q, k, v, mask, is_causal=causal, scale=scale, enable_gqa=enable_gqa
        )


ATTENTION = [Row("scaled_dot_product_attention", _their_attention, _attention)]


def _recurrence(gates: int, states: int, cell: bool) -> Draw:
    def draw(rng: Rng) -> Call:
        steps = () if cell else _sizes(rng, 1)
        batch, inputs, hidden = _sizes(rng, 3)
        rows = gates * hidden
        shapes = [(*steps, batch, inputs), *[(batch, hidden)] * states]
        shapes += [(rows, inputs), (rows, hidden), *[(rows,)] * (2 * int(rng.integers(0, 2)))]
        more = {"nonlinearity": str(rng.choice(("tanh", "relu")))} if gates == 1 else {}
        return Call([values(rng, shape) for shape in shapes], more)

    return draw


def _sequence(name: str, states: int) -> Any:
    """Theirs of one layer; its last hidden states are also the last of the output."""

    def theirs(x: Any, *rest: Any, nonlinearity: str = "") -> Any:
        function = getattr(torch, f"{name}_{nonlinearity}" if nonlinearity else name)
        first, weights = [state[None] for state in rest[:states]], list(rest[states:])
        given = first if states > 1 else first[0]
        output, _, *cells = function(
            x, given, weights, len(weights) > 2, 1, 0.0, False, False, False
        )
        return [output, *(c[0] for c in cells)]

    return theirs


def _cell(name: str, states: int) -> Any:
    def theirs(x: Any, *rest: Any, nonlinearity: str = "") -> Any:
        function = getattr(torch, f"{name}_{nonlinearity}_cell" if nonlinearity else f"{name}_cell")
        return function(x, rest[:states] if states > 1 else rest[0], *rest[states:])

    return theirs


RECURRENT = [
    row
    for name, gates, states in (("rnn", 1, 1), ("lstm", 4, 2), ("gru", 3, 1))
    for row in (
        Row(name, _sequence(name, states), _recurrence(gates, states, cell=False)),
        Row(f"{name}_cell", _cell(name, states), _recurrence(gates, states, cell=True)),
    )
]
