"""The checkpoints of a run: their names, and which of them are kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from extensor import arguments
from extensor.errors import value_error
from extensor.io.atomic import remove_partial
from extensor.io.paths import as_path, make_folder
from extensor.io.state import save

_ENDING = ".safetensors"
_PREFIX = "step-"


class Checkpoints:
    """Files ``step-<number>.safetensors`` in ``folder``, the last ``keep`` of them, and named ones.

    An old one is deleted only when the new one is on the disk.
    """

    def __init__(self, folder: str | Path, keep: int = 3) -> None:
        self.folder = as_path("Checkpoints", folder, name="folder")
        self.keep = arguments.integer("Checkpoints", "keep", keep, 1)

    def save(self, state: Mapping[str, Any], step: int) -> Path:
        """Write the checkpoint of ``step``, then delete those that are too old."""
        step = arguments.integer("Checkpoints", "step", step, 0)
        path = self.save_as(f"{_PREFIX}{step:09d}", state)
        self.tidy(step)
        return path

    def save_as(self, name: str, state: Mapping[str, Any]) -> Path:
        """Write a checkpoint that no other replaces but one of the same name."""
        if Path(arguments.text("Checkpoints", "name", name)).name != name:
            raise value_error("Checkpoints", "name must be that of a file, no path", name=name)
        make_folder("save", self.folder)
        path = self.folder / f"{name}{_ENDING}"
        save(path, state)
        return path

    def tidy(self, step: int) -> None:
        """Delete what is too old at ``step``, and what was left half written.

        Checkpoints of later steps are left alone: somebody went back to an earlier one on purpose.
        """
        remove_partial(self.folder)
        past = [path for number, path in self._numbered() if number <= step]
        for path in past[: -self.keep]:
            os.unlink(path)

    def latest(self) -> Path | None:
        """The checkpoint of the highest step, if there is any."""
        numbered = self._numbered()
        return numbered[-1][1] if numbered else None

    def _numbered(self) -> list[tuple[int, Path]]:
        found = []
        for path in self.folder.glob(f"{_PREFIX}*{_ENDING}"):
            digits = path.name.removeprefix(_PREFIX).removesuffix(_ENDING)
            if digits.isdigit():
                found.append((int(digits), path))
        return sorted(found)
