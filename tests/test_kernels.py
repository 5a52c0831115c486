"""Kernels against the formulas that specify them, over lengths, layouts, dtypes and thread counts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tolerances
from calls import (
    FLOATS,
    arguments_of,
    arrays_of,
    call,
    first_floating,
    hand_arguments,
    numpy_dtype,
)
from cases.case import Case
from cases.dropout import Repeating
from op_cases import CASES

import extensor as ex
from extensor import engine
from extensor.op import OPS, Op, Rule
from extensor.operands import unwrapped
from extensor.tensor import wrap

pytestmark = pytest.mark.skipif(engine.ENGINE == "reference", reason="the reference has no kernels")

ATTRIBUTES: dict[str, tuple[Any, ...]] = {
    "clip": (-1.0, 1.0),
    "hard_tanh": (-0.75, 1.25),
    "leaky_relu": (0.1,),
    "elu": (1.5,),
    "softplus": (2.0,),
    "lift": (0.5,),
    "cast": (np.dtype("float32"),),
    "masked_fill": (0.25,),
}
# Which arrays are booleans; of a rule the first array is grad_output.
BOOLEAN = {"where": 0, "where_backward": 1, "masked_fill": 1, "masked_fill_backward": 1}
# The shape rules of ops that work element by element.
ELEMENTWISE = {"same", "broadcast", "_gelu", "_softplus", "_bounded"}
LENGTHS = [*range(68), 1000]
THREADS = (1, 2, 3, 4, 8)
assert ex.bfloat16.itemsize == 2  # asking for it makes it known to the kernels


@dataclass(frozen=True)
class Elementwise:
    """A kernel that works element by element, and its formula on the same arrays.

    ``count`` is the number of arrays; of a rule the first is ``grad_output``.
    """

    name: str
    count: int
    kernel: Callable[[Sequence[Any]], Any]
    formula: Callable[[Sequence[Any]], Any]
    boolean: int | None = None

    def __repr__(self) -> str:
        return self.name


def _default_attributes(op: Op) -> tuple[Any, ...]:
    if op.name in ATTRIBUTES:
        return ATTRIBUTES[op.name]
    return tuple(op.parameters.defaults[op.arity :])


def _of_op(op: Op) -> Elementwise:
    attributes = _default_attributes(op)
    assert op.kernel is not None
    kernel = op.kernel
    return Elementwise(
        op.name,
        op.arity,
        lambda arrays: kernel(*arrays, *attributes),
        lambda arrays: op.formula(*arrays, *attributes),
        BOOLEAN.get(op.name),
    )


def _of_rule(op: Op, rule: Rule) -> Elementwise:
    attributes = dict(zip(op.attributes, _default_attributes(op), strict=True))
    tensors = [i for i, (role, _) in enumerate(rule.roles) if role in ("tensor", "output")]

    def arguments(arrays: Sequence[Any]) -> list[Any]:
        given = iter(arrays)
        result = [next(given)]
        for (role, _), name in zip(rule.roles, rule.names, strict=True):
            if role in ("tensor", "output"):
                result.append(next(given))
            elif role == "shape":
                result.append(tuple(arrays[0].shape))
            else:
                result.append(1e-10 if role == "eps" else attributes[name])
        return result

    def kernel(arrays: Sequence[Any]) -> Any:
        needs = () if rule.single else ((True,) * len(rule.fields),)
        return rule.kernel(*arguments(arrays), *needs)

    def formula(arrays: Sequence[Any]) -> Any:
        wrapped = [wrap(x) if isinstance(x, np.ndarray) else x for x in arguments(arrays)]
        with ex.no_grad():
            found = rule.by_formula(wrapped, (True,) * len(rule.fields))
        return found[0].numpy() if rule.single else tuple(x.numpy() for x in found)

    return Elementwise(rule.name, 1 + len(tensors), kernel, formula, BOOLEAN.get(rule.name))


def _elementwise() -> Iterator[Elementwise]:
    for op in OPS.values():
        if op.shape is None or op.shape.__name__ not in ELEMENTWISE:
            continue
        if op.kernel is not None:
            yield _of_op(op)
        if op.rule is not None and op.rule.kernel is not None:
            yield _of_rule(op, op.rule)


KERNELS = list(_elementwise())
every_kernel = pytest.mark.parametrize("target", KERNELS, ids=repr)
every_float = pytest.mark.parametrize("dtype", FLOATS)


def _special(dtype: np.dtype) -> np.ndarray:
    """Zeros, infinities, NaN, the smallest and largest numbers, and some in between."""
    info = ml_dtypes.finfo(dtype)
    positive = [
        0.0, float(info.smallest_subnormal), float(info.tiny) / 2, float(info.tiny), 1e-3, 0.5, 1.0,
        1.5, 3.0, 20.0, 90.0, 710.0, float(info.max) / 4, float(info.max) * 0.98, np.inf,
    ]  # fmt: skip
    return np.array([*positive, *(-x for x in positive), np.nan]).astype(dtype)


def _operands(target: Elementwise, rng: np.random.Generator, dtype: np.dtype, size: int) -> list:
    """Numbers of all magnitudes, every twentieth of them special."""
    result = []
    for position in range(target.count):
        x = rng.uniform(-4, 4, size) * 10.0 ** rng.integers(-2, 2, size)
        with np.errstate(over="ignore"):
            x = x.astype(dtype)
        places = rng.random(size) < 0.05
        x[places] = rng.choice(_special(dtype), int(places.sum()))
        result.append(rng.random(size) > 0.5 if position == target.boolean else x)
    return result


def _results(value: Any) -> list[np.ndarray]:
    assert value is not NotImplemented
    results = list(value) if isinstance(value, tuple) else [value]
    assert all(isinstance(x, np.ndarray) for x in results)
    return results


def _assert_same_bits(found: Any, expected: Any) -> None:
    """Bit for bit; NaN may be any NaN."""
    for a, b in zip(_results(found), _results(expected), strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        if a.dtype.kind == "b":
            np.testing.assert_array_equal(a, b)
            continue
        number = ~np.isnan(b)
        np.testing.assert_array_equal(np.isnan(a), ~number)
        bits = f"u{a.dtype.itemsize}"
        np.testing.assert_array_equal(
            np.ascontiguousarray(a).view(bits)[number], np.ascontiguousarray(b).view(bits)[number]
        )


def _wide(arrays: Sequence[Any]) -> list[Any]:
    return [x if x.dtype.kind == "b" else x.astype(np.float64) for x in arrays]


@every_kernel
@every_float
def test_special_values(target: Elementwise, dtype: str) -> None:
    """The values of the formula, computed in the dtype or in float64 and rounded."""
    special = _special(numpy_dtype(dtype))
    grids = np.meshgrid(*[special] * target.count, indexing="ij")
    arrays = [np.ascontiguousarray(x.ravel()) for x in grids]
    if target.boolean is not None:
        arrays[target.boolean] = np.arange(arrays[0].size) % 3 > 0
    found = _results(target.kernel(arrays))
    with np.errstate(all="ignore"):
        near = _results(target.formula(arrays))
        exact = [
            x.astype(y.dtype)
            for x, y in zip(_results(target.formula(_wide(arrays))), near, strict=True)
        ]
    for result, same, wide in zip(found, near, exact, strict=True):
        assert result.dtype == same.dtype
        agrees = _close(result, same, dtype) | _close(result, wide, dtype)
        if not agrees.all():
            i = int(np.argmin(agrees))
            raise AssertionError(
                f"{target.name}{tuple(x[i] for x in arrays)} is {result[i]!r} by the kernel, "
                f"{same[i]!r} by the formula, {wide[i]!r} by the formula in float64; "
                f"{int((~agrees).sum())} of {agrees.size} differ"
            )


def _close(a: np.ndarray, b: np.ndarray, dtype: str) -> np.ndarray:
    if a.dtype.kind == "b":
        return a == b
    with np.errstate(all="ignore"):
        tolerance = tolerances.of(dtype)
        x, y = a.astype(np.float64), b.astype(np.float64)
        equal = np.isclose(x, y, rtol=tolerance["rtol"], atol=0, equal_nan=True)
        # Below the smallest normal number one unit in the last place is not relative.
        tiny = np.abs(x - y) <= 2 * float(ml_dtypes.finfo(a.dtype).smallest_subnormal)
        return equal | tiny


@every_kernel
@every_float
def test_values(target: Elementwise, dtype: str, rng: np.random.Generator) -> None:
    arrays = _operands(target, rng, numpy_dtype(dtype), 5000)
    with np.errstate(all="ignore"):
        near = _results(target.formula(arrays))
        exact = _results(target.formula(_wide(arrays)))
        for found, same, wide in zip(_results(target.kernel(arrays)), near, exact, strict=True):
            tolerance = tolerances.of(dtype)
            agrees = np.zeros(found.shape, bool)
            for expected in (same, wide.astype(same.dtype)):
                agrees |= np.isclose(
                    found.astype("float64"), expected.astype("float64"), equal_nan=True, **tolerance
                )
            assert agrees.all(), [x[~agrees][:3] for x in (*arrays, found, same, wide)]


@every_kernel
@every_float
def test_lengths_and_alignments(target: Elementwise, dtype: str, rng: np.random.Generator) -> None:
    """An element's result does not depend on where in the array it stands."""
    arrays = _operands(target, rng, numpy_dtype(dtype), 1100)
    whole = _results(target.kernel(arrays))
    for length in LENGTHS:
        for start in (0, 1, 3):
            part = slice(start, start + length)
            found = target.kernel([x[part] for x in arrays])
            _assert_same_bits(found, tuple(x[part] for x in whole))


