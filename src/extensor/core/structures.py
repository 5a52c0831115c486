"""Lists, tuples, dicts and slices within each other, and the leaves in them. None is no leaf."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any


def map_leaves(value: Any, function: Callable[[Any], Any], atoms: Any = ()) -> Any:
    """``value`` with ``function`` of each leaf; instances of ``atoms`` are leaves, whatever they hold.

    >>> from extensor.core.structures import map_leaves
    >>> map_leaves({"a": [1, None], "b": (2,)}, lambda x: -x)
    {'a': [-1, None], 'b': (-2,)}
    """
    if value is None:
        return None
    if isinstance(value, atoms):
        return function(value)
    if isinstance(value, list | tuple):
        items = [map_leaves(x, function, atoms) for x in value]
        kind: Any = type(value)
        return kind(*items) if hasattr(value, "_fields") else kind(items)
    if isinstance(value, dict):
        entries = {key: map_leaves(x, function, atoms) for key, x in value.items()}
        if type(value) is dict:
            return entries
        made = copy(value)  # a dict with a default, say
        made.update(entries)
        return made
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*[map_leaves(x, function, atoms) for x in parts])
    return function(value)


def leaves_in(value: Any, atoms: Any = ()) -> list[Any]:
    """The leaves of ``value`` in the order in which :func:`map_leaves` meets them."""
    leaves: list[Any] = []
    map_leaves(value, leaves.append, atoms)
    return leaves
