"""How a formula's annotations say what each of its inputs is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    # To a type checker an input may be anything that can become a tensor.
    Array: TypeAlias = Any
    Arrays: TypeAlias = Any
    Indices: TypeAlias = Any
    Target: TypeAlias = Any
else:

    class Array:
        """A differentiable input."""

    class Arrays:
        """An input that is a sequence of differentiable arrays."""

    class Indices:
        """An input without a gradient: integers or booleans that select."""

    class Target:
        """An input that is differentiable if it is floating, and selects if it is not."""


_KINDS = {kind.__name__: kind for kind in (Array, Arrays, Indices, Target)}
_OPTIONAL = " | None"


def kind_of(annotation: str | None) -> Any:
    """The kind of input an annotation, as it is written, stands for; None for an attribute."""
    return None if annotation is None else _KINDS.get(annotation.removesuffix(_OPTIONAL))


def is_optional(annotation: str | None) -> bool:
    """True for an input that may be None."""
    return annotation is not None and annotation.endswith(_OPTIONAL)
