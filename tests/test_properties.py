"""Drawn shapes, axes and indices: what holds for all of them, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tolerances
from drawing import (
    Shape,
    Watched,
    assert_close,
    broadcastable,
    layouts,
    numbers,
    positive_shapes,
    shapes,
    sizes,
    summed_to,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import extensor as ex


def _floor_quotient(a: Any, b: Any) -> Any:
    return np.floor(a / b)


# For each binary op: NumPy's function, and its two partial derivatives.
BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]] = {
    "add": (np.add, lambda a, b: 1, lambda a, b: 1),
    "subtract": (np.subtract, lambda a, b: 1, lambda a, b: -1),
    "multiply": (np.multiply, lambda a, b: b, lambda a, b: a),
    "divide": (np.divide, lambda a, b: 1 / b, lambda a, b: -a / b**2),
    "power": (
        lambda a, b: np.abs(a) ** b,
        lambda a, b: b * np.abs(a) ** (b - 1),
        lambda a, b: np.abs(a) ** b * np.log(np.abs(a)),
    ),
    "floor_divide": (np.floor_divide, lambda a, b: 0, lambda a, b: 0),
    "modulo": (np.remainder, lambda a, b: 1, lambda a, b: -_floor_quotient(a, b)),
    "maximum": (
        np.maximum,
        lambda a, b: (a > b) + 0.5 * (a == b),
        lambda a, b: (b > a) + 0.5 * (a == b),
    ),
    "minimum": (
        np.minimum,
        lambda a, b: (a < b) + 0.5 * (a == b),
        lambda a, b: (b < a) + 0.5 * (a == b),
    ),
    "atan2": (
        np.arctan2,
        lambda a, b: b / (a * a + b * b),
        lambda a, b: -a / (a * a + b * b),
    ),
}


@pytest.mark.parametrize("name", BINARY)
@given(pair=broadcastable(), layout=layouts(), seed=st.integers(0, 99))
def test_binary_ops_broadcast(name: str, pair: list[Shape], layout: Any, seed: int) -> None:
    function, by_a, by_b = BINARY[name]
    a, b = (numbers(shape, seed + i) for i, shape in enumerate(pair))
    watched = Watched([np.asarray(np.abs(a)) if name == "power" else a, b], layout)
    output = getattr(ex, name)(*watched.leaves)
    expected = function(a, b)
    assert_close(output, expected)
    g = numbers(np.shape(expected), seed + 2)
    found = watched.gradients(output, g)
    assert_close(found[0], summed_to(g * np.broadcast_to(by_a(a, b), g.shape), a.shape))
    assert_close(found[1], summed_to(g * np.broadcast_to(by_b(a, b), g.shape), b.shape))


COMPARISONS = "equal not_equal less less_equal greater greater_equal".split()
LOGIC = "logical_and logical_or logical_xor".split()


@pytest.mark.parametrize("name", COMPARISONS + LOGIC)
@given(pair=broadcastable(), layout=layouts(), seed=st.integers(0, 99))
def test_comparisons_broadcast(name: str, pair: list[Shape], layout: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (layout(rng.integers(-1, 2, shape).astype(float)) for shape in pair)
    found = getattr(ex, name)(a, b)
    assert found.dtype == bool
    np.testing.assert_array_equal(found.numpy(), getattr(np, name)(a, b))


@given(triple=broadcastable(3), layout=layouts(), seed=st.integers(0, 99))
def test_where_broadcasts(triple: list[Shape], layout: Any, seed: int) -> None:
    condition = np.random.default_rng(seed).random(triple[0]) > 0.5
    a, b = (numbers(shape, seed + i) for i, shape in enumerate(triple[1:]))
    watched = Watched([a, b], layout)
    output = ex.where(layout(np.asarray(condition)), *watched.leaves)
    expected = np.where(condition, a, b)
    assert_close(output, expected)
    g = numbers(expected.shape, seed)
    found = watched.gradients(output, g)
    assert_close(found[0], summed_to(np.where(condition, g, 0), a.shape))
    assert_close(found[1], summed_to(np.where(condition, 0, g), b.shape))


@given(pair=broadcastable(), seed=st.integers(0, 99))
def test_reduce_is_the_adjoint_of_broadcast(pair: list[Shape], seed: int) -> None:
    """``<g, broadcast(x)> = <reduce(g), x>``, and both are the rules of each other."""
    full = np.broadcast_shapes(*pair)
    x, g = numbers(pair[0], seed), numbers(full, seed + 1)
    stretched = ex.broadcast_to(x, full)
    reduced = ex.reduce_to_shape(g, pair[0])
    assert_close(stretched, np.broadcast_to(x, full))
    assert_close(reduced, summed_to(g, pair[0]))
    assert_close((g * stretched.numpy()).sum(), (reduced.numpy() * x).sum())
    np.testing.assert_array_equal(ex.broadcast_to_backward(g, pair[0]).numpy(), reduced.numpy())
    np.testing.assert_array_equal(ex.reduce_to_shape_backward(x, full).numpy(), stretched.numpy())


@given(st.lists(shapes, min_size=1, max_size=3))
def test_broadcast_shapes_is_numpys(given_shapes: list[Shape]) -> None:
    try:
        expected = np.broadcast_shapes(*given_shapes)
    except ValueError:
        with pytest.raises(
            ValueError, match=r"^broadcast_shapes: shapes must broadcast, got shape0"
        ):
            ex.broadcast_shapes(*given_shapes)
    else:
        assert ex.broadcast_shapes(*given_shapes) == expected
    if len(given_shapes) == 2:
        try:
            np.broadcast_shapes(*given_shapes)
            fits = True
        except ValueError:
            fits = False
        assert ex.are_shapes_broadcastable(*given_shapes) is fits


@given(pair=broadcastable())
def test_broadcast_strides(pair: list[Shape]) -> None:
    """The strides read the flat elements as NumPy's broadcast view does."""
    full = np.broadcast_shapes(*pair)
    x = np.arange(int(np.prod(pair[0]))).reshape(pair[0])
    strides = ex.compute_broadcast_strides(pair[0], full)
    expected = np.broadcast_to(x, full)
    for index in np.ndindex(full):
        assert sum(i * s for i, s in zip(index, strides, strict=True)) == expected[index]


