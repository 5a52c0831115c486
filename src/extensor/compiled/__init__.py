"""Whole functions, a step of training say, as programs of another engine."""

from extensor.compiled.export import export_stablehlo
from extensor.compiled.function import Compiled, compile

__all__ = ["Compiled", "compile", "export_stablehlo"]
