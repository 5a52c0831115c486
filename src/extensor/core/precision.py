"""Which ops compute in 16 bits inside :class:`extensor.amp.autocast`, and which never do.

Products gain speed and memory and sum in float32 anyway. What adds many elements up, or has a result
far outside the range of its input, computes in float32. All other ops take their inputs as they are:
mixed ones meet in float32.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from extensor.arrays.dtypes import DType, float32, is_half
from extensor.core.kinds import Indices
from extensor.core.modes import mode
from extensor.core.tensor import Tensor

SHORT = frozenset(
    """
    matmul dot outer linear einsum tensordot
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d bilinear
    scaled_dot_product_attention
    rnn lstm gru rnn_cell lstm_cell gru_cell
    """.split()
)
LONG = frozenset(
    """
    exp expm1 log log2 log10 log1p power sinh cosh tan
    sum mean prod var std norm logsumexp cumsum softmax log_softmax softplus
    batch_norm layer_norm group_norm instance_norm rms_norm
    cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits mse_loss l1_loss
    smooth_l1_loss huber_loss kl_div hinge_loss focal_loss triplet_loss cosine_embedding_loss
    """.split()
)


class _ThreadPrecision(threading.local):
    dtype: DType = None  # what autocast casts to; None outside of it


_current = _ThreadPrecision()


def current() -> DType:
    """The dtype that products are cast to in this thread, or None."""
    return _current.dtype


def switch(dtype: DType) -> tuple[DType, bool]:
    """Cast to ``dtype`` from now on, None casts nothing; returns what :func:`restore` takes."""
    previous = _current.dtype, mode.casting
    restore((dtype, dtype is not None))
    return previous


def restore(state: tuple[DType, bool]) -> None:
    """Undo a :func:`switch`."""
    # The flag is native so that the short way of every op can decline with a single look at it.
    _current.dtype, mode.casting = state


def cast(op: str, inputs: Sequence[Any], kinds: Sequence[Any]) -> Sequence[Any]:
    """The inputs of ``op`` in the precision it computes in; each change is recorded."""
    if op in SHORT:
        return [
            x.astype(_current.dtype) if _is_differentiable(x, kind) and x.dtype == float32 else x
            for x, kind in zip(inputs, kinds, strict=True)
        ]
    if op in LONG:
        return [
            x.astype(float32) if _is_differentiable(x, kind) and is_half(x.dtype) else x
            for x, kind in zip(inputs, kinds, strict=True)
        ]
    return inputs


def _is_differentiable(x: Any, kind: Any) -> bool:
    return kind is not Indices and isinstance(x, Tensor)
