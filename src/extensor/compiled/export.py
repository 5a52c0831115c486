"""A compiled function as a StableHLO file, for machines and platforms that are not this one."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from extensor.compiled.backend import jax, wide
from extensor.compiled.function import Compiled
from extensor.compiled.function import compile as compiled
from extensor.compiled.plan import Plan
from extensor.core.tensor import Tensor
from extensor.errors import shown, type_error, value_error
from extensor.io.atomic import write_atomically
from extensor.io.paths import as_path
from extensor.nn.module import Module

PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


def export_stablehlo(
    function: Any,
    path: str | os.PathLike[str],
    platforms: Sequence[str] = PLATFORMS,
    example: Sequence[Any] | None = None,
) -> Path:
    """Write the program of ``function`` to ``path``, to be run on any of ``platforms``.

    ``function`` is one that :func:`extensor.compile` made and that was called, whose last trace is
    taken; or any function with an ``example`` of its arguments. The file is JAX's serialized export
    (``jax.export.deserialize`` reads it), StableHLO with a promise of compatibility. Beside it,
    with ``.json`` added, stands what its inputs and outputs are.

    >>> import extensor as ex
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "double.stablehlo"
    ...     _ = ex.export_stablehlo(lambda x: 2 * x, path, ["cuda", "tpu"], example=(ex.ones(3),))
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['double.stablehlo', 'double.stablehlo.json']
    """
    op = "export_stablehlo"
    target = as_path(op, path)
    chosen = _checked(op, platforms)
    jax()
    from jax import export  # type: ignore[import-not-found, unused-ignore]

    if not isinstance(function, Compiled):
        function = compiled(function)
    plan, inputs = _planned(op, function, example)
    with wide():
        made = export.export(jax().jit(plan.function), platforms=chosen)
        exported = made(*plan.arguments_like(inputs))
        content = _serialized(op, exported)
    description = _described(plan, inputs, function, exported)
    write_atomically(target.with_name(f"{target.name}.json"), description.encode())
    write_atomically(target, content)
    return target


def _checked(op: str, platforms: Any) -> list[str]:
    names = [platforms] if isinstance(platforms, str) else list(platforms)
    for name in names:
        if name not in PLATFORMS:
            raise value_error(op, f"platforms must be of {PLATFORMS}", platform=shown(name))
    if not names:
        raise value_error(op, f"platforms must be of {PLATFORMS}", platforms=names)
    return names


def _planned(op: str, function: Compiled, example: Any) -> tuple[Plan, list[Any]]:
    """The program, and what is like its inputs."""
    if example is not None:
        if not isinstance(example, list | tuple):
            raise type_error(op, "example must be a tuple of arguments", example=shown(example))
        return function.planned(tuple(example))
    if function.last is None:
        requirement = "function must have been called once, or an example of its arguments be given"
        raise value_error(op, requirement, function=shown(function))
    return function.last


def _serialized(op: str, exported: Any) -> bytes:
    try:
        return bytes(exported.serialize())
    except ImportError as error:
        raise ImportError(f"{op}: needs flatbuffers; pip install extensor[xla]") from error


def _described(plan: Plan, inputs: list[Any], function: Compiled, exported: Any) -> str:
    """The inputs by groups, in the order in which the program takes them, and the outputs."""
    state = function.state
    names = _names(state.reached.modules)
    known = [names.get(id(tensor), f"tensor {i}") for i, tensor in enumerate(state.tensors)]
    known += [f"gradient {i}" for i in range(len(state.graded()))]
    cells = state.like()
    known += [f"state {i}" for i in range(len(cells) - len(known))]
    places = {"changed": plan.made.changed, "kept": plan.made.kept}
    described: dict[str, Any] = {
        group: [{"name": known[i], **_kind(cells[i])} for i in chosen]
        for group, chosen in places.items()
    }
    described["inputs"] = [_kind(x) for x in inputs]
    described["numbers"] = [float(read()) for read in plan.reads]
    generators = plan.trace.generators
    described["counters"] = [list(map(int, each.get_state())) for each, _ in generators]
    described["outputs"] = [
        {"shape": list(x.shape), "dtype": str(x.dtype)} for x in exported.out_avals
    ]
    described["platforms"] = list(exported.platforms)
    return json.dumps(described, indent=1)


def _kind(x: Any) -> dict[str, Any]:
    return {"shape": list(x.shape), "dtype": str(np.dtype(x.dtype))}


def _names(modules: list[Module]) -> dict[int, str]:
    """The paths of tensors in the modules that no other module holds."""
    below = {id(child) for module in modules for child in module.children()}
    found: dict[int, str] = {}
    for module in modules:
        if id(module) not in below:
            pairs: list[tuple[str, Tensor]] = [*module.named_parameters(), *module.named_buffers()]
            found.update({id(tensor): name for name, tensor in pairs})
    return found
