"""Layers beyond what PyTorch can confirm: randomness, modes, counting, initial values, errors."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn


@pytest.mark.parametrize("make", [nn.Dropout, nn.Dropout2d])
def test_dropout(make: Any) -> None:
    ex.random.manual_seed(3)
    layer = make(0.25)
    x = ex.ones((50, 80, 2, 2), requires_grad=True)
    y = layer(x)
    kept = y.numpy() != 0
    np.testing.assert_allclose(y.numpy()[kept], 1 / 0.75, rtol=1e-6)
    draws = 50 * 80 if make is nn.Dropout2d else x.size
    assert abs(kept.mean() - 0.75) < 5 * sqrt(0.25 * 0.75 / draws)
    whole_channels = (kept == kept[:, :, :1, :1]).all()
    assert whole_channels == (make is nn.Dropout2d)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.numpy())
    np.testing.assert_array_equal(layer.eval()(x).numpy(), x.numpy())
    assert (make(1.0)(x).numpy() == 0).all()


def test_running_statistics_enter_in_training_only() -> None:
    layer = nn.BatchNorm2d(2)
    x = ex.tensor(np.arange(16.0, dtype=np.float32).reshape(2, 2, 2, 2))
    layer.eval()(x)
    assert layer.num_batches_tracked is not None
    assert layer.running_mean is not None
    assert layer.num_batches_tracked.item() == 0
    layer.train()(x)
    assert layer.num_batches_tracked.item() == 1
    np.testing.assert_allclose(layer.running_mean.numpy(), [0.55, 0.95], rtol=1e-6)
    assert list(nn.BatchNorm2d(2, track_running_stats=False).state_dict()) == ["weight", "bias"]


def test_summary_runs_in_evaluation_and_counts_convolutions() -> None:
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3, groups=1),
        nn.BatchNorm2d(4),
        nn.Dropout(0.5),
        nn.ConvTranspose2d(4, 2, 2),
    )
    state = ex.random.get_state()
    summary = net.summary((2, 3, 6, 6))
    assert [row.output_shape for row in summary.rows[1:]] == [(2, 4, 4, 4)] * 3 + [(2, 2, 5, 5)]
    products = [2 * (2 * 4 * 4 * 4) * (3 * 9), 0, 0, 2 * (2 * 4 * 4 * 4) * (2 * 4)]
    assert [row.flops for row in summary.rows[1:]] == products
    assert summary.flops == sum(products)
    assert net[1].num_batches_tracked.item() == 0
    assert ex.random.get_state() == state


@pytest.mark.parametrize(
    ("make", "fan_in"),
    [
        (lambda: nn.Conv1d(6, 64, 5, groups=2), 15),
        (lambda: nn.Conv2d(3, 64, (2, 3)), 18),
        (lambda: nn.ConvTranspose2d(64, 4, 3, groups=2), 18),
    ],
)
def test_convolutions_begin_as_in_pytorch(make: Any, fan_in: int) -> None:
    layer = make()
    bound = 1 / sqrt(fan_in)
    values = np.concatenate([layer.weight.numpy().ravel(), layer.bias.numpy()])
    assert 0.98 * bound < abs(values).max() <= bound
    assert values.std() == pytest.approx(bound / sqrt(3), rel=0.05)
    before = layer.weight.numpy().copy()
    layer.reset_parameters()
    assert (layer.weight.numpy() != before).mean() > 0.9


def test_embedding_begins_normal_with_zeros_for_padding() -> None:
    layer = nn.Embedding(200, 50, padding_idx=-1)
    assert layer.padding_idx == 199
    assert (layer.weight.numpy()[199] == 0).all()
    assert layer.weight.numpy()[:199].std() == pytest.approx(1, abs=0.04)
    layer([199, 3]).sum().backward()
    assert sorted(np.flatnonzero(layer.weight.grad.numpy().sum(1))) == [3]


def test_norms_begin_as_the_plain_normalization() -> None:
    for layer in (nn.BatchNorm1d(3), nn.LayerNorm(3), nn.GroupNorm(1, 3), nn.RMSNorm(3)):
        assert layer.weight is not None
        assert layer.weight.tolist() == [1.0] * 3
        if not isinstance(layer, nn.RMSNorm):
            assert layer.bias is not None
            assert layer.bias.tolist() == [0.0] * 3


def test_hinge_and_focal() -> None:
    """PyTorch has no such modules; the functions are compared with formulas elsewhere."""
    x, y = ex.tensor([0.5, -2.0]), ex.tensor([1.0, 1.0])
    assert nn.HingeLoss(reduction="sum")(x, y).item() == ex.hinge_loss(x, y, "sum").item() == 3.5
    focal = nn.FocalLoss(alpha=0.5, gamma=1.0, reduction="none")(x, y)
    np.testing.assert_array_equal(focal.numpy(), ex.focal_loss(x, y, 0.5, 1.0, "none").numpy())


def test_hard_sigmoid() -> None:
    x = ex.tensor([-4.0, 1.0, 4.0])
    np.testing.assert_array_equal(nn.Hardsigmoid()(x).numpy(), ex.hard_sigmoid(x).numpy())


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_dtypes(dtype: str) -> None:
    for layer in (
        nn.Linear(2, 2, dtype=dtype),
        nn.Conv2d(2, 2, 1, dtype=dtype),
        nn.ConvTranspose1d(2, 2, 1, dtype=dtype),
        nn.BatchNorm1d(2, dtype=dtype),
        nn.InstanceNorm2d(2, affine=True, track_running_stats=True, dtype=dtype),
        nn.LayerNorm(2, dtype=dtype),
        nn.RMSNorm(2, dtype=dtype),
        nn.GroupNorm(1, 2, dtype=dtype),
        nn.Embedding(2, 2, dtype=dtype),
        nn.PReLU(dtype=dtype),
    ):
        floating = {x.dtype for x in layer.state_dict().values()} - {np.dtype("int64")}
        assert floating == {np.dtype(dtype)}


def test_sizes_may_be_numpy_integers() -> None:
    size, stride = np.array([3, 2])
    layer = nn.Conv2d(1, 1, size, stride, dilation=size - 2)
    assert layer(ex.ones((1, 1, 5, 5))).shape == (1, 1, 2, 2)


ERRORS: list[tuple[Callable[[], Any], str]] = [
    (lambda: nn.Conv2d(3, 4, 1, groups=2), "Conv2d: in_channels must be divisible by groups, "
     "got in_channels=3, groups=2"),
    (lambda: nn.Conv1d(3, 4, 1, groups=0), "Conv1d: in_channels must be divisible by groups, "
     "got in_channels=3, groups=0"),
    (lambda: nn.ConvTranspose2d(4, 3, 1, groups=2), "ConvTranspose2d: out_channels must be "
     "divisible by groups, got out_channels=3, groups=2"),
    (lambda: nn.Conv1d(2, 2, 1, padding_mode="mirror"), "Conv1d: padding_mode must be one of "
     "zeros, reflect, replicate, circular, got padding_mode='mirror'"),
    (lambda: nn.GroupNorm(2, 3), "GroupNorm: num_channels must be divisible by num_groups, "
     "got num_channels=3, num_groups=2"),
    (lambda: nn.GroupNorm(0, 3), "GroupNorm: num_channels must be divisible by num_groups, "
     "got num_channels=3, num_groups=0"),
    (lambda: nn.BatchNorm1d(3)(ex.ones((2, 4))), "BatchNorm1d: x must have 2 or 3 axes and 3 "
     "channels on axis 1, got x_shape=(2, 4)"),
    (lambda: nn.BatchNorm2d(3)(ex.ones((2, 3))), "BatchNorm2d: x must have 4 axes and 3 channels "
     "on axis 1, got x_shape=(2, 3)"),
    (lambda: nn.Dropout(1.5), "Dropout: p must be in [0, 1], got p=1.5"),
    (lambda: nn.GELU("fast"), "GELU: approximate must be 'none' or 'tanh', got approximate='fast'"),
    (lambda: nn.Embedding(3, 2, padding_idx=3), "Embedding: padding_idx must be in [-3, 2], "
     "got padding_idx=3"),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_error_texts(row: int) -> None:
    call, text = ERRORS[row]
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert str(caught.value) == text


def test_input_by_the_name_of_pytorch() -> None:
    layer, x = nn.Linear(3, 2), ex.ones((4, 3))
    np.testing.assert_array_equal(layer(input=x).numpy(), layer(x).numpy())
    np.testing.assert_array_equal(layer(x=x).numpy(), layer(x).numpy())
    lstm, sequence = nn.LSTM(3, 4), ex.ones((5, 2, 3))
    states = (ex.ones((1, 2, 4)), ex.ones((1, 2, 4)))
    np.testing.assert_array_equal(
        lstm(input=sequence, hx=states)[0].numpy(), lstm(sequence, states)[0].numpy()
    )
    assert nn.MSELoss()(input=x, target=x).item() == 0
    assert nn.CosineEmbeddingLoss()(input1=x, input2=x, target=ex.ones(4)).item() < 1e-6
    with pytest.raises(TypeError, match="input"):
        layer(x, input=x)


def test_input_by_name_goes_through_hooks() -> None:
    layer, seen = nn.Linear(3, 2), []
    layer.register_forward_pre_hook(lambda module, args: seen.append(args))
    x = ex.ones((4, 3))
    layer(input=x)
    assert seen == [(x,)]


def test_a_module_of_ones_own_has_its_own_names() -> None:
    class Net(nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    with pytest.raises(TypeError, match="input"):
        Net()(input=1)


@pytest.mark.parametrize(
    ("made", "shape"),
    [
        (lambda: nn.Conv1d(3, 4, 2, padding=1, padding_mode="circular"), (3, 5)),
        (lambda: nn.Conv2d(3, 4, 3, padding="same", padding_mode="reflect"), (3, 5, 6)),
        (lambda: nn.Conv2d(3, 4, 3, stride=2), (3, 5, 6)),
        (lambda: nn.ConvTranspose1d(3, 4, 2), (3, 5)),
        (lambda: nn.ConvTranspose2d(3, 4, 2, stride=2), (3, 5, 6)),
        (lambda: nn.Conv3d(3, 4, 2, padding=1, padding_mode="circular"), (3, 4, 3, 3)),
        (lambda: nn.ConvTranspose3d(3, 4, 2, stride=2), (3, 2, 3, 3)),
        (lambda: nn.MaxPool1d(2), (3, 5)),
        (lambda: nn.MaxPool3d(2), (3, 4, 3, 5)),
        (lambda: nn.AvgPool3d(2), (3, 4, 3, 5)),
        (lambda: nn.AdaptiveAvgPool3d(2), (3, 4, 3, 5)),
        (lambda: nn.AdaptiveMaxPool2d(2), (3, 4, 3)),
        (lambda: nn.LPPool2d(2, 2), (3, 4, 3)),
        (lambda: nn.Unfold(2), (3, 4, 3)),
        (lambda: nn.InstanceNorm1d(3), (3, 5)),
        (lambda: nn.InstanceNorm3d(3, affine=True), (3, 4, 3, 5)),
        (lambda: nn.MaxPool2d(2, ceil_mode=True), (3, 5, 6)),
        (lambda: nn.AvgPool1d(2, padding=1), (3, 5)),
        (lambda: nn.AvgPool2d(2, divisor_override=3), (3, 5, 6)),
        (lambda: nn.AdaptiveAvgPool1d(2), (3, 5)),
        (lambda: nn.AdaptiveAvgPool2d((None, 2)), (3, 5, 6)),
        (lambda: nn.InstanceNorm2d(3, affine=True, track_running_stats=True), (3, 5, 6)),
    ],
)
def test_one_sample_without_a_batch(made: Any, shape: tuple[int, ...]) -> None:
    """The same bits as in a batch of one, values and gradients."""
    layer, other = made(), made()
    other.load_state_dict(layer.state_dict())
    x = np.random.default_rng(0).normal(size=shape).astype("f4")
    alone = ex.tensor(x, requires_grad=True)
    batch = ex.tensor(x[None], requires_grad=True)
    y, expected = layer(alone), other(batch)
    np.testing.assert_array_equal(y.numpy(), expected.numpy()[0])
    (y * y).sum().backward()
    (expected * expected).sum().backward()
    assert alone.grad is not None
    assert batch.grad is not None
    np.testing.assert_array_equal(alone.grad.numpy(), batch.grad.numpy()[0])
    for (name, mine), (_, theirs) in zip(
        layer.named_parameters(), other.named_parameters(), strict=True
    ):
        np.testing.assert_array_equal(mine.grad.numpy(), theirs.grad.numpy(), err_msg=name)
    for mine, theirs in zip(layer.buffers(), other.buffers(), strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (
            lambda: nn.GRU(2, 3, proj_size=1),
            "GRU: proj_size must be 0 (anything else is not implemented), got proj_size=1",
        ),
        (
            lambda: nn.LSTM(2, 3, proj_size=3),
            "LSTM: proj_size must be in [0, hidden_size), got proj_size=3, hidden_size=3",
        ),
        (
            lambda: nn.Linear(2, 3, device="cuda"),
            "Linear: device must be None or 'cpu' (this library computes on the CPU, so there is no "
            "device to choose), got device='cuda'",
        ),
        (
            lambda: ex.relu(ex.ones(2), inplace=True),
            "relu: inplace must be False (anything else is not implemented), got inplace=True",
        ),
        (
            lambda: nn.ConvTranspose1d(1, 1, 2)(ex.ones((1, 1, 3)), output_size=(5,)),
            "ConvTranspose1d: output_size must be from (4,) to (4,), got output_size=(5,)",
        ),
    ],
)
def test_keywords_that_ask_for_what_is_not_there(function: Any, text: str) -> None:
    with pytest.raises(ValueError, match="must be") as caught:
        function()
    assert str(caught.value) == text


def test_keywords_at_their_defaults() -> None:
    assert nn.LSTM(2, 3, proj_size=0, device="cpu").hidden_size == 3
    assert nn.MultiheadAttention(4, 2, add_bias_kv=False, add_zero_attn=False).num_heads == 2
    assert nn.Embedding(4, 2, max_norm=None, norm_type=2, sparse=False).embedding_dim == 2
    assert ex.relu(ex.ones(2), inplace=False).tolist() == [1.0, 1.0]
    assert ex.mse_loss(ex.ones(2), ex.zeros(2), reduce=None, size_average=None).item() == 1
    assert ex.dropout(ex.ones(2), 0.0, inplace=False).tolist() == [1.0, 1.0]


def test_softplus_is_the_identity_above_its_threshold() -> None:
    x = np.array([-200.0, -3.0, -1.0, 0.5, 1.0, 3.0, 30.0])
    smooth = np.logaddexp(2 * x, 0) / 2
    for threshold in (-100.0, 0.0, 2.0, 7.5):
        found = ex.nn.Softplus(2.0, threshold)(x).numpy()
        np.testing.assert_allclose(found, np.where(2 * x > threshold, x, smooth), rtol=1e-12)
    for threshold in (20.0, 50.0, np.inf):
        found = ex.nn.Softplus(2.0, threshold)(x).numpy()
        assert found.tobytes() == ex.softplus(x, 2.0).numpy().tobytes()
    with pytest.raises(TypeError, match="Softplus: threshold must be a number, got threshold='x'"):
        ex.nn.Softplus(2.0, "x")
