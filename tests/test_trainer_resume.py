"""A run that is interrupted and resumed ends with the same bits as one that was not."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from killed_training import EPOCHS, contents, made, run
from test_trainer import _data, _loader, _model, _trainer

import extensor as ex
from extensor.io import DamagedFileError
from extensor.train import Callback, Checkpoints, EarlyStopping, Timing, Trainer, read_log

SCRIPT = str(Path(__file__).with_name("killed_training.py"))
# All of them take some minutes: EXTENSOR_KILLS=50 pytest tests/test_trainer_resume.py
KILLS = int(os.environ.get("EXTENSOR_KILLS", "4"))
STEPS = 5 * EPOCHS


class StopError(Exception):
    pass


class Stop(Callback):
    """Does something at the end of a step; a run that is resumed has one too, which does nothing."""

    def __init__(self, step: int, work: Any) -> None:
        self.step = step
        self.work = work

    def step_ended(self, trainer: Trainer, record: Any) -> None:
        if trainer.step == self.step:
            self.work()


def _raise() -> None:
    raise StopError


def _interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    run(folder, callbacks=[Stop(0, _raise)])
    return contents(folder)


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_stopped_at_any_step(step: int, expected: dict[str, bytes], tmp_path: Path) -> None:
    with pytest.raises(StopError):
        run(tmp_path, callbacks=[Stop(step, _raise)])
    trainer = run(tmp_path, callbacks=[Stop(0, _raise)])
    assert trainer.epoch == EPOCHS
    assert contents(tmp_path) == expected


@pytest.mark.parametrize("step", [1, 5, 8, STEPS])
def test_interrupted_at_any_step(step: int, expected: dict[str, bytes], tmp_path: Path) -> None:
    """Ctrl-C ends the step, saves, and raises; the handler that was there is there again."""
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, callbacks=[Stop(step, _interrupt)])
    assert signal.getsignal(signal.SIGINT) is before
    assert (tmp_path / "checkpoints" / f"step-{step:09d}.safetensors").exists()
    run(tmp_path, callbacks=[Stop(0, _raise)])
    last = f"checkpoints/step-{STEPS:09d}.safetensors"
    found = contents(tmp_path)
    for name in (last, "checkpoints/best.safetensors", "log.jsonl", "log.csv"):
        assert found[name] == expected[name], name


def test_fit_goes_on_after_an_interruption(expected: dict[str, bytes], tmp_path: Path) -> None:
    """In the same process, as in a notebook: nothing is read from the checkpoint."""
    stop = Stop(7, _interrupt)
    trainer, train, validation = made(tmp_path, callbacks=[stop])
    with pytest.raises(KeyboardInterrupt):
        trainer.fit(train, EPOCHS, validation)
    assert (trainer.epoch, trainer.batch) == (1, 4)
    trainer.fit(train, EPOCHS, validation)
    found = contents(tmp_path)
    assert (
        found[f"checkpoints/{_last(tmp_path).name}"]
        == expected[f"checkpoints/{_last(tmp_path).name}"]
    )
    assert found["log.jsonl"] == expected["log.jsonl"]


def test_fit_with_another_loader_begins_the_epoch_again(tmp_path: Path) -> None:
    trainer, train, validation = made(tmp_path, callbacks=[Stop(7, _interrupt)])
    with pytest.raises(KeyboardInterrupt):
        trainer.fit(train, EPOCHS, validation)
    _, other, _ = made(tmp_path)
    trainer.fit(other, 2, validation)
    assert trainer.step == 7 + 5


def test_stopped_again_and_again(expected: dict[str, bytes], tmp_path: Path) -> None:
    for step in (3, 3, 6, 7, 10, 11, 15):
        with pytest.raises(StopError):
            run(tmp_path, callbacks=[Stop(step, _raise)])
    run(tmp_path, callbacks=[Stop(0, _raise)])
    assert contents(tmp_path) == expected


def test_more_epochs_later(expected: dict[str, bytes], tmp_path: Path) -> None:
    run(tmp_path, epochs=1, callbacks=[Stop(0, _raise)])
    run(tmp_path, callbacks=[Stop(0, _raise)])
    assert contents(tmp_path) == expected


def test_a_run_that_is_over_stays_as_it_is(expected: dict[str, bytes], tmp_path: Path) -> None:
    for _ in range(2):
        run(tmp_path, callbacks=[Stop(0, _raise)])
        assert contents(tmp_path) == expected


def test_going_back_to_an_earlier_checkpoint(tmp_path: Path) -> None:
    """In another folder, it ends as it did."""
    run(tmp_path / "a", keep=99)
    trainer, train, validation = made(tmp_path / "b", keep=99)
    trainer.resume(tmp_path / "a" / "checkpoints" / "step-000000004.safetensors")
    assert (trainer.step, trainer.epoch, trainer.batch) == (4, 0, 8)
    trainer.fit(train, EPOCHS, validation)
    first, second = (ex.load(_last(tmp_path / name)) for name in "ab")
    for part in ("model", "optimizer", "ema"):
        for key, value in first[part].items():
            assert np.array_equal(value, second[part][key]), key
    assert first["history"] == second["history"]


def _last(folder: Path) -> Path:
    return folder / "checkpoints" / f"step-{STEPS:09d}.safetensors"


def test_killed_at_system_calls(tmp_path: Path) -> None:
    every = 1 if KILLS >= 50 else 23
    finished = subprocess.run(
        [sys.executable, SCRIPT, "calls", str(tmp_path), str(every)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert int(finished.stdout) >= 5


def test_killed_at_random_moments(tmp_path: Path) -> None:
    seed = int.from_bytes(os.urandom(4), "little")
    finished = subprocess.run(
        [sys.executable, SCRIPT, "moments", str(tmp_path), str(KILLS), str(seed)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert int(finished.stdout) >= KILLS


def test_a_new_run_does_not_write_over_an_old_one(tmp_path: Path) -> None:
    _trainer(folder=tmp_path).fit(_loader(), 1)
    before = contents(tmp_path)
    text = (
        "fit: folder must be new, or resume() be called first (overwrite=True moves the earlier run "
        f"aside, folder='runs/{{time}}' is always new), got folder={str(tmp_path)!r}"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        _trainer(folder=tmp_path).fit(_loader(), 1)
    assert contents(tmp_path) == before


def test_resume_says_whether_there_was_anything(tmp_path: Path) -> None:
    assert not _trainer(folder=tmp_path).resume()
    _trainer(folder=tmp_path).fit(_loader(), 1)
    trainer = _trainer(folder=tmp_path)
    assert trainer.resume()
    assert (trainer.epoch, trainer.step, len(trainer.history)) == (1, 3, 1)


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    trainer = _trainer(folder=tmp_path)
    trainer.fit(_loader(), 1)
    (path,) = (tmp_path / "checkpoints").iterdir()
    content = bytearray(path.read_bytes())
    content[-5] ^= 4
    path.write_bytes(content)
    fresh = _trainer(folder=tmp_path)
    before = [p.numpy().copy() for p in fresh.model.parameters()]
    with pytest.raises(DamagedFileError, match=str(path)):
        fresh.resume()
    for parameter, value in zip(fresh.model.parameters(), before, strict=True):
        np.testing.assert_array_equal(parameter.numpy(), value)


def test_a_good_checkpoint_is_named_if_the_last_is_damaged(tmp_path: Path) -> None:
    _trainer(folder=tmp_path).fit(_loader(), 3)
    first, second, last = sorted((tmp_path / "checkpoints").iterdir())
    for path in (last, second):
        path.write_bytes(path.read_bytes()[:-1])
    fresh = _trainer(folder=tmp_path)
    with pytest.raises(DamagedFileError) as caught:
        fresh.resume()
    assert f"got path={str(last)!r}" in str(caught.value)
    assert str(caught.value).endswith(f"; the last good one is for resume({str(first)!r})")
    assert fresh.resume(first)
    fresh.fit(_loader(), 2)
    assert fresh.checkpoints is not None
    assert fresh.checkpoints.latest() == second  # of what was done now
    assert sorted(path.name for path in last.parent.iterdir())[:2] == [
        f"left-{second.name}",
        f"left-{last.name}",
    ]


def test_fit_can_be_tried_again_after_going_back(tmp_path: Path) -> None:
    _trainer(folder=tmp_path, callbacks=[Stop(0, _raise)]).fit(_loader(), 3)
    trainer = _trainer(folder=tmp_path, callbacks=[Stop(4, _raise)])
    trainer.resume(tmp_path / "checkpoints" / "step-000000003.safetensors")
    with pytest.raises(StopError):
        trainer.fit(_loader(), 3)
    trainer.fit(_loader(), 3)
    assert trainer.epoch == 3


def _rates(folder: Path, epochs: int, **options: Any) -> list[float]:
    """Train on in ``folder`` with an optimizer that is made with ``options``."""
    model = _model()
    made = {"lr": 0.1, "momentum": 0.5, **options}
    schedule = made.pop("schedule", None)
    callbacks = made.pop("callbacks", [])
    optimizer = ex.optim.SGD(model.parameters(), **made)
    if schedule is not None:
        ex.optim.ExponentialLR(optimizer, schedule)
    trainer = _trainer(model, optimizer=optimizer, folder=folder, callbacks=callbacks)
    trainer.resume()
    rates = [record["lr"] for record in trainer.fit(_loader(), epochs)]
    assert optimizer.param_groups[0]["momentum"] == made["momentum"]
    return rates


def test_another_optimizer_takes_effect_on_resume(tmp_path: Path) -> None:
    assert _rates(tmp_path, 1) == [0.1]
    assert _rates(tmp_path, 2, lr=0.3, momentum=0.8) == [0.1, 0.3]
    assert _rates(tmp_path, 3, lr=0.3, momentum=0.8) == [0.1, 0.3, 0.3]
    assert _rates(tmp_path, 4, lr=0.1) == [0.1, 0.3, 0.3, 0.1]


def test_a_schedule_goes_on_with_another_rate(tmp_path: Path) -> None:
    assert _rates(tmp_path, 2, schedule=0.5) == [0.1, 0.05]
    assert _rates(tmp_path, 3, schedule=0.5, lr=0.4) == [0.1, 0.05, 0.1]
    assert _rates(tmp_path, 4, schedule=0.1, lr=0.4)[3] == pytest.approx(0.0004)


class Halves(Callback):
    def epoch_ended(self, trainer: Trainer, record: Any) -> None:
        trainer.optimizer.param_groups[0]["lr"] /= 2


def test_what_was_changed_while_training_is_kept(tmp_path: Path) -> None:
    """The optimizer is made as it was, so nobody has asked for anything else."""
    assert _rates(tmp_path, 2, callbacks=[Halves()]) == [0.1, 0.05]
    assert _rates(tmp_path, 3, callbacks=[Halves()]) == [0.1, 0.05, 0.025]
    assert _rates(tmp_path, 4, callbacks=[Halves()], lr=0.2) == [0.1, 0.05, 0.025, 0.2]


def test_an_option_that_is_none_can_be_given_later(tmp_path: Path) -> None:
    class Own(ex.optim.SGD):
        def __init__(self, params: Any, note: float | None) -> None:
            super().__init__(params, lr=0.1)
            self.param_groups[0]["note"] = note

    for note in (None, 0.5, None):
        model = _model()
        optimizer = Own(model.parameters(), note)
        trainer = _trainer(model, optimizer=optimizer, folder=tmp_path)
        trainer.resume()
        trainer.fit(_loader(), trainer.epoch + 1)
        assert optimizer.param_groups[0]["note"] == note


@pytest.mark.parametrize(
    ("monitor", "mode", "best"),
    [
        ("validation_loss", "min", 0.25),
        ("loss", "min", np.inf),
        ("validation_loss", "max", -np.inf),
    ],
)
def test_the_best_of_another_number_is_not_taken_over(monitor: str, mode: str, best: float) -> None:
    before = EarlyStopping("validation_loss")
    before.improved({"validation_loss": 0.25})
    before.improved({"validation_loss": 0.5})
    after = EarlyStopping(monitor, mode=mode)
    after.load_state_dict(before.state_dict())
    assert (after.best, after.bad) == (best, int(best == 0.25))
    after.load_state_dict({"best": 0.125, "bad": 2})  # what the first release wrote
    assert (after.best, after.bad) == (0.125, 2)


def test_times_of_epochs_are_not_repeated(tmp_path: Path) -> None:
    """Also if it was killed between the line and the checkpoint, or within the line."""

    def timed() -> Trainer:
        trainer = _trainer(folder=tmp_path, callbacks=[Timing()])
        trainer.resume()
        return trainer

    timed().fit(_loader(), 2)
    path = tmp_path / "timing.jsonl"
    path.write_text(path.read_text() + '{"epoch": 3, "seconds": 1.0}\n{"epo')
    timed().fit(_loader(), 4)
    assert [line["epoch"] for line in read_log(path)] == [1, 2, 3, 4]
    assert len(path.read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"callbacks": [Callback()]}, r"Trainer: callbacks must be \[\], got callbacks="),
        ({"ema": True}, r"Trainer: checkpoint must have 1 averages, got averages=0"),
        ({"model": True}, r"Sequential.load_state_dict: "),
        ({"schedule": True}, r"Trainer: checkpoint must have 1 schedules, got schedules=0"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(
    options: dict[str, Any], text: str, tmp_path: Path
) -> None:
    _trainer(folder=tmp_path).fit(_loader(), 1)
    model = _model(0, ex.nn.Linear(8, 8)) if options.pop("model", False) else _model()
    if options.get("ema"):
        options["ema"] = ex.optim.EMA(model)
    optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    if options.pop("schedule", False):
        ex.optim.StepLR(optimizer, 1)
    trainer = _trainer(model, optimizer=optimizer, folder=tmp_path, **options)
    with pytest.raises(ValueError, match=f"^{text}"):
        trainer.resume()


def test_a_file_of_weights_is_no_checkpoint(tmp_path: Path) -> None:
    ex.save(tmp_path / "a", _model().state_dict())
    with pytest.raises(ValueError, match=r"^resume: path must be a checkpoint of a run, got path="):
        _trainer().resume(tmp_path / "a")


def test_a_full_disk_leaves_the_old_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = _trainer(folder=tmp_path)
    trainer.fit(_loader(), 1)
    (path,) = (tmp_path / "checkpoints").iterdir()
    before = path.read_bytes()

    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match=r"save: could not write .* [(]No space left on device[)]"):
        trainer.save()
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_policy_of_checkpoints(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "c", keep=2)
    assert checkpoints.latest() is None
    for step in (1, 2, 3, 11):
        checkpoints.save({"step": step}, step)
    checkpoints.save_as("best", {"step": 2})
    (tmp_path / "c" / "step-notes.safetensors").write_bytes(b"of a user")
    checkpoints.save({"step": 5}, 5)  # from step 3, which somebody went back to
    names = sorted(path.name for path in (tmp_path / "c").iterdir())
    assert names == [
        "best.safetensors",
        "step-000000003.safetensors",
        "step-000000005.safetensors",
        "step-000000011.safetensors",
        "step-notes.safetensors",
    ]
    assert checkpoints.latest() == tmp_path / "c" / "step-000000011.safetensors"
    with pytest.raises(ValueError, match=r"^Checkpoints: keep must be 1 or more, got keep=0$"):
        Checkpoints(tmp_path, keep=0)


def test_a_loader_without_a_state(tmp_path: Path) -> None:
    """Epochs are saved and resumed; checkpoints within them are refused."""
    x, y = _data().arrays
    batches = [(ex.tensor(x[i : i + 8]), ex.tensor(y[i : i + 8])) for i in (0, 8, 16)]
    whole = _trainer(folder=tmp_path / "a")
    whole.fit(batches, 3)
    _trainer(folder=tmp_path / "b").fit(batches, 1)
    parts = _trainer(folder=tmp_path / "b")
    parts.resume()
    parts.fit(batches, 3)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    text = "fit: checkpoints within an epoch need a loader with a state_dict, got train='list'"
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        _trainer(folder=tmp_path / "c", checkpoint_every=1).fit(batches, 1)


@pytest.mark.parametrize("step", [1, 3, 4, 6, 9])
@pytest.mark.parametrize("shares_generator", [False, True])
def test_chance_in_validation_goes_on(tmp_path: Path, step: int, shares_generator: bool) -> None:
    """Its order, and noise that a transform makes: the values of later epochs depend on both."""

    def noise(batch: Any, generator: Any) -> Any:
        x, y = batch
        return x + ex.random.randn(*x.shape, generator=generator).numpy(), y

    def trained(folder: Path, stop: int) -> dict[str, bytes]:
        ex.random.manual_seed(2)
        x = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
        samples = ex.data.ArrayDataset(x, x[:, :1])
        chance = ex.random.Generator(5)
        other = chance if shares_generator else ex.random.Generator(6)
        train = ex.data.DataLoader(samples, 4, shuffle=True, generator=chance)
        held = ex.data.DataLoader(samples, 5, shuffle=True, transform=noise, generator=other)
        model = ex.nn.Linear(3, 1)
        optimizer = ex.optim.SGD(model.parameters(), lr=0.01)
        callbacks = [Stop(stop, _raise), ex.train.Logging(1)]
        trainer = Trainer(
            model, ex.mse_loss, optimizer, callbacks=callbacks, folder=folder, checkpoint_every=1
        )
        trainer.resume()
        trainer.fit(train, 4, held)
        return contents(folder)

    expected = trained(tmp_path / "undisturbed", 0)
    with pytest.raises(StopError):
        trained(tmp_path / "run", step)
    assert trained(tmp_path / "run", 0) == expected
