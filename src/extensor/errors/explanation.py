"""Why a call failed, said in our words: which argument is not what its annotation asks for.

Wrong kinds of arguments fail in many places, in NumPy, in Python, in an op that a rule is made of.
Checking all of them in advance would cost every good call, so they are looked at when one has failed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import CO_VARARGS
from typing import Any, TypeVar

from extensor.errors import index_error, is_ours, marked, shown, type_error, value_error
from extensor.errors.array_likes import is_nested
from extensor.errors.expectations import takes_function, wanted_by
from extensor.errors.torch_names import unknown_keyword

FAILURES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
# What a message says if every argument is of its kind; the error it comes from says more.
UNEXPLAINED = "cannot be computed from these arguments"
_OURS_AND_BELOW = {"extensor", "numpy", "ml_dtypes", "safetensors", *sys.stdlib_module_names}

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
        op, given = _named_arguments(written, args, kwargs)
        kinds = [read(annotation) for annotation in _annotations(written, given)]
        kinds = ["bool | None" if kind == "bool" else kind for kind in kinds]
        blamed = _annotation_error(op, given, kinds)
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
    """The exception to raise instead of the ``error`` of a call; None to leave it as it is.

    An error of a function below, about an argument that it got from here, is said of this one's.
    """
    if error.__traceback__ is not None and error.__traceback__.tb_next is None:
        return _of_a_keyword(written, args, kwargs)
    if not _is_about_the_call(error):
        return None
    op, given = _named_arguments(written, args, kwargs)
    annotations = _annotations(written, given)
    if written.__name__ != "forward":  # which takes what its ops take
        annotations = ["Tensor itself" if x == "Tensor" else x for x in annotations]
    if is_ours(error) and str(error).startswith(f"{op}:") and UNEXPLAINED not in str(error):
        return None
    blamed = _annotation_error(op, given, annotations)
    takes_functions = any(takes_function(str(annotation)) for annotation in annotations)
    if blamed is not None or is_ours(error) or takes_functions:
        return blamed
    return explained(op, given, annotations, error)


def _of_a_keyword(
    written: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Exception | None:
    """For arguments that do not fit the signature; Python itself says well enough if one is missing."""
    op, _ = _named_arguments(written, args, kwargs)
    code = written.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name in kwargs:
        text = None if name in known else unknown_keyword(op, name, known)
        if text is not None:
            return marked(TypeError(text))
    return None


def _named_arguments(
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
    from traceback import walk_tb  # which only a mistake needs

    modules = (str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__))
    return all(module.partition(".")[0] in _OURS_AND_BELOW for module in modules)


def explained(
    op: str, given: Mapping[str, Any], annotations: Sequence[Any], error: Exception
) -> Exception:
    """The error to raise instead of ``error``, whose text is not ours."""
    blamed = _annotation_error(op, given, annotations)
    if blamed is not None:
        return blamed
    for name, value in given.items():
        if _is_beyond_64_bits(value):
            return value_error(op, f"{name} must fit 64 bits", **{name: shown(value)})
    got = {name: shown(value) for name, value in given.items()}
    if isinstance(error, ValueError | ArithmeticError):
        return value_error(op, UNEXPLAINED, **got)
    make = index_error if isinstance(error, IndexError) else type_error
    return make(op, UNEXPLAINED, **got)  # type: ignore[return-value, unused-ignore]


def _annotation_error(
    op: str, given: Mapping[str, Any], annotations: Sequence[Any]
) -> Exception | None:
    """An error for the first argument that is not what its annotation asks for."""
    for (name, value), annotation in zip(given.items(), annotations, strict=True):
        wanted = wanted_by(annotation, value)
        if wanted is not None:
            return type_error(op, f"{name} must be {wanted}", **{name: shown(value)})
    return None


def _is_beyond_64_bits(value: Any) -> bool:
    if is_nested(value):
        return any(_is_beyond_64_bits(x) for x in value)
    return isinstance(value, int) and not -(2**63) <= value < 2**63
