"""Ops of the user's own: a class with a forward and a backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.core import changes, modes, tape
from extensor.core.tensor import Tensor, to_array, wrap
from extensor.errors import value_error

if TYPE_CHECKING:
    P = ParamSpec("P")
    R = TypeVar("R")
    R_co = TypeVar("R_co", covariant=True)

    class Custom(Protocol[P, R_co]):
        @staticmethod
        def forward(ctx: Context, /, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


class GradientShapeError(ValueError):
    """A backward returned a gradient that does not have its input's shape."""

    def __init__(self, text: str, expected: tuple[int, ...], got: tuple[int, ...]) -> None:
        super().__init__(text)
        self.expected = expected
        self.got = got


class Context:
    """Values that a forward leaves for its backward. Attributes that are no tensors may be set freely."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._saved: tuple[Any, ...] = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs, outputs or anything computed on the way; None is kept as None.

        A tensor kept here, unlike one set as an attribute, is found if it is changed in place
        before the backward pass, and an output among them does not keep itself alive.
        """
        for index, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward: only tensors can be saved, got tensors[{index}]="
                    f"{type(tensor).__name__}; set anything else as an attribute of ctx"
                )
        self._saved = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that :meth:`save_for_backward` kept, in its order."""
        return self._saved


class Function:
    """A custom op: subclass it, write two static methods, and call ``apply``.

    ``forward(ctx, *args, **kwargs)`` computes one tensor or a tuple of them, and nothing in it is
    recorded. ``backward(ctx, *grad_outputs)`` gets a gradient for each output (zeros where nothing
    used it, None for an output of integers) and returns one for each positional argument, None for
    those that are no tensors. If it is written in ExTensor ops it can be differentiated again.

    Examples
    --------
    >>> import extensor as ex
    >>> class Cube(ex.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x * x * grad_output
    >>> x = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> Cube.apply(x).sum().backward()
    >>> x.grad
    tensor([ 3., 12.])
    """

    if TYPE_CHECKING:

        @staticmethod
        def forward(*args: Any, **kwargs: Any) -> Any: ...

        @staticmethod
        def backward(*args: Any, **kwargs: Any) -> Any: ...

    @classmethod
    def apply(cls: type[Custom[P, R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run ``forward`` and put the call on the tape; it takes and gives what ``forward`` does.

        Parameters
        ----------
        *args : Any
            The arguments of ``forward``. Gradients reach those that are tensors.
        **kwargs : Any
            Its keyword arguments, which may not be tensors that require grad.

        Returns
        -------
        Tensor or tuple of Tensor
            The result of ``forward``.
        """
        _check_keywords(cls.__name__, kwargs)
        tensors = [x if isinstance(x, Tensor) else None for x in args]
        recorded = tape.is_recorded(tensors)
        needs = tuple(recorded and x is not None and x.requires_grad for x in tensors)
        context = Context(needs)
        with modes.no_grad():
            result: Any = cls.forward(context, *args, **kwargs)
        many = isinstance(result, list | tuple)
        made = list(result) if many else [result]
        # New tensors, as forward may return an input, which must keep its own place on the tape.
        outputs = [wrap(_array_of(cls.__name__, x)) for x in made]
        if recorded:
            rule = FunctionRule(cls, tensors, outputs)
            saved = (context, *(_saved_value(x, tensors, made) for x in context._saved))
            # The node keeps them, where the tape checks and frees them; the context is for attributes.
            context._saved = ()
            node = tape.Node(rule, saved, tuple(tape.parent_of(x) for x in tensors))
            tape.attach(node, [outputs[i] for i in rule.floating])
        returned: Any = tuple(outputs) if many else outputs[0]
        return returned  # type: ignore[no-any-return]


class OutputPlace:
    """Stands for an output among the saved tensors: itself it would point back at its node."""

    def __init__(self, index: int, array: Any) -> None:
        self.index = index
        self._array = array


class FunctionRule:
    """How the tape calls the ``backward`` of one call of a :class:`Function`."""

    keeps_tensors = True

    def __init__(
        self, function: type[Any], inputs: Sequence[Tensor | None], outputs: Sequence[Tensor]
    ) -> None:
        self.function = function
        self.name = f"{function.__name__}_backward"
        self.inputs = [None if x is None else (x.shape, x.dtype) for x in inputs]
        self.outputs = [(x.shape, x.dtype) for x in outputs]
        self.floating = [i for i, x in enumerate(outputs) if is_floating(x.dtype)]

    def gradients(
        self, grad_output: Any, saved: tuple[Any, ...], needs: tuple[bool, ...], node: tape.Node
    ) -> Sequence[Tensor | None]:
        context = saved[0]
        context.needs_input_grad = needs
        context._saved = tuple(self._restore_output(x, node) for x in saved[1:])
        try:
            results = self.function.backward(context, *self._fill_with_zeros(grad_output))
        finally:
            context._saved = ()
        if not isinstance(results, list | tuple):
            results = (results,)
        if len(results) != len(self.inputs):
            raise value_error(
                self.function.__name__,
                f"backward must return {len(self.inputs)} gradients, one for each argument",
                gradients=len(results),
            )
        old = {id(changes.owner(x._array)) for x in saved[1:] if x is not None}
        return [
            self._check_result(index, result, old) if needed and result is not None else None
            for index, (result, needed) in enumerate(zip(results, needs, strict=True))
        ]

    def _check_result(self, index: int, result: Any, old: set[int]) -> Tensor:
        name = self.function.__name__
        described = self.inputs[index]
        assert described is not None  # the tape needs gradients of tensors only
        shape, dtype = described
        if not isinstance(result, Tensor):
            if modes.is_grad_enabled():
                raise RuntimeError(
                    f"{name}: backward must be written in ExTensor ops to be differentiated again, "
                    f"got gradient {index} as {type(result).__name__}"
                )
            result = wrap(to_array(result, dtype, name))
        if result.shape != shape:
            raise GradientShapeError(
                f"{name}: backward must return gradient {index} in its input's shape {shape}, "
                f"got shape={result.shape}",
                shape,
                result.shape,
            )
        if id(changes.owner(result._array)) in old:
            # A saved tensor handed out as a gradient must not become the memory of some .grad.
            result = result.clone()
        checked: Tensor = result if result.dtype == dtype else result.astype(dtype)
        return checked

    def _fill_with_zeros(self, grad_output: Any) -> list[Tensor | None]:
        """A gradient for each output: zeros where nothing used it, None if it is not floating."""
        given = iter(grad_output if isinstance(grad_output, list) else [grad_output])
        filled: list[Tensor | None] = []
        for index, (shape, dtype) in enumerate(self.outputs):
            gradient = next(given) if index in self.floating else None
            if gradient is None and index in self.floating:
                gradient = wrap(np.zeros(shape, dtype))
            filled.append(gradient)
        return filled

    def _restore_output(self, saved: Any, node: tape.Node) -> Any:
        if not isinstance(saved, OutputPlace):
            return saved
        output = wrap(saved._array)
        if modes.is_grad_enabled() and saved.index in self.floating:
            count = len(self.floating)
            output._requires_grad = True
            place = self.floating.index(saved.index)
            output._node = node if count == 1 else tape.Slot(node, place, count)
        return output


def _check_keywords(function: str, kwargs: dict[str, Any]) -> None:
    for name, value in kwargs.items():
        if isinstance(value, Tensor) and value.requires_grad:
            raise TypeError(
                f"{function}: a tensor that requires grad must be a positional argument, "
                f"got {name}={value.shape}"
            )


def _array_of(name: str, output: Any) -> Any:
    if isinstance(output, Tensor):
        return output._array
    if hasattr(output, "__array__") or isinstance(output, int | float):
        return to_array(output, op=name)
    raise TypeError(f"{name}: forward must return tensors, got output={type(output).__name__}")


def _saved_value(saved: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    if any(saved is x for x in inputs):
        return saved
    places = [i for i, output in enumerate(outputs) if saved is output]
    return OutputPlace(places[0], saved._array) if places and saved is not None else saved
