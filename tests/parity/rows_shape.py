"""The rows of the parity table that move elements: shapes, joining, indices, orders."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases.case import distinct
from draws import (
    Call,
    Rng,
    Shape,
    along,
    any_shape,
    axes,
    axis,
    broadcastable,
    fixed,
    flag,
    one_of,
    shape,
    shaped,
    unary,
    values,
)
from rows import F, Row, torch


def _regrouped(rng: Rng, of: Shape) -> dict[str, Any]:
    sizes = [int(np.prod(of[:1])), int(np.prod(of[1:]))]
    if rng.random() < 0.5:
        sizes[rng.integers(0, 2)] = -1
    return {"shape": tuple(sizes)}


def _squeezed(rng: Rng) -> Call:
    of = tuple(1 if rng.random() < 0.5 else n for n in shape(rng, high=4, sizes=(2, 3)))
    ones = [i - (len(of) if flag(rng) else 0) for i, n in enumerate(of) if n == 1]
    choices = [None, *ones, *([tuple(ones)] if ones else [])]
    return Call([values(rng, of)], {"axis": choices[rng.integers(0, len(choices))]})


def _flatten(rng: Rng, of: Shape) -> dict[str, Any]:
    start = int(rng.integers(0, len(of)))
    end = int(rng.integers(start, len(of)))
    return {"start_axis": start, "end_axis": end - len(of)}


def _permutation(rng: Rng, of: Shape) -> tuple[int, ...]:
    return tuple(int(i) for i in rng.permutation(len(of)))


def _transposed(x: Any, axes: Any = None) -> Any:
    return x.permute(tuple(reversed(range(x.ndim))) if axes is None else axes)


def _unsqueezed(x: Any, axis: Any) -> Any:
    added = axis if isinstance(axis, tuple) else (axis,)
    for i in sorted(i % (x.ndim + len(added)) for i in added):
        x = x.unsqueeze(i)
    return x


def _stretched(rng: Rng) -> Call:
    source = shape(rng, sizes=(1, 2, 3))
    wide = tuple(int(rng.integers(0, 4)) if n == 1 else n for n in source)
    return Call([values(rng, source)], {"shape": shape(rng, high=2, sizes=(1, 2)) + wide})


def _summed(rng: Rng) -> Call:
    stretched = _stretched(rng)
    return Call([values(rng, stretched.attributes["shape"])], {"shape": stretched.inputs[0].shape})


def _shift(rng: Rng, of: Shape) -> dict[str, Any]:
    chosen = axes(rng, len(of))
    if isinstance(chosen, tuple):
        return {"shift": tuple(int(n) for n in rng.integers(-4, 5, len(chosen))), "axis": chosen}
    return {"shift": int(rng.integers(-7, 8)), "axis": chosen}


def _source_destination(rng: Rng, of: Shape) -> dict[str, Any]:
    return {"source": axis(rng, len(of)), "destination": axis(rng, len(of))}


PERMUTED = shaped(lambda rng, of: {"axes": _permutation(rng, of)})
TRIANGLES = one_of(*(fixed(s, k=k) for s in ((3, 4), (2, 4, 3)) for k in (0, 1, -2, 9)))
MOVEMENT = [
    Row("reshape", torch.reshape, shaped(_regrouped, low=1)),
    Row(
        "squeeze",
        lambda x, axis: torch.squeeze(x) if axis is None else torch.squeeze(x, axis),
        _squeezed,
    ),
    Row(
        "unsqueeze",
        _unsqueezed,
        one_of(
            shaped(lambda rng, of: {"axis": axis(rng, len(of) + 1)}), fixed((2, 3), axis=(0, -1))
        ),
    ),
    Row(
        "flatten",
        lambda x, start_axis, end_axis: torch.flatten(x, start_axis, end_axis),
        shaped(_flatten, low=1),
    ),
    Row("ravel", torch.ravel, unary()),
    Row("transpose", _transposed, one_of(PERMUTED, shaped(lambda rng, of: {}))),
    Row("permute", _transposed, PERMUTED),
    Row(
        "swapaxes",
        lambda x, axis1, axis2: torch.swapaxes(x, axis1, axis2),
        shaped(lambda rng, of: {"axis1": axis(rng, len(of)), "axis2": axis(rng, len(of))}, low=1),
    ),
    Row(
        "moveaxis",
        lambda x, source, destination: torch.moveaxis(x, source, destination),
        one_of(
            shaped(_source_destination, low=1), fixed((2, 3, 4), source=(0, 1), destination=(-1, 0))
        ),
    ),
    Row("broadcast_to", lambda x, shape: torch.broadcast_to(x, shape), _stretched),
    Row("reduce_to_shape", lambda x, shape: x.sum_to_size(shape), _summed),
    Row(
        "flip",
        lambda x, axis: torch.flip(
            x,
            tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,),
        ),
        shaped(lambda rng, of: {"axis": axes(rng, len(of))}),
    ),
    Row("roll", lambda x, shift, axis: torch.roll(x, shift, axis), shaped(_shift, low=1)),
    Row(
        "diag",
        lambda x, k: torch.diag(x, k),
        one_of(*(fixed(s, k=k) for s in ((3,), (3, 4), (4, 2)) for k in (0, 1, -2))),
    ),
    Row("tril", lambda x, k: torch.tril(x, k), TRIANGLES),
    Row("triu", lambda x, k: torch.triu(x, k), TRIANGLES),
    Row(
        "cast",
        lambda x, dtype: x.to(getattr(torch, dtype)),
        one_of(fixed((2, 3), dtype="float32"), fixed((3,), dtype="float64")),
    ),
    Row("identity", lambda x: x.view_as(x), unary()),
    Row("clone", torch.clone, unary()),
]


def _joined(rng: Rng) -> Call:
    of, count = list(shape(rng, low=1)), int(rng.integers(1, 4))
    along_axis = axis(rng, len(of))
    parts = []
    for _ in range(count):
        of[along_axis] = int(rng.integers(0, 4))
        parts.append(values(rng, tuple(of)))
    return Call([parts], {"axis": along_axis})


def _stacked(rng: Rng) -> Call:
    of = shape(rng)
    parts = [values(rng, of) for _ in range(rng.integers(1, 4))]
    return Call([parts], {"axis": axis(rng, len(of) + 1)})


def _repeated(x: Any, repeats: Any, axis: Any) -> Any:
    return torch.repeat_interleave(
        x, torch.tensor(repeats) if isinstance(repeats, tuple) else repeats, axis
    )


def _repeats(rng: Rng, of: Shape) -> dict[str, Any]:
    chosen = None if flag(rng) else axis(rng, len(of))
    size = int(np.prod(of)) if chosen is None else of[chosen]
    if flag(rng):
        return {"repeats": int(rng.integers(0, 4)), "axis": chosen}
    return {"repeats": tuple(int(n) for n in rng.integers(0, 4, size)), "axis": chosen}


def _padded(x: Any, pad_width: Any, mode: str, value: float) -> Any:
    """There the last axis comes first, and axes in front may be left out."""
    widths = [n for before_after in reversed(pad_width) for n in before_after]
    if mode == "constant":
        return F.pad(x, widths, value=value)
    return F.pad(x, widths[:2], mode=mode)


def _edges(mode: str) -> Any:
    widths = ((0, 0), (0, 0), (1, 2))
    return fixed((2, 3, 4), pad_width=widths, mode=mode, value=0.0)


JOINING = [
    Row("concatenate", lambda parts, axis: torch.cat(parts, axis), _joined),
    Row("stack", lambda parts, axis: torch.stack(parts, axis), _stacked),
    Row(
        "split",
        lambda x, indices_or_sections, axis: torch.tensor_split(x, indices_or_sections, axis),
        one_of(
            fixed((6, 4), indices_or_sections=3, axis=0),
            fixed((6, 4), indices_or_sections=2, axis=-1),
            fixed((6, 4), indices_or_sections=(1, 4), axis=0),
            fixed((2, 5), indices_or_sections=(0, 2, 2), axis=1),
        ),
    ),
    Row(
        "tile",
        lambda x, reps: torch.tile(x, reps),
        one_of(
            fixed((2, 3), reps=(2, 1)),
            fixed((3,), reps=(2, 3)),
            fixed((2, 3, 2), reps=(2,)),
            fixed((2,), reps=(0,)),
        ),
    ),
    Row("repeat", _repeated, shaped(_repeats, low=1)),
    Row(
        "pad",
        _padded,
        one_of(
            fixed((2, 3), pad_width=((1, 0), (2, 3)), mode="constant", value=1.5),
            fixed((2, 1, 3), pad_width=((0, 0), (0, 1), (2, 0)), mode="constant", value=0.0),
            *(_edges(mode) for mode in ("reflect", "replicate", "circular")),
        ),
    ),
]


def _indices(rng: Rng, size: int, of: Shape) -> np.ndarray:
    return np.asarray(rng.integers(0, size, of))


def _read(x: Any, index: Any) -> Any:
    return x[_their_index(index)]


def _their_index(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(_their_index(item) for item in index)
    return torch.tensor(index) if isinstance(index, np.ndarray) else index


INDICES = (
    1,
    -2,
    (slice(1, None), 0),
    (..., slice(None, None, 2)),
    (None, slice(None), ..., -1),
    np.array([0, 2, 2, -1]),
    (slice(None), np.array([[0, 1], [1, 1]])),
    (np.array([0, 1]), ..., np.array([1, 1])),
    np.array([True, False, True, True]),
)


def _write(x: Any, updates: Any, index: Any) -> Any:
    result = x.clone()
    result[_their_index(index)] = updates
    return result


def _add(x: Any, updates: Any, index: Any) -> Any:
    return x.index_put((torch.tensor(index),), updates, accumulate=True)


def _placed(x: Any, shape: Shape, index: Any) -> Any:
    return _add(torch.zeros(shape, dtype=x.dtype), x, index)


def _written(rng: Rng) -> Call:
    index = INDICES[rng.integers(0, 5)]  # of those that name nothing twice
    selected = np.empty((4, 3, 2))[index].shape
    return Call([values(rng, (4, 3, 2)), values(rng, selected[1:])], {"index": index})


def _gathered(rng: Rng) -> Call:
    of = shape(rng, low=1)
    along_axis = axis(rng, len(of))
    chosen = list(of)
    chosen[along_axis] = int(rng.integers(0, 6))
    indices = _indices(rng, of[along_axis], tuple(chosen))
    return Call([values(rng, of), indices], {"axis": along_axis})


def _scattered(rng: Rng) -> Call:
    call = _gathered(rng)
    x, indices = call.inputs
    return Call([x, indices, values(rng, indices.shape)], call.attributes)


def _take(x: Any, indices: Any, axis: Any) -> Any:
    if axis is None:
        return torch.take(x, indices)
    axis %= x.ndim
    taken = torch.index_select(x, axis, indices.reshape(-1))
    return taken.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def _taken(rng: Rng) -> Call:
    of = shape(rng, low=1)
    chosen = None if flag(rng) else axis(rng, len(of))
    size = int(np.prod(of)) if chosen is None else of[chosen]
    return Call([values(rng, of), _indices(rng, size, any_shape(rng))], {"axis": chosen})


def _selected(rng: Rng) -> Call:
    of = shape(rng, low=1)
    chosen = axis(rng, len(of))
    indices = _indices(rng, of[chosen], (int(rng.integers(0, 5)),))
    return Call([values(rng, of), indices], {"axis": chosen})


def _masked(rng: Rng) -> Call:
    of = any_shape(rng)
    mask = rng.random(of[rng.integers(0, len(of) + 1) :]) < 0.4
    return Call([values(rng, of), np.asarray(mask)], {"value": float(rng.choice([0.0, -np.inf]))})


def _chosen(rng: Rng) -> Call:
    cond, a, b = broadcastable(rng, 3)
    return Call([np.asarray(rng.random(cond) < 0.5), values(rng, a), values(rng, b)])


INDEXING = [
    Row("getitem", _read, one_of(*(fixed((4, 3, 2), index=index) for index in INDICES))),
    Row("place", _placed, fixed((4,), shape=(3,), index=[0, 2, 2, 0])),
    Row("index_set", _write, _written),
    Row("index_add", _add, fixed((3, 2), (4, 2), index=[0, 2, 2, 0])),
    Row("gather", lambda x, indices, axis: torch.gather(x, axis, indices), _gathered),
    Row(
        "scatter_add",
        lambda x, indices, updates, axis: torch.scatter_add(x, axis, indices, updates),
        _scattered,
    ),
    Row("take", _take, _taken),
    Row("index_select", lambda x, indices, axis: torch.index_select(x, axis, indices), _selected),
    Row("masked_fill", lambda x, mask, value: torch.masked_fill(x, mask, value), _masked),
    Row("where", torch.where, _chosen),
]


def _ordered(**choices: Any) -> Any:
    """Different numbers, so that the order is one and the same."""

    def draw(rng: Rng) -> Call:
        call = along(low=0, **choices)(rng)
        x = distinct(*call.inputs[0].shape)(rng, np.float64)
        return Call([np.asarray(x)], call.attributes)

    return draw


def _most(rng: Rng) -> Call:
    call = _ordered(largest=(True, False))(rng)
    x = call.inputs[0]
    size = x.shape[call.attributes["axis"]] if x.ndim else 1
    return Call([x], {"k": int(rng.integers(1, size + 1)), **call.attributes})


def _tied(rng: Rng) -> Call:
    call = _ordered(descending=(False, True))(rng)
    return Call([np.asarray(np.round(call.inputs[0]))], call.attributes)


SORTING = [
    Row(
        "sort",
        lambda x, axis, descending: torch.sort(x, dim=axis, descending=descending, stable=True)[0],
        one_of(_ordered(descending=(False, True)), _tied),
    ),
    Row(
        "argsort",
        lambda x, axis, descending: torch.argsort(x, dim=axis, descending=descending, stable=True),
        one_of(_ordered(descending=(False, True)), _tied),
    ),
    Row("topk", lambda x, k, axis, largest: tuple(torch.topk(x, k, axis, largest)), _most),
]
