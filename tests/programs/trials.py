"""Programs tried: on several numbers of workers, and compiled."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from programs.backend import BACKEND
from programs.comparison import (
    Verdict,
    compare_tensors,
    compare_workers,
    counts_in,
    describe_difference,
    load,
    summarise,
    tolerance_of,
)
from programs.grammar import Program
from programs.groups import run_jobs
from programs.outcomes import Outcome

COMPILED = (("whole", "compiled"), ("step", "compiled step"))


def write_job(folder: Path, program: Program, mode: str, epochs: int | None = None) -> str:
    """Write a program down; returns the name of its job."""
    half = "" if epochs is None else "-half"
    name = f"{_name(program, mode)}{half}"
    (folder / f"{name}.py").write_text(program.text(mode, epochs))
    return name


def try_workers(
    folder: Path, programs: Sequence[Program], sizes: Sequence[int]
) -> dict[int, Verdict]:
    """A verdict for each program: the same bits on all numbers of workers, or refused."""
    jobs = []
    for program in programs:
        jobs.append(write_job(folder, program, "parts"))
        if program.draft.resumes:
            half = write_job(folder, program, "parts", 1)
            again = f"{half}-again"
            (folder / f"{again}.py").write_text(program.text("parts"))
            jobs += [half, again]
    found = {size: run_jobs(folder, jobs, size) for size in sizes}
    by_job = {job: {size: summarise(found[size][job]) for size in sizes} for job in jobs}
    plain = [write_job(folder, program, _plain_mode(program)) for program in programs]
    joined = [write_job(folder, p, "joined") for p in programs if p.draft.batches_can_be_joined]
    alone = run_jobs(folder, plain + joined, 1) if 1 in sizes else {}
    return {
        program.number: _verdict(folder, program, by_job, alone.get(name))
        for program, name in zip(programs, plain, strict=True)
    }


def _plain_mode(program: Program) -> str:
    """The same program without parts."""
    return "step" if program.draft.by_gradients else "whole"


def _name(program: Program, mode: str) -> str:
    return f"{program.number:03}-{mode.replace(' ', '-')}"


def _verdict(
    folder: Path,
    program: Program,
    by_job: dict[str, dict[int, Outcome]],
    plain: list[Outcome] | None,
) -> Verdict:
    job = _name(program, "parts")
    verdict = compare_workers(by_job[job], folder, job)
    if program.draft.resumes and verdict.kind == "same":
        verdict = _compare_resumed(folder, program, by_job)
    if verdict.is_finding or plain is None:
        return verdict
    whole, alone = summarise(plain), by_job[job][1]
    if whole.kind == "refused":
        return Verdict("refused", f"the plain program too: {whole.text}")
    if whole.kind != "finished":
        return Verdict("invalid", f"the plain program: {whole.text}")
    if program.draft.batches_can_be_joined:
        names = [_name(program, mode) for mode in ("joined", "whole")]
        arrays = [load(folder, name) for name in names]
        difference = describe_difference(*arrays, tolerance_of(program.draft))
        if difference:
            return Verdict("accumulate differs", f"from one batch: {difference}")
    if alone.kind != "finished" or any("micro_batches" in text for text in alone.warnings):
        return verdict
    if program.draft.amp == "float16":  # steps are left out where the scale is too large
        return verdict
    names = (_name(program, _plain_mode(program)), job)  # type: ignore[assignment]
    expected, actual = (_without_generator(load(folder, name)) for name in names)
    if not program.draft.parts_equal_batch:
        expected, actual = counts_in(expected), counts_in(actual)
    difference = describe_difference(expected, actual, tolerance_of(program.draft))
    text = f"from the whole batch, on 1 worker: {difference}"
    return Verdict("parts differ", text) if difference else verdict


def _without_generator(tensors: dict[str, Any]) -> dict[str, Any]:
    """All but the state of the default generator, from which parts do not draw."""
    return {name: array for name, array in tensors.items() if name != "random"}


def _compare_resumed(
    folder: Path, program: Program, by_job: dict[str, dict[int, Outcome]]
) -> Verdict:
    """Whether a run that was interrupted ends as one that was not."""
    job = _name(program, "parts")
    for part in (f"{job}-half", f"{job}-half-again"):
        verdict = compare_workers(by_job[part], folder, part)
        if verdict.kind != "same":
            return verdict
    again = f"{job}-half-again"
    is_same = by_job[again][min(by_job[again])].digest == by_job[job][min(by_job[job])].digest
    if is_same or program.draft.has_foreign_state:
        return Verdict("same")
    size = min(by_job[job])
    text = describe_difference(load(folder, job, size), load(folder, again, size))
    return Verdict("resume differs", text)


def try_compiled(folder: Path, programs: Sequence[Program]) -> dict[tuple[int, str], Verdict]:
    """A verdict for each program and each way to compile it; two processes share the programs."""
    halves = [programs[::2], programs[1::2]]
    folders = [folder / f"compiled-{number}" for number in range(2)]
    for half in folders:
        half.mkdir()
    with ThreadPoolExecutor(2) as pool:
        found: dict[tuple[int, str], Verdict] = {}
        for verdicts in pool.map(_try_compiled, folders, halves):
            found |= verdicts
    return dict(sorted(found.items()))


def _try_compiled(folder: Path, programs: Sequence[Program]) -> dict[tuple[int, str], Verdict]:
    jobs = [write_job(folder, p, mode) for p in programs for pair in COMPILED for mode in pair]
    found = run_jobs(folder, jobs, 1)
    verdicts = {}
    for program in programs:
        # Native programs have the bits of plain ones.
        tolerance = 0.0 if BACKEND == "native" else tolerance_of(program.draft)
        for plain, compiled in COMPILED:
            names = [_name(program, mode) for mode in (plain, compiled)]
            expected, actual = (summarise(found[name]) for name in names)
            arrays = (load(folder, name) for name in names)
            verdicts[program.number, compiled] = compare_tensors(
                expected, actual, arrays, tolerance
            )
    return verdicts
