"""The Module: an object whose attributes are parameters, buffers and other modules."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from extensor.arrays import dtypes
from extensor.arrays.dtypes import DType, as_dtype, is_floating
from extensor.core import changes
from extensor.core.door import watchers
from extensor.core.handle import HookHandle
from extensor.core.tensor import Tensor, forget_gradients
from extensor.errors import arguments, shown, type_error, value_error
from extensor.errors.explanation import (
    checked,
    explaining,
    wrap_constructor,
)
from extensor.errors.names import CPU
from extensor.nn import state
from extensor.nn.failure import add_to_path, in_words_of_ours
from extensor.nn.hooks import Hooks, call_with_hooks
from extensor.nn.inputs import by_position
from extensor.nn.parameter import Parameter
from extensor.nn.representation import arguments_shown, nested
from extensor.nn.state import KeyDifference
from extensor.nn.summary import Summary, summarize
from extensor.nn.watching import call_watched
from extensor.ops.casting import cast

if TYPE_CHECKING:
    from extensor.typing import TensorLike

    P = ParamSpec("P")
    R = TypeVar("R")
    R_co = TypeVar("R_co", covariant=True)

    class Forward(Protocol[P, R_co]):
        def forward(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


Self = TypeVar("Self", bound="Module")


class Module:
    """A part of a network. A subclass sets attributes and writes ``forward``.

    An attribute that is a :class:`Parameter` or a module is a part of this module by that alone.
    They live where Python keeps attributes, so reading one costs no more than in any object.

    >>> import extensor as ex
    >>> class Net(ex.nn.Module):
    ...     def __init__(self):
    ...         self.hidden = ex.nn.Linear(2, 3)
    ...         self.scale = ex.nn.Parameter(ex.ones(3))
    ...     def forward(self, x):
    ...         return ex.relu(self.hidden(x)) * self.scale
    >>> net = Net()
    >>> [name for name, _ in net.named_parameters()]
    ['scale', 'hidden.weight', 'hidden.bias']
    >>> net(ex.ones((5, 2))).shape
    (5, 3)
    """

    training: bool = True
    _buffers: Mapping[str, bool] = {}  # the names, and whether state_dict has them
    _hooks: Hooks | None = None

    if TYPE_CHECKING:
        # Every module takes and gives what its own forward does.
        def __call__(self: Forward[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...

    else:

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            """Run ``forward``. An error inside it begins with the path of the module it came from."""
            try:
                if kwargs:
                    args, kwargs = by_position(type(self).forward, args, kwargs)
                if watchers:
                    return call_watched(self, self._hooks, args, kwargs)
                if not self._hooks:
                    # Without keywords, the usual call, Python need not build a dict to pass them on.
                    return self.forward(*args, **kwargs) if kwargs else self.forward(*args)
                return call_with_hooks(self, self._hooks, args, kwargs)
            except Exception as error:
                instead = in_words_of_ours(self, error, args, kwargs)
                add_to_path(instead or error, self)
                if instead is None:
                    raise
                raise instead from error

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        wrap_constructor(cls, checked)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f"{type(self).__name__}: needs a method forward")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute. A parameter or module is not lost by accident: only None clears it."""
        present = self.__dict__.get(name)
        for kind in (Parameter, Module):
            if isinstance(present, kind) and not (value is None or isinstance(value, kind)):
                raise type_error(
                    type(self).__name__,
                    f"{name} must be a {kind.__name__} or None",
                    **{name: type(value).__name__},
                )
        if isinstance(value, Module):
            self._refuse_cycle(name, value)
        object.__setattr__(self, name, value)

    def _refuse_cycle(self, name: str, value: Module) -> None:
        for path, below in value._paths(name):
            if below is self:
                raise value_error(
                    type(self).__name__,
                    f"{name} must not be a module that holds this one (a tuple may: it is not looked into)",
                    **{name: type(value).__name__, "path": path},
                )

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Set an attribute that is saved and cast with the module, but not learned.

        One that is not ``persistent`` is not saved. A buffer of that name is replaced.
        """
        if not isinstance(name, str) or name not in self._buffers:
            self._new_name("register_buffer", name)
        self._buffers = {**self._buffers, name: persistent}
        setattr(self, name, tensor)

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Set the attribute ``name``, which may be any string without a dot."""
        setattr(self, self._new_name("register_parameter", name), parameter)

    def add_module(self, name: str, module: Module | None) -> None:
        """Set the attribute ``name``, which may be any string without a dot."""
        setattr(self, self._new_name("add_module", name), module)

    def _new_name(self, op: str, name: str) -> str:
        if not isinstance(name, str) or not name or "." in name or hasattr(self, name):
            requirement = "name must be a new one, not empty and without a dot"
            raise value_error(op, requirement, name=shown(name))
        return name

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules among the attributes, each once."""
        attributes = list(vars(self).items())  # the caller may set more while going through them
        return _each_once((name, x) for name, x in attributes if isinstance(x, Module))

    def children(self) -> Iterator[Module]:
        """The modules among the attributes, each once."""
        return (module for _, module in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once, with paths like ``blocks.1.conv2``."""
        return _each_once(self._paths(prefix))

    def get_submodule(self, path: str) -> Module:
        """The module at a path such as ``blocks.1.conv2``, as errors and ``named_modules`` give it."""
        module = self
        if not isinstance(path, str):
            raise type_error("get_submodule", "path must be a string", path=shown(path))
        for name in path.split(".") if path else ():
            below = vars(module).get(name)
            if not isinstance(below, Module):
                raise value_error("get_submodule", f"there is no module {name}", path=path)
            module = below
        return module

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once."""
        return (module for _, module in self.named_modules())

    def _paths(self, prefix: str, above: tuple[Module, ...] = ()) -> Iterator[tuple[str, Module]]:
        """Every path to every module: one that is used twice comes twice."""
        if any(holder is self for holder in above):
            # No attribute can be set so, but the dict of attributes can be written to.
            raise value_error(type(self).__name__, "a module must not hold itself", path=prefix)
        yield prefix, self
        for name, value in list(vars(self).items()):
            if isinstance(value, Module):
                path = f"{prefix}.{name}" if prefix else name
                yield from value._paths(path, (*above, self))

    def _named_tensors(
        self, prefix: str, recurse: bool, choose: Callable[[Module, str, Any], bool]
    ) -> Iterator[tuple[str, Any]]:
        """The attributes that ``choose(module, name, value)`` likes, by every path to them."""
        for path, module in self._paths(prefix) if recurse else [(prefix, self)]:
            for name, value in list(vars(module).items()):
                if choose(module, name, value):
                    yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters, each once; with ``recurse`` also those of the modules below."""
        return _each_once(self._named_tensors(prefix, recurse, _is_parameter))

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once; with ``recurse`` also those of the modules below."""
        return (parameter for _, parameter in self.named_parameters("", recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """The buffers, each once; with ``recurse`` also those of the modules below."""
        return _each_once(self._named_tensors(prefix, recurse, _is_buffer))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once; with ``recurse`` also those of the modules below."""
        return (buffer for _, buffer in self.named_buffers("", recurse))

    def num_parameters(self, trainable_only: bool = False) -> int:
        """How many numbers the parameters hold."""
        return sum(p.size for p in self.parameters() if p.requires_grad or not trainable_only)

    def state_dict(self) -> dict[str, Tensor]:
        """The parameters and persistent buffers by path, sharing the module's memory.

        The keys are those of PyTorch's module of the same name.
        """
        return {name: tensor.detach() for name, tensor in self._named_tensors("", True, _is_saved)}

    def load_state_dict(
        self, state_dict: Mapping[str, TensorLike], strict: bool = True
    ) -> KeyDifference:
        """Copy tensors or arrays into the parameters and buffers of the same path.

        Without ``strict`` keys may be missing or unexpected; they are returned. If anything does
        not fit, one error says all that does not, and nothing is changed.
        """
        strict = arguments.flag(f"{type(self).__name__}.load_state_dict", "strict", strict)
        return state.load(type(self).__name__, self.state_dict(), state_dict, strict)

    def _prepared_state(self, state_dict: Mapping[str, Any]) -> Callable[[], None]:
        """What takes over ``state_dict``, once all of it is known to fit."""
        return state.prepared(type(self).__name__, self.state_dict(), state_dict)[1]

    def train(self: Self, mode: bool = True) -> Self:
        """Set ``training``, which dropout and the like look at, in all modules."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: Self) -> Self:
        """``train(False)``."""
        return self.train(False)

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn`` with every module, a module after those below it."""
        deque(self._paths(""), maxlen=0)  # a module that holds itself is an error
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Freeze all parameters with False, or let them learn again."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    @explaining
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros."""
        forget_gradients(self.parameters(), set_to_none)

    def to(self: Self, dtype: DType = None, *, device: Any = None) -> Self:
        """Cast floating parameters, their gradients and buffers; the tensors stay the same objects."""
        if device is not None:
            raise type_error("to", CPU, device=str(device))
        if isinstance(dtype, str) and dtype.split(":")[0] in ("cpu", "cuda", "mps"):
            raise type_error("to", f"dtype must be floating ({CPU})", dtype=dtype)
        dtype = as_dtype(dtype, "to")
        if not is_floating(dtype):
            raise type_error("to", "dtype must be floating", dtype=str(dtype))
        for tensor in (*self.parameters(), *self.buffers()):
            if is_floating(tensor.dtype) and tensor.dtype != dtype:
                tensor._array = cast(tensor.detach(), dtype)._array
                changes.mark(tensor._array)
                if tensor.grad is not None:
                    tensor.grad = cast(tensor.grad.detach(), dtype)
        return self

    def cuda(self, *device: Any, **options: Any) -> Any:
        """There is none: an error says so."""
        raise type_error("cuda", CPU)

    def cpu(self) -> Any:
        """It is there already: an error says so."""
        raise type_error("cpu", f"write the module itself: {CPU}")

    def float(self: Self) -> Self:
        """Cast to float32."""
        return self.to(dtypes.float32)

    def double(self: Self) -> Self:
        """Cast to float64."""
        return self.to(dtypes.float64)

    def half(self: Self) -> Self:
        """Cast to float16."""
        return self.to(dtypes.float16)

    def bfloat16(self: Self) -> Self:
        """Cast to bfloat16."""
        return self.to(dtypes.bfloat16())

    def register_forward_pre_hook(
        self, hook: Callable[[Module, tuple[Any, ...]], Any]
    ) -> HookHandle:
        """Call ``hook(module, args)`` before each forward; what it returns replaces ``args``.

        Returns a handle that removes the hook.
        """
        return self._add_hook("before", hook)

    def register_forward_hook(
        self, hook: Callable[[Module, tuple[Any, ...], Any], Any]
    ) -> HookHandle:
        """Call ``hook(module, args, output)`` after each; what it returns replaces ``output``.

        Returns a handle that removes the hook.
        """
        return self._add_hook("after", hook)

    def register_full_backward_hook(
        self, hook: Callable[[Module, tuple[Any, ...], tuple[Any, ...]], Any]
    ) -> HookHandle:
        """Call ``hook(module, grad_input, grad_output)`` when both are known.

        They are tuples, with an entry for each positional argument and each output, None where
        there is no gradient. What the hook returns replaces ``grad_input``. Returns a handle
        that removes the hook.
        """
        return self._add_hook("backward", hook)

    def _add_hook(self, kind: str, hook: Callable[..., Any]) -> HookHandle:
        if self._hooks is None:
            self._hooks = Hooks()
        same_kind = getattr(self._hooks, kind)
        same_kind.append(hook)
        return HookHandle(same_kind, hook)

    def summary(self, example: Any) -> Summary:
        """A table of the modules: output shapes, parameters and floating-point operations.

        ``example`` is an input, a tuple of several, or the shape of one. The module is run on it
        once, in evaluation and without recording.
        """
        return summarize(self, example)

    def extra_repr(self) -> str:
        """What stands between the parentheses: the constructor's arguments that are no defaults."""
        return arguments_shown(self)

    @recursive_repr()
    def __repr__(self) -> str:
        children = [(name, child) for name, child in vars(self).items() if _is_module(child)]
        return nested(f"{type(self).__name__}({self.extra_repr()}", children)


def _is_module(value: Any) -> bool:
    return isinstance(value, Module)


def _is_parameter(module: Module, name: str, value: Any) -> bool:
    return isinstance(value, Parameter)


def _is_buffer(module: Module, name: str, value: Any) -> bool:
    return name in module._buffers and isinstance(value, Tensor)


def _is_saved(module: Module, name: str, value: Any) -> bool:
    return isinstance(value, Parameter) or (
        isinstance(value, Tensor) and module._buffers.get(name, False)
    )


def _each_once(named: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    seen = set()
    for name, value in named:
        if value not in seen:
            seen.add(value)
            yield name, value
