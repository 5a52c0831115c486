"""LeNet-5: two convolutions and three layers, the first network to read handwriting."""

from __future__ import annotations

from extensor import nn
from extensor.core.tensor import Tensor
from extensor.errors import arguments

_SMALLEST = 4


class LeNet5(nn.Module):
    """Images (N, in_channels, image_size, image_size) to logits (N, num_classes).

    With relu and max pooling. The second convolution pads where the image is too small for it. The
    children stand in the order in which they are called, so that a part of them is a network too.

    Parameters
    ----------
    num_classes : int, default 10
        The number of logits.
    in_channels : int, default 1
        The number of channels of an image.
    image_size : int, default 28
        The height and width of an image, 4 or more.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.models.LeNet5()(ex.zeros((3, 1, 28, 28))).shape
    (3, 10)
    """

    def __init__(self, num_classes: int = 10, in_channels: int = 1, image_size: int = 28) -> None:
        arguments.integer("LeNet5", "num_classes", num_classes, 1)
        arguments.integer("LeNet5", "in_channels", in_channels, 1)
        arguments.integer("LeNet5", "image_size", image_size, _SMALLEST)
        half = image_size // 2
        padding = 0 if half >= 8 else 2
        side = (half + 2 * padding - 4) // 2
        self.conv1 = nn.Conv2d(in_channels, 6, 5, padding=2)
        self.relu1 = nn.ReLU()
        self.pool1 = nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(6, 16, 5, padding=padding)
        self.relu2 = nn.ReLU()
        self.pool2 = nn.MaxPool2d(2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Linear(16 * side * side, 120)
        self.relu3 = nn.ReLU()
        self.fc2 = nn.Linear(120, 84)
        self.relu4 = nn.ReLU()
        self.fc3 = nn.Linear(84, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        """The logits of a batch of images.

        Parameters
        ----------
        x : (N, in_channels, image_size, image_size)
            The images.

        Returns
        -------
        Tensor
            The logits, of shape (N, num_classes).
        """
        x = self.pool1(self.relu1(self.conv1(x)))
        x = self.pool2(self.relu2(self.conv2(x)))
        x = self.relu3(self.fc1(self.flatten(x)))
        logits: Tensor = self.fc3(self.relu4(self.fc2(x)))
        return logits


def lenet5(num_classes: int = 10, in_channels: int = 1, image_size: int = 28) -> LeNet5:
    """A LeNet-5 for square images.

    Parameters
    ----------
    num_classes : int, default 10
        The number of logits.
    in_channels : int, default 1
        The number of channels of an image.
    image_size : int, default 28
        The height and width of an image, 4 or more.

    Returns
    -------
    LeNet5
        The network.

    Examples
    --------
    >>> import extensor as ex
    >>> net = ex.models.lenet5(image_size=8)
    >>> net(ex.zeros((3, 1, 8, 8))).shape
    (3, 10)
    """
    return LeNet5(num_classes, in_channels, image_size)
