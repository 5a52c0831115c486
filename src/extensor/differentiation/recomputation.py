"""Computing again instead of keeping: less memory for one more forward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from extensor.core import modes, precision, propagation, tape
from extensor.core.structures import leaves_in, map_leaves
from extensor.core.tensor import Tensor, wrap
from extensor.errors import value_error
from extensor.errors.explanation import explaining
from extensor.random.generator import noted_draws, repeated_draws

P = ParamSpec("P")
R = TypeVar("R")


@explaining
def checkpoint(fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """``fn(*args, **kwargs)``, keeping nothing of the inside; the backward pass runs ``fn`` again.

    Gradients reach the arguments and whatever else ``fn`` uses, such as the parameters of a module.
    ``fn`` must do the same when it is run again, so it must change nothing that it uses; other results
    are an error. The library's random numbers are the same the second time. It may return a tensor or
    tuples, lists and dicts of them.

    Parameters
    ----------
    fn : callable
        The part to compute again.
    *args, **kwargs : Any
        Its arguments.

    Returns
    -------
    Tensor or a structure of tensors
        The result of ``fn``.

    Raises
    ------
    ValueError
        In the backward pass, if ``fn`` does not compute the same again.

    Examples
    --------
    >>> import extensor as ex
    >>> x = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> ex.checkpoint(lambda x: x * x * x, x).sum().backward()
    >>> x.grad
    tensor([ 3., 12.])
    """
    if not modes.is_grad_enabled():
        return fn(*args, **kwargs)
    # Nodes made from here on have higher numbers: so the inside is told from what was there before.
    start = tape.next_number()
    segment = Segment(fn, args, kwargs)
    with noted_draws() as segment.draws:
        outputs = fn(*args, **kwargs)
    inner = _recorded_since(start, outputs)
    if not inner:
        return outputs
    segment.described = [_describe(x) for x in inner]
    boundary = _boundary(start, inner)
    leaves = [place for place in boundary if isinstance(place, Tensor)]
    # Keeping the arguments and leaves here lets the tape find a change of them in place.
    node = tape.Node(segment, (_tensors_in([args, kwargs]), leaves), tuple(boundary))
    made = {id(x): wrap(x._array) for x in inner}
    tape.attach(node, list(made.values()))
    replaced: R = map_leaves(outputs, lambda x: made.get(id(x), x))
    return replaced


class Segment:
    """The part of the tape that one checkpoint stands for; also the rule of its node."""

    name = "checkpoint_backward"
    keeps_tensors = True

    def __init__(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.call = (fn, args, kwargs)
        self.draws: list[tuple[int, int]] = []
        self.cast_to = precision.current()
        self.described: list[Any] = []

    def gradients(
        self, grad_output: Any, saved: tuple[Any, ...], needs: tuple[bool, ...], node: tape.Node
    ) -> Sequence[Tensor | None]:
        again = modes.is_grad_enabled()
        outputs = self._recompute()
        gradients = grad_output if isinstance(grad_output, list) else [grad_output]
        roots = [
            (tape.parent_of(x), gradient)
            for x, gradient in zip(outputs, gradients, strict=True)
            if gradient is not None
        ]
        places = node.parents
        wanted = {place for place, needed in zip(places, needs, strict=True) if needed}
        # The pass around this one runs the hooks of the places, hence the boundary.
        found, _ = propagation.propagate(roots, again, again, wanted, frozenset(places))
        return [found.get(place) for place in places]

    def _recompute(self) -> list[Tensor]:
        fn, args, kwargs = self.call
        start = tape.next_number()
        casting = precision.switch(self.cast_to)
        try:
            with modes.enable_grad(), repeated_draws(self.draws):
                outputs = _recorded_since(start, fn(*args, **kwargs))
        finally:
            precision.restore(casting)
        described = [_describe(x) for x in outputs]
        if described != self.described:
            raise value_error(
                "checkpoint",
                f"fn must compute the same again, the first time it was {_text(self.described)}",
                outputs=_text(described),
            )
        return outputs


def _is_after(start: int, place: Any) -> bool:
    return isinstance(place, tape.Node) and place.number > start


def _recorded_since(start: int, outputs: Any) -> list[Tensor]:
    """The tensors among ``outputs`` that were recorded after ``start``, each once."""
    return list({id(x): x for x in _tensors_in(outputs) if _is_after(start, x._node)}.values())


def _boundary(start: int, outputs: Sequence[Tensor]) -> list[Any]:
    """The leaves and earlier nodes from which ``outputs`` were computed."""
    boundary: dict[Any, None] = {}
    seen: set[Any] = set()
    stack: list[Any] = [x._node for x in outputs]
    while stack:
        place = stack.pop()
        if place is not None and place not in seen:
            seen.add(place)
            if _is_after(start, place):
                stack.extend(place.parents)
            else:
                boundary[place] = None
    return list(boundary)


def _describe(x: Tensor) -> tuple[Any, ...]:
    """The properties that must agree when ``fn`` is run again; the sum, as text, finds other values."""
    if not isinstance(x._array, np.ndarray):  # which may have no values yet
        return x.shape, x.dtype, ""
    with np.errstate(all="ignore"):
        total = np.sum(np.asarray(x._array), dtype=np.float64)
    return x.shape, x.dtype, repr(float(total))


def _text(described: Sequence[Any]) -> str:
    return ", ".join(f"{dtype}{shape} of sum {total}" for shape, dtype, total in described)


def _tensors_in(value: Any) -> list[Tensor]:
    return [x for x in leaves_in(value) if isinstance(x, Tensor)]
