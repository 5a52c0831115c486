"""``--set KEY=VALUE``: changes in a configuration, as the command line writes them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from typing import Any

from extensor.errors import value_error
from extensor.train.experiments.config import (
    Config,
    Source,
    checked_config,
    place_of,
    stored_config,
)

_WORD = re.compile(r"[^\W\d][\w.:/~*?-]*")


def read_config(source: Source, settings: Iterable[str] = ()) -> Config:
    """The configuration in ``source``, or the one for the digits, with ``settings`` made in it."""
    config = stored_config(source)
    for setting in settings:
        key, sign, text = setting.partition("=")
        key = key.strip()
        if not sign or not all(key.split(".")):
            raise value_error("--set", "a change must be KEY=VALUE", change=setting)
        table, last = place_of(config, key, "--set", change=setting)
        table[last] = _value(text.strip())
    return checked_config(config)


def as_changes(settings: Iterable[str]) -> list[tuple[str, Any]]:
    """Settings that :func:`read_config` takes, as keys and values."""
    parts = (setting.partition("=") for setting in settings)
    return [(key.strip(), _value(text.strip())) for key, _, text in parts]


def _value(text: str) -> Any:
    """What TOML says, and a word without quotes as a string: the shell has eaten them."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        if _WORD.fullmatch(text):
            return text
        raise value_error("--set", "a value must be one of TOML", value=text) from None
