"""Other shapes of the same elements, and tensors joined and taken apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations as _combinations
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from extensor import ops
from extensor.torch.dtypes import named_dtype
from extensor.torch.sizes import Size, dims_of, loose_sizes
from extensor.torch.tensor_class import Tensor, array_of, functions_of, named, wrapped


@named
def reshape(input: Any, *given: Any, shape: Any = None) -> Any:
    """The elements in another shape; -1 stands for what is left. A view where that is possible."""
    return ops.reshape(input, loose_sizes("reshape", given or (shape,)))


@named
def view(input: Any, *shape: Any) -> Any:
    """The same memory in another shape, or read as another dtype of the same size."""
    if len(shape) == 1 and not isinstance(shape[0], int | tuple | list):
        return _seen_as(input, shape[0])
    made = ops.reshape(input, loose_sizes("view", shape))
    if not _is_same_memory(made, input):
        raise RuntimeError(
            f"view: the memory of a tensor of shape {tuple(input.shape)} cannot be seen in this shape; "
            "use reshape()"
        )
    return made


def _is_same_memory(made: Any, input: Any) -> bool:
    array = input._array
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous or not array.size:
        return True
    return bool(np.may_share_memory(made._array, array))


def _seen_as(input: Any, dtype: Any) -> Any:
    if hasattr(dtype, "__index__"):
        return ops.reshape(input, (int(dtype),))
    if input.requires_grad:
        raise RuntimeError("view: a tensor that requires grad has no view of another dtype")
    return wrapped(input._array.view(named_dtype(dtype)))


def view_as(input: Any, other: Any) -> Tensor:
    """The same memory in the shape of ``other``."""
    return view(input, other.shape)  # type: ignore[no-any-return]


def reshape_as(input: Any, other: Any) -> Tensor:
    """The elements in the shape of ``other``."""
    return reshape(input, other.shape)  # type: ignore[no-any-return]


@named
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged, a view."""
    return ops.swapaxes(input, dim0, dim1) if input.ndim else ops.reshape(input, ())


def t(input: Any) -> Tensor:
    """The transpose of a matrix; vectors stay as they are."""
    if input.ndim > 2:
        raise RuntimeError(f"t: input must have at most 2 dimensions, got {input.ndim}")
    return transpose(input, 0, 1) if input.ndim == 2 else reshape(input, input.shape)  # type: ignore[no-any-return]


@named
def permute(input: Any, *given: Any, dims: Any = None) -> Any:
    """The dimensions in another order, a view."""
    return ops.permute(input, loose_sizes("permute", given or (dims,)))


@named
def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Dimensions at other places, a view."""
    return ops.moveaxis(input, source, destination)


@named
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from ``start_dim`` to ``end_dim`` as one."""
    return ops.flatten(input, start_dim, end_dim)


@named
def unflatten(input: Any, dim: int, sizes: Sequence[int]) -> Any:
    """A dimension as several ones."""
    dim %= input.ndim
    return ops.reshape(input, (*input.shape[:dim], *sizes, *input.shape[dim + 1 :]))


def ravel(input: Any) -> Tensor:
    """The elements in one dimension."""
    return reshape(input, -1)  # type: ignore[no-any-return]


@named
def squeeze(input: Any, dim: Any = None) -> Any:
    """The tensor without dimensions of size 1; dimensions of other sizes stay."""
    if dim is None:
        return ops.squeeze(input)
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if not input.ndim:
        return ops.reshape(input, ())
    for each in dims:
        if not -input.ndim <= each < input.ndim:
            raise IndexError(f"squeeze: dim must be one of {input.ndim} dimensions, got dim={each}")
    ones = tuple(each for each in dims if input.shape[each] == 1)
    return ops.squeeze(input, ones) if ones else ops.reshape(input, input.shape)


@named
def unsqueeze(input: Any, dim: int) -> Any:
    """The tensor with a new dimension of size 1 at ``dim``."""
    return ops.unsqueeze(input, dim)


@named
def expand(input: Any, *given: Any, size: Any = None) -> Any:
    """Dimensions of size 1 repeated without a copy; -1 leaves a size as it is."""
    wanted = loose_sizes("expand", given or (size,))
    shape = (1,) * (len(wanted) - input.ndim) + tuple(input.shape)
    return ops.broadcast_to(
        input, tuple(own if new == -1 else new for new, own in zip(wanted, shape, strict=True))
    )


def expand_as(input: Any, other: Any) -> Tensor:
    """Expanded to the shape of ``other``."""
    return expand(input, other.shape)  # type: ignore[no-any-return]


@named
def broadcast_to(input: Any, shape: Any) -> Any:
    """The tensor as if it had another shape, without a copy."""
    return ops.broadcast_to(input, tuple(shape))


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors expanded to the shape in which they meet."""
    shape = broadcast_shapes(*(x.shape for x in tensors))
    return tuple(broadcast_to(x, shape) for x in tensors)


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape in which others meet."""
    return Size(
        np.broadcast_shapes(
            *(tuple(shape) if not isinstance(shape, int) else (shape,) for shape in shapes)
        )
    )


