"""Calls of a module that somebody watches: by hooks, or by watchers that ask for its path."""

from __future__ import annotations

from collections.abc import Callable
from threading import local
from typing import TYPE_CHECKING, Any

from extensor.core.modes import mode
from extensor.core.tape import is_recorded
from extensor.core.tensor import Tensor
from extensor.differentiation.custom_function import Function
from extensor.errors import type_error, value_error
from extensor.nn.parameter import Parameter

if TYPE_CHECKING:
    from extensor.nn.module import Module


class Hooks:
    """The hooks of one module, in the order they were registered."""

    def __init__(self) -> None:
        self.before: list[Callable[..., Any]] = []
        self.after: list[Callable[..., Any]] = []
        self.backward: list[Callable[..., Any]] = []

    def __bool__(self) -> bool:
        return bool(self.before or self.after or self.backward)


class _Calls(local):
    """The paths of all modules below the outermost one that this thread calls."""

    paths: dict[Module, str] | None = None


_calls = _Calls()


def call_watched(
    module: Module, hooks: Hooks | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The call of a module, while the watchers can see which module computes.

    The outermost module has the path "", one that is not found below it the name of its class.
    """
    # Paths are looked up once for the outermost call: a search for each inner one would be quadratic.
    outermost = _calls.paths is None
    if _calls.paths is None:
        _calls.paths = {inner: path for path, inner in module.named_modules()}
    outer, mode.module = mode.module, _calls.paths.get(module, type(module).__name__)
    try:
        if hooks:
            return call_with_hooks(module, hooks, args, kwargs)
        return module.forward(*args, **kwargs)
    finally:
        mode.module = outer
        if outermost:
            _calls.paths = None


def call_with_hooks(
    module: Module, hooks: Hooks, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``module.forward`` between its hooks."""
    # Copies of the lists: a hook may remove itself or add another, which counts from the next call.
    for hook in tuple(hooks.before):
        replaced = hook(module, args)
        if replaced is not None:
            args = replaced if isinstance(replaced, tuple) else (replaced,)
    # After the hooks before, so that the gradients are those of what forward really gets.
    watch = Watch(module, tuple(hooks.backward)) if hooks.backward else None
    if watch is not None:
        args = watch.enter(args)
    output = module.forward(*args, **kwargs)
    for hook in tuple(hooks.after):
        replaced = hook(module, args, output)
        if replaced is not None:
            output = replaced
    return output if watch is None else watch.leave(output)


class Watch:
    """The backward hooks of one call, and the gradients they wait for.

    Two identities stand on the tape, around the module: the outer sees the gradients of the
    outputs, the inner, reached when all within is done, those of the inputs.
    """

    def __init__(self, module: Module, hooks: tuple[Callable[..., Any], ...]) -> None:
        self.module = module
        self.hooks = hooks
        self.grad_output: tuple[Any, ...] = ()
        self.input_count = 0
        self.inputs_are_recorded = False

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        self.input_count = len(args)
        self.inputs_are_recorded = is_recorded(x for x in args if isinstance(x, Tensor))
        if not self.inputs_are_recorded:
            return args
        return _pass_through(ModuleInputs, self, args)

    def leave(self, output: Any) -> Any:
        if isinstance(output, tuple):
            return _pass_through(ModuleOutputs, self, output)
        if not isinstance(output, Tensor):
            raise type_error(
                "register_full_backward_hook",
                "forward must return a tensor or a tuple of tensors",
                output=type(output).__name__,
            )
        return _pass_through(ModuleOutputs, self, (output,))[0]

    def call_hooks(self, grad_input: tuple[Any, ...]) -> tuple[Any, ...]:
        """Call the hooks in the order of registration; each may replace the gradients of the inputs."""
        for hook in self.hooks:
            replaced = hook(self.module, grad_input, self.grad_output)
            if replaced is not None:
                replaced = replaced if isinstance(replaced, tuple) else (replaced,)
                if len(replaced) != len(grad_input):
                    raise value_error(
                        "register_full_backward_hook",
                        f"a hook must return {len(grad_input)} gradients, one for each input",
                        gradients=len(replaced),
                    )
                grad_input = replaced
        return grad_input


class ModuleInputs(Function):
    """The identity at a module's entrance; its backward runs when all of the module's are done."""

    @staticmethod
    def forward(ctx: Any, watch: Watch, *values: Any) -> tuple[Tensor, ...]:
        ctx.watch = watch
        ctx.are_tensors = [isinstance(x, Tensor) for x in values]
        return tuple(x for x in values if isinstance(x, Tensor))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        return (None, *ctx.watch.call_hooks(_place_gradients(ctx, gradients)))


class ModuleOutputs(ModuleInputs):
    """The identity at a module's exit; its backward runs before those of the module."""

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        watch: Watch = ctx.watch
        watch.grad_output = _place_gradients(ctx, gradients)
        # No identity at the entrance then, hence nothing else that would call the hooks.
        if not watch.inputs_are_recorded:
            watch.call_hooks((None,) * watch.input_count)
        return (None, *watch.grad_output)


def _place_gradients(ctx: Any, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """A gradient for each value, None for those that are no tensors."""
    rest = iter(gradients)
    return tuple(next(rest) if is_tensor else None for is_tensor in ctx.are_tensors)


def _pass_through(
    identity: type[Function], watch: Watch, values: tuple[Any, ...]
) -> tuple[Any, ...]:
    """``values``, the tensors among them through ``identity``."""
    passed = iter(identity.apply(watch, *values))
    return tuple(_of_kind(x, next(passed)) if isinstance(x, Tensor) else x for x in values)


def _of_kind(given: Tensor, passed: Tensor) -> Tensor:
    """``passed`` with the methods of ``given``: an identity is not seen. Parameters give plain tensors."""
    if not isinstance(given, Parameter):
        passed.__class__ = type(given)
    return passed
