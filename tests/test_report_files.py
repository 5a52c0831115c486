"""The report of a file's run: what it shows is of the epoch whose weights are handed on."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import tolerances
from commands import extensor
from own_files import write_table

from extensor.report import examine_experiment
from extensor.train import load_trained, read_log

# The rate grows until all that was learned is lost.
WORSE = [
    word
    for change in ("epochs=6", "data.batch_size=8", "schedule={name='ExponentialLR', gamma=9.0}")
    for word in ("--set", change)
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr("extensor.cli.report_command.write_plots", lambda _: None)  # most of the time
        assert extensor("train", write_table(), "--name", "a", *WORSE).code == 0
    return place / "runs" / "a"


@pytest.fixture(autouse=True)
def _there(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run.parents[1])
    monkeypatch.setattr("extensor.cli.report_command.write_plots", lambda _: None)


def _facts() -> dict[str, str]:
    text = Path("runs/a/report.html").read_text()
    return {name: value for value, name in re.findall(r"<div><b>([^<]*)</b>([^<]*)</div>", text)}


def test_the_model_of_the_checkpoint_is_examined() -> None:
    counts = {}
    for name in ("best", "latest"):
        trained = load_trained("a", name)
        inputs, truth = trained.experiment.test_data.arrays  # type: ignore[attr-defined]
        outputs = trained.model(inputs).numpy()
        expected = np.zeros((3, 3), int)
        np.add.at(expected, (truth, outputs.argmax(axis=1)), 1)
        found = examine_experiment(trained.experiment)
        assert found is not None
        np.testing.assert_array_equal(found.confusion, expected)
        # Without kernels, the bits of NumPy's products depend on the number of rows.
        tolerances.assert_close(trained.experiment.test_outputs(), outputs, "float32")
        counts[name] = outputs
    assert not np.array_equal(counts["best"], counts["latest"])


def test_without_a_name_it_is_the_best_as_after_training() -> None:
    after = Path("runs/a/report.html").read_text()
    for checkpoint, same in (("latest", False), (None, True), ("best", True)):
        chosen = [] if checkpoint is None else ["--checkpoint", checkpoint]
        assert extensor("report", "a", *chosen).code == 0
        assert (Path("runs/a/report.html").read_text() == after) == same


def test_the_figures_are_of_the_best_epoch() -> None:
    *_, test = read_log("runs/a/log.jsonl")
    epochs = [record for record in read_log("runs/a/log.jsonl") if record["event"] == "epoch"]
    best = min(epochs, key=lambda record: record["validation_loss"])
    assert best["epoch"] < epochs[-1]["epoch"] == 6
    facts = _facts()
    assert facts["best epoch"] == str(best["epoch"])
    assert facts["validation accuracy"] == f"{best['validation_accuracy']:.2%}"
    assert facts["training accuracy"] == f"{best['accuracy']:.2%}"
    assert float(facts["validation loss"]) == pytest.approx(best["validation_loss"], rel=1e-3)
    trained = load_trained("a").evaluate()
    assert test["event"] == "test"
    for name in ("accuracy", "f1"):
        assert test[name] == trained[name]
        assert facts[f"test {name}"] == f"{trained[name]:.2%}"
    assert f"best loss: epoch {best['epoch']}" in Path("runs/a/report.html").read_text()


def test_what_was_found_in_the_data_is_shown() -> None:
    page = Path("runs/a/report.html").read_text()
    assert "<h2>Data</h2>" in page
    assert "divided: 63 to train on, 9 for validation, 18 for the test" in page
