"""Connectionist temporal classification: labels of sequences without known positions. Graves et al., 2006.

The states of a sample are its labels with blanks between and around them. A path goes on by one state
in a step, stays, or leaves out a blank between two different labels. ``alpha`` is the logarithm of the
probability of all paths to a state, ``beta`` that of all paths from it on.
"""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes
from extensor.core.creation import zeros
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import arguments, type_error, value_error
from extensor.ops.chain import chain_rule
from extensor.ops.exponential import exp
from extensor.ops.gathering import gather, scatter_add
from extensor.ops.joining import concatenate, stack
from extensor.ops.logarithmic import logaddexp
from extensor.ops.loss import SHARED as SHARED
from extensor.ops.loss import Reduction, reduced_shape
from extensor.ops.selection import where

_OPS = SimpleNamespace(where=where, logaddexp=logaddexp, concat=concatenate)


class _Paths:
    """The states of all samples, as arrays of a batch."""

    def __init__(self, targets: Any, input_lengths: Any, target_lengths: Any, blank: int) -> None:
        self.input_lengths = np.atleast_1d(np.asarray(input_lengths)).astype(np.int64)
        self.target_lengths = np.atleast_1d(np.asarray(target_lengths)).astype(np.int64)
        labels = self._padded(np.asarray(targets), blank)
        samples, most = labels.shape
        self.labels = np.full((samples, 2 * most + 1), blank, np.int64)
        self.labels[:, 1::2] = labels
        # A blank may be left out between labels that differ; else it is what keeps them apart.
        self.skips = np.zeros(self.labels.shape, bool)
        self.skips[:, 3::2] = labels[:, 1:] != labels[:, :-1]
        ends = 2 * self.target_lengths[:, None]
        states = np.arange(self.labels.shape[1])
        self.is_first = np.broadcast_to((states == 0) | (states == 1), self.labels.shape)
        self.is_first = self.is_first & (states <= ends)
        self.is_last = (states == ends) | ((states == ends - 1) & (ends > 0))

    def _padded(self, targets: Any, blank: int) -> Any:
        """The labels of each sample in a row, from one row or from all of them joined in a line."""
        lengths = self.target_lengths
        if targets.ndim == 2:
            rows = np.array(targets, np.int64)
            rows[np.arange(rows.shape[1]) >= lengths[:, None]] = blank
            return rows
        rows = np.full((len(lengths), int(lengths.max(initial=0))), blank, np.int64)
        rows[np.arange(rows.shape[1]) < lengths[:, None]] = targets[: lengths.sum()]
        return rows


def _batched(log_probs: Shape) -> tuple[int, int, int]:
    steps, *samples, classes = log_probs
    return steps, (samples[0] if samples else 1), classes


def _ctc_shape(name: str, shapes: Shapes, blank: int, reduction: str, zero_infinity: bool) -> Shape:
    log_probs = tuple(shapes["log_probs"])
    if len(log_probs) not in (2, 3) or log_probs[-1] == 0:
        requirement = "log_probs must be (steps, batch, classes) or (steps, classes)"
        raise value_error(name, requirement, log_probs_shape=log_probs)
    _, samples, classes = _batched(log_probs)
    if not 0 <= arguments.integer(name, "blank", blank) < classes:
        raise value_error(name, f"blank must be in [0, {classes - 1}]", blank=blank)
    rest = log_probs[1:-1]
    for key in ("input_lengths", "target_lengths"):
        if tuple(shapes[key]) not in (rest, (samples,)):
            got = {f"{key}_shape": tuple(shapes[key])}
            raise value_error(name, f"{key} must have shape {rest}", **got)
    targets = tuple(shapes["targets"])
    if len(targets) != 1 and (len(targets) != 2 or targets[0] != samples):
        requirement = "targets must be (batch, length), or all labels in one line"
        raise value_error(name, requirement, targets_shape=targets)
    return reduced_shape(name, reduction, rest)