def _reversed(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x[::-1])[::-1]


def _spread(x: np.ndarray) -> np.ndarray:
    wide = np.zeros((*x.shape, 3), x.dtype)
    wide[..., 1] = x
    return wide[..., 1]


def _fortran(x: np.ndarray) -> np.ndarray:
    return np.asfortranarray(x)


def _read_only(x: np.ndarray) -> np.ndarray:
    copy = x.copy()
    copy.flags.writeable = False
    return copy


@every_kernel
@every_float
@pytest.mark.parametrize("layout", [_reversed, _spread, _fortran, _read_only])
def test_layouts(target: Elementwise, dtype: str, layout: Any, rng: np.random.Generator) -> None:
    """Strides change no bit, alone or beside a contiguous operand."""
    for shape in ((37,), (5, 7), (2, 3, 17)):
        size = int(np.prod(shape))
        arrays = [x.reshape(shape) for x in _operands(target, rng, numpy_dtype(dtype), size)]
        expected = target.kernel(arrays)
        copies = [x.copy() for x in arrays]
        _assert_same_bits(target.kernel([layout(x) for x in arrays]), expected)
        _assert_same_bits(target.kernel([layout(arrays[0]), *arrays[1:]]), expected)
        _assert_same_bits(target.kernel([*arrays[:-1], layout(arrays[-1])]), expected)
        for x, copy in zip(arrays, copies, strict=True):
            assert x.tobytes() == copy.tobytes()


