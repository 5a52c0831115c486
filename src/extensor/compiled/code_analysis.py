"""The code that a function runs: its origin, the names that it reads, and calls during a trace.

Code of the user is read in advance, by its instructions. Code of installed packages is not: an
:class:`Observer` notes what the user's code has called of them while the function is traced.
"""

from __future__ import annotations

import builtins
import datetime
import dis
import gc
import linecache
import os
import sys
import time
import types
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from extensor.errors import marked

_LIBRARIES = frozenset("extensor numpy jax jaxlib ml_dtypes array_api_compat opt_einsum".split())

# With these, code reads attributes whose names it does not spell: builtins, and functions that may
# also be imported. (``net.eval()`` is another thing than ``eval``.)
_READ_ANY_NAME = frozenset("vars eval exec globals locals dir".split())
_READ_ANY_NAME_TOO = frozenset(
    """
    __dict__ attrgetter methodcaller asdict astuple getmembers __getattribute__ __getstate__
    format_map deepcopy dumps
    """.split()
)
# With these, code reads variables of modules whose names it does not spell.
_READ_ANY_VARIABLE = frozenset("globals eval exec __import__ import_module".split())
# With these, C code reads all attributes of a SimpleNamespace: to show it, or to compare it.
_SHOW_NAMESPACES = frozenset("repr str ascii format".split())
_COMPARE_NAMESPACES = frozenset("eq ne contains countOf indexOf index count remove".split())
_VARIABLE_OPS = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")
_FORMAT_OPS = ("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "CONVERT_VALUE")
_SIMPLE_LOADS = ("LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CONST", "LOAD_ATTR")
_NO_OPERANDS = ("PRECALL", "CACHE", "KW_NAMES", "NOP", "PUSH_NULL")

_OUTSIDE: dict[str, list[tuple[Any, str]]] = {
    "a clock": [
        (
            time,
            "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time "
            "process_time_ns thread_time thread_time_ns localtime gmtime ctime asctime strftime "
            "clock_gettime clock_gettime_ns",
        ),
        (os, "times"),
    ],
    "a file": [
        (builtins, "open input"),
        (os, "open read stat lstat statvfs listdir scandir access readlink getcwd"),
        (np, "fromfile"),
    ],
    "random numbers of the system": [(os, "urandom getrandom"), (uuid, "_generate_time_safe")],
}
_OUTSIDE_READS = {
    id(getattr(module, name)): source
    for source, tables in _OUTSIDE.items()
    for module, names in tables
    for name in names.split()
    if getattr(module, name, None) is not None
}
_THROUGH_TO_FILES = ("numpy", "extensor.io", "extensor.data")
# Parts of Python that read clocks and files for their own use: to import, to warn, to log.
_PYTHONS_OWN = frozenset(
    "importlib _frozen_importlib linecache tokenize warnings traceback logging inspect".split()
)


@cache
def is_library(module: str) -> bool:
    """Whether a module computes by ops alone, so that its variables are no inputs of a step.

    Objects of ``extensor.train`` hold the user's, and are looked through like them.
    """
    if module == "extensor.train" or module.startswith("extensor.train."):
        return False
    return module.partition(".")[0] in _LIBRARIES


@cache
def is_package(module: str) -> bool:
    """Whether a module belongs to Python or to an installed package."""
    top = module.partition(".")[0]
    if top in ("__main__", "extensor"):
        return False
    if top in sys.stdlib_module_names or top in sys.builtin_module_names:
        return True
    loaded = sys.modules.get(module) or sys.modules.get(top)
    file = vars(loaded).get("__file__") if loaded is not None else None
    return isinstance(file, str) and "-packages" in file


def is_users(module: str) -> bool:
    """Whether a module is neither the library's nor an installed one."""
    return not is_library(module) and not is_package(module)


@cache
def is_users_file(file: str) -> bool:
    """Whether a source file belongs neither to the library nor to Python or a package."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    python = os.path.dirname(os.path.abspath(os.__file__))
    return not file.startswith((own, python, "<frozen")) and "-packages" not in file


def source_line(file: str, line: int) -> str:
    """A line of a source file as ``file:line (text)``."""
    text = linecache.getline(file, line).strip()
    return f"{file}:{line} ({text or 'source not found'})"


def module_of(thing: Any) -> str:
    """The name of the module that defines a class or function; empty where it has none."""
    name = getattr(thing, "__module__", None)
    return name if isinstance(name, str) else ""  # a class may have a descriptor of that name


class CodeNames(NamedTuple):
    """The names in a code object and in the functions written inside it."""

    variables: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset()  # attributes that are called at once
    imports: frozenset[tuple[int, str]] = frozenset()  # levels of relative imports, and modules
    reads_any_name: bool = False
    reads_any_variable: bool = False
    reads_namespaces: bool = False  # compares or shows objects without naming their attributes


@cache
def names_in(code: types.CodeType) -> CodeNames:
    """The names in ``code``, whether or not it is ever run to its end."""
    instructions = [x for x in dis.get_instructions(code) if x.opname not in _NO_OPERANDS]
    parts = [_names_at(instructions, place) for place in range(len(instructions))]
    parts += [names_in(item) for item in code.co_consts if isinstance(item, types.CodeType)]
    names = CodeNames(*[_union(column) for column in zip(CodeNames(), *parts, strict=True)])
    variables, attributes = names.variables, names.attributes | names.methods
    reads_any = variables & _READ_ANY_NAME or (variables | attributes) & _READ_ANY_NAME_TOO
    reads_variables = variables & _READ_ANY_VARIABLE or "import_module" in attributes
    reads_modules = "sys" in variables and "modules" in attributes
    return names._replace(
        reads_any_name=bool(names.reads_any_name or reads_any),
        reads_any_variable=bool(names.reads_any_variable or reads_variables or reads_modules),
        reads_namespaces=bool(
            names.reads_namespaces or variables & (_SHOW_NAMESPACES | _COMPARE_NAMESPACES)
        ),
    )


def _union(parts: tuple[Any, ...]) -> Any:
    return any(parts) if isinstance(parts[0], bool) else frozenset().union(*parts)


def _names_at(instructions: list[dis.Instruction], place: int) -> CodeNames:
    """The names that one instruction reads; its neighbours show how it reads them."""
    instruction = instructions[place]
    op, name = instruction.opname, instruction.argval
    if op in _VARIABLE_OPS:
        reads_any = name in ("getattr", "hasattr") and not _spells_name(instructions, place)
        return CodeNames(variables=frozenset([name]), reads_any_name=reads_any)
    if op == "IMPORT_NAME":
        level = instructions[place - 2].argval  # always a constant, two before
        return CodeNames(imports=frozenset([(level if isinstance(level, int) else 0, name)]))
    if name == "format" and _is_format_of_fields(instructions, place):
        return CodeNames(attributes=frozenset([name]), reads_any_name=True)
    if op == "LOAD_CONST":  # perhaps for getattr, or a class in match
        return CodeNames(attributes=_identifiers(name))
    if "ATTR" in op or op in ("LOAD_METHOD", "IMPORT_FROM"):
        names = frozenset([name])
        compares = name in (*_COMPARE_NAMESPACES, "format") and not _takes_constant(
            instructions, place
        )
        own = CodeNames(methods=names) if _is_called(instruction) else CodeNames(attributes=names)
        return own._replace(reads_namespaces=compares)
    return CodeNames(reads_namespaces=op in _FORMAT_OPS or _compares_objects(instructions, place))


def _identifiers(constant: Any) -> frozenset[str]:
    texts = constant if isinstance(constant, tuple) else (constant,)
    return frozenset(x for x in texts if isinstance(x, str) and x.isidentifier())


def _is_called(instruction: dis.Instruction) -> bool:
    """Whether an attribute is called at once: from Python 3.12 on a bit of LOAD_ATTR says so."""
    is_bit_set = sys.version_info >= (3, 12) and bool((instruction.arg or 0) & 1)
    return instruction.opname == "LOAD_METHOD" or (instruction.opname == "LOAD_ATTR" and is_bit_set)


def _compares_objects(instructions: list[dis.Instruction], place: int) -> bool:
    """Whether values are compared or formatted of which none is a constant, as a namespace is not."""
    op, text = instructions[place].opname, instructions[place].argrepr
    is_equality = op == "COMPARE_OP" and ("==" in text or "!=" in text)
    is_formatting = op == "BINARY_OP" and text.startswith("%")  # or a remainder
    if op == "CONTAINS_OP":
        return "LOAD_CONST" not in (instructions[place - 2].opname, instructions[place - 1].opname)
    return (is_equality or is_formatting) and instructions[place - 1].opname != "LOAD_CONST"


def _takes_constant(instructions: list[dis.Instruction], place: int) -> bool:
    """Whether a constant comes next: the argument, where a method is called with it."""
    return any(x.opname == "LOAD_CONST" for x in instructions[place + 1 : place + 2])


def _is_format_of_fields(instructions: list[dis.Instruction], place: int) -> bool:
    """Whether ``format`` is called on a text that may name attributes, as ``"{0.beta}"`` does."""
    text = instructions[place - 1].argval if place else None
    return not isinstance(text, str) or "." in text or "[" in text


def _spells_name(instructions: list[dis.Instruction], place: int) -> bool:
    """Whether the ``getattr`` loaded at ``place`` is called with a name that is a constant.

    Anything but plain loads before the call may compute the name.
    """
    for i in range(place + 1, len(instructions)):
        if instructions[i].opname == "CALL":
            count = instructions[i].arg
            name = instructions[i - 1 if count == 2 else i - 2]
            return count in (2, 3) and name.opname == "LOAD_CONST" and isinstance(name.argval, str)
        if instructions[i].opname not in _SIMPLE_LOADS:
            return False
    return False


@cache
def codes_in(code: types.CodeType) -> frozenset[types.CodeType]:
    """``code`` and the code of all functions written inside it."""
    inner = [codes_in(item) for item in code.co_consts if isinstance(item, types.CodeType)]
    return frozenset([code]).union(*inner)


def functions_of(codes: Iterable[types.CodeType]) -> list[Any]:
    """The functions that run one of ``codes``: these may hold closures and default arguments."""
    return [x for x in gc.get_referrers(*codes) if isinstance(x, types.FunctionType)]


class ExecutedCode(NamedTuple):
    """Code that ran while the function was traced, and the variables of its module."""

    code: types.CodeType
    variables: dict[str, Any]


class Observer:
    """Notes the code that runs in its block, and raises where it reads a clock or a file.

    A profiler in Python's sense sees every call. Calls of the library and its engines do not
    count; calls of installed packages count if the user's code has made them.
    """

    def __init__(self) -> None:
        self.executed: dict[types.CodeType, ExecutedCode] = {}
        self._ignored: set[types.CodeType] = set()  # code of the library and its engines

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Observe the calls of this thread inside the block."""
        before: Any = sys.getprofile()
        sys.setprofile(self._event)
        try:
            yield
        finally:
            if hasattr(before, "enable"):  # the profiler of cProfile, which is no function
                sys.setprofile(None)
                before.enable()
            else:
                sys.setprofile(before)

    def _event(self, frame: types.FrameType, event: str, function: Any) -> None:
        if event == "call":
            code = frame.f_code
            if code in self._ignored or code in self.executed:
                return
            if is_library(str(frame.f_globals.get("__name__"))):
                self._ignored.add(code)
            elif _is_called_by_user(frame, _through_to_code(frame)):
                self.executed[code] = ExecutedCode(code, frame.f_globals)
        elif event == "c_call":
            source = _OUTSIDE_READS.get(id(function)) or _clock_of_class(function)
            if source is not None and _is_called_by_user(frame, _THROUGH_TO_FILES):
                name = getattr(function, "__qualname__", str(function))
                raise marked(
                    TypeError(
                        f"compile: a compiled function must not read {source} ({name}), which it "
                        "would do only once, when it is traced; read it outside and pass the value "
                        f"as an argument; at {frame.f_code.co_filename}:{frame.f_lineno}"
                    )
                )


def _clock_of_class(function: Any) -> str | None:
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type) and issubclass(owner, datetime.date):
        return "a clock" if function.__name__ in ("now", "utcnow", "today") else None
    return None


def _through_to_code(frame: types.FrameType) -> tuple[str, ...]:
    """Modules that may stand between the user's code and a package's: networks of packages are
    called by ours, and Python's functions mostly by ours for ours."""
    top = str(frame.f_globals.get("__name__")).partition(".")[0]
    return () if top in sys.stdlib_module_names else ("extensor",)


def _is_called_by_user(frame: types.FrameType | None, through: tuple[str, ...]) -> bool:
    """Whether the code of ``frame`` is the user's, or a package's that the user's code has called.

    Modules whose names begin with one of ``through`` may stand between them.
    """
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if is_users(module):
            return True
        is_passed = module.startswith(through) if through else False
        if module.partition(".")[0] in _PYTHONS_OWN or (is_library(module) and not is_passed):
            return False
        frame = frame.f_back
    return False
