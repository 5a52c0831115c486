"""Whether shards of columns have the same ones, of the same types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from extensor.data.streaming.shard import Choice, Shard, damaged
from extensor.io.state import DamagedFileError


def disagreements(shards: Sequence[Shard], choice: Choice) -> dict[int, DamagedFileError]:
    """The errors for shards with other columns than most have, by their places.

    If parts were chosen, only their columns count.
    """
    chosen = None if choice is None else _names(choice)
    types = [
        {
            name: kind
            for name, kind in shard.column_types.items()
            if chosen is None or name in chosen
        }
        for shard in shards
    ]
    counted = Counter(tuple(found.items()) for found in types if found)
    if len(counted) < 2:
        return {}
    usual = dict(counted.most_common(1)[0][0])
    reasons = {i: _difference(found, usual) for i, found in enumerate(types) if found}
    return {
        i: damaged(f"shards must have the same columns ({reason})", shards[i].path)
        for i, reason in reasons.items()
        if reason is not None
    }


def _names(choice: Sequence[str | Sequence[str]]) -> set[str]:
    return {one for name in choice for one in ((name,) if isinstance(name, str) else name)}


def _difference(found: Mapping[str, str], usual: Mapping[str, str]) -> str | None:
    """Words for the first column that is not as in most shards; None if all are."""
    for name, kind in found.items():
        if name not in usual:
            return f"column {name!r} is not in the others"
        if kind != usual[name]:
            return f"column {name!r} is {kind}, in the others {usual[name]}"
    missing = [name for name in usual if name not in found]
    return f"column {missing[0]!r} is missing" if missing else None