SEVERAL = [t for t in KERNELS if t.count > 1 and not t.name.endswith("_backward")]


@pytest.mark.parametrize("target", SEVERAL, ids=repr)
@every_float
def test_broadcast_operands(target: Elementwise, dtype: str, rng: np.random.Generator) -> None:
    shapes = [(3, 5), (5,), (3, 1), (1, 1), (), (2, 1, 5)]
    for chosen in itertools.product(shapes, repeat=target.count):
        arrays = [
            _operands(target, rng, numpy_dtype(dtype), int(np.prod(shape)))[i].reshape(shape)
            for i, shape in enumerate(chosen)
        ]
        full = [x.copy() for x in np.broadcast_arrays(*arrays)]
        _assert_same_bits(target.kernel(arrays), target.kernel(full))


def _of_cases(name: str) -> list[Case]:
    return [case for case in CASES if case.op == name]


STRUCTURED = [
    name
    for name, op in OPS.items()
    if (op.kernel is not None or (op.rule is not None and op.rule.kernel is not None))
    and (op.shape is None or op.shape.__name__ not in ELEMENTWISE)
]


@pytest.mark.parametrize("name", [n for n in STRUCTURED if OPS[n].kernel is not None])
@every_float
def test_structured_ops(name: str, dtype: str, rng: np.random.Generator) -> None:
    """Reductions, products, softmax: every row of the case table, by kernel and by formula."""
    op = OPS[name]
    assert op.kernel is not None
    accepted = 0
    for case in _of_cases(name):
        arrays = arrays_of(case, rng, dtype)
        arguments = [unwrapped(x) for x in op.bound(*arguments_of(case, arrays))]
        found = op.kernel(*arguments)
        if found is NotImplemented:
            continue
        accepted += 1
        expected = op.formula(*arguments)
        for result, reference in zip(_results(found), _results(expected), strict=True):
            assert result.shape == reference.shape
            assert result.dtype == reference.dtype
            tolerances.assert_close(result, reference, dtype)
    _assert_accepted(accepted, dtype)


