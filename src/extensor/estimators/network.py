"""The network of an estimator: weights of samples, scaling, training by a trainer, and outputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from extensor import ops, optim, random
from extensor.core.tensor import Tensor
from extensor.data import ArrayDataset, DataLoader
from extensor.data.table.column_statistics import divisor
from extensor.errors import arguments, type_error, value_error
from extensor.errors.suggestions import nearest
from extensor.models import mlp
from extensor.nn import Module
from extensor.optim import Optimizer
from extensor.random import Generator
from extensor.random.generator import drawing_from
from extensor.train.callbacks import Callback, EarlyStopping, Progress
from extensor.train.evaluation import predicted
from extensor.train.nonfinite import first_infinite
from extensor.train.step_strategy import Loss
from extensor.train.tasks import TASKS
from extensor.train.trainer import Trainer

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def loss_of(task: str, is_weighted: bool) -> Loss:
    """The mean loss of a batch with targets from :func:`with_weights`."""
    row = TASKS[task]
    loss: Loss = _WEIGHTED[row.targets] if is_weighted else getattr(ops, row.op)
    return loss


def with_weights(targets: Any, weights: Any, dtype: Any) -> Any:
    """Targets for :func:`loss_of`: weights, if there are any, are one more column."""
    if weights is None:
        return targets if targets.dtype.kind == "i" else targets.astype(dtype, copy=False)
    columns = targets.reshape(len(targets), -1)
    return np.column_stack([columns, weights]).astype(dtype, copy=False)


def _weighted_classes(output: Tensor, target: Tensor) -> Tensor:
    losses = ops.cross_entropy(output, target[:, 0].astype("int64"), "none")
    return (losses * target[:, 1]).mean()


def _weighted_labels(output: Tensor, target: Tensor) -> Tensor:
    return ops.binary_cross_entropy_with_logits(output, target[:, :-1], weight=target[:, -1:])


def _weighted_values(output: Tensor, target: Tensor) -> Tensor:
    return (ops.mse_loss(output, target[:, :-1], "none") * target[:, -1:]).mean()


_WEIGHTED: dict[str, Loss] = {
    "truth": _weighted_labels,
    "classes": _weighted_classes,
    "numbers": _weighted_values,
}


OPTIMIZERS = {
    name.lower(): x
    for name, x in vars(optim).items()
    if isinstance(x, type) and issubclass(x, Optimizer) and x is not Optimizer
}
RandomState = int | Generator | np.random.Generator | np.random.RandomState | None
# For "auto": the least and most samples of a batch, and the number of batches.
_FEWEST, _MOST, _BATCHES = 32, 256, 64
_AT_ONCE = 1024  # samples of a batch outside training


@dataclass(frozen=True)
class ColumnScaling:
    """The mean and variance of each column, and the weight of the samples they are of."""

    mean: Any
    variance: Any
    count: float

    @classmethod
    def of(cls, op: str, name: str, values: Any, weights: Any = None) -> ColumnScaling:
        """Learned from the rows of a matrix, each with its weight."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.average(values, axis=0, weights=weights).astype(np.float64)
            # Once more around the first mean: the sum of many equal numbers is rounded many times.
            mean = mean + np.average(values - mean, axis=0, weights=weights)
            variance = np.average((values - mean) ** 2, axis=0, weights=weights)
        if not np.isfinite(variance).all():
            requirement = f"{name} must have squares that are finite (or scale=False)"
            raise value_error(op, requirement, column=int(np.argmin(np.isfinite(variance))))
        count = len(values) if weights is None else float(weights.sum())
        return cls(mean, variance, count)

    def joined(self, other: ColumnScaling) -> ColumnScaling:
        """The scaling of the samples of both."""
        count = self.count + other.count
        share = other.count / count
        step = other.mean - self.mean
        between = share * (1 - share) * step * step
        return ColumnScaling(
            self.mean + share * step,
            self.variance + share * (other.variance - self.variance) + between,
            count,
        )

    @property
    def deviation(self) -> Any:
        """The divisor of each column: 1 where it is constant."""
        return divisor(np.sqrt(self.variance), self.mean)

    def scaled(self, values: Any) -> Any:
        """A matrix with each column at a mean of 0 and a deviation of 1."""
        return (values - self.mean) / self.deviation

    def restored(self, values: Any) -> Any:
        """The inverse of :meth:`scaled`."""
        return values * self.deviation + self.mean


class WeightedSamples(NamedTuple):
    """Inputs and targets, and how much each sample counts in their scaling and in the loss."""

    inputs: Any
    targets: Any
    weights: Any = None
    loss_weights: Any = None

    def at(self, places: Any) -> WeightedSamples:
        """The samples at ``places``."""
        return WeightedSamples(*(None if part is None else part[places] for part in self))


