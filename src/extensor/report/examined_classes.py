"""Classes and labels examined: who is taken for whom, at which threshold, and how surely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.errors import value_error
from extensor.report.cards import calibration_card, class_table, curve_cards
from extensor.report.classification_curves import rates
from extensor.report.findings import IGNORED, Examination, Examined, left_out


def examine_multiclass(given: Examined) -> Examination:
    """Scores of one class out of several, for each sample or for each place in it."""
    scores, classes, soft = _places(given)
    count, numbers = scores.shape[1], np.repeat(np.arange(len(given.outputs)), _size(given))
    names = given.names(count, "class")
    logs = _log_softmax(scores) if given.are_logits else _log(_checked(scores))
    probabilities = np.exp(logs)
    valid = ~np.isnan(probabilities).any(axis=1)
    notes = left_out(valid.reshape(len(given.outputs), -1).all(axis=1))
    kept = valid & (classes != IGNORED)
    if not kept.any():
        return Examination([], names, task="multiclass", notes=notes)
    scores, logs, probabilities = scores[kept], logs[kept], probabilities[kept]
    classes, numbers = classes[kept], numbers[kept]
    if soft is None:
        losses = 0 - logs[np.arange(len(classes)), classes]
    else:
        losses = -np.sum(np.where(soft[kept] > 0, soft[kept] * logs, 0.0), axis=1)
    found = scores.argmax(axis=1)
    confusion = np.bincount(classes * count + found, minlength=count * count)
    confusion = confusion.reshape(count, count)
    right = np.diag(confusion)
    by_class = rates(right, confusion.sum(axis=0), confusion.sum(axis=1))
    truths = classes[:, None] == np.arange(count)
    curves, areas = curve_cards(names, truths, probabilities, by_class.f1)
    chosen = probabilities[np.arange(len(found)), found]
    surety = calibration_card(found == classes, chosen, "the class found")
    table = class_table("Each class", names, by_class, areas)
    if _size(given) == 1:
        worst = given.worst(
            numbers,
            losses,
            found != classes,
            lambda place: names[classes[place]],
            lambda place: names[found[place]],
            chosen,
        )
    else:
        worst = _worst_of_places(given, numbers, losses, found == classes)
    return Examination(worst, names, confusion, "multiclass", [table, *curves, surety], notes)


def examine_binary(given: Examined) -> Examination:
    """One score a sample, for the second of two classes."""
    if given.outputs.size != len(given.outputs):
        requirement = "outputs must be one number a sample for 'binary'"
        raise value_error("examine", requirement, outputs_shape=given.outputs.shape)
    names = given.names(2, "class, the negative one first")
    told = _told(given)
    if len(told.numbers) == 0:
        return Examination([], names, task="binary", notes=told.notes)
    truth, found, probability = told.truth[:, 0], told.found[:, 0], told.probability[:, 0]
    confusion = np.bincount(2 * truth + found, minlength=4).reshape(2, 2)
    right = np.diag(confusion)
    by_class = rates(right, confusion.sum(axis=0), confusion.sum(axis=1))
    curves, _ = curve_cards(names[1:], told.truth, told.probability, by_class.f1[1:])
    surety = calibration_card(truth, probability, names[1])
    worst = given.worst(
        told.numbers,
        told.losses[:, 0],
        found != truth,
        lambda place: names[int(truth[place])],
        lambda place: names[int(found[place])],
        np.where(found, probability, 1 - probability),
    )
    table = class_table("Each class", names, by_class)
    return Examination(worst, names, confusion, "binary", [table, *curves, surety], told.notes)


def examine_labels(given: Examined) -> Examination:
    """A score for each label, any number of which a sample may have."""
    told = _told(given)
    names = given.names(told.truth.shape[1], "label")
    if len(told.numbers) == 0:
        return Examination([], names, task="multilabel", notes=told.notes)
    truth, found, probability = told.truth, told.found, told.probability
    by_label = rates((truth & found).sum(axis=0), found.sum(axis=0), truth.sum(axis=0))
    curves, areas = curve_cards(names, truth, probability, by_label.f1, what="label")
    surety = calibration_card(truth, probability, "a label, all of them together")
    worst = given.worst(
        told.numbers,
        told.losses.mean(axis=1),
        (found != truth).any(axis=1),
        lambda place: _labels(names, truth[place]),
        lambda place: _labels(names, found[place]),
    )
    table = class_table("Each label", names, by_label, areas, what="label")
    return Examination(worst, names, None, "multilabel", [table, *curves, surety], told.notes)


def _labels(names: Sequence[str], chosen: Any) -> str:
    return ", ".join(names[i] for i in np.flatnonzero(chosen).tolist()) or "none"


def _size(given: Examined) -> int:
    """How many places a sample has."""
    return int(np.prod(given.outputs.shape[2:], dtype=int))


def _places(given: Examined) -> tuple[Any, Any, Any]:
    """Rows of scores, the class of each, and its probabilities if those are the targets."""
    outputs, targets = given.outputs, given.targets
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
    wrong = ((classes < 0) | (classes >= count)) & (classes != IGNORED)
    if wrong.any():
        requirement = f"targets must be in [0, {count - 1}], or {IGNORED} to be left out"
        raise value_error("examine", requirement, target=int(classes[wrong][0]))
    return scores, classes, None


def _worst_of_places(given: Examined, numbers: Any, losses: Any, right: Any) -> Any:
    """Samples of many places: their mean loss, and how many places are right."""
    count = len(given.outputs)
    places = np.bincount(numbers, minlength=count)
    known = places > 0
    sums = (np.bincount(numbers, x, minlength=count)[known] for x in (losses, right))
    loss, hits = next(sums) / places[known], next(sums)
    return given.worst(
        np.flatnonzero(known),
        loss,
        hits < places[known],
        lambda place: f"{places[known][place]:,} places",
        lambda place: f"{hits[place]:,.0f} right",
    )


class _Told(NamedTuple):
    """Truth and what the model says of it, a column for each label; ``numbers`` are the samples'."""

    numbers: Any
    truth: Any
    found: Any
    probability: Any
    losses: Any
    notes: list[str]


def _told(given: Examined) -> _Told:
    outputs, targets = given.outputs, given.targets
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
    if given.are_logits:
        losses = np.logaddexp(0, np.where(truth, -scores, scores))
        with np.errstate(over="ignore"):
            probability = 1 / (1 + np.exp(-scores))
        found = scores > 0
    else:
        probability, found = _checked(scores), scores > 0.5
        losses = 0 - _log(np.where(truth, probability, 1 - probability))
    return _Told(np.flatnonzero(valid), truth, found, probability, losses, left_out(valid))


def _checked(probabilities: Any) -> Any:
    wrong = (probabilities < 0) | (probabilities > 1)
    if wrong.any():
        requirement = "outputs must be in [0, 1] with scores='probabilities'"
        raise value_error("examine", requirement, output=float(probabilities[wrong][0]))
    return probabilities


def _log(probabilities: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def _log_softmax(scores: Any) -> Any:
    with np.errstate(invalid="ignore"):
        shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - _log(np.exp(shifted).sum(axis=1, keepdims=True))
