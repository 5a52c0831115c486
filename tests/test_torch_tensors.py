"""The core computes the same with tensors that have PyTorch's methods as with its own.

It must never call a method whose meaning differs on a tensor that it was given, neither in a rule
nor in the derivative of a rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calls import arrays_of, as_leaf, call, first_floating, flat
from cases.case import Case
from op_cases import CASES
from test_ops import SMOOTH

import extensor as ex
import extensor.torch as torch
from extensor import Tensor
from extensor.core.op import OPS

ROWS = list({case.id: case for case in CASES}.values())


def _derivatives(case: Case, arrays: Any, kind: type) -> list[Any]:
    """The results, the gradients, and the gradients of the gradients' sum."""
    ex.random.manual_seed(0)
    leaves = [as_leaf(x) for x in flat(arrays)]
    for leaf in leaves:
        if type(leaf) is Tensor:
            leaf.__class__ = kind
    given = [leaves] if OPS[case.op].variadic else leaves
    found = [call(case, given)]
    wanted = [x for x in leaves if isinstance(x, Tensor) and x.requires_grad]
    if case not in SMOOTH or not wanted:
        return found
    outputs = first_floating(found[0], OPS[case.op].rule)
    seeds = [ex.ones_like(y) for y in outputs]
    first = ex.grad(outputs, wanted, seeds, create_graph=case.second, allow_unused=True)
    found += first
    recorded = [x for x in first if x is not None and x.requires_grad]
    if recorded and case.second:
        ones = [ex.ones_like(x) for x in recorded]
        found += ex.grad(recorded, wanted, ones, allow_unused=True)
    return found


def _arrays(values: Any) -> list[Any]:
    if isinstance(values, list | tuple):
        return [x for value in values for x in _arrays(value)]
    return [None if values is None else np.asarray(getattr(values, "_array", values))]


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.id)
def test_ops_and_rules(case: Case, rng: np.random.Generator) -> None:
    arrays = arrays_of(case, rng, "float64")
    own = _arrays(_derivatives(case, arrays, Tensor))
    others = _arrays(_derivatives(case, arrays, torch.Tensor))
    for a, b in zip(own, others, strict=True):
        if a is None or b is None:
            assert a is b
        else:
            # A derivative of a rule may take another way, whose sums are rounded otherwise.
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
            assert a.dtype == b.dtype


LAYERS = {
    "BatchNorm1d": ((3,), (4, 3)),
    "BatchNorm2d": ((3,), (2, 3, 4, 4)),
    "Conv1d": ((3, 4, 3), (2, 3, 6)),
    "Conv2d": ((3, 4, 3), (2, 3, 5, 5)),
    "ConvTranspose2d": ((3, 4, 3), (2, 3, 5, 5)),
    "GRU": ((3, 4, 2), (5, 2, 3)),
    "GroupNorm": ((1, 3), (2, 3, 4)),
    "InstanceNorm2d": ((3,), (2, 3, 4, 4)),
    "LSTM": ((3, 4), (5, 2, 3)),
    "LSTMCell": ((3, 4), (2, 3)),
    "LayerNorm": ((3,), (2, 3)),
    "Linear": ((3, 4), (2, 3)),
    "PReLU": ((), (2, 3)),
    "RMSNorm": ((3,), (2, 3)),
    "RNN": ((3, 4), (5, 2, 3)),
    "TransformerEncoderLayer": ((4, 2, 8, 0.0), (3, 2, 4)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str, rng: np.random.Generator) -> None:
    """A layer of these names is the core's, with tensors of these names in and out."""
    arguments, shape = LAYERS[name]
    own = getattr(ex.nn, name)(*arguments)
    mirror: Any = getattr(torch.nn, name)(*arguments)
    mirror.load_state_dict(own.state_dict())
    x = rng.normal(size=shape).astype(np.float32)
    wanted = own(ex.tensor(x))
    found = mirror(torch.from_numpy(x).requires_grad_())
    for a, b in zip(_arrays(wanted), _arrays(found), strict=True):
        np.testing.assert_array_equal(a, b)
    first = found[0] if isinstance(found, tuple) else found
    assert type(first) is torch.Tensor
    assert all(type(p) is torch.nn.Parameter for p in mirror.parameters())
    first.sum().backward()
    assert all(type(p.grad) is torch.Tensor for p in mirror.parameters() if p.grad is not None)
