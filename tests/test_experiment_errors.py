"""Experiments in Python that cannot be: the error names the entry and the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import files, write_data

import extensor as ex
from extensor.errors.messages import KEY_UNKNOWN, RUN_NOT_FOUND, meant
from extensor.train import Checkpoints, EarlyStopping, experiment, load_trained

CONFIG: dict[str, Any] = {
    "epochs": 2,
    "data": {"train": "data.npz", "batch_size": 8},
    "model": {"name": "mlp", "sizes": [4, 8, 3]},
}


@pytest.fixture(autouse=True)
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of two epochs, of six steps each."""
    monkeypatch.chdir(tmp_path)
    write_data()
    experiment(CONFIG, folder="run", callbacks=[]).fit()
    return Path("run")


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no file": (
        {"config": "no.toml"},
        "config: could not read no.toml (No such file or directory)",
    ),
    "no configuration": (
        {"config": 3},
        "config: path must be a string or a Path, or a dict, got path='int'",
    ),
    "unknown entry": (
        {"changes": {"optimizer.lrr": 0.1}},
        KEY_UNKNOWN.text(meant("optimizer.lr"), key="optimizer.lrr"),
    ),
    "wrong kind": (
        {"changes": {"data.batch_size": "many"}},
        "config: data.batch_size must be an integer, got batch_size='many'",
    ),
    "no value of TOML": (
        {"changes": {"model.sizes": [4, {3}]}},
        "config: model.sizes must be a string, a number, true or false, or a list or dict of "
        "them, got type='set'",
    ),
    "no key": ({"config": {**CONFIG, 3: 4}}, "config: keys must be strings, got key=3"),
    "no table": (
        {"changes": {"epochs.more": 1}},
        "changes: epochs must be a table, got key='epochs.more'",
    ),
    "no entry": (
        {"changes": {"data..train": 1}},
        "experiment: changes must name entries, as {'optimizer.lr': 0.01}, got key='data..train'",
    ),
    "no changes": (
        {"changes": ["epochs=3"]},
        "experiment: changes must be a dict of entries and values, as {'optimizer.lr': 0.01}, "
        "got changes='list'",
    ),
    "the past": (
        {"changes": {"resumed.x": 1}},
        "changes: resumed is for the run itself to write, got key='resumed.x'",
    ),
    "no data": ({"changes": {"data": None}}, "config: [data] must be given, got tables="),
    "no effect": (
        {"changes": {"schedule": {"name": "OneCycleLR", "max_lr": 0.1}, "optimizer.lr": 0.2}},
        "config: optimizer.lr has no effect under OneCycleLR; set schedule.max_lr, got lr=0.2",
    ),
    "checkpoints nowhere": (
        {"changes": {"checkpoints.every": 3}},
        "experiment: checkpoints need a folder, or changes={'checkpoints': None}, got folder=None",
    ),
    "a folder of a run": (
        {"folder": "run"},
        "experiment: folder must be new (continue with experiment(resume='run'); overwrite=True moves "
        "the earlier run aside, folder='runs/{time}' is always new), got folder='run'",
    ),
    "resume and config": (
        {"resume": "run"},
        "experiment: a resumed run keeps its configuration and its folder, got resume='run'",
    ),
    "resume and folder": (
        {"config": None, "resume": "run", "folder": "other"},
        "experiment: a resumed run keeps its configuration and its folder, got resume='run'",
    ),
    "checkpoint of nothing": (
        {"checkpoint": "best"},
        "experiment: checkpoint needs resume, which names the run, got checkpoint='best'",
    ),
    "no run": (
        {"config": None, "resume": "walk"},
        RUN_NOT_FOUND.text(run="walk"),
    ),
    "no checkpoint": (
        {"config": None, "resume": "run", "checkpoint": "best"},
        "checkpoint: must be latest or one of ['step-000000006', 'step-000000012'], "
        "got checkpoint='best'",
    ),
    "another run": (
        {"config": None, "resume": "run", "changes": {"model.sizes": [4, 3]}},
        "experiment: model.sizes must stay [4, 8, 3] in this run (for a new run: "
        "experiment('run/config.toml', {'model.sizes': ...})), got sizes=[4, 3]",
    ),
    "epochs that are over": (
        {"config": None, "resume": "run", "changes": {"epochs": 1}},
        "experiment: epochs must be 2 or more, as the run is in epoch 2, got epochs=1",
    ),
    "callbacks": (
        {"callbacks": [EarlyStopping]},
        "experiment: callbacks[0] must be a Callback, such as EarlyStopping(...), not the class, "
        "got callbacks[0]='class EarlyStopping'",
    ),
}


@pytest.mark.parametrize("case", REFUSED, ids=list(REFUSED))
def test_mistakes_are_named_and_nothing_is_written(case: str) -> None:
    before = files()
    given, text = REFUSED[case]
    with pytest.raises((ValueError, TypeError, OSError)) as caught:
        experiment(**{"config": CONFIG, **given})
    said = caught.value.strerror if isinstance(caught.value, OSError) else str(caught.value)
    assert said == text or (text.endswith("=") and str(said).startswith(text))
    assert files() == before


def test_a_damaged_checkpoint_and_the_way_out(run: Path) -> None:
    last = Checkpoints(run / "checkpoints").latest()
    assert last is not None
    content = bytearray(last.read_bytes())
    content[-5] ^= 4
    last.write_bytes(content)
    expected = (
        "load: content must be as it was written (its digest differs), "
        f"got path='{last}'; take a good one: checkpoint='step-000000006'"
    )
    for call in (lambda: load_trained(run), lambda: experiment(resume=run)):
        with pytest.raises(ex.io.DamagedFileError) as caught:
            call()
        assert str(caught.value) == expected
    assert load_trained(run, "step-000000006").evaluate()["loss"] > 0
    assert experiment(resume=run, checkpoint="step-000000006").trainer.step == 6


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        (np.zeros((2, 5)), "data: inputs must have 4 columns, as in "
         "training (the targets are none of them), got columns=5"),
        (np.zeros((0, 4)), "data: inputs must have at least one sample, got samples=0"),
        (np.full((2, 4), np.nan), "data: inputs must have no NaN or infinity, got sample=0, value=nan"),
        (np.float32(1), "predict: inputs must have an axis of samples, got inputs_shape=()"),
        (3, "predict: inputs must be an array, a tensor, a data set or a file, got inputs=3"),
    ],
)  # fmt: skip
def test_inputs_that_cannot_be_predicted(inputs: Any, text: str) -> None:
    trained = load_trained("run")
    with pytest.raises((ValueError, TypeError)) as caught:
        trained.predict(inputs)
    assert str(caught.value) == text
