"""The derivative of a rule whose values came from a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from extensor.core import backward_pass, modes, tape
from extensor.core.tensor import Tensor

if TYPE_CHECKING:
    from extensor.core.rule import Rule

Needs: TypeAlias = tuple[bool, ...] | None  # which gradients are asked for; None asks for all


class FormulaDerivative:
    """The rule of such a node: the formula, run again on the tape and differentiated."""

    keeps_tensors = True

    def __init__(self, rule: Rule, needs: Needs) -> None:
        self.rule = rule
        self.needs = needs
        self.name = f"{rule.name}_backward"

    def gradients(
        self, grad_output: Any, saved: tuple[Any, ...], needs: tuple[bool, ...], node: tape.Node
    ) -> Sequence[Tensor | None]:
        # The mode of the pass around this one: whether its results are differentiated once more.
        again = modes.is_grad_enabled()
        with modes.recording(True):
            # An alias for each argument, so that one tensor given twice gets two gradients.
            arguments = _with_aliases(saved)
            results = self.rule.by_formula(arguments, self.needs, checked=True)
        outputs = [x for x in results if x is not None]
        aliases = tensors_in(arguments)
        wanted = [x for x, needed in zip(aliases, needs, strict=True) if needed]
        seeds = grad_output if isinstance(grad_output, list) else [grad_output]
        pairs = [
            (x, seed)
            for x, seed in zip(outputs, seeds, strict=True)
            if seed is not None and x.requires_grad
        ]
        if not pairs:
            return [None] * len(needs)
        roots, root_seeds = zip(*pairs, strict=True)
        found = iter(
            backward_pass.grad(roots, wanted, root_seeds, create_graph=again, allow_unused=True)
        )
        return [next(found) if needed else None for needed in needs]


def tensors_in(arguments: Sequence[Any]) -> list[Tensor]:
    """The tensors among the arguments of a rule, those of a list included."""
    parts = (x if isinstance(x, list) else [x] for x in arguments)
    return [x for part in parts for x in part if isinstance(x, Tensor)]


def _with_aliases(arguments: Sequence[Any]) -> list[Any]:
    return [
        _with_aliases(x) if isinstance(x, list) else x.identity() if isinstance(x, Tensor) else x
        for x in arguments
    ]
