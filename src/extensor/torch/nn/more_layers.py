"""Layers that the core need not have: other shapes, padding and products of two inputs."""

from __future__ import annotations

import math
from typing import Any

from extensor import ops
from extensor.torch import creation, shapes
from extensor.torch.methods import uniform_
from extensor.torch.nn import functional as F
from extensor.torch.nn.module import Module, Parameter
from extensor.torch.tensor_class import handed_out


class Unflatten(Module):
    """A dimension as several ones.

    Parameters
    ----------
    dim : int
        The dimension.
    unflattened_size : sequence of ints
        The sizes of the new ones.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> torch.nn.Unflatten(1, (2, 3))(torch.ones(4, 6)).shape
    torch.Size([4, 2, 3])
    """

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, input: Any) -> Any:
        return shapes.unflatten(input, self.dim, self.unflattened_size)


class _Pad(Module):
    mode = "constant"
    dims = 1

    def __init__(self, padding: Any, value: float = 0.0) -> None:
        super().__init__()
        self.padding = (padding,) * 2 * self.dims if isinstance(padding, int) else tuple(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self.mode, self.value)


def _pads() -> dict[str, type]:
    modes = {"Constant": "constant", "Reflection": "reflect", "Replication": "replicate"}
    modes |= {"Zero": "constant", "Circular": "circular"}
    return {
        f"{name}Pad{dims}d": type(
            f"{name}Pad{dims}d",
            (_Pad,),
            {
                "mode": mode,
                "dims": dims,
                "__module__": __name__,
                "__doc__": f"`pad` with mode {mode!r}.",
            },
        )
        for name, mode in modes.items()
        for dims in (1, 2, 3)
    }


class PixelShuffle(Module):
    """Channels as pixels: ``r * r`` of them become a square.

    Parameters
    ----------
    upscale_factor : int
        The side of the square.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> torch.nn.PixelShuffle(2)(torch.ones(1, 4, 3, 3)).shape
    torch.Size([1, 1, 6, 6])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        r, (*batch, channels, height, width) = self.upscale_factor, input.shape
        x = ops.reshape(input, (*batch, channels // (r * r), r, r, height, width))
        n = len(batch)
        x = ops.permute(x, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
        return handed_out(ops.reshape(x, (*batch, channels // (r * r), height * r, width * r)))


class Bilinear(Module):
    """``x1 @ weight @ x2 + bias`` for each output.

    Parameters
    ----------
    in1_features, in2_features, out_features : int
        The sizes.
    bias : bool, default True
        Whether to add a bias.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> torch.nn.Bilinear(2, 3, 4)(torch.ones(5, 2), torch.ones(5, 3)).shape
    torch.Size([5, 4])
    """

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True
    ) -> None:
        super().__init__()
        bound = 1 / math.sqrt(in1_features)
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(uniform_(creation.empty(shape), -bound, bound))
        self.bias = (
            Parameter(uniform_(creation.empty(out_features), -bound, bound)) if bias else None
        )

    def forward(self, input1: Any, input2: Any) -> Any:
        product = ops.einsum("...i,oij,...j->...o", input1, self.weight, input2)
        return handed_out(product if self.bias is None else ops.add(product, self.bias))


class Softmax2d(Module):
    """`softmax` along the channels of pictures.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> torch.nn.Softmax2d()(torch.zeros(1, 2, 1, 1)).flatten()
    tensor([0.5, 0.5])
    """

    def forward(self, input: Any) -> Any:
        return F.softmax(input, -3)


class UpsamplingNearest2d(Module):
    """Pictures in another size, each pixel that of the nearest.

    Parameters
    ----------
    size : int or pair of ints, optional
        The new size.
    scale_factor : float, optional
        Or how many times it is the old one.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> torch.nn.UpsamplingNearest2d(scale_factor=2)(torch.ones(1, 1, 2, 2)).shape
    torch.Size([1, 1, 4, 4])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor

    def forward(self, input: Any) -> Any:
        return F.interpolate(input, self.size, self.scale_factor)


CLASSES: dict[str, type] = {
    "Bilinear": Bilinear,
    "PixelShuffle": PixelShuffle,
    "Softmax2d": Softmax2d,
    "Unflatten": Unflatten,
    "UpsamplingNearest2d": UpsamplingNearest2d,
    **_pads(),
}
