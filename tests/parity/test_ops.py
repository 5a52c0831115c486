"""Every op against PyTorch: values, gradients and second derivatives of drawn calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rows_samples as samples
import tolerances
from draws import Call
from rows import ACTIVATION, ARITHMETIC, COMPARISON, ELEMENTWISE, MATRIX, REDUCTION, Row, torch
from rows_network import ATTENTION, LOOKUP, NORMALIZATION, RECURRENT
from rows_shape import INDEXING, JOINING, MOVEMENT, SORTING
from rows_window import WINDOWS

import extensor as ex
from extensor.core.op import OPS

ROWS: list[Row] = [
    *ARITHMETIC,
    *ELEMENTWISE,
    *COMPARISON,
    *REDUCTION,
    *MATRIX,
    *ACTIVATION,
    *NORMALIZATION,
    *LOOKUP,
    *ATTENTION,
    *RECURRENT,
    *MOVEMENT,
    *JOINING,
    *INDEXING,
    *SORTING,
    *WINDOWS,
]
WITHOUT_COUNTERPART: dict[str, str] = {
    "chain_rule": "a product that is 0 wherever the gradient is; a product there gives NaN",
    "chain_divide": "a quotient that is 0 wherever the gradient is; a quotient there gives NaN",
    "dropout": "its masks come from another generator",
    **dict.fromkeys(
        "dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split(),
        "its masks come from another generator",
    ),
    "embedding_bag": "it has no second derivative there; test_nn.py compares the layer",
    "bincount": "there it may weigh, and has no axis; compared with NumPy in the case table",
    "det": "refused at singular matrices, which all its samples have; slogdet is compared",
    "eigh": "signs of eigenvectors are arbitrary; compared with NumPy in the case table",
    "median": "the mean of two middle elements, as in NumPy; there it is the lower one",
    "nonzero": "a tensor for each axis, as in NumPy; there it is one matrix",
    "unique": "three functions of the Array API standard; there it is one",
    "unique_counts": "three functions of the Array API standard; there it is one",
    "unique_inverse": "three functions of the Array API standard; there it is one",
    "lift": "how eps acts in our rules; there is no eps in those",
}
CLOSE = {"rtol": 1e-10, "atol": 1e-12}
drawn = pytest.mark.parametrize("draw", range(8))
each_row = pytest.mark.parametrize("row", ROWS, ids=[row.op for row in ROWS])


def _mapped(function: Any, x: Any) -> Any:
    return [_mapped(function, item) for item in x] if isinstance(x, list) else function(x)


def _flat(x: Any) -> list[Any]:
    if isinstance(x, list | tuple):
        return [item for part in x for item in _flat(part)]
    return [x]


def _is_floating(x: np.ndarray) -> bool:
    return x.dtype.kind == "f"


class Ours:
    """A drawn call of the op here: its inputs as leaves, its outputs."""

    def __init__(self, row: Row, call: Call, dtype: str) -> None:
        inputs = _mapped(lambda x: self.leaf(_in(x, dtype)), call.inputs)
        self.inputs = [x for x in _flat(inputs) if x.requires_grad]
        if row.op == "einsum":  # the one op whose attribute comes first
            self.outputs = [ex.einsum(call.attributes["spec"], *inputs)]
        elif call.names:
            given = dict(zip(call.names, inputs, strict=True))
            self.outputs = _flat(getattr(ex, row.op)(**given, **call.attributes))
        else:
            self.outputs = _flat(getattr(ex, row.op)(*inputs, **call.attributes))

    @staticmethod
    def leaf(x: np.ndarray) -> Any:
        return ex.tensor(x, requires_grad=_is_floating(x))

    @staticmethod
    def grad(outputs: Sequence[Any], inputs: Sequence[Any], seeds: Sequence[Any]) -> Any:
        return ex.grad(list(outputs), list(inputs), list(seeds), True, True)

    @staticmethod
    def array(x: Any) -> np.ndarray:
        return np.asarray(x.detach())


class Theirs:
    """The same call there."""

    def __init__(self, row: Row, call: Call, dtype: str) -> None:
        inputs = _mapped(lambda x: self.leaf(_in(x, dtype)), call.inputs)
        self.inputs = [x for x in _flat(inputs) if x.requires_grad]
        self.outputs = _flat(row.theirs(*inputs, **call.attributes))

    @staticmethod
    def leaf(x: np.ndarray) -> Any:
        return torch.tensor(x, requires_grad=_is_floating(x))

    @staticmethod
    def grad(outputs: Sequence[Any], inputs: Sequence[Any], seeds: Sequence[Any]) -> Any:
        return torch.autograd.grad(
            outputs, inputs, seeds, create_graph=True, allow_unused=True, materialize_grads=False
        )

    @staticmethod
    def array(x: Any) -> np.ndarray:
        return np.asarray(x.numpy(force=True))


def _in(x: np.ndarray, dtype: str) -> np.ndarray:
    return x.astype(dtype) if _is_floating(x) else x


def _gradients(
    side: Ours | Theirs, outputs: Sequence[Any], inputs: Sequence[Any], seeds: Sequence[Any]
) -> list[Any]:
    """One gradient for each input, None where nothing depends on it."""
    pairs = [(x, seed) for x, seed in zip(outputs, seeds, strict=True) if _depends(x)]
    if not pairs or not inputs:
        return [None] * len(inputs)
    depending, vectors = zip(*pairs, strict=True)
    return list(side.grad(depending, inputs, vectors))


def _depends(x: Any) -> bool:
    return x is not None and x.requires_grad


def _assert_equal(ours: Any, theirs: Any, close: dict[str, float]) -> None:
    """Same shape, dtype and numbers; no gradient at all counts as zeros."""
    if ours is None or theirs is None:
        for x, side in ((ours, Ours), (theirs, Theirs)):
            assert x is None or np.abs(side.array(x)).max(initial=0) <= close["atol"]
        return
    mine, peer = Ours.array(ours), Theirs.array(theirs)
    assert mine.shape == peer.shape
    assert mine.dtype == peer.dtype
    np.testing.assert_allclose(mine, peer, **close)


def _compared(row: Row, call: Call, rng: np.random.Generator, dtype: str, close: Any) -> None:
    ours, theirs = Ours(row, call, dtype), Theirs(row, call, dtype)
    assert len(ours.outputs) == len(theirs.outputs)
    for mine, peer in zip(ours.outputs, theirs.outputs, strict=True):
        _assert_equal(mine, peer, close)
    if OPS[row.op].rule is None:
        return
    sides = (ours, theirs)
    vectors = [rng.uniform(-1, 1, x.shape).astype(x.dtype) for x in ours.outputs]
    seeds = [[side.leaf(v) for v in vectors] for side in sides]
    first = [
        _gradients(side, side.outputs, side.inputs, vectors)
        for side, vectors in zip(sides, seeds, strict=True)
    ]
    for mine, peer in zip(*first, strict=True):
        _assert_equal(mine, peer, close)
    if dtype != "float64":
        return
    # The gradients, as functions of the inputs and of grad_output, differentiated again.
    directions = [rng.uniform(-1, 1, x.shape) for x in ours.inputs]
    second = [
        _gradients(
            side,
            gradients,
            [
                *side.inputs,
                *(seed for seed, x in zip(of, side.outputs, strict=True) if _depends(x)),
            ],
            [side.leaf(v) for v in directions],
        )
        for side, gradients, of in zip(sides, first, seeds, strict=True)
    ]
    for mine, peer in zip(*second, strict=True):
        _assert_equal(mine, peer, close)


@each_row
@drawn
def test_float64(row: Row, draw: int, rng: np.random.Generator) -> None:
    _compared(row, row.draw(rng), rng, "float64", CLOSE)


@each_row
@drawn
def test_float32(row: Row, draw: int, rng: np.random.Generator) -> None:
    _compared(row, row.draw(rng), rng, "float32", tolerances.of("float32"))


@pytest.mark.parametrize(
    "theirs",
    [
        torch.cos,
        lambda x: torch.sin(x.detach()) + 0 * x,
        lambda x: torch.sin(x.detach()) + torch.cos(x.detach()) * (x - x.detach()),
        lambda x: torch.sin(x).to(torch.float32),
        lambda x: torch.sin(x)[None],
    ],
    ids=["value", "gradient", "second derivative", "dtype", "shape"],
)
def test_the_comparison_sees_a_wrong(theirs: Any, rng: np.random.Generator) -> None:
    call = Call([np.array([0.5, -1.5])])
    _compared(Row("sin", torch.sin, lambda _: call), call, rng, "float64", CLOSE)
    with pytest.raises(AssertionError):
        _compared(Row("sin", theirs, lambda _: call), call, rng, "float64", CLOSE)


def _compared_losses() -> set[str]:
    """The losses that test_losses.py names: as a string, or as an attribute of ``ex``."""
    tree = list(ast.walk(ast.parse((Path(__file__).parent / "test_losses.py").read_text())))
    named = {node.value for node in tree if isinstance(node, ast.Constant)}
    named |= {node.attr for node in tree if isinstance(node, ast.Attribute)}
    losses = (name for name in OPS if ".loss" in getattr(ex, name).__module__)
    return {name for name in losses if name in named}


def _compared_by_samples() -> set[str]:
    """The ops that PyTorch's own samples are tried on; see test_samples.py."""
    return {name for row in samples.ROWS for name in row.ops}


def test_every_op_is_compared_or_says_why_not() -> None:
    compared = [row.op for row in ROWS] + sorted(_compared_losses() | _compared_by_samples())
    assert len(compared) == len(set(compared))
    assert sorted(set(OPS) - set(compared)) == sorted(WITHOUT_COUNTERPART)
    assert set(compared) <= set(OPS)
