"""The ops as methods and operators of Tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor.op import OPS
from extensor.ops.casting import cast
from extensor.tensor import Tensor

OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "modulo",
    "pow": "power",
    "matmul": "matmul",
    "and": "logical_and",
    "or": "logical_or",
    "xor": "logical_xor",
}
COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, self)


def attach() -> None:
    """Give Tensor its operators and methods; called once, when all ops are defined."""
    for symbol, name in OPERATORS.items():
        if name not in OPS: continue
        function = OPS[name].function
        setattr(Tensor, f"__{symbol}__", function)
        setattr(Tensor, f"__r{symbol}__", _reflected(function))
    for symbol, name in COMPARISONS.items():
        if name not in OPS: continue
        setattr(Tensor, f"__{symbol}__", OPS[name].function)
    Tensor.__hash__ = object.__hash__
    Tensor.astype = cast
    for name in ("sum","reshape"):
        setattr(Tensor, name, OPS[name].function)
    Tensor.__neg__ = OPS["negative"].function
    Tensor.__abs__ = OPS["abs"].function
    Tensor.clone = OPS["clone"].function
