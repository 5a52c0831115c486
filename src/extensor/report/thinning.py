"""Curves of many points, drawn with few: those are kept that the drawn line would miss most."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import Any

import numpy as np

MOST = 400
_UNSEEN = 0.1  # of the units of the paper, of which a chart has some hundreds


def corners(x: Any, y: Any, most: int = MOST) -> tuple[Any, float]:
    """The numbers of at most ``most`` points, and how far from their line the others lie at most.

    A quarter is spread evenly. Then always that point is added which is furthest from the line so
    far: corners and peaks come first, what lies on a straight line never.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if len(x) <= most:
        return np.arange(len(x)), 0.0
    kept = np.unique(np.linspace(0, len(x) - 1, max(2, most // 4)).astype(int)).tolist()
    waiting = [_furthest(x, y, begin, end) for begin, end in pairwise(kept) if end - begin > 1]
    heapq.heapify(waiting)
    while waiting and -waiting[0][0] > _UNSEEN and len(kept) < most:
        _, begin, end, middle = heapq.heappop(waiting)
        kept.append(middle)
        for part in ((begin, middle), (middle, end)):
            if part[1] - part[0] > 1:
                heapq.heappush(waiting, _furthest(x, y, *part))
    return np.sort(kept), -waiting[0][0] if waiting else 0.0


def _furthest(x: Any, y: Any, begin: int, end: int) -> tuple[float, int, int, int]:
    """Minus the distance of the furthest point from the line, where that is, and the point."""
    inner = slice(begin + 1, end)
    across, up = x[inner] - x[begin], y[inner] - y[begin]
    line = np.hypot(x[end] - x[begin], y[end] - y[begin])
    if line > 0:
        run, rise = (x[end] - x[begin]) / line, (y[end] - y[begin]) / line
        along = np.clip(across * run + up * rise, 0, line)
        distances = np.hypot(across - along * run, up - along * rise)
    else:
        distances = np.hypot(across, up)
    middle = int(distances.argmax())
    return -float(distances[middle]), begin, end, begin + 1 + middle
