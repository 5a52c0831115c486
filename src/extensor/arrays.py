"""What formulas need and the Array API standard lacks, in terms of what it has."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt
from typing import Any

import numpy as np

# exp(x^2) * erfc(x) * (1 + 2x) for x >= 0, in powers of (x - 3.5) / (x + 3.5): a Chebyshev
# expansion of that smooth function, which goes from 1 to 2 / sqrt(pi), exact to 3e-17.
_SCALED_ERFC = (
    1.2423492448711544,
    -0.1400091801376197,
    -0.010555596332221669,
    0.09751909515328706,
    -0.11508959816003075,
    0.08798315382403678,
    -0.04882332583088402,
    0.019099330953271165,
    -0.004215019879774186,
    -0.0003022679534333239,
    0.0005643842668705102,
    -0.00012151212091980101,
    -4.2781739959539994e-05,
    2.4260300984917994e-05,
    2.3273309537791425e-06,
    -3.814012584490695e-06,
    -4.309237398316666e-08,
    6.014823849950426e-07,
    -8.611571571113718e-09,
    -9.64004253144383e-08,
    6.651894382376532e-10,
    1.3624442778701048e-08,
    6.040390099342991e-11,
    -1.1656687889203665e-09,
)
# erf(x) / x - 1 for |x| <= 1, in powers of x^2, made the same way and exact to 1e-17.
_ERF = (
    0.1283791670955126,
    -0.3761263890318375,
    0.11283791670954882,
    -0.026866170645077334,
    0.005223977624823223,
    -0.0008548326981129666,
    0.00012055331122299266,
    -1.4925595519506043e-05,
    1.6461004480962034e-06,
    -1.6350354461959655e-07,
    1.4660051998394848e-08,
    -1.1373902296430911e-09,
    5.958930743134941e-11,
)
# Beyond it every tail below is 0 in float64; a finite bound keeps infinity out of the polynomials.
_FAR = 64.0


def _polynomial(coefficients: Sequence[float], x: Any) -> Any:
    result = x * 0 + coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + coefficient
    return result


def _exp_of_square(xp: Any, x: Any, scale: float) -> Any:
    """``exp(scale * x * x)`` to the last bits, for |x| up to 64 and ``scale`` a power of two.

    Rounding ``x * x`` would cost as many bits as the square has. ``high`` keeps 26 bits of ``x``,
    so its square is exact, and what is left is small.
    """
    high = xp.round(x * 2.0**20) / 2.0**20
    return xp.exp(scale * high * high) * xp.exp(scale * ((x - high) * (x + high)))


def _scaled_erfc(x: Any) -> Any:
    """``exp(x * x) * erfc(x)`` for ``x >= 0``."""
    return _polynomial(_SCALED_ERFC, (x - 3.5) / (x + 3.5)) / (1 + 2 * x)


def _magnitude(xp: Any, x: Any) -> tuple[Any, Any]:
    """``x`` in float64, and its magnitude, at most ``_FAR``."""
    wide = xp.astype(x, xp.float64, copy=False)
    return wide, xp.clip(xp.abs(wide), 0.0, _FAR)


def erf(xp: Any, x: Any) -> Any:
    """The error function, within 2 units in the last place."""
    wide, size = _magnitude(xp, x)
    # Both branches are computed for every element; the inner one must not overflow outside.
    near = xp.clip(wide, -1.0, 1.0)
    inside = near + near * _polynomial(_ERF, near * near)
    outside = 1 - _exp_of_square(xp, size, -1.0) * _scaled_erfc(size)
    result = xp.where(size <= 1, inside, xp.where(wide < 0, -outside, outside))
    return xp.asarray(result, dtype=x.dtype)


def erfc(xp: Any, x: Any) -> Any:
    """``1 - erf(x)``, with all its digits in the tail where it is tiny."""
    wide, size = _magnitude(xp, x)
    tail = _exp_of_square(xp, size, -1.0) * _scaled_erfc(size)
    return xp.asarray(xp.where(wide < 0, 2 - tail, tail), dtype=x.dtype)


def normal_cdf(xp: Any, x: Any) -> Any:
    """The standard normal distribution function, with all its digits in the lower tail."""
    wide, size = _magnitude(xp, x)
    tail = 0.5 * _exp_of_square(xp, size, -0.5) * _scaled_erfc(size / sqrt(2))
    return xp.asarray(xp.where(wide > 0, 1 - tail, tail), dtype=x.dtype)


def normal_pdf(xp: Any, x: Any) -> Any:
    """The standard normal density, with all its digits in both tails."""
    _, size = _magnitude(xp, x)
    return xp.asarray(_exp_of_square(xp, size, -0.5) / sqrt(2 * pi), dtype=x.dtype)


def sigmoid(xp: Any, x: Any) -> Any:
    """``1 / (1 + exp(-x))``, with all its digits in the lower tail and no overflow."""
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, xp.ones((), dtype=x.dtype), small) / (1 + small)


def gated(xp: Any, gate: Any, x: Any) -> Any:
    """``gate * x``, and 0 where the gate is shut even if ``x`` is infinite: the limit there."""
    return xp.where(gate == 0, xp.copysign(xp.zeros((), dtype=gate.dtype), x), gate * x)


def clamped(xp: Any, x: Any, low: Any, high: Any) -> Any:
    """``x`` held between ``low`` and ``high``, NaN kept; ``high`` where the two are out of order.

    Where ``x`` equals a bound, a zero of the other sign too, it is the bound.
    """
    if low is not None:
        bound = xp.asarray(low, dtype=x.dtype)
        x = xp.where(x <= bound, bound, x)
    if high is not None:
        bound = xp.asarray(high, dtype=x.dtype)
        x = xp.where(x >= bound, bound, x)
    return x


def set_at(target: Any, index: Any, values: Any) -> Any:
    """``target``, which must be the caller's own memory, with ``values`` written at ``index``."""
    if hasattr(target, "at"):
        return target.at[index].set(values)
    target[index] = values
    return target


