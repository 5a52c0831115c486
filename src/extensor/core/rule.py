"""The backward half of a pair.

What the tape keeps for it, the names of its parameters say: see :mod:`extensor.core.roles`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from extensor import _native
from extensor.arrays.dtypes import is_floating, is_half
from extensor.arrays.shapes import target
from extensor.core import door, modes, tape, tracing
from extensor.core.binding import Parameters, PublicFunction, dressed
from extensor.core.conversion import as_tensor, check_real, shape_of, unwrapped
from extensor.core.formula_derivative import FormulaDerivative, Needs, tensors_in
from extensor.core.kinds import Array, Indices
from extensor.core.roles import TENSOR_ROLES, kept_by, role_of
from extensor.core.tensor import Tensor, wrap
from extensor.errors import shown, type_error, value_error
from extensor.errors.array_likes import is_nested

if TYPE_CHECKING:
    from extensor.core.op import Op


class Rule:
    """A public ``*_backward``: by hand a function of tensors, for the tape the replay of a node."""

    def __init__(
        self, op: Op, written: Callable[..., Any], kernel: str | None, unfolds: bool = False
    ) -> None:
        self.op = op
        self.unfolds = unfolds
        self.name = written.__name__
        if self.name != f"{op.name}_backward":
            raise TypeError(f"{self.name}: the rule of {op.name} must be called {op.name}_backward")
        self.written = written
        self.kernel_name = kernel
        self.kernel = door.kernel(kernel)
        self.compute = door.computation(self.name, kernel, check=self._check_arrays)
        self.parameters = Parameters(self.name, written)
        first, *self.names = self.parameters.names
        if first not in ("grad_output", "grad_outputs"):
            raise TypeError(f"{self.name}: the first parameter must be grad_output")
        self.several = first == "grad_outputs"
        self.roles = [role_of(self.name, op, name) for name in self.names]
        self.differentiable = [i for i, kind in enumerate(op.kinds) if kind is not Indices]
        self.kept = (self.several, tuple(self.differentiable), *kept_by(op, self.roles))
        self.output_at = self._position_of("output")
        self.eps_at = self._position_of("eps")
        self.tensors_at = [0, *(i for i, (r, _) in enumerate(self.roles, 1) if r in TENSOR_ROLES)]
        self.keeps_tensors = len(self.tensors_at) > 1  # else a node can be replayed again and again
        self.kept_at = [i for i, (role, _) in enumerate(self.roles, 1) if role == "kept"]
        self.fields = [f"grad_{op.inputs[i]}" for i in self.differentiable]
        self.single = len(self.fields) == 1 and not op.variadic
        self.replay: Callable[..., Any] | None = None
        if self.kernel is not None and not op.variadic:
            eps_at = -1 if self.eps_at is None else self.eps_at
            self.replay = _native.Replayer(
                self.name, self.kernel, eps_at, self.single, self.several
            )
        function = PublicFunction(
            self.parameters, self.parameters.bound, self.call, self.documentation
        )
        self.function = dressed(function, written)
        self.function.__wrapped__ = written  # where inspect finds the signature
        self.function.op = op

    def documentation(self) -> str:
        """The docstring of the public function, made when somebody asks for it."""
        from extensor.core import documentation

        return documentation.of_rule(self)

    @cached_property
    def result(self) -> Any:
        """The named tuple that a call by hand gives where there are several inputs."""
        return namedtuple(f"{self.op.name}_gradients", self.fields)

    def _position_of(self, role: str) -> int | None:
        return next((i for i, (other, _) in enumerate(self.roles) if other == role), None)

    def gradients(
        self, grad_output: Any, saved: tuple[Any, ...], needs: tuple[bool, ...], node: tape.Node
    ) -> Sequence[Tensor | None]:
        """Called by the tape: the gradients of a node's inputs, None where nobody needs one."""
        # The short way, without a Python frame. It declines while the pass itself is recorded.
        if self.replay is not None:
            results: Sequence[Tensor | None] = self.replay(grad_output, saved, needs)
            if results is not NotImplemented:
                return results
        arguments = [grad_output, *saved]
        # eps comes last: it is not saved, and its place counts all that stand before it.
        if self.several:
            arguments[0] = _fill_with_zeros(grad_output, arguments.pop())
        if self.output_at is not None:
            arguments[self.output_at + 1] = _restore_output(arguments[self.output_at + 1], node)
        if self.eps_at is not None:
            arguments.insert(self.eps_at + 1, modes.mode.epsilon)
        return self._results(arguments, needs, checked=True)

    def call(self, arguments: Sequence[Any]) -> Any:
        """Called by hand: a Tensor, or a named tuple where the op has several inputs."""
        trace = tracing.current()
        if trace is not None:
            given = zip(arguments[1:], self.roles, strict=True)
            others = [trace.lifted(x) if role in TENSOR_ROLES else x for x, (role, _) in given]
            arguments = [trace.lifted(arguments[0]), *others]
        is_plain = [role not in TENSOR_ROLES for role, _ in self.roles]
        check_real(self.name, compress(self.names, is_plain), compress(arguments[1:], is_plain))
        arguments = [self._as_gradient(arguments[0]), *arguments[1:]]
        for position, ((role, index), name) in enumerate(
            zip(self.roles, self.names, strict=True), start=1
        ):
            value = arguments[position]
            if role in TENSOR_ROLES:
                kind = self.op.kinds[index] if role == "tensor" else Array
                arguments[position] = as_tensor(self.name, name, value, kind)
            elif role == "shape" and value is not None:
                arguments[position] = target(self.name, tuple(value), name)
        if any(arguments[position] is None for position in self.kept_at):
            arguments = self._with_kept(arguments)
        needs = None if self.op.variadic else (True,) * len(self.fields)
        results = self._results(arguments, needs)
        if self.op.variadic:
            return tuple(results)
        return results[0] if self.single else self.result(*results)

    def _with_kept(self, arguments: Sequence[Any]) -> list[Any]:
        """Compute with the forward what the tape would have kept, so that both ways give the same bits."""
        self._check(arguments)
        given = dict(zip(self.names, arguments[1:], strict=True))
        inputs = [unwrapped(given[name]) for name in self.op.inputs]
        outputs = self.op.compute(*inputs, *[given[name] for name in self.op.attributes])
        completed = list(arguments)
        for position in self.kept_at:
            completed[position] = wrap(outputs[self.roles[position - 1][1]])
        return completed

    def _as_gradient(self, value: Any) -> Any:
        if self.several:
            if not is_nested(value) or not value:
                requirement = "grad_outputs must be a sequence of at least one tensor"
                raise type_error(self.name, requirement, grad_outputs=shown(value))
            return [self._floating("grad_outputs", x) for x in value]
        return self._floating("grad_output", value)

    def _floating(self, name: str, value: Any) -> Tensor:
        gradient: Tensor = as_tensor(self.name, name, value, Array)
        if not is_floating(gradient.dtype):
            raise type_error(
                self.name, f"{name} must be floating", **{f"{name}_dtype": str(gradient.dtype)}
            )
        return gradient

    def _results(
        self, arguments: list[Any], needs: Needs, checked: bool = False
    ) -> Sequence[Tensor | None]:
        """The gradients that ``needs`` asks for; None asks for all, however many there are."""
        unfolded = self.unfolds and modes.mode.recording and tape.is_recorded(tensors_in(arguments))
        if (self.kernel is not None or door.libraries) and not unfolded:
            arrays = arguments.copy()
            try:
                for position in self.tensors_at:
                    arrays[position] = arguments[position]._array
            except AttributeError:  # an optional input that is None, or a list of tensors
                arrays = [unwrapped(x) for x in arguments]
            result = self.compute(*arrays, *(() if self.single else (needs,)))
            if result is not NotImplemented:
                return self._wrap_results(result, arguments, needs)
        # The door's ladder has no formula for rules: theirs is made of ops, which pass it themselves.
        return self.by_formula(arguments, needs, checked)

    def _check_arrays(self, *arrays: Any) -> None:
        self._check(arrays[: len(self.roles) + 1])  # without ``needs``

    def _wrap_results(
        self, result: Any, arguments: list[Any], needs: Needs
    ) -> Sequence[Tensor | None]:
        outputs: list[Tensor | None] = (
            [wrap(result)] if self.single else [x if x is None else wrap(x) for x in result]
        )
        if modes.mode.recording:
            self._record_formula(arguments, outputs, needs)
        return outputs

    def _record_formula(
        self, arguments: list[Any], outputs: Sequence[Tensor | None], needs: Needs
    ) -> None:
        """The kernel gave the values; differentiated again, the formula gives the rule."""
        tensors = tensors_in(arguments)
        if tape.is_recorded(tensors):
            parents = tuple(tape.parent_of(x) for x in tensors)
            asked = needs or [True] * len(outputs)  # a kernel may give more, the formula does not
            made = [x for x, a in zip(outputs, asked, strict=True) if a and x is not None]
            tape.attach(tape.Node(FormulaDerivative(self, needs), tuple(arguments), parents), made)

    def by_formula(
        self, arguments: list[Any], needs: Needs, checked: bool = False
    ) -> list[Tensor | None]:
        """The gradients by the rule as it is written, each in its input's dtype.

        What the tape hands in fits, and counts as ``checked``.
        """
        if not checked:
            self._check(arguments)
        # A further output has no derivative: recorded, the rule must compute it from the inputs.
        if self.kept_at and tape.is_recorded(tensors_in(arguments)):
            arguments = [None if i in self.kept_at else x for i, x in enumerate(arguments)]
        half = any(isinstance(x, Tensor) and is_half(x.dtype) for x in arguments)
        result = self.written(*([door.widened(x) for x in arguments] if half else arguments))
        parts = (result,) if self.single else result
        asked = (True,) * len(parts) if needs is None else needs
        dtypes = self._dtypes(arguments, len(parts))
        return [
            _evaluate(part, dtype) if needed else None
            for part, needed, dtype in zip(parts, asked, dtypes, strict=True)
        ]

    def _dtypes(self, arguments: list[Any], count: int) -> list[Any]:
        """The dtype of each gradient: its input's where known, else that of ``grad_output``."""
        incoming = arguments[0][0].dtype if self.several else arguments[0].dtype
        known = {}
        for (role, index), value in zip(self.roles, arguments[1:], strict=True):
            if role == "output" and is_floating(value.dtype):
                incoming = value.dtype
            if role == "tensor" and self.op.variadic:
                return [x.dtype for x in value]
            if role == "tensor" and value is not None and is_floating(value.dtype):
                known[index] = value.dtype
            elif role == "dtype":
                known[index] = value
        if self.op.variadic:
            return [incoming] * count
        return [known.get(index, incoming) for index in self.differentiable]

    def _check(self, arguments: Sequence[Any]) -> None:
        """``grad_output`` must have the shape that the forward would have given."""
        expected = self._expected_shape(arguments)
        if expected is None:
            return
        if self.several:
            shapes: Any = [x.shape for x in arguments[0]]
            if shapes != [tuple(x) for x in expected]:
                raise value_error(
                    self.name,
                    f"grad_outputs must have shapes {expected}",
                    grad_output_shapes=shapes,
                )
        elif arguments[0].shape != tuple(expected):
            raise value_error(
                self.name,
                f"grad_output must have shape {tuple(expected)}",
                grad_output_shape=arguments[0].shape,
            )

    def _expected_shape(self, arguments: Sequence[Any]) -> Any:
        op = self.op
        shapes: dict[str, Any] = dict.fromkeys(op.inputs)
        missing = set(op.inputs) - op.optional
        attributes: dict[str, Any] = {}
        given: tuple[str, Any] | None = None
        for (role, index), name, value in zip(self.roles, self.names, arguments[1:], strict=True):
            if role in ("output", "indices"):
                given = given or (name, value.shape)
            elif role == "attribute":
                attributes[name] = value
            elif role in ("tensor", "shape", "shapes"):
                shapes[op.inputs[index]] = _shape_given(role, value)
                missing.discard(op.inputs[index])
        if op.shape is None or missing or any(n not in attributes for n in op.shape_attributes):
            return None if given is None else given[1]
        expected = op.shape(self.name, shapes, *(attributes.get(n) for n in op.attributes))
        if given is not None and not self.several and given[1] != tuple(expected):
            name, shape = given
            requirement = f"{name} must have shape {tuple(expected)}"
            raise value_error(self.name, requirement, **{f"{name}_shape": shape})
        return expected


def _evaluate(part: Any, dtype: Any) -> Tensor | None:
    """One gradient of a formula, which may give it as a function so that only who needs it pays."""
    value = part() if callable(part) else part
    if value is not None and value.dtype != dtype:
        value = value.astype(dtype)
    gradient: Tensor | None = value
    return gradient


def _shape_given(role: str, value: Any) -> Any:
    if role == "tensor":
        return shape_of(value)
    return [tuple(x) for x in value] if role == "shapes" else value


def _restore_output(array: Any, node: tape.Node) -> Tensor:
    """The output of ``node`` as a tensor again, on the tape if the rule is being recorded."""
    output = wrap(array)
    # Saved as an array, since a tensor would point back at its node and neither would be freed.
    if modes.mode.recording:
        output._requires_grad = True
        output._node = node
    return output


def _fill_with_zeros(
    gradients: Any, described: Sequence[tuple[tuple[int, ...], Any]]
) -> list[Tensor]:
    """The gradients of several outputs, zeros for those that nothing used."""
    given = gradients if isinstance(gradients, list) else [gradients]
    return [
        wrap(np.zeros(shape, dtype)) if gradient is None else gradient
        for gradient, (shape, dtype) in zip(given, described, strict=True)
    ]
