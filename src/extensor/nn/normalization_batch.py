"""Normalizations by channel with running statistics, as modules: of a batch, of each picture."""

from __future__ import annotations

from typing import Any

from extensor import ops
from extensor.arrays.dtypes import DType
from extensor.core.creation import asarray, ones, zeros
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.layer_inputs import in_dtype_of
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.nn.synchronised import adding, note_moved, synchronised_batch_norm
from extensor.typing import TensorLike


@also_takes(**DEVICE)
class ByChannel(Module):
    """The base of BatchNorm and InstanceNorm: a weight, a bias and running statistics by channel."""

    _axes: tuple[int, ...]
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

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

    def _check_input(self, x: Any) -> Any:
        statistics = self.running_mean if self.weight is None else self.weight
        x = asarray(in_dtype_of(self, statistics, x))
        if x.ndim not in self._axes or x.shape[1] != self.num_features:
            axes = " or ".join(map(str, self._axes))
            wanted = f"x must have {axes} axes and {self.num_features} channels on axis 1"
            raise value_error(type(self).__name__, wanted, x_shape=x.shape)
        return x

    def _is_normalized_by_itself(self) -> bool:
        """Whether a batch is normalized with its own statistics instead of the running ones."""
        return self.training or self.running_mean is None

    def _note_moved(self) -> None:
        if self.training and self.running_mean is not None:
            note_moved(self)


class BatchNorm(ByChannel):
    """The base of batch normalizations."""

    def forward(self, x: TensorLike) -> Tensor:
        """Normalize each channel of ``x``.

        Parameters
        ----------
        x : tensor_like, (batch, num_features, ...)
            The input.

        Returns
        -------
        Tensor
            The normalized values, in the shape of ``x``.
        """
        tracked = self.num_batches_tracked
        counted = tracked + 1 if self.training and tracked is not None else None
        running = self.running_mean, self.running_var
        own, share, added = self._is_normalized_by_itself(), self._share(counted), adding()
        checked = self._check_input(x)
        if own and added is not None:
            output = synchronised_batch_norm(
                checked, running, self.weight, self.bias, share, self.eps, added
            )
        else:
            output = ops.batch_norm(checked, *running, self.weight, self.bias, own, share, self.eps)
        if tracked is not None and counted is not None:
            tracked[...] = counted  # only now: a batch that failed does not count
        self._note_moved()
        return output

    def _share(self, counted: Tensor | None) -> float:
        """The share that the last of so many batches has in the running statistics."""
        if counted is None:
            return 0.0
        # Without a momentum the running statistics are the plain averages of all batches.
        return 1 / counted.item() if self.momentum is None else self.momentum


class BatchNorm1d(BatchNorm):
    """Batch normalization of each channel of (batch, channels) or (batch, channels, length).

    In training, each channel is normalized with its mean and variance over the batch and the
    length, and the running statistics move towards them. In evaluation the running statistics are
    used, so that a sample does not depend on its batch::

        y = (x - mean) / sqrt(var + eps) * weight + bias

    The variance is that of the batch (divided by n); the running variance takes the unbiased one
    (divided by n - 1). See `ex.batch_norm` for the derivative.

    Parameters
    ----------
    num_features : int
        Number of channels.
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float or None, default 0.1
        Weight of the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``. With None they are the plain
        averages of all batches so far.
    affine : bool, default True
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default True
        Whether to keep running statistics. Without them the statistics of the batch are used in
        evaluation too.
    bias : bool, default True
        Whether to have a ``bias`` if ``affine`` is set.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (num_features,)
        Factors of the channels, initially 1. None with ``affine=False``.
    bias : Parameter, (num_features,)
        Numbers added to the channels, initially 0. None with ``affine=False`` or ``bias=False``.
    running_mean : Tensor, (num_features,)
        Running means, initially 0: a buffer, None with ``track_running_stats=False``.
    running_var : Tensor, (num_features,)
        Running variances, initially 1: a buffer, too.
    num_batches_tracked : Tensor, ()
        Number of training batches so far, an int64 buffer.

    Raises
    ------
    ValueError
        In a call, if the input has another number of axes or of channels, or, in training, only one
        value for each channel.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.batch_norm : The function.

    Notes
    -----
    Shape: (batch, num_features) or (batch, num_features, length) -> the same.

    References
    ----------
    Ioffe and Szegedy, "Batch normalization: Accelerating deep network training by reducing internal
    covariate shift", 2015.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.BatchNorm1d(2, eps=3.0)
    >>> layer(ex.tensor([[1.0, 7.0], [3.0, 7.0]]))
    tensor([[-0.5,  0. ],
            [ 0.5,  0. ]], op=batch_norm)
    >>> layer.running_mean
    tensor([0.2, 0.7])
    """

    _axes = (2, 3)


