"""The network of an estimator: made, trained by a trainer, and asked."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from extensor import random
from extensor.data import ArrayDataset, DataLoader
from extensor.errors import arguments, value_error
from extensor.estimators.losses import REGRESSION, loss_of, with_weights
from extensor.estimators.options import Options
from extensor.estimators.scaling import Scaling
from extensor.models import mlp
from extensor.nn import Module
from extensor.optim import Optimizer
from extensor.random import Generator
from extensor.random.generator import drawing_from
from extensor.train.callback import Callback
from extensor.train.callbacks import EarlyStopping
from extensor.train.evaluation import predicted
from extensor.train.progress import Progress
from extensor.train.trainer import Trainer

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

_AT_ONCE = 1024  # samples that are looked at together where nothing is learned


class Samples(NamedTuple):
    """Inputs and targets, and how much each sample counts in their scaling and in the loss."""

    inputs: Any
    targets: Any
    weights: Any = None
    loss_weights: Any = None

    def at(self, places: Any) -> Samples:
        """Those at ``places``."""
        return Samples(*(None if part is None else part[places] for part in self))


@dataclass
class Network:
    """All that training changes, and goes on from."""

    task: str
    model: Module
    optimizer: Optimizer
    generator: Generator
    dtype: DTypeLike
    made_with: Options
    inputs: Scaling | None = None
    targets: Scaling | None = None

    @classmethod
    def made(
        cls, op: str, task: str, sizes: tuple[int, int], dtype: Any, options: Options, chance: Any
    ) -> Network:
        """A new one, whose every number comes from ``chance``."""
        with drawing_from(chance):
            model = mlp([sizes[0], *options.hidden, sizes[1]], options.dropout).to(dtype)
        optimizer = options.optimizer(
            model.parameters(), lr=options.lr, weight_decay=options.weight_decay
        )
        arguments.instance(op, "optimizer", optimizer, Optimizer, "what gives an Optimizer")
        return cls(task, model, optimizer, chance, dtype, options)

    def continued(self, op: str, options: Options) -> Network:
        """A copy to go on with; what it is made of must be the same."""
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

    def learn_scaling(self, op: str, samples: Samples) -> None:
        """Learn what inputs, and numbers as targets, are scaled by, beside what is known already."""
        found = Scaling.of(op, "X", samples.inputs, samples.weights)
        self.inputs = found if self.inputs is None else self.inputs.joined(found)
        if self.task == REGRESSION:
            found = Scaling.of(op, "y", samples.targets, samples.weights)
            self.targets = found if self.targets is None else self.targets.joined(found)

    def train(
        self, op: str, samples: Samples, validation: Samples | None, epochs: int, options: Options
    ) -> list[dict[str, Any]]:
        """Train for so many epochs, or until validation says enough. What the log says of each."""
        batch = options.batch_of(len(samples.inputs))
        dataset = self._dataset(op, samples)
        loader = DataLoader(dataset, batch, shuffle=True, generator=self.generator)
        callbacks: list[Callback] = [Progress()] if options.verbose else []
        held, best = None, None
        if validation is not None:
            held = DataLoader(self._dataset(op, validation), _AT_ONCE)
            best = _Best(options.patience)
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

    def _dataset(self, op: str, samples: Samples) -> ArrayDataset:
        targets = samples.targets
        if self.targets is not None:
            targets = self.targets.scaled(targets)
        with np.errstate(over="ignore"):
            packed = with_weights(targets, samples.loss_weights, self.dtype)
        if not np.isfinite(packed).all():
            raise value_error(op, f"y and weights must be what {self.dtype} can hold")
        return ArrayDataset(self._prepared(op, samples.inputs), packed)

    def outputs(self, op: str, matrix: Any) -> Any:
        """What the network says, as an array; numbers in the units of the targets."""
        found = predicted(self.model, None, self._prepared(op, matrix), _AT_ONCE).numpy()
        return found if self.targets is None else self.targets.restored(found)

    def _prepared(self, op: str, matrix: Any) -> Any:
        scaled = matrix if self.inputs is None else self.inputs.scaled(matrix)
        with np.errstate(over="ignore"):
            prepared = np.ascontiguousarray(scaled, self.dtype)
        if not np.isfinite(prepared).all():
            row = int(np.argmin(np.isfinite(prepared).all(axis=1)))
            raise value_error(op, f"X must be what {self.dtype} can hold when scaled", row=row)
        return prepared


class _Best(EarlyStopping):
    """Early stopping that keeps the parameters of the best epoch."""

    state: Mapping[str, Any] | None = None

    def __init__(self, patience: int) -> None:
        super().__init__("validation_loss", patience)

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        super().epoch_ended(trainer, record)
        if self.bad == 0:
            self.state = {
                name: np.array(tensor) for name, tensor in trainer.model.state_dict().items()
            }


def held_out(
    op: str, count: int, fraction: float, strata: Any, generator: Generator
) -> tuple[Any, Any]:
    """The places of samples to learn from, and of a fraction to validate with.

    ``strata``, classes by their numbers, have the same share of both as far as they can.
    """
    number = round(count * fraction)
    if not 0 < number < count:
        requirement = "validation_fraction must leave samples to learn from and to validate with"
        raise value_error(op, requirement, validation_fraction=fraction, samples=count)
    order = random.permutation(count, generator).numpy()
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    chosen = ((np.arange(number) + 0.5) * (count / number)).astype(np.int64)
    return np.sort(np.delete(order, chosen)), np.sort(order[chosen])
