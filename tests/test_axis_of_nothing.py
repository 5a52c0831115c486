"""The axis of a 0-d tensor: -1 and 0 name it wherever there is a result, everything else is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.arrays.shapes import reduced, reduced_nonempty
from extensor.core.op import OPS

LINE = {"reduced", "reduced_nonempty", "_position", "_norm_shape", "same_along"}
# Every op that goes along an axis, with what it needs besides, as one of a line of one element.
ALONG: dict[str, tuple[Any, ...]] = {
    **{
        name: ()
        for name, op in OPS.items()
        if op.shape in (reduced, reduced_nonempty) or getattr(op.shape, "__name__", "") in LINE
    },
    "cumsum": (),
    "flip": (),
    "squeeze": (),
    "topk": (1,),
    "roll": (1,),
    "gather": (0,),
    "scatter": (0, 2.0),
    "scatter_add": (0, 2.0),
    "scatter_reduce": (0, 2.0),
    "quantile": (0.5,),
    "kthvalue": (1,),
}
OPTIONS: dict[str, dict[str, Any]] = {"scatter_reduce": {"reduce": "mean"}}


def _called(name: str, x: Any, others: tuple[Any, ...], axis: Any) -> Any:
    return getattr(ex, name)(x, *others, axis=axis, **OPTIONS.get(name, {}))


def test_all_reductions_are_here() -> None:
    named = {name for name, op in OPS.items() if "axis" in op.attributes}
    needs_an_axis = {"concatenate", "split", "repeat", "take", "index_select", "glu"}
    needs_an_axis |= {"cross", "cosine_similarity", "normalize"}
    adds_one = {"stack", "unsqueeze"}
    assert named - needs_an_axis - adds_one == ALONG.keys()


@pytest.mark.parametrize("axis", [0, -1, np.int64(0)])
@pytest.mark.parametrize("name", ALONG)
def test_the_axis_of_a_line_of_one(name: str, axis: int) -> None:
    """The result is that of a line of one element, without the line."""
    point = ex.tensor(1.5, requires_grad=True)
    line = ex.tensor([1.5], requires_grad=True)
    found = _called(name, point, ALONG[name], axis)
    indexed = name in ("gather", "scatter", "scatter_add", "scatter_reduce")
    others = tuple(ex.tensor([x]) if indexed else x for x in ALONG[name])
    expected = _called(name, line, others, axis)
    pairs = zip(
        found if isinstance(found, tuple) else (found,),
        expected if isinstance(expected, tuple) else (expected,),
        strict=True,
    )
    for a, b in pairs:
        assert a.shape == ()
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a.numpy(), b.numpy().reshape(()))
    if OPS[name].rule is not None:
        (found[0] if isinstance(found, tuple) else found).backward()
        first = expected[0] if isinstance(expected, tuple) else expected
        first.backward(ex.ones(first.shape))
        assert point.grad is not None
        assert line.grad is not None
        assert point.grad.shape == ()
        np.testing.assert_array_equal(point.grad.numpy(), line.grad.numpy().reshape(()))


@pytest.mark.parametrize("name", [n for n, op in OPS.items() if op.shape is reduced])
def test_tuples_and_kept_axes(name: str) -> None:
    assert _called(name, 1.5, (), (0,)).shape == ()
    assert getattr(ex, name)(1.5, axis=-1, keepdims=True).shape == ()
    assert _called(name, 1.5, (), ()).shape == ()


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("axis", [1, -2])
def test_no_other_axis(name: str, axis: int) -> None:
    text = f"^{name}: axis must be -1 or 0 for a 0-d tensor, got axis={axis}$"
    with pytest.raises(ValueError, match=text):
        _called(name, 1.5, ALONG[name], axis)


def test_no_axis_twice() -> None:
    text = r"^sum: axis must not name an axis twice, got axis=\(0, -1\)$"
    with pytest.raises(ValueError, match=text):
        ex.sum(1.5, axis=(0, -1))


def test_axes_exchanged_and_moved() -> None:
    assert ex.swapaxes(1.5, 0, -1).shape == ()
    assert ex.moveaxis(1.5, 0, -1).shape == ()
    with pytest.raises(ValueError, match=r"^swapaxes: axis1 must be -1 or 0 for a 0-d tensor"):
        ex.swapaxes(1.5, 1, 0)


@pytest.mark.parametrize("name", ["take", "index_select", "repeat", "split", "glu"])
def test_what_needs_an_axis(name: str) -> None:
    others = {"take": ([0],), "index_select": ([0],), "repeat": (2,), "split": (1,), "glu": ()}
    with pytest.raises(ValueError, match=r"axis cannot be given for a 0-d tensor, got axis=0$"):
        _called(name, 1.5, others[name], 0)
