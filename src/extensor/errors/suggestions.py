"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], path: str = "") -> str:
    """Words for the known name that is most like ``name``, or for all of them.

    >>> from extensor.errors.suggestions import nearest
    >>> nearest("optimzer", ["model", "optimizer"])
    " (did you mean 'optimizer'?)"
    """
    names = list(known)
    matches = get_close_matches(name, names, 1, 0.5)
    if matches:
        return f" (did you mean {path + matches[0]!r}?)"
    return f" (known: {', '.join(names) or 'none'})"
