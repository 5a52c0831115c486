"""What a library costs before it computes (import, memory, disk), and its peak in training."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from benchmarks.environment import ROOT, for_threads
from benchmarks.groups.train import WORKLOADS
from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, PEERS, Notes, Row
from benchmarks.runner import Settings, row_of

_MEGA = 1e6
# What a library brings along under another name.
_PARTS = {"jax": ("jax", "jaxlib"), "numpy": ("numpy",), "torch": ("torch",)}


def rows(libraries: Libraries, settings: Settings, notes: Notes) -> Iterator[Row]:
    names = [name for name in (OURS, *PEERS) if name in libraries]
    if settings.quick:
        names = [name for name in names if name in (OURS, "numpy")]
        notes.skip("start: quick runs leave out torch and jax")
    yield from _imports(names, settings, notes)
    sizes = {name: [installed_size(name) / _MEGA] for name in names}
    yield row_of("start", "installed size", "", settings.threads, "MB", sizes)
    for workload in WORKLOADS[:1] if settings.quick else WORKLOADS:
        arguments = (workload.model, workload.batch, workload.optimizer)
        samples = _fresh_rounds(names, settings, notes, "step", *map(str, arguments), rounds=1)
        row = {name: [values[0]["peak"] / _MEGA] for name, values in samples.items() if values}
        if OURS in row:
            size = f"batch {workload.batch}"
            title = f"peak memory, {workload.name}"
            yield row_of("start", title, size, settings.threads, "MB", row)


def _imports(names: list[str], settings: Settings, notes: Notes) -> Iterator[Row]:
    rounds = 2 if settings.quick else 9
    samples = _fresh_rounds(names, settings, notes, "import", rounds=rounds)
    found = {name: values for name, values in samples.items() if len(values) == rounds}
    for title, key, unit, scale in (
        ("import beyond numpy", "seconds", "s", 1.0),
        ("resident after import", "resident", "MB", _MEGA),
    ):
        # NumPy beyond NumPy is nothing.
        row = {
            name: [value[key] / scale for value in values]
            for name, values in found.items()
            if key == "resident" or name != "numpy"
        }
        if row:
            yield row_of("start", title, "", settings.threads, unit, row)


def _fresh_rounds(
    names: list[str], settings: Settings, notes: Notes, *arguments: str, rounds: int
) -> dict[str, list[dict[str, float]]]:
    """The answers of ``benchmarks.probe`` in fresh processes, the libraries taking turns."""
    samples: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.probe", name, *arguments],
                env=for_threads(settings.threads),
                cwd=ROOT,
                capture_output=True,
                text=True,
            )
            what = f"start: {' '.join(arguments)}"
            if done.returncode == 0:
                answer = json.loads(done.stdout.splitlines()[-1])
                if "missing" in answer:
                    notes.skip(f"{what}: {answer['missing']}")
                else:
                    samples[name].append(answer)
            else:
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                notes.fail(f"{what}: {name}: {last}")
    return samples


def installed_size(name: str) -> int:
    """Bytes of the installed files without dependencies and without Python's own caches."""
    if name == OURS:
        return sum(_size(folder) for folder in _own_folders())
    total = 0
    for part in _PARTS[name]:
        for file in metadata.files(part) or ():
            path = Path(str(file.locate()))
            if "__pycache__" not in path.parts and path.is_file():
                total += path.stat().st_size
    return total


def _own_folders() -> set[Path]:
    """The package, and the native module where an editable install keeps it elsewhere."""
    package = importlib.util.find_spec(OURS)
    folders = {Path(place) for place in (package and package.submodule_search_locations) or ()}
    native = importlib.util.find_spec(f"{OURS}._native")
    if native is not None and native.origin is not None:
        folders.add(Path(native.origin).parent)
    return folders


def _size(folder: Path) -> int:
    return sum(
        path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file()
        and not any(
            part == "__pycache__" or part.startswith(".") for part in path.relative_to(folder).parts
        )
    )
