"""The encoder layer of the transformer (Vaswani et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor.arrays.dtypes import DType
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.attention import MultiHeadAttention
from extensor.nn.dropout import Dropout
from extensor.nn.linear import Linear
from extensor.nn.module import Module
from extensor.nn.normalization import LayerNorm
from extensor.ops import gelu, relu
from extensor.typing import TensorLike

ACTIVATIONS: dict[str, Callable[..., Tensor]] = {"relu": relu, "gelu": gelu}


class FeedForward(Module):
    """The base of layers that end in two linear ones."""

    def _make_linear(
        self,
        d_model: int,
        dim_feedforward: int,
        dropout: float,
        activation: str | Callable[..., Tensor],
        bias: bool,
        dtype: DType,
    ) -> None:
        if isinstance(activation, str) and activation not in ACTIVATIONS:
            requirement = "activation must be 'relu', 'gelu' or a function"
            raise value_error(type(self).__name__, requirement, activation=activation)
        self.activation = ACTIVATIONS[activation] if isinstance(activation, str) else activation
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype=dtype)

    def _fed_forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return result


@also_takes(**DEVICE)
class TransformerEncoderLayer(FeedForward):
    """Encoder layer of the transformer: self-attention, then a network of two linear layers.

    Both parts have dropout, a residual connection and layer normalization::

        x = norm1(x + dropout1(self_attn(x)))
        x = norm2(x + dropout2(linear2(dropout(activation(linear1(x))))))

    With ``norm_first`` the inputs of the parts are normalized instead::

        x = x + dropout1(self_attn(norm1(x)))
        x = x + dropout2(linear2(dropout(activation(linear1(norm2(x))))))

    Parameters
    ----------
    d_model : int
        Size of the vectors.
    nhead : int
        Number of heads. It must divide ``d_model``.
    dim_feedforward : int, default 2048
        Size between the two linear layers.
    dropout : float, default 0.1
        Probability of dropout after each part, between the linear layers and on the attention
        weights.
    activation : {"relu", "gelu"} or callable, default "relu"
        Function between the linear layers.
    layer_norm_eps : float, default 1e-05
        Number added to the variances before the root is taken.
    batch_first : bool, default False
        Whether the batch is the first axis, instead of the second.
    norm_first : bool, default False
        Whether to normalize the input of each part instead of the sum. Deep networks then train
        without a warm-up of the learning rate.
    bias : bool, default True
        Whether linear layers, attention and normalization have biases.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    self_attn : MultiHeadAttention
        The attention.
    linear1, linear2 : Linear
        The linear layers, (d_model -> dim_feedforward) and back.
    norm1, norm2 : LayerNorm
        The normalizations of the two parts.

    Raises
    ------
    ValueError
        If ``activation`` is an unknown name, ``nhead`` does not divide ``d_model`` or ``dropout``
        is not in [0, 1]. In a call, if the shapes do not fit.

    Notes
    -----
    Shape: (length, batch, d_model), with ``batch_first`` (batch, length, d_model), or without a
    batch (length, d_model) -> the same.

    References
    ----------
    Vaswani et al., "Attention is all you need", 2017. ``norm_first``: Xiong et al., "On layer
    normalization in the transformer architecture", 2020.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> layer(ex.ones((3, 5, 8)), is_causal=True).shape
    (3, 5, 8)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[..., Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        dtype: DType = None,
    ) -> None:
        self.norm_first = norm_first
        self.self_attn = MultiHeadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype
        )
        self._make_linear(d_model, dim_feedforward, dropout, activation, bias, dtype)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)

    def forward(
        self,
        src: TensorLike,
        src_mask: TensorLike | None = None,
        src_key_padding_mask: TensorLike | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Encode a sequence.

        Parameters
        ----------
        src : tensor_like, (length, batch, d_model)
            The sequences; with ``batch_first`` (batch, length, d_model), without a batch (length,
            d_model).
        src_mask : tensor_like, (length, length) or (batch * nhead, length, length), optional
            Pairs to ignore, where it is True; or floats to add to the scores.
        src_key_padding_mask : tensor_like, (batch, length), optional
            Positions to ignore, where it is True; or floats to add to the scores.
        is_causal : bool, default False
            Whether each position sees only itself and earlier ones. It is ignored if ``src_mask``
            is given.

        Returns
        -------
        Tensor
            The encoded sequences, in the shape of ``src``.
        """
        given: Any = src
        masks = (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x: Tensor = given + self._attend(self.norm1(src), *masks)
            return x + self.dropout2(self._fed_forward(self.norm2(x)))
        x = self.norm1(given + self._attend(src, *masks))
        return self.norm2(x + self.dropout2(self._fed_forward(x)))

    def _attend(self, x: Any, mask: Any, padding_mask: Any, is_causal: bool) -> Tensor:
        output, _ = self.self_attn(x, x, x, padding_mask, False, mask, is_causal=is_causal)
        return self.dropout1(output)
