"""Measures error and speed of the vector functions, and fails if a bound of BOUNDS is exceeded.

    python accuracy.py                       one float in 7; half an hour on two cores
    python accuracy.py --all                 all 2^32 floats for every function; hours
    python accuracy.py --sample 1000         one in 1000; a minute
    python accuracy.py --isa x86-64-v2 --functions exp log
    python accuracy.py --vector-bytes 64     64-byte vectors on a machine without them

float32 is compared with the C library in double, whose own error is below a millionth of a float
ulp, at every float that is looked at; float64 with mpmath at 80 digits. Needs g++, mpmath and, for
speed, gmpy2.
"""

import argparse
import math
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import mpmath as mp

HERE = Path(__file__).resolve().parent
NATIVE = HERE.parents[1] / "native"
# As native/CMakeLists.txt.
FLAGS = ["-std=c++20", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
FLAGS += ["-fwrapv", "-Wall", "-Wextra", "-Wno-psabi", "-pthread"]

# Largest error in ulp: float32 over all inputs, float64 over the sample, and the sampled range.
BOUNDS = {
    "exp": (1.0, 1.0, 720),
    "exp2": (0.51, 1.0, 1050),
    "expm1": (1.0, 2.0, 720),
    "log": (1.0, 1.0, 1e300),
    "log2": (1.0, 1.5, 1e300),
    "log10": (1.0, 1.5, 1e300),
    "log1p": (1.0, 1.5, 1e300),
    "rsqrt": (1.0, 1.5, 1e300),
    "sin": (1.0, 1.0, 1e300),
    "cos": (1.0, 1.0, 1e300),
    "tan": (0.6, 2.0, 1e300),
    "asin": (0.51, 1.5, 1),
    "acos": (0.51, 1.5, 1),
    "atan": (0.51, 1.5, 1e300),
    "sinh": (1.0, 2.0, 711),
    "cosh": (1.0, 2.0, 711),
    "tanh": (1.0, 1.5, 25),
    "asinh": (0.51, 2.5, 1e300),
    "acosh": (0.51, 2.5, 1e300),
    "atanh": (0.51, 2.5, 1),
    "erf": (1.0, 1.5, 7),
    "erfc": (0.6, 4.0, 28),
    "normal_cdf": (1.0, 4.0, 40),
    "normal_pdf": (0.6, 2.0, 40),
    "sigmoid": (1.0, 2.0, 750),
    "silu": (1.0, 2.5, 750),
    "silu_derivative": (6.0, 4.0, 750),
    "softplus": (1.0, 2.0, 750),
    "selu": (1.0, 4.0, 750),
    "softsign": (1.0, 1.5, 1e300),
    "mish": (0.6, 4.0, 750),
    "mish_derivative": (1.0, 6.0, 750),
    "gelu": (1.0, 4.5, 40),
    "gelu_derivative": (5.0, 6.0, 40),
    "gelu_tanh": (0.6, 3.0, 22),
    "gelu_tanh_derivative": (1.0, 6.0, 22),
    "pow_2_3": (0.6, 1.0, 1e130),
    "pow_minus_3": (0.6, 1.0, 1e100),
    "pow_base": (0.6, 1.0, 1300),
    "atan2_y": (0.51, 2.0, 1e300),
    "atan2_x": (0.51, 2.0, 1e300),
}
# Without an fma instruction the last steps of these round once more.
WITHOUT_FMA = {"tanh": 1.5, "erf": 1.5}
SPECIALS = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e-310, -1e-310,
            sys.float_info.max, -sys.float_info.max, 2.0**-1022, 1e9, -1e9, 1e5, -1e5]  # fmt: skip


def as_float(value: float) -> mp.mpf:
    return mp.mpf(struct.unpack("f", struct.pack("f", value))[0])


def sigmoid(x: mp.mpf) -> mp.mpf:
    return 1 / (1 + mp.exp(-x))