@st.composite
def reductions(draw: st.DrawFn, empty: bool = True) -> tuple[Shape, Any, bool]:
    """A shape, an axis (None, an int or a tuple, of either sign) and keepdims."""
    shape = draw(shapes if empty else positive_shapes)
    axes = st.integers(-len(shape), len(shape) - 1) if shape else st.nothing()
    several = st.lists(axes, max_size=4, unique_by=lambda a: a % max(1, len(shape))).map(tuple)
    axis = draw(st.one_of(st.none(), axes, several) if shape else st.one_of(st.none(), st.just(())))
    return shape, axis, draw(st.booleans())


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "prod": np.prod,
    "any": np.any,
    "all": np.all,
    "count_nonzero": np.count_nonzero,
    "mean": np.mean,
    "var": np.var,
    "std": np.std,
    "max_reduce": np.max,
    "min_reduce": np.min,
    "logsumexp": lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)),
    "norm": lambda x, axis, keepdims: np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims)),
}
NEEDS_ELEMENTS = {"mean", "var", "std", "max_reduce", "min_reduce", "logsumexp", "norm"}
WITHOUT_GRADIENT = {"any", "all", "count_nonzero"}


@pytest.mark.parametrize("name", REDUCTIONS)
@given(data=st.data(), layout=layouts(), seed=st.integers(0, 99))
def test_reductions(name: str, data: st.DataObject, layout: Any, seed: int) -> None:
    shape, axis, keepdims = data.draw(reductions(empty=name not in NEEDS_ELEMENTS))
    x = numbers(shape, seed)
    if name in WITHOUT_GRADIENT:
        x = np.asarray(x * (np.random.default_rng(seed).random(shape) > 0.5))
        found = getattr(ex, name)(layout(x), axis=axis, keepdims=keepdims)
        np.testing.assert_array_equal(found, REDUCTIONS[name](x, axis=axis, keepdims=keepdims))
        return
    watched = Watched([x], layout)
    output = getattr(ex, name)(*watched.leaves, axis=axis, keepdims=keepdims)
    expected = np.asarray(REDUCTIONS[name](x, axis=axis, keepdims=keepdims))
    assert_close(output, expected)
    g = numbers(expected.shape, seed + 1)
    (found,) = watched.gradients(output, g)
    reduced = tuple(range(x.ndim)) if axis is None else axis
    kept = np.expand_dims(g, reduced) if not keepdims else g
    np.testing.assert_allclose(
        found, _slope(name, x, axis) * np.broadcast_to(kept, shape), rtol=1e-9, atol=1e-9
    )


