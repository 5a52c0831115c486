"""Sequences of tokens examined: how well the next one is guessed, and where in the sequence."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from extensor.errors import value_error
from extensor.report.chart import Card, Chart, Series, Table
from extensor.report.findings import IGNORED, Examination, Examined, left_out

_TOKENS = 24  # of a sequence that are shown as numbers
_LETTERS = 200
_LARGEST = 700.0  # whose exponential is finite


def examine_sequences(given: Examined) -> Examination:
    """A score for each token of the vocabulary, at each place of each sequence."""
    outputs, targets = given.outputs, given.targets
    if outputs.ndim != 3 or targets.shape != outputs.shape[:2] or targets.dtype.kind not in "iu":
        requirement = "outputs must have shape (N, T, V), and targets be integers of shape (N, T)"
        shapes = {"outputs_shape": outputs.shape, "targets_shape": targets.shape}
        raise value_error("examine", requirement, **shapes)
    size = outputs.shape[2]
    names = None if given.class_names is None else given.names(size, "token")
    kept = targets != IGNORED
    wrong = kept & ((targets < 0) | (targets >= size))
    if wrong.any():
        requirement = f"targets must be in [0, {size - 1}], or {IGNORED} to be left out"
        raise value_error("examine", requirement, target=int(targets[wrong][0]))
    losses, found = _losses(outputs, np.where(kept, targets, 0), given.are_logits)
    valid = ~(np.isnan(losses) & kept).any(axis=1)
    notes = left_out(valid)
    numbers = np.flatnonzero(valid & kept.any(axis=1))
    if len(numbers) == 0:
        return Examination([], [], task="sequence", notes=notes)
    losses, found, kept, targets = losses[numbers], found[numbers], kept[numbers], targets[numbers]
    losses = np.where(kept, losses, 0.0)
    total = kept.sum()
    mean, right = losses.sum() / total, (kept & (found == targets)).sum() / total
    row = [f"{total:,}", f"{mean:.4f}", _perplexity(mean), f"{right:.2%}"]
    heads = ["tokens", "loss", "perplexity", "next token found"]
    worst = given.worst(
        numbers,
        losses.sum(axis=1) / kept.sum(axis=1),
        None,
        lambda place: _said(targets[place][kept[place]], names),
        lambda place: _said(found[place][kept[place]], names),
    )
    parts: list[Card | Table] = [Table("Tokens", heads, [row]), *_by_place(losses, kept)]
    return Examination(worst, [], None, "sequence", parts, notes)


def _losses(outputs: Any, targets: Any, are_logits: bool) -> tuple[Any, Any]:
    """Minus the logarithm of each token's probability, and the tokens found; one sequence at a time."""
    losses = np.empty(targets.shape)
    found = np.empty(targets.shape, np.int64)
    places = np.arange(targets.shape[1])
    for number, (scores, own) in enumerate(zip(outputs, targets, strict=True)):
        wide = scores.astype(np.float64)
        found[number] = wide.argmax(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            if are_logits:
                shifted = wide - wide.max(axis=1, keepdims=True)
                losses[number] = np.log(np.exp(shifted).sum(axis=1)) - shifted[places, own]
            else:
                losses[number] = 0 - np.log(wide[places, own])
    return losses, found


def _perplexity(loss: float) -> str:
    return f"{exp(loss):.4g}" if loss < _LARGEST else "inf"


def _by_place(losses: Any, kept: Any) -> list[Card]:
    counts = kept.sum(axis=0)
    means = losses.sum(axis=0) / np.maximum(counts, 1)
    known = np.flatnonzero((counts > 0) & np.isfinite(means)).tolist()
    points = [(float(i + 1), float(means[i])) for i in known]
    labels = [f"{counts[i]:,} tokens" for i in known]
    title = "Loss at each place of a sequence"
    chart = Chart(title, [Series("mean", points, labels=labels)], across="place")
    return [Card(title, [chart])] if points else []


def _said(tokens: Any, names: list[str] | None) -> str:
    """The tokens of a sequence: letters together, words with spaces, numbers if they have no names."""
    if names is None:
        return " ".join(map(str, tokens[:_TOKENS])) + " …" * (len(tokens) > _TOKENS)
    space = "" if all(len(name) == 1 for name in names) else " "
    text = space.join(names[token] for token in tokens[: _LETTERS + 1])
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]} …"
