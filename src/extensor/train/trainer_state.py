"""The content of a checkpoint: everything that a run needs to continue.

The whole state is checked before any part is loaded, so a checkpoint that does not fit changes
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from extensor import random
from extensor.core import entries
from extensor.data.dataset import SequentialSampler
from extensor.data.loader import DataLoader
from extensor.errors import type_error, value_error
from extensor.io.state_tree import is_plain
from extensor.optim import Optimizer
from extensor.random.generator import Generator
from extensor.random.philox import LIMIT
from extensor.train.callbacks import Callback
from extensor.train.data_adapters import Split
from extensor.train.logs import History
from extensor.train.metrics import Mean
from extensor.train.metrics.trainer_metrics import RunningMetrics
from extensor.train.run_folder import in_order

if TYPE_CHECKING:
    from extensor.train.step_strategy import LocalStep


class OptimizerOptions:
    """The options that an optimizer was created with, before training changed them.

    On resume three sets are compared: created then, created now, and the state. Where "created now"
    differs from "created then", the user asked for the change and it is applied; otherwise the
    state is kept, with the changes of schedules and callbacks.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer
        self._created: dict[str, Any] | None = None

    def note(self) -> None:
        """Remember the options before anything changes them."""
        if self._created is None:
            self._created = self._current()

    def as_created(self) -> dict[str, Any]:
        """The options at creation; the current ones before the first step."""
        return self._created or self._current()

    def _current(self) -> dict[str, Any]:
        return options_in(state_of(self._optimizer, Optimizer, False))

    def resumed_state(self, op: str, state: Mapping[str, Any]) -> dict[str, Any]:
        """The optimizer's part of ``state``, with the options that were changed since."""
        self.note()
        now = self._created or {}
        saved = entries.mapping(op, state["optimizer"], "optimizer")
        then = options_in(entries.mapping(op, state.get("options", now), "options"))
        for key, value in then.items():
            if not is_plain(value):
                kind = type(value).__name__
                raise type_error(op, f"options.{key} must be a plain value", type=kind)
        kept = {key: value for key, value in saved.items() if key not in then or key in now}
        # A group that was added since has its options in the checkpoint alone.
        changed = {key: x for key, x in now.items() if key in then or key not in saved}
        return kept | {key: value for key, value in changed.items() if then.get(key) != value}


