"""Texts: the next character, or byte, of each place is to be learned."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.data import ShardedDataset
from extensor.data.splitting import TEXT_PART
from extensor.data.streaming import ShardedSubset
from extensor.data.window_datasets import TextWindows, Vocabulary, read_text
from extensor.errors import arguments, value_error
from extensor.experiments.goal import Goal
from extensor.experiments.sources.preparation import (
    Preparation,
    PreparedData,
    Samples,
    held_fractions,
    is_sharded,
    part_sizes,
    prepared_data,
    prepared_shards,
)
from extensor.experiments.spec import DataSpec, ExperimentSpec
from extensor.io.paths import existing

_CONTEXT = 64
_MOST_CHARACTERS = 512  # in a vocabulary; a text of more is learned by bytes


@dataclass(eq=False)
class TextPreparation(Preparation):
    """The vocabulary, and the number of characters in a window."""

    kind = "text"
    goal = Goal("sequence")

    vocabulary: Vocabulary
    context: int

    def arguments(self) -> dict[str, Any]:
        return {"vocabulary": len(self.vocabulary), "context": self.context}

    def labelled(self, source: Any) -> Samples:
        if is_sharded(source):
            dataset = ShardedDataset(Path(source), context=self.context)
            if dataset.vocabulary != self.vocabulary:
                requirement = "shards must have the vocabulary that the model was trained with"
                raise value_error("data", requirement, path=str(Path(source)))
            return Samples(dataset)
        path = existing(source)
        tokens = self.vocabulary.encode(read_text(path), replace=True)
        if len(tokens) <= self.context:
            requirement = f"{path} must have at least {self.context + 1} {self.unit}"
            raise value_error("data", requirement, **{self.unit: len(tokens)})
        unknown = tokens == self.vocabulary.unknown
        lines = []
        if unknown.any():
            number = int(unknown.sum())
            what = "1 character" if number == 1 else f"{number:,} characters"
            lines = [f"{what} did not occur in training; the model takes them as unknown"]
        return Samples(TextWindows(tokens, self.context), None, lines)

    unlabelled = labelled

    @property
    def unit(self) -> str:
        """The unit of the tokens."""
        return "bytes" if self.vocabulary.kind == "byte" else "characters"

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> TextPreparation:
        """Restore it from the result of :meth:`state_dict`, checked."""
        stored = cls._stored(op, state)
        context = entries.count(op, "context", stored["context"])
        if context < 1:
            raise value_error(op, "preparation.context must be 1 or more", context=context)
        return cls(Vocabulary.from_state(stored["vocabulary"], op), context)


def context_of(data: DataSpec) -> int:
    """The number of tokens in a window."""
    context = _CONTEXT if data.context is None else data.context
    return int(arguments.integer("config", "data.context", context, 2))


def with_text_entries(spec: ExperimentSpec, preparation: TextPreparation) -> ExperimentSpec:
    """``spec`` with the entries that are inferred from a text."""
    kind = preparation.vocabulary.kind
    return spec.with_data(task="sequence", context=preparation.context, vocabulary=kind)


def prepare(spec: ExperimentSpec, learnt: TextPreparation | None) -> PreparedData:
    """Read the text, number its characters, and cut it: the end is for the test."""
    data = spec.data
    requirement = "'sequence' for a text (words of a table are its columns)"
    data.check_entry("task", ["sequence"], requirement)
    path = existing(data.train)
    text = read_text(path)
    distinct = set(text)
    if len(distinct) < 2:
        requirement = f"{path} must have at least two different characters"
        raise value_error("data", requirement, characters=sorted(distinct))
    preparation = learnt
    if preparation is None:
        context = context_of(data)
        usual = "character" if len(distinct) <= _MOST_CHARACTERS else "byte"
        kind = usual if data.vocabulary is None else data.vocabulary
        arguments.choice("config", "data.vocabulary", kind, ("character", "byte"))
        preparation = TextPreparation(Vocabulary.of(text, kind), context)
    context = preparation.context
    tokens = preparation.vocabulary.encode(text)
    cuts = _cuts(len(tokens), data, context)
    parts = [tokens[begin:end] for begin, end in zip((0, *cuts), (*cuts, len(tokens)), strict=True)]
    # Half a window from one to the next: each place is learned in two surroundings.
    train = TextWindows(parts[0], context, max(1, context // 2))
    lines = [
        f"{path}: {len(tokens):,} {preparation.unit}, {len(np.unique(tokens))} different",
        f"task sequence: the next of the {preparation.unit}, with a context of {context}",
        f"divided in order: {part_sizes(data, *parts)}",
    ]
    spec = with_text_entries(spec, preparation)

    def part(tokens: Any) -> Samples:
        return Samples(TextWindows(tokens, context))

    return prepared_data(spec, preparation, train, parts[1:], part, lines)


def prepare_shards(spec: ExperimentSpec, learnt: TextPreparation | None) -> PreparedData:
    """Tokens, of which the next one is learned. The last ones are for the test."""
    data = spec.data
    source = str(data.train)
    data.check_entry("task", ["sequence"], "'sequence' for shards of tokens")
    context = context_of(data)
    dataset = ShardedDataset(source, context=context)
    vocabulary = dataset.vocabulary
    if vocabulary is None:
        requirement = "shards of tokens must have the index that extensor pack writes"
        raise value_error("data", requirement, path=source)
    if vocabulary.kind == "character" and len(vocabulary.characters) < 2:
        requirement = f"{source} must have at least two different characters"
        raise value_error("data", requirement, characters=list(vocabulary.characters))
    data.check_entry("vocabulary", [vocabulary.kind], f"that of the shards, {vocabulary.kind!r}")
    preparation = learnt or TextPreparation(vocabulary, context)
    whole, count = ShardedSubset.whole(dataset), len(dataset)
    validation, test = held_fractions(data, TEXT_PART, TEXT_PART)
    cuts = [
        count - sum(max(1, round(share * count)) for share in shares if share)
        for shares in ((validation, test), (test,))
    ]
    if cuts[0] < 1:
        requirement = f"{source} must have windows for each part, or data.context be less"
        raise value_error("data", requirement, windows=count, context=context)
    parts = [whole.between(*bounds) for bounds in pairwise((0, *cuts, count))]
    return prepared_shards(with_text_entries(spec, preparation), preparation, dataset, parts, None)


def _cuts(length: int, data: DataSpec, context: int) -> tuple[int, int]:
    shares = held_fractions(data, TEXT_PART, TEXT_PART)
    least = [0 if share == 0 else context + 1 for share in shares]
    sizes = [max(least[i], round(shares[i] * length)) for i in range(2)]
    if length - sum(sizes) < context + 1:
        requirement = (
            f"{data.train} must have at least {sum(least) + context + 1:,} characters "
            "to be divided, or data.context be less"
        )
        raise value_error("data", requirement, characters=length, context=context)
    return length - sum(sizes), length - sizes[1]
