"""Streams that fail and signals that end: the run matters more than its display, and is saved."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from commands import COMMAND, ENVIRONMENT, extensor, without_plots, write_config, write_data
from test_trainer import _loader, _trainer

from extensor.train import Callback, Checkpoints, Progress, Trainer, read_log
from extensor.train.fit_loop import Ended


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    without_plots()
    write_data()
    write_config()
    return tmp_path


# As users have it: what is printed waits in a buffer.
BUFFERED = {key: value for key, value in ENVIRONMENT.items() if key != "PYTHONUNBUFFERED"}


def _shell(line: str) -> subprocess.CompletedProcess[str]:
    """Run a line in which ``extensor`` is the command."""
    line = line.replace("extensor", " ".join(COMMAND))
    return subprocess.run(
        ["bash", "-c", line],
        env=BUFFERED,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    "streams",
    [
        "2>&-",
        ">&-",
        "<&- >&- 2>&-",
        ">/dev/full",
        "2>/dev/full",
        "2>&1 | head -1; test $PIPESTATUS = 0",
    ],
)
def test_training_goes_on_without_a_display(streams: str) -> None:
    result = _shell(f"extensor train config.toml --name a {streams}")
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    run = Path("runs/a")
    assert (run / "report.html").exists()
    assert [r["epoch"] for r in read_log(run / "log.jsonl") if r["event"] == "epoch"] == [1, 2]
    # Nothing that was meant for a closed stream has landed in a file that took its number.
    for path in run.rglob("*"):
        assert (
            path.is_dir() or path.suffix == ".html" or b"samples to train" not in path.read_bytes()
        )


def test_training_goes_on_when_its_terminal_is_gone() -> None:
    mine, terminal = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "train", "config.toml", "--name", "a"],
        env=ENVIRONMENT,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    assert b"to train on" in os.read(mine, 4096)
    os.close(mine)
    assert process.wait(60) == 0
    assert Path("runs/a/report.html").exists()


@pytest.mark.parametrize("streams", [">/dev/full", "2>/dev/full", "2>&-"])
def test_what_other_commands_print_must_arrive(streams: str) -> None:
    """Their output is what they are for; only the error may get lost."""
    result = _shell(f"extensor info nothing {streams}")
    assert result.returncode == 2
    result = _shell(f"extensor info {streams}")
    full = streams == ">/dev/full"
    assert result.returncode == (2 if full else 0)
    expected = "extensor info: output: could not be written (No space left on device)\n"
    assert result.stderr == (expected if full else "")


def test_a_reader_that_goes_away_ends_other_commands_quietly() -> None:
    result = _shell("extensor info | head -0; exit $PIPESTATUS")
    assert (result.returncode, result.stderr) == (141, "")


class Failing(io.StringIO):
    """A terminal that is closed after it has shown something."""

    def __init__(self, error: Exception, terminal: bool) -> None:
        super().__init__()
        self.error = error
        self.terminal = terminal
        self.writes = 0

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        self.writes += 1
        if self.writes > 2:
            raise self.error
        return super().write(text)


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize(
    "error",
    [OSError(5, "Input/output error"), UnicodeEncodeError("ascii", "é", 0, 1, "no")],
    ids=["gone", "letters"],
)
def test_progress_stops_showing_when_its_stream_fails(
    error: Exception, terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extensor.train.callbacks._REFRESH", 0.0)
    streams = (sys.stdout, sys.stderr)
    stream = Failing(error, terminal)
    history = _trainer(callbacks=[Progress(stream)]).fit(_loader(), 5)
    assert len(history) == 5
    assert 3 <= stream.writes < 12
    assert (sys.stdout, sys.stderr) == streams


def test_progress_without_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert len(_trainer(callbacks=[Progress()]).fit(_loader(), 1)) == 1
    closed = io.StringIO()
    closed.close()
    assert len(_trainer(callbacks=[Progress(closed)]).fit(_loader(), 1)) == 1


def test_mistakes_in_showing_are_not_hidden() -> None:
    progress = Progress(io.StringIO())
    with pytest.raises(ValueError, match=r"^a mistake$"), progress._showing():
        raise ValueError("a mistake")


def _at_step(step: int, *numbers: int) -> Callback:
    class Sends(Callback):
        def step_ended(self, trainer: Trainer, record: Any) -> None:
            if trainer.step == step:
                for number in numbers:
                    os.kill(os.getpid(), number)

    return Sends()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_of_clusters_save_and_end(number: signal.Signals, folder: Path) -> None:
    before = signal.getsignal(number)
    trainer = _trainer(folder=folder / "a", callbacks=[_at_step(2, number)])
    with pytest.raises(SystemExit) as ended:
        trainer.fit(_loader(), 3)
    assert isinstance(ended.value, Ended)
    assert (ended.value.code, ended.value.signal) == (128 + number, number)
    assert signal.getsignal(number) is before
    assert (folder / "a/checkpoints/step-000000002.safetensors").exists()
    trainer.fit(_loader(), 3)
    assert trainer.epoch == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_that_is_ignored_stays_so(number: signal.Signals) -> None:
    """nohup ignores SIGHUP, and a shell SIGINT for what it runs in the background."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        assert len(_trainer(callbacks=[_at_step(2, number)]).fit(_loader(), 2)) == 2
    finally:
        signal.signal(number, before)


