"""The parameters that both estimators have, checked when they are fitted."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from extensor import optim, random
from extensor.errors import arguments, type_error, value_error
from extensor.optim import Optimizer
from extensor.random import Generator
from extensor.train.experiments.config import nearest

OPTIMIZERS = {
    name.lower(): x
    for name, x in vars(optim).items()
    if isinstance(x, type) and issubclass(x, Optimizer) and x is not Optimizer
}
_FEWEST, _MOST, _BATCHES = 32, 256, 64  # what "auto" aims at: samples of a batch, and batches


class Options(NamedTuple):
    """Parameters that are of the kind and in the range that is meant."""

    hidden: tuple[int, ...]
    epochs: int
    batch_size: int | None  # None is for as the samples are many
    optimizer: Callable[..., Any]
    lr: float
    weight_decay: float
    dropout: float
    early_stopping: bool
    validation_fraction: float
    patience: int
    scale: bool
    verbose: bool
    warm_start: bool

    def batch_of(self, samples: int) -> int:
        """How many of so many samples are in a batch."""
        automatic = min(max(samples // _BATCHES, _FEWEST), _MOST)
        return min(self.batch_size or automatic, samples)


def checked_options(op: str, given: Mapping[str, Any]) -> Options:
    """The options of an estimator called ``op``, or an error that names the wrong one."""
    batch = given["batch_size"]
    automatic = isinstance(batch, str) and batch == "auto"
    if isinstance(batch, str) and not automatic:
        raise value_error(op, "batch_size must be 'auto' or an integer", batch_size=batch)
    dropout = arguments.number(op, "dropout", given["dropout"], least=0)
    if not dropout < 1:
        raise value_error(op, "dropout must be below 1", dropout=dropout)
    fraction = arguments.number(
        op, "validation_fraction", given["validation_fraction"], fraction=True
    )
    if not 0 < fraction < 1:
        requirement = "validation_fraction must be between 0 and 1"
        raise value_error(op, requirement, validation_fraction=fraction)
    return Options(
        hidden=_sizes(op, given["hidden"]),
        epochs=arguments.integer(op, "epochs", given["epochs"], 1),
        batch_size=None if automatic else arguments.integer(op, "batch_size", batch, 1),
        optimizer=_optimizer(op, given["optimizer"]),
        lr=_finite(op, "lr", arguments.number(op, "lr", given["lr"], above=0)),
        weight_decay=_finite(
            op,
            "weight_decay",
            arguments.number(op, "weight_decay", given["weight_decay"], least=0),
        ),
        dropout=dropout,
        validation_fraction=fraction,
        patience=arguments.integer(op, "patience", given["patience"], 1),
        **{
            name: arguments.flag(op, name, given[name])
            for name in ("early_stopping", "scale", "verbose", "warm_start")
        },
    )


def _finite(op: str, name: str, value: float) -> float:
    if not isfinite(value):
        raise value_error(op, f"{name} must be finite", **{name: value})
    return value


def _sizes(op: str, hidden: Any) -> tuple[int, ...]:
    """The widths of the hidden layers; one number is one layer."""
    if isinstance(hidden, int | np.integer):
        hidden = (hidden,)
    if not isinstance(hidden, list | tuple):
        requirement = "hidden must be the widths of the hidden layers, such as (100,)"
        raise type_error(op, requirement, hidden=arguments.briefly(hidden))
    return tuple(arguments.integer(op, "hidden", width, 1) for width in hidden)


def _optimizer(op: str, given: Any) -> Callable[..., Any]:
    """What makes an optimizer of parameters, lr and weight_decay."""
    if isinstance(given, str):
        if given.lower() not in OPTIMIZERS:
            known = nearest(given.lower(), OPTIMIZERS)
            raise value_error(
                op, f"optimizer must be one of ex.optim{known}", optimizer=arguments.briefly(given)
            )
        return OPTIMIZERS[given.lower()]
    requirement = (
        "optimizer must be the name of one, or a function of parameters, lr and weight_decay, "
        "as functools.partial(ex.optim.SGD, momentum=0.9)"
    )
    if isinstance(given, Optimizer) or not callable(given):
        raise type_error(op, requirement, optimizer=arguments.briefly(given))
    try:
        # A module takes what its forward does.
        called = getattr(given, "forward", given)
        inspect.signature(called).bind(None, lr=None, weight_decay=None)
    except TypeError:
        raise type_error(op, requirement, optimizer=arguments.briefly(given)) from None
    except ValueError:
        pass  # one that does not say what it takes
    return given  # type: ignore[no-any-return]


def generator_of(op: str, random_state: Any) -> Generator:
    """The source of chance: by a seed, from another source, or from the default one if None."""
    if random_state is None:
        return random.Generator(int(random.randint(0, 2**64, (), "uint64")))
    if isinstance(random_state, Generator):
        return random_state.split(1)[0]
    if isinstance(random_state, np.random.RandomState):
        return Generator(int(random_state.randint(2**32, dtype=np.uint64)))
    if isinstance(random_state, np.random.Generator):
        return Generator(int(random_state.integers(2**64, dtype=np.uint64)))
    if not isinstance(random_state, int | np.integer) or isinstance(random_state, bool):
        requirement = "random_state must be None, an integer or a source of random numbers"
        raise type_error(op, requirement, random_state=arguments.briefly(random_state))
    if not 0 <= random_state < 2**64:
        requirement = "random_state must be from 0 to 2**64 - 1"
        raise value_error(op, requirement, random_state=arguments.briefly(random_state))
    return Generator(int(random_state))
