"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MOST = 40  # names in a message


def nearest(name: str, known: Iterable[str], path: str = "") -> str:
    """Words for the known name that is most like ``name``, or for all of them.

    >>> from extensor.errors.suggestions import nearest
    >>> nearest("optimzer", ["model", "optimizer"])
    " (did you mean 'optimizer'?)"
    """
    return f" ({_words(name, known, path)})"


def suggestion(name: str, known: Iterable[str], path: str = "") -> str:
    """The same as advice at the end of a message.

    >>> from extensor.errors.suggestions import suggestion
    >>> suggestion("optimzer", ["model", "optimizer"])
    "; did you mean 'optimizer'?"
    """
    return f"; {_words(name, known, path)}"


def _words(name: str, known: Iterable[str], path: str) -> str:
    names = list(known)
    same = [x for x in names if isinstance(x, str) and x.lower() == name.lower()]
    matches = same or get_close_matches(name, names, 1, 0.5)
    if matches:
        return f"did you mean {path + matches[0]!r}?"
    more = f", and {len(names) - _MOST} more" if len(names) > _MOST else ""
    shown = ", ".join(x if x.isprintable() else repr(x) for x in names[:_MOST])
    return f"known: {shown or 'none'}{more}"
