"""Evaluation dealt out to workers, one after the other in this process: the values of one alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data import ArrayDataset, DataLoader, RandomFlip
from extensor.distributed.workers import Workers
from extensor.random import Generator
from extensor.train import Accuracy, ConfusionMatrix, Trainer, batch_sharding, evaluation

X = np.random.default_rng(0).normal(size=(23, 1, 4, 4)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 3, 23)


class One(Workers):
    """Worker ``rank``; the first hears what the others have said before."""

    def __init__(
        self, rank: int, size: int, said: dict[int, list[bytes]], other: bytes = b""
    ) -> None:
        super().__init__(rank, size, 1.0)
        self.said, self.round, self.other = said, 0, other

    def to_first(self, data: bytes, what: str) -> list[bytes]:
        if self.rank:
            self.said.setdefault(self.rank, []).append(data)
            return []
        number, self.round = self.round, self.round + 1
        return [data, *(self.said[rank][number] for rank in range(1, self.size))]

    def gather(self, data: bytes, what: str) -> list[bytes]:
        return [data, self.other or data]

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
    return {name: evaluation.plain(value) for name, value in values.items()}


def flipped() -> DataLoader:
    return loader(transform=RandomFlip(), generator=Generator(5))


def by_all(
    size: int,
    kind: type[Counted] = Counted,
    batches: Callable[[], DataLoader] = flipped,
    **options: Any,
) -> tuple[dict[str, Any], list[int]]:
    """What the first worker finds, and how many samples each has computed."""
    said: dict[int, list[bytes]] = {}
    seen, found = [], {}
    for rank in reversed(range(size)):
        trainer = made(kind, **options)
        one = One(rank, size, said)
        trainer.workers = one
        found = trainer.evaluate_together(batches())
        seen.append(trainer.model.seen)  # type: ignore[attr-defined]
        assert one.place == "evaluation after step 0"
    return found, seen[::-1]


@pytest.mark.parametrize("size", [2, 3, 8])
@pytest.mark.parametrize("options", [{}, {"metrics": {}}])
def test_the_values_are_those_of_one_process(size: int, options: dict[str, Any]) -> None:
    trainer = made(**options)
    wanted = trainer.evaluate(flipped())
    found, seen = by_all(size, **options)
    assert found == plain(wanted)
    assert sum(seen) == 23  # what was looked at before was a copy
    assert max(seen) <= 4 * -(-6 // size)


class Carrying(Counted):
    """What it gives depends on what it gave before."""

    last = 0.0

    def forward(self, x: Any) -> Any:
        found = super().forward(x) + self.last
        self.last = float(found.mean())
        return found


class OwnChance(Counted):
    """Draws from a generator of its own."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.chance = Generator(8)

    def forward(self, x: Any) -> Any:
        return super().forward(x + ex.random.randn(*x.shape, generator=self.chance))


class Remembering(Counted):
    """Counts in a buffer, which a checkpoint has."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.register_buffer("count", ex.zeros(1))

    def forward(self, x: Any) -> Any:
        self.count += len(x)  # type: ignore[attr-defined]
        return super().forward(x)


class Watched(Counted):
    """Somebody hears of its calls."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.register_forward_hook(lambda *_: None)


@pytest.mark.parametrize("kind", [Drawing, Paired, Carrying, OwnChance, Remembering, Watched])
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
    wanted = trainer.evaluate(flipped())
    found, seen = by_all(2, kind, **options)
    assert plain(found) == plain(wanted)
    assert seen == [23, 23]


class Turning:
    """A sampler of one's own, whose order is another one each time."""

    def __init__(self) -> None:
        self.asked = 0

    def __len__(self) -> int:
        return 23

    def order(self, generator: Any) -> Any:
        self.asked += 1
        return np.roll(np.arange(23), self.asked)


class Noise(ArrayDataset):
    """Samples that are drawn."""

    def batch(self, indices: Any) -> Any:
        x, y = super().batch(indices)
        return x + ex.random.randn(*x.shape).numpy(), y


def doubled(batch: Any, generator: Any) -> Any:
    x, y = batch
    return np.concatenate([x, 2 * x]), np.concatenate([y, y])


def in_the_middle() -> DataLoader:
    made = loader()
    made.load_state_dict({**made.state_dict(), "position": 1})
    return made


@pytest.mark.parametrize(
    "batches",
    [
        lambda: loader(sampler=Turning()),
        lambda: DataLoader(Noise(X, Y), 4),
        lambda: loader(transform=doubled),
        in_the_middle,
        lambda: loader(shuffle=True, generator=Generator(1), workers=2, drop_last=True),
    ],
)
def test_loaders_of_all_kinds_give_the_values_of_one_process(
    batches: Callable[[], DataLoader],
) -> None:
    wanted = made().evaluate(batches())
    assert plain(by_all(3, batches=batches)[0]) == plain(wanted)


def test_a_metric_may_write_to_what_it_is_given() -> None:
    class Writing(Accuracy):
        def update(self, output: Any, target: Any) -> None:
            array = output.numpy()
            array -= array.mean()
            super().update(output, target)

    options = {"metrics": {"accuracy": Writing()}}
    wanted = made(**options).evaluate(loader())
    assert by_all(2, batches=loader, **options)[0] == plain(wanted)


def test_numbers_drawn_for_some_batches_only_are_refused() -> None:
    class Late(Counted):
        def forward(self, x: Any) -> Any:
            return super().forward(x + ex.random.randn(*x.shape) if self.seen > 4 else x)

    with pytest.raises(
        ValueError, match="models and data that draw in evaluation must do so for every"
    ):
        by_all(2, Late)


def test_nothing_is_dealt_out_if_one_worker_cannot() -> None:
    trainer = made()
    trainer.workers = One(0, 2, {}, b"0")
    assert plain(trainer.evaluate_together(loader())) == plain(made().evaluate(loader()))
    assert trainer.model.seen == 23  # type: ignore[attr-defined]


def test_a_loss_that_counts_is_computed_by_all() -> None:
    class Counting:
        calls = 0

        def __call__(self, output: Any, target: Any) -> Any:
            self.calls += 1
            return ex.cross_entropy(output, target) * self.calls

    trainer = made()
    trainer.take_step.loss = Counting()
    assert not batch_sharding.can_share(trainer.take_step, loader())


def test_a_way_of_ones_own_to_evaluate_is_gone() -> None:
    class Own(Trainer):
        def evaluate(self, *_: Any, **__: Any) -> dict[str, Any]:
            return {"loss": 7.0}

    model = ex.nn.Linear(16, 3)
    optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    trainer = Own(model, ex.cross_entropy, optimizer, callbacks=[], micro_batches=2)
    trainer.workers = One(0, 2, {})
    assert trainer.evaluate_together(loader()) == {"loss": 7.0}
    trainer = made()  # type: ignore[assignment]
    trainer.evaluate = lambda *_: {"loss": 8.0}  # type: ignore[method-assign]
    assert trainer.evaluate_together(loader()) == {"loss": 8.0}


def test_nothing_is_left_of_the_look() -> None:
    trainer = made(Drawing)
    before = ex.random.get_state()
    assert not batch_sharding.can_share(trainer.take_step, loader())
    assert ex.random.get_state() == before
    assert trainer.model.training
    assert not batch_sharding.can_share(trainer.take_step, [(X, Y), (X, Y)])
