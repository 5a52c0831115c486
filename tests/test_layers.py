"""Imports point downwards: the rooms of the package, and what each may know of.

Every import that runs counts, also one inside a function. Those under ``if TYPE_CHECKING`` do not:
names in annotations point upwards too (the tape speaks of tensors), and nothing of them runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import extensor

SOURCES = Path(extensor.__file__).parent
ROOT = "extensor"

# From the bottom to the top: a package or module, and all that it imports, which stands above it here.
LAYERS = {
    "_native": "",
    "errors": "",
    "settings": "_native errors",
    "arrays": "_native errors",
    "core": "_native errors arrays",
    "random": "errors arrays core",
    "ops": "_native errors arrays core random",
    "typing": "core ops",
    "differentiation": "errors arrays core random",
    "gradcheck": "errors arrays core differentiation",
    "nn": "errors arrays core random ops typing differentiation",
    "optim": "errors arrays core",
    "amp": "errors arrays core optim",
    "models": "errors arrays core random ops nn",
    "io": "errors arrays core",
    "compiled": "_native errors arrays core random ops nn optim io",
    "data": "errors arrays core random io",
    "distributed": "_native errors settings arrays core random differentiation nn optim",
    "train": ("errors settings arrays core random ops nn optim amp io compiled data distributed"),
    "estimators": "errors arrays core random ops nn optim models data train",
    "experiments": "errors arrays core random ops nn optim models io data train",
    "report": "errors random ops nn io data train experiments",
    "cli": "errors settings io data distributed train experiments report",
    # PyTorch's names, above all that they stand for.
    "torch": "errors settings arrays core random ops differentiation nn optim amp io",
    # Whatever else it has is imported when somebody asks for it.
    ROOT: "errors arrays core random ops",
}
# The same inside the core: each knows of those above it here, or of fewer.
CORE = (
    "structures modes door kinds documentation tracing html handle binding changes array_data tape "
    "propagation backward_pass tensor creation entries precision conversion roles formula_derivative rule op"
).split()
UPWARDS = {
    # The version, which stands where users look for it.
    ("extensor.train.run_folder", "extensor"),
    ("extensor.train.worker_checks", "extensor"),
    # prod's rule joins tensors, and joining is built on sums: both are families of their own.
    ("extensor.ops.reduction", "extensor.ops.joining"),
}


def _module(path: Path) -> str:
    name = ".".join([ROOT, *path.relative_to(SOURCES).with_suffix("").parts])
    return name.removesuffix(".__init__")


FILES = {_module(path): path for path in sorted(SOURCES.rglob("*.py"))}
KNOWN = {*FILES, "extensor._native"}


def _layer(module: str) -> str:
    return module.split(".")[1] if "." in module else ROOT


def imported(source: str) -> Iterator[str]:
    """The modules of the package that run when ``source`` does, or one of its functions."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "an import names the whole path"
            module = str(node.module)
            if _is_ours(module):
                names = [f"{module}.{alias.name}" for alias in node.names]
                yield from (name if name in KNOWN else module for name in names)


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == ROOT


IMPORTS = {
    module: {name for name in imported(path.read_text()) if (module, name) not in UPWARDS}
    for module, path in FILES.items()
}


def test_every_file_stands_in_a_layer() -> None:
    assert {_layer(module) for module in KNOWN} == LAYERS.keys()


def test_layers_know_only_of_those_below() -> None:
    order = list(LAYERS)
    for layer, below in LAYERS.items():
        assert set(below.split()) <= set(order[: order.index(layer)]), layer


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_point_downwards(layer: str) -> None:
    found = {
        (module, name)
        for module, names in IMPORTS.items()
        for name in names
        if _layer(module) == layer != _layer(name)
    }
    allowed = set(LAYERS[layer].split())
    assert {(module, name) for module, name in found if _layer(name) not in allowed} == set()
    assert allowed - {_layer(name) for _, name in found} == set()  # what it no longer imports


def test_the_core_is_built_from_the_bottom_to_the_top() -> None:
    modules = [f"extensor.core.{name}" for name in CORE]
    assert {*modules, "extensor.core"} == {x for x in FILES if _layer(x) == "core"}
    for place, module in enumerate(modules):
        own = {name for name in IMPORTS[module] if _layer(name) == "core"}
        assert own <= set(modules[:place]), module


def test_no_module_imports_itself_by_way_of_others() -> None:
    TopologicalSorter(IMPORTS).prepare()


def test_exceptions_are_needed() -> None:
    found = {(x, name) for x, path in FILES.items() for name in imported(path.read_text())}
    assert UPWARDS - found == set()


def test_no_other_file_imports_by_name() -> None:
    """Such an import would not be seen here."""
    words = ("import_module", "__import__")
    found = {x for x, path in FILES.items() if any(word in path.read_text() for word in words)}
    assert found == {
        ROOT,
        "extensor.train",  # which lends the names of experiments
        "extensor.torch.runner",  # which puts modules in PyTorch's place
        "extensor.experiments.user_functions",  # which imports what a configuration names
        "extensor.compiled.code_analysis",  # which looks for these words in code
    }


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("import extensor.ops.matrix", ["extensor.ops.matrix"]),
        ("from extensor import nn", ["extensor.nn"]),
        ("from extensor import __version__", ["extensor"]),
        ("from extensor.core import tape", ["extensor.core.tape"]),
        ("from extensor.core.tape import Node", ["extensor.core.tape"]),
        ("def f():\n    from extensor.ops import relu", ["extensor.ops"]),
        ("class A:\n    def f(self):\n        import extensor.nn", ["extensor.nn"]),
        ("if TYPE_CHECKING:\n    from extensor import nn", []),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    from extensor import nn", ["extensor.nn"]),
        ("if not TYPE_CHECKING:\n    from extensor import nn", ["extensor.nn"]),
        ("import numpy\nfrom extensor_cli import main", []),
    ],
)
def test_what_counts_as_an_import(source: str, modules: list[str]) -> None:
    assert list(imported(source)) == modules