def softplus(x: mp.mpf) -> mp.mpf:
    return mp.log1p(mp.exp(-abs(x))) + max(x, 0)


def cdf(x: mp.mpf) -> mp.mpf:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def pdf(x: mp.mpf) -> mp.mpf:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def cubic(x: mp.mpf) -> mp.mpf:
    return 2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3)


def selu(x: mp.mpf) -> mp.mpf:
    return mp.mpf(1.0507009873554805) * (x if x > 0 else mp.mpf(1.6732632423543772) * mp.expm1(x))


def mish_slope(x: mp.mpf) -> mp.mpf:
    q = mp.tanh(softplus(x))
    return q + x * sigmoid(x) * (1 - q * q)


def gelu_tanh_slope(x: mp.mpf) -> mp.mpf:
    s = sigmoid(cubic(x))
    return s + x * s * (1 - s) * 2 * mp.sqrt(2 / mp.pi) * (1 + 3 * mp.mpf("0.044715") * x * x)


EXACT = {
    "exp2": lambda x: mp.power(2, x),
    "log2": lambda x: mp.log(x, 2),
    "normal_cdf": cdf,
    "normal_pdf": pdf,
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "silu_derivative": lambda x: sigmoid(x) * (1 + x * sigmoid(-x)),
    "softplus": softplus,
    "selu": selu,
    "softsign": lambda x: x / (1 + abs(x)),
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "mish": lambda x: x * mp.tanh(softplus(x)),
    "mish_derivative": mish_slope,
    "gelu": lambda x: x * cdf(x),
    "gelu_derivative": lambda x: cdf(x) + x * pdf(x),
    "gelu_tanh": lambda x: x * sigmoid(cubic(x)),
    "gelu_tanh_derivative": gelu_tanh_slope,
    "pow_2_3": lambda x: mp.power(x, as_float(2.3)),
    "pow_minus_3": lambda x: mp.power(x, -3),
    "pow_base": lambda x: mp.power(as_float(1.7), x),
    "atan2_y": lambda x: mp.atan2(x, as_float(-0.7)),
    "atan2_x": lambda x: mp.atan2(as_float(0.7), x),
}
DOMAIN = {"log": 0, "log2": 0, "log10": 0, "rsqrt": 0, "log1p": -1, "acosh": 1, "pow_2_3": 0}


def exact_function(name: str):
    return EXACT.get(name) or getattr(mp, name)


def inputs(name: str, count: int) -> list[float]:
    """A quarter each: near zero, all magnitudes, the whole range, around multiples of 1 and pi."""
    generator = random.Random(name)
    limit = BOUNDS[name][2]
    values = []
    while len(values) < count:
        kind = generator.randrange(4)
        if kind == 0:
            x = generator.uniform(-min(limit, 4), min(limit, 4))
        elif kind == 1:
            x = math.copysign(
                2.0 ** generator.uniform(-60, math.log2(limit)), generator.uniform(-1, 1)
            )
        elif kind == 2:
            x = generator.uniform(-min(limit, 1000), min(limit, 1000))
        else:
            x = generator.choice([1.0, -1.0, 0.5, math.pi / 4]) * generator.randint(1, 40)
            x *= 1 + generator.uniform(-1, 1) * 2.0 ** -generator.randint(2, 52)
        if abs(x) <= limit and x > DOMAIN.get(name, -math.inf):
            values.append(x)
    return values


def ulp_error(got: float, exact: mp.mpf, floor: float) -> float:
    if math.isnan(got):
        return math.inf
    if math.isinf(got):
        return 0.0 if abs(exact) > mp.mpf(sys.float_info.max) else math.inf
    exponent = max(
        int(mp.floor(mp.log(max(abs(exact), mp.mpf(floor)), 2))) if exact else -1074, -1022
    )
    return float(abs(mp.mpf(got) - exact) * mp.mpf(2) ** (52 - exponent))


