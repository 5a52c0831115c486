"""Sweeps: what is searched, which trials go on, and that a sweep that is killed ends the same."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import COMMAND, ENVIRONMENT, Result, extensor, files, write_config, write_data

from extensor.cli.trial_processes import Job, failure_text, run_side_by_side
from extensor.errors.messages import KEY_UNKNOWN, MONITOR_NOT_MEASURED, SWEEP_NOT_FOUND, meant
from extensor.train import Checkpoints
from extensor.train.fit_loop import Ended

# Four trials, of which one fails; two of them are trained to the end.
SWEEP = (
    "config.toml", "--set", "optimizer.lr=1e-2,1e-1,1.0,1e30", "--set", "optimizer.name=SGD",
    "--set", "epochs=3", "--jobs", "2",
)  # fmt: skip


def _prepare() -> None:
    write_data()
    write_config()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    monkeypatch.setattr(
        "extensor.cli.report_command.write_plots", lambda _: None
    )  # most of the time
    _prepare()
    return tmp_path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A sweep that nobody disturbed, and what it said."""
    place = tmp_path_factory.mktemp("whole")
    before = Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
        os.chdir(place)
        try:
            _prepare()
            result = extensor("sweep", *SWEEP, "--name", "a")
        finally:
            os.chdir(before)
    assert result.code == 0, result.err
    return place, result


def _results(sweep: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (sweep / "trials.jsonl").read_text().splitlines()]


def _checkpoint(run: Path) -> bytes:
    path = Checkpoints(run / "checkpoints").latest()
    assert path is not None
    return path.read_bytes()