def _check_ctc(
    name: str,
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int,
    *_: Any,
) -> None:
    steps, _samples, classes = _batched(tuple(log_probs.shape))
    given = {"targets": targets, "input_lengths": input_lengths, "target_lengths": target_lengths}
    for key, array in given.items():
        if np.dtype(array.dtype).kind not in "iu":
            raise type_error(name, f"{key} must be integers", **{f"{key}_dtype": str(array.dtype)})
    most = {
        "targets": classes - 1,
        "input_lengths": steps,
        "target_lengths": int(targets.shape[-1]),
    }
    total = int(np.sum(target_lengths))
    if targets.ndim == 1:
        # Only that many are read; more than there are would leave the last samples without labels.
        if total > targets.shape[0]:
            requirement = "targets must have as many labels as target_lengths say"
            raise value_error(name, requirement, targets_shape=tuple(targets.shape), total=total)
        given["targets"] = targets[:total]
    else:
        places = np.arange(targets.shape[1])
        given["targets"] = np.asarray(targets)[places < np.reshape(target_lengths, (-1, 1))]
    for key, array in given.items():
        wrong = (array < 0) | (array > most[key])
        if wrong.any():
            got = {key: int(np.asarray(array)[wrong].ravel()[0])}
            raise value_error(name, f"{key} must be in [0, {most[key]}]", **got)
    if (given["targets"] == blank).any():
        raise value_error(name, "targets must not be blank", blank=blank)


def _alphas(lib: Any, emitted: Any, paths: _Paths, as_array: Any) -> list[Any]:
    """The alphas of all steps. ``emitted`` has the log-probabilities of all states in each step."""
    impossible = as_array(np.full((len(paths.labels), 2), -inf), emitted)
    is_first, skips = as_array(paths.is_first), as_array(paths.skips)
    lengths = as_array(paths.input_lengths[:, None])
    alpha = lib.where(is_first, emitted[0], -inf)
    found = [alpha]
    for step in range(1, emitted.shape[0]):
        one = lib.concat([impossible[:, :1], alpha[:, :-1]], axis=1)
        both = lib.logaddexp(alpha, one)
        if alpha.shape[1] > 2:
            two = lib.concat([impossible, alpha[:, :-2]], axis=1)
            both = lib.where(skips, lib.logaddexp(both, two), both)
        alpha = lib.where(lengths > step, both + emitted[step], alpha)
        found.append(alpha)
    return found


def _arrays(xp: Any) -> Any:
    return lambda array, like=None: xp.asarray(array, dtype=None if like is None else like.dtype)


def _log_likelihood(lib: Any, alpha: Any, paths: _Paths, as_array: Any) -> Any:
    """The logarithm of the probability of the labels, by the last alphas: (batch,)."""
    ends = 2 * paths.target_lengths[:, None]
    states = np.arange(alpha.shape[1])
    last = lib.where(as_array(states == ends), alpha, -inf)
    before = lib.where(as_array((states == ends - 1) & (ends > 0)), alpha, -inf)
    # Only one element of each row is not -inf, so the largest is it.
    total = lib.logaddexp(_top(last), _top(before))
    # Without a step only no label at all is possible.
    empty = as_array(np.where(paths.target_lengths == 0, 0.0, -inf), alpha)
    return lib.where(as_array(paths.input_lengths == 0), empty, total)


def _top(x: Any) -> Any:
    return x.max(axis=1)


