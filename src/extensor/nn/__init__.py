"""Networks: modules, layers, losses and their initial values."""

from typing import TYPE_CHECKING, Any

from extensor.errors.torch_names import MODULES, missing
from extensor.nn import init
from extensor.nn.activation import GLU, LeakyReLU, LogSoftmax, PReLU, ReLU, Sigmoid, Softmax, Tanh
from extensor.nn.activation_hard import Hardsigmoid, Hardswish, Hardtanh, ReLU6
from extensor.nn.activation_shrink import Hardshrink, RReLU, Softshrink, Tanhshrink, Threshold
from extensor.nn.activation_smooth import (
    CELU,
    ELU,
    GELU,
    SELU,
    LogSigmoid,
    Mish,
    SiLU,
    Softplus,
    Softsign,
)
from extensor.nn.activation_softmax import Softmax2d, Softmin
from extensor.nn.attention import MultiHeadAttention, MultiheadAttention
from extensor.nn.containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from extensor.nn.convolution import Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d
from extensor.nn.distances import (
    CosineSimilarity,
    PairwiseDistance,
    TripletMarginWithDistanceLoss,
)
from extensor.nn.dropout import Dropout, Dropout2d
from extensor.nn.embedding import Embedding
from extensor.nn.linear import Flatten, Identity, Linear
from extensor.nn.loss import HuberLoss, KLDivLoss, L1Loss, MSELoss, SmoothL1Loss
from extensor.nn.loss_binary import BCELoss, BCEWithLogitsLoss, FocalLoss, HingeLoss
from extensor.nn.loss_classification import CrossEntropyLoss, NLLLoss
from extensor.nn.loss_distance import CosineEmbeddingLoss, TripletMarginLoss
from extensor.nn.loss_likelihood import CTCLoss, GaussianNLLLoss, PoissonNLLLoss
from extensor.nn.loss_margin import (
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
)
from extensor.nn.module import Module
from extensor.nn.normalization import GroupNorm, LayerNorm, RMSNorm
from extensor.nn.normalization_batch import BatchNorm1d, BatchNorm2d, InstanceNorm2d
from extensor.nn.parameter import Parameter
from extensor.nn.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AvgPool1d,
    AvgPool2d,
    MaxPool1d,
    MaxPool2d,
)
from extensor.nn.recurrent import GRU, LSTM, RNN
from extensor.nn.recurrent_cell import GRUCell, LSTMCell, RNNCell
from extensor.nn.transformer import TransformerEncoderLayer

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "GRU",
    "LSTM",
    "RNN",
    "SELU",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "CTCLoss",
    "Conv1d",
    "Conv2d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout2d",
    "Embedding",
    "Flatten",
    "FocalLoss",
    "GRUCell",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HingeLoss",
    "HuberLoss",
    "Identity",
    "InstanceNorm2d",
    "KLDivLoss",
    "L1Loss",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiHeadAttention",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultiheadAttention",
    "NLLLoss",
    "PReLU",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "PoissonNLLLoss",
    "RMSNorm",
    "RNNCell",
    "RReLU",
    "ReLU",
    "ReLU6",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "init",
]

# To a type checker a module with a __getattr__ has every name, also a misspelled one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise missing(name, MODULES, __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
