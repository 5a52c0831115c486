"""How a table was encoded: the encoder, its targets, and how the file was written."""

from __future__ import annotations

from typing import Any, NamedTuple

from extensor.core import entries
from extensor.data.table.encoding import TableEncoder
from extensor.data.table.features import words
from extensor.errors import arguments, type_error, value_error

_KEYS = ("encoder", "targets", "kinds", "options")
_OPTIONS = ("delimiter", "decimal", "encoding", "header")
_KINDS = ("number", "category", "text")


class TableEncoding(NamedTuple):
    """What makes the same numbers of other rows: it goes with packed shards.

    ``kinds`` are those of the targets: "number", "category" or "text". ``options`` are those that
    :func:`read_table` found.
    """

    encoder: TableEncoder
    targets: tuple[str, ...]
    kinds: tuple[str, ...]
    options: dict[str, Any]

    def state_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "encoder": self.encoder.state_dict(),
            "targets": list(self.targets),
            "kinds": list(self.kinds),
            "options": dict(self.options),
        }

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> TableEncoding:
        """What :meth:`state_dict` gave, checked."""
        given = entries.with_keys(op, state, _KEYS, "encoding")
        encoder = TableEncoder.from_state(given["encoder"], op)
        targets, kinds = (words(op, f"encoding.{key}", given[key]) for key in ("targets", "kinds"))
        for kind in kinds:
            arguments.choice(op, "encoding.kinds", kind, _KINDS)
        if len(kinds) != len(targets) or len({*targets, *encoder.names}) < len(targets) + len(
            encoder.names
        ):
            requirement = "encoding must have a kind for each target, and each column once"
            raise value_error(op, requirement, targets=len(targets))
        options = entries.with_keys(op, given["options"], _OPTIONS, "encoding.options")
        for key, option in options.items():
            if not isinstance(option, bool | None if key == "header" else str | None):
                raise type_error(op, f"encoding.options.{key} must say how a table is written")
        return cls(encoder, tuple(targets), tuple(kinds), dict(options))
