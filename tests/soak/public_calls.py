"""One good call of every public function that is no op, and of every class: what the fuzz spoils.

An entry draws the arguments. A class has a second function, which uses what was made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from drawn_calls import Rng

import extensor as ex
import extensor.data.splitting  # which nothing else imports
from extensor import nn, optim
from extensor.core.tensor import Tensor
from extensor.data.table import as_table

Arguments = tuple[list[Any], dict[str, Any]]


class Example(NamedTuple):
    """How a function is called, and what is done with what it makes."""

    arguments: Callable[[Rng], tuple[Any, ...]]
    keywords: Callable[[Rng], dict[str, Any]] = lambda rng: {}
    used: Callable[[Rng], tuple[Any, ...]] | None = None
    changes: bool = False  # its arguments, which is what it is for


def real(rng: Rng, *shape: int) -> np.ndarray:
    return rng.uniform(-2, 2, shape).astype(np.float32)


def leaf(rng: Rng, *shape: int) -> Tensor:
    return ex.tensor(real(rng, *shape), requires_grad=True)


def with_gradient(rng: Rng, *shape: int) -> Tensor:
    made = leaf(rng, *shape)
    made.grad = ex.tensor(real(rng, *shape))
    return made


def whole(rng: Rng, high: int, *shape: int) -> np.ndarray:
    return rng.integers(0, high, shape)


def optimizer(rng: Rng) -> optim.Optimizer:
    groups = [
        {"params": [with_gradient(rng, 2, 3)]},
        {"params": [with_gradient(rng, 2)], "lr": 0.5},
    ]
    return optim.SGD(groups, lr=0.1, momentum=0.9)


def table(rng: Rng) -> Any:
    return as_table({"a": real(rng, 4), "b": ["x", "y", None, "x"]})


def _functions(rng: Rng) -> Any:
    choices: list[Any] = [ex.sin, ex.sum, lambda x: x * x, lambda x: (x, x + 1), lambda x: 3]
    return choices[rng.integers(len(choices))]


def _recorded(rng: Rng) -> Tensor:
    return ex.sum(ex.sin(leaf(rng, 3)))


def _composed(rng: Rng) -> tuple[optim.Optimizer, list[optim.Schedule]]:
    made = optimizer(rng)
    return made, [optim.LinearLR(made), optim.ExponentialLR(made, 0.9)]


SIZES = {"dtype": "float64", "requires_grad": True}
# fmt: off
FUNCTIONS: dict[str, Example] = {
    "optim.SequentialLR": Example(lambda rng: (*_composed(rng), [2], -1, False)),
    "optim.ChainedScheduler": Example(lambda rng: (*_composed(rng)[::-1], False)),
    "zeros": Example(lambda rng: ((2, 3),), lambda rng: dict(SIZES)),
    "ones": Example(lambda rng: (4,), lambda rng: dict(SIZES)),
    "empty": Example(lambda rng: ([2, 0],), lambda rng: dict(SIZES)),
    "full": Example(lambda rng: ((2, 3), 1.5), lambda rng: dict(SIZES)),
    "zeros_like": Example(lambda rng: (real(rng, 2, 3),), lambda rng: dict(SIZES)),
    "ones_like": Example(lambda rng: (real(rng, 2, 3),), lambda rng: dict(SIZES)),
    "empty_like": Example(lambda rng: (real(rng, 2, 3),), lambda rng: dict(SIZES)),
    "full_like": Example(lambda rng: (real(rng, 2, 3), 2), lambda rng: dict(SIZES)),
    "arange": Example(lambda rng: (0, 10, 2, "int32", False)),
    "linspace": Example(lambda rng: (0.0, 1.0, 7, True, "float32", False)),
    "eye": Example(lambda rng: (3, 4, 1, "float32", False)),
    "asarray": Example(lambda rng: (real(rng, 3), "float64")),
    "tensor": Example(lambda rng: (real(rng, 3), "float64", True)),
    "Tensor": Example(lambda rng: (real(rng, 3), "float64", True)),
    "from_dlpack": Example(lambda rng: (real(rng, 3),)),
    "one_hot": Example(lambda rng: (whole(rng, 3, 4), 3, "float32")),
    "broadcast_shapes": Example(lambda rng: ((2, 1), (3,))),
    "are_shapes_broadcastable": Example(lambda rng: ((2, 1), (3,))),
    "compute_broadcast_strides": Example(lambda rng: ((2, 1), (4, 2, 3))),
    "meshgrid": Example(lambda rng: (real(rng, 2), real(rng, 3)), lambda rng: {"indexing": "ij"}),
    "backward": Example(lambda rng: (_recorded(rng), real(rng), True, False)),
    "grad": Example(lambda rng: (_recorded(rng), leaf(rng, 3), real(rng), False, True, True)),
    "vjp": Example(lambda rng: (_functions(rng), real(rng, 2))),
    "jvp": Example(lambda rng: (_functions(rng), real(rng, 2), real(rng, 2), False)),
    "jacobian": Example(lambda rng: (_functions(rng), real(rng, 2), False)),
    "hessian": Example(lambda rng: (ex.sum, real(rng, 2), False)),
    "checkpoint": Example(lambda rng: (_functions(rng), leaf(rng, 2))),
    "check_gradient": Example(
        lambda rng: (_functions(rng), rng.uniform(1, 2, 2)),
        lambda rng: {
            "order": 1, "eps": 1e-4, "rtol": 1e-6, "atol": 1e-8, "max_elements": 4,
            "directions": 1, "kinks": True, "seed": 0, "raise_on_failure": False,
        },
    ),
    "gradient_eps": Example(lambda rng: (1e-6,)),
    "no_grad": Example(lambda rng: ()),
    "enable_grad": Example(lambda rng: ()),
    "detect_anomaly": Example(lambda rng: ()),
    "is_grad_enabled": Example(lambda rng: ()),
    "get_default_dtype": Example(lambda rng: ()),
    "get_num_threads": Example(lambda rng: ()),
    "memory_stats": Example(lambda rng: ()),
    "reset_peak_memory": Example(lambda rng: ()),
    "trim_memory": Example(lambda rng: ()),
    "set_default_dtype": Example(lambda rng: ("float64",)),
    "set_num_threads": Example(lambda rng: (2,)),
    "set_memory_cache_limit": Example(lambda rng: (2**20,)),
    "save": Example(lambda rng: ("file.safetensors", {"a": real(rng, 2), "b": [1, "c", None]})),
    "load": Example(lambda rng: ("file.safetensors",)),
    "sgd_step": Example(
        lambda rng: (real(rng, 3), real(rng, 3), 0.1, 0.9, 0.1, 0.01, False, real(rng, 3))
    ),
    "adam_step": Example(
        lambda rng: (real(rng, 3), real(rng, 3), real(rng, 3), np.abs(real(rng, 3)), 2, 0.1,
                     (0.9, 0.99), 1e-8, 0.1)
    ),
    "adamw_step": Example(
        lambda rng: (real(rng, 3), real(rng, 3), real(rng, 3), np.abs(real(rng, 3)), 2, 0.1,
                     (0.9, 0.99), 1e-8, 0.1)
    ),
    "rmsprop_step": Example(
        lambda rng: (real(rng, 3), real(rng, 3), np.abs(real(rng, 3)), 0.1, 0.9, 1e-8, 0.1, 0.5,
                     real(rng, 3))
    ),
    "adagrad_step": Example(
        lambda rng: (real(rng, 3), real(rng, 3), np.abs(real(rng, 3)), 2, 0.1, 0.1, 0.1, 1e-8)
    ),
    "clip_grad_norm": Example(
        lambda rng: ([with_gradient(rng, 2), with_gradient(rng, 3)], 1.0, 2.0, False), changes=True
    ),
    "clip_grad_value": Example(
        lambda rng: ([with_gradient(rng, 2), with_gradient(rng, 3)], 1.0), changes=True
    ),
    "optim.orthogonalize": Example(
        lambda rng: (ex.tensor(real(rng, 3, 2)), (3.4445, -4.775, 2.0315), 5, 1e-7)
    ),
    "distributed.workers": Example(lambda rng: ()),
    "distributed.Gradients": Example(
        lambda rng: (nn.Linear(2, 1), None, None, True, False, 64),
        used=lambda rng: (0, [0.5, 0.5], lambda number: ex.sum(leaf(rng, 2)), 1.0),
    ),
    "random.rand": Example(lambda rng: (2, 3), lambda rng: dict(SIZES)),
    "random.randn": Example(lambda rng: ((2, 3),), lambda rng: dict(SIZES)),
    "random.uniform": Example(lambda rng: (-1.0, 2.0, (2, 3), "float32", False, None)),
    "random.normal": Example(lambda rng: (1.0, 2.0, (2, 3), "float64", False, None)),
    "random.randint": Example(lambda rng: (0, 9, (2, 3), "int32", ex.random.Generator(3))),
    "random.bernoulli": Example(lambda rng: (0.3, (2, 3), "float32", ex.random.Generator(3))),
    "random.choice": Example(lambda rng: (5, (2,), False, [0.2] * 5, ex.random.Generator(3))),
    "random.permutation": Example(lambda rng: (real(rng, 4, 2), ex.random.Generator(3))),
    "random.manual_seed": Example(lambda rng: (3,)),
    "random.get_state": Example(lambda rng: ()),
    "random.set_state": Example(lambda rng: ((3, 4),)),
    "random.Generator": Example(lambda rng: (3,)),
    "nn.init.calculate_fans": Example(lambda rng: ((4, 3, 2),)),
    "nn.init.calculate_gain": Example(lambda rng: ("leaky_relu", 0.2)),
    "nn.init.constant": Example(lambda rng: ((2, 3), 1.5, "float32")),
    "nn.init.zeros": Example(lambda rng: ((2, 3), "float32")),
    "nn.init.ones": Example(lambda rng: ((2, 3), "float32")),
    "nn.init.normal": Example(lambda rng: ((2, 3), "float32", 0.0, 1.0, None)),
    "nn.init.uniform": Example(lambda rng: ((2, 3), "float32", 0.0, 1.0, None)),
    "nn.init.truncated_normal": Example(lambda rng: ((2, 3), "float32", 0.0, 1.0, -2.0, 2.0, None)),
    "nn.init.orthogonal": Example(lambda rng: ((2, 3), "float32", 1.0, None)),
    "nn.init.xavier_uniform": Example(lambda rng: (3, 2, (2, 3), "float32", 1.0, None)),
    "nn.init.xavier_normal": Example(lambda rng: (3, 2, (2, 3), "float32", 1.0, None)),
    "nn.init.kaiming_uniform": Example(
        lambda rng: (3, 2, (2, 3), "float32", 0.1, "fan_out", "leaky_relu", None)
    ),
    "nn.init.kaiming_normal": Example(
        lambda rng: (3, 2, (2, 3), "float32", 0.1, "fan_in", "relu", None)
    ),
    "nn.init.constant_": Example(lambda rng: (leaf(rng, 2, 3), 1.5), changes=True),
    "nn.init.zeros_": Example(lambda rng: (leaf(rng, 2, 3),), changes=True),
    "nn.init.ones_": Example(lambda rng: (leaf(rng, 2, 3),), changes=True),
    "nn.init.normal_": Example(lambda rng: (leaf(rng, 2, 3), 0.0, 1.0, None), changes=True),
    "nn.init.uniform_": Example(lambda rng: (leaf(rng, 2, 3), 0.0, 1.0, None), changes=True),
    "nn.init.trunc_normal_": Example(
        lambda rng: (leaf(rng, 2, 3), 0.0, 1.0, -2.0, 2.0, None), changes=True
    ),
    "nn.init.orthogonal_": Example(lambda rng: (leaf(rng, 2, 3), 1.0, None), changes=True),
    "nn.init.xavier_uniform_": Example(lambda rng: (leaf(rng, 2, 3), 1.0, None), changes=True),
    "nn.init.xavier_normal_": Example(lambda rng: (leaf(rng, 2, 3), 1.0, None), changes=True),
    "nn.init.kaiming_uniform_": Example(
        lambda rng: (leaf(rng, 2, 3), 0.1, "fan_out", "leaky_relu", None), changes=True
    ),
    "nn.init.kaiming_normal_": Example(
        lambda rng: (leaf(rng, 2, 3), 0.1, "fan_in", "relu", None), changes=True
    ),
    "amp.autocast": Example(lambda rng: ("bfloat16", True)),
    "data.digits": Example(lambda rng: ()),
    "data.read_arrays": Example(lambda rng: ("array.npy",)),
    "data.pack": Example(lambda rng: ("table.csv", "packed")),
    "data.read_csv": Example(lambda rng: ("table.csv", -1, ",")),
    "data.csv_classes": Example(lambda rng: ("table.csv", -1, ",")),
    "data.read_table": Example(
        lambda rng: ("table.csv", ",", ".", "utf-8", True)
    ),
    "data.table.as_table": Example(lambda rng: ({"a": real(rng, 3), "b": ["x", None, "y"]},)),
    "data.TableEncoder.fit": Example(lambda rng: (table(rng), {"a": "number"})),
    "data.TableEncoder.from_state": Example(
        lambda rng: (ex.data.TableEncoder.fit(table(rng)).state_dict(), "load")
    ),
    "data.splitting.split_indices": Example(
        lambda rng: (12, 0.25, 0.25, ex.random.Generator(3), whole(rng, 2, 12), None, False)
    ),
    "data.read_idx": Example(lambda rng: ("missing.idx",)),
    "data.read_cifar10": Example(lambda rng: ("missing.bin",)),
    "data.read_text": Example(lambda rng: ("table.csv",)),
    "data.find_pictures": Example(lambda rng: (".",)),
    "data.picture_sizes": Example(lambda rng: (["table.csv", "missing.png"], 2)),
    "models.mlp": Example(lambda rng: ([3, 4, 2], 0.1), used=lambda rng: (real(rng, 2, 3),)),
    "models.convnet": Example(
        lambda rng: (2, 1, (8, 9), 2), used=lambda rng: (real(rng, 2, 1, 8, 9),)
    ),
    "models.lenet5": Example(lambda rng: (3, 1, 28), used=lambda rng: (real(rng, 1, 1, 28, 28),)),
    "models.gpt": Example(
        lambda rng: (7, 4, 1, 2, 8, 0.0), used=lambda rng: (whole(rng, 7, 1, 4),)
    ),
    "Classifier": Example(lambda rng: ((4,),), lambda rng: {"lr": 0.1, "random_state": 0}),
    "Regressor": Example(lambda rng: ((4,),), lambda rng: {"lr": 0.1, "random_state": 0}),
    "models.resnet18": Example(lambda rng: (2, 1, "small")),
    "models.ResNet": Example(lambda rng: ([1, 1], 2, 1, "small")),
    "train.metrics.named_metric": Example(
        lambda rng: ("f1", "multiclass", 3), lambda rng: {"average": "macro"}
    ),
    "train.metrics.metrics_for": Example(lambda rng: ("binary",)),
    "train.metrics.default_metrics": Example(lambda rng: ("binary",)),
    "train.metrics.is_falling": Example(lambda rng: ("validation_loss",)),
    "train.metrics.is_fraction": Example(lambda rng: ("accuracy",)),
}
# fmt: on


def _images(rng: Rng) -> tuple[Any, ...]:
    return (real(rng, 2, 4, 6, 5),)


def _volumes(rng: Rng) -> tuple[Any, ...]:
    return (real(rng, 2, 4, 3, 4, 5),)


def _lines(rng: Rng) -> tuple[Any, ...]:
    return (real(rng, 2, 4, 6),)


def _rows(rng: Rng) -> tuple[Any, ...]:
    return (real(rng, 3, 4),)


def _signed(rng: Rng) -> tuple[Any, ...]:
    return real(rng, 3, 4), np.sign(real(rng, 3, 4))


def _pairs(rng: Rng) -> tuple[Any, ...]:
    return real(rng, 3, 4), real(rng, 3, 4)


def _chances(rng: Rng) -> tuple[Any, ...]:
    return rng.uniform(0.1, 0.9, (3, 4)), rng.uniform(0, 1, (3, 4))


def _steps(rng: Rng) -> tuple[Any, ...]:
    return (real(rng, 5, 2, 4),)


def _plain(*arguments: Any, **keywords: Any) -> Callable[..., Any]:
    return lambda rng: arguments


def _module(
    arguments: tuple[Any, ...] = (),
    used: Callable[[Rng], tuple[Any, ...]] = _rows,
    **keywords: Any,
) -> Example:
    return Example(lambda rng: arguments, lambda rng: dict(keywords), used)


MODULES: dict[str, Example] = {
    **{
        name: _module()
        for name in "SELU Hardsigmoid Hardswish Mish ReLU ReLU6 SiLU Sigmoid Softsign Tanh".split()
    },
    "ELU": _module((0.5, False)),
    "CELU": _module((0.5, False)),
    "LogSigmoid": _module(()),
    "Softshrink": _module((0.5,)),
    "Hardshrink": _module((0.5,)),
    "Tanhshrink": _module(()),
    "Threshold": _module((0.5, 2.0, False)),
    "RReLU": _module((0.1, 0.3, False)),
    "Softmin": _module((1,)),
    "Softmax2d": _module((), lambda rng: (real(rng, 2, 3, 2, 2),)),
    "GELU": _module(("tanh",)),
    "GLU": _module((-1,)),
    "Hardtanh": _module((-1.0, 1.0, False)),
    "LeakyReLU": _module((0.1, False)),
    "LogSoftmax": _module((-1,)),
    "Softmax": _module((1,)),
    "Softplus": _module((1.0, 20.0)),
    "PReLU": _module((4, 0.25), dtype="float32"),
    "Identity": _module((1,)),
    "Flatten": _module((1, -1), _images),
    "Linear": _module((4, 3, True), dtype="float32"),
    "Embedding": _module(
        (5, 3, 1), lambda rng: (whole(rng, 5, 2, 3),), dtype="float32"
    ),
    "EmbeddingBag": _module(
        (5, 3), lambda rng: (whole(rng, 5, 6), np.array([0, 2, 2])), mode="max",
        include_last_offset=False, padding_idx=1, dtype="float32",
    ),
    "Bilinear": _module((4, 4, 3, True), _pairs, dtype="float32"),
    "Unflatten": _module((1, (2, -1)), _images),
    "Dropout": _module((0.3, False)),
    "Dropout1d": _module((0.3, False), _lines),
    "Dropout2d": _module((0.3, False), _images),
    "Dropout3d": _module((0.3, False), _volumes),
    "AlphaDropout": _module((0.3, False)),
    "FeatureAlphaDropout": _module((0.3, False), _images),
    "LocalResponseNorm": _module((3, 0.1, 0.5, 2.0), _images),
    "Conv3d": _module((4, 6, (3, 2, 2), 2, 1, 1, 2, True, "zeros"), _volumes, dtype="float32"),
    "ConvTranspose3d": _module((4, 6, 3, 2, 1, 1, 2, True, 1), _volumes, dtype="float32"),
    "BatchNorm3d": _module((4, 1e-5, 0.1, True, True), _volumes, bias=True, dtype="float32"),
    "InstanceNorm1d": _module((4, 1e-5, 0.1, True, True), _lines, bias=True, dtype="float32"),
    "InstanceNorm3d": _module((4, 1e-5, 0.1, True, True), _volumes, bias=True, dtype="float32"),
    "Conv1d": _module((4, 6, 3, 1, "same", 1, 2, True, "zeros"), _lines, dtype="float32"),
    "Conv2d": _module((4, 6, (3, 2), 2, 1, 1, 2, True, "zeros"), _images, dtype="float32"),
    "ConvTranspose1d": _module((4, 6, 3, 2, 1, 1, 2, True, 1), _lines, dtype="float32"),
    "ConvTranspose2d": _module((4, 6, 3, 2, 1, 1, 2, True, 1), _images, dtype="float32"),
    "MaxPool1d": _module((2, 2, 0, 1, False, True), _lines),
    "MaxPool2d": _module((2, 2, 0, 1, True, False), _images),
    "MaxPool3d": _module((2, 2, 0, 1, True, False), _volumes),
    "AvgPool3d": _module(((2, 3, 2), 2, 1, False, True), _volumes),
    "AdaptiveAvgPool3d": _module(((2, 3, 1),), _volumes),
    "AdaptiveMaxPool1d": _module((2, True), _lines),
    "AdaptiveMaxPool2d": _module(((2, 3), False), _images),
    "AdaptiveMaxPool3d": _module((2, True), _volumes),
    "MaxUnpool1d": _module((2, 2, 0), lambda rng: (real(rng, 2, 4, 3), whole(rng, 6, 2, 4, 3))),
    "MaxUnpool2d": _module((2, 2, 0), lambda rng: (real(rng, 2, 3, 3), whole(rng, 36, 2, 3, 3))),
    "MaxUnpool3d": _module((2, 1, 0), lambda rng: (real(rng, 1, 2, 2, 2), whole(rng, 27, 1, 2, 2, 2))),
    "FractionalMaxPool2d": _module((2, 3, None, True), _images),
    "FractionalMaxPool3d": _module((2, None, 0.7, False), _volumes),
    "LPPool1d": _module((2.0, 2, 1, True), _lines),
    "LPPool2d": _module((2, (2, 3), 1, False), _images),
    "LPPool3d": _module((3, 2, None, True), _volumes),
    "Unfold": _module(((2, 3), 1, 1, 2), _images),
    "Fold": _module(((3, 4), 2, 1, 0, 1), lambda rng: (real(rng, 2, 8, 6),)),
    "AvgPool1d": _module((2, 2, 0, True, True), _lines),
    "AvgPool2d": _module(((2, 3), 2, 1, False, True), _images),
    "AdaptiveAvgPool1d": _module((2,), _lines),
    "AdaptiveAvgPool2d": _module(((2, 3),), _images),
    **{
        f"{kind}Pad{axes}d": _module((1, *extra), _images)
        for kind, extra in (
            ("Constant", (2.0,)), ("Zero", ()), ("Reflection", ()), ("Replication", ()),
            ("Circular", ()),
        )
        for axes in (1, 2, 3)
    },
    "Upsample": _module((None, 1.5, "bilinear", True, False), _images),
    "UpsamplingNearest2d": _module((5, None), _images),
    "UpsamplingBilinear2d": _module((None, 1.5), _images),
    "PixelShuffle": _module((2,), _images),
    "PixelUnshuffle": _module((1,), _images),
    "ChannelShuffle": _module((2,), _images),
    "BatchNorm1d": _module((4, 1e-5, 0.1, True, True), _rows, bias=True, dtype="float32"),
    "BatchNorm2d": _module((4, 1e-5, 0.1, True, True), _images, bias=True, dtype="float32"),
    "InstanceNorm2d": _module((4, 1e-5, 0.1, True, True), _images, bias=True, dtype="float32"),
    "GroupNorm": _module((2, 4, 1e-5, True), _images, bias=True, dtype="float32"),
    "LayerNorm": _module((4, 1e-5, True, True), _rows, dtype="float32"),
    "RMSNorm": _module(([4], 1e-5, True), _rows, dtype="float32"),
    "MultiHeadAttention": _module(
        (4, 2, 0.0, True), lambda rng: (real(rng, 3, 2, 4),) * 3, kdim=None, vdim=None,
        batch_first=True,
    ),
    "MultiheadAttention": _module(
        (4, 2, 0.1, True, True, True, None, None, True), lambda rng: (real(rng, 3, 2, 4),) * 3
    ),
    "TransformerEncoderLayer": _module(
        (4, 2, 8, 0.1, "relu", 1e-5, True, False, True), lambda rng: (real(rng, 2, 3, 4),)
    ),
    "TransformerDecoderLayer": _module(
        (4, 2, 8, 0.1, "relu", 1e-5, True, False, True),
        lambda rng: (real(rng, 2, 3, 4), real(rng, 2, 5, 4)),
    ),
    "TransformerEncoder": _module((nn.TransformerEncoderLayer(4, 2, 8), 2), _steps),
    "TransformerDecoder": _module(
        (nn.TransformerDecoderLayer(4, 2, 8), 2), lambda rng: (*_steps(rng), *_steps(rng))
    ),
    "Transformer": _module(
        (4, 2, 1, 1, 8, 0.1, "gelu", None, None, 1e-5, True, False, True),
        lambda rng: (real(rng, 2, 3, 4), real(rng, 2, 5, 4)),
    ),
    "LazyLinear": _module((3, True), dtype="float32"),
    **{
        f"LazyConv{n}d": _module((6, 2, 1, "same", 1, 2, True, "zeros"), used, dtype="float32")
        for n, used in ((1, _lines), (2, _images), (3, _volumes))
    },
    **{
        f"LazyConvTranspose{n}d": _module((6, 3, 2, 1, 1, 2, True, 1), used, dtype="float32")
        for n, used in ((1, _lines), (2, _images), (3, _volumes))
    },
    **{
        f"Lazy{kind}Norm{n}d": _module((1e-5, 0.1, True, True), used, bias=True, dtype="float32")
        for kind in ("Batch", "Instance")
        for n, used in ((1, _lines), (2, _images), (3, _volumes))
    },
    "RNN": _module((4, 3, 2, "tanh", True, False, 0.1, True), _steps, dtype="float32"),
    "LSTM": _module((4, 3, 1, True, True, 0.0, False, 2), _steps, dtype="float32"),
    "GRU": _module((4, 3, 1, True, True, 0.0, False), _steps, dtype="float32"),
    "RNNCell": _module((4, 3, True, "relu"), lambda rng: (real(rng, 2, 4), real(rng, 2, 3))),
    "LSTMCell": _module(
        (4, 3, True), lambda rng: (real(rng, 2, 4), (real(rng, 2, 3), real(rng, 2, 3)))
    ),
    "GRUCell": _module((4, 3, True), lambda rng: (real(rng, 2, 4), real(rng, 2, 3))),
    "BCELoss": _module((None,), _chances, reduction="sum"),
    "BCEWithLogitsLoss": _module((None,), _pairs, reduction="mean", pos_weight=None),
    "CosineEmbeddingLoss": _module(
        (0.1,), lambda rng: (*_pairs(rng), np.array([1, -1, 1])), reduction="mean"
    ),
    "CrossEntropyLoss": _module(
        (None,), lambda rng: (real(rng, 3, 4), whole(rng, 4, 3)), ignore_index=-100,
        reduction="mean", label_smoothing=0.1,
    ),
    "NLLLoss": _module(
        (None,), lambda rng: (real(rng, 3, 4), whole(rng, 4, 3)), ignore_index=-100,
        reduction="mean",
    ),
    "FocalLoss": _module((0.25, 2.0, "mean"), _chances),
    "HingeLoss": _module((), _pairs, reduction="mean"),
    "HuberLoss": _module(("mean", 1.0), _pairs),
    "KLDivLoss": _module((), _pairs, reduction="batchmean", log_target=True),
    "L1Loss": _module((), _pairs, reduction="mean"),
    "MSELoss": _module((), _pairs, reduction="none"),
    "SmoothL1Loss": _module((), _pairs, reduction="mean", beta=0.5),
    "TripletMarginLoss": _module(
        (1.0, 2.0), lambda rng: (*_pairs(rng), real(rng, 3, 4)), swap=False, reduction="mean"
    ),
    "SoftMarginLoss": _module((), _signed, reduction="mean"),
    "MarginRankingLoss": _module(
        (0.5,), lambda rng: (real(rng, 3, 4), *_signed(rng)), reduction="mean"
    ),
    "HingeEmbeddingLoss": _module((0.5,), _signed, reduction="mean"),
    "MultiMarginLoss": _module(
        (2, 0.5, None), lambda rng: (real(rng, 3, 4), whole(rng, 4, 3)), reduction="mean"
    ),
    "MultiLabelMarginLoss": _module(
        (), lambda rng: (real(rng, 3, 4), whole(rng, 4, 3, 4)), reduction="mean"
    ),
    "MultiLabelSoftMarginLoss": _module((None,), _chances, reduction="mean"),
    "GaussianNLLLoss": _module(
        (), lambda rng: (*_pairs(rng), real(rng, 3, 4) ** 2), full=True, eps=1e-6, reduction="mean"
    ),
    "PoissonNLLLoss": _module((True, True), _pairs, eps=1e-8, reduction="mean"),
    "TripletMarginWithDistanceLoss": _module(
        (), lambda rng: (*_pairs(rng), real(rng, 3, 4)), distance_function=None, margin=1.0,
        swap=True, reduction="mean",
    ),
    "CTCLoss": _module(
        (0, "mean", True),
        lambda rng: (real(rng, 5, 2, 3), 1 + whole(rng, 2, 2, 2), [5, 4], [2, 1]),
    ),
    "CosineSimilarity": _module((1, 1e-8), _pairs),
    "PairwiseDistance": _module((2.0, 1e-6, False), _pairs),
    "Parameter": Example(lambda rng: (real(rng, 2), True)),
    "ParameterList": Example(lambda rng: ([ex.ones(2), ex.ones(3)],)),
    "ParameterDict": Example(lambda rng: ({"a": ex.ones(2)},)),
    "ModuleList": Example(lambda rng: ([nn.ReLU(), nn.Linear(2, 2)],)),
    "ModuleDict": Example(lambda rng: ({"a": nn.ReLU()},)),
    "Sequential": Example(lambda rng: (nn.Linear(4, 3), nn.ReLU()), used=_rows),
    "Module": Example(lambda rng: (), used=_rows),
}  # fmt: skip

OPTIMIZERS: dict[str, tuple[Any, ...]] = {
    "SGD": (0.1, 0.9, 0.0, 0.01, True),
    "Adam": (0.1, (0.9, 0.99), 1e-8, 0.01, True),
    "AdamW": (0.1, (0.9, 0.99), 1e-8, 0.01, False),
    "RMSprop": (0.1, 0.9, 1e-8, 0.01, 0.5, True),
    "Adagrad": (0.1, 0.01, 0.01, 0.1, 1e-8),
    "Adadelta": (1.0, 0.9, 1e-6, 0.01),
    "Lion": (0.1, (0.9, 0.99), 0.01),
    "LAMB": (0.1, (0.9, 0.99), 1e-6, 0.01),
    "NAdam": (0.1, (0.9, 0.99), 1e-8, 0.01, 4e-3, True),
    "RAdam": (0.1, (0.9, 0.99), 1e-8, 0.01, True),
    "Adamax": (0.1, (0.9, 0.99), 1e-8, 0.01),
    "ASGD": (0.1, 1e-4, 0.75, 2.0, 0.01),
    "Rprop": (0.1, (0.5, 1.2), (1e-6, 50.0)),
    "Adafactor": (0.1, -0.8, (None, 1e-3), 1.0, 0.01),
    "LBFGS": (0.1, 4, 5, 1e-7, 1e-9, 10, "strong_wolfe"),
    "Muon": (0.1, 0.1, 0.95, True, (3.4, -4.7, 2.0), 1e-7, 5, None),
}
SCHEDULES: dict[str, tuple[Any, ...]] = {
    "StepLR": (2, 0.5, -1, False),
    "MultiStepLR": ([2, 4], 0.5, -1, False),
    "ExponentialLR": (0.9, -1, False),
    "CosineAnnealingLR": (10, 0.0, -1, False),
    "WarmupLR": (3, 0.1, -1, False),
    "WarmupCosineLR": (3, 10, 0.01, 0.1, -1, False),
    "OneCycleLR": (
        [0.1, 0.2], 10, None, None, 0.3, "cos", True, 0.85, 0.95, 25.0, 1e4, False, -1, False
    ),
    "ReduceLROnPlateau": ("min", 0.1, 2, 1e-4, "rel", 0, [0.0, 0.1], 1e-8),
    "LambdaLR": (lambda count: 0.5**count, -1, False),
    "MultiplicativeLR": (lambda count: 0.5, -1, False),
    "LinearLR": (0.5, 1.0, 4, -1, False),
    "ConstantLR": (0.5, 4, -1, False),
    "PolynomialLR": (4, 2.0, -1, False),
    "CosineAnnealingWarmRestarts": (2, 2, 0.01, -1, False),
    "CyclicLR": (
        [0.1, 0.2], 0.5, 3, None, "triangular", 0.9, None, "cycle", True, 0.8, 0.9, -1, False
    ),
}  # fmt: skip
DATA: dict[str, Example] = {
    "ArrayDataset": Example(lambda rng: (real(rng, 4, 2), whole(rng, 3, 4))),
    "DataLoader": Example(
        lambda rng: (
            ex.data.ArrayDataset(real(rng, 4, 2), whole(rng, 3, 4)), 2, True, None, False, (), 0, 2,
            ex.random.Generator(3),
        )
    ),
    "Cutout": Example(lambda rng: (2, 1.0, 0.0)),
    "Mixup": Example(lambda rng: (0.5, 3)),
    "Normalize": Example(lambda rng: ([0.1, 0.2], [1.0, 2.0], 1.0)),
    "RandomCrop": Example(lambda rng: ((2, 2), 1)),
    "RandomFlip": Example(lambda rng: (0.5, -1)),
    "RandomSampler": Example(lambda rng: (5, True, 7)),
    "SequentialSampler": Example(lambda rng: (5,)),
    "WeightedSampler": Example(lambda rng: ([0.1, 0.2, 0.7], 5, True)),
    "Table": Example(lambda rng: ([table(rng)["a"]], "here", ["so"], {})),
    "TableEncoder": Example(lambda rng: (ex.data.TableEncoder.fit(table(rng))._columns, {})),
    "ShardSampler": Example(lambda rng: (ex.data.SequentialSampler(5), 0, 2, False, 2)),
    "BlockShuffle": Example(lambda rng: ([5, 3], 2, 2)),
    "ShardedDataset": Example(lambda rng: (["array.npy"],)),
    "ImageFolder": Example(lambda rng: (".", 8, "RGB")),
    "PictureFiles": Example(lambda rng: (["table.csv", "missing.png"], 8, "RGB")),
    "SeriesWindows": Example(lambda rng: (real(rng, 9, 2), real(rng, 9), 3, 2, 1)),
    "TextWindows": Example(lambda rng: (whole(rng, 5, 9), 3, 2)),
    "Vocabulary": Example(lambda rng: ("character", "abc")),
}  # fmt: skip
# Names in the lists of public ones that nobody calls: protocols, constants, kinds of errors.
NOT_CALLED = set(
    "NONDIFFERENTIABLE ExTensor Function GradientError GradientReport Mistake BatchDataset Dataset "
    "Optimizer Schedule Sampler default_generator DamagedFileError init EMA GradScaler GPT LeNet5 "
    "amp data distributed io models nn optim random train Workers WorkerLostError "
    "mnist fashion_mnist cifar10 "  # they download
    "compile export_stablehlo "  # they need JAX: tests/xla
    "bool_ float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
)
