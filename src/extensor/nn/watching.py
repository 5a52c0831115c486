"""The path of the module that is being called, for whoever watches what it computes."""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING, Any

from extensor.core.modes import mode
from extensor.nn.hooks import Hooks, call_with_hooks

if TYPE_CHECKING:
    from extensor.nn.module import Module


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
