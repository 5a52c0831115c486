"""The loss of each task, plain and with a weight for each sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.train.step import Loss

BINARY, MULTICLASS, MULTILABEL, REGRESSION = "binary", "multiclass", "multilabel", "regression"

_PLAIN: dict[str, Loss] = {
    BINARY: ops.binary_cross_entropy_with_logits,
    MULTICLASS: ops.cross_entropy,
    MULTILABEL: ops.binary_cross_entropy_with_logits,
    REGRESSION: ops.mse_loss,
}


def loss_of(task: str, is_weighted: bool) -> Loss:
    """The mean loss of a batch, whose targets are what :func:`with_weights` made of them."""
    return _WEIGHTED[task] if is_weighted else _PLAIN[task]


def with_weights(targets: Any, weights: Any, dtype: Any) -> Any:
    """Targets for :func:`loss_of`: weights, if there are any, are one more column."""
    if weights is None:
        return targets if targets.dtype.kind == "i" else targets.astype(dtype, copy=False)
    columns = targets.reshape(len(targets), -1)
    return np.column_stack([columns, weights]).astype(dtype, copy=False)


def _weighted_classes(output: Tensor, target: Tensor) -> Tensor:
    losses = ops.cross_entropy(output, target[:, 0].astype("int64"), "none")
    return (losses * target[:, 1]).mean()


def _weighted_labels(output: Tensor, target: Tensor) -> Tensor:
    return ops.binary_cross_entropy_with_logits(output, target[:, :-1], weight=target[:, -1:])


def _weighted_values(output: Tensor, target: Tensor) -> Tensor:
    return (ops.mse_loss(output, target[:, :-1], "none") * target[:, -1:]).mean()


_WEIGHTED: dict[str, Loss] = {
    BINARY: _weighted_labels,
    MULTICLASS: _weighted_classes,
    MULTILABEL: _weighted_labels,
    REGRESSION: _weighted_values,
}
