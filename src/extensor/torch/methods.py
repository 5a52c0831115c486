"""The functions of this package as methods of its Tensor, and those that change the tensor itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from extensor import ops, random
from extensor.arrays.dtypes import is_floating
from extensor.core import modes
from extensor.core.tensor import Tensor as CoreTensor
from extensor.ops.in_place import overwrite, set_item
from extensor.ops.methods import METHODS, RENAMED
from extensor.torch import creation, elementwise, indexing, products, reductions, shapes
from extensor.torch.devices import check_device, device
from extensor.torch.dtypes import CASTS, CLASSES, named_dtype
from extensor.torch.elementwise import FUNCTIONS as ELEMENTWISE
from extensor.torch.elementwise import add, div, sub
from extensor.torch.sizes import loose_sizes
from extensor.torch.tensor_class import Tensor, handed_out, leaf, wrapped

# Functions of a module that are no methods.
_NO_METHODS = set(
    """
    cat concat concatenate stack hstack vstack dstack column_stack row_stack meshgrid cartesian_prod
    combinations block_diag broadcast_tensors broadcast_shapes tril_indices triu_indices einsum
    tensordot bucketize searchsorted chain_matmul vector_norm matrix_norm linalg_norm where
    """.split()
)
# Operators: PyTorch's rules for dtypes come before the core's.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": add,
    "sub": sub,
    "mul": ELEMENTWISE["mul"],
    "truediv": div,
    "floordiv": ELEMENTWISE["floor_divide"],
    "mod": ELEMENTWISE["remainder"],
    "pow": ELEMENTWISE["pow"],
    "matmul": products.matmul,
    "and": ELEMENTWISE["bitwise_and"],
    "or": ELEMENTWISE["bitwise_or"],
    "xor": ELEMENTWISE["bitwise_xor"],
}
_SYMBOLS = dict(zip(_OPERATORS, "+ - * / // % ** @ & | ^".split(), strict=True))
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
# Methods with a form that changes the tensor itself.
_IN_PLACE = """
    abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr asin asinh atan atanh baddbmm
    bitwise_and bitwise_not bitwise_or bitwise_xor ceil clamp clamp_max clamp_min clip cos cosh cumprod
    cumsum deg2rad digamma div divide eq erf erfc erfinv exp exp2 expm1 floor floor_divide fmod frac ge gt
    index_add index_copy index_fill index_put le lerp lgamma log log10 log1p log2 logical_and
    logical_not logical_or logical_xor logit lt masked_fill masked_scatter mul multiply nan_to_num ne
    neg negative pow rad2deg reciprocal relu remainder round rsqrt scatter scatter_add scatter_reduce
    sigmoid sign sin sinh softplus sqrt square sub subtract tan tanh tril triu true_divide trunc xlogy
