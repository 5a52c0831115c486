"""LeNet-5: two convolutions and three layers, the first network to read handwriting."""

from __future__ import annotations

from extensor import arguments, nn
from extensor.ops import flatten, max_pool2d, relu
from extensor.tensor import Tensor

_SMALLEST = 4


class LeNet5(nn.Module):
    """Images (N, in_channels, image_size, image_size) to logits (N, num_classes).

    With relu and max pooling. The second convolution pads where the image is too small for it.
    """

    def __init__(self, num_classes: int = 10, in_channels: int = 1, image_size: int = 28) -> None:
        arguments.integer("LeNet5", "num_classes", num_classes, 1)
        arguments.integer("LeNet5", "in_channels", in_channels, 1)
        arguments.integer("LeNet5", "image_size", image_size, _SMALLEST)
        half = image_size // 2
        padding = 0 if half >= 8 else 2
        self.conv1 = nn.Conv2d(in_channels, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5, padding=padding)
        side = (half + 2 * padding - 4) // 2
        self.fc1 = nn.Linear(16 * side * side, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        """The logits of a batch of images."""
        x = max_pool2d(relu(self.conv1(x)), 2)
        x = max_pool2d(relu(self.conv2(x)), 2)
        x = relu(self.fc1(flatten(x, 1)))
        logits: Tensor = self.fc3(relu(self.fc2(x)))
        return logits


def lenet5(num_classes: int = 10, in_channels: int = 1, image_size: int = 28) -> LeNet5:
    """A LeNet-5 for square images.

    >>> import extensor as ex
    >>> net = ex.models.lenet5(image_size=8)
    >>> net(ex.zeros((3, 1, 8, 8))).shape
    (3, 10)
    """
    return LeNet5(num_classes, in_channels, image_size)