class BatchNorm2d(BatchNorm):
    """Batch normalization of each channel of (batch, channels, height, width).

    In training, each channel is normalized with its mean and variance over the batch and the
    pixels, and the running statistics move towards them. In evaluation the running statistics are
    used, so that a sample does not depend on its batch::

        y = (x - mean) / sqrt(var + eps) * weight + bias

    The variance is that of the batch (divided by n); the running variance takes the unbiased one
    (divided by n - 1). See `ex.batch_norm` for the derivative.

    Parameters
    ----------
    num_features : int
        Number of channels.
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float or None, default 0.1
        Weight of the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``. With None they are the plain
        averages of all batches so far.
    affine : bool, default True
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default True
        Whether to keep running statistics. Without them the statistics of the batch are used in
        evaluation too.
    bias : bool, default True
        Whether to have a ``bias`` if ``affine`` is set.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (num_features,)
        Factors of the channels, initially 1. None with ``affine=False``.
    bias : Parameter, (num_features,)
        Numbers added to the channels, initially 0. None with ``affine=False`` or ``bias=False``.
    running_mean : Tensor, (num_features,)
        Running means, initially 0: a buffer, None with ``track_running_stats=False``.
    running_var : Tensor, (num_features,)
        Running variances, initially 1: a buffer, too.
    num_batches_tracked : Tensor, ()
        Number of training batches so far, an int64 buffer.

    Raises
    ------
    ValueError
        In a call, if the input has another number of axes or of channels, or, in training, only one
        value for each channel.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.batch_norm : The function.

    Notes
    -----
    Shape: (batch, num_features, height, width) -> the same.

    References
    ----------
    Ioffe and Szegedy, "Batch normalization: Accelerating deep network training by reducing internal
    covariate shift", 2015.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.BatchNorm2d(3)
    >>> layer(ex.ones((4, 3, 8, 8))).shape
    (4, 3, 8, 8)
    >>> layer.eval()(ex.ones((1, 3, 8, 8))).shape
    (1, 3, 8, 8)
    """

    _axes = (4,)


class BatchNorm3d(BatchNorm):
    """Batch normalization of each channel of (batch, channels, depth, height, width).

    In training, each channel is normalized with its mean and variance over the batch and the
    elements, and the running statistics move towards them. In evaluation the running statistics are
    used, so that a sample does not depend on its batch::

        y = (x - mean) / sqrt(var + eps) * weight + bias

    The variance is that of the batch (divided by n); the running variance takes the unbiased one
    (divided by n - 1). See `ex.batch_norm` for the derivative.

    Parameters
    ----------
    num_features : int
        Number of channels.
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float or None, default 0.1
        Weight of the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``. With None they are the plain
        averages of all batches so far.
    affine : bool, default True
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default True
        Whether to keep running statistics. Without them the statistics of the batch are used in
        evaluation too.
    bias : bool, default True
        Whether to have a ``bias`` if ``affine`` is set.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (num_features,)
        Factors of the channels, initially 1. None with ``affine=False``.
    bias : Parameter, (num_features,)
        Numbers added to the channels, initially 0. None with ``affine=False`` or ``bias=False``.
    running_mean : Tensor, (num_features,)
        Running means, initially 0: a buffer, None with ``track_running_stats=False``.
    running_var : Tensor, (num_features,)
        Running variances, initially 1: a buffer, too.
    num_batches_tracked : Tensor, ()
        Number of training batches so far, an int64 buffer.

    Raises
    ------
    ValueError
        In a call, if the input has another number of axes or of channels, or, in training, only one
        value for each channel.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.batch_norm : The function.

    Notes
    -----
    Shape: (batch, num_features, depth, height, width) -> the same.

    References
    ----------
    Ioffe and Szegedy, "Batch normalization: Accelerating deep network training by reducing internal
    covariate shift", 2015.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.BatchNorm3d(3)(ex.ones((4, 3, 2, 8, 8))).shape
    (4, 3, 2, 8, 8)
    """

    _axes = (5,)
