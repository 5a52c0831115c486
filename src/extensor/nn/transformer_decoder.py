"""The decoder layer of the transformer (Vaswani et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor.arrays.dtypes import DType
from extensor.core.tensor import Tensor
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.attention import MultiHeadAttention
from extensor.nn.dropout import Dropout
from extensor.nn.normalization import LayerNorm
from extensor.nn.transformer import FeedForward
from extensor.typing import TensorLike


@also_takes(**DEVICE)
class TransformerDecoderLayer(FeedForward):
    """Decoder layer of the transformer: self-attention, attention to a memory, two linear layers.

    Each part has dropout, a residual connection and layer normalization::

        x = norm1(x + dropout1(self_attn(x)))
        x = norm2(x + dropout2(multihead_attn(x, memory)))
        x = norm3(x + dropout3(linear2(dropout(activation(linear1(x))))))

    With ``norm_first`` the inputs of the parts are normalized instead of the sums.

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
        Whether to normalize the input of each part instead of the sum.
    bias : bool, default True
        Whether linear layers, attention and normalization have biases.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    self_attn, multihead_attn : MultiHeadAttention
        The attention to the sequence itself and to the memory.
    linear1, linear2 : Linear
        The linear layers, (d_model -> dim_feedforward) and back.
    norm1, norm2, norm3 : LayerNorm
        The normalizations of the three parts.

    Raises
    ------
    ValueError
        If ``activation`` is an unknown name, ``nhead`` does not divide ``d_model`` or ``dropout``
        is not in [0, 1]. In a call, if the shapes do not fit.

    Notes
    -----
    Shape: target (length, batch, d_model) and memory (keys, batch, d_model), with ``batch_first``
    the batch in front, or both without a batch -> the shape of the target.

    References
    ----------
    Vaswani et al., "Attention is all you need", 2017.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.TransformerDecoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> layer(ex.ones((3, 5, 8)), ex.ones((3, 7, 8)), tgt_is_causal=True).shape
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
        self.self_attn, self.multihead_attn = (
            MultiHeadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype)
            for _ in range(2)
        )
        self._make_linear(d_model, dim_feedforward, dropout, activation, bias, dtype)
        self.norm1, self.norm2, self.norm3 = (
            LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype) for _ in range(3)
        )
        self.dropout1, self.dropout2, self.dropout3 = (Dropout(dropout) for _ in range(3))

    def forward(
        self,
        tgt: TensorLike,
        memory: TensorLike,
        tgt_mask: TensorLike | None = None,
        memory_mask: TensorLike | None = None,
        tgt_key_padding_mask: TensorLike | None = None,
        memory_key_padding_mask: TensorLike | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode a sequence with a memory.

        Parameters
        ----------
        tgt : tensor_like, (length, batch, d_model)
            The sequences; with ``batch_first`` (batch, length, d_model), without a batch (length,
            d_model).
        memory : tensor_like, (keys, batch, d_model)
            The output of the encoder, in the same layout.
        tgt_mask : tensor_like, (length, length) or (batch * nhead, length, length), optional
            Pairs of the sequence to ignore, where it is True; or floats to add to the scores.
        memory_mask : tensor_like, (length, keys) or (batch * nhead, length, keys), optional
            Pairs of sequence and memory to ignore, likewise.
        tgt_key_padding_mask : tensor_like, (batch, length), optional
            Positions of the sequence to ignore, where it is True; or floats to add to the scores.
        memory_key_padding_mask : tensor_like, (batch, keys), optional
            Positions of the memory to ignore, likewise.
        tgt_is_causal : bool, default False
            Whether each position sees only itself and earlier ones. It is ignored if ``tgt_mask`` is
            given.
        memory_is_causal : bool, default False
            Whether position i sees only the memory up to i. It is ignored if ``memory_mask`` is given.

        Returns
        -------
        Tensor
            The decoded sequences, in the shape of ``tgt``.
        """
        given: Any = tgt
        own = (tgt_key_padding_mask, False, tgt_mask, True, tgt_is_causal)
        others = (memory_key_padding_mask, False, memory_mask, True, memory_is_causal)
        if self.norm_first:
            x = self.norm1(given)
            x = given + self.dropout1(self.self_attn(x, x, x, *own)[0])
            y = self.norm2(x)
            x = x + self.dropout2(self.multihead_attn(y, memory, memory, *others)[0])
            normalized: Tensor = x + self.dropout3(self._fed_forward(self.norm3(x)))
            return normalized
        x = self.norm1(given + self.dropout1(self.self_attn(given, given, given, *own)[0]))
        attended = self.multihead_attn(x, memory, memory, *others)[0]
        x = self.norm2(x + self.dropout2(attended))
        result: Tensor = self.norm3(x + self.dropout3(self._fed_forward(x)))
        return result
