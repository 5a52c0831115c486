"""What a report tells about who made it: commands without secrets, and paths without the home folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

HIDDEN = "***"
_WORD = (
    r"(?i:tokens?|secrets?|passwords?|passwds?|passphrases?|pass|pwd|credentials?|creds|cookies?|"
    r"bearer|auth|authorization|signatures?|sig|(?:api)?keys?)"
)
# The last word of a part counts: wandb_api_key, apiKey and tokens.wandb, but not keyboard.
# The lengths are bounded, so that a long word takes no long time.
_NAME = rf"(?:[\w.-]{{0,80}}(?:[._-]|[a-z0-9](?=[A-Z])))?{_WORD}(?:\.[\w-]{{1,40}}){{0,4}}"
_SECRET_OPTION = re.compile(rf"--?{_NAME}")
_WHOLE = re.compile(rf"(-{{0,2}}[\"']?{_NAME}[\"']?\s*[=:]\s*)(.+)", re.DOTALL)
# Inside of a longer text "module:function" is no assignment, but "name: value" is.
_WITHIN = re.compile(
    rf"(?<![\w.-])(?P<open>[\"']?)-{{0,2}}{_NAME}(?P<close>[\"']?)(?:\s*=\s*|:\s+|:(?=[\"']))(?=\S)"
)
_WITHIN_OPTION = re.compile(rf"((?<!\S)--?{_NAME}\s+)(?!-)(\S+)")
_HEADING = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]?\]\s*(?:#.*)?")
_SECRET_HEADING = re.compile(_NAME)
_LINE = re.compile(r"(\s*[\w.\"'-]+\s*=\s*)(\S.*)")
# pad_token = 0 and tokens = "byte" are settings.
_PLAIN = re.compile(r"[+-]?\d{1,3}|true|false|([\"']?)(?:byte|character)\1")
_QUOTED = re.compile(
    r'\\"(?:\\[^"]|[^"\\])*(?:\\"|\Z)|'  # in a string that is quoted itself
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)|'
    r'"(?:\\.|[^"\\\n])*(?:"|(?=\n)|\Z)|\'[^\'\n]*(?:\'|(?=\n)|\Z)',
    re.DOTALL,
)
_BARE = re.compile(r"(?:(?:bearer|basic|digest|token)\s+)?[^\s&]+", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(\w{1,40}://)[^/\s@]+@")
# Keys of services that are known by how they begin, and JSON web tokens.
_KEYS = re.compile(
    r"\b(?:sk-|ghp_|gho_|github_pat_|glpat-|hf_|xox[abprs]-|AKIA|AIza|eyJ)[\w.-]{12,}"
)


def redact_command(words: Sequence[str]) -> list[str]:
    """The words of a command line, with stars for what looks like a secret and ``~`` for the home.

    >>> from extensor.io.redaction import redact_command
    >>> redact_command(["extensor", "train", "--set", "data.token=abc", "--password", "x"])
    ['extensor', 'train', '--set', 'data.token=***', '--password', '***']
    """
    return [
        HIDDEN if _SECRET_OPTION.fullmatch(before) and not _PLAIN.fullmatch(word) else redact(word)
        for before, word in pairwise(["", *words])
    ]


def redact(text: str) -> str:
    """A word or a line such as ``name = value``, likewise."""
    whole = _WHOLE.fullmatch(text)
    if whole is not None:
        return text if _PLAIN.fullmatch(whole[2]) else f"{whole[1]}{HIDDEN}"
    text = _redact_assignments(text)
    text = _WITHIN_OPTION.sub(lambda x: x[0] if _PLAIN.fullmatch(x[2]) else x[1] + HIDDEN, text)
    text = _IN_ADDRESS.sub(rf"\1{HIDDEN}@", text)
    return without_home(_KEYS.sub(HIDDEN, text))


def redact_lines(text: str) -> str:
    """A configuration, likewise: a value may have several lines, and a table a secret name."""
    lines = []
    is_secret = False
    for line in _redact_assignments(text).split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            is_secret = _SECRET_HEADING.fullmatch(heading[1]) is not None
        value = _LINE.fullmatch(line) if is_secret else None
        if value is not None and not _PLAIN.fullmatch(value[2]):
            line = f"{value[1]}{HIDDEN}"
        lines.append(redact(line))
    return "\n".join(lines)


def _redact_assignments(text: str) -> str:
    """Hide the values of secret names anywhere in ``text``, also in tables within a value."""
    parts, place = [], 0
    while (found := _WITHIN.search(text, place)) is not None:
        is_inside = found["open"] and not found["close"]  # "name=value", quoted together
        end = _value_end(text, found.end(), found["open"] if is_inside else "")
        value = text[found.end() : end]
        parts += [text[place : found.end()], value if _PLAIN.fullmatch(value) else HIDDEN]
        place = end
    return "".join([*parts, text[place:]])


def _value_end(text: str, begin: int, quote: str) -> int:
    """Where a value ends: at ``quote``, its own last quote or bracket, or the next space."""
    if quote:
        end = text.find(quote, begin)
        return len(text) if end < 0 else end
    quoted = _QUOTED.match(text, begin)
    if quoted is not None:
        return quoted.end()
    if text[begin] in "[{":
        return _bracket_end(text, begin)
    bare = _BARE.match(text, begin)
    assert bare is not None or text[begin] == "&"
    return begin if bare is None else begin + len(bare[0].rstrip(",}]"))


def _bracket_end(text: str, begin: int) -> int:
    """Where the bracket at ``begin`` is closed, the end of the text if it is not."""
    depth, place = 0, begin
    while place < len(text):
        quoted = _QUOTED.match(text, place)
        if quoted is not None:
            place = quoted.end()
            continue
        depth += (text[place] in "[{") - (text[place] in "]}")
        place += 1
        if not depth:
            break
    return place


def without_home(text: str) -> str:
    """``text`` with ``~`` in the place of the user's folder, whose name is often the user's."""
    try:
        home = str(Path.home())
    except RuntimeError:  # there is none
        return text
    if Path(home).parent == Path(home):
        return text
    return re.sub(rf"(?<![\w.-]){re.escape(home)}(?![\w.-])", "~", text)
