"""The folder of a run: logs, table, times, descriptions, and what is shown while it is written."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_trainer import _loader, _model, _trainer

import extensor as ex
from extensor.io.toml import as_toml
from extensor.train import (
    Accuracy,
    BestCheckpoint,
    ConfusionMatrix,
    GradientHealth,
    Logging,
    Progress,
    TensorBoard,
    default_callbacks,
    read_log,
)


def test_a_run_folder_has_what_a_report_needs(tmp_path: Path) -> None:
    trainer = _trainer(
        folder=tmp_path,
        callbacks=default_callbacks(folder=True),
        metrics={"accuracy": Accuracy(), "confusion": ConfusionMatrix(2)},
        config={"seed": 3, "optimizer": {"lr": 0.1}},
    )
    history = trainer.fit(_loader(), 20, _loader())
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".lock", "checkpoints", "config.toml", "log.csv", "log.jsonl", "machine.json", "timing.jsonl",
    ]  # fmt: skip
    assert tomllib.loads((tmp_path / "config.toml").read_text()) == trainer.config
    machine = json.loads((tmp_path / "machine.json").read_text())
    assert (machine["extensor"], machine["numpy"]) == (ex.__version__, np.__version__)
    records = read_log(tmp_path / "log.jsonl")
    assert [r for r in records if r["event"] == "epoch"] == history
    assert [r["step"] for r in records if r["event"] == "step"] == [50]
    assert [r["step"] for r in records if r["event"] == "gradients"] == [50]
    assert np.array(history[-1]["validation_confusion"]).sum() == 24
    with (tmp_path / "log.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "epoch",
        "step",
        "loss",
        "lr",
        "validation_loss",
        "validation_accuracy",
    ]
    assert [float(row["loss"]) for row in rows] == [r["loss"] for r in history]
    times = read_log(tmp_path / "timing.jsonl")
    assert [line["epoch"] for line in times] == list(range(1, 21))
    for line in times:
        assert line["samples_per_second"] == pytest.approx(24 / line["seconds"])


def test_a_log_that_was_cut_short_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text('{"step": 1}\n{"step": 2}\n{"ste')
    assert read_log(tmp_path / "a") == [{"step": 1}, {"step": 2}]


def test_records_of_ones_own(tmp_path: Path) -> None:
    class Own(Logging):
        def step_ended(self, trainer: Any, record: Any) -> None:
            trainer.log({"event": "own", "values": np.arange(2), "tensor": ex.ones(1)})

    trainer = _trainer(folder=tmp_path, callbacks=[Own()])
    trainer.fit(_loader(24), 1)
    assert read_log(tmp_path / "log.jsonl")[0] == {
        "event": "own",
        "values": [0, 1],
        "tensor": [1.0],
    }
    _trainer(callbacks=[]).log({"event": "nowhere"})


def test_gradient_health_finds_what_does_not_learn(tmp_path: Path) -> None:
    model = _model()
    model[2].weight.detach().numpy()[...] = 0  # nothing reaches the first layer
    trainer = _trainer(model, folder=tmp_path, callbacks=[Logging(), GradientHealth(every=1)])
    trainer.fit(_loader(24), 1)
    (record,) = [r for r in read_log(tmp_path / "log.jsonl") if r["event"] == "gradients"]
    assert record["zero"] == ["0.weight", "0.bias"]
    assert record["not_finite"] == []
    for name, parameter in model.named_parameters():
        assert record["norms"][name] == pytest.approx(np.linalg.norm(parameter.grad.numpy()))


def test_best_checkpoint(tmp_path: Path) -> None:
    best = BestCheckpoint("validation_accuracy", mode="max")
    trainer = _trainer(lr=0.5, folder=tmp_path, callbacks=[best], metrics={"accuracy": Accuracy()})
    history = trainer.fit(_loader(), 8, _loader())
    values = [record["validation_accuracy"] for record in history]
    saved = ex.load(tmp_path / "checkpoints" / "best.safetensors")
    assert best.best == max(values)
    assert saved["progress"]["epoch"] == 1 + values.index(max(values))


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"a": 1, "b": 1.5, "c": "x", "d": True, "e": [1, 2.5, "y"], "f": []},
        {"t": {"u": {"v": 1}, "w": 2}, "last": -1},
        {"quotes": 'a "b" \\ \n\t\x00\x7f ü 😀', "a key": 1, "ü": 2, "a.b": {"c d": 3}, "": 4},
        {"float": [1e-300, 1e22, float("inf"), -0.0], "big": 2**62},
    ],
)
def test_toml_is_read_back(config: dict[str, Any]) -> None:
    assert tomllib.loads(as_toml(config)) == config


def test_toml_leaves_out_none_and_refuses_objects() -> None:
    assert tomllib.loads(as_toml({"a": None, "b": {"c": None}})) == {"b": {}}
    with pytest.raises(TypeError) as caught:
        as_toml({"a": {"b": print}})
    assert str(caught.value) == (
        "Trainer: config must hold dicts, strings, numbers, booleans and lists, "
        "got key='a.b', type='builtin_function_or_method'"
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensor.train.callbacks._REFRESH", 0.0)
    monkeypatch.setenv("COLUMNS", "200")
    stream = Terminal()
    trainer = _trainer(callbacks=[Progress(stream)])
    trainer.fit(_loader(), 2, _loader())
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())
    pictures = re.findall(
        r"epoch (\d)/2  loss \d\.\d{4}  [\d,]+ samples/s  \d+\.\d s left [^\r\n]*? (\d+)%", text
    )
    assert [int(percent) for _, percent in dict.fromkeys(pictures)] == [17, 33, 50, 67, 83, 100]
    assert len(re.findall(r"epoch \d/2  loss [\d.]+  lr 0\.1  validation_loss ", text)) == 2


def test_progress_elsewhere_is_a_line_for_each_epoch() -> None:
    stream = io.StringIO()
    _trainer(callbacks=[Progress(stream)]).fit(_loader(), 2, _loader())
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    pattern = (
        r"epoch 2/2  loss [\d.]+  lr 0\.1  validation_loss [\d.]+  [\d,]+ samples/s  \d+\.\d s"
    )
    assert re.fullmatch(pattern, lines[1])


def test_tensorboard_that_is_not_installed(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    text = "TensorBoard: tensorboardX must be installed, see pip install extensor[tensorboard]"
    with pytest.raises(ImportError, match=f"^{re.escape(text)}$"):
        _trainer(folder=tmp_path, callbacks=[TensorBoard()]).fit(_loader(), 1)
