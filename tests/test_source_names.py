"""Names in the sources: a module or class has a name of its own, and functions are short."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import extensor

SOURCES = Path(extensor.__file__).parents[1]
LONGEST = 60  # lines of a function, without its docstring
# One subject in several layers has one name on purpose: functions in ops, modules in nn, XLA's form.
LAYERS = ("extensor/ops/", "extensor/nn/", "extensor/compiled/xla/")
MIRROR = "extensor/torch/"  # has the names of PyTorch, and of the files that they stand for

FILES = {
    path.relative_to(SOURCES).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for package in ("extensor", "extensor_cli")
    for path in sorted((SOURCES / package).rglob("*.py"))
}


def repeated(names: dict[str, list[str]]) -> dict[str, list[str]]:
    """The names that several files have, outside the deliberate pairs."""
    return {
        name: files
        for name, files in names.items()
        if len(files) > 1
        and not (all(file.startswith(LAYERS) for file in files) and _are_in_different_layers(files))
    }


def _are_in_different_layers(files: list[str]) -> bool:
    layers = [next(layer for layer in LAYERS if file.startswith(layer)) for file in files]
    return len(set(layers)) == len(layers)


def module_names() -> dict[str, list[str]]:
    names = defaultdict(list)
    for file in FILES:
        if Path(file).stem not in ("__init__", "__main__") and not file.startswith(MIRROR):
            names[Path(file).stem].append(file)
    return names


def class_names() -> dict[str, list[str]]:
    names = defaultdict(list)
    for file, tree in FILES.items():
        for node in [] if file.startswith(MIRROR) else tree.body:
            if isinstance(node, ast.ClassDef):
                names[node.name].append(file)
    return names


def long_functions() -> set[tuple[str, str]]:
    return {
        (file, node.name)
        for file, tree in FILES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length(node) > LONGEST
    }


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        docstring = function.body[0]
        lines -= (docstring.end_lineno or 0) - docstring.lineno + 1
    return lines


def test_two_modules_have_two_names() -> None:
    assert repeated(module_names()) == {}


def test_two_classes_have_two_names() -> None:
    assert repeated(class_names()) == {}


def test_functions_are_short() -> None:
    assert long_functions() == set()


@pytest.mark.parametrize(
    ("files", "is_repeated"),
    [
        (["extensor/ops/pooling.py", "extensor/nn/pooling.py"], False),
        (["extensor/ops/pooling.py", "extensor/ops/more/pooling.py"], True),
        (["extensor/ops/pooling.py", "extensor/data/pooling.py"], True),
        (["extensor/data/pooling.py"], False),
    ],
)
def test_layers_may_share_a_name(files: list[str], is_repeated: bool) -> None:
    assert bool(repeated({"pooling": files})) == is_repeated


def test_the_docstring_does_not_count() -> None:
    (function,) = ast.parse('def f():\n    """One\n    two."""\n    return 1').body
    assert isinstance(function, ast.FunctionDef)
    assert length(function) == 2