@named
def repeat(input: Any, *given: Any, repeats: Any = None) -> Any:
    """The whole tensor repeated along each dimension."""
    counts = loose_sizes("repeat", given or (repeats,))
    if len(counts) < input.ndim:
        raise RuntimeError(
            f"repeat: needs a number for each of {input.ndim} dimensions, got {counts}"
        )
    return ops.tile(input, counts)


@named
def tile(input: Any, *given: Any, dims: Any = None) -> Any:
    """The whole tensor repeated; missing numbers are 1."""
    return ops.tile(input, loose_sizes("tile", given or (dims,)))


@named
def repeat_interleave(
    input: Any, repeats: Any, dim: int | None = None, *, output_size: Any = None
) -> Any:
    """Each element repeated."""
    if not isinstance(repeats, int):
        repeats = [int(x) for x in np.atleast_1d(array_of(repeats, "repeat_interleave"))]
        repeats = repeats[0] if len(repeats) == 1 else repeats
    return ops.repeat(input, repeats, dim)


@named
def cat(tensors: Any, dim: int = 0) -> Any:
    """The tensors one after the other along a dimension."""
    parts = [x for x in tensors if x.ndim != 1 or x.shape[0] or len(tensors) == 1]
    return ops.concatenate(parts or list(tensors), dim)


@named
def stack(tensors: Any, dim: int = 0) -> Any:
    """The tensors along a new dimension."""
    return ops.stack(list(tensors), dim)


def hstack(tensors: Any) -> Tensor:
    """The tensors side by side."""
    parts = [atleast_1d(x) for x in tensors]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)  # type: ignore[no-any-return]


def vstack(tensors: Any) -> Tensor:
    """The tensors one below the other."""
    return cat([atleast_2d(x) for x in tensors], 0)  # type: ignore[no-any-return]


def dstack(tensors: Any) -> Tensor:
    """The tensors along the third dimension."""
    return cat([atleast_3d(x) for x in tensors], 2)  # type: ignore[no-any-return]


def column_stack(tensors: Any) -> Tensor:
    """Vectors as columns, and matrices side by side."""
    return cat([reshape(x, -1, 1) if x.ndim <= 1 else x for x in tensors], 1)  # type: ignore[no-any-return]


def _each(function: Any, tensors: Any) -> Any:
    """The function of one tensor, or of each of several."""
    if len(tensors) == 1 and not isinstance(tensors[0], list | tuple):
        return function(tensors[0])
    return tuple(function(x) for x in (tensors if len(tensors) > 1 else tensors[0]))


def atleast_1d(*tensors: Any) -> Any:
    """The tensor with one dimension or more."""
    return _each(lambda input: input if input.ndim else reshape(input, 1), tensors)


def atleast_2d(*tensors: Any) -> Any:
    """The tensor with two dimensions or more."""
    return _each(lambda input: input if input.ndim > 1 else reshape(input, 1, -1), tensors)


def atleast_3d(*tensors: Any) -> Any:
    """The tensor with three dimensions or more."""
    return _each(
        lambda input: input if input.ndim > 2 else unsqueeze(atleast_2d(input), -1), tensors
    )


