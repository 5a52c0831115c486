"""Examination of sequences of tokens: how well the next one is guessed, and where in the sequence."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from extensor.errors import value_error
from extensor.report.chart import Card, Chart, Series, TableCard
from extensor.report.examination import (
    IGNORED,
    Examination,
    ExaminedSamples,
    check_class_numbers,
    log_probabilities,
    notes_on_invalid,
)

_TOKENS = 24  # of a sequence that are shown as numbers
_LETTERS = 200
_LARGEST = 700.0  # whose exponential is finite


def examine_sequences(samples: ExaminedSamples) -> Examination:
    """A score for each token of the vocabulary, at each place of each sequence."""
    outputs, targets = samples.outputs, samples.targets
    if outputs.ndim != 3 or targets.shape != outputs.shape[:2] or targets.dtype.kind not in "iu":
        requirement = "outputs must have shape (N, T, V), and targets be integers of shape (N, T)"
        shapes = {"outputs_shape": outputs.shape, "targets_shape": targets.shape}
        raise value_error("examine", requirement, **shapes)
    size = outputs.shape[2]
    names = None if samples.class_names is None else samples.names(size, "token")
    kept = targets != IGNORED
    check_class_numbers(targets, size)
    losses, predicted = _losses(outputs, np.where(kept, targets, 0), samples.are_logits)
    valid = ~(np.isnan(losses) & kept).any(axis=1)
    notes = notes_on_invalid(valid)
    numbers = np.flatnonzero(valid & kept.any(axis=1))
    if len(numbers) == 0:
        return Examination([], [], task="sequence", notes=notes)
    losses, predicted, kept, targets = (x[numbers] for x in (losses, predicted, kept, targets))
    losses = np.where(kept, losses, 0.0)
    total = kept.sum()
    mean, right = losses.sum() / total, (kept & (predicted == targets)).sum() / total
    row = [f"{total:,}", f"{mean:.4f}", _perplexity(mean), f"{right:.2%}"]
    heads = ["tokens", "loss", "perplexity", "next token found"]
    worst = samples.worst(
        numbers,
        losses.sum(axis=1) / kept.sum(axis=1),
        None,
        lambda place: _tokens_text(targets[place][kept[place]], names),
        lambda place: _tokens_text(predicted[place][kept[place]], names),
    )
    parts: list[Card | TableCard] = [
        TableCard("Tokens", heads, [row]),
        *_position_cards(losses, kept),
    ]
    return Examination(worst, [], None, "sequence", parts, notes)


def _losses(outputs: Any, targets: Any, are_logits: bool) -> tuple[Any, Any]:
    """Minus the logarithm of each token's probability, and the likeliest tokens."""
    losses = np.empty(targets.shape)
    predicted = np.empty(targets.shape, np.int64)
    places = np.arange(targets.shape[1])
    # One sequence at a time: in float64 all scores together would take too much memory.
    for number, (scores, own) in enumerate(zip(outputs, targets, strict=True)):
        wide = scores.astype(np.float64)
        predicted[number] = wide.argmax(axis=1)
        losses[number] = 0 - log_probabilities(are_logits, wide)[places, own]
    return losses, predicted


def _perplexity(loss: float) -> str:
    return f"{exp(loss):.4g}" if loss < _LARGEST else "inf"


def _position_cards(losses: Any, kept: Any) -> list[Card]:
    counts = kept.sum(axis=0)
    means = losses.sum(axis=0) / np.maximum(counts, 1)
    known = np.flatnonzero((counts > 0) & np.isfinite(means)).tolist()
    points = [(float(i + 1), float(means[i])) for i in known]
    labels = [f"{counts[i]:,} tokens" for i in known]
    title = "Loss at each place of a sequence"
    chart = Chart(title, [Series("mean", points, labels=labels)], across="place")
    return [Card(title, [chart])] if points else []


def _tokens_text(tokens: Any, names: list[str] | None) -> str:
    """The tokens of a sequence: letters together, words with spaces, numbers if they have no names."""
    if names is None:
        return " ".join(map(str, tokens[:_TOKENS])) + " …" * (len(tokens) > _TOKENS)
    space = "" if all(len(name) == 1 for name in names) else " "
    text = space.join(names[token] for token in tokens[: _LETTERS + 1])
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]} …"
