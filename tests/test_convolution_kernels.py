"""The kernels of convolutions against their formulas, over shapes that cut them in every way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tolerances

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS, Op

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")

# The shapes of x and of weight, and stride, padding, dilation, groups.
Shape = tuple[int, ...]
Row = tuple[Shape, Shape, tuple[Any, Any, Any, int]]
ROWS: list[Row] = [
    # Channels in the lanes of vectors: fewer, as many and more than a vector and a tile have.
    *[((2, 16, 9, 9), (m, 16, 3, 3), (1, 1, 1, 1)) for m in (8, 9, 15, 16, 17, 31, 33, 40)],
    # Positions in the lanes: rows shorter and longer than one to five vectors.
    *[((2, 2, 5, n), (1, 2, 3, 3), (1, 1, 1, 1)) for n in (1, 3, 7, 8, 9, 16, 17, 24, 31, 40)],
    *[((1, 2, 9, n), (m, 2, 3, 3), (1, 1, 1, 1)) for m in (2, 3, 4, 5) for n in (8, 13, 32)],
    *[((2, 3, 9, 8), (m, 3, 3, 3), (1, 1, 1, 1)) for m in (8, 15, 16, 40)],
    # Kernels of one element: images as they lie, with few and many channels, and in groups.
    *[((2, c, 5, w), (m, c, 1, 1), (1, 0, 1, 1)) for c in (31, 32, 300) for m in (8, 21) for w in (3, 4, 17)],
    ((3, 96, 4, 6), (24, 48, 1, 1), (1, 0, 1, 2)),
    ((2, 32, 5, 4), (9, 32, 1, 1), (1, (0, 1), 1, 1)),
    *[((2, 32, 8, 10), (40, 32, 1, 1), (s, 0, 1, 1)) for s in (2, (1, 2), (2, 1))],
    # Sums longer than a block, sources larger than one, several images in one.
    ((2, 70, 6, 5), (24, 70, 3, 3), (1, 1, 1, 1)),
    ((1, 64, 70, 60), (16, 64, 3, 3), (1, 1, 1, 1)),
    ((1, 1, 300, 200), (1, 1, 3, 3), (1, 1, 1, 1)),
    ((37, 5, 4, 3), (16, 5, 3, 3), (1, 1, 1, 1)),
    # Transformed tiles of 2 x 2 outputs: even and odd rows, cut inside an image or over several.
    *[((3, 32, h, w), (m, 32, 3, 3), (1, 1, 1, 1)) for m in (32, 41) for h, w in ((4, 4), (7, 9), (12, 70))],
    ((9, 40, 5, 4), (70, 40, 3, 3), (1, (2, 0), 1, 1)),
    ((2, 64, 6, 15), (64, 32, 3, 3), (1, (0, 3), 1, 2)),
    # The same for the gradient of the weight: several blocks and runs, the last of them shorter.
    *[((b, 32, h, w), (m, 32, 3, 3), (1, 1, 1, 1))
      for b, h, w, m in ((4, 9, 11, 41), (1, 40, 22, 33), (9, 6, 7, 70), (1, 17, 96, 32))],
    ((5, 96, 12, 13), (64, 48, 3, 3), (1, (2, 0), 1, 2)),
    ((40, 40, 8, 6), (48, 40, 3, 3), (1, 0, 1, 1)),
    # Few outputs of many channels, whose windows are written out: one image and several.
    *[((1, 32, 8, 9), (m, 32, 3, 3), (1, 1, 1, 1)) for m in (36, 40, 70)],
    ((2, 64, 5, 7), (140, 32, 3, 3), (1, 1, 1, 2)),
    *[((b, 40, 9, 11), (96, 40, 3, 3), (s, 1, 1, 1)) for b in (1, 3) for s in (2, (1, 3), (3, 2))],
    *[((b, 32, 9, 8), (80, 32, 2, 3), (1, (1, 2), 2, 1)) for b in (1, 2)],
    # Large kernels without padding, the gradients of whose input are added up: in groups, spread.
    *[((3, c, 14, 12), (m, c, 5, 4), (1, 0, 1, 1)) for c in (1, 6, 20) for m in (16, 33)],
    ((2, 6, 15, 13), (16, 3, 3, 5), (1, 0, (2, 1), 2)),
    ((5, 2, 9, 20), (8, 2, 7, 1), (1, 0, 1, 1)),
    # Strides, also beyond the kernel, which leaves inputs that no output reads.
    *[((2, 4, 11, 12), (m, 4, 3, 3), (s, 1, 1, 1)) for m in (2, 16) for s in (2, 3, (1, 2), (5, 4))],
    *[((2, 4, 11, 12), (m, 4, 1, 1), (s, 0, 1, 1)) for m in (3, 16) for s in (1, 2, 3)],
    ((1, 3, 7, 7), (16, 3, 2, 2), (9, 0, 1, 1)),
    ((1, 1, 20, 70), (3, 1, 5, 7), ((2, 2), (2, 3), 1, 1)),
    # Padding: more than the kernel, odd, and so much that windows lie in zeros alone.
    *[((2, 2, 4, 5), (m, 2, 2, 3), (1, p, 1, 1)) for m in (1, 16) for p in (5, (0, 2), "same", "valid")],
    ((1, 2, 3, 2), (16, 2, 1, 2), ((1, 3), (4, 9), 1, 1)),
    # Dilation, with a stride that shares a factor with it and one that does not.
    *[((1, 3, 17, 19), (m, 3, 3, 3), (s, 2, d, 1)) for m in (2, 16) for s in (1, 2, 4) for d in (2, 3)],
    # Groups: depthwise, with one or several outputs for each channel, and in between.
    *[((2, 12, 7, 9), (12 * m, 1, 3, 3), (s, 1, 1, 12)) for m in (1, 2, 4) for s in (1, 2, 3)],
    *[((2, 4 * g, 6, 7), (16 * g, 4, 3, 3), (1, 1, 1, g)) for g in (2, 3)],
    # Depthwise with kernels of 3 x 3: tiles of rows and rows that are left; rows narrower than a
    # vector, as wide and wider; several blocks of rows; windows in zeros alone.
    *[((1, 2, h, w), (2, 1, 3, 3), (s, 1, 1, 2))
      for s in (1, 2) for h in (1, 4, 10) for w in (1, 2, 7, 8, 9, 14, 28)],
    *[((2, 3, 8, w), (3, 1, 3, 3), (s, p, 1, 3))
      for s in (1, 2) for p in (0, 2, (2, 0), (5, 4)) for w in (3, 17, 32, 33)],
    *[((1, 2, 9, 21), (2 * m, 1, 3, 3), (s, (1, 2), d, 2))
      for m in (1, 3) for s in ((1, 2), (2, 1), (2, 3)) for d in (1, 2, (1, 2), (2, 1))],
    *[((2, 2, 70, w), (2, 1, 3, 3), (s, 1, 1, 2)) for s in (1, 2) for w in (90, 91)],
    # The same with kernels of other sizes, whose columns may still be interleaved.
    *[((2, 2, 11, w), (2, 1, *k), (2, 1, d, 2))
      for k in ((5, 5), (5, 3), (1, 3), (2, 5)) for w, d in ((9, 1), (9, 2), (40, 1), (40, 3))],
    # A kernel as large as the image, sizes of 1, no image at all.
    ((3, 2, 5, 6), (16, 2, 5, 6), (1, 0, 1, 1)),
    ((3, 2, 5, 6), (2, 2, 5, 6), (1, 0, 1, 1)),
    ((1, 1, 1, 1), (1, 1, 1, 1), (1, 0, 1, 1)),
    ((0, 2, 5, 6), (2, 2, 3, 3), (1, 1, 1, 1)),
    ((0, 2, 5, 6), (16, 2, 3, 3), (1, 1, 1, 1)),
]  # fmt: skip
every_row = pytest.mark.parametrize("row", ROWS, ids=str)
every_float = pytest.mark.parametrize("dtype", ["float32", "float64"])


def _calls(row: Row, dtype: str, rng: np.random.Generator) -> list[tuple[Op, list[Any]]]:
    """The op and its two gradients, each with its arguments."""
    x_shape, weight_shape, how = row
    x, weight = (rng.uniform(-1, 1, shape).astype(dtype) for shape in (x_shape, weight_shape))
    bias = rng.uniform(-1, 1, weight_shape[0]).astype(dtype)
    shape = OPS["conv2d"].formula(x, weight, None, *how).shape
    gradient = rng.uniform(-1, 1, shape).astype(dtype)
    return [
        (OPS["conv2d"], [x, weight, bias, *how]),
        (OPS["conv2d"], [x, weight, None, *how]),
        (OPS["conv2d_grad_x"], [gradient, weight, x_shape[2:], *how]),
        (OPS["conv2d_grad_weight"], [gradient, x, weight_shape[2:], *how]),
    ]


def _computed(op: Op, arguments: list[Any]) -> np.ndarray:
    assert op.kernel is not None
    found = op.kernel(*arguments)
    assert isinstance(found, np.ndarray)
    return found


def _wide(x: Any) -> Any:
    return x.astype(np.float64) if isinstance(x, np.ndarray) else x


@every_row
@every_float
def test_values(row: Row, dtype: str, rng: np.random.Generator) -> None:
    """As precise as a sum of its length can be asked to be."""
    for op, arguments in _calls(row, dtype, rng):
        found, expected = _computed(op, arguments), op.formula(*map(_wide, arguments))
        assert found.dtype == dtype
        terms = arguments[0].size * arguments[1].size / max(1, found.size)
        rtol, atol = tolerances.of(dtype).values()
        np.testing.assert_allclose(
            found, expected, rtol, atol * max(1.0, terms**0.5), err_msg=op.name
        )


def _spread(x: np.ndarray) -> np.ndarray:
    wide = np.zeros((*x.shape, 2), x.dtype)
    wide[..., 1] = x
    return wide[..., 1]


@pytest.mark.parametrize("layout", [np.asfortranarray, _spread])
@pytest.mark.parametrize("row", ROWS[::9], ids=str)
def test_layouts(row: Row, layout: Callable[..., Any], rng: np.random.Generator) -> None:
    """Strides change no bit, and inputs that may not be written are not."""
    for op, arguments in _calls(row, "float32", rng):
        turned = [layout(x) if isinstance(x, np.ndarray) else x for x in arguments]
        for x in arguments:
            if isinstance(x, np.ndarray):
                x.flags.writeable = False
        assert _computed(op, turned).tobytes() == _computed(op, arguments).tobytes()


THREADED: list[Row] = [
    ((9, 16, 20, 21), (40, 16, 3, 3), (1, 1, 1, 1)),
    ((1, 96, 9, 9), (200, 96, 3, 3), (1, 1, 1, 1)),
    ((1, 96, 9, 9), (200, 96, 3, 2), (1, 1, 1, 1)),
    ((8, 32, 24, 24), (32, 8, 3, 3), (2, 1, 1, 4)),
    ((8, 48, 30, 30), (48, 1, 3, 3), (1, 1, 1, 48)),
    ((8, 48, 40, 41), (48, 1, 3, 3), (2, 1, 1, 48)),
    ((3, 4, 120, 112), (4, 1, 3, 3), (1, 1, 1, 4)),
    ((8, 3, 40, 40), (2, 3, 5, 5), (1, 2, 1, 1)),
    ((9, 6, 14, 14), (16, 6, 5, 5), (1, 0, 1, 1)),
    ((9, 64, 12, 14), (72, 64, 3, 3), (1, 1, 1, 1)),
    ((1, 128, 16, 16), (128, 128, 3, 3), (1, 1, 1, 1)),
    ((2, 256, 6, 6), (300, 256, 3, 3), (2, 1, 1, 1)),
    ((1, 96, 6, 6), (160, 96, 3, 3), (1, 1, 1, 1)),
]


@pytest.mark.parametrize("row", THREADED, ids=str)
@every_float
def test_threads_change_no_bit(
    row: Row, dtype: str, threads: Any, rng: np.random.Generator
) -> None:
    for op, arguments in _calls(row, dtype, rng):
        bits = set()
        for count in (1, 2, 3, 8):
            threads(count)
            bits.add(_computed(op, arguments).tobytes())
        assert len(bits) == 1, op.name


@every_float
@pytest.mark.parametrize("channels", [2, 16])
def test_only_what_a_window_covers_is_read(channels: int, dtype: str) -> None:
    """Infinities and NaN beside a window do not reach its output, not even times zero."""
    x = np.ones((1, 1, 6, 11), dtype)
    x[..., 3:, :] = np.inf
    x[..., 9:] = np.nan
    weight = np.ones((channels, 1, 3, 3), dtype)
    out = _computed(OPS["conv2d"], [x, weight, None, (3, 2), 0, 1, 1])
    assert (out[:, :, 0, :4] == 9).all()
    gradient = np.zeros((1, channels, 1, 3), dtype)
    found = _computed(OPS["conv2d_grad_weight"], [gradient, x[:, :, :4, :8], 3, (3, 2), 0, 1, 1])
    assert (found == 0).all()


@every_float
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("width", [7, 12, 21])
@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize(("outputs", "groups"), [(2, 2), (2, 1), (6, 2), (16, 1)])
def test_infinities_at_the_ends_of_rows(
    outputs: int, groups: int, size: int, width: int, stride: int, dtype: str
) -> None:
    """They meet the zeros of the padding as in the formula, and no zero beyond."""
    x = np.ones((2, 2, 7, width), dtype)
    weight = np.ones((outputs, 2 // groups, size, size), dtype)
    how = (stride, 1, 1, groups)
    gradient = np.ones(OPS["conv2d"].formula(x, weight, None, *how).shape, dtype)
    for row, column in ((0, 0), (-1, -1), (2, 2)):
        wild_x, wild_gradient = x.copy(), gradient.copy()
        wild_x[:, 1, row, column] = wild_gradient[:, 1, row, column] = np.inf
        for name, *arguments in (
            ("conv2d", wild_x, weight, None),
            ("conv2d_grad_x", wild_gradient, weight, x.shape[2:]),
            ("conv2d_grad_weight", wild_gradient, x, size),
            ("conv2d_grad_weight", gradient, wild_x, size),
        ):
            found = _computed(OPS[name], [*arguments, *how])
            with np.errstate(invalid="ignore"):
                expected = OPS[name].formula(*arguments, *how)
            np.testing.assert_array_equal(found, expected, err_msg=name)


@every_float
def test_infinities_stay_in_their_windows(dtype: str, rng: np.random.Generator) -> None:
    x = rng.uniform(-1, 1, (1, 32, 8, 9)).astype(dtype)
    x[0, 5, 3, 4] = np.inf
    weight = rng.uniform(-1, 1, (32, 32, 3, 3)).astype(dtype)
    covers = np.zeros((8, 9), bool)
    covers[2:5, 3:6] = True
    out = _computed(OPS["conv2d"], [x, weight, None, 1, 1, 1, 1])
    np.testing.assert_array_equal(~np.isfinite(out[0]), np.broadcast_to(covers, out.shape[1:]))


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_weights_that_are_no_numbers_meet_no_zeros(value: float) -> None:
    """At the borders of its input, an output's gradient has no part of the kernel."""
    weight = np.ones((1, 1, 3, 3))
    weight[..., 1, 2] = value
    found = ex.conv2d_grad_x(np.ones((1, 1, 1, 2)), weight, (3, 4)).numpy()
    np.testing.assert_array_equal(found[0, 0, 0], [1, 2, 2, 1])
    np.testing.assert_array_equal(found[0, 0, 1], [1, 2, value, value])


def test_kernels_decline_what_python_must_see() -> None:
    x, weight = np.ones((1, 2, 4, 4)), np.ones((4, 2, 3, 3))
    kernel = OPS["conv2d"].kernel
    assert kernel is not None
    assert kernel(x, weight, None, 1, 0, 1, 1) is not NotImplemented
    for arguments in (
        (x, weight, None, 0, 0, 1, 1),
        (x, weight, None, 1, -1, 1, 1),
        (x, weight, None, 1, 0, 1, 2),
        (x, weight, None, 1, 0, 2, 1),
        (x, weight, None, 2, "same", 1, 1),
        (x, weight, None, 1, "full", 1, 1),
        (x, weight, None, (1, 1, 1), 0, 1, 1),
        (x, weight, np.ones(3), 1, 0, 1, 1),
        (x, weight.astype("float32"), None, 1, 0, 1, 1),
        (x.astype("int64"), weight.astype("int64"), None, 1, 0, 1, 1),
        (x[0], weight, None, 1, 0, 1, 1),
    ):
        assert kernel(*arguments) is NotImplemented
