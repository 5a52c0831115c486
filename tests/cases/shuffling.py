from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, real


def _pixel_shuffle(x: Any, upscale_factor: int) -> Any:
    r = upscale_factor
    *front, channels, height, width = x.shape
    result = np.empty((*front, channels // r**2, height * r, width * r), x.dtype)
    for a in range(r):
        for b in range(r):
            result[..., a::r, b::r] = x[..., a * r + b :: r * r, :, :]
    return result


def _pixel_unshuffle(x: Any, downscale_factor: int) -> Any:
    r = downscale_factor
    *front, channels, height, width = x.shape
    result = np.empty((*front, channels * r**2, height // r, width // r), x.dtype)
    for a in range(r):
        for b in range(r):
            result[..., a * r + b :: r * r, :, :] = x[..., a::r, b::r]
    return result


def _channel_shuffle(x: Any, groups: int) -> Any:
    each = x.shape[1] // groups
    return x[:, [group * each + i for i in range(each) for group in range(groups)]]


CASES = [
    Case("pixel_shuffle", (real(2, 8, 3, 2),), _pixel_shuffle, {"upscale_factor": 2}),
    Case("pixel_shuffle", (real(9, 1, 2),), _pixel_shuffle, {"upscale_factor": 3}),
    Case("pixel_shuffle", (real(0, 4, 1, 2),), _pixel_shuffle, {"upscale_factor": 1}),
    Case("pixel_unshuffle", (real(2, 2, 4, 6),), _pixel_unshuffle, {"downscale_factor": 2}),
    Case("pixel_unshuffle", (real(1, 3, 6),), _pixel_unshuffle, {"downscale_factor": 3}),
    Case("pixel_unshuffle", (real(1, 3, 6),), _pixel_unshuffle, {"downscale_factor": 1}),
    Case("channel_shuffle", (real(2, 6, 3, 2),), _channel_shuffle, {"groups": 2}),
    Case("channel_shuffle", (real(2, 6, 3),), _channel_shuffle, {"groups": 3}),
    Case("channel_shuffle", (real(1, 6, 3),), _channel_shuffle, {"groups": 6}),
]

ERRORS = [
    Error(
        "pixel_shuffle",
        (np.zeros((1, 6, 2, 2)), 2),
        "pixel_shuffle: x must be (..., channels, height, width) with channels divisible by "
        "upscale_factor**2, got x_shape=(1, 6, 2, 2), upscale_factor=2",
    ),
    Error(
        "pixel_shuffle",
        (np.zeros((1, 6, 2, 2)), 0),
        "pixel_shuffle: upscale_factor must be at least 1, got upscale_factor=0",
    ),
    Error(
        "pixel_unshuffle",
        (np.zeros((1, 6, 2, 3)), 2),
        "pixel_unshuffle: x must be (..., channels, height, width) with height and width divisible "
        "by downscale_factor, got x_shape=(1, 6, 2, 3), downscale_factor=2",
    ),
    Error(
        "channel_shuffle",
        (np.zeros((1, 5, 2)), 2),
        "channel_shuffle: x must be (batch, channels, ...) with channels divisible by groups, "
        "got x_shape=(1, 5, 2), groups=2",
    ),
]
