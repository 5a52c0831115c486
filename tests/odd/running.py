"""How rows are run, and what must hold of a refusal."""

from __future__ import annotations

import contextlib
import io
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from commands import Result, extensor, files
from own_files import TEXT, write_pictures

# A file: its text, its bytes, or what makes it.
Content = str | bytes | Callable[[str], object]
Files = Mapping[str, Content]

SHORT = ("--set", "epochs=1", "--set", "data.batch_size=8")


def rows(head: str, row: Callable[[int], str], count: int = 40) -> str:
    """A table as text."""
    return "\n".join([head, *map(row, range(count))]) + "\n"


def arrays(**changed: Any) -> Callable[[str], object]:
    """Points of two classes, or other arrays."""
    rng = np.random.default_rng(0)
    given = {"x": rng.normal(size=(40, 3)), "y": np.arange(40) % 2, **changed}
    return lambda path: np.savez(path, **given)


def array(values: Any, pickled: bool = False) -> Callable[[str], object]:
    return lambda path: np.save(path, values, allow_pickle=pickled)


def pictures(count: int = 12, with_classes: bool = True) -> Callable[[str], object]:
    return lambda folder: write_pictures(folder, count, with_classes)


def folder(name: str) -> None:
    """An empty folder."""
    Path(name).mkdir()


def write(given: Files) -> None:
    """Make the files of a row, in their order."""
    for name, content in given.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(name)
        else:
            Path(name).write_bytes(content.encode() if isinstance(content, str) else content)


def run(command: str) -> Result:
    """A command line as a shell takes it; argparse ends the process, which is its code here."""
    err = io.StringIO()
    words = shlex.split(command)
    try:
        return extensor(*words[:1], *(SHORT if words[:1] == ["train"] else ()), *words[1:])
    except SystemExit as end:
        # What it wrote was lost with its stream, so it is asked again.
        with contextlib.redirect_stderr(err), contextlib.suppress(SystemExit):
            from extensor_cli import parser

            parser().parse_args(words)
        return Result(int(end.code or 0), "", err.getvalue())


def refused(command: str, message: str) -> None:
    """The command says ``message`` in one line or two, ends with 2, and leaves all as it was."""
    before, there = files(), Path("runs").exists()
    result = run(command)
    lines = result.err.splitlines()
    assert result.code == 2, result
    assert lines[0].startswith(f"extensor {command.split()[0]}: {message}"), result.err
    assert 1 <= len(lines) <= 2, result.err
    assert len(lines[0]) < 500, len(lines[0])
    assert "Traceback" not in result.err
    assert "np." not in result.err
    assert result.out == ""
    assert files() == before
    assert Path("runs").exists() == there


def works(command: str, *lines: str, err: str = "") -> Result:
    """The command does it, and says ``lines``; ``err`` begins what it says beside its output."""
    before = files()
    result = run(command)
    assert result.code == 0, result.err
    for line in lines:
        assert line in result.out, (line, result.out)
    assert err in result.err, result.err
    after = files()
    kept = {name: content for name, content in before.items() if not name.startswith("runs")}
    assert {name: after.get(name) for name in kept} == kept
    return result


Value = Callable[[int], object]


def table(
    y: Value = lambda i: "uv"[i % 2],
    a: Value = lambda i: i % 7,
    head: str = "a,b,y",
    count: int = 40,
) -> Files:
    """A table in which one of the columns, or the names, are other than usual."""
    return {"t.csv": rows(head, lambda i: f"{a(i)},{i * 1.5 % 11:.1f},{y(i)}", count)}


def series(
    load: Value = lambda i: 10 + i % 24,
    time: Callable[[int], int] = lambda i: i,
    count: int = 80,
) -> Files:
    """Hours, what was measured, and the hour of the day."""

    def row(i: int) -> str:
        return f"2024-01-{time(i) // 24 + 1:02d}T{time(i) % 24:02d}:00,{load(i)},{i % 24}"

    return {"s.csv": rows("time,load,hour", row, count)}


GOOD = table()
REAL = table(lambda i: i * 0.5)
TEXTS: Files = {"t.txt": TEXT}
LOSS = "--set loss.name="
AHEAD = "s.csv --target load --window 6 --horizon 2"
SMALL = "--set data.context=8 --set model.width=16"  # of a text
