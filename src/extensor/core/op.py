"""An op is a pair: ``@op`` defines a forward, ``@<op>.backward`` the rule beside it.

The forward's formula is written against arrays (``xp`` is their namespace), the rule's against tensors,
so that a rule can be differentiated again. Either may name a kernel, which is tried first and declines
(NotImplemented) what it was not written for: mixed dtypes, wrong shapes, plain numbers. Only then are
the inputs converted, promoted and checked, so a call in the common case pays for none of that.
"""

from __future__ import annotations

import copyreg
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from extensor import _native
from extensor.arrays.dtypes import is_floating
from extensor.arrays.shapes import check_possible
from extensor.core import door, modes, precision, tracing
from extensor.core.binding import Parameters, PublicFunction, dressed, reordered
from extensor.core.conversion import check_real, own_indices, promoted, shape_of, unwrapped
from extensor.core.kinds import Array, Arrays, Indices, Target, is_optional, kind_of
from extensor.core.rule import Rule
from extensor.core.tensor import Tensor
from extensor.errors import type_error

__all__ = ["OPS", "Array", "Arrays", "Indices", "Op", "OpFunction", "Rule", "Target", "op"]

OPS: dict[str, Op] = {}
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
Result_co = TypeVar("Result_co", covariant=True)


class OpFunction(Generic[P, Result_co]):
    """How a type checker sees a public op: a function with a ``backward`` decorator."""

    op: Op

    if TYPE_CHECKING:
        __name__: str

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result_co: ...

        def backward(
            self, kernel: str | None = None, unfolds: bool = False
        ) -> Callable[[Callable[Q, R]], Callable[Q, R]]: ...


