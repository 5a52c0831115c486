"""Annotations in words, and whether a value fits one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np

from extensor.errors.array_likes import ARRAY_PROTOCOLS, is_nested

_ARRAYS = (*ARRAY_PROTOCOLS, "__array_namespace__", "__buffer__", "_array")

Kind = tuple[str, Callable[[Any], bool]]


def wanted_by(annotation: Any, value: Any) -> str | None:
    """The annotation in words if ``value`` does not fit it; None if it does."""
    if not isinstance(annotation, str):
        return None
    if annotation.startswith("*"):
        return next(filter(None, (wanted_by(annotation[1:], x) for x in value)), None)
    kinds = _kinds(annotation)
    if not kinds or any(fits(value) for _, fits in kinds):
        return None
    *others, last = [words for words, _ in kinds]
    return f"{', '.join(others)} or {last}" if others else last


def takes_function(annotation: str) -> bool:
    """Whether a function may be given."""
    return _CALLABLE in _kinds(annotation)


def define(name: str, words: str, fits: Callable[[Any], bool]) -> None:
    """Let ``name`` stand for what ``fits``, which messages call ``words``.

    For what a module above knows best; to be called while that is imported.
    """
    _ATOMS[name] = words, fits


def _is_int(value: Any) -> bool:
    if getattr(value, "shape", ()) != ():
        return False
    try:
        operator.index(value)
    except (TypeError, ValueError):
        return False
    return True


def is_number(value: Any) -> bool:
    """True for one number: Python's, NumPy's, or a tensor without axes."""
    return isinstance(value, Real) or (
        hasattr(value, "dtype")
        and getattr(value, "shape", None) == ()
        and value.dtype.kind in "biuf"
    )


def _is_flag(value: Any) -> bool:
    return isinstance(value, int | np.bool_ | np.integer) and value in (0, 1)


def _is_sequence_of(fits: Callable[[Any], bool], count: int | None = None) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        return is_nested(value) and count in (None, len(value)) and all(map(fits, value))

    return check


def _is_bound_and_number(value: Any) -> bool:
    is_pair = is_nested(value) and len(value) == 2
    return is_pair and (value[0] is None or is_number(value[0])) and is_number(value[1])


def _is_array(value: Any) -> bool:
    """True for what becomes a tensor: not None, nor a list of tensors, which must be joined first."""
    if is_nested(value):
        return not any(hasattr(x, "_array") for x in value)
    return isinstance(value, Real | np.ndarray) or any(hasattr(value, name) for name in _ARRAYS)


def _is_dataset(value: Any) -> bool:
    try:
        len(value)
    except TypeError:
        return False
    return hasattr(value, "__getitem__")


def _is_of_class(name: str) -> Callable[[Any], bool]:
    return lambda value: any(kind.__name__ == name for kind in type(value).__mro__)


_CALLABLE: Kind = ("a function", callable)
_ints = _is_sequence_of(_is_int)
_ATOMS: dict[str, Kind] = {
    "None": ("None", lambda value: value is None),
    "int": ("an int", _is_int),
    "float": ("a number", is_number),
    "bool": ("a bool", _is_flag),
    "str": ("a string", lambda value: isinstance(value, str)),
    "Path": ("a path", lambda value: isinstance(value, PathLike)),
    **dict.fromkeys(("Array", "Indices", "Target", "Tensor"), ("a tensor", _is_array)),
    "Tensor itself": ("a tensor", lambda value: hasattr(value, "_array")),
    "Arrays": ("a sequence of tensors", lambda value: isinstance(value, list | tuple)),
    "Sequence[Tensor]": ("a sequence of tensors", _is_sequence_of(_is_array)),
    "list[Tensor]": ("a sequence of tensors", _is_sequence_of(_is_array)),
    **dict.fromkeys(("Shape", "tuple[int, ...]"), ("a tuple of ints", _ints)),
    "tuple[int, int]": ("two ints", _is_sequence_of(_is_int, 2)),
    "Sequence[int]": ("a sequence of ints", _ints),
    "list[int]": ("a list of ints", _ints),
    "Sequence[int | None]": (
        "a sequence of ints",
        _is_sequence_of(lambda value: value is None or _is_int(value)),
    ),
    "Sequence[Shape]": ("a sequence of shapes", _is_sequence_of(_ints)),
    "Sequence[Sequence[int]]": ("a sequence of pairs of ints", _is_sequence_of(_ints)),
    "list[float]": ("a list of numbers", _is_sequence_of(is_number)),
    "Sequence[float]": ("a sequence of numbers", _is_sequence_of(is_number)),
    "tuple[float, float]": ("two numbers", _is_sequence_of(is_number, 2)),
    "tuple[float | None, float]": ("a number or None, and a number", _is_bound_and_number),
    "tuple[float, float, float]": ("three numbers", _is_sequence_of(is_number, 3)),
    "Callable": _CALLABLE,
    "Sequence[Schedule]": ("a sequence of schedules", _is_sequence_of(_is_of_class("Schedule"))),
    "Sequence[Callable[[int], float]]": ("a sequence of functions", _is_sequence_of(callable)),
    "Mapping[str, Any]": ("a dict", lambda value: isinstance(value, Mapping)),
    "Mapping[str, TensorLike]": ("a dict", lambda value: isinstance(value, Mapping)),
    "dict[str, Any]": ("a dict", lambda value: isinstance(value, Mapping)),
    "Iterable": ("iterable", lambda value: isinstance(value, Iterable)),
    "Generator": ("a Generator", _is_of_class("Generator")),
    "Optimizer": ("an Optimizer", _is_of_class("Optimizer")),
    "Module": ("a Module", _is_of_class("Module")),
    "Dataset": ("a Dataset", _is_dataset),
    "Sequence[Transform]": ("a sequence of functions", _is_sequence_of(callable)),
    "BatchDataset": ("a BatchDataset", lambda value: hasattr(value, "batch")),
    "Sampler": ("a Sampler", lambda value: hasattr(value, "order")),
}  # fmt: skip
# The names that modules give to annotations of theirs.
_ALIASES = {
    "Ints": "int | Sequence[int]",
    "Axis": "int | tuple[int, ...] | None",
    "Sizes": "int | Sequence[int | None] | None",
    "Padding": "int | Sequence[int] | str",
    "Bound": "float | None",
    "PadWidth": "int | Sequence[int] | Sequence[Sequence[int]]",
    **dict.fromkeys(("Reduction", "DivergenceReduction", "Nonlinearity"), "str"),
    **dict.fromkeys(
        ("Mode", "PaddingMode", "Interpolation", "Sampling", "Outside", "Bag", "Scores", "Average"),
        "str",
    ),
    **dict.fromkeys(("Reduce", "AnyTask", "ClassTask", "LabelTask", "TokenTask"), "str"),
    **dict.fromkeys(("Fn", "Hook", "Transform"), "Callable"),
}


@cache
def _kinds(annotation: str) -> tuple[Kind, ...]:
    """The kinds of an annotation's alternatives; none if one of them is not known here."""
    kinds: dict[str, Kind] = {}
    for part in _alternatives(annotation):
        if part in _ALIASES:
            kinds.update((words, (words, fits)) for words, fits in _kinds(_ALIASES[part]))
            continue
        atom = _ATOMS.get(part) or _ATOMS.get(part.partition("[")[0])
        if atom is None:
            return ()
        kinds[atom[0]] = atom
    # None is said last.
    return tuple(sorted(kinds.values(), key=lambda kind: kind[0] == "None"))


def _alternatives(annotation: str) -> list[str]:
    """The parts between the bars that are not inside brackets."""
    parts, depth = [""], 0
    for character in annotation:
        depth += (character == "[") - (character == "]")
        if character == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]
