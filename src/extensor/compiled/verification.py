"""Verification: trace a function again and compare the result with its program.

This is the net below the guards: at some calls the function is traced once more, and the two programs
are compared op by op. No difference is ever expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from extensor.compiled.code_analysis import is_users_file, source_line
from extensor.compiled.value_contents import nested_key
from extensor.errors import marked


class Difference(NamedTuple):
    """An op of the program, the op of the new trace in its place, and its source line."""

    before: str
    now: str
    line: str


def is_due(run: int) -> bool:
    """Whether run ``run``, from 1 on, is one before which the function is traced again."""
    # Powers of two: a value that is missed is found early, while errors are cheap, and n steps
    # cost log2(n) traces.
    return run > 1 and run & (run - 1) == 0


def check_same(name: str, run: int, before: Any, now: Any) -> None:
    """Raise if two traces of a function (their ``Recording``) are programs that differ."""
    difference = first_difference(before.program, now.program)
    if difference is None and nested_key(before.outputs) != nested_key(now.outputs):
        difference = Difference(repr(before.outputs), repr(now.outputs), "its return statement")
    if difference is not None:
        raise marked(
            RuntimeError(
                f"compile: call {run} of {name} would compute something else than its program: "
                f"{difference.now} instead of {difference.before}, at {difference.line}. It "
                "reads a value that cannot be watched: pass that value as an argument. Results "
                "since the call before may have been computed with an old value"
            )
        )


class _ProgramStep(NamedTuple):
    """A constant, input, op or result of a program, and the parts by which it is compared."""

    kind: str
    value: Any
    parts: list[Any]
    program: Any


def first_difference(before: Any, now: Any) -> Difference | None:
    """The first op in which two programs (closed jaxprs) differ."""
    for a, b in zip_longest(_steps(before), _steps(now)):
        if a is None or b is None or not _is_equal(a[:3:2], b[:3:2]):
            return Difference(_step_text(a), _step_text(b), _line_of_step(a if b is None else b))
    return None


def _steps(program: Any) -> Iterator[_ProgramStep]:
    """The steps of a program and of the programs inside it, its variables numbered as they appear."""
    inner = getattr(program, "jaxpr", program)
    numbers: dict[Any, int] = {}

    def known(operand: Any) -> Any:
        return operand.val if hasattr(operand, "val") else ("variable", numbers.get(operand))

    def number(variables: Any) -> list[Any]:
        for x in variables:
            numbers[x] = len(numbers)
        return [repr(x.aval) for x in variables]

    for x in getattr(program, "consts", ()):
        yield _ProgramStep("constant", x, [x], program)
    variables = [*inner.constvars, *inner.invars]
    for x, aval in zip(variables, number(variables), strict=True):
        yield _ProgramStep("input", x, [aval], program)
    for op in inner.eqns:
        operands = list(map(known, op.invars))
        parts = [str(op.primitive), operands, number(op.outvars), [*op.params.items()]]
        yield _ProgramStep("op", op, parts, program)
        for each in _programs_in([*op.params.values()]):
            yield from _steps(each)
    for x in inner.outvars:
        yield _ProgramStep("result", x, [known(x)], program)


def _step_text(step: _ProgramStep | None) -> str:
    if step is None:
        return "nothing"
    if step.kind != "op":
        return f"{step.kind} {_shown(step.value)}"
    operands = [_shown(x.val) if hasattr(x, "val") else str(x.aval) for x in step.value.invars]
    return f"{step.value.primitive}({', '.join(operands)})"


def _line_of_step(step: _ProgramStep) -> str:
    if step.kind == "constant":
        return _where_used(step.program, step.value)
    places = {"input": "its arguments", "result": "its return statement"}
    return places.get(step.kind) or _line_of(step.value)


def _programs_in(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [inner for item in value for inner in _programs_in(item)]
    return [value] if hasattr(value, "eqns") or hasattr(value, "jaxpr") else []


def _is_equal(a: Any, b: Any) -> bool:
    """Whether parts of steps are equal; programs among these have steps of their own."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_is_equal, a, b))
    if a is b or _programs_in(a) or _programs_in(b) or (callable(a) and callable(b)):
        return True
    return _is_equal_value(a, b)


def _is_equal_value(a: Any, b: Any) -> bool:
    if hasattr(a, "dtype") and hasattr(b, "dtype"):
        x, y = np.asarray(a), np.asarray(b)
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    if isinstance(a, float) and isinstance(b, float):
        return a.hex() == b.hex()
    return type(a) is type(b) and (bool(a == b) or repr(a) == repr(b))


def _shown(x: Any) -> str:
    text = str(np.asarray(x).ravel()[:4]) if hasattr(x, "dtype") else str(getattr(x, "aval", x))
    return text if len(text) < 60 else f"{text[:57]}..."


def _where_used(program: Any, constant: Any) -> str:
    """The line of the first op that takes a constant of the program."""
    for variable, value in zip(program.jaxpr.constvars, program.consts, strict=True):
        if value is constant:
            for equation in program.jaxpr.eqns:
                if any(x is variable for x in equation.invars):
                    return _line_of(equation)
    return "an unknown line"


def _line_of(equation: Any) -> str:
    """``file:line (text)`` of the innermost line of the user's code that an op comes from."""
    trace = getattr(getattr(equation, "source_info", None), "traceback", None)
    for frame in getattr(trace, "frames", ()):
        if is_users_file(frame.file_name):
            return source_line(frame.file_name, frame.line_num)
    return "an unknown line"
