"""The tape: which rule made each tensor, and the replay of those rules backwards.

A node holds a rule, what the rule asked to keep, and its parents. Nodes never point at the tensors
they made, so no reference cycle exists and a step is freed the moment its last tensor goes. Every
node is numbered after its parents; taking the highest number first is therefore a topological
order, and no recursion or second pass over the graph is needed.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, overload

from extensor import _native
from extensor.core import changes
from extensor.errors import shown, type_error, value_error
from extensor.errors.expectations import wanted_by
from extensor.errors.explanation import checked
from extensor.errors.places import user_place

if TYPE_CHECKING:
    from extensor.core.tensor import Tensor
    from extensor.typing import TensorLike

Hook = Callable[["Tensor"], "Tensor | None"]
GradOutputs: TypeAlias = "TensorLike | Sequence[TensorLike | None] | None"


class Rule(Protocol):
    """What the tape needs of a backward rule: its name, and the gradients of a node's inputs.

    A node whose rule ``keeps_tensors`` gives them up after a backward pass, and with them its use.
    """

    name: str
    keeps_tensors: bool

    def gradients(
        self, grad_output: Any, saved: tuple[Any, ...], needs: tuple[bool, ...], node: Node
    ) -> Sequence[Tensor | None]: ...


# What the tape does in this thread: ``recording``, ``anomaly``, and the ``epsilon`` it hands to rules.
mode = _native.mode
next_number = _native.next_number
_FREED: tuple[Any, ...] = ("freed",)


class Node(_native.NodeBase):
    """One recorded call. ``parents``: a leaf, a node or None for each differentiable input."""

    __slots__ = ()

    def __init__(self, rule: Rule, saved: tuple[Any, ...], parents: tuple[Any, ...]) -> None:
        super().__init__(rule, saved, parents)
        if mode.anomaly:
            self.place = user_place()

    def __lt__(self, other: Node) -> bool:
        return self.number > other.number


class Slot(Node):
    """One output of a node that has several; its gradient goes to place ``index`` there."""

    __slots__ = ("count", "index")

    def __init__(self, node: Node, index: int, count: int) -> None:
        super().__init__(node.rule, (), (node,))
        self.index = index
        self.count = count


def parent_of(tensor: Tensor | None) -> Any:
    """Where the gradient of ``tensor`` goes: its node, the leaf itself, or nowhere."""
    if tensor is None or not tensor._requires_grad:
        return None
    return tensor if tensor._node is None else tensor._node


def is_recorded(tensors: Iterable[Tensor | None]) -> bool:
    """True if a call with these inputs goes onto the tape."""
    return mode.recording and any(x is not None and x._requires_grad for x in tensors)


def attach(node: Node, outputs: Sequence[Tensor]) -> None:
    """Make ``outputs`` the results of ``node``."""
    for index, output in enumerate(outputs):
        output._requires_grad = True
        output._node = node if len(outputs) == 1 else Slot(node, index, len(outputs))


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_outputs: GradOutputs = None,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> None:
    """Add the gradient of ``tensors`` to ``.grad`` of every leaf they were computed from.

    ``grad_outputs`` may be left out for tensors of one element (it is 1 then). With
    ``create_graph`` the gradients can be differentiated again. Nothing is added if any rule fails.
    """
    if not (_is_flag(retain_graph) and _is_flag(create_graph)):
        _check_flags("backward", retain_graph=retain_graph, create_graph=create_graph)
    tensors, grad_outputs = _as_sequences("backward", tensors, grad_outputs)
    roots = _roots("backward", tensors, grad_outputs)
    _, leaves = propagate(roots, retain_graph or create_graph, create_graph)
    seen = {id(changes.owner(gradient._array)) for _, gradient in roots}
    sums = []  # all before the first is written: one that fails leaves nothing half done
    for leaf, total in leaves.items():
        present = leaf.grad
        sums.append((leaf, present, _added(present, total, seen, create_graph)))
    for leaf, present, new in sums:
        # Another thread may have added to the same leaf since its gradient was read.
        while not _native.exchange_gradient(leaf, present, new):
            present = leaf.grad
            new = _added(present, leaves[leaf], seen, create_graph)


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
    """
    if not (_is_flag(create_graph) and _is_flag(allow_unused) and _is_flag(retain_graph)):
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
    keep = create_graph if retain_graph is None else retain_graph
    found, _ = propagate(_roots("grad", outputs, grad_outputs), keep, create_graph, set(places))
    gradients = tuple(found.get(place) for place in places)
    unused = [index for index, gradient in enumerate(gradients) if gradient is None]
    if unused and not allow_unused:
        raise value_error(
            "grad",
            "outputs do not depend on an input (allow_unused=True gives None)",
            index=unused[0],
        )
    return gradients[0] if single else gradients


