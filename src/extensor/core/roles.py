"""The parameters of a rule: their names decide what the tape keeps of a call.

=====================  ==================================================
``grad_output``        the gradient that comes in (``grad_outputs`` for an op with several outputs)
``x`` (an input)       that tensor
``x_shape``            only its shape (``input_shape`` where there is one input, ``shapes`` of a sequence)
``x_dtype``            only its dtype (``input_dtype`` where there is one input)
``output``             the result
``indices``            the second output, where no input has that name
a name in ``kept``     that further output, None while the rule is recorded: it has no derivative
an attribute           its value
``eps``                what :func:`extensor.gradient_eps` says at backward time
=====================  ==================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from extensor.core.op import Op

# The order of ``Keep`` in native/python/record.h.
KEEP = ("tensor", "updated", "shape", "dtype", "output", "further", "attribute")
TENSOR_ROLES = ("tensor", "output", "indices", "kept")

Role = tuple[str, int]  # and the place among the inputs, the outputs or the attributes


def role_of(rule: str, op: Op, name: str) -> Role:
    """The role of the parameter ``name`` of the rule of ``op``."""
    if name in op.inputs:
        return "tensor", op.inputs.index(name)
    if name in op.attributes:
        return "attribute", op.attributes.index(name)
    if name in ("output", "eps"):
        return name, 0
    if name in op.kept:
        return "kept", op.kept.index(name) - len(op.kept)
    if name == "indices":
        return name, 1
    if name == "shapes" and op.variadic:
        return "shapes", 0
    for suffix in ("shape", "dtype"):
        stem = name.removesuffix(f"_{suffix}")
        if stem != name and stem in op.inputs:
            return suffix, op.inputs.index(stem)
        if name == f"input_{suffix}" and len(op.inputs) == 1:
            return suffix, 0
    raise TypeError(f"{rule}: {name} is no input, attribute or output of {op.name}")


def kept_by(op: Op, roles: Sequence[Role]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The things a node keeps and their places, as the numbers of ``Keep``."""
    kept = [(_keep(op, role, index), index) for role, index in roles if role != "eps"]
    return tuple(KEEP.index(name) for name, _ in kept), tuple(index for _, index in kept)


def _keep(op: Op, role: str, index: int) -> str:
    if role == "tensor" and op.inputs[index] in op.updates:
        return "updated"
    return {"shapes": "shape", "indices": "further", "kept": "further"}.get(role, role)
