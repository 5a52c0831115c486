"""The promised names and their parameters: what API.md stars, and what it promises by name alone.

A signature is written as a call would show it. ``...`` at its end allows further parameters, all
with defaults; without it the parameters are exactly these.
"""

from __future__ import annotations

_BINARY = {
    "add": "grad_output, a_shape, b_shape",
    "subtract": "grad_output, a_shape, b_shape",
    "multiply": "grad_output, a, b",
    "divide": "grad_output, a, b, eps=1e-10",
    "power": "grad_output, a, b, eps=1e-10",
    "floor_divide": "grad_output, a_shape, b_shape",
    "modulo": "grad_output, a, b",
    "matmul": "grad_output, a, b",
    "dot": "grad_output, a, b",
    "outer": "grad_output, a, b",
}
_UNARY = {
    "exp": "grad_output, output",
    "tanh": "grad_output, output",
    "sigmoid": "grad_output, output",
    "sqrt": "grad_output, output, eps=1e-10",
    "log": "grad_output, x, eps=1e-10",
    "log2": "grad_output, x, eps=1e-10",
    "log10": "grad_output, x, eps=1e-10",
    "abs": "grad_output, x",
    "sin": "grad_output, x",
    "cos": "grad_output, x",
    "relu": "grad_output, x",
    "sign": "grad_output",
    "ceil": "grad_output",
    "floor": "grad_output",
    "round": "grad_output",
    "trunc": "grad_output",
}
_REDUCED = "axis=None, keepdims=False"
_SUM_RULE = f"grad_output, input_shape, {_REDUCED}"
_MAX_RULE = f"grad_output, x, {_REDUCED}"
_SHAPE_RULE = "grad_output, input_shape"
_CONVOLVED = "stride=1, padding=0, dilation=1, groups=1"
_TRANSPOSED = "stride=1, padding=0, output_padding=0, groups=1, dilation=1"

