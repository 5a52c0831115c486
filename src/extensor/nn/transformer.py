"""The encoder layer of the transformer (Vaswani et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from extensor.typing import TensorLike

ACTIVATIONS: dict[str, Callable[..., Tensor]] = {"relu": relu, "gelu": gelu}


@also_takes(**DEVICE)
class TransformerEncoderLayer(Module):
    """Self-attention, then two linear layers, each added to its input and normalized.

    With ``norm_first`` the input of each is normalized instead of the sum. ``activation`` is "relu",
    "gelu" or a function.
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
        if isinstance(activation, str) and activation not in ACTIVATIONS:
            raise value_error(
                "TransformerEncoderLayer",
                "activation must be 'relu', 'gelu' or a function",
                activation=activation,
            )
        self.activation = ACTIVATIONS[activation] if isinstance(activation, str) else activation
        self.norm_first = norm_first
        self.self_attn = MultiHeadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype=dtype)
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
        given: Any = src
        masks = (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x: Tensor = given + self._attended(self.norm1(src), *masks)
            return x + self._fed_forward(self.norm2(x))
        x = self.norm1(given + self._attended(src, *masks))
        return self.norm2(x + self._fed_forward(x))

    def _attended(self, x: Any, mask: Any, padding_mask: Any, is_causal: bool) -> Tensor:
        output, _ = self.self_attn(x, x, x, padding_mask, False, mask, is_causal=is_causal)
        return self.dropout1(output)

    def _fed_forward(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))
