"""The one form of every message: ``<op>: <requirement>, got <name>=<value>``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from extensor.errors.array_likes import is_nested
from extensor.errors.screen import screen_line, shortened

_LONGEST = 60
_LONGEST_VALUE, _LONGEST_REQUIREMENT = 1000, 2000  # characters of a message
Error = TypeVar("Error", bound=Exception)


def _message(op: str, requirement: str, got: Mapping[str, object]) -> str:
    values = ", ".join(f"{name}={_value(value)}" for name, value in got.items())
    text = f"{op}: {shortened(screen_line(requirement), _LONGEST_REQUIREMENT)}"
    return f"{text}, got {values}" if values else text


def _value(value: object) -> str:
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} too deep to be shown"
    return shortened(text, _LONGEST_VALUE)


def shortened_text(sentence: str, advice: str, values: Mapping[str, object]) -> str:
    """A sentence of the catalogue with its values, none of them too long for a message."""
    short = {
        name: shortened(value, _LONGEST_VALUE) if isinstance(value, str) else value
        for name, value in values.items()
    }
    advice = shortened(screen_line(advice), _LONGEST_REQUIREMENT)
    return f"{screen_line(sentence.format(**short))}{advice}"


def value_error(op: str, requirement: str, **got: object) -> ValueError:
    """A wrong shape, axis, range or value. ``a_shape=(2, 3)`` reads ``a_shape=(2, 3)``."""
    return marked(ValueError(_message(op, requirement, got)))


def type_error(op: str, requirement: str, **got: object) -> TypeError:
    """A wrong kind of thing: a dtype, or an object that cannot become a tensor."""
    return marked(TypeError(_message(op, requirement, got)))


def index_error(op: str, requirement: str, **got: object) -> IndexError:
    """An index outside its axis, where Python and NumPy raise IndexError too."""
    return marked(IndexError(_message(op, requirement, got)))


def marked(error: Error) -> Error:
    """``error``, whose text is in this form, so that :func:`is_ours` knows it."""
    error._is_ours = True  # type: ignore[attr-defined]
    return error


def is_ours(error: Exception) -> bool:
    """Whether the text is in this form; if not, it is NumPy's or Python's own and says nothing of the op."""
    return getattr(error, "_is_ours", False)


class ShortRepr:
    """A value in a message: as it is where that is short, else what kind of thing it is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def shown(value: Any) -> ShortRepr:
    """``value`` for a message."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return ShortRepr(f"{type(value).__name__}({value.dtype}, shape={value.shape})")
    if is_nested(value) and any(hasattr(x, "shape") for x in value):
        return ShortRepr(f"a {type(value).__name__} of {len(value)}")
    try:
        text = repr(value)
    except Exception:
        text = ""
    return ShortRepr(text if 0 < len(text) <= _LONGEST else f"a {type(value).__name__}")