SIGNATURES: dict[str, str] = {
    "tensor": "data, dtype=None, requires_grad=False",
    # section 3
    "zeros": "shape, dtype=None, requires_grad=False",
    "ones": "shape, dtype=None, requires_grad=False",
    "full": "shape, fill_value, dtype=None, requires_grad=False",
    "empty": "shape, dtype=None, requires_grad=False",
    "arange": "start, stop=None, step=1, dtype=None, requires_grad=False",
    "eye": "n, m=None, k=0, dtype=None, requires_grad=False",
    "linspace": "start, stop, num=50, endpoint=True, dtype=None, requires_grad=False",
    "zeros_like": "x, dtype=None, requires_grad=False",
    "ones_like": "x, dtype=None, requires_grad=False",
    "xavier_uniform": "fan_in, fan_out, shape, dtype=None, ...",
    "xavier_normal": "fan_in, fan_out, shape, dtype=None, ...",
    # sections 4, 5 and 7
    **dict.fromkeys(_BINARY, "a, b"),
    **{f"{name}_backward": rule for name, rule in _BINARY.items()},
    **dict.fromkeys(_UNARY, "x"),
    **{f"{name}_backward": rule for name, rule in _UNARY.items()},
    "broadcast_shapes": "*shapes",
    "are_shapes_broadcastable": "a, b",
    "compute_broadcast_strides": "shape, target",
    "reduce_to_shape": "grad, shape",
    "transpose": "x, axes=None",
    "transpose_backward": "grad_output, axes=None",
    "linear": "x, weight, bias=None",
    "linear_backward": "grad_output, x, weight",
    "einsum": "spec, *operands",
    "clip": "x, min_val, max_val",
    "clip_backward": "grad_output, x, min_val, max_val",
    "where": "cond, a, b",
    **dict.fromkeys("logical_and logical_or logical_xor".split(), "a, b"),
    "logical_not": "x",
    **dict.fromkeys("bitwise_and bitwise_or bitwise_xor".split(), "a, b"),
    "bitwise_not": "x",
    **dict.fromkeys("equal not_equal less less_equal greater greater_equal".split(), "a, b"),
    # section 6
    **dict.fromkeys("sum mean max_reduce min_reduce max min".split(), f"x, {_REDUCED}"),
    "sum_backward": _SUM_RULE,
    "mean_backward": _SUM_RULE,
    "max_reduce_backward": _MAX_RULE,
    "min_reduce_backward": _MAX_RULE,
    # section 8
    "reshape": "x, shape",
    "squeeze": "x, axis=None",
    "unsqueeze": "x, axis",
    "expand_dims": "x, axis",
    "flatten": "x, ...",
    "ravel": "x",
    "broadcast_to": "x, shape",
    **{
        f"{name}_backward": _SHAPE_RULE
        for name in "reshape squeeze unsqueeze flatten ravel broadcast_to".split()
    },
    "concatenate": "tensors, axis=0",
    "concatenate_backward": "grad_output, shapes, axis=0",
    "stack": "tensors, axis=0",
    "stack_backward": "grad_output, axis=0",
    "split": "x, indices_or_sections, axis=0",
    "split_backward": "grad_outputs, axis=0",
    # section 9, activations and losses
    "leaky_relu": "x, alpha=0.01",
    "leaky_relu_backward": "grad_output, x, alpha=0.01",
    "prelu": "x, alpha",
    "prelu_backward": "grad_output, x, alpha",
    "gelu": "x, approximate=False",
    "gelu_backward": "grad_output, x, approximate=False",
    "softmax": "x, axis=-1",
    "softmax_backward": "grad_output, output, axis=-1",
    "cross_entropy": "logits, target, reduction='mean', ...",
    "cross_entropy_backward": "grad_output, logits, target, reduction='mean', ...",
    "mse_loss": "prediction, target, reduction='mean'",
    "mse_loss_backward": "grad_output, prediction, target, reduction='mean'",
    "binary_cross_entropy": "prediction, target, reduction='mean', ...",
    "binary_cross_entropy_backward": "grad_output, prediction, target, reduction='mean', ...",
    "binary_cross_entropy_with_logits": "logits, target, reduction='mean', ...",
    "binary_cross_entropy_with_logits_backward": (
        "grad_output, logits, target, reduction='mean', ..."
    ),
    # section 9, layers as functions
    **dict.fromkeys(("conv1d", "conv2d"), f"x, weight, bias=None, {_CONVOLVED}"),
    **dict.fromkeys(
        ("conv1d_backward", "conv2d_backward"), f"grad_output, x, weight, {_CONVOLVED}"
    ),
    "conv2d_grad_x": f"gradient, weight, size, {_CONVOLVED}",
    "conv2d_grad_weight": f"gradient, x, kernel_size, {_CONVOLVED}",
    **{
        f"conv_transpose{axes}d{rule}": f"{inputs}, {_TRANSPOSED}"
        for axes in (1, 2)
        for rule, inputs in (
            ("", "x, weight, bias=None"),
            ("_backward", "grad_output, x, weight"),
        )
    },
    **{
        f"{kind}_pool{axes}d{rule}": f"{inputs}, {attributes}"
        + (", divisor_override=None" if (kind, axes) == ("avg", 2) else "")
        for kind, kept, attributes in (
            ("max", "x", "kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False"),
            (
                "avg",
                "input_shape",
                "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True",
            ),
            ("adaptive_avg", "input_shape", "output_size"),
        )
        for axes in (1, 2)
        for rule, inputs in (("", "x"), ("_backward", f"grad_output, {kept}"))
    },
    # section 10
    "grad": ("outputs, inputs, grad_outputs=None, create_graph=False, allow_unused=False, ..."),
    "check_gradient": "fn, inputs, ...",
}

