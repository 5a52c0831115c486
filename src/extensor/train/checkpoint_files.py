"""The files of checkpoints, and the folder of a run that they are in.

Their content is made by ``trainer_state``. Only the first worker writes. ``fit`` locks the folder;
:meth:`RunStorage.read` takes no lock, so ``fit`` raises an error if the last checkpoint has changed
since it was read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import count
from pathlib import Path
from typing import Any

from extensor.distributed.workers import Workers
from extensor.errors import arguments, value_error
from extensor.io.atomic import remove_partial
from extensor.io.paths import as_path, make_folder
from extensor.io.regular_files import check_own_folder, file_bytes
from extensor.io.state_file import DamagedFileError, load, save, unpacked
from extensor.train.run_folder import (
    NEW_ONES,
    TIME,
    RunFolder,
    check_free,
    create_new_folder,
    locked,
    move_aside,
    named_folder,
)

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


class RunStorage:
    """The folder of a run, if it has one, with its lock and its checkpoints."""

    def __init__(
        self, folder: str | Path | None, overwrite: bool, keep: int, workers: Workers
    ) -> None:
        self.workers = workers
        self.keep = arguments.integer("Checkpoints", "keep", keep, 1)
        self.overwrite = arguments.flag("Trainer", "overwrite", overwrite)
        if self.overwrite and folder is None:
            raise value_error("Trainer", "overwrite needs a folder", folder=None)
        self.run: RunFolder | None = None
        self.checkpoints: Checkpoints | None = None
        self.seen: tuple[str, int] | None = None  # the last checkpoint when it was last looked for
        self.is_resumed = False
        if folder is not None:
            self._set_folder(named_folder("Trainer", folder))
        # If another run takes the name before training begins, the next free name is used.
        self.is_timed = folder is not None and TIME in str(folder)

    def _set_folder(self, path: Path) -> None:
        self.run = RunFolder(path)
        self.checkpoints = Checkpoints(self.run.checkpoints, self.keep)
        self.look()

    def look(self) -> None:
        """Remember the last checkpoint, so that one of another process is noticed."""
        self.seen = self.stamp()

    def stamp(self) -> tuple[str, int] | None:
        """Identify the last checkpoint, on the first worker."""
        if self.checkpoints is None or not self.workers.is_first:
            return None
        return self.checkpoints.stamp()

    def required_checkpoints(self, op: str) -> Checkpoints:
        """The checkpoints, or an error if the trainer has no folder."""
        if self.checkpoints is None:
            raise value_error(op, "the trainer must have a folder", folder=None)
        return self.checkpoints

    def latest(self) -> Path | None:
        """The checkpoint of the highest step, if there is any."""
        return None if self.checkpoints is None else self.checkpoints.latest()

    def has_checkpoint(self, step: int) -> bool:
        """True if there is a checkpoint of ``step``."""
        return self.checkpoints is not None and self.checkpoints.of(step).exists()

    def create_folder(self, step: int) -> None:
        """Create the folder, at the beginning a new one if ``overwrite`` or ``{time}`` asks for it."""
        if self.run is None or not self.workers.is_first:
            return
        if step == 0 and not self.is_resumed:
            if self.overwrite and move_aside("fit", self.run) is not None:
                self.seen = None
            if self.is_timed:
                self.is_timed = False
                self._set_folder(create_new_folder(self.run.path))
        try:
            self.check_folder(step)
        except ValueError:
            check_free(self.run.path, "fit")  # names the process that trains there now
            raise
        self.run.check_links()
        make_folder("fit", self.run.path)

    def check_folder(self, step: int) -> None:
        """Raise an error if the folder has another run, or if another process has trained there."""
        if self.run is None or not self.workers.is_first:
            return
        if step == 0 and not self.is_resumed and self.run.holds_a_run():
            requirement = f"folder must be new, or resume() be called first ({NEW_ONES})"
            raise value_error("fit", requirement, folder=str(self.run.path))
        if self.stamp() != self.seen:
            requirement = (
                "folder must not have changed since resume() or the last fit (another process "
                "has trained there since; call resume() again)"
            )
            raise value_error("fit", requirement, folder=str(self.run.path))

    def lock(self) -> AbstractContextManager[None]:
        """Keep other processes out of the folder."""
        if self.run is None or not self.workers.is_first:
            return nullcontext()
        return locked(self.run.path, "fit")

    def tidy(self, step: int) -> None:
        """Set aside checkpoints of steps after ``step``, and delete old ones."""
        if self.checkpoints is not None:
            self.checkpoints.set_aside(step)
            self.checkpoints.tidy(step)
            self.look()

    def read(self, path: Path | None) -> dict[str, Any] | None:
        """Read the checkpoint at ``path`` on the first worker, for all workers; None without a file."""
        try:
            return self._read(path)
        except DamagedFileError as error:
            good = None if self.checkpoints is None else self.checkpoints.latest_good()
            if good is None:
                raise
            text = f"{error}; the last good one is for resume({str(good)!r})"
            raise DamagedFileError(text) from None

    def _read(self, path: Path | None) -> dict[str, Any] | None:
        workers = self.workers
        if workers.size == 1:
            return None if path is None else load(path, foreign=False)
        # Workers on other machines may not see the file: the first one sends its bytes.
        content = b"" if path is None or not workers.is_first else file_bytes(path)
        content = workers.broadcast(content if workers.is_first else None, "checkpoint")
        return unpacked(content, "checkpoint", foreign=False) if content else None

    def write(self, state: Mapping[str, Any], step: int, name: str | None) -> Path:
        """Write a checkpoint of ``step``, or one that is called ``name``."""
        checkpoints = self.required_checkpoints("save")
        if not self.workers.is_first:
            return checkpoints.of(step)
        if name is not None:
            return checkpoints.save_as(name, state)
        path = checkpoints.save(state, step)
        self.look()
        return path
