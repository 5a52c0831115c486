"""The functions against ONNX's own test data: every case of a node that has a counterpart."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from onnx.backend.test.case.node import collect_testcases
from onnx_nodes import TABLE
from onnx_nodes.graph import assert_conforms, kinds_of
from onnx_nodes.left_out import CASES, KINDS, reason_for

with warnings.catch_warnings(action="ignore"):  # ONNX computes its cases here, and overflows
    ALL = collect_testcases(None)
RUN = [case for case in ALL if reason_for(case) is None]
LEFT_OUT = [case for case in ALL if reason_for(case) is not None]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in RUN])
def test_conforms(case: Any) -> None:
    assert_conforms(case)


def test_every_case_is_run_or_has_a_reason() -> None:
    unknown = {kind for case in ALL for kind in kinds_of(case)} - TABLE.keys() - KINDS.keys()
    assert not unknown
    assert len(RUN) + len(LEFT_OUT) == len(ALL) == 1884
    assert len(RUN) >= 1264


def test_no_reason_is_stale() -> None:
    """What is left out must fail, and what is listed must be what a case is left out for."""
    assert [case.name for case in LEFT_OUT if _conforms(case)] == []
    assert not TABLE.keys() & KINDS.keys()
    assert KINDS.keys() <= {kind for case in ALL for kind in kinds_of(case)}
    given = {case.name.removeprefix("test_"): reason_for(case) for case in LEFT_OUT}
    assert given == {**given, **CASES}


def test_table_has_no_node_that_nothing_runs() -> None:
    assert TABLE.keys() == {kind for case in RUN for kind in kinds_of(case)}


def _conforms(case: Any) -> bool:
    try:
        assert_conforms(case)
    except Exception:  # a missing node or dtype, or a wrong result: any failure will do
        return False
    return True