# Promised by name, without a star; a pair by the convention where it is differentiable.
NAMES: tuple[str, ...] = tuple(
    "full_like empty_like asarray from_dlpack tril triu meshgrid one_hot "
    "maximum minimum negative reciprocal square tensordot "
    "prod var std logsumexp cumsum norm argmax argmin any all count_nonzero "
    "tan asin acos atan sinh cosh asinh acosh atanh atan2 expm1 log1p erf rsqrt "
    "isnan isinf isfinite "
    "permute swapaxes moveaxis pad flip roll tile repeat gather scatter_add take index_select "
    "masked_fill sort topk diag cast "
    "log_softmax elu selu silu mish softplus softsign relu6 hard_sigmoid hard_swish hard_tanh glu "
    "nll_loss l1_loss smooth_l1_loss huber_loss kl_div hinge_loss focal_loss triplet_loss "
    "cosine_embedding_loss "
    "backward no_grad enable_grad is_grad_enabled gradient_eps Function checkpoint "
    "vjp jvp jacobian hessian detect_anomaly "
    "Tensor ExTensor NONDIFFERENTIABLE set_default_dtype random "
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "set_num_threads".split()
)
RANDOM_NAMES: tuple[str, ...] = tuple(
    "manual_seed Generator rand randn randint uniform normal bernoulli permutation choice".split()
)
NN_NAMES: tuple[str, ...] = tuple(
    "Module Parameter ParameterDict ParameterList ModuleDict ModuleList Sequential Linear Conv1d "
    "Conv2d ConvTranspose2d MaxPool1d AvgPool1d MaxPool2d AvgPool2d AdaptiveAvgPool2d BatchNorm1d "
    "BatchNorm2d LayerNorm GroupNorm InstanceNorm2d RMSNorm Dropout Dropout2d Embedding "
    "MultiHeadAttention MultiheadAttention TransformerEncoderLayer RNN LSTM GRU RNNCell LSTMCell "
    "GRUCell Flatten Identity "
    "ReLU LeakyReLU PReLU Sigmoid Tanh GELU Softmax LogSoftmax ELU SELU SiLU Mish Softplus "
    "Softsign ReLU6 Hardsigmoid Hardswish Hardtanh GLU CrossEntropyLoss MSELoss BCELoss "
    "BCEWithLogitsLoss NLLLoss L1Loss SmoothL1Loss HuberLoss KLDivLoss HingeLoss FocalLoss "
    "TripletMarginLoss CosineEmbeddingLoss".split()
)
INIT_NAMES: tuple[str, ...] = tuple(
    "xavier_uniform xavier_normal kaiming_uniform kaiming_normal orthogonal truncated_normal "
    "uniform normal constant zeros ones calculate_gain".split()
)
NO_GRADIENT: tuple[str, ...] = tuple(
    "equal not_equal less less_equal greater greater_equal "
    "logical_and logical_or logical_xor logical_not isnan isinf isfinite "
    "bitwise_and bitwise_or bitwise_xor bitwise_not "
    "argmax argmin any all count_nonzero".split()
)
# The second names of an op. Each is the op itself, and its rule the op's rule.
ALIASES: dict[str, str] = {"max": "max_reduce", "min": "min_reduce", "expand_dims": "unsqueeze"}

TENSOR_ATTRIBUTES: tuple[str, ...] = tuple(
    "shape dtype ndim size T mT device requires_grad grad is_leaf at".split()
)
TENSOR_METHODS: dict[str, str] = {
    "numpy": "",
    "item": "",
    "tolist": "",
    "astype": "dtype",
    "detach": "",
    "clone": "",
    "backward": "grad_output=None, retain_graph=False, create_graph=False",
    "register_hook": "fn",
    "zero_grad": "",
}
TENSOR_OPS: tuple[str, ...] = tuple(
    "sum mean max min prod var std logsumexp cumsum norm argmax argmin any all count_nonzero "
    "reshape squeeze unsqueeze flatten ravel transpose permute swapaxes moveaxis split pad flip "
    "roll tile repeat gather scatter_add take index_select masked_fill sort topk diag broadcast_to "
    "matmul dot outer abs sign exp log sqrt sin cos tanh clip ceil floor round trunc log10 log2 "
    "relu sigmoid softmax".split()
)
TENSOR_OPERATORS: tuple[str, ...] = tuple(
    [f"__{name}__" for name in "neg abs eq ne lt le gt ge invert getitem".split()]
    + [
        f"__{side}{name}__"
        for name in "add sub mul truediv floordiv mod pow matmul and or xor".split()
        for side in ("", "r")
    ]
)
TENSOR_PROTOCOLS: tuple[str, ...] = tuple(
    f"__{name}__"
    for name in (
        "array dlpack dlpack_device len iter repr copy deepcopy bool int float index".split()
    )
)

# Ops that no call can get wrong, so that they have no row in ERRORS, with the reason. Empty: every
# rule refuses at least a grad_output that is not floating or not of its shape.
CANNOT_FAIL: dict[str, str] = {}
