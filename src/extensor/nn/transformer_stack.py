"""Stacks of transformer layers, and the whole transformer (Vaswani et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from math import inf
from typing import Any

from extensor.arrays.dtypes import DType
from extensor.core.creation import asarray, full
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn import init
from extensor.nn.containers import ModuleList
from extensor.nn.module import Module
from extensor.nn.normalization import LayerNorm
from extensor.nn.transformer import TransformerEncoderLayer
from extensor.nn.transformer_decoder import TransformerDecoderLayer
from extensor.ops import triu
from extensor.typing import TensorLike


class _Stack(Module):
    def _make_layers(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        if num_layers < 0:
            requirement = "num_layers must not be negative"
            raise value_error(type(self).__name__, requirement, num_layers=num_layers)
        self.layers = ModuleList([deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def _normalized(self, x: Any) -> Tensor:
        return asarray(x) if self.norm is None else self.norm(x)


@also_takes(enable_nested_tensor=(True, False), mask_check=(True, False))
class TransformerEncoder(_Stack):
    """Stack of encoder layers, each of which reads the output of the one below.

    Parameters
    ----------
    encoder_layer : Module
        The layer, such as a `TransformerEncoderLayer`. It is copied, with its weights.
    num_layers : int
        Number of copies.
    norm : Module, optional
        Normalization of the last output.

    Attributes
    ----------
    layers : ModuleList
        The copies.

    Raises
    ------
    ValueError
        If ``num_layers`` is negative.

    Notes
    -----
    Shape: that of the layer. The copies have the same initial weights; draw others if they should
    differ.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> ex.nn.TransformerEncoder(layer, 3)(ex.ones((4, 5, 8))).shape
    (4, 5, 8)
    """

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self._make_layers(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: TensorLike,
        mask: TensorLike | None = None,
        src_key_padding_mask: TensorLike | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Encode a sequence.

        Parameters
        ----------
        src : tensor_like
            The sequences, in the layout of the layers.
        mask : tensor_like, optional
            Pairs to ignore, for each layer.
        src_key_padding_mask : tensor_like, optional
            Positions to ignore, for each layer.
        is_causal : bool, optional
            Whether each position sees only itself and earlier ones, by default False. It is ignored
            if ``mask`` is given.

        Returns
        -------
        Tensor
            The encoded sequences, in the shape of ``src``.
        """
        x: Any = src
        for layer in self.layers:
            x = layer(x, mask, src_key_padding_mask, bool(is_causal))
        return self._normalized(x)


class TransformerDecoder(_Stack):
    """Stack of decoder layers, each of which reads the output of the one below and the same memory.

    Parameters
    ----------
    decoder_layer : Module
        The layer, such as a `TransformerDecoderLayer`. It is copied, with its weights.
    num_layers : int
        Number of copies.
    norm : Module, optional
        Normalization of the last output.

    Attributes
    ----------
    layers : ModuleList
        The copies.

    Raises
    ------
    ValueError
        If ``num_layers`` is negative.

    Notes
    -----
    Shape: that of the layer. The copies have the same initial weights; draw others if they should
    differ.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.TransformerDecoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> ex.nn.TransformerDecoder(layer, 3)(ex.ones((4, 5, 8)), ex.ones((4, 6, 8))).shape
    (4, 5, 8)
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self._make_layers(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: TensorLike,
        memory: TensorLike,
        tgt_mask: TensorLike | None = None,
        memory_mask: TensorLike | None = None,
        tgt_key_padding_mask: TensorLike | None = None,
        memory_key_padding_mask: TensorLike | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode a sequence with a memory.

        Parameters
        ----------
        tgt : tensor_like
            The sequences, in the layout of the layers.
        memory : tensor_like
            The output of the encoder, in the same layout.
        tgt_mask, memory_mask : tensor_like, optional
            Pairs to ignore, for each layer.
        tgt_key_padding_mask, memory_key_padding_mask : tensor_like, optional
            Positions to ignore, for each layer.
        tgt_is_causal : bool, optional
            Whether each position sees only itself and earlier ones, by default False. It is ignored
            if ``tgt_mask`` is given.
        memory_is_causal : bool, default False
            Whether position i sees only the memory up to i. It is ignored if ``memory_mask`` is given.

        Returns
        -------
        Tensor
            The decoded sequences, in the shape of ``tgt``.
        """
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        x: Any = tgt
        for layer in self.layers:
            x = layer(x, memory, *masks, bool(tgt_is_causal), memory_is_causal)
        return self._normalized(x)


