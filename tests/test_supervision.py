"""The parent of a worker, without MPI: it says how the worker ended, and ends as it did."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux ends a child with its parent"
)
STARTED = {"PMI_SIZE": "4", "PMI_RANK": "2"}  # as MPICH says it
WAITS = "import os, time; print(os.getpid(), os.getppid(), flush=True); time.sleep(60)"


def started(
    text: str, folder: Path, shell: bool = False, **environment: str
) -> subprocess.Popen[str]:
    program = folder / "program.py"
    program.write_text(text)
    words = [sys.executable, "-m", "extensor.distributed", str(program), "a", "b"]
    within = ["sh", "-c", "trap : TERM; " + shlex.join(words) + "; wait"]
    return subprocess.Popen(
        within if shell else words,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(text: str, folder: Path, **environment: str) -> tuple[int, str, str]:
    process = started(text, folder, **environment)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize(
    ("text", "code", "how"),
    [
        ("import os; os.kill(os.getpid(), 9)", 75, "ended by signal 9, Killed"),
        ("import os; os.kill(os.getpid(), 11)", 75, "ended by signal 11, Segmentation fault"),
        ("import os; os._exit(3)", 75, "it ended with exit code 3"),
        (
            "import os, sys; os.fork() or sys.exit(); os.wait(); os._exit(3)",
            75,
            "it ended with exit code 3",
        ),
        ("raise SystemExit(4)", 4, "it ended with exit code 4"),
        ("print('done')", 0, ""),
    ],
)
def test_an_end_is_said(tmp_path: Path, text: str, code: int, how: str) -> None:
    found, _, said = ended(text, tmp_path, **STARTED)
    assert found == code
    name = r"extensor: worker 2 of 4 \([^,]+, process \d+\) is gone: "
    assert re.fullmatch(rf"{name}{how} \(start\)\n" if how else "", said), said


def test_it_ends_by_the_same_signal_where_that_can_be_survived(tmp_path: Path) -> None:
    text = "import os; os.kill(os.getpid(), 9)"
    found, _, said = ended(text, tmp_path, **STARTED, OMPI_MCA_mpi_ft_enable="1")
    assert found == -signal.SIGKILL
    assert "worker 2 of 4" in said


def test_what_a_worker_has_said_itself_is_not_said_again(tmp_path: Path) -> None:
    text = """
from extensor.distributed import supervision
supervision.is_called("worker 2"), supervision.is_at("step 7"), supervision.can_go_on("try again")
supervision.has_ended()
raise SystemExit(5)
"""
    assert ended(text, tmp_path, **STARTED) == (5, "", "")
    assert ended(text.replace("supervision.has_ended()", ""), tmp_path, **STARTED) == (
        5,
        "",
        "extensor: worker 2 is gone: it ended with exit code 5 (step 7); try again\n",
    )


@pytest.mark.parametrize(("number", "is_patient"), [(6, True), (9, False)])
def test_one_that_mpi_has_ended_lets_others_be_named_first(
    tmp_path: Path, number: int, is_patient: bool
) -> None:
    text = f"""
import os, time
from extensor.distributed import supervision
supervision.is_at("step 7")
supervision.calling_mpi.__enter__()
print(time.monotonic(), flush=True)
os.kill(os.getpid(), {number})
"""
    process = started(text, tmp_path, **STARTED)
    assert process.stdout is not None
    assert process.stderr is not None
    begin = float(process.stdout.readline())
    assert f"ended by signal {number}" in process.stderr.readline()
    if is_patient:
        assert time.monotonic() - begin >= 1.0
    process.communicate(timeout=60)
    assert process.returncode == 75


def test_nobody_watches_a_process_that_is_alone(tmp_path: Path) -> None:
    process = started("import os; print(os.getpid())", tmp_path)
    assert process.communicate(timeout=60)[0].strip() == str(process.pid)


COUNTS = """
import os, signal, time
count = 0
def hear(*_):
    global count
    count += 1
signal.signal(signal.SIGTERM, hear)
print(os.getpid(), os.getppid(), flush=True)
until = time.monotonic() + 60
while not count and time.monotonic() < until:
    time.sleep(0.01)
