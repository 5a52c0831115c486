"""Whether the text of an error is ours: said by a ``raise`` of ours, not by NumPy or Python.

A name in front does not make a text ours, so where an error comes from is looked at: the statement
that raised it must be a ``raise`` in the sources, and it must not quote an error from elsewhere.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from types import TracebackType

from message_texts import is_in_catalogue

import extensor
from extensor.errors.explanation import UNEXPLAINED

SOURCES = Path(extensor.__file__).parent
KINDS = (
    ValueError, TypeError, IndexError, RuntimeError, KeyError, AttributeError, OSError,
    extensor.GradientError,
)  # fmt: skip
NAMED = re.compile(r"[\w.\[\]]+( [\w.]+)?: \S")
# What Python says of the arguments of a call names the function and the argument.
BINDING = re.compile(
    r"(missing|takes|unexpected keyword|multiple values|too many positional|positional-only)"
)
GIVEN_FUNCTION = re.compile(r"\b(fn|forward_fn|closure|hook|lr_lambda|transform)\(|_of_group\(")


def raw(error: BaseException) -> str | None:
    """Why the text of ``error`` is not ours; None if it is."""
    if isinstance(error, MemoryError):
        return None
    if not isinstance(error, KINDS):
        return "of a kind that is not for wrong arguments"
    if isinstance(error, RecursionError):
        return "without end"
    if isinstance(error, OSError) or _is_of_a_given_function(error):
        return None
    trace = innermost(error)
    path, line = (Path(trace.tb_frame.f_code.co_filename), trace.tb_lineno) if trace else (None, 0)
    if isinstance(error, TypeError) and BINDING.search(str(error)) and _is_binding(path):
        return None
    if path is None or not path.is_relative_to(SOURCES):
        return "raised outside of our sources"
    if isinstance(error, KeyError) and path.name == "containers.py":
        return None  # that of a dict
    if not any(first <= line <= last for first, last in raises(path)):
        if GIVEN_FUNCTION.search(path.read_text().splitlines()[line - 1]):
            return None
        return "raised by an expression"
    if UNEXPLAINED in str(error):
        return "not explained"
    if not NAMED.match(str(error)) and not is_in_catalogue(str(error)):
        return "without a name in front"
    quoted = error.__cause__ or error.__context__
    if quoted is not None and str(quoted) and str(quoted) in str(error) and raw(quoted):
        return None if BINDING.search(str(quoted)) else "quotes an error from elsewhere"
    return None


def _is_of_a_given_function(error: BaseException) -> bool:
    """Raised by code that was handed over, such as a custom op: that is passed on as it is."""
    trace = innermost(error)
    code = trace.tb_frame.f_code if trace else None
    here = Path(__file__).parent
    return code is not None and Path(code.co_filename).parent == here and code.co_name in (
        "forward", "backward", "<lambda>",
    )  # fmt: skip


def innermost(error: BaseException) -> TracebackType | None:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def place(error: BaseException) -> str:
    """Where it was raised, to tell findings apart: of a chain, where it began."""
    first = error
    while (before := first.__cause__ or first.__context__) is not None:
        first = before
    trace = innermost(first)
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"


def _is_binding(path: Path | None) -> bool:
    """The call itself fails: in the caller, or where a module or a public function hands it on."""
    return path is None or path.parent == Path(__file__).parent or path.name in (
        "module.py", "binding.py", "explanation.py", "inspect.py", "methods.py",
        "custom_function.py",
    )  # fmt: skip


@cache
def raises(path: Path) -> list[tuple[int, int]]:
    """The lines of the ``raise`` statements of a source file."""
    found = ast.walk(ast.parse(path.read_text()))
    return [(node.lineno, node.end_lineno or 0) for node in found if isinstance(node, ast.Raise)]
