"""From a configuration to an experiment, from a run to its model: what users call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from extensor.errors import arguments, type_error, value_error
from extensor.train.callback import Callback
from extensor.train.checks import checked_callbacks
from extensor.train.experiments.assembly import Experiment, assembled
from extensor.train.experiments.config import read_config
from extensor.train.experiments.continuation import check_effect, continued, load_into
from extensor.train.experiments.kinds import with_kind
from extensor.train.experiments.runs import found_checkpoint, found_run, is_stored
from extensor.train.experiments.trained import TrainedModel
from extensor.train.experiments.user_functions import check_trust
from extensor.train.experiments.wording import PYTHON, Wording
from extensor.train.folders import NEW_ONES, TIME, check_replaceable, named_folder
from extensor.train.lock import check_free
from extensor.train.run import RunFolder

LATEST = "latest"


def experiment(
    config: str | Path | Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    folder: str | Path | None = None,
    overwrite: bool = False,
    resume: str | Path | None = None,
    checkpoint: str | Path = LATEST,
    callbacks: Sequence[Callback] | None = None,
    trust: bool = False,
) -> Experiment:
    """Build what ``config`` describes, ready to :meth:`~Experiment.fit`: what ``extensor train`` does.

    ``config`` is a TOML file or a dict of the same tables; without one LeNet-5 reads the digits that
    come with the library. ``changes`` sets entries of it, ``{"optimizer.lr": 0.01}``; None removes
    one. With a ``folder``, which must be new, the run is written there; ``{time}`` in its name is the
    date and time, and with ``overwrite`` an earlier run there is moved aside when training begins.
    ``callbacks`` take the place of the progress on standard error; those that write into the folder
    are there anyway.

    ``resume`` is the folder of a run, or its name in ``runs/``, to go on with from ``checkpoint``: the
    latest, the name of one, or a file. What ``changes`` sets takes effect from there on, or is
    refused if with it it would be another run.

    A configuration may name functions as ``module:function``, and they run: it is a program. Those in
    the folder of a run, which may come from somebody else, run only with ``trust``.

    Everything is checked, and one sample passed through model and loss, before anything is written.
    Random numbers begin with the seed of the configuration.

    >>> import numpy as np, extensor as ex
    >>> config = {
    ...     "epochs": 3,
    ...     "data": {"name": "digits", "normalize": {"mean": 5, "std": 6}},
    ...     "model": {"name": "mlp", "sizes": [64, 32, 10]},
    ... }
    >>> experiment = ex.train.experiment(config, {"optimizer.lr": 0.01}, callbacks=[])
    >>> history = experiment.fit()
    >>> history[-1]["validation_accuracy"] > 0.9
    True
    >>> experiment.predict(np.zeros((2, 1, 8, 8))).shape
    (2, 10)
    >>> ex.train.experiment(config, {"optimizer.lrr": 0.01})
    Traceback (most recent call last):
    ValueError: config: unknown key (did you mean 'optimizer.lr'?), got key='optimizer.lrr'
    """
    made = _checked_changes("experiment", changes)
    overwrite = arguments.flag("experiment", "overwrite", overwrite)
    trust = arguments.flag("experiment", "trust", trust)
    if callbacks is not None:
        callbacks = checked_callbacks(callbacks, "experiment")
    if resume is not None:
        if config is not None or folder is not None or overwrite:
            requirement = "resume is of a run that has a configuration and a folder"
            raise value_error("experiment", requirement, resume=str(resume))
        return resumed_experiment(found_run(resume), checkpoint, made, PYTHON, callbacks, trust)
    if not isinstance(checkpoint, str) or checkpoint != LATEST:
        requirement = "checkpoint is for resume, which says of which run"
        raise value_error("experiment", requirement, checkpoint=arguments.briefly(checkpoint))
    whole = read_config(config, made)
    if not isinstance(config, Mapping) and is_stored(config):
        check_trust(whole, str(config), trust, PYTHON, [key for key, _ in made])
    whole = with_kind(whole)
    whole.pop("resumed", None)  # of the run whose configuration this was
    check_effect({key: (None, value) for key, value in made}, whole)
    if folder is None and "checkpoints" in whole:
        requirement = "checkpoints need a folder, or changes={'checkpoints': None}"
        raise value_error("experiment", requirement, folder=None)
    if folder is None and overwrite:
        raise value_error("experiment", "overwrite needs a folder", folder=None)
    path = None if folder is None else _new_folder(folder, overwrite)
    found = assembled(whole, path, callbacks)
    found.trainer.overwrite = overwrite
    found.trainer.is_timed = TIME in str(folder)
    return found


def _checked_changes(op: str, changes: Any) -> list[tuple[str, Any]]:
    if changes is None:
        return []
    if not isinstance(changes, Mapping):
        requirement = "changes must be a dict of entries and values, as {'optimizer.lr': 0.01}"
        raise type_error(op, requirement, changes=arguments.briefly(changes))
    for key in changes:
        if not isinstance(key, str) or not all(key.split(".")):
            requirement = "changes must name entries, as {'optimizer.lr': 0.01}"
            raise value_error(op, requirement, key=arguments.briefly(key))
    return list(changes.items())


def _new_folder(folder: Any, overwrite: bool) -> Path:
    path = named_folder("experiment", folder)
    run = RunFolder(path)
    if overwrite:
        check_replaceable("experiment", run)
    elif run.is_run() or run.holds_a_run():
        requirement = (
            f"folder must be new (go on with experiment(resume={str(path)!r}); {NEW_ONES})"
        )
        raise value_error("experiment", requirement, folder=str(path))
    return path


def resumed_experiment(
    run: RunFolder,
    checkpoint: str | Path,
    changes: Iterable[tuple[str, Any]],
    wording: Wording,
    callbacks: Sequence[Callback] | None = None,
    trust: bool = False,
) -> Experiment:
    """An experiment that goes on with ``run``, for those who speak as ``wording`` does."""
    check_free(run.path, wording.resume)
    found = continued(run, checkpoint, changes, wording, trust)
    learnt = None if found.state is None else found.state.get("preparation")
    made = assembled(found.config, run.path, callbacks, learnt=learnt, is_new=False)
    load_into(made.trainer, found)
    return replace(made, changes=found.changes)


def load_trained(
    run: str | Path,
    checkpoint: str | Path | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    trust: bool = False,
) -> TrainedModel:
    """The model that a run has trained, for predictions and to be measured; nothing is written.

    ``run`` is a folder, or its name in ``runs/``; ``checkpoint`` "latest", the name of one, or a
    file; without it the best, if the run stops early, otherwise the latest. ``changes`` sets entries
    of the configuration, ``{"data.test": "other.npz"}``. Averages of the parameters, if the run has
    them, are what is loaded. Random numbers stay as they are. With ``trust`` functions that the run's
    configuration names as ``module:function`` may run.
    """
    made = _checked_changes("load_trained", changes)
    trust = arguments.flag("load_trained", "trust", trust)
    folder = found_run(run)
    path = found_checkpoint(folder, checkpoint)
    config = read_config(folder.config, made)
    return TrainedModel(folder, config, path, trust=trust, changes=[key for key, _ in made])