@op(shape=_ctc_shape, check=_check_ctc, floats=True)
def ctc_loss(
    xp: Any,
    log_probs: Array,
    targets: Indices,
    input_lengths: Indices,
    target_lengths: Indices,
    blank: int = 0,
    reduction: Reduction = "mean",
    zero_infinity: bool = False,
) -> Any:
    """The connectionist temporal classification loss: minus the log-probability of the labels.

    It sums over all ways to spread the labels over the steps, with blanks between them. Derivative:
    minus the probability that a path which gives the labels is at the class in the step; 0 where the
    loss is infinite, as no path is long enough. PyTorch adds ``exp(log_probs)``, which makes no
    difference behind a log-softmax.

    Parameters
    ----------
    log_probs : (steps, batch, classes) or (steps, classes)
        Log-probabilities of the classes in each step, such as those of `log_softmax`.
    targets : (batch, length), ints, or all labels in one line
        The labels, none of them ``blank``.
    input_lengths : (batch,), ints
        The number of steps of each sample.
    target_lengths : (batch,), ints
        The number of labels of each sample.
    blank
        The class that stands for no label.
    reduction
        "mean" divides each loss by the number of labels and takes the mean, "sum" adds the losses
        up, "none" returns that of each sample.
    zero_infinity
        Whether losses that are infinite become 0.

    Raises
    ------
    ValueError
        If the shapes do not fit, or a label or a length is out of range.

    >>> import extensor as ex
    >>> import numpy as np
    >>> log_probs = np.log([[0.5, 0.5], [0.5, 0.5]])
    >>> ex.ctc_loss(log_probs, [1], 2, 1)
    tensor(0.28768207, dtype=float64)
    >>> ex.ctc_loss_backward(1.0, log_probs, [1], 2, 1)
    tensor([[-0.33333333, -0.66666667],
            [-0.33333333, -0.66666667]], dtype=float64)
    """
    steps, samples, classes = _batched(tuple(log_probs.shape))
    paths = _Paths(targets, input_lengths, target_lengths, blank)
    losses = xp.zeros((samples,), dtype=log_probs.dtype)
    as_array = _arrays(xp)
    if steps:
        rows = xp.reshape(log_probs, (steps, samples, classes))
        emitted = xp.take_along_axis(rows, as_array(paths.labels[None]), axis=2)
        alpha = _alphas(xp, emitted, paths, as_array)[-1]
        losses = -_log_likelihood(xp, alpha, paths, as_array)
    elif (paths.target_lengths > 0).any():
        losses = xp.where(as_array(paths.target_lengths > 0), inf, losses)
    if zero_infinity:
        losses = xp.where(xp.isinf(losses), xp.zeros_like(losses), losses)
    if reduction == "none":
        return xp.reshape(losses, log_probs.shape[1:-1])
    if reduction == "mean":
        losses = losses / as_array(np.maximum(paths.target_lengths, 1), losses) / samples
    return xp.sum(losses)


def _tensor(array: Any, like: Any = None) -> Tensor:
    return Tensor(np.ascontiguousarray(array), dtype=None if like is None else like.dtype)


@ctc_loss.backward()
def ctc_loss_backward(
    grad_output: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: Reduction = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus ``grad_output`` times the probabilities to be at each class in each step."""
    steps, samples, classes = _batched(log_probs.shape)
    if steps == 0:
        return zeros(log_probs.shape, log_probs.dtype)
    given = [t.detach()._array for t in (targets, input_lengths, target_lengths)]
    paths = _Paths(given[0], given[1], given[2], blank)
    rows = log_probs.reshape((steps, samples, classes))
    labels = _tensor(np.broadcast_to(paths.labels, (steps, *paths.labels.shape)))
    emitted = gather(rows, labels, 2)
    alphas = _alphas(_OPS, emitted, paths, _tensor)
    likelihood = _log_likelihood(_OPS, alphas[-1], paths, _tensor)
    possible = likelihood > -inf
    total = where(possible, likelihood, 0.0).reshape((samples, 1))
    lengths = paths.input_lengths
    weights = [
        where(
            possible.reshape((samples, 1)) & _tensor((lengths > step)[:, None]),
            exp(alpha + beta - total),
            0.0,
        )
        for step, (alpha, beta) in enumerate(zip(alphas, _betas(emitted, paths), strict=True))
    ]
    each = grad_output.reshape((samples, 1)) if reduction == "none" else grad_output
    if reduction == "mean":
        scale = 1 / np.maximum(paths.target_lengths, 1) / samples
        each = each * _tensor(scale[:, None], log_probs)
    shares = chain_rule(-each, stack(weights))
    gradient = scatter_add(zeros(rows.shape, rows.dtype), labels, shares, 2)
    return gradient.reshape(log_probs.shape)


def _betas(emitted: Tensor, paths: _Paths) -> list[Tensor]:
    """The betas of all steps: the paths from a state on, without what it emits itself."""
    impossible = _tensor(np.full((len(paths.labels), 2), -inf), emitted)
    ends = _tensor(np.where(paths.is_last, 0.0, -inf), emitted)
    skips = _tensor(np.roll(paths.skips, -2, axis=1))  # the first two states are never skipped to
    beta = ends
    found = [beta]
    for step in range(emitted.shape[0] - 1, 0, -1):
        later = beta + emitted[step]
        one = concatenate([later[:, 1:], impossible[:, :1]], axis=1)
        both = logaddexp(later, one)
        if later.shape[1] > 2:
            two = concatenate([later[:, 2:], impossible], axis=1)
            both = where(skips, logaddexp(both, two), both)
        beta = where(_tensor((paths.input_lengths > step)[:, None]), both, ends)
        found.append(beta)
    return found[::-1]
