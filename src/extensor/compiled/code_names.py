"""The names that the code of a function reads: variables, attributes, modules it imports."""

from __future__ import annotations

import dis
import types
from functools import cache
from typing import NamedTuple

# With these, code reads attributes whose names it does not spell.
_READ_ANY_NAME = frozenset(
    """
    vars __dict__ attrgetter methodcaller eval exec globals locals asdict astuple dir getmembers
    __getattribute__ __getstate__ format format_map copy deepcopy
    """.split()
)
_CALLS = ("CALL", "CALL_FUNCTION")
_NO_OPERANDS = ("PRECALL", "CACHE", "KW_NAMES", "NOP")


class CodeNames(NamedTuple):
    """What a code object and the functions written inside it name."""

    variables: frozenset[str]
    attributes: frozenset[str]
    imports: frozenset[tuple[int, str]]  # levels, as of relative imports, and modules
    reads_any_name: bool


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
        elif "ATTR" in instruction.opname or instruction.opname in ("LOAD_METHOD", "IMPORT_FROM"):
            attributes.add(name)
        elif instruction.opname == "LOAD_CONST" and isinstance(name, str) and name.isidentifier():
            attributes.add(name)  # perhaps for getattr
    inner = [names_in(item) for item in code.co_consts if isinstance(item, types.CodeType)]
    every = frozenset(variables | attributes)
    return CodeNames(
        frozenset(variables).union(*[x.variables for x in inner]),
        frozenset(attributes).union(*[x.attributes for x in inner]),
        frozenset(imports).union(*[x.imports for x in inner]),
        reads_any or bool(every & _READ_ANY_NAME) or any(x.reads_any_name for x in inner),
    )


def _spells_name(instructions: list[dis.Instruction], place: int) -> bool:
    """Whether the ``getattr`` loaded at ``place`` is called with a name that is a constant."""
    for i in range(place + 1, len(instructions)):
        if instructions[i].opname in _CALLS:
            count = instructions[i].arg
            name = instructions[i - 1 if count == 2 else i - 2]
            return count in (2, 3) and name.opname == "LOAD_CONST" and isinstance(name.argval, str)
    return False


@cache
def codes_in(code: types.CodeType) -> frozenset[types.CodeType]:
    """``code`` and the code of all functions written inside it."""
    inner = [codes_in(item) for item in code.co_consts if isinstance(item, types.CodeType)]
    return frozenset([code]).union(*inner)
