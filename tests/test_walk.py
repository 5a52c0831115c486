"""What `extensor train` does before its first step: the files of the walk, and nothing twice."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from commands import SOURCE, extensor
from own_files import write_table

from extensor.train.step_strategy import LocalStep

WALK = Path(__file__).parents[1] / "docs" / "explanation" / "walk.md"
# The road from a file to a model; what is below it (tensors, ops, modules, errors) is not counted.
ROAD = ("extensor_cli", "cli", "experiments", "data", "train", "distributed", "compiled", "report")
MOST_FILES = 45


class FirstStepError(Exception):
    """Raised in place of the first step."""


def _refuse(*_arguments: Any, **_options: Any) -> None:
    raise FirstStepError


def calls_of(run: Callable[[], object]) -> Counter[tuple[str, str]]:
    """How often each function of the library was called, by file and name; imports are not counted."""
    counts: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(SOURCE)):
            file = Path(frame.f_code.co_filename).relative_to(SOURCE).as_posix()
            if not _is_importing(frame):
                counts[file, frame.f_code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return counts


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "<module>" and "extensor" in frame.f_code.co_filename:
            return str(SOURCE) in frame.f_code.co_filename
        frame = frame.f_back
    return False


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Counter[tuple[str, str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("walk"))
        patch.setattr(LocalStep, "__call__", _refuse)
        table = write_table("iris.csv")

        def train() -> None:
            with pytest.raises(FirstStepError):
                extensor("train", table)

        return calls_of(train)


def test_the_files_of_the_walk_are_passed(calls: Counter[tuple[str, str]]) -> None:
    text = WALK.read_text("utf-8")
    section = text.split("## extensor train iris.csv\n")[1].split("\n## ")[0]
    named = set(re.findall(r"`src/([\w/]+\.py)`", section))
    assert len(named) > 8
    assert named - {file for file, _ in calls} == set()


def test_few_files_are_passed(calls: Counter[tuple[str, str]]) -> None:
    files = {file for file, _ in calls if file.removeprefix("extensor/").split("/")[0] in ROAD}
    assert len(files) <= MOST_FILES, sorted(files)


def test_nothing_is_done_twice(calls: Counter[tuple[str, str]]) -> None:
    assert calls["extensor/experiments/spec.py", "read_config"] == 1
    assert calls["extensor/train/rehearsal.py", "check_ready"] == 1
    assert calls["extensor/data/table/reading.py", "load_table"] == 1
    assert calls["extensor/experiments/api.py", "build_experiment"] == 1
