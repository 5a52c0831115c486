"""Calls of modules, losses, optimizers, schedules, initializers and creations, with other values of their
keywords, each of which must change what is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from keyword_effects import Refused, Row

import extensor as ex
from extensor import nn, optim
from extensor.nn import init

_rng = np.random.default_rng(3)
VECTORS = _rng.standard_normal((5, 4)).astype(np.float32)
SEQUENCE = _rng.standard_normal((5, 3, 4)).astype(np.float32)
SIGNAL = _rng.standard_normal((2, 4, 9)).astype(np.float32)
IMAGE = _rng.standard_normal((2, 4, 9, 9)).astype(np.float32)
VOLUME = _rng.standard_normal((2, 2, 5, 5, 5)).astype(np.float32)
CLASSES = np.array([0, 1, 3, 2, 1])
DTYPE = {"dtype": "float64"}


def _outputs(result: Any) -> Any:
    return [x for part in result for x in _outputs(part)] if isinstance(result, tuple) else [result]


def _module(call: Callable[..., Any], base: Mapping[str, Any], *inputs: Any, **others: Any) -> Row:
    """Compared are the outputs while training and afterwards, and the gradients of parameters."""

    def effects(module: nn.Module) -> Any:
        with ex.no_grad():
            for parameter in module.parameters():  # what begins as 0 or 1 would change nothing
                parameter += ex.Tensor(
                    np.linspace(0.1, 0.3, parameter.size).reshape(parameter.shape), parameter.dtype
                )
        dtype = next((x.dtype for x in module.parameters()), np.dtype(np.float32))
        given = [x.astype(dtype) if x.dtype.kind == "f" else x for x in inputs]
        first = _outputs(module(*given))
        if first[0].requires_grad:
            (first[0] * first[0]).sum().backward()
        gradients = {name: x.grad for name, x in module.named_parameters()}
        module.eval()
        return [first, gradients, _outputs(module(*given))]

    return Row(call, base, others, effects)


def _lazy(kind: Any, x: Any, base: Mapping[str, Any], **others: Any) -> Row:
    """Compared are the outputs of what the first call makes; a whole input takes any dtype."""

    def effects(module: nn.Module) -> Any:
        ex.random.manual_seed(0)
        first = module(x.astype(int) + 1)
        with ex.no_grad():
            for parameter in module.parameters():
                parameter[...] = np.linspace(0.1, 0.3, parameter.size).reshape(parameter.shape)
        return [first.dtype.name, module(x.astype(int) + 1), module.eval()(x.astype(int) + 1)]

    return Row(kind, base, others, effects)


def _loss(call: Callable[..., Any], *inputs: Any, **others: Any) -> Row:
    return Row(call, {}, others, lambda loss: loss(*inputs))


def _standing_for(call: Callable[..., Any], make: Any) -> Any:
    """``make``, which gives the first argument itself, under the name of what it calls."""
    make.stands_for = call
    make.__module__, make.__name__ = call.__module__, call.__name__
    return make


def _lbfgs(**others: Any) -> Row:
    """Compared are the parameters after two steps on a function that is not quadratic."""

    def effects(optimizer: Any) -> Any:
        (x,) = optimizer.param_groups[0]["params"]

        def closure() -> Any:
            optimizer.zero_grad()
            loss = ((x * x - 1) ** 2).sum() + (x[0] * x[1]).sum()
            loss.backward()
            return loss

        for _ in range(2):
            optimizer.step(closure)
        return x.detach()

    def make(**options: Any) -> Any:
        return optim.LBFGS([nn.Parameter(ex.tensor(VECTORS))], **options)

    return Row(_standing_for(optim.LBFGS, make), {}, others, effects)


def _optimizer(call: Callable[..., Any], **others: Any) -> Row:
    """Compared are parameters after some steps of gradients that are not all alike.

    With them the mean that some optimizers keep of each parameter.
    """

    def effects(optimizer: Any) -> Any:
        parameters = optimizer.param_groups[0]["params"]
        for step in range(7):
            for parameter in parameters:
                numbers = np.cos(np.arange(parameter.size) + step).reshape(parameter.shape)
                parameter.grad = ex.Tensor(numbers / (1 + step), parameter.dtype)
            optimizer.step()
        means = [state.get("ax") for state in optimizer.state.values()]
        return [*(parameter.detach() for parameter in parameters), means]

    def make(**options: Any) -> Any:
        return call([nn.Parameter(ex.tensor(VECTORS))], **options)

    return Row(_standing_for(call, make), {}, others, effects)


def _two_schedules(optimizer: Any) -> list[Any]:
    return [optim.LinearLR(optimizer, 0.5), optim.ExponentialLR(optimizer, 0.7)]


def _schedule(
    call: Callable[..., Any],
    base: Mapping[str, Any],
    arguments: Callable[[Any], tuple[Any, ...]] = lambda optimizer: (optimizer,),
    **others: Any,
) -> Row:
    """Compared are the rates and momenta of some steps."""

    def effects(schedule: Any) -> Any:
        group = schedule.optimizer.param_groups[0]
        rates = []
        for step in range(12):
            rates.append((group["lr"], group["momentum"]))
            schedule.optimizer.step()
            if call is optim.ReduceLROnPlateau:
                schedule.step(4.0 - 0.6 * step if step < 3 else 4.4)
            else:
                schedule.step()
        return rates

    def make(**options: Any) -> Any:
        optimizer = optim.SGD([nn.Parameter(ex.zeros(1))], 0.5, 0.9)
        if options.get("last_epoch", -1) >= 0:
            optimizer.param_groups[0]["initial_lr"] = 0.5
        return call(*arguments(optimizer), **options)

    return Row(_standing_for(call, make), base, others, effects)


def _values(call: Callable[..., Any], base: Mapping[str, Any], **others: Any) -> Row:
    return Row(call, base, others, lambda made: [made, getattr(made, "requires_grad", None)])


_NORM = {"eps": 0.5, "bias": False, **DTYPE}
_RECURRENT = {
    "num_layers": 2,
    "bias": False,
    "batch_first": True,
    "dropout": {"num_layers": 2, "dropout": 0.5},
    "bidirectional": True,
    **DTYPE,
}
_CONVOLUTION = {"stride": 2, "padding": 1, "dilation": 2, "groups": 2, "bias": False, **DTYPE}
_POOL = {"stride": 1, "padding": 1, "ceil_mode": True}
_PADDED = {"stride": 1, "padding": 0, "ceil_mode": {"padding": 0, "ceil_mode": True}}

_TRANSFORMER = {
    "dim_feedforward": 6,
    "dropout": 0.5,
    "activation": "gelu",
    "layer_norm_eps": 0.5,
    "batch_first": True,
    "norm_first": True,
    "bias": False,
    **DTYPE,
}


class _Same(nn.Module):
    """Stands for a stack of layers, and gives the first input back."""

    def forward(self, x: Any, *_: Any) -> Any:
        return ex.asarray(x) * 1.0


MODULES = [
    _module(
        nn.AvgPool1d, {"kernel_size": 2, "padding": 1}, SIGNAL, **_PADDED, count_include_pad=False
    ),
    _module(
        nn.AvgPool2d,
        {"kernel_size": 2, "padding": 1},
        IMAGE,
        **_PADDED,
        count_include_pad=False,
        divisor_override=3,
    ),
    *(
        _module(kind, {"kernel_size": 2}, x, **_POOL, dilation=2, return_indices=True)
        for kind, x in ((nn.MaxPool1d, SIGNAL), (nn.MaxPool2d, IMAGE), (nn.MaxPool3d, VOLUME))
    ),
    _module(
        nn.AvgPool3d,
        {"kernel_size": 2, "padding": 1},
        VOLUME,
        **_PADDED,
        count_include_pad=False,
        divisor_override=3,
    ),
    *(
        _module(kind, {"output_size": 2}, x, return_indices=True)
        for kind, x in (
            (nn.AdaptiveMaxPool1d, SIGNAL),
            (nn.AdaptiveMaxPool2d, IMAGE),
            (nn.AdaptiveMaxPool3d, VOLUME),
        )
    ),
    *(
        _module(kind, {"kernel_size": 2}, x, np.zeros(x.shape, int), stride=1, padding=1)
        for kind, x in (
            (nn.MaxUnpool1d, SIGNAL),
            (nn.MaxUnpool2d, IMAGE),
            (nn.MaxUnpool3d, VOLUME),
        )
    ),
    *(
        _module(kind, {"norm_type": 2, "kernel_size": 2}, abs(x), stride=1, ceil_mode=True)
        for kind, x in ((nn.LPPool1d, SIGNAL), (nn.LPPool2d, IMAGE), (nn.LPPool3d, VOLUME))
    ),
    *(
        _module(
            kind,
            {"kernel_size": 2, "output_size": 3},
            x,
            output_size=2,
            output_ratio={"output_size": None, "output_ratio": 0.8},
            return_indices=True,
        )
        for kind, x in ((nn.FractionalMaxPool2d, IMAGE), (nn.FractionalMaxPool3d, VOLUME))
    ),
    _module(nn.Unfold, {"kernel_size": 2}, IMAGE, dilation=2, padding=1, stride=2),
    _module(
        nn.Fold,
        {"output_size": 4, "kernel_size": 2},
        SIGNAL,
        dilation={"output_size": 5, "dilation": 2},
        padding={"output_size": 2, "padding": 1},
        stride={"output_size": 6, "stride": 2},
    ),
    _module(
        nn.BatchNorm1d,
        {"num_features": 4},
        VECTORS,
        **_NORM,
        momentum=0.5,
        affine=False,
        track_running_stats=False,
    ),
    _module(
        nn.BatchNorm2d,
        {"num_features": 4},
        IMAGE,
        **_NORM,
        momentum=0.5,
        affine=False,
        track_running_stats=False,
    ),
    _module(
        nn.InstanceNorm2d,
        {"num_features": 4, "affine": True, "track_running_stats": True},
        IMAGE,
        **_NORM,
        momentum=0.5,
        affine=False,
        track_running_stats=False,
    ),
    _module(nn.GroupNorm, {"num_groups": 2, "num_channels": 4}, IMAGE, **_NORM, affine=False),
    _module(nn.LayerNorm, {"normalized_shape": 4}, VECTORS, **_NORM, elementwise_affine=False),
    _module(
        nn.RMSNorm, {"normalized_shape": 4}, VECTORS, eps=0.5, elementwise_affine=False, **DTYPE
    ),
    _module(
        nn.Conv1d,
        {"in_channels": 4, "out_channels": 4, "kernel_size": 3},
        SIGNAL,
        **_CONVOLUTION,
        padding_mode={"padding": 1, "padding_mode": "reflect"},
    ),
    _module(
        nn.Conv2d,
        {"in_channels": 4, "out_channels": 4, "kernel_size": 3},
        IMAGE,
        **_CONVOLUTION,
        padding_mode={"padding": 1, "padding_mode": "circular"},
    ),
    _module(
        nn.ConvTranspose1d,
        {"in_channels": 4, "out_channels": 4, "kernel_size": 3},
        SIGNAL,
        **_CONVOLUTION,
        output_padding={"stride": 2, "output_padding": 1},
    ),
    _module(
        nn.ConvTranspose2d,
        {"in_channels": 4, "out_channels": 4, "kernel_size": 3},
        IMAGE,
        **_CONVOLUTION,
        output_padding={"stride": 2, "output_padding": 1},
    ),
    *(
        _module(kind, {}, x, p=0.25)
        for kind, x in (
            (nn.Dropout, VECTORS),
            (nn.Dropout1d, SIGNAL),
            (nn.Dropout2d, IMAGE),
            (nn.Dropout3d, VOLUME),
            (nn.AlphaDropout, VECTORS),
            (nn.FeatureAlphaDropout, IMAGE),
        )
    ),
    _module(nn.LocalResponseNorm, {"size": 2, "alpha": 1.0}, IMAGE, alpha=0.5, beta=0.5, k=2.0),
    _module(
        nn.Conv3d,
        {"in_channels": 2, "out_channels": 4, "kernel_size": 2},
        VOLUME,
        **_CONVOLUTION,
        padding_mode={"padding": 1, "padding_mode": "replicate"},
    ),
    _module(
        nn.ConvTranspose3d,
        {"in_channels": 2, "out_channels": 4, "kernel_size": 2},
        VOLUME,
        **_CONVOLUTION,
        output_padding={"stride": 2, "output_padding": 1},
    ),
    _module(
        nn.BatchNorm3d,
        {"num_features": 2},
        VOLUME,
        **_NORM,
        momentum=0.5,
        affine=False,
        track_running_stats=False,
    ),
    *(
        _module(
            kind,
            {"num_features": x.shape[1], "affine": True, "track_running_stats": True},
            x,
            **_NORM,
            momentum=0.5,
            affine=False,
            track_running_stats=False,
        )
        for kind, x in ((nn.InstanceNorm1d, SIGNAL), (nn.InstanceNorm3d, VOLUME))
    ),
    _module(nn.ELU, {}, VECTORS, alpha=0.5),
    _module(nn.CELU, {}, VECTORS, alpha=0.5),
    _module(nn.Softshrink, {}, VECTORS, lambd=0.2),
    _module(nn.Hardshrink, {}, VECTORS, lambd=0.2),
    _module(nn.RReLU, {}, VECTORS, lower=0.3, upper=0.2),
    _module(
        nn.Embedding, {"num_embeddings": 4, "embedding_dim": 3}, CLASSES, padding_idx=1, **DTYPE
    ),
    _module(
        nn.EmbeddingBag,
        {"num_embeddings": 4, "embedding_dim": 3},
        CLASSES,
        np.array([0, 2]),
        mode="max",
        include_last_offset=Refused(True),
        padding_idx=1,
        **DTYPE,
    ),
    _module(
        nn.Bilinear,
        {"in1_features": 4, "in2_features": 4, "out_features": 3},
        VECTORS,
        VECTORS[:, ::-1].copy(),
        bias=False,
        **DTYPE,
    ),
    _module(nn.Flatten, {}, IMAGE, start_dim=2, end_dim=2),
    _module(nn.GELU, {}, VECTORS, approximate="tanh"),
    _module(nn.GLU, {}, IMAGE[:, :, :4, :8], dim=1),
    _module(nn.GRU, {"input_size": 4, "hidden_size": 3}, SEQUENCE, **_RECURRENT),
    _module(nn.LSTM, {"input_size": 4, "hidden_size": 3}, SEQUENCE, **_RECURRENT, proj_size=2),
    _module(
        nn.RNN, {"input_size": 4, "hidden_size": 3}, SEQUENCE, **_RECURRENT, nonlinearity="relu"
    ),
    _module(nn.GRUCell, {"input_size": 4, "hidden_size": 3}, VECTORS, bias=False, **DTYPE),
    _module(nn.LSTMCell, {"input_size": 4, "hidden_size": 3}, VECTORS, bias=False, **DTYPE),
    _module(
        nn.RNNCell,
        {"input_size": 4, "hidden_size": 3},
        VECTORS,
        bias=False,
        nonlinearity="relu",
        **DTYPE,
    ),
    _module(nn.Hardtanh, {}, VECTORS, min_val=-0.5, max_val=0.5),
    _module(nn.LeakyReLU, {}, VECTORS, negative_slope=0.5),
    _module(nn.Linear, {"in_features": 4, "out_features": 3}, VECTORS, bias=False, **DTYPE),
    *(
        _module(
            kind,
            {"embed_dim": 4, "num_heads": 2},
            SEQUENCE,
            SEQUENCE,
            SEQUENCE,
            dropout=0.5,
            bias=False,
            add_bias_kv=True,
            add_zero_attn=True,
            batch_first=True,
            **DTYPE,
        )
        for kind in (nn.MultiHeadAttention, nn.MultiheadAttention)
    ),
    _module(
        nn.MultiHeadAttention,
        {"embed_dim": 4, "num_heads": 2, "kdim": 3, "vdim": 3},
        SEQUENCE,
        SEQUENCE[..., :3],
        SEQUENCE[..., :3],
        kdim=Refused(None),
        vdim=Refused(None),
    ),
    *(
        _module(getattr(nn, f"{kind}Pad{axes}d"), {"padding": 1}, IMAGE)
        for kind in ("Zero", "Reflection", "Replication", "Circular")
        for axes in (1, 2, 3)
    ),
    *(
        _module(getattr(nn, f"ConstantPad{axes}d"), {"padding": 1, "value": 2.0}, IMAGE)
        for axes in (1, 2, 3)
    ),
    _module(
        nn.Upsample,
        {"scale_factor": 1.5, "mode": "bilinear"},
        IMAGE,
        size={"size": 5, "scale_factor": None},
        scale_factor=1.7,
        mode="nearest",
        align_corners=True,
        recompute_scale_factor=True,
    ),
    *(
        _module(
            kind,
            {"scale_factor": 1.5},
            IMAGE,
            size={"size": 5, "scale_factor": None},
            scale_factor=1.7,
        )
        for kind in (nn.UpsamplingNearest2d, nn.UpsamplingBilinear2d)
    ),
    _lazy(nn.LazyLinear, VECTORS, {"out_features": 3}, bias=False, **DTYPE),
    *(
        _lazy(
            getattr(nn, f"LazyConv{axes}d"),
            x,
            {"out_channels": 4, "kernel_size": 2},
            **_CONVOLUTION,
            padding_mode={"padding": 1, "padding_mode": "replicate"},
        )
        for axes, x in ((1, SIGNAL), (2, IMAGE), (3, VOLUME))
    ),
    *(
        _lazy(
            getattr(nn, f"LazyConvTranspose{axes}d"),
            x,
            {"out_channels": 4, "kernel_size": 2},
            **_CONVOLUTION,
            output_padding={"stride": 2, "output_padding": 1},
        )
        for axes, x in ((1, SIGNAL), (2, IMAGE), (3, VOLUME))
    ),
    *(
        _lazy(
            getattr(nn, f"Lazy{kind}Norm{axes}d"),
            x,
            {},
            **_NORM,
            momentum=0.5,
            affine=False,
            track_running_stats=False,
        )
        for kind in ("Batch", "Instance")
        for axes, x in ((1, SIGNAL), (2, IMAGE), (3, VOLUME))
    ),
    _module(nn.PReLU, {}, VECTORS, num_parameters=4, init=0.5, **DTYPE),
    _module(nn.Softplus, {}, VECTORS, beta=2.0, threshold=-100.0),
    _module(
        nn.TransformerDecoderLayer,
        {"d_model": 4, "nhead": 2, "dim_feedforward": 8},
        SEQUENCE,
        SEQUENCE,
        **_TRANSFORMER,
    ),
    _module(
        nn.Transformer,
        {
            "d_model": 4,
            "nhead": 2,
            "num_encoder_layers": 1,
            "num_decoder_layers": 1,
            "dim_feedforward": 8,
        },
        SEQUENCE,
        SEQUENCE,
        **_TRANSFORMER,
        d_model=Refused(5),
        nhead=1,
        num_encoder_layers=2,
        num_decoder_layers=2,
        custom_encoder=_Same(),
        custom_decoder=_Same(),
    ),
    _module(
        nn.TransformerEncoder,
        {"encoder_layer": nn.TransformerEncoderLayer(4, 2, 8, 0.0), "num_layers": 1},
        SEQUENCE,
        norm=nn.LayerNorm(4),
    ),
    _module(
        nn.TransformerDecoder,
        {"decoder_layer": nn.TransformerDecoderLayer(4, 2, 8, 0.0), "num_layers": 1},
        SEQUENCE,
        SEQUENCE,
        norm=nn.LayerNorm(4),
    ),
    _module(
        nn.TransformerEncoderLayer,
        {"d_model": 4, "nhead": 2, "dim_feedforward": 8},
        SEQUENCE,
        dim_feedforward=6,
        dropout=0.5,
        activation="gelu",
        layer_norm_eps=0.5,
        batch_first=True,
        norm_first=True,
        bias=False,
        **DTYPE,
    ),
]
SCORES = _rng.standard_normal((5, 4))
CHANCES = 1 / (1 + np.exp(-SCORES))
TRUTH = (SCORES > 0.2).astype(float)
OTHER, THIRD = _rng.standard_normal((2, 5, 4))
SIGNS = np.array([1, -1, 1, -1, -1])
CLASS_WEIGHT = np.array([1.0, 2.0, 3.0, 4.0])
SIGNED = 2 * TRUTH - 1
SETS = np.array([[0, -1, 0, 0], [1, 2, -1, 0], [3, -1, 0, 0], [0, 1, 2, -1], [2, 0, -1, 0]])
LOSSES = [
    _loss(nn.BCELoss, CHANCES, TRUTH, weight=CLASS_WEIGHT, reduction="sum"),
    _loss(
        nn.BCEWithLogitsLoss,
        SCORES,
        TRUTH,
        weight=CLASS_WEIGHT,
        reduction="sum",
        pos_weight=CLASS_WEIGHT,
    ),
    _loss(nn.CosineEmbeddingLoss, OTHER, THIRD, SIGNS, margin=-0.5, reduction="sum"),
    _loss(
        nn.CrossEntropyLoss,
        SCORES,
        CLASSES,
        weight=CLASS_WEIGHT,
        ignore_index=1,
        reduction="sum",
        label_smoothing=0.2,
    ),
    _loss(nn.SoftMarginLoss, SCORES, SIGNED, reduction="sum"),
    _loss(nn.MarginRankingLoss, SCORES, OTHER, SIGNED, margin=0.5, reduction="sum"),
    _loss(nn.HingeEmbeddingLoss, SCORES, SIGNED, margin=0.5, reduction="sum"),
    _loss(
        nn.MultiMarginLoss, SCORES, CLASSES, p=2, margin=0.5, weight=CLASS_WEIGHT, reduction="sum"
    ),
    _loss(nn.MultiLabelMarginLoss, SCORES, SETS, reduction="sum"),
    _loss(nn.MultiLabelSoftMarginLoss, SCORES, TRUTH, weight=CLASS_WEIGHT, reduction="sum"),
    _loss(nn.GaussianNLLLoss, SCORES, OTHER, THIRD**2, full=True, eps=0.5, reduction="sum"),
    _loss(
        nn.PoissonNLLLoss,
        SCORES**2,
        3 * OTHER**2,
        log_input=False,
        full=True,
        eps={"log_input": False, "eps": 0.5},
        reduction="sum",
    ),
    _loss(
        nn.TripletMarginWithDistanceLoss,
        SCORES,
        OTHER,
        THIRD,
        distance_function=lambda a, b: abs(a - b).max(axis=-1),
        margin=2.0,
        swap=True,
        reduction="sum",
    ),
    _loss(
        nn.CTCLoss,
        np.log(np.full((3, 2, 3), [0.2, 0.3, 0.5])),
        np.array([[1, 1], [1, 1]]),
        np.array([3, 2]),
        np.array([1, 2]),
        blank={"reduction": "none", "blank": 2},
        reduction="none",
        zero_infinity=True,
    ),
    _loss(nn.CosineSimilarity, SCORES, OTHER, dim=0, eps=10.0),
    _loss(nn.PairwiseDistance, SCORES, OTHER, p=1.0, eps=0.5, keepdim=True),
    _loss(nn.FocalLoss, SCORES, TRUTH, alpha=0.5, gamma=1.0, reduction="sum"),
    _loss(nn.HingeLoss, SCORES, 2 * TRUTH - 1, reduction="sum"),
    _loss(nn.HuberLoss, SCORES, OTHER, reduction="sum", delta=0.5),
    _loss(nn.KLDivLoss, np.log(CHANCES), TRUTH, reduction="sum", log_target=True),
    _loss(nn.L1Loss, SCORES, OTHER, reduction="sum"),
    _loss(nn.MSELoss, SCORES, OTHER, reduction="sum"),
    _loss(nn.NLLLoss, SCORES, CLASSES, weight=CLASS_WEIGHT, ignore_index=1, reduction="sum"),
    _loss(nn.SmoothL1Loss, SCORES, OTHER, reduction="sum", beta=0.5),
    _loss(
        nn.TripletMarginLoss, SCORES, OTHER, THIRD, margin=2.0, p=1.0, swap=True, reduction="sum"
    ),
]
_ADAM = {"lr": 0.1, "betas": (0.5, 0.9), "eps": 0.1, "weight_decay": 0.5, "maximize": True}
OPTIMIZERS = [
    _optimizer(
        optim.SGD,
        lr=0.1,
        momentum=0.5,
        dampening={"momentum": 0.5, "dampening": 0.5},
        weight_decay=0.5,
        nesterov={"momentum": 0.5, "nesterov": True},
        maximize=True,
    ),
    _optimizer(optim.Adadelta, lr=0.1, rho=0.5, eps=0.1, weight_decay=0.5, maximize=True),
    _optimizer(
        optim.Adagrad,
        lr=0.1,
        lr_decay=0.5,
        weight_decay=0.5,
        eps=0.1,
        maximize=True,
        initial_accumulator_value=0.5,
    ),
    _optimizer(optim.Adam, **_ADAM, amsgrad=True),
    _optimizer(optim.AdamW, **_ADAM, amsgrad=True),
    _optimizer(optim.LAMB, **_ADAM),
    _optimizer(optim.Lion, lr=0.1, betas=(0.5, 0.9), weight_decay=0.5, maximize=True),
    _optimizer(
        optim.RMSprop,
        lr=0.1,
        alpha=0.5,
        eps=0.1,
        weight_decay=0.5,
        momentum=0.5,
        centered=True,
        maximize=True,
    ),
    _optimizer(
        optim.NAdam,
        **{**_ADAM, "momentum_decay": 0.5},
        decoupled_weight_decay={"weight_decay": 0.5, "decoupled_weight_decay": True},
    ),
    _optimizer(
        optim.RAdam,
        **_ADAM,
        decoupled_weight_decay={"weight_decay": 0.5, "decoupled_weight_decay": True},
    ),
    _optimizer(optim.Adamax, **_ADAM),
    _optimizer(
        optim.ASGD,
        lr=0.1,
        lambd=0.5,
        alpha={"lambd": 0.5, "alpha": 0.5},
        t0=1.0,
        weight_decay=0.5,
        maximize=True,
    ),
    _optimizer(optim.Rprop, lr=0.1, etas=(0.1, 2.0), step_sizes=(0.02, 50.0), maximize=True),
    _optimizer(
        optim.Adafactor,
        lr=0.1,
        beta2_decay=-0.5,
        eps=(1.0, 0.1),
        d=2.0,
        weight_decay=0.5,
        maximize=True,
    ),
    _lbfgs(
        lr=0.1,
        max_iter=3,
        max_eval={"line_search_fn": "strong_wolfe", "max_eval": 3},
        tolerance_grad=10.0,
        tolerance_change=0.1,
        history_size=1,
        line_search_fn="strong_wolfe",
    ),
    _optimizer(
        optim.Muon,
        lr=0.1,
        weight_decay=0.5,
        momentum=0.5,
        nesterov=False,
        eps=100.0,
        ns_coefficients=(3.0, -4.0, 2.0),
        ns_steps=2,
        adjust_lr_fn="match_rms_adamw",
    ),
]
_TIMES = {"last_epoch": 3, "automatic": True}
SCHEDULES = [
    _schedule(optim.CosineAnnealingLR, {"T_max": 5}, eta_min=0.1, **_TIMES),
    _schedule(optim.ExponentialLR, {"gamma": 0.5}, **_TIMES),
    _schedule(optim.LambdaLR, {"lr_lambda": lambda step: 1 / (1 + step)}, **_TIMES),
    _schedule(optim.MultiStepLR, {"milestones": [2, 5]}, gamma=0.5, **_TIMES),
    _schedule(optim.StepLR, {"step_size": 2}, gamma=0.5, **_TIMES),
    _schedule(
        optim.WarmupCosineLR,
        {"warmup_steps": 3, "total_steps": 9},
        min_lr=0.1,
        start_factor=0.5,
        **_TIMES,
    ),
    _schedule(optim.WarmupLR, {"warmup_steps": 5}, start_factor=0.5, **_TIMES),
    _schedule(
        optim.OneCycleLR,
        {"max_lr": 1.0, "total_steps": 20},
        pct_start=0.5,
        total_steps=24,
        anneal_strategy="linear",
        cycle_momentum=False,
        base_momentum=0.5,
        max_momentum=0.99,
        div_factor=5.0,
        final_div_factor={"pct_start": 0.2, "final_div_factor": 2.0},
        three_phase=True,
        **_TIMES,
        epochs={"total_steps": None, "epochs": 5, "steps_per_epoch": 3},
        steps_per_epoch={"total_steps": None, "epochs": 5, "steps_per_epoch": 5},
    ),
    _schedule(optim.LinearLR, {}, start_factor=0.5, end_factor=0.7, total_iters=3, **_TIMES),
    _schedule(optim.ConstantLR, {}, factor=0.5, total_iters=3, **_TIMES),
    _schedule(optim.PolynomialLR, {}, total_iters=3, power=2.0, **_TIMES),
    _schedule(optim.MultiplicativeLR, {"lr_lambda": lambda step: 1 / (1 + step)}, **_TIMES),
    _schedule(optim.CosineAnnealingWarmRestarts, {"T_0": 3}, T_mult=2, eta_min=0.1, **_TIMES),
    _schedule(
        optim.CyclicLR,
        {"base_lr": 0.1, "max_lr": 0.4, "step_size_up": 3},
        step_size_up=2,
        step_size_down=4,
        mode="triangular2",
        gamma={"mode": "exp_range", "gamma": 0.9},
        scale_fn=lambda number: 1 / (1 + number),
        scale_mode={"scale_fn": lambda number: 1 / (1 + number), "scale_mode": "iterations"},
        cycle_momentum=False,
        base_momentum=0.5,
        max_momentum=0.99,
        **_TIMES,
    ),
    _schedule(optim.SequentialLR, {"milestones": [3]}, lambda o: (o, _two_schedules(o)), **_TIMES),
    _schedule(
        optim.ChainedScheduler,
        {},
        lambda o: (_two_schedules(o),),
        optimizer=Refused(optim.SGD([nn.Parameter(ex.zeros(1))])),
        automatic=True,
    ),
    _schedule(
        optim.ReduceLROnPlateau,
        {"patience": 1},
        mode="max",
        factor=0.5,
        patience=3,
        threshold=0.5,
        threshold_mode={"threshold": 0.5, "threshold_mode": "abs"},
        cooldown=3,
        min_lr=0.3,
        eps=0.5,
    ),
]
_SHAPE = {"shape": (3, 4)}
_FANS = {"fan_in": 4, "fan_out": 6, "shape": (6, 4)}
_HE = {"a": 0.5, "mode": "fan_out", "nonlinearity": "tanh"}


def _given() -> Any:
    return ex.random.Generator(7)


def _filled(call: Callable[..., Any], **others: Any) -> Row:
    return Row(call, {"tensor": ex.zeros((6, 4))}, others, lambda tensor: tensor.clone())


_STEP = {"parameter": VECTORS, "gradient": VECTORS[::-1].copy()}
_ADAM_STEP = {**_STEP, "m": VECTORS / 2, "v": VECTORS**2, "step": 2}


def _clipped(first: float = 1.0, **options: Any) -> Any:
    parameter = nn.Parameter(ex.tensor(VECTORS))
    parameter.grad = ex.tensor(VECTORS)
    parameter.grad[0, 0] = first
    return optim.clip_grad_norm([parameter], **options), parameter.grad


def _averaged(**options: Any) -> Any:
    parameter = nn.Parameter(ex.tensor(VECTORS))
    average = optim.EMA([parameter], **options)
    for _ in range(3):
        with ex.no_grad():
            parameter += 1.0
        average.update()
    with average.applied():
        return parameter.detach().clone()


GRADIENT = {"requires_grad": True}
VALUES = [
    _values(init.calculate_gain, {"nonlinearity": "leaky_relu"}, param=0.5),
    _values(init.constant, {**_SHAPE, "value": 2.0}, **DTYPE),
    _values(init.ones, _SHAPE, **DTYPE),
    _values(init.zeros, _SHAPE, **DTYPE),
    _values(init.normal, _SHAPE, **DTYPE, mean=1.0, std=2.0, generator=_given()),
    _values(init.uniform, _SHAPE, **DTYPE, low=-1.0, high=2.0, generator=_given()),
    _values(
        init.truncated_normal,
        _SHAPE,
        **DTYPE,
        mean=1.0,
        std=2.0,
        low=-0.5,
        high=0.5,
        generator=_given(),
    ),
    _values(init.orthogonal, _SHAPE, **DTYPE, gain=2.0, generator=_given()),
    _values(init.xavier_normal, _FANS, **DTYPE, gain=2.0, generator=_given()),
    _values(init.xavier_uniform, _FANS, **DTYPE, gain=2.0, generator=_given()),
    _values(init.kaiming_normal, _FANS, **DTYPE, **_HE, generator=_given()),
    _values(init.kaiming_uniform, _FANS, **DTYPE, **_HE, generator=_given()),
    _filled(init.normal_, mean=1.0, std=2.0, generator=_given()),
    _filled(init.uniform_, a=-1.0, b=2.0, generator=_given()),
    _filled(init.trunc_normal_, mean=1.0, std=2.0, a=-0.5, b=0.5, generator=_given()),
    _filled(init.orthogonal_, gain=2.0, generator=_given()),
    _filled(init.xavier_normal_, gain=2.0, generator=_given()),
    _filled(init.xavier_uniform_, gain=2.0, generator=_given()),
    _filled(init.kaiming_normal_, **_HE, generator=_given()),
    _filled(init.kaiming_uniform_, **_HE, generator=_given()),
    _values(
        optim.sgd_step,
        {**_STEP, "lr": 0.1},
        momentum=0.5,
        weight_decay=0.5,
        dampening={"momentum": 0.5, "velocity": VECTORS, "dampening": 0.5},
        nesterov={"momentum": 0.5, "nesterov": True},
        velocity={"momentum": 0.5, "velocity": VECTORS},
    ),
    *(
        _values(step, _ADAM_STEP, lr=0.1, betas=(0.5, 0.9), eps=0.1, weight_decay=0.5)
        for step in (optim.adam_step, optim.adamw_step)
    ),
    _values(
        optim.adagrad_step,
        {**_STEP, "total": VECTORS**2},
        step={"step": 3, "lr_decay": 0.5},
        lr=0.1,
        lr_decay={"step": 3, "lr_decay": 0.5},
        weight_decay=0.5,
        eps=0.1,
    ),
    _values(
        optim.rmsprop_step,
        {**_STEP, "v": VECTORS**2},
        lr=0.1,
        alpha=0.5,
        eps=0.1,
        weight_decay=0.5,
        momentum=0.5,
        velocity={"momentum": 0.5, "velocity": VECTORS},
    ),
    _values(
        optim.orthogonalize,
        {"matrix": ex.tensor(VECTORS)},
        coefficients=(3.0, -4.0, 2.0),
        steps=2,
        eps=100.0,
    ),
    _values(
        _standing_for(optim.clip_grad_norm, _clipped),
        {"max_norm": 0.5, "first": np.inf},
        norm_type={"first": 1.0, "norm_type": 1.0},
        error_if_nonfinite=Refused(True),
    ),
    _values(_standing_for(optim.EMA, _averaged), {}, decay=0.5, warmup=True),
    _values(nn.Parameter, {"data": VECTORS}, requires_grad=False),
    _values(ex.tensor, {"data": VECTORS}, **DTYPE, **GRADIENT),
    _values(ex.Tensor, {"data": VECTORS}, **DTYPE, **GRADIENT),
    _values(ex.asarray, {"data": VECTORS}, **DTYPE),
    _values(
        ex.arange,
        {"start": 1},
        stop=7,
        step={"stop": 7, "step": 2},
        dtype="float64",
        requires_grad={"dtype": "float64", "requires_grad": True},
    ),
    _values(ex.linspace, {"start": 0.0, "stop": 1.0}, num=5, endpoint=False, **DTYPE, **GRADIENT),
    _values(ex.eye, {"n": 3}, m=4, k=1, **DTYPE, **GRADIENT),
    _values(ex.one_hot, {"indices": CLASSES}, num_classes=6, **DTYPE),
    _values(ex.full, {**_SHAPE, "fill_value": 2.0}, **DTYPE, **GRADIENT),
    _values(ex.full_like, {"x": VECTORS, "fill_value": 2.0}, **DTYPE, **GRADIENT),
    *(_values(make, _SHAPE, **DTYPE, **GRADIENT) for make in (ex.zeros, ex.ones)),
    *(_values(make, {"x": VECTORS}, **DTYPE, **GRADIENT) for make in (ex.zeros_like, ex.ones_like)),
    _values(
        ex.random.bernoulli, {"p": 0.5, "shape": (9,)}, shape=(8,), **DTYPE, generator=_given()
    ),
    _values(
        ex.random.choice,
        {"a": VECTORS[:, 0], "shape": (5,)},
        shape=(3,),
        replace=False,
        p=np.array([0.6, 0.1, 0.1, 0.1, 0.1]),
        generator=_given(),
    ),
    _values(
        ex.random.normal,
        _SHAPE,
        mean=1.0,
        std=2.0,
        shape=(2,),
        **DTYPE,
        **GRADIENT,
        generator=_given(),
    ),
    _values(
        ex.random.uniform,
        _SHAPE,
        low=-1.0,
        high=2.0,
        shape=(2,),
        **DTYPE,
        **GRADIENT,
        generator=_given(),
    ),
    _values(
        ex.random.randint,
        {"low": 0, "high": 9, **_SHAPE},
        shape=(2,),
        dtype="int32",
        generator=_given(),
    ),
    _values(ex.random.permutation, {"x": VECTORS}, generator=_given()),
    *(
        _values(make, {}, **DTYPE, **GRADIENT, generator=_given())
        for make in (ex.random.rand, ex.random.randn)
    ),
]


def _normalized(call: Callable[..., Any], **options: Any) -> Row:
    """Compared are the statistics too, which the op changes in place."""

    def make(momentum: float = 0.1) -> Any:
        running = ex.zeros(4), ex.ones(4)
        return [call(IMAGE, *running, momentum=momentum, **options), *running]

    return Row(_standing_for(call, make), {}, {"momentum": 0.5}, lambda made: made)


OPS = [
    _normalized(ex.batch_norm, training=True),
    _normalized(ex.instance_norm),
    _values(ex.place, {"x": VECTORS, "shape": (7, 4), "index": slice(0, 5)}, index=slice(2, 7)),
    _values(ex.concatenate, {"tensors": [VECTORS[:4], OTHER[:4]], "axis": 0}, axis=1),
    _values(ex.cast, {"x": VECTORS, "dtype": "float64"}, dtype="float16"),
    _values(
        ex.conv2d,
        {"x": IMAGE, "weight": IMAGE[:, :2, :3, :3], "groups": 2},
        groups={"weight": IMAGE[:, :, :3, :3], "groups": 1},
    ),
    _values(
        ex.embedding_bag,
        {"indices": CLASSES, "weight": VECTORS, "offsets": [0, 2, 5]},
        include_last_offset=True,
    ),
    _values(
        ex.affine_grid,
        {"theta": VECTORS[None, :2, :3], "size": (1, 1, 3, 3)},
        size=(1, 1, 4, 4),
    ),
    _values(
        ex.conv3d,
        {"x": VOLUME, "weight": VOLUME[:, :1, :2, :3, :3], "groups": 2},
        groups={"weight": VOLUME[:, :, :2, :3, :3], "groups": 1},
    ),
    _values(
        ex.conv1d,
        {"x": SIGNAL, "weight": SIGNAL[:, :2, :3], "groups": 2},
        groups={"weight": SIGNAL[:, :, :3], "groups": 1},
    ),
    _values(
        ex.conv2d_grad_x,
        {
            "gradient": IMAGE[:, :, :7, :7],
            "weight": IMAGE[[0, 1, 0, 1], :, :3, :3],
            "size": (9, 9),
        },
        padding={"gradient": IMAGE, "padding": 1},
    ),
    _values(
        ex.conv2d_grad_weight,
        {"gradient": IMAGE[:, :, :7, :7], "x": IMAGE, "kernel_size": (3, 3)},
        padding={"gradient": IMAGE, "padding": 1},
    ),
    _values(
        ex.fold,
        {"x": SIGNAL[:, :, :9], "output_size": 4, "kernel_size": 2},
        output_size={"x": SIGNAL[:, :, :6], "output_size": (4, 3)},
        kernel_size={"x": SIGNAL[:, :, :4], "kernel_size": (1, 4)},
        dilation={"x": SIGNAL[:, :, :4], "dilation": 2},
        padding={"output_size": 2, "padding": 1},
        stride={"output_size": 6, "stride": 2},
    ),
    Row(lambda spec: ex.einsum(spec, VECTORS), {"spec": "ij->ij"}, {"spec": "ij->ji"}, lambda x: x),
    _values(
        ex.scatter_add,
        {"x": VECTORS[:4], "indices": [[0, 1, 2, 3]], "updates": [[1.0, 2.0, 3.0, 4.0]], "axis": 0},
        axis={"indices": [[0], [1], [2], [3]], "updates": [[1.0], [2.0], [3.0], [4.0]], "axis": 1},
    ),
]
