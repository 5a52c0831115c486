"""The pairs, a file per family.

Importing a family registers its ops. The registry then says which names are public here, so that an op
is written down in one place; ``__init__.pyi`` has their signatures for editors and type checkers.
"""

import sys

from extensor.core.op import OPS
from extensor.ops import (
    activation,
    activation_hard,
    activation_shrink,
    activation_smooth,
    arithmetic,
    arrangement,
    attention,
    bilinear,
    bits,
    broadcasting,
    casting,
    chain,
    comparison,
    compositions,
    convolution,
    convolution_transposed,
    convolution_volume,
    counting,
    cumulative,
    diagonals,
    distances,
    dropout,
    dropout_alpha,
    einsum,
    embedding,
    embedding_bag,
    exponential,
    floating,
    folding,
    gamma,
    gathering,
    grid_sampling,
    indexing,
    interpolation,
    joining,
    linear_algebra,
    logarithmic,
    loss,
    loss_alignment,
    loss_binary,
    loss_classification,
    loss_distance,
    loss_likelihood,
    loss_margin,
    matrix,
    movement,
    normalization,
    normalization_batch,
    normalization_local,
    order_statistics,
    padding,
    pooling,
    pooling_adaptive,
    pooling_average,
    pooling_fractional,
    pooling_indices,
    pooling_power,
    pooling_volume,
    recurrent,
    recurrent_gru,
    recurrent_lstm,
    reduction,
    rounding,
    scattering,
    search,
    selection,
    shuffling,
    sorting,
    special,
    statistics,
    trigonometric,
    unpooling,
)
from extensor.ops.methods import attach

# Public names that are no ops: utilities, and second names for ops.
OTHERS = {
    broadcasting: ("are_shapes_broadcastable", "broadcast_shapes", "compute_broadcast_strides"),
    joining: ("meshgrid",),
    movement: ("expand_dims", "expand_dims_backward"),
    reduction: ("max", "max_backward", "min", "min_backward"),
}


def _publish() -> list[str]:
    """Let this package have every op and rule, from the module that defines it."""
    names = {family: list(others) for family, others in OTHERS.items()}
    for op in OPS.values():
        family = names.setdefault(sys.modules[op.function.__module__], [])
        family += [op.name] if op.rule is None else [op.name, op.rule.name]
    for family, public in names.items():
        globals().update({name: getattr(family, name) for name in public})
    return sorted(name for public in names.values() for name in public)


__all__ = _publish()

attach()


def __dir__() -> list[str]:
    return sorted(__all__)
