"""The networks as graphs of ONNX, with the weights of a module of ours."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

from benchmarks.inference.networks import HEADS, POSITIONS, WIDTH

_OPSET, _IR = 17, 8


def serialized(module: Any, x: np.ndarray, output_shape: tuple[int, ...]) -> bytes:
    """The file of a module in evaluation mode, for inputs like ``x``."""
    graph = _Graph()
    output = _add_module(graph, module, "x")
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    made = helper.make_graph(
        graph.nodes,
        "network",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, output_shape)],
        graph.constants,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
    checker.check_model(model)
    text: bytes = model.SerializeToString()
    return text


class _Graph:
    """Nodes and constants as they come to be; every result has a name of its own."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._numbers = count()

    def add(self, op: str, *inputs: Any, **attributes: Any) -> str:
        """A node; inputs that are arrays become constants."""
        names = [x if isinstance(x, str) else self._constant(np.asarray(x)) for x in inputs]
        name = f"{op}{next(self._numbers)}"
        self.nodes.append(helper.make_node(op, names, [name], **attributes))
        return name

    def _constant(self, array: np.ndarray) -> str:
        name = f"constant{next(self._numbers)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name


def _add_module(graph: _Graph, module: Any, x: str) -> str:
    add = _MODULES[type(module).__name__]
    result: str = add(graph, module, x)
    return result


def _sequence(graph: _Graph, module: Any, x: str) -> str:
    for part in module:
        x = _add_module(graph, part, x)
    return x


def _linear(graph: _Graph, module: Any, x: str) -> str:
    product = graph.add("MatMul", x, np.ascontiguousarray(module.weight.detach().numpy().T))
    return graph.add("Add", product, module.bias.detach().numpy())


def _convolution(graph: _Graph, module: Any, x: str) -> str:
    inputs = [x, module.weight.detach().numpy()]
    if module.bias is not None:
        inputs.append(module.bias.detach().numpy())
    padding, stride = (_pair(getattr(module, name)) for name in ("padding", "stride"))
    return graph.add(
        "Conv", *inputs, pads=[*padding, *padding], strides=stride, group=module.groups
    )


def _pair(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)


def _batch_norm(graph: _Graph, module: Any, x: str) -> str:
    names = ("weight", "bias", "running_mean", "running_var")
    values = [getattr(module, name).detach().numpy() for name in names]
    return graph.add("BatchNormalization", x, *values, epsilon=module.eps)


def _layer_norm(graph: _Graph, module: Any, x: str) -> str:
    weights = module.weight.detach().numpy(), module.bias.detach().numpy()
    return graph.add("LayerNormalization", x, *weights, axis=-1, epsilon=module.eps)


def _max_pool(graph: _Graph, module: Any, x: str) -> str:
    size = _pair(module.kernel_size)
    return graph.add("MaxPool", x, kernel_shape=size, strides=size)


def _residual(graph: _Graph, block: Any, x: str) -> str:
    hidden = _batch_norm(graph, block.bn1, _convolution(graph, block.conv1, x))
    hidden = _convolution(graph, block.conv2, graph.add("Relu", hidden))
    hidden = _batch_norm(graph, block.bn2, hidden)
    return graph.add("Relu", graph.add("Add", hidden, _sequence(graph, block.shortcut, x)))


def _attention(graph: _Graph, block: Any, x: str) -> str:
    joint = _linear(graph, block.joint, _layer_norm(graph, block.norm1, x))
    parts = graph.add("Reshape", joint, np.array([POSITIONS, 3, HEADS, WIDTH // HEADS]))
    q, k, v = (
        graph.add("Gather", graph.add("Transpose", parts, perm=[1, 2, 0, 3]), np.array(i), axis=0)
        for i in range(3)
    )
    scores = graph.add("MatMul", q, graph.add("Transpose", k, perm=[0, 2, 1]))
    scores = graph.add("Mul", scores, np.float32((WIDTH // HEADS) ** -0.5))
    hidden = np.triu(np.full((POSITIONS, POSITIONS), -1e30, np.float32), 1)
    weights = graph.add("Softmax", graph.add("Add", scores, hidden), axis=-1)
    mixed = graph.add("Transpose", graph.add("MatMul", weights, v), perm=[1, 0, 2])
    return graph.add("Reshape", mixed, np.array([1, POSITIONS, WIDTH]))


def _gelu(graph: _Graph, x: str) -> str:
    error = graph.add("Erf", graph.add("Mul", x, np.float32(0.5**0.5)))
    half = graph.add("Mul", x, np.float32(0.5))
    return graph.add("Mul", half, graph.add("Add", error, np.float32(1)))


def _transformer(graph: _Graph, block: Any, x: str) -> str:
    x = graph.add("Add", x, _linear(graph, block.output, _attention(graph, block, x)))
    wide = _linear(graph, block.wide, _layer_norm(graph, block.norm2, x))
    return graph.add("Add", x, _linear(graph, block.narrow, _gelu(graph, wide)))


def _block(graph: _Graph, block: Any, x: str) -> str:
    return (_residual if hasattr(block, "conv1") else _transformer)(graph, block, x)


def _language_model(graph: _Graph, module: Any, x: str) -> str:
    tokens = graph.add("Gather", module.tokens.weight.detach().numpy(), x, axis=0)
    x = graph.add("Add", tokens, module.positions.weight.detach().numpy())
    x = _sequence(graph, module.blocks, x)
    return _linear(graph, module.head, _layer_norm(graph, module.norm, x))


_MODULES = {
    "Sequential": _sequence,
    "Linear": _linear,
    "Conv2d": _convolution,
    "BatchNorm2d": _batch_norm,
    "MaxPool2d": _max_pool,
    "ReLU": lambda graph, _, x: graph.add("Relu", x),
    "AdaptiveAvgPool2d": lambda graph, _, x: graph.add("GlobalAveragePool", x),
    "Flatten": lambda graph, _, x: graph.add("Flatten", x, axis=1),
    "Block": _block,
    "Model": _language_model,
}
