"""Evaluation and prediction, in one process or shared by all workers.

The model is not trained meanwhile, and nothing is recorded. Workers share whole batches, so the bits of a
batch do not depend on who computes it; the first worker measures all of them in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.nn.preservation import evaluating
from extensor.ops import concatenate
from extensor.optim import EMA
from extensor.train.data_adapters import check_batch, check_inputs, prediction_batches
from extensor.train.metrics import Mean, Metric

if TYPE_CHECKING:
    from extensor.train.step_strategy import LocalStep

MetricsFor = Callable[[Any], Mapping[str, Metric]]  # the metrics for such an output


def evaluate_batches(
    model: Module, take_step: LocalStep, metrics_for: MetricsFor, loader: Iterable[Any]
) -> dict[str, Any]:
    """The mean loss of the batches of ``loader``, and the metrics for such outputs."""
    measured = Measured(metrics_for)
    with in_evaluation(model, take_step.ema):
        for batch in loader:
            check_batch("evaluate", "loader", batch)
            if measured.is_empty:
                check_inputs("evaluate", model, batch[:-1])
            output, loss = take_step.evaluate_batch(batch)
            measured.add(float(loss), len(batch[0]), output, batch[-1])
    if measured.is_empty:
        raise value_error("evaluate", "loader must give at least one batch", samples=0)
    return measured.values()


class Measured:
    """The mean loss of batches, and the metrics for such outputs, made for the first of them."""

    def __init__(self, metrics_for: MetricsFor) -> None:
        self._metrics_for = metrics_for
        self._metrics: Mapping[str, Metric] = {}
        self._loss = Mean()

    @property
    def is_empty(self) -> bool:
        """True before the first batch."""
        return not self._loss.count

    def add(self, loss: float, samples: int, output: Any, target: Any) -> None:
        """Take a batch into account."""
        if self.is_empty:
            self._metrics = self._metrics_for(output)
            for metric in self._metrics.values():
                metric.reset()
        self._loss.add(loss, samples)
        for metric in self._metrics.values():
            metric.update(output, target)

    def values(self) -> dict[str, Any]:
        """The loss and the metrics."""
        values = {name: metric.compute() for name, metric in self._metrics.items()}
        return {"loss": self._loss.compute(), **values}


def predicted(model: Module, ema: EMA | None, inputs: Any, batch_size: int) -> Tensor:
    """The outputs of the model."""
    batches = prediction_batches(inputs, batch_size)
    with in_evaluation(model, ema):
        outputs: list[Any] = []
        for parts in batches:
            if not outputs:
                check_inputs("predict", model, parts)
            outputs.append(model(*parts))
    if not outputs:
        raise value_error("predict", "inputs must have at least one sample", samples=0)
    return concatenate(outputs)


@contextmanager
def in_evaluation(model: Module, ema: EMA | None) -> Iterator[None]:
    """Within the block the model is not trained, its parameters are the averages if there are any."""
    with evaluating(model), no_grad(), nullcontext() if ema is None else ema.applied():
        yield


def plain(value: Any) -> Any:
    """The value of a metric as logs and checkpoints hold it: an array as lists."""
    return value if isinstance(value, str | int | float) else np.asarray(value).tolist()
