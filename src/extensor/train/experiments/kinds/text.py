"""Texts: the next character, or byte, of each place is to be learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.data.text import TextWindows, Vocabulary, read_text
from extensor.errors import arguments, value_error
from extensor.train.experiments.config import Config
from extensor.train.experiments.goal import Goal
from extensor.train.experiments.kinds.preparation import Preparation, Prepared, Samples

CONTEXT = 64
_VALIDATION = _TEST = 0.05
_MOST_CHARACTERS = 512  # in a vocabulary; a text of more is learned by bytes


class TextPreparation(Preparation):
    """The vocabulary, and how many characters are looked at together."""

    kind = "text"

    def __init__(self, vocabulary: Vocabulary, context: int) -> None:
        self.vocabulary = vocabulary
        self.context = context
        self.goal = Goal("sequence")

    def arguments(self) -> dict[str, Any]:
        return {"vocabulary": len(self.vocabulary), "context": self.context}

    def labelled(self, source: Any) -> Samples:
        path = _path(source)
        tokens = self.vocabulary.encode(read_text(path))
        return Samples(TextWindows(tokens, self.context))

    unlabelled = labelled

    def state_dict(self) -> dict[str, Any]:
        return {"vocabulary": self.vocabulary.state_dict(), "context": self.context}

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> TextPreparation:
        """What :meth:`state_dict` gave, checked."""
        given = entries.with_keys(op, state, ("vocabulary", "context"), "preparation")
        context = entries.count(op, "context", given["context"])
        return cls(Vocabulary.from_state(given["vocabulary"], op), context)


def prepare(config: Config, state: Any = None) -> Prepared:
    """Read the text, number its characters, and cut it: what comes last is for the test."""
    table = config["data"]
    if table.get("task", "sequence") != "sequence":
        requirement = "data.task must be 'sequence' for a text (words of a table are its columns)"
        raise value_error("config", requirement, task=table["task"])
    path = _path(table["train"])
    text = read_text(path)
    if state is not None:
        made = TextPreparation.from_state(state)
    else:
        context = arguments.integer("config", "data.context", table.get("context", CONTEXT), 2)
        distinct = len(set(text))
        kind = table.get("vocabulary") or ("character" if distinct <= _MOST_CHARACTERS else "byte")
        made = TextPreparation(Vocabulary.of(text, kind), context)
    tokens = made.vocabulary.encode(text)
    cuts = _cuts(len(tokens), table, made.context)
    parts = [tokens[begin:end] for begin, end in zip((0, *cuts), (*cuts, len(tokens)), strict=True)]
    # Half a window from one to the next: each place is learned in two surroundings.
    train = TextWindows(parts[0], made.context, max(1, made.context // 2))
    validation, test = (
        made.labelled(table[name]).dataset if name in table else TextWindows(part, made.context)
        for name, part in (("validation", parts[1]), ("test", parts[2]))
    )
    unit = "bytes" if made.vocabulary.kind == "byte" else "characters"
    lines = [
        f"{path}: {len(tokens):,} {unit}, {len(made.vocabulary)} different",
        f"task sequence: the next of {unit}, {made.context} looked at together",
        f"divided in order: {len(parts[0]):,} to train on, {len(parts[1]):,} for validation, "
        f"{len(parts[2]):,} for the test",
    ]
    changed = {"task": "sequence", "context": made.context, "vocabulary": made.vocabulary.kind}
    return Prepared({**config, "data": {**table, **changed}}, made, train, validation, test, lines)


def _cuts(length: int, table: Config, context: int) -> tuple[int, int]:
    shares = [
        0.0 if name in table else table.get(f"{name}_fraction", usual)
        for name, usual in (("validation", _VALIDATION), ("test", _TEST))
    ]
    least = [0 if share == 0 else context + 1 for share in shares]
    sizes = [max(least[i], round(shares[i] * length)) for i in range(2)]
    if length - sum(sizes) < context + 1:
        requirement = (
            f"the text must have at least {4 * (context + 1)} characters, or data.context be less"
        )
        raise value_error("data", requirement, characters=length, context=context)
    return length - sum(sizes), length - sizes[1]


def _path(source: Any) -> Path:
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"data: no such file or folder, got path={str(source)!r}")
    return path


def letters(tokens: Any) -> Any:
    """Tokens as the model takes them, one text."""
    return np.asarray(tokens, np.int64)[None]
