"""A small convolutional network for pictures of any size."""

from __future__ import annotations

from extensor import nn
from extensor.errors import arguments

_SMALLEST = 8
_BLOCKS = 3  # each with twice the channels of the one before


def convnet(
    num_classes: int,
    in_channels: int = 3,
    image_size: int | tuple[int, int] = 32,
    width: int = 32,
) -> nn.Sequential:
    """Blocks of convolution, normalization and relu, then the mean of each channel and a layer.

    Pictures (N, in_channels, height, width) become logits (N, num_classes). A picture is halved as
    often as its shorter side keeps 4 pixels: three blocks of ``width``, twice and four times as many
    channels end in a pooling by 2 as long as there is something to halve. Pictures of 64 pixels and
    more are made smaller before them, by convolutions of stride 2.

    Parameters
    ----------
    num_classes : int
        The number of logits.
    in_channels : int, default 3
        The number of channels of a picture.
    image_size : int or pair of ints, default 32
        The height and width of a picture, 8 or more.
    width : int, default 32
        The number of channels of the first block.

    Returns
    -------
    Sequential
        The network.

    Examples
    --------
    >>> import extensor as ex
    >>> net = ex.models.convnet(10, image_size=(24, 48))
    >>> net(ex.zeros((2, 3, 24, 48))).shape
    (2, 10)
    """
    op = "convnet"
    num_classes = arguments.integer(op, "num_classes", num_classes, 1)
    channels = arguments.integer(op, "in_channels", in_channels, 1)
    side = min(arguments.pair(op, "image_size", image_size, _SMALLEST))
    width = arguments.integer(op, "width", width, 1)
    halvings = (side // 4).bit_length() - 1
    layers: list[nn.Module] = []
    for _ in range(halvings - _BLOCKS):
        layers.append(_block(channels, width, stride=2))
        channels = width
    for number in range(_BLOCKS):
        layers.append(_block(channels, width << number, pooled=number < halvings))
        channels = width << number
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, num_classes)
    )


def _block(channels: int, out_channels: int, stride: int = 1, pooled: bool = False) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(channels, out_channels, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(),
        *([nn.MaxPool2d(2)] if pooled else []),
    )
