"""Linear, and the modules that compute nothing: Identity, Flatten and Unflatten."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

from extensor.arrays.dtypes import DType
from extensor.arrays.shapes import axis_index
from extensor.core.creation import asarray, empty
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn import init
from extensor.nn.layer_inputs import in_dtype_of
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.ops import flatten, linear
from extensor.typing import TensorLike


@also_takes(**DEVICE)
class Linear(Module):
    """Affine map of the last axis: ``x @ weight.T + bias``.

    Parameters
    ----------
    in_features : int
        Size of the last axis of the input.
    out_features : int
        Size of the last axis of the output.
    bias : bool, default True
        Whether to add a learnable bias.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (out_features, in_features)
        The matrix. Initially uniform in ``[-b, b]`` with ``b = 1 / sqrt(in_features)``.
    bias : Parameter, (out_features,)
        Numbers added to the outputs, initially uniform in the same interval. None with
        ``bias=False``.

    Raises
    ------
    ValueError
        In a call, if the last axis of the input does not have ``in_features`` elements.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.linear : The function.

    Notes
    -----
    Shape: (..., in_features) -> (..., out_features).

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.Linear(3, 2)
    >>> layer(ex.ones((4, 3))).shape
    (4, 2)
    >>> layer.weight.shape, layer.bias.shape
    ((2, 3), (2,))
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, *, dtype: DType = None
    ) -> None:
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), dtype))
        self.bias = Parameter(empty((out_features,), dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for the weight and the bias."""
        uniform_by_fan_in(self.weight, self.bias)

    def forward(self, x: TensorLike) -> Tensor:
        """Compute ``x @ weight.T + bias``.

        Parameters
        ----------
        x : tensor_like, (..., in_features)
            The input.

        Returns
        -------
        Tensor, (..., out_features)
            The output.
        """
        return linear(in_dtype_of(self, self.weight, x), self.weight, self.bias)


def uniform_by_fan_in(weight: Parameter, bias: Parameter | None) -> None:
    """PyTorch's beginning of linear and convolutional layers: within ``1 / sqrt(fan_in)``."""
    fan_in, _ = init.calculate_fans(weight.shape)
    bound = 1 / sqrt(fan_in) if fan_in else 0.0
    init.uniform_(weight, -bound, bound)
    if bias is not None:
        init.uniform_(bias, -bound, bound)


class Identity(Module):
    """Layer that returns its input.

    It can replace any layer of a network, since its constructor ignores all arguments.

    Parameters
    ----------
    *args, **kwargs
        Ignored.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Identity(64, bias=False)(ex.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x`` itself.

        Parameters
        ----------
        x : Tensor
            Any value.

        Returns
        -------
        Tensor
            ``x``, not a copy.
        """
        return x


class Flatten(Module):
    """Layer that joins neighbouring axes into one, by default all but the batch.

    Parameters
    ----------
    start_dim : int, default 1
        First axis to join. A negative number counts from the last axis.
    end_dim : int, default -1
        Last axis to join.

    Raises
    ------
    ValueError
        In a call, if an axis is out of range or ``start_dim`` is behind ``end_dim``.

    See Also
    --------
    ex.flatten : The function.

    Notes
    -----
    Shape: (batch, a, b, ...) -> (batch, a * b * ...) with the defaults.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Flatten()(ex.ones((2, 3, 4, 5))).shape
    (2, 60)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, x: TensorLike) -> Tensor:
        """Join the axes of ``x``.

        Parameters
        ----------
        x : tensor_like
            The input.

        Returns
        -------
        Tensor
            The same elements, with fewer axes.
        """
        return flatten(x, self.start_dim, self.end_dim)


class Unflatten(Module):
    """Layer that splits an axis into several, the opposite of `Flatten`.

    Parameters
    ----------
    dim : int
        Axis to split. A negative number counts from the last axis.
    unflattened_size : sequence of ints
        Sizes of the new axes. One of them may be -1: it follows from the others.

    Raises
    ------
    ValueError
        In a call, if the axis is out of range, or the sizes do not make up its size.

    See Also
    --------
    ex.reshape : The function that gives any shape.

    Notes
    -----
    Shape: ``(..., a * b, ...)`` -> ``(..., a, b, ...)``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Unflatten(1, (3, -1))(ex.ones((2, 12))).shape
    (2, 3, 4)
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, x: TensorLike) -> Tensor:
        """Split the axis of ``x``.

        Parameters
        ----------
        x : tensor_like
            The input.

        Returns
        -------
        Tensor
            The same elements, with more axes.
        """
        given = asarray(x)
        axis = axis_index("Unflatten", self.dim, given.ndim, "dim")
        sizes = tuple(self.unflattened_size)
        known = prod(size for size in sizes if size != -1)
        if -1 in sizes and known:
            sizes = tuple(given.shape[axis] // known if size == -1 else size for size in sizes)
        if not sizes or min(sizes) < 0 or prod(sizes) != given.shape[axis]:
            requirement = f"unflattened_size must make up axis {axis}"
            got = {"x_shape": given.shape, "unflattened_size": self.unflattened_size}
            raise value_error("Unflatten", requirement, **got)
        return given.reshape((*given.shape[:axis], *sizes, *given.shape[axis + 1 :]))
