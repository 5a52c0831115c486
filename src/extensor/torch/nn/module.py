"""Modules: the core's, whose parameters, buffers and results are tensors of this package."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import wraps
from types import MappingProxyType
from typing import Any, ClassVar

from extensor.arrays.dtypes import is_floating
from extensor.core.tensor import Tensor as CoreTensor
from extensor.nn.module import Module as CoreModule
from extensor.nn.parameter import Parameter as CoreParameter
from extensor.torch import methods
from extensor.torch.devices import check_device, device
from extensor.torch.dtypes import named_dtype
from extensor.torch.tensor_class import Tensor, handed_out


class Parameter(Tensor, CoreParameter):
    """A tensor that a module learns.

    Parameters
    ----------
    data : Tensor, optional
        The initial values, whose memory is shared.
    requires_grad : bool, default True
        Whether gradients are computed for it.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> torch.nn.Parameter(torch.zeros(2))
    tensor([0., 0.], requires_grad=True)
    """

    __slots__ = ()

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        if data is None:
            Tensor.__init__(self, 0)
        else:
            self._array = data._array if isinstance(data, CoreTensor) else Tensor(data)._array
        self.requires_grad = requires_grad


class Module(CoreModule):
    """Base class of all networks.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> class Net(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.linear = torch.nn.Linear(2, 1)
    ...     def forward(self, x):
    ...         return self.linear(x)
    >>> Net()(torch.ones(3, 2)).size()
    torch.Size([3, 1])
    """

    # From a layer of the core to the class of the same name here: set where the layers are.
    derived: ClassVar[Callable[[Any], Any]]

    def __setattr__(self, name: str, value: Any) -> None:
        kind = type(value)
        if kind is CoreParameter:
            value.__class__ = Parameter
        elif kind is CoreTensor:
            value.__class__ = Tensor
        elif isinstance(value, CoreModule) and not isinstance(value, Module):
            adopt(value)
        super().__setattr__(name, value)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Set an attribute that is saved with the module, but not learned."""
        super().register_buffer(name, tensor, persistent)

    def register_parameter(self, name: str, param: Any) -> None:
        """Set a parameter under a name."""
        super().register_parameter(name, param)

    def register_module(self, name: str, module: Any) -> None:
        """Set a module under a name."""
        self.add_module(name, module)

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """The parameters with their paths."""
        _only_once(remove_duplicate)
        return super().named_parameters(prefix, recurse)

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """The buffers with their paths."""
        _only_once(remove_duplicate)
        return super().named_buffers(prefix, recurse)

    def named_modules(  # type: ignore[override]
        self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This module and all below it with their paths."""
        _only_once(remove_duplicate and memo is None)
        return super().named_modules(prefix)

    def get_parameter(self, target: str) -> Any:
        """The parameter at a path."""
        return dict(self.named_parameters())[target]

    def get_buffer(self, target: str) -> Any:
        """The buffer at a path."""
        return dict(self.named_buffers())[target]

    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> Any:
        """The parameters and buffers by path. They share the memory of the module."""
        state = super().state_dict()
        if keep_vars:
            own = {**dict(self.named_parameters()), **dict(self.named_buffers())}
            state = {name: own.get(name, x) for name, x in state.items()}
        return OrderedDict((prefix + name, handed_out(x)) for name, x in state.items())

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Copy saved values into the parameters and buffers of the same path."""
        if assign:
            raise NotImplementedError("load_state_dict: assign=True is not implemented here")
        return super().load_state_dict(state_dict, strict)

    def to(self, *target: Any, **options: Any) -> Any:
        """Cast floating parameters and buffers; the device can only be the CPU."""
        options.pop("non_blocking", None)
        check_device("to", options.pop("device", None))
        dtype = options.pop("dtype", None)
        if options:
            raise TypeError(f"to: there is no argument {min(options)!r}")
        for given in target:
            if isinstance(given, CoreTensor):
                dtype = given.dtype
            elif isinstance(given, device) or (isinstance(given, str) and methods.is_device(given)):
                check_device("to", given)
            elif given is not None and not isinstance(given, bool):
                dtype = given
        if dtype is None:
            return self
        dtype = named_dtype(dtype)
        if not is_floating(dtype):
            raise TypeError(f"to: dtype must be floating, got {dtype}")
        return super().to(dtype)

    def type(self, dst_type: Any) -> Any:
        """Cast floating parameters and buffers."""
        return self.to(dst_type)

    def cpu(self) -> Any:
        """The module itself: it is on the CPU."""
        return self

    def cuda(self, device: Any = None) -> Any:
        """An error: everything is on the CPU."""
        check_device("cuda", "cuda")

    def share_memory(self) -> Any:
        """The module itself: threads share all memory."""
        return self

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: the module runs as it is, which computes the same."""

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> Any:
        """Call ``hook(module, args, output)`` after each ``forward``."""
        _refuse("register_forward_hook", prepend, with_kwargs, always_call)
        return super().register_forward_hook(hook)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Any:
        """Call ``hook(module, args)`` before each ``forward``."""
        _refuse("register_forward_pre_hook", prepend, with_kwargs)
        return super().register_forward_pre_hook(hook)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Any:
        """Call ``hook(module, grad_input, grad_output)`` in the backward pass."""
        _refuse("register_full_backward_hook", prepend)
        return super().register_full_backward_hook(
            lambda module, inputs, outputs: hook(module, handed_out(inputs), handed_out(outputs))
        )

    @property
    def _modules(self) -> Any:
        return MappingProxyType(dict(self.named_children()))

    @property
    def _parameters(self) -> Any:
        return MappingProxyType(dict(self.named_parameters(recurse=False)))

    def __delattr__(self, name: str) -> None:
        if name in self._buffers:
            self._buffers = {key: x for key, x in self._buffers.items() if key != name}
        super().__delattr__(name)


def _only_once(remove_duplicate: bool) -> None:
    if not remove_duplicate:
        raise NotImplementedError("remove_duplicate: each tensor and module comes once here")


def _refuse(op: str, *options: bool) -> None:
    if any(options):
        raise NotImplementedError(
            f"{op}: prepend, with_kwargs and always_call are not implemented here"
        )


def adopt(module: CoreModule) -> None:
    """Make a module of the core, with all below it, one of this package."""
    for inner in list(module.modules()):
        if not isinstance(inner, Module):
            inner.__class__ = Module.derived(type(inner))
        for name, value in list(vars(inner).items()):
            if type(value) in (CoreParameter, CoreTensor):
                setattr(inner, name, value)


def with_results(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose results are handed out."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return handed_out(function(*args, **kwargs))

    return call
