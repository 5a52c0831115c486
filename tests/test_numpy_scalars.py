"""NumPy's numbers where an op takes a number: the same bits, in the same dtype, as Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calls import arguments_of, arrays_of, as_leaf, first_floating, flat, hand_arguments
from cases.case import Case
from op_cases import CASES

import extensor as ex
from extensor import nn
from extensor.core.door import ENGINE, by_formulas
from extensor.core.op import OPS

ENGINES = ["reference"] if ENGINE == "reference" else ["native", "reference"]


def _is_plain(value: Any) -> bool:
    return type(value) in (int, float, bool)


def _scalar(value: Any) -> Any:
    return np.array(value).dtype.type(value) if _is_plain(value) else value


def _numbers(row: Case) -> dict[str, Any]:
    """The numbers of a call, those it leaves at their defaults included."""
    public = OPS[row.op].public
    defaults = zip(public.names, public.defaults, strict=True)
    given = {**dict(defaults), **row.attributes}
    return {name: value for name, value in given.items() if _is_plain(value)}


ROWS = [row for row in CASES if row.op not in ("einsum", "getitem", "cast") and _numbers(row)]


def _bits(x: Any) -> tuple[Any, ...]:
    array = np.asarray(x.numpy())
    return array.dtype, array.shape, array.tobytes()


def _called(row: Case, arrays: list[Any], numbers: dict[str, Any]) -> list[Any]:
    """The bits of what a call gives, of its gradients, and of its rule by hand."""
    inputs = [as_leaf(x) for x in arrays]
    args, kwargs = arguments_of(row, inputs)
    ex.random.manual_seed(0)
    output = getattr(ex, row.op)(*args, **{**kwargs, **numbers})
    found = [_bits(x.detach()) for x in flat(output)]
    rule = OPS[row.op].rule
    if rule is None:
        return found
    outputs = [x for x in first_floating(output, rule) if x.requires_grad]
    for x in outputs:
        x.backward(ex.ones(x.shape, x.dtype), retain_graph=True)
    found += [_bits(x.grad) for x in flat(inputs) if x.grad is not None]
    ex.random.manual_seed(0)
    by_hand = hand_arguments(row, inputs, output)
    by_hand.update({name: x for name, x in numbers.items() if name in by_hand})
    seeds = [ex.ones(x.shape, x.dtype) for x in flat(output)]
    gradients = rule.function(seeds if rule.several else seeds[0], **by_hand)
    return [*found, *(_bits(x) for x in flat(gradients) if x is not None)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_attributes(row: Case, engine: str, rng: np.random.Generator) -> None:
    arrays = arrays_of(row, rng, "float32")
    numbers = _numbers(row)
    scalars = {name: _scalar(value) for name, value in numbers.items()}
    if engine == "native" or ENGINE == "reference":
        expected, found = _called(row, arrays, numbers), _called(row, arrays, scalars)
    else:
        with by_formulas():
            expected, found = _called(row, arrays, numbers), _called(row, arrays, scalars)
    assert found == expected


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "bfloat16", "int64", "uint8"])
def test_every_kind_of_number(kind: str) -> None:
    x = ex.tensor([[-1.0, 2.0, 3.0, -4.0]])
    one = np.ones((), ex.bfloat16 if kind == "bfloat16" else kind)[()]
    assert _bits(ex.elu(x, one)) == _bits(ex.elu(x, 1))
    assert _bits(ex.huber_loss(x, x + 2, delta=one)) == _bits(ex.huber_loss(x, x + 2, delta=1))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ex.scaled_dot_product_attention(x, x, x, scale=1 / np.sqrt(4)),
        lambda x: nn.Dropout(np.float64(0.1))(x),
        lambda x: nn.Dropout2d(np.float64(0.1))(x),
        lambda x: nn.LayerNorm(4, eps=np.float64(1e-5))(x),
        lambda x: nn.RMSNorm(4, eps=np.float64(1e-5))(x),
        lambda x: nn.GroupNorm(1, 3, eps=np.float64(1e-5))(x),
        lambda x: nn.BatchNorm1d(3, eps=np.float64(1e-5), momentum=np.float64(0.1))(x),
        lambda x: nn.LeakyReLU(np.float64(0.1))(x),
        lambda x: nn.ELU(np.float64(0.1))(x),
        lambda x: nn.Softplus(np.float64(2.0))(x),
        lambda x: nn.HuberLoss(delta=np.float64(0.5))(x, x * 2),
        lambda x: nn.SmoothL1Loss(beta=np.float64(0.5))(x, x * 2),
        lambda x: nn.CrossEntropyLoss(label_smoothing=np.float64(0.1))(x[0], [0, 1, 2]),
        lambda x: ex.norm(x, np.float64(3)),
        lambda x: x.std(ddof=np.int64(1)),
        lambda x: x.var(ddof=np.int64(1)),
    ],
)
def test_float32_stays(function: Any) -> None:
    x = ex.tensor(np.random.default_rng(0).normal(size=(2, 3, 4)).astype("f4"), requires_grad=True)
    result = function(x)
    assert result.dtype == ex.float32
    result.sum().backward()
    assert x.grad is not None
    assert x.grad.dtype == ex.float32


def test_divisor_of_an_average() -> None:
    x = ex.ones((1, 1, 2, 2))
    assert ex.avg_pool2d(x, 2, divisor_override=np.int64(3)).item() == np.float32(4 / 3)
