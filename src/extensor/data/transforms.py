"""Changes of whole batches, for a loader: ``transform(batch, generator)`` gives a new batch.

A batch is a tuple of arrays. Its first is the images, of shape (samples, channels, height, width);
the others are left alone, save by :class:`Mixup`. No input is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extensor import random
from extensor.arrays.dtypes import float32, is_floating
from extensor.core.creation import one_hot
from extensor.data.dataset import made_with
from extensor.errors import arguments, value_error
from extensor.random.generator import Generator

Batch = tuple[Any, ...]


class BatchTransform:
    """The base of the transforms, which take a batch and give one."""

    def __call__(self, batch: Batch, generator: Generator) -> Batch:
        raise NotImplementedError

    __repr__ = made_with


class Normalize(BatchTransform):
    """Normalization of channels: ``(images / scale - mean) / std``, in floats.

    Parameters
    ----------
    mean : float or sequence of float, default 0.0
        A number for all channels, or one for each. Channels lie along axis 1, so the columns of a table
        can be normalized too.
    std : float or sequence of float, default 1.0
        The same, greater than 0.
    scale : float, default 1.0
        Divisor of the images, greater than 0, such as 255 for images stored as bytes.

    Raises
    ------
    ValueError
        If ``std`` is not greater than 0, or if the numbers do not match the channels.

    Examples
    --------
    >>> import numpy as np
    >>> from extensor.data import Normalize
    >>> from extensor.random import Generator
    >>> images = np.full((1, 1, 1, 2), 255, np.uint8)
    >>> Normalize(mean=0.5, std=0.5, scale=255.0)((images,), Generator(0))
    (array([[[[1., 1.]]]], dtype=float32),)
    """

    def __init__(
        self,
        mean: float | Sequence[float] = 0.0,
        std: float | Sequence[float] = 1.0,
        scale: float = 1.0,
    ) -> None:
        deviation = arguments.numbers("Normalize", "std", std)
        centre = arguments.numbers("Normalize", "mean", mean)
        if not (deviation > 0).all():
            raise value_error("Normalize", "std must be greater than 0", std=std)
        arguments.number("Normalize", "scale", scale, above=0)
        lengths = {x.size for x in (centre, deviation) if x.ndim}
        if len(lengths) > 1:
            requirement = "mean and std must have one number for each channel"
            raise value_error("Normalize", requirement, mean=centre.size, std=deviation.size)
        self.mean, self.std, self.scale = mean, std, scale
        self.factor = 1 / (deviation * scale)
        self.offset = -centre / deviation

    def __call__(self, batch: Batch, generator: Generator) -> Batch:
        images, *others = batch
        channels = self.offset.size if self.offset.ndim else self.factor.size
        several = self.offset.ndim or self.factor.ndim
        if several and (images.ndim < 2 or images.shape[1] != channels):
            requirement = f"images must have {channels} channels along axis 1"
            raise value_error("Normalize", requirement, shape=images.shape)
        dtype = images.dtype if is_floating(images.dtype) else float32
        factor, offset = (_per_channel(x.astype(dtype), images) for x in (self.factor, self.offset))
        result = np.multiply(images, factor, dtype=dtype)
        result += offset
        return (result, *others)


def _per_channel(values: Any, images: Any) -> Any:
    return values.reshape(-1, *[1] * (images.ndim - 2)) if values.ndim else values


class RandomCrop(BatchTransform):
    """A window at a random place of each image, after padding with zeros.

    Parameters
    ----------
    size : int or (int, int)
        Height and width of the window; a number for a square.
    padding : int, default 0
        Number of zeros added at each edge.

    Raises
    ------
    ValueError
        In a call, if the padded images are smaller than the window, or are not of shape (samples,
        channels, height, width).

    Examples
    --------
    >>> import numpy as np
    >>> from extensor.data import RandomCrop
    >>> from extensor.random import Generator
    >>> images = np.ones((5, 3, 32, 32), np.uint8)
    >>> cropped, labels = RandomCrop(28, padding=2)((images, np.arange(5)), Generator(0))
    >>> cropped.shape, labels.tolist()
    ((5, 3, 28, 28), [0, 1, 2, 3, 4])
    """

    def __init__(self, size: int | tuple[int, int], padding: int = 0) -> None:
        self.size = arguments.pair("RandomCrop", "size", size, 1)
        self.padding = arguments.integer("RandomCrop", "padding", padding, 0)

    def __call__(self, batch: Batch, generator: Generator) -> Batch:
        images, *others = _with_images("RandomCrop", batch)
        edge = (self.padding, self.padding)
        padded = np.pad(images, ((0, 0), (0, 0), edge, edge))
        (height, width), whole = self.size, padded.shape[2:]
        if height > whole[0] or width > whole[1]:
            requirement = f"images must be at least {self.size} with padding"
            raise value_error("RandomCrop", requirement, size=whole)
        number = len(images)
        windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), axis=(2, 3))
        top, left = (
            _integers(room + 1, number, generator) for room in (whole[0] - height, whole[1] - width)
        )
        return (windows[np.arange(number), :, top, left], *others)


class RandomFlip(BatchTransform):
    """Random mirroring of images.

    Parameters
    ----------
    p : float, default 0.5
        Probability of mirroring each image, from 0 to 1.
    axis : int, default -1
        Axis that is reversed, not that of the samples: -1 mirrors left to right, -2 turns upside down.

    Raises
    ------
    ValueError
        In a call, if the images have no such axis.

    Examples
    --------
    >>> import numpy as np
    >>> from extensor.data import RandomFlip
    >>> from extensor.random import Generator
    >>> images = np.array([[[[1, 2, 3]]]])
    >>> RandomFlip(p=1.0)((images,), Generator(0))
    (array([[[[3, 2, 1]]]]),)
    """

    def __init__(self, p: float = 0.5, axis: int = -1) -> None:
        self.p = arguments.number("RandomFlip", "p", p, fraction=True)
        self.axis = arguments.integer("RandomFlip", "axis", axis)

    def __call__(self, batch: Batch, generator: Generator) -> Batch:
        images, *others = batch
        if not (-images.ndim < self.axis < 0 or 0 < self.axis < images.ndim):
            requirement = f"axis must be one of {images.ndim} axes, and not that of the samples"
            raise value_error("RandomFlip", requirement, axis=self.axis)
        chosen = random.bernoulli(self.p, len(images), "bool", generator).numpy()
        result = images.copy()
        result[chosen] = np.flip(images[chosen], self.axis)
        return (result, *others)


class Cutout(BatchTransform):
    """A square around a random point of each image set to a constant (DeVries and Taylor, 2017).

    Parameters
    ----------
    size : int
        Side of the square, 1 or more. Parts of the square may lie outside of the image.
    p : float, default 1.0
        Probability of cutting each image, from 0 to 1.
    value : float, default 0.0
        The constant.

    Raises
    ------
    ValueError
        In a call, if the images are not of shape (samples, channels, height, width).

    References
    ----------
    T. DeVries and G. W. Taylor, "Improved Regularization of Convolutional Neural Networks with Cutout",
    2017.

    Examples
    --------
    >>> import numpy as np
    >>> from extensor.data import Cutout
    >>> from extensor.random import Generator
    >>> (images,) = Cutout(1)((np.ones((2, 1, 4, 4)),), Generator(0))
    >>> images.sum(axis=(1, 2, 3))
    array([15., 15.])
    """

    def __init__(self, size: int, p: float = 1.0, value: float = 0.0) -> None:
        self.size = arguments.integer("Cutout", "size", size, 1)
        self.p = arguments.number("Cutout", "p", p, fraction=True)
        self.value = arguments.number("Cutout", "value", value)

    def __call__(self, batch: Batch, generator: Generator) -> Batch:
        images, *others = _with_images("Cutout", batch)
        number, _, height, width = images.shape
        chosen = random.bernoulli(self.p, number, "bool", generator).numpy()
        rows = self._inside(height, number, generator)[:, None, :, None]
        columns = self._inside(width, number, generator)[:, None, None, :]
        cut = rows & columns & chosen[:, None, None, None]
        return (np.where(cut, images.dtype.type(self.value), images), *others)

    def _inside(self, length: int, number: int, generator: Generator) -> Any:
        begin = _integers(length, number, generator)[:, None] - self.size // 2
        place = np.arange(length)
        return (place >= begin) & (place < begin + self.size)


class Mixup(BatchTransform):
    """Mixtures of pairs of samples, ``t * a + (1 - t) * b``, and of their targets (Zhang et al., 2018).

    ``t`` is drawn once for each batch from a beta distribution. Targets that are class numbers become
    probabilities, which `extensor.cross_entropy` accepts.

    Parameters
    ----------
    alpha : float
        Both parameters of the beta distribution, greater than 0. Small values mix little.
    num_classes : int
        Number of classes, 1 or more.

    Raises
    ------
    ValueError
        In a call, if a batch has no target.

    References
    ----------
    H. Zhang et al., "mixup: Beyond Empirical Risk Minimization", 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from extensor.data import Mixup
    >>> from extensor.random import Generator
    >>> batch = np.ones((4, 3, 8, 8), np.float32), np.array([0, 1, 2, 1])
    >>> images, targets = Mixup(alpha=0.4, num_classes=3)(batch, Generator(0))
    >>> images.shape, targets.shape, np.allclose(targets.sum(axis=1), 1)
    ((4, 3, 8, 8), (4, 3), True)
    """

    def __init__(self, alpha: float, num_classes: int) -> None:
        self.alpha = arguments.number("Mixup", "alpha", alpha, above=0)
        self.num_classes = arguments.integer("Mixup", "num_classes", num_classes, 1)

    def __call__(self, batch: Batch, generator: Generator) -> Batch:
        if len(batch) < 2:
            requirement = "a batch must have a target beside the images"
            raise value_error("Mixup", requirement, parts=len(batch))
        images, *others, target = batch
        if not is_floating(target.dtype):
            target = one_hot(target, self.num_classes).numpy()
        seed = random.randint(0, 2**64, (), "uint64", generator).item()
        share = float(np.random.default_rng(seed).beta(self.alpha, self.alpha))
        order = random.permutation(len(images), generator).numpy()
        return (_mixed(images, order, share), *others, _mixed(target, order, share))


def _mixed(x: Any, order: Any, share: float) -> Any:
    if not is_floating(x.dtype):
        x = x.astype(float32)
    return x.dtype.type(share) * x + x.dtype.type(1 - share) * x[order]


def _integers(high: int, number: int, generator: Generator) -> Any:
    return random.randint(0, high, number, generator=generator).numpy()


def _with_images(op: str, batch: Batch) -> Batch:
    if batch[0].ndim != 4:
        requirement = "images must have shape (samples, channels, height, width)"
        raise value_error(op, requirement, shape=batch[0].shape)
    return batch
