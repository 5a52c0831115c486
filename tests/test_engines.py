"""The two engines against each other, in short: ``python -m soak.engines`` is the long form."""

from __future__ import annotations

import numpy as np
import pytest
from soak.engines import main, run

import extensor as ex
from extensor.core import door
from extensor.core.door import ENGINE

CALLS, PARTS, SEED = 2000, 4, 12
native = pytest.mark.skipif(ENGINE == "reference", reason="there is one engine only")


@native
@pytest.mark.parametrize("part", range(PARTS))
def test_drawn_calls(part: int) -> None:
    findings: list[str] = []
    run(SEED, CALLS // PARTS, part * CALLS // PARTS, findings.append)
    assert not findings, "\n".join(findings)


@native
def test_a_difference_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every formula of exp one off: the run says so, and what to run again."""
    op = ex.exp.op  # type: ignore[attr-defined]
    wrong = door.computation("exp", "exp", lambda x: np.exp(np.asarray(x)) + 1)
    monkeypatch.setattr(op, "compute", wrong)
    assert main(["400", "--seed", "5"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("soak.engines: 400 calls, seed 5\n")
    assert "python -m soak.engines 1 --seed 5 --first " in shown


@native
@pytest.mark.parametrize("statistics", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
def test_statistics_of_another_dtype(name: str, dtype: str, statistics: str) -> None:
    """They say nothing about the dtype of the result."""
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(dtype)

    def called(own: bool) -> tuple[ex.Tensor, ex.Tensor, ex.Tensor]:
        mean, var = ex.full(3, 0.25, statistics), ex.full(3, 1.5, statistics)
        return getattr(ex, name)(x, mean, var, None, None, own), mean, var

    for own in (False, True):
        found = called(own)
        with door.by_formulas():
            expected = called(own)
        for a, b, wanted in zip(found, expected, (dtype, statistics, statistics), strict=True):
            assert a.dtype.name == b.dtype.name == wanted
            np.testing.assert_allclose(
                np.asarray(a.numpy(), "f8"), np.asarray(b.numpy(), "f8"), rtol=1e-2, atol=1e-3
            )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_broadcast_gradients_of_16_bits_are_rounded_once(dtype: str) -> None:
    """Each term overflows or loses digits in 16 bits, their sum does not."""
    large = ex.tensor([60000.0, 60000.0, 1.0], dtype=dtype)
    signs = ex.tensor([4.0, -4.0, 1.0], dtype=dtype)
    found = ex.multiply_backward(signs, large, ex.tensor([1.0], dtype=dtype)).grad_b
    assert found.tolist() == [1.0]
    assert found.dtype.name == dtype


@pytest.mark.parametrize("approximate", [1, 0, 1.0, -(2**40), "tanh"])
def test_a_choice_is_no_number(approximate: object) -> None:
    x = ex.ones(3)
    text = rf"^gelu: approximate must be True or False, got approximate={approximate!r}$"
    with pytest.raises(TypeError, match=text):
        ex.gelu(x, approximate)
    with pytest.raises(TypeError, match=r"^gelu_backward: approximate must be True or False"):
        ex.gelu_backward(x, x, approximate)


def test_numbers_beyond_64_bits_beside_bfloat16() -> None:
    x = ex.ones(2, "bfloat16")
    assert ex.maximum(10**30, x).tolist() == [float(ex.tensor(1e30, dtype="bfloat16"))] * 2
    assert ex.less(np.ones(2, ex.bfloat16), 10**30).all()


def test_zeros_have_the_sign_of_the_kernel() -> None:
    """-0 at a bound is the bound; what is gated away keeps the side it came from."""
    for y in (ex.relu6(-0.0), ex.clip(-0.0, 0.0, 6.0), ex.hard_tanh(-0.0, 0.0, 6.0)):
        assert not np.signbit(y.numpy())
    for function in (ex.silu, ex.gelu, ex.mish):
        assert np.signbit(function(float("-inf")).numpy())


def test_gradients_are_floats_beside_an_output_of_integers() -> None:
    assert ex.exp_backward([0.5], [3]).tolist() == [1.5]
    assert ex.tanh_backward(ex.tensor([0.5]), ex.tensor([2])).tolist() == [-1.5]


def test_attention_does_not_look_at_what_is_hidden() -> None:
    """An infinite value behind the causal mask leaves the gradients of earlier queries finite."""
    rng = np.random.default_rng(0)
    q, k, v, g = (rng.normal(size=(3, 2)) for _ in range(4))
    output = ex.scaled_dot_product_attention(q, k, v, causal=True)
    v[2] = np.inf
    found = ex.scaled_dot_product_attention_backward(g, q, k, v, None, output, causal=True).grad_q
    with door.by_formulas():
        formula = ex.scaled_dot_product_attention_backward(g, q, k, v, None, output, causal=True)
    for gradient in (found, formula.grad_q):
        assert np.isfinite(gradient.numpy()[:2]).all()
