"""Texts: the next character, or byte, of each place is to be learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.data import ShardedDataset
from extensor.data.text import TextWindows, Vocabulary, read_text
from extensor.errors import arguments, value_error
from extensor.io.paths import existing
from extensor.train.experiments.config import Config
from extensor.train.experiments.goal import Goal
from extensor.train.experiments.kinds.parts import fractions
from extensor.train.experiments.kinds.preparation import Preparation, Prepared, Samples
from extensor.train.experiments.kinds.sharded import is_sharded

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
        if is_sharded(source):
            return Samples(self._windows(Path(source)))
        path = existing(source)
        tokens = self.vocabulary.encode(read_text(path), replace=True)
        if len(tokens) <= self.context:
            requirement = f"{path} must have at least {self.context + 1} {self.unit}"
            raise value_error("data", requirement, **{self.unit: len(tokens)})
        unknown = tokens == self.vocabulary.unknown
        lines = []
        if unknown.any():
            number = int(unknown.sum())
            of = "1 character is" if number == 1 else f"{number:,} characters are"
            lines = [f"{of} none that training had, and unknown to the model"]
        return Samples(TextWindows(tokens, self.context), None, lines)

    unlabelled = labelled

    def _windows(self, path: Path) -> ShardedDataset:
        dataset = ShardedDataset(path, context=self.context)
        if dataset.vocabulary != self.vocabulary:
            requirement = "shards must have the vocabulary that the model was trained with"
            raise value_error("data", requirement, path=str(path))
        return dataset

    @property
    def unit(self) -> str:
        """What the tokens are."""
        return "bytes" if self.vocabulary.kind == "byte" else "characters"

    def state_dict(self) -> dict[str, Any]:
        return {"vocabulary": self.vocabulary.state_dict(), "context": self.context}

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> TextPreparation:
        """What :meth:`state_dict` gave, checked."""
        given = entries.with_keys(op, state, ("vocabulary", "context"), "preparation")
        context = entries.count(op, "context", given["context"])
        if context < 1:
            raise value_error(op, "preparation.context must be 1 or more", context=context)
        return cls(Vocabulary.from_state(given["vocabulary"], op), context)


def prepare(config: Config, state: Any = None) -> Prepared:
    """Read the text, number its characters, and cut it: what comes last is for the test."""
    table = config["data"]
    if table.get("task", "sequence") != "sequence":
        requirement = "data.task must be 'sequence' for a text (words of a table are its columns)"
        raise value_error("config", requirement, task=table["task"])
    path = existing(table["train"])
    text = read_text(path)
    if len(set(text)) < 2:
        requirement = f"{path} must have at least two different characters"
        raise value_error("data", requirement, characters=sorted(set(text)))
    if state is not None:
        made = TextPreparation.from_state(state)
    else:
        context = arguments.integer("config", "data.context", table.get("context", CONTEXT), 2)
        distinct = len(set(text))
        kind = table.get("vocabulary", "character" if distinct <= _MOST_CHARACTERS else "byte")
        arguments.choice("config", "data.vocabulary", kind, ("character", "byte"))
        made = TextPreparation(Vocabulary.of(text, kind), context)
    tokens = made.vocabulary.encode(text)
    cuts = _cuts(len(tokens), config, made.context)
    parts = [tokens[begin:end] for begin, end in zip((0, *cuts), (*cuts, len(tokens)), strict=True)]
    # Half a window from one to the next: each place is learned in two surroundings.
    train = TextWindows(parts[0], made.context, max(1, made.context // 2))
    held = {
        name: made.labelled(table[name])
        if name in table
        else Samples(TextWindows(part, made.context))
        for name, part in (("validation", parts[1]), ("test", parts[2]))
    }
    validation, test = (samples.dataset for samples in held.values())
    unit = made.unit
    sizes = [f"{len(parts[0]):,} to train on"]
    for name, words, part in (
        ("validation", "for validation", parts[1]),
        ("test", "for the test", parts[2]),
    ):
        sizes.append(f"{name} from {table[name]}" if name in table else f"{len(part):,} {words}")
    lines = [
        f"{path}: {len(tokens):,} {unit}, {len(np.unique(tokens))} different",
        f"task sequence: the next of {unit}, {made.context} looked at together",
        f"divided in order: {', '.join(sizes)}",
        *(f"{table[name]}: {x}" for name, samples in held.items() for x in samples.lines),
    ]
    changed = {"task": "sequence", "context": made.context, "vocabulary": made.vocabulary.kind}
    return Prepared({**config, "data": {**table, **changed}}, made, train, validation, test, lines)


def _cuts(length: int, config: Config, context: int) -> tuple[int, int]:
    shares = fractions(config, _VALIDATION, _TEST)
    least = [0 if share == 0 else context + 1 for share in shares]
    sizes = [max(least[i], round(shares[i] * length)) for i in range(2)]
    if length - sum(sizes) < context + 1:
        requirement = (
            f"{config['data']['train']} must have at least {sum(least) + context + 1:,} characters "
            "to be divided, or data.context be less"
        )
        raise value_error("data", requirement, characters=length, context=context)
    return length - sum(sizes), length - sizes[1]


def letters(tokens: Any) -> Any:
    """Tokens as the model takes them, one text."""
    return np.asarray(tokens, np.int64)[None]
