"""Programs for platforms that are not here, written and read again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn
from extensor.core.tensor import Tensor


def _case(name: str) -> tuple[nn.Module, Any, Any, Any]:
    rng = np.random.default_rng(0)
    ex.random.manual_seed(0)
    if name == "mlp":
        x = rng.standard_normal((4, 6)).astype("float32")
        return ex.models.mlp([6, 8, 3], p=0.5), x, rng.integers(0, 3, 4), ex.cross_entropy
    if name == "lenet5":
        x = rng.standard_normal((2, 1, 28, 28)).astype("float32")
        return ex.models.lenet5(), x, rng.integers(0, 10, 2), ex.cross_entropy
    if name == "resnet18":
        x = rng.standard_normal((2, 3, 32, 32)).astype("float32")
        return ex.models.resnet18(), x, rng.integers(0, 10, 2), ex.cross_entropy
    net = ex.models.gpt(vocabulary=7, context=4, width=8, layers=1, heads=2)
    tokens = rng.integers(0, 7, (2, 4))
    return net, tokens, tokens.copy(), lambda o, y: ex.cross_entropy(o.swapaxes(1, 2), y)


def _step(net: nn.Module, optimizer: Any, loss: Any) -> Any:
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        value = loss(net(x), y)
        value.backward()
        optimizer.step()
        return value

    return step


@pytest.mark.parametrize("name", ["mlp", "lenet5", "resnet18", "gpt"])
def test_a_step_is_exported_for_four_platforms_and_gives_the_same_when_read(
    name: str, tmp_path: Path
) -> None:
    import jax
    from jax import export

    net, x, y, loss = _case(name)
    plain = _step(net, ex.optim.SGD(net.parameters(), lr=0.01, momentum=0.9), loss)
    step = ex.compile(plain)
    path = ex.export_stablehlo(step, tmp_path / "step.stablehlo", example=(x, y))
    described = json.loads((tmp_path / "step.stablehlo.json").read_text())
    assert described["platforms"] == ["cpu", "cuda", "rocm", "tpu"]
    names = [each["name"] for each in described["changed"]]
    changed = {n for n, _ in (*net.named_parameters(), *net.named_buffers())}
    assert changed == {n for n in names if not n.startswith("state ")}
    assert [each["shape"] for each in described["inputs"]] == [list(x.shape), list(y.shape)]
    with jax.enable_x64(True):
        program = export.deserialize(bytearray(path.read_bytes()))
        assert set(program.platforms) == {"cpu", "cuda", "rocm", "tpu"}
        changed, results = program.call(*step.planned((x, y))[0].arguments([x, y]))
    values = [np.asarray(each) for each in changed]
    expected = float(plain(ex.tensor(x), ex.tensor(y)))
    assert float(results[0]) == pytest.approx(expected, rel=1e-5)
    parameters = dict(net.named_parameters())
    for place, value in zip(names, values, strict=True):
        if place in parameters:
            np.testing.assert_allclose(value, parameters[place].numpy(), rtol=1e-4, atol=1e-5)


def test_the_last_trace_of_a_compiled_function_is_taken(tmp_path: Path) -> None:
    double = ex.compile(lambda x: x * 2)
    with pytest.raises(ValueError, match="must have been called once, or an example"):
        ex.export_stablehlo(double, tmp_path / "a")
    double(np.ones(3, "float32"))
    assert ex.export_stablehlo(double, tmp_path / "a", ["tpu"]).exists()
    assert ex.export_stablehlo(lambda x: x * 2, tmp_path / "b", "cuda", [ex.ones(3)]).exists()


def test_platforms_are_checked(tmp_path: Path) -> None:
    text = (
        "export_stablehlo: platforms must be of ('cpu', 'cuda', 'rocm', 'tpu'), got platform='gpu'"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        ex.export_stablehlo(lambda x: x, tmp_path / "a", ["gpu"], (ex.ones(2),))
