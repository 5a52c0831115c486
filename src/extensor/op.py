"""An op is a pair: ``@op`` defines a forward, ``@<op>.backward`` the rule beside it.

The forward's formula is written against arrays (``xp`` is their namespace), the rule's against tensors,
so that a rule can be differentiated again. Either may name a kernel, which is tried first and declines
(NotImplemented) what it was not written for: mixed dtypes, wrong shapes, plain numbers. Only then are the
inputs converted, promoted and checked, so a call in the common case pays for none of that.

The parameter names of a rule say what the tape keeps:

=====================  ==================================================
``grad_output``        the gradient that comes in (``grad_outputs`` for an op with several outputs)
``x`` (an input)       that tensor
``x_shape``            only its shape (``input_shape`` where there is one input, ``shapes`` for a sequence)
``x_dtype``            only its dtype (``input_dtype`` where there is one input)
``output``             the result
``indices``            the second output, where no input has that name
an attribute           its value
``eps``                what :func:`extensor.gradient_eps` says at backward time
=====================  ==================================================
"""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeAlias, TypeVar

import numpy as np

from extensor import engine, tape
from extensor.dtypes import float32, is_floating, is_half
from extensor.errors import type_error, value_error
from extensor.operands import as_tensor, promoted
from extensor.tensor import Tensor, wrap

Shape: TypeAlias = tuple[int, ...]
ShapeRule = Callable[..., Any]
Needs: TypeAlias = tuple[bool, ...] | None

if TYPE_CHECKING:
    Array: TypeAlias = Any
    Arrays: TypeAlias = Any
    Indices: TypeAlias = Any
else:

    class Array:
        """Annotates a differentiable input of a forward."""

    class Arrays:
        """Annotates an input that is a sequence of differentiable arrays."""

    class Indices:
        """Annotates an input without a gradient: integers or booleans that select."""


OPS: dict[str, Op] = {}
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
Result_co = TypeVar("Result_co", covariant=True)


class Function(Generic[P, Result_co]):
    """How a type checker sees a public op: a function with a ``backward`` decorator."""

    op: Op

    if TYPE_CHECKING:
        __name__: str

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result_co: ...

        def backward(
            self, kernel: str | None = None
        ) -> Callable[[Callable[Q, R]], Callable[Q, R]]: ...


