"""What a trainer and the commands do because there are several workers, without starting any."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import COMMAND, ENVIRONMENT, extensor
from test_distributed_steps import Told

import extensor as ex
from extensor.data import ArrayDataset, DataLoader, SequentialSampler, ShardSampler
from extensor.data.epoch_batches import ReadingChance
from extensor.train import Callback, GradientHealth, Trainer, batch_sharding
from extensor_cli import parser

X = np.random.default_rng(0).normal(size=(24, 6)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 3, 24)
CHANCE = ReadingChance(0, 0)


def made(**options: Any) -> Trainer:
    ex.random.manual_seed(4)
    model = ex.nn.Linear(6, 3)
    optimizer = ex.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return Trainer(model, ex.cross_entropy, optimizer, callbacks=[], **options)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
def test_outputs_arrive_as_they_were(dtype: str) -> None:
    arrays = [np.ones(shape, ex.zeros(1, dtype).dtype) for shape in ((2, 3), (), (0, 4), (5,))]
    found = batch_sharding.unpack_arrays(batch_sharding.pack_arrays(arrays))
    for array, tensor in zip(arrays, found, strict=True):
        assert (tensor.shape, tensor.dtype) == (array.shape, array.dtype)
        assert np.asarray(tensor).tobytes() == array.tobytes()


def test_the_first_worker_uses_all_outputs_in_their_order() -> None:
    class Gathered(Told):
        def to_first(self, data: bytes, what: str) -> list[bytes]:
            return [data, *self.told]

    others = [batch_sharding.pack_arrays([np.array([n]), np.array([-n])]) for n in (1, 2)]
    used: list[tuple[float, float]] = []
    workers = Gathered(*others)
    every = batch_sharding.OutputGathering(
        workers, lambda output, y: used.append((output.item(), y.item()))
    )
    every.put(ex.tensor([0]), ex.tensor([0]))
    every.tell()
    assert used == [(0, 0), (1, -1), (2, -2)]


def test_outputs_must_be_tensors_to_be_sent() -> None:
    workers = Told(b"")
    workers.rank = 1
    with pytest.raises(TypeError, match="metrics need one tensor as output and target"):
        batch_sharding.OutputGathering(workers, lambda *_: None).put((1, 2), ex.zeros(1))


def check_start(trainer: Trainer, workers: Told, train: Any, validation: Any) -> None:
    trainer.workers = workers
    loaders = {"train": train, "validation": validation}
    trainer.take_step.check_start(loaders, [], trainer.step)


def test_a_loader_that_is_cut_already_is_refused() -> None:
    loader = DataLoader(ArrayDataset(X, Y), 6, sampler=ShardSampler(SequentialSampler(24), 0, 2))
    with pytest.raises(ValueError, match="fit: train must have the samples of all workers"):
        check_start(made(micro_batches=2), Told(b"{}"), loader, None)


def test_other_data_for_validation_are_refused() -> None:
    trainer = made(micro_batches=2)
    train, validation = (DataLoader(ArrayDataset(x, Y), 6) for x in (X, X + 1))
    said: list[bytes] = []

    class Listening(Told):
        def gather(self, data: bytes, what: str) -> list[bytes]:
            said.append(data)
            return [data, *self.told]

    with pytest.raises(ValueError, match="all workers must have the same version of extensor"):
        check_start(trainer, Listening(b"{}"), train, validation)
    check_start(trainer, Listening(said[0]), train, validation)
    with pytest.raises(ValueError, match="all workers must have the same data for validation"):
        check_start(trainer, Listening(said[0]), train, train)


def test_all_stop_if_one_does() -> None:
    trainer = made(micro_batches=2)
    step = trainer.take_step
    assert step.is_any(True, "whether to stop")
    assert not step.is_any(False, "whether to stop")
    trainer.workers = Told(b"0", b"1")
    assert step.is_any(False, "whether to stop")
    trainer.workers = Told(b"0", b"0")
    assert not step.is_any(False, "whether to stop")


def test_only_the_first_worker_writes_and_shows() -> None:
    class Showing(Callback):
        only_first = True

    callbacks = [Showing(), GradientHealth()]
    trainer = made(micro_batches=2)
    trainer.callbacks = callbacks
    assert trainer.active_callbacks() == callbacks
    other = Told(b"")
    other.rank = 1
    trainer.workers = other
    assert trainer.active_callbacks() == callbacks[1:]


def test_gradients_are_given_to_callbacks_that_want_them() -> None:
    class Every(GradientHealth):
        def gradients_known(self, trainer: Trainer) -> None:
            seen.append(trainer.step)

    seen: list[int] = []
    trainer = made()
    trainer.callbacks = [Every(every=50)]
    trainer.fit(DataLoader(ArrayDataset(X, Y), 8), 1)
    assert seen == [0, 1, 2]


def test_an_optimizer_is_whole_after_an_error() -> None:
    class Failing(Callback):
        def step_ended(self, trainer: Trainer, record: Any) -> None:
            raise RuntimeError("enough")

    trainer = made(micro_batches=2, shard_optimizer=True)
    trainer.callbacks = [Failing()]
    with pytest.raises(RuntimeError, match="enough"):
        trainer.fit(DataLoader(ArrayDataset(X, Y), 8), 1)
    assert any("momentum" in key for key in trainer.optimizer.state_dict())


@pytest.mark.parametrize("command", ["sweep", "evaluate", "predict", "report", "tune-lr"])
def test_other_commands_are_for_one_process(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PMI_SIZE", "2")
    words = {"evaluate": ["run"], "predict": ["run", "x"], "report": ["run"]}.get(command, [])
    result = extensor(command, *words)
    assert result.code == 2
    text = f"extensor {command}: {command}: must be run by one process"
    assert result.err.startswith(text), result.err
    assert list(tmp_path.iterdir()) == []


SETTABLE = [
    action
    for action in parser().commands.choices["train"]._actions
    if action.option_strings and action.dest not in {"help", "launcher", "restarts"}
]


@pytest.mark.parametrize("action", SETTABLE, ids=lambda action: action.dest)
def test_a_launcher_is_given_every_option(action: Any, tmp_path: Path) -> None:
    """An option added to the command reaches the workers, or this test has no way to set it."""
    value = "3" if action.type is int else next(iter(action.choices or ["x"]))
    words = [action.option_strings[0], *([value] if action.nargs != 0 else [])]
    launcher = tmp_path / "launcher"
    launcher.write_text('printf "%s\\n" "$@" > words\nexit 1\n')
    command = [*COMMAND, "train", *words, "--launcher", f"sh {launcher}", "--", "a.csv"]
    assert subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, timeout=60).returncode == 1
    given = (tmp_path / "words").read_text().splitlines()
    again = vars(parser().parse_args(given[given.index("train") :]))
    expected = vars(parser().parse_args(["train", *words, "--", "a.csv"]))
    if action.dest not in ("name", "resume"):
        expected["name"] = again["name"]  # the time
    assert again == expected


def test_restarts_need_a_launcher() -> None:
    result = extensor("train", "--restarts", "2")
    assert result.code == 2
    assert re.search("--restarts: needs --launcher, which says how workers are started", result.err)


def test_an_end_that_was_asked_for_is_no_reason_to_restart(tmp_path: Path) -> None:
    """Whatever a launcher makes of a signal: srun gives the exit code of killed workers."""
    launcher = tmp_path / "launcher"
    launcher.write_text(
        "echo started >> attempts\ntrap 'exit 137' TERM\nkill -TERM $PPID\nsleep 20 & wait\n"
    )
    words = ["train", "--name", "x", "--launcher", f"sh {launcher}", "--restarts", "2"]
    done = subprocess.run([*COMMAND, *words], cwd=tmp_path, env=ENVIRONMENT, timeout=60)
    assert done.returncode == 128 + signal.SIGTERM
    assert (tmp_path / "attempts").read_text() == "started\n"


class Half(Told):
    """Worker 0 of 2; the other one says what it is told to say."""

    def __init__(self, change: Any = lambda data: data) -> None:
        super().__init__(b"")
        self.size, self.change = 2, change

    def gather(self, data: bytes, what: str) -> list[bytes]:
        return [data, self.change(data)]


def parts_of(loader: Any, workers: Any) -> list[Any]:
    return list(batch_sharding.sharded_batches(loader, 0, 1, 2, workers, CHANCE))


class Reversed:
    """A sampler of one's own."""

    def __len__(self) -> int:
        return 24

    def order(self, generator: Any) -> Any:
        return np.arange(24)[::-1]