time.sleep(0.3)
print(count)
"""


def test_signals_of_others_are_passed_on(tmp_path: Path) -> None:
    process = started(COUNTS, tmp_path, **STARTED)
    assert process.stdout is not None
    process.stdout.readline()
    subprocess.run(["kill", "-TERM", str(process.pid)], check=True)
    assert process.communicate(timeout=60) == ("1\n", "")
    assert process.returncode == 0


@pytest.mark.parametrize("shell", [False, True])
def test_signals_to_the_group_come_once(tmp_path: Path, shell: bool) -> None:
    """As launchers send them, whose part the process of the tests has here."""
    process = started(COUNTS, tmp_path, shell=shell, **STARTED)
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGTERM)
    assert process.communicate(timeout=60) == ("1\n", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGXCPU, signal.SIGALRM])
def test_an_end_that_was_asked_for_is_not_news(tmp_path: Path, number: signal.Signals) -> None:
    process = started(WAITS, tmp_path, **STARTED)
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, number)
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == -number


def test_a_signal_that_ended_nothing_hides_no_end(tmp_path: Path) -> None:
    text = "import os, signal; signal.signal(signal.SIGTERM, lambda *_: os._exit(3)); "
    process = started(text + WAITS, tmp_path, **STARTED)
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGTERM)
    assert "is gone: it ended with exit code 3" in process.communicate(timeout=60)[1]
    assert process.returncode == 75


def test_processes_that_a_worker_has_started_end_with_its_group(tmp_path: Path) -> None:
    text = "import subprocess; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); "
    process = started(text + "p.wait()", tmp_path, **STARTED)
    assert process.stdout is not None
    other = int(process.stdout.readline())
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    _must_end(other)


def test_a_worker_that_is_alone_after_all_ends_in_order(tmp_path: Path) -> None:
    text = """
import os
import numpy as np
import extensor as ex

os.environ["EXTENSOR_ALONE"] = "1"
x = np.ones((8, 1), np.float32)
model = ex.nn.Linear(1, 1)
optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, micro_batches=2, callbacks=[])
trainer.fit(x, x, epochs=1)
"""
    assert ended(text, tmp_path, **STARTED) == (0, "", "")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_streams_may_be_closed(tmp_path: Path, closed: str) -> None:
    (tmp_path / "program.py").write_text("import os; os._exit(7)")
    command = f"exec {sys.executable} -m extensor.distributed {tmp_path}/program.py {closed}"
    assert subprocess.run(["sh", "-c", command], env=os.environ | STARTED).returncode == 75


def test_children_may_have_been_ignored_before(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import os; os.kill(os.getpid(), 9)")
    words = [sys.executable, "-m", "extensor.distributed", f"{tmp_path}/program.py"]
    text = f"import os, signal; signal.signal(17, signal.SIG_IGN); os.execv({words[0]!r}, {words})"
    run = subprocess.run([sys.executable, "-c", text], env=os.environ | STARTED, check=False)
    assert run.returncode == 75


def test_a_worker_ends_with_its_parent(tmp_path: Path) -> None:
    """Also if it was stopped."""
    process = started(WAITS, tmp_path, **STARTED)
    assert process.stdout is not None
    worker, parent = map(int, process.stdout.readline().split())
    os.kill(worker, signal.SIGSTOP)
    process.kill()
    process.communicate(timeout=60)
    _must_end(worker)
    _must_end(parent)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_ends_with_its_parent_is_named(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = started(WAITS, tmp_path, **STARTED)
    assert process.stdout is not None
    worker, parent = map(int, process.stdout.readline().split())
    os.kill(parent, signal.SIGSTOP)  # so that it cannot say anything itself
    os.kill(worker, number)
    os.kill(parent, number)
    os.kill(parent, signal.SIGCONT)
    said = process.communicate(timeout=60)[1]
    how = f"ended by signal {number.value}, {signal.strsignal(number)}"
    name = rf"extensor: worker 2 of 4 \([^,]+, process {worker}\) is gone: "
    assert re.fullmatch(rf"{name}{how} \(start\)\n", said), said
    assert process.returncode == 75


def _must_end(process: int) -> None:
    until = time.monotonic() + 60
    while _is_alive(process) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _is_alive(process)


def _is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"  # of one whose exit code nobody has asked for yet


def test_programs_and_modules_find_what_they_would_find_alone(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("value = 3\n")
    text = """
import atexit, pickle, sys, beside
class Own:
    pass
atexit.register(lambda: print(pickle.loads(pickle.dumps(Own)) is Own))
print(__name__, sys.argv[1:], beside.value)
"""
    assert ended(text + "print(__file__)", tmp_path) == (
        0,
        f"__main__ ['a', 'b'] 3\n{tmp_path}/program.py\nTrue\n",
        "",
    )
    (tmp_path / "program.py").write_text(text.replace("atexit.register", "print"))
    words = [sys.executable, "-m", "extensor.distributed"]
    run = subprocess.run(
        [*words, "-m", "program", "c"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout.splitlines()[-1]) == (0, "__main__ ['c'] 3")
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "mpiexec -n 4 python -m extensor.distributed program.py" in run.stderr
