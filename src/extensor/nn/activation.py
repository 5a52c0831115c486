"""Activations as modules, with PyTorch's names and arguments: rectifiers, sigmoids and softmax.

``inplace`` is taken so that PyTorch's code runs. It saves no memory here: the input stays as it is.
"""

from __future__ import annotations

from extensor import ops
from extensor.arrays.dtypes import DType, get_default_dtype
from extensor.core.creation import full
from extensor.core.tensor import Tensor
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.layer_inputs import in_dtype_of
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.typing import TensorLike


class Elementwise(Module):
    """An activation without options."""

    def __init__(self, inplace: bool = False) -> None:
        pass


class ReLU(Elementwise):
    """Rectified linear unit: ``max(x, 0)``.

    Parameters
    ----------
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    See Also
    --------
    ex.relu : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ReLU()([-2.0, 0.0, 2.0])
    tensor([0., 0., 2.])
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the activation to each element.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return ops.relu(x)


class LeakyReLU(Module):
    """Leaky rectifier: ``x`` where it is positive, else ``negative_slope * x``.

    Parameters
    ----------
    negative_slope : float, default 0.01
        Slope for negative inputs.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    See Also
    --------
    ex.leaky_relu : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.LeakyReLU(0.5)([-2.0, 0.0, 2.0])
    tensor([-1.,  0.,  2.])
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        self.negative_slope = negative_slope

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the activation to each element.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return ops.leaky_relu(x, self.negative_slope)


@also_takes(**DEVICE)
class PReLU(Module):
    """Leaky rectifier with learnable slopes: ``x`` where it is positive, else ``weight * x``.

    Parameters
    ----------
    num_parameters : int, default 1
        Number of slopes: 1 for a common slope, or the number of channels, which are axis 1 of the
        input.
    init : float, default 0.25
        Initial value of the slopes.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (num_parameters,)
        The slopes, initially ``init``.

    Raises
    ------
    ValueError
        In a call, if there are several slopes but not as many as channels.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.prelu : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same; (batch, num_parameters, ...) if there are several slopes.

    References
    ----------
    He et al., "Delving deep into rectifiers", 2015.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.PReLU(2)([[-4.0, 3.0]]).tolist()
    [[-1.0, 3.0]]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, *, dtype: DType = None) -> None:
        self.init = init
        self.weight = Parameter(full((num_parameters,), init, dtype or get_default_dtype()))

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the activation to each element.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return ops.prelu(in_dtype_of(self, self.weight, x), self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.weight.size}"


class Sigmoid(Module):
    """Logistic function: ``1 / (1 + exp(-x))``.

    See Also
    --------
    ex.sigmoid : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Sigmoid()([-2.0, 0.0, 2.0])
    tensor([0.11920292, 0.5       , 0.8807971 ])
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the activation to each element.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return ops.sigmoid(x)


class Tanh(Module):
    """Hyperbolic tangent.

    See Also
    --------
    ex.tanh : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Tanh()([-2.0, 0.0, 2.0])
    tensor([-0.9640276,  0.       ,  0.9640276])
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the activation to each element.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return ops.tanh(x)


class Softmax(Module):
    """Softmax: ``exp(x)`` divided by its sum along an axis.

    It is computed without overflow. For training, give scores to `CrossEntropyLoss` instead, which
    contains the softmax.

    Parameters
    ----------
    dim : int
        Axis whose elements compete. A negative number counts from the last axis.

    Raises
    ------
    ValueError
        In a call, if ``dim`` is out of range.

    See Also
    --------
    ex.softmax : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Softmax(-1)([1000.0, 1000.0, -1000.0])
    tensor([0.5, 0.5, 0. ])
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the softmax along the axis.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            Positive numbers that sum to 1 along the axis. They have the shape of ``x``.
        """
        return ops.softmax(x, self.dim)


class LogSoftmax(Module):
    """Logarithm of the softmax along an axis: ``x - log(sum(exp(x)))``.

    It is computed without overflow. For training, give scores to `CrossEntropyLoss` instead, which
    contains the softmax.

    Parameters
    ----------
    dim : int
        Axis whose elements compete. A negative number counts from the last axis.

    Raises
    ------
    ValueError
        In a call, if ``dim`` is out of range.

    See Also
    --------
    ex.log_softmax : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.LogSoftmax(-1)([[0.0, 0.0]])
    tensor([[-0.6931472, -0.6931472]])
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the logarithm of the softmax along the axis.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            Log-probabilities. They have the shape of ``x``.
        """
        return ops.log_softmax(x, self.dim)


class GLU(Module):
    """Gated linear unit: ``a * sigmoid(b)``, where ``a`` and ``b`` are the halves of the input.

    Parameters
    ----------
    dim : int, default -1
        Axis to halve. Its size must be even.

    Raises
    ------
    ValueError
        In a call, if the size of the axis is odd or ``dim`` is out of range.

    See Also
    --------
    ex.glu : The function, with its derivative.

    Notes
    -----
    Shape: (..., 2 * n, ...) -> (..., n, ...) on the axis ``dim``.

    References
    ----------
    Dauphin et al., "Language modeling with gated convolutional networks", 2017.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.GLU()([1.0, 2.0, 0.0, 0.0])
    tensor([0.5, 1. ])
    """

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, x: TensorLike) -> Tensor:
        """Gate the first half of ``x`` by the second.

        Parameters
        ----------
        x : tensor_like
            The input.

        Returns
        -------
        Tensor
            The result, in the shape of ``x`` with the axis halved.
        """
        return ops.glu(x, self.dim)
