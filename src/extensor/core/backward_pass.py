"""Gradients of recorded tensors: added to the leaves by ``backward``, returned by ``grad``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from extensor import _native
from extensor.core import changes
from extensor.core.modes import recording
from extensor.core.propagation import propagate
from extensor.core.tape import parent_of
from extensor.errors import shown, type_error, value_error
from extensor.errors.expectations import wanted_by

if TYPE_CHECKING:
    from extensor.core.tensor import Tensor
    from extensor.typing import TensorLike

_FLAGS = (bool, type(None))
GradOutputs: TypeAlias = "TensorLike | Sequence[TensorLike | None] | None"


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_outputs: GradOutputs = None,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> None:
    """Add the gradient of ``tensors`` to ``.grad`` of every leaf they were computed from.

    Nothing is added if any rule fails.

    Parameters
    ----------
    tensors : Tensor or sequence of Tensor
        What to differentiate.
    grad_outputs : tensor_like or sequence, optional
        Gradients of the tensors. A tensor of one element needs none: it is 1.
    retain_graph : bool, default False
        Whether to keep the tape, so that it can be used again.
    create_graph : bool, default False
        Whether to record the backward pass, so that gradients can be differentiated again.

    Raises
    ------
    RuntimeError
        If a tensor does not require grad, or the tape was used before.

    Examples
    --------
    >>> import extensor as ex
    >>> x = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> ex.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if type(retain_graph) not in _FLAGS or type(create_graph) not in _FLAGS:
        _check_flags("backward", retain_graph=retain_graph, create_graph=create_graph)
    tensors, grad_outputs = _as_sequences("backward", tensors, grad_outputs)
    roots = _roots("backward", tensors, grad_outputs)
    _, leaves = propagate(roots, retain_graph or create_graph, create_graph)
    # The seeds belong to the caller: a rule may hand one through, and no leaf may own it then.
    seen = {id(changes.owner(gradient._array)) for _, gradient in roots}
    sums = []  # all before the first is written: one that fails leaves nothing half done
    for leaf, total in leaves.items():
        present = leaf.grad
        sums.append((leaf, present, _add_gradient(present, total, seen, create_graph)))
    for leaf, present, new in sums:
        # Another thread may have added to the same leaf since its gradient was read.
        while not _native.exchange_gradient(leaf, present, new):
            present = leaf.grad
            new = _add_gradient(present, leaves[leaf], seen, create_graph)


def announce_gradients(tensor: Tensor, arrived: Callable[[Tensor, Tensor], None]) -> None:
    """Tell ``arrived`` each leaf and its gradient, as soon as that is whole; no ``.grad`` is touched.

    What it is told may share memory with other gradients, and is to be read only.
    """
    _, leaves = propagate(_roots("backward", [tensor], [None]), False, False, arrived=arrived)
    for leaf, gradient in leaves.items():  # the tensor itself, if it is one
        arrived(leaf, gradient)


@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor,
    grad_outputs: GradOutputs = None,
    create_graph: bool = False,
    allow_unused: Literal[False] = False,
    retain_graph: bool | None = None,
) -> Tensor: ...


@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor,
    grad_outputs: GradOutputs = None,
    create_graph: bool = False,
    allow_unused: bool = False,
    retain_graph: bool | None = None,
) -> Tensor | None: ...


@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: GradOutputs = None,
    create_graph: bool = False,
    allow_unused: Literal[False] = False,
    retain_graph: bool | None = None,
) -> tuple[Tensor, ...]: ...


