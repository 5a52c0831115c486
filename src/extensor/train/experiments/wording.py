"""How errors tell the way out: in Python, or in other words to those who do not write Python."""

from __future__ import annotations

from typing import NamedTuple


class Wording(NamedTuple):
    """What the caller calls things: ops that errors begin with, and calls that errors advise."""

    resume: str
    checkpoint: str
    begin: str  # a new run with another value of an entry
    choose: str  # another checkpoint
    trust: str  # consent to run the functions that a stored run names


PYTHON = Wording(
    resume="experiment",
    checkpoint="checkpoint",
    begin="experiment('{folder}/config.toml', {{'{key}': ...}})",
    choose="checkpoint='{name}'",
    trust="trust=True",
)
