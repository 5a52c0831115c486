from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, distinct

SAMPLES = np.random.default_rng(5).random((2, 2, 3))


def _pool(x: Any, kernel_size: Any, output_size: Any, samples: Any) -> tuple[Any, Any]:
    axes = samples.shape[-1]
    batch = x.reshape(samples.shape[0], samples.shape[1], *x.shape[x.ndim - axes :])
    values = np.empty((*batch.shape[:2], *output_size), x.dtype)
    places = np.empty(values.shape, np.int64)
    for n, c, *at in np.ndindex(values.shape):
        starts = []
        for i, (size, windows) in enumerate(zip(batch.shape[2:], output_size, strict=True)):
            u = samples[n, c, axes - 1 - i if axes == 2 else i]
            step = (size - kernel_size) / max(windows - 1, 1)
            last = at[i] == windows - 1
            starts.append(size - kernel_size if last else int((at[i] + u) * step) - int(u * step))
        seen = batch[(n, c, *(slice(s, s + kernel_size) for s in starts))]
        inside = np.unravel_index(seen.argmax(), seen.shape)
        index = tuple(s + i for s, i in zip(starts, inside, strict=True))
        values[(n, c, *at)] = batch[(n, c, *index)]
        places[(n, c, *at)] = np.ravel_multi_index(index, batch.shape[2:])
    front = x.shape[: x.ndim - axes]
    return values.reshape(*front, *output_size), places.reshape(*front, *output_size)


CASES = [
    Case(
        f"fractional_max_pool{len(how['output_size'])}d_with_indices",
        (distinct(*shape),),
        _pool,
        how,
    )
    for shape, how in (
        ((2, 2, 5, 4), {"kernel_size": 2, "output_size": (3, 2), "samples": SAMPLES[..., :2]}),
        ((2, 2, 3, 7), {"kernel_size": 3, "output_size": (1, 4), "samples": SAMPLES[..., 1:]}),
        ((2, 4, 5), {"kernel_size": 2, "output_size": (2, 3), "samples": SAMPLES[:1, :, :2]}),
        ((2, 2, 3, 7, 5), {"kernel_size": 2, "output_size": (2, 3, 2), "samples": SAMPLES}),
        ((2, 5, 3, 2), {"kernel_size": 1, "output_size": (3, 2, 1), "samples": SAMPLES[1:]}),
    )
]

PICTURE, VOLUME = np.ones((1, 1, 3, 3)), np.ones((1, 1, 3, 3, 3))
ERRORS = [
    row
    for name, x, axes in (
        ("fractional_max_pool2d_with_indices", PICTURE, 2),
        ("fractional_max_pool3d_with_indices", VOLUME, 3),
    )
    for row in (
        Error(
            name,
            (x, 2),
            f"{name}: exactly one of output_size and output_ratio must be given, "
            "got output_size=None, output_ratio=None",
        ),
        Error(
            name,
            (x, 2, 3),
            f"{name}: the windows must fit into x, got x_shape={x.shape}, "
            f"kernel_size={(2,) * axes}, output_size={(3,) * axes}",
        ),
        Error(
            name,
            (x, 2, None, 1.5),
            f"{name}: output_ratio must be between 0 and 1, got output_ratio=1.5",
        ),
        Error(
            name,
            (x, 2, 2, None, np.zeros((1, 1, 1))),
            f"{name}: samples must have shape {(1, 1, axes)}, got samples_shape=(1, 1, 1)",
        ),
    )
]
