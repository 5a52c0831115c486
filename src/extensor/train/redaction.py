"""What a report tells about who made it: commands without secrets, and paths without the home folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

HIDDEN = "***"
_NAME = (
    r"(?:token|secret|password|passwd|passphrase|pwd|credentials?|bearer|auth|authorization|"
    r"(?:[a-z]+[_-])*(?:api[_-]?)?key|apikey)"
)
# The last part of a name counts: wandb_api_key and data.token, but not tokens or keyboard.
_SECRET = re.compile(rf"(?:.*[._-])?{_NAME}", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"(-{0,2}[\w.-]+)(\s*[=:]\s*)(.+)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d{1,5}|true|false")  # pad_token = 0 is no secret
_IN_ADDRESS = re.compile(r"(\w+://)[^/\s@]+@")
_IN_QUERY = re.compile(rf"([?&](?:[\w.-]*[._-])?{_NAME}=)[^&\s]+", re.IGNORECASE)
# Keys of services that are known by how they begin, and JSON web tokens.
_KEYS = re.compile(
    r"\b(?:sk-|ghp_|gho_|github_pat_|glpat-|hf_|xox[abprs]-|AKIA|AIza|eyJ)[\w.-]{12,}"
)


def redact_command(words: Sequence[str]) -> list[str]:
    """The words of a command line, with stars for what looks like a secret and ``~`` for the home.

    >>> from extensor.train.redaction import redact_command
    >>> redact_command(["extensor", "train", "--set", "data.token=abc", "--password", "x"])
    ['extensor', 'train', '--set', 'data.token=***', '--password', '***']
    """
    result: list[str] = []
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if before.startswith("-") and "=" not in before and _is_secret(before):
            result.append(HIDDEN)
        else:
            result.append(redact(word))
    return result


def redact(text: str) -> str:
    """A word or a line such as ``name = value``, likewise."""
    assigned = _ASSIGNMENT.fullmatch(text)
    if assigned is not None and _is_secret(assigned[1]) and not _NUMBER.fullmatch(assigned[3]):
        return f"{assigned[1]}{assigned[2]}{HIDDEN}"
    text = _IN_ADDRESS.sub(rf"\1{HIDDEN}@", text)
    text = _IN_QUERY.sub(rf"\1{HIDDEN}", text)
    return without_home(_KEYS.sub(HIDDEN, text))


def redact_lines(text: str) -> str:
    """A text of several lines, such as a configuration, likewise."""
    return "\n".join(map(redact, text.split("\n")))


def without_home(text: str) -> str:
    """``text`` with ``~`` in the place of the user's folder, whose name is often the user's."""
    try:
        home = str(Path.home())
    except RuntimeError:  # there is none
        return text
    if Path(home).parent == Path(home):
        return text
    return re.sub(rf"(?<![\w.-]){re.escape(home)}(?![\w.-])", "~", text)


def _is_secret(name: str) -> bool:
    return _SECRET.fullmatch(name.lstrip("-").strip()) is not None