@dataclass
class Network:
    """The state of training: model, optimizer, random numbers and scaling."""

    task: str
    model: Module
    optimizer: Optimizer
    generator: Generator
    dtype: DTypeLike
    made_with: EstimatorOptions
    inputs: ColumnScaling | None = None
    targets: ColumnScaling | None = None

    @classmethod
    def create(
        cls,
        op: str,
        task: str,
        sizes: tuple[int, int],
        dtype: Any,
        options: EstimatorOptions,
        chance: Any,
    ) -> Network:
        """A new one, whose every number comes from ``chance``."""
        with drawing_from(chance):
            model = mlp([sizes[0], *options.hidden, sizes[1]], options.dropout).to(dtype)
        optimizer = options.optimizer(
            model.parameters(), lr=options.lr, weight_decay=options.weight_decay
        )
        arguments.instance(op, "optimizer", optimizer, Optimizer, "what gives an Optimizer")
        return cls(task, model, optimizer, chance, dtype, options)

    def continued(self, op: str, options: EstimatorOptions) -> Network:
        """A copy to continue with. Its structure must stay the same."""
        for name in ("hidden", "dropout", "optimizer", "scale"):
            if getattr(options, name) != getattr(self.made_with, name):
                requirement = f"{name} must stay as it was when training began"
                raise value_error(op, requirement)
        network = deepcopy(self)
        network.made_with = options
        for name in ("lr", "weight_decay"):
            if getattr(options, name) != getattr(self.made_with, name):
                for group in network.optimizer.param_groups:
                    group[name] = getattr(options, name)
        return network

    def learn_scaling(self, op: str, samples: WeightedSamples) -> None:
        """Update the scaling of inputs, and of numbers as targets, with these samples."""
        scaling = ColumnScaling.of(op, "X", samples.inputs, samples.weights)
        self.inputs = scaling if self.inputs is None else self.inputs.joined(scaling)
        if self.task == "regression":
            scaling = ColumnScaling.of(op, "y", samples.targets, samples.weights)
            self.targets = scaling if self.targets is None else self.targets.joined(scaling)

    def train(
        self,
        op: str,
        samples: WeightedSamples,
        validation: WeightedSamples | None,
        epochs: int,
        options: EstimatorOptions,
    ) -> list[dict[str, Any]]:
        """Train for ``epochs`` epochs or until early stopping, and return their records."""
        count = len(samples.inputs)
        batch = min(options.batch_size or min(max(count // _BATCHES, _FEWEST), _MOST), count)
        dataset = self._dataset(op, samples)
        loader = DataLoader(dataset, batch, shuffle=True, generator=self.generator)
        callbacks: list[Callback] = [Progress()] if options.verbose else []
        held, best = None, None
        if validation is not None:
            held = DataLoader(self._dataset(op, validation), _AT_ONCE)
            best = _BestEpoch(options.patience)
            callbacks.append(best)
        loss = loss_of(self.task, samples.loss_weights is not None)
        trainer = Trainer(self.model, loss, self.optimizer, callbacks=callbacks)
        with drawing_from(self.generator):
            history = trainer.fit(loader, epochs, held)
        if best is not None and best.state is not None:
            self.model.load_state_dict(best.state)
        self.model.eval()
        self.optimizer.zero_grad()
        return [{k: v for k, v in record.items() if k != "event"} for record in history]

    def _dataset(self, op: str, samples: WeightedSamples) -> ArrayDataset:
        targets = samples.targets
        if self.targets is not None:
            targets = self.targets.scaled(targets)
        with np.errstate(over="ignore"):
            packed = with_weights(targets, samples.loss_weights, self.dtype)
        if not np.isfinite(packed).all():
            raise value_error(op, f"y and weights must be what {self.dtype} can hold")
        return ArrayDataset(self._prepared(op, samples.inputs), packed)

    def outputs(self, op: str, matrix: Any) -> Any:
        """The outputs as an array; numbers are in the units of the targets."""
        outputs = predicted(self.model, None, self._prepared(op, matrix), _AT_ONCE).numpy()
        return outputs if self.targets is None else self.targets.restored(outputs)

    def _prepared(self, op: str, matrix: Any) -> Any:
        scaled = matrix if self.inputs is None else self.inputs.scaled(matrix)
        with np.errstate(over="ignore"):
            prepared = np.ascontiguousarray(scaled, self.dtype)
        row = first_infinite(prepared)
        if row is not None:
            raise value_error(op, f"X must be what {self.dtype} can hold when scaled", row=row)
        return prepared


class _BestEpoch(EarlyStopping):
    """Early stopping that keeps the parameters of the best epoch."""

    state: Mapping[str, Any] | None = None

    def __init__(self, patience: int) -> None:
        super().__init__("validation_loss", patience)

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        super().epoch_ended(trainer, record)
        if self.bad == 0:
            self.state = deepcopy(trainer.model.state_dict())


class EstimatorOptions(NamedTuple):
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


def check_options(op: str, given: Mapping[str, Any]) -> EstimatorOptions:
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
    return EstimatorOptions(
        hidden=_sizes(op, given["hidden"]),
        epochs=arguments.integer(op, "epochs", given["epochs"], 1),
        batch_size=None if automatic else arguments.integer(op, "batch_size", batch, 1),
        optimizer=_optimizer(op, given["optimizer"]),
        lr=_finite(op, "lr", arguments.number(op, "lr", given["lr"], above=0)),
        weight_decay=_finite(
            op, "weight_decay", arguments.number(op, "weight_decay", given["weight_decay"], least=0)
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
    """The function that makes an optimizer of parameters, lr and weight_decay."""
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
        # A module has the parameters of its forward.
        called = getattr(given, "forward", given)
        inspect.signature(called).bind(None, lr=None, weight_decay=None)
    except TypeError:
        raise type_error(op, requirement, optimizer=arguments.briefly(given)) from None
    except ValueError:
        pass  # it has no signature
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
