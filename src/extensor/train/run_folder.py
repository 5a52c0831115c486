"""The folder of a run: its files, its name, its configuration, its lock, and an earlier run in its place.

Only the first worker writes. ``fit`` locks the folder; :meth:`RunStorage.read` takes no lock, so ``fit``
raises an error if the last checkpoint has changed since it was read.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import socket
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from extensor.distributed.workers import Workers
from extensor.errors import arguments, value_error
from extensor.io.atomic import remove_partial, write_atomically
from extensor.io.paths import as_path, make_folder
from extensor.io.redaction import redact_command
from extensor.io.regular_files import LinkedFileError, file_bytes, open_own
from extensor.io.state_file import DamagedFileError, load, unpacked
from extensor.io.toml import as_toml
from extensor.settings import get_num_threads
from extensor.train.checkpoint_files import Checkpoints

if sys.platform != "win32":
    import fcntl

LOCK = ".lock"
# What systems of files say that have no locks.
_WITHOUT = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
_PAUSE = 0.02  # seconds
_held: set[int] = set()


@contextmanager
def locked(folder: Path, op: str) -> Iterator[None]:
    """Keep all others out of ``folder``, which must exist, or refuse with the name of who is there.

    The file stays, empty, as one that is deleted could be locked by two. NFS passes such locks on
    to the server, so other machines are kept out too.
    """
    file = open_own(folder / LOCK, os.O_RDWR | os.O_CREAT)
    owner = os.getpid()
    _held.add(file)
    try:
        _take(file, folder, op)
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        with suppress(OSError):  # who it is matters less than that it is locked
            os.ftruncate(file, 0)
            os.pwrite(file, f"{owner}\n{socket.gethostname()}\n{since}\n".encode(), 0)
        try:
            yield
        finally:
            if os.getpid() == owner:
                with suppress(OSError):
                    os.ftruncate(file, 0)
    finally:
        if os.getpid() == owner:
            _held.discard(file)
            os.close(file)


def check_free(folder: Path, op: str) -> None:
    """Refuse a folder that somebody trains in just now; nothing is written."""
    try:
        file = open_own(folder / LOCK, os.O_RDWR)
    except LinkedFileError:
        raise
    except OSError:  # nobody was ever there, or nobody may write
        return
    try:
        _take(file, folder, op, attempts=1, only_looks=True)
    finally:
        os.close(file)


def _take(file: int, folder: Path, op: str, attempts: int = 5, only_looks: bool = False) -> None:
    """Lock ``file``; several attempts, as it may be somebody who only looks that has it.

    All workers of a run look at once: they share the lock.
    """
    if sys.platform == "win32":  # where a folder is not protected
        return
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if only_looks else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _WITHOUT:
            text = f"{op}: {folder} cannot be locked ({error.strerror}); train there only once"
            warnings.warn(text, stacklevel=4)
            return
        if not isinstance(error, BlockingIOError | PermissionError):  # the latter says NFS
            raise
        if attempts > 1:
            time.sleep(_PAUSE)
            _take(file, folder, op, attempts - 1, only_looks)
            return
        requirement = "folder must be free of other processes that train there"
        raise value_error(op, requirement, folder=str(folder), **_owner(file)) from None


def _owner(file: int) -> dict[str, object]:
    """Who has the lock, as far as it has said so yet."""
    lines = os.pread(file, 4096, 0).decode(errors="replace").splitlines()
    if len(lines) != 3 or not lines[0].isdigit():
        return {"process": "unknown"}
    return {"process": int(lines[0]), "host": lines[1], "since": lines[2]}


def _close_in_child() -> None:
    """A fork must not keep the lock when the process that has it is gone."""
    for file in _held:
        with suppress(OSError):
            os.close(file)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)


TIME = "{time}"
NEW_ONES = f"overwrite=True moves the earlier run aside, folder='runs/{TIME}' is always new"


class RunFolder:
    """The paths in the folder of a run.

    Nothing is created or read before it is asked for.

    Parameters
    ----------
    path : str or Path
        The folder.

    Attributes
    ----------
    path : Path
        The folder.
    config, machine : Path
        ``config.toml``, the configuration, and ``machine.json``, versions and hardware. They are
        written when training begins.
    log, table : Path
        ``log.jsonl`` and ``log.csv``, which `Logging` writes.
    timing : Path
        ``timing.jsonl``, which `Timing` writes.
    checkpoints : Path
        The folder ``checkpoints``, see `Checkpoints`.

    See Also
    --------
    read_log : Read ``log.jsonl``.

    Examples
    --------
    >>> import extensor as ex
    >>> run = ex.train.RunFolder("runs/iris")
    >>> run.log.name, run.holds_a_run()
    ('log.jsonl', False)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = as_path("RunFolder", path)
        self.config = self.path / "config.toml"
        self.machine = self.path / "machine.json"
        self.log = self.path / "log.jsonl"
        self.table = self.path / "log.csv"
        self.timing = self.path / "timing.jsonl"
        self.checkpoints = self.path / "checkpoints"

    def holds_a_run(self) -> bool:
        """Return whether a run has trained here.

        Returns
        -------
        bool
            True if there is a checkpoint or a log that is not empty.
        """
        has_log = self.log.exists() and self.log.stat().st_size > 0
        return has_log or any(self.checkpoints.glob("*"))

    def is_run(self) -> bool:
        """Return whether a run began here.

        Returns
        -------
        bool
            True if there is a configuration, and the description of the machine or checkpoints.
        """
        return self.config.is_file() and (self.machine.is_file() or self.checkpoints.is_dir())

    def check_links(self) -> None:
        """Refuse symbolic links in the place of files and folders that a run appends to.

        Other files of a run are replaced whole, and a link with them. The folder itself may be a link.

        Raises
        ------
        OSError
            If the folder of checkpoints, the log or the timing is a symbolic link.
        """
        for path in (self.checkpoints, self.log, self.timing):
            if path.is_symlink():
                raise LinkedFileError(path)

    def write_descriptions(self, config: Mapping[str, Any]) -> None:
        """Write ``config.toml`` and ``machine.json``, and create the folder if needed.

        Parameters
        ----------
        config : mapping
            The configuration: strings, numbers, bools, lists and mappings.
        """
        make_folder("RunFolder", self.path)
        remove_partial(self.path)
        write_atomically(self.machine, (json.dumps(machine(), indent=2) + "\n").encode())
        write_atomically(self.config, as_toml(config).encode())


