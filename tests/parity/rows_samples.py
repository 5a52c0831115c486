"""PyTorch's names of ops, and how their calls are said here; None for a sample that cannot be said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import extensor as ex


class SampleRow(NamedTuple):
    """``call`` takes what PyTorch's function takes, with tensors of ours, and calls ``op``."""

    op: str
    name: str
    call: Callable[..., Any]
    variant: str = ""

    @property
    def ops(self) -> list[str]:
        return self.op.split()


def _elementwise(name: str) -> SampleRow:
    return SampleRow(name, name, getattr(ex, name))


def _nan_to_num(x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    return ex.nan_to_num(x, 0.0 if nan is None else nan, posinf, neginf)


def _rrelu(x: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Any:
    return None if training else ex.rrelu(x, lower, upper)


def _shrink(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, lambd=0.5: function(x, lambd) if lambd >= 0 else None


ELEMENTWISE = [
    *(_elementwise(name) for name in "copysign fmod hypot heaviside lerp sinc".split()),
    *(_elementwise(name) for name in "logaddexp logaddexp2 xlogy exp2".split()),
    *(_elementwise(name) for name in "erfc erfinv lgamma digamma".split()),
    SampleRow("nan_to_num", "nan_to_num", _nan_to_num),
    *(
        SampleRow("polygamma", "polygamma", lambda x, n: ex.polygamma(x, n), f"polygamma_n_{n}")
        for n in (0, 1, 2, 3, 4)
    ),
]
ACTIVATION = [
    SampleRow("softmin", "nn.functional.softmin", lambda x, dim, **_: ex.softmin(x, dim)),
    SampleRow("log_sigmoid", "nn.functional.logsigmoid", ex.log_sigmoid),
    SampleRow("celu", "nn.functional.celu", lambda x, alpha=1.0: ex.celu(x, alpha)),
    SampleRow(
        "threshold",
        "nn.functional.threshold",
        lambda x, threshold, value: ex.threshold(x, float(threshold), float(value)),
    ),
    SampleRow("soft_shrink", "nn.functional.softshrink", _shrink(ex.soft_shrink)),
    SampleRow("hard_shrink", "nn.functional.hardshrink", _shrink(ex.hard_shrink)),
    SampleRow("tanh_shrink", "nn.functional.tanhshrink", ex.tanh_shrink),
    SampleRow("rrelu", "nn.functional.rrelu", _rrelu),
]
ROWS = [*ELEMENTWISE, *ACTIVATION]
