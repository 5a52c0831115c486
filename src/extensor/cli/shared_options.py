"""Options that several commands share: FILE, ``--set``, ``--trust``, ``--output`` and ``--name``."""

from __future__ import annotations

import argparse
import os
import re
import time
import tomllib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Any

from extensor.errors import value_error
from extensor.experiments.spec import (
    Config,
    Source,
    checked_config,
    function_names,
    place_of,
    stored_config,
)
from extensor.experiments.stored_runs import LONGEST, RUNS, Wording, is_stored, is_too_long
from extensor.experiments.user_functions import check_trust
from extensor.io.atomic import PARTIAL
from extensor.train import RunFolder
from extensor.train.fit_loop import Ended
from extensor.train.run_folder import LOCK, check_free
from extensor_cli import command_name

PROGRAM = command_name()
# How errors of the library name the way out on the command line.
COMMAND = Wording(
    resume="--resume",
    checkpoint="--checkpoint",
    begin=f"{PROGRAM.replace('{', '{{').replace('}', '}}')} train {{folder}}/config.toml --set {{key}}=...",
    choose="--checkpoint {name}",
    trust="--trust",
)
DATA_OPTIONS = ("target", "task", "window", "horizon")
_WORD = re.compile(r"[^\W\d][\w.:/~*?-]*")
_LONGEST = 1000  # bytes of a name with folders in it


def _data_config(options: argparse.Namespace) -> Config:
    """The configuration that describes a file of data."""
    data = {"train": options.config, **{name: getattr(options, name) for name in DATA_OPTIONS}}
    if options.target and len(options.target) == 1:
        (data["target"],) = options.target
    return {"data": {name: value for name, value in data.items() if value is not None}}


def is_data(source: str | None) -> bool:
    """Whether FILE is data rather than a configuration."""
    return source is not None and not source.lower().endswith(".toml")


def refuse_data_options(options: argparse.Namespace) -> None:
    """Refuse options for files of data where there is a configuration."""
    for name in DATA_OPTIONS:
        value = getattr(options, name)
        if value is not None:
            requirement = f"is for a data file; for a configuration, use --set data.{name}=..."
            raise value_error(f"--{name}", requirement, **{name: value})


def train_command(
    source: str | None, config: Mapping[str, Any], settings: Iterable[str], fixed: Container[str]
) -> str:
    """The command that trains on FILE with ``settings``; ``fixed`` holds keys that they set.

    The options of a file of data are those in ``config``.
    """
    words = ["train"] if source is None else ["train", source]
    for name in DATA_OPTIONS if is_data(source) else ():
        value = config["data"].get(name)
        if value is None or f"data.{name}" in fixed:
            continue
        for one in value if isinstance(value, list) else [value]:
            is_dashed = str(one).startswith("-")
            words += [f"--{name}={one}"] if is_dashed else [f"--{name}", str(one)]
    for setting in settings:
        words += ["--set", setting]
    return f"{PROGRAM} {' '.join(map(quote, words))}"


def read_config(source: Source, settings: Iterable[str] = ()) -> Config:
    """The configuration in ``source``, or the one for the digits, changed by ``settings``."""
    config = stored_config(source)
    for setting in settings:
        key, text = split_setting(setting)
        table, last = place_of(config, key, "--set", change=setting)
        table[last] = _value(text)
    return checked_config(config)


def split_setting(setting: str) -> tuple[str, str]:
    """The key and the value of ``--set``, both as they are written."""
    key, sign, text = setting.partition("=")
    key = key.strip()
    if not sign or not all(key.split(".")):
        raise value_error("--set", "a change must be KEY=VALUE", change=setting)
    return key, text.strip()


def command_config(options: argparse.Namespace, settings: Iterable[str]) -> Config:
    """The configuration that FILE is or describes, changed by ``settings``.

    If FILE lies in the folder of a run, the functions that it names need ``--trust``.
    """
    source, changes = options.config, list(settings)
    if is_data(source):
        return read_config(_data_config(options), changes)
    refuse_data_options(options)
    config = read_config(source, changes)
    if is_stored(source):
        keys = [key for key, _ in as_changes(changes)]
        check_trust(config, source, options.trust, COMMAND, keys)
    return config


def as_changes(settings: Iterable[str]) -> list[tuple[str, Any]]:
    """Settings that :func:`read_config` takes, as keys and values."""
    return [(key, _value(text)) for key, text in map(split_setting, settings)]


