"""The gradient checker: rules against finite differences, and what is wrong where they differ."""

from extensor.gradcheck.check import check_gradient
from extensor.gradcheck.diagnosis import Mistake
from extensor.gradcheck.gradient_report import GradientError, GradientReport

__all__ = ["GradientError", "GradientReport", "Mistake", "check_gradient"]


def __dir__() -> list[str]:
    return sorted(__all__)
