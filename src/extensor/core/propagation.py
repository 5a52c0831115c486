"""The replay of the rules on the tape, backwards.

Every node is numbered after its parents; taking the highest number first is therefore a topological
order, and no recursion or second pass over the graph is needed.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence, Set
from typing import TYPE_CHECKING, Any

from extensor.core.changes import check, clock
from extensor.core.door import watchers
from extensor.core.modes import mode
from extensor.core.tape import FREED, Hook, Node, Slot
from extensor.errors import value_error

if TYPE_CHECKING:
    from extensor.core.tensor import Tensor


def propagate(
    roots: Sequence[tuple[Any, Tensor]],
    retain_graph: bool,
    create_graph: bool,
    wanted: Set[Any] | None = None,
    boundary: Set[Any] = frozenset(),
    arrived: Callable[[Tensor, Tensor], None] | None = None,
) -> tuple[dict[Any, Tensor], dict[Any, Tensor]]:
    """Replay the rules from ``roots`` downwards.

    Returns the gradients of ``wanted`` (nodes and leaves) and of all leaves reached. Where
    ``wanted`` is given, only the nodes that lead to it are replayed. The nodes of ``boundary`` are
    treated as leaves, and no hook runs for anything in it: that is the business of the pass around
    this one. ``arrived`` is told a leaf and its gradient as soon as the last rule that adds to it has
    been replayed; such a leaf is not returned.
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
    last_uses = [] if arrived is None else _last_uses([place for place, _ in roots])
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
            while last_uses and last_uses[-1][0] > node.number:
                _announce(last_uses.pop()[1], leaves, arrived)
            gradient = gradients.pop(node)
            if node.hooks:
                gradient = _through_hooks(node.hooks, gradient)
            if wanted is not None and node in wanted:
                found[node] = gradient
            if isinstance(node, Slot):
                _fill_slot(node, gradient, gradients, queue)
                continue
            needs = node.needs
            if useful is not None:
                needs = tuple([parent in useful for parent in node.parents])
            if True in needs or (node.saved is FREED and node.number > oldest):
                results = _replay(node, gradient, needs)
                for parent, needed, result in zip(node.parents, needs, results, strict=True):
                    if needed and result is not None:
                        pending.append((parent, result))
                if node.rule.keeps_tensors and not retain_graph:
                    node.saved = FREED
                    node.parents = ()
        while last_uses:
            _announce(last_uses.pop()[1], leaves, arrived)
        for leaf in leaves:
            if leaf not in boundary and (wanted is None or leaf in wanted):
                leaves[leaf] = _arrived(leaf, leaves[leaf])
    finally:
        mode.recording, mode.casting = previous, casting
    if wanted is not None:
        found.update({leaf: total for leaf, total in leaves.items() if leaf in wanted})
    return found, leaves


def _replay(node: Node, gradient: Any, needs: tuple[bool, ...]) -> Sequence[Tensor | None]:
    saved = node.saved
    if saved is FREED:
        op = node.rule.name.removesuffix("_backward")
        raise RuntimeError(
            f"{node.rule.name}: an earlier backward pass freed what {op} saved; compute {op} again "
            "before each pass (inside the loop), or give retain_graph=True to the earlier ones"
        )
    if node.clock != clock():
        check(node.rule.name, saved, node.clock, node.place)
    if watchers:
        results = _watched(node, gradient, needs)
    else:
        results = node.rule.gradients(gradient, saved, needs, node)
    if mode.anomaly:
        _check_finite(node, results)
    return results


def _watched(node: Node, gradient: Any, needs: tuple[bool, ...]) -> Sequence[Tensor | None]:
    """The same while the watchers can see whose rule is at work."""
    outer = mode.node
    mode.node = node
    try:
        results: Sequence[Tensor | None] = node.rule.gradients(gradient, node.saved, needs, node)
    finally:
        mode.node = outer
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
    oldest = min([p.number if isinstance(p, Node) else 0 for p in wanted], default=0)
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
        if node.saved is FREED or not useful.isdisjoint(node.parents):
            useful.add(node)
    return oldest, useful


def _last_uses(roots: Sequence[Any]) -> list[tuple[int, Tensor]]:
    """The leaves below ``roots``, each with the oldest node that uses it; the oldest of all first.

    Nodes are replayed from the youngest on: when an older one is reached, nothing can add to the leaf.
    """
    oldest: dict[Any, int] = {}
    seen: set[Any] = set()
    stack = [place for place in roots if isinstance(place, Node)]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        for parent in node.parents:
            if isinstance(parent, Node):
                stack.append(parent)
            elif parent is not None:
                oldest[parent] = min(node.number, oldest.get(parent, node.number))
    return sorted(((number, leaf) for leaf, number in oldest.items()), key=lambda use: use[0])


def _announce(leaf: Tensor, leaves: dict[Any, Tensor], arrived: Any) -> None:
    if leaf in leaves:
        arrived(leaf, _arrived(leaf, leaves.pop(leaf)))


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


def _check_finite(node: Node, results: Sequence[Tensor | None]) -> None:
    for index, result in enumerate(results):
        if result is not None and result._has_nan():
            raise RuntimeError(
                f"{node.rule.name}: returned NaN as gradient {index} "
                f"of a call recorded at {node.place}"
            )
