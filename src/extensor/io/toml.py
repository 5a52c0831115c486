"""TOML and dicts like it, not nested so deeply that reading them costs stack or time without end."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from extensor.errors import type_error, value_error

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
        level = [*{id(x): x for x in inside}.values()]  # a dict may hold itself twice
        if not level:
            return
    raise _too_deep(op, path)


def _too_deep(op: str, path: object) -> ValueError:
    requirement = f"tables and lists must be at most {_DEEPEST} deep"
    return value_error(op, requirement, path=str(path))


def as_toml(config: Mapping[str, Any]) -> str:
    """``config`` in TOML: dicts are tables; strings, numbers, booleans and lists of them are values.

    None is left out, as TOML has no word for it.

    >>> from extensor.io.toml import as_toml
    >>> print(as_toml({"seed": 1, "optimizer": {"name": "Adam", "lr": 0.001}}), end="")
    seed = 1
    <BLANKLINE>
    [optimizer]
    name = "Adam"
    lr = 0.001
    """
    return "\n".join(_lines(config, ())).removeprefix("\n") + ("\n" if config else "")


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    values = {key: x for key, x in table.items() if not isinstance(x, Mapping) and x is not None}
    lines = [f"{_key(key)} = {_value(x, (*path, key))}" for key, x in values.items()]
    for key, x in table.items():
        if isinstance(x, Mapping):
            inner = (*path, key)
            lines += ["", f"[{'.'.join(map(_key, inner))}]", *_lines(x, inner)]
    return lines


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if bare else _text(key)


def _text(text: str) -> str:
    """As JSON has it, which TOML reads too; control characters beyond ASCII are escaped as well."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(x if x.isprintable() else _escaped(x) for x in quoted)


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _value(value: Any, path: tuple[str, ...]) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)  # TOML has inf and nan too
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item, path) for item in value)}]"
    raise type_error(
        "Trainer",
        "config must hold dicts, strings, numbers, booleans and lists",
        key=".".join(path),
        type=type(value).__name__,
    )
