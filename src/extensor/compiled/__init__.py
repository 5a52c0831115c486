"""Whole functions, a step of training say, as programs: of recorded calls, or of XLA."""

from extensor.compiled.compiled_function import Compiled, compile
from extensor.compiled.export import export_stablehlo

__all__ = ["Compiled", "compile", "export_stablehlo"]


def __dir__() -> list[str]:
    return sorted(__all__)
