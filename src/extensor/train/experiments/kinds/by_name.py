"""Tables whose columns have names: brought into the order that a model was trained with."""

from __future__ import annotations

from typing import Any, NamedTuple

from extensor import data
from extensor.core import entries
from extensor.data.tables import csv_names
from extensor.errors import type_error, value_error
from extensor.train.experiments.config import Config
from extensor.train.experiments.targets import table_options


class Columns(NamedTuple):
    """The names of the columns that are inputs, in their order, and of the target."""

    inputs: tuple[str, ...]
    target: str

    @classmethod
    def of(cls, names: list[str] | None, inputs: int) -> Columns | None:
        """What an index says, if it says it of the inputs and a target."""
        if names is None or len(names) != inputs + 1 or len(set(names)) < len(names):
            return None
        return cls(tuple(names[:-1]), names[-1])

    @classmethod
    def from_state(cls, op: str, state: Any) -> Columns:
        """From a checkpoint, checked."""
        given = entries.with_keys(op, state, ("inputs", "target"), "preparation.columns")
        names = given["inputs"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise type_error(op, "preparation.columns.inputs must be a list of strings")
        if not isinstance(given["target"], str) or len({*names, given["target"]}) <= len(names):
            raise value_error(op, "preparation.columns must have each name once")
        return cls(tuple(names), given["target"])

    def state_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"inputs": list(self.inputs), "target": self.target}

    def places(self, found: list[str], path: str) -> list[int]:
        """Where the inputs stand among the columns that were found; others are left out."""
        missing = [name for name in self.inputs if name not in found]
        if missing:
            requirement = f"the column {missing[0]!r} must be there, as in the training data"
            raise value_error("data", requirement, path=path, columns=found)
        return [found.index(name) for name in self.inputs]


def read_by_name(path: str, table: Config, columns: Columns, with_target: bool) -> tuple[Any, ...]:
    """Inputs, and the target if it is wanted, of a CSV file by the names in its first line."""
    options = table_options(table)
    names = csv_names(path, **options)
    if names is None:
        parts = data.read_csv(path, -1 if with_target else None, **options)
        return parts if isinstance(parts, tuple) else (parts,)
    has_target = with_target or columns.target in names
    parts = data.read_csv(path, columns.target if has_target else None, **options)
    inputs, *target = parts if isinstance(parts, tuple) else (parts,)
    others = [name for name in names if not has_target or name != columns.target]
    inputs = inputs[:, columns.places(others, path)]
    return (inputs, *target) if with_target else (inputs,)
