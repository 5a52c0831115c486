"""Transforms of batches, each against a plain account of one sample at a time."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data import Cutout, Mixup, Normalize, RandomCrop, RandomFlip
from extensor.random import Generator

LABELS = np.arange(64) % 3


@pytest.fixture
def images(rng: np.random.Generator) -> np.ndarray:
    """Read-only, so that a transform that changes its input fails."""
    array = rng.uniform(1, 2, (64, 3, 5, 6)).astype(np.float32)
    array.flags.writeable = False
    return array


def _applied(transform: Any, images: np.ndarray, seed: int = 0) -> np.ndarray:
    result, labels = transform((images, LABELS), Generator(seed))
    assert labels is LABELS
    assert result.dtype == np.float32
    return result


@pytest.mark.parametrize(
    ("mean", "std"), [(1.5, 0.5), ((1.0, 1.5, 2.0), (0.5, 1.0, 2.0)), ((1.0, 1.0, 0.0), 2.0)]
)
def test_normalize(mean: Any, std: Any, images: np.ndarray) -> None:
    expected = np.empty_like(images)
    for channel in range(3):
        m, s = (np.broadcast_to(value, 3)[channel] for value in (mean, std))
        expected[:, channel] = (images[:, channel].astype(np.float64) - m) / s
    np.testing.assert_allclose(
        _applied(Normalize(mean, std), images), expected, rtol=1e-5, atol=1e-6
    )


def test_normalize_of_bytes_gives_floats() -> None:
    pixels = np.array([0, 51, 255], np.uint8).reshape(1, 1, 1, 3)
    (result,) = Normalize(mean=0.2, std=0.4, scale=255.0)((pixels,), Generator(0))
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.ravel(), [-0.5, 0.0, 2.0], atol=1e-6)


@pytest.mark.parametrize(("size", "padding"), [((3, 4), 0), (5, 2), ((5, 6), 0)])
def test_crops_are_windows(size: Any, padding: int, images: np.ndarray) -> None:
    height, width = (size, size) if isinstance(size, int) else size
    edge = (padding, padding)
    padded = np.pad(images, ((0, 0), (0, 0), edge, edge))
    result = _applied(RandomCrop(size, padding), images)
    assert result.shape == (64, 3, height, width)
    places = set()
    for crop, whole in zip(result, padded, strict=True):
        places.add(
            next(
                (top, left)
                for top in range(padded.shape[2] - height + 1)
                for left in range(padded.shape[3] - width + 1)
                if np.array_equal(whole[:, top : top + height, left : left + width], crop)
            )
        )
    possible = (padded.shape[2] - height + 1) * (padded.shape[3] - width + 1)
    assert len(places) == possible if possible < 10 else len(places) > 10


@pytest.mark.parametrize("axis", [-1, -2])
def test_flips_are_mirrored_or_not(axis: int, images: np.ndarray) -> None:
    result = _applied(RandomFlip(axis=axis), images)
    flipped = [
        np.array_equal(after, np.flip(before, axis))
        for after, before in zip(result, images, strict=True)
    ]
    for mirrored, after, before in zip(flipped, result, images, strict=True):
        assert mirrored or np.array_equal(after, before)
    assert 16 < sum(flipped) < 48
    np.testing.assert_array_equal(_applied(RandomFlip(p=0.0), images), images)


def test_cutout_blanks_a_square(images: np.ndarray) -> None:
    result = _applied(Cutout(3, value=-1.0), images)
    for after, before in zip(result, images, strict=True):
        cut = after == -1
        np.testing.assert_array_equal(after[~cut], before[~cut])
        rows, columns = cut[0].any(axis=1), cut[0].any(axis=0)
        np.testing.assert_array_equal(cut, np.broadcast_to(rows[:, None] & columns, cut.shape))
        assert 2 <= rows.sum() <= 3
        assert 2 <= columns.sum() <= 3
        assert np.ptp(np.flatnonzero(rows)) < 3
    whole = (_applied(Cutout(3, p=0.25), images) != 0).all(axis=(1, 2, 3)).sum()
    assert 36 < whole < 60


def test_mixup_mixes_samples_and_targets_alike(images: np.ndarray) -> None:
    mixed, target = Mixup(0.4, num_classes=3)((images, LABELS), Generator(2))
    assert target.shape == (64, 3)
    np.testing.assert_allclose(target.sum(axis=1), 1, rtol=1e-6)
    for x, before, y, label in zip(mixed, images, target, LABELS, strict=True):
        shares = [
            (np.vdot(x - other, before - other) / np.vdot(before - other, before - other), j)
            for j, other in enumerate(images)
            if other is not before and not np.array_equal(other, before)
        ]
        fits = [
            (share, j)
            for share, j in shares
            if np.allclose(x, share * before + (1 - share) * images[j], atol=1e-5)
        ]
        if not np.array_equal(x, before):
            share, j = fits[0]
            expected = np.zeros(3)
            expected[label] += share
            expected[LABELS[j]] += 1 - share
            np.testing.assert_allclose(y, expected, atol=1e-4)
    ex.cross_entropy(ex.zeros((64, 3)), target)


def test_share_of_mixup_is_beta_distributed() -> None:
    zero_one = np.zeros((2, 1, 1, 1), np.float32)
    zero_one[1] = 1
    generator = Generator(0)
    mixup = Mixup(0.3, 2)
    shares: list[Any] = []
    while len(shares) < 2000:
        x, _ = mixup((zero_one, np.array([0, 1])), generator)
        if x[0] != 0:  # mixed with the other one, not with itself
            shares.append(1 - float(x[0, 0, 0, 0]))
    variance = 1 / (4 * (2 * 0.3 + 1))
    assert abs(np.mean(shares) - 0.5) < 4 * (variance / 2000) ** 0.5
    assert abs(np.var(shares) - variance) < 0.01


@pytest.mark.parametrize("transform", [RandomCrop(4), RandomFlip(), Cutout(2), Mixup(0.5, 3)])
def test_chance_comes_from_the_generator(transform: Any, images: np.ndarray) -> None:
    first, again, other = (transform((images, LABELS), Generator(s))[0] for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Normalize(std=(1.0, 0.0)),
            "Normalize: std must be greater than 0, got std=(1.0, 0.0)",
        ),
        (lambda: Normalize(scale=0), "Normalize: scale must be greater than 0, got scale=0"),
        (
            lambda: RandomCrop(0),
            "RandomCrop: size must be 1 or more, got size=0",
        ),
        (lambda: RandomFlip(1.5), "RandomFlip: p must be in [0, 1], got p=1.5"),
        (lambda: Cutout(0), "Cutout: size must be 1 or more, got size=0"),
        (lambda: Mixup(0.0, 3), "Mixup: alpha must be greater than 0, got alpha=0.0"),
        (
            lambda: RandomCrop(9)((np.ones((1, 1, 5, 6)),), Generator(0)),
            "RandomCrop: images must be at least (9, 9) with padding, got size=(5, 6)",
        ),
    ],
)
def test_errors(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
