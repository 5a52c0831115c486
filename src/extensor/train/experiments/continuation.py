"""Going on with a run: from which checkpoint, what may be changed, and how that is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from extensor.errors import value_error
from extensor.train.callbacks import EarlyStopping
from extensor.train.checkpoints import Checkpoints
from extensor.train.experiments.config import Config, read_config
from extensor.train.experiments.runs import found_checkpoint, read_checkpoint
from extensor.train.experiments.user_functions import check_trust
from extensor.train.experiments.wording import Wording
from extensor.train.experiments.writing import keep_findings
from extensor.train.run import RunFolder, in_order
from extensor.train.trainer import Trainer

# Keys and tables that a run keeps: with others it would be another run, or its state would not fit.
_KEPT = (
    *("seed", "micro_batches", "sync_batch_norm", "data", "model", "loss"),
    "loss_reduction",
    *("optimizer.name", "schedule.name", "schedule.every"),
)
# These are only read when the first step is taken.
_AT_FIRST = (
    "optimizer.initial_accumulator_value",
    "schedule.automatic",
    "schedule.last_epoch",
)
# Where the data lie and how many threads read them does not matter.
_FREE = ("data.root", "data.workers")

Changes = dict[str, tuple[Any, Any]]  # the key, and its value before and after; None if it has none


class Continued(NamedTuple):
    """A run to go on with; ``state`` is None if it was killed before its first checkpoint.

    ``seen`` is the stamp of the checkpoints as they were found.
    """

    config: Config
    state: dict[str, Any] | None
    changes: Changes
    seen: Any


def continued(
    run: RunFolder,
    checkpoint: str | Path,
    changes: Iterable[tuple[str, Any]],
    wording: Wording,
    trust: bool,
) -> Continued:
    """The configuration and the checkpoint to go on with, or an error if they do not fit.

    What the configuration says now is compared with what the checkpoint was made with, so it does
    not matter whether it was changed by the caller or in the file.
    """
    seen = Checkpoints(run.checkpoints).stamp()
    made = list(changes)
    config = read_config(run.config, made)
    check_trust(config, run.config, trust, wording, [key for key, _ in made])
    if checkpoint == "latest" and seen is None:
        config.pop("resumed", None)
        return Continued(config, None, {}, seen)
    state = read_checkpoint(run, found_checkpoint(run, checkpoint, wording), wording)
    stored = state["config"]
    changed = differences(stored, config)
    _check(changed, stored, config, run.path, wording)
    check_effect(changed, config)
    _check_epochs(config["epochs"], state["progress"], wording)
    config["resumed"] = dict(stored.get("resumed", {}))
    if changed:
        config["resumed"][f"step {state['progress']['step']}"] = {
            key: {"before": before, "after": after} for key, (before, after) in changed.items()
        }
    config["resumed"] = in_order(config["resumed"])  # as the next checkpoint has it
    if not config["resumed"]:
        del config["resumed"]
    return Continued(config, state, changed, seen)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Changes:
    """The keys whose values differ, with both values.

    >>> from extensor.train.experiments.continuation import differences
    >>> differences({"epochs": 2, "ema": {"decay": 0.1}}, {"epochs": 2, "ema": {"decay": 0.2}})
    {'ema.decay': (0.1, 0.2)}
    """
    first, second = _flat(before), _flat(after)
    return {
        key: (first.get(key), second.get(key))
        for key in {**first, **second}
        if first.get(key) != second.get(key)
    }


def _flat(table: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            result |= _flat(value, f"{path}{key}.")
        else:
            result[path + key] = value
    return {key: value for key, value in result.items() if not key.startswith("resumed.")}


def _check(
    changes: Changes, stored: Config, config: Config, folder: Path, wording: Wording
) -> None:
    """Refuse what would make another run of it."""
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


def check_effect(changes: Changes, config: Config) -> None:
    """Refuse to set what the schedule sets anew at each step."""
    schedule = config.get("schedule", {})
    if schedule.get("name") != "OneCycleLR":
        return
    decided = {"optimizer.lr": "schedule.max_lr"}
    if schedule.get("cycle_momentum", True):
        momenta = "schedule.base_momentum and schedule.max_momentum"
        decided["optimizer.momentum"] = momenta
        before, after = changes.get("optimizer.betas", (None, None))
        if before and after and before[0] != after[0]:
            decided["optimizer.betas"] = momenta
    for key, instead in decided.items():
        if key in changes:
            requirement = f"{key} has no effect under OneCycleLR; set {instead}"
            raise value_error("config", requirement, **{key.rpartition(".")[2]: changes[key][1]})


def _check_epochs(epochs: int, progress: Mapping[str, Any], wording: Wording) -> None:
    over = progress["epoch"] + (progress["batch"] > 0)
    if epochs < over:
        requirement = f"epochs must be {over} or more, as the run is in epoch {over}"
        raise value_error(wording.resume, requirement, epochs=epochs)


def load_into(trainer: Trainer, found: Continued) -> None:
    """Bring ``trainer`` to where the checkpoint left off; callbacks that are new begin now."""
    state = found.state
    if state is None:
        trainer.resume()
        keep_findings(trainer)
        return
    saved = {name.partition("-")[2]: value for name, value in state["callbacks"].items()}
    callbacks = {
        f"{i}-{type(callback).__name__}": saved.get(type(callback).__name__, callback.state_dict())
        for i, callback in enumerate(trainer.callbacks)
    }
    # Checkpoints of the first release do not say what the optimizer was made with.
    options = {"options": state["optimizer"], **state}
    trainer.load_state_dict({**options, "callbacks": callbacks})
    trainer.seen = found.seen
    if any(_among(key, ("epochs", "early_stopping")) for key in found.changes):
        # Somebody wants more of a run that had stopped by itself.
        trainer.stopped = False
        for callback in trainer.callbacks:
            if isinstance(callback, EarlyStopping):
                callback.bad = 0
