"""Smooth relatives of the rectifier as modules."""

from __future__ import annotations

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.errors import arguments
from extensor.nn.activation import Elementwise
from extensor.nn.module import Module
from extensor.typing import TensorLike

_EXACT_SOFTPLUS = 20.0  # from here on a threshold of PyTorch's hides an overflow, and nothing else


class ELU(Module):
    """Exponential linear unit: ``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Parameters
    ----------
    alpha : float, default 1.0
        The result for large negative inputs is ``-alpha``.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    See Also
    --------
    ex.elu : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    References
    ----------
    Clevert et al., "Fast and accurate deep network learning by exponential linear units", 2016.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ELU()([-2.0, 0.0, 2.0])
    tensor([-0.86466473,  0.        ,  2.        ])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha = alpha

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
        return ops.elu(x, self.alpha)


class SELU(Elementwise):
    """Scaled exponential linear unit: ``scale * x`` where ``x`` is positive, else
    ``scale * alpha * (exp(x) - 1)``.

    The constants, ``scale = 1.0507`` and ``alpha = 1.6733``, let activations of mean 0 and variance
    1 keep both from layer to layer.

    Parameters
    ----------
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    See Also
    --------
    ex.selu : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    References
    ----------
    Klambauer et al., "Self-normalizing neural networks", 2017.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.SELU()([-2.0, 0.0, 2.0])
    tensor([-1.5201665,  0.       ,  2.101402 ])
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
        return ops.selu(x)


class SiLU(Elementwise):
    """Sigmoid linear unit, also known as swish: ``x * sigmoid(x)``.

    Parameters
    ----------
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    See Also
    --------
    ex.silu : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.SiLU()([-2.0, 0.0, 2.0])
    tensor([-0.23840584,  0.        ,  1.7615942 ])
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
        return ops.silu(x)


class Mish(Elementwise):
    """Mish: ``x * tanh(softplus(x))``.

    Parameters
    ----------
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    See Also
    --------
    ex.mish : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    References
    ----------
    Misra, "Mish: A self regularized non-monotonic activation function", 2019.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Mish()([-2.0, 0.0, 2.0])
    tensor([-0.2525015,  0.       ,  1.943959 ])
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
        return ops.mish(x)


class GELU(Module):
    """Gaussian error linear unit: ``x * Phi(x)``, where ``Phi`` is the normal distribution function.

    Parameters
    ----------
    approximate : {"none", "tanh"}, default "none"
        "none" computes the exact function, "tanh" the approximation
        ``x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2``.

    Raises
    ------
    ValueError
        If ``approximate`` is neither of the two.

    See Also
    --------
    ex.gelu : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    References
    ----------
    Hendrycks and Gimpel, "Gaussian error linear units", 2016.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.GELU()([-1.0, 0.0, 1.0])
    tensor([-0.15865526,  0.        ,  0.8413447 ])
    """

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = arguments.choice("GELU", "approximate", approximate, ("none", "tanh"))

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
        return ops.gelu(x, self.approximate == "tanh")


class Softplus(Module):
    """Smooth rectifier: ``log(1 + exp(beta * x)) / beta``.

    It is computed without overflow. Where ``beta * x`` is above ``threshold``, the result is ``x``.

    Parameters
    ----------
    beta : float, default 1.0
        Sharpness. The larger it is, the closer the result is to ``max(x, 0)``.
    threshold : float, default 20.0
        Value of ``beta * x`` above which the result is ``x``. 20 and more have no effect, since the
        two differ by less than ``3e-9 / beta`` there.

    Raises
    ------
    TypeError
        If ``threshold`` is not a number.

    See Also
    --------
    ex.softplus : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Softplus()([-2.0, 0.0, 2.0])
    tensor([0.12692802, 0.6931472 , 2.126928  ])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta = beta
        self.threshold = arguments.number("Softplus", "threshold", threshold)

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
        smooth = ops.softplus(x, self.beta)
        if self.threshold >= _EXACT_SOFTPLUS:
            return smooth
        return ops.where(ops.greater(ops.multiply(x, self.beta), self.threshold), x, smooth)


class Softsign(Module):
    """Softsign: ``x / (1 + |x|)``.

    See Also
    --------
    ex.softsign : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Softsign()([-1.0, 0.0, 3.0])
    tensor([-0.5 ,  0.  ,  0.75])
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
        return ops.softsign(x)


class LogSigmoid(Module):
    """Logarithm of the sigmoid: ``-log(1 + exp(-x))``, without overflow.

    See Also
    --------
    ex.log_sigmoid : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.LogSigmoid()([-1000.0, 0.0])
    tensor([-1000.       ,    -0.6931472])
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
        return ops.log_sigmoid(x)


class CELU(Module):
    """Continuously differentiable exponential linear unit.

    It is ``x`` where that is positive, else ``alpha * (exp(x / alpha) - 1)``.

    Parameters
    ----------
    alpha : float, default 1.0
        The result for large negative inputs is ``-alpha``.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    Raises
    ------
    ValueError
        In a call, if ``alpha`` is 0.

    See Also
    --------
    ex.celu : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    References
    ----------
    Barron, "Continuously differentiable exponential linear units", 2017.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.CELU(0.5)([-1.0, 2.0])
    tensor([-0.43233237,  2.        ])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha = alpha

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
        return ops.celu(x, self.alpha)
