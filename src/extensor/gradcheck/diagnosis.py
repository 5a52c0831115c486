"""The kind of mistake behind a wrong gradient, inferred from the two Jacobians."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, is_broadcastable_to


class Mistake(StrEnum):
    """The kinds of mistake that :func:`extensor.check_gradient` can name.

    Each is a string, such as "sign flipped".

    Examples
    --------
    >>> import extensor as ex
    >>> ex.Mistake.SIGN == "sign flipped"
    True
    """

    SIGN = "sign flipped"
    FACTOR = "constant factor"
    TRANSPOSED = "transposed"
    WRONG_AXIS = "wrong axis"
    MISSING_SUM = "missing sum over a broadcast axis"
    SWAPPED = "swapped inputs"
    ZERO = "zero gradient"
    DETACHED = "detached"
    IGNORED = "grad_output not used"
    PARTIAL = "wrong in a part"
    KINK = "kink"
    EPSILON = "epsilon in a denominator"
    OFFSET = "constant added"
    CONFUSED = "input and output confused"
    TERM = "missing term"
    STALE = "stale values"
    NAN = "not finite"
    SHAPE = "wrong shape"
    DTYPE = "wrong dtype"
    INPUT_CHANGED = "input changed"
    NOT_DETERMINISTIC = "not deterministic"
    SECOND_ORDER = "wrong only in second order"
    OTHER = "wrong values"


Finding = tuple[Mistake, str]


@dataclass
class Evidence:
    """The Jacobian of all outputs by one input, as the rules and as finite differences have it.

    OutputCombinations are output elements and columns input elements if ``full``; otherwise rows are random
    combinations of outputs or columns a sample of the elements, and only what does not need their
    places is tried.
    """

    analytic: Any
    numeric: Any
    tolerance: Any
    x: Any
    shape: Shape
    outputs: Any = None
    output_shapes: Sequence[Shape] = ()
    full: bool = False
    others: dict[str, Any] = field(default_factory=dict)

    def close(self, analytic: Any, numeric: Any) -> bool:
        return bool(np.all(np.abs(analytic - numeric) <= 10 * self.tolerance))

    def part(self, columns: Any) -> Evidence:
        """The same for some of the input's elements."""
        return Evidence(
            self.analytic[:, columns],
            self.numeric[:, columns],
            self.tolerance[:, columns],
            self.x[columns],
            (int(np.sum(columns)),),
        )


def diagnose(evidence: Evidence) -> Finding:
    """The first kind of mistake that explains the whole difference."""
    for test in (
        _zero, _sign, _swapped_gradients, _ignored_input, _missing_sum, _factor, _axes, _partial,
        _epsilon, _offset, _confused_inputs, _term, _sides,
    ):  # fmt: skip
        found = test(evidence)
        if found is not None:
            return found
    return Mistake.OTHER, "no known pattern explains the difference"


def diagnose_shape(expected: Shape, got: Shape) -> Finding:
    """The likely mistake behind a gradient of the wrong shape."""
    if got == expected[::-1]:
        return Mistake.TRANSPOSED, "the gradient has the shape of the input's transpose"
    if is_broadcastable_to(expected, got):
        return (
            Mistake.MISSING_SUM,
            f"the input was broadcast from {expected} to {got}, and its gradient must be summed "
            "back; use reduce_to_shape",
        )
    if [n for n in got if n != 1] == [n for n in expected if n != 1]:
        return Mistake.SHAPE, "axes of size 1 were added or lost; look at keepdims"
    return Mistake.SHAPE, "the gradient must have its input's shape"


def _zero(e: Evidence) -> Finding | None:
    text = "the gradient is zero everywhere, but the function does depend on this input"
    return None if np.any(e.analytic) else (Mistake.ZERO, text)


def _sign(e: Evidence) -> Finding | None:
    wrong = e.close(-e.analytic, e.numeric)
    return (Mistake.SIGN, "the gradient has the wrong sign") if wrong else None


def _swapped_gradients(e: Evidence) -> Finding | None:
    for name, numeric in e.others.items():
        if numeric.shape == e.analytic.shape and e.close(e.analytic, numeric):
            return Mistake.SWAPPED, f"this is the gradient of {name}; two results are swapped"
    return None


def _ignored_input(e: Evidence) -> Finding | None:
    def alike(rows: Any) -> bool:
        return e.close(rows, np.broadcast_to(rows[:1], rows.shape))

    text = "the gradient is the same whatever comes in; it must be multiplied by grad_output"
    ignored = len(e.analytic) > 1 and alike(e.analytic) and not alike(e.numeric)
    return (Mistake.IGNORED, text) if ignored else None


