"""The parser of command lines, made from the table of commands, and how it reports mistakes."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from textwrap import fill
from typing import Any, NoReturn

from extensor_cli.command_arguments import COMMANDS
from extensor_cli.streams import safe_text

# Messages of argparse, and ours instead.
_WORDS = (
    (r"argument (\S+): invalid choice: (.+) \(choose from (.+)\)", r"\1 must be one of \3, got \2"),
    (r"argument (\S+): invalid int value: (.+)", r"\1 must be an integer, got \2"),
    (r"argument (\S+): invalid float value: (.+)", r"\1 must be a number, got \2"),
    (r"argument (\S+): expected one argument", r"\1 must have a value"),
    (r"argument (\S+): expected at least one argument", r"\1 must have a value"),
    (r"the following arguments are required: (.+)", r"\1 must be given"),
)
_LONGEST = 4000  # characters of a message


class Parser(argparse.ArgumentParser):
    """A parser whose errors name the mistake without repeating the usage."""

    commands: Any = None

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """All arguments; unknown ones are refused by the command they belong to."""
        options, rest = self.parse_known_args(args, namespace)
        if rest:
            parsers = self.commands.choices if self.commands is not None else {}
            parsers.get(getattr(options, "command", None), self).refuse(rest)
        return options

    def refuse(self, rest: Sequence[str]) -> NoReturn:
        """Say which argument is not known, and which one was probably meant."""
        first = rest[0]
        if not first.startswith("-"):
            self.error(f"one argument too many, got {first!r}")
        name = first.partition("=")[0]
        known = [x for action in self._actions for x in action.option_strings if x[:2] == "--"]
        hint = _nearest(name, known)
        if not hint and "--set" in known:
            hint = " (--set changes the configuration: --set epochs=20)"
        self.error(f"unknown option{hint}, got {name!r}")

    def error(self, message: str) -> NoReturn:
        for pattern, words in _WORDS:
            message = re.sub(f"^{pattern}$", words, message, flags=re.DOTALL)
        wrong = re.fullmatch(r"command must be one of (.+), got '(.*)'", message, re.DOTALL)
        if wrong:
            message += _nearest(wrong[2], re.findall(r"'?([\w-]+)'?", wrong[1]))
        text = safe_text(message[:_LONGEST])
        print(f"{self.prog}: {text} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)


def _nearest(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches  # which only a mistake needs

    matches = get_close_matches(name, known, 1, 0.65)
    return f" (did you mean {matches[0]}?)" if matches else ""


def parser() -> Parser:
    """All commands and their arguments."""
    root = Parser(
        prog="extensor",
        description="Train neural networks, and look at what they learned.",
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=16),
        epilog="extensor COMMAND --help shows the options of a command and an example.",
    )
    root.add_argument(
        "--version", action="store_true", help="print the versions of everything and exit"
    )
    root.add_argument(
        "--traceback", action="store_true", help="show the Python traceback of errors"
    )
    root.commands = root.add_subparsers(dest="command", metavar="command", title="commands")
    for name, command in COMMANDS.items():
        notes = f"{fill(command.notes, 79)}\n\n" if command.notes else ""
        added = root.commands.add_parser(
            name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            usage=f"%(prog)s {command.usage} [options]",
            epilog=f"{notes}Example:\n  {command.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for title, options in command.options.items():
            group = added.add_argument_group(title)
            for option, details in options:
                group.add_argument(option, **details)
    return root


def overview() -> str:
    """The page that ``extensor`` shows without arguments."""
    width = max(map(len, COMMANDS))
    lines = "\n".join(
        f"  {name:{width}}  {command.summary}\n  {'':{width}}  {command.example}"
        for name, command in COMMANDS.items()
    )
    return f"""ExTensor trains neural networks, and shows what they learned.

Start here: extensor train
It trains on handwritten digits in a few seconds.

Commands, each with an example:
{lines}

extensor COMMAND --help lists the options of a command."""
