"""The one form of every message: ``<op>: <requirement>, got <name>=<value>``."""

from __future__ import annotations

from collections.abc import Mapping


def _message(op: str, requirement: str, got: Mapping[str, object]) -> str:
    values = ", ".join(f"{name}={value!r}" for name, value in got.items())
    return f"{op}: {requirement}, got {values}" if values else f"{op}: {requirement}"


def value_error(op: str, requirement: str, **got: object) -> ValueError:
    """A wrong shape, axis, range or value. ``a_shape=(2, 3)`` reads ``a_shape=(2, 3)``."""
    return ValueError(_message(op, requirement, got))


def type_error(op: str, requirement: str, **got: object) -> TypeError:
    """A wrong kind of thing: a dtype, or an object that cannot become a tensor."""
    return TypeError(_message(op, requirement, got))


def index_error(op: str, requirement: str, **got: object) -> IndexError:
    """An index outside its axis, where Python and NumPy raise IndexError too."""
    return IndexError(_message(op, requirement, got))
