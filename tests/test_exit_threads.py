"""What is left to do when the interpreter ends, which starts no thread from Python 3.12 on."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from extensor.distributed.supervision import call_in_thread, reserve_thread

PROGRAM = """
import atexit, time
from extensor.distributed.supervision import ended_after, reserve_thread

def leave():
    with ended_after({seconds}, "took too long"):
        time.sleep({sleep})
    print("left", flush=True)

reserve_thread()
atexit.register(leave)
"""


@pytest.mark.parametrize(
    ("seconds", "sleep", "code", "text"), [(60, 0, 0, "left\n"), (0.2, 60, 75, "")]
)
def test_deadline_holds_when_the_interpreter_ends(
    seconds: float, sleep: float, code: int, text: str
) -> None:
    program = PROGRAM.format(seconds=seconds, sleep=sleep)
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50
    )
    assert (ran.returncode, ran.stdout) == (code, text)
    assert ran.stderr == ("extensor: took too long\n" if code else "")


def test_reserved_thread_is_used_if_no_other_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    reserve_thread()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    calls: list[str] = []
    for name in ("a", "b"):
        assert call_in_thread(lambda name=name: calls.append(name)).wait(10)
    assert calls == ["a", "b"]
