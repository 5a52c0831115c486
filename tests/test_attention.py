"""What the case table cannot say of attention: memory, sharp scores, and 16-bit inputs."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.core.op import OPS

attention = ex.scaled_dot_product_attention


def _leaves(rng: np.random.Generator, *shape: int) -> list[ex.Tensor]:
    return [ex.tensor(rng.normal(0, 1, shape), "float32", requires_grad=True) for _ in range(3)]


@pytest.mark.parametrize("causal", [False, True])
def test_long_sequences_need_no_square_of_memory(causal: bool, rng: np.random.Generator) -> None:
    length = 4096
    q, k, v = _leaves(rng, length, 8)
    whole = 4 * length * length
    tracemalloc.start()
    ex.reset_peak_memory()
    before = ex.memory_stats()["in_use"]
    attention(q, k, v, causal=causal).sum().backward()
    peak = ex.memory_stats()["peak_in_use"] - before + tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < whole / 2


def test_sharp_scores_choose_one_value() -> None:
    q, k = ex.tensor([[1000.0], [-1000.0]]), ex.tensor([[1000.0], [-1000.0]])
    assert attention(q, k, [[2.0], [3.0]]).tolist() == [[2.0], [3.0]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_of_short_floats_are_rounded_once(dtype: str, rng: np.random.Generator) -> None:
    """The sums that divide the weights are kept in full; rounded, they would cost all digits."""
    short = [ex.tensor(8 * rng.normal(0, 1, (6, 4)), dtype, requires_grad=True) for _ in range(3)]
    wide = [ex.tensor(x.detach().astype("float64"), requires_grad=True) for x in short]
    for inputs in (short, wide):
        attention(*inputs, scale=1.0).sum().backward()
    for mine, expected in zip(short, wide, strict=True):
        found = mine.grad.numpy().astype("float64")
        scale = np.abs(expected.grad.numpy()).max() + 1
        np.testing.assert_allclose(found, expected.grad.numpy(), atol=0.05 * scale)


def test_heads_of_one_projection_are_merged_without_a_copy(rng: np.random.Generator) -> None:
    projected = ex.tensor(rng.normal(size=(2, 5, 3, 4, 6)).astype("float32"))
    heads = [projected[:, :, i].permute(0, 2, 1, 3) for i in range(3)]
    output = attention(*heads)
    plain = attention(*(ex.tensor(x.numpy().copy()) for x in heads))
    np.testing.assert_array_equal(output.numpy(), plain.numpy())
    if OPS["scaled_dot_product_attention"].kernel is not None:
        assert output.numpy().transpose(0, 2, 1, 3).flags.c_contiguous


@pytest.mark.parametrize("scale", [1j, np.complex64(2), np.array(1j)])
def test_a_complex_scale_is_refused(scale: Any) -> None:
    """NumPy would compute with it, and cut the result to its real part."""
    q, k, v, g = (np.ones(shape, np.float32) for shape in ((4, 3), (5, 3), (5, 2), (4, 2)))
    kind = type(scale).__name__
    for name, given in (("", (q, k, v)), ("_backward", (g, q, k, v, None, g))):
        op = f"scaled_dot_product_attention{name}"
        with pytest.raises(TypeError) as caught:
            getattr(ex, op)(*given, scale=scale)
        assert str(caught.value) == f"{op}: scale must be a number, got scale={kind!r}"
