"""Why a call failed, said in our words: which argument is not what its annotation asks for.

Wrong kinds of arguments fail in many places, in NumPy, in Python, in an op that a rule is made of.
Checking all of them in advance would cost every good call, so they are looked at when one has failed.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import CO_VARARGS
from numbers import Real
from os import PathLike
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from extensor.dtypes import as_dtype
from extensor.errors import index_error, is_ours, marked, shown, type_error, value_error
from extensor.names import unknown_keyword

FAILURES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
# What a message says if every argument is of its kind; the error it comes from says more.
UNEXPLAINED = "cannot be computed from these arguments"
_OURS_AND_BELOW = {"extensor", "numpy", "ml_dtypes", "safetensors", *sys.stdlib_module_names}

_ARRAYS = ("__array__", "__array_namespace__", "__array_interface__", "__buffer__", "_array")

Kind = tuple[str, Callable[[Any], bool]]
Written = TypeVar("Written", bound=Callable[..., Any])


def explaining(written: Written) -> Written:
    """``written``, a public function or a method, with errors in our words.

    What comes from a caller's own code (a function that was given, a hook) is left as it is.
    """

    @wraps(written)
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return written(*args, **kwargs)
        except FAILURES as error:
            instead = in_our_words(written, args, kwargs, error)
            if instead is None:
                raise
            raise instead from error

    return function  # type: ignore[return-value]


def checked(written: Written, read: Callable[[str], str] = str) -> Written:
    """The same for a constructor, whose arguments may be used long after: they are looked at first.

    ``read`` may ask for something else than an annotation does.
    """
    explained_too = explaining(written)

    @wraps(written)
    def function(*args: Any, **kwargs: Any) -> Any:
        op, given = _given(written, args, kwargs)
        kinds = [read(annotation) for annotation in _annotations(written, given)]
        kinds = ["bool | None" if kind == "bool" else kind for kind in kinds]
        blamed = _blamed(op, list(given), kinds, list(given.values()))
        if blamed is not None:
            raise blamed
        return explained_too(*args, **kwargs)

    return function  # type: ignore[return-value]


def wrap_constructor(kind: type, wrapper: Callable[[Any], Any]) -> None:
    """Put ``wrapper`` around the constructor of ``kind``, if it is one of ours and has its own."""
    written = kind.__dict__.get("__init__")
    if written is not None and kind.__module__.startswith("extensor."):
        kind.__init__ = wrapper(written)  # type: ignore[misc]


def in_our_words(
    written: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> Exception | None:
    """What to raise instead of the ``error`` of a call; None if it is to be left as it is.

    An error of a function below, about an argument that it got from here, is said of this one's.
    """
    if error.__traceback__ is not None and error.__traceback__.tb_next is None:
        return _of_a_keyword(written, args, kwargs)
    if not _is_about_the_call(error):
        return None
    op, given = _given(written, args, kwargs)
    annotations = _annotations(written, given)
    if written.__name__ != "forward":  # which takes what its ops take
        annotations = ["Tensor itself" if x == "Tensor" else x for x in annotations]
    if is_ours(error) and str(error).startswith(f"{op}:") and UNEXPLAINED not in str(error):
        return None
    blamed = _blamed(op, list(given), annotations, list(given.values()))
    takes_functions = any(_CALLABLE in _kinds(str(annotation)) for annotation in annotations)
    if blamed is not None or is_ours(error) or takes_functions:
        return blamed
    return explained(op, list(given), annotations, list(given.values()), error)


def _of_a_keyword(
    written: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Exception | None:
    """For arguments that do not fit the signature; Python itself says well enough if one is missing."""
    op, _ = _given(written, args, kwargs)
    code = written.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name in kwargs:
        text = None if name in known else unknown_keyword(op, name, known)
        if text is not None:
            return marked(TypeError(text))
    return None


def _given(
    written: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The name of what was called, and its arguments by theirs."""
    code = written.__code__
    names = code.co_varnames[: code.co_argcount]
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) and code.co_flags & CO_VARARGS:
        given[code.co_varnames[code.co_argcount + code.co_kwonlyargcount]] = args[len(names) :]
    given.update(kwargs)
    op = written.__name__
    if names[:1] == ("self",):
        kind = type(given.pop("self")).__name__
        op = kind if op in ("__init__", "forward") else f"{kind}.{op}"
    return op, given