def test_a_handler_of_the_user_stays() -> None:
    seen = []
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        trainer = _trainer(callbacks=[_at_step(2, signal.SIGTERM)])
        assert len(trainer.fit(_loader(), 2)) == 2
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [signal.SIGTERM]


def test_a_signal_in_the_last_moment_is_not_lost() -> None:
    trainer = _trainer()
    noted = trainer.interruption

    class Late(Callback):
        def epoch_ended(self, trainer: Trainer, record: Any) -> None:
            # As if it came after the last epoch has looked for signals.
            noted.raise_if_noted = lambda: (  # type: ignore[assignment, method-assign]
                os.kill(os.getpid(), signal.SIGINT),  # type: ignore[func-returns-value]
                vars(noted).pop("raise_if_noted"),
            )

    trainer.callbacks.append(Late())
    with pytest.raises(KeyboardInterrupt):
        trainer.fit(_loader(), 1)
    assert trainer.epoch == 1


# The command, in a process of its own; what is in the braces runs before it.
PROGRAM = """
import os, signal, sys
import extensor_cli, extensor.cli.train, extensor.train
from extensor.train import Progress
def send(number):
    os.kill(os.getpid(), number)
{}
sys.exit(extensor_cli.main(["train", "config.toml", "--name", "a"]))
"""


def _python(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(textwrap.dedent(text))],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [
        ("SIGINT", 130, "interrupted"),
        ("SIGTERM", 143, "ended by SIGTERM"),
        ("SIGHUP", 129, "ended by SIGHUP"),
    ],
)
def test_codes_and_words_of_signals(number: str, code: int, word: str) -> None:
    result = _python(
        f"Progress.step_ended = lambda s, trainer, r: trainer.step == 8 and send(signal.{number})"
    )
    assert result.returncode == code
    assert result.stderr.splitlines()[-1] == (
        f"extensor train: {word} and saved in runs/a/checkpoints/step-000000008.safetensors; "
        "continue with: extensor train --resume runs/a"
    )
    assert extensor("train", "config.toml", "--name", "b").code == 0
    assert extensor("train", "--resume", "a").code == 0
    first, second = (Checkpoints(f"runs/{run}/checkpoints").latest() for run in "ab")
    assert first is not None
    assert second is not None
    assert first.read_bytes() == second.read_bytes()
    assert [line["epoch"] for line in read_log("runs/a/timing.jsonl")] == [1, 2]


SENDING = """
def several(self, trainer, record):
    if trainer.step == 8:
        for number in NUMBERS:
            send(number)
            bytearray(1)  # Python looks for signals between instructions
Progress.step_ended = several
"""


