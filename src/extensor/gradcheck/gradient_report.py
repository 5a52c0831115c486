"""The result of a gradient check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from extensor.gradcheck.diagnosis import Mistake


@dataclass
class GradientReport:
    """The result of a gradient check. It is true if every gradient is right.

    Parameters
    ----------
    kind : Mistake, optional
        The kind of mistake; None if every gradient is right.
    text : str
        The result in words.
    order : int, default 1
        The order of the derivative that was checked last.
    input : int, optional
        The number of the input with the worst error.
    index : tuple of int, optional
        Its element with the worst error.
    analytic, numeric : float, optional
        The gradient of the rules there, and that of finite differences.
    relative_error : float, default 0.0
        The error of the first, relative to the second.
    detail : Mistake, optional
        The kind of mistake where only a higher order is wrong.
    elements : int, default 0
        How many numbers were compared.

    Examples
    --------
    >>> import extensor as ex
    >>> report = ex.check_gradient(lambda x: x.exp(), [1.0, 2.0])
    >>> report.passed, report.elements
    (True, 6)
    """

    kind: Mistake | None = None
    text: str = "every gradient agrees with finite differences"
    order: int = 1
    input: int | None = None
    index: tuple[int, ...] | None = None
    analytic: float | None = None
    numeric: float | None = None
    relative_error: float = 0.0
    detail: Mistake | None = None
    elements: int = 0

    @property
    def passed(self) -> bool:
        """True if every gradient agrees with finite differences."""
        return self.kind is None

    def __bool__(self) -> bool:
        return self.passed


class GradientError(AssertionError):
    """A gradient is wrong, or could not be checked.

    Parameters
    ----------
    report : GradientReport
        What is known about the mistake.

    Examples
    --------
    >>> import extensor as ex
    >>> class Wrong(ex.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         return 3 * grad_output
    >>> try:
    ...     ex.check_gradient(Wrong.apply, [1.0, 2.0])
    ... except ex.GradientError as error:
    ...     print(error.report.kind)
    constant factor
    """

    def __init__(self, report: GradientReport) -> None:
        super().__init__(report.text)
        self.report = report


class CheckFailedError(Exception):
    """Ends a check early, with a report."""

    def __init__(self, kind: Mistake, text: str, **known: Any) -> None:
        super().__init__(text)
        self.report = GradientReport(kind, f"check_gradient: {kind}: {text}", **known)
