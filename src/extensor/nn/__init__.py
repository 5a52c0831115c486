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
from extensor.nn.bilinear import Bilinear
from extensor.nn.containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from extensor.nn.convolution import Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d
from extensor.nn.convolution_volume import Conv3d, ConvTranspose3d
from extensor.nn.distances import (
    CosineSimilarity,
    PairwiseDistance,
    TripletMarginWithDistanceLoss,
)
from extensor.nn.dropout import Dropout, Dropout2d
from extensor.nn.dropout_kinds import AlphaDropout, Dropout1d, Dropout3d, FeatureAlphaDropout
from extensor.nn.embedding import Embedding
from extensor.nn.embedding_bag import EmbeddingBag
from extensor.nn.folding import Fold, Unfold
from extensor.nn.lazy_convolution import (
    LazyConv1d,
    LazyConv2d,
    LazyConv3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
    LazyLinear,
)
from extensor.nn.lazy_norm import (
    LazyBatchNorm1d,
    LazyBatchNorm2d,
    LazyBatchNorm3d,
    LazyInstanceNorm1d,
    LazyInstanceNorm2d,
    LazyInstanceNorm3d,
)
from extensor.nn.linear import Flatten, Identity, Linear, Unflatten
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
from extensor.nn.normalization_batch import BatchNorm1d, BatchNorm2d, BatchNorm3d
from extensor.nn.normalization_instance import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from extensor.nn.normalization_local import LocalResponseNorm
from extensor.nn.padding import (
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from extensor.nn.padding_copies import (
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
)
from extensor.nn.parameter import Parameter
from extensor.nn.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AvgPool1d,
    AvgPool2d,
    MaxPool1d,
    MaxPool2d,
)
from extensor.nn.pooling_adaptive import AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d
from extensor.nn.pooling_fractional import FractionalMaxPool2d, FractionalMaxPool3d
from extensor.nn.pooling_power import LPPool1d, LPPool2d, LPPool3d
from extensor.nn.pooling_volume import AdaptiveAvgPool3d, AvgPool3d, MaxPool3d
from extensor.nn.recurrent import GRU, LSTM, RNN
from extensor.nn.recurrent_cell import GRUCell, LSTMCell, RNNCell
from extensor.nn.transformer import TransformerEncoderLayer
from extensor.nn.transformer_decoder import TransformerDecoderLayer
from extensor.nn.transformer_stack import Transformer, TransformerDecoder, TransformerEncoder
from extensor.nn.unpooling import MaxUnpool1d, MaxUnpool2d, MaxUnpool3d
from extensor.nn.upsampling import (
    ChannelShuffle,
    PixelShuffle,
    PixelUnshuffle,
    Upsample,
    UpsamplingBilinear2d,
    UpsamplingNearest2d,
)

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
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "CTCLoss",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "FocalLoss",
    "Fold",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
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
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LSTMCell",
    "LayerNorm",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "LeakyReLU",
    "Linear",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
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
    "PixelShuffle",
    "PixelUnshuffle",
    "PoissonNLLLoss",
    "RMSNorm",
    "RNNCell",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
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
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "init",
]

# To a type checker a module with a __getattr__ has every name, also a misspelled one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise missing(name, MODULES, __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
