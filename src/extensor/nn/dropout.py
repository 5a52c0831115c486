"""Dropout as modules: active in training, the identity in evaluation."""

from __future__ import annotations

from extensor.core.creation import asarray
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.ops import dropout, dropout2d
from extensor.typing import TensorLike


class DropoutModule(Module):
    """``inplace`` is taken so that PyTorch's code runs; the input stays as it is."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise value_error(type(self).__name__, "p must be in [0, 1]", p=p)
        self.p = p


class Dropout(DropoutModule):
    """Dropout: set random elements to 0 during training.

    In training each element becomes 0 with probability ``p``, independently, and the others are
    divided by ``1 - p``, so that the expected value stays. In evaluation mode (``module.eval()``)
    the input is returned as it is.

    Parameters
    ----------
    p : float, default 0.5
        Probability of a 0, from 0 to 1.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1].

    See Also
    --------
    ex.dropout : The function.
    Dropout2d : Drops whole channels.
    ex.random.manual_seed : Makes the mask repeatable.

    Notes
    -----
    Shape: any -> the same.

    References
    ----------
    Srivastava et al., "Dropout: A simple way to prevent neural networks from overfitting", 2014.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.Dropout(0.75)
    >>> sorted({*layer(ex.ones(1000)).tolist()})
    [0.0, 4.0]
    >>> layer.eval()(ex.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Drop elements of ``x`` in training, and return it as it is in evaluation.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        # What changes nothing need not be recorded.
        return dropout(x, self.p) if self.training and self.p else asarray(x)


class Dropout2d(DropoutModule):
    """Dropout of channels: set whole channels of each sample to 0 during training.

    In training each channel becomes 0 with probability ``p``, and the others are divided by
    ``1 - p``. Neighbouring pixels are alike, so dropping them one by one would hide little. In
    evaluation mode the input is returned as it is.

    Parameters
    ----------
    p : float, default 0.5
        Probability of a 0, from 0 to 1.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1].

    See Also
    --------
    ex.dropout2d : The function.
    Dropout : Drops single elements.

    Notes
    -----
    Shape: (batch, channels, ...) -> the same.

    References
    ----------
    Tompson et al., "Efficient object localization using convolutional networks", 2015.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.Dropout2d(0.5)
    >>> sorted({*layer(ex.ones((8, 100, 2, 2))).sum(axis=(2, 3)).flatten().tolist()})
    [0.0, 8.0]
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Drop channels of ``x`` in training, and return it as it is in evaluation.

        Parameters
        ----------
        x : tensor_like, (batch, channels, ...)
            The input.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return dropout2d(x, self.p, self.training)
