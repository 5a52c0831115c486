"""The state of an optimizer: how it is kept beside a group, and as a flat dict for files.

The dict has ``groups.<group>.<option>`` and ``state.<parameter>.<name>``, parameters counted over
all groups; its values are arrays, numbers and strings, so any format of named arrays can hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape
from extensor.core import entries
from extensor.errors import type_error, value_error
from extensor.optim.update import as_state, state_dtype

Group = dict[str, Any]


class GroupHistory:
    """For each parameter of a group its state arrays, None before the first step, and its steps.

    Nearly always all parameters have taken the same number of steps: that is ``count``. If not, it
    is -1 and a list holds them all.
    """

    def __init__(self, group: Group, names: Sequence[str]) -> None:
        parameters = len(group["params"])
        self.group = group
        self.names = tuple(names)  # of the state arrays
        self.state: tuple[list[Any], ...] = tuple([None] * parameters for _ in names)
        self.count = 0
        self._steps = [0] * parameters

    def steps(self) -> list[int]:
        """The number of steps of each parameter."""
        return self._steps if self.count < 0 else [self.count] * len(self._steps)

    def set_step(self, indices: Sequence[int], step: int) -> None:
        """Let the parameters at ``indices`` have taken ``step`` steps."""
        self._steps = self.steps()  # written out, in case the one count no longer holds for all
        for index in indices:
            self._steps[index] = step
        self.count = step if all(other == step for other in self._steps) else -1

    def named(self) -> list[dict[str, Any]]:
        """The state arrays of each parameter by name."""
        return [
            {
                name: arrays[i]
                for name, arrays in zip(self.names, self.state, strict=True)
                if arrays[i] is not None
            }
            for i in range(len(self._steps))
        ]


def saved(histories: Sequence[GroupHistory], copied: bool) -> dict[str, Any]:
    """The flat dict of all groups; its arrays are those of the optimizer if not ``copied``."""
    result: dict[str, Any] = {}
    index = 0
    for number, history in enumerate(histories):
        for option, value in history.group.items():
            key = f"groups.{number}.{option}"
            if option == "params":
                result[key] = len(value)
            elif isinstance(value, tuple | list):
                parts = {f"{key}.{i}": item for i, item in enumerate(value)}
                result.update({part: item for part, item in parts.items() if item is not None})
            elif value is not None:
                result[key] = value
        for step, arrays in zip(history.steps(), history.named(), strict=True):
            if step:
                result[f"state.{index}.step"] = step
            for name, x in arrays.items():
                result[f"state.{index}.{name}"] = x.copy() if copied else x
            index += 1
    return result


def prepared(
    op: str,
    given: Any,
    histories: Sequence[GroupHistory],
    check: Callable[[Group], None],
    needed: Callable[[Group], Sequence[str]],
    shape_of: Callable[[str, Shape], Shape | None],
) -> Callable[[], None]:
    """A function that puts the flat dict ``given`` into histories of the same parameters, and their groups.

    It cannot fail any more. ``check`` looks at a group with its new options, ``needed`` names the
    state without which no parameter can have taken a step, and ``shape_of`` gives the shape of the
    state of a parameter, None if it has none.
    """
    rest = {key: _plain(value) for key, value in entries.mapping(op, given).items()}
    options: list[Group] = []
    loaded: list[GroupHistory] = []
    index = 0
    for number, history in enumerate(histories):
        group = history.group
        options.append(_options(op, rest, f"groups.{number}.", group))
        check({**group, **options[-1]})
        made = GroupHistory(group, history.names)
        for i, parameter in enumerate(group["params"]):
            key = f"state.{index}."
            shapes = {name: shape_of(name, parameter.shape) for name in made.names}
            for arrays, name in zip(made.state, made.names, strict=True):
                shape, dtype = shapes[name], state_dtype(parameter._array)
                if shape is not None:
                    value = rest.pop(key + name, None)
                    arrays[i] = _state_array(op, key + name, value, shape, dtype)
            step = entries.count(op, key + "step", rest.pop(key + "step", 0))
            made.set_step([i], step)
            for arrays, name in zip(made.state, made.names, strict=True):
                is_needed = shapes[name] is not None and name in needed(group)
                if step and arrays[i] is None and is_needed:
                    raise value_error(op, "an entry is missing", key=key + name)
            index += 1
        loaded.append(made)
    if rest:
        raise value_error(op, "unknown entries", keys=sorted(rest))

    # In place, as group and history are known to schedules, compiled steps and the optimizer itself.
    def commit() -> None:
        for option, history, made in zip(options, histories, loaded, strict=True):
            history.group.update(option)
            history.__dict__.update(made.__dict__)

    return commit


def _plain(value: Any) -> Any:
    """Tensors as arrays, and arrays of no dimension as numbers if they stand for one."""
    value = getattr(value, "_array", value)
    return value.item() if isinstance(value, np.generic) else value


def _options(op: str, rest: dict[str, Any], prefix: str, group: Group) -> Group:
    """The options of one group, each of the kind that the group has now."""
    count = rest.pop(prefix + "params", None)
    if count is None or entries.count(op, prefix + "params", count) != len(group["params"]):
        raise value_error(op, f"{prefix}params must be {len(group['params'])}", **{"params": count})
    options: Group = {}
    for option, now in group.items():
        key = prefix + option
        if option in ("params", "initial_lr"):
            continue
        if isinstance(now, tuple | list):
            parts = [
                _option(op, f"{key}.{i}", rest.pop(f"{key}.{i}", None), item)
                for i, item in enumerate(now)
            ]
            missing = any(x is None for x, item in zip(parts, now, strict=True) if item is not None)
            found: Any = None if missing else type(now)(parts)
        else:
            found = _option(op, key, rest.pop(key, None), now)
        if found is None and now is not None:
            raise value_error(op, "an entry is missing", key=key)
        options[option] = found
    # Under a schedule the group has the rate it began with as well; one made since keeps its own.
    initial = rest.pop(prefix + "initial_lr", None)
    if initial is None:
        return options
    return {**options, "initial_lr": entries.number(op, prefix + "initial_lr", initial)}


def _option(op: str, key: str, value: Any, now: Any) -> Any:
    if value is None or isinstance(now, bool):
        return None if value is None else entries.truth(op, key, value)
    if isinstance(now, str):
        if not isinstance(value, str):
            raise type_error(op, f"{key} must be a string", type=type(value).__name__)
        return value
    # What is None now may become anything that an option can be.
    plain = now is None and isinstance(value, str | bool)
    return value if plain else entries.number(op, key, value)


def _state_array(op: str, key: str, value: Any, shape: Shape, dtype: Any) -> Any:
    if value is None:
        return None
    array = array_like(op, key, value, shape, dtype)
    return as_state(array).astype(dtype, copy=False)


def array_like(op: str, key: str, value: Any, shape: Any, dtype: Any) -> Any:
    """``value`` as an array, which must be of a shape and fit a dtype."""
    array = np.asarray(entries.array(op, key, value))
    if array.shape != shape:
        raise value_error(op, f"{key} must have shape {shape}", shape=array.shape)
    if not entries.fits(array, dtype):
        raise value_error(op, f"{key} must fit {dtype}", dtype=str(array.dtype))
    return array