def test_an_order_of_ones_own_must_be_that_of_all_workers() -> None:
    loader = DataLoader(ArrayDataset(X, Y), 6, sampler=Reversed())
    assert len(parts_of(loader, Half())) == 4
    with pytest.raises(ValueError, match="all workers must have the same order of samples"):
        parts_of(loader, Half(lambda data: b"{}"))


def test_batches_of_ones_own_must_be_those_of_all_workers() -> None:
    batches = [(X[:6], Y[:6]), (X[6:], Y[6:])]
    assert len(parts_of(batches, Half())) == 2
    with pytest.raises(ValueError, match="all workers must have the same first batch of an epoch"):
        parts_of(batches, Half(lambda data: b"{}"))


def test_data_that_draw_from_the_default_generator_are_refused() -> None:
    class Noise(ArrayDataset):
        def batch(self, indices: Any) -> Any:
            x, y = super().batch(indices)
            return x + ex.random.randn(*x.shape).numpy(), y

    with pytest.raises(ValueError, match="data must not draw from the default generator"):
        parts_of(DataLoader(Noise(X, Y), 6), Half())


@pytest.mark.parametrize("accumulate", [1, 4])  # of four batches a worker has some as a whole
def test_a_transform_that_changes_the_number_of_samples_is_refused(accumulate: int) -> None:
    def doubled(batch: Any, generator: Any) -> Any:
        return tuple(np.concatenate([part, part]) for part in batch)

    loader = DataLoader(ArrayDataset(X, Y), 6, transform=doubled)
    with pytest.raises(ValueError, match="a transform must keep the number of samples"):
        list(batch_sharding.sharded_batches(loader, 0, accumulate, 2, Half(), CHANCE))
