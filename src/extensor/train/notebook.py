"""The progress of training in a notebook: one place below the cell, shown anew as it goes on."""

from __future__ import annotations

import sys
from typing import Any

from extensor.train.history import History


class Page:
    """A bar, a line and the table of epochs, in the place that ``handle`` stands for."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def show(self, line: str, step: int, steps: int, history: History) -> bool:
        """Show how far training is; False if the notebook does not take it any more."""
        return self._update(Shown(line, history, step, steps))

    def end(self, line: str, history: History) -> None:
        """Show what has come of it."""
        self._update(Shown(line, history))

    def _update(self, shown: Shown) -> bool:
        try:
            self._handle.update(shown)
        except Exception:  # training does not end because nobody looks
            return False
        return True


class Shown:
    """What a notebook is given to show: with colours where it can, else as text."""

    def __init__(
        self, line: str, history: History, step: int | None = None, steps: int = 0
    ) -> None:
        self.line = line
        self.history = list(history)
        self.step = step
        self.steps = steps

    def _repr_html_(self) -> str:
        from html import escape

        table = History(self.history)._repr_html_() if self.history else ""
        line = f'<div style="font-family:monospace;white-space:pre">{escape(self.line)}</div>'
        if self.step is None:
            return f"<div>{table}{line}</div>"
        bar = f'<progress value="{self.step}" max="{self.steps}" style="width:20em"></progress>'
        return f"<div>{bar}{line}{table}</div>"

    def __repr__(self) -> str:
        table = [repr(History(self.history))] if self.history else []
        return "\n".join([*table, self.line])


def opened_page() -> Page | None:
    """A place below the cell that is being run; None if there is none."""
    module: Any = sys.modules.get("IPython")
    shell = module.get_ipython() if hasattr(module, "get_ipython") else None
    if getattr(shell, "kernel", None) is None:
        return None
    try:
        handle = module.display.display(Shown("", History()), display_id=True)
    except Exception:
        return None
    return None if handle is None else Page(handle)
