"""FILE on the command line, a configuration or data, and the options that say what to learn of it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from extensor.errors import value_error
from extensor.train.experiments.config import Config

_OPTIONS = ("target", "task", "window", "horizon")


def described(options: argparse.Namespace) -> str | Config | None:
    """The file of a configuration, or one of data as the configuration that it is."""
    source = options.config
    if not is_data(source):
        check_no_data(options)
        return source  # type: ignore[no-any-return]
    data: dict[str, Any] = {"train": source}
    if options.target:
        several = options.target
        data["target"] = several[0] if len(several) == 1 else several
    for name in _OPTIONS[1:]:
        if getattr(options, name) is not None:
            data[name] = getattr(options, name)
    return {"data": data}


def is_data(source: str | None) -> bool:
    """Whether FILE is one of data, and no configuration."""
    return source is not None and not source.lower().endswith(".toml")


def check_no_data(options: argparse.Namespace) -> None:
    """Refuse what is for files of data, where there is a configuration."""
    for name in _OPTIONS:
        value = getattr(options, name)
        if value is not None:
            requirement = f"is for a file of data; here it is --set data.{name}=..."
            raise value_error(f"--{name}", requirement, **{name: value})


def as_words(source: str | None, config: Mapping[str, Any], without: Any = ()) -> list[str]:
    """FILE and its options again, as a shell takes them; those in ``without`` are set in other ways."""
    words = [] if source is None else [source]
    for name in _OPTIONS if is_data(source) else ():
        value = config["data"].get(name)
        if value is None or f"data.{name}" in without:
            continue
        for one in value if isinstance(value, list) else [value]:
            joined = str(one).startswith("-")
            words += [f"--{name}={one}"] if joined else [f"--{name}", str(one)]
    return words
