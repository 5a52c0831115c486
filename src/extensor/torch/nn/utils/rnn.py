"""``torch.nn.utils.rnn``: sequences of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from extensor import ops
from extensor.torch import shapes
from extensor.torch.tensor_class import array_of, handed_out, wrapped

__all__ = [
    "PackedSequence",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpad_sequence",
]


class PackedSequence(NamedTuple):
    """Sequences step by step, without padding.

    Attributes
    ----------
    data : Tensor
        The first steps of all sequences, then the second steps of those that have one, and so on.
    batch_sizes : Tensor
        How many sequences have each step.
    sorted_indices, unsorted_indices : Tensor or None
        The order of the sequences by length, and the way back.
    """

    data: Any
    batch_sizes: Any
    sorted_indices: Any = None
    unsorted_indices: Any = None


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:
    """Sequences as one tensor, the shorter ones with padding."""
    if padding_side not in ("left", "right"):
        raise ValueError(
            f"pad_sequence: padding_side must be 'left' or 'right', got {padding_side!r}"
        )
    longest = max(x.shape[0] for x in sequences)
    rows = []
    for x in sequences:
        room = longest - x.shape[0]
        if room:
            filler = wrapped(np.full((room, *x.shape[1:]), padding_value, x.dtype))
            x = ops.concatenate([x, filler] if padding_side == "right" else [filler, x], 0)
        rows.append(x)
    return handed_out(ops.stack(rows, 0 if batch_first else 1))


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences of a padded tensor."""
    rows = padded_sequences if batch_first else shapes.transpose(padded_sequences, 0, 1)
    return [rows[i, : int(length)] for i, length in enumerate(lengths)]


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """A padded tensor as a `PackedSequence`."""
    sizes = np.asarray(array_of(lengths, "pack_padded_sequence"), np.int64)
    order = None
    if enforce_sorted:
        if (np.diff(sizes) > 0).any():
            raise RuntimeError(
                "pack_padded_sequence: lengths must fall, or set enforce_sorted=False"
            )
    else:
        order = np.argsort(-sizes, kind="stable")
        sizes = sizes[order]
    if sizes.size == 0 or sizes[-1] <= 0:
        raise RuntimeError("pack_padded_sequence: lengths must be above 0")
    x = shapes.transpose(input, 0, 1) if batch_first else input
    steps = np.arange(sizes[0])
    batches = (sizes[None, :] > steps[:, None]).sum(1)
    step = np.repeat(steps, batches)
    row = np.concatenate([np.arange(count) for count in batches])
    data = ops.getitem(x, (step, row if order is None else order[row]))
    back = None if order is None else wrapped(np.argsort(order))
    return PackedSequence(
        handed_out(data), wrapped(batches), None if order is None else wrapped(order), back
    )


def _places(sequence: PackedSequence) -> tuple[Any, Any, Any]:
    """The step and the row of each element, and the lengths in falling order."""
    batches = sequence.batch_sizes._array
    step = np.repeat(np.arange(len(batches)), batches)
    row = np.concatenate([np.arange(count) for count in batches])
    lengths = (batches[:, None] > np.arange(batches[0])[None, :]).sum(0)
    return step, row, lengths


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """The padded tensor and the lengths."""
    step, row, lengths = _places(sequence)
    steps = len(sequence.batch_sizes) if total_length is None else total_length
    data = sequence.data
    empty = wrapped(np.full((steps, len(lengths), *data.shape[1:]), padding_value, data.dtype))
    padded = ops.index_set(empty, data, (step, row))
    if sequence.unsorted_indices is not None:
        back = sequence.unsorted_indices._array
        padded, lengths = ops.getitem(padded, (slice(None), back)), lengths[back]
    padded = ops.swapaxes(padded, 0, 1) if batch_first else padded
    return handed_out(padded), wrapped(lengths)


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Sequences as a `PackedSequence`."""
    lengths = wrapped(np.asarray([x.shape[0] for x in sequences]))
    return pack_padded_sequence(pad_sequence(sequences), lengths, False, enforce_sorted)


def run_packed(
    forward: Callable[..., Any], layer: Any, sequence: PackedSequence, state: Any
) -> Any:
    """A recurrent layer on packed sequences: those of one length at a time."""
    step, row, lengths = _places(sequence)
    order = sequence.sorted_indices
    if state is not None and order is not None:
        state = _rows(state, order._array)
    outputs: Any = None
    states: list[Any] = []
    for length in dict.fromkeys(lengths.tolist()):
        chosen = np.flatnonzero(lengths == length)
        place = {
            (s, r): i for i, (s, r) in enumerate(zip(step.tolist(), row.tolist(), strict=True))
        }
        where = np.asarray([[place[s, r] for r in chosen.tolist()] for s in range(length)])
        x = ops.getitem(sequence.data, where)
        x = ops.swapaxes(x, 0, 1) if layer.batch_first else x
        output, last = forward(x, None if state is None else _rows(state, chosen))
        output = ops.swapaxes(output, 0, 1) if layer.batch_first else output
        if outputs is None:
            outputs = wrapped(np.zeros((len(step), output.shape[-1]), output.dtype))
        outputs = ops.index_set(outputs, output, where)
        states.append(last)
    if isinstance(states[0], tuple):
        last = tuple(ops.concatenate(list(parts), 1) for parts in zip(*states, strict=True))
    else:
        last = ops.concatenate(states, 1)
    if sequence.unsorted_indices is not None:
        last = _rows(last, sequence.unsorted_indices._array)
    return sequence._replace(data=handed_out(outputs)), handed_out(last)


def _rows(state: Any, chosen: Any) -> Any:
    if isinstance(state, tuple):
        return tuple(_rows(x, chosen) for x in state)
    return ops.getitem(state, (slice(None), chosen))
