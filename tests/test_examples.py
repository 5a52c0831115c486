"""The scripts in ``examples/`` do what they say, and do it again to the bit."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
LONGEST = 100  # lines of an example


def script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) < LONGEST


def test_two_layer_network(capsys: pytest.CaptureFixture[str]) -> None:
    """It asserts after each step that hand and tape agree bit for bit, and it learns."""
    assert script("two_layer_network")["main"]() < 1e-3
    assert capsys.readouterr().out.splitlines()[-1].endswith("parameters equal bit for bit")


def test_mlp() -> None:
    assert script("mlp")["main"](epochs=5) > 0.93


def test_lenet5(capsys: pytest.CaptureFixture[str]) -> None:
    assert script("lenet5")["main"](epochs=30) >= 0.985
    assert "21,386 trainable" in capsys.readouterr().out


def test_lstm() -> None:
    assert script("lstm")["main"](epochs=5) > 0.85


def test_gpt(capsys: pytest.CaptureFixture[str]) -> None:
    """Letters alone are worth 3.1 nats; what is below that was learned from their order."""
    assert script("gpt")["main"](steps=150) < 2.9
    assert "The gradient of " in capsys.readouterr().out


def test_resnet() -> None:
    accuracy = script("resnet")["main"](steps=2, batch_size=4)
    assert 0 <= accuracy <= 1


def _parameters(seed: int) -> list[np.ndarray]:
    net, _ = script("lenet5")["train"](epochs=1, seed=seed)
    return [parameter.numpy().copy() for parameter in net.parameters()]


def test_ten_equal_seeds_give_ten_equal_results() -> None:
    first = _parameters(7)
    for _ in range(9):
        for x, y in zip(first, _parameters(7), strict=True):
            np.testing.assert_array_equal(x, y)
    assert any((x != y).any() for x, y in zip(first, _parameters(8), strict=True))


@pytest.mark.parametrize("count", [2, 4])
def test_threads_change_no_bit_of_a_trained_network(count: int, threads: Any) -> None:
    threads(1)
    expected = _parameters(7)
    threads(count)
    for x, y in zip(expected, _parameters(7), strict=True):
        np.testing.assert_array_equal(x, y)
