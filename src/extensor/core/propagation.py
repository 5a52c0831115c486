"""The replay of the rules on the tape, backwards.

Every node is numbered after its parents; taking the highest number first is therefore a topological
order, and no recursion or second pass over the graph is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, TypeAlias

from extensor.core.changes import check, clock
from extensor.core.door import watchers
from extensor.core.modes import mode, switched
from extensor.core.tape import FREED, Hook, Node, Slot
from extensor.errors import value_error

if TYPE_CHECKING:
    from extensor.core.tensor import Tensor

Roots: TypeAlias = "Sequence[tuple[Any, Tensor]]"  # nodes or leaves, and what to begin with
Arrived: TypeAlias = "Callable[[Tensor, Tensor], None]"  # takes a leaf and its gradient


def propagate(
    roots: Roots,
    retain_graph: bool,
    create_graph: bool,
    wanted: Set[Any] | None = None,
    boundary: Set[Any] = frozenset(),
    arrived: Arrived | None = None,
) -> tuple[dict[Any, Tensor], dict[Any, Tensor]]:
    """Replay the rules from ``roots`` downwards.

    Returns the gradients of ``wanted`` (nodes and leaves) and of all leaves reached. Where
    ``wanted`` is given, only the nodes that lead to it are replayed. The nodes of ``boundary`` are
    treated as leaves, and no hook runs for anything in it: that is the business of the pass around
    this one. ``arrived`` is called with a leaf and its gradient as soon as the last rule that adds to
    it has been replayed; such a leaf is not returned.
    """
    propagation = Propagation(retain_graph, boundary)
    if wanted is not None:
        propagation.aim_at(wanted, roots)
    if arrived is not None:
        propagation.announce_to(arrived, roots)
    recording, casting = mode.recording, mode.casting
    mode.recording, mode.casting = create_graph, False  # rules keep the dtypes of their forward
    try:
        propagation.run(roots)
    finally:
        mode.recording, mode.casting = recording, casting
    return propagation.results, propagation.leaves


class Propagation:
    """One pass over the tape: the gradients on their way down and those that have arrived.

    A node is in ``queue`` exactly while it has an entry in ``gradients``. All that can add to the
    entry is younger than the node, hence replayed before it: when a node is taken from the queue its
    gradient is complete, and hooks may see it.
    """

    # Of the class, so that a plain pass pays nothing for what it does not use.
    wanted: Set[Any] | None = None
    useful: Set[Any] | None = None  # the places that lead to a wanted one; None for all
    oldest = 0  # the number of the oldest wanted place
    arrived: Arrived | None = None
    last_uses: list[tuple[int, Tensor]] | None = None  # of the leaves, the next to come at the end

    def __init__(self, retain_graph: bool, boundary: Set[Any]) -> None:
        self.retain_graph = retain_graph
        self.boundary = boundary
        self.gradients: dict[Any, Any] = {}  # a list of gradients for a node with several outputs
        self.queue: list[Node] = []
        self.leaves: dict[Any, Tensor] = {}
        self.results: dict[Any, Tensor] = {}

    def aim_at(self, wanted: Set[Any], roots: Roots) -> None:
        """Replay only what leads to ``wanted``, and keep the gradients that arrive there."""
        self.wanted = wanted
        self.oldest, self.useful = _leading_to(wanted, [x for x, _ in roots], self.boundary)

    def announce_to(self, arrived: Arrived, roots: Roots) -> None:
        """Call ``arrived`` with each leaf once the last node that uses it has been replayed."""
        self.arrived = arrived
        self.last_uses = _last_uses([place for place, _ in roots])

    def run(self, roots: Roots) -> None:
        """Replay all nodes that a gradient reaches, the youngest first."""
        queue, gradients, wanted, useful = self.queue, self.gradients, self.wanted, self.useful
        for place, gradient in roots:
            self._add(place, gradient)
        while queue:
            node = heappop(queue)
            if self.last_uses:
                self._announce_leaves(node.number)
            gradient = gradients.pop(node)
            if node.hooks:
                gradient = _apply_hooks(node.hooks, gradient)
            if wanted is not None and node in wanted:
                self.results[node] = gradient
            if type(node) is Slot:
                self._fill_slot(node, gradient)
                continue
            needs = node.needs
            if useful is not None:
                needs = tuple([parent in useful for parent in node.parents])
            # A freed node has no parents left that could need anything; it still must be refused.
            if True in needs or (node.saved is FREED and node.number > self.oldest):
                self._replay(node, gradient, needs)
        if self.last_uses:
            self._announce_leaves(-1)
        self._complete_leaves()

    def _replay(self, node: Node, gradient: Any, needs: tuple[bool, ...]) -> None:
        """Run the rule of ``node`` and hand its results on to the parents."""
        rule, saved = node.rule, node.saved
        if saved is FREED:
            raise _freed_error(rule.name)
        if node.clock != clock():
            check(rule.name, saved, node.clock, node.place)
        if watchers:
            results = _watched_gradients(node, gradient, needs)
        else:
            results = rule.gradients(gradient, saved, needs, node)
        if mode.anomaly:
            _check_finite(node, results)
        parents = node.parents
        if not self.retain_graph and rule.keeps_tensors:
            # Before the sums are made, which may use the memory that the node gives up.
            saved = node.saved = FREED
            node.parents = ()
        for index, result in enumerate(results):
            if result is not None and needs[index]:
                self._add(parents[index], result)

    def _add(self, place: Any, gradient: Tensor) -> None:
        """Add to the gradient of ``place``. The order of the calls decides the bits of the sum."""
        if not isinstance(place, Node) or place in self.boundary:
            leaves = self.leaves
            leaves[place] = leaves[place] + gradient if place in leaves else gradient
        elif place in self.gradients:
            self.gradients[place] = self.gradients[place] + gradient
        else:
            self.gradients[place] = gradient
            heappush(self.queue, place)

    def _fill_slot(self, slot: Slot, gradient: Tensor) -> None:
        """Hand the gradient of one output to its node, which waits for those of all outputs."""
        (node,) = slot.parents
        if node not in self.gradients:
            self.gradients[node] = [None] * slot.count
            heappush(self.queue, node)
        outputs = self.gradients[node]
        earlier = outputs[slot.index]
        outputs[slot.index] = gradient if earlier is None else earlier + gradient

    def _announce_leaves(self, number: int) -> None:
        """Announce the leaves whose last use is younger than ``number``: nothing can add to them."""
        assert self.last_uses is not None
        assert self.arrived is not None
        while self.last_uses and self.last_uses[-1][0] > number:
            _, leaf = self.last_uses.pop()
            if leaf in self.leaves:
                self.arrived(leaf, _complete(leaf, self.leaves.pop(leaf)))

    def _complete_leaves(self) -> None:
        leaves, wanted, boundary = self.leaves, self.wanted, self.boundary
        for leaf in leaves:
            if leaf not in boundary and (wanted is None or leaf in wanted):
                leaves[leaf] = _complete(leaf, leaves[leaf])
        if wanted is not None:
            self.results.update({leaf: leaves[leaf] for leaf in leaves if leaf in wanted})


def _freed_error(rule: str) -> RuntimeError:
    op = rule.removesuffix("_backward")
    return RuntimeError(
        f"{rule}: an earlier backward pass freed what {op} saved; compute {op} again "
        "before each pass (inside the loop), or give retain_graph=True to the earlier ones"
    )


def _watched_gradients(
    node: Node, gradient: Any, needs: tuple[bool, ...]
) -> Sequence[Tensor | None]:
    """The gradients of a rule, with its node in the mode so that watchers see whose rule is at work."""
    with switched(mode, node=node):
        results: Sequence[Tensor | None] = node.rule.gradients(gradient, node.saved, needs, node)
    return results


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


def _apply_hooks(hooks: list[Hook], gradient: Tensor) -> Tensor:
    """The gradient after all hooks, in memory that no hook has seen.

    They run in the order of registration, over a copy of their list: a hook may remove itself.
    """
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


def _complete(leaf: Tensor, total: Tensor) -> Tensor:
    """The complete gradient of a leaf: of its shape, and through its hooks."""
    if total._array.shape != leaf._array.shape:
        raise value_error(
            "backward", f"a leaf of shape {leaf.shape} needs a gradient like it", shape=total.shape
        )
    return _apply_hooks(leaf._hooks, total) if leaf._hooks else total


def _check_finite(node: Node, results: Sequence[Tensor | None]) -> None:
    for index, result in enumerate(results):
        if result is not None and result._has_nan():
            raise RuntimeError(
                f"{node.rule.name}: returned NaN as gradient {index} "
                f"of a call recorded at {node.place}"
            )
