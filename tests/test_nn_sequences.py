"""Attention, the transformer's encoder layer and recurrent layers, beyond parity with PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest
import tolerances

import extensor as ex
from extensor import nn


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_causal_is_a_mask_of_what_comes_later(
    need_weights: bool, padded: bool, rng: np.random.Generator
) -> None:
    attention = nn.MultiHeadAttention(6, 2, batch_first=True, dtype="float64")
    x = ex.tensor(rng.normal(size=(2, 5, 6)))
    later = np.triu(np.ones((5, 5), bool), 1)
    hidden = np.array([[False] * 4 + [True], [False] * 5]) if padded else None
    options = {"key_padding_mask": hidden, "need_weights": need_weights}
    expected, weights = attention(x, x, x, attn_mask=later, **options)
    found, same_weights = attention(x, x, x, is_causal=True, **options)
    tolerances.assert_close(found, expected, "float64")
    if need_weights:
        tolerances.assert_close(same_weights, weights, "float64")
        assert (weights.numpy()[:, later] == 0).all()
        tolerances.assert_close(weights.sum(-1), np.ones((2, 5)), "float64")
    else:
        assert weights is same_weights is None


def test_weights_do_not_change_the_output(rng: np.random.Generator) -> None:
    """The way that builds the weights and the one that does not give the same, and its gradient."""
    attention = nn.MultiHeadAttention(6, 3, dtype="float64")
    x = ex.tensor(rng.normal(size=(4, 2, 6)), requires_grad=True)
    results = []
    for need_weights in (True, False):
        output, _ = attention(x, x, x, need_weights=need_weights)
        results.append((output, ex.grad((output * output).sum(), x)))
    for a, b in zip(*results, strict=True):
        tolerances.assert_close(a, b, "float64")


def test_attention_of_an_empty_batch() -> None:
    attention = nn.MultiHeadAttention(4, 2, batch_first=True)
    x = ex.ones((0, 3, 4))
    output, weights = attention(x, x, x)
    assert output.shape == (0, 3, 4)
    assert weights.shape == (0, 3, 3)


def test_attention_dropout(rng: np.random.Generator) -> None:
    ex.random.manual_seed(1)
    attention = nn.MultiHeadAttention(4, 1, dropout=0.5)
    x = ex.tensor(rng.normal(size=(40, 10, 4)).astype(np.float32))
    _, weights = attention(x, x, x)
    dropped = (weights.numpy() == 0).mean()
    assert abs(dropped - 0.5) < 5 * sqrt(0.25 / weights.size)
    assert not np.array_equal(attention(x, x, x, need_weights=False)[0], attention(x, x, x)[0])
    attention.eval()
    np.testing.assert_array_equal(attention(x, x, x)[0], attention(x, x, x)[0])


def test_attention_begins_as_in_pytorch() -> None:
    attention = nn.MultiHeadAttention(40, 4)
    weight, bias = attention.in_proj_weight, attention.in_proj_bias
    assert weight is not None
    assert bias is not None
    bound = sqrt(6 / (40 + 120))
    assert 0.98 * bound < abs(weight.numpy()).max() <= bound
    assert (bias.numpy() == 0).all()
    assert attention.out_proj.bias is not None
    assert (attention.out_proj.bias.numpy() == 0).all()
    assert nn.MultiheadAttention is nn.MultiHeadAttention
    assert repr(attention) == (
        "MultiHeadAttention(embed_dim=40, num_heads=4\n"
        "  (out_proj): Linear(in_features=40, out_features=40)\n"
        ")"
    )


def test_encoder_layer_with_a_function(rng: np.random.Generator) -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, activation=ex.silu)
    x = ex.tensor(rng.normal(size=(5, 3, 4)).astype(np.float32))
    assert layer(x).shape == (5, 3, 4)
    causal = layer(x, is_causal=True)
    np.testing.assert_allclose(causal.numpy()[:1], layer(x[:1]).numpy(), rtol=1e-4, atol=1e-5)


def test_summary_counts_attention() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    summary = layer.summary((3, 5, 4))
    flops = {row.path: row.flops for row in summary.rows}
    # Two products of 5 by 5 by 2, for three sequences and two heads, beside four projections.
    assert flops["self_attn"] == 2 * (3 * 5 * 4 * 12 + 3 * 5 * 4 * 4 + 2 * 3 * 2 * 5 * 5 * 2)
    assert flops["linear1"] == flops["linear2"] == 2 * 3 * 5 * 4 * 8


RECURRENT = [(nn.RNN, 1), (nn.GRU, 3), (nn.LSTM, 4)]


@pytest.mark.parametrize(("make", "gates"), RECURRENT)
def test_recurrent_keys_and_beginning(make: Any, gates: int) -> None:
    layer = make(3, 25, num_layers=2, bidirectional=True)
    ends = [f"l{i}{direction}" for i in (0, 1) for direction in ("", "_reverse")]
    parts = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    assert list(layer.state_dict()) == [f"{part}_{end}" for end in ends for part in parts]
    assert layer.weight_ih_l1_reverse.shape == (25 * gates, 50)
    for parameter in layer.parameters():
        assert 0.5 / 5 < abs(parameter.numpy()).max() <= 1 / 5
    assert len(list(make(3, 2, bias=False).parameters())) == 2


@pytest.mark.parametrize(("make", "gates"), RECURRENT)
def test_dropout_between_layers(make: Any, gates: int) -> None:
    ex.random.manual_seed(2)
    layer = make(3, 4, num_layers=2, dropout=0.9)
    x = ex.ones((6, 2, 3))
    assert not np.array_equal(layer(x)[0], layer(x)[0])
    layer.eval()
    np.testing.assert_array_equal(layer(x)[0], layer(x)[0])
    one = make(3, 4, dropout=0.9)
    np.testing.assert_array_equal(one(x)[0], one(x)[0])


@pytest.mark.parametrize(("make", "gates"), RECURRENT)
def test_a_sequence_in_two_parts(make: Any, gates: int, rng: np.random.Generator) -> None:
    """The last state is where the next part goes on."""
    layer = make(3, 4, num_layers=2, dtype="float64")
    x = ex.tensor(rng.normal(size=(6, 2, 3)))
    whole, end = layer(x)
    first, middle = layer(x[:2])
    second, same_end = layer(x[2:], middle)
    tolerances.assert_close(ex.concatenate([first, second]), whole, "float64")
    for a, b in zip(*(s if isinstance(s, tuple) else (s,) for s in (end, same_end)), strict=True):
        tolerances.assert_close(a, b, "float64")


@pytest.mark.parametrize(("make", "gates"), RECURRENT)
def test_summary_counts_recurrence(make: Any, gates: int) -> None:
    summary = make(3, 4, bidirectional=True).summary((6, 2, 3))
    assert summary.flops == 2 * (6 * 2) * 2 * (gates * 4) * (3 + 4)


CELLS = [(nn.RNNCell, nn.RNN), (nn.GRUCell, nn.GRU), (nn.LSTMCell, nn.LSTM)]


@pytest.mark.parametrize(("make", "make_layer"), CELLS)
@pytest.mark.parametrize("bias", [True, False])
def test_a_loop_of_cells_is_a_layer(make: Any, make_layer: Any, bias: bool) -> None:
    cell, layer = (
        make(3, 4, bias=bias, dtype="float64"),
        make_layer(3, 4, bias=bias, dtype="float64"),
    )
    layer.load_state_dict({f"{name}_l0": value for name, value in cell.state_dict().items()})
    x = ex.random.normal(0.0, 1.0, (6, 2, 3), dtype="float64")
    output, states = layer(x)
    state = None
    for step in x:
        state = cell(step, state)
    last = state[0] if isinstance(state, tuple) else state
    tolerances.assert_close(last, output[-1], "float64")
    for a, b in zip(*(s if isinstance(s, tuple) else (s,) for s in (state, states)), strict=True):
        tolerances.assert_close(a, b[0], "float64")


def _attend(batch: int = 3, **masks: Any) -> Any:
    query, key = ex.ones((batch, 4, 6)), ex.ones((batch, 5, 6))
    return nn.MultiHeadAttention(6, 2, batch_first=True)(query, key, key, **masks)


ERRORS: list[tuple[Callable[[], Any], str]] = [
    (lambda: nn.MultiHeadAttention(5, 2), "MultiHeadAttention: embed_dim must be divisible by "
     "num_heads, got embed_dim=5, num_heads=2"),
    (lambda: nn.MultiHeadAttention(4, 0), "MultiHeadAttention: embed_dim must be divisible by "
     "num_heads, got embed_dim=4, num_heads=0"),
    (lambda: _attend(key_padding_mask=np.zeros((5, 3), bool)), "MultiHeadAttention: "
     "key_padding_mask must have shape (3, 5), got shape=(5, 3)"),
    (lambda: _attend(1, key_padding_mask=np.zeros(4, bool)), "MultiHeadAttention: "
     "key_padding_mask must have shape (1, 5) or (5,), got shape=(4,)"),
    (lambda: _attend(key_padding_mask=np.zeros((3, 5), int)), "MultiHeadAttention: "
     "key_padding_mask must be bool or floating, got dtype='int64'"),
    (lambda: _attend(attn_mask=np.zeros((5, 4))), "MultiHeadAttention: attn_mask must have shape "
     "(4, 5) or (6, 4, 5), got shape=(5, 4)"),
    (lambda: _attend(attn_mask=np.zeros((4, 5, 6))), "MultiHeadAttention: attn_mask must have "
     "shape (4, 5) or (6, 4, 5), got shape=(4, 5, 6)"),
    (lambda: nn.LSTM(2, 3, num_layers=0), "LSTM: num_layers must be 1 or more, got num_layers=0"),
    (lambda: nn.GRU(2, 3, dropout=1.5), "GRU: dropout must be in [0, 1], got dropout=1.5"),
    (lambda: nn.TransformerEncoderLayer(4, 2, activation="tanh"), "TransformerEncoderLayer: "
     "activation must be 'relu', 'gelu' or a function, got activation='tanh'"),
    (lambda: nn.RNN(2, 3, nonlinearity="gelu"), "RNN: nonlinearity must be one of "
     "('tanh', 'relu'), got nonlinearity='gelu'"),
    (lambda: nn.LSTMCell(2, 3)(ex.ones((4, 2)), (ex.ones((5, 3)),)), "LSTMCell: hx must be 2 of "
     "shape (4, 3), got shapes=[(5, 3)]"),
    (lambda: nn.GRU(2, 3)(ex.ones((4, 5, 2)), ex.ones((1, 4, 3))), "GRU: hx must be 1 of shape "
     "(1, 5, 3), got shapes=[(1, 4, 3)]"),
    (lambda: nn.LSTM(2, 3)(ex.ones((4, 5, 2)), (ex.ones((1, 5, 3)),)), "LSTM: hx must be 2 of "
     "shape (1, 5, 3), got shapes=[(1, 5, 3)]"),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_error_texts(row: int) -> None:
    call, text = ERRORS[row]
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert str(caught.value) == text
