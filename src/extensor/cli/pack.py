"""``extensor pack``: write shards of pictures, a table or a text, or verify them."""

from __future__ import annotations

import argparse
import re

from extensor.data.packing import Packed, pack
from extensor.data.streaming.shard_files import verify
from extensor.errors import value_error
from extensor.io.limits import parse_size, size_text
from extensor.train.fit_loop import ending_in_order


def run(options: argparse.Namespace) -> None:
    """Pack, or with ``--verify`` compare shards with their digests."""
    if options.verify:
        if options.folder is not None:
            raise value_error("--verify", "one folder must be given", folder=options.folder)
        shards, size = verify(options.source)
        print(f"{_shards(shards)}, {size_text(size)}: as packed")
        return
    if options.folder is None:
        raise value_error("pack", "a folder for the shards must be given", folder=None)
    with ending_in_order():
        packed = _pack(options)
    things = {"pictures": "pictures", "table": "rows", "text": "tokens"}[packed.kind]
    for line in packed.lines:
        print(_shell_words(line))
    where = f"{_shards(packed.shards)}, {size_text(packed.size)}, in {options.folder}"
    print(f"{packed.samples} {things} in {where}")


def _pack(options: argparse.Namespace) -> Packed:
    return pack(
        options.source,
        options.folder,
        shard_size=_bytes(options.shard_size),
        form=options.format,
        size=_pair(options.size),
        mode=options.mode,
        seed=options.seed,
        target=_target(options.target),
        with_target=not options.no_target,
        kinds=_kinds(options),
        like=options.like,
        delimiter=options.delimiter,
        decimal=options.decimal,
        encoding=options.encoding,
        header=None if options.header == "auto" else options.header == "yes",
        tokens=options.tokens,
    )


def _bytes(text: str) -> int:
    size = parse_size(text)
    if not size:
        requirement = "size must be a number of bytes, as 64M or 1G"
        raise value_error("--shard-size", requirement, size=text)
    return size


def _pair(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    numbers = text.lower().split("x")
    if not all(x.isascii() and x.isdecimal() for x in numbers) or len(numbers) > 2:
        raise value_error("--size", "size must be a number, or height x width as 48x64", size=text)
    return int(numbers[0]), int(numbers[-1])


def _target(texts: list[str] | None) -> list[str | int] | None:
    if texts is None:
        return None
    return [int(text) if re.fullmatch(r"-?\d{1,9}", text) else text for text in texts]


def _kinds(options: argparse.Namespace) -> dict[str, str]:
    """The kinds of columns from ``--column NAME=KIND`` and ``--drop NAME``."""
    kinds = dict.fromkeys(options.drop or [], "drop")
    for text in options.column or []:
        name, sign, kind = text.rpartition("=")
        if not sign or not name:
            raise value_error("--column", "a column must be given as NAME=KIND", column=text)
        kinds[name] = kind
    return kinds


def _shell_words(line: str) -> str:
    """A sentence on a table with its advice as options of the command."""
    line = re.sub(r"kinds=\{'(.+)': '(\w+)'\}", r"--column '\1=\2'", line)
    shown = re.sub(r"\b(encoding|delimiter|decimal)=", r"--\1 ", line)
    return "".join(x if x.isprintable() else repr(x)[1:-1] for x in shown)


def _shards(number: int) -> str:
    return f"{number} shard{'' if number == 1 else 's'}"
