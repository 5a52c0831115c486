from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, real

CASES = [
    Case("concatenate", ([real(2, 3), real(1, 3)],), np.concatenate),
    Case("concatenate", ([real(2, 3), real(2, 0), real(2, 1)],), np.concatenate, {"axis": -1}),
    Case("concatenate", ([real(2)],), np.concatenate),
    Case("stack", ([real(2, 3), real(2, 3)],), np.stack),
    Case("stack", ([real(2, 3), real(2, 3), real(2, 3)],), np.stack, {"axis": -1}),
    Case("stack", ([real(2, 3), real(2, 3)],), np.stack, {"axis": 1}),
    Case("stack", ([real(), real()],), np.stack),
    Case("split", (real(4, 3),), np.split, {"indices_or_sections": 2}),
    Case("split", (real(2, 3),), np.split, {"indices_or_sections": 3, "axis": -1}),
    Case("split", (real(5),), np.split, {"indices_or_sections": [1, 3]}),
    Case("split", (real(5),), np.split, {"indices_or_sections": (2, 2, 9)}),
    Case("split", (real(2, 5),), np.split, {"indices_or_sections": [-2], "axis": 1}),
    Case("split", (real(3),), np.split, {"indices_or_sections": 1}),
    Case("split", (real(3),), np.split, {"indices_or_sections": []}),
    Case("tile", (real(2, 3),), np.tile, {"reps": 2}),
    Case("tile", (real(2, 3),), np.tile, {"reps": (2, 1, 3)}),
    Case("tile", (real(2, 3),), np.tile, {"reps": (2, 0)}),
    Case("tile", (real(),), np.tile, {"reps": (2, 2)}),
    Case("tile", (real(2),), np.tile, {"reps": ()}),
    Case("repeat", (real(2, 3),), np.repeat, {"repeats": 2}),
    Case("repeat", (real(2, 3),), np.repeat, {"repeats": 2, "axis": -1}),
    Case("repeat", (real(2, 3),), np.repeat, {"repeats": [2, 0, 1], "axis": 1}),
    Case("repeat", (real(2, 3),), np.repeat, {"repeats": 0, "axis": 0}),
    Case("repeat", (real(),), np.repeat, {"repeats": 3}),
    Case("repeat", (real(0, 2),), np.repeat, {"repeats": 3, "axis": 0}),
]


def _error(name: str, arguments: tuple[Any, ...], text: str, **options: Any) -> Error:
    return Error(name, arguments, f"{name}: {text}", **options)


ERRORS = [
    _error(
        "concatenate",
        ([[[1.0]], [[1.0, 2.0]]],),
        "shapes must be equal except along axis 0, got shapes=[(1, 1), (1, 2)]",
    ),
    _error(
        "concatenate",
        ([[[1.0]], [1.0]],),
        "shapes must be equal except along axis 0, got shapes=[(1, 1), (1,)]",
    ),
    _error("concatenate", ([1.0, 2.0],), "axis cannot be given for a 0-d tensor, got axis=0"),
    _error(
        "concatenate",
        ([],),
        "needs a sequence of at least one tensor, got tensors='list'",
        kind=TypeError,
    ),
    _error(
        "concatenate_backward",
        ([1.0, 2.0], [(2,), (1,)]),
        "grad_output must have shape (3,), got grad_output_shape=(2,)",
    ),
    _error("stack", ([[1.0], [1.0, 2.0]],), "shapes must be equal, got shapes=[(1,), (2,)]"),
    _error("stack", ([[1.0], [2.0]], 2), "axis must be in [-2, 1] for 2 axes, got axis=2"),
    _error("stack_backward", ([1.0], 1), "axis must be in [-1, 0] for 1 axes, got axis=1"),
    _error(
        "split",
        ([1.0, 2.0, 3.0], 2),
        "sections must divide axis 0 of size 3 equally, got indices_or_sections=2",
    ),
    _error(
        "split",
        ([1.0, 2.0], 0),
        "sections must divide axis 0 of size 2 equally, got indices_or_sections=0",
    ),
    _error(
        "split",
        ([1.0, 2.0, 3.0], [2, 1]),
        "indices must not decrease, got indices_or_sections=[2, 1]",
    ),
    _error(
        "split",
        ([1.0, 2.0], [0.5]),
        "indices_or_sections must be an int or ints, got indices_or_sections=[0.5]",
        kind=TypeError,
    ),
    _error(
        "split_backward",
        (([1.0], [[1.0]]),),
        "shapes must be equal except along axis 0, got shapes=[(1,), (1, 1)]",
    ),
    _error("tile", ([1.0], -1), "reps must not be negative, got reps=-1"),
    _error(
        "tile_backward",
        ([1.0, 2.0], (2,), 2),
        "grad_output must have shape (4,), got grad_output_shape=(2,)",
    ),
    _error("repeat", ([1.0], 0.5), "repeats must be ints, got repeats=0.5", kind=TypeError),
    _error("repeat", ([1.0], -1), "repeats must not be negative, got repeats=(-1,)"),
    _error(
        "repeat",
        ([1.0, 2.0], [1, 2, 3]),
        "repeats must be one int or 2, one for each element, got repeats=[1, 2, 3]",
    ),
    _error(
        "repeat_backward",
        ([1.0, 2.0], (2,), 2),
        "grad_output must have shape (4,), got grad_output_shape=(2,)",
    ),
    Error(
        "meshgrid",
        ([1.0],),
        "meshgrid: indexing must be 'xy' or 'ij', got indexing='yx'",
        {"indexing": "yx"},
    ),
]