def run(binary: Path, *arguments: str, data: bytes = b"") -> bytes:
    return subprocess.run([binary, *arguments], input=data, capture_output=True, check=True).stdout


def evaluate(binary: Path, mode: str, name: str, values: list[float]) -> list[float]:
    packed = run(binary, mode, name, data=struct.pack(f"{len(values)}d", *values))
    return list(struct.unpack(f"{len(values)}d", packed))


def check_double(binary: Path, name: str, count: int) -> tuple[float, float]:
    function, worst = exact_function(name), (0.0, 0.0)
    values = inputs(name, count)
    for x, got in zip(values, evaluate(binary, "double", name, values), strict=True):
        # A derivative has no more correct digits at its zero than the terms that cancel there.
        floor = 0.25 if "derivative" in name and -3 < x < 0 else 2.0**-1074
        error = ulp_error(got, function(mp.mpf(x)), floor)
        if error > worst[0]:
            worst = (error, x)
    return worst


def same_special(got: float, expected: float) -> bool:
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected) and math.isnan(got)
    if math.copysign(1, got) != math.copysign(1, expected):
        return False
    return got == expected or abs(got - expected) <= max(abs(expected) * 1e-11, 1e-320)


def check_specials(binary: Path, name: str) -> list[str]:
    got, expected = (evaluate(binary, mode, name, SPECIALS) for mode in ("double", "reference"))
    return [
        f"{name}({x!r}) = {a!r}, not {b!r}"
        for x, a, b in zip(SPECIALS, got, expected, strict=True)
        if not same_special(a, b)
    ]


def build(directory: Path, isa: str, vector_bytes: int | None) -> Path:
    binary = directory / "accuracy"
    width = [f"-DEX_VECTOR_BYTES={vector_bytes}"] if vector_bytes else []
    source = str(HERE / "accuracy.cpp")
    subprocess.run(
        ["g++", *FLAGS, f"-march={isa}", *width, f"-I{NATIVE}", source, "-o", binary], check=True
    )
    return binary


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--isa", default="x86-64-v3")
    parser.add_argument("--vector-bytes", type=int)
    parser.add_argument("--sample", type=int, default=7, metavar="N", help="one float in N")
    parser.add_argument("--all", action="store_const", const=1, dest="sample", help="every float")
    parser.add_argument("--doubles", type=int, default=20000, help="float64 inputs per function")
    parser.add_argument("--functions", nargs="*", default=list(BOUNDS))
    options = parser.parse_args()
    mp.mp.dps = 80
    failures = []
    with tempfile.TemporaryDirectory() as directory:
        binary = build(Path(directory), options.isa, options.vector_bytes)
        print(
            f"{'function':22} {'float32 ulp':>11}  {'worst input':12} {'ns':>6} "
            f"{'float64 ulp':>13}  {'worst input':24} {'ns':>6}"
        )
        for name in options.functions:
            single, double = run(binary, "time", name).split()
            worst, place, wrong = run(binary, "float", name, str(options.sample)).split()
            error, x = check_double(binary, name, options.doubles)
            at = float.fromhex(place.decode())
            row = f"{name:22} {float(worst):11.3f}  {at:<12.6g} {float(single):6.2f}"
            print(f"{row} {error:13.3f}  {x:<24.17g} {float(double):6.2f}", flush=True)
            bound = BOUNDS[name][0]
            if options.isa in ("x86-64", "x86-64-v2"):
                bound = WITHOUT_FMA.get(name, bound)
            if float(worst) > bound:
                failures.append(
                    f"{name}: float32 error {float(worst)} ulp at {at!r}, {int(wrong)} wrong"
                )
            if error > BOUNDS[name][1]:
                failures.append(f"{name}: float64 error {error} ulp at {x!r}")
            failures += check_specials(binary, name)
            if int(run(binary, "lanes", name)) != 0:
                failures.append(f"{name}: the result depends on the lane or its neighbours")
    print("\n".join(failures) if failures else "all within bounds")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
