"""The graph of a test case of ONNX: what is in it, and its outputs as our functions give them."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto
from onnx.helper import get_attribute_value
from onnx.numpy_helper import to_array

import extensor as ex
from extensor import Tensor

from . import TABLE


def _decoded(value: Any) -> Any:
    """A value in the form that our functions take."""
    if isinstance(value, bytes):
        return value.decode()
    return to_array(value) if isinstance(value, TensorProto) else value


def _array(value: Any) -> Any:
    array = _decoded(value)
    if not isinstance(array, np.ndarray | np.generic):
        raise TypeError(f"not a tensor: {type(value).__name__}")
    return np.asarray(array)


def _attributes(node: NodeProto) -> dict[str, Any]:
    attributes = {item.name: _decoded(get_attribute_value(item)) for item in node.attribute}
    if node.op_type == "Split":  # before opset 18 only the outputs say how many parts there are
        attributes.setdefault("num_outputs", len(node.output))
    return attributes


def kinds_of(case: Any) -> set[str]:
    """The kinds of its nodes."""
    return {node.op_type for node in case.model.graph.node}


def run(case: Any) -> list[Tensor]:
    """The outputs of ``case``, computed node by node."""
    graph, ((inputs, _),) = case.model.graph, case.data_sets
    values = {
        described.name: ex.asarray(_array(value))
        for described, value in zip(graph.input, inputs, strict=True)
    }
    for node in graph.node:
        arguments = [values[name] if name else None for name in node.input]
        results = TABLE[node.op_type](*arguments, **_attributes(node))
        outputs = results if isinstance(results, tuple) else (results,)
        values.update(zip(node.output, outputs, strict=False))
    return [values[described.name] for described in graph.output]


def assert_conforms(case: Any) -> None:
    """Every output has the shape, the dtype and, to the case's tolerance, the values of ONNX's."""
    ((_, expected),) = case.data_sets
    for found, wanted in zip(run(case), map(_array, expected), strict=True):
        assert found.shape == wanted.shape
        assert found.dtype == wanted.dtype
        rtol, actual = case.rtol, found.numpy()
        if wanted.dtype.name == "bfloat16":  # two roundings, as ONNX's own runner allows
            rtol, actual, wanted = 2**-6, actual.astype(np.float32), wanted.astype(np.float32)
        np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=case.atol)