@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: GradOutputs = None,
    create_graph: bool = False,
    allow_unused: bool = False,
    retain_graph: bool | None = None,
) -> tuple[Tensor | None, ...]: ...


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: GradOutputs = None,
    create_graph: bool = False,
    allow_unused: bool = False,
    retain_graph: bool | None = None,
) -> Any:
    """The gradients of ``outputs`` with respect to ``inputs``; no ``.grad`` is touched.

    One input gives a Tensor, a sequence gives a tuple. An input that ``outputs`` do not depend on
    is an error, or None with ``allow_unused``.

    Parameters
    ----------
    outputs : Tensor or sequence of Tensor
        What to differentiate.
    inputs : Tensor or sequence of Tensor
        With respect to what. They must require grad.
    grad_outputs : tensor_like or sequence, optional
        Gradients of the outputs. A tensor of one element needs none: it is 1.
    create_graph : bool, default False
        Whether to record the backward pass, so that gradients can be differentiated again.
    allow_unused : bool, default False
        Whether an input that no output depends on gives None, instead of an error.
    retain_graph : bool, optional
        Whether to keep the tape, by default as ``create_graph``.

    Returns
    -------
    Tensor or tuple of Tensor
        The gradient of each input, of its shape and dtype.

    Raises
    ------
    ValueError
        If an input does not require grad, or no output depends on it.
    RuntimeError
        If an output does not require grad, or the tape was used before.

    Examples
    --------
    >>> import extensor as ex
    >>> x = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> ex.grad((x * x).sum(), x)
    tensor([2., 4.])
    """
    if not (
        type(create_graph) in _FLAGS
        and type(allow_unused) in _FLAGS
        and type(retain_graph) in _FLAGS
    ):
        _check_flags(
            "grad", create_graph=create_graph, allow_unused=allow_unused, retain_graph=retain_graph
        )
    outputs, grad_outputs = _as_sequences("grad", outputs, grad_outputs)
    single = not isinstance(inputs, (list, tuple))
    wanted: Sequence[Tensor] = [inputs] if single else inputs  # type: ignore[list-item, assignment]
    places = []
    for index, tensor in enumerate(wanted):
        try:
            place = parent_of(tensor)
        except AttributeError:
            raise _not_a_tensor("grad", "inputs", index, tensor) from None
        if place is None:
            raise value_error("grad", "inputs must require grad", index=index)
        places.append(place)
    # What is differentiated again needs what its nodes saved; a caller may still say otherwise.
    keep = create_graph if retain_graph is None else retain_graph
    found, _ = propagate(_roots("grad", outputs, grad_outputs), keep, create_graph, set(places))
    gradients = tuple([found.get(place) for place in places])
    unused = [index for index, gradient in enumerate(gradients) if gradient is None]
    if unused and not allow_unused:
        raise value_error(
            "grad",
            "outputs do not depend on an input (allow_unused=True gives None)",
            index=unused[0],
        )
    return gradients[0] if single else gradients


def _check_flags(op: str, **flags: Any) -> None:
    for name, value in flags.items():
        wanted = wanted_by("bool | None" if name == "retain_graph" else "bool", value)
        if wanted is not None:
            raise type_error(op, f"{name} must be {wanted}", **{name: shown(value)})


def _not_a_tensor(op: str, name: str, index: int, value: Any) -> TypeError:
    return type_error(op, f"{name} must be tensors", **{f"{name}[{index}]": shown(value)})


def _as_sequences(
    op: str, tensors: Any, grad_outputs: Any
) -> tuple[Sequence[Tensor], Sequence[Any]]:
    if not isinstance(tensors, (list, tuple)):
        return [tensors], [grad_outputs]
    if grad_outputs is None:
        return tensors, [None] * len(tensors)
    if not isinstance(grad_outputs, (list, tuple)):
        requirement = f"grad_outputs must be a sequence, as {_given_as(op)} is"
        raise type_error(op, requirement, grad_outputs=shown(grad_outputs))
    return tensors, grad_outputs


def _given_as(op: str) -> str:
    return "tensors" if op == "backward" else "outputs"


def _roots(
    op: str, tensors: Sequence[Tensor], grad_outputs: Sequence[Any]
) -> list[tuple[Any, Tensor]]:
    if len(tensors) != len(grad_outputs):
        raise value_error(
            op,
            "grad_outputs must have one entry for each output",
            outputs=len(tensors),
            grad_outputs=len(grad_outputs),
        )
    roots: list[tuple[Any, Tensor]] = []
    for tensor, gradient in zip(tensors, grad_outputs, strict=True):
        try:
            place = parent_of(tensor)
        except AttributeError:
            raise _not_a_tensor(op, _given_as(op), len(roots), tensor) from None
        if place is None:
            raise RuntimeError(
                f"{op}: the tensor does not require grad, so there is nothing to differentiate; "
                "create an input with requires_grad=True"
            )
        roots.append((place, tensor._seed(op, gradient)))
    return roots


def _add_gradient(present: Tensor | None, total: Tensor, seen: set[int], recorded: bool) -> Tensor:
    """The gradient of a leaf that had ``present``, with ``total`` added to it."""
    if present is None:
        return _own_gradient(total, seen, recorded)
    with recording(recorded):
        return present + total


def _own_gradient(gradient: Tensor, seen: set[int], recorded: bool) -> Tensor:
    """A gradient a leaf can own: two leaves never share memory, and none is a view.

    What requires grad although nothing is recorded was there before: a tensor the rule had saved.
    """
    owner = changes.owner(gradient._array)
    old = gradient._requires_grad and not recorded
    # Owned gradients are added to and clipped in place, which a second holder would notice.
    if owner is not gradient._array or id(owner) in seen or old:
        with recording(recorded):
            gradient = gradient.clone()
    else:
        seen.add(id(owner))
    return gradient