def machine() -> dict[str, Any]:
    """Versions and hardware, for those who read a report later."""
    from extensor import __version__

    return {
        "extensor": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": get_num_threads(),
        "command": redact_command(sys.argv),
    }


def named_folder(op: str, folder: Any) -> Path:
    """``folder``, with the date and time for ``{time}`` and a number after it if that is taken."""
    path = as_path(op, folder, name="folder")
    if TIME not in str(path):
        return path
    return _free_name(Path(str(path).replace(TIME, time.strftime("%Y-%m-%d_%H-%M-%S"))))


def create_new_folder(path: Path) -> Path:
    """A folder that was not there, made now: ``path`` or the next number that is free."""
    make_folder("fit", path.parent)
    for place in islice(_numbered_names(path), 999):
        try:
            place.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            text = f"fit: could not make the folder {place} ({error.strerror})"
            raise OSError(error.errno, text) from error
        return place
    raise value_error("fit", "folder must be new", folder=str(path))


def _free_name(path: Path) -> Path:
    return next(place for place in _numbered_names(path) if not place.exists())


def _numbered_names(path: Path) -> Iterator[Path]:
    """``path``, then with numbers from 2 on."""
    yield path
    yield from (path.with_name(f"{path.name}_{number}") for number in count(2))


def check_replaceable(op: str, run: RunFolder) -> None:
    """Refuse to move aside what is no run, or one that somebody trains in."""
    path = run.path
    if not path.exists():
        return
    if not path.is_dir() or not _is_earlier(run):
        inside = sorted(each.name for each in path.iterdir()) if path.is_dir() else [path.name]
        if inside not in ([], [LOCK]):
            requirement = "overwrite=True is for the folder of a run, or a new one"
            raise value_error(op, requirement, folder=str(path), files=inside[:3])
    here = Path.cwd()
    if path.resolve() in (here, *here.parents):
        requirement = "overwrite=True must not move the folder that this process works in"
        raise value_error(op, requirement, folder=str(path))
    check_free(path, op)


def folder_of_new_run(op: str, folder: Any, overwrite: bool) -> Path:
    """The folder that a new run is to have; with ``overwrite`` an earlier run may be in it."""
    run = RunFolder(named_folder(op, folder))
    if overwrite:
        check_replaceable(op, run)
    elif _is_earlier(run):
        resume = f"{op}(resume={str(run.path)!r})"
        requirement = f"folder must be new (continue with {resume}; {NEW_ONES})"
        raise value_error(op, requirement, folder=str(run.path))
    return run.path


def move_aside(op: str, run: RunFolder) -> Path | None:
    """Rename the folder of an earlier run; returns where it is now, None if there was none."""
    check_replaceable(op, run)
    if not _is_earlier(run):
        return None
    target = _free_name(run.path.with_name(f"{run.path.name}-earlier"))
    # A file that is open cannot be moved there.
    with nullcontext() if sys.platform == "win32" else locked(run.path, op):
        try:
            os.rename(run.path, target)
        except OSError as error:
            text = f"{op}: could not move {run.path} to {target} ({error.strerror})"
            raise OSError(error.errno, text) from error
    return target


def _is_earlier(run: RunFolder) -> bool:
    return run.is_run() or run.holds_a_run()


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


def in_order(config: Mapping[str, Any]) -> dict[str, Any]:
    """``config`` with sorted keys: equal configurations are equal bytes in a checkpoint.

    >>> from extensor.train.run_folder import in_order
    >>> in_order({"seed": 1, "optimizer": {"name": "Adam", "lr": 0.001}})
    {'optimizer': {'lr': 0.001, 'name': 'Adam'}, 'seed': 1}
    """
    return {
        key: in_order(value) if isinstance(value, Mapping) else value
        for key, value in sorted(config.items(), key=lambda entry: str(entry[0]))
    }
