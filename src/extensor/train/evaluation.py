"""Evaluation and prediction: a model that is not trained meanwhile, and nothing recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.ops import concatenate
from extensor.optim import EMA
from extensor.train.checks import check_batch, check_inputs
from extensor.train.given import prediction_batches
from extensor.train.metrics import Mean, Metric
from extensor.train.step import TrainStep


def evaluated(
    model: Module,
    take_step: TrainStep,
    metrics_for: Callable[[Any], Mapping[str, Metric]],
    loader: Iterable[Any],
) -> dict[str, Any]:
    """The mean loss of the batches of ``loader``, and the metrics for such outputs."""
    loss = Mean()
    metrics: Mapping[str, Metric] = {}
    with _evaluating(model, take_step.ema):
        for batch in loader:
            check_batch("evaluate", "loader", batch)
            if not loss.count:
                check_inputs("evaluate", model, batch[:-1])
            output, value = take_step.evaluated(batch)
            if not loss.count:
                metrics = metrics_for(output)
                for metric in metrics.values():
                    metric.reset()
            loss.add(float(value), len(batch[0]))
            for metric in metrics.values():
                metric.update(output, batch[-1])
    if not loss.count:
        raise value_error("evaluate", "loader must give at least one batch", samples=0)
    values = {name: metric.compute() for name, metric in metrics.items()}
    return {"loss": loss.compute(), **values}


def predicted(model: Module, ema: EMA | None, inputs: Any, batch_size: int) -> Tensor:
    """The outputs of the model."""
    batches = prediction_batches(inputs, batch_size)
    with _evaluating(model, ema):
        outputs: list[Any] = []
        for parts in batches:
            if not outputs:
                check_inputs("predict", model, parts)
            outputs.append(model(*parts))
    if not outputs:
        raise value_error("predict", "inputs must have at least one sample", samples=0)
    return concatenate(outputs)


@contextmanager
def _evaluating(model: Module, ema: EMA | None) -> Iterator[None]:
    training = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with no_grad(), nullcontext() if ema is None else ema.applied():
            yield
    finally:
        for module, mode in training:
            module.training = mode
