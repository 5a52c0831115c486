"""Makes native/kernels/math/coefficients.h: minimax polynomials for the vector functions.

Each row of TABLE is a polynomial P of one variable that minimizes the largest weighted error
|weight * (target - P)| on an interval, found with Remez' exchange algorithm in 60 digits and then
rounded to the format the kernel evaluates it in; float coefficients are moved by single ulps after
that. The bound printed beside the coefficients is that of the rounded polynomial, as a relative
error of the final function.

    python coefficients.py | clang-format > ../../native/kernels/math/coefficients.h
"""

import itertools
import re
import struct
import sys
from collections.abc import Callable

import mpmath as mp
import numpy as np

mp.mp.dps = 60
Function = Callable[[mp.mpf], mp.mpf]


def evaluate(coefficients: list, x: mp.mpf) -> mp.mpf:
    return mp.polyval(coefficients[::-1], x)


def alternating_extrema(errors: list, count: int) -> list[int]:
    """Indices of the largest error in each run of equal sign, cut to `count` neighbours."""
    runs: list[int] = []
    for index, error in enumerate(errors):
        if runs and mp.sign(errors[runs[-1]]) == mp.sign(error):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = index
        else:
            runs.append(index)
    while len(runs) > count:
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    return runs


def remez(target: Function, weight: Function, low: float, high: float, degree: int) -> list:
    count, low, high = degree + 2, mp.mpf(low), mp.mpf(high)
    size = 60 * count
    # Chebyshev-spaced, shifted a little so that no point hits a zero of the weight.
    angles = [mp.pi * (i + mp.mpf("0.37")) / size for i in range(size)]
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(angle) for angle in angles]
    targets, weights = [target(x) for x in grid], [weight(x) for x in grid]
    chosen = [size * (2 * i + 1) // (2 * count) for i in range(count)]
    coefficients: list = []
    for _ in range(30):
        matrix = mp.matrix(count, count)
        right = mp.matrix(count, 1)
        for row, index in enumerate(chosen):
            for column in range(degree + 1):
                matrix[row, column] = weights[index] * grid[index] ** column
            matrix[row, degree + 1] = (-1) ** row
            right[row] = weights[index] * targets[index]
        solution = mp.lu_solve(matrix, right)
        coefficients = list(solution)[: degree + 1]
        errors = [
            w * (t - evaluate(coefficients, x))
            for w, t, x in zip(weights, targets, grid, strict=True)
        ]
        extrema = alternating_extrema(errors, count)
        if len(extrema) < count or extrema == chosen:
            break
        chosen = extrema
    return coefficients


def round_to(value: mp.mpf, format: str) -> float:
    if format == "double":
        return float(value)
    return struct.unpack("f", struct.pack("f", float(value)))[0]


def polished(
    target: Function, weight: Function, low: float, high: float, coefficients: list[float]
) -> list:
    """Moves up to three float coefficients at a time by an ulp while the largest error falls."""
    angles = [mp.pi * (i + mp.mpf("0.5")) / 600 for i in range(600)]
    points = [
        (low + high) / mp.mpf(2) - (high - low) / mp.mpf(2) * mp.cos(angle) for angle in angles
    ]
    weights = np.array([float(weight(x)) for x in points])
    left = np.array(
        [float(target(x) - evaluate([mp.mpf(c) for c in coefficients], x)) for x in points]
    )
    powers = [np.array([float(x**k) for x in points]) for k in range(len(coefficients))]
    current = [np.float32(c) for c in coefficients]
    best, improved = np.abs(left * weights).max(), True
    moves = [
        move for size in (1, 2, 3) for move in itertools.combinations(range(len(current)), size)
    ]
    while improved:
        improved = False
        for move in moves:
            for signs in itertools.product((-1, 1), repeat=len(move)):
                tried = [
                    np.nextafter(current[k], np.float32(s * np.inf))
                    for k, s in zip(move, signs, strict=True)
                ]
                steps = [float(c) - float(current[k]) for k, c in zip(move, tried, strict=True)]
                moved = left - sum(step * powers[k] for k, step in zip(move, steps, strict=True))
                error = np.abs(moved * weights).max()
                if error < best * 0.999:
                    best, left, improved = error, moved, True
                    for k, c in zip(move, tried, strict=True):
                        current[k] = c
    return [float(c) for c in current]


def worst(
    target: Function, weight: Function, low: float, high: float, coefficients: list
) -> mp.mpf:
    points = [low + (high - low) * (i + mp.mpf("0.5")) / 998 for i in range(998)]
    return max(abs(weight(x) * (target(x) - evaluate(coefficients, x))) for x in points)


def odd_tail(function: Function) -> tuple[Function, Function]:
    """f(x) = x + x w P(w) with w = x^2."""
    return (
        lambda w: (function(mp.sqrt(w)) / mp.sqrt(w) - 1) / w,
        lambda w: w * mp.sqrt(w) / function(mp.sqrt(w)),
    )


def mapped(function: Function, center: float) -> tuple[Function, Function]:
    """A function of t in [0, inf) as one of u = (t - center) / (t + center)."""
    target = lambda u: function(center * (1 + u) / (1 - u))  # noqa: E731
    return target, lambda u: 1 / target(u)


SQRT2, LN2 = mp.sqrt(2), mp.log(2)
HALF_LN2 = LN2 / 2 * mp.mpf("1.0005")
EXP_TAIL = (
    lambda r: (mp.expm1(r) - r) / r**2,
    lambda r: r**2 / mp.exp(r),
)
EXPM1_TAIL = (
    lambda r: (mp.expm1(r) - r - r**2 / 2) / r**3,
    lambda r: r**3 / mp.expm1(r),
)
EXP_HALF_TAIL = (
    lambda r: (mp.expm1(2 * r) / 2 - r) / r**2,
    lambda r: 2 * r**2 / mp.exp(2 * r),
)
SELU_TAIL = (EXP_TAIL[0], lambda r: abs(r**2 / mp.expm1(r)))
ATANH_TAIL = (  # 2 atanh(s) = 2 s + s z P(z) with z = s^2
    lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z,
    lambda z: z * mp.sqrt(z) / (2 * mp.atanh(mp.sqrt(z))),
)
POW_TAIL = (
    lambda z: (ATANH_TAIL[0](z) - mp.mpf(2) / 3) / z,
    lambda z: z * ATANH_TAIL[1](z),
)
LOG_TAIL = (
    lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3,
    lambda f: f**3 / mp.log1p(f),
)
LOG1P_TAIL = (
    lambda u: (mp.log1p(u + 0.5) - (u + 0.5)) / (u + 0.5) ** 2 + 0.25,
    lambda u: (u + 0.5) ** 2 / mp.log1p(u + 0.5),
)
COS_TAIL = (
    lambda w: (mp.cos(mp.sqrt(w)) - 1 + w / 2) / w**2,
    lambda w: w**2,
)
ERF_TAIL = (
    lambda w: mp.erf(mp.sqrt(w)) / mp.sqrt(w) - 1,
    lambda w: mp.sqrt(w) / mp.erf(mp.sqrt(w)),
)
LOG_ERFC = (lambda x: mp.log(mp.erfc(x)), lambda x: mp.erfc(x) / mp.erf(x))
QUARTER_PI_SQUARED = (mp.pi / 4) ** 2 * mp.mpf("1.0005")


TAIL_MEANING = "(t + 4) exp(t^2 / 2) Phi(-t) = P((t - 4) / (t + 4))"


def normal_tail(t: mp.mpf) -> mp.mpf:
    """The normal distribution's upper tail without its exponential, kept near one by t + 4."""
    return (t + 4) * mp.exp(t * t / 2) * mp.erfc(t / SQRT2) / 2


def gelu_exponent(s: mp.mpf) -> mp.mpf:
    """What -log(2 Phi(-t)), t = s + 127/64, has besides a parabola, over s.

    The parabola is within 0.042, has coefficients of few bits and is exact at s = 0, to 2^-38.
    """
    t = s + mp.mpf(127) / 64
    parabola = t * (mp.mpf(7) / 16 * t + mp.mpf(1405905) / 2**21)
    return (-mp.log(mp.erfc(t / SQRT2)) - parabola) / s


GELU_CENTER = mp.mpf(float.fromhex("0x1.0087c2p1"))
LN2_FLOAT = mp.mpf(float.fromhex("0x1.62e43p-1"))


def gelu_half(s: mp.mpf) -> mp.mpf:
    """Half of what log(2 Phi(-t)), t = s + GELU_CENTER, has besides a parabola, over s.

    The logarithm in units in which a float is ln 2, of which the kernel takes whole ones away. The
    parabola has coefficients of few bits, and the center is where it is exact, to 2^-37.
    """
    t = s + GELU_CENTER
    logarithm = mp.log(mp.erfc(t / SQRT2)) * LN2_FLOAT / LN2
    return (logarithm + t * (mp.mpf(7) / 16 * t + mp.mpf(343) / 512)) / (2 * s)


def gelu_far(w: mp.mpf) -> mp.mpf:
    """What -log(t Phi(-t)) has besides t^2 / 2 + 29 / 32, as a function of 2 / t^2."""
    t = mp.sqrt(2 / w)
    return -mp.log(t * mp.exp(t * t / 2) * mp.erfc(t / SQRT2) / 2) - mp.mpf(29) / 32


def gelu_bend(t: mp.mpf) -> mp.mpf:
    """The bracket of gelu'(-t) = exp(-t^2 / 2) (1/2 - t L(t))."""
    return (mp.mpf(1) / 2 - mp.exp(t * t / 2) * mp.erfc(t / SQRT2) / 2) / t + 1 / mp.sqrt(2 * mp.pi)


def gelu_bend_weight(u: mp.mpf) -> mp.mpf:
    """An error of L counts by t, relative to the bracket, not counting its zero."""
    t = 3 * (1 + u) / (1 - u)
    return t / max(abs(mp.mpf(1) / 2 - t * gelu_bend(t)), mp.mpf("0.1"))


def tail_end(last: float, center: float) -> mp.mpf:
    return (mp.mpf(last) - center) / (mp.mpf(last) + center)


# name, (target, weight), interval, degree, format, what it is
TABLE = [
    ("ExpFloat", EXP_TAIL, (-HALF_LN2, HALF_LN2), 4, "float", "exp(r) = 1 + r + r^2 P(r)"),
    ("ExpWideFloat", EXP_TAIL, (-0.39, 0.39), 5, "float", "exp(r) = 1 + r + r^2 P(r)"),
    (
        "ExpHalfFloat",
        EXP_HALF_TAIL,
        (-0.215, 0.215),
        5,
        "float",
        "exp(2 r) = 1 + 2 r + 2 r^2 P(r)",
    ),
    ("ExpMixed", EXP_TAIL, (-HALF_LN2, HALF_LN2), 4, "double", "exp(r) = 1 + r + r^2 P(r)"),
    ("ExpDouble", EXP_TAIL, (-HALF_LN2, HALF_LN2), 9, "double", "exp(r) = 1 + r + r^2 P(r)"),
    ("Expm1Float", EXPM1_TAIL, (-0.51, 0.51), 4, "float", "expm1(r) = r + r^2 / 2 + r^3 P(r)"),
    ("SeluFloat", SELU_TAIL, (-HALF_LN2, HALF_LN2), 5, "float", "expm1(r) = r + r^2 P(r)"),
    (
        "LogFloat",
        LOG_TAIL,
        (1 / SQRT2 - 1, SQRT2 - 1),
        7,
        "float",
        "log(1 + f) = f - f^2 / 2 + f^3 P(f)",
    ),
    (
        "LogThirdFloat",
        LOG_TAIL,
        (-mp.mpf(1) / 3, mp.mpf(1) / 3),
        7,
        "float",
        "log(1 + f) = f - f^2 / 2 + f^3 P(f)",
    ),
    (
        "Log1pMixed",
        ATANH_TAIL,
        (0, mp.mpf(1) / 9),
        3,
        "double",
        "2 atanh(s) = 2 s + s z P(z), z = s^2",
    ),
    (
        "PowDouble",
        POW_TAIL,
        (0, (3 - 2 * SQRT2) ** 2),
        6,
        "double",
        "2 atanh(s) = 2 s + s z (2/3 + z P(z)), z = s^2",
    ),
    (
        "LogDouble",
        ATANH_TAIL,
        (0, (3 - 2 * SQRT2) ** 2),
        6,
        "double",
        "2 atanh(s) = 2 s + s z P(z), z = s^2",
    ),
    ("Log1pFloat", LOG1P_TAIL, (-0.5, 0.5), 8, "float", "log1p(e) = e - e^2 / 4 + e^2 P(e - 1/2)"),
    ("TanhFloat", odd_tail(mp.tanh), (0, 1), 7, "float", "tanh(x) = x + x w P(w), w = x^2"),
    ("TanhDouble", odd_tail(mp.tanh), (0, 0.3025), 9, "double", "tanh(x) = x + x w P(w), w = x^2"),
    ("SinhFloat", odd_tail(mp.sinh), (0, 1), 3, "float", "sinh(x) = x + x w P(w), w = x^2"),
    ("SinhDouble", odd_tail(mp.sinh), (0, 1), 7, "double", "sinh(x) = x + x w P(w), w = x^2"),
    (
        "SinMixed",
        odd_tail(mp.sin),
        (0, QUARTER_PI_SQUARED),
        2,
        "double",
        "sin(r) = r + r w P(w), w = r^2",
    ),
    (
        "CosMixed",
        COS_TAIL,
        (0, QUARTER_PI_SQUARED),
        2,
        "double",
        "cos(r) = 1 - w / 2 + w^2 P(w), w = r^2",
    ),
    (
        "SinFloat",
        odd_tail(mp.sin),
        (0, QUARTER_PI_SQUARED),
        3,
        "float",
        "sin(r) = r + r w P(w), w = r^2",
    ),
    (
        "CosFloat",
        COS_TAIL,
        (0, QUARTER_PI_SQUARED),
        2,
        "float",
        "cos(r) = 1 - w / 2 + w^2 P(w), w = r^2",
    ),
    (
        "SinDouble",
        odd_tail(mp.sin),
        (0, QUARTER_PI_SQUARED),
        5,
        "double",
        "sin(r) = r + r w P(w), w = r^2",
    ),
    (
        "CosDouble",
        COS_TAIL,
        (0, QUARTER_PI_SQUARED),
        5,
        "double",
        "cos(r) = 1 - w / 2 + w^2 P(w), w = r^2",
    ),
    ("AsinDouble", odd_tail(mp.asin), (0, 0.25), 11, "double", "asin(x) = x + x w P(w), w = x^2"),
    (
        "AtanDouble",
        odd_tail(mp.atan),
        (0, (SQRT2 - 1) ** 2),
        10,
        "double",
        "atan(x) = x + x w P(w), w = x^2",
    ),
    ("ErfFloat", ERF_TAIL, (0, 0.85), 6, "float", "erf(x) = x + x P(w), w = x^2"),
    ("LogErfcFloat", LOG_ERFC, (0.92, 4), 8, "float", "erf(x) = 1 - exp(P(x))"),
    ("ErfDouble", ERF_TAIL, (0, 1), 12, "double", "erf(x) = x + x P(w), w = x^2"),
    (
        "GeluExponentFloat",
        (gelu_exponent, lambda s: s * (1 + 4 * mp.exp(-(((s + 1.64) / 0.15) ** 2)))),
        (-mp.mpf(127) / 64, 2.52),
        10,
        "float",
        "2 Phi(-t) = exp(-t (7/16 t + 1405905 / 2^21) - s P(s)), s = t - 127/64",
    ),
    (
        "GeluHalfFloat",
        (
            gelu_half,
            lambda s: abs(2 * s) * (1 + 4 * mp.exp(-(((s + GELU_CENTER - 0.34) / 0.15) ** 2))),
        ),
        (-GELU_CENTER, 4.51 - GELU_CENTER),
        10,
        "float",
        "2 Phi(-t) = exp(2 s P(s) - t (7/16 t + 343/512)), s = t - 0x1.0087c2p1",
    ),
    (
        "GeluFarFloat",
        (gelu_far, lambda _: mp.mpf(1)),
        (mp.mpf(2) / 170, mp.mpf(2) / 20),
        5,
        "float",
        "t Phi(-t) = exp(-t^2 / 2 - 29/32 - P(2 / t^2))",
    ),
    (
        "GeluBendFloat",
        (mapped(gelu_bend, 3)[0], gelu_bend_weight),
        (-1, tail_end(13.2, 3)),
        7,
        "float",
        "gelu'(-t) = exp(-t^2 / 2) (1/2 - t P((t - 3) / (t + 3)))",
    ),
    ("TailMixed", mapped(normal_tail, 4), (-1, tail_end(14.9, 4)), 10, "double", TAIL_MEANING),
    ("TailDouble", mapped(normal_tail, 4), (-1, tail_end(39, 4)), 22, "double", TAIL_MEANING),
]
# Ulps by which the first coefficients are moved for the roundings of the kernel: found by measuring
# its error with the neighbours of each.
MOVED = {"GeluHalfFloat": (-1, 0, 1, 1)}


def moved(name: str, coefficients: list[float]) -> list[float]:
    result = [np.float32(c) for c in coefficients]
    for k, steps in enumerate(MOVED.get(name, ())):
        for _ in range(abs(steps)):
            result[k] = np.nextafter(result[k], np.float32(steps * np.inf))
    return [float(c) for c in result]


# gelu(-t) = -W(t) from a table: an entry for each multiple of GELU_STEP.
GELU_STEP, GELU_ENTRIES, GELU_DEGREE = mp.mpf(3) / 16, 32, 4


def gelu_left(t: mp.mpf) -> mp.mpf:
    return t * mp.erfc(t / SQRT2) / 2


def gelu_left_slope(t: mp.mpf) -> mp.mpf:
    return mp.erfc(t / SQRT2) / 2 - t * mp.npdf(t)


def gelu_node(near: mp.mpf) -> mp.mpf:
    """A float beside ``near`` at which the slope is a float too, or nearly."""
    spacing = 16 * np.spacing(np.float32(near))
    nodes = [mp.mpf(float(np.float32(near) + np.float32(k * spacing))) for k in range(-400, 401)]

    def misses(node: mp.mpf) -> mp.mpf:
        slope = gelu_left_slope(node)
        return abs(round_to(slope, "float") / slope - 1)

    return min(nodes, key=misses)


def gelu_entry(place: int) -> tuple[list[float], mp.mpf]:
    """A column of the table, and its largest relative error."""
    node = gelu_node(place * GELU_STEP) if place else mp.mpf(0)
    low = (place - mp.mpf(1) / 2) * GELU_STEP - node if place else mp.mpf(0)
    high = (place + mp.mpf(1) / 2) * GELU_STEP - node
    value, slope = gelu_left(node), gelu_left_slope(node)
    first = round_to(value, "float")
    entry = [float(node), first, round_to(value - first, "float"), round_to(slope, "float")]
    curve = remez(
        lambda d: (gelu_left(node + d) - value - slope * d) / d**2,
        lambda d: d**2 / gelu_left(node + d),
        low,
        high,
        GELU_DEGREE,
    )
    entry += [round_to(c, "float") for c in curve]
    polynomial = [mp.mpf(entry[1]) + mp.mpf(entry[2]), *map(mp.mpf, entry[3:])]
    relative = lambda d: 1 / gelu_left(node + d)  # noqa: E731
    return entry, worst(lambda d: gelu_left(node + d), relative, low, high, polynomial)


def print_gelu_table() -> None:
    entries, errors = zip(*[gelu_entry(place) for place in range(GELU_ENTRIES)], strict=True)
    used = max(errors[: int(mp.ceil(mp.mpf(4.5) / GELU_STEP))])
    print(
        "\n// t Phi(-t) = c + (c_low + c1 d + d^2 P(d)), d = t - node: nodes near the multiples of "
        "3/16,\n// then c, c_low, c1 and P, 32 entries each. Up to 4.5 "
        f"the error is 2^{mp.nstr(mp.log(used, 2), 4)}."
    )
    print("// clang-format off\nalignas(64) inline constexpr float kGeluTable[] = {")
    for row in zip(*entries, strict=True):
        texts = [re.sub(r"\.?0*p", "p", c.hex()) + "f" for c in row]
        for k in range(0, len(texts), 5):
            print("    " + ", ".join(texts[k : k + 5]) + ",")
    print("};\n// clang-format on")


def main() -> None:
    only = sys.argv[1:]
    print(
        "// Made by benchmarks/accuracy/coefficients.py; lowest power first. Do not edit by hand."
    )
    print('#pragma once\n\n#include "../simd/native.h"\n\nnamespace extensor::EX_ISA {')
    for name, (target, weight), (low, high), degree, format, meaning in TABLE:
        if only and name not in only:
            continue
        rounded = [round_to(c, format) for c in remez(target, weight, low, high, degree)]
        if format == "float":
            rounded = moved(name, polished(target, weight, low, high, rounded))
        bound = worst(target, weight, low, high, [mp.mpf(c) for c in rounded])
        suffix = "f" if format == "float" else ""
        interval = f"[{mp.nstr(mp.mpf(low), 5)}, {mp.nstr(mp.mpf(high), 5)}]"
        print(f"\n// {meaning} on {interval}, error 2^{mp.nstr(mp.log(bound, 2), 4)}.")
        print(f"inline constexpr {format} k{name}[] = {{")
        print(",\n".join(f"    {c.hex()}{suffix}" for c in rounded) + "};")
    if not only or "GeluTable" in only:
        print_gelu_table()
    print("\n}  // namespace extensor::EX_ISA")


if __name__ == "__main__":
    main()