""".split()


def reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, self)


def changing(
    name: str, function: Callable[..., Any], symbol: str | None = None
) -> Callable[..., Any]:
    """The method ``name`` that gives the tensor the result of ``function``."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        def result(x: Any, *values: Any) -> Any:
            return function(
                x, *values[: len(args)], **dict(zip(kwargs, values[len(args) :], strict=True))
            )

        return overwrite(name, self, result, (*args, *kwargs.values()), symbol)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{name[:-1]}` of the tensor, written into the tensor itself."
    return method


def _comparison(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if other is None or isinstance(other, str) else function(self, other)

    return method


def _getitem(self: Any, index: Any) -> Any:
    kind = type(index)
    if kind is slice or kind is tuple:
        for part in index if kind is tuple else (index,):
            if type(part) is slice:
                if part.step is not None and int(part.step) < 0:
                    raise ValueError("getitem: a step must be above 0; use flip()")
            elif type(part) is Tensor:
                _refuse_bytes(part)
    elif kind is Tensor:
        _refuse_bytes(index)
    result = ops.getitem(self, index)
    result.__class__ = Tensor
    return result


def _refuse_bytes(index: Any) -> None:
    """Bytes are a mask in PyTorch, and indices in NumPy."""
    if index._array.dtype == np.uint8:
        raise IndexError("getitem: an index of uint8 must be cast, with bool() or long()")


def _setitem(self: Any, index: Any, value: Any) -> None:
    for part in index if type(index) is tuple else (index,):
        if type(part) is Tensor:
            _refuse_bytes(part)
    set_item(self, index, value)


# Casts and copies.


def to(self: Any, *target: Any, **options: Any) -> Any:
    """The tensor in another dtype; the device can only be the CPU. The tensor itself if nothing changes."""
    dtype = options.pop("dtype", None)
    check_device("to", options.pop("device", None))
    copied = options.pop("copy", False)
    other = options.pop("other", None)
    for name in ("non_blocking", "memory_format"):
        options.pop(name, None)
    if options:
        raise TypeError(f"to: there is no argument {min(options)!r}")
    for given in (*target, *([] if other is None else [other])):
        if isinstance(given, CoreTensor):
            dtype = given.dtype
        elif isinstance(given, device) or (isinstance(given, str) and is_device(given)):
            check_device("to", given)
        elif isinstance(given, bool):
            copied = copied or (given and given is target[-1] and len(target) > 2)
        elif given is not None:
            dtype = given
    return _cast(self, dtype, copied)


def is_device(name: str) -> bool:
    return name.split(":")[0] in ("cpu", "cuda", "mps", "xpu", "meta")


def _cast(x: Any, dtype: Any, copied: bool = False) -> Any:
    dtype = x.dtype if dtype is None else named_dtype(dtype)
    if dtype == x.dtype:
        return handed_out(ops.clone(x)) if copied else x
    return handed_out(ops.cast(x, dtype))


def type_(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The tensor in another dtype, or the name of its class of old."""
    if dtype is None:
        names = {value: key for key, value in CLASSES.items()}
        return f"torch.{names.get(self.dtype, self.dtype)}"
    return _cast(
        self,
        dtype
        if isinstance(dtype, str) or not callable(dtype) or isinstance(dtype, type)
        else dtype.__name__,
    )


def type_as(self: Any, other: Any) -> Any:
    """The tensor in the dtype of ``other``."""
    return _cast(self, other.dtype)


def _casting(dtype: Any) -> Callable[..., Any]:
    def method(self: Any, memory_format: Any = None) -> Any:
        return _cast(self, dtype)

    method.__doc__ = f"The tensor in {dtype}."
    return method


def clone(self: Any, *, memory_format: Any = None) -> Any:
    """A copy, through which gradients pass."""
    return handed_out(ops.clone(self))


def detach(self: Any) -> Any:
    """The same memory without a place on the tape."""
    return handed_out(CoreTensor.detach(self))


def detach_(self: Any) -> Any:
    """Take the tensor itself off the tape."""
    self._node = None
    self._requires_grad = False
    return self


def contiguous(self: Any, memory_format: Any = None) -> Any:
    """The tensor, or a copy in the order of its dimensions."""
    array = self._array
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous:
        return self
    return handed_out(ops.clone(self))


def is_contiguous(self: Any, memory_format: Any = None) -> bool:
    """Whether the elements lie in the order of the dimensions."""
    return bool(self._array.flags.c_contiguous)


def _itself(self: Any, *device: Any, **options: Any) -> Any:
    """The tensor itself: it is on the CPU."""
    return self


def _no_device(self: Any, *given: Any, **options: Any) -> Any:
    """An error: everything is on the CPU."""
    check_device("cuda", "cuda")


def numpy(self: Any, *, force: bool = False) -> Any:
    """The memory of the tensor as an array."""
    if self._requires_grad and not force:
        raise RuntimeError("numpy: the tensor requires grad; use detach().numpy()")
    return CoreTensor.numpy(self.detach() if force else self)


# Facts.


def dim(self: Any) -> int:
    """The number of dimensions."""
    return int(self._array.ndim)


def numel(self: Any) -> int:
    """The number of elements."""
    return int(self._array.size)


def stride(self: Any, dim: int | None = None) -> Any:
    """The steps between neighbours of each dimension, in elements."""
    steps = tuple(step // self._array.itemsize for step in self._array.strides)
    return steps if dim is None else steps[dim]


def is_floating_point(self: Any) -> bool:
    """Whether the elements are floats."""
    return is_floating(self.dtype)


def is_complex(self: Any) -> bool:
    """False: there are no complex tensors here."""
    return False


def data_ptr(self: Any) -> int:
    """The address of the memory."""
    return int(self._array.ctypes.data)


def element_size(self: Any) -> int:
    """The bytes of an element."""
    return int(self._array.itemsize)


def get_device(self: Any) -> int:
    """-1, the number of the CPU."""
    return -1


def is_same_size(self: Any, other: Any) -> bool:
    """Whether the shapes are equal."""
    return bool(self.shape == other.shape)


def is_set_to(self: Any, tensor: Any) -> bool:
    """Whether both show the same memory."""
    return self._array is tensor._array


# Gradients.


def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
    """Let what is computed from the tensor be recorded, or not."""
    self.requires_grad = requires_grad
    return self


def retain_grad(self: Any) -> None:
    """Keep the gradient of a tensor that is not a leaf in its ``grad``."""
    if self._node is None:
        return

    def keep(gradient: Any) -> None:
        # The tensor that the script holds: without it nobody could ask for the gradient.
        self.grad = gradient.detach() if self.grad is None else self.grad + gradient.detach()

    CoreTensor.register_hook(self, keep)


def register_hook(self: Any, hook: Any) -> Any:
    """Call ``hook(grad)`` when the gradient is known; what it returns replaces it."""
    return CoreTensor.register_hook(self, lambda gradient: hook(handed_out(gradient)))


def backward(
    self: Any,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of the tensor to ``grad`` of the leaves, or of ``inputs`` alone."""
    keep = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        CoreTensor.backward(self, gradient, keep, create_graph)
        return
    from extensor.core.backward_pass import grad

    inputs = [inputs] if isinstance(inputs, CoreTensor) else list(inputs)
    found = grad([self], inputs, None if gradient is None else [gradient], create_graph, True, keep)
    for x, part in zip(inputs, found, strict=True):
        if part is not None:
            x.grad = part if x.grad is None else ops.add(x.grad, part)


# Changes in place.


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write the elements of ``src`` into the tensor, cast to its dtype and broadcast to its shape."""
    if (
        isinstance(src, CoreTensor)
        and modes.mode.recording
        and (src._requires_grad or self._requires_grad)
    ):
        return overwrite(
            "copy_", self, lambda x, new: ops.broadcast_to(ops.cast(new, x.dtype), x.shape), (src,)
        )
    array = src._array if isinstance(src, CoreTensor) else np.asarray(src)
    set_item(self, ..., wrapped(array.astype(self.dtype, copy=False)))
    return self


def fill_(self: Any, value: Any) -> Any:
    """Write one value into all elements."""
    value = value.item() if isinstance(value, CoreTensor) else value
    if modes.mode.recording and self._requires_grad:
        filled = wrapped(np.full(self._array.shape, value, self.dtype))
        return overwrite("fill_", self, lambda x, new: ops.add(ops.multiply(x, 0), new), (filled,))
    set_item(self, ..., value if is_floating(self.dtype) else int(value))
    return self


def zero_(self: Any) -> Any:
    """Write zeros into all elements."""
    return fill_(self, 0)


def set_(self: Any, source: Any) -> Any:
    """Show the memory of another tensor from now on."""
    self.data = source
    return self


def _draws(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, generator: Any = None, **kwargs: Any) -> Any:
        if modes.mode.recording and self._requires_grad and self._node is None:
            raise RuntimeError(
                f"{name}: a leaf that requires grad can be changed inside no_grad() only"
            )
        with modes.no_grad():
            new = draw(self, generator, *args, **kwargs)
        if self._node is not None:
            return overwrite(name, self, lambda x, y: ops.add(ops.multiply(x, 0), y), (new,))
        set_item(self, ..., new)
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Write random numbers into all elements: {draw.__doc__}"
    return method


def _uniform(x: Any, generator: Any, from_: float = 0.0, to: float = 1.0) -> Any:
    """uniform ones between two numbers."""
    noise = random.rand(tuple(x.shape), dtype=x.dtype, generator=generator)
    return ops.add(ops.multiply(noise, to - from_), from_)


def _normal(x: Any, generator: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """normal ones with a mean and a standard deviation."""
    noise = random.randn(tuple(x.shape), dtype=x.dtype, generator=generator)
    return ops.add(ops.multiply(noise, std), mean)


def _bernoulli(x: Any, generator: Any, p: Any = 0.5) -> Any:
    """1 with the chance ``p``, else 0."""
    chance = p if isinstance(p, CoreTensor) else creation.full(tuple(x.shape), float(p))
    return _cast(creation.bernoulli(chance, generator=generator), x.dtype)


def _exponential(x: Any, generator: Any, lambd: float = 1.0) -> Any:
    """those of the exponential distribution."""
    noise = random.rand(tuple(x.shape), dtype=x.dtype, generator=generator)
    return ops.divide(ops.negative(ops.log1p(ops.negative(noise))), lambd)


def _random(x: Any, generator: Any, *bounds: int) -> Any:
    """integers below a bound, or between two."""
    low, high = (0, *bounds) if len(bounds) == 1 else bounds or (0, 2**24)
    return creation.randint(low, high, tuple(x.shape), generator=generator, dtype=x.dtype)


# New tensors like one.


def new_tensor(self: Any, data: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """A tensor with ``data`` in the dtype of this one."""
    return creation.tensor(data, dtype=dtype or self.dtype, **options)


def new_zeros(self: Any, *size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Zeros in the dtype of this tensor."""
    return creation.zeros(*size, dtype=dtype or self.dtype, **options)


def new_ones(self: Any, *size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Ones in the dtype of this tensor."""
    return creation.ones(*size, dtype=dtype or self.dtype, **options)


def new_empty(self: Any, *size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Memory in the dtype of this tensor."""
    return creation.empty(*size, dtype=dtype or self.dtype, **options)


def new_full(self: Any, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """One value in every element, in the dtype of this tensor."""
    return creation.full(size, fill_value, dtype=dtype or self.dtype, **options)


def new(self: Any, *data: Any) -> Tensor:
    """Memory or a copy of data in the dtype of this tensor."""
    if len(data) == 1 and not isinstance(data[0], int):
        return creation.tensor(data[0], dtype=self.dtype)
    return leaf(np.zeros(loose_sizes("new", data), self.dtype))


_OWN = {
    name: value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__module__", "") == __name__
    and not name.startswith("_")
    and name not in ("reflected", "changing", "type_", "is_device")
}
_DRAWS: dict[str, Any] = {
    "uniform_": _uniform,
    "normal_": _normal,
    "bernoulli_": _bernoulli,
    "exponential_": _exponential,
    "random_": _random,
}
uniform_ = _draws("uniform_", _uniform)


def attach() -> None:
    """Give Tensor its methods; called once, when all functions are defined."""
    tables = (elementwise, reductions, shapes, indexing, products)
    functions = {name: x for table in tables for name, x in table.FUNCTIONS.items()}
    methods = {name: x for name, x in functions.items() if name not in _NO_METHODS}
    methods |= {
        f"{name}_": changing(f"{name}_", functions[name]) for name in _IN_PLACE if name in functions
    }
    methods |= _OWN
    methods |= {name: _casting(dtype) for name, dtype in CASTS.items()}
    methods |= {name: _draws(name, draw) for name, draw in _DRAWS.items()}
    methods |= {
        "where": lambda self, condition, other: elementwise.where(condition, self, other),
        "type": type_,
        "ndimension": dim,
        "nelement": numel,
        "multinomial": creation.multinomial,
        "bernoulli": creation.bernoulli,
        "cpu": _itself,
        "pin_memory": _itself,
        "share_memory_": _itself,
        "cuda": _no_device,
        "bfloat16": lambda self: _cast(self, "bfloat16"),
        "squeeze_": changing_shape("squeeze_", shapes.squeeze),
        "unsqueeze_": changing_shape("unsqueeze_", shapes.unsqueeze),
        "t_": changing_shape("t_", shapes.t),
        "transpose_": changing_shape("transpose_", shapes.transpose),
        "resolve_conj": _itself,
        "__getitem__": _getitem,
        "__setitem__": _setitem,
        "__invert__": functions["bitwise_not"],
        "__neg__": functions["neg"],
        "__pos__": functions["positive"],
        "__abs__": functions["abs"],
    }
    for name, function in _OPERATORS.items():
        methods[f"__{name}__"] = function
        methods[f"__r{name}__"] = reflected(function)
        methods[f"__i{name}__"] = changing(f"__i{name}__", function, _SYMBOLS[name])
    for name in _COMPARISONS:
        methods[f"__{name}__"] = _comparison(functions[name])
    inherited = {*METHODS, *RENAMED} - methods.keys()
    methods |= {name: _handing_out(getattr(CoreTensor, name)) for name in inherited}
    for name, method in methods.items():
        setattr(Tensor, name, method)
    for name, text in (("T", "The transpose."), ("mT", "The last two dimensions exchanged.")):
        setattr(Tensor, name, _property_of(getattr(CoreTensor, name), text))
    Tensor.H = Tensor.T  # type: ignore[attr-defined]
    Tensor.__hash__ = CoreTensor.__hash__  # type: ignore[method-assign]


def _property_of(core: Any, text: str) -> property:
    return property(lambda self: handed_out(core.fget(self)), doc=text)


def _handing_out(core: Any) -> Callable[..., Any]:
    """A method of the core that PyTorch does not have, with results of this package."""

    @wraps(core)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return handed_out(core(self, *args, **kwargs))

    return method


def changing_shape(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The method that gives the tensor itself another shape."""

    def method(self: Any, *args: Any) -> Any:
        if modes.mode.recording and self._requires_grad and self._node is None:
            raise RuntimeError(f"{name}: a leaf that requires grad cannot be changed in place")
        result = function(self, *args)
        self._array, self._node = result._array, result._node
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{name[:-1]}` of the tensor, which gets the new shape itself."
    return method