NAME = ("--name", "a")
LR = ("--set", "optimizer.lr=0.1,0.2")
REFUSED = {
    "--set: a range must be two numbers, as 1e-4..1e-1, got change='optimizer.lr=1e-4..x'": [
        "--set", "optimizer.lr=1e-4..x",
    ],
    "--set: a range must be two numbers, as 1e-4..1e-1, got change='optimizer.lr=1e-4..inf'": [
        "--set", "optimizer.lr=1e-4..inf",
    ],
    "--set: a range must be two numbers, as 1e-4..1e-1, got change='optimizer.lr=..1'": [
        "--set", "optimizer.lr=..1",
    ],
    "--set: a range must go from less to more, got change='optimizer.lr=1..0.1'": [
        "--set", "optimizer.lr=1..0.1",
    ],
    "--set: a range may end with :log or :linear, got change='optimizer.lr=1..2:cubic'": [
        "--set", "optimizer.lr=1..2:cubic",
    ],
    "--set: a range with :log must be above 0, got change='optimizer.lr=0..1:log'": [
        "--set", "optimizer.lr=0..1:log",
    ],
    "--set: a range a..b must stand alone, without choices x,y, got change='optimizer.lr=1..2,3'": [
        "--set", "optimizer.lr=1..2,3",
    ],
    "--set: choices must have a value between commas, got change='optimizer.lr=1,,2'": [
        "--set", "optimizer.lr=1,,2",
    ],
    "--set: choices must differ, got change='optimizer.lr=1,2,1'": ["--set", "optimizer.lr=1,2,1"],
    "--set: a value must be written as in TOML, got value='='": ["--set", "optimizer.lr=1,="],
    "--set: a change must be KEY=VALUE, got change='optimizer.lr'": ["--set", "optimizer.lr"],
    "--set: a key must be set once, got key='optimizer.lr'": [*LR, "--set", "optimizer.lr=1"],
    "--set: epochs must be one number, which the rungs divide, got change='epochs=1..9'": [
        "--set", "epochs=1..9",
    ],
    "--set: a sweep needs a range, as optimizer.lr=1e-4..1e-1, or choices x,y,z, got set=[]": [],
    "--trials: must be from 2 to 9999, got trials=1": [*LR, "--trials", "1"],
    "--trials: must be from 2 to 9999, got trials=0": [*LR, "--trials", "0"],
    "--jobs: must be 1 or more, got jobs=0": [*LR, "--jobs", "0"],
    "--seed: must be from 0 to 2**64 - 1, got seed=-1": [*LR, "--seed", "-1"],
    "config: epochs must be 1 or more, got epochs=0": [*LR, "--set", "epochs=0"],
    KEY_UNKNOWN.text(meant("optimizer.lr"), key="optimizer.lrr"): [
        "--set", "optimizer.lrr=0.1..0.2",
    ],
    "SGD: lr must be 0 or greater, got lr=-1": [
        "--set", "optimizer.lr=-1..1", "--set", "optimizer.name=SGD",
    ],
    MONITOR_NOT_MEASURED.text(meant("validation_accuracy"), monitor="acuracy"): [*LR, "--monitor", "acuracy"],
    MONITOR_NOT_MEASURED.text(meant("validation_accuracy"), monitor="test_accuracy"): [
        *LR, "--monitor", "test_accuracy",
    ],
    "--name: must name a folder inside runs/, got name='../a'": [*LR, "--name", "../a"],
    SWEEP_NOT_FOUND.text(sweep="b"): ["--resume", "b"],
    "--resume: the sweep keeps its settings; only --jobs may change, "
    "got sweep='b'": ["--resume", "b", *LR],
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_searched_is_refused_before_anything_starts(text: str) -> None:
    before = files()
    config = [] if "--resume" in REFUSED[text] else ["config.toml"]
    result = extensor("sweep", *config, *REFUSED[text])
    assert (result.code, result.out, result.err) == (2, "", f"extensor sweep: {text}\n")
    assert files() == before
    assert not Path("runs").exists()


def test_a_choice_that_cannot_be_built_is_refused_too() -> None:
    result = extensor("sweep", "config.toml", "--set", "model.sizes=[4,8,3],[5,8,3]", *NAME)
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "4" in result.err
    assert not Path("runs").exists()


def test_a_name_that_is_taken() -> None:
    folder = Path("runs/a")
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("precious")
    result = extensor("sweep", "config.toml", *LR, *NAME)
    expected = "--name: the folder must be new or empty, got path='runs/a', files=['thesis.txt']"
    assert (result.code, result.err) == (2, f"extensor sweep: {expected}\n")
    (folder / "sweep.toml").write_text("")
    result = extensor("sweep", "config.toml", *LR, *NAME)
    expected = (
        "--name: the sweep must be new (continue with extensor sweep --resume a), got name='a'"
    )
    assert (result.code, result.err) == (2, f"extensor sweep: {expected}\n")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("trials = ", "file must be TOML"),
        ("trials = 3", "must be as the sweep wrote it, got key="),
        ("wrong = 1", "must be as the sweep wrote it, got key="),
    ],
)
def test_a_description_that_is_damaged(content: str, reason: str) -> None:
    Path("runs/a").mkdir(parents=True)
    Path("runs/a/sweep.toml").write_text(content)
    result = extensor("sweep", "--resume", "a")
    assert (result.code, reason in result.err, result.err.count("\n")) == (2, True, 1)


