"""Normalization of each channel of each sample, as modules."""

from __future__ import annotations

from extensor import ops
from extensor.arrays.dtypes import DType
from extensor.core.creation import asarray
from extensor.core.tensor import Tensor
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.normalization_batch import ByChannel
from extensor.typing import TensorLike


@also_takes(**DEVICE)
class InstanceNorm(ByChannel):
    """The base of instance normalizations, whose input may have no batch axis."""

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
        options = (eps, momentum, affine, track_running_stats)
        super().__init__(num_features, *options, bias=bias, dtype=dtype)

    def forward(self, x: TensorLike) -> Tensor:
        """Normalize each channel of each sample.

        Parameters
        ----------
        x : tensor_like, (batch, num_features, ...)
            The samples. The batch axis may be missing.

        Returns
        -------
        Tensor
            The normalized values, in the shape of ``x``.
        """
        x = asarray(x)
        if x.ndim == self._axes[0] - 1 and x.shape[0] == self.num_features:
            return ops.squeeze(self._normalize(ops.unsqueeze(x, 0)), 0)
        return self._normalize(self._check_input(x))

    def _normalize(self, x: Tensor) -> Tensor:
        running = self.running_mean, self.running_var
        own = self._is_normalized_by_itself()
        output = ops.instance_norm(
            x, *running, self.weight, self.bias, own, self.momentum, self.eps
        )
        self._note_moved()
        return output


class InstanceNorm1d(InstanceNorm):
    """Instance normalization: each channel of each sequence is normalized by itself.

    The layer computes::

        y = (x - mean) / sqrt(var + eps) * weight + bias

    Mean and variance are over one channel of one sequence, by default also in
    evaluation. See `ex.instance_norm` for the derivative.

    Parameters
    ----------
    num_features : int
        Number of channels.
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float, default 0.1
        Weight of the means over the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``.
    affine : bool, default False
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default False
        Whether to keep running statistics. With them the running statistics normalize in
        evaluation; without them each sequence's own do.
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
        An int64 buffer of PyTorch's state. It stays 0.

    Raises
    ------
    ValueError
        In a call, if the input has another number of axes or of channels.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.instance_norm : The function.

    Notes
    -----
    Shape: (batch, num_features, length) -> the same. The batch axis may be missing.

    References
    ----------
    Ulyanov et al., "Instance normalization: The missing ingredient for fast stylization", 2016.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.InstanceNorm1d(1, eps=3.0)([[[1.0, 3.0]], [[7.0, 7.0]]])
    tensor([[[-0.5,  0.5]],
    <BLANKLINE>
            [[ 0. ,  0. ]]])
    """

    _axes = (3,)


class InstanceNorm2d(InstanceNorm):
    """Instance normalization: each channel of each picture is normalized by itself.

    The layer computes::

        y = (x - mean) / sqrt(var + eps) * weight + bias

    Mean and variance are over the pixels of one channel of one picture, by default also in
    evaluation. See `ex.instance_norm` for the derivative.

    Parameters
    ----------
    num_features : int
        Number of channels.
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float, default 0.1
        Weight of the means over the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``.
    affine : bool, default False
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default False
        Whether to keep running statistics. With them the running statistics normalize in
        evaluation; without them each picture's own do.
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
        An int64 buffer of PyTorch's state. It stays 0.

    Raises
    ------
    ValueError
        In a call, if the input has another number of axes or of channels.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.instance_norm : The function.

    Notes
    -----
    Shape: (batch, num_features, height, width) -> the same. The batch axis may be missing.

    References
    ----------
    Ulyanov et al., "Instance normalization: The missing ingredient for fast stylization", 2016.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.InstanceNorm2d(1, eps=3.0)([[[[1.0, 3.0]]], [[[7.0, 7.0]]]])
    tensor([[[[-0.5,  0.5]]],
    <BLANKLINE>
    <BLANKLINE>
            [[[ 0. ,  0. ]]]])
    """

    _axes = (4,)


class InstanceNorm3d(InstanceNorm):
    """Instance normalization: each channel of each volume is normalized by itself.

    The layer computes::

        y = (x - mean) / sqrt(var + eps) * weight + bias

    Mean and variance are over the elements of one channel of one volume, by default also in
    evaluation. See `ex.instance_norm` for the derivative.

    Parameters
    ----------
    num_features : int
        Number of channels.
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float, default 0.1
        Weight of the means over the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``.
    affine : bool, default False
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default False
        Whether to keep running statistics. With them the running statistics normalize in
        evaluation; without them each volume's own do.
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
        An int64 buffer of PyTorch's state. It stays 0.

    Raises
    ------
    ValueError
        In a call, if the input has another number of axes or of channels.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.instance_norm : The function.

    Notes
    -----
    Shape: (batch, num_features, depth, height, width) -> the same. The batch axis may be missing.

    References
    ----------
    Ulyanov et al., "Instance normalization: The missing ingredient for fast stylization", 2016.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.InstanceNorm3d(3)(ex.ones((2, 3, 4, 4, 4))).shape
    (2, 3, 4, 4, 4)
    """

    _axes = (5,)
