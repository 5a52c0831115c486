"""Arguments that are no tensors: of the kind and in the range that is meant, or an error that says so."""

from __future__ import annotations

import inspect
from math import isnan
from typing import Any

import numpy as np

from extensor.errors import type_error, value_error


def integer(op: str, name: str, value: Any, least: int | None = None) -> int:
    """An int, Python's or NumPy's, of at least ``least``."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise type_error(op, f"{name} must be an integer", **{name: briefly(value)})
    if least is not None and value < least:
        raise value_error(op, f"{name} must be {least} or more", **{name: value})
    return int(value)


def number(
    op: str,
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    fraction: bool = False,
) -> float:
    """A real number greater than ``above``, at least ``least``, or with ``fraction`` in [0, 1]."""
    real = isinstance(value, int | float | np.integer | np.floating)
    if not real or isinstance(value, bool):
        raise type_error(op, f"{name} must be a number", **{name: briefly(value)})
    if fraction and not 0 <= value <= 1:
        raise value_error(op, f"{name} must be in [0, 1]", **{name: value})
    if above is not None and not value > above:
        raise value_error(op, f"{name} must be greater than {above:g}", **{name: value})
    if least is not None and not value >= least:
        raise value_error(op, f"{name} must be {least:g} or greater", **{name: value})
    if isnan(value):
        raise value_error(op, f"{name} must be a number", **{name: value})
    return value  # type: ignore[no-any-return]


def numbers(op: str, name: str, value: Any) -> Any:
    """A number or a row of them, as an array in float64."""
    try:
        array = np.asarray(getattr(value, "_array", value))
        if array.dtype.kind in "iuf" and array.ndim < 2:
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass  # lists of different lengths
    raise type_error(op, f"{name} must be a number or a row of numbers", **{name: briefly(value)})


def pair(op: str, name: str, value: Any, least: int) -> tuple[int, int]:
    """Two integers, or one that stands for both: a height and a width."""
    parts = value if isinstance(value, list | tuple) else (value, value)
    if len(parts) != 2 or not all(isinstance(x, int | np.integer) for x in parts):
        requirement = f"{name} must be an integer, or two for height and width"
        raise type_error(op, requirement, **{name: briefly(value)})
    height, width = (integer(op, name, x, least) for x in parts)
    return height, width


def flag(op: str, name: str, value: Any) -> bool:
    """True or False, which 1 and 0 may stand for."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise type_error(op, f"{name} must be True or False", **{name: briefly(value)})


def choice(op: str, name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    """One of a few words, among which may be None."""
    if not isinstance(value, str | None) or value not in allowed:
        words = [repr(word) for word in allowed]
        requirement = f"{name} must be {', '.join(words[:-1])} or {words[-1]}"
        raise value_error(op, requirement, **{name: briefly(value)})
    return value


def text(op: str, name: str, value: Any) -> str:
    """A string that is not empty."""
    if not isinstance(value, str):
        raise type_error(op, f"{name} must be a string", **{name: briefly(value)})
    if not value:
        raise value_error(op, f"{name} must not be empty", **{name: value})
    return value


def instance(op: str, name: str, value: Any, kind: Any, meant: str) -> Any:
    """An object of ``kind``, which ``meant`` names; its class is a common mistake."""
    if not isinstance(value, kind):
        is_class = isinstance(value, type) and issubclass(value, kind)
        hint = f", such as {value.__name__}(...), not the class" if is_class else ""
        raise type_error(op, f"{name} must be {meant}{hint}", **{name: briefly(value)})
    return value


def takes(op: str, name: str, function: Any, *parameters: str) -> None:
    """Refuse a function that cannot be called with so many arguments."""
    called = getattr(function, "forward", function)
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return  # one that does not say
    try:
        signature.bind(*parameters)
    except TypeError:
        requirement = f"{name} must take {len(parameters)} arguments, {' and '.join(parameters)}"
        raise type_error(op, requirement, **{name: briefly(function)}) from None


def briefly(value: Any) -> Any:
    """``value`` for a message: itself if it is short, otherwise what kind of thing it is."""
    if isinstance(value, type):
        return f"class {value.__name__}"
    if isinstance(value, bool | float | None) or (isinstance(value, int) and abs(value) < 2**200):
        return value
    return value if isinstance(value, str) and len(value) < 80 else type(value).__name__
