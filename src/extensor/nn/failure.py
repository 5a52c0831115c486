"""Errors inside a module, in our words and with the path of the module they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from extensor.errors import is_ours
from extensor.errors.explanation import FAILURES, in_our_words

if TYPE_CHECKING:
    from extensor.nn.module import Module


def in_words_of_ours(
    module: Module, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Exception | None:
    """The exception to raise instead, if a module of ours fails with a text that is not ours."""
    written: Any = type(module).forward
    if is_ours(error) or not isinstance(error, FAILURES) or not hasattr(written, "__code__"):
        return None
    if not written.__module__.startswith("extensor."):
        return None
    return in_our_words(written, (module, *args), kwargs, error)


def add_to_path(error: Exception, module: Module) -> None:
    """Note that ``error`` passes ``module`` on its way to the caller.

    It passes the innermost module first, so the path grows at its front: ``conv2: text``, then
    ``blocks.1.conv2: text``. Only calls that fail pay for it.
    """
    inner, path, args = getattr(error, "_route", (module, "", error.args))
    if inner is not module:
        name = next((name for name, below in module.named_modules() if below is inner), None)
        path = ".".join(filter(None, [name or type(inner).__name__, path]))
        if _is_text(error, args):
            error.args = (": ".join([path, *args]),)
    error._route = (module, path, args)  # type: ignore[attr-defined]


def _is_text(error: Exception, args: tuple[Any, ...]) -> bool:
    """True if ``args`` are nothing but a message: whoever catches a KeyError wants the key."""
    return len(args) < 2 and all(isinstance(x, str) for x in args) and type(error) is not KeyError
