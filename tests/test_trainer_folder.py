"""The folder of a run that is begun again: a name with the time, or the earlier run moved aside."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from killed_training import contents
from test_trainer import _bytes, _data, _trainer

import extensor as ex
from extensor.train import Callback, Logging, Trainer, experiment

X, Y = _data(16).arrays
CONFIG = {
    "epochs": 1,
    "data": {"name": "digits", "batch_size": 512},
    "model": {"name": "mlp", "sizes": [64, 10]},
}


def _fitted(**options: Any) -> Trainer:
    trainer = _trainer(**options)
    trainer.fit(X, Y, epochs=1)
    return trainer


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def one_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.strftime", lambda form, *_: "2026-01-02_03-04-05")


@pytest.mark.usefixtures("one_second")
def test_the_time_is_a_name_that_is_new() -> None:
    for _ in range(2):
        _fitted(folder="runs/{time}")
    waiting = [_trainer(folder=Path("runs/of-{time}")) for _ in range(2)]  # neither has begun
    for trainer in waiting:
        trainer.fit(X, Y, epochs=1)
        trainer.fit(X, Y, epochs=2)
    assert sorted(path.name for path in Path("runs").iterdir()) == [
        "2026-01-02_03-04-05",
        "2026-01-02_03-04-05_2",
        "of-2026-01-02_03-04-05",
        "of-2026-01-02_03-04-05_2",
    ]
    for trainer in waiting:
        assert trainer.run is not None
        assert len(ex.load(trainer.checkpoints.latest())["history"]) == 2  # type: ignore


def test_the_time_is_that_of_now() -> None:
    trainer = _fitted(folder="runs/{time}")
    assert trainer.run is not None
    assert re.fullmatch(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", trainer.run.path.name)


def test_an_earlier_run_is_moved_aside_when_training_begins() -> None:
    first = _fitted(folder="run", callbacks=[Logging()])
    before = contents(Path("run"))
    second = _trainer(folder="run", overwrite=True, callbacks=[Logging()])
    assert contents(Path("run")) == before
    with pytest.raises(ValueError, match="X and y must have the same number"):
        second.fit(X, Y[:-1])
    assert contents(Path("run")) == before
    second.fit(X, Y, epochs=1)
    assert contents(Path("run-earlier")) == before
    assert contents(Path("run"))["log.jsonl"] != b""
    second.fit(X, Y, epochs=2)  # the same run, which goes on
    assert len(ex.load("run/checkpoints/step-000000002.safetensors")["history"]) == 2
    _fitted(folder="run", overwrite=True)
    assert sorted(path.name for path in Path().iterdir()) == ["run", "run-earlier", "run-earlier_2"]
    assert _bytes(first.model)


def test_a_run_that_is_resumed_is_not_moved() -> None:
    _fitted(folder="run")
    trainer = _trainer(folder="run", overwrite=True)
    assert trainer.resume()
    trainer.fit(X, Y, epochs=2)
    assert (trainer.epoch, [path.name for path in Path().iterdir()]) == (2, ["run"])


def test_new_and_empty_folders_need_no_moving() -> None:
    Path("empty").mkdir()
    for folder in ("new", "empty"):
        _fitted(folder=folder, overwrite=True)
    assert sorted(path.name for path in Path().iterdir()) == ["empty", "new"]


def test_what_is_no_run_is_not_overwritten() -> None:
    Path("thesis").mkdir()
    Path("thesis/chapter.txt").write_text("words")
    text = (
        "fit: overwrite=True is for the folder of a run, or a new one, "
        "got folder='thesis', files=['chapter.txt']"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        _fitted(folder="thesis", overwrite=True)
    assert [path.name for path in Path("thesis").iterdir()] == ["chapter.txt"]
    text = "Trainer: overwrite needs a folder, got folder=None"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        _trainer(overwrite=True)


def test_the_folder_one_works_in_is_not_moved(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fitted(folder="run")
    (here / "run" / "deep").mkdir()
    monkeypatch.chdir(here / "run" / "deep")
    for folder in ("..", here / "run"):
        with pytest.raises(ValueError, match=r"^fit: overwrite=True must not move the folder that"):
            _fitted(folder=folder, overwrite=True)


def test_a_folder_that_others_train_in_is_not_moved() -> None:
    _fitted(folder="run")
    before = contents(Path("run"))
    program = (
        "import sys\nfrom pathlib import Path\nfrom extensor.train.run_folder import locked\n"
        "with locked(Path('run'), 'fit'):\n    print('there', flush=True)\n    sys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program], **pipes, text=True) as other:  # type: ignore
        assert other.stdout is not None
        assert other.stdout.readline() == "there\n"
        with pytest.raises(ValueError, match=r"^fit: folder must be free of other processes"):
            _fitted(folder="run", overwrite=True)
        other.communicate()
    assert {**contents(Path("run")), ".lock": b""} == {**before, ".lock": b""}


def test_a_fit_that_failed_at_once_can_be_tried_again() -> None:
    class Fails(Callback):
        def gradients_known(self, trainer: Trainer) -> None:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        _fitted(folder="run", callbacks=[Logging(), Fails()])
    _fitted(folder="run", callbacks=[Logging()])


class TestExperiment:
    """The same for experiments."""

    @pytest.mark.usefixtures("one_second")
    def test_the_time(self) -> None:
        made = [experiment(CONFIG, folder="runs/{time}", callbacks=[]) for _ in range(2)]
        for one in made:
            one.fit()
        assert sorted(path.name for path in Path("runs").iterdir()) == [
            "2026-01-02_03-04-05",
            "2026-01-02_03-04-05_2",
        ]

    def test_overwriting(self) -> None:
        experiment(CONFIG, folder="run", callbacks=[]).fit()
        before = contents(Path("run"))
        again = experiment(CONFIG, folder="run", overwrite=True, callbacks=[])
        assert contents(Path("run")) == before
        again.fit()
        assert contents(Path("run-earlier")) == before
        different = {name for name, x in contents(Path("run")).items() if x != before[name]}
        assert different == {"timing.jsonl"}
        Path("other").mkdir()
        Path("other/file").write_text("")
        with pytest.raises(ValueError, match=r"^experiment: overwrite=True is for the folder of"):
            experiment(CONFIG, folder="other", overwrite=True)
        with pytest.raises(ValueError, match=r"^experiment: overwrite needs a folder, got folder="):
            experiment(CONFIG, overwrite=True)
        with pytest.raises(ValueError, match=r"^experiment: a resumed run keeps its"):
            experiment(resume="run", overwrite=True)
