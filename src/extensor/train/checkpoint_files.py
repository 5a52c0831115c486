"""The files of checkpoints: the last few by step, and named ones.

Their content is made by ``trainer_state``, their folder by ``run_folder``.
"""

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
from extensor.io.state_file import DamagedFileError, load, save

_ENDING = ".safetensors"
_PREFIX = "step-"


class Checkpoints:
    """The checkpoints in a folder: the last few by step, and named ones.

    The files are ``step-<number>.safetensors`` and ``<name>.safetensors``. `Trainer` writes them; use
    the class to find one.

    Parameters
    ----------
    folder : str or Path
        The folder. It is created by the first `save`.
    keep : int, default 3
        Number of checkpoints by step to keep, 1 or more.

    Attributes
    ----------
    folder : Path
        The folder.
    keep : int
        The parameter.

    See Also
    --------
    Trainer.resume : Continue from a checkpoint.
    ex.load : Read a file.

    Notes
    -----
    A file is written whole or not at all, and an old one is deleted only when the new one is on the
    disk. If the folder is a symbolic link, it is only read: nothing is written or deleted where it
    leads to.

    Examples
    --------
    >>> import tempfile, extensor as ex
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoints = ex.train.Checkpoints(folder, keep=1)
    ...     for step in (100, 200):
    ...         path = checkpoints.save({"weight": ex.ones(3)}, step)
    ...     path == checkpoints.latest(), path.name, len(list(checkpoints.folder.iterdir()))
    (True, 'step-000000200.safetensors', 1)
    """

    def __init__(self, folder: str | Path, keep: int = 3) -> None:
        self.folder = as_path("Checkpoints", folder, name="folder")
        self.keep = arguments.integer("Checkpoints", "keep", keep, 1)

    def save(self, state: Mapping[str, Any], step: int) -> Path:
        """Write the checkpoint of a step, then delete those that are too old.

        Parameters
        ----------
        state : mapping of str to object
            Tensors, arrays, numbers, strings, and lists and dicts of these, as `ex.save` takes it.
        step : int
            Number of the step, 0 or more.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        OSError
            If the file cannot be written, or the folder is a symbolic link. The earlier checkpoints
            are still there then.
        """
        step = arguments.integer("Checkpoints", "step", step, 0)
        path = self.save_as(self.of(step).stem, state)
        self.tidy(step)
        return path

    def of(self, step: int) -> Path:
        """Return the path that the checkpoint of a step has, whether or not it exists.

        Parameters
        ----------
        step : int
            Number of the step.

        Returns
        -------
        Path
            The path.
        """
        return self.folder / f"{_PREFIX}{step:09d}{_ENDING}"

    def save_as(self, name: str, state: Mapping[str, Any]) -> Path:
        """Write a checkpoint under a name. It is kept until one of the same name replaces it.

        Parameters
        ----------
        name : str
            Name of the file, without its ending and not a path.
        state : mapping of str to object
            As of `save`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            If `name` is a path.
        OSError
            As of `save`.
        """
        if Path(arguments.text("Checkpoints", "name", name)).name != name:
            raise value_error("Checkpoints", "name must be a file name, not a path", name=name)
        check_own_folder(self.folder)
        make_folder("save", self.folder)
        path = self.folder / f"{name}{_ENDING}"
        save(path, state)
        return path

    def tidy(self, step: int) -> None:
        """Delete checkpoints that are too old, and files that were left half written.

        Parameters
        ----------
        step : int
            Number of the current step. Of the checkpoints up to it the last ``keep`` stay; those of
            later steps are left alone.
        """
        check_own_folder(self.folder)
        remove_partial(self.folder)
        past = [path for number, path in self._numbered() if number <= step]
        for path in past[: -self.keep]:
            os.unlink(path)

    def latest(self) -> Path | None:
        """Return the checkpoint of the highest step.

        Returns
        -------
        Path or None
            The file; None if there is none.
        """
        numbered = self._numbered()
        return numbered[-1][1] if numbered else None

    def stamp(self) -> tuple[str, int] | None:
        """Return a value that changes when another process writes a checkpoint.

        Returns
        -------
        tuple of (str, int) or None
            Name and time of modification of `latest`, in nanoseconds; None if there is none.
        """
        path = self.latest()
        return None if path is None else (path.name, path.stat().st_mtime_ns)

    def latest_good(self) -> Path | None:
        """Return the latest checkpoint that is not damaged. The files are read.

        Returns
        -------
        Path or None
            The file: by the highest step, otherwise one with a name; None if there is none.
        """
        numbered = [path for _, path in reversed(self._numbered())]
        others = sorted(set(self.folder.glob(f"*{_ENDING}")) - set(numbered))
        for path in (*numbered, *others):
            with suppress(DamagedFileError, OSError):
                if "progress" in load(path):
                    return path
        return None

    def set_aside(self, step: int) -> None:
        """Rename the checkpoints of later steps, for a run that went back to an earlier one.

        They become ``left-step-<number>.safetensors``, so that `latest` is never one of them.

        Parameters
        ----------
        step : int
            Number of the step that the run continues from.
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
        numbered = []
        for path in self.folder.glob(f"{_PREFIX}*{_ENDING}"):
            digits = path.name.removeprefix(_PREFIX).removesuffix(_ENDING)
            if digits.isdigit():
                numbered.append((int(digits), path))
        return sorted(numbered)
