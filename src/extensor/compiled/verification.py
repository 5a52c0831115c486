"""Whether a function, traced again, still does what its program does.

This is the net below the watching of values: at some calls the function is traced once more, and the
two programs are compared op by op. No difference is ever expected.
"""

from __future__ import annotations

import linecache
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from extensor.compiled.opaque import nested_key
from extensor.compiled.origin import is_users_file
from extensor.errors import marked


class Difference(NamedTuple):
    """An op of the program, what it would be now, and the line that it comes from."""

    before: str
    now: str
    line: str


def is_due(run: int) -> bool:
    """Whether run ``run``, from 1 on, is one before which the function is traced again."""
    return run > 1 and run & (run - 1) == 0


def check_same(name: str, run: int, before: Any, now: Any) -> None:
    """Raise if two traces of a function (their ``Made``) are programs that differ."""
    found = first_difference(before.program, now.program)
    if found is None and nested_key(before.outputs) != nested_key(now.outputs):
        found = Difference(repr(before.outputs), repr(now.outputs), "its return statement")
    if found is not None:
        raise marked(
            RuntimeError(
                f"compile: call {run} of {name} would compute something else than its program: "
                f"{found.now} instead of {found.before}, at {found.line}. It reads a value that "
                "cannot be watched: pass that value as an argument. Results since the call before "
                "may have been computed with an old value"
            )
        )


def first_difference(before: Any, now: Any) -> Difference | None:
    """The first op in which two programs (closed jaxprs) differ."""
    for a, b in zip_longest(before.consts, now.consts):
        if not _is_equal(a, b):
            return Difference(f"constant {_shown(a)}", f"constant {_shown(b)}", _where_used(now, b))
    return _difference(before.jaxpr, now.jaxpr)


def _difference(before: Any, now: Any) -> Difference | None:
    """Of two jaxprs whose variables are numbered in the order in which they appear."""
    if before is now:
        return None
    numbers: tuple[dict[Any, int], dict[Any, int]] = ({}, {})
    for a, b in zip_longest((*before.constvars, *before.invars), (*now.constvars, *now.invars)):
        if a is None or b is None or a.aval != b.aval:
            return Difference(f"input {_shown(a)}", f"input {_shown(b)}", "its arguments")
        _number(numbers, a, b)
    for a, b in zip_longest(before.eqns, now.eqns):
        if a is None or b is None or not _is_same_op(a, b, numbers):
            return Difference(_told(a), _told(b), _line_of(a if b is None else b))
        inner = _inner_difference(a, b)
        if inner is not None:
            return inner
        for x, y in zip(a.outvars, b.outvars, strict=True):
            _number(numbers, x, y)
    for a, b in zip_longest(before.outvars, now.outvars):
        if a is None or b is None or not _is_same_operand(a, b, numbers):
            return Difference(f"result {_shown(a)}", f"result {_shown(b)}", "its return statement")
    return None


def _number(numbers: tuple[dict[Any, int], dict[Any, int]], a: Any, b: Any) -> None:
    numbers[0][a], numbers[1][b] = len(numbers[0]), len(numbers[1])


def _is_same_op(a: Any, b: Any, numbers: Any) -> bool:
    if a.primitive is not b.primitive and str(a.primitive) != str(b.primitive):
        return False
    if len(a.invars) != len(b.invars) or len(a.outvars) != len(b.outvars):
        return False
    if any(x.aval != y.aval for x, y in zip(a.outvars, b.outvars, strict=True)):
        return False
    pairs = zip(a.invars, b.invars, strict=True)
    if not all(_is_same_operand(x, y, numbers) for x, y in pairs):
        return False
    if a.params.keys() != b.params.keys():
        return False
    return all(_is_equal(a.params[key], b.params[key]) for key in a.params)


def _is_same_operand(a: Any, b: Any, numbers: Any) -> bool:
    if hasattr(a, "val") or hasattr(b, "val"):  # literals
        return hasattr(a, "val") and hasattr(b, "val") and _is_equal(a.val, b.val)
    return bool(numbers[0].get(a) == numbers[1].get(b))


def _inner_difference(a: Any, b: Any) -> Difference | None:
    for key in a.params:
        pairs = zip(_programs_in(a.params[key]), _programs_in(b.params[key]), strict=True)
        for one, other in pairs:
            closed = hasattr(one, "jaxpr")
            found = first_difference(one, other) if closed else _difference(one, other)
            if found is not None:
                return found
    return None


def _programs_in(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [inner for item in value for inner in _programs_in(item)]
    return [value] if hasattr(value, "eqns") or hasattr(value, "jaxpr") else []


def _is_equal(a: Any, b: Any) -> bool:
    """Of constants and parameters of ops; programs among these are compared elsewhere."""
    if a is b:
        return True
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_is_equal, a, b))
    if _programs_in(a) or _programs_in(b) or (callable(a) and callable(b)):
        return True
    if hasattr(a, "dtype") and hasattr(b, "dtype"):
        x, y = np.asarray(a), np.asarray(b)
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    if isinstance(a, float) and isinstance(b, float):
        return a.hex() == b.hex()
    return type(a) is type(b) and (bool(a == b) or repr(a) == repr(b))


def _told(equation: Any) -> str:
    if equation is None:
        return "nothing"
    operands = [_shown(x.val) if hasattr(x, "val") else str(x.aval) for x in equation.invars]
    return f"{equation.primitive}({', '.join(operands)})"


def _shown(x: Any) -> str:
    if x is None:
        return "none"
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
            text = linecache.getline(frame.file_name, frame.line_num).strip()
            return f"{frame.file_name}:{frame.line_num} ({text or 'source not found'})"
    return "an unknown line"
