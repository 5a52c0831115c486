"""A function at one point, as the checker sees it: arrays in, gradients out, no kink near."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from extensor.arrays.dtypes import float64, is_floating
from extensor.core import changes, door, modes
from extensor.core.op import OPS, Op
from extensor.core.structures import leaves_in
from extensor.core.tensor import Tensor, wrap
from extensor.differentiation.custom_function import GradientShapeError
from extensor.differentiation.derivatives import gradients_or_none
from extensor.errors import type_error
from extensor.gradcheck.diagnosis import Mistake, diagnose_shape
from extensor.gradcheck.gradient_report import CheckFailedError


@dataclass(frozen=True)
class Point:
    """``fn(*arguments)``, of which those numbered in ``checked`` have the values ``arrays``."""

    fn: Callable[..., Any]
    arguments: Sequence[Any]
    checked: Sequence[int]
    arrays: Sequence[Any]

    def call(self) -> tuple[list[Tensor], list[Tensor]]:
        """The floating outputs, and the inputs they were computed from: fresh leaves each time."""
        inputs = [wrap(np.array(array)) for array in self.arrays]
        arguments = list(self.arguments)
        for i, x in zip(self.checked, inputs, strict=True):
            x.requires_grad = True
            arguments[i] = x
        with modes.enable_grad():
            return _floating(self.fn(*arguments)), inputs

    def outputs(self) -> list[Any]:
        """The values of the outputs, of a call that leaves its inputs as they are."""
        outputs, inputs = self.call()
        for i, x, array in zip(self.checked, inputs, self.arrays, strict=True):
            if x._array.tobytes() != array.tobytes():
                raise CheckFailedError(
                    Mistake.INPUT_CHANGED, f"fn changed input {i} in place", input=i
                )
        return [x._array for x in outputs]

    def checked_outputs(self) -> list[Any]:
        """The same, finite and alike in two calls."""
        outputs = self.outputs()
        for i, (first, second) in enumerate(zip(outputs, self.outputs(), strict=True)):
            if not np.all(np.isfinite(first)):
                index = tuple(int(k) for k in np.argwhere(~np.isfinite(first))[0])
                text = f"output {i} is {first[index]} at index {index}"
                raise CheckFailedError(Mistake.NAN, text, index=index)
            if first.tobytes() != second.tobytes():
                raise CheckFailedError(
                    Mistake.NOT_DETERMINISTIC,
                    f"fn was called twice and output {i} was not the same; "
                    "set the random seed inside fn",
                )
        return outputs

    def moved(self, k: int, elements: Any, distance: Any) -> Point:
        """The point with ``distance`` added to some elements of array ``k``."""
        arrays = list(self.arrays)
        arrays[k] = np.array(arrays[k])
        arrays[k].flat[elements] += distance
        return replace(self, arrays=arrays)

    def nearby(self, eps: float) -> Point:
        """A point a little further on in all inputs."""
        with np.errstate(all="ignore"):  # an infinite element stays or becomes NaN
            return replace(self, arrays=[x + eps * np.maximum(1, np.abs(x)) for x in self.arrays])

    def warm_up(self) -> None:
        """Go forward and back once and forget the result."""
        outputs, inputs = self.call()
        with suppress(CheckFailedError):
            self.gradients(outputs, inputs, [wrap(np.ones(x.shape)) for x in outputs])

    def jacobian(self, rows: Any) -> list[Any]:
        """The gradients of each row of output weights: for each input an array (rows, elements)."""
        outputs, inputs = self.call()
        if not any(x.requires_grad for x in outputs):
            text = "no output is connected to the inputs on the tape"
            raise CheckFailedError(Mistake.DETACHED, text, input=self.checked[0])
        ends = np.cumsum([x.size for x in outputs])[:-1]
        found: list[list[Any]] = [[] for _ in inputs]
        for row in rows:
            parts = zip(np.split(row, ends), outputs, strict=True)
            seeds = [wrap(part.reshape(x.shape)) for part, x in parts]
            for kept, gradient in zip(found, self.gradients(outputs, inputs, seeds), strict=True):
                kept.append(gradient._array.ravel())
        return [np.array(gradients).reshape(len(rows), -1) for gradients in found]

    def gradients(
        self,
        outputs: Sequence[Tensor],
        inputs: Sequence[Tensor],
        seeds: Sequence[Any],
        create_graph: bool = False,
    ) -> list[Tensor]:
        """The gradients of the inputs, zeros for one that is not connected; or what is wrong."""
        found = _gradients_of(outputs, inputs, seeds, create_graph)
        gradients = []
        for i, x, gradient in zip(self.checked, inputs, found, strict=False):
            if gradient is None:
                gradients.append(wrap(np.zeros(x.shape)))
            else:
                _check(i, x, gradient)
                gradients.append(gradient)
        return gradients

    def is_connected(self, position: int) -> bool:
        """Whether the tape knows a way from the outputs to one input."""
        outputs, inputs = self.call()
        seeds = [wrap(np.ones(y.shape)) for y in outputs]
        x = inputs[self.checked.index(position)]
        return _gradients_of(outputs, [x], seeds, False)[0] is not None

    def gradient_function(self, rng: np.random.Generator) -> Point:
        """The gradient of a combination of the outputs, by the inputs and the combination."""
        weights = [rng.standard_normal(x.shape) for x in self.outputs()]
        count = len(self.arguments)

        def gradient(*arguments: Any) -> list[Tensor]:
            outputs = _floating(self.fn(*arguments[:count]))
            inputs = [arguments[i] for i in self.checked]
            return self.gradients(outputs, inputs, arguments[count:], create_graph=True)

        return Point(
            gradient,
            [*self.arguments, *weights],
            [*self.checked, *range(count, count + len(weights))],
            [*self.arrays, *weights],
        )


def _floating(result: Any) -> list[Tensor]:
    made = result if isinstance(result, list | tuple) else [result]
    for x in made:
        if not isinstance(x, Tensor):
            raise type_error("check_gradient", "fn must return tensors", output=type(x).__name__)
    outputs = [x for x in made if is_floating(x.dtype)]
    if not outputs:
        dtypes = [str(x.dtype) for x in made]
        raise type_error("check_gradient", "fn must return a floating tensor", dtypes=dtypes)
    return outputs


def _gradients_of(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], seeds: Sequence[Any], create_graph: bool
) -> Sequence[Tensor | None]:
    try:
        return gradients_or_none(outputs, inputs, seeds, create_graph)
    except GradientShapeError as error:
        kind, text = diagnose_shape(error.expected, error.got)
        raise CheckFailedError(kind, f"{error}; {text}") from error


def _check(i: int, x: Tensor, gradient: Tensor) -> None:
    if gradient.shape != x.shape:
        kind, text = diagnose_shape(x.shape, gradient.shape)
        got = f"input {i} of shape {x.shape} got a gradient of shape {gradient.shape}"
        raise CheckFailedError(kind, f"{got}; {text}", input=i)
    if gradient.dtype != float64:
        text = f"input {i} of float64 got a gradient of {gradient.dtype}"
        raise CheckFailedError(Mistake.DTYPE, text, input=i)
    if not np.all(np.isfinite(gradient._array)):
        index = tuple(int(n) for n in np.argwhere(~np.isfinite(gradient._array))[0])
        raise CheckFailedError(
            Mistake.NAN,
            f"the gradient of input {i} is {gradient._array[index]} at index {index}, "
            f"where the input is {x._array[index]:.6g}",
            input=i,
            index=index,
        )


def refuse_kinks(point: Point, margin: float) -> None:
    """Raise if an op inside the function is nearer than ``margin`` to a kink that it declares."""
    # Weakly, so that nobody but the function holds the memory that it may write to.
    derived: WeakValueDictionary[int, Any] = WeakValueDictionary()

    def watch(computed: Any) -> None:
        op = OPS.get(computed.op)
        arrays = computed.inputs if op is None else computed.inputs[: op.arity]
        # Only what comes from the checked inputs moves with them.
        if any(id(changes.owner(x)) in derived for x in leaves_in(arrays)):
            made = [changes.owner(x) for x in leaves_in([computed.outputs]) if hasattr(x, "dtype")]
            derived.update({id(owner): owner for owner in made})
            if op is not None and op.kinks is not None:
                _refuse(op, arrays, computed.inputs[op.arity :], margin)

    def started(*arguments: Any) -> Any:
        owners = [changes.owner(arguments[i]._array) for i in point.checked]
        derived.update({id(owner): owner for owner in owners})
        return point.fn(*arguments)

    with door.watch(watch):
        replace(point, fn=started).call()


def _refuse(op: Op, arrays: Sequence[Any], attributes: Sequence[Any], margin: float) -> None:
    assert op.kinks is not None
    if any(x.size == 0 for x in leaves_in(arrays) if hasattr(x, "size")):
        return
    with np.errstate(all="ignore"):
        distances = np.asarray(op.kinks(*arrays, *attributes))
    if distances.size == 0 or not np.nanmin(distances, initial=np.inf) < margin:
        return
    index = tuple(int(k) for k in np.unravel_index(np.nanargmin(distances), distances.shape))
    x = np.asarray(leaves_in(arrays)[0])
    value = f", value {x[index]:.6g}" if x.shape == distances.shape else ""
    raise CheckFailedError(
        Mistake.KINK,
        f"{op.name} has a kink {distances[index]:.3g} away at index {index} of its input{value}; "
        f"move the input by more than {margin:.3g}, or pass kinks=False",
        index=index,
    )
