"""Attention with several heads."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from extensor import ops
from extensor.arrays.dtypes import DType, bool_, is_floating
from extensor.arrays.shapes import Shape
from extensor.core.creation import asarray, empty, ones, zeros
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn import init
from extensor.nn.layer_inputs import in_dtype_of
from extensor.nn.linear import Linear
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.typing import DTypeLike, TensorLike


@also_takes(**DEVICE)
class MultiHeadAttention(Module):
    """Attention with several heads, each on its own projections of queries, keys and values.

    Each head computes ``softmax(q @ k.T / sqrt(embed_dim / num_heads)) @ v``. The results of all
    heads are joined and projected by ``out_proj``. `MultiheadAttention`, PyTorch's name, is the
    same class.

    Parameters
    ----------
    embed_dim : int
        Size of queries and outputs.
    num_heads : int
        Number of heads. It must divide ``embed_dim``.
    dropout : float, default 0.0
        Probability of dropout on the attention weights, in training.
    bias : bool, default True
        Whether the projections have biases.
    add_bias_kv : bool, default False
        Whether a learnable key and value are added to those of each sequence.
    add_zero_attn : bool, default False
        Whether a key and a value of zeros are added, to which queries can attend in place of any.
    kdim : int, optional
        Size of the keys, by default ``embed_dim``.
    vdim : int, optional
        Size of the values, by default ``embed_dim``.
    batch_first : bool, default False
        Whether the batch is the first axis of inputs and outputs, instead of the second.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    in_proj_weight : Parameter, (3 * embed_dim, embed_dim)
        Projections of queries, keys and values, one below the other. Initially Xavier-uniform. None
        if ``kdim`` or ``vdim`` differs from ``embed_dim``; then there are ``q_proj_weight``,
        ``k_proj_weight`` and ``v_proj_weight``, of shapes (embed_dim, embed_dim), (embed_dim, kdim)
        and (embed_dim, vdim).
    in_proj_bias : Parameter, (3 * embed_dim,)
        Biases of these projections, initially 0. None with ``bias=False``.
    out_proj : Linear
        Projection of the joined heads, whose bias is initially 0.
    bias_k, bias_v : Parameter, (1, 1, embed_dim)
        The learnable key and value, initially Xavier-normal. None without ``add_bias_kv``.

    Raises
    ------
    ValueError
        If ``num_heads`` does not divide ``embed_dim``. In a call, if the shapes do not fit.
    TypeError
        In a call, if a mask is neither boolean nor floating, or an input has another floating dtype
        than the parameters.

    See Also
    --------
    ex.scaled_dot_product_attention : The function of one head.

    Notes
    -----
    Shape: query (queries, batch, embed_dim), key (keys, batch, kdim), value (keys, batch, vdim) ->
    output (queries, batch, embed_dim), weights (batch, queries, keys). With ``batch_first`` the
    batch comes first; it may also be missing from all.

    In boolean masks True marks what must not be seen, as in PyTorch. In
    `ex.scaled_dot_product_attention` it marks what may be seen.

    A query that sees no key gives NaN, except with ``need_weights=False`` and without dropout,
    where its heads give 0.

    References
    ----------
    Vaswani et al., "Attention is all you need", 2017.

    Examples
    --------
    >>> import extensor as ex
    >>> attention = ex.nn.MultiHeadAttention(8, 2, batch_first=True)
    >>> x = ex.ones((3, 5, 8))
    >>> output, weights = attention(x, x, x)
    >>> output.shape, weights.shape
    ((3, 5, 8), (3, 5, 5))
    >>> output, _ = attention(x, x, x, need_weights=False, is_causal=True)
    """

    in_proj_weight: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        *,
        dtype: DType = None,
    ) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise value_error(
                "MultiHeadAttention",
                "embed_dim must be divisible by num_heads",
                embed_dim=embed_dim,
                num_heads=num_heads,
            )
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.kdim = kdim
        self.vdim = vdim
        self.batch_first = batch_first
        self.add_zero_attn = add_zero_attn
        if kdim in (None, embed_dim) and vdim in (None, embed_dim):
            self.in_proj_weight = Parameter(empty((3 * embed_dim, embed_dim), dtype))
        else:
            self.in_proj_weight = None
            self.q_proj_weight = Parameter(empty((embed_dim, embed_dim), dtype))
            self.k_proj_weight = Parameter(empty((embed_dim, kdim or embed_dim), dtype))
            self.v_proj_weight = Parameter(empty((embed_dim, vdim or embed_dim), dtype))
        self.in_proj_bias = Parameter(empty((3 * embed_dim,), dtype)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype=dtype)
        self.bias_k, self.bias_v = (
            Parameter(empty((1, 1, embed_dim), dtype)) if add_bias_kv else None for _ in range(2)
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial weights, and set the biases to 0."""
        for weight in self._input_weights():
            init.xavier_uniform_(weight)
        self.out_proj.reset_parameters()
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def _input_weights(self) -> tuple[Parameter, ...]:
        if self.in_proj_weight is not None:
            return (self.in_proj_weight,)
        return self.q_proj_weight, self.k_proj_weight, self.v_proj_weight

    def forward(
        self,
        query: TensorLike,
        key: TensorLike,
        value: TensorLike,
        key_padding_mask: TensorLike | None = None,
        need_weights: bool = True,
        attn_mask: TensorLike | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend to ``value``, by the likeness of ``query`` and ``key``.

        Parameters
        ----------
        query : tensor_like, (queries, batch, embed_dim)
            The queries; with ``batch_first`` (batch, queries, embed_dim), without a batch (queries,
            embed_dim).
        key : tensor_like, (keys, batch, kdim)
            The keys, in the same layout.
        value : tensor_like, (keys, batch, vdim)
            The values, in the same layout.
        key_padding_mask : tensor_like, (batch, keys), optional
            Keys to ignore, where it is True; or floats to add to the scores. (keys,) without a
            batch.
        need_weights : bool, default True
            Whether to return the attention weights. Without them the call is faster and needs less
            memory.
        attn_mask : tensor_like, (queries, keys) or (batch * num_heads, queries, keys), optional
            Pairs to ignore, where it is True; or floats to add to the scores.
        average_attn_weights : bool, default True
            Whether to average the returned weights over the heads.
        is_causal : bool, default False
            Whether query i sees only the keys up to i. It is ignored if ``attn_mask`` is given.

        Returns
        -------
        output : Tensor, (queries, batch, embed_dim)
            The results, in the layout of ``query``.
        weights : Tensor, (batch, queries, keys), or None
            The attention weights; (batch, num_heads, queries, keys) without averaging, and without
            the batch axis if the inputs have none. None with ``need_weights=False``.
        """
        has_batch = asarray(query).ndim == 3
        q, k, v = (self._heads(x) for x in self._project(query, key, value))
        causal = is_causal and attn_mask is None  # a mask that is given is the causal one
        if causal and self._adds_keys():  # which come last, but are seen by all
            attn_mask, causal = ~ops.tril(ones((q.shape[-2], k.shape[-2]), bool_)), False
        mask = _joined_mask(attn_mask, key_padding_mask, (*q.shape[:-1], k.shape[-2]), q.dtype)
        k, v, mask = self._with_added_keys(k, v, mask)
        drops = self.training and self.dropout > 0
        if need_weights or drops:
            scores = ops.matmul(q * (1 / sqrt(q.shape[-1])), k.mT)
            weights = ops.softmax(_apply_mask(scores, mask, causal))
            weights = ops.dropout(weights, self.dropout, drops)
            attended = ops.matmul(weights, v)
        else:
            attended = ops.scaled_dot_product_attention(q, k, v, mask, causal)
        output = self.out_proj(self._merge_heads(attended, has_batch))
        if not need_weights:
            return output, None
        weights = weights.mean(axis=1) if average_attn_weights else weights
        return output, weights if has_batch else weights[0]

    def _project(self, query: Any, key: Any, value: Any) -> Any:
        """The projections of all three, in one product where they are the same tensor."""
        weights: tuple[Tensor, ...] = self._input_weights()
        query, key, value = (in_dtype_of(self, weights[0], x) for x in (query, key, value))
        if len(weights) == 1:
            if query is key is value:
                return ops.split(ops.linear(query, weights[0], self.in_proj_bias), 3, axis=-1)
            weights = ops.split(weights[0], 3)
        biases = (None,) * 3 if self.in_proj_bias is None else ops.split(self.in_proj_bias, 3)
        return map(ops.linear, (query, key, value), weights, biases)

    def _adds_keys(self) -> int:
        return (self.bias_k is not None) + self.add_zero_attn

    def _with_added_keys(
        self, k: Tensor, v: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Keys and values of all heads with those that are in no sequence, and a mask that shows them."""
        more = self._adds_keys()
        if not more:
            return k, v, mask
        batch, heads, _, size = k.shape
        added = []
        for part, bias in ((k, self.bias_k), (v, self.bias_v)):
            parts = [part]
            if bias is not None:
                own = bias.reshape(1, heads, 1, size)
                parts.append(ops.broadcast_to(own, (batch, heads, 1, size)).astype(part.dtype))
            if self.add_zero_attn:
                parts.append(zeros((batch, heads, 1, size), part.dtype))
            added.append(ops.concatenate(parts, axis=2))
        if mask is not None:
            widths = [*[(0, 0)] * (mask.ndim - 1), (0, more)]
            mask = ops.pad(mask, widths, value=1.0 if mask.dtype == bool_ else 0.0)
        return added[0], added[1], mask

    def _heads(self, x: Tensor) -> Tensor:
        """From either layout of sequences to (batch, heads, length, size of a head)."""
        if x.ndim == 2:
            x = x.unsqueeze(0 if self.batch_first else 1)
        parts = x.reshape(*x.shape[:2], self.num_heads, self.embed_dim // self.num_heads)
        return parts.permute((0, 2, 1, 3) if self.batch_first else (1, 2, 0, 3))

    def _merge_heads(self, x: Tensor, has_batch: bool) -> Tensor:
        """Back from (batch, heads, length, size of a head) to the layout of the input."""
        batch, _, length, _ = x.shape
        if has_batch and not self.batch_first:
            return x.permute((2, 0, 1, 3)).reshape(length, batch, self.embed_dim)
        sizes = (batch, length) if has_batch else (length,)
        return x.permute((0, 2, 1, 3)).reshape(*sizes, self.embed_dim)


MultiheadAttention = MultiHeadAttention


def _joined_mask(
    attn_mask: Any, key_padding_mask: Any, shape: Shape, dtype: DTypeLike
) -> Tensor | None:
    """One mask that broadcasts to ``shape``: boolean, True for what is seen, or to be added."""
    batch, heads, length, keys = shape
    masks = []
    if attn_mask is not None:
        mask = _check_mask("attn_mask", attn_mask, (length, keys), (batch * heads, length, keys))
        masks.append(mask.reshape(shape) if mask.ndim == 3 else mask)
    if key_padding_mask is not None:
        allowed = [(batch, keys), (keys,)][: 2 if batch == 1 else 1]
        mask = _check_mask("key_padding_mask", key_padding_mask, *allowed)
        masks.append(mask.reshape(batch, 1, 1, keys))
    if not masks:
        return None
    if all(mask.dtype == bool_ for mask in masks):
        return ~(masks[0] if len(masks) == 1 else masks[0] | masks[1])
    added = [ops.where(mask, -inf, 0.0) if mask.dtype == bool_ else mask for mask in masks]
    return (added[0] if len(added) == 1 else added[0] + added[1]).astype(dtype)


def _check_mask(name: str, mask: Any, *shapes: Shape) -> Tensor:
    """A mask of one of ``shapes``: one of as many elements, transposed perhaps, would hide others."""
    given: Tensor = asarray(mask)
    if given.dtype != bool_ and not is_floating(given.dtype):
        requirement = f"{name} must be bool or floating"
        raise type_error("MultiHeadAttention", requirement, dtype=str(given.dtype))
    if given.shape not in shapes:
        requirement = f"{name} must have shape {' or '.join(map(str, shapes))}"
        raise value_error("MultiHeadAttention", requirement, shape=given.shape)
    return given


def _apply_mask(scores: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    if causal:
        scores = ops.where(ops.tril(ones(scores.shape[-2:], bool_)), scores, -inf)
    if mask is None:
        return scores
    return ops.where(mask, scores, -inf) if mask.dtype == bool_ else scores + mask
