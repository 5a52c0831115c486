"""``python -m benchmarks.formulas``: what training steps compute by a formula instead of a kernel.

Each step runs a few times before it is watched, so that only what every step computes is listed.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import extensor as ex
from benchmarks.libraries import Libraries
from benchmarks.measure import OURS
from extensor.core import door

Step = Callable[[], Any]
_WARM = 2  # steps before the watched one: state is made in the first


def main() -> int:
    options = _options()
    table = Table("step", "calls", "by formula")
    totals: Counter[str] = Counter()
    for name, make in steps():
        if options.match not in name:
            continue
        calls, formulas = watched(make())
        totals.update(formulas.keys())
        table.add_row(name, str(calls), _listed(formulas))
    Console().print(table)
    Console().print("steps with each:", _listed(totals) or "none has any", highlight=False)
    return 1 if totals else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.formulas", description=__doc__)
    parser.add_argument("--match", default="", metavar="TEXT", help="only steps with this name")
    return parser.parse_args()


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


def watched(step: Step) -> tuple[int, Counter[str]]:
    """The number of calls of a step, and how often it computes each op by its formula."""
    for _ in range(_WARM):
        step()
    calls, formulas = 0, Counter[str]()

    def watcher(event: Any) -> None:
        nonlocal calls
        calls += 1
        if event.kernel is None:
            formulas[event.op + ("_backward" if event.backward else "")] += 1

    with door.watch(watcher):
        step()
    return calls, formulas


def steps() -> Iterator[tuple[str, Callable[[], Step]]]:
    """The name of each step, and what makes it."""
    yield from _workloads()
    yield from _models()
    yield from _optimizers()
    yield from _ways()
    yield from _losses()


def _workloads() -> Iterator[tuple[str, Callable[[], Step]]]:
    from benchmarks.groups.train import WORKLOADS

    libraries = Libraries(1, only=OURS)
    for workload in WORKLOADS:
        model = import_module(f"benchmarks.models.{workload.model}")

        def make(model: Any = model, workload: Any = workload) -> Step:
            setups = model.contestants(libraries, 4, workload.optimizer)
            step: Step = setups[OURS]()
            return step

        yield f"{workload.name}, batch {workload.batch}", make


def _noise(*shape: int) -> ex.Tensor:
    return ex.tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))


def _classes(count: int, *shape: int) -> ex.Tensor:
    return ex.tensor(np.random.default_rng(1).integers(0, count, shape))


def _training(
    module: ex.nn.Module,
    loss: Callable[[], ex.Tensor],
    optimizer: Any = None,
    after: Callable[[Any], None] | None = None,
) -> Step:
    """A usual step; ``after`` the backward pass something may happen to the gradients."""
    optimizer = optimizer or ex.optim.SGD(module.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        if after is not None:
            after(optimizer)
        optimizer.step()

    return step


def _classifier(module: ex.nn.Module, *shape: int) -> Step:
    x, target = _noise(*shape), _classes(10, shape[0])
    return _training(module, lambda: ex.cross_entropy(module(x), target))


def _models() -> Iterator[tuple[str, Callable[[], Step]]]:
    models, nn = ex.models, ex.nn
    yield "models.mlp", lambda: _classifier(models.mlp([20, 32, 10]), 8, 20)
    yield "models.lenet5", lambda: _classifier(models.lenet5(), 4, 1, 28, 28)
    yield "models.resnet18", lambda: _classifier(models.resnet18(10), 2, 3, 32, 32)
    yield "models.convnet", lambda: _classifier(models.convnet(10), 2, 3, 32, 32)
    yield "models.gpt", _gpt
    for kind in ("LSTM", "GRU", "RNN"):
        for options in ({}, {"num_layers": 2, "bidirectional": True, "batch_first": True}):
            name = f"nn.{kind}" + ", 2 layers, both ways" * bool(options)
            yield name, lambda kind=kind, options=options: _recurrent(kind, options)
    yield (
        "nn.TransformerEncoderLayer, dropout",
        lambda: _of_output(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2, 5, 16),
    )
    yield "nn.Dropout", lambda: _of_output(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)), 4, 8)
    yield (
        "nn.Dropout2d",
        lambda: _of_output(nn.Sequential(nn.Conv2d(2, 4, 3), nn.Dropout2d(0.5)), 2, 2, 8, 8),
    )


def _gpt() -> Step:
    module = ex.models.gpt(50, context=16, heads=2, width=32)
    x, target = _classes(50, 2, 16), _classes(50, 2, 16)

    def loss() -> ex.Tensor:
        logits = module(x)
        return ex.cross_entropy(logits.reshape((-1, 50)), target.reshape((-1,)))

    return _training(module, loss)


def _recurrent(kind: str, options: dict[str, Any]) -> Step:
    module = getattr(ex.nn, kind)(6, 8, **options)
    x = _noise(5, 3, 6)
    return _training(module, lambda: (module(x)[0] ** 2).mean())


def _of_output(module: ex.nn.Module, *shape: int) -> Step:
    x = _noise(*shape)
    return _training(module, lambda: ex.mse_loss(module(x), ex.zeros_like(module(x))))


def _small() -> tuple[ex.nn.Module, Callable[[], ex.Tensor]]:
    module = ex.nn.Sequential(ex.nn.Linear(8, 16), ex.nn.ReLU(), ex.nn.Linear(16, 10))
    x, target = _noise(4, 8), _classes(10, 4)
    return module, lambda: ex.cross_entropy(module(x), target)


def _optimizers() -> Iterator[tuple[str, Callable[[], Step]]]:
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("SGD", {"lr": 1e-3, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-4}),
        ("Adam", {"amsgrad": True}),
        *((name, {}) for name in ("Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta")),
        *((name, {}) for name in ("Lion", "LAMB", "Muon")),
    ]
    for name, options in kinds:

        def make(name: str = name, options: dict[str, Any] = options) -> Step:
            module, loss = _small()
            parameters = [p for p in module.parameters() if name != "Muon" or p.ndim == 2]
            return _training(module, loss, getattr(ex.optim, name)(parameters, **options))

        yield f"optim.{name}" + f" {', '.join(options)}" * bool(options), make


def _ways() -> Iterator[tuple[str, Callable[[], Step]]]:
    """Clipping, averages, schedules, mixed precision, accumulation, metrics."""

    def with_clipping(clip: Callable[[Any], Any]) -> Step:
        module, loss = _small()
        return _training(module, loss, after=lambda _: clip(module.parameters()))

    yield "clip_grad_norm", lambda: with_clipping(lambda p: ex.clip_grad_norm(p, 0.1))
    yield "clip_grad_value", lambda: with_clipping(lambda p: ex.clip_grad_value(p, 0.1))
    yield "EMA", _averaged
    yield "schedule", _scheduled
    yield "autocast bfloat16", lambda: _in_16_bits("bfloat16")
    yield "autocast float16, GradScaler", lambda: _in_16_bits("float16")
    yield "accumulation over 2 batches", _accumulated
    yield "accuracy of a batch", _scored


def _averaged() -> Step:
    module, loss = _small()
    step, average = _training(module, loss), ex.optim.EMA(module.parameters(), 0.99)

    def both() -> None:
        step()
        average.update()

    return both


def _scheduled() -> Step:
    module, loss = _small()
    optimizer = ex.optim.SGD(module.parameters(), lr=1e-3)
    step, schedule = (
        _training(module, loss, optimizer),
        ex.optim.CosineAnnealingLR(optimizer, 1000),
    )

    def both() -> None:
        step()
        schedule.step()

    return both


def _in_16_bits(dtype: str) -> Step:
    module, loss = _small()
    optimizer = ex.optim.SGD(module.parameters(), lr=1e-3)
    scaler = ex.amp.GradScaler() if dtype == "float16" else None

    def step() -> None:
        optimizer.zero_grad()
        with ex.amp.autocast(dtype):
            computed = loss()
        if scaler is None:
            computed.backward()
            optimizer.step()
        else:
            scaler.scale(computed).backward()
            scaler.step(optimizer)
            scaler.update()

    return step


def _accumulated() -> Step:
    module, loss = _small()
    optimizer = ex.optim.SGD(module.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        for _ in range(2):
            (loss() / 2).backward()
        optimizer.step()

    return step


def _scored() -> Step:
    module, _ = _small()
    x, target = _noise(4, 8), _classes(10, 4)

    def score() -> Any:
        with ex.no_grad():
            return (module(x).argmax(1) == target).mean().item()

    return score


def _losses() -> Iterator[tuple[str, Callable[[], Step]]]:
    """Every loss of ``ex.nn``, of outputs that a layer computes."""
    probabilities, signs = ex.softmax(_noise(4, 5), 1), ex.sign(_noise(4, 5))
    targets: dict[str, tuple[ex.Tensor, ...]] = {
        "CrossEntropyLoss": (_classes(5, 4),),
        "NLLLoss": (_classes(5, 4),),
        "FocalLoss": (ex.tensor([0.0, 1.0, 1.0, 0.0]).reshape((4, 1)) * ex.ones((4, 5)),),
        "BCELoss": (probabilities,),
        "BCEWithLogitsLoss": (probabilities,),
        "KLDivLoss": (probabilities,),
        "HingeLoss": (signs,),
        "CosineEmbeddingLoss": (_noise(4, 5), ex.tensor([1.0, -1.0, 1.0, -1.0])),
        "TripletMarginLoss": (_noise(4, 5), _noise(4, 5) + 1),
    }
    before: dict[str, Any] = {
        "BCELoss": ex.sigmoid,
        "NLLLoss": lambda x: ex.log_softmax(x, 1),
        "KLDivLoss": lambda x: ex.log_softmax(x, 1),
    }
    for name in (name for name in ex.nn.__all__ if name.endswith("Loss")):
        target = targets.get(name, (_noise(4, 5),))
        for options in _options_of(name):

            def make(name: str = name, target: Any = target, options: Any = options) -> Step:
                layer, loss = ex.nn.Linear(8, 5), getattr(ex.nn, name)(**options)
                x, prepare = _noise(4, 8), before.get(name, lambda x: x)
                return _training(layer, lambda: loss(prepare(layer(x)), *target).sum())

            yield f"nn.{name}" + "".join(f" {key}" for key in options), make


def _options_of(name: str) -> list[dict[str, Any]]:
    variants: list[dict[str, Any]] = [{}]
    if name == "CrossEntropyLoss":
        variants += [{"label_smoothing": 0.1}, {"weight": ex.ones(5)}]
    if name == "NLLLoss":
        variants += [{"weight": ex.ones(5)}]
    if name == "BCEWithLogitsLoss":
        variants += [{"pos_weight": ex.ones(5)}]
    return variants


if __name__ == "__main__":
    raise SystemExit(main())
