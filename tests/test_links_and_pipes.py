"""Links, pipes and devices in the place of files: nothing is written through them or waits on them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands import CONFIG, extensor, write_data

import extensor as ex
from extensor import data
from extensor.cli import report_command as report
from extensor.cli.trial_processes import Job, run_side_by_side
from extensor.data import ShardedDataset
from extensor.data.streaming.index import read_index
from extensor.experiments.factories import write_test
from extensor.experiments.sweeps import Asked, Space, Sweep
from extensor.report import write_report
from extensor.train import (
    Checkpoints,
    Predictor,
    RunFolder,
    TensorBoard,
    experiment,
    load_trained,
    read_log,
)

MARKER = Path("marker")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data and a run of one epoch."""
    folder = tmp_path_factory.mktemp("trained")
    before = Path.cwd()
    os.chdir(folder)
    try:
        write_data()
        Path("mine.toml").write_text(CONFIG)
        experiment("mine.toml", {"epochs": 1}, folder="run", callbacks=[]).fit()
    finally:
        os.chdir(before)
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a copy of the folder."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(report, "write_plots", lambda run: None)  # which take long


@pytest.fixture
def alarm() -> Iterator[None]:
    """End a test that waits, which would otherwise be for ever."""

    def ring(*_: object) -> None:
        raise AssertionError("the reader waits")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _swept() -> Sweep:
    config = {"epochs": 1, "data": {"train": "data.npz"}, "model": {"name": "mlp", "sizes": [4, 3]}}
    asked = Asked([], 2, 0, False, "validation_accuracy", 1, "a", False, False, config)
    return Sweep(Path("swept"), asked, {}, Space({}))


def _victim(name: str, content: bytes = b"mine\n") -> Path:
    path = Path(name)
    path.write_bytes(content)
    return path


WRITTEN = [".lock", "log.jsonl", "timing.jsonl"]  # files of a run that are written into


def _resumed(**options: Any) -> Any:
    return experiment(resume="run", changes={"epochs": 2}, callbacks=[], **options)


@pytest.mark.parametrize("kind", ["symbolic", "dangling", "hard"])
@pytest.mark.parametrize("name", WRITTEN)
def test_a_run_does_not_write_through_links(name: str, kind: str) -> None:
    path = Path("run", name)
    content = path.read_bytes()
    victim = _victim("victim", content + b"mine\n")
    path.unlink()
    if kind == "hard":
        os.link(victim, path)
    else:
        path.symlink_to(victim.absolute() if kind == "symbolic" else Path("gone").absolute())
    if (name, kind) == ("timing.jsonl", "hard"):
        _resumed().fit()  # which writes the lines of earlier epochs into a new file first
    else:
        with pytest.raises(OSError, match="not be a link") as caught:
            _resumed().fit()
        assert caught.value.filename == f"run/{name}"
    assert victim.read_bytes() == content + b"mine\n"
    assert not Path("gone").exists()


def test_a_linked_log_is_not_appended_to_by_the_test() -> None:
    victim = _victim("victim")
    Path("run/log.jsonl").unlink()
    Path("run/log.jsonl").symlink_to(victim.absolute())
    with pytest.raises(OSError, match="not be a link"):
        write_test(RunFolder("run"), 1, {"loss": 0.5})
    assert victim.read_bytes() == b"mine\n"


def test_a_linked_folder_of_checkpoints_is_only_read() -> None:
    shutil.move("run/checkpoints", "elsewhere")
    for step in (1, 2, 3):
        shutil.copy(
            next(Path("elsewhere").glob("step-*")), f"elsewhere/step-00000000{step}.safetensors"
        )
    Path("elsewhere/.a.partial").touch()
    Path("run/checkpoints").symlink_to(Path("elsewhere").absolute())
    before = {path.name: path.stat().st_mtime_ns for path in Path("elsewhere").iterdir()}
    assert load_trained("run").evaluate()["loss"] > 0
    with pytest.raises(OSError, match="not be a link"):
        _resumed().fit()
    made = Checkpoints("run/checkpoints", keep=1)
    for write in (lambda: made.save({}, 9), lambda: made.tidy(9), lambda: made.set_aside(0)):
        with pytest.raises(OSError, match="not be a link"):
            write()
    assert {path.name: path.stat().st_mtime_ns for path in Path("elsewhere").iterdir()} == before


REPLACED = ["config.toml", "machine.json", "log.csv", "report.html"]


@pytest.mark.parametrize("name", REPLACED)
def test_other_files_of_a_run_replace_a_link_and_not_its_target(name: str) -> None:
    path = Path("run", name)
    content = path.read_bytes() if path.exists() else b"mine\n"
    victim = _victim("victim", content)
    path.unlink(missing_ok=True)
    path.symlink_to(victim.absolute())
    _resumed().fit()
    write_report(RunFolder("run"))
    assert victim.read_bytes() == content
    assert not path.is_symlink()


def test_a_checkpoint_replaces_a_link_and_not_its_target() -> None:
    victim = _victim("victim")
    Path("run/checkpoints/best.safetensors").unlink(missing_ok=True)
    Path("run/checkpoints/best.safetensors").symlink_to(victim.absolute())
    made = _resumed()
    made.fit()
    made.trainer.save("best")
    assert victim.read_bytes() == b"mine\n"


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_tensorboard_does_not_cut_a_linked_file(kind: str) -> None:
    pytest.importorskip("tensorboardX")
    victim = _victim("victim")
    path = Path("run/events.out.tfevents.1.a.9.extensor")
    os.link(victim, path) if kind == "hard" else path.symlink_to(victim.absolute())
    trainer = SimpleNamespace(run=RunFolder("run"), step=0)
    with pytest.raises(OSError, match="not be a link"):
        TensorBoard().fit_began(trainer)  # type: ignore[arg-type]
    assert victim.read_bytes() == b"mine\n"


