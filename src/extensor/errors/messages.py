"""Messages about files and configurations: what is wrong, where, and what to do.

Tests quote the name of a message, so a sentence can change in this file alone.
"""

from __future__ import annotations

from typing import NamedTuple

from extensor.errors import marked, shortened_text
from extensor.errors.suggestions import suggestion

__all__ = ["Message", "known", "meant", "suggestion"]


class Message(NamedTuple):
    """A sentence with places for values, and the kind of error that has it."""

    sentence: str
    kind: type[Exception] = ValueError

    def text(self, advice: str = "", **values: object) -> str:
        """The sentence with its values, safe for a terminal, and ``advice`` on what to do."""
        return shortened_text(self.sentence, advice, values)

    def error(self, advice: str = "", **values: object) -> Exception:
        """The error to raise.

        >>> from extensor.errors.messages import COLUMN_NOT_FOUND, suggestion
        >>> raise COLUMN_NOT_FOUND.error(
        ...     suggestion("specis", ["species", "width"]), column="specis", source="iris.csv"
        ... )
        Traceback (most recent call last):
        ValueError: column 'specis' not found in iris.csv; did you mean 'species'?
        """
        return marked(self.kind(self.text(advice, **values)))


def meant(name: str) -> str:
    """Advice to use ``name``."""
    return f"; did you mean {name!r}?"


def known(*names: str) -> str:
    """Advice to choose among ``names``."""
    return f"; known: {', '.join(names) or 'none'}"


COLUMN_NOT_FOUND = Message("column {column!r} not found in {source}")
KEY_UNKNOWN = Message("unknown key {key!r} in the configuration")
METRIC_UNKNOWN = Message("unknown metric {name!r}")
METRIC_OPTION_UNKNOWN = Message("unknown option {option!r} of the metric {name!r}")
MONITOR_NOT_LOGGED = Message("{monitor!r}, which {who} monitors, not found in the log")
MONITOR_NOT_MEASURED = Message("{monitor!r} not found among the results of the validation")
NAME_UNKNOWN = Message("unknown name {name!r} for {entry} in the configuration")
PATH_NOT_FOUND = Message(
    "file or folder {path!r} not found; check its name and the working folder", FileNotFoundError
)
RUN_NOT_FOUND = Message("run {run!r} not found, neither as a folder nor in runs/")
SWEEP_NOT_FOUND = Message("sweep {sweep!r} not found, neither as a folder nor in runs/")
