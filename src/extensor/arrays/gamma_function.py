"""The logarithm of the gamma function and its derivatives, in float64 for every dtype.

Arguments are brought by recurrences to an interval where a series converges fast, and negative ones
by reflection to positive ones. Where a result is near 0 for a negative argument, the two terms of the
reflection cancel, and the error is that of the larger one.
"""

from __future__ import annotations

from math import factorial, inf, log, nan, pi
from typing import Any

from extensor.arrays.error_function import polynomial

_HALF_LOG_TWO_PI = 0.5 * log(2 * pi)
_ONE_MINUS_EULER = 0.42278433509846713
_FAR = 10.0  # from here on the asymptotic series are exact to rounding
# zeta(k) - 1 for k = 2, 3, ...: lgamma(2 + z) = z * (1 - euler + z * (...)), for |z| <= 1/2.
_ZETA = (
    0.6449340668482264, 0.2020569031595943, 0.08232323371113819, 0.03692775514336993,
    0.01734306198444914, 0.008349277381922827, 0.00407735619794434, 0.0020083928260822143,
    0.0009945751278180853, 0.0004941886041194645, 0.0002460865533080483, 0.00012271334757848915,
    6.124813505870483e-05, 3.058823630702049e-05, 1.528225940865187e-05, 7.637197637899763e-06,
    3.81729326499984e-06, 1.908212716553939e-06, 9.539620338727962e-07, 4.769329867878064e-07,
    2.38450502727733e-07, 1.1921992596531106e-07, 5.960818905125948e-08, 2.980350351465228e-08,
)  # fmt: skip
_LGAMMA = (
    _ONE_MINUS_EULER,
    *((-1) ** k * zeta / k for k, zeta in enumerate(_ZETA, 2)),
)
# The Bernoulli numbers B[2k] over 2k * (2k - 1), over 2k, and over (2k)!, for k = 1, 2, ...
_STIRLING = (
    0.08333333333333333, -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953,
    0.0008417508417508417, -0.0019175269175269176, 0.00641025641025641, -0.029550653594771242,
)  # fmt: skip
_ASYMPTOTIC = (
    0.08333333333333333, -0.008333333333333333, 0.003968253968253968, -0.004166666666666667,
    0.007575757575757576, -0.021092796092796094, 0.08333333333333333, -0.4432598039215686,
)  # fmt: skip
_EULER_MACLAURIN = (
    0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07,
    2.08767569878681e-08, -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13,
    8.586062056277845e-15, -2.174868698558062e-16, 5.5090028283602295e-18, -1.3954464685812522e-19,
)  # fmt: skip
# digamma(x) / (x - root) on [1, 2], in powers of 2 * x - 3; the root in two parts, as it must be
# known to more digits than a float64 has.
_ROOT, _ROOT_REST = 1.4616321449683622, 9.549995429965697e-17
_DIGAMMA = (
    0.9510558760318328, -0.21181371064073024, 0.06013562106019684, -0.018550615381739702,
    0.005936795278301875, -0.0019350666647392832, 0.0006368880303847901, -0.00021074841284590126,
    6.99501882655044e-05, -2.325823275895313e-05, 7.741234441368395e-06, -2.578133701610713e-06,
    8.589062683365892e-07, -2.8621216825577647e-07, 9.543261570760428e-08, -3.1807298477301726e-08,
    1.0528133851878114e-08, -3.509235492410718e-09, 1.2466690231864029e-09,
    -4.1555064115551965e-10, 8.748420037436287e-11, -2.9161179626023815e-11,
    2.916093601085364e-11, -9.720300404202244e-12,
)  # fmt: skip


def lgamma(xp: Any, x: Any) -> Any:
    """``log(abs(gamma(x)))``; inf at 0 and at the negative whole numbers."""
    wide = xp.astype(x, xp.float64, copy=False)
    positive = _lgamma_of_positive(xp, xp.where(wide > 0, wide, 1 - wide))
    pole = (wide <= 0) & (wide == xp.floor(wide))
    sine = xp.abs(xp.sin(pi * _fraction(xp, wide)))
    reflected = xp.log(pi / xp.where(pole, 1.0, sine)) - positive
    result = xp.where(wide > 0, positive, xp.where(pole, inf, reflected))
    result = xp.where(xp.isnan(wide), nan, xp.where(xp.isinf(wide), inf, result))
    return xp.asarray(result, dtype=x.dtype)


def _fraction(xp: Any, x: Any) -> Any:
    """``x`` minus the nearest whole number, with the sine and the tangent of ``x`` times pi."""
    finite = xp.where(xp.isfinite(x), x, 0.0)
    return finite - xp.round(finite)


