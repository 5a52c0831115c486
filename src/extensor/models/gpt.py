"""A small transformer that predicts the next token: pre-norm blocks under a causal mask."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from extensor import nn, random
from extensor.core.creation import arange, asarray
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor, to_array
from extensor.errors import arguments, type_error, value_error
from extensor.nn import init
from extensor.nn.preservation import evaluating
from extensor.nn.recurrent import MOST_LAYERS
from extensor.ops import dropout, gelu, reshape, scaled_dot_product_attention, split, swapaxes
from extensor.random.generator import Generator


class Attention(nn.Module):
    """Each position looks at those before it, in several ways at once."""

    def __init__(self, width: int, heads: int, p: float) -> None:
        self.heads = heads
        self.p = p
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, width) to the same."""
        batch, length, width = x.shape
        per_head = (batch, length, self.heads, width // self.heads)
        q, k, v = (swapaxes(reshape(part, per_head), 1, 2) for part in split(self.qkv(x), 3, -1))
        seen = swapaxes(scaled_dot_product_attention(q, k, v, causal=True), 1, 2)
        output: Tensor = self.out(reshape(seen, (batch, length, width)))
        return dropout(output, self.p, self.training)


class Block(nn.Module):
    """Attention, then two layers for each position, each added to what came in."""

    def __init__(self, width: int, heads: int, p: float) -> None:
        self.p = p
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads, p)
        self.norm2 = nn.LayerNorm(width)
        self.linear1 = nn.Linear(width, 4 * width)
        self.linear2 = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, width) to the same."""
        x = x + self.attention(self.norm1(x))
        return x + dropout(self.linear2(gelu(self.linear1(self.norm2(x)))), self.p, self.training)


class GPT(nn.Module):
    """A small transformer: tokens (N, T) to logits (N, T, vocabulary).

    Parameters
    ----------
    vocabulary : int
        The number of tokens.
    context : int, default 64
        The largest number of tokens T.
    layers : int, default 2
        The number of blocks.
    heads : int, default 4
        The number of heads of attention. It must divide ``width``.
    width : int, default 128
        The number of features of a token.
    p : float, default 0.0
        The rate of dropout.

    Examples
    --------
    >>> import extensor as ex
    >>> net = ex.models.GPT(vocabulary=50, context=16)
    >>> net(ex.zeros((2, 16), ex.int64)).shape
    (2, 16, 50)
    """

    def __init__(
        self,
        vocabulary: int,
        context: int = 64,
        layers: int = 2,
        heads: int = 4,
        width: int = 128,
        p: float = 0.0,
    ) -> None:
        sizes = {"vocabulary": vocabulary, "context": context, "layers": layers}
        for name, value in {**sizes, "heads": heads, "width": width}.items():
            arguments.integer("GPT", name, value, 1)
        arguments.number("GPT", "p", p, fraction=True)
        if layers > MOST_LAYERS:
            raise value_error("GPT", f"layers must be at most {MOST_LAYERS}", layers=layers)
        if width % heads:
            raise value_error("GPT", "width must be divisible by heads", width=width, heads=heads)
        self.context = context
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads, p) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                # What is added to the stream is smaller the more layers there are to add.
                added = name.endswith(("attention.out.weight", "linear2.weight"))
                init.normal_(parameter, 0.0, 0.02 / (2 * layers) ** 0.5 if added else 0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        """The logits of the token after each.

        Parameters
        ----------
        tokens : (N, T), ints
            The tokens.

        Returns
        -------
        Tensor
            The logits, of shape (N, T, vocabulary).
        """
        tokens = asarray(tokens)
        if tokens.ndim != 2:
            raise value_error("GPT", "tokens must be (batch, length)", tokens_shape=tokens.shape)
        length = tokens.shape[1]
        if length > self.context:
            raise value_error("GPT", f"at most {self.context} tokens", tokens_shape=tokens.shape)
        x = self.tokens(tokens) + self.positions(arange(length))
        logits: Tensor = self.head(self.norm(self.blocks(x)))
        return logits

    def generate(
        self,
        tokens: Any,
        count: int,
        temperature: float = 1.0,
        top_k: int | None = None,
        generator: Generator | None = None,
    ) -> Any:
        """``count`` tokens that follow a row of them, an array of int64.

        Each is drawn from ``softmax(logits / temperature)`` after the last ``context`` tokens, with
        ``top_k`` from the likeliest so many only. A temperature of 0 takes the likeliest, the first
        of equals, and draws nothing.

        Parameters
        ----------
        tokens : (T,), ints
            The row to continue; one token or more.
        count : int
            How many tokens to add.
        temperature : float, default 1.0
            What logits are divided by. 0 takes the likeliest token.
        top_k : int, optional
            Draw from the likeliest so many tokens only.
        generator : Generator, optional
            The source of random numbers, by default ``ex.random.default_generator``.

        Returns
        -------
        array of int64
            The new tokens, ``count`` of them.

        Examples
        --------
        >>> import extensor as ex
        >>> net = ex.models.gpt(vocabulary=50, context=16)
        >>> net.generate([1, 2, 3], 20).shape
        (20,)
        """
        op = "GPT.generate"
        told = self._told(op, tokens)
        count = arguments.integer(op, "count", count, 0)
        if not isfinite(arguments.number(op, "temperature", temperature, least=0)):
            raise value_error(op, "temperature must be finite", temperature=temperature)
        kept = None if top_k is None else arguments.integer(op, "top_k", top_k, 1)
        if generator is not None:
            arguments.instance(op, "generator", generator, Generator, "a Generator")
        row = np.empty(len(told) + count, np.int64)
        row[: len(told)] = told
        with evaluating(self), no_grad():
            for end in range(len(told), len(row)):
                logits = self(asarray(row[None, max(0, end - self.context) : end])).numpy()[0, -1]
                row[end] = _drawn(op, logits.astype(np.float64), temperature, kept, generator)
        return row[len(told) :].copy()

    def _told(self, op: str, tokens: Any) -> Any:
        """The tokens that are given: at least one, and all of the vocabulary."""
        row = np.zeros(0) if isinstance(tokens, str | bytes) else to_array(tokens, op=op)
        if row.ndim != 1 or row.size == 0 or row.dtype.kind not in "iu":
            requirement = "tokens must be a row of integers, one or more"
            raise type_error(op, requirement, tokens=arguments.briefly(tokens))
        most = self.tokens.num_embeddings - 1
        if row.min() < 0 or row.max() > most:
            worst = row.max() if row.min() >= 0 else row.min()
            raise value_error(op, f"tokens must be in [0, {most}]", token=int(worst))
        return row


def _drawn(
    op: str, logits: Any, temperature: float, top_k: int | None, generator: Generator | None
) -> int:
    """One token, by chance or the likeliest."""
    if not np.isfinite(logits).all():
        raise value_error(op, "the logits of the model must be finite", logits=float(logits.max()))
    if temperature == 0:
        return int(logits.argmax())
    # Of equals the first are kept, as argmax does.
    places = np.argsort(-logits, kind="stable")[:top_k]
    weights = np.exp((logits[places] - logits[places[0]]) / temperature)
    chosen = random.choice(len(places), p=weights / weights.sum(), generator=generator)
    return int(places[int(chosen)])


def gpt(
    vocabulary: int,
    context: int = 64,
    layers: int = 2,
    heads: int = 4,
    width: int = 128,
    p: float = 0.0,
) -> GPT:
    """A small GPT.

    Parameters
    ----------
    vocabulary : int
        The number of tokens.
    context : int, default 64
        The largest number of tokens in a row.
    layers : int, default 2
        The number of blocks.
    heads : int, default 4
        The number of heads of attention. It must divide ``width``.
    width : int, default 128
        The number of features of a token.
    p : float, default 0.0
        The rate of dropout.

    Returns
    -------
    GPT
        The network.

    Examples
    --------
    >>> import extensor as ex
    >>> net = ex.models.gpt(vocabulary=50, context=16)
    >>> net(ex.zeros((2, 16), ex.int64)).shape
    (2, 16, 50)
    """
    return GPT(vocabulary, context, layers, heads, width, p)
