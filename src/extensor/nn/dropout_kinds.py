"""Dropout of channels of sequences and volumes, and dropout for networks with SELU, as modules."""

from __future__ import annotations

from extensor.core.tensor import Tensor
from extensor.nn.dropout import DropoutModule
from extensor.ops import alpha_dropout, dropout1d, dropout3d, feature_alpha_dropout
from extensor.typing import TensorLike


class Dropout1d(DropoutModule):
    """Dropout of channels of sequences: set whole channels of each sample to 0 during training.

    In training each channel becomes 0 with probability ``p``, and the others are divided by
    ``1 - p``. In evaluation mode the input is returned as it is.

    Parameters
    ----------
    p : float, default 0.5
        Probability of a 0, from 0 to 1.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1]. In a call, if ``x`` has another number of axes.

    See Also
    --------
    ex.dropout1d : The function.
    Dropout2d : For pictures.

    Notes
    -----
    Shape: (batch, channels, length) -> the same. The batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.Dropout1d(0.5)
    >>> sorted({*layer(ex.ones((8, 100, 2))).flatten().tolist()})
    [0.0, 2.0]
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Drop channels of ``x`` in training, and return it as it is in evaluation.

        Parameters
        ----------
        x : tensor_like, (batch, channels, length)
            The sequences. The batch axis may be missing.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return dropout1d(x, self.p, self.training)


class Dropout3d(DropoutModule):
    """Dropout of channels of volumes: set whole channels of each sample to 0 during training.

    In training each channel becomes 0 with probability ``p``, and the others are divided by
    ``1 - p``. In evaluation mode the input is returned as it is.

    Parameters
    ----------
    p : float, default 0.5
        Probability of a 0, from 0 to 1.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1]. In a call, if ``x`` has another number of axes.

    See Also
    --------
    ex.dropout3d : The function.
    Dropout2d : For pictures.

    Notes
    -----
    Shape: (batch, channels, depth, height, width) -> the same. The batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.Dropout3d(0.5)
    >>> sorted({*layer(ex.ones((8, 100, 1, 2, 2))).flatten().tolist()})
    [0.0, 2.0]
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Drop channels of ``x`` in training, and return it as it is in evaluation.

        Parameters
        ----------
        x : tensor_like, (batch, channels, depth, height, width)
            The volumes. The batch axis may be missing.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return dropout3d(x, self.p, self.training)


class AlphaDropout(DropoutModule):
    """Dropout of elements that keeps mean and variance, for networks with `SELU`.

    In training elements become the lowest value of `SELU` with probability ``p``. Then all are scaled
    and shifted, so that a mean of 0 and a variance of 1 stay. In evaluation mode the input is
    returned as it is.

    Parameters
    ----------
    p : float, default 0.5
        Probability of a drop, from 0 to 1.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1].

    See Also
    --------
    ex.alpha_dropout : The function.

    Notes
    -----
    Shape: any -> the same.

    References
    ----------
    Klambauer et al., "Self-normalizing neural networks", 2017.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.AlphaDropout(0.5)
    >>> len({*layer(ex.zeros(1000)).flatten().tolist()})
    2
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Drop elements of ``x`` in training, and return it as it is in evaluation.

        Parameters
        ----------
        x : tensor_like, any
            The input.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return alpha_dropout(x, self.p, self.training)


class FeatureAlphaDropout(DropoutModule):
    """Dropout of channels that keeps mean and variance, for networks with `SELU`.

    In training channels become the lowest value of `SELU` with probability ``p``. Then all are scaled
    and shifted, so that a mean of 0 and a variance of 1 stay. In evaluation mode the input is
    returned as it is.

    Parameters
    ----------
    p : float, default 0.5
        Probability of a drop, from 0 to 1.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1].

    See Also
    --------
    ex.feature_alpha_dropout : The function.

    Notes
    -----
    Shape: (batch, channels, ...) -> the same.

    References
    ----------
    Klambauer et al., "Self-normalizing neural networks", 2017.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.FeatureAlphaDropout(0.5)
    >>> len({*layer(ex.zeros((8, 100, 2))).flatten().tolist()})
    2
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
        return feature_alpha_dropout(x, self.p, self.training)
