"""Guards: the values that must be the same before a program may run again.

Nearly all of them are compared by identity: natively what containers, variables and attributes hold,
in a few passes of C code the classes and attribute dicts of objects. Only what neither can see is read
by Python code, a :class:`Reader` each. This stands before every run, so its time counts.
"""

from __future__ import annotations

import importlib.util
import types
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import attrgetter, is_
from typing import Any, NamedTuple

from extensor import _native
from extensor.compiled.value_contents import are_same, has_variables, plain_key, variables_of

MISSING = object()
GLOBALS = " (globals)"  # how the variables of a module are held by the code that names them

Place = tuple[Any, str]  # the place of the holder of a thing, and how it is held

_PARTS = attrgetter("__code__", "__defaults__", "__kwdefaults__", "__dict__")  # of a function
_MRO = attrgetter("__mro__")  # made anew when the bases of a class change


def name_of(place: Place | None) -> str:
    """A place as the code would write it: ``step.args.beta``."""
    parts: list[str] = []
    while place is not None:
        place, part = place
        parts.append(part)
    return "".join(reversed(parts)).lstrip(".")


class Reader(NamedTuple):
    """Values that must stay the same, and how they are put back after a side effect.

    Readers that are not ``polled`` are also compared in another, faster way before each run.
    """

    place: Place
    read: Callable[[], list[Any]]
    restore: Callable[[list[Any]], None] | None = None
    is_polled: bool = True
    is_effect: bool = True  # whether a function that changes the values has a side effect


class Guards:
    """The values that are compared before each run with those at the last :meth:`note`."""

    def __init__(self) -> None:
        self.contents: list[Any] = []  # things whose contents are compared natively
        self.readers: list[Reader] = []
        self.sized: list[Any] = []  # dicts whose lengths are compared
        self._objects: list[Any] = []  # which may get another class
        self._with_variables: list[Any] = []  # which may get another ``__dict__``
        self._classes: list[type] = []
        self._functions: list[types.FunctionType] = []
        self._polled: list[Reader] = []

    def add_object(self, thing: Any) -> None:
        """Compare the class of ``thing`` and which dict holds its attributes, but not these."""
        if isinstance(thing, types.FunctionType):
            self._functions.append(thing)
            return
        self._objects.append(thing)
        if isinstance(thing, type):
            self._classes.append(thing)
        elif has_variables(thing) and not isinstance(thing, types.ModuleType):
            is_stored = vars(thing) is variables_of(thing)  # and not made for each reading
            self._with_variables += [thing] if is_stored else []

    def note(self) -> None:
        """Note all values."""
        self._polled = [reader for reader in self.readers if reader.is_polled]
        self.held = _native.contents(self.contents)
        self._identities = list(self._current_identities())
        self._lengths = list(map(len, self.sized))
        self._readings = self.read(self._polled)

    def hold(self) -> bool:
        """Whether all names, attributes and containers still stand for the same things."""
        return _native.holds(self.contents, self.held) and self.hold_otherwise()

    def hold_otherwise(self) -> bool:
        """The same of all that is not compared natively."""
        if not all(map(is_, self._current_identities(), self._identities)):
            return False
        if [*map(len, self.sized)] != self._lengths:
            return False
        return not self._polled or are_same(self.read(self._polled), self._readings)

    def class_keys(self) -> tuple[Any, ...]:
        """The classes of objects and their orders of bases, as a part of a fingerprint."""
        return tuple(map(type, self._objects)), tuple(map(_MRO, self._classes))

    def _current_identities(self) -> Iterator[Any]:
        # Iterators of C code alone: a loop in Python would take ten times as long.
        return chain(
            map(type, self._objects),
            map(vars, self._with_variables),
            map(_MRO, self._classes),
            chain.from_iterable(map(_PARTS, self._functions)),
        )

    def read(self, readers: Iterable[Reader]) -> list[Any]:
        """The values of ``readers`` in one list."""
        return [x for reader in readers for x in reader.read()]


class Fingerprint:
    """Keys of values, by which two states of everything that is watched are told apart.

    Containers are numbered in the order of the walk, so that equal ones set anew have the same key;
    their contents are a part of the fingerprint themselves. All else is known by its identity, and must
    be kept alive as long as the key.
    """

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._containers: list[Any] = []

    def number(self, container: Any) -> None:
        """Know ``container`` by its place in the walk from now on."""
        self._places[id(container)] = len(self._containers)
        self._containers.append(container)

    def lengths(self) -> tuple[int, ...]:
        """The lengths of all containers, whose contents stand one after the other."""
        return tuple(map(len, self._containers))

    def keys(self, values: Iterable[Any]) -> tuple[Any, ...]:
        """A key for each value."""
        return tuple(map(self._key, values))

    def _key(self, value: Any) -> Any:
        place = self._places.get(id(value))
        if place is not None:
            return type(value), place
        if type(value) is tuple:
            return tuple, *map(self._key, value)
        return plain_key(value)


def cell_values(cell: types.CellType) -> list[Any]:
    """The value of a variable of a closure, in a list that is empty if it has none."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def module_name(name: str, level: int, variables: dict[str, Any]) -> str:
    """The whole name of a module that an import inside a function names."""
    if not level:
        return name
    try:
        return importlib.util.resolve_name("." * level + name, variables.get("__package__"))
    except ImportError:
        return ""
