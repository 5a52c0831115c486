"""Whether two ways of computing a call agree: in values, NaN, dtypes and shapes, or in their errors.

The sign of a zero depends on the order in which terms are added, and is compared only where none are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import tolerances
from calls import flat
from kernels import ELEMENTWISE

from extensor.core.op import OPS
from extensor.core.tensor import Tensor

LARGE = 2**20
# What divides by a deviation multiplies a rounding error by up to 1 / sqrt(eps), where eps is 1e-5;
# without an eps by as much as there is no deviation.
DIVIDING = ("layer_norm", "group_norm", "instance_norm", "batch_norm", "rms_norm", "std_backward")
# Sums of products, and every rule: it depends on the order whether infinities of two signs meet.
ADDING = (*DIVIDING, "matmul", "linear", "dot", "einsum", "tensordot", "conv", "scaled_dot")
# It depends on the order of factors whether those below 1 vanish before an infinity meets them.
MULTIPLYING = ("prod",)
AMPLIFIED = 320


@dataclass(frozen=True)
class Allowance:
    """What two results of one function, given these arguments, may differ by."""

    dividing: str
    adding: bool
    multiplying: bool
    by_element: bool
    narrow: bool
    # A NaN is not looked at where a query does not see it, or meets a weight of 0; nor is an infinity,
    # which times 0 would be one.
    skipping: bool
    largest: float  # of all arguments, infinite if one is
    smallest: float  # of all that are not 0

    @classmethod
    def of(cls, name: str, args: Sequence[Any]) -> Allowance:
        op = OPS.get(name)
        arrays = [np.asarray(x) for x in flat(list(args)) if _is_array(x)]
        by_element = op is not None and (
            op.shape is None or op.shape.__name__ in ELEMENTWISE or not op.differentiable
        )
        return cls(
            name if name.startswith(DIVIDING) else "",
            name.startswith(ADDING) or name.endswith("_backward"),
            name in MULTIPLYING,
            by_element,
            any(x.dtype != np.float64 for x in arrays),
            name.startswith("scaled_dot") and not all(map(_is_finite, arrays)),
            max([1.0, *(x.max(initial=0.0) for x in map(_magnitudes, arrays))]),
            min([1.0, *(x.min(initial=1.0) for x in map(_magnitudes, arrays))]),
        )

    @property
    def amplified(self) -> float:
        return 1 / self.smallest if self.dividing == "std_backward" else AMPLIFIED

    def apart(self, x: np.ndarray, y: np.ndarray, dtype: Any) -> Any:
        """Where two arrays are not the same number, up to rounding, the same NaN or the same zero."""
        # Beside anything narrower a float64 has come through float32 on its way.
        wide = dtype == np.float64 and not self.narrow
        tolerance = tolerances.of(dtype if wide or dtype != np.float64 else "float32")
        with np.errstate(all="ignore"):
            allowed = 4 * (tolerance["atol"] + tolerance["rtol"] * np.abs(y))
            if self.adding and self.largest > LARGE:  # terms as large may cancel
                allowed += 4 * tolerance["rtol"] * self.largest
            if self.dividing:
                eps = np.finfo(np.float64 if wide else np.float32).eps
                allowed += self.amplified * eps * min(self.largest, 2.0**64)
            near = (x == y) | (np.isfinite(y) & (np.abs(x - y) <= allowed))
        near |= np.isnan(x) & np.isnan(y)
        if self.skipping:
            near |= np.isnan(x) | np.isnan(y)
        if self.by_element:
            return ~near | ((x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y)))
        if (self.adding or self.multiplying) and np.isinf(self.largest):
            near |= ~np.isfinite(x) & ~np.isfinite(y)
        # Near the end of the range it depends on the order of factors whether one overflows.
        largest = float(ml_dtypes.finfo(dtype).max)
        huge = (np.sign(x) == np.sign(y)) & (np.minimum(np.abs(x), np.abs(y)) > largest / 1000)
        return ~near & ~(huge & (np.isinf(x) | np.isinf(y)))


def _is_array(x: Any) -> bool:
    return isinstance(x, Tensor | np.ndarray | np.generic)


def _is_floating(x: np.ndarray) -> bool:
    return x.dtype.kind == "f" or x.dtype == ml_dtypes.bfloat16


def _is_finite(x: np.ndarray) -> bool:
    return not _is_floating(x) or bool(np.isfinite(x.astype(np.float64)).all())


def _magnitudes(x: np.ndarray) -> np.ndarray:
    """Of the numbers that are not 0."""
    if not 0 < x.size < LARGE or not (_is_floating(x) or x.dtype.kind in "iu"):
        return np.zeros(0)
    with np.errstate(all="ignore"):
        wide = np.abs(x.astype(np.float64))
    return wide[wide > 0]


def difference(found: Any, expected: Any, allowance: Allowance) -> str | None:
    """What is different in two results of the same call; None if nothing is."""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        same = type(found) is type(expected)
        if same and (isinstance(found, MemoryError) or str(found) == str(expected)):
            return None
        return f"{_brief(found)} instead of {_brief(expected)}"
    ours, theirs = flat(found), flat(expected)
    if len(ours) != len(theirs):
        return f"{len(ours)} results instead of {len(theirs)}"
    for a, b in zip(ours, theirs, strict=True):
        if type(a) is not type(b):
            return f"a {type(a).__name__} instead of a {type(b).__name__}"
        text = _between(a, b, allowance) if _is_array(a) else None
        if text is not None:
            return text
    return None


def _brief(result: Any) -> str:
    if isinstance(result, Exception):
        return f"{type(result).__name__}: {result}"
    return " and ".join(
        f"{x.dtype} {x.shape}" if _is_array(x) else type(x).__name__ for x in flat(result)
    )


def _between(a: Any, b: Any, allowance: Allowance) -> str | None:
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} {tuple(a.shape)} instead of {b.dtype} {tuple(b.shape)}"
    if a.size > LARGE:  # a broadcast view, which has no memory of its own
        return None
    x, y = np.asarray(a), np.asarray(b)
    if x.dtype.kind in "iub":
        wrong = x != y
    elif _is_floating(x):
        wrong = allowance.apart(x.astype(np.float64), y.astype(np.float64), a.dtype)
    else:
        return None
    if not np.any(wrong):
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{x[place]!r} instead of {y[place]!r} at {place}, {int(np.sum(wrong))} times"