def test_a_sweep_finds_the_best_and_records_what_failed(whole: tuple[Path, Result]) -> None:
    place, result = whole
    sweep = place / "runs" / "a"
    found = _results(sweep)
    assert [(line["trial"], line["epochs"]) for line in found] == [
        (1, 1), (2, 1), (3, 1), (4, 1), *((line["trial"], 3) for line in found[4:]),
    ]  # fmt: skip
    failed = [line for line in found if "failed" in line]
    assert len(failed) == 1
    assert failed[0]["failed"].startswith("step 2 of epoch 1: loss is nan")
    # Two of the three that are left go on: those of the highest accuracy.
    first = {line["trial"]: line["value"] for line in found[:4] if "value" in line}
    ranked = sorted(first, key=lambda trial: (-first[trial], trial))
    assert [line["trial"] for line in found[4:]] == sorted(ranked[:2])
    # What is said to be the best is what the logs of the trials say.
    logged = {}
    for line in found[4:]:
        records = (sweep / f"trial-00{line['trial']}/log.jsonl").read_text().splitlines()
        last = [x for x in map(json.loads, records) if x["event"] == "epoch"][-1]
        assert (last["epoch"], last["validation_accuracy"]) == (3, line["value"])
        logged[line["trial"]] = line["value"]
    best = max(sorted(logged), key=logged.__getitem__)
    assert re.search(rf"^best +{best} +3 +", result.out, re.MULTILINE)
    assert f"trial {failed[0]['trial']} failed: step 2" in result.out
    config = tomllib.loads((sweep / "best.toml").read_text())
    assert config == tomllib.loads((sweep / f"trial-00{best}/config.toml").read_text())
    page = (sweep / "sweep.html").read_text()
    assert page.count("<tr") == 5
    dots = re.findall(r'<path class="dots[^>]* data-points="(\d+)" data-name="([^"]*)"', page)
    assert sum(int(count) for count, _ in dots) == 3
    assert dots[-1] == ("1", "best")
    assert f'<td>best</td><td><a href="trial-00{best}/report.html">{best}</a>' in page
    assert page.count("<script") == 1  # values under the pointer


def test_a_trial_that_went_on_is_a_run_that_was_never_stopped(whole: tuple[Path, Result]) -> None:
    """The command that is printed comes to the same bits, and so does best.toml."""
    place, result = whole
    sweep = place / "runs" / "a"
    one, two = result.out.splitlines()[-2:]
    best = _results(sweep)[4:]
    number = max(best, key=lambda line: line["value"])["trial"]
    expected = _checkpoint(sweep / f"trial-00{number}")
    shutil.copytree(sweep, "runs/a")
    for name, command in (("one", one), ("two", two)):
        words = shlex.split(command)
        assert words[:2] == ["extensor", "train"]
        assert extensor(*words[1:], "--name", name).code == 0
        assert _checkpoint(Path("runs") / name) == expected


def _started(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "sweep", *arguments],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _until(condition: Callable[[], bool]) -> None:
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it took too long")


def _same(first: Path, second: Path) -> None:
    """The same results, and the same runs to the last bit."""
    for name in ("trials.jsonl", "best.toml"):
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    trials = sorted(path.name for path in first.glob("trial-*"))
    assert trials == sorted(path.name for path in second.glob("trial-*"))
    for name in trials:
        for file in ("log.jsonl", "log.csv", "config.toml"):
            assert (first / name / file).read_bytes() == (second / name / file).read_bytes()
        logged = [path.name for path in sorted((first / name / "checkpoints").glob("*"))]
        assert logged == [path.name for path in sorted((second / name / "checkpoints").glob("*"))]
        if logged:
            assert _checkpoint(first / name) == _checkpoint(second / name)


def _table(out: str) -> list[str]:
    lines = out.splitlines()
    return lines[lines.index("") : lines.index("next")]


def test_a_sweep_that_is_killed_ends_the_same(whole: tuple[Path, Result]) -> None:
    process = _started(*SWEEP, "--name", "a")
    _until(Path("runs/a/trials.jsonl").exists)
    process.kill()
    process.communicate()
    before = len(_results(Path("runs/a")))
    assert 1 <= before < 6
    result = extensor("sweep", "--resume", "a", "--jobs", "2")
    assert result.code == 0, result.err
    place, undisturbed = whole
    assert _table(result.out) == _table(undisturbed.out)
    _same(place / "runs" / "a", Path("runs/a"))
    # Nothing is left to do: the same table again, and no trial is trained.
    again = extensor("sweep", "--resume", "runs/a")
    assert (again.code, _table(again.out)) == (0, _table(result.out))