def _slope(name: str, x: np.ndarray, axis: Any) -> Any:
    """The derivative of the reduction by each element."""
    value = REDUCTIONS[name](x, axis=axis, keepdims=True)
    count = x.size // max(1, np.size(value))
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = {
            "sum": lambda: np.ones(x.shape),
            "prod": lambda: value / x,
            "mean": lambda: np.full(x.shape, 1 / count),
            "var": lambda: 2 * (x - x.mean(axis=axis, keepdims=True)) / count,
            "std": lambda: np.where(
                value == 0, 0, (x - x.mean(axis=axis, keepdims=True)) / (count * value)
            ),
            "max_reduce": lambda: x == value,
            "min_reduce": lambda: x == value,
            "logsumexp": lambda: np.exp(x - value),
            "norm": lambda: x / value,
        }
        return slopes[name]()


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@given(shape=positive_shapes, data=st.data(), seed=st.integers(0, 99))
def test_positions(name: str, shape: Shape, data: st.DataObject, seed: int) -> None:
    axes = st.integers(-len(shape), len(shape) - 1) if shape else st.nothing()
    axis = data.draw(st.one_of(st.none(), axes))
    x = np.round(numbers(shape, seed))  # ties: the first one counts
    for keepdims in (False, True):
        found = getattr(ex, name)(x, axis=axis, keepdims=keepdims)
        np.testing.assert_array_equal(found, getattr(np, name)(x, axis=axis, keepdims=keepdims))


@given(reduction=reductions(empty=False), value=st.sampled_from([0.0, -1.5]))
def test_ties_share_equally(reduction: tuple[Shape, Any, bool], value: float) -> None:
    shape, axis, keepdims = reduction
    x = np.full(shape, value)
    for name in ("max_reduce", "min_reduce"):
        output = getattr(ex, name)(x, axis, keepdims)
        gradient = getattr(ex, f"{name}_backward")(ex.ones_like(output), x, axis, keepdims)
        share = output.size / x.size
        assert_close(gradient, np.full(shape, share))


@st.composite
def factors(draw: st.DrawFn) -> list[Shape]:
    """Two shapes that ``matmul`` accepts: vectors, matrices, and batches that broadcast."""
    rows, inner, columns = (draw(st.integers(0, 4)) for _ in range(3))
    left, right = draw(st.sampled_from([(1, 1), (1, 2), (2, 1), (2, 2), (2, 2), (2, 2)]))
    batches = [tuple(size for size in batch[-2:]) for batch in draw(broadcastable())]
    a = (inner,) if left == 1 else (*batches[0], rows, inner)
    b = (inner,) if right == 1 else (*batches[1], inner, columns)
    return [a, b]


@settings(max_examples=250)
@given(pair=factors(), layout=layouts(), seed=st.integers(0, 99))
def test_matmul(pair: list[Shape], layout: Any, seed: int) -> None:
    a, b = (numbers(shape, seed + i) for i, shape in enumerate(pair))
    watched = Watched([a, b], layout)
    output = ex.matmul(*watched.leaves)
    expected = np.asarray(a @ b)
    assert_close(output, expected)
    g = numbers(expected.shape, seed + 2)
    found = watched.gradients(output, g)
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    full = g
    if a.ndim == 1:
        full = np.expand_dims(full, -1 if b.ndim == 1 else -2)
    if b.ndim == 1:
        full = np.expand_dims(full, -1)
    assert_close(found[0], summed_to(full @ right.swapaxes(-1, -2), left.shape).reshape(a.shape))
    assert_close(found[1], summed_to(left.swapaxes(-1, -2) @ full, right.shape).reshape(b.shape))


