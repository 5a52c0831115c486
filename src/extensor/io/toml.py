"""TOML and dicts like it, not nested so deeply that reading them costs stack or time without end."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from extensor.errors import value_error

_DEEPEST = 50  # tables and lists within each other
# The parser takes time that grows with the square of the parts of a key, so they are counted first.
_LONG_KEY = re.compile(
    rf"""(?:^|[\[{{,])[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{_DEEPEST}}}""",
    re.MULTILINE,
)


def parse_toml(op: str, text: str, path: object) -> dict[str, Any]:
    """The table in ``text``, which came from ``path``."""
    if _LONG_KEY.search(text):
        raise _too_deep(op, path)
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise _too_deep(op, path) from None
    except ValueError as error:  # also a number of thousands of digits
        raise value_error(op, f"file must be TOML ({error})", path=str(path)) from None
    check_depth(op, table, path)
    return table


def check_depth(op: str, table: Mapping[str, Any], path: object) -> None:
    """Refuse tables within tables without end: what walks through them would run out of stack."""
    level: list[Any] = [table]
    for _ in range(_DEEPEST):
        inside = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
            if isinstance(inner, Mapping | list | tuple)
        ]
        level = list(
            {id(inner): inner for inner in inside}.values()
        )  # a dict may hold itself twice
        if not level:
            return
    raise _too_deep(op, path)


def _too_deep(op: str, path: object) -> ValueError:
    requirement = f"tables and lists must be at most {_DEEPEST} deep"
    return value_error(op, requirement, path=str(path))
