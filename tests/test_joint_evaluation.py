"""Evaluation dealt out to workers, one after the other in this process: the values of one alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data import ArrayDataset, DataLoader, RandomFlip
from extensor.distributed.workers import Workers
from extensor.random import Generator
from extensor.train import Accuracy, ConfusionMatrix, Trainer, joint_evaluation, outputs, working

X = np.random.default_rng(0).normal(size=(23, 1, 4, 4)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 3, 23)


class One(Workers):
    """Worker ``rank``; the first hears what the others have said before."""

    def __init__(self, rank: int, size: int, said: dict[int, list[bytes]]) -> None:
        super().__init__(rank, size, 1.0)
        self.said, self.round = said, 0

    def to_first(self, data: bytes, what: str) -> list[bytes]:
        if self.rank:
            self.said.setdefault(self.rank, []).append(data)
            return []
        number, self.round = self.round, self.round + 1
        return [data, *(self.said[rank][number] for rank in range(1, self.size))]

    def broadcast(self, data: bytes | None, what: str) -> bytes:
        return data or b"{}" if self.is_first else b"{}"


class Counted(ex.nn.Linear):
    """How many samples it has seen."""

    seen = 0

    def forward(self, x: Any) -> Any:
        self.seen += len(x)
        return super().forward(ex.reshape(x, (len(x), -1)))


class Drawing(Counted):
    """Draws random numbers, also in evaluation."""

    def forward(self, x: Any) -> Any:
        return super().forward(x + ex.random.randn(*x.shape))


class Paired(Counted):
    """Gives more than a tensor."""

    def forward(self, x: Any) -> Any:
        return super().forward(x), x


def made(kind: type[Counted] = Counted, **options: Any) -> Trainer:
    ex.random.manual_seed(4)
    model = kind(16, 3)
    optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    metrics = {"accuracy": Accuracy(), "confusion": ConfusionMatrix(3)}
    options = {"metrics": metrics, "micro_batches": 2, **options}
    return Trainer(model, ex.cross_entropy, optimizer, callbacks=[], **options)


def loader(**options: Any) -> DataLoader:
    return DataLoader(ArrayDataset(X, Y), 4, **options)


def plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: outputs.plain(value) for name, value in values.items()}


def by_all(
    monkeypatch: pytest.MonkeyPatch, size: int, kind: type[Counted] = Counted, **options: Any
) -> tuple[dict[str, Any], list[int]]:
    """What the first worker finds, and how many samples each has computed."""
    said: dict[int, list[bytes]] = {}
    seen, found = [], {}
    for rank in reversed(range(size)):
        trainer = made(kind, **options)
        one = One(rank, size, said)
        for module in (working, outputs):
            monkeypatch.setattr(module, "found_workers", lambda one=one: one)
        found = trainer.evaluate_together(loader(transform=RandomFlip(), generator=Generator(5)))
        seen.append(trainer.model.seen)
        assert one.place == "evaluation after step 0"
    return found, seen[::-1]


@pytest.mark.parametrize("size", [2, 3, 8])
@pytest.mark.parametrize("options", [{}, {"metrics": {}}])
def test_the_values_are_those_of_one_process(
    monkeypatch: pytest.MonkeyPatch, size: int, options: dict[str, Any]
) -> None:
    trainer = made(**options)
    wanted = trainer.evaluate(loader(transform=RandomFlip(), generator=Generator(5)))
    found, seen = by_all(monkeypatch, size, **options)
    assert found == plain(wanted)
    # Each looks at the first batch, to see whether it can be dealt out.
    assert sum(seen) == 23 + 4 * size
    assert max(seen) <= 4 + 4 * -(-6 // size)


@pytest.mark.parametrize("kind", [Drawing, Paired])
def test_what_cannot_be_dealt_out_is_computed_by_all(
    monkeypatch: pytest.MonkeyPatch, kind: type[Counted]
) -> None:
    options: dict[str, Any] = {}
    if kind is Paired:
        monkeypatch.setattr(
            ex, "cross_entropy", lambda out, y, loss=ex.cross_entropy: loss(out[0], y)
        )
        options["metrics"] = {}
    trainer = made(kind, **options)
    wanted = trainer.evaluate(loader(transform=RandomFlip(), generator=Generator(5)))
    found, seen = by_all(monkeypatch, 2, kind, **options)
    assert plain(found) == plain(wanted)
    assert seen == [27, 27]


def test_numbers_drawn_for_some_batches_only_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(Counted):
        def forward(self, x: Any) -> Any:
            return super().forward(x + ex.random.randn(*x.shape) if self.seen > 8 else x)

    with pytest.raises(ValueError, match="draws random numbers in evaluation must do so for every"):
        by_all(monkeypatch, 2, Late)


def test_a_way_of_ones_own_to_evaluate_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(Trainer):
        def evaluate(self, *_: Any, **__: Any) -> dict[str, Any]:
            return {"loss": 7.0}

    model = ex.nn.Linear(16, 3)
    optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    trainer = Own(model, ex.cross_entropy, optimizer, callbacks=[], micro_batches=2)
    monkeypatch.setattr(working, "found_workers", lambda: One(0, 2, {}))
    assert trainer.evaluate_together(loader()) == {"loss": 7.0}


def test_nothing_is_left_of_the_look() -> None:
    trainer = made(Drawing)
    before = ex.random.get_state()
    assert not joint_evaluation.can_share(trainer.take_step, loader())
    assert ex.random.get_state() == before
    assert trainer.model.training
    assert not joint_evaluation.can_share(trainer.take_step, [(X, Y), (X, Y)])
