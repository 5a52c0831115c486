"""Tensors from nothing, from data, and from chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor import core, ops, random
from extensor.arrays import storage
from extensor.arrays.dtypes import bool_, get_default_dtype, int64, is_floating
from extensor.core.tensor import Tensor as CoreTensor
from extensor.core.tensor import to_array
from extensor.torch.devices import check_device
from extensor.torch.dtypes import CLASSES, named_dtype
from extensor.torch.sizes import loose_sizes
from extensor.torch.tensor_class import Tensor, array_of, functions_of, handed_out, leaf, wrapped

# What is so anyway: no pinned memory, strided layout.
_USUAL = (None, False, "torch.strided", "torch.contiguous_format", "torch.preserve_format")


def _options(op: str, dtype: Any, options: dict[str, Any]) -> tuple[Any, bool]:
    """The dtype and whether a gradient is wanted; any other option must be at its default."""
    check_device(op, options.pop("device", None))
    requires_grad = options.pop("requires_grad", False)
    for name in ("pin_memory", "layout", "memory_format", "names", "out"):
        if options.pop(name, None) not in _USUAL:
            raise RuntimeError(f"{op}: {name} is not supported here")
    if options:
        raise TypeError(f"{op}: there is no argument {min(options)!r}")
    return None if dtype is None else named_dtype(dtype, op), bool(requires_grad)


def tensor(data: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """A tensor with a copy of ``data``; floats of Python get the default dtype."""
    dtype, requires_grad = _options("tensor", dtype, options)
    if isinstance(data, CoreTensor) or (dtype is not None and not is_floating(dtype)):
        array = np.array(array_of(data, "tensor"))  # a cast as the user wants it: 2.7 to 2
        return leaf(array.copy(), dtype, requires_grad)
    return leaf(storage.copied(to_array(data, dtype)), None, requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor on the memory of ``data`` where that is possible."""
    check_device("as_tensor", device)
    if isinstance(data, CoreTensor):
        result = data if dtype is None else ops.cast(data, named_dtype(dtype))
        return handed_out(result)  # type: ignore[no-any-return]
    if isinstance(data, np.ndarray):
        return leaf(to_array(data), None if dtype is None else named_dtype(dtype))
    return tensor(data, dtype=dtype)


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`as_tensor`, or a copy if one is asked for."""
    made = as_tensor(obj, dtype, device)
    made = handed_out(ops.clone(made)) if copy else made
    made.requires_grad = made.requires_grad or requires_grad
    return made


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor on the memory of an array."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy: needs an array, got {type(ndarray).__name__}")
    return wrapped(to_array(ndarray, op="from_numpy"))


def scalar_tensor(s: float, *, dtype: Any = None, **options: Any) -> Tensor:
    """A 0-d tensor of the default dtype."""
    return tensor(s, dtype=get_default_dtype() if dtype is None else dtype, **options)


def _filled(op: str, sizes: Any, value: Any, dtype: Any, options: dict[str, Any]) -> Tensor:
    if not sizes and "size" in options:
        sizes = (options.pop("size"),)
    dtype, requires_grad = _options(op, dtype, options)
    shape = loose_sizes(op, sizes)
    return leaf(storage.full(shape, value, dtype or get_default_dtype()), None, requires_grad)


def zeros(*size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Zeros: ``zeros(2, 3)`` or ``zeros((2, 3))``."""
    return _filled("zeros", size, 0, dtype, options)


