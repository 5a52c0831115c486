"""In-place changes of arrays, so that the tape can tell when something it saved is no longer there.

One clock counts all changes. A node keeps the time it was recorded; only if the clock has moved
since does the tape look up which arrays were changed when, so recording pays for a single integer.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from extensor import _native
from extensor.errors.places import user_place

# Time only moves by advance_clock: equal readings mean that nothing at all was changed in between.
clock = _native.clock  # the number of in-place changes so far
owner = _native.owner  # the array whose memory another shows: itself, unless it is a view
# By the identity of the memory: a reference that forgets it when it dies, and when and where it was
# changed last. Lists, so that what changes often keeps its entry.
_changed: dict[int, list[Any]] = {}
_NEVER: list[Any] = [None, (0, None)]


def mark(array: Any, remember_place: bool = False) -> None:
    """Note that the memory of ``array`` has just been changed."""
    mark_all((array,), remember_place)


def mark_all(arrays: Iterable[Any], remember_place: bool = False) -> None:
    """The same for several arrays at once."""
    # After the change itself: who records in between saves the new values with the old time, which is
    # a false alarm at worst, never a change that is missed.
    latest = (_native.advance_clock(), user_place() if remember_place else None)
    for array in arrays:
        # By the owner, so that a change through one view is a change of all views of that memory.
        memory = owner(array)
        key = id(memory)
        entry = _changed.get(key)
        if entry is None:
            _changed[key] = [weakref.ref(memory, _forget(key)), latest]
        else:
            entry[1] = latest


def _forget(key: int) -> Callable[[Any], None]:
    # Only the key, not the memory: a closure over it would keep alive what is to be forgotten.
    def forget(_: Any) -> None:
        _changed.pop(key, None)

    return forget


def check(rule: str, saved: Iterable[Any], since: int, place: str | None) -> None:
    """Raise if anything ``saved`` was changed after time ``since``."""
    for item in saved:
        if isinstance(item, list | tuple):
            check(rule, item, since, place)
            continue
        array = getattr(item, "_array", item)
        _, (time, changed_at) = _changed.get(id(owner(array)), _NEVER)
        if time > since:
            known = [f"recorded at {place}"] if place else []
            known += [f"changed at {changed_at}"] if changed_at else []
            lines = f" ({', '.join(known)})" if known else ""
            op = rule.removesuffix("_backward")
            raise RuntimeError(
                f"{rule}: a tensor of shape {tuple(array.shape)} that {op} saved was changed in "
                f"place before the backward pass{lines}; change a clone, or use x.at[i].set(v)"
            )


def changed_since(array: Any, time: int) -> bool:
    """Whether the memory of ``array`` was changed after ``time`` of the clock."""
    return bool(_changed.get(id(owner(array)), _NEVER)[1][0] > time)