class Op:
    """The forward half of a pair, and the place where the other half is hung."""

    def __init__(
        self,
        formula: Callable[..., Any],
        *,
        kernel: str | None = None,
        shape: ShapeRule | None = None,
        check: Callable[..., None] | None = None,
        floats: bool = False,
        kinks: Callable[..., Any] | None = None,
        widen: bool = True,
        differentiable: bool = True,
        arguments: Callable[..., Sequence[Any]] | None = None,
    ) -> None:
        self.name = formula.__name__
        self.kernel_name = kernel
        self.kernel = engine.kernel(kernel)
        self.formula = engine.formula(formula) if widen else engine.exact_formula(formula)
        self.shape = shape
        self.check = check
        self.kinks = kinks
        self.floats = floats
        self.differentiable = differentiable
        self.doc = inspect.cleandoc(formula.__doc__ or "")
        self.rule: Rule | None = None
        signature = inspect.signature(formula, eval_str=True)
        parameters = list(signature.parameters.values())[1:]
        kinds = [_kind(parameter.annotation) for parameter in parameters]
        self.arity = sum(kind is not None for kind in kinds)
        if None in kinds[: self.arity]:
            raise TypeError(f"{self.name}: array inputs must come before attributes")
        self.kinds = kinds[: self.arity]
        self.variadic = Arrays in self.kinds
        self.inputs = [parameter.name for parameter in parameters[: self.arity]]
        self.attributes = [parameter.name for parameter in parameters[self.arity :]]
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        self.signature = signature.replace(parameters=parameters, return_annotation=Tensor)
        self.shape_attributes = self.attributes[: _named_attributes(shape)]
        self.function = _public(self, formula, self.signature, arguments)
        self.function.backward = self._define_backward

    def __call__(self, arguments: Sequence[Any]) -> Any:
        inputs = arguments[: self.arity]
        attributes = arguments[self.arity :]
        if self.kernel is not None:
            try:
                arrays = [x._array for x in inputs]
            except AttributeError:
                pass
            else:
                result = engine.run(self.kernel, arrays, attributes)
                if result is not NotImplemented:
                    return self._finish(inputs, attributes, result)
        tensors = promoted(self.name, inputs, self.inputs, self.kinds, self.floats)
        return self._finish(tensors, attributes, self._checked_run(tensors, attributes))

    def _checked_run(self, tensors: Sequence[Any], attributes: Sequence[Any]) -> Any:
        arrays = [_unwrapped(x) for x in tensors]
        if self.shape is not None:
            shapes = {name: _shape_of(x) for name, x in zip(self.inputs, arrays, strict=True)}
            self.shape(self.name, shapes, *attributes)
        if self.check is not None:
            self.check(self.name, *arrays, *attributes)
        if self.kernel is not None:
            result = engine.run(self.kernel, arrays, attributes)
            if result is not NotImplemented:
                return result
        return engine.run(self.formula, arrays, attributes)

    def _finish(self, tensors: Sequence[Any], attributes: Sequence[Any], result: Any) -> Any:
        """Wrap the result and record the call."""
        many = isinstance(result, tuple)
        outputs = tuple(wrap(x) for x in result) if many else (wrap(result),)
        if self.rule is not None:
            differentiable = self.rule.differentiable_of(tensors)
            if tape.is_recorded(differentiable) and is_floating(outputs[0].dtype):
                saved = self.rule.saved(tensors, outputs, attributes)
                parents = tuple(tape.parent_of(x) for x in differentiable)
                # Of several outputs only the first carries a gradient, unless the rule takes them all.
                recorded = outputs if self.rule.several else outputs[:1]
                tape.attach(tape.Node(self.rule, saved, parents), recorded)
        return outputs if many else outputs[0]

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        """The arguments of a call in the order of the signature, defaults filled in."""
        if not kwargs and len(args) == len(self.signature.parameters):
            return args
        return _bound(self.name, self.signature, args, kwargs)

    def _define_backward(
        self, kernel: str | None = None
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def define(written: Callable[..., Any]) -> Callable[..., Any]:
            self.rule = Rule(self, written, kernel)
            return self.rule.function

        return define


class Rule:
    """The backward half of a pair."""

    def __init__(self, op: Op, written: Callable[..., Any], kernel: str | None) -> None:
        self.op = op
        self.name = written.__name__
        if self.name != f"{op.name}_backward":
            raise TypeError(f"{self.name}: the rule of {op.name} must be called {op.name}_backward")
        self.written = written
        self.kernel_name = kernel
        self.kernel = engine.kernel(kernel)
        self.doc = inspect.cleandoc(written.__doc__ or "")
        self.signature = inspect.signature(written, eval_str=True)
        names = list(self.signature.parameters)
        self.several = names[0] == "grad_outputs"
        if names[0] not in ("grad_output", "grad_outputs"):
            raise TypeError(f"{self.name}: the first parameter must be grad_output")
        self.names = names[1:]
        self.roles = [self._role(name) for name in self.names]
        self.fields = [
            f"grad_{name}"
            for name, kind in zip(op.inputs, op.kinds, strict=True)
            if kind is not Indices
        ]
        self.single = len(self.fields) == 1 and not op.variadic
        self.result = namedtuple(f"{op.name}_gradients", self.fields)  # type: ignore[misc]
        self.function = _public(self, written, self.signature)

    def _role(self, name: str) -> tuple[str, int]:
        op = self.op
        if name in op.inputs:
            return "tensor", op.inputs.index(name)
        if name in op.attributes:
            return "attribute", op.attributes.index(name)
        if name in ("output", "eps"):
            return name, 0
        if name == "indices":
            return name, 1
        if name == "shapes" and op.variadic:
            return "shapes", 0
        for suffix in ("shape", "dtype"):
            stem = name.removesuffix(f"_{suffix}")
            if stem != name and stem in op.inputs:
                return suffix, op.inputs.index(stem)
            if name == f"input_{suffix}" and len(op.inputs) == 1:
                return suffix, 0
        raise TypeError(f"{self.name}: {name} is no input, attribute or output of {op.name}")

    def differentiable_of(self, tensors: Sequence[Any]) -> Sequence[Any]:
        if self.op.variadic:
            return tensors[0]  # type: ignore[no-any-return]
        return [x for x, kind in zip(tensors, self.op.kinds, strict=True) if kind is not Indices]

    def saved(
        self, tensors: Sequence[Any], outputs: Sequence[Tensor], attributes: Sequence[Any]
    ) -> tuple[Any, ...]:
        """What the rule's parameter names ask the tape to keep, in their order."""
        kept: list[Any] = []
        for role, index in self.roles:
            if role == "tensor":
                kept.append(tensors[index])
            elif role == "shape":
                kept.append(None if tensors[index] is None else tensors[index].shape)
            elif role == "shapes":
                kept.append(tuple(x.shape for x in tensors[index]))
            elif role == "dtype":
                kept.append(tensors[index].dtype)
            elif role == "output":
                kept.append(outputs[0]._array)
            elif role == "indices":
                kept.append(outputs[index].detach())
            elif role == "attribute":
                kept.append(attributes[index])
        if self.several:
            kept.append([(x.shape, x.dtype) for x in outputs])
        return tuple(kept)

    def gradients(
        self, grad_output: Any, saved: tuple[Any, ...], needs: tuple[bool, ...], node: tape.Node
    ) -> Sequence[Tensor | None]:
        """Called by the tape: the gradients of a node's inputs, None where nobody needs one."""
        arguments = list(saved)
        if self.several:
            grad_output = _filled(grad_output, arguments.pop())
        for position, (role, _) in enumerate(self.roles):
            if role == "output":
                arguments[position] = _restored(arguments[position], node)
            elif role == "eps":
                arguments.insert(position, tape.mode.epsilon)
        return self._results([grad_output, *arguments], needs)

    def __call__(self, arguments: Sequence[Any]) -> Any:
        """Called by hand: a Tensor, or a named tuple where the op has several inputs."""
        arguments = [self._as_gradient(arguments[0]), *arguments[1:]]
        for position, ((role, index), name) in enumerate(
            zip(self.roles, self.names, strict=True), start=1
        ):
            if role in ("tensor", "output", "indices") and not isinstance(arguments[position], Tensor):
                kind = self.op.kinds[index] if role == "tensor" else Array
                arguments[position] = as_tensor(self.name, name, arguments[position], kind)
            elif role == "shape" and arguments[position] is not None:
                arguments[position] = tuple(arguments[position])
        needs = None if self.op.variadic else (True,) * len(self.fields)
        results = self._results(arguments, needs)
        if self.op.variadic:
            return tuple(results)
        return results[0] if self.single else self.result(*results)

    def _as_gradient(self, value: Any) -> Any:
        if self.several:
            return [as_tensor(self.name, "grad_outputs", x, Array) for x in value]
        gradient = as_tensor(self.name, "grad_output", value, Array)
        if not is_floating(gradient.dtype):
            raise type_error(
                self.name, "grad_output must be floating", grad_output_dtype=str(gradient.dtype)
            )
        return gradient

    def _results(self, arguments: list[Any], needs: Needs) -> Sequence[Tensor | None]:
        """The gradients that ``needs`` asks for; None asks for all, however many there are."""
        if self.kernel is not None:
            arrays = [_unwrapped(x) for x in arguments]
            asked = () if self.single else (needs,)
            result = engine.run(self.kernel, arrays, asked)
            if result is not NotImplemented:
                arrays_out = (result,) if self.single else result
                outputs = [None if x is None else wrap(x) for x in arrays_out]
                self._record_formula(arguments, outputs, needs)
                return outputs
        return self._by_formula(arguments, needs)

    def _record_formula(
        self, arguments: list[Any], outputs: Sequence[Tensor | None], needs: Needs
    ) -> None:
        """The kernel gave the values; if they are differentiated again, the formula gives the rule."""
        tensors = [x for x in arguments if isinstance(x, Tensor)]
        if tape.is_recorded(tensors):
            parents = tuple(tape.parent_of(x) for x in tensors)
            rule = FormulaDerivative(self, needs)
            made = [x for x in outputs if x is not None]
            tape.attach(tape.Node(rule, tuple(arguments), parents), made)

    def _by_formula(self, arguments: list[Any], needs: Needs) -> list[Tensor | None]:
        self._check(arguments)
        half = any(isinstance(x, Tensor) and is_half(x.dtype) for x in arguments)
        result = self.written(*([_widened(x) for x in arguments] if half else arguments))
        parts = (result,) if self.single else result
        dtypes = self._dtypes(arguments, len(parts))
        needs = (True,) * len(parts) if needs is None else needs
        gradients: list[Tensor | None] = []
        for part, needed, dtype in zip(parts, needs, dtypes, strict=True):
            value = part() if needed and callable(part) and not isinstance(part, Tensor) else part
            if not needed or value is None:
                gradients.append(None)
            else:
                gradients.append(value if value.dtype == dtype else value.astype(dtype))
        return gradients

    def _dtypes(self, arguments: list[Any], count: int) -> list[Any]:
        """The dtype each gradient must have: its input's where known, else that of ``grad_output``."""
        incoming = arguments[0][0].dtype if self.several else arguments[0].dtype
        if self.op.variadic:
            for (role, _), value in zip(self.roles, arguments[1:], strict=True):
                if role == "tensor":
                    return [x.dtype for x in value]
            return [incoming] * count
        known = {}
        for (role, index), value in zip(self.roles, arguments[1:], strict=True):
            if role == "tensor" and value is not None:
                known[index] = value.dtype
            elif role == "dtype":
                known[index] = value
        return [
            known.get(index, incoming)
            for index, kind in enumerate(self.op.kinds)
            if kind is not Indices
        ]

    def _check(self, arguments: list[Any]) -> None:
        """``grad_output`` must have the shape that the forward would have given."""
        expected = self._expected_shape(arguments)
        if expected is None:
            return
        if self.several:
            shapes: Any = [x.shape for x in arguments[0]]
            if shapes != [tuple(x) for x in expected]:
                raise value_error(
                    self.name, f"grad_outputs must have shapes {expected}", grad_output_shapes=shapes
                )
        elif arguments[0].shape != tuple(expected):
            raise value_error(
                self.name,
                f"grad_output must have shape {tuple(expected)}",
                grad_output_shape=arguments[0].shape,
            )

    def _expected_shape(self, arguments: list[Any]) -> Any:
        op = self.op
        shapes: dict[str, Any] = {}
        attributes: dict[str, Any] = {}
        for (role, index), name, value in zip(self.roles, self.names, arguments[1:], strict=True):
            if role in ("output", "indices"):
                return value.shape
            if role == "tensor":
                shapes[op.inputs[index]] = _shape_of(value)
            elif role == "shape":
                shapes[op.inputs[index]] = value
            elif role == "shapes":
                shapes[op.inputs[index]] = [tuple(x) for x in value]
            elif role == "attribute":
                attributes[name] = value
        missing = [n for n in op.inputs if n not in shapes and op.defaults.get(n, 0) is not None]
        if op.shape is None or missing or any(n not in attributes for n in op.shape_attributes):
            return None
        for name in op.inputs:
            shapes.setdefault(name, None)
        ordered = {name: shapes[name] for name in op.inputs}
        return op.shape(self.name, ordered, *(attributes.get(n) for n in op.attributes))

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        if not kwargs and len(args) == len(self.signature.parameters):
            return args
        return _bound(self.name, self.signature, args, kwargs)


class FormulaDerivative:
    """The derivative of a rule whose values came from a kernel: its formula, run again on the tape."""

    def __init__(self, rule: Rule, needs: Needs) -> None:
        self.rule = rule
        self.needs = needs
        self.name = f"{rule.name}_backward"

    def gradients(
        self, grad_output: Any, saved: tuple[Any, ...], needs: tuple[bool, ...], node: tape.Node
    ) -> Sequence[Tensor | None]:
        identity = OPS["identity"].function
        again = tape.is_grad_enabled()
        with tape.recording(True):
            # An alias for each argument, so that one tensor given twice gets two gradients.
            arguments = [identity(x) if isinstance(x, Tensor) else x for x in saved]
            outputs = [x for x in self.rule._by_formula(arguments, self.needs) if x is not None]
        aliases = [x for x in arguments if isinstance(x, Tensor)]
        wanted = [x for x, needed in zip(aliases, needs, strict=True) if needed]
        seeds = grad_output if isinstance(grad_output, list) else [grad_output]
        pairs = [
            (x, seed)
            for x, seed in zip(outputs, seeds, strict=True)
            if seed is not None and x.requires_grad
        ]
        found = iter(
            tape.grad(
                [x for x, _ in pairs],
                wanted,
                [seed for _, seed in pairs],
                create_graph=again,
                allow_unused=True,
            )
            if pairs
            else [None] * len(wanted)
        )
        return [next(found) if needed else None for needed in needs]


def op(**options: Any) -> Callable[[Callable[..., Any]], Function[..., Any]]:
    """Define an op from its formula ``f(xp, *arrays, *attributes)``.

    ``kernel`` names a native kernel; ``shape(name, shapes, *attributes)`` gives the output's shape or
    raises, and so checks the forward's inputs and the rule's ``grad_output`` alike; ``check`` looks at
    values; ``kinks(*arrays, *attributes)`` gives each element's distance to the nearest point where the
    derivative jumps, for the gradient checker; ``floats`` turns integers into the default float;
    ``widen=False`` is for formulas that only move elements, which need no float32;
    ``differentiable=False`` says that there will be no rule; ``arguments(...)`` is for a public function
    whose arguments come in another order: it has their signature and returns them in the formula's.
    """

    def define(formula: Callable[..., Any]) -> Any:
        made = Op(formula, **options)
        if made.name in OPS:
            raise TypeError(f"{made.name}: defined twice")
        OPS[made.name] = made
        return made.function

    return define


def _public(
    made: Op | Rule,
    written: Callable[..., Any],
    signature: inspect.Signature,
    arguments: Callable[..., Sequence[Any]] | None = None,
) -> Any:
    """The plain function users call."""
    bound = made.bound
    if arguments is not None:
        signature = inspect.signature(arguments, eval_str=True).replace(return_annotation=Tensor)

        def bound(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
            _bound(made.name, signature, args, kwargs)
            return arguments(*args, **kwargs)

    def function(*args: Any, **kwargs: Any) -> Any:
        return made(bound(args, kwargs))

    function.__name__ = function.__qualname__ = written.__name__
    function.__module__ = written.__module__
    function.__doc__ = written.__doc__
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.op = made if isinstance(made, Op) else made.op  # type: ignore[attr-defined]
    return function


def _bound(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Sequence[Any]:
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    bound.apply_defaults()
    return list(bound.arguments.values())


def _kind(annotation: Any) -> Any:
    for kind in (Array, Arrays, Indices):
        if annotation is kind or annotation == kind | None:
            return kind
    return None


def _named_attributes(shape: ShapeRule | None) -> int:
    """How many attributes a shape rule looks at: those it names after ``op`` and ``shapes``."""
    if shape is None:
        return 0
    kinds = [parameter.kind for parameter in inspect.signature(shape).parameters.values()]
    return max(0, kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) - 2)


def _shape_of(x: Any) -> Any:
    if x is None:
        return None
    if isinstance(x, list | tuple):
        return [tuple(item.shape) for item in x]
    return tuple(x.shape)


def _unwrapped(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x._array
    if isinstance(x, list) and x and isinstance(x[0], Tensor):
        return [item._array for item in x]
    return x


def _widened(x: Any) -> Any:
    if isinstance(x, Tensor) and is_half(x.dtype):
        return x.astype(float32)
    return x


def _restored(array: Any, node: tape.Node) -> Tensor:
    """The output of ``node`` as a tensor again, on the tape if the rule is being recorded."""
    output = wrap(array)
    if tape.mode.recording:
        output._requires_grad = True
        output._node = node
    return output


def _filled(gradients: Any, described: Sequence[tuple[Shape, Any]]) -> list[Tensor]:
    """The gradients of several outputs, zeros for those that nothing used."""
    given = gradients if isinstance(gradients, list) else [gradients]
    return [
        wrap(np.zeros(shape, dtype)) if gradient is None else gradient
        for gradient, (shape, dtype) in zip(given, described, strict=True)
    ]