def _missing_sum(e: Evidence) -> Finding | None:
    if not e.full or len(e.output_shapes) != 1:
        return None
    shape = e.output_shapes[0]
    analytic = e.analytic.reshape(*shape, -1)
    numeric = e.numeric.reshape(*shape, -1)
    for axis, size in enumerate(shape):
        for kept in (0, size - 1):
            others = (*(slice(None),) * axis, np.arange(size) != kept)
            one_slice = numeric.copy()
            one_slice[others] = 0
            differs = np.any(numeric[others]) and not np.any(analytic[others])
            if differs and e.close(one_slice.reshape(e.numeric.shape), e.analytic):
                where = f"the gradient is slice {kept} along axis {axis} of grad_output"
                return Mistake.MISSING_SUM, f"{where}, where the sum over that axis belongs"
    return None


def _factor(e: Evidence) -> Finding | None:
    square = float(np.sum(e.numeric**2))
    if square == 0:
        return None
    factor = float(np.sum(e.analytic * e.numeric)) / square
    if factor == 0 or not e.close(e.analytic / factor, e.numeric):
        return None
    text = _named_factor(factor, e)
    # One number is always some multiple of another: that says something only if the multiple does.
    if np.count_nonzero(e.numeric) == 1 and "/" not in text and not text.split()[0].isdigit():
        return None
    return Mistake.FACTOR, f"the gradient is {text} times what it should be"


def _named_factor(factor: float, e: Evidence) -> str:
    near = Fraction(factor).limit_denominator(10_000)
    if abs(float(near) - factor) > 1e-5 * abs(factor):
        return f"{factor:.6g}"
    size = max(abs(near.numerator), near.denominator)
    names = []
    if 1 in (abs(near.numerator), near.denominator) and size > 1:
        if size == len(e.x):
            names.append("the number of elements")
        for kind, shapes in (("input", [e.shape]), ("output", list(e.output_shapes))):
            names += [
                f"the size of the {kind}'s axis {axis}"
                for shape in shapes
                for axis, length in enumerate(shape)
                if length == size and len(shape) > 1
            ]
    return f"{near} ({size} is {' or '.join(names)})" if names else str(near)


def _axes(e: Evidence) -> Finding | None:
    """Two axes exchanged turn the difference of the Jacobians into its opposite."""
    if not e.full or len(e.output_shapes) != 1:
        return None
    output = e.output_shapes[0]
    shape = (*output, *e.shape)
    difference = (e.analytic - e.numeric).reshape(shape)
    numeric = e.numeric.reshape(shape)
    slack = 10 * e.tolerance.reshape(shape)
    for first, second in combinations(range(len(shape)), 2):
        if shape[first] != shape[second] or shape[first] < 2:
            continue
        if np.all(np.abs(np.swapaxes(difference, first, second) + difference) <= slack):
            whole = np.all(
                np.abs(difference + numeric - np.swapaxes(numeric, first, second)) <= slack
            )
            axes = [f"axis {axis} of grad_output" for axis in range(len(output))]
            axes += [f"axis {axis} of the input" for axis in range(len(e.shape))]
            names = f"{axes[first]} and {axes[second]}"
            if not whole:
                return Mistake.WRONG_AXIS, f"one term has {names} exchanged; look at keepdims"
            exchanged = f"{names} are exchanged"
            if len(output) != len(e.shape):
                return Mistake.WRONG_AXIS, f"{exchanged}: summed or spread over the wrong one"
            return Mistake.TRANSPOSED, f"{exchanged}: a transposition is missing or too many"
    return _transposed_by_reshape(e)


def _transposed_by_reshape(e: Evidence) -> Finding | None:
    if len(e.shape) < 2:
        return None
    numeric = e.numeric.reshape(-1, *e.shape)
    for first, second in combinations(range(1, numeric.ndim), 2):
        if e.close(e.analytic, np.swapaxes(numeric, first, second).reshape(e.analytic.shape)):
            axes = f"axes {first - 1} and {second - 1}"
            return Mistake.TRANSPOSED, f"{axes} of the input are exchanged"
    return None


def _partial(e: Evidence) -> Finding | None:
    wrong = np.any(np.abs(e.analytic - e.numeric) > e.tolerance, axis=0)
    count = int(np.sum(wrong))
    if count == len(wrong) or len(wrong) < 2:
        return None
    where = f"{count} of {len(wrong)} elements ({count / len(wrong):.0%})"
    regions = list(_regions(e.x))
    exact = [f"exactly where {name}: " for name, mask in regions if np.array_equal(mask, wrong)]
    around = [
        f"only where {name}: " for name, mask in regions if np.all(mask[wrong]) and not np.all(mask)
    ]
    where = next(iter(exact + around), "") + where
    kind, text = diagnose(e.part(wrong)) if count > 1 else (Mistake.OTHER, "")
    also = f"; there: {kind}, {text}" if kind is not Mistake.OTHER else ""
    return Mistake.PARTIAL, f"the gradient is wrong {where}{also}"