@named
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Parts of one size along a dimension, the last maybe smaller; or of the sizes in a list."""
    size = tensor.shape[dim]
    if isinstance(split_size_or_sections, int):
        step = split_size_or_sections
        if step <= 0:
            raise RuntimeError(f"split: the size of parts must be above 0, got {step}")
        return _cut(tensor, range(step, size, step), dim)
    sizes = [int(x) for x in split_size_or_sections]
    if sum(sizes) != size:
        raise RuntimeError(f"split: sizes must add up to {size}, got {sizes}")
    return _cut(tensor, np.cumsum(sizes)[:-1].tolist(), dim)


def _cut(tensor: Any, places: Any, dim: int) -> tuple[Any, ...]:
    places = list(places)
    return tuple(ops.split(tensor, places, dim)) if places else (ops.getitem(tensor, ...),)


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most so many parts of one size, the last maybe smaller."""
    if chunks <= 0:
        raise RuntimeError(f"chunk: chunks must be above 0, got {chunks}")
    return split(input, max(-(-input.shape[dim] // chunks), 1), dim)  # type: ignore[no-any-return]


@named
def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> Any:
    """Parts whose sizes differ by 1 at most, or cut at indices."""
    if hasattr(indices_or_sections, "tolist"):
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, int):
        small, more = divmod(input.shape[dim], indices_or_sections)
        sizes = [small + 1] * more + [small] * (indices_or_sections - more)
        return _cut(input, np.cumsum(sizes)[:-1].tolist(), dim)
    return _cut(input, [int(x) for x in indices_or_sections], dim)


@named
def unbind(input: Any, dim: int = 0) -> Any:
    """The tensors along a dimension."""
    before = (slice(None),) * (dim % input.ndim)
    return tuple(ops.getitem(input, (*before, index)) for index in range(input.shape[dim]))


@named
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """``length`` places along a dimension from ``start``, a view."""
    start = int(start) + (input.shape[dim] if start < 0 else 0)
    if not 0 <= start <= start + length <= input.shape[dim]:
        raise RuntimeError(
            f"narrow: start and length must be within {input.shape[dim]}, got {start}, {length}"
        )
    return ops.getitem(input, (*(slice(None),) * (dim % input.ndim), slice(start, start + length)))


@named
def select(input: Any, dim: int, index: Any) -> Any:
    """One place of a dimension, a view."""
    return ops.getitem(input, (*(slice(None),) * (dim % input.ndim), int(index)))


@named
def flip(input: Any, *given: Any, dims: Any = None) -> Any:
    """The elements in reverse order along dimensions."""
    return ops.flip(input, loose_sizes("flip", given or (dims,)))


def fliplr(input: Any) -> Tensor:
    """The columns in reverse order."""
    return flip(input, 1)  # type: ignore[no-any-return]


def flipud(input: Any) -> Tensor:
    """The rows in reverse order."""
    return flip(input, 0)  # type: ignore[no-any-return]


@named
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """The elements moved along dimensions, those at the end to the beginning."""
    return ops.roll(input, shifts, dims_of(dims))


def rot90(input: Any, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """The tensor turned by 90 degrees ``k`` times."""
    k %= 4
    if k == 0:
        return reshape(input, input.shape)  # type: ignore[no-any-return]
    if k == 2:
        return flip(input, dims)  # type: ignore[no-any-return]
    turned = transpose(input, *dims)
    return flip(turned, dims[0] if k == 1 else dims[1])  # type: ignore[no-any-return]


@named
def tril(input: Any, diagonal: int = 0) -> Any:
    """The elements on and below a diagonal, zeros elsewhere."""
    return ops.tril(input, diagonal)


@named
def triu(input: Any, diagonal: int = 0) -> Any:
    """The elements on and above a diagonal, zeros elsewhere."""
    return ops.triu(input, diagonal)


def tril_indices(row: int, col: int, offset: int = 0, **options: Any) -> Tensor:
    """The indices of the elements on and below a diagonal."""
    return wrapped(np.stack(np.tril_indices(row, offset, col)))


def triu_indices(row: int, col: int, offset: int = 0, **options: Any) -> Tensor:
    """The indices of the elements on and above a diagonal."""
    return wrapped(np.stack(np.triu_indices(row, offset, col)))


@named
def diag(input: Any, diagonal: int = 0) -> Any:
    """The matrix with a diagonal, or the diagonal of a matrix."""
    return ops.diag(input, diagonal)


@named
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal of two dimensions, as the last dimension."""
    return ops.diagonal(input, offset, dim1, dim2)


@named
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices whose diagonals are the last dimension."""
    return ops.diag_embed(input, offset, dim1, dim2)


@named
def trace(input: Any) -> Any:
    """The sum of the diagonal."""
    return ops.trace(input)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Grids of coordinates, one for each tensor; "xy" exchanges the first two dimensions."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f"meshgrid: indexing must be 'ij' or 'xy', got {indexing!r}")
    swapped = indexing == "xy" and len(given) > 1
    order = [1, 0, *range(2, len(given))] if swapped else list(range(len(given)))
    shape = tuple(
        given[i].size() and math.prod(given[i].shape) if given[i].ndim else 1 for i in order
    )
    grids = []
    for place, x in enumerate(given):
        own = order.index(place)
        sizes = tuple(shape[own] if axis == own else 1 for axis in range(len(shape)))
        grids.append(expand(reshape(x, sizes), shape))
    return tuple(grids)


def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of elements, a row for each."""
    if len(tensors) == 1:
        return tensors[0]  # type: ignore[no-any-return]
    return stack([reshape(grid, -1) for grid in meshgrid(*tensors)], 1)  # type: ignore[no-any-return]


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of ``r`` elements, a row for each."""
    choose = combinations_with_replacement if with_replacement else _combinations
    rows = np.asarray(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1, r)
    return input[wrapped(rows)]  # type: ignore[no-any-return]


def block_diag(*tensors: Any) -> Tensor:
    """A matrix with the tensors along its diagonal."""
    blocks = [atleast_2d(x) for x in tensors]
    width = sum(x.shape[1] for x in blocks)
    rows, before = [], 0
    for x in blocks:
        after = width - before - x.shape[1]
        parts = [wrapped(np.zeros((x.shape[0], size), x.dtype)) for size in (before, after)]
        rows.append(cat([parts[0], x, parts[1]], 1))
        before += x.shape[1]
    return cat(rows, 0)  # type: ignore[no-any-return]


@named
def unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """Windows along a dimension, whose elements are a new last dimension."""
    if input.ndim == 0:
        return ops.reshape(input, (1,))
    dim = dimension % input.ndim
    starts = np.arange(0, input.shape[dim] - size + 1, step)
    index = starts[:, None] + np.arange(size)
    windows = ops.getitem(input, (*(slice(None),) * dim, index))
    return ops.moveaxis(windows, dim + 1, -1)


FUNCTIONS = functions_of(globals())
FUNCTIONS |= {
    "concat": cat,
    "concatenate": cat,
    "moveaxis": movedim,
    "row_stack": vstack,
    "swapaxes": transpose,
    "swapdims": transpose,
}
