"""Copying saved tensors into a module, all or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from extensor.core import entries
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.errors import value_error


class KeyDifference(NamedTuple):
    """The keys that a state_dict lacks, and those it has too many."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def prepare_copy(
    module: str, targets: Mapping[str, Tensor], given: Mapping[str, Any], strict: bool = True
) -> tuple[KeyDifference, Callable[[], None]]:
    """The keys that differ, and what copies: nothing is changed before, nor can it fail then."""
    op = f"{module}.load_state_dict"
    given = entries.mapping(op, given)
    missing = [key for key in targets if key not in given]
    unexpected = [key for key in given if key not in targets]
    arrays = {key: entries.array(op, key, given[key]) for key in targets if key in given}
    wrong = {
        key: f"{tuple(array.shape)} for {targets[key].shape}"
        for key, array in arrays.items()
        if tuple(array.shape) != targets[key].shape
    }
    if wrong or (strict and (missing or unexpected)):
        problems = {"missing": missing, "unexpected": unexpected, "shapes": wrong}
        requirement = "keys and shapes must be those of the module"
        raise value_error(op, requirement, **{k: v for k, v in problems.items() if v})
    _check_copies(op, targets, arrays)

    def commit() -> None:
        with no_grad():
            for key, array in arrays.items():
                targets[key][...] = array

    return KeyDifference(missing, unexpected), commit


def _check_copies(op: str, targets: Mapping[str, Tensor], arrays: Mapping[str, Any]) -> None:
    """Raise for what would fail while copying, when a part of the module would be changed already."""
    for key, array in arrays.items():
        target = targets[key]
        if not entries.fits(array, target.dtype):
            raise value_error(op, f"{key} must fit {target.dtype}", dtype=str(array.dtype))
        if isinstance(target._array, np.ndarray) and not target._array.flags.writeable:
            raise value_error(op, f"{key} of the module must not be read-only")
