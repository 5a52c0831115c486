"""PyTorch's Tensor over the tensor of the core: the same object with PyTorch's methods.

Every result that leaves this package is of this class. The core computes with tensors of its own
class, so a result changes its class when it is handed out, which copies nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from extensor.arrays import storage
from extensor.arrays.dtypes import as_dtype, get_default_dtype
from extensor.core import changes
from extensor.core.tensor import Tensor as CoreTensor
from extensor.core.tensor import to_array
from extensor.errors import shown
from extensor.torch.devices import CPU, check_device
from extensor.torch.devices import device as Device
from extensor.torch.sizes import Count, Size, loose_sizes

_gradient: Any = CoreTensor.__dict__.get("grad") or CoreTensor.__mro__[1].__dict__["grad"]


class Tensor(CoreTensor):
    """PyTorch's tensor. ``Tensor(2, 3)`` is memory in that shape, ``Tensor(data)`` a copy in the
    default dtype.

    Methods whose names end with an underscore change the tensor itself, and all views of its memory.

    Parameters
    ----------
    *data : int or tensor_like
        Sizes, or the elements.
    device : device_like, optional
        The CPU.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> x = torch.arange(6).view(2, 3)
    >>> x[0].mul_(10)
    tensor([ 0, 10, 20])
    >>> x.max(dim=1).values
    tensor([20,  5])
    """

    __slots__ = ()

    def __init__(self, *data: Any, device: Any = None) -> None:
        check_device("Tensor", device)
        if len(data) == 1 and not isinstance(data[0], int | Size):
            self._array = storage.copied(to_array(data[0], get_default_dtype(), "Tensor"))
        else:
            self._array = storage.empty(loose_sizes("Tensor", data), get_default_dtype())

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        return Size(self._array.shape)

    @property
    def size(self) -> Count:
        """``size()`` is the shape, ``size(dim)`` one of its sizes."""
        return Count(self._array)

    @property
    def device(self) -> Device:  # type: ignore[override]
        """The CPU."""
        return CPU

    @property
    def data(self) -> Tensor:
        """The same memory without a place on the tape. A tensor that is set lends its memory."""
        return handed_out(CoreTensor.detach(self))  # type: ignore[no-any-return]

    @data.setter
    def data(self, value: CoreTensor) -> None:
        if not isinstance(value, CoreTensor):
            raise TypeError(f"data: must be set to a tensor, got {type(value).__name__}")
        self._array = value._array
        changes.mark(self._array)

    @property
    def grad(self) -> Tensor | None:
        """The gradient that ``backward`` has added up, or None."""
        gradient = _gradient.__get__(self)
        if type(gradient) is CoreTensor:
            gradient.__class__ = Tensor
        return gradient  # type: ignore[no-any-return]

    @grad.setter
    def grad(self, value: CoreTensor | None) -> None:
        _gradient.__set__(self, value)

    @grad.deleter
    def grad(self) -> None:
        _gradient.__set__(self, None)

    @property
    def grad_fn(self) -> Any:
        """The call on the tape that made the tensor, or None for a leaf."""
        return self._node

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return int(self._array.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return int(self._array.nbytes)

    is_cuda = False
    is_mps = False
    is_sparse = False
    is_quantized = False
    layout = "torch.strided"

    def __getattr__(self, name: str) -> Any:
        # In place of the core's hints, which are in names of its own.
        raise AttributeError(f"Tensor.{name}: not implemented here", name=name, obj=None)

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise RuntimeError(
                f"bool: only a tensor of one element is true or false, got shape={self.shape}"
            )
        return bool(self._array)

    def __reversed__(self) -> Any:
        return handed_out(
            CoreTensor.__getitem__(self, slice(None, None, -1)) if self.ndim else self
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self._requires_grad:
            raise RuntimeError(
                "numpy: a tensor that requires grad shares no memory; use detach().numpy()"
            )
        return super().__array__(dtype, copy)


def handed_out(value: Any) -> Any:
    """``value``, every tensor in it as one of this package."""
    kind = type(value)
    if kind is CoreTensor:
        value.__class__ = Tensor
    elif kind is tuple or kind is list:
        for item in value:
            handed_out(item)
    elif kind is dict:
        for item in value.values():
            handed_out(item)
    return value


_AS_IN_NUMPY = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x1": "input", "x2": "other"}


def named(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of PyTorch's: its results are handed out, and NumPy's keywords are understood."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if "out" in kwargs:
                raise TypeError(f"{function.__name__}: out is not supported, use copy_()")
            for known in _AS_IN_NUMPY.keys() & kwargs.keys():
                kwargs[_AS_IN_NUMPY[known]] = kwargs.pop(known)
        result = function(*args, **kwargs)
        if type(result) is CoreTensor:
            result.__class__ = Tensor
        elif type(result) is tuple or type(result) is list:
            handed_out(result)
        return result

    return call


def array_of(value: Any, op: str) -> Any:
    """The NumPy array of a tensor or of what can be one."""
    return value._array if isinstance(value, CoreTensor) else to_array(value, op=op)


def wrapped(array: Any) -> Tensor:
    """A tensor on the memory of ``array``."""
    made = Tensor.__new__(Tensor)
    made._array = array if isinstance(array, np.ndarray) else np.asarray(array)
    return made


def leaf(array: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A new tensor on the memory of ``array``, cast if a dtype is given."""
    made = wrapped(array if dtype is None else array.astype(as_dtype(dtype, "dtype"), copy=False))
    if requires_grad:
        made.requires_grad = True
    return made


def check_tensor(op: str, name: str, value: Any) -> None:
    if not isinstance(value, CoreTensor):
        raise TypeError(f"{op}: {name} must be a tensor, got {shown(value)}")


def functions_of(module: dict[str, Any]) -> dict[str, Any]:
    """The public functions that a module defines, by name: ``functions_of(globals())``."""
    return {
        name: value
        for name, value in module.items()
        if not name.startswith("_")
        and callable(value)
        and not isinstance(value, type)
        and getattr(value, "__module__", None) == module["__name__"]
    }
