"""``--set KEY=...`` of a sweep: a range ``a..b``, choices ``x,y,z``, or one value for all trials."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite
from typing import Any

from extensor.cli.shared_options import as_changes, split_setting
from extensor.errors import value_error
from extensor.experiments.sweeps import Choices, Dimension, Range
from extensor.io.toml import as_toml

_RANGE = re.compile(r"""(?P<low>[^:"'[{]*?)\.\.(?P<high>[^:]*)(?::(?P<scale>.*))?""", re.DOTALL)
_LIKE_A_NUMBER = re.compile(r"[-+]?\.?\d|[-+](?:inf|nan)")
_DECADE = 10
_PAIRS = {"[": "]", "{": "}"}


def read_sweep_settings(settings: Iterable[str]) -> tuple[list[str], dict[str, Dimension]]:
    """The settings that are the same for all trials, and the searched dimensions by key."""
    fixed: list[str] = []
    searched: dict[str, Dimension] = {}
    keys = set()
    for setting in settings:
        key, text = split_setting(setting)
        if key in keys:
            raise value_error("--set", "a key must be set once", key=key)
        keys.add(key)
        dimension = _dimension(key, text, setting)
        if dimension is None:
            fixed.append(f"{key}={text}")
        elif key == "epochs":
            requirement = "epochs must be one number, which the rungs divide"
            raise value_error("--set", requirement, change=setting)
        else:
            searched[key] = dimension
    return fixed, searched


def _dimension(key: str, text: str, setting: str) -> Dimension | None:
    parts = _parts(text)
    ranges = [match for match in map(_range_parts, parts) if match]
    if len(parts) == 1:
        return _range(ranges[0], setting) if ranges else None
    if ranges:
        requirement = "a range a..b must stand alone, without choices x,y"
        raise value_error("--set", requirement, change=setting)
    if not all(parts):
        raise value_error("--set", "choices must have a value between commas", change=setting)
    values = [_value(key, part) for part in parts]
    for place, value in enumerate(values):
        if value in values[:place]:
            raise value_error("--set", "choices must differ", change=setting)
    return Choices(tuple(values))


def _parts(text: str) -> list[str]:
    """``text`` cut at its commas, save those in brackets and in quotes."""
    parts, closing, quote = [""], [], ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _PAIRS:
            closing.append(_PAIRS[letter])
        elif closing and letter == closing[-1]:
            closing.pop()
        elif letter == "," and not closing:
            parts.append("")
            continue
        parts[-1] += letter
    return [part.strip() for part in parts]


def _range_parts(text: str) -> re.Match[str] | None:
    """The parts of a range, or None. A range has a number beside the dots; paths have two dots too."""
    match = _RANGE.fullmatch(text)
    if match is None or not any(_LIKE_A_NUMBER.match(match[end]) for end in ("low", "high")):
        return None
    return match


def _range(match: re.Match[str], setting: str) -> Range:
    low, high = (_number(match[end].strip()) for end in ("low", "high"))
    if low is None or high is None:
        requirement = "a range must be two numbers, as 1e-4..1e-1"
        raise value_error("--set", requirement, change=setting)
    if not low < high:
        raise value_error("--set", "a range must go from less to more", change=setting)
    scale = match["scale"]
    if scale not in (None, "log", "linear"):
        raise value_error("--set", "a range may end with :log or :linear", change=setting)
    if scale == "log" and low <= 0:
        raise value_error("--set", "a range with :log must be above 0", change=setting)
    is_wide = low > 0 and high / low >= _DECADE
    return Range(low, high, scale == "log" or (scale is None and is_wide))


def _number(text: str) -> float | None:
    """A finite number, an int if it is written as one."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if isfinite(number) else None
    return None


def _value(key: str, text: str) -> Any:
    return as_changes([f"{key}={text}"])[0][1]


def as_setting(key: str, value: Any) -> str:
    """``KEY=VALUE``, which reads as ``value`` again; a word stands without quotes."""
    if isinstance(value, str):
        try:
            if _value(key, value) == value:
                return f"{key}={value}"
        except ValueError:
            pass  # it needs its quotes
    return f"{key}={as_toml({'value': value}).strip().partition(' = ')[2]}"
