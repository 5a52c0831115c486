"""The folder of a run: what lies where, its configuration and the machine."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from extensor.errors import type_error
from extensor.io.atomic import remove_partial, write_atomically
from extensor.io.paths import as_path, make_folder
from extensor.io.regular_files import LinkedFileError
from extensor.settings import get_num_threads
from extensor.train.redaction import redact_command


class RunFolder:
    """Paths inside the folder of a run.

    ``config.toml`` and ``machine.json`` are written when training begins, ``log.jsonl``, ``log.csv``
    and ``timing.jsonl`` while it lasts, ``checkpoints`` has the checkpoints.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = as_path("RunFolder", path)
        self.config = self.path / "config.toml"
        self.machine = self.path / "machine.json"
        self.log = self.path / "log.jsonl"
        self.table = self.path / "log.csv"
        self.timing = self.path / "timing.jsonl"
        self.checkpoints = self.path / "checkpoints"

    def holds_a_run(self) -> bool:
        """True if somebody has trained here; a log without a line is of one who did not begin."""
        has_log = self.log.exists() and self.log.stat().st_size > 0
        return has_log or any(self.checkpoints.glob("*"))

    def is_run(self) -> bool:
        """True if a run began here; a configuration alone may be one to begin a run with."""
        return self.config.is_file() and (self.machine.is_file() or self.checkpoints.is_dir())

    def check_links(self) -> None:
        """Refuse links where a run writes into what is there: they would lead it to other files.

        Other files of a run are replaced whole, and a link with them. The folder itself may be a
        link: that is a choice of who names it.
        """
        for path in (self.checkpoints, self.log, self.timing):
            if path.is_symlink():
                raise LinkedFileError(path)

    def write_descriptions(self, config: Mapping[str, Any]) -> None:
        """Write the configuration and what is known of the machine."""
        make_folder("RunFolder", self.path)
        remove_partial(self.path)
        write_atomically(self.machine, (json.dumps(machine(), indent=2) + "\n").encode())
        write_atomically(self.config, as_toml(config).encode())


def machine() -> dict[str, Any]:
    """Versions and hardware, for those who read a report later."""
    from extensor import __version__

    return {
        "extensor": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": get_num_threads(),
        "command": redact_command(sys.argv),
    }


def in_order(config: Mapping[str, Any]) -> dict[str, Any]:
    """``config`` with sorted keys: equal configurations are equal bytes in a checkpoint.

    >>> from extensor.train.run import in_order
    >>> in_order({"seed": 1, "optimizer": {"name": "Adam", "lr": 0.001}})
    {'optimizer': {'lr': 0.001, 'name': 'Adam'}, 'seed': 1}
    """
    return {
        key: in_order(value) if isinstance(value, Mapping) else value
        for key, value in sorted(config.items(), key=lambda entry: str(entry[0]))
    }


def as_toml(config: Mapping[str, Any]) -> str:
    """``config`` in TOML: dicts are tables; strings, numbers, booleans and lists of them are values.

    None is left out, as TOML has no word for it.

    >>> from extensor.train.run import as_toml
    >>> print(as_toml({"seed": 1, "optimizer": {"name": "Adam", "lr": 0.001}}), end="")
    seed = 1
    <BLANKLINE>
    [optimizer]
    name = "Adam"
    lr = 0.001
    """
    return "\n".join(_lines(config, ())).removeprefix("\n") + ("\n" if config else "")


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    values = {key: x for key, x in table.items() if not isinstance(x, Mapping) and x is not None}
    lines = [f"{_key(key)} = {_value(x, (*path, key))}" for key, x in values.items()]
    for key, x in table.items():
        if isinstance(x, Mapping):
            inner = (*path, key)
            lines += ["", f"[{'.'.join(map(_key, inner))}]", *_lines(x, inner)]
    return lines


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if bare else _text(key)


def _text(text: str) -> str:
    """As JSON has it, which TOML reads too; control characters beyond ASCII are escaped as well."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(x if x.isprintable() else _escaped(x) for x in quoted)


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _value(value: Any, path: tuple[str, ...]) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)  # TOML has inf and nan too
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item, path) for item in value)}]"
    raise type_error(
        "Trainer",
        "config must hold dicts, strings, numbers, booleans and lists",
        key=".".join(path),
        type=type(value).__name__,
    )
