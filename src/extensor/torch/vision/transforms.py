"""``torchvision.transforms``: changes of single pictures, of shape (channels, height, width)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extensor import ops
from extensor.torch import creation, shapes
from extensor.torch.nn import functional as F
from extensor.torch.tensor_class import handed_out, wrapped

__all__ = [
    "CenterCrop",
    "Compose",
    "ConvertImageDtype",
    "Lambda",
    "Normalize",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "ToTensor",
]


class Compose:
    """Transforms one after the other."""

    def __init__(self, transforms: Any) -> None:
        self.transforms = list(transforms)

    def __call__(self, picture: Any) -> Any:
        for transform in self.transforms:
            picture = transform(picture)
        return picture

    def __repr__(self) -> str:
        return f"Compose({self.transforms})"


class ToTensor:
    """A picture of PIL or an array (height, width, channels); bytes become floats from 0 to 1."""

    def __call__(self, picture: Any) -> Any:
        array = np.asarray(picture)
        array = array[None] if array.ndim == 2 else np.moveaxis(array, -1, 0)
        if array.dtype == np.uint8:
            array = array.astype(np.float32) / np.float32(255)
        return wrapped(np.ascontiguousarray(array))


class ConvertImageDtype:
    """Another dtype; bytes become floats from 0 to 1."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __call__(self, picture: Any) -> Any:
        if picture.dtype == np.uint8 and np.dtype(self.dtype).kind == "f":
            return handed_out(ops.divide(ops.cast(picture, self.dtype), 255.0))
        return picture.to(self.dtype)


class Lambda:
    """A function as a transform."""

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        self.lambd = lambd

    def __call__(self, picture: Any) -> Any:
        return self.lambd(picture)


class Normalize:
    """``(x - mean) / std`` for each channel."""

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        self.mean, self.std, self.inplace = list(mean), list(std), inplace

    def __call__(self, picture: Any) -> Any:
        shape = (-1, 1, 1)
        mean, std = (np.asarray(x, picture.dtype).reshape(shape) for x in (self.mean, self.std))
        result = handed_out(ops.divide(ops.subtract(picture, wrapped(mean)), wrapped(std)))
        return picture.copy_(result) if self.inplace else result


class _Flip:
    dim = -1

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def __call__(self, picture: Any) -> Any:
        return shapes.flip(picture, self.dim) if creation.rand(1).item() < self.p else picture


class RandomHorizontalFlip(_Flip):
    """Left and right exchanged with a chance."""


class RandomVerticalFlip(_Flip):
    """Top and bottom exchanged with a chance."""

    dim = -2


def _pair(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[-1])


class CenterCrop:
    """The middle of a picture."""

    def __init__(self, size: Any) -> None:
        self.size = _pair(size)

    def __call__(self, picture: Any) -> Any:
        (height, width), (rows, columns) = picture.shape[-2:], self.size
        if rows > height or columns > width:
            raise ValueError(
                f"CenterCrop: the picture must be at least {self.size}, got {picture.shape}"
            )
        top, left = round((height - rows) / 2), round((width - columns) / 2)
        return picture[..., top : top + rows, left : left + columns]


class RandomCrop:
    """A part of a picture by chance, after padding."""

    def __init__(self, size: Any, padding: Any = None, fill: float = 0) -> None:
        self.size, self.padding, self.fill = _pair(size), padding, fill

    def __call__(self, picture: Any) -> Any:
        if self.padding:
            around = (self.padding,) * 4 if isinstance(self.padding, int) else self.padding
            picture = F.pad(picture, around, value=self.fill)
        (height, width), (rows, columns) = picture.shape[-2:], self.size
        top, left = (
            creation.randint(0, room + 1, ()).item() for room in (height - rows, width - columns)
        )
        return picture[..., top : top + rows, left : left + columns]
