"""Normalizations as modules: over the batch, over channels, over the last axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from extensor.arrays.dtypes import DType
from extensor.arrays.shapes import target
from extensor.core.creation import asarray, ones, zeros
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.inputs import in_dtype_of
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.nn.synchronised import Adding, adding, note_moved, synchronised_batch_norm
from extensor.ops import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    rms_norm,
    squeeze,
    unsqueeze,
)

if TYPE_CHECKING:
    from extensor.typing import TensorLike


class _ByChannel(Module):
    """What BatchNorm and InstanceNorm share: a weight, a bias and running statistics by channel."""

    _axes: tuple[int, ...]
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        bias: bool,
        dtype: DType,
    ) -> None:
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.weight = Parameter(ones(num_features, dtype)) if affine else None
        self.bias = Parameter(zeros(num_features, dtype)) if affine and bias else None
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, dtype) if tracked else None)
        self.register_buffer("running_var", ones(num_features, dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", zeros((), "int64") if tracked else None)

    def _checked(self, x: Any) -> Any:
        statistics = self.running_mean if self.weight is None else self.weight
        x = asarray(in_dtype_of(self, statistics, x))
        if x.ndim not in self._axes or x.shape[1] != self.num_features:
            axes = " or ".join(map(str, self._axes))
            wanted = f"x must have {axes} axes and {self.num_features} channels on axis 1"
            raise value_error(type(self).__name__, wanted, x_shape=x.shape)
        return x

    def _note_moved(self) -> None:
        if self.training and self.running_mean is not None:
            note_moved(self)


@also_takes(**DEVICE)
class _BatchNorm(_ByChannel):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
        dtype: DType = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, bias, dtype)

    def forward(self, x: TensorLike) -> Tensor:
        counted = self.num_batches_tracked
        if self.training and counted is not None:
            counted = counted + 1
        added = adding()
        if added is not None and (self.training or self.running_mean is None):
            return self._synchronised(x, counted, added)
        output = batch_norm(
            self._checked(x),
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            self._share(counted),
            self.eps,
        )
        self.num_batches_tracked = counted  # only now: a batch that failed does not count
        self._note_moved()
        return output

    def _synchronised(self, x: TensorLike, counted: Tensor | None, added: Adding) -> Tensor:
        running = self.running_mean, self.running_var
        share = self._share(counted)
        output = synchronised_batch_norm(
            self._checked(x), running, self.weight, self.bias, share, self.eps, added
        )
        self.num_batches_tracked = counted
        self._note_moved()
        return output

    def _share(self, counted: Tensor | None) -> float:
        """The share that the last of so many batches has in the running statistics."""
        if not self.training or counted is None:
            return 0.0
        # Without a momentum the running statistics are the plain averages of all batches.
        return 1 / counted.item() if self.momentum is None else self.momentum


class BatchNorm1d(_BatchNorm):
    """Each channel of (batch, channels) or (batch, channels, length) normalized over the rest."""

    _axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of (batch, channels, height, width) normalized over the rest.

    In training with the statistics of the batch, which also enter the running ones; in evaluation
    with the running ones.
    """

    _axes = (4,)


@also_takes(**DEVICE)
class InstanceNorm2d(_ByChannel):
    """Each channel of each image of (batch, channels, height, width) normalized.

    The batch axis may be missing.
    """

    _axes = (4,)
    momentum: float

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        *,
        bias: bool = True,
        dtype: DType = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, bias, dtype)

    def forward(self, x: TensorLike) -> Tensor:
        x = asarray(x)
        if x.ndim == 3 and x.shape[0] == self.num_features:
            return squeeze(self._normalized(unsqueeze(x, 0)), 0)
        return self._normalized(self._checked(x))

    def _normalized(self, x: Tensor) -> Tensor:
        output = instance_norm(
            x,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            self.momentum,
            self.eps,
        )
        self._note_moved()
        return output


@also_takes(**DEVICE)
class GroupNorm(Module):
    """Each of ``num_groups`` groups of channels of (batch, channels, ...) normalized."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        *,
        bias: bool = True,
        dtype: DType = None,
    ) -> None:
        if num_groups < 1 or num_channels % num_groups:
            raise value_error(
                "GroupNorm",
                "num_channels must be divisible by num_groups",
                num_channels=num_channels,
                num_groups=num_groups,
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self.weight = Parameter(ones(num_channels, dtype)) if affine else None
        self.bias = Parameter(zeros(num_channels, dtype)) if affine and bias else None

    def forward(self, x: TensorLike) -> Tensor:
        x = in_dtype_of(self, self.weight, x)
        return group_norm(x, self.num_groups, self.weight, self.bias, self.eps)


@also_takes(**DEVICE)
class LayerNorm(Module):
    """The last axes, of sizes ``normalized_shape``, normalized together."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        *,
        dtype: DType = None,
    ) -> None:
        self.normalized_shape = target("LayerNorm", normalized_shape, "normalized_shape")
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape = self.normalized_shape
        self.weight = Parameter(ones(shape, dtype)) if elementwise_affine else None
        self.bias = Parameter(zeros(shape, dtype)) if elementwise_affine and bias else None

    def forward(self, x: TensorLike) -> Tensor:
        x = in_dtype_of(self, self.weight, x)
        return layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


@also_takes(**DEVICE)
class RMSNorm(Module):
    """The last axes, of sizes ``normalized_shape``, divided by their root mean square."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        *,
        dtype: DType = None,
    ) -> None:
        self.normalized_shape = target("RMSNorm", normalized_shape, "normalized_shape")
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape = self.normalized_shape
        self.weight = Parameter(ones(shape, dtype)) if elementwise_affine else None

    def forward(self, x: TensorLike) -> Tensor:
        x = in_dtype_of(self, self.weight, x)
        return rms_norm(x, self.normalized_shape, self.weight, self.eps)