def _assert_accepted(count: int, dtype: str) -> None:
    """A kernel that declines everything would pass unseen. The 16-bit floats it may decline."""
    if count == 0 and numpy_dtype(dtype).itemsize == 2:
        pytest.skip("the kernel leaves 16-bit floats to the formula")
    assert count


@pytest.mark.parametrize(
    "name", [n for n in STRUCTURED if OPS[n].rule is not None and OPS[n].rule.kernel is not None]
)
@every_float
def test_structured_rules(name: str, dtype: str, rng: np.random.Generator) -> None:
    rule = OPS[name].rule
    assert rule is not None
    assert rule.kernel is not None
    accepted = 0
    for case in _of_cases(name):
        inputs = [ex.tensor(x) for x in arrays_of(case, rng, dtype)]
        output = call(case, inputs)
        outputs = first_floating(output, rule)
        seeds = [ex.tensor(rng.uniform(-1, 1, x.shape), dtype=dtype) for x in outputs]
        given = hand_arguments(case, inputs, output)
        seed = seeds if rule.several else seeds[0]
        arguments = [seed, *rule.parameters.bound((seed,), given)[1:]]
        if rule.kept_at:
            arguments = rule._with_kept(arguments)
        needs = (True,) * len(rule.fields)
        plain = [unwrapped(x) for x in arguments]
        found = rule.kernel(*plain, *(() if rule.single else (needs,)))
        if found is NotImplemented:
            continue
        accepted += 1
        expected = rule.by_formula(arguments, needs)
        for result, reference in zip(
            found if type(found) is tuple else [found], expected, strict=True
        ):
            if reference is None:  # a target of class indices has no gradient
                assert result is None
                continue
            assert result.shape == reference.shape
            tolerances.assert_close(result, reference.numpy(), dtype)
    _assert_accepted(accepted, dtype)


ROW_OPS = [n for n in ("sum", "mean", "max_reduce", "min_reduce") if OPS[n].kernel is not None]


@pytest.mark.parametrize("name", ROW_OPS)
@every_float
def test_reductions_over_lengths(name: str, dtype: str, rng: np.random.Generator) -> None:
    op = OPS[name]
    assert op.kernel is not None
    for length in (*range(1, 68), 1000, 5000):
        x = rng.uniform(-1, 1, (3, length)).astype(numpy_dtype(dtype))
        for array, axis in ((x, 1), (x.T, 0), (np.ascontiguousarray(x.T), 0), (_spread(x), -1)):
            found = op.kernel(array, axis, False)
            if found is NotImplemented:
                continue
            wide = op.formula(array.astype(np.float64), axis, False)
            scale = 1 if name != "sum" else max(1.0, length**0.5)
            rtol, atol = tolerances.of(dtype).values()
            np.testing.assert_allclose(
                found.astype(np.float64), wide, rtol=rtol, atol=atol * scale, err_msg=f"{length}"
            )
        contiguous = op.kernel(x, 1, False)
        assert contiguous is not NotImplemented
        for row in range(3):
            _assert_same_bits(op.kernel(x[row], 0, False), contiguous[row : row + 1].reshape(()))


