"""Residual networks: blocks that learn what to add to their input.

Modules and keys are torchvision's, in its order: what is cut off by ``children()`` works as there.
"""

from __future__ import annotations

from extensor import nn
from extensor.arrays.shapes import target
from extensor.core.tensor import Tensor
from extensor.errors import arguments, value_error
from extensor.nn.recurrent import MOST_LAYERS
from extensor.ops import flatten


def _conv3x3(channels: int, out_channels: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(channels, out_channels, 3, stride=stride, padding=1, bias=False)


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut, which is projected where shapes differ."""

    def __init__(self, channels: int, out_channels: int, stride: int = 1) -> None:
        self.conv1 = _conv3x3(channels, out_channels, stride)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU()
        self.conv2 = _conv3x3(out_channels, out_channels)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.downsample: nn.Module | None = None
        if stride != 1 or channels != out_channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels, out_channels, 1, stride=stride, bias=False),
                nn.BatchNorm2d(out_channels),
            )

    def forward(self, x: Tensor) -> Tensor:
        """``relu(f(x) + shortcut(x))``."""
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        output: Tensor = self.relu(x + shortcut)
        return output


class ResNet(nn.Module):
    """Four stages of blocks, each half as large and twice as deep as the one before.

    ``stem`` is ``"small"`` for images like CIFAR's (a 3x3 convolution) or ``"large"`` for those of
    200 pixels and more (a 7x7 convolution of stride 2 and a pooling).

    Parameters
    ----------
    blocks : list of four ints
        The number of blocks of each stage.
    num_classes : int, default 10
        The number of logits.
    in_channels : int, default 3
        The number of channels of an image.
    stem : {'small', 'large'}, default 'small'
        The layers before the first stage.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.models.ResNet([1, 1, 1, 1]).num_parameters()
    4903242
    """

    def __init__(
        self, blocks: list[int], num_classes: int = 10, in_channels: int = 3, stem: str = "small"
    ) -> None:
        arguments.integer("ResNet", "num_classes", num_classes, 1)
        arguments.integer("ResNet", "in_channels", in_channels, 1)
        arguments.choice("ResNet", "stem", stem, ("small", "large"))
        if len(target("ResNet", blocks, "blocks")) != 4 or not 1 <= max(blocks) <= MOST_LAYERS:
            requirement = f"blocks must be four ints up to {MOST_LAYERS}"
            raise value_error("ResNet", requirement, blocks=blocks)
        self.stem = stem
        self.conv1 = (
            _conv3x3(in_channels, 64)
            if stem == "small"
            else nn.Conv2d(in_channels, 64, 7, stride=2, padding=3, bias=False)
        )
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, 1) if stem == "large" else nn.Identity()
        self.layer1 = _stage(64, 64, blocks[0], 1)
        self.layer2 = _stage(64, 128, blocks[1], 2)
        self.layer3 = _stage(128, 256, blocks[2], 2)
        self.layer4 = _stage(256, 512, blocks[3], 2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        """The logits of a batch of images.

        Parameters
        ----------
        x : (N, in_channels, height, width)
            The images.

        Returns
        -------
        Tensor
            The logits, of shape (N, num_classes).
        """
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = stage(x)
        logits: Tensor = self.fc(flatten(self.avgpool(x), 1))
        return logits


def _stage(channels: int, out_channels: int, count: int, stride: int) -> nn.Sequential:
    first = BasicBlock(channels, out_channels, stride)
    return nn.Sequential(first, *(BasicBlock(out_channels, out_channels) for _ in range(count - 1)))


def resnet18(num_classes: int = 10, in_channels: int = 3, stem: str = "small") -> ResNet:
    """A ResNet-18, by default for images of CIFAR's size.

    Parameters
    ----------
    num_classes : int, default 10
        The number of logits.
    in_channels : int, default 3
        The number of channels of an image.
    stem : {'small', 'large'}, default 'small'
        "small" for images like CIFAR's, "large" for those of 200 pixels and more.

    Returns
    -------
    ResNet
        The network.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.models.resnet18().num_parameters()
    11173962
    """
    return ResNet([2, 2, 2, 2], num_classes, in_channels, stem)