@st.composite
def indexed(draw: st.DrawFn) -> tuple[Shape, Any]:
    """A shape and an index into it: basic, of integer arrays, or boolean."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple))
    kind = draw(st.sampled_from(["basic", "basic", "integers", "mask", "mixed"]))
    if kind == "basic":
        return shape, draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    if kind == "integers":
        return shape, draw(
            hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=2, max_side=3))
        )
    if kind == "mask":
        return shape, draw(hnp.arrays(bool, shape[: draw(st.integers(1, len(shape)))]))
    items: list[Any] = []
    for size in shape:
        places = st.integers(-size, size - 1)
        items.append(
            draw(
                st.one_of(
                    places,
                    st.slices(size),
                    st.lists(places, min_size=2, max_size=2).map(np.array),
                )
            )
        )
    return shape, tuple(items)


@settings(max_examples=300)
@given(case=indexed(), layout=layouts(), seed=st.integers(0, 99))
def test_getitem(case: tuple[Shape, Any], layout: Any, seed: int) -> None:
    shape, index = case
    x = numbers(shape, seed)
    watched = Watched([x], layout)
    output = watched.leaves[0][index]
    expected = np.asarray(x[index])
    np.testing.assert_array_equal(output.numpy(), expected)
    assert output.shape == expected.shape
    g = numbers(expected.shape, seed + 1)
    (found,) = watched.gradients(output, g)
    wanted = np.zeros(shape)
    np.add.at(wanted, index, g)
    assert_close(found, wanted)


@settings(max_examples=150)
@given(case=indexed(), layout=layouts(), seed=st.integers(0, 99))
def test_functional_updates(case: tuple[Shape, Any], layout: Any, seed: int) -> None:
    shape, index = case
    x = numbers(shape, seed)
    values = numbers(np.shape(x[index]), seed + 1)
    watched = Watched([x, values], layout)
    leaf, update = watched.leaves
    added = leaf.at[index].add(update)
    expected = x.copy()
    np.add.at(expected, index, values)
    assert_close(added, expected)
    g = numbers(shape, seed + 2)
    of_x, of_values = watched.gradients(added, g)
    assert_close(of_x, g)
    assert_close(of_values, g[index])
    changed = leaf.at[index].set(update)
    expected = x.copy()
    expected[index] = values
    np.testing.assert_array_equal(changed.numpy(), expected)


def _moved(
    arrays: list[np.ndarray],
    layout: Any,
    apply: Callable[[Any, list[Any]], Any],
    namespaces: tuple[Any, Any] = (ex, np),
) -> None:
    """An op that only moves elements: NumPy's values, and a gradient that moves them back.

    The gradient of each element is what arrives at its places: the elements are numbered, so
    NumPy's own result says which those are.
    """
    watched = Watched(arrays, layout)
    ours, numpys = namespaces
    results = apply(ours, watched.leaves)
    several = isinstance(results, tuple | list)
    outputs = list(results) if several else [results]
    numbered, start = [], 1
    for x in arrays:
        numbered.append(np.arange(start, start + x.size).reshape(x.shape))
        start += x.size
    places = apply(numpys, numbered)
    expected = apply(numpys, arrays)
    wanted = np.zeros(start)
    seeds = []
    for position, (output, place, values) in enumerate(
        zip(
            outputs,
            places if several else [places],
            expected if several else [expected],
            strict=True,
        )
    ):
        np.testing.assert_array_equal(output.numpy(), values)
        assert output.shape == np.shape(values)
        g = numbers(np.shape(values), position)
        np.add.at(wanted, np.asarray(place), g)
        seeds.append(g)
    ex.backward(outputs, seeds)
    start = 1
    for leaf, x in zip(watched.leaves, arrays, strict=True):
        assert leaf.grad.shape == x.shape
        assert_close(leaf.grad, wanted[start : start + x.size].reshape(x.shape))
        start += x.size


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[Shape, Shape]:
    """Two shapes of as many elements, the second perhaps with a -1."""
    shape = draw(st.lists(st.integers(0, 4), max_size=4).map(tuple))
    size = int(np.prod(shape))
    target: list[int] = []
    rest = size
    while rest > 1 and len(target) < 3:
        factor = draw(st.sampled_from([d for d in range(1, rest + 1) if rest % d == 0]))
        target.append(factor)
        rest //= factor
    if rest != 1 or not target:
        target.append(rest)
    if size and draw(st.booleans()):
        target[draw(st.integers(0, len(target) - 1))] = -1
    return shape, tuple(target)


@given(case=reshapes(), layout=layouts())
def test_reshape(case: tuple[Shape, Shape], layout: Any) -> None:
    shape, target = case
    _moved([numbers(shape, 0)], layout, lambda xp, x: xp.reshape(x[0], target))


@given(shape=shapes, data=st.data(), layout=layouts())
def test_axes_are_moved(shape: Shape, data: st.DataObject, layout: Any) -> None:
    ndim = len(shape)
    order = data.draw(st.permutations(range(ndim)))
    signed = tuple(a - ndim if data.draw(st.booleans()) else a for a in order)
    x = [numbers(shape, 0)]
    _moved(x, layout, lambda xp, x: xp.transpose(x[0], signed))
    _moved(x, layout, lambda xp, x: xp.transpose(x[0]))
    if ndim:
        one, other = (data.draw(st.integers(-ndim, ndim - 1)) for _ in range(2))
        _moved(x, layout, lambda xp, x: xp.swapaxes(x[0], one, other))
        _moved(x, layout, lambda xp, x: xp.moveaxis(x[0], one, other))
        _moved(x, layout, lambda xp, x: xp.flip(x[0], one))
        shift = data.draw(st.integers(-4, 4))
        _moved(x, layout, lambda xp, x: xp.roll(x[0], shift, one))
    _moved(x, layout, lambda xp, x: xp.flip(x[0]))
    _moved(x, layout, lambda xp, x: xp.ravel(x[0]))
    _moved(x, layout, lambda xp, x: xp.squeeze(x[0]))
    new = data.draw(st.integers(-ndim - 1, ndim))
    _moved(x, layout, lambda xp, x: xp.expand_dims(x[0], new))


@given(shape=shapes.filter(len), data=st.data(), layout=layouts())
def test_joining_and_splitting(shape: Shape, data: st.DataObject, layout: Any) -> None:
    ndim = len(shape)
    axis = data.draw(st.integers(-ndim, ndim - 1))
    lengths = data.draw(st.lists(sizes, min_size=1, max_size=3))
    parts = []
    for i, length in enumerate(lengths):
        changed = list(shape)
        changed[axis] = length
        parts.append(numbers(tuple(changed), i))
    _moved(parts, layout, lambda xp, x: xp.concatenate(x, axis=axis))
    new = data.draw(st.integers(-ndim - 1, ndim))
    _moved(
        [numbers(shape, i) for i in range(len(lengths))],
        layout,
        lambda xp, x: xp.stack(x, axis=new),
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, shape[axis]), max_size=3)))
    _moved([numbers(shape, 0)], layout, lambda xp, x: xp.split(x[0], cuts, axis=axis))
    count = data.draw(st.sampled_from([n for n in range(1, 4) if shape[axis] % n == 0]))
    _moved([numbers(shape, 0)], layout, lambda xp, x: xp.split(x[0], count, axis=axis))


@given(shape=positive_shapes, data=st.data(), layout=layouts())
def test_copies_of_elements(shape: Shape, data: st.DataObject, layout: Any) -> None:
    x = [numbers(shape, 0)]
    reps = data.draw(st.lists(sizes, min_size=1, max_size=4).map(tuple))
    _moved(x, layout, lambda xp, x: xp.tile(x[0], reps))
    repeats = data.draw(st.integers(0, 3))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1)) if shape else None
    _moved(x, layout, lambda xp, x: xp.repeat(x[0], repeats, axis=axis))
    if axis is not None:
        each = data.draw(st.lists(sizes, min_size=shape[axis], max_size=shape[axis]))
        _moved(x, layout, lambda xp, x: xp.repeat(x[0], each, axis=axis))
        indices = data.draw(
            st.lists(st.integers(-shape[axis], shape[axis] - 1), max_size=4).map(
                lambda places: np.array(places, np.int64)
            )
        )
        _moved(x, layout, lambda xp, x: xp.take(x[0], indices, axis=axis))


MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]


@pytest.mark.parametrize("mode", MODES)
@given(shape=positive_shapes.filter(len), data=st.data(), layout=layouts())
def test_pad(mode: str, shape: Shape, data: st.DataObject, layout: Any) -> None:
    widths = tuple((data.draw(sizes), data.draw(sizes)) for _ in shape)
    _moved([numbers(shape, 0)], layout, lambda xp, x: xp.pad(x[0], widths, mode=mode))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@given(pair=broadcastable(), seed=st.integers(0, 99))
def test_gradients_of_small_floats(dtype: str, pair: list[Shape], seed: int) -> None:
    """Each gradient has its input's shape and dtype, and is the float64 one rounded."""
    a, b = (ex.tensor(numbers(s, seed + i), dtype=dtype) for i, s in enumerate(pair))
    wide = [x.astype("float64") for x in (a, b)]
    for x in (a, b, *wide):
        x.requires_grad = True
    for x, y in ((a, b), wide):
        (x * y + x / y).sum().backward()
    for x, exact in zip((a, b), wide, strict=True):
        assert x.grad.shape == x.shape
        assert x.grad.dtype == x.dtype
        scale = max(1.0, float(np.abs(exact.grad.numpy()).max(initial=1)))
        np.testing.assert_allclose(
            np.asarray(x.grad, np.float64) / scale,
            exact.grad.numpy() / scale,
            rtol=0,
            atol=8 * tolerances.of(dtype)["rtol"],
        )