def options_in(state: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the groups in an optimizer's state, as plain values."""
    return {
        key: entries.item(value)
        for key, value in state.items()
        if key.startswith("groups.") and not key.endswith(".params")
    }


def state_of(owner: Any, kind: Any, copied: bool) -> dict[str, Any]:
    """The state of ``owner``, without copying its arrays if ``kind`` wrote its state_dict."""
    is_overridden = type(owner).state_dict is not kind.state_dict
    return owner.state_dict() if is_overridden else owner._state(copied)  # type: ignore[no-any-return]


_OP = "Trainer.load_state_dict"
_PROGRESS = ("epoch", "step", "batch", "stopped", "running_loss")
_ENTRIES = (
    "model",
    "optimizer",
    "schedules",
    "scaler",
    "ema",
    "generators",
    "loader",
    "progress",
    "history",
    "callbacks",
    "config",
)


class TrainerState:
    """The state of a run: progress, history, metrics of this epoch, and the position in the data."""

    def __init__(
        self,
        take_step: LocalStep,
        callbacks: Sequence[Callback],
        running_metrics: RunningMetrics,
        config: Mapping[str, Any] | None,
    ) -> None:
        self.take_step = take_step
        self.callbacks = list(callbacks)
        self.running_metrics = running_metrics
        self.config = {} if config is None else dict(entries.mapping("Trainer", config, "config"))
        self.preparation: dict[str, Any] | None = None  # statistics of the data set
        self.epoch = 0  # completed ones
        self.step = 0
        self.batch = 0  # completed ones of this epoch
        self.running_loss = Mean()
        self.history = History()
        self.split: Split | None = None  # if validation data were drawn at random
        self.stopped = False
        self.loader: Any = None
        self.waiting: dict[str, Any] = {}  # the part of a checkpoint that fit loads
        self._validation: Any = None

    def continue_with(self, train: Any, validation: Any) -> None:
        """Restore loaders and random numbers from the checkpoint, or from the last `fit`.

        Parameters
        ----------
        train : loader
            The batches to train on.
        validation : loader or None
            The batches to validate with.
        """
        self._validation = validation
        if self.waiting:
            # Not when the checkpoint is loaded: models and loaders that are made after resume()
            # draw random numbers.
            if self.waiting["loader"]:
                train.load_state_dict(self.waiting["loader"])
            generator, state = self._validation_generator(), self.waiting["validation"]
            # One generator may serve both: within an epoch the training order is drawn again first.
            is_drawn_again = self.batch and generator is getattr(train, "generator", None)
            if generator is not None and state is not None and not is_drawn_again:
                generator.set_state(state)
            random.set_state(self.waiting["generator"])
            self.waiting = {}
        elif self.batch and train is self.loader and hasattr(train, "state_dict"):
            train.load_state_dict(train.state_dict())
        elif self.batch:
            self.begin_epoch()
        self.loader = train

    def begin_epoch(self) -> None:
        """Forget the batches of the epoch so far."""
        self.batch = 0
        self.running_loss.reset()
        self.running_metrics.reset()

    def _validation_generator(self) -> Generator | None:
        """The generator of the validation data, if their order or transforms are random."""
        loader = self._validation
        if not isinstance(loader, DataLoader):
            return None
        is_fixed = isinstance(loader.sampler, SequentialSampler) and not loader.transforms
        return None if is_fixed else loader.generator

    def _state(self, copied: bool) -> dict[str, Any]:
        """Everything that the rest of the run depends on, without times and paths."""
        more: dict[str, Any] = {}
        # Only if they are in use, so that checkpoints of other runs do not change.
        if self.running_metrics.given:
            more["train_metrics"] = self.running_metrics.state_dict()
        if (generator := self._validation_generator()) is not None:
            more["validation"] = {"generator": list(generator.get_state())}
        if self.split is not None:
            more["split"] = self.split._asdict()
        if self.preparation is not None:
            more["preparation"] = self.preparation
        return {
            **self.take_step.state_dict(copied),
            "generators": {"default": list(random.get_state())},
            "loader": self.loader.state_dict() if hasattr(self.loader, "state_dict") else {},
            "progress": {
                **{key: getattr(self, key) for key in _PROGRESS[:4]},
                "running_loss": self.running_loss.state_dict(),
            },
            "history": {str(i): record for i, record in enumerate(self.history)},
            "callbacks": {
                name: callback.state_dict()
                for name, callback in zip(self._callback_names(), self.callbacks, strict=True)
            },
            "config": in_order(self.config),
            **more,
        }

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of `state_dict`, whose arrays may be those of the model.

        Returns
        -------
        dict of str to object
            The state, in memory of its own.
        """
        return deepcopy(self._state(copied=False))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` returned.

        Random numbers and the loader take theirs over when `fit` begins.

        Parameters
        ----------
        state : mapping of str to object
            The state.

        Raises
        ------
        ValueError, TypeError
            If the state does not fit the trainer. Nothing is changed then.
        """
        state = entries.mapping(_OP, state)
        for key in _ENTRIES:
            if key not in state:
                raise value_error(_OP, "an entry is missing", key=key)
        saved = list(entries.mapping(_OP, state["callbacks"], "callbacks"))
        if saved != (names := self._callback_names()):
            raise value_error("Trainer", f"callbacks must be {saved}", callbacks=names)
        progress = entries.with_keys(_OP, state["progress"], _PROGRESS, "progress")
        validation = state.get("validation")  # their generator, if they need one
        if validation is not None:
            validation = _generator_in(validation, "validation", "generator")
        checked: dict[str, Any] = {
            **{key: entries.count(_OP, key, progress[key]) for key in _PROGRESS[:3]},
            "stopped": entries.truth(_OP, "stopped", progress["stopped"]),
            "history": History(_records(state["history"])),
            "split": _split(state.get("split")),
            "waiting": {
                "generator": _generator_in(state["generators"], "generators", "default"),
                "loader": dict(entries.mapping(_OP, state["loader"], "loader")),
                "validation": validation,
            },
        }
        commits = [
            self.take_step.prepared_state(_OP, state),
            self.running_loss._prepared_state(progress["running_loss"], _OP, "running_loss"),
            self.running_metrics.prepared_state(
                _OP, state.get("train_metrics", {}), checked["batch"]
            ),
        ]
        _load_callbacks(self.callbacks, state["callbacks"])
        for commit in commits:
            commit()
        vars(self).update(checked)

    def _callback_names(self) -> list[str]:
        return [f"{i}-{type(callback).__name__}" for i, callback in enumerate(self.callbacks)]


def _records(history: Any) -> list[dict[str, Any]]:
    table = entries.mapping(_OP, history, "history")
    table = entries.with_keys(_OP, table, [str(i) for i in range(len(table))], "history")
    records = [dict(entries.mapping(_OP, table[str(i)], f"history.{i}")) for i in range(len(table))]
    for i, record in enumerate(records):
        for key, value in record.items():
            if not is_plain(value):
                kind = type(value).__name__
                raise type_error(_OP, f"history.{i}.{key} must be a plain value", type=kind)
    return records


def _generator_in(table: Any, name: str, key: str) -> Any:
    """The state of the one generator in a table of the checkpoint."""
    return _generator_state(f"{name}.{key}", entries.with_keys(_OP, table, [key], name)[key])


def _generator_state(name: str, words: Any) -> Any:
    is_state = isinstance(words, list | tuple) and len(words) == 2
    if not is_state or not all(entries.is_integer(x) and 0 <= x < LIMIT for x in words):
        raise value_error(_OP, f"{name} must be two integers from 0 to 2**64 - 1")
    return words


def _split(state: Any) -> Split | None:
    """How the validation data were drawn, or None."""
    if state is None:
        return None
    fields = entries.with_keys(_OP, state, Split._fields, "split")
    fraction = float(entries.number(_OP, "split.fraction", fields["fraction"]))
    if not 0 < fraction < 1:
        raise value_error(_OP, "split.fraction must be between 0 and 1", fraction=fraction)
    samples = entries.count(_OP, "split.samples", fields["samples"])
    seed, counter = _generator_state("split.generator", fields["generator"])
    return Split(fraction, samples, [int(seed), int(counter)])


def _load_callbacks(callbacks: Sequence[Callback], states: Mapping[str, Any]) -> None:
    """Load all or none: a user's callback may change before it finds that a state does not fit."""
    before = [callback.state_dict() for callback in callbacks]
    done = 0
    try:
        for callback, state in zip(callbacks, states.values(), strict=True):
            done += 1
            callback.load_state_dict(state)
    except BaseException:
        for callback, state in zip(callbacks[:done], before[:done], strict=True):
            with suppress(Exception):
                callback.load_state_dict(state)
        raise
