"""The state of a trainer, looked through before anything of it is taken over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from extensor.core import entries
from extensor.errors import type_error, value_error
from extensor.io.tree import is_plain
from extensor.random.philox import LIMIT
from extensor.train.callback import Callback
from extensor.train.history import History


class Split(NamedTuple):
    """The part of the samples that are validation data, and the generator's state that chose them."""

    fraction: float
    samples: int
    generator: list[int]


_PROGRESS = ("epoch", "step", "batch", "stopped", "running_loss")
_STATE = (
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


def checked_progress(op: str, state: Any, callbacks: Sequence[str]) -> dict[str, Any]:
    """The attributes that a trainer with such callbacks takes from ``state``.

    The parts that belong to the model, the optimizer and the like are only known to be there.
    """
    state = entries.mapping(op, state)
    for key in _STATE:
        if key not in state:
            raise value_error(op, "an entry is missing", key=key)
    names = list(entries.mapping(op, state["callbacks"], "callbacks"))
    if names != list(callbacks):
        raise value_error("Trainer", f"callbacks must be {names}", callbacks=list(callbacks))
    progress = entries.with_keys(op, state["progress"], _PROGRESS, "progress")
    return {
        **{key: entries.count(op, key, progress[key]) for key in _PROGRESS[:3]},
        "stopped": entries.truth(op, "stopped", progress["stopped"]),
        "running_loss": progress["running_loss"],
        "history": History(_records(op, state["history"])),
        "split": _split(op, state.get("split")),
        "_restored": {
            "generators": _generators(op, state["generators"]),
            "loader": dict(entries.mapping(op, state["loader"], "loader")),
            "validation": _validation(op, state.get("validation")),
        },
    }


def _records(op: str, history: Any) -> list[dict[str, Any]]:
    records = entries.mapping(op, history, "history")
    records = entries.with_keys(op, records, [str(i) for i in range(len(records))], "history")
    found = [
        dict(entries.mapping(op, records[str(i)], f"history.{i}")) for i in range(len(records))
    ]
    for i, record in enumerate(found):
        for key, value in record.items():
            if not is_plain(value):
                kind = type(value).__name__
                raise type_error(op, f"history.{i}.{key} must be a plain value", type=kind)
    return found


def _generators(op: str, state: Any) -> dict[str, Any]:
    words = entries.with_keys(op, state, ["default"], "generators")["default"]
    return {"default": _words(op, "generators.default", words)}


def _words(op: str, name: str, words: Any) -> Any:
    """The state of a generator."""
    is_state = isinstance(words, list | tuple) and len(words) == 2
    if not is_state or not all(entries.is_integer(x) and 0 <= x < LIMIT for x in words):
        raise value_error(op, f"{name} must be two integers from 0 to 2**64 - 1")
    return words


def _validation(op: str, state: Any) -> Any:
    """The state of the generator of the validation data, if they need one."""
    if state is None:
        return None
    given = entries.with_keys(op, state, ["generator"], "validation")
    return _words(op, "validation.generator", given["generator"])


def _split(op: str, state: Any) -> Split | None:
    """How the validation data were chosen, if by chance."""
    if state is None:
        return None
    given = entries.with_keys(op, state, Split._fields, "split")
    fraction = float(entries.number(op, "split.fraction", given["fraction"]))
    if not 0 < fraction < 1:
        raise value_error(op, "split.fraction must be between 0 and 1", fraction=fraction)
    samples = entries.count(op, "split.samples", given["samples"])
    seed, counter = _words(op, "split.generator", given["generator"])
    return Split(fraction, samples, [int(seed), int(counter)])


def load_callbacks(callbacks: Sequence[Callback], states: Mapping[str, Any]) -> None:
    """All or none; those of users are not known to check before they change."""
    kept = [callback.state_dict() for callback in callbacks]
    done = 0
    try:
        for callback, state in zip(callbacks, states.values(), strict=True):
            done += 1
            callback.load_state_dict(state)
    except BaseException:
        for callback, state in zip(callbacks[:done], kept[:done], strict=True):
            with suppress(Exception):
                callback.load_state_dict(state)
        raise
