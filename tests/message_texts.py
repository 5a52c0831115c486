"""Texts of errors that are sentences of the catalogue of messages."""

from __future__ import annotations

import re

from extensor.errors import messages
from extensor.errors.messages import Message

_SENTENCES = [
    re.compile(re.sub(r"\\\{\w+(!r)?\\\}", ".+", re.escape(value.sentence)), re.DOTALL)
    for value in vars(messages).values()
    if isinstance(value, Message)
]


def is_in_catalogue(text: str) -> bool:
    """Whether ``text`` begins with a sentence of the catalogue, with any values in it."""
    return any(sentence.match(text) for sentence in _SENTENCES)
