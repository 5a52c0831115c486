"""The case table: every op has its rows in ``tests/cases/<family>.py``; here they come together."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import cases
from cases.case import Case, Error, Singular

_families = [
    importlib.import_module(f"cases.{module.name}")
    for module in pkgutil.iter_modules(cases.__path__)
    if module.name != "case"
]


def _joined(name: str) -> list[Any]:
    return [row for family in _families for row in getattr(family, name, [])]


CASES: list[Case] = _joined("CASES")
SINGULAR: list[Singular] = _joined("SINGULAR")
ERRORS: list[Error] = _joined("ERRORS")
