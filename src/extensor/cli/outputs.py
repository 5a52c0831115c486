"""``--output``: a new file, known to be one that can be written before the work begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from extensor.errors import value_error


def new_file(name: str, endings: Sequence[str]) -> Path:
    """The path of a file that is not there yet, in a folder that is, with one of ``endings``."""
    path = Path(name)
    if path.suffix.lower() not in endings:
        raise value_error("--output", f"file must end with {' or '.join(endings)}", output=name)
    if path.exists() or path.is_symlink():
        raise value_error("--output", "file must be new", output=name)
    if not path.parent.is_dir():
        raise value_error("--output", "the folder must be there", output=name)
    return path
