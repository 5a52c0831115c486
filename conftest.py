"""Numbers in the examples of docstrings are compared as numbers.

Their last digits differ between the kernels, the formulas of the reference engine and processors.
"""

from __future__ import annotations

import doctest
import re

import numpy as np
from _pytest import doctest as plugin

NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")
LAST_DIGITS = 2e-6  # relative, as tests/tolerances.py has it for float32


class NumberChecker(plugin._init_checker_class()):  # type: ignore[misc]
    """Compares floating-point numbers by value, and everything between them as text."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        wanted, found = NUMBER.findall(want), NUMBER.findall(got)
        if len(wanted) != len(found) or not np.allclose(
            [float(x) for x in found], [float(x) for x in wanted], rtol=LAST_DIGITS, atol=1e-7
        ):
            return False
        # Arrays are padded to the width of their numbers.
        flags = optionflags | doctest.NORMALIZE_WHITESPACE
        wanted_text, found_text = (
            re.sub(r"\s*0\.\s*", "0.", NUMBER.sub("0.", x)) for x in (want, got)
        )
        return super().check_output(wanted_text, found_text, flags)


# pytest has no public way to choose the checker; this is where it keeps its own.
plugin.CHECKER_CLASS = NumberChecker
