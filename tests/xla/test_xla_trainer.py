"""The trainer and the command with steps by XLA: the runs they make are those of here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import extensor, write_config, write_data

import extensor as ex
from extensor.data import ArrayDataset, DataLoader
from extensor.train import NotFiniteError, Trainer


def _trainer(compile: str | None, folder: Path | None = None, **options: Any) -> Any:
    ex.random.manual_seed(4)
    net = ex.models.mlp([5, 8, 3], p=0.2)
    optimizer = ex.optim.Adam(net.parameters(), lr=0.02)
    ex.optim.StepLR(optimizer, step_size=2, automatic=True)
    ema = ex.optim.EMA(net, decay=0.5)
    callbacks = None if folder else []
    options = {"clip_norm": 0.7, "ema": ema, "callbacks": callbacks, **options}
    return Trainer(
        net, ex.cross_entropy, optimizer, compile=compile, folder=folder, accumulate=2, **options
    )


def _loader() -> DataLoader:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((28, 5)).astype("float32")
    return DataLoader(ArrayDataset(x, rng.integers(0, 3, 28)), batch_size=8)


def test_a_run_has_the_losses_and_weights_of_one_without() -> None:
    results = []
    for compile in (None, "xla"):
        trainer = _trainer(compile)
        history = trainer.fit(_loader(), 3, _loader())
        results.append((trainer, history))
    (plain, expected), (compiled, found) = results
    for one, other in zip(found, expected, strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)
        assert one["validation_loss"] == pytest.approx(other["validation_loss"], rel=1e-4)
    for key, value in plain.model.state_dict().items():
        np.testing.assert_allclose(
            compiled.model.state_dict()[key].numpy(), value.numpy(), atol=1e-4
        )
    assert compiled.take_step.ema.count == plain.take_step.ema.count
    assert compiled.optimizer.param_groups[0]["lr"] == plain.optimizer.param_groups[0]["lr"]


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_accumulated_batches_weigh_what_they_weigh_without(reduction: Any) -> None:
    """By class weights and targets that are not ignored; the third batch has none."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((28, 5)).astype("float32"), rng.integers(0, 3, 28)
    y[[1, 4, 9]] = y[16:24] = -100
    weights = []
    for compile, size, accumulate in ((None, 28, 1), (None, 8, 4), ("xla", 8, 4)):
        ex.random.manual_seed(4)
        net = ex.models.mlp([5, 8, 3])
        optimizer = ex.optim.SGD(net.parameters(), lr=0.02)
        loss = ex.nn.CrossEntropyLoss([0.5, 4.0, 1.0], reduction=reduction)
        trainer = Trainer(
            net, loss, optimizer, compile=compile, accumulate=accumulate, callbacks=[]
        )
        trainer.fit(DataLoader(ArrayDataset(x, y), size), 3)
        weights.append(np.concatenate([p.numpy().reshape(-1) for p in net.parameters()]))
    np.testing.assert_allclose(weights[1], weights[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights[2], weights[0], rtol=1e-4, atol=1e-5)


def test_metrics_early_stopping_and_predictions_are_those_of_a_run_without() -> None:
    results = []
    for compile in (None, "xla"):
        stop = ex.train.EarlyStopping(patience=1)
        trainer = _trainer(
            compile, train_metrics=["accuracy"], metrics=["accuracy", "f1"], callbacks=[stop]
        )
        history = trainer.fit(_loader(), 4, _loader())
        results.append((history, trainer.predict(np.ones((3, 5), "float32")).numpy()))
    (expected, theirs), (found, ours) = results
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.keys() == other.keys()
        for key in ("accuracy", "validation_accuracy", "validation_f1"):
            assert one[key] == pytest.approx(other[key], rel=1e-4)
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)


def test_programs_are_made_once_for_each_shape_and_mode() -> None:
    trainer = _trainer("xla")
    trainer.fit(_loader(), 3, _loader())
    step: Any = trainer.take_step
    # Batches of 8 and of 4, without gradients and with those of the first half of a step.
    assert step._backward_program.traces <= 4
    assert step._forward_program.traces <= 2
    assert step._clip_program.traces == 1
    assert step._update_program.traces == 1


def test_a_run_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    whole = _trainer("xla")
    whole.fit(_loader(), epochs=4)
    first = _trainer("xla", tmp_path / "run")
    first.fit(_loader(), epochs=2)
    second = _trainer("xla", tmp_path / "run")
    second.resume()
    second.fit(_loader(), epochs=4)
    for key, value in whole.model.state_dict().items():
        np.testing.assert_allclose(second.model.state_dict()[key].numpy(), value.numpy(), atol=1e-6)


def test_a_loss_that_is_not_finite_ends_the_run_and_leaves_the_weights() -> None:
    trainer = _trainer("xla")
    before = trainer.model.state_dict()["1.weight"].numpy().copy()
    x = np.full((8, 5), np.inf, "float32")
    with pytest.raises(NotFiniteError, match="loss is nan"):
        trainer.fit(DataLoader(ArrayDataset(x, np.zeros(8, int)), batch_size=8), epochs=1)
    np.testing.assert_array_equal(trainer.model.state_dict()["1.weight"].numpy(), before)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"device": "cpu"},
            "Trainer: device is where a compiled step runs (compile='xla'), got device='cpu'",
        ),
        (
            {"compile": "xla", "amp": "float16"},
            "Trainer: amp must be bfloat16, which needs no scaling, where steps are compiled, "
            "got amp='float16'",
        ),
        (
            {"compile": "lava"},
            "compile: backend must be one of ('native', 'xla'), got backend='lava'",
        ),
    ],
)
def test_options_are_checked(options: dict[str, Any], text: str) -> None:
    net = ex.nn.Linear(2, 2)
    optimizer = ex.optim.SGD(net.parameters(), lr=0.1)
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Trainer(net, ex.mse_loss, optimizer, **options)


def test_the_command_trains_on_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_data()
    losses = []
    for name, options in (("plain", ()), ("compiled", ("--device", "cpu"))):
        result = extensor("train", write_config(), "--name", name, *options)
        assert result.code == 0, result.err
        losses.append(
            [line.split(",") for line in Path("runs", name, "log.csv").read_text().split()]
        )
    assert 'device = "cpu"' in Path("runs", "compiled", "config.toml").read_text()
    assert len(losses[0]) == len(losses[1]) > 1
    columns = [i for i, name in enumerate(losses[0][0]) if name.endswith("loss")]
    for one, other in zip(losses[0][1:], losses[1][1:], strict=True):
        for i in columns:
            assert float(other[i]) == pytest.approx(float(one[i]), rel=1e-4)
    result = extensor("train", "--resume", "runs/compiled", "--set", "epochs=4")
    assert result.code == 0, result.err
    assert 'compile = "xla"' in Path("runs", "compiled", "config.toml").read_text()
    result = extensor("train", write_config(), "--device", "moon")
    assert result.code == 2
    assert "device must be one that JAX finds here, ['cpu'], got device='moon'" in result.err
