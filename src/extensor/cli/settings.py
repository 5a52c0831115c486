"""``--set KEY=VALUE``: changes in a configuration, as the command line writes them."""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from extensor.cli.described import described
from extensor.cli.wording import COMMAND
from extensor.errors import value_error
from extensor.train.experiments.config import (
    Config,
    Source,
    checked_config,
    place_of,
    stored_config,
)
from extensor.train.experiments.runs import is_stored
from extensor.train.experiments.user_functions import check_trust, function_names

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


def command_config(options: argparse.Namespace, settings: Iterable[str]) -> Config:
    """The configuration that FILE is or describes, with ``settings`` made in it.

    The functions that a file names in the folder of a run need ``--trust``.
    """
    source = described(options)
    made = list(settings)
    config = read_config(source, made)
    if not isinstance(source, Mapping) and is_stored(source):
        keys = [key for key, _ in as_changes(made)]
        check_trust(config, str(source), options.trust, COMMAND, keys)
    return config


def as_changes(settings: Iterable[str]) -> list[tuple[str, Any]]:
    """Settings that :func:`read_config` takes, as keys and values."""
    parts = (setting.partition("=") for setting in settings)
    return [(key.strip(), _value(text.strip())) for key, _, text in parts]


def _value(text: str) -> Any:
    """What TOML says, and a word without quotes as a string: the shell has eaten them."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        if _WORD.fullmatch(text):
            return text
        raise value_error("--set", "a value must be one of TOML", value=text) from None


def trust_option(config: Mapping[str, Any]) -> str:
    """The option that a command needs for a run of ``config``, if it names functions."""
    return f" {COMMAND.trust}" if function_names(config) else ""