@pytest.mark.parametrize("name", [n for n in ("softmax", "log_softmax") if OPS[n].kernel])
@every_float
def test_softmax_over_lengths(name: str, dtype: str, rng: np.random.Generator) -> None:
    op = OPS[name]
    assert op.kernel is not None
    assert op.rule is not None
    assert op.rule.kernel is not None
    for length in (*range(1, 68), 1000, 5000):
        x = rng.uniform(-9, 9, (3, length)).astype(numpy_dtype(dtype))
        g = rng.uniform(-1, 1, (3, length)).astype(numpy_dtype(dtype))
        found = op.kernel(x, -1)
        if found is NotImplemented:
            _assert_accepted(0, dtype)
        tolerances.assert_close(found, op.formula(x.astype(np.float64), -1), dtype)
        gradient = op.rule.kernel(g, found, -1)
        wide = [wrap(a.astype(np.float64)) for a in (g, found)]
        tolerances.assert_close(gradient, op.rule.by_formula([*wide, -1], None)[0], dtype)


@pytest.mark.skipif(OPS["cumsum"].kernel is None, reason="the reference engine has no kernels")
@every_float
def test_running_sums_over_lengths(dtype: str, rng: np.random.Generator) -> None:
    op = OPS["cumsum"]
    for length in (*range(1, 68), 1000, 5000):
        x = rng.uniform(-1, 1, (3, length)).astype(numpy_dtype(dtype))
        for array, axis in ((x, 1), (x.T, 0), (np.ascontiguousarray(x.T), 0), (_spread(x), -1)):
            found = op.kernel(array, axis)
            if found is NotImplemented:
                _assert_accepted(0, dtype)
                continue
            wide = array.astype(np.float64)
            backward = np.flip(np.cumsum(np.flip(wide, axis), axis), axis)
            rtol, atol = tolerances.of(dtype).values()
            for sums, expected in (
                (found, np.cumsum(wide, axis)),
                (op.rule.kernel(array, axis), backward),
            ):
                np.testing.assert_allclose(sums, expected, rtol=rtol, atol=atol * length**0.5)


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = ex.get_num_threads()
    yield ex.set_num_threads
    ex.set_num_threads(before)


def _assert_same_for_any_threads(
    threads: Callable[[int], None], compute: Callable[[], Any]
) -> None:
    threads(1)
    expected = [x.tobytes() for x in _results(compute())]
    for count in THREADS[1:]:
        threads(count)
        assert [x.tobytes() for x in _results(compute())] == expected


@every_kernel
def test_threads_change_no_bit(target: Elementwise, threads: Any, rng: np.random.Generator) -> None:
    arrays = _operands(target, rng, np.dtype("float32"), 300_001)
    _assert_same_for_any_threads(threads, lambda: target.kernel(arrays))


