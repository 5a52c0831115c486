from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, Singular, real

WEIGHTED = ("x", "weight", "bias")


def _unit(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def _last(normalized_shape: Any) -> tuple[int, ...]:
    return tuple(range(-np.size(normalized_shape), 0))


def _by_channel(y: Any, weight: Any, bias: Any) -> Any:
    return np.moveaxis(np.moveaxis(y, 1, -1) * weight + bias, -1, 1)


def layer_norm(
    x: Any, weight: Any = 1.0, bias: Any = 0.0, normalized_shape: Any = (), eps: float = 1e-5
) -> Any:
    return _unit(x, _last(normalized_shape), eps) * weight + bias


def rms_norm(x: Any, weight: Any = 1.0, normalized_shape: Any = (), eps: float = 0.0) -> Any:
    """Without eps the dtype's own, which cannot be seen far from 0."""
    square = (x * x).mean(_last(normalized_shape), keepdims=True)
    return x / np.sqrt(square + eps) * weight


def group_norm(
    x: Any, weight: Any = 1.0, bias: Any = 0.0, num_groups: int = 1, eps: float = 1e-5
) -> Any:
    groups = [_unit(part, tuple(range(1, x.ndim)), eps) for part in np.split(x, num_groups, 1)]
    return _by_channel(np.concatenate(groups, 1), weight, bias)


def batch_norm(x: Any, weight: Any = 1.0, bias: Any = 0.0, eps: float = 1e-5, **_: Any) -> Any:
    return _by_channel(_unit(x, (0, *range(2, x.ndim)), eps), weight, bias)


def instance_norm(x: Any, weight: Any = 1.0, bias: Any = 0.0, eps: float = 1e-5) -> Any:
    return _by_channel(_unit(x, tuple(range(2, x.ndim)), eps), weight, bias)


def by_running(
    x: Any,
    weight: Any = 1.0,
    bias: Any = 0.0,
    running_mean: Any = None,
    running_var: Any = None,
    eps: float = 1e-5,
    **_: Any,
) -> Any:
    unit = (np.moveaxis(x, 1, -1) - running_mean) / np.sqrt(running_var + eps)
    return np.moveaxis(unit * weight + bias, -1, 1)


def _rows(
    op: str,
    reference: Any,
    shape: tuple[int, ...],
    own: tuple[int, ...],
    names: tuple[str, ...] = WEIGHTED,
    **attributes: Any,
) -> list[Case]:
    """All of ``names`` given, then without the last, and so on down to ``x`` alone."""
    return [
        Case(
            op,
            (real(*shape), *(real(*own) for _ in names[1:count])),
            reference,
            attributes,
            # A whole number that is the same in every place has a variance of 0.
            integers=False,
            names=names[:count],
        )
        for count in range(len(names), 0, -1)
    ]


LAST = [
    ((2, 3), 3, {}),
    ((4,), (4,), {"eps": 0.1}),
    ((2, 3, 4), (3, 4), {}),
    ((2, 1, 3, 2), (3, 2), {"eps": 0.01}),
    ((2, 3), (2, 3), {}),
    ((3, 17), 17, {}),
]
# Of two elements that happen to be close, a small eps makes a derivative that changes too fast.
GROUPS = [
    ((2, 4), 2, {"eps": 0.1}),
    ((2, 6, 3), 3, {}),
    ((1, 2, 2, 3), 1, {}),
    ((3, 2, 5), 2, {}),
]
CHANNELS = [((4, 3), {}), ((2, 3, 4), {"eps": 0.1}), ((2, 3, 2, 2), {}), ((3, 1, 1, 2, 1), {})]
MAPS = [((2, 3, 4), {"eps": 0.1}), ((1, 3, 2, 2), {}), ((3, 1, 1, 2, 2), {})]
ALONE = {"running_mean": None, "running_var": None, "training": True}
RUN = [((2, 3, 4), {"eps": 0.1}), ((1, 3, 2, 2), {})]
STATISTICS = {
    "running_mean": np.array([0.25, -1.5, 0.75]),
    "running_var": np.array([0.5, 1.0, 2.5]),
}

CASES = [
    *(
        row
        for shape, last, more in LAST
        for own in [(last,) if isinstance(last, int) else last]
        for op, reference, names in [
            ("layer_norm", layer_norm, WEIGHTED),
            ("rms_norm", rms_norm, WEIGHTED[:2]),
        ]
        for row in _rows(op, reference, shape, own, names, normalized_shape=last, **more)
    ),
    *(
        row
        for shape, groups, more in GROUPS
        for row in _rows("group_norm", group_norm, shape, shape[1:2], num_groups=groups, **more)
    ),
    *(
        row
        for shape, more in CHANNELS
        for row in _rows("batch_norm", batch_norm, shape, shape[1:2], **ALONE, **more)
    ),
    *(
        row
        for shape, more in MAPS
        for row in _rows("instance_norm", instance_norm, shape, shape[1:2], **more)
    ),
    *(
        row
        for shape, more in RUN
        for op, own in [("batch_norm", {}), ("instance_norm", {"use_input_stats": False})]
        for row in _rows(op, by_running, shape, shape[1:2], **STATISTICS, **own, **more)
    ),
]

# Without eps a variance of 0 has an infinite scale.
SINGULAR = [
    Singular("layer_norm", ([[2.0, 2.0]],), {"normalized_shape": 2, "eps": 0.0}),
    Singular("rms_norm", ([[0.0, 0.0]],), {"normalized_shape": 2, "eps": 0.0}),
    Singular("group_norm", ([[2.0, 2.0]],), {"num_groups": 1, "eps": 0.0}),
    Singular("instance_norm", ([[[2.0, 2.0]]],), {"eps": 0.0}),
]

MATRIX, MAP, TWO, THREE = (np.ones(shape, "f4") for shape in [(2, 3), (2, 3, 4), (2,), (3,)])


def _error(function: str, arguments: tuple[Any, ...], text: str, **attributes: Any) -> Error:
    return Error(function, arguments, f"{function}: {text}", attributes)


ERRORS = [
    *(
        error
        for op in ("layer_norm", "rms_norm")
        for error in (
            _error(
                op,
                (MATRIX, 2),
                "normalized_shape must be the sizes of the last axes of x, "
                "got normalized_shape=2, x_shape=(2, 3)",
            ),
            _error(
                op,
                (THREE, (1, 3)),
                "normalized_shape must be the sizes of the last axes of x, "
                "got normalized_shape=(1, 3), x_shape=(3,)",
            ),
            _error(op, (MATRIX, 3, TWO), "weight must have shape (3,), got weight_shape=(2,)"),
            _error(
                f"{op}_backward",
                (TWO, MATRIX, 3),
                "grad_output must have shape (2, 3), got grad_output_shape=(2,)",
            ),
        )
    ),
    _error("layer_norm", (MATRIX, 3, THREE, TWO), "bias must have shape (3,), got bias_shape=(2,)"),
    _error(
        "group_norm",
        (MATRIX, 2),
        "num_groups must divide the number of channels, got num_groups=2, channels=3",
    ),
    _error(
        "group_norm",
        (MATRIX, 0),
        "num_groups must divide the number of channels, got num_groups=0, channels=3",
    ),
    _error(
        "group_norm", (THREE, 3), "x must have a batch axis and a channel axis, got x_shape=(3,)"
    ),
    _error("group_norm", (MATRIX, 3, TWO), "weight must have shape (3,), got weight_shape=(2,)"),
    _error("batch_norm", (THREE, THREE, THREE), "x must have at least 2 axes, got x_shape=(3,)"),
    _error(
        "batch_norm",
        (MATRIX, TWO, THREE),
        "running_mean must have shape (3,), got running_mean_shape=(2,)",
    ),
    _error(
        "batch_norm",
        (MATRIX, None, THREE),
        "running_mean and running_var must come together, got given=[False, True]",
    ),
    _error(
        "batch_norm",
        (MATRIX, None, None),
        "running_mean and running_var are needed, got running_mean=None",
    ),
    _error(
        "batch_norm",
        (MATRIX[:1], None, None),
        "more than 1 value is needed for each variance, got x_shape=(1, 3)",
        training=True,
    ),
    _error(
        "batch_norm_backward",
        (TWO, MATRIX, THREE, THREE),
        "grad_output must have shape (2, 3), got grad_output_shape=(2,)",
    ),
    _error("instance_norm", (MATRIX,), "x must have at least 3 axes, got x_shape=(2, 3)"),
    _error(
        "instance_norm",
        (MAP[:, :, :1],),
        "more than 1 value is needed for each variance, got x_shape=(2, 3, 1)",
    ),
    _error(
        "instance_norm",
        (MAP,),
        "running_mean and running_var are needed, got running_mean=None",
        use_input_stats=False,
    ),
]
