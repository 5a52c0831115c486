"""Stored runs: their folders and checkpoints, and how they are resumed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from extensor.core import entries
from extensor.errors import value_error
from extensor.errors.messages import RUN_NOT_FOUND, known
from extensor.experiments.factories import keep_findings
from extensor.experiments.spec import (
    Config,
    ExperimentSpec,
    check_effect,
    read_config,
    stored_config,
)
from extensor.experiments.user_functions import check_trust
from extensor.io.paths import as_path, explain_unreadable, is_there
from extensor.io.regular_files import check_regular
from extensor.io.state_file import DamagedFileError, load
from extensor.train.callbacks import EarlyStopping
from extensor.train.checkpoint_files import Checkpoints
from extensor.train.run_folder import RunFolder, in_order
from extensor.train.trainer import Trainer

RUNS = Path("runs")
SWEEP = "sweep.toml"  # in the folder of a sweep: its settings
LONGEST = 255  # bytes in the name of a folder, on all usual file systems
_PARTS = {"model", "optimizer", "schedules", "ema", "progress", "callbacks", "config"}


class Wording(NamedTuple):
    """The words of a caller: ops that errors begin with, and calls that errors advise."""

    resume: str
    checkpoint: str
    begin: str  # a new run with another value of an entry
    choose: str  # another checkpoint
    trust: str  # consent to run the functions that a stored run names


PYTHON = Wording(
    resume="experiment",
    checkpoint="checkpoint",
    begin="experiment('{folder}/config.toml', {{'{key}': ...}})",
    choose="checkpoint='{name}'",
    trust="trust=True",
)


def is_too_long(name: str) -> bool:
    """Whether a part of ``name`` has more bytes than a folder's may have."""
    return any(len(os.fsencode(part)) > LONGEST for part in name.split("/"))


def is_stored(source: str | Path | None) -> bool:
    """Whether a configuration lies in the folder of a run or of a sweep, at any depth.

    Where a link lies counts, and where it leads to.
    """
    if source is None:
        return False
    path = as_path("config", source)
    places = (Path(os.path.abspath(path)), Path(os.path.realpath(path)))
    folders = {folder for place in places for folder in place.parents}
    return any(RunFolder(each).is_run() or (each / SWEEP).is_file() for each in folders)


def find_run(name: str | Path) -> RunFolder:
    """The folder called ``name``, or ``runs/<name>``."""
    if not isinstance(name, str):
        name = str(as_path("run", name, name="run"))
    is_possible = name and "\0" not in name and not is_too_long(name)
    places = [RunFolder(path) for path in (Path(name), RUNS / name)] if is_possible else []
    for run in places:
        if run.is_run():
            return run
    for run in places:
        _check_damaged(run)
    latest = sorted(path.parent.name for path in RUNS.glob("*/config.toml"))[-3:]
    raise RUN_NOT_FOUND.error(known(*latest) if latest else "", run=name)


def _check_damaged(run: RunFolder) -> None:
    """Explain why a folder that looks like a run is none."""
    if is_there(run.config) and (run.machine.is_file() or run.checkpoints.is_dir()):
        with explain_unreadable("run", run.config):
            check_regular(run.config)
    if run.checkpoints.is_dir() and not run.config.exists():
        requirement = f"the folder must have the run's {run.config.name}, which is missing"
        raise value_error("run", requirement, run=str(run.path))


def find_checkpoint(
    run: RunFolder, name: str | Path | None = None, wording: Wording = PYTHON
) -> Path:
    """The checkpoint called ``name`` in a run, its latest, or a file of that name.

    Without a name it is the best, if the run keeps one to be handed on, otherwise the latest.
    """
    if name is None:
        best = run.checkpoints / "best.safetensors"
        keeps = best.is_file() and "early_stopping" in stored_config(run.config)
        name = "best" if keeps else "latest"
    if not isinstance(name, str):
        name = str(as_path(wording.checkpoint, name, name="checkpoint"))
    if name == "latest":
        path = Checkpoints(run.checkpoints).latest()
        if path is None:
            raise value_error("run", "there must be a checkpoint", run=str(run.path))
        return path
    for path in (run.checkpoints / f"{name}.safetensors", Path(name)):
        if path.is_file():
            return path
    known = sorted(path.stem for path in run.checkpoints.glob("*.safetensors"))
    raise value_error(wording.checkpoint, f"must be latest or one of {known}", checkpoint=name)


def read_checkpoint(run: RunFolder, path: Path, wording: Wording = PYTHON) -> dict[str, Any]:
    """The state in a checkpoint. The error for a damaged one names a good one."""
    try:
        state = load(path, foreign=False)
    except DamagedFileError as error:
        good = Checkpoints(run.checkpoints).latest_good()
        if good is None:
            raise
        advice = wording.choose.format(name=good.stem)
        raise DamagedFileError(f"{error}; take a good one: {advice}") from None
    if not _PARTS.issubset(state):
        raise value_error("checkpoint", "file must be a checkpoint of a run", path=str(path))
    return state


