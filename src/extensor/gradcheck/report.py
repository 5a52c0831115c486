"""What the checker hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from extensor.gradcheck.diagnosis import Mistake


@dataclass
class GradientReport:
    """What the checker found. ``kind`` is None if every gradient is right.

    ``index`` is the worst element of input number ``input``, with the ``analytic`` gradient of the
    rules and the ``numeric`` one of finite differences. Where only a higher ``order`` is wrong,
    ``detail`` is the kind of mistake there. ``elements`` counts the numbers that were compared.
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
    """A gradient is wrong, or could not be checked; ``report`` holds what is known."""

    def __init__(self, report: GradientReport) -> None:
        super().__init__(report.text)
        self.report = report


class Failure(Exception):
    """Ends a check early, with a report."""

    def __init__(self, kind: Mistake, text: str, **known: Any) -> None:
        super().__init__(text)
        self.report = GradientReport(kind, f"check_gradient: {kind}: {text}", **known)
