"""How data sets, samplers and transforms are shown: the arguments they were made with, in short."""

from __future__ import annotations

import inspect
from typing import Any

_LONGEST = 6  # of a row of numbers that is shown


def made_with(one: Any) -> str:
    """The call that made ``one``: what must be given, and what is no default.

    >>> from extensor.data import RandomCrop
    >>> RandomCrop(28, padding=2)
    RandomCrop((28, 28), padding=2)
    """
    shown = []
    for name, parameter in inspect.signature(type(one).__init__).parameters.items():
        if name not in vars(one):
            continue
        value = vars(one)[name]
        if parameter.default is parameter.empty:
            shown.append(briefly(value))
        elif repr(value) != repr(parameter.default):
            shown.append(f"{name}={briefly(value)}")
    return f"{type(one).__name__}({', '.join(shown)})"


def briefly(value: Any) -> str:
    """``value``, or how many numbers it has."""
    items = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(items, list | tuple) and len(items) > _LONGEST:
        return f"[{len(items)} numbers]"
    return repr(items)