# Keys and tables that a run keeps: with others it would be another run, or its state would not fit.
_KEPT = (
    *("seed", "micro_batches", "sync_batch_norm", "data", "model", "loss", "loss_reduction"),
    *("optimizer.name", "schedule.name", "schedule.every"),
)
# These are only read when the first step is taken.
_AT_FIRST = ("optimizer.initial_accumulator_value", "schedule.automatic", "schedule.last_epoch")
# The place of the data and the number of reading threads do not matter.
_FREE = ("data.root", "data.workers")


Changes = dict[str, tuple[Any, Any]]  # the key, and its value before and after; None if it has none


class Resumption(NamedTuple):
    """A run to resume; ``state`` is None if it was killed before its first checkpoint.

    ``seen`` is the stamp of the checkpoints as they were found.
    """

    spec: ExperimentSpec
    state: dict[str, Any] | None
    changes: Changes
    seen: Any


def read_resumption(
    run: RunFolder,
    checkpoint: str | Path,
    changes: Iterable[tuple[str, Any]],
    wording: Wording,
    trust: bool,
) -> Resumption:
    """The configuration and the checkpoint to resume from, or an error if they do not fit.

    The present configuration is compared with that in the checkpoint, so a change in the file has the
    same effect as one by the caller.
    """
    seen = Checkpoints(run.checkpoints).stamp()
    changes = list(changes)
    config = read_config(run.config, changes)
    check_trust(config, run.config, trust, wording, [key for key, _ in changes])
    if checkpoint == "latest" and seen is None:
        config.pop("resumed", None)
        return Resumption(ExperimentSpec.from_dict(config), None, {}, seen)
    state = read_checkpoint(run, find_checkpoint(run, checkpoint, wording), wording)
    stored = state["config"]
    changed = differences(stored, config)
    _check_kept(changed, stored, config, run.path, wording)
    check_effect(changed, ExperimentSpec.from_dict(config))
    over = state["progress"]["epoch"] + (state["progress"]["batch"] > 0)
    if config["epochs"] < over:
        requirement = f"epochs must be {over} or more, as the run is in epoch {over}"
        raise value_error(wording.resume, requirement, epochs=config["epochs"])
    config["resumed"] = dict(stored.get("resumed", {}))
    if changed:
        config["resumed"][f"step {state['progress']['step']}"] = {
            key: {"before": before, "after": after} for key, (before, after) in changed.items()
        }
    config["resumed"] = in_order(config["resumed"])  # as the next checkpoint has it
    if not config["resumed"]:
        del config["resumed"]
    return Resumption(ExperimentSpec.from_dict(config), state, changed, seen)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Changes:
    """The keys whose values differ, with both values.

    >>> from extensor.experiments.stored_runs import differences
    >>> differences({"epochs": 2, "ema": {"decay": 0.1}}, {"epochs": 2, "ema": {"decay": 0.2}})
    {'ema.decay': (0.1, 0.2)}
    """
    first, second = flat(before), flat(after)
    return {
        key: (first.get(key), second.get(key))
        for key in {**first, **second}
        if first.get(key) != second.get(key)
    }


def flat(config: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a configuration by their paths, without the record of changes."""
    return {key: x for key, x in entries.flat(config).items() if not key.startswith("resumed.")}


def _check_kept(
    changes: Changes, stored: Config, config: Config, folder: Path, wording: Wording
) -> None:
    """Refuse changes that would make it another run."""
    refused = [key for key in changes if _among(key, (*_KEPT, *_AT_FIRST)) and key not in _FREE]
    if ("ema" in stored) != ("ema" in config):
        refused += [key for key in changes if _among(key, ("ema",))] or ["ema"]
    for key in refused:
        before, after = changes.get(key, ("ema" in stored, "ema" in config))
        kept = "unset" if before is None else repr(before)
        advice = wording.begin.format(folder=folder, key=key)
        requirement = f"{key} must stay {kept} in this run (for a new run: {advice})"
        raise value_error(wording.resume, requirement, **{key.rpartition(".")[2]: after})


def _among(key: str, names: Iterable[str]) -> bool:
    return any(key == name or key.startswith(f"{name}.") for name in names)


def load_into(trainer: Trainer, resumption: Resumption) -> None:
    """Bring ``trainer`` to where the checkpoint left off; callbacks that are new begin now."""
    state = resumption.state
    if state is None:
        trainer.resume()
        keep_findings(trainer)
        return
    saved = {name.partition("-")[2]: value for name, value in state["callbacks"].items()}
    callbacks = {
        f"{i}-{type(callback).__name__}": saved.get(type(callback).__name__, callback.state_dict())
        for i, callback in enumerate(trainer.callbacks)
    }
    # Checkpoints of the first release lack the options of the optimizer.
    options = {"options": state["optimizer"], **state}
    trainer.load_state_dict({**options, "callbacks": callbacks})
    trainer.storage.seen = resumption.seen
    if any(_among(key, ("epochs", "early_stopping")) for key in resumption.changes):
        # The run had stopped early, and is now meant to continue.
        trainer.stopped = False
        for callback in trainer.callbacks:
            if isinstance(callback, EarlyStopping):
                callback.bad = 0