def _value(text: str) -> Any:
    """A value of TOML; a word without quotes is a string, as the shell has removed the quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        if _WORD.fullmatch(text):
            return text
        raise value_error("--set", "a value must be written as in TOML", value=text) from None


def trust_option(config: Mapping[str, Any]) -> str:
    """The option that a command needs for a run of ``config``, if it names functions."""
    return f" {COMMAND.trust}" if function_names(config) else ""


def new_file(name: str | None, endings: Sequence[str]) -> Path | None:
    """The path of ``--output``, if it is given: a new file in a folder, with one of ``endings``.

    Checked before the work begins, so that its result can be written.
    """
    if name is None:
        return None
    path = Path(name)
    if path.suffix.lower() not in endings:
        raise value_error("--output", f"file must end with {' or '.join(endings)}", output=name)
    if path.exists() or path.is_symlink():
        raise value_error("--output", "file must be new", output=name)
    if not path.parent.is_dir():
        raise value_error("--output", "the folder must exist", output=name)
    return path


@contextmanager
def new_run(name: str | None) -> Iterator[Path]:
    """The folder of a run that does not exist yet: ``runs/<name>``, or the date and time.

    It is created at once, so that no other process takes it, and removed if it stays empty.
    """
    existed = RUNS.exists()
    path = _folder_by_date() if name is None else _folder_by_name(name)
    try:
        yield path
    finally:
        with suppress(OSError):  # the first folder that is not empty ends the loop
            for place in (path, *path.parents):
                if place == RUNS and existed:
                    break
                place.rmdir()


def _folder_by_date() -> Path:
    stem = time.strftime("%Y-%m-%d_%H-%M-%S")
    for count in range(1, 1000):
        path = RUNS / (stem if count == 1 else f"{stem}_{count}")
        with suppress(FileExistsError):
            path.mkdir(parents=True)
            return path
    raise value_error("--name", "must be given, as a thousand runs began in this second")


def _folder_by_name(name: str) -> Path:
    path = RUNS / name
    _check_name(name, path)
    outer = [parent for parent in path.parents if RunFolder(parent).is_run()]
    if outer:
        raise value_error("--name", f"must not lie in another run ({outer[0]})", name=name)
    if RunFolder(path).is_run():
        hint = f"continue with {PROGRAM} train --resume {path}"
        raise value_error("--name", f"the run must be new ({hint})", path=str(path))
    if path.is_dir():
        check_free(path, "--name")
        # A process that was killed as it began leaves files behind, but no run.
        others = [x.name for x in path.iterdir() if not _is_left_over(x)]
        if others:
            requirement = "the folder must be new or empty"
            raise value_error("--name", requirement, path=str(path), files=sorted(others)[:3])
    path.mkdir(parents=True, exist_ok=True)
    return path


def _check_name(name: str, path: Path) -> None:
    """Refuse a name that leads out of ``runs/``, or that no file system would take."""
    parts = name.split("/")
    is_inside = not any(part in ("", ".", "..") or "\\" in part for part in parts)
    if not name.isprintable() or not is_inside or path.drive:
        raise value_error("--name", "must name a folder inside runs/", name=name[:LONGEST])
    if is_too_long(name) or len(os.fsencode(name)) > _LONGEST:
        size = max(len(os.fsencode(part)) for part in parts)
        most, size = (LONGEST, size) if size > LONGEST else (_LONGEST, len(os.fsencode(name)))
        raise value_error("--name", f"must have at most {most} bytes", bytes=size)
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(RUNS)):
        requirement = "must name a folder inside runs/, and not a link out of it"
        raise value_error("--name", requirement, name=name)


def _is_left_over(path: Path) -> bool:
    return path.name in (LOCK, "machine.json") or path.name.endswith(PARTIAL)


@contextmanager
def signal_advice(where: Callable[[], str]) -> Iterator[None]:
    """Add to the message of a signal where the command was, and how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted {where()}") from None
    except Ended as end:
        raise Ended(end.signal, f"ended by {end.signal.name} {where()}") from None


def separate_port(options: argparse.Namespace) -> None:
    """Take the word after ``--live`` for FILE if it is no port, as FILE may stand there too."""
    if options.live and not options.live.lstrip("+-").isdigit() and options.config is None:
        options.config, options.live = options.live, ""