WORDS = np.random.default_rng(0).integers(-900, 900, 20_000)
PAIR_LOSSES = (
    "mse_loss l1_loss smooth_l1_loss huber_loss hinge_loss kl_div binary_cross_entropy "
    "binary_cross_entropy_with_logits"
).split()
NORMALIZED = {"x": (300, 301), "weight": (301,), "bias": (301,)}
IMAGES = {"x": (8, 12, 41, 31), "weight": (12,), "bias": (12,)}
SAMPLES = {"x": (900, 300), "weight": (300,), "bias": (300,)}
TRAINING = {"running_mean": None, "running_var": None, "training": True}
# The inputs of each, as shapes or as indices, and the attributes; both by name where inputs are left out.
LARGE: dict[str, list[tuple[Any, Any]]] = {
    "sum": [(((1000, 301),), (axis, False)) for axis in (None, 0, 1)] + [(((300_001,),), (None, False))],
    "mean": [(((1000, 301),), (axis, False)) for axis in (None, 0, 1)],
    "max_reduce": [(((1000, 301),), (axis, False)) for axis in (None, 0, 1)],
    "min_reduce": [(((1000, 301),), (axis, False)) for axis in (None, 0, 1)],
    "prod": [(((1000, 301),), (axis, False)) for axis in (None, 0, 1)],
    "var": [(((1000, 301),), (axis, False, 1)) for axis in (None, 0, 1)] + [(((40, 25, 301),), ((0, 2),))],
    "std": [(((1000, 301),), (axis, False, 1)) for axis in (None, 0, 1)] + [(((40, 25, 301),), ((0, 2),))],
    "norm": [(((1000, 301),), (ord, axis)) for ord in (1, 2, np.inf) for axis in (None, 0, 1)],
    "argmax": [(((1000, 301),), (axis,)) for axis in (None, 1)],
    "argmin": [(((1000, 301),), (axis,)) for axis in (None, 1)],
    "softmax": [(((1000, 301),), (axis,)) for axis in (0, 1)],
    "log_softmax": [(((1000, 301),), (axis,)) for axis in (0, 1)],
    "logsumexp": [(((1000, 301),), (axis, False)) for axis in (1, None)],
    "cumsum": [(((1000, 301),), (axis,)) for axis in (0, 1)] + [(((40, 90, 301),), (1,))],
    "reduce_to_shape": [(((40, 50, 151),), (shape,)) for shape in ((151,), (50, 1), (40, 1, 151), ())],
    "getitem": [(((900, 64),), (WORDS,))],
    "place": [(((20_000, 64),), ((900, 64), WORDS))],
    "take": [(((900, 64), WORDS), (0,)), (((40, 900, 3), WORDS), (1,))],
    "index_select": [(((900, 64), WORDS), (0,))],
    "gather": [(((20_000, 30), WORDS[:, None] % 30), (1,))],
    "scatter_add": [(((20_000, 30), WORDS[:, None] % 30, (20_000, 1)), (1,))],
    **{key: [(((1000, 301), (1000, 301)), (how,)) for how in ("mean", "none")] for key in PAIR_LOSSES},
    "matmul": [(((500, 301), (301, 403)), ()), (((7, 100, 130), (130, 90)), ()), (((900, 800), (800,)), ())],
    "linear": [(((400, 301), (203, 301), (203,)), ())],
    "rnn": [
        (((40, n, 33), (n, 50), (50, 33), (50, 50), (50,), (50,)), (act,))
        for n, act in ((17, "tanh"), (40, "relu"))
    ],
    "rnn_cell": [(((900, 33), (900, 50), (50, 33), (50, 50), (50,), (50,)), ("tanh",))],
    "gru_cell": [(((300, 33), (300, 50), (150, 33), (150, 50), (150,), (150,)), ())],
    "lstm_cell": [(((300, 33), (300, 50), (300, 50), (200, 33), (200, 50), (200,), (200,)), ())],
    "lstm": [
        (((9, n, 33), (n, 50), (n, 50), (200, 33), (200, 50), (200,), (200,)), ()) for n in (17, 40)
    ],
    "gru": [(((9, n, 33), (n, 50), (150, 33), (150, 50), (150,), (150,)), ()) for n in (17, 40)],
    "scaled_dot_product_attention": [(((3, 2, 150, 9), (3, 2, 90, 9), (3, 2, 90, 17)), ())],
    "conv2d": [
        (((9, 16, 20, 21), (40, 16, 3, 3), (40,)), (1, 1)),
        (((8, 48, 30, 30), (48, 1, 3, 3), (48,)), (1, 1, 1, 48)),
        (((8, 1, 90, 90), (4, 1, 3, 3)), ()),
    ],
    "conv2d_grad_x": [(((9, 40, 10, 11), (40, 16, 3, 3)), ((20, 21), 2, 1))],
    "conv2d_grad_weight": [(((9, 40, 20, 21), (9, 16, 20, 21)), (3, 1, 1))],
    "conv1d": [(((9, 16, 400), (40, 16, 3), (40,)), (1, 1))],
    "conv_transpose2d": [(((9, 40, 10, 11), (40, 16, 3, 3), (16,)), (2, 1))],
    "conv_transpose1d": [(((9, 40, 200), (40, 16, 3), (16,)), (2, 1))],
    "cross_entropy": [(((1000, 301),), (np.arange(1000) % 301, reduction)) for reduction in ("mean", "none")],
    "nll_loss": [(((40_000, 9),), (np.arange(40_000) % 9, reduction)) for reduction in ("mean", "none")],
    "prelu": [(((40, 50, 151), (50,)), ()), *((((1000, 301), (n,)), ()) for n in (1, 301))],
    "glu": [(((1000, 302),), (axis,)) for axis in (0, 1)] + [(((300_002,),), ())],
    "layer_norm": [(NORMALIZED, {"normalized_shape": 301})],
    "rms_norm": [({"x": (300, 301), "weight": (301,)}, {"normalized_shape": 301})],
    "group_norm": [(x, {"num_groups": groups}) for x in (IMAGES, SAMPLES) for groups in (1, 4)],
    "instance_norm": [(IMAGES, {})],
    "batch_norm": [(x, TRAINING) for x in (IMAGES, SAMPLES)],
    "dropout": [(((1000, 301),), (0.5, True, Repeating(1)))],
    "dropout2d": [(((40, 50, 9, 9),), (0.5, True, Repeating(1)))],
    "broadcast_to": [(((1, 301),), ((1000, 301),))],
    "reshape": [(((1000, 301),), ((301_000,),))],
    "concatenate": [(((300, 201), (300, 301)), (1,)), (((1000, 301), (99, 301)), ())],
    "stack": [(((1000, 301), (1000, 301)), (axis,)) for axis in (0, 2)],
    "transpose": [(((1000, 301),), ())],
    "permute": [(((1000, 301),), ((1, 0),))],
    "max_pool2d": [(((8, 30, 41, 31),), how) for how in ((2,), (3, 2, 1), ((2, 3), 1, (1, 0), 2, True))],
    "max_pool1d": [(((20, 30, 501),), how) for how in ((2,), (3, 2, 1))],
    "avg_pool2d": [(((8, 30, 41, 31),), how) for how in ((2,), (3, 2, 1), ((2, 3), 1, 0, True, False))],
    "avg_pool1d": [(((20, 30, 501),), how) for how in ((2,), (3, 2, 1))],
    "adaptive_avg_pool2d": [(((8, 30, 41, 31),), (size,)) for size in (1, 7, (None, 1))],
    "adaptive_avg_pool1d": [(((20, 30, 501),), (size,)) for size in (1, 7)],
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in STRUCTURED if OPS[n].kernel is not None])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_change_no_bit_of_structured_ops(
    name: str, dtype: str, threads: Any, rng: np.random.Generator
) -> None:
    """The op and, where it has one, its rule; the rule by way of the tape."""
    op = OPS[name]
    assert name in LARGE, "give this kernel a size that is cut into several tasks"
    for inputs, attributes in LARGE[name]:
        low = 0 if name in ("binary_cross_entropy", "kl_div") else -1
        shapes = inputs.values() if isinstance(inputs, dict) else inputs
        arrays = [
            rng.uniform(low, 1, x).astype(dtype) if isinstance(x, tuple) else x for x in shapes
        ]

        def compute(
            arrays: Any = arrays, inputs: Any = inputs, attributes: Any = attributes
        ) -> Any:
            leaves = [ex.tensor(x, requires_grad=x.dtype.kind == "f") for x in arrays]
            if isinstance(inputs, dict):
                result = op.function(**dict(zip(inputs, leaves, strict=True)), **attributes)
            elif op.variadic:
                result = op.function(leaves, *attributes)
            else:
                result = op.function(*leaves, *attributes)
            outputs = first_floating(result, op.rule)
            if op.rule is None:
                return tuple(x.numpy() for x in outputs)
            seeds = [np.linspace(-1, 1, x.size).reshape(x.shape).astype(dtype) for x in outputs]
            ex.backward(outputs, seeds)
            gradients = [x.grad.numpy() for x in leaves if x.requires_grad]
            return (*(x.numpy() for x in outputs), *gradients)

        _assert_same_for_any_threads(threads, compute)


