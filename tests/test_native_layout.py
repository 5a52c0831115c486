"""The rooms of the native part: who may know Python, and the walk through them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commands import SOURCE

ROOT = Path(__file__).parent.parent
NATIVE = ROOT / "native"
SOURCES = sorted(path for path in NATIVE.rglob("*") if path.suffix in (".h", ".cpp"))
# What the sources of each room may include, besides those of their own.
BELOW = {
    "runtime": set(),
    "kernels": {"runtime"},
    "door": set(),
    "drivers": {"door", "kernels", "runtime"},
    "python": {"door", "drivers", "kernels", "runtime"},
}


def _room(path: Path) -> str:
    return path.relative_to(NATIVE).parts[0]


def _included(path: Path) -> list[str]:
    return re.findall(r'^#include ["<]([^">]+)[">]', path.read_text("utf-8"), re.MULTILINE)


def test_there_are_sources() -> None:
    assert {_room(path) for path in SOURCES} == set(BELOW)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(NATIVE)))
def test_includes_point_downwards(path: Path) -> None:
    for name in _included(path):
        if "/" not in name and not (path.parent / name).exists():
            assert name != "Python.h" or _room(path) == "python", name
            continue
        found = (path.parent / name).resolve()
        if found.exists():
            assert _room(found) in {_room(path), *BELOW[_room(path)]}, name
        else:
            assert not name.startswith("numpy/") or _room(path) == "python", name


WALK = (ROOT / "docs" / "explanation" / "walk.md").read_text("utf-8")


def _place(name: str) -> Path:
    """Where a file of the repository is; the package may be installed elsewhere."""
    return SOURCE / name.removeprefix("src/") if name.startswith("src/") else ROOT / name


def test_the_files_of_the_walk_exist() -> None:
    named = re.findall(r"`((?:src|native)/[^`]+\.(?:py|cpp|h))`", WALK)
    assert len(named) > 20
    assert [name for name in named if not _place(name).exists()] == []


@pytest.mark.parametrize("section", re.findall(r"^## (?!Where)(.+)$", WALK, re.MULTILINE))
def test_a_walk_passes_five_files_at_most(section: str) -> None:
    text = WALK.split(f"## {section}\n")[1].split("\n## ")[0]
    for walk in re.split(r"\n(?=1\. )", text)[1:]:
        steps = re.findall(r"^\d\. ", walk, re.MULTILINE)
        assert 2 <= len(steps) <= 5
