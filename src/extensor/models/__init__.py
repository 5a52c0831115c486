"""Networks that are ready to train: each a function that builds one, and its class."""

from extensor.models.convnet import convnet
from extensor.models.gpt import GPT, gpt
from extensor.models.lenet import LeNet5, lenet5
from extensor.models.mlp import mlp
from extensor.models.resnet import ResNet, resnet18

__all__ = ["GPT", "LeNet5", "ResNet", "convnet", "gpt", "lenet5", "mlp", "resnet18"]


def __dir__() -> list[str]:
    return sorted(__all__)