@also_takes(**DEVICE)
class Transformer(Module):
    """The transformer: a stack of encoder layers, whose output a stack of decoder layers reads.

    Parameters
    ----------
    d_model : int, default 512
        Size of the vectors.
    nhead : int, default 8
        Number of heads. It must divide ``d_model``.
    num_encoder_layers : int, default 6
        Number of encoder layers.
    num_decoder_layers : int, default 6
        Number of decoder layers.
    dim_feedforward : int, default 2048
        Size between the two linear layers of each layer.
    dropout : float, default 0.1
        Probability of dropout.
    activation : {"relu", "gelu"} or callable, default "relu"
        Function between the linear layers.
    custom_encoder : Module, optional
        The encoder, instead of a new one.
    custom_decoder : Module, optional
        The decoder, instead of a new one.
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
    encoder : TransformerEncoder
        The encoder, which ends with a normalization.
    decoder : TransformerDecoder
        The decoder, which ends with a normalization.

    Raises
    ------
    ValueError
        If ``activation`` is an unknown name, ``nhead`` does not divide ``d_model`` or ``dropout``
        is not in [0, 1]. In a call, if the shapes do not fit.

    Notes
    -----
    Shape: source (keys, batch, d_model) and target (length, batch, d_model), with ``batch_first`` the
    batch in front, or both without a batch -> the shape of the target.

    References
    ----------
    Vaswani et al., "Attention is all you need", 2017.

    Examples
    --------
    >>> import extensor as ex
    >>> model = ex.nn.Transformer(8, 2, 1, 1, dim_feedforward=16, batch_first=True)
    >>> mask = ex.nn.Transformer.generate_square_subsequent_mask(5)
    >>> model(ex.ones((3, 7, 8)), ex.ones((3, 5, 8)), tgt_mask=mask).shape
    (3, 5, 8)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[..., Tensor] = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        dtype: DType = None,
    ) -> None:
        options = (
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
        )
        if custom_encoder is None:
            encoder = TransformerEncoderLayer(d_model, nhead, *options, dtype=dtype)
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
            custom_encoder = TransformerEncoder(encoder, num_encoder_layers, norm)
        if custom_decoder is None:
            decoder = TransformerDecoderLayer(d_model, nhead, *options, dtype=dtype)
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
            custom_decoder = TransformerDecoder(decoder, num_decoder_layers, norm)
        self.encoder = custom_encoder
        self.decoder = custom_decoder
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights for all matrices, Xavier-uniform."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    @staticmethod
    def generate_square_subsequent_mask(size: int, dtype: DType = None) -> Tensor:
        """The mask with which each position sees only itself and earlier ones.

        Parameters
        ----------
        size : int
            Length of the sequence.
        dtype : dtype_like, optional
            Floating dtype of the mask, by default that of `ex.get_default_dtype`.

        Returns
        -------
        Tensor, (size, size)
            Minus infinity above the diagonal, else 0.

        Examples
        --------
        >>> import extensor as ex
        >>> ex.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[  0., -inf],
                [  0.,   0.]])
        """
        return triu(full((size, size), -inf, dtype), 1)

    def forward(
        self,
        src: TensorLike,
        tgt: TensorLike,
        src_mask: TensorLike | None = None,
        tgt_mask: TensorLike | None = None,
        memory_mask: TensorLike | None = None,
        src_key_padding_mask: TensorLike | None = None,
        tgt_key_padding_mask: TensorLike | None = None,
        memory_key_padding_mask: TensorLike | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Encode the source, and decode the target with it.

        Parameters
        ----------
        src : tensor_like, (keys, batch, d_model)
            The sequences to encode.
        tgt : tensor_like, (length, batch, d_model)
            The sequences to decode.
        src_mask, tgt_mask, memory_mask : tensor_like, optional
            Pairs to ignore in the source, in the target, and between target and source, where they
            are True; or floats to add to the scores.
        src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask : tensor_like, optional
            Positions to ignore, likewise.
        src_is_causal : bool, optional
            Whether each position of the source sees only itself and earlier ones.
        tgt_is_causal : bool, optional
            Whether each position of the target sees only itself and earlier ones.
        memory_is_causal : bool, default False
            Whether position i of the target sees only the source up to i.

        Returns
        -------
        Tensor
            The decoded sequences, in the shape of ``tgt``.
        """
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        result: Tensor = self.decoder(tgt, memory, *masks, tgt_is_causal, memory_is_causal)
        return result