def ones(*size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Ones: ``ones(2, 3)`` or ``ones((2, 3))``."""
    return _filled("ones", size, 1, dtype, options)


def empty(*size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Memory whose elements are not set: here they are zeros."""
    return _filled("empty", size, 0, dtype, options)


def full(size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """One value in every element; the dtype follows from the value."""
    value = fill_value.item() if isinstance(fill_value, CoreTensor) else fill_value
    if dtype is None:
        dtype = bool_ if isinstance(value, bool) else int64 if isinstance(value, int) else None
    return _filled("full", (size,), value, dtype, options)


def _like(op: str, input: Any, value: Any, dtype: Any, options: dict[str, Any]) -> Tensor:
    dtype, requires_grad = _options(op, dtype, options)
    return leaf(storage.full(input._array.shape, value, dtype or input.dtype), None, requires_grad)


def zeros_like(input: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Zeros in the shape and dtype of another tensor."""
    return _like("zeros_like", input, 0, dtype, options)


def ones_like(input: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Ones in the shape and dtype of another tensor."""
    return _like("ones_like", input, 1, dtype, options)


def empty_like(input: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Memory in the shape and dtype of another tensor: here zeros."""
    return _like("empty_like", input, 0, dtype, options)


def full_like(input: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """One value in the shape and dtype of another tensor."""
    return _like("full_like", input, fill_value, dtype, options)


def arange(*bounds: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Numbers from ``start`` up to, not including, ``end``: ``arange(end)``, ``arange(start, end, step)``."""
    named = [options.pop(name) for name in ("start", "end", "step") if name in options]
    numbers = [x.item() if hasattr(x, "item") else x for x in (*bounds, *named)]
    dtype, requires_grad = _options("arange", dtype, options)
    start, end, step = {1: (0, *numbers, 1), 2: (*numbers, 1), 3: tuple(numbers)}[len(numbers)]
    if dtype is not None and not is_floating(dtype):
        start, end, step = int(start), int(end), int(step)
    if dtype is None:
        dtype = int64 if all(isinstance(x, int) for x in numbers) else get_default_dtype()
    count = max(int(np.ceil((end - start) / step)), 0)
    return leaf((start + np.arange(count) * step).astype(dtype), None, requires_grad)


def range(start: float, end: float, step: float = 1, **options: Any) -> Tensor:
    """Numbers from ``start`` to ``end``, which is included."""
    return arange(
        start, end + step / 2, step, dtype=options.pop("dtype", get_default_dtype()), **options
    )


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, **options: Any) -> Tensor:
    """Numbers evenly spaced from ``start`` to ``end``."""
    dtype, requires_grad = _options("linspace", dtype, options)
    dtype = dtype or get_default_dtype()
    if not is_floating(dtype):
        # From both ends, cut to integers.
        start, end, place = int(start), int(end if steps > 1 else start), np.arange(steps)
        step = (end - start) / max(steps - 1, 1)
        array = np.where(place < steps // 2, start + step * place, end - step * (steps - 1 - place))
    else:
        array = np.linspace(float(start), float(end), steps)
    return leaf(array, dtype, requires_grad)


def logspace(
    start: float, end: float, steps: int, base: float = 10.0, *, dtype: Any = None, **options: Any
) -> Tensor:
    """Powers of ``base`` with exponents evenly spaced."""
    dtype, requires_grad = _options("logspace", dtype, options)
    array = np.logspace(start, end, steps, base=base)
    return leaf(array, dtype or get_default_dtype(), requires_grad)


def eye(n: int, m: int | None = None, *, dtype: Any = None, **options: Any) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    dtype, requires_grad = _options("eye", dtype, options)
    return leaf(np.eye(n, m, dtype=dtype or get_default_dtype()), None, requires_grad)


def one_hot(tensor: Any, num_classes: int = -1) -> Tensor:
    """A row for each class, 1 at its number and 0 elsewhere, of int64."""
    count = int(tensor._array.max()) + 1 if num_classes == -1 else num_classes
    made = core.creation.one_hot(tensor, count, int64)
    return handed_out(made)  # type: ignore[no-any-return]


def typed(name: str) -> Any:
    """The class of old that makes tensors of one dtype, such as ``LongTensor``."""
    dtype = CLASSES[name]

    def make(*data: Any) -> Tensor:
        if len(data) == 1 and not isinstance(data[0], int):
            return tensor(data[0], dtype=dtype)
        return empty(*data, dtype=dtype)

    make.__name__ = make.__qualname__ = name
    return make


# Random numbers: the streams are not PyTorch's, so the same seed gives other numbers.


class Generator(random.Generator):
    """A source of random numbers.

    Parameters
    ----------
    device : device_like, optional
        The CPU.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> generator = torch.Generator().manual_seed(3)
    >>> torch.randperm(4, generator=generator).sort().values
    tensor([0, 1, 2, 3])
    """

    def __init__(self, device: Any = None) -> None:
        check_device("Generator", device)
        super().__init__(0)

    device = "cpu"

    def initial_seed(self) -> int:
        """The seed."""
        return self.get_state()[0]


def manual_seed(seed: int) -> Any:
    """Let all random numbers begin again with a seed.

    Parameters
    ----------
    seed : int
        The seed; negative ones count from 2**64.
    """
    return random.manual_seed(int(seed) % 2**64)


def seed() -> int:
    """Let all random numbers begin with a seed by chance, and return it."""
    number = random.Generator().seed
    random.manual_seed(number)
    return number


def initial_seed() -> int:
    """The seed of the random numbers."""
    return random.default_generator.seed


def get_rng_state() -> Tensor:
    """The state of the random numbers, as a tensor."""
    return wrapped(np.asarray(random.get_state(), np.uint64))


def set_rng_state(new_state: Any) -> None:
    """Continue from a state that `get_rng_state` returned.

    Parameters
    ----------
    new_state : Tensor
        The state.
    """
    random.set_state([int(x) for x in new_state.tolist()])


def _drawn(
    op: str, draw: Any, sizes: Any, dtype: Any, generator: Any, options: dict[str, Any]
) -> Tensor:
    if not sizes and "size" in options:
        sizes = (options.pop("size"),)
    dtype, requires_grad = _options(op, dtype, options)
    made = draw(loose_sizes(op, sizes), dtype=dtype, generator=generator)
    if requires_grad:
        made.requires_grad = True
    return handed_out(made)  # type: ignore[no-any-return]


def rand(*size: Any, dtype: Any = None, generator: Any = None, **options: Any) -> Tensor:
    """Uniform numbers in [0, 1)."""
    return _drawn("rand", random.rand, size, dtype, generator, options)


def randn(*size: Any, dtype: Any = None, generator: Any = None, **options: Any) -> Tensor:
    """Numbers of the standard normal distribution."""
    return _drawn("randn", random.randn, size, dtype, generator, options)


def rand_like(input: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Uniform numbers in the shape and dtype of another tensor."""
    return rand(tuple(input.shape), dtype=dtype or input.dtype, **options)


def randn_like(input: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Normal numbers in the shape and dtype of another tensor."""
    return randn(tuple(input.shape), dtype=dtype or input.dtype, **options)


def randint(*bounds: Any, dtype: Any = None, generator: Any = None, **options: Any) -> Tensor:
    """Integers: ``randint(high, size)`` or ``randint(low, high, size)``."""
    given = [*bounds, *(options.pop(name) for name in ("low", "high", "size") if name in options)]
    low, high, size = (0, *given) if len(given) == 2 else given
    dtype, requires_grad = _options("randint", dtype, options)
    wanted = dtype or int64
    made = random.randint(
        low, high, tuple(size), int64 if is_floating(wanted) else wanted, generator
    )
    return leaf(made._array, wanted, requires_grad)


def randint_like(input: Any, *bounds: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Integers in the shape and dtype of another tensor."""
    return randint(*bounds, tuple(input.shape), dtype=dtype or input.dtype, **options)


def randperm(n: int, *, dtype: Any = None, generator: Any = None, **options: Any) -> Tensor:
    """The integers from 0 to ``n - 1`` in a random order."""
    dtype, requires_grad = _options("randperm", dtype, options)
    return leaf(random.permutation(n, generator)._array, dtype or int64, requires_grad)


def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None, **options: Any
) -> Tensor:
    """Normal numbers with a mean and a standard deviation, numbers or tensors."""
    dtype, requires_grad = _options("normal", options.pop("dtype", None), options)
    tensors = [x for x in (mean, std) if isinstance(x, CoreTensor)]
    if tensors:
        size = np.broadcast_shapes(*(tuple(x.shape) for x in tensors))
        dtype = dtype or tensors[0].dtype
    if size is None:
        raise TypeError("normal: needs a size, or a tensor as mean or std")
    noise = random.randn(tuple(size), dtype=dtype, generator=generator)
    with core.modes.no_grad():
        made = ops.add(ops.multiply(noise, std), mean)
    return leaf(made._array, None, requires_grad)


def bernoulli(input: Any, p: float | None = None, *, generator: Any = None) -> Tensor:
    """1 with the chance that each element gives, else 0."""
    chance = input.detach() if p is None else full_like(input, p)
    made = ops.less(
        random.rand(tuple(input.shape), dtype=chance.dtype, generator=generator), chance
    )
    return leaf(made._array, input.dtype)


def multinomial(
    input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Indices drawn with the weights of each row."""
    weights = np.asarray(input._array, np.float64)
    rows = np.atleast_2d(weights)
    if (rows < 0).any() or not (rows.sum(-1) > 0).all() or not np.isfinite(rows).all():
        raise RuntimeError("multinomial: weights must be finite, 0 or more, and not all 0")
    if not replacement and (np.count_nonzero(rows, -1) < num_samples).any():
        raise RuntimeError("multinomial: without replacement there must be as many weights above 0")
    drawn = random.rand(
        (len(rows), rows.shape[1] if not replacement else num_samples),
        dtype=np.float64,
        generator=generator,
    )._array
    if replacement:
        ends = np.cumsum(rows / rows.sum(-1, keepdims=True), -1)
        places = (drawn[:, :, None] >= ends[:, None, :]).sum(-1)
        last = rows.shape[1] - 1 - np.argmax(rows[:, ::-1] > 0, -1)
        found = np.minimum(places, last[:, None])
    else:
        # The greatest of log(u) / weight are drawn without replacement.
        with np.errstate(divide="ignore"):
            keys = np.log(1 - drawn) / rows
        keys[rows == 0] = -np.inf
        found = np.argsort(-keys, -1, kind="stable")[:, :num_samples]
    return wrapped(found.astype(np.int64).reshape(*weights.shape[:-1], num_samples))


def poisson(input: Any, generator: Any = None) -> Tensor:
    """Counts with the mean that each element gives."""
    state = random.randint(0, 2**62, (), generator=generator).item()
    drawn = np.random.default_rng(state).poisson(input._array)
    return leaf(drawn, input.dtype)


FUNCTIONS = functions_of(globals())
del FUNCTIONS["typed"]
FUNCTIONS |= {name: typed(name) for name in CLASSES}
