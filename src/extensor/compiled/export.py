"""A compiled function in files that JAX runs alone, for machines and platforms that are not this one."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from extensor.compiled.backend import jax, wide
from extensor.compiled.compiled_function import Compiled, modes_now
from extensor.compiled.compiled_function import compile as compiled
from extensor.compiled.device_arrays import LOCK
from extensor.compiled.exported_program import ExportedProgram, PlannedCall
from extensor.errors import shown, type_error, value_error
from extensor.io.atomic import written_atomically
from extensor.io.paths import as_path

FORMAT = 2
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
CALL = "changes, outputs = program.call(state, *inputs); state.update(changes)"


def export_stablehlo(
    function: Any,
    path: str | os.PathLike[str],
    platforms: Sequence[str] = PLATFORMS,
    example: Sequence[Any] | None = None,
) -> Path:
    """Write a function as a program that JAX runs without ExTensor.

    Parameters
    ----------
    function : Compiled or callable
        A compiled function that was called: the program of its last call is written. Any other function
        needs an ``example``.
    path : path-like
        The file of the program. Two more files are written beside it, ``path.npz`` and ``path.json``.
    platforms : sequence of {"cpu", "cuda", "rocm", "tpu"}, default all
        The platforms that the program runs on.
    example : sequence, optional
        Arguments of the function. Shapes and dtypes of the program are those of the example, or else of
        the last call.

    Returns
    -------
    pathlib.Path
        The path of the program.

    Raises
    ------
    ValueError
        If a platform is unknown, the function was never called and there is no example, the modes
        differ from those of the last call, or the function cannot be exported (a ``GradScaler``, a
        later call that would compute something else, a condition on a float argument, a number as a
        result).
    TypeError
        If ``example`` is not a tuple or list.
    ImportError
        If JAX or flatbuffers is not installed.

    Notes
    -----
    All three files are written, or none. ``path`` is JAX's serialized export: ``jax.export.deserialize``
    reads it. ``path.npz`` holds the state, that is parameters and all other values that the function
    has bound or reads at each call: ``numpy.load`` reads it. ``path.json`` describes state, inputs and
    outputs. The call is ``changes, outputs = program.call(state, *inputs)``, where ``state`` is a dict
    of arrays by name.

    Examples
    --------
    >>> import extensor as ex
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "double.stablehlo"
    ...     _ = ex.export_stablehlo(lambda x: 2 * x, path, ["cuda", "tpu"], example=(ex.ones(3),))
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['double.stablehlo', 'double.stablehlo.json', 'double.stablehlo.npz']
    """
    op = "export_stablehlo"
    target = as_path(op, path)
    chosen = _platform_names(op, platforms)
    jax()
    from jax import export  # type: ignore[import-not-found, unused-ignore]

    if not isinstance(function, Compiled) or function.backend != "xla":
        function = compiled(
            function.function if isinstance(function, Compiled) else function, backend="xla"
        )
    with LOCK, wide():
        program = ExportedProgram(op, function.function, _plan_call(op, function, example))
        like = jax().ShapeDtypeStruct
        state = {name: like(x.value.shape, x.value.dtype) for name, x in program.entries.items()}
        inputs = [like(x.shape, x.dtype) for x in program.inputs]
        exported = export.export(jax().jit(program), platforms=chosen)(state, *inputs)
        content = _serialize(op, exported)
    _write(target, content, program, exported)
    return target


def _platform_names(op: str, platforms: Any) -> list[str]:
    names = [platforms] if isinstance(platforms, str) else list(platforms)
    for name in names:
        if name not in PLATFORMS:
            raise value_error(op, f"platforms must be of {PLATFORMS}", platform=shown(name))
    if not names:
        raise value_error(op, f"platforms must be of {PLATFORMS}", platforms=names)
    return names


def _plan_call(op: str, function: Compiled, example: Any) -> PlannedCall:
    """The call with the ``example``, or else one like the last call."""
    if example is not None:
        if not isinstance(example, list | tuple):
            raise type_error(op, "example must be a tuple of arguments", example=shown(example))
        arguments: tuple[Any, Any] = tuple(example), {}
    elif function.last is None:
        requirement = "function must have been called once, or an example of its arguments be given"
        raise value_error(op, requirement, function=shown(function))
    else:
        _, arguments, modes = function.last
        if modes != modes_now():
            requirement = (
                "the modes (autocast, no_grad, the default dtype) must be those of the last call; "
                "export inside the same blocks, or give an example"
            )
            raise value_error(op, requirement)
    plan, given, arrays = function.planned(*arguments)
    return PlannedCall(plan, function.state, given, arrays, arguments)


def _serialize(op: str, exported: Any) -> bytes:
    try:
        return bytes(exported.serialize())
    except ImportError as error:
        raise ImportError(f"{op}: needs flatbuffers; pip install extensor[xla]") from error


def _write(target: Path, content: bytes, program: ExportedProgram, exported: Any) -> None:
    """Write the three files; the program, without which the others are nothing, comes last."""
    buffer = io.BytesIO()
    np.savez(buffer, **{name: x.value for name, x in program.entries.items()})
    files: dict[Path, Any] = {target: content}
    files[target.with_name(f"{target.name}.npz")] = buffer.getbuffer()
    description = _description(program, exported)
    description["sha256"] = {path.name: sha256(x).hexdigest() for path, x in files.items()}
    text = json.dumps(description, indent=1, ensure_ascii=False)
    files[target.with_name(f"{target.name}.json")] = text.encode()
    for path in files:
        if path.is_dir():
            raise value_error("export_stablehlo", "path must not be a folder", path=str(path))
    with ExitStack() as stack:  # the files take their names from the last to the first
        sinks = [stack.enter_context(written_atomically(path)) for path in files]
        for sink, part in zip(sinks, files.values(), strict=True):
            sink.write(part)
        for sink in sinks:
            sink.sync()  # a full disk shows here at the latest, before any file has its name


def _description(program: ExportedProgram, exported: Any) -> dict[str, Any]:
    avals = (*exported.in_avals, *exported.out_avals)
    changes, outputs = exported.out_tree.unflatten(exported.out_avals)
    return {
        "format": FORMAT,
        "call": CALL,
        "needs_x64": any(np.dtype(x.dtype).itemsize == 8 for x in avals),
        "platforms": list(exported.platforms),
        "inputs": [_kind(x, name=x.name) for x in program.inputs],
        "outputs": [_kind(x, name=y.name) for x, y in zip(outputs, program.outputs, strict=True)],
        "state": {
            name: _kind(
                entry.value,
                kind=entry.kind,
                changes=name in changes,
                **({} if entry.dtype == entry.value.dtype else {"bits_of": str(entry.dtype)}),
                **({} if entry.schedule is None else {"schedule": entry.schedule}),
            )
            for name, entry in program.entries.items()
        },
        "fixed": program.fixed,
    }


def _kind(x: Any, **more: Any) -> dict[str, Any]:
    return {**more, "shape": list(x.shape), "dtype": str(np.dtype(x.dtype))}
