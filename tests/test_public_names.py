"""What ``dir`` and the completion of a prompt show: public names, and nothing else."""

from __future__ import annotations

import pkgutil
import rlcompleter
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

import extensor

# Public packages have an __all__; the others are the library's own.
_OWN = ("_native", "arrays", "cli", "core", "differentiation", "errors", "settings")
_NOT_LOOKED_INTO = ("ops", "compiled", *_OWN)


def _public_modules(package: ModuleType = extensor) -> Iterator[str]:
    yield package.__name__
    for found in pkgutil.iter_modules(package.__path__):
        name = f"{package.__name__}.{found.name}"
        if found.name in _OWN:
            continue
        if found.ispkg and found.name not in _NOT_LOOKED_INTO:
            module = import_module(name)
            if hasattr(module, "__all__"):
                yield from _public_modules(module)
        elif found.ispkg or name in ("extensor.typing", "extensor.nn.init"):
            yield name


_MODULES = sorted(_public_modules())


@pytest.mark.parametrize("name", _MODULES)
def test_dir_shows_public_names_only(name: str) -> None:
    module = import_module(name)
    shown = dir(module)
    assert shown == sorted(module.__all__)
    assert all(hasattr(module, each) for each in shown)
    hidden = [each for each in shown if each.startswith("_") and each != "__version__"]
    assert not hidden


def test_all_packages_at_the_top_are_looked_at() -> None:
    packages = {found.name for found in pkgutil.iter_modules(extensor.__path__)}
    assert packages - set(_OWN) <= {name.split(".")[1] for name in _MODULES if "." in name}
    assert {"extensor.nn.init", "extensor.data.streaming", "extensor.train.metrics"} <= set(
        _MODULES
    )


def test_completion_offers_public_names_only() -> None:
    completer = rlcompleter.Completer({"ex": extensor})
    offered: list[str] = []
    while (match := completer.complete("ex.optim.", len(offered))) is not None:
        offered.append(match.rstrip("("))
    assert {name.rpartition(".")[2] for name in offered} == set(extensor.optim.__all__)
