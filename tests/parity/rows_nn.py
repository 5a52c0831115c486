"""The layers and losses that are compared with PyTorch's: constructor options and inputs, drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Rng = np.random.Generator


@dataclass(frozen=True)
class Use:
    """One module and a call of it; float64 inputs get gradients."""

    options: dict[str, Any]
    inputs: list[np.ndarray]
    keywords: dict[str, Any] = field(default_factory=dict)
    peer_options: dict[str, Any] = field(default_factory=dict)
    evaluated: bool = False


Draw = Callable[[Rng], Use]


def flag(rng: Rng) -> bool:
    return bool(rng.integers(2))


def whole(rng: Rng, low: int, high: int) -> int:
    """From ``low`` to ``high``, both included."""
    return int(rng.integers(low, high + 1))


def pick(rng: Rng, *choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def sizes(rng: Rng, low: int, high: int, most: int = 4) -> tuple[int, ...]:
    return tuple(whole(rng, 1, most) for _ in range(whole(rng, low, high)))


def _activation(**choices: tuple[Any, ...]) -> Draw:
    def draw(rng: Rng) -> Use:
        options = {name: pick(rng, *values) for name, values in choices.items()}
        return Use(options, [rng.normal(0, 3, sizes(rng, 0, 3))])

    return draw


def _evaluated_activation(**choices: tuple[Any, ...]) -> Draw:
    draw = _activation(**choices)
    return lambda rng: replace(draw(rng), evaluated=True)


def _prelu(rng: Rng) -> Use:
    x = rng.normal(0, 3, sizes(rng, 2, 4))
    return Use({"num_parameters": pick(rng, 1, x.shape[1]), "init": 0.3}, [x])


def _along(rng: Rng) -> Use:
    x = rng.normal(0, 3, sizes(rng, 1, 4))
    return Use({"dim": whole(rng, -x.ndim, x.ndim - 1)}, [x])


def _glu(rng: Rng) -> Use:
    shape = list(sizes(rng, 1, 4))
    dim = whole(rng, -len(shape), len(shape) - 1)
    shape[dim] *= 2
    return Use({"dim": dim}, [rng.normal(0, 3, shape)])


def _linear(rng: Rng) -> Use:
    features = whole(rng, 1, 6)
    options = {"in_features": features, "out_features": whole(rng, 1, 6), "bias": flag(rng)}
    return Use(options, [rng.normal(size=(*sizes(rng, 0, 3), features))])


def _flatten(rng: Rng) -> Use:
    x = rng.normal(size=sizes(rng, 2, 5))
    start = whole(rng, 0, x.ndim - 1)
    return Use({"start_dim": start, "end_dim": whole(rng, start, x.ndim - 1) - x.ndim}, [x])


ACTIVATIONS: dict[str, Draw] = {
    **dict.fromkeys("ReLU ReLU6 SELU SiLU Mish Hardswish".split(), _activation(inplace=(False,))),
    **dict.fromkeys("Sigmoid Tanh Softsign Identity".split(), _activation()),
    "LeakyReLU": _activation(negative_slope=(0.01, 0.3)),
    "ELU": _activation(alpha=(1.0, 0.4)),
    # PyTorch rounds 1 / alpha to float32.
    "CELU": _activation(alpha=(1.0, 0.5)),
    "LogSigmoid": _activation(),
    "Softshrink": _activation(lambd=(0.5, 0.0, 2.0)),
    "Hardshrink": _activation(lambd=(0.5, 0.0, 2.0)),
    "Tanhshrink": _activation(),
    "Threshold": _activation(threshold=(0.0, 1.0), value=(-2.0, 3.0)),
    "RReLU": _evaluated_activation(lower=(0.1, 0.2), upper=(0.3, 0.4)),
    "Softmax2d": lambda rng: Use({}, [rng.normal(0, 3, (*sizes(rng, 0, 1), *sizes(rng, 3, 3)))]),
    "GELU": _activation(approximate=("none", "tanh")),
    # Beyond the threshold PyTorch gives x itself, which differs by less than 2e-9 from here.
    "Softplus": _activation(beta=(1.0, 0.5), threshold=(40.0,)),
    "Hardtanh": _activation(min_val=(-1.0, -2.0), max_val=(1.0, 0.5)),
    "PReLU": _prelu,
    "GLU": _glu,
    "Softmax": _along,
    "Softmin": _along,
    "LogSoftmax": _along,
    "Linear": _linear,
    "Flatten": _flatten,
}


def _each(rng: Rng, axes: int, low: int, high: int) -> Any:
    """One int, or one for each axis."""
    return whole(rng, low, high) if flag(rng) else tuple(whole(rng, low, high) for _ in range(axes))


def _convolution(axes: int) -> Draw:
    def draw(rng: Rng) -> Use:
        groups = whole(rng, 1, 2)
        options = {
            "in_channels": groups * whole(rng, 1, 3),
            "out_channels": groups * whole(rng, 1, 3),
            "kernel_size": _each(rng, axes, 1, 3),
            "dilation": _each(rng, axes, 1, 2),
            "groups": groups,
            "bias": flag(rng),
            "padding_mode": pick(rng, "zeros", "zeros", "reflect", "replicate", "circular"),
        }
        if rng.random() < 0.4:
            options["padding"] = pick(rng, "same", "same", "valid")
        else:
            options["padding"] = _each(rng, axes, 0, 2)
            options["stride"] = _each(rng, axes, 1, 3)
        size = tuple(whole(rng, 5, 8) for _ in range(axes))
        return Use(options, [rng.normal(size=(whole(rng, 1, 3), options["in_channels"], *size))])

    return draw


def _transposed(axes: int) -> Draw:
    def draw(rng: Rng) -> Use:
        groups, stride = whole(rng, 1, 2), whole(rng, 1, 3)
        options = {
            "in_channels": groups * whole(rng, 1, 3),
            "out_channels": groups * whole(rng, 1, 3),
            "kernel_size": _each(rng, axes, 2, 3),
            "stride": stride,
            "padding": _each(rng, axes, 0, 1),
            "output_padding": whole(rng, 0, stride - 1),
            "groups": groups,
            "bias": flag(rng),
            "dilation": _each(rng, axes, 1, 2),
        }
        size = tuple(whole(rng, 2, 5) for _ in range(axes))
        return Use(options, [rng.normal(size=(whole(rng, 1, 3), options["in_channels"], *size))])

    return draw


def _pool(axes: int, **choices: tuple[Any, ...]) -> Draw:
    def draw(rng: Rng) -> Use:
        options = {name: pick(rng, *values) for name, values in choices.items()}
        options["kernel_size"] = _each(rng, axes, 2, 3)
        options["padding"] = _each(rng, axes, 0, 1)
        if flag(rng):
            options["stride"] = _each(rng, axes, 1, 3)
        size = tuple(whole(rng, 5, 8) for _ in range(axes))
        return Use(options, [rng.normal(size=(*sizes(rng, 2, 2), *size))])

    return draw


def _adaptive(axes: int, **choices: tuple[Any, ...]) -> Draw:
    def draw(rng: Rng) -> Use:
        options = {name: pick(rng, *values) for name, values in choices.items()}
        size = tuple(whole(rng, 1, 8) for _ in range(axes))
        return Use(
            {"output_size": _each(rng, axes, 1, 5), **options}, [rng.normal(size=(2, 3, *size))]
        )

    return draw


def _norm_pool(axes: int) -> Draw:
    def draw(rng: Rng) -> Use:
        options: dict[str, Any] = {
            "norm_type": pick(rng, 1, 2, 3.0), "kernel_size": whole(rng, 1, 3),
            "ceil_mode": flag(rng),
        }  # fmt: skip
        if flag(rng):
            options["stride"] = whole(rng, 1, 3)
        size = tuple(whole(rng, 4, 7) for _ in range(axes))
        return Use(options, [rng.uniform(0.2, 2, (*sizes(rng, 2, 2), *size))])

    return draw


def _unpool(axes: int) -> Draw:
    """Windows that do not overlap, so that no place comes twice."""

    def draw(rng: Rng) -> Use:
        kernel = tuple(whole(rng, 1, 3) for _ in range(axes))
        front, size = sizes(rng, 2, 2), tuple(whole(rng, 1, 4) for _ in range(axes))
        result = tuple(k * n for k, n in zip(kernel, size, strict=True))
        count, places = int(np.prod(size)), int(np.prod(result))
        lines = [rng.permutation(places)[:count] for _ in range(int(np.prod(front)))]
        indices = np.reshape(lines, (*front, *size)).astype(np.int64)
        return Use({"kernel_size": kernel}, [rng.normal(size=(*front, *size)), indices])

    return draw


def _windows(rng: Rng) -> tuple[dict[str, Any], tuple[int, ...], int]:
    """Options of windows, the size of a picture and the number of its windows."""
    kernel, dilation, padding, stride = (
        tuple(whole(rng, low, high) for _ in range(2))
        for low, high in ((1, 3), (1, 2), (0, 2), (1, 3))
    )
    size = tuple(whole(rng, 5, 7) for _ in range(2))
    counts = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(size, kernel, dilation, padding, stride, strict=True)
    ]
    options = {"kernel_size": kernel, "dilation": dilation, "padding": padding, "stride": stride}
    return options, size, counts[0] * counts[1]


def _unfold(rng: Rng) -> Use:
    options, size, _ = _windows(rng)
    return Use(options, [rng.normal(size=(*sizes(rng, 2, 2), *size))])


def _fold(rng: Rng) -> Use:
    options, size, windows = _windows(rng)
    batch, channels = sizes(rng, 2, 2)
    rows = channels * options["kernel_size"][0] * options["kernel_size"][1]
    return Use({"output_size": size, **options}, [rng.normal(size=(batch, rows, windows))])


WINDOWS: dict[str, Draw] = {
    "Conv1d": _convolution(1),
    "Conv2d": _convolution(2),
    "Conv3d": _convolution(3),
    "ConvTranspose1d": _transposed(1),
    "ConvTranspose2d": _transposed(2),
    "ConvTranspose3d": _transposed(3),
    **{
        f"MaxPool{axes}d": _pool(
            axes, dilation=(1, 2), ceil_mode=(False, True), return_indices=(False, True)
        )
        for axes in (1, 2, 3)
    },
    "AvgPool3d": _pool(3, ceil_mode=(False, True), count_include_pad=(False, True)),
    **{f"LPPool{axes}d": _norm_pool(axes) for axes in (1, 2, 3)},
    **{f"MaxUnpool{axes}d": _unpool(axes) for axes in (1, 2, 3)},
    "AdaptiveAvgPool3d": _adaptive(3),
    **{
        f"AdaptiveMaxPool{axes}d": _adaptive(axes, return_indices=(False, True))
        for axes in (1, 2, 3)
    },
    "Unfold": _unfold,
    "Fold": _fold,
    "AvgPool1d": _pool(1, ceil_mode=(False, True), count_include_pad=(False, True)),
    "AvgPool2d": _pool(2, ceil_mode=(False, True), count_include_pad=(False, True)),
    "AdaptiveAvgPool1d": _adaptive(1),
    "AdaptiveAvgPool2d": _adaptive(2),
}


def _pad(axes: int, kind: str) -> Draw:
    """Widths of both signs, which leave at least an element."""

    def draw(rng: Rng) -> Use:
        widths = tuple(whole(rng, -2, 3) for _ in range(2 * axes))
        options: dict[str, Any] = {"padding": whole(rng, 0, 3) if flag(rng) else widths}
        if kind == "Constant":
            options["value"] = rng.normal()
        # Some of PyTorch's kernels take exactly one axis or two in front.
        size = tuple(whole(rng, 5, 7) for _ in range(axes))
        return Use(options, [rng.normal(size=(*sizes(rng, 2, 2), *size))])

    return draw


def _upsample(rng: Rng) -> Use:
    mode, axes = pick(
        rng, ("nearest", 1), ("nearest", 2), ("nearest", 3), ("nearest-exact", 2), ("area", 2),
        ("linear", 1), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3),
    )  # fmt: skip
    options: dict[str, Any] = {"mode": mode}
    if flag(rng):
        options["size"] = _each(rng, axes, 1, 9)
    else:
        # Where a factor changes no size, some of PyTorch's kernels of "nearest" copy, and some do not.
        options["scale_factor"] = tuple(pick(rng, 0.5, 1.5, 2.0, 2.7) for _ in range(axes))
        options["recompute_scale_factor"] = flag(rng)
    if "linear" in mode or mode == "bicubic":
        options["align_corners"] = flag(rng)
    size = tuple(whole(rng, 2, 6) for _ in range(axes))
    return Use(options, [rng.normal(size=(*sizes(rng, 2, 2), *size))])


def _upsampling(rng: Rng) -> Use:
    options = (
        {"size": _each(rng, 2, 1, 9)} if flag(rng) else {"scale_factor": pick(rng, 0.5, 1.5, 2.7)}
    )
    return Use(options, [rng.normal(size=(*sizes(rng, 2, 2), whole(rng, 2, 5), whole(rng, 2, 5)))])


def _shuffled(name: str, square: bool, channels: bool) -> Draw:
    def draw(rng: Rng) -> Use:
        r = whole(rng, 1, 3)
        times = r * r if square else r
        many, height, width = whole(rng, 1, 3), whole(rng, 1, 3), whole(rng, 1, 3)
        shape = (many * times, height, width) if channels else (many, height * r, width * r)
        return Use({name: r}, [rng.normal(size=(whole(rng, 1, 2), *shape))])

    return draw


def _unflatten(rng: Rng) -> Use:
    a, b, dim = whole(rng, 1, 3), whole(rng, 1, 3), pick(rng, 1, -1)
    x = rng.normal(size=(2, a * b, 3) if dim == 1 else (2, 3, a * b))
    return Use({"dim": dim, "unflattened_size": (a, pick(rng, -1, b))}, [x])


RESIZED: dict[str, Draw] = {
    **{
        f"{kind}Pad{axes}d": _pad(axes, kind)
        for kind in ("Constant", "Zero", "Reflection", "Replication", "Circular")
        for axes in (1, 2, 3)
    },
    "Upsample": _upsample,
    "UpsamplingNearest2d": _upsampling,
    "UpsamplingBilinear2d": _upsampling,
    "PixelShuffle": _shuffled("upscale_factor", True, True),
    "PixelUnshuffle": _shuffled("downscale_factor", True, False),
    "Unflatten": _unflatten,
    "ChannelShuffle": _shuffled("groups", False, True),
}


def _running(low: int, high: int, without_momentum: bool) -> Draw:
    """A norm with running statistics over (batch, channels) and ``low`` to ``high`` more axes."""

    def draw(rng: Rng) -> Use:
        channels = whole(rng, 1, 4)
        options = {
            "num_features": channels,
            "eps": pick(rng, 1e-5, 0.1),
            "momentum": pick(rng, 0.1, 0.7, *([None] if without_momentum else [])),
            "affine": flag(rng),
            "bias": flag(rng),
            "track_running_stats": flag(rng),
        }
        size = tuple(whole(rng, 2, 4) for _ in range(whole(rng, low, high)))
        x = rng.normal(1, 2, (whole(rng, 2, 4), channels, *size))
        return Use(options, [x], evaluated=rng.random() < 0.3)

    return draw


def _layer_norm(rng: Rng) -> Use:
    shape = tuple(whole(rng, 2, 4) for _ in range(whole(rng, 1, 2)))
    options = {
        "normalized_shape": shape[0] if len(shape) == 1 and flag(rng) else shape,
        "eps": pick(rng, 1e-5, 0.1),
        "elementwise_affine": flag(rng),
        "bias": flag(rng),
    }
    return Use(options, [rng.normal(1, 2, (*sizes(rng, 0, 2), *shape))])


def _rms_norm(rng: Rng) -> Use:
    use = _layer_norm(rng)
    options = {**use.options, "eps": pick(rng, 1e-5, 0.1)}
    del options["bias"]
    return Use(options, use.inputs)


def _group_norm(rng: Rng) -> Use:
    groups = whole(rng, 1, 3)
    channels = groups * whole(rng, 1, 3)
    options = {"num_groups": groups, "num_channels": channels, "affine": flag(rng)}
    options["bias"] = flag(rng)
    size = tuple(whole(rng, 2, 4) for _ in range(whole(rng, 1, 2)))
    return Use(options, [rng.normal(1, 2, (whole(rng, 1, 3), channels, *size))])


def _local_norm(rng: Rng) -> Use:
    options = {"size": whole(rng, 1, 5), "alpha": 0.5, "beta": pick(rng, 0.75, 1.0), "k": 1.5}
    return Use(options, [rng.normal(size=(*sizes(rng, 3, 5),))])


NORMS: dict[str, Draw] = {
    "BatchNorm1d": _running(0, 1, True),
    "BatchNorm2d": _running(2, 2, True),
    "BatchNorm3d": _running(3, 3, True),
    "InstanceNorm1d": _running(1, 1, False),
    "InstanceNorm3d": _running(3, 3, False),
    "LocalResponseNorm": _local_norm,
    "InstanceNorm2d": _running(2, 2, False),
    "LayerNorm": _layer_norm,
    "RMSNorm": _rms_norm,
    "GroupNorm": _group_norm,
}


def _embedding(rng: Rng) -> Use:
    count = whole(rng, 2, 6)
    options = {"num_embeddings": count, "embedding_dim": whole(rng, 1, 4)}
    if flag(rng):
        options["padding_idx"] = whole(rng, -count, count - 1)
    return Use(options, [rng.integers(0, count, sizes(rng, 0, 3))])


def _embedding_bag(rng: Rng) -> Use:
    count, mode = whole(rng, 2, 6), pick(rng, "sum", "mean", "max")
    options = {"num_embeddings": count, "embedding_dim": whole(rng, 1, 4), "mode": mode}
    if flag(rng):
        options["padding_idx"] = whole(rng, -count, count - 1)
    inputs = [rng.integers(0, count, sizes(rng, 2, 2))]
    if mode == "sum" and flag(rng):
        return Use(options, inputs, {"per_sample_weights": rng.normal(size=inputs[0].shape)})
    if flag(rng):
        options["include_last_offset"] = flag(rng)
        starts = sorted(int(n) for n in rng.integers(0, 7, 3))
        last = [6] if options["include_last_offset"] else []
        inputs = [rng.integers(0, count, 6), np.array([0, *starts, *last])]
    return Use(options, inputs)


def _bilinear(rng: Rng) -> Use:
    first, second = whole(rng, 1, 4), whole(rng, 1, 4)
    options = {"in1_features": first, "in2_features": second, "out_features": whole(rng, 1, 3)}
    front = sizes(rng, 1, 3)
    inputs = [rng.normal(size=(*front, n)) for n in (first, second)]
    return Use({**options, "bias": flag(rng)}, inputs)


def _masks(rng: Rng, batch: int | None, heads: int, length: int, keys: int) -> dict[str, Any]:
    """Masks that leave the first key to be seen by all."""
    masks: dict[str, Any] = {}
    floating = flag(rng)
    if flag(rng):
        leading = (batch or 1) * heads
        hidden = rng.random((leading, length, keys) if flag(rng) else (length, keys)) < 0.4
        hidden[..., 0] = False
        masks["attn_mask"] = rng.normal(size=hidden.shape) if floating else hidden
    if flag(rng):
        hidden = rng.random((keys,) if batch is None else (batch, keys)) < 0.4
        hidden[..., 0] = False
        masks["key_padding_mask"] = np.where(hidden, -np.inf, 0.0) if floating else hidden
    return masks


def _attention(rng: Rng) -> Use:
    heads, size, batch = whole(rng, 1, 3), whole(rng, 1, 3), pick(rng, None, 1, 3)
    batch_first = flag(rng)
    options: dict[str, Any] = {
        "embed_dim": heads * size, "num_heads": heads, "bias": flag(rng),
        "batch_first": batch_first, "add_bias_kv": flag(rng), "add_zero_attn": flag(rng),
    }  # fmt: skip
    kind = whole(rng, 0, 2)  # the same for all three, one for keys and values, or three
    if kind == 2 and flag(rng):
        options |= {"kdim": whole(rng, 1, 4), "vdim": whole(rng, 1, 4)}
    length, keys = whole(rng, 1, 5), whole(rng, 1, 5)
    keys = length if kind == 0 else keys

    def sequence(steps: int, width: int) -> np.ndarray:
        if batch is None:
            return rng.normal(size=(steps, width))
        return rng.normal(size=(batch, steps, width) if batch_first else (steps, batch, width))

    query = sequence(length, heads * size)
    key = sequence(keys, options.get("kdim", heads * size))
    value = sequence(keys, options.get("vdim", heads * size))
    inputs = [[query] * 3, [query, key, key], [query, key, value]][kind]
    keywords = _masks(rng, batch, heads, length, keys)
    keywords |= {"need_weights": flag(rng), "average_attn_weights": flag(rng)}
    return Use(options, inputs, keywords)


def _encoder_layer(rng: Rng) -> Use:
    heads, batch, batch_first = whole(rng, 1, 3), whole(rng, 1, 3), flag(rng)
    options: dict[str, Any] = {
        "d_model": heads * 2, "nhead": heads, "dim_feedforward": whole(rng, 1, 5), "dropout": 0.0,
        "activation": pick(rng, "relu", "gelu"), "batch_first": batch_first,
        "norm_first": flag(rng), "bias": flag(rng), "layer_norm_eps": pick(rng, 1e-5, 0.1),
    }  # fmt: skip
    length = whole(rng, 1, 5)
    shape = (batch, length) if batch_first else (length, batch)
    masks = _masks(rng, batch, heads, length, length)
    keywords = {f"src_{name.removeprefix('attn_')}": mask for name, mask in masks.items()}
    return Use(options, [rng.normal(size=(*shape, heads * 2))], keywords)


def _decoder_layer(rng: Rng) -> Use:
    use = _encoder_layer(rng)
    (tgt,) = use.inputs
    batch_first, heads = use.options["batch_first"], use.options["nhead"]
    batch, length = tgt.shape[:2] if batch_first else tgt.shape[1::-1]
    keys = whole(rng, 1, 5)
    memory = rng.normal(size=(batch, keys, heads * 2) if batch_first else (keys, batch, heads * 2))
    keywords = {name.replace("src_", "tgt_"): mask for name, mask in use.keywords.items()}
    masks = _masks(rng, batch, heads, length, keys)
    keywords |= {f"memory_{name.removeprefix('attn_')}": mask for name, mask in masks.items()}
    # A norm of two nearly equal numbers makes their rounding large.
    return Use({**use.options, "layer_norm_eps": 0.1}, [tgt, memory], keywords)


def _transformer(rng: Rng) -> Use:
    use = _decoder_layer(rng)
    options = {**use.options, "num_encoder_layers": 2, "num_decoder_layers": 1}
    return Use(options, use.inputs[::-1], use.keywords)


def _recurrent(gates: int) -> Draw:
    def draw(rng: Rng) -> Use:
        batch = pick(rng, None, 1, 3)
        options: dict[str, Any] = {
            "input_size": whole(rng, 1, 4),
            "hidden_size": whole(rng, 1, 4),
            "num_layers": whole(rng, 1, 3),
            "bias": flag(rng),
            "batch_first": flag(rng),
            "bidirectional": flag(rng),
        }
        if gates == 1:
            options["nonlinearity"] = pick(rng, "tanh", "relu")
        if gates == 4 and options["hidden_size"] > 1 and flag(rng):
            options["proj_size"] = whole(rng, 1, options["hidden_size"] - 1)
        length = whole(rng, 1, 5)
        leading = (length,) if batch is None else (length, batch)
        if batch is not None and options["batch_first"]:
            leading = (batch, length)
        inputs = [rng.normal(size=(*leading, options["input_size"]))]
        if flag(rng):
            count = options["num_layers"] * (1 + options["bidirectional"])
            shape = (count, *(() if batch is None else (batch,)), options["hidden_size"])
            out = options.get("proj_size", options["hidden_size"])
            inputs.append(rng.normal(size=(*shape[:-1], out)))
            if gates == 4:
                inputs.append(rng.normal(size=shape))
        return Use(options, inputs)

    return draw


def _cell(gates: int) -> Draw:
    def draw(rng: Rng) -> Use:
        leading = pick(rng, (), (1,), (3,))
        options: dict[str, Any] = {
            "input_size": whole(rng, 1, 4),
            "hidden_size": whole(rng, 1, 4),
            "bias": flag(rng),
        }
        if gates == 1:
            options["nonlinearity"] = pick(rng, "tanh", "relu")
        inputs = [rng.normal(size=(*leading, options["input_size"]))]
        if flag(rng):
            shape = (*leading, options["hidden_size"])
            inputs += [rng.normal(size=shape) for _ in range(2 if gates == 4 else 1)]
        return Use(options, inputs)

    return draw


SEQUENCES: dict[str, Draw] = {
    "Embedding": _embedding,
    "EmbeddingBag": _embedding_bag,
    "Bilinear": _bilinear,
    "MultiheadAttention": _attention,
    "TransformerEncoderLayer": _encoder_layer,
    "TransformerDecoderLayer": _decoder_layer,
    "Transformer": _transformer,
    "RNN": _recurrent(1),
    "GRU": _recurrent(3),
    "LSTM": _recurrent(4),
    "RNNCell": _cell(1),
    "GRUCell": _cell(3),
    "LSTMCell": _cell(4),
}

# Hardsigmoid is left out: its derivative there is a float32's sixth, as test_differences.py shows.
LAYERS = {**ACTIVATIONS, **WINDOWS, **RESIZED, **NORMS, **SEQUENCES}
LEARNING = [
    "PReLU",
    "Linear",
    *(n for n in WINDOWS if "Conv" in n),
    *(n for n in NORMS if n != "LocalResponseNorm"),
    *SEQUENCES,
]