def _annotations(written: Callable[..., Any], given: Iterable[str]) -> list[str]:
    """Of the arguments; with a star where it is that of each one of several."""
    code = written.__code__
    several = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :][:1]
    starred = several if code.co_flags & CO_VARARGS else ()
    annotations = written.__annotations__
    return [f"{'*' * (name in starred)}{annotations.get(name, 'Any')}" for name in given]


def _is_about_the_call(error: Exception) -> bool:
    """Whether nothing but our code and what it calls was running when ``error`` was raised."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__"))
        if module.partition(".")[0] not in _OURS_AND_BELOW:
            return False
        trace = trace.tb_next
    return True


def explained(
    op: str,
    names: Sequence[str],
    annotations: Sequence[Any],
    values: Sequence[Any],
    error: Exception,
) -> Exception:
    """The error to raise instead of ``error``, whose text is not ours."""
    blamed = _blamed(op, names, annotations, values)
    if blamed is not None:
        return blamed
    given = list(zip(names, values, strict=True))
    for name, value in given:
        if _is_beyond_64_bits(value):
            return value_error(op, f"{name} must fit 64 bits", **{name: shown(value)})
    got = {name: shown(value) for name, value in given}
    if isinstance(error, ValueError | ArithmeticError):
        return value_error(op, UNEXPLAINED, **got)
    make = index_error if isinstance(error, IndexError) else type_error
    return make(op, UNEXPLAINED, **got)  # type: ignore[return-value, unused-ignore]


def _blamed(
    op: str, names: Sequence[str], annotations: Sequence[Any], values: Sequence[Any]
) -> Exception | None:
    """An error for the first argument that is not what its annotation asks for."""
    for name, annotation, value in zip(names, annotations, values, strict=True):
        wanted = wanted_by(annotation, value)
        if wanted is not None:
            return type_error(op, f"{name} must be {wanted}", **{name: shown(value)})
    return None


def wanted_by(annotation: Any, value: Any) -> str | None:
    """What the annotation asks for, in words, if ``value`` is not that; None if it is."""
    if not isinstance(annotation, str):
        return None
    if annotation.startswith("*"):
        return next(filter(None, (wanted_by(annotation[1:], x) for x in value)), None)
    kinds = _kinds(annotation)
    if not kinds or any(fits(value) for _, fits in kinds):
        return None
    *others, last = [words for words, _ in kinds]
    return f"{', '.join(others)} or {last}" if others else last


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


def _is_sequence_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        return isinstance(value, list | tuple) and all(fits(x) for x in value)

    return check


def _is_dtype(value: Any) -> bool:
    if value is None:
        return True
    try:
        as_dtype(value)
    except TypeError:
        return False
    return True


def _is_array(value: Any) -> bool:
    """True for what becomes a tensor: not None, nor a list of tensors, which must be joined first."""
    if isinstance(value, list | tuple):
        return not any(hasattr(x, "_array") for x in value)
    return isinstance(value, Real | np.ndarray) or any(hasattr(value, name) for name in _ARRAYS)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "_array")


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
    "DType": ("a dtype", _is_dtype),
    "Array": ("a tensor", _is_array),
    "Indices": ("a tensor", _is_array),
    "Target": ("a tensor", _is_array),
    "Tensor": ("a tensor", _is_array),
    "Tensor itself": ("a tensor", _is_tensor),
    "Arrays": ("a sequence of tensors", lambda value: isinstance(value, list | tuple)),
    "Sequence[Tensor]": ("a sequence of tensors", _is_sequence_of(_is_array)),
    "list[Tensor]": ("a sequence of tensors", _is_sequence_of(_is_array)),
    "Shape": ("a tuple of ints", _ints),
    "tuple[int, ...]": ("a tuple of ints", _ints),
    "tuple[int, int]": ("two ints", lambda value: _ints(value) and len(value) == 2),
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
    "tuple[float, float]": (
        "two numbers",
        lambda value: _is_sequence_of(is_number)(value) and len(value) == 2,
    ),
    "tuple[float, float, float]": (
        "three numbers",
        lambda value: _is_sequence_of(is_number)(value) and len(value) == 3,
    ),
    "Callable": _CALLABLE,
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
    **dict.fromkeys(("Mode", "PaddingMode"), "str"),
    "Fn": "Callable",
    "Hook": "Callable",
    "Transform": "Callable",
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


def _is_beyond_64_bits(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_is_beyond_64_bits(x) for x in value)
    return isinstance(value, int) and not -(2**63) <= value < 2**63