class Op:
    """The forward half of a pair, and the place where the other half is hung."""

    def __init__(
        self,
        formula: Callable[..., Any],
        *,
        kernel: str | None = None,
        shape: Callable[..., Any] | None = None,
        check: Callable[..., None] | None = None,
        floats: bool = False,
        kinks: Callable[..., Any] | None = None,
        widen: bool = True,
        differentiable: bool = True,
        arguments: Callable[..., Sequence[Any]] | None = None,
        updates: Sequence[str] = (),
        kept: Sequence[str] = (),
    ) -> None:
        self.name = formula.__name__
        self.kernel_name = kernel
        self.kernel = door.kernel(kernel)
        self.shape = shape
        self.check = check
        self.kinks = kinks
        self.floats = floats
        self.differentiable = differentiable
        self.updates = updates
        self.kept = kept
        self.rule: Rule | None = None
        self.parameters = Parameters(self.name, formula, leading=1)
        names = self.parameters.names
        kinds = [kind_of(annotation) for annotation in self.parameters.annotations]
        self.arity = sum(kind is not None for kind in kinds)
        if None in kinds[: self.arity]:
            raise TypeError(f"{self.name}: array inputs must come before attributes")
        self.kinds = kinds[: self.arity]
        promoted = [i for i, kind in enumerate(self.kinds) if kind is not Indices]
        self.formula = door.formula(formula, promoted) if widen else door.exact_formula(formula)
        self.variadic = Arrays in self.kinds
        self.inputs = names[: self.arity]
        self.attributes = names[self.arity :]
        annotated = zip(self.inputs, self.parameters.annotations, strict=False)
        self.optional = {name for name, annotation in annotated if is_optional(annotation)}
        self.shape_attributes = self.attributes[: _named_attributes(shape)]
        self.public = self.parameters
        self.bound = self.parameters.bound
        if arguments is not None:
            self.public = Parameters(self.name, arguments)
            self.bound = reordered(self.public)
        self.compute = door.computation(self.name, kernel, self.formula)
        self._dispatchers = self._make_dispatchers()
        self.function = dressed(self._dispatchers[0], formula)
        self.function.op = self
        self.function.backward = self._define_backward

    def signature(self) -> inspect.Signature:
        """That of the public function; the dispatcher asks for it when somebody asks it."""
        return self.public.signature().replace(return_annotation=self.result)

    def documentation(self) -> str:
        """The docstring of the public function; the dispatcher asks for it when somebody asks it."""
        from extensor.core import documentation

        return documentation.of_op(self)

    @property
    def result(self) -> Any:
        """The annotation of what a call gives: the formula's, in tensors and without what is kept."""
        written = str(self.parameters.written.__annotations__.get("return", "Any"))
        if written == "tuple[Any, ...]":
            return tuple[Tensor, ...]
        count = written.count("Any") - len(self.kept)
        return tuple.__class_getitem__((Tensor,) * count) if count > 1 else Tensor

    def _make_dispatchers(self) -> list[Any]:
        """The function users call, straight to the kernel where it accepts, else the long way.

        If its arguments come in another order than the formula's, a second one, which takes them as
        the formula does, stands between the two.
        """
        own, public = self.parameters, self.public
        if public.position.keys() == own.position.keys():
            long_way = PublicFunction(public, self.bound, self.call)
            places = tuple(own.position[name] for name in public.names)
            return [self._dispatcher(long_way, self.kernel, public, places)]
        ordered = self._dispatcher(
            lambda *arguments: self.call(arguments), self.kernel, own, tuple(range(own.count))
        )
        long_way = PublicFunction(public, self.bound, lambda arguments: ordered(*arguments))
        return [self._dispatcher(long_way, None, public, ()), ordered]

    def _dispatcher(
        self, long_way: Any, kernel: Any, parameters: Parameters, places: tuple[int, ...]
    ) -> Any:
        return _native.Dispatcher(
            self.name,
            long_way,
            kernel,
            parameters.names,
            parameters.defaults,
            places,
            self.arity,
            len(self.attributes),
            tuple(name in self.optional for name in self.inputs),
            self.variadic,
            tuple(self.inputs.index(name) for name in self.updates),
            len(self.kept),
        )

    def call(self, arguments: Sequence[Any]) -> Any:
        """The whole way: convert, promote, check, then kernel or formula."""
        inputs, attributes = arguments[: self.arity], arguments[self.arity :]
        check_real(self.name, self.attributes, attributes)
        for name, value in zip(self.inputs, inputs, strict=True):
            if value is None and name not in self.optional:
                raise type_error(self.name, f"{name} must be a tensor", **{name: None})
        # The order matters: autocast looks at dtypes before promotion makes them one, and shapes are
        # checked on the arrays that are computed with.
        trace = tracing.current()
        if trace is not None:
            inputs = [trace.lifted(x) for x in inputs]
        if modes.mode.casting:
            inputs = precision.cast(self.name, inputs, self.kinds)
        tensors = promoted(self.name, inputs, self.inputs, self.kinds, self.floats)
        arrays = [unwrapped(x) for x in tensors]
        if trace is not None:
            arrays = trace.together(arrays, attributes)
        else:
            arrays = [own_indices(x, k) for x, k in zip(arrays, self.kinds, strict=True)]
        if self.shape is not None:
            shapes = {name: shape_of(x) for name, x in zip(self.inputs, arrays, strict=True)}
            check_possible(self.name, self.shape(self.name, shapes, *attributes))
        if self.check is not None:
            try:
                if trace is None:
                    self.check(self.name, *arrays, *attributes)
                else:
                    trace.check(self.name, self.check, (*arrays, *attributes))
            except tuple(tracing.VALUES_MISSING):  # asked for now: an engine may be added later
                pass

        # Inside the computation, so that watchers see the node that the call is recorded as.
        def finish(result: Any) -> Any:
            first = result[0] if type(result) is tuple else result
            return self.function.finish([*tensors, *attributes], result, is_floating(first.dtype))

        made = self.compute.finished(finish, *arrays, *attributes)
        if trace is not None:
            trace.note_views(self.name, tensors, made)
        return made

    def _define_backward(
        self, kernel: str | None = None, unfolds: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """The decorator of the rule.

        Where the rule itself is recorded, the derivative of a kernel's values is that of the formula,
        computed then. A rule that ``unfolds`` is computed by its formula right away, as it is as fast
        and gives the same bits: its few calls stand on the tape in its place.
        """

        def define(written: Callable[..., Any]) -> Callable[..., Any]:
            self.rule = Rule(self, written, kernel, unfolds)
            for dispatcher in self._dispatchers:
                dispatcher.set_rule(self.rule, *self.rule.kept)
            function: Callable[..., Any] = self.rule.function
            return function

        return define


def _function_of(name: str) -> Any:
    return OPS[name].function


def _reduced(function: Any) -> tuple[Any, ...]:
    return _function_of, (function.op.name,)


# A copy of a module that holds a function, as its activation, holds the same function.
copyreg.pickle(_native.Dispatcher, _reduced)


@overload
def op(
    *, arguments: Callable[P, Sequence[Any]], **options: Any
) -> Callable[[Callable[..., Any]], OpFunction[P, Tensor]]: ...


@overload
def op(
    *, arguments: None = None, **options: Any
) -> Callable[[Callable[Concatenate[Any, P], Any]], OpFunction[P, Tensor]]: ...


def op(**options: Any) -> Callable[[Callable[..., Any]], OpFunction[..., Tensor]]:
    """Define an op from its formula ``f(xp, *arrays, *attributes)``.

    ``kernel`` names a native kernel; ``shape(name, shapes, *attributes)`` gives the output's shape or
    raises, and so checks the forward's inputs and the rule's ``grad_output`` alike; ``check`` looks at
    values; ``kinks(*arrays, *attributes)`` gives each element's distance to the nearest point where
    the derivative jumps, for the gradient checker; ``floats`` turns integers into the default float;
    ``widen=False`` is for formulas that only move elements, which need no float32;
    ``differentiable=False`` says that there will be no rule; ``arguments(...)`` is for a public
    function whose arguments come in another order: it has their signature and returns them in the
    formula's. ``updates`` names inputs that are changed in place: the formula, which changes nothing,
    returns their new values after its output, or the output alone. ``kept`` names further outputs
    that are no result: they only spare the rule from computing them again.
    """

    def define(formula: Callable[..., Any]) -> Any:
        made = Op(formula, **options)
        if made.name in OPS:
            raise TypeError(f"{made.name}: defined twice")
        OPS[made.name] = made
        return made.function

    return define


def _named_attributes(shape: Callable[..., Any] | None) -> int:
    """How many attributes a shape rule looks at: those it names after ``op`` and ``shapes``."""
    if shape is None:
        return 0
    return max(0, shape.__code__.co_argcount - 2)
