"""Build the source distribution and a wheel for each Python that is found, and test the wheels.

    python tools/wheels.py build            leaves dist/extensor-*.tar.gz and dist/*.whl
    python tools/wheels.py test             installs each in a new environment and runs the tests there
    python tools/wheels.py test --python 3.11 --floor    with the oldest versions that are allowed

Wheels are built from the unpacked source distribution, and the tests run there too: a file that it
lacks makes them fail. Nothing is found in PATH during the tests but the tools of a system that has no
compiler. Everything temporary is in build/wheels; PYTHONS names the Pythons, otherwise they are looked
for in PATH and in pyenv's versions.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
WORK = ROOT / "build" / "wheels"
VERSIONS = ("3.11", "3.12", "3.13")
COMPILERS = re.compile(
    r"(.*-)?(c\+\+|g\+\+|gcc|cc|c89|c99|cpp|clang(\+\+)?|tcc|icpx|cmake)(-[\d.]+)?"
)
# The options of pyproject.toml name folders of the sources; here the package is an installed one.
PYTEST = ["-m", "pytest", "-p", "no:cacheprovider", "-o", "addopts=", "--doctest-modules"]
PYTEST += ["--strict-markers", "--durations=10", "-q"]


def main() -> int:
    """Build or test. Returns 1 if the tests fail."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("action", choices=["build", "test"])
    parser.add_argument("--python", action="append", choices=VERSIONS, help="all that are found")
    parser.add_argument("--isa", default="all", help="instruction sets to compile for")
    parser.add_argument(
        "--floor", action="store_true", help="test with the oldest versions allowed"
    )
    parser.add_argument("--workers", default="2", help="processes that run tests")
    options, arguments = parser.parse_known_args()
    pythons = dict(_pythons(options.python or VERSIONS))
    missing = [version for version in options.python or [] if version not in pythons]
    if missing or not pythons:
        raise SystemExit(
            f"wheels: no Python {' or '.join(missing or VERSIONS)} (name it in PYTHONS)"
        )
    if options.action == "build":
        build(pythons, options.isa)
        return 0
    codes = [
        test(version, python, options.floor, options.workers, arguments)
        for version, python in pythons.items()
    ]
    return max(codes)


def build(pythons: dict[str, Path], isa: str) -> None:
    """Write the source distribution, and from it a wheel for each of the Pythons."""
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.rmtree(DIST, ignore_errors=True)
    source: Path | None = None
    for version, python in pythons.items():
        environment = _environment(f"build-{version}", python)
        _pip(environment, "--group", f"{ROOT / 'pyproject.toml'}:wheel")
        if source is None:
            source = _write_sdist(environment)
        command = [environment / "python", ROOT / "tools" / "progress.py", environment / "pip"]
        command += ["wheel", "-v", "--no-deps", "--no-build-isolation", source]
        command += ["--wheel-dir", WORK / "linux"]
        command += [f"--config-settings=build-dir={WORK / f'native-{version}'}"]
        defines = {"EXTENSOR_INSTRUCTION_SETS": isa, "EXTENSOR_MANYLINUX": "ON"}
        command += [f"--config-settings=cmake.define.{key}={x}" for key, x in defines.items()]
        _run(command, {**os.environ, "PATH": f"{environment}:{os.environ['PATH']}"})
        (wheel,) = (WORK / "linux").glob(f"*-cp{version.replace('.', '')}-*.whl")
        if sys.platform == "linux":
            path = {**os.environ, "PATH": f"{environment}:{os.environ['PATH']}"}
            _run([environment / "auditwheel", "repair", wheel, "--wheel-dir", DIST], path)
        else:
            shutil.copy(wheel, DIST)
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size / 1e6:6.1f} MB  dist/{path.name}")


def test(version: str, python: Path, floor: bool, workers: str, arguments: list[str]) -> int:
    """Run the tests against a wheel that is installed in a new environment; the code of pytest."""
    (wheel,) = DIST.glob(f"*-cp{version.replace('.', '')}-*.whl")
    name = f"test-{version}{'-floor' if floor else ''}"
    environment = _environment(name, python)
    constraints: list[str | Path] = []
    if floor:
        floors = WORK / "floors.txt"
        lines = subprocess.run(
            [sys.executable, ROOT / "tools" / "floors.py"], check=True, capture_output=True
        )
        floors.write_bytes(lines.stdout)
        constraints = ["--constraint", floors]
    _pip(environment, *constraints, f"{wheel}[plot]", "--group", f"{ROOT / 'pyproject.toml'}:test")
    source = WORK / name / "source"
    with tarfile.open(next(DIST.glob("*.tar.gz"))) as archive:
        archive.extractall(source, filter="data")
    (folder,) = source.iterdir()
    shutil.rmtree(folder / "src")
    code = "import extensor, pathlib; print(pathlib.Path(extensor.__file__).parent)"
    found = subprocess.run(
        [environment / "python", "-c", code], check=True, capture_output=True, text=True
    )
    package = Path(found.stdout.strip())
    left_out = [folder / "tests" / x for x in ("parity", "browser", "xla")] + [package / "compiled"]
    command = [environment / "python", *PYTEST, *(f"--ignore={x}" for x in left_out)]
    command += ["-n", workers, *(arguments or ["tests", package])]
    print(f"wheels: testing {wheel.name}{' at the floor of its requirements' if floor else ''}")
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": f"{environment}:{_without_compilers()}"}
    ).returncode


def _pythons(versions: tuple[str, ...] | list[str]) -> Iterator[tuple[str, Path]]:
    named = [Path(x) for x in os.environ.get("PYTHONS", "").split()]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in versions:
        first = shutil.which(f"python{version}")
        found = [*named, *([Path(first)] if first else [])]
        found += sorted(pyenv.glob(f"{version}.*/bin/python"))
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        for python in found:
            ran = subprocess.run([python, "-c", code], capture_output=True, text=True)
            if ran.stdout.strip() == version:  # pyenv's shims fail for versions not in use
                yield version, python
                break
        else:
            print(f"wheels: no Python {version} found", file=sys.stderr)


def _environment(name: str, python: Path) -> Path:
    """Make an environment anew; its folder of programs."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    _run([python, "-m", "venv", folder], dict(os.environ))
    _pip(folder / "bin", "--upgrade", "pip>=25.1")
    return folder / "bin"


def _pip(environment: Path, *arguments: str | Path) -> None:
    _run([environment / "pip", "install", "--quiet", *arguments], dict(os.environ))


def _write_sdist(environment: Path) -> Path:
    code = f"from scikit_build_core.build import build_sdist; print(build_sdist({str(DIST)!r}))"
    _run([environment / "python", "-c", code], dict(os.environ))
    with tarfile.open(next(DIST.glob("*.tar.gz"))) as archive:
        archive.extractall(WORK / "source", filter="data")
    (folder,) = (WORK / "source").iterdir()
    return folder


def _without_compilers() -> Path:
    """A folder with links to the programs of the system, except compilers."""
    folder = WORK / "programs"
    folder.mkdir(exist_ok=True)
    for program in (x for place in ("/usr/bin", "/bin") for x in Path(place).iterdir()):
        link = folder / program.name
        if not COMPILERS.fullmatch(program.name) and not link.is_symlink():
            link.symlink_to(program)
    return folder


def _run(command: list[str | Path], environment: dict[str, str]) -> None:
    if subprocess.run(command, cwd=ROOT, env=environment).returncode:
        raise SystemExit(f"wheels: failed: {' '.join(map(str, command))}")


if __name__ == "__main__":
    sys.exit(main())
