"""Normalizations of single samples as modules: over groups of channels, over the last axes."""

from __future__ import annotations

from collections.abc import Sequence

from extensor import ops
from extensor.arrays.dtypes import DType
from extensor.arrays.shapes import target
from extensor.core.creation import ones, zeros
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.layer_inputs import in_dtype_of
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.typing import TensorLike


@also_takes(**DEVICE)
class GroupNorm(Module):
    """Group normalization: groups of channels of each sample are normalized together.

    The layer computes::

        y = (x - mean) / sqrt(var + eps) * weight + bias

    Mean and variance are over the channels of a group and all positions, sample by sample, so the
    result does not depend on the batch. See `ex.group_norm` for the derivative.

    Parameters
    ----------
    num_groups : int
        Number of groups. It must divide ``num_channels``; 1 normalizes all channels together.
    num_channels : int
        Number of channels, axis 1 of the input.
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    affine : bool, default True
        Whether to multiply each channel by a learnable ``weight`` and to add a learnable ``bias``.
    bias : bool, default True
        Whether to have a ``bias`` if ``affine`` is set.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (num_channels,)
        Factors of the channels, initially 1. None with ``affine=False``.
    bias : Parameter, (num_channels,)
        Numbers added to the channels, initially 0. None with ``affine=False`` or ``bias=False``.

    Raises
    ------
    ValueError
        If ``num_groups`` does not divide ``num_channels``. In a call, if the shapes do not fit.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.group_norm : The function.

    Notes
    -----
    Shape: (batch, num_channels, ...) -> the same.

    References
    ----------
    Wu and He, "Group normalization", 2018.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.GroupNorm(3, 6)(ex.ones((2, 6, 8, 8))).shape
    (2, 6, 8, 8)
    """

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
        """Normalize each group of channels of each sample.

        Parameters
        ----------
        x : tensor_like, (batch, num_channels, ...)
            The input.

        Returns
        -------
        Tensor
            The normalized values, in the shape of ``x``.
        """
        x = in_dtype_of(self, self.weight, x)
        return ops.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)


@also_takes(**DEVICE)
class LayerNorm(Module):
    """Layer normalization over the last axes of each sample.

    The layer computes::

        y = (x - mean) / sqrt(var + eps) * weight + bias

    Mean and variance are over the last axes, whose sizes are ``normalized_shape``. See
    `ex.layer_norm` for the derivative.

    Parameters
    ----------
    normalized_shape : int or sequence of ints
        Sizes of the axes to normalize over; a number for the last axis alone.
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    elementwise_affine : bool, default True
        Whether to multiply each element by a learnable ``weight`` and to add a learnable ``bias``.
    bias : bool, default True
        Whether to have a ``bias`` if ``elementwise_affine`` is set.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, normalized_shape
        Factors of the elements, initially 1. None with ``elementwise_affine=False``.
    bias : Parameter, normalized_shape
        Numbers added to the elements, initially 0. None with ``elementwise_affine=False`` or
        ``bias=False``.

    Raises
    ------
    ValueError
        In a call, if the last axes of the input do not have these sizes.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.layer_norm : The function.

    Notes
    -----
    Shape: ``(..., *normalized_shape)`` -> the same.

    References
    ----------
    Ba et al., "Layer normalization", 2016.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.LayerNorm(2, eps=3.0)([[1.0, 3.0], [7.0, 7.0]])
    tensor([[-0.5,  0.5],
            [ 0. ,  0. ]], op=layer_norm)
    """

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
        """Normalize the last axes of ``x``.

        Parameters
        ----------
        x : tensor_like
            The input, whose last axes are ``normalized_shape``.

        Returns
        -------
        Tensor
            The normalized values, in the shape of ``x``.
        """
        x = in_dtype_of(self, self.weight, x)
        return ops.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


@also_takes(**DEVICE)
class RMSNorm(Module):
    """Root-mean-square normalization over the last axes of each sample.

    The layer computes::

        y = x / sqrt(mean(x**2) + eps) * weight

    Unlike `LayerNorm` it subtracts no mean and has no bias. See `ex.rms_norm` for the derivative.

    Parameters
    ----------
    normalized_shape : int or sequence of ints
        Sizes of the axes to normalize over; a number for the last axis alone.
    eps : float, optional
        Number added to the mean square. By default that is the machine epsilon of the dtype.
    elementwise_affine : bool, default True
        Whether to multiply each element by a learnable ``weight``.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, normalized_shape
        Factors of the elements, initially 1. None with ``elementwise_affine=False``.

    Raises
    ------
    ValueError
        In a call, if the last axes of the input do not have these sizes.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.rms_norm : The function.

    Notes
    -----
    Shape: ``(..., *normalized_shape)`` -> the same.

    References
    ----------
    Zhang and Sennrich, "Root mean square layer normalization", 2019.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.RMSNorm(4, elementwise_affine=False)([3.0, 4.0, 0.0, 0.0])
    tensor([1.2, 1.6, 0. , 0. ])
    """

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
        """Divide the last axes of ``x`` by their root mean square.

        Parameters
        ----------
        x : tensor_like
            The input, whose last axes are ``normalized_shape``.

        Returns
        -------
        Tensor
            The normalized values, in the shape of ``x``.
        """
        x = in_dtype_of(self, self.weight, x)
        return ops.rms_norm(x, self.normalized_shape, self.weight, self.eps)
