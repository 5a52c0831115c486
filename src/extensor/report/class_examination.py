"""Examination of classifiers: confusion, curves over thresholds, calibration, worst samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.errors import value_error
from extensor.report.classification_cards import (
    Rates,
    calibration_card,
    class_table,
    curve_cards,
    rates,
)
from extensor.report.examination import (
    IGNORED,
    Examination,
    ExaminedSamples,
    check_class_numbers,
    log_probabilities,
    notes_on_invalid,
)


def examine_multiclass(samples: ExaminedSamples) -> Examination:
    """Scores of one class out of several, for each sample or for each place in it."""
    scores, classes, soft = _places(samples)
    count, numbers = scores.shape[1], np.repeat(np.arange(len(samples.outputs)), _size(samples))
    names = samples.names(count, "class")
    checked = scores if samples.are_logits else _probabilities(scores)
    logs = log_probabilities(samples.are_logits, checked)
    probabilities = np.exp(logs)
    valid = ~np.isnan(probabilities).any(axis=1)
    notes = notes_on_invalid(valid.reshape(len(samples.outputs), -1).all(axis=1))
    kept = valid & (classes != IGNORED)
    if not kept.any():
        return Examination([], names, task="multiclass", notes=notes)
    scores, logs, probabilities = scores[kept], logs[kept], probabilities[kept]
    classes, numbers = classes[kept], numbers[kept]
    if soft is None:
        losses = 0 - logs[np.arange(len(classes)), classes]
    else:
        losses = -np.sum(np.where(soft[kept] > 0, soft[kept] * logs, 0.0), axis=1)
    predicted = scores.argmax(axis=1)
    confusion, by_class = _confusion(classes, predicted, count)
    truths = classes[:, None] == np.arange(count)
    curves, areas = curve_cards(names, truths, probabilities, by_class.f1)
    chosen = probabilities[np.arange(len(predicted)), predicted]
    surety = calibration_card(predicted == classes, chosen, "the class found")
    table = class_table("Each class", names, by_class, areas)
    if _size(samples) == 1:
        worst = samples.worst(
            numbers,
            losses,
            predicted != classes,
            lambda place: names[classes[place]],
            lambda place: names[predicted[place]],
            chosen,
        )
    else:
        worst = _worst_of_places(samples, numbers, losses, predicted == classes)
    return Examination(worst, names, confusion, "multiclass", [table, *curves, surety], notes)


def examine_binary(samples: ExaminedSamples) -> Examination:
    """One score a sample, for the second of two classes."""
    if samples.outputs.size != len(samples.outputs):
        requirement = "outputs must be one number a sample for 'binary'"
        raise value_error("examine", requirement, outputs_shape=samples.outputs.shape)
    names = samples.names(2, "class, the negative one first")
    scored = _label_scores(samples)
    if len(scored.numbers) == 0:
        return Examination([], names, task="binary", notes=scored.notes)
    columns = scored.truth, scored.predicted, scored.probability
    truth, predicted, probability = (column[:, 0] for column in columns)
    confusion, by_class = _confusion(truth, predicted, 2)
    curves, _ = curve_cards(names[1:], scored.truth, scored.probability, by_class.f1[1:])
    surety = calibration_card(truth, probability, names[1])
    worst = samples.worst(
        scored.numbers,
        scored.losses[:, 0],
        predicted != truth,
        lambda place: names[int(truth[place])],
        lambda place: names[int(predicted[place])],
        np.where(predicted, probability, 1 - probability),
    )
    table = class_table("Each class", names, by_class)
    return Examination(worst, names, confusion, "binary", [table, *curves, surety], scored.notes)


def examine_labels(samples: ExaminedSamples) -> Examination:
    """A score for each label, any number of which a sample may have."""
    scored = _label_scores(samples)
    names = samples.names(scored.truth.shape[1], "label")
    if len(scored.numbers) == 0:
        return Examination([], names, task="multilabel", notes=scored.notes)
    truth, predicted, probability = scored.truth, scored.predicted, scored.probability
    by_label = rates((truth & predicted).sum(axis=0), predicted.sum(axis=0), truth.sum(axis=0))
    curves, areas = curve_cards(names, truth, probability, by_label.f1, what="label")
    surety = calibration_card(truth, probability, "a label, all of them together")
    worst = samples.worst(
        scored.numbers,
        scored.losses.mean(axis=1),
        (predicted != truth).any(axis=1),
        lambda place: _labels(names, truth[place]),
        lambda place: _labels(names, predicted[place]),
    )
    table = class_table("Each label", names, by_label, areas, what="label")
    return Examination(worst, names, None, "multilabel", [table, *curves, surety], scored.notes)


def _confusion(truth: Any, predicted: Any, count: int) -> tuple[Any, Rates]:
    """How often each class is found for each class, and the rates that follow."""
    confusion = np.bincount(truth * count + predicted, minlength=count * count)
    confusion = confusion.reshape(count, count)
    return confusion, rates(np.diag(confusion), confusion.sum(axis=0), confusion.sum(axis=1))


def _labels(names: Sequence[str], chosen: Any) -> str:
    return ", ".join(names[i] for i in np.flatnonzero(chosen).tolist()) or "none"


def _size(samples: ExaminedSamples) -> int:
    """How many places a sample has."""
    return int(np.prod(samples.outputs.shape[2:], dtype=int))


def _places(samples: ExaminedSamples) -> tuple[Any, Any, Any]:
    """Rows of scores, the class of each, and its probabilities if those are the targets."""
    outputs, targets = samples.outputs, samples.targets
    if outputs.ndim < 2 or outputs.shape[1] < 2:
        requirement = "outputs must have shape (N, classes, ...), of two classes or more"
        raise value_error("examine", requirement, outputs_shape=outputs.shape)
    count = outputs.shape[1]
    scores = np.moveaxis(outputs, 1, -1).reshape(-1, count).astype(np.float64)
    if targets.shape == outputs.shape:
        soft = np.moveaxis(targets, 1, -1).reshape(-1, count).astype(np.float64)
        return scores, soft.argmax(axis=1), soft
    expected = (len(outputs), *outputs.shape[2:])
    if targets.shape != expected or targets.dtype.kind not in "iu":
        requirement = f"targets must be class numbers, integers of shape {expected}"
        got = {"targets_shape": targets.shape, "dtype": str(targets.dtype)}
        raise value_error("examine", requirement, **got)
    classes = targets.reshape(-1).astype(np.int64)
    check_class_numbers(classes, count)
    return scores, classes, None


def _worst_of_places(samples: ExaminedSamples, numbers: Any, losses: Any, right: Any) -> Any:
    """Samples of many places: their mean loss, and how many places are right."""
    count = len(samples.outputs)
    places = np.bincount(numbers, minlength=count)
    known = places > 0
    sums = (np.bincount(numbers, x, minlength=count)[known] for x in (losses, right))
    loss, hits = next(sums) / places[known], next(sums)
    return samples.worst(
        np.flatnonzero(known),
        loss,
        hits < places[known],
        lambda place: f"{places[known][place]:,} places",
        lambda place: f"{hits[place]:,.0f} right",
    )


class _LabelScores(NamedTuple):
    """Truth, predictions and losses, a column for each label; ``numbers`` are those of the samples."""

    numbers: Any
    truth: Any
    predicted: Any
    probability: Any
    losses: Any
    notes: list[str]


def _label_scores(samples: ExaminedSamples) -> _LabelScores:
    outputs, targets = samples.outputs, samples.targets
    if outputs.size != targets.size or max(outputs.ndim, targets.ndim) > 2:
        requirement = "targets must have the shape of outputs, (N,) or (N, labels)"
        shapes = {"outputs_shape": outputs.shape, "targets_shape": targets.shape}
        raise value_error("examine", requirement, **shapes)
    allowed = np.isin(targets, (0, 1))
    if not allowed.all():
        raise value_error("examine", "targets must be 0 or 1", target=targets[~allowed][0].item())
    truth = targets.reshape(len(targets), -1).astype(bool)
    scores = outputs.reshape(truth.shape).astype(np.float64)
    valid = ~np.isnan(scores).any(axis=1)
    truth, scores = truth[valid], scores[valid]
    if samples.are_logits:
        losses = np.logaddexp(0, np.where(truth, -scores, scores))
        with np.errstate(over="ignore"):
            probability = 1 / (1 + np.exp(-scores))
        predicted = scores > 0
    else:
        probability, predicted = _probabilities(scores), scores > 0.5
        losses = 0 - log_probabilities(False, np.where(truth, probability, 1 - probability))
    return _LabelScores(
        np.flatnonzero(valid), truth, predicted, probability, losses, notes_on_invalid(valid)
    )


def _probabilities(scores: Any) -> Any:
    """``scores``, which must be probabilities."""
    wrong = (scores < 0) | (scores > 1)
    if wrong.any():
        requirement = "outputs must be in [0, 1] with scores='probabilities'"
        raise value_error("examine", requirement, output=float(scores[wrong][0]))
    return scores
