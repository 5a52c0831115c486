"""The kernels of optimizers: the bits of the formulas, for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tolerances

import extensor as ex
from extensor import _native, optim
from extensor.core import door
from extensor.optim import adagrad, adam, clipping, ema, lamb, lion, rmsprop, sgd
from extensor.optim.update import Update

native = pytest.mark.skipif(door.ENGINE != "native", reason="compares kernels with formulas")

# Each update with sets of attributes and the number of roles in use with them.
UPDATES: list[tuple[Update, int, tuple[Any, ...]]] = [
    (sgd._update, 2, (3, 0.1, 0.0, 0.0, 0.0, False, False)),
    (sgd._update, 2, (3, 0.1, 0.0, 0.0, 0.3, False, True)),
    (sgd._update, 3, (1, 0.1, 0.9, 0.4, 0.0, False, False)),
    (sgd._update, 3, (2, 0.1, 0.9, 0.4, 0.3, False, False)),
    (sgd._update, 3, (2, 0.1, 0.9, 0.0, 0.0, True, False)),
    (adam._update, 4, (1, 0.1, 0.9, 0.999, 1e-8, 0.0, False, False)),
    (adam._update, 4, (7, 0.1, 0.8, 0.99, 1e-6, 0.3, False, True)),
    (adam._update, 5, (7, 0.1, 0.8, 0.99, 1e-6, 0.3, True, False)),
    (rmsprop._update, 3, (0.1, 0.99, 1e-8, 0.0, 0.0, False)),
    (rmsprop._update, 5, (0.1, 0.9, 1e-6, 0.3, 0.8, True)),
    (adagrad._adagrad, 3, (5, 0.1, 0.2, 0.3, 1e-10, False)),
    (adagrad._adadelta, 4, (0.9, 0.8, 1e-6, 0.3, False)),
    (lion.Lion.update, 3, (0.1, 0.9, 0.99, 0.3, False)),
    (ema._update, 2, (0.99,)),
    (clipping._scale, 1, (0.37,)),
    (clipping._bound, 1, (0.5,)),
]
SIZES = (0, 1, 3, 15, 16, 17, 64, 100, 1025, 9000)


def _lists(
    rng: np.random.Generator, update: Update, used: int, dtype: Any, sizes: Any = SIZES
) -> list[list[np.ndarray]]:
    """Arrays for every role; state is positive, so that roots exist, and wide."""
    lists = []
    for role in range(len(update.roles)):
        draw = rng.normal if role < 2 else lambda size=None: rng.uniform(0.1, 2, size)
        kind = np.float32 if role >= 2 and np.dtype(dtype).itemsize == 2 else dtype
        lists.append([np.asarray(draw(size=n)).astype(kind) for n in sizes] if role < used else [])
    return lists


def _copies(lists: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
    return [[array.copy() for array in role] for role in lists]


def _flat(lists: list[list[np.ndarray]]) -> list[np.ndarray]:
    return [array for role in lists for array in role]


@native
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("row", range(len(UPDATES)), ids=lambda i: f"{UPDATES[i][0].name}-{i}")
def test_kernel_has_the_bits_of_the_formula(row: int, dtype: str, rng: np.random.Generator) -> None:
    update, used, attributes = UPDATES[row]
    if dtype == "bfloat16":
        dtype = ex.bfloat16  # type: ignore[assignment]
    lists = _lists(rng, update, used, dtype)
    expected = _copies(lists)
    update.formula(*expected, *attributes)
    assert update.kernel(*lists, *attributes) is lists[0]
    for role, other in zip(lists, expected, strict=True):
        for x, y in zip(role, other, strict=True):
            np.testing.assert_array_equal(x.view(f"u{x.itemsize}"), y.view(f"u{y.itemsize}"))


@native
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_lamb_kernel(dtype: str, rng: np.random.Generator) -> None:
    update, attributes = lamb.LAMB.update, (3, 0.1, 0.9, 0.99, 1e-6, 0.2, False)
    lists = _lists(rng, update, 4, dtype)
    lists[0][3][:] = 0  # a parameter of norm zero
    expected = _copies(lists)
    update.formula(*expected, *attributes)
    assert update.kernel(*lists, *attributes) is lists[0]
    for role, other in zip(lists, expected, strict=True):
        for x, y in zip(role, other, strict=True):
            tolerances.assert_close(x, y, dtype)


@native
@pytest.mark.parametrize("order", [2.0, np.inf])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_norm_kernel(dtype: str, order: float, rng: np.random.Generator) -> None:
    arrays = [np.asarray(rng.normal(size=n)).astype(dtype) for n in SIZES]
    kernel = door.kernel("gradient_norm")
    expected = clipping.gradient_norm(arrays, order)
    np.testing.assert_allclose(kernel(arrays, order), expected, rtol=1e-12)
    arrays[5][3] = np.nan
    assert np.isnan(kernel(arrays, order))
    assert kernel(arrays, 3.0) is NotImplemented


@native
@pytest.mark.parametrize("wrong", ["strided", "read-only", "shape", "dtype", "length", "number"])
def test_kernel_declines(wrong: str, rng: np.random.Generator) -> None:
    """What a kernel cannot take it leaves, and leaves alone."""
    update, attributes = adagrad._adagrad, [5, 0.1, 0.2, 0.3, 1e-10, False]
    lists = _lists(rng, update, 3, "float32", (8, 8))
    if wrong == "strided":
        lists[0][1] = np.ones(16, np.float32)[::2]
    elif wrong == "read-only":
        lists[0][1].flags.writeable = False
    elif wrong == "shape":
        lists[1][1] = np.ones(7, np.float32)
    elif wrong == "dtype":
        lists[2][1] = np.ones(8)
    elif wrong == "length":
        lists[2] = []
    else:
        attributes[1] = "0.1"
    before = _copies(lists)
    assert update.kernel(*lists, *attributes) is NotImplemented
    np.testing.assert_array_equal(lists[0][0], before[0][0])


@native
@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize(
    ("update", "flags"), [(adam._update, (True, False)), (lamb.LAMB.update, (False,))]
)
def test_a_planned_update_is_run_again(
    update: Update, flags: tuple[bool, ...], strided: bool, rng: np.random.Generator
) -> None:
    """With the gradients and the numbers of each time, on the same arrays or on others."""
    first, second = (1, 0.1, 0.9, 0.99, 1e-6, 0.2, *flags), (2, 0.03, 0.8, 0.9, 1e-6, 0.1, *flags)
    lists = _lists(rng, update, 4, "float32", ((40, 50), (3,), (70, 60)))
    if strided:
        lists[1] = [np.asfortranarray(x) for x in lists[1]]
    expected, others = _copies(lists), [[x.copy("K") for x in role] for role in lists]
    update.kernel(*expected, *first)
    planned = _native.plan(update.kernel, *lists, *first)
    assert not planned.depends_on_values
    planned.run(tuple(_flat(others)))
    assert planned.run() is lists[0]
    for kept in (lists, others):
        for x, y in zip(_flat(kept), _flat(expected), strict=True):
            np.testing.assert_array_equal(x, y)
    for x, y in zip(lists[1], expected[1], strict=True):
        x *= 2
        y *= 2
    update.kernel(*expected, *second)
    planned.run(numbers=tuple(float(x) for x in second))
    for x, y in zip(_flat(lists), _flat(expected), strict=True):
        np.testing.assert_array_equal(x, y)


def _stepped(watched: list[Any]) -> list[np.ndarray]:
    """Two steps of two groups; the second is watched."""
    made = np.random.default_rng(3)
    parameters = [ex.tensor(made.normal(size=5), "float32", requires_grad=True) for _ in range(2)]
    for parameter in parameters:
        parameter.grad = parameter.detach() * 2
    optimizer = optim.Adam([{"params": [x]} for x in parameters])
    optimizer.step()
    with door.watch(watched.append):
        optimizer.step()
    return [x.numpy() for x in parameters]


@native
def test_the_groups_of_a_step_pass_the_door() -> None:
    told: list[Any] = []
    expected = _stepped(told)
    assert [(x.op, x.kernel) for x in told] == [("adam_update", "adam_update")] * 2
    for computed, values in zip(told, expected, strict=True):
        assert computed.outputs is computed.inputs[0]
        assert computed.inputs[5:7] == (2, 1e-3)
        assert computed.begin <= computed.end
        np.testing.assert_array_equal(computed.outputs[0], values)
    told.clear()
    with door.by_formulas():
        found = _stepped(told)
    assert [(x.op, x.kernel) for x in told] == [("adam_update", None)] * 2
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("make", ["Adam", "LAMB", "SGD"])
def test_same_bits_for_any_number_of_threads(make: str, rng: np.random.Generator) -> None:
    sizes = (200_000, 17, 70_001)
    values = [rng.normal(size=n).astype(np.float32) for n in sizes]
    gradients = [rng.normal(size=n).astype(np.float32) for n in sizes]
    results = []
    threads = ex.get_num_threads()
    try:
        for count in (1, 2, 5):
            ex.set_num_threads(count)
            parameters = [ex.tensor(x, requires_grad=True) for x in values]
            optimizer = getattr(optim, make)(parameters, lr=0.1, weight_decay=0.1)
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = ex.tensor(gradient)
            norm = optim.clip_grad_norm(parameters, 5.0)
            optimizer.step()
            results.append([norm.numpy(), *(x.numpy() for x in parameters)])
    finally:
        ex.set_num_threads(threads)
    for other in results[1:]:
        for x, y in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(x, y)
