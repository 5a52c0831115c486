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
from extensor.errors.explanation import checked, explaining, wrap_constructor
from extensor.errors.torch_names import CPU
from extensor.nn.failure import add_to_path, in_words_of_ours
from extensor.nn.hooks import Hooks, call_watched, call_with_hooks
from extensor.nn.layer_inputs import by_position
from extensor.nn.parameter import Parameter
from extensor.nn.representation import arguments_shown, nested
from extensor.nn.state_dict import KeyDifference, prepare_copy
from extensor.nn.summary import Summary, summarize
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
    """Base class of all layers and networks.

    A subclass sets attributes in ``__init__`` and computes in ``forward``. An attribute that is a
    `Parameter` or a `Module` becomes a part of the module by assignment; ``super().__init__()``
    need not be called. A tensor that is saved but not learned is set with `register_buffer`. Call a
    module like a function: ``net(x)`` runs ``forward`` and the hooks.

    Attributes
    ----------
    training : bool
        Whether the module is in training mode, which matters to dropout and batch normalization. It
        is changed by `train` and `eval`.

    Notes
    -----
    Modules in Python lists, tuples or dicts are not found; use `ModuleList` or `ModuleDict`. An
    error inside ``forward`` begins with the path of the module in which it arose.

    Examples
    --------
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
        """Compute the output of the module. Subclasses define it.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the call, or what hooks made of them.

        Returns
        -------
        object
            Usually a tensor, or a tuple of tensors.

        Raises
        ------
        NotImplementedError
            If the subclass does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__}: needs a method forward")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute. A parameter or module is not lost by accident: only None clears it."""
        present = self.__dict__.get(name)
        for kind in (Parameter, Module):
            if isinstance(present, kind) and not (value is None or isinstance(value, kind)):
                requirement = f"{name} must be a {kind.__name__} or None"
                raise type_error(type(self).__name__, requirement, **{name: type(value).__name__})
        # Here and not when modules are walked: the mistake is found where it is made.
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

        Running statistics and constant tables are buffers. An existing buffer of that name is
        replaced.

        Parameters
        ----------
        name : str
            Name of the attribute: not empty and without a dot.
        tensor : Tensor or None
            Its value. None reserves the name.
        persistent : bool, default True
            Whether ``state_dict`` contains it.

        Raises
        ------
        ValueError
            If the name is not allowed or belongs to another attribute.
        """
        if not isinstance(name, str) or name not in self._buffers:
            self._new_name("register_buffer", name)
        # A new dict: the class's empty one is shared by all modules without buffers.
        self._buffers = {**self._buffers, name: persistent}
        setattr(self, name, tensor)

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Set a parameter under a name that is computed; ``module.name = parameter`` does the same.

        Parameters
        ----------
        name : str
            Name of the attribute: new, not empty and without a dot.
        parameter : Parameter or None
            Its value.

        Raises
        ------
        ValueError
            If the name is not allowed or belongs to another attribute.
        """
        setattr(self, self._new_name("register_parameter", name), parameter)

    def add_module(self, name: str, module: Module | None) -> None:
        """Set a module under a name that is computed; ``module.name = child`` does the same.

        Parameters
        ----------
        name : str
            Name of the attribute: new, not empty and without a dot.
        module : Module or None
            Its value.

        Raises
        ------
        ValueError
            If the name is not allowed or belongs to another attribute.
        """
        setattr(self, self._new_name("add_module", name), module)

    def _new_name(self, op: str, name: str) -> str:
        if not isinstance(name, str) or not name or "." in name or hasattr(self, name):
            requirement = "name must be a new one, not empty and without a dot"
            raise value_error(op, requirement, name=shown(name))
        return name

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over the modules among the attributes, each once, with their names.

        Yields
        ------
        (str, Module)
            Name and module.
        """
        attributes = list(vars(self).items())  # the caller may set more while going through them
        return _each_once((name, x) for name, x in attributes if isinstance(x, Module))

    def children(self) -> Iterator[Module]:
        """Iterate over the modules among the attributes, each once.

        Yields
        ------
        Module
            The module.
        """
        return (module for _, module in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Iterate over this module and all below it, each once, with their paths.

        Parameters
        ----------
        prefix : str, default ""
            Path of this module, which begins the paths of the others.

        Yields
        ------
        (str, Module)
            Path, such as ``blocks.1.conv2``, and module.
        """
        return _each_once(self._paths(prefix))

    def get_submodule(self, path: str) -> Module:
        """Return the module at a path.

        Parameters
        ----------
        path : str
            A path such as ``blocks.1.conv2``, as errors and `named_modules` give it; "" is this
            module.

        Returns
        -------
        Module
            The module.

        Raises
        ------
        ValueError
            If there is no such module.
        """
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
        """Iterate over this module and all below it, each once.

        Yields
        ------
        Module
            The module.
        """
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

    def _check_made(self) -> None:
        """Raise if the parameters are not there yet, as those of a lazy module before its first call."""

    def _named_tensors(
        self, prefix: str, recurse: bool, choose: Callable[[Module, str, Any], bool]
    ) -> Iterator[tuple[str, Any]]:
        """The attributes that ``choose(module, name, value)`` likes, by every path to them."""
        for path, module in self._paths(prefix) if recurse else [(prefix, self)]:
            module._check_made()
            for name, value in list(vars(module).items()):
                if choose(module, name, value):
                    yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over the parameters, each once, with their paths.

        Parameters
        ----------
        prefix : str, default ""
            Path of this module, which begins the paths of the parameters.
        recurse : bool, default True
            Whether to include the modules below.

        Yields
        ------
        (str, Parameter)
            Path, such as ``blocks.1.weight``, and parameter.
        """
        return _each_once(self._named_tensors(prefix, recurse, _is_parameter))

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over the parameters, each once. This is what optimizers take.

        Parameters
        ----------
        recurse : bool, default True
            Whether to include the modules below.

        Yields
        ------
        Parameter
            The parameter.
        """
        return (parameter for _, parameter in self.named_parameters("", recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Iterate over the buffers, each once, with their paths.

        Parameters
        ----------
        prefix : str, default ""
            Path of this module, which begins the paths of the buffers.
        recurse : bool, default True
            Whether to include the modules below.

        Yields
        ------
        (str, Tensor)
            Path and buffer.
        """
        return _each_once(self._named_tensors(prefix, recurse, _is_buffer))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers, each once.

        Parameters
        ----------
        recurse : bool, default True
            Whether to include the modules below.

        Yields
        ------
        Tensor
            The buffer.
        """
        return (buffer for _, buffer in self.named_buffers("", recurse))

    def num_parameters(self, trainable_only: bool = False) -> int:
        """Count the numbers that the parameters hold.

        Parameters
        ----------
        trainable_only : bool, default False
            Whether to leave out frozen parameters, whose ``requires_grad`` is False.

        Returns
        -------
        int
            The number.

        Examples
        --------
        >>> import extensor as ex
        >>> ex.nn.Linear(10, 5).num_parameters()
        55
        """
        return sum(p.size for p in self.parameters() if p.requires_grad or not trainable_only)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the parameters and persistent buffers by path.

        A tensor that is used in two places has two entries, as in PyTorch, whose module of the same
        name has the same keys.

        Returns
        -------
        dict of str to Tensor
            The tensors. They share the memory of the module: clone them to keep the present values.

        See Also
        --------
        ex.save : Writes such a dict to a file.
        load_state_dict : The reverse.

        Examples
        --------
        >>> import extensor as ex
        >>> list(ex.nn.Linear(3, 2).state_dict())
        ['weight', 'bias']
        """
        # By every path, also of a tensor that is shared: files have one entry for each, as PyTorch's.
        return {name: tensor.detach() for name, tensor in self._named_tensors("", True, _is_saved)}

    def load_state_dict(
        self, state_dict: Mapping[str, TensorLike], strict: bool = True
    ) -> KeyDifference:
        """Copy saved values into the parameters and buffers of the same path.

        The tensors of the module stay the same objects, so optimizers need not be made anew. If
        anything does not fit, one error lists everything that does not, and nothing is changed.

        Parameters
        ----------
        state_dict : mapping of str to tensor_like
            Values by path, for example from `state_dict` or `ex.load`.
        strict : bool, default True
            Whether keys must be exactly those of the module. Shapes must fit in any case.

        Returns
        -------
        KeyDifference
            Named tuple of two lists: ``missing_keys``, which ``state_dict`` lacks, and
            ``unexpected_keys``, which the module does not have.

        Raises
        ------
        ValueError
            If keys differ and ``strict`` is set, or if a shape or a dtype does not fit.
        """
        strict = arguments.flag(f"{type(self).__name__}.load_state_dict", "strict", strict)
        # In two steps, so that several modules and optimizers can be loaded all or none.
        difference, commit = prepare_copy(
            type(self).__name__, self.state_dict(), state_dict, strict
        )
        commit()
        return difference

    def _prepared_state(self, state_dict: Mapping[str, Any]) -> Callable[[], None]:
        """A function that takes over ``state_dict``, which has been checked to fit."""
        return prepare_copy(type(self).__name__, self.state_dict(), state_dict)[1]

    def train(self: Self, mode: bool = True) -> Self:
        """Switch all modules to training mode or back.

        Dropout and batch normalization behave differently in training.

        Parameters
        ----------
        mode : bool, default True
            True for training, False for evaluation.

        Returns
        -------
        Self
            The module itself.
        """
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: Self) -> Self:
        """Switch all modules to evaluation mode: ``train(False)``.

        Returns
        -------
        Self
            The module itself.
        """
        return self.train(False)

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call a function with every module, those below a module before it.

        Parameters
        ----------
        fn : callable
            Called as ``fn(module)``; its result is ignored.

        Returns
        -------
        Self
            The module itself.

        Examples
        --------
        >>> import extensor as ex
        >>> def reset(module):
        ...     if isinstance(module, ex.nn.Linear):
        ...         ex.nn.init.zeros_(module.bias)
        >>> ex.nn.Sequential(ex.nn.Linear(2, 2)).apply(reset)[0].bias
        tensor([0., 0.], requires_grad=True)
        """
        deque(self._paths(""), maxlen=0)  # a module that holds itself is an error
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Freeze all parameters, or let them learn again.

        Parameters
        ----------
        requires_grad : bool, default True
            False to freeze.

        Returns
        -------
        Self
            The module itself.
        """
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    @explaining
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool, default True
            Whether to remove the gradients; False fills them with zeros.
        """
        forget_gradients(self.parameters(), set_to_none)

    def to(self: Self, dtype: DType = None, *, device: Any = None) -> Self:
        """Cast floating parameters, their gradients and buffers to another dtype.

        The tensors stay the same objects, so optimizers still hold them. Integer buffers keep their
        dtype.

        Parameters
        ----------
        dtype : dtype_like, optional
            A floating dtype.
        device : None, optional
            PyTorch's argument. Anything but None is refused, since everything is on the CPU.

        Returns
        -------
        Self
            The module itself.

        Raises
        ------
        TypeError
            If ``dtype`` is not floating, or a device is given.
        """
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
        """Raise an error: everything is on the CPU.

        Parameters
        ----------
        *device, **options
            Ignored.

        Raises
        ------
        TypeError
            Always.
        """
        raise type_error("cuda", CPU)

    def cpu(self) -> Any:
        """Raise an error: the module is on the CPU already.

        Raises
        ------
        TypeError
            Always.
        """
        raise type_error("cpu", f"write the module itself: {CPU}")

    def float(self: Self) -> Self:
        """Cast to float32.

        Returns
        -------
        Self
            The module itself.
        """
        return self.to(dtypes.float32)

    def double(self: Self) -> Self:
        """Cast to float64.

        Returns
        -------
        Self
            The module itself.
        """
        return self.to(dtypes.float64)

    def half(self: Self) -> Self:
        """Cast to float16.

        Returns
        -------
        Self
            The module itself.
        """
        return self.to(dtypes.float16)

    def bfloat16(self: Self) -> Self:
        """Cast to bfloat16.

        Returns
        -------
        Self
            The module itself.
        """
        return self.to(dtypes.bfloat16())

    def register_forward_pre_hook(
        self, hook: Callable[[Module, tuple[Any, ...]], Any]
    ) -> HookHandle:
        """Call a function before each ``forward``.

        Parameters
        ----------
        hook : callable
            Called as ``hook(module, args)`` with the positional arguments. What it returns replaces
            them, unless it is None; a single value need not be a tuple.

        Returns
        -------
        HookHandle
            Its ``remove()`` removes the hook, as does the end of a ``with`` block.
        """
        return self._add_hook("before", hook)

    def register_forward_hook(
        self, hook: Callable[[Module, tuple[Any, ...], Any], Any]
    ) -> HookHandle:
        """Call a function after each ``forward``.

        Parameters
        ----------
        hook : callable
            Called as ``hook(module, args, output)``. What it returns replaces ``output``, unless it
            is None.

        Returns
        -------
        HookHandle
            Its ``remove()`` removes the hook, as does the end of a ``with`` block.

        Examples
        --------
        >>> import extensor as ex
        >>> layer = ex.nn.Linear(2, 3)
        >>> with layer.register_forward_hook(lambda module, args, output: print(output.shape)):
        ...     _ = layer(ex.ones((1, 2)))
        (1, 3)
        """
        return self._add_hook("after", hook)

    def register_full_backward_hook(
        self, hook: Callable[[Module, tuple[Any, ...], tuple[Any, ...]], Any]
    ) -> HookHandle:
        """Call a function in the backward pass, when the gradients of inputs and outputs are known.

        Parameters
        ----------
        hook : callable
            Called as ``hook(module, grad_input, grad_output)`` with tuples that have an entry for
            each positional argument and each output, None where there is no gradient. What it
            returns replaces ``grad_input``, unless it is None.

        Returns
        -------
        HookHandle
            Its ``remove()`` removes the hook, as does the end of a ``with`` block.
        """
        return self._add_hook("backward", hook)

    def _add_hook(self, kind: str, hook: Callable[..., Any]) -> HookHandle:
        if self._hooks is None:
            self._hooks = Hooks()
        same_kind = getattr(self._hooks, kind)
        same_kind.append(hook)
        return HookHandle(same_kind, hook)

    def summary(self, example: Any) -> Summary:
        """Run the module once, and list output shapes, parameters and floating-point operations.

        The module runs in evaluation mode and without recording; its state stays as it was.

        Parameters
        ----------
        example : tensor_like, tuple of inputs or tuple of ints
            An input, several inputs, or the shape of one, which is then filled with zeros.

        Returns
        -------
        Summary
            A row for each module. It prints as a table; ``parameters`` and ``flops`` are the
            totals.

        Examples
        --------
        >>> import extensor as ex
        >>> net = ex.nn.Sequential(ex.nn.Linear(4, 8), ex.nn.ReLU())
        >>> net.summary((1, 4)).flops
        64
        """
        return summarize(self, example)

    def extra_repr(self) -> str:
        """Return the text between the parentheses of ``repr``.

        By default these are the arguments of the constructor that differ from their defaults.
        Subclasses may override it.

        Returns
        -------
        str
            The text.
        """
        return arguments_shown(self)

    @recursive_repr()
    def __repr__(self) -> str:
        children = [(name, x) for name, x in vars(self).items() if isinstance(x, Module)]
        return nested(f"{type(self).__name__}({self.extra_repr()}", children)


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