def _is_flag(value: Any) -> bool:
    return value is True or value is False or value is None


def _check_flags(op: str, **flags: Any) -> None:
    for name, value in flags.items():
        wanted = wanted_by("bool | None" if name == "retain_graph" else "bool", value)
        if wanted is not None:
            raise type_error(op, f"{name} must be {wanted}", **{name: shown(value)})


def _not_a_tensor(op: str, name: str, index: int, value: Any) -> TypeError:
    return type_error(op, f"{name} must be tensors", **{f"{name}[{index}]": shown(value)})


def propagate(
    roots: Sequence[tuple[Any, Tensor]],
    retain_graph: bool,
    create_graph: bool,
    wanted: Set[Any] | None = None,
    boundary: Set[Any] = frozenset(),
) -> tuple[dict[Any, Tensor], dict[Any, Tensor]]:
    """Replay the rules from ``roots`` downwards.

    Returns the gradients of ``wanted`` (nodes and leaves) and of all leaves reached. Where
    ``wanted`` is given, only the nodes that lead to it are replayed. The nodes of ``boundary`` are
    treated as leaves, and no hook runs for anything in it: that is the business of the pass around
    this one.
    """
    oldest = 0
    useful: set[Any] | None = None
    if wanted is not None:
        oldest, useful = _leading_to(wanted, [place for place, _ in roots], boundary)
    gradients: dict[Any, Any] = {}
    leaves: dict[Any, Tensor] = {}
    found: dict[Any, Tensor] = {}
    queue: list[Node] = []
    pending = list(roots)
    previous, casting = mode.recording, mode.casting
    mode.recording, mode.casting = create_graph, False  # rules keep the dtypes of their forward
    try:
        while True:
            for place, gradient in pending:
                if not isinstance(place, Node) or place in boundary:
                    leaves[place] = gradient if place not in leaves else leaves[place] + gradient
                elif place in gradients:
                    gradients[place] = gradients[place] + gradient
                else:
                    gradients[place] = gradient
                    heapq.heappush(queue, place)
            if not queue:
                break
            pending = []
            node = heapq.heappop(queue)
            gradient = gradients.pop(node)
            if node.hooks:
                gradient = _through_hooks(node.hooks, gradient)
            if wanted is not None and node in wanted:
                found[node] = gradient
            if isinstance(node, Slot):
                _fill_slot(node, gradient, gradients, queue)
                continue
            if useful is None:
                needs = tuple([parent is not None for parent in node.parents])
            else:
                needs = tuple([parent in useful for parent in node.parents])
            if True in needs or (node.saved is _FREED and node.number > oldest):
                results = _replay(node, gradient, needs)
                for parent, needed, result in zip(node.parents, needs, results, strict=True):
                    if needed and result is not None:
                        pending.append((parent, result))
                if node.rule.keeps_tensors and not retain_graph:
                    node.saved = _FREED
                    node.parents = ()
        for leaf in leaves:
            if leaf not in boundary and (wanted is None or leaf in wanted):
                leaves[leaf] = _arrived(leaf, leaves[leaf])
    finally:
        mode.recording, mode.casting = previous, casting
    if wanted is not None:
        found.update({leaf: total for leaf, total in leaves.items() if leaf in wanted})
    return found, leaves


def _replay(node: Node, gradient: Any, needs: tuple[bool, ...]) -> Sequence[Tensor | None]:
    if node.saved is _FREED:
        op = node.rule.name.removesuffix("_backward")
        raise RuntimeError(
            f"{node.rule.name}: an earlier backward pass freed what {op} saved; compute {op} again "
            "before each pass (inside the loop), or give retain_graph=True to the earlier ones"
        )
    if node.clock != changes.clock():
        changes.check(node.rule.name, node.saved, node.clock, node.place)
    results: Sequence[Tensor | None] = node.rule.gradients(gradient, node.saved, needs, node)
    if mode.anomaly:
        _check_finite(node, results)
    return results


def _fill_slot(slot: Slot, gradient: Tensor, gradients: dict[Any, Any], queue: list[Node]) -> None:
    (node,) = slot.parents
    if node not in gradients:
        gradients[node] = [None] * slot.count
        heapq.heappush(queue, node)
    earlier = gradients[node][slot.index]
    gradients[node][slot.index] = gradient if earlier is None else earlier + gradient