as_float32 = pytest.mark.skipif(
    engine.multiplies_bfloat16(),
    reason="AVX512-BF16 sums in pairs; test_gemm_bfloat16.py holds it to a bound instead",
)


@as_float32
@pytest.mark.parametrize(
    "shapes", [((7, 33), (33, 20)), ((3, 40, 300), (300, 17)), ((5, 2, 3, 8), (2, 8, 1))]
)
def test_products_of_bfloat16_are_rounded_once(shapes: Any, rng: np.random.Generator) -> None:
    """Sums are those of float32, to the bit; only the result is short."""
    a, b = (rng.normal(size=shape).astype(ex.bfloat16) for shape in shapes)
    kernel = OPS["matmul"].kernel
    assert kernel is not None
    expected = kernel(a.astype(np.float32), b.astype(np.float32)).astype(ex.bfloat16)
    np.testing.assert_array_equal(kernel(a, b).view("u2"), expected.view("u2"))


@as_float32
def test_linear_of_bfloat16_adds_the_bias_before_rounding(rng: np.random.Generator) -> None:
    x, weight, bias = (
        rng.normal(size=s).astype(ex.bfloat16) for s in ((6, 5, 40), (12, 40), (12,))
    )
    kernel = OPS["linear"].kernel
    assert kernel is not None
    expected = kernel(*(array.astype(np.float32) for array in (x, weight, bias)))
    result = kernel(x, weight, bias)
    np.testing.assert_array_equal(result.view("u2"), expected.astype(ex.bfloat16).view("u2"))


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "plain": np.ascontiguousarray,
    "reversed": lambda x: x[::-1],
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "spread": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "swapped": lambda x: np.ascontiguousarray(np.swapaxes(x, 0, 1)).swapaxes(0, 1),
}


