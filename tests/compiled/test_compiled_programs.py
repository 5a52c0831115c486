"""Some drawn programs, compiled and not; the long form is tests/programs/run.py --compiled."""

from __future__ import annotations

from pathlib import Path

from programs.comparison import Verdict
from programs.grammar import draw
from programs.trials import try_compiled

SEED, COUNT = 1, 6


def test_compiled_programs_end_with_the_tensors_of_plain_ones_or_are_refused(
    tmp_path: Path,
) -> None:
    verdicts = try_compiled(tmp_path, [draw(SEED, number) for number in range(COUNT)])
    findings = [f"{key}: {verdict}" for key, verdict in verdicts.items() if verdict.is_finding]
    assert not findings, "\n".join(findings)
    assert Verdict("same") in verdicts.values()
