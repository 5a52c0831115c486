"""The configuration of a run: a TOML file, what the command line changes in it, and its keys."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from extensor.errors import value_error
from extensor.io.paths import unreadable

Config = dict[str, Any]

_NUMBER = (int, float)
_NUMBERS = (int, float, list)
_NAMED = dict  # a table with a name, whose other keys are the arguments of what it names

# Each key, and what its value must be; a dict is a table.
KEYS: dict[str, Any] = {
    "seed": int,
    "epochs": int,
    "accumulate": int,
    "amp": str,
    "metrics": list,
    "data": {
        "name": str,
        "root": str,
        "train": str,
        "test": str,
        "test_fraction": _NUMBER,
        "inputs": str,
        "target": (str, int),
        "header": bool,
        "delimiter": str,
        "size": (int, list),
        "mode": str,
        "batch_size": int,
        "workers": int,
        "standardize": bool,
        "normalize": {"mean": _NUMBERS, "std": _NUMBERS, "scale": _NUMBER},
        "augment": _NAMED,
    },
    "model": _NAMED,
    "loss": _NAMED,
    "optimizer": _NAMED,
    "schedule": _NAMED,
    "checkpoints": {"every": int, "keep": int, "best": str},
    "clipping": {"norm": _NUMBER, "value": _NUMBER},
    "ema": {"decay": _NUMBER, "warmup": bool},
    "resumed": dict,
}
DEFAULTS: Config = {"seed": 0, "epochs": 10}
_AT_LEAST = {"seed": 0, "epochs": 1, "accumulate": 1}
_WORD = re.compile(r"[^\W\d][\w.:/~-]*")


def read_config(path: str | Path | None, changes: Iterable[str] = ()) -> Config:
    """The configuration in ``path``, or the one for the digits, with ``changes`` made in it.

    ``[resumed]`` is what a run says of its past: what was changed in it, and from which step on.
    """
    source = files("extensor.cli") / "digits.toml" if path is None else Path(path)
    try:
        config = tomllib.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable("config", path, error) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise value_error("config", f"file must be TOML ({error})", path=str(path)) from None
    for change in changes:
        _change(config, change)
    config = {**DEFAULTS, **config}
    _check(config, KEYS, "")
    for key in ("data", "model"):
        if key not in config:
            raise value_error("config", f"[{key}] must be there", tables=list(config))
    for key, least in _AT_LEAST.items():
        if config.get(key, least) < least:
            raise value_error("config", f"{key} must be {least} or more", **{key: config[key]})
    return config


def _change(config: Config, change: str) -> None:
    """Set one value: ``optimizer.lr=0.01``."""
    key, sign, text = change.partition("=")
    *tables, last = key.strip().split(".")
    if not sign or not all((*tables, last)):
        raise value_error("--set", "a change must be KEY=VALUE", change=change)
    if (*tables, last)[0] == "resumed":
        raise value_error("--set", "resumed is for the run itself to write", change=change)
    table = config
    for name in tables:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise value_error("--set", f"{name} must be a table", change=change)
    table[last] = _value(text.strip())


def _value(text: str) -> Any:
    """What TOML says, and a word without quotes as a string: the shell has eaten them."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        if _WORD.fullmatch(text):
            return text
        raise value_error("--set", "a value must be one of TOML", value=text) from None


def _check(table: Mapping[str, Any], keys: Mapping[str, Any], path: str) -> None:
    check_keys(path, table, keys)
    for key, value in table.items():
        kind = keys[key]
        wanted = dict if isinstance(kind, Mapping) else kind
        # To Python True is a number, to those who write configurations it is not.
        if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
            words = _said(wanted)
            raise value_error("config", f"{path}{key} must be {words}", **{key: value})
        if isinstance(kind, Mapping):
            _check(value, kind, f"{path}{key}.")


def _said(kinds: Any) -> str:
    names = {dict: "a table", str: "a string", int: "an integer", float: "a number"}
    names |= {list: "a list", bool: "true or false"}
    return " or ".join(names[kind] for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))


def check_keys(path: str, table: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a key that is not ``known``, and suggest the one that was probably meant."""
    names = list(known)
    for key in table:
        if key not in names:
            raise value_error("config", f"unknown key{nearest(key, names, path)}", key=path + key)


def nearest(name: str, known: Iterable[str], path: str = "") -> str:
    """Words for the known name that is most like ``name``, or for all of them.

    >>> from extensor.cli.config import nearest
    >>> nearest("optimzer", ["model", "optimizer"])
    " (did you mean 'optimizer'?)"
    """
    names = list(known)
    matches = get_close_matches(name, names, 1, 0.5)
    if matches:
        return f" (did you mean {path + matches[0]!r}?)"
    return f" (known: {', '.join(names) or 'none'})"