def _regions(x: Any) -> Iterator[tuple[str, Any]]:
    yield "x < 0", x < 0
    yield "x > 0", x > 0
    yield "x == 0", x == 0
    yield "x <= 0", x <= 0
    yield "x >= 0", x >= 0
    yield "|x| > 1", np.abs(x) > 1
    yield "|x| < 1", np.abs(x) < 1
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    yield "x occurs more than once (ties)", counts[inverse] > 1
    yield "x is the largest or smallest", (x == values[-1]) | (x == values[0])


def _diagonals(e: Evidence) -> tuple[Any, Any, Any] | None:
    """Both derivatives and the outputs, where the function works element by element."""
    if not e.full or e.outputs is None or e.numeric.shape[0] != e.numeric.shape[1]:
        return None
    off = ~np.eye(len(e.x), dtype=bool)
    if np.any(np.abs(e.numeric[off]) > e.tolerance[off]) or np.any(e.analytic[off]):
        return None
    return np.diag(e.analytic), np.diag(e.numeric), e.outputs


def _constant(values: Any, slack: float = 0.02) -> float | None:
    """The value that all of ``values`` have, nearly."""
    if len(values) < 2 or not np.all(np.isfinite(values)):
        return None
    middle = float(np.median(values))
    alike = np.all(np.abs(values - middle) <= slack * abs(middle))
    return middle if middle != 0 and alike else None


def _epsilon(e: Evidence) -> Finding | None:
    diagonals = _diagonals(e)
    if diagonals is None:
        return None
    analytic, numeric, _ = diagonals
    with np.errstate(all="ignore"):
        ratio = numeric / analytic
        candidates = [1 / analytic - 1 / numeric] + [
            (np.abs(ratio) ** (1 / power) - 1) * e.x for power in (2.0, 1.0, 3.0, 0.5)
        ]
    for values in candidates:
        added = _constant(values)
        if added is not None and np.all(np.abs(ratio - 1) < 0.5):
            return Mistake.EPSILON, f"about {added:.3g} seems to be added to a denominator"
    return None


def _offset(e: Evidence) -> Finding | None:
    diagonals = _diagonals(e)
    difference = e.analytic - e.numeric if diagonals is None else diagonals[0] - diagonals[1]
    added = _constant(difference.ravel(), 1e-3)
    if added is None:
        return None
    return Mistake.OFFSET, f"the gradient is too large by {added:.6g} everywhere"


def _confused_inputs(e: Evidence) -> Finding | None:
    diagonals = _diagonals(e)
    if diagonals is None or len(e.x) < 4:
        return None
    analytic, numeric, outputs = diagonals
    for right, used, text in (
        (outputs, e.x, "the rule uses the input where the output belongs"),
        (e.x, outputs, "the rule uses the output where the input belongs"),
    ):
        for powers in ((0, 1, 2), (-1,)):
            with np.errstate(all="ignore"):
                terms, mistaken = (np.stack([x**p for p in powers], axis=1) for x in (right, used))
            if not (np.all(np.isfinite(terms)) and np.all(np.isfinite(mistaken))):
                continue
            weights = np.linalg.lstsq(terms, numeric, rcond=None)[0]
            if np.allclose(terms @ weights, numeric, 1e-5, 1e-7) and np.allclose(
                mistaken @ weights, analytic, 1e-4, 1e-6
            ):
                return Mistake.CONFUSED, text
    return None


def _term(e: Evidence) -> Finding | None:
    diagonals = _diagonals(e)
    if diagonals is None:
        return None
    analytic, numeric, outputs = diagonals
    missing = numeric - analytic
    terms = {
        "the input": e.x,
        "the output": outputs,
        "the gradient times the input": analytic * e.x,
        "the gradient times the output": analytic * outputs,
        "the square of the input": e.x**2,
        "the square of the output": outputs**2,
        "the square of the gradient": analytic**2,
    }
    for name, term in terms.items():
        with np.errstate(all="ignore"):
            factor = _constant(missing / term, 1e-3)
        if factor is not None:
            return Mistake.TERM, f"what is missing is {factor:.4g} times {name}"
    return None


def _sides(e: Evidence) -> Finding | None:
    """Each side of 0 wrong in its own simple way."""
    texts = []
    for name, mask in (("x < 0", e.x < 0), ("x > 0", e.x > 0)):
        if not np.any(mask):
            return None
        part = e.part(mask)
        found = _zero(part) or _sign(part) or _factor(part)
        if found is None:
            return None
        texts.append(f"where {name} {found[1]}")
    return Mistake.PARTIAL, "; ".join(texts)
