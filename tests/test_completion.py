"""Completion of the command in shells, in the shells themselves where they are installed."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from commands import extensor

from extensor_cli.command_arguments import COMMANDS

_TASKS = {"regression", "binary", "multiclass", "multilabel", "sequence"}
# Words of a command line, of which the last is completed, and what is offered among others.
_LINES = [
    (["tr"], {"train"}),
    ([""], set(COMMANDS)),
    (["--ver"], {"--version"}),
    (["train", "--ta"], {"--target", "--task"}),
    (["sweep", "--no"], {"--no-halving"}),
    (["train", "--task", ""], _TASKS),
    (["train", "--set", "epochs=3", "--task", "multi"], {"multiclass", "multilabel"}),
    (["train", "da"], {"data.csv"}),
    (["predict", "first", "--output", "da"], {"data.csv"}),
    (["predict", "first", "--format", "t"], {"table"}),
    (["evaluate", "fi"], {"first"}),
    (["train", "--resume", "fi"], {"first"}),
    (["compare", "first", "se"], {"second"}),
    (["completion", ""], {"bash", "zsh", "fish"}),
    (["pack", "--header", "y"], {"yes"}),
]
_NOTHING = [["train", "--name", "da"], ["train", "--set", ""], ["nothing", ""]]


def _named(words: list[str] | set[str]) -> str:
    return " ".join(sorted(words) if isinstance(words, set) else words) or "nothing"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").touch()
    for name in ("first", "second"):
        Path("runs", name).mkdir(parents=True)
    for shell in ("bash", "zsh", "fish"):
        result = extensor("completion", shell)
        assert result.code == 0
        Path(f"script.{shell}").write_text(result.out)


def _run(*command: str) -> str:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert not done.stderr
    return done.stdout


def _bash(words: list[str]) -> set[str]:
    script = (
        'source script.bash; COMP_WORDS=(extensor "$@"); COMP_CWORD=$#; _extensor; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    shown = _run("bash", "--norc", "-c", script, "bash", *words)
    return set(shown.splitlines()) - {""}


def _fish(words: list[str]) -> set[str]:
    line = " ".join(["extensor", *words])
    shown = _run("fish", "--no-config", "-c", f"source script.fish; complete -C '{line}'")
    return {row.split("\t")[0].rstrip("/") for row in shown.splitlines()}


@pytest.mark.parametrize(("words", "expected"), _LINES, ids=_named)
def test_bash(words: list[str], expected: set[str]) -> None:
    offered = _bash(words)
    assert expected <= offered
    assert all(each.startswith(words[-1]) for each in offered)


@pytest.mark.parametrize("words", _NOTHING, ids=_named)
def test_bash_offers_nothing_for_free_text(words: list[str]) -> None:
    assert _bash(words) == set()


def test_bash_splits_an_option_at_its_sign() -> None:
    assert _bash(["train", "--task", "=", "reg"]) == {"regression"}
    assert _bash(["train", "--task", "="]) == _TASKS


@pytest.mark.parametrize(("words", "expected"), _LINES, ids=_named)
def test_fish(words: list[str], expected: set[str]) -> None:
    assert expected <= _fish(words)


def test_fish_offers_only_the_choices() -> None:
    assert _fish(["predict", "a", "--format", ""]) == {"table", "csv", "json"}
    assert _fish(["train", "--name", "da"]) == set()


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("extensor eval", "extensor evaluate"),
        ("extensor train --task regr", "extensor train --task regression"),
        ("extensor train --print", "extensor train --print-config"),
        ("extensor train da", "extensor train data.csv"),
        ("extensor evaluate fi", "extensor evaluate first"),
        ("extensor completion fi", "extensor completion fish"),
    ],
)
def test_zsh(line: str, completed: str) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        env={**os.environ, "PS1": "", "TERM": "dumb", "ZDOTDIR": "."},
    )  # fmt: skip
    os.close(slave)
    try:
        # The marker is split, so that the echo of the command does not contain it.
        begin = (
            "PROMPT= ; autoload -Uz compinit; compinit -u -D; source script.zsh; print rea'dy'\n"
        )
        os.write(master, begin.encode())
        _read_until(master, "ready")
        os.write(master, f"{line}\t".encode())
        assert completed in _read_until(master, completed)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def _read_until(terminal: int, text: str) -> str:
    """What a terminal has shown when ``text`` comes, or after twenty seconds."""
    shown, end = "", time.monotonic() + 20
    while text not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def test_another_shell_is_refused() -> None:
    with pytest.raises(SystemExit) as end:
        extensor("completion", "csh")
    assert end.value.code == 2