@pytest.mark.skipif(OPS["concatenate"].kernel is None, reason="the reference engine has no kernels")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool", "float16"])
def test_joining_in_every_layout(layout: str, dtype: str, rng: np.random.Generator) -> None:
    change = LAYOUTS[layout]
    for shape in ((3, 4, 5), (1, 1, 1), (2, 1, 3), (17, 9, 12), (0, 2, 2)):
        parts = [change(rng.uniform(-9, 9, shape).astype(dtype)) for _ in range(3)]
        for axis in (0, 1, 2, -1):
            _assert_same_bits(OPS["stack"].kernel(parts, axis), np.stack(parts, axis))
            uneven = [*parts, change(np.concatenate(parts[:2], axis))]
            _assert_same_bits(OPS["concatenate"].kernel(uneven, axis), np.concatenate(uneven, axis))
        _assert_same_bits(OPS["stack"].kernel(parts, 3), np.stack(parts, 3))


@pytest.mark.skipif(OPS["reshape"].kernel is None, reason="the reference engine has no kernels")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reshape_copies_only_where_it_must(layout: str, rng: np.random.Generator) -> None:
    x = LAYOUTS[layout](rng.uniform(-9, 9, (4, 6, 1, 10)).astype("float32"))
    for part in (x, x[:, :, :, 2:7], x[1:3], x[:, :1], x.swapaxes(0, 1), x.swapaxes(0, 3)):
        for shape in (
            -1,
            (-1, 2),
            (2, -1),
            (2, 1, 2, -1),
            (*part.shape[:3], -1, 5),
            part.shape[::-1],
        ):
            try:
                expected = part.reshape(shape)
            except ValueError:
                continue
            wanted = (shape,) if isinstance(shape, int) else shape
            found = OPS["reshape"].kernel(part, wanted)
            _assert_same_bits(np.ascontiguousarray(found), np.ascontiguousarray(expected))
            assert np.shares_memory(found, part) == np.shares_memory(expected, part)
