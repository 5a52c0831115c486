"""The ops as methods and operators of Tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor.core.op import OPS
from extensor.core.tensor import Tensor
from extensor.errors.torch_names import name_elsewhere
from extensor.ops.in_place import in_place, set_item
from extensor.ops.indexing import At

OPERATORS = {
    "add": ("add", "+"),
    "sub": ("subtract", "-"),
    "mul": ("multiply", "*"),
    "truediv": ("divide", "/"),
    "floordiv": ("floor_divide", "//"),
    "mod": ("modulo", "%"),
    "pow": ("power", "**"),
    "matmul": ("matmul", "@"),
    "and": ("bitwise_and", "&"),
    "or": ("bitwise_or", "|"),
    "xor": ("bitwise_xor", "^"),
}
COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
OTHERS = {
    "pos": "clone",
    "neg": "negative",
    "abs": "abs",
    "invert": "bitwise_not",
    "getitem": "getitem",
}

METHODS = (
    "clone identity sum mean max_reduce min_reduce prod var std logsumexp norm nansum nanmean "
    "cumsum cumprod cummax cummin logcumsumexp median quantile kthvalue "
    "argmax argmin any all count_nonzero nonzero unique "
    "squeeze unsqueeze flatten ravel swapaxes moveaxis flip roll diag diagonal trace tril triu "
    "split tile repeat pad broadcast_to gather scatter scatter_add scatter_reduce take "
    "index_select masked_fill sort argsort topk "
    "matmul dot outer "
    "add subtract multiply divide power floor_divide modulo maximum minimum negative reciprocal "
    "square abs sign ceil floor round trunc clip copysign fmod hypot lerp nan_to_num "
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh asinh "
    "acosh atanh erf erfc erfinv lgamma digamma relu sigmoid tanh softmax log_softmax "
    "isnan isinf isfinite "
    "equal not_equal less less_equal greater greater_equal "
    "logical_and logical_or logical_xor logical_not "
    "bitwise_and bitwise_or bitwise_xor bitwise_not"
).split()
RENAMED = {"max": "max_reduce", "min": "min_reduce", "astype": "cast", "expand_dims": "unsqueeze"}
# x.reshape(2, 3) is x.reshape((2, 3)).
TAKING_LOOSE_INTS = ("reshape", "permute", "transpose")


def _reflect(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, self)


def _with_loose_ints(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Tensor, *sizes: Any, **options: Any) -> Any:
        if len(sizes) > 1:
            sizes = (sizes,)
        return function(self, *sizes, **options)

    method.__name__ = function.__name__
    method.__doc__ = f"``ex.{function.__name__}`` of the tensor; sizes may be given one by one."
    method.__wrapped__ = function  # type: ignore[attr-defined]  # where inspect finds the signature
    return method


def attach() -> None:
    """Give Tensor its operators and methods; called once, when all ops are defined."""
    functions = {name: op.function for name, op in OPS.items()}
    for operator, (name, symbol) in OPERATORS.items():
        setattr(Tensor, f"__{operator}__", functions[name])
        setattr(Tensor, f"__r{operator}__", _reflect(functions[name]))
        setattr(Tensor, f"__i{operator}__", in_place(functions[name], symbol))
    for operator, name in (COMPARISONS | OTHERS).items():
        setattr(Tensor, f"__{operator}__", functions[name])
    Tensor.__setitem__ = set_item  # type: ignore[assignment, method-assign]
    for name in METHODS:
        setattr(Tensor, name, functions[name])
    for method, name in RENAMED.items():
        setattr(Tensor, method, functions[name])
    for name in TAKING_LOOSE_INTS:
        setattr(Tensor, name, _with_loose_ints(functions[name]))
    # With texts of their own: a property would ask its function for one, which is made only on demand.
    properties = {
        "T": (functions["transpose"], "The transpose: all axes in reverse order."),
        "mT": (lambda self: self.swapaxes(-1, -2), "The last two axes exchanged."),
        "at": (At, "``x.at[i].set(values)`` and ``x.at[i].add(values)`` give a changed copy."),
    }
    for name, (function, text) in properties.items():
        setattr(Tensor, name, property(function, doc=text))
    name_elsewhere(Tensor)
