"""The handle that registering a hook returns."""

from __future__ import annotations

from typing import Any


class HookHandle:
    """Takes a hook out of its list, once: by ``remove()``, by a call, or at the end of a ``with``."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self._hooks: list[Any] | None = hooks
        self._hook = hook

    def remove(self) -> None:
        """Remove the hook; if that was done before, do nothing."""
        # Forgotten first: removing a second time must not take out an equal hook of somebody else.
        hooks, self._hooks = self._hooks, None
        if hooks is not None:
            hooks.remove(self._hook)

    def __call__(self) -> None:
        self.remove()

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()
