"""The check itself: compare, find the worst, say what it looks like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from operator import index
from typing import Any

import numpy as np

from extensor.arrays.dtypes import float64, is_floating
from extensor.core.tensor import Tensor, wrap
from extensor.errors import shown, type_error, value_error
from extensor.errors.explanation import checked
from extensor.gradcheck.diagnosis import Finding, Mistake, diagnose
from extensor.gradcheck.gradient_report import CheckFailedError, GradientError, GradientReport
from extensor.gradcheck.jacobians import JacobianComparison, Jacobians, Settings
from extensor.gradcheck.point import Point, refuse_kinks

_KINK_MARGIN = 10  # steps: finite differences reach two, and a factor inside fn may stretch them
_WARM_UP = 2  # steps


@checked
def check_gradient(
    fn: Callable[..., Any],
    inputs: Any,
    *,
    order: int = 1,
    eps: float = 1e-4,
    rtol: float = 1e-6,
    atol: float = 1e-8,
    max_elements: int = 256,
    directions: int = 4,
    kinks: bool = True,
    seed: int = 0,
    raise_on_failure: bool = True,
) -> GradientReport:
    """Compare the gradients of ``fn(*inputs)`` with finite differences in float64.

    The inputs that require grad are checked, or all floating ones where none does. While inputs
    and outputs have at most ``max_elements`` elements the whole Jacobian is compared. Beyond
    that, random combinations of the outputs are compared, by as many elements drawn at random
    and along random directions.

    Parameters
    ----------
    fn : callable
        Takes ``inputs`` as tensors and returns a tensor or a tuple of tensors.
    inputs : tensor_like or sequence of tensor_like
        Where to check.
    order : int, default 1
        The highest derivative to check: 2 also checks the gradient of the gradient, and so on.
    eps : float, default 1e-4
        The step, relative to inputs above 1.
    rtol, atol : float
        The relative and the absolute error that pass.
    max_elements : int, default 256
        The largest number of elements whose Jacobian is compared as a whole.
    directions : int, default 4
        The number of random combinations and directions.
    kinks : bool, default True
        Whether to refuse an input within ten steps of a kink of an op inside ``fn``, as finite
        differences mean nothing there. If False, any value between the slopes on the two sides
        passes.
    seed : int, default 0
        The seed of the random directions.
    raise_on_failure : bool, default True
        Whether a wrong gradient is an error, or only reported.

    Returns
    -------
    GradientReport
        The result. It is true if every gradient is right.

    Raises
    ------
    GradientError
        If a gradient is wrong. The text says which input and element, and what mistake it looks
        like.

    Examples
    --------
    >>> import extensor as ex
    >>> from extensor.gradcheck import check_gradient
    >>> check_gradient(lambda x: (x * x).sum(), [1.0, 2.0], order=2).passed
    True
    """
    if order < 1:
        raise value_error("check_gradient", "order must be 1 or more", order=order)
    limits = {"order": (order, 10), "directions": (directions, 10_000), "seed": (seed, 2**63)}
    for name, (value, most) in {**limits, "max_elements": (max_elements, 2**63)}.items():
        if not 0 <= value <= most:
            requirement = f"{name} must be from 0 to {most}"
            raise value_error("check_gradient", requirement, **{name: value})
    for name, tolerance in {"rtol": rtol, "atol": atol}.items():
        if not 0 <= tolerance < inf:
            raise value_error(
                "check_gradient", f"{name} must be 0 or more and finite", **{name: tolerance}
            )
    if not 0 < eps <= 1:
        raise value_error("check_gradient", "eps must be greater than 0 and at most 1", eps=eps)
    settings = Settings(
        float(eps), float(rtol), float(atol), int(max_elements), int(directions), kinks
    )
    rng = np.random.default_rng(index(seed))
    point = _point(fn, inputs)
    report = _check_point(point, settings, rng)
    for current in range(2, order + 1):
        if report.passed:
            point = point.gradient_function(rng)
            report = _of_order(_check_point(point, settings, rng), current)
    if raise_on_failure and not report.passed:
        raise GradientError(report)
    return report


def _point(fn: Callable[..., Any], inputs: Any) -> Point:
    single = not isinstance(inputs, list | tuple) or not any(hasattr(x, "shape") for x in inputs)
    given = [inputs] if single else inputs
    arguments = [x if isinstance(x, Tensor) else _as_tensor(x) for x in given]
    floating = [
        i for i, x in enumerate(arguments) if isinstance(x, Tensor) and is_floating(x.dtype)
    ]
    checked = [i for i in floating if arguments[i].requires_grad] or floating
    if not checked:
        raise type_error(
            "check_gradient", "inputs must have a floating tensor", inputs=len(arguments)
        )
    arrays = [np.array(arguments[i]._array, float64, order="C") for i in checked]
    return Point(fn, arguments, checked, arrays)


def _as_tensor(x: Any) -> Any:
    """Arrays, lists and floats as tensors; anything else is passed on as it is."""
    if not isinstance(x, np.ndarray | list | tuple | float):
        return x
    try:
        return wrap(np.asarray(x))
    except ValueError:
        requirement = "inputs must be arrays or lists of equal lengths"
        raise type_error("check_gradient", requirement, input=shown(x)) from None


def _check_point(point: Point, settings: Settings, rng: np.random.Generator) -> GradientReport:
    try:
        # Run elsewhere first: a rule that keeps values of an earlier call then gives itself away.
        point.nearby(_WARM_UP * settings.eps).warm_up()
        outputs = point.checked_outputs()
        if settings.kinks:
            refuse_kinks(point, _KINK_MARGIN * settings.eps)
        jacobians = Jacobians(point, outputs, settings, rng)
        comparisons = jacobians.compare(rng)
        _judge(jacobians, comparisons)
    except CheckFailedError as failure:
        return failure.report
    return GradientReport(elements=sum(c.analytic.size for c in comparisons))


def _judge(jacobians: Jacobians, comparisons: Sequence[JacobianComparison]) -> None:
    """Raise for the worst input, with what is known about the mistake."""
    failed = []
    for comparison in comparisons:
        wrong = comparison.wrong(between=not jacobians.settings.kinks)
        if np.any(wrong):
            error = np.where(wrong, np.nan_to_num(comparison.relative_error, nan=np.inf), 0)
            failed.append((float(error.max()), comparison, wrong))
    if not failed:
        return
    _, worst, wrong = max(failed, key=lambda entry: entry[0])
    kind, text = _diagnosis(jacobians, worst, wrong, comparisons)
    shown = wrong.copy()
    if jacobians.each and np.any(wrong[:-1]):
        shown[-1] = False  # a single element says more than the random combination of all
    difference = np.where(shown, np.abs(worst.analytic - worst.numeric), 0)
    row, column = np.unravel_index(np.argmax(difference), difference.shape)
    index = None
    where = "along a random direction"
    if column < len(worst.columns):
        place = np.unravel_index(worst.columns[column], worst.x.shape)
        index = tuple(int(k) for k in place)
        where = f"at index {index}"
    analytic, numeric = float(worst.analytic[row, column]), float(worst.numeric[row, column])
    relative_error = float(worst.relative_error[row, column])
    raise CheckFailedError(
        kind,
        f"{text} (input {worst.position}, {where}: the gradient is {analytic:.9g}, finite "
        f"differences give {numeric:.9g}, relative error {relative_error:.2g})",
        input=worst.position,
        index=index,
        analytic=analytic,
        numeric=numeric,
        relative_error=relative_error,
    )


def _diagnosis(
    jacobians: Jacobians,
    worst: JacobianComparison,
    wrong: Any,
    comparisons: Sequence[JacobianComparison],
) -> Finding:
    if np.all(worst.kinked[wrong]):
        at = tuple(np.argwhere(wrong)[0])
        return Mistake.KINK, (
            f"the gradient is wrong only at kinks, as here with slope {worst.slopes.left[at]:.6g} "
            f"on the left and {worst.slopes.right[at]:.6g} on the right"
        )
    if jacobians.each and not np.any(wrong[:-1]):
        return Mistake.IGNORED, (
            "the gradient is right where grad_output is 1 or 0, and nowhere else; "
            "the rule must be linear in it"
        )
    if not np.any(worst.analytic) and not jacobians.point.is_connected(worst.position):
        return Mistake.DETACHED, "the output is not connected to this input on the tape"
    if _is_stale(jacobians, worst):
        return Mistake.STALE, "the gradient is that of an earlier call; something is kept"
    return diagnose(worst.evidence(comparisons, jacobians))


def _is_stale(jacobians: Jacobians, worst: JacobianComparison) -> bool:
    """Whether the gradient is the right one for the point of the warm-up."""
    point, settings = jacobians.point, jacobians.settings
    earlier = point.nearby(_WARM_UP * settings.eps)
    slopes = jacobians.element_slopes(earlier, point.checked.index(worst.position), worst.columns)
    numeric = np.array([s.value for s in slopes]).T
    kept = worst.analytic[:, : len(worst.columns)]
    return bool(np.any(kept)) and np.allclose(kept, numeric, settings.rtol, settings.atol)


def _of_order(report: GradientReport, order: int) -> GradientReport:
    """The report on a derivative of higher order, the lower ones being right."""
    report.order = order
    if report.kind is not None:
        report.detail = report.kind
        report.kind = Mistake.SECOND_ORDER
        report.text = (
            f"check_gradient: {report.kind}: gradients of order {order - 1} are right, "
            f"those of order {order} are not: {report.text.removeprefix('check_gradient: ')}"
        )
    return report
