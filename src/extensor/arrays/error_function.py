"""The error function and the normal distribution, with all digits in their tails."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, pi, sqrt
from typing import Any

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
_WINITZKI = 0.147
# Beyond it every tail below is 0 in float64; a finite bound keeps infinity out of the polynomials.
_FAR = 64.0


def polynomial(coefficients: Sequence[float], x: Any) -> Any:
    """The polynomial with these ``coefficients``, that of the lowest power first."""
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
    return polynomial(_SCALED_ERFC, (x - 3.5) / (x + 3.5)) / (1 + 2 * x)


def _magnitude(xp: Any, x: Any) -> tuple[Any, Any]:
    """``x`` in float64, and its magnitude, at most ``_FAR``."""
    wide = xp.astype(x, xp.float64, copy=False)
    return wide, xp.clip(xp.abs(wide), 0.0, _FAR)


def erf(xp: Any, x: Any) -> Any:
    """The error function, within 2 units in the last place."""
    wide, size = _magnitude(xp, x)
    # Both branches are computed for every element; the inner one must not overflow outside.
    near = xp.clip(wide, -1.0, 1.0)
    inside = near + near * polynomial(_ERF, near * near)
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


def erfinv(xp: Any, x: Any) -> Any:
    """The inverse of ``erf``, within 2 units in the last place; NaN outside of [-1, 1]."""
    wide = xp.astype(x, xp.float64, copy=False)
    size = xp.abs(wide)
    inside = xp.where(size < 1, size, 0.5)
    # Winitzki's approximation, exact to 0.002, and for small numbers the first terms of the series.
    logarithm = xp.log1p(-inside * inside)
    half = 2 / (pi * _WINITZKI) + logarithm / 2
    root = xp.sqrt(xp.sqrt(half * half - logarithm / _WINITZKI) - half)
    small = inside < 0.1
    y = xp.where(small, sqrt(pi) / 2 * inside * (1 + pi / 12 * inside * inside), root)
    # Halley's steps, each of which triples the digits. Near 1 it is 1 - erf that has digits.
    for _ in range(3):
        outer = _scaled_erfc(y) - (1 - inside) * _exp_of_square(xp, y, 1.0)
        near = xp.clip(y, 0.0, 1.0)
        inner = (inside - near - near * polynomial(_ERF, near * near)) * xp.exp(near * near)
        step = sqrt(pi) / 2 * xp.where(y <= 0.5, inner, outer)
        y = y + step / (1 - y * step)
    y = xp.where(size < 1, y, xp.where(size == 1, inf, xp.full_like(y, nan)))
    return xp.asarray(xp.copysign(y, wide), dtype=x.dtype)