def test_a_linked_folder_of_a_trial_is_refused() -> None:
    Path("swept").mkdir()
    shutil.copytree("run", "elsewhere")
    Path("swept/trial-001").symlink_to(Path("elsewhere").absolute())
    with pytest.raises(OSError, match="not be a link"):
        _swept().opened(1)
    job = Job(1, [sys.executable, "-c", "open('marker', 'w')"], Path("swept/trial-001/output.txt"))
    with pytest.raises(OSError, match="not be a link"):
        run_side_by_side([job], 1, dict(os.environ), lambda number, code: None)
    assert not MARKER.exists()


def test_the_output_of_a_trial_is_not_added_to_a_linked_file() -> None:
    victim = _victim("victim")
    Path("output.txt").symlink_to(victim.absolute())
    job = Job(1, [sys.executable, "-c", "open('marker', 'w')"], Path("output.txt"))
    with pytest.raises(OSError, match="not be a link"):
        run_side_by_side([job], 1, dict(os.environ), lambda number, code: None)
    assert victim.read_bytes() == b"mine\n"
    assert not MARKER.exists()


def test_the_folder_of_a_run_may_itself_be_a_link() -> None:
    shutil.move("run", "elsewhere")
    Path("run").symlink_to(Path("elsewhere").absolute())
    assert len(_resumed().fit()) == 2
    assert Path("run").is_symlink()


def test_the_configuration_of_a_run_says_which_data_are_read() -> None:
    Path("elsewhere").mkdir()
    shutil.move("data.npz", "elsewhere/other.npz")
    Path("linked.npz").symlink_to("elsewhere/other.npz")
    path = Path("run/config.toml")
    path.write_text(path.read_text().replace("data.npz", "linked.npz"))
    for command in ("evaluate", "report"):
        assert extensor(command, "run").code == 0


def test_the_command_names_the_link() -> None:
    Path("run/.lock").unlink()
    Path("run/.lock").symlink_to(_victim("victim").absolute())
    result = extensor("train", "--resume", "run", "--set", "epochs=2")
    assert result.code == 2
    assert "could not use run/.lock (it must belong to this folder alone" in result.err
    assert Path("victim").read_bytes() == b"mine\n"


def _open_shards(path: str) -> Any:
    return ShardedDataset([path])


READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "table": ("p.csv", data.read_table),
    "csv": ("p.csv", data.read_csv),
    "gzip": ("p.csv.gz", data.read_table),
    "parquet": ("p.parquet", data.read_table),
    "text": ("p.txt", data.read_text),
    "npy": ("p.npy", data.read_arrays),
    "npz": ("p.npz", data.read_arrays),
    "idx": ("p.idx", data.read_idx),
    "cifar10": ("p.bin", data.read_cifar10),
    "picture": ("p.png", lambda path: data.PictureFiles([path], (8, 8))[0]),
    "shard of arrays": ("p.npz", _open_shards),
    "shard of an array": ("p.npy", _open_shards),
    "shard of pictures": ("p.tar", _open_shards),
    "shard of columns": ("p.parquet", _open_shards),
    "shard of tensors": ("p.safetensors", _open_shards),
    "packed text": ("p.txt", lambda path: data.pack(path, "packed")),
    "packed table": ("p.csv", lambda path: data.pack(path, "packed")),
    "state": ("p.safetensors", ex.load),
    "configuration": ("p.toml", experiment),
    "log": ("p.jsonl", read_log),
    "checkpoint": ("p.safetensors", lambda path: load_trained("run", path)),
    "data": ("p.csv", lambda path: experiment({"data": {"train": path}})),
    "inputs": ("p.npy", lambda path: Predictor.load("run").predict(path)),
}


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.usefixtures("alarm")
def test_readers_refuse_pipes_and_devices_at_once(reader: str, kind: str) -> None:
    name, read = READERS[reader]
    if kind == "pipe":
        os.mkfifo(name)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(name)
    else:
        Path(name).symlink_to(os.devnull)
    with pytest.raises(
        (OSError, ValueError), match=r"pipe or a device|must be a file|must be latest"
    ):
        read(name)


@pytest.mark.usefixtures("alarm")
def test_a_run_whose_files_are_pipes_is_refused_at_once() -> None:
    for name in ("log.jsonl", ".lock"):
        Path("run", name).unlink()
        os.mkfifo(f"run/{name}")
        with pytest.raises(OSError, match="regular file"):
            _resumed().fit()
        Path("run", name).unlink()
        Path("run", name).touch()


@pytest.mark.parametrize("target", ["/dev/zero", "pipe"])
@pytest.mark.usefixtures("alarm")
def test_a_run_whose_configuration_is_a_pipe_or_a_device_is_named(target: str) -> None:
    os.mkfifo("pipe")
    Path("run/config.toml").unlink()
    Path("run/config.toml").symlink_to(Path(target).absolute())
    result = extensor("info", "run")
    assert result.code == 2
    assert "could not read run/config.toml (it must be a regular file, not a pipe" in result.err


@pytest.mark.usefixtures("alarm")
def test_an_index_that_is_a_pipe_is_refused_at_once() -> None:
    Path("shards").mkdir()
    os.mkfifo("shards/index.json")
    with pytest.raises(OSError, match="regular file"):
        read_index(Path("shards"))
