"""The part of a state that is no tensor, folded to JSON and unfolded again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from extensor.core.tensor import Tensor, to_array
from extensor.errors import type_error, value_error

DEPTH = 100  # of dicts and lists within each other
_TENSOR = ""  # the only key of the dict that stands for a tensor; no other dict may have it
_PLAIN = (str, int, float, bool, type(None))
_AS_THEY_ARE = frozenset({str, float, bool, type(None)})  # the types of most of what is saved
_DIGITS = 4300  # Python reads no longer integers
_LARGEST = 10**_DIGITS
_RESERVED = "__metadata__"  # the format has its own use for this name


class TreeError(ValueError):
    """The content of a file is no state that could have been saved."""


def folded(value: Any, path: tuple[str, ...], arrays: dict[str, Any]) -> Any:
    """``value`` for JSON, its arrays put into ``arrays`` under their path."""
    if type(value) in _AS_THEY_ARE:
        return value
    if len(path) > DEPTH:
        raise value_error(
            "save", f"state must have at most {DEPTH} levels", path=".".join(path[:4]) + "..."
        )
    if isinstance(value, Mapping):
        return {key: folded(x, (*path, _key(key, path)), arrays) for key, x in value.items()}
    if isinstance(value, Tensor | np.ndarray | np.generic):
        name = ".".join(path)
        _check_name(name, arrays)
        arrays[name] = np.asarray(to_array(value, op="save"))
        return {_TENSOR: name}
    if is_plain(value):
        return _with_lists(value)
    raise type_error(
        "save",
        "state must hold dicts, tensors, numbers, strings, None and lists of plain values",
        path=".".join(path),
        type=type(value).__name__,
    )


def _key(key: Any, path: tuple[str, ...]) -> str:
    if not isinstance(key, str) or key == _TENSOR:
        raise value_error("save", "keys must be strings, not empty", path=".".join(path), key=key)
    return key


def _check_name(name: str, arrays: Mapping[str, Any]) -> None:
    if name in arrays:
        raise value_error("save", "paths of tensors must differ", path=name)
    if name == _RESERVED or not _is_text(name):
        requirement = f"the path of a tensor must be text, and not {_RESERVED!r}"
        raise value_error("save", requirement, path=name)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_plain(value: Any, depth: int = 0) -> bool:
    """True for strings, numbers, None and lists of them, within each other."""
    if isinstance(value, int) and abs(value) >= _LARGEST:
        raise value_error("save", f"integers must have at most {_DIGITS} digits")
    return isinstance(value, _PLAIN) or (
        isinstance(value, list | tuple)
        and depth < DEPTH
        and all(is_plain(item, depth + 1) for item in value)
    )


def _with_lists(value: Any) -> Any:
    """Plain values as JSON gives them back: no tuples."""
    return [_with_lists(item) for item in value] if isinstance(value, list | tuple) else value


def unfolded(tree: Any, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The state that :func:`folded` made ``tree`` and ``arrays`` of; a TreeError if there is none."""
    used: set[str] = set()
    if not isinstance(tree, dict) or _TENSOR in tree:
        raise TreeError("the state is no dict")
    state = {key: _unfold(value, (key,), arrays, used) for key, value in tree.items()}
    unused = arrays.keys() - used
    if unused:
        raise TreeError(f"the state has no place for tensor {min(unused)!r}")
    return state


def _unfold(tree: Any, path: tuple[str, ...], arrays: Mapping[str, Any], used: set[str]) -> Any:
    if len(path) > DEPTH:
        raise TreeError(f"the state has more than {DEPTH} levels")
    if not isinstance(tree, dict):
        if not is_plain(tree):
            raise TreeError(f"{'.'.join(path)!r} is not plain")
        return tree
    if _TENSOR not in tree:
        return {k: _unfold(x, (*path, k), arrays, used) for k, x in tree.items()}
    name = ".".join(path)
    if tree != {_TENSOR: name} or name not in arrays:
        raise TreeError(f"{name!r} is not where its tensor should be")
    if name in used:
        raise TreeError(f"tensor {name!r} stands in two places")
    used.add(name)
    return arrays[name]