@pytest.mark.parametrize(
    ("numbers", "grace", "code", "word"),
    [
        ("SIGTERM, signal.SIGTERM", 0, 143, "ended by SIGTERM"),
        ("SIGTERM, signal.SIGHUP", 0, 129, "ended by SIGHUP"),
        ("SIGINT, signal.SIGINT", 60, 130, "interrupted"),
        ("SIGTERM, signal.SIGINT", 60, 130, "interrupted"),
    ],
)
def test_a_second_signal_ends_at_once(numbers: str, grace: float, code: int, word: str) -> None:
    result = _python(
        f"import extensor.train.fit_loop\nextensor.train.fit_loop._GRACE = {grace}\n"
        + SENDING.replace("NUMBERS", f"[signal.{numbers}]")
    )
    assert result.returncode == code
    assert result.stderr.splitlines()[-1] == (
        f"extensor train: {word} after step 8; the last checkpoint is "
        "runs/a/checkpoints/step-000000006.safetensors; "
        "continue with: extensor train --resume runs/a"
    )


def test_several_signals_in_a_row_are_one() -> None:
    """A terminal that is closed sends SIGHUP, and so does the shell in it."""
    numbers = "[signal.SIGHUP, signal.SIGHUP, signal.SIGTERM]"
    grace = "import extensor.train.fit_loop\nextensor.train.fit_loop._GRACE = 60\n"
    result = _python(grace + SENDING.replace("NUMBERS", numbers))
    assert result.returncode == 129
    assert "ended by SIGHUP and saved in runs/a/checkpoints/step-000000008" in result.stderr


def test_signals_while_a_signal_is_acted_on_are_not() -> None:
    result = _python(
        """
        def sent(*_):
            try:
                send(signal.SIGTERM)
            finally:
                send(signal.SIGTERM)
        extensor.cli.train.write_pages = sent
        """
    )
    assert result.returncode == 143
    assert result.stderr.splitlines()[-1].startswith("extensor train: ended by SIGTERM during the")


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_signals_before_and_after_training(number: str, code: int) -> None:
    word = "interrupted" if number == "SIGINT" else f"ended by {number}"
    result = _python(f"extensor.cli.train.experiment = lambda *_, **__: send(signal.{number})")
    last = result.stderr.splitlines()[-1]
    assert (result.returncode, last) == (code, f"extensor train: {word} before training began")
    assert not Path("runs").exists()
    result = _python(f"extensor.cli.train.write_pages = lambda *_: send(signal.{number})")
    assert result.returncode == code
    assert result.stderr.splitlines()[-1] == (
        f"extensor train: {word} during the report; write it with: extensor report runs/a"
    )
    assert extensor("report", "a").code == 0


def test_codes_are_told_in_the_help() -> None:
    text = " ".join(_shell("extensor train --help").stdout.split())
    assert "0 done, 2 an error, 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP" in text


# Sends SIGINT when a module is looked up, and then runs a program.
INTERRUPTED_IMPORT = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.modules.pop("datetime", None)
"""


def _interrupted_import(module: str, program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", INTERRUPTED_IMPORT + program, module]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("arguments", [["info"], ["--version"], ["evaluate", "a"]])
@pytest.mark.parametrize("module", ["numpy", "datetime", "numpy._core.multiarray"])
def test_ctrl_c_during_imports_is_silent(module: str, arguments: list[str]) -> None:
    result = _interrupted_import(
        module, f"from extensor_cli import main; sys.exit(main({arguments}))"
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


def test_an_import_error_after_ctrl_c_is_silent() -> None:
    # As NumPy's own: the interrupt is gone, and its error does not know of it.
    program = """
class Failing:
    def find_spec(self, name, path=None, target=None):
        if name == "extensor":
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                pass
            raise ImportError("cannot be imported")

sys.meta_path.insert(0, Failing())
from extensor_cli import main

sys.exit(main(["info"]))
"""
    result = _interrupted_import("", program)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


def test_ctrl_c_during_import_extensor_is_an_interrupt() -> None:
    result = _interrupted_import("datetime", "import extensor")
    assert result.returncode == -signal.SIGINT
    assert result.stderr.endswith("KeyboardInterrupt\n")
