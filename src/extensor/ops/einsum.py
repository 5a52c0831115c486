"""Einstein summation: products of labelled axes, summed over labels that the result has not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial
from itertools import count, islice
from math import prod
from typing import Any, NamedTuple

from extensor.arrays.dtypes import bool_
from extensor.arrays.shapes import Shape, Shapes
from extensor.arrays.supplement import as_factor, in_c_order
from extensor.core.creation import eye, zeros_like
from extensor.core.op import Arrays, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.broadcasting import broadcast_to
from extensor.ops.selection import where


class EinsumSpec(NamedTuple):
    """A spec made explicit: one letter for each axis of each operand and of the output."""

    operands: tuple[str, ...]
    output: str
    sizes: Mapping[str, int]


def _explicit_spec(name: str, shapes: Sequence[Any], spec: Any) -> EinsumSpec:
    if not isinstance(spec, str):
        raise type_error(name, "spec must be a string", spec=spec)
    return _parse(name, spec, tuple(tuple(shape) for shape in shapes))


@lru_cache(maxsize=1024)
def _parse(name: str, spec: str, shapes: tuple[Shape, ...]) -> EinsumSpec:
    """``spec`` for operands of these shapes, or an error that says what is wrong."""
    left, arrow, right = spec.replace(" ", "").partition("->")
    terms = left.split(",")
    letters = [term.replace("...", "", 1) for term in (*terms, right)]
    if not all(term == "" or term.isalpha() for term in letters):
        raise value_error(name, "spec may hold letters, commas, '...' and one '->'", spec=spec)
    if len(terms) != len(shapes):
        raise value_error(
            name, "spec must have a term for each operand", spec=spec, operands=len(shapes)
        )
    unnamed = _unnamed_axes(name, terms, letters, shapes)
    ellipsis = _free_letters(spec, max(unnamed))
    operands = tuple(
        # Ellipses of different lengths are aligned at their right ends, as in broadcasting.
        term.replace("...", ellipsis[len(ellipsis) - spare :])
        for term, spare in zip(terms, unnamed, strict=True)
    )
    if arrow:
        output = right.replace("...", ellipsis)
    else:
        named = "".join(letters)
        output = ellipsis + "".join(sorted(x for x in set(named) if named.count(x) == 1))
    _check_output(name, spec, operands, output, ellipsis)
    return EinsumSpec(operands, output, _sizes(name, operands, shapes))


def _unnamed_axes(
    name: str, terms: Sequence[str], letters: Sequence[str], shapes: Sequence[Shape]
) -> list[int]:
    """How many axes of each operand its term leaves to ``...``."""
    unnamed = []
    for i, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        spare = len(shape) - len(letters[i])
        if spare < 0 or (spare > 0 and "..." not in term):
            raise value_error(
                name,
                "a term must have a letter for each axis of its operand",
                **{"term": term, f"operands[{i}]_shape": shape},
            )
        unnamed.append(spare)
    return unnamed


def _free_letters(spec: str, number: int) -> str:
    """Letters that do not stand in ``spec``."""
    free = (x for x in map(chr, count(ord("A"))) if x.isalpha() and x not in spec)
    return "".join(islice(free, number))


def _check_output(
    name: str, spec: str, operands: Sequence[str], output: str, ellipsis: str
) -> None:
    if len(set(output)) != len(output):
        raise value_error(name, "the output must not name a label twice", spec=spec)
    if not set(output) <= set("".join(operands)):
        raise value_error(name, "every label of the output must be in an operand", spec=spec)
    if not set(ellipsis) <= set(output):
        raise value_error(name, "the output must have '...' where an operand has", spec=spec)


def _sizes(name: str, operands: Sequence[str], shapes: Sequence[Shape]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for labels, shape in zip(operands, shapes, strict=True):
        own: dict[str, int] = {}
        for label, size in zip(labels, shape, strict=True):
            if own.setdefault(label, size) != size:
                raise value_error(
                    name, f"axes of label {label!r} must have one size", sizes=(own[label], size)
                )
            known = sizes.get(label, 1)
            if size != known and 1 not in (size, known):
                raise value_error(
                    name, f"axes of label {label!r} must have one size, or 1", sizes=(known, size)
                )
            sizes[label] = size if known == 1 else known
    return sizes


def _result_shape(name: str, shapes: Shapes, spec: Any) -> Shape:
    explicit = _explicit_spec(name, shapes["operands"], spec)
    return tuple(explicit.sizes[label] for label in explicit.output)


def _diagonals(xp: Any, x: Any, labels: str) -> tuple[Any, str]:
    """Each label that stands twice replaced by one, along the diagonal of its axes."""
    for label in labels:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            rest = [i for i in range(x.ndim) if i not in (first, second)]
            n = x.shape[first]
            square = xp.permute_dims(x, (first, second, *rest))
            x = xp.reshape(square, (n * n, *square.shape[2:]))[:: n + 1, ...]
            labels = label + "".join(labels[i] for i in rest)
    return x, labels


def _drop_stretched_axes(xp: Any, x: Any, labels: str, sizes: Mapping[str, int]) -> tuple[Any, str]:
    """Without the axes of size 1 that broadcasting stretches: they take no part in the product."""
    kept = [i for i, label in enumerate(labels) if x.shape[i] == sizes[label]]
    if len(kept) == len(labels):
        return x, labels
    return xp.reshape(x, tuple(x.shape[i] for i in kept)), "".join(labels[i] for i in kept)


def _sum_other_labels(xp: Any, x: Any, labels: str, keep: Collection[str]) -> tuple[Any, str]:
    axes = tuple(i for i, label in enumerate(labels) if label not in keep)
    if not axes:
        return x, labels
    return xp.sum(in_c_order(x), axis=axes, dtype=x.dtype), _only(labels, keep)


def _permute_to(xp: Any, x: Any, labels: str, wanted: str) -> Any:
    return x if labels == wanted else xp.permute_dims(x, tuple(map(labels.index, wanted)))


def _only(labels: str, others: Collection[str]) -> str:
    return "".join(x for x in labels if x in others)


def _without(labels: str, others: Collection[str]) -> str:
    return "".join(x for x in labels if x not in others)


def _product(
    xp: Any, a: Any, of_a: str, b: Any, of_b: str, keep: Collection[str], sizes: Mapping[str, int]
) -> tuple[Any, str]:
    """Two operands in one, by a batched matrix product, without the labels not needed again."""
    a, of_a = _sum_other_labels(xp, a, of_a, {*keep, *of_b})
    b, of_b = _sum_other_labels(xp, b, of_b, {*keep, *of_a})
    common = _only(of_a, of_b)
    batch, inner = _only(common, keep), _without(common, keep)
    rows, columns = _without(of_a, of_b), _without(of_b, of_a)
    shape = [sizes[x] for x in batch]
    m, k, n = (prod(sizes[x] for x in labels) for labels in (rows, inner, columns))
    left = xp.reshape(_permute_to(xp, a, of_a, batch + rows + inner), (*shape, m, k))
    right = xp.reshape(_permute_to(xp, b, of_b, batch + inner + columns), (*shape, k, n))
    product = xp.matmul(as_factor(left), as_factor(right)) if inner else left * right
    labels = batch + rows + columns
    return xp.reshape(product, tuple(sizes[x] for x in labels)), labels


def _arguments(spec: str, *operands: Any) -> tuple[Any, str]:
    return operands, spec


@op(kernel="einsum", shape=_result_shape, arguments=_arguments)
def einsum(xp: Any, operands: Arrays, spec: str) -> Any:
    """Products of labelled axes, summed over the labels that the output lacks.

    Operands are multiplied from left to right. Derivative: ``grad_output`` and the other
    operands in the same sum, with the term of the operand as the output.

    Parameters
    ----------
    spec
        A term for each operand, separated by commas, and after ``->`` the output. A term has a
        letter for each axis and ``...`` for axes without a name, which broadcast, as do axes of
        size 1. A label twice in a term takes the diagonal. Without ``->`` the output has every
        label that stands once, in alphabetical order.
    operands
        The tensors, one for each term.

    Returns
    -------
    Tensor
        The sums, with the axes of the output.

    Raises
    ------
    ValueError
        If ``spec`` does not fit the operands, or the sizes of a label differ.

    >>> import extensor as ex
    >>> ex.einsum("ij,j->i", [[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0])
    tensor([3., 7.])
    >>> ex.einsum_backward(1.0, [ex.tensor([[1.0, 2.0], [3.0, 4.0]])], "ii->")
    (tensor([[1., 0.],
            [0., 1.]]),)
    """
    explicit = _explicit_spec("einsum", [x.shape for x in operands], spec)
    terms = []
    for x, labels in zip(operands, explicit.operands, strict=True):
        terms.append(_drop_stretched_axes(xp, *_diagonals(xp, x, labels), explicit.sizes))
    result, labels = terms[0]
    for i, (x, of_x) in enumerate(terms[1:], start=2):
        keep = {*explicit.output, *(label for _, later in terms[i:] for label in later)}
        result, labels = _product(xp, result, labels, x, of_x, keep, explicit.sizes)
    return _permute_to(xp, *_sum_other_labels(xp, result, labels, explicit.output), explicit.output)


# No kernel: the derivative of a kernel's values is not followed into a sequence of operands.
@einsum.backward()
def einsum_backward(grad_output: Tensor, operands: Sequence[Tensor], spec: str) -> tuple[Any, ...]:
    """For each operand, ``grad_output`` times the others, summed over labels not its own."""
    explicit = _explicit_spec("einsum_backward", [x.shape for x in operands], spec)
    return tuple(
        partial(_gradient, grad_output, operands, explicit, i) for i in range(len(operands))
    )


def _gradient(
    grad_output: Tensor, operands: Sequence[Tensor], explicit: EinsumSpec, index: int
) -> Tensor:
    labels = explicit.operands[index]
    own = dict(zip(labels, operands[index].shape, strict=True))
    others = [i for i in range(len(operands)) if i != index]
    terms = [explicit.output, *(explicit.operands[i] for i in others)]
    # A label of this operand alone was summed: its gradient is the same all along that axis. One
    # that was stretched from size 1 is summed here.
    found = [x for x in own if x in "".join(terms) and own[x] == explicit.sizes[x]]
    spec = f"{','.join(terms)}->{''.join(found)}"
    gradient = einsum(spec, grad_output, *(operands[i] for i in others))
    if len(found) == len(labels) and gradient.shape == operands[index].shape:
        return gradient
    known = dict(zip(found, gradient.shape, strict=True))
    gradient = gradient.reshape([known.get(label, 1) for label in own])
    gradient = broadcast_to(gradient, tuple(own.values()))
    return gradient if len(own) == len(labels) else _on_diagonals(gradient, labels, own)


def _on_diagonals(gradient: Tensor, labels: str, own: Mapping[str, int]) -> Tensor:
    """The gradient of diagonals put back on them, zeros beside them."""
    first = [labels.index(label) == i for i, label in enumerate(labels)]
    gradient = gradient.reshape(
        [own[x] if at_first else 1 for x, at_first in zip(labels, first, strict=True)]
    )
    for i, label in enumerate(labels):
        if not first[i]:
            axes = (labels.index(label), i)
            mask = eye(own[label], dtype=bool_)
            mask = mask.reshape([own[label] if axis in axes else 1 for axis in range(len(labels))])
            gradient = where(mask, gradient, zeros_like(gradient))
    return gradient
