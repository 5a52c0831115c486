"""How a module is shown: the arguments it was made with, and the modules inside it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extensor.nn.module import Module

_SHOWN = (int, float, str, list, tuple, type(None))


def arguments_shown(module: Module) -> str:
    """The constructor's arguments that are no defaults."""
    shown = []
    for name, parameter in inspect.signature(type(module).__init__).parameters.items():
        value = vars(module).get(name, parameter.default)
        if isinstance(parameter.default, bool):
            value = bool(value) if isinstance(value, int) else value is not None
        if isinstance(value, _SHOWN) and value != parameter.default:
            shown.append(f"{name}={value!r}")
    return ", ".join(shown)


def nested(head: str, children: Sequence[tuple[str, Any]]) -> str:
    """``head``, whose parenthesis is open, with the children on lines of their own."""
    if not children:
        return f"{head})"
    lines = [f"({name}): {child!r}" for name, child in children]
    body = "\n".join(lines).replace("\n", "\n  ")
    return f"{head}\n  {body}\n)"
