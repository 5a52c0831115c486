"""The Tensor: an array and its place on the tape.

Storage, views, strides, indexing and printing are the array's own (NumPy's, or another Array API
library's). The ops attach themselves to this class as methods and operators when they are defined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from extensor import _native
from extensor.arrays import storage
from extensor.arrays.dtypes import DType, bool_, get_default_dtype, is_bfloat16, is_floating
from extensor.core import backward_pass, door, tape, tracing
from extensor.core.array_data import is_recorded_in as is_recorded_in
from extensor.core.array_data import to_array as to_array
from extensor.core.handle import HookHandle
from extensor.errors import marked, shown, type_error, value_error
from extensor.errors.array_likes import as_numpy
from extensor.errors.explanation import explaining
from extensor.errors.torch_names import Size

if TYPE_CHECKING:
    from extensor.ops.attached import Attached  # a stub of what ops/methods.py attaches
    from extensor.typing import TensorLike
else:
    Attached = _native.TensorBase


_ndarray = np.ndarray


class Tensor(Attached):
    """A multi-dimensional array that can be differentiated.

    Every op of ``ex`` takes and returns tensors. Storage, views, strides and printing are
    NumPy's. A tensor on memory of its own comes from `tensor`; the class itself shares the
    memory of an array.

    Parameters
    ----------
    data : tensor_like
        A number, nested lists, an array or a tensor. The memory of an array is shared.
    dtype : dtype_like, optional
        The dtype. Without one arrays keep theirs and Python floats get the default dtype.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor, for `backward`.

    Examples
    --------
    >>> import extensor as ex
    >>> x = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ()
    __array_ufunc__ = None  # lets ``ndarray + tensor`` reach our reflected operators

    def __init__(self, data: TensorLike, dtype: DType = None, requires_grad: bool = False) -> None:
        self._array = to_array(data, dtype)
        if requires_grad is not False:
            self.requires_grad = requires_grad

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return tuple(self._array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements, a NumPy dtype."""
        return self._array.dtype  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self._array.ndim)

    @property
    def size(self) -> int:
        """The number of elements."""
        return Size(self._array.size)

    @property
    def device(self) -> str:
        """Where the array is: "cpu" for NumPy."""
        return str(getattr(self._array, "device", "cpu"))

    @property
    def is_leaf(self) -> bool:
        """True for a tensor that no recorded op made."""
        return self._node is None

    @property
    def requires_grad(self) -> bool:
        """True if what is computed from this tensor is recorded; can be set on a leaf."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if self._node is not None:
            raise RuntimeError(
                "requires_grad: can only be set on a leaf tensor; use detach() to get one"
            )
        if not isinstance(value, bool | int | np.bool_):
            raise type_error("requires_grad", "must be a bool", requires_grad=shown(value))
        if value and not is_floating(self.dtype):
            raise type_error("requires_grad", "dtype must be floating", dtype=str(self.dtype))
        self._requires_grad = bool(value)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The array itself, not a copy: changing it changes the tensor.

        The tape cannot see such a change, so of a tensor that requires grad it is a view that cannot
        be written to; ``x.detach().numpy()`` can.
        """
        array = self._array
        if tracing.hiding:
            tracing.check_readable(array)
        if type(array) is _ndarray and not self._requires_grad:
            return array
        if not isinstance(array, np.ndarray):
            # While a function is traced there are no values, which NumPy's asking for them says.
            return array if tracing.current() is None else np.asarray(array)
        if not self._requires_grad:
            return array
        view = array.view()
        view.flags.writeable = False
        return view

    def item(self) -> Any:
        """The only element, as a Python number."""
        if self._array.size != 1:
            raise value_error("item", "tensor must have exactly one element", shape=self.shape)
        if tracing.hiding:
            tracing.check_readable(self._array)
        if is_bfloat16(self.dtype):
            return float(self._array.reshape(()))
        return self._array.item() if hasattr(self._array, "item") else float(self._array)

    def tolist(self) -> Any:
        """The elements as nested Python lists."""
        if tracing.hiding:
            tracing.check_readable(self._array)
        return np.asarray(self._array).tolist()

    def detach(self) -> Tensor:
        """The same memory without a place on the tape."""
        array = self._array
        made: Tensor = wrap(array)
        if type(array) is not _ndarray:
            trace = tracing.current()
            if trace is not None:
                trace.note_views("detach", [self], made)
        return made

    def backward(
        self,
        grad_output: TensorLike | None = None,
        retain_graph: bool = False,
        create_graph: bool = False,
    ) -> None:
        """Add the gradient of this tensor to ``.grad`` of every leaf it was computed from.

        Parameters
        ----------
        grad_output : tensor_like, optional
            Gradient of this tensor, of its shape. A tensor of one element needs none: it is 1.
        retain_graph : bool, default False
            Whether to keep the tape, so that it can be used again.
        create_graph : bool, default False
            Whether to record the backward pass, so that gradients can be differentiated again.

        Raises
        ------
        RuntimeError
            If the tensor does not require grad, or the tape was used before.
        """
        backward_pass.backward(self, grad_output, retain_graph, create_graph)

    def register_hook(self, fn: tape.Hook) -> HookHandle:
        """Call ``fn(grad)`` when this tensor's gradient is known; what it returns replaces the
        gradient.

        Parameters
        ----------
        fn : callable
            Takes the gradient. Returns another one, or None to leave it as it is.

        Returns
        -------
        HookHandle
            A handle that removes the hook.

        Raises
        ------
        RuntimeError
            If the tensor does not require grad.
        """
        if not self._requires_grad:
            raise RuntimeError(
                "register_hook: the tensor does not require grad, so it never gets one"
            )
        # On the node, not on the tensor, which may be gone before the backward pass reaches it.
        holder: Any = self if self._node is None else self._node
        name = "_hooks" if self._node is None else "hooks"
        hooks = getattr(holder, name)
        if hooks is None:
            hooks = []
            setattr(holder, name, hooks)
        hooks.append(fn)
        return HookHandle(hooks, fn)

    def zero_grad(self) -> None:
        """Forget the gradient."""
        self.grad = None

    def _seed(self, op: str, given: Any) -> Tensor:
        """The gradient a backward pass starts from, checked."""
        if given is None:
            if self._array.size != 1:
                raise value_error(
                    op,
                    "grad_output is needed for a tensor of more than one element",
                    shape=self.shape,
                )
            return wrap(_one(self.dtype) if self._array.shape == () else _ones_like(self._array))
        gradient: Tensor = given if isinstance(given, Tensor) else Tensor(given, self.dtype)
        if gradient.shape != self.shape:
            raise value_error(
                op, f"grad_output must have shape {self.shape}", grad_output_shape=gradient.shape
            )
        if gradient.dtype == self.dtype:
            return gradient
        return gradient.astype(self.dtype)

    def _has_nan(self) -> bool:
        return is_floating(self.dtype) and bool(np.isnan(np.asarray(self._array)).any())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.numpy(), dtype=dtype, copy=copy)

    def __dlpack__(self, **options: Any) -> Any:
        if self._requires_grad:
            raise RuntimeError(
                "dlpack: a tensor that requires grad cannot be exported; use detach()"
            )
        if tracing.hiding:
            tracing.check_readable(self._array)
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()

    def __len__(self) -> int:
        if self.ndim == 0:
            raise marked(TypeError("len: a 0-d tensor has no length"))
        return int(self._array.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise marked(TypeError("iter: a 0-d tensor cannot be iterated over"))
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise value_error(
                "bool",
                "only a tensor of one element is true or false (use any or all)",
                shape=self.shape,
            )
        if tracing.hiding:
            tracing.check_readable(self._array)
        return bool(self._array)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        value = self.item()
        try:
            return int(value)
        except (OverflowError, ValueError):
            raise value_error("int", "tensor must be finite", value=value) from None

    def __index__(self) -> int:
        if is_floating(self.dtype) or self.dtype == bool_ or self.size != 1:
            raise marked(
                TypeError("index: only an integer tensor of one element can be used as an index")
            )
        return int(self.item())

    def __contains__(self, value: Any) -> bool:
        if tracing.hiding:
            tracing.check_readable(self._array)
        try:
            other = as_numpy(getattr(value, "_array", value))
            return bool((np.asarray(self._array) == other).any())
        except (TypeError, ValueError):
            requirement = f"value must be a number, or broadcast to {self.shape}"
            raise value_error("contains", requirement, value=shown(value)) from None

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and self.size == 1 else format(repr(self), spec)

    def __repr__(self) -> str:
        if tracing.hiding:
            tracing.check_readable(self._array)
        values = np.array2string(np.asarray(self._array), separator=", ", prefix="tensor(")
        notes = [values]
        if self.dtype not in (get_default_dtype(), bool_, np.dtype(np.int64)):
            notes.append(f"dtype={self.dtype}")
        if self.size == 0 and self.shape != (0,):
            notes.append(f"shape={self.shape}")
        if self._node is not None:
            notes.append(f"op={self._node.rule.name.removesuffix('_backward')}")
        elif self._requires_grad:
            notes.append("requires_grad=True")
        return f"tensor({', '.join(notes)})"

    def _repr_html_(self) -> str:
        from extensor.core.html import array_html

        notes = [f"{type(self).__name__} {self.shape}", str(self.dtype)]
        if self._node is not None:
            notes.append(f"op={self._node.rule.name.removesuffix('_backward')}")
        elif self._requires_grad:
            notes.append("requires_grad")
        return array_html(", ".join(notes), np.asarray(self._array))

    def __copy__(self) -> Tensor:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self._node is not None:
            raise RuntimeError("copy: only a leaf tensor can be copied; use detach() or clone()")
        if tracing.hiding:
            tracing.check_readable(self._array)
        copied = _rebuilt(type(self), self._array.copy(), self._requires_grad)
        copied.grad = None if self.grad is None else self.grad.detach().__deepcopy__(memo)
        return copied

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        if self._node is not None:
            raise RuntimeError("pickle: only a leaf tensor can be pickled; use detach()")
        if tracing.hiding:
            tracing.check_readable(self._array)
        return _rebuilt, (type(self), self._array, self._requires_grad)


_ones_like = door.computation("ones_like", None, np.ones_like)


@cache
def _one(dtype: DType) -> Any:
    # Shared by all backward passes, so nobody may write into it.
    one = np.ones((), dtype)
    one.flags.writeable = False
    return one


# A tensor around an array that is already of a supported kind: no checks, no copy.
wrap: Callable[[Any], Tensor] = _native.wrap
# From here on native code makes tensors and nodes of these classes, without their __init__ (but nodes
# under detect_anomaly, which remember their place).
_native.set_classes(Tensor, tape.Node, tape.Slot)


def _rebuilt(kind: type[Tensor], array: Any, requires_grad: bool) -> Tensor:
    tensor = kind.__new__(kind)
    tensor._array = array
    tensor._requires_grad = requires_grad
    return tensor


@explaining
def tensor(data: TensorLike, dtype: DType = None, requires_grad: bool = False) -> Tensor:
    """A tensor holding a copy of ``data``.

    Parameters
    ----------
    data : tensor_like
        A number, nested lists, an array or a tensor.
    dtype : dtype_like, optional
        The dtype. Without one Python floats become the default dtype, and arrays keep theirs.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.

    Returns
    -------
    Tensor
        A leaf of the tape, on memory of its own.

    Raises
    ------
    TypeError
        If ``data`` is no array or nested lists of numbers, or ``requires_grad`` is set and the
        dtype is not floating.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.tensor([[1, 2], [3, 4]], dtype=ex.float64)
    tensor([[1., 2.],
            [3., 4.]], dtype=float64)
    """
    array = to_array(data, dtype)
    made = wrap(storage.copied(array))
    if requires_grad is not False:
        made.requires_grad = requires_grad
    return made


def forget_gradients(tensors: Iterable[Tensor], set_to_none: bool = True) -> None:
    """Clear the gradients of ``tensors``, or fill those they have with zeros."""
    for x in tensors:
        x.grad = None if set_to_none or x.grad is None else wrap(np.zeros_like(x.grad._array))