def add_at(xp: Any, target: Any, index: Any, values: Any) -> Any:
    """The same with ``values`` added, once for each time that ``index`` names an element."""
    if hasattr(target, "at"):
        return target.at[index].add(values)
    xp.add.at(target, index, values)
    return target


def along_axis(xp: Any, indices: Any, shape: Sequence[int], axis: int) -> tuple[Any, ...]:
    """The index that reads or writes ``indices`` along ``axis`` of an array of ``shape``, line by line."""
    grid = []
    for position, size in enumerate(shape):
        line = [1] * len(shape)
        line[position] = size
        grid.append(indices if position == axis else xp.reshape(xp.arange(size), tuple(line)))
    return tuple(grid)


def argsort(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    """The stable order of ``x`` along ``axis``: equal elements stay as they are, NaN counts as largest."""
    if not descending:
        return xp.argsort(x, axis=axis, stable=True)
    reverse = xp.argsort(xp.flip(x, axis=axis), axis=axis, stable=True)
    return x.shape[axis] - 1 - xp.flip(reverse, axis=axis)


def in_order(x: Any) -> Any:
    """``x`` in C order in memory, so that a sum has the same bits in every layout."""
    return np.asarray(x, order="C") if isinstance(x, np.ndarray) else x


def as_factor(x: Any) -> Any:
    """``x`` with rows or columns contiguous, as a BLAS reads matrices; a copy only where they are not.

    NumPy would multiply any other layout with plain loops, slowly and with other last bits.
    """
    if not isinstance(x, np.ndarray) or x.ndim == 0 or x.size == 0:
        return x
    rows, columns = (1, *x.shape)[-2:]
    row_step, step = (stride // x.itemsize for stride in (0, *x.strides)[-2:])
    if rows == 1 or columns == 1:
        ready = (step if rows == 1 else row_step) == 1
    else:
        ready = (step == 1 and row_step >= columns) or (row_step == 1 and step >= rows)
    return x if ready else in_order(x)
