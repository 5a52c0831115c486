"""PyTorch's names and their equivalents here, read only when a name is not found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CPU = "this library computes on the CPU, so there is no device to choose"
NONE = "not implemented here"

# By PyTorch's name, what to write instead; what begins with CPU or NONE is a sentence of its own.
FUNCTIONS = {
    "absolute": "ex.abs(x)",
    "addcdiv": "x + value * a / b",
    "addcmul": "x + value * a * b",
    "addmm": "c + ex.matmul(a, b)",
    "allclose": "numpy.allclose(a, b)",
    "amax": "ex.max(x, axis)",
    "amin": "ex.min(x, axis)",
    **{f"arc{name}": f"ex.a{name}(x)" for name in "cos cosh sin sinh tan tanh".split()},
    "arctan2": "ex.atan2(a, b)",
    "as_tensor": "ex.asarray(data)",
    "autocast": "ex.amp.autocast(dtype)",
    **dict.fromkeys("backends cuda device get_default_device mps set_default_device".split(), CPU),
    "baddbmm": "c + ex.matmul(a, b)",
    "bernoulli": "ex.random.bernoulli(p)",
    **dict.fromkeys(("bmm", "mm", "mv"), "ex.matmul(a, b)"),
    **dict.fromkeys(("cat", "concat"), "ex.concatenate(tensors, axis)"),
    "chunk": "ex.split(x, sections, axis)",
    "clamp": "ex.clip(x, min_val, max_val)",
    "clamp_max": "ex.clip(x, None, max_val)",
    "clamp_min": "ex.clip(x, min_val, None)",
    "detach": "x.detach()",
    **dict.fromkeys(("div", "true_divide"), "ex.divide(a, b)"),
    "eq": "ex.equal(a, b)",
    "finfo": "numpy.finfo(dtype)",
    "fix": "ex.trunc(x)",
    "from_numpy": "ex.asarray(array)",
    "ge": "ex.greater_equal(a, b)",
    "ger": "ex.outer(a, b)",
    "get_rng_state": "ex.random.get_state()",
    "gt": "ex.greater(a, b)",
    "hardshrink": "ex.hard_shrink(x)",
    "hardsigmoid": "ex.hard_sigmoid(x)",
    "hardswish": "ex.hard_swish(x)",
    "hardtanh": "ex.hard_tanh(x)",
    "hstack": "ex.concatenate(tensors, axis=1)",
    "iinfo": "numpy.iinfo(dtype)",
    "index_put": "x.at[index].set(values)",
    "inner": "ex.dot(a, b)",
    "is_tensor": "isinstance(x, ex.Tensor)",
    "le": "ex.less_equal(a, b)",
    "logsigmoid": "ex.log_sigmoid(x)",
    "lt": "ex.less(a, b)",
    "manual_seed": "ex.random.manual_seed(seed)",
    "masked_select": "x[mask]",
    "movedim": "ex.moveaxis(x, source, destination)",
    "mul": "ex.multiply(a, b)",
    "multinomial": "ex.random.choice(a, shape, p=p)",
    "narrow": "x[start:stop]",
    "ne": "ex.not_equal(a, b)",
    "neg": "ex.negative(x)",
    "normal": "ex.random.normal(mean, std, shape)",
    "numel": "x.size",
    "pow": "ex.power(a, b)",
    "rand": "ex.random.rand(shape)",
    "rand_like": "ex.random.rand(x.shape)",
    "randint": "ex.random.randint(low, high, shape)",
    "randn": "ex.random.randn(shape)",
    "randn_like": "ex.random.randn(x.shape)",
    "randperm": "ex.random.permutation(n)",
    "range": "ex.arange(start, stop, step)",
    "remainder": "ex.modulo(a, b)",
    "repeat_interleave": "ex.repeat(x, repeats, axis)",
    "select": "x[index]",
    "set_grad_enabled": "with ex.enable_grad() or with ex.no_grad()",
    "set_rng_state": "ex.random.set_state(state)",
    "inference_mode": "with ex.no_grad()",
    "softshrink": "ex.soft_shrink(x)",
    "sub": "ex.subtract(a, b)",
    "svd": "numpy.linalg.svd(x.numpy())",
    "swapdims": "ex.swapaxes(x, axis1, axis2)",
    "t": "x.T",
    "tanhshrink": "ex.tanh_shrink(x)",
    "take_along_dim": "ex.gather(x, indices, axis)",
    "triplet_margin_loss": "ex.triplet_loss(anchor, positive, negative)",
    "unbind": "tuple(x)",
    "vstack": "ex.concatenate(tensors)",
    "Generator": "ex.random.Generator(seed)",
    "Parameter": "ex.nn.Parameter(data)",
    "Module": "ex.nn.Module",
    "autograd": "ex.grad and ex.backward",
    "func": "ex.vjp, ex.jvp, ex.jacobian and ex.hessian",
    "linalg": "ex.norm, ex.inv, ex.solve, ex.det, ex.slogdet, ex.cholesky, ex.eigh, or numpy.linalg",
    "utils": "ex.data and ex.optim",
    "double": "ex.float64",
    "float": "ex.float32",
    "half": "ex.float16",
    "long": "ex.int64",
    "int": "ex.int32",
    "short": "ex.int16",
    "bool": "ex.bool_",
    "FloatTensor": "ex.tensor(data, ex.float32)",
    "LongTensor": "ex.tensor(data, ex.int64)",
}
MODULES = {
    "BCELossWithLogits": "ex.nn.BCEWithLogitsLoss",
    "DataParallel": "the module itself: kernels use all cores already",
    "Hardsigmoid2d": "ex.nn.Hardsigmoid",
    "SyncBatchNorm": "ex.nn.BatchNorm2d",
    "functional": "the functions of ex itself, such as ex.relu",
    "utils": "ex.optim.clip_grad_norm and ex.optim.clip_grad_value",
    "Buffer": "self.register_buffer(name, tensor)",
}
OPTIMIZERS = {
    "SparseAdam": (
        f"{NONE}: gradients are dense here, so that every row takes part in each step; take "
        "ex.optim.Adam, or ex.optim.Adagrad, whose rows without a gradient stay as they are"
    ),
    "LRScheduler": "ex.optim.Schedule",
    "lr_scheduler": "the schedules of ex.optim itself, such as ex.optim.StepLR",
    "swa_utils": "ex.optim.EMA",
    "clip_grad_norm_": "ex.optim.clip_grad_norm(parameters, max_norm)",
    "clip_grad_value_": "ex.optim.clip_grad_value(parameters, clip_value)",
}
# Changes in place, which every other name of the same tensor sees; x = x.add(...) would be another.
IN_PLACE = {
    "add_": "x += other",
    "addcdiv_": "x += value * a / b",
    "addcmul_": "x += value * a * b",
    "addmm_": "x += ex.matmul(a, b)",
    "bitwise_and_": "x &= other",
    "bitwise_or_": "x |= other",
    "bitwise_xor_": "x ^= other",
    "clamp_": "x[...] = x.clip(min_val, max_val)",
    "clamp_max_": "x[...] = x.clip(None, max_val)",
    "clamp_min_": "x[...] = x.clip(min_val, None)",
    "copy_": "x[...] = values",
    **dict.fromkeys(("div_", "divide_", "true_divide_"), "x /= other"),
    "fill_": "x[...] = value",
    "floor_divide_": "x //= other",
    "index_add_": "x[...] = x.at[index].add(values)",
    "index_fill_": "x[index] = value",
    "index_put_": "x[index] = values",
    "lerp_": "x += weight * (end - x)",
    "masked_fill_": "x[mask] = value",
    **dict.fromkeys(("modulo_", "remainder_"), "x %= other"),
    **dict.fromkeys(("mul_", "multiply_"), "x *= other"),
    "neg_": "x[...] = -x",
    **dict.fromkeys(("pow_", "power_"), "x **= exponent"),
    "scatter_": "x[...] = x.scatter(indices, values, axis)",
    "scatter_add_": "x[...] = x.scatter_add(indices, values, axis)",
    **dict.fromkeys(("sub_", "subtract_"), "x -= other"),
    "zero_": "x[...] = 0",
}
# Methods whose result has another shape, or is another tensor by its nature.
_RESHAPED = frozenset(
    "squeeze unsqueeze transpose swapaxes reshape flatten ravel permute moveaxis expand_dims "
    "broadcast_to detach clone astype".split()
)
METHODS = {
    **{
        name: text
        for name, text in FUNCTIONS.items()
        if name[0].islower() and text not in (CPU, "x.detach()")
    },
    **IN_PLACE,
    "bfloat16": "x.astype(ex.bfloat16)",
    "bool": "x.astype(ex.bool_)",
    "byte": "x.astype(ex.uint8)",
    "char": "x.astype(ex.int8)",
    "chunk": "x.split(sections, axis)",
    "clamp": "x.clip(min_val, max_val)",
    "contiguous": "x: kernels read any layout",
    "copy": "x.clone()",
    **dict.fromkeys(("cpu", "cuda", "pin_memory"), f"x: {CPU}"),
    "data": "x.detach()",
    "dim": "x.ndim",
    "double": "x.astype(ex.float64)",
    "element_size": "x.dtype.itemsize",
    "expand": "x.broadcast_to(shape)",
    "expand_as": "x.broadcast_to(other.shape)",
    "float": "x.astype(ex.float32)",
    **dict.fromkeys(("get_device", "is_cuda"), f"x.device: {CPU}"),
    "grad_fn": "repr(x), which names the op",
    "half": "x.astype(ex.float16)",
    "index_add": "x.at[index].add(values)",
    "index_fill": "x.at[index].set(value)",
    "int": "x.astype(ex.int32)",
    "is_contiguous": "x.numpy().flags.c_contiguous",
    "is_floating_point": "x.dtype.kind == 'f'",
    "itemsize": "x.dtype.itemsize",
    "long": "x.astype(ex.int64)",
    "nbytes": "x.numpy().nbytes",
    "ndimension": "x.ndim",
    "nelement": "x.size",
    "new_full": "ex.full(shape, value, x.dtype)",
    "new_ones": "ex.ones(shape, x.dtype)",
    "new_tensor": "ex.tensor(data, x.dtype)",
    "new_zeros": "ex.zeros(shape, x.dtype)",
    "normal_": "ex.nn.init.normal_(x)",
    "requires_grad_": "x.requires_grad = True",
    **dict.fromkeys(("reshape_as", "view_as"), "x.reshape(other.shape)"),
    "retain_grad": "ex.grad(output, x)",
    "short": "x.astype(ex.int16)",
    "stride": "x.numpy().strides, which counts bytes",
    "sub": "x.subtract(other)",
    "to": f"x.astype(dtype); {CPU}",
    "type": "x.astype(dtype), or x.dtype",
    "type_as": "x.astype(other.dtype)",
    "unfold": "numpy.lib.stride_tricks.sliding_window_view(x.numpy(), size)",
    "uniform_": "ex.nn.init.uniform_(x)",
    "view": "x.reshape(shape), which shares the memory where it can",
    "where": "ex.where(condition, x, other)",
}
# Keywords that are called otherwise here.
KEYWORDS = {
    "correction": "ddof",
    "dim": "axis",
    "dims": "axes",
    "input": "x",
    "keepdim": "keepdims",
    "max": "max_val",
    "min": "min_val",
    "num_workers": "workers",
    "other": "b",
    "prefetch_factor": "prefetch",
}
# Those for which another name is not all there is to say, beside the one that a function must know.
_SENTENCES = {
    "unbiased": ("ddof", "unbiased is ddof=1 here, and its opposite ddof=0"),
    "collate_fn": (
        "workers",
        "batches are stacked by the loader, and transform changes them; a dataset that has "
        "batch(indices) makes its own",
    ),
    "pin_memory": ("workers", f"{CPU} and no memory to pin"),
    "batch_sampler": ("workers", "sampler gives the order and batch_size the number of a batch"),
    "worker_init_fn": ("workers", "workers are threads that share everything"),
    "persistent_workers": ("workers", "workers are threads that cost nothing to begin"),
}


def answer(name: str, text: str) -> str:
    """The words for a name that is not here: those of a table, in a sentence."""
    return (
        f"{name}: {text if text.startswith((CPU, NONE)) else 'there is none here, write ' + text}"
    )


def missing(name: str, table: Mapping[str, str], module: str) -> AttributeError:
    """The error for a name that ``module`` does not have: what to write, if the table knows."""
    if name in table:
        # An object without names of its own keeps Python from guessing a similar one.
        return AttributeError(answer(name, table[name]), name=name, obj=None)
    return AttributeError(f"module {module!r} has no attribute {name!r}")


def unknown_keyword(op: str, name: str, known: Any) -> str | None:
    """The hint for a keyword that a function does not have, if it is one of PyTorch's."""
    if name == "device":
        return f"{op}: {CPU}, got device"
    if KEYWORDS.get(name) in known:
        return f"{op}: {name} is called {KEYWORDS[name]} here, got {name}"
    needed, sentence = _SENTENCES.get(name, ("", ""))
    if needed in known:
        return f"{op}: {sentence}, got {name}"
    return None


class Elsewhere:
    """A method of PyTorch's tensor that ours does not have: asked for, it says what to write."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def __get__(self, instance: Any, owner: Any) -> Any:
        raise AttributeError(answer(self.name, self.text), name=self.name, obj=None)


def name_elsewhere(kind: Any) -> None:
    """Put what PyTorch's tensor has and ``kind`` has not where its attributes are looked for."""
    methods = [name for name, x in vars(kind).items() if callable(x) and not name.startswith("_")]
    table = {
        f"{name}_": f"x{'' if name in _RESHAPED else '[...]'} = x.{name}(...)" for name in methods
    }
    found = {name: text for name, text in {**table, **METHODS}.items() if not hasattr(kind, name)}
    for name, text in found.items():
        setattr(kind, name, Elsewhere(name, text))
    kind.__dir__ = lambda self: [name for name in object.__dir__(self) if name not in found]


class Size(int):
    """The number of elements. It is no function, as it is in PyTorch."""

    def __call__(self, *axis: Any) -> Any:
        raise TypeError(
            "size: is the number of elements, write x.shape or x.shape[axis] for the sizes of axes"
        )

    def __reduce__(self) -> Any:
        return int, (int(self),)
