"""What the tape keeps of a call, which the parameter names of its rule say.

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

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from extensor import _native
from extensor.core.conversion import shape_of
from extensor.core.tensor import Tensor

if TYPE_CHECKING:
    from extensor.core.op import Op

# The order of ``Keep`` in native/python/dispatch.cpp.
NATIVE_ROLES = ("tensor", "shape", "dtype", "output", "attribute")
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


def keeper_of(op: Op, role: str, index: int) -> Callable[..., Any]:
    """The function that takes one thing to keep from (tensors, outputs, attributes)."""
    if role == "tensor" and op.inputs[index] in op.updates:
        role = "updated"
    keepers: dict[str, Callable[..., Any]] = {
        "tensor": lambda tensors, outputs, attributes: tensors[index],
        # A copy: the next call changes the tensor itself, before this one's backward pass.
        "updated": lambda tensors, outputs, attributes: _copied(tensors[index]),
        "shape": lambda tensors, outputs, attributes: shape_of(tensors[index]),
        "shapes": lambda tensors, outputs, attributes: shape_of(tensors[index]),
        "dtype": lambda tensors, outputs, attributes: tensors[index].dtype,
        # The array, not the tensor: a node that held its own output would be a cycle.
        "output": lambda tensors, outputs, attributes: outputs[0]._array,
        "indices": lambda tensors, outputs, attributes: outputs[index].detach(),
        "kept": lambda tensors, outputs, attributes: outputs[index].detach(),
        "attribute": lambda tensors, outputs, attributes: _native.frozen(attributes[index]),
    }
    return keepers[role]


def _copied(x: Tensor | None) -> Tensor | None:
    return None if x is None else x.detach().clone()


def kept_natively(roles: Sequence[Role]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The roles and places in the numbers of the dispatcher; None if Python alone can keep them."""
    kept = [(role, index) for role, index in roles if role != "eps"]
    if any(role not in NATIVE_ROLES for role, _ in kept):
        return None
    return tuple(NATIVE_ROLES.index(role) for role, _ in kept), tuple(index for _, index in kept)