def _leading_to(wanted: Set[Any], roots: Sequence[Any], boundary: Set[Any]) -> tuple[int, set[Any]]:
    """The nodes below ``roots`` from which a wanted place can be reached, and the wanted places.

    Only nodes younger than the oldest wanted place can lead to one. A freed node no longer knows
    where it leads: it counts, so that the pass ends there with an error instead of missing a part.
    """
    oldest = min((p.number if isinstance(p, Node) else 0 for p in wanted), default=0)
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        place = stack.pop()
        if (
            isinstance(place, Node)
            and place.number > oldest
            and place not in seen
            and place not in boundary
        ):
            seen.add(place)
            stack.extend(place.parents)
    useful = set(wanted)
    for node in sorted(seen, reverse=True):
        if node.saved is _FREED or any(parent in useful for parent in node.parents):
            useful.add(node)
    return oldest, useful


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


def _through_hooks(hooks: list[Hook], gradient: Tensor) -> Tensor:
    """What the hooks make of a gradient, in memory that no hook has seen."""
    for hook in tuple(hooks):
        replaced = hook(gradient)
        if replaced is not None:
            if replaced.shape != gradient.shape:
                raise value_error(
                    "register_hook",
                    f"a hook must return a gradient of shape {gradient.shape}",
                    shape=replaced.shape,
                )
            gradient = replaced
    result: Tensor = gradient.clone()
    return result


def _arrived(leaf: Tensor, total: Tensor) -> Tensor:
    """The whole gradient of a leaf: of its shape, and through its hooks."""
    if total._array.shape != leaf._array.shape:
        raise value_error(
            "backward", f"a leaf of shape {leaf.shape} needs a gradient like it", shape=total.shape
        )
    return _through_hooks(leaf._hooks, total) if leaf._hooks else total


def _added(present: Tensor | None, total: Tensor, seen: set[int], recorded: bool) -> Tensor:
    """The gradient of a leaf that had ``present``, with ``total`` added to it."""
    if present is None:
        return _unshared(total, seen, recorded)
    with recording(recorded):
        return present + total


def _unshared(gradient: Tensor, seen: set[int], recorded: bool) -> Tensor:
    """A gradient a leaf can own: two leaves never share memory, and none is a view.

    What requires grad although nothing is recorded was there before: a tensor the rule had saved.
    """
    owner = changes.owner(gradient._array)
    old = gradient._requires_grad and not recorded
    if owner is not gradient._array or id(owner) in seen or old:
        with recording(recorded):
            gradient = gradient.clone()
    else:
        seen.add(id(owner))
    return gradient


def _check_finite(node: Node, results: Sequence[Tensor | None]) -> None:
    for index, result in enumerate(results):
        if result is not None and result._has_nan():
            raise RuntimeError(
                f"{node.rule.name}: returned NaN as gradient {index} "
                f"of a call recorded at {node.place}"
            )


class Setting(ContextDecorator):
    """Sets one entry of the mode inside a block, or inside the function that it decorates."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value
        self.previous: list[Any] = []

    def _recreate_cm(self) -> Setting:
        return Setting(self.name, self.value)

    def __enter__(self) -> None:
        self.previous.append(getattr(mode, self.name))
        setattr(mode, self.name, self.value)

    def __exit__(self, *exception: object) -> None:
        setattr(mode, self.name, self.previous.pop())


def recording(enabled: bool) -> Setting:
    """Record calls on the tape, or not, inside the block."""
    return Setting("recording", enabled)


def no_grad() -> Setting:
    """Record nothing inside the block (or the decorated function)."""
    return Setting("recording", False)


def enable_grad() -> Setting:
    """Record inside the block, even within :func:`no_grad`."""
    return Setting("recording", True)


def is_grad_enabled() -> bool:
    """True if calls are being recorded in this thread."""
    return mode.recording


@checked
def gradient_eps(eps: float) -> Setting:
    """Let the tape pass ``eps`` to every rule that takes one; 0 gives plain IEEE results."""
    if not eps >= 0:
        raise value_error("gradient_eps", "eps must be 0 or greater", eps=eps)
    return Setting("epsilon", eps)


def detect_anomaly() -> Setting:
    """Remember the source line of each recorded call, and stop at the rule that makes a NaN."""
    return Setting("anomaly", True)