def _lgamma_of_positive(xp: Any, x: Any) -> Any:
    far = xp.where(x >= _FAR, x, _FAR)
    inverse = 1 / far
    series = inverse * polynomial(_STIRLING, inverse * inverse)
    stirling = (far - 0.5) * (xp.log(far) - 1) - 0.5 + _HALF_LOG_TWO_PI + series
    near = xp.where(x < _FAR, x, 2.0)
    product = xp.ones_like(near)
    for _ in range(8):  # down to [1.5, 2.5)
        large = near >= 2.5
        near = xp.where(large, near - 1, near)
        product = xp.where(large, product * near, product)
    small, tiny = near < 1.5, near < 0.5
    z = xp.where(tiny, near, xp.where(small, near - 1, near - 2))
    # In the two intervals below [1.5, 2.5) the factors are logarithms of numbers near 1 and near 0.
    divided = xp.where(small, xp.log1p(xp.where(small, z, 0.0)), 0.0)
    divided = divided + xp.where(tiny, xp.log(xp.where(tiny, near, 1.0)), 0.0)
    close = z * polynomial(_LGAMMA, z) - divided + xp.log(product)
    return xp.where(x >= _FAR, stirling, close)


def digamma(xp: Any, x: Any) -> Any:
    """The derivative of ``lgamma``; NaN at the negative whole numbers, -inf at 0 and inf at -0."""
    wide = xp.astype(x, xp.float64, copy=False)
    positive = _digamma_of_positive(xp, xp.where(wide > 0, wide, 1 - wide))
    pole = (wide <= 0) & (wide == xp.floor(wide))
    tangent = xp.tan(pi * _fraction(xp, wide))
    reflected = positive - pi / xp.where(pole, 1.0, tangent)
    at_pole = xp.where(wide == 0, -xp.copysign(xp.full_like(wide, inf), wide), nan)
    result = xp.where(wide > 0, positive, xp.where(pole, at_pole, reflected))
    unknown = xp.isnan(wide) | (wide == -inf)
    return xp.asarray(xp.where(unknown, nan, result), dtype=x.dtype)


def _digamma_of_positive(xp: Any, x: Any) -> Any:
    far = xp.where(x >= _FAR, x, _FAR)
    square = 1 / (far * far)
    asymptotic = xp.log(far) - 0.5 / far - square * polynomial(_ASYMPTOTIC, square)
    near = xp.where(x < _FAR, x, 1.0)
    added = xp.zeros_like(near)
    for _ in range(9):  # down to [1, 2)
        large = near >= 2
        near = xp.where(large, near - 1, near)
        added = xp.where(large, added + 1 / near, added)
    small = near < 1
    added = xp.where(small, -1 / near, added)
    near = xp.where(small, near + 1, near)
    close = (near - _ROOT - _ROOT_REST) * polynomial(_DIGAMMA, 2 * near - 3) + added
    return xp.where(x >= _FAR, asymptotic, close)


def polygamma(xp: Any, x: Any, n: int) -> Any:
    """The ``n``-th derivative of ``digamma``."""
    if n == 0:
        return digamma(xp, x)
    wide = xp.astype(x, xp.float64, copy=False)
    sign = (-1) ** (n + 1)
    positive = sign * factorial(n) * _zeta(xp, xp.where(wide > 0, wide, 1 - wide), n + 1)
    pole = (wide <= 0) & (wide == xp.floor(wide))
    tangent = xp.tan(pi * _fraction(xp, wide))
    cotangent = 1 / xp.where(pole | (tangent == 0), 1.0, tangent)
    # digamma(1 - x) - digamma(x) = pi / tan(pi * x), derived n times.
    reflected = -sign * positive - pi ** (n + 1) * polynomial(_cotangent(n), cotangent)
    at_pole = inf if n % 2 else nan
    result = xp.where(wide > 0, positive, xp.where(pole, at_pole, reflected))
    unknown = xp.isnan(wide) | (wide == -inf)
    return xp.asarray(xp.where(unknown, nan, result), dtype=x.dtype)


def _zeta(xp: Any, x: Any, s: int) -> Any:
    """The sum of ``(x + k)**-s`` over all k from 0 on, for ``x > 0``."""
    total = xp.zeros_like(x)
    for k in range(int(_FAR)):
        total = total + (x + k) ** -float(s)
    far = x + _FAR
    rest = far ** -float(s) * (far / (s - 1) + 0.5)
    factor = far ** -float(s + 1) * s
    for k, coefficient in enumerate(_EULER_MACLAURIN):
        rest = rest + coefficient * factor
        factor = factor / (far * far) * ((s + 2 * k + 1) * (s + 2 * k + 2))
    return total + xp.where(xp.isinf(x), 0.0, rest)


def _cotangent(n: int) -> tuple[float, ...]:
    """The n-th derivative of cot in powers of cot, whose own derivative is -(1 + cot**2)."""
    powers = [0, 1]
    for _ in range(n):
        derived = [k * power for k, power in enumerate(powers)][1:]
        powers = [0] * (len(derived) + 2)
        for k, power in enumerate(derived):
            powers[k] -= power
            powers[k + 2] -= power
    return tuple(map(float, powers))
