"""Copying saved tensors into a module, all or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from extensor.errors import type_error, value_error
from extensor.tape import no_grad
from extensor.tensor import Tensor, to_array


class KeyDifference(NamedTuple):
    """The keys that a state_dict lacks, and those it has too many."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def load(
    module: str, targets: Mapping[str, Tensor], given: Mapping[str, Any], strict: bool
) -> KeyDifference:
    """Copy ``given`` into ``targets``; one error names everything that does not fit."""
    op = f"{module}.load_state_dict"
    if not isinstance(given, Mapping):
        raise type_error(op, "state_dict must be a mapping", state_dict=type(given).__name__)
    missing = [key for key in targets if key not in given]
    unexpected = [key for key in given if key not in targets]
    arrays = {key: to_array(given[key], op=op) for key in targets if key in given}
    wrong = {
        key: f"{tuple(array.shape)} for {targets[key].shape}"
        for key, array in arrays.items()
        if tuple(array.shape) != targets[key].shape
    }
    if wrong or (strict and (missing or unexpected)):
        problems = {"missing": missing, "unexpected": unexpected, "shapes": wrong}
        raise value_error(
            op,
            "keys and shapes must be those of the module",
            **{k: v for k, v in problems.items() if v},
        )
    with no_grad():
        for key, array in arrays.items():
            targets[key][...] = array
    return KeyDifference(missing, unexpected)
