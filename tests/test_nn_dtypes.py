"""A layer computes in the dtype of its parameters, and says so where its input has another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn

LAYERS: list[tuple[Callable[[], Any], tuple[int, ...]]] = [
    (lambda: nn.Linear(3, 2), (4, 3)),
    (lambda: nn.Conv1d(3, 2, 2), (4, 3, 5)),
    (lambda: nn.Conv2d(3, 2, 2, padding=1, padding_mode="reflect"), (4, 3, 5, 5)),
    (lambda: nn.ConvTranspose1d(3, 2, 2), (4, 3, 5)),
    (lambda: nn.ConvTranspose2d(3, 2, 2), (4, 3, 5, 5)),
    (lambda: nn.BatchNorm1d(3), (4, 3)),
    (lambda: nn.BatchNorm2d(3, affine=False), (4, 3, 5, 5)),
    (lambda: nn.InstanceNorm2d(3, affine=True), (4, 3, 5, 5)),
    (lambda: nn.GroupNorm(1, 3), (4, 3)),
    (lambda: nn.LayerNorm(3), (4, 3)),
    (lambda: nn.RMSNorm(3), (4, 3)),
    (lambda: nn.PReLU(), (4, 3)),
    (lambda: nn.RNN(3, 2), (5, 4, 3)),
    (lambda: nn.LSTM(3, 2), (5, 4, 3)),
    (lambda: nn.GRUCell(3, 2), (4, 3)),
    (lambda: nn.TransformerEncoderLayer(4, 2, 8), (5, 3, 4)),
]


def _dtypes(result: Any) -> set[str]:
    if isinstance(result, tuple):
        return set().union(*(_dtypes(item) for item in result))
    return {str(result.dtype)}


@pytest.mark.parametrize(("make", "shape"), LAYERS)
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_another_float_dtype_is_refused(
    make: Callable[[], Any], shape: tuple[int, ...], dtype: str
) -> None:
    layer = make()
    x = ex.random.rand(shape).astype(dtype)
    for given in (x, x.numpy()):
        with pytest.raises(TypeError, match=rf'x\.astype\("float32"\), or module\.to\("{dtype}"\)'):
            layer(given)
    assert _dtypes(layer(x.astype("float32"))) == {"float32"}
    assert _dtypes(layer.to(dtype)(x)) == {dtype}
    assert _dtypes(make()(ex.ones(shape, "int64"))) == {"float32"}


def test_the_text() -> None:
    with pytest.raises(TypeError) as caught:
        nn.Linear(3, 2)(np.ones((4, 3)))
    assert str(caught.value) == (
        "Linear: the input must have the dtype float32 of the parameters "
        '(x.astype("float32"), or module.to("float64")), got dtype=\'float64\''
    )


def test_states_and_keys_too() -> None:
    with pytest.raises(TypeError, match=r"^LSTM: the input must have the dtype float32"):
        nn.LSTM(3, 2)(ex.ones((5, 4, 3)), (ex.zeros((1, 4, 2), "float64"),) * 2)
    attention, x = nn.MultiheadAttention(4, 2), ex.ones((5, 3, 4))
    with pytest.raises(
        TypeError, match=r"^MultiHeadAttention: the input must have the dtype float32"
    ):
        attention(x, x, x.astype("float64"))


def test_autocast_casts() -> None:
    with ex.amp.autocast("bfloat16"):
        assert nn.Linear(3, 2)(ex.ones((4, 3), "bfloat16")).dtype == ex.bfloat16
