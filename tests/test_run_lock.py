"""One process at a time in the folder of a run."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import ENVIRONMENT, extensor, without_plots, write_config, write_data
from killed_training import contents, made, run
from test_trainer import _loader, _trainer

from extensor.cli.shared_options import new_run
from extensor.train.run_folder import check_free, locked

# Trains in the folder "runs/a" and waits in its eighth step until it is told to go on.
WAITING = """
import sys
import extensor_cli
from extensor.train import Progress
def wait(self, trainer, record):
    if trainer.step == 8:
        print("waiting", flush=True)
        sys.stdin.readline()
Progress.step_ended = wait
sys.exit(extensor_cli.main(["train", *sys.argv[1:]]))
"""
# Forks while it trains, and dies; the child stays.
FORKING = """
import os, sys, time
sys.path[:0] = sys.argv[1:2]
from test_trainer import _loader, _trainer
from extensor.train import Callback
class Forks(Callback):
    def step_ended(self, trainer, record):
        child = os.fork()
        if child == 0:
            sys.stdin.read()
            os._exit(0)
        print(child, flush=True)
        os._exit(9)
_trainer(folder=sys.argv[2], callbacks=[Forks()]).fit(_loader(), 1)
"""


def test_who_only_looks_is_in_nobodys_way(tmp_path: Path) -> None:
    """All workers of a run that goes on look at once, each from a process of its own."""
    with locked(tmp_path, "fit"):
        pass
    with (tmp_path / ".lock").open("r+") as looks:
        fcntl.flock(looks, fcntl.LOCK_SH)
        check_free(tmp_path, "--resume")
        with pytest.raises(ValueError, match="folder must be free"), locked(tmp_path, "fit"):
            pass
    with locked(tmp_path, "fit"), pytest.raises(ValueError, match=f"process={os.getpid()}"):
        check_free(tmp_path, "--resume")


@contextmanager
def waiting(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, *arguments],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            while process.stdout.readline() != "waiting\n":
                assert process.poll() is None
            yield process
        finally:
            process.kill()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    without_plots()
    write_data()
    write_config()
    return tmp_path


def _in_use(op: str, folder: str, process: int) -> str:
    host = socket.gethostname()
    return (
        f"{op}: folder must be free of other processes that train there, "
        f"got folder={folder!r}, process={process}, host={host!r}, since='"
    )


def test_a_second_process_is_refused_and_told_of_the_first(folder: Path) -> None:
    assert extensor("train", "config.toml", "--name", "b").code == 0
    with waiting("config.toml", "--name", "a") as process:
        before = contents(Path("runs/a"))
        result = extensor("train", "--resume", "a", "--set", "epochs=9")
        assert result.code == 2
        assert result.err.startswith(
            f"extensor train: {_in_use('--resume', 'runs/a', process.pid)}"
        )
        assert "the run must be new" in extensor("train", "config.toml", "--name", "a").err
        trainer = _trainer(folder="runs/a")
        with pytest.raises(ValueError, match=re.escape(_in_use("fit", "runs/a", process.pid))):
            trainer.fit(_loader(), 1)
        for command in (["info", "a"], ["evaluate", "a"]):  # those who only look may
            assert extensor(*command).code == 0
        assert contents(Path("runs/a")) == before
        _, err = process.communicate("\n", timeout=60)
        assert process.returncode == 0, err
    first, second = (contents(Path("runs", name) / "checkpoints") for name in "ab")
    assert first == second


def test_the_lock_dies_with_its_owner(folder: Path) -> None:
    with waiting("config.toml", "--name", "a") as process:
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        assert Path("runs/a/.lock").read_text().startswith(f"{process.pid}\n")
        result = extensor("train", "--resume", "a")
        assert result.code == 0, result.err
        assert Path("runs/a/.lock").read_text() == ""


def test_a_fork_does_not_keep_it(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", FORKING, str(Path(__file__).parent), str(tmp_path / "a")],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    child = int(process.stdout.readline())
    assert process.wait(60) == 9
    try:
        os.kill(child, 0)  # it is still there
        with locked(tmp_path / "a", "test"):
            pass
    finally:
        process.communicate("")


def test_two_in_one_process(tmp_path: Path) -> None:
    """As two threads are; who comes later is free to begin."""
    with locked(tmp_path, "fit"):
        for refused in (
            lambda: check_free(tmp_path, "fit"),
            lambda: locked(tmp_path, "fit").__enter__(),
        ):
            with pytest.raises(
                ValueError, match=re.escape(_in_use("fit", str(tmp_path), os.getpid()))
            ):
                refused()
    with locked(tmp_path, "fit"):
        pass
    assert (tmp_path / ".lock").read_bytes() == b""


def test_looking_writes_nothing(tmp_path: Path) -> None:
    check_free(tmp_path, "fit")
    assert list(tmp_path.iterdir()) == []


def test_somebody_who_only_looks_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        monkeypatch.setattr("time.sleep", lambda _: fcntl.flock(file, fcntl.LOCK_UN))
        with locked(tmp_path, "fit"):
            pass


def test_a_mistake_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^fit: train must be a loader"):
        _trainer(folder=tmp_path / "a").fit([], 1)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_says_nothing_yet(tmp_path: Path) -> None:
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match=r"process='unknown'$"):
            check_free(tmp_path, "fit")


def test_where_nothing_can_be_locked_one_is_warned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refused)
    text = f"fit: {tmp_path} cannot be locked (No locks available); train there only once"
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$"):
        _trainer(folder=tmp_path).fit(_loader(), 1)


def test_someone_who_trained_between_resume_and_fit_is_noticed(tmp_path: Path) -> None:
    run(tmp_path, epochs=1)
    first, train, validation = made(tmp_path)
    first.resume()
    run(tmp_path, epochs=2)
    before = contents(tmp_path)
    text = (
        "fit: folder must not have changed since resume() or the last fit (another process has trained there "
        f"since; call resume() again), got folder={str(tmp_path)!r}"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        first.fit(train, 3, validation)
    assert contents(tmp_path) == before
    first.resume()
    first.fit(train, 3, validation)
    assert first.epoch == 3


def test_runs_that_begin_in_one_second_have_folders_of_their_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.strftime", lambda _: "now")
    with new_run(None) as first, new_run(None) as second:
        assert (first, second) == (Path("runs/now"), Path("runs/now_2"))
    assert not Path("runs").exists()


def test_mistakes_leave_no_folder(folder: Path) -> None:
    for name in ([], ["--name", "a/b"]):
        assert extensor("train", "config.toml", *name, "--set", "model.sizes=[4, 3, 2]").code == 2
        assert not Path("runs").exists()
    Path("runs").mkdir()
    assert extensor("train", "config.toml", "--set", "model.sizes=[4, 3, 2]").code == 2
    assert list(Path("runs").iterdir()) == []
