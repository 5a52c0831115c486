"""Write the stubs of src/extensor/ops from the registry, after adding an op."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import extensor.ops
from extensor.core.op import OPS


def exports() -> dict[str, list[str]]:
    """The public names of each family."""
    names = {
        family.__name__.removeprefix("extensor.ops."): set(others)
        for family, others in extensor.ops.OTHERS.items()
    }
    for name, op in OPS.items():
        family = names.setdefault(op.function.__module__.removeprefix("extensor.ops."), set())
        family.add(name)
        if op.rule is not None:
            family.add(op.rule.name)
    return {family: sorted(names[family]) for family in sorted(names)}


if __name__ == "__main__":
    for module in pkgutil.iter_modules(extensor.ops.__path__):
        importlib.import_module(f"extensor.ops.{module.name}")
    folder = Path(extensor.ops.__path__[0])
    for name, stub in importlib.import_module("stubs").STUBS.items():
        (folder / name).write_text(stub())
