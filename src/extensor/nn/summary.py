"""A table of a module and all below it: output shapes, parameters, floating-point operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from extensor.arrays.dtypes import is_floating
from extensor.core import door
from extensor.core.creation import asarray, zeros
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.errors import type_error
from extensor.errors.screen import aligned
from extensor.nn.preservation import evaluating, preserve_state

if TYPE_CHECKING:
    from extensor.nn.module import Module


def _convolution(arrays: Sequence[Any], result: Any) -> int:
    return int(2 * result.size * prod(arrays[1].shape[1:]))


def _transposed_convolution(arrays: Sequence[Any], result: Any) -> int:
    return int(2 * arrays[0].size * prod(arrays[1].shape[1:]))


def _attention(arrays: Sequence[Any], result: Any) -> int:
    queries, keys, values = (x.shape for x in arrays[:3])
    return int(2 * prod(queries[:-1]) * keys[-2] * (keys[-1] + values[-1]))


def _recurrence(arrays: Sequence[Any], result: Any) -> int:
    weights = [x for x in arrays if getattr(x, "ndim", 0) == 2][-2:]
    return int(2 * prod(arrays[0].shape[:-1]) * sum(x.size for x in weights))


# The products: a multiplication and an addition each. Everything else is small beside them.
OPERATIONS: dict[str, Callable[[Sequence[Any], Any], int]] = {
    "linear": lambda arrays, result: 2 * result.size * arrays[1].shape[-1],
    "matmul": lambda arrays, result: 2 * result.size * arrays[0].shape[-1],
    "conv1d": _convolution,
    "conv2d": _convolution,
    "conv_transpose1d": _transposed_convolution,
    "conv_transpose2d": _transposed_convolution,
    "scaled_dot_product_attention": _attention,
    "rnn": _recurrence,
    "gru": _recurrence,
    "lstm": _recurrence,
}


@dataclass
class ModuleRow:
    """One module, with what is below it counted in. One that is never called has no operations."""

    path: str
    kind: str
    parameters: int
    output_shape: Any = None
    flops: int | None = None


@dataclass
class Summary:
    """The rows of :meth:`Module.summary`, the whole module first; it prints as a table."""

    rows: list[ModuleRow]
    trainable: int

    @property
    def parameters(self) -> int:
        """How many numbers all parameters hold."""
        return self.rows[0].parameters

    @property
    def flops(self) -> int:
        """Multiplications and additions in the matrix products and convolutions of one call."""
        return self.rows[0].flops or 0

    def cells(self) -> list[tuple[str, str, str, str, str]]:
        """The table as text, its heads first."""
        heads = ("module", "type", "output shape", "parameters", "flops")
        return [heads] + [
            (row.path, row.kind, _text(row.output_shape), f"{row.parameters:,}", _count(row.flops))
            for row in self.rows
        ]

    def __str__(self) -> str:
        lines = aligned(self.cells(), left=3)
        lines.insert(1, "-" * len(lines[0]))
        frozen = self.parameters - self.trainable
        return "\n".join([*lines, lines[1], f"{self.trainable:,} trainable, {frozen:,} frozen"])

    __repr__ = __str__


def summarize(module: Module, example: Any) -> Summary:
    """Run ``module`` on ``example`` and note what each module in it makes."""
    rows: dict[Module, ModuleRow] = {}
    for path, inner in module.named_modules():
        rows[inner] = ModuleRow(path, type(inner).__name__, inner.num_parameters())
    running: list[ModuleRow] = []

    def count(computed: Any) -> None:
        if computed.op in OPERATIONS:
            operations = OPERATIONS[computed.op](computed.inputs, computed.outputs)
            for row in running:
                row.flops = (row.flops or 0) + operations

    def enter(inner: Module, args: Any) -> None:
        row = rows[inner]
        row.flops = row.flops or 0
        running.append(row)

    def leave(inner: Module, args: Any, output: Any) -> None:
        running.pop().output_shape = _shapes(output)

    with preserve_state(module), ExitStack() as hooks, evaluating(module), no_grad():
        for inner in rows:
            hooks.enter_context(inner.register_forward_pre_hook(enter))
            hooks.enter_context(inner.register_forward_hook(leave))
        with door.watch(count):
            module(*_inputs(module, example))
    return Summary(list(rows.values()), module.num_parameters(trainable_only=True))


def _inputs(module: Module, example: Any) -> tuple[Any, ...]:
    if isinstance(example, tuple) and not example:
        requirement = "example must be an input, a tuple of inputs, or the shape of one"
        raise type_error("summary", requirement, example=())
    if isinstance(example, tuple) and all(isinstance(size, int) for size in example):
        dtypes = (x.dtype for x in module.parameters() if is_floating(x.dtype))
        return (zeros(example, next(dtypes, None)),)
    return example if isinstance(example, tuple) else (asarray(example),)


def _shapes(output: Any) -> Any:
    """The shape of a tensor; of several, in the structure they come in."""
    if isinstance(output, Tensor):
        return output.shape
    if isinstance(output, list | tuple):
        return [_shapes(item) for item in output]
    return None


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _text(shapes: Any) -> str:
    if isinstance(shapes, list):
        return ", ".join(_text(item) for item in shapes)
    return "" if shapes is None else str(shapes)
