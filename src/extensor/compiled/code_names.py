"""The names that the code of a function reads: variables, attributes, modules it imports."""

from __future__ import annotations

import dis
import types
from functools import cache
from typing import NamedTuple

# With these, code reads attributes whose names it does not spell: builtins, and functions that may
# also be imported. (``net.eval()`` is another thing than ``eval``.)
_READ_ANY_NAME = frozenset("vars eval exec globals locals dir".split())
_READ_ANY_NAME_TOO = frozenset(
    """
    __dict__ attrgetter methodcaller asdict astuple getmembers __getattribute__ __getstate__
    format_map deepcopy
    """.split()
)
# With these, code reads variables of modules whose names it does not spell.
_READ_ANY_VARIABLE = frozenset("globals eval exec __import__ import_module".split())
_SIMPLE_LOADS = ("LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CONST", "LOAD_ATTR")
_NO_OPERANDS = ("PRECALL", "CACHE", "KW_NAMES", "NOP", "PUSH_NULL")


class CodeNames(NamedTuple):
    """What a code object and the functions written inside it name."""

    variables: frozenset[str]
    attributes: frozenset[str]
    imports: frozenset[tuple[int, str]]  # levels, as of relative imports, and modules
    reads_any_name: bool
    reads_any_variable: bool


@cache
def names_in(code: types.CodeType) -> CodeNames:
    """The names in ``code``, whether or not it is ever run to its end."""
    variables, attributes, imports = set(), set(), set()
    instructions = [x for x in dis.get_instructions(code) if x.opname not in _NO_OPERANDS]
    reads_any = False
    for place, instruction in enumerate(instructions):
        name = instruction.argval
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"):
            variables.add(name)
            if name in ("getattr", "hasattr"):
                reads_any = reads_any or not _spells_name(instructions, place)
        elif instruction.opname == "IMPORT_NAME":
            level = instructions[place - 2].argval  # always a constant, two before
            imports.add((level if isinstance(level, int) else 0, name))
        elif name == "format" and _is_format_of_fields(instructions, place):
            attributes.add(name)
            reads_any = True
        elif "ATTR" in instruction.opname or instruction.opname in ("LOAD_METHOD", "IMPORT_FROM"):
            attributes.add(name)
        elif instruction.opname == "LOAD_CONST":  # perhaps for getattr, or a class in match
            texts = name if isinstance(name, tuple) else (name,)
            attributes |= {x for x in texts if isinstance(x, str) and x.isidentifier()}
    inner = [names_in(item) for item in code.co_consts if isinstance(item, types.CodeType)]
    reads_any |= bool(variables & _READ_ANY_NAME or (variables | attributes) & _READ_ANY_NAME_TOO)
    reads_variables = bool(variables & _READ_ANY_VARIABLE) or "import_module" in attributes
    reads_variables |= "sys" in variables and "modules" in attributes
    return CodeNames(
        frozenset(variables).union(*[x.variables for x in inner]),
        frozenset(attributes).union(*[x.attributes for x in inner]),
        frozenset(imports).union(*[x.imports for x in inner]),
        reads_any or any(x.reads_any_name for x in inner),
        reads_variables or any(x.reads_any_variable for x in inner),
    )


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
