"""Write src/extensor/ops/__init__.py and the stubs beside it from the registry, after adding an op."""

from __future__ import annotations

import importlib
import pkgutil
from itertools import chain
from pathlib import Path

import extensor.ops
from extensor.core.op import OPS

# Public names that are no ops: utilities, and second names for ops.
OTHERS = {
    "broadcasting": ["are_shapes_broadcastable", "broadcast_shapes", "compute_broadcast_strides"],
    "joining": ["meshgrid"],
    "movement": ["expand_dims", "expand_dims_backward"],
    "reduction": ["max", "max_backward", "min", "min_backward"],
}


def exports() -> dict[str, list[str]]:
    """The public names of each family."""
    names: dict[str, set[str]] = {family: set(others) for family, others in OTHERS.items()}
    for name, op in OPS.items():
        family = names.setdefault(op.function.__module__.removeprefix("extensor.ops."), set())
        family.add(name)
        if op.rule is not None:
            family.add(op.rule.name)
    return {family: sorted(names[family]) for family in sorted(names)}


def text() -> str:
    lines = [
        '"""The pairs, a file per family. Written by tools/exports.py from the registry."""',
        "",
    ]
    families = exports()
    for family, names in families.items():
        lines.append(f"from extensor.ops.{family} import (")
        lines.extend(f"    {name}," for name in names)
        lines.append(")")
    lines += ["from extensor.ops.methods import attach", "", "__all__ = ["]
    lines.extend(f'    "{name}",' for name in sorted(chain.from_iterable(families.values())))
    lines += ["]", "", "attach()", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    for module in pkgutil.iter_modules(extensor.ops.__path__):
        importlib.import_module(f"extensor.ops.{module.name}")
    folder = Path(extensor.ops.__path__[0])
    (folder / "__init__.py").write_text(text())
    for name, stub in importlib.import_module("stubs").STUBS.items():
        (folder / name).write_text(stub())
