"""The tape: which rule made each tensor, from what.

A node holds a rule, what the rule asked to keep, and its parents. Nodes never point at the tensors
they made, so no reference cycle exists and a step is freed the moment its last tensor goes. Every
node is numbered after its parents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from extensor import _native
from extensor.core.modes import mode
from extensor.errors.places import user_place

if TYPE_CHECKING:
    from extensor.core.tensor import Tensor

Hook = Callable[["Tensor"], "Tensor | None"]

# One counter for all threads. A node takes its number after its parents have theirs and before any
# node computed from it exists, so sorting by number is a topological order of every graph.
next_number = _native.next_number
attach = _native.attach  # (node, outputs): makes a list of tensors the results of a node
# In place of what a node saved. Compared by identity: a node that saves nothing has () and can be
# replayed any number of times.
FREED: tuple[Any, ...] = ("freed",)


class Replayable(Protocol):
    """The interface of a node's rule: its name, and the gradients of the node's inputs.

    A node whose rule ``keeps_tensors`` gives them up after a backward pass, and with them its use.
    """

    name: str
    keeps_tensors: bool

    def gradients(
        self, grad_output: Any, saved: tuple[Any, ...], needs: tuple[bool, ...], node: Node
    ) -> Sequence[Tensor | None]: ...


class Node(_native.NodeBase):
    """One recorded call. ``parents``: a leaf, a node or None for each differentiable input.

    ``needs`` tells which of them there are, and ``<`` is the order of a backward pass.
    """

    __slots__ = ()

    def __init__(self, rule: Replayable, saved: tuple[Any, ...], parents: tuple[Any, ...]) -> None:
        super().__init__(rule, saved, parents)
        if mode.anomaly:
            self.place = user_place()


class Slot(Node):
    """One output of a node that has several; its gradient goes to place ``index`` there."""

    __slots__ = ("count", "index")

    def __init__(self, node: Node, index: int, count: int) -> None:
        # Numbered after its node, so it is replayed first and its gradient is in the node's list in time.
        super().__init__(node.rule, (), (node,))
        self.index = index
        self.count = count


def parent_of(tensor: Tensor | None) -> Any:
    """Where the gradient of ``tensor`` goes: its node, the leaf itself, or nowhere."""
    # A leaf is its own place: gradients of one tensor used twice meet under one key.
    if tensor is None or not tensor._requires_grad:
        return None
    return tensor if tensor._node is None else tensor._node


def is_recorded(tensors: Iterable[Tensor | None]) -> bool:
    """True if a call with these inputs goes onto the tape."""
    return mode.recording and any(x is not None and x._requires_grad for x in tensors)
