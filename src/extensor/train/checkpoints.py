"""The checkpoints of a run: their names, and which of them are kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from extensor.errors import arguments, value_error
from extensor.io.atomic import remove_partial
from extensor.io.paths import as_path, make_folder
from extensor.io.regular_files import check_own_folder
from extensor.io.state import DamagedFileError, load, save

_ENDING = ".safetensors"
_PREFIX = "step-"


class Checkpoints:
    """Files ``step-<number>.safetensors`` in ``folder``, the last ``keep`` of them, and named ones.

    An old one is deleted only when the new one is on the disk. A folder that is a link is only read:
    nothing is written or deleted where it leads to.
    """

    def __init__(self, folder: str | Path, keep: int = 3) -> None:
        self.folder = as_path("Checkpoints", folder, name="folder")
        self.keep = arguments.integer("Checkpoints", "keep", keep, 1)

    def save(self, state: Mapping[str, Any], step: int) -> Path:
        """Write the checkpoint of ``step``, then delete those that are too old."""
        step = arguments.integer("Checkpoints", "step", step, 0)
        path = self.save_as(self.of(step).stem, state)
        self.tidy(step)
        return path

    def of(self, step: int) -> Path:
        """Where the checkpoint of ``step`` is, if there is one."""
        return self.folder / f"{_PREFIX}{step:09d}{_ENDING}"

    def save_as(self, name: str, state: Mapping[str, Any]) -> Path:
        """Write a checkpoint that no other replaces but one of the same name."""
        if Path(arguments.text("Checkpoints", "name", name)).name != name:
            raise value_error("Checkpoints", "name must be that of a file, no path", name=name)
        check_own_folder(self.folder)
        make_folder("save", self.folder)
        path = self.folder / f"{name}{_ENDING}"
        save(path, state)
        return path

    def tidy(self, step: int) -> None:
        """Delete what is too old at ``step``, and what was left half written.

        Checkpoints of later steps are left alone.
        """
        check_own_folder(self.folder)
        remove_partial(self.folder)
        past = [path for number, path in self._numbered() if number <= step]
        for path in past[: -self.keep]:
            os.unlink(path)

    def latest(self) -> Path | None:
        """The checkpoint of the highest step, if there is any."""
        numbered = self._numbered()
        return numbered[-1][1] if numbered else None

    def stamp(self) -> tuple[str, int] | None:
        """The name of the latest and when it was written: another if somebody else wrote one."""
        path = self.latest()
        return None if path is None else (path.name, path.stat().st_mtime_ns)

    def latest_good(self) -> Path | None:
        """The latest that is whole, or one with another name; each is read to know."""
        numbered = [path for _, path in reversed(self._numbered())]
        others = sorted(set(self.folder.glob(f"*{_ENDING}")) - set(numbered))
        for path in (*numbered, *others):
            with suppress(DamagedFileError, OSError):
                if "progress" in load(path):
                    return path
        return None

    def set_aside(self, step: int) -> None:
        """Rename checkpoints of later steps: a run that went back to ``step`` will not reach them.

        They are kept as ``left-step-<number>``, so that the latest is one of what was done since.
        """
        check_own_folder(self.folder)
        for number, path in self._numbered():
            if number > step:
                target = path.with_name(f"left-{path.name}")
                again = count(2)
                while target.exists():
                    target = path.with_name(f"left-{path.stem}-{next(again)}{_ENDING}")
                os.rename(path, target)

    def _numbered(self) -> list[tuple[int, Path]]:
        found = []
        for path in self.folder.glob(f"{_PREFIX}*{_ENDING}"):
            digits = path.name.removeprefix(_PREFIX).removesuffix(_ENDING)
            if digits.isdigit():
                found.append((int(digits), path))
        return sorted(found)
