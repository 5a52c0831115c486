"""Norms whose bits do not depend on who computed which part of them."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from extensor.core import door
from extensor.distributed.layout import BLOCK

_PIECE = 64 * BLOCK  # of float64 at a time: what a cache holds


@door.through_door
def block_squares(row: Any) -> Any:
    """The sum of squares of each block of ``row``, in float64."""
    sums = np.empty(len(row) // BLOCK, np.float64)
    with np.errstate(all="ignore"):
        for begin in range(0, len(row), _PIECE):
            wide = row[begin : begin + _PIECE].astype(np.float64)
            np.square(wide, out=wide)
            first = begin // BLOCK
            part = sums[first : first + len(wide) // BLOCK]
            np.add.reduce(wide.reshape(-1, BLOCK), axis=1, out=part)
    return sums


def norm_of_blocks(squares: Any) -> float:
    """The norm of the whole from the squares of its blocks, in their order.

    They are added by a tree: neighbours first, one without a neighbour as it is.
    """
    with np.errstate(all="ignore"):
        while len(squares) > 1:
            even = len(squares) // 2 * 2
            squares = np.concatenate([squares[0:even:2] + squares[1:even:2], squares[even:]])
    return sqrt(squares[0]) if len(squares) else 0.0