def test_ctrl_c_ends_the_trials_in_order() -> None:
    """They save, and the sweep says how to go on."""
    settings = ["--set", "optimizer.lr=0.1,0.2", "--set", "epochs=5000", "--no-halving"]
    process = _started("config.toml", *settings, "--jobs", "2", "--name", "a")
    folders = [Path(f"runs/a/trial-00{trial}") for trial in (1, 2)]
    logs = [folder / "log.csv" for folder in folders]
    _until(lambda: all(log.exists() and log.read_text().count("\n") > 1 for log in logs))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    expected = (
        "extensor sweep: interrupted and saved; continue with: extensor sweep --resume runs/a"
    )
    assert err.splitlines()[-1] == expected
    assert not Path("runs/a/trials.jsonl").exists()
    for number, folder in enumerate(folders, 1):
        said = (folder / "output.txt").read_text().splitlines()[-1]
        assert said == f"extensor sweep: trial {number} ended by SIGTERM"
        assert (folder / ".lock").read_text() == ""
        assert Checkpoints(folder / "checkpoints").latest() is not None


def test_two_cannot_go_on_with_one_sweep(whole: tuple[Path, Result]) -> None:
    shutil.copytree(whole[0] / "runs" / "a", "runs/a")
    from extensor.train.run_folder import locked

    with locked(Path("runs/a"), "sweep"):
        result = extensor("sweep", "--resume", "a")
    assert result.code == 2
    assert "--resume: folder must be free of other processes" in result.err


def test_if_all_fail_there_is_no_best(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(jobs: list[Job], most: int, environment: Any, done: Callable[..., None]) -> None:
        assert (len(jobs), most, environment["EXTENSOR_NUM_THREADS"]) == (2, 64, "3")
        for job in jobs:
            job.output.parent.mkdir()
            job.output.write_text("epoch 1\nextensor sweep: it is too hot\n")
            done(job.number, 2)

    monkeypatch.setattr("extensor.cli.sweep_command.run_side_by_side", fail)
    monkeypatch.setattr("extensor.cli.sweep_command.get_num_threads", lambda: 7)
    result = extensor("sweep", "config.toml", *LR, *NAME, "--jobs", "64", "--monitor", "loss")
    assert result.code == 2
    expected = "extensor sweep: trials: one at least must succeed, got failed=2"
    assert result.err.splitlines()[-1] == expected
    assert "by validation loss, the lower the better; 2 at a time\n" in result.out
    assert result.out.endswith("trial 1 failed: it is too hot\ntrial 2 failed: it is too hot\n")
    assert not Path("runs/a/best.toml").exists()
    assert Path("runs/a/sweep.html").exists()


def _jobs(*programs: str) -> list[Job]:
    return [
        Job(number, [sys.executable, "-c", program], Path(f"out-{number}"))
        for number, program in enumerate(programs)
    ]


def test_a_crash_is_one_failed_job() -> None:
    codes: dict[int, int] = {}
    programs = ("print('fine')", "import os; os.abort()", "import sys; sys.exit('no memory')")
    run_side_by_side(_jobs(*programs), 2, os.environ, codes.__setitem__)
    assert codes == {0: 0, 1: -signal.SIGABRT, 2: 1}
    assert Path("out-0").read_text() == "fine\n"
    assert failure_text(codes[1], Path("out-1")) == "ended by SIGABRT"
    assert failure_text(codes[2], Path("out-2")) == "no memory"
    Path("empty").touch()
    assert failure_text(3, Path("empty")) == "ended with code 3"


def test_a_job_that_somebody_ends_ends_all() -> None:
    """A cluster ends the processes of a job one after the other."""
    waiting = "import sys; sys.stdin.read()"
    dying = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    with pytest.raises(Ended) as ended:
        run_side_by_side(_jobs(waiting, dying), 2, os.environ, lambda *_: pytest.fail("done"))
    assert ended.value.signal == signal.SIGTERM


def test_jobs_see_that_their_parent_is_gone() -> None:
    """The standard input of a job ends with the process that started it."""
    program = (
        "import sys, time\nfrom extensor.cli.trial_processes import end_with_parent\n"
        "end_with_parent()\nprint('watching', flush=True)\ntime.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "watching\n"
    process.stdin.close()
    assert process.wait(30) == -signal.SIGTERM
    process.stdout.close()
