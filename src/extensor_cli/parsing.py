"""How wrong command lines are refused: one line with the command in front, as all other errors."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

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
