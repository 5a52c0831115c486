"""Workers that drift apart while they train are found and named."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from test_distributed_steps import Told

import extensor as ex
from extensor.distributed.consistency import checksum
from extensor.train import Trainer
from extensor.train.worker_checks import DriftCheck, _summary

X = np.random.default_rng(0).normal(size=(24, 6)).astype(np.float32)


def made(**options: Any) -> Trainer:
    ex.random.manual_seed(4)
    model = ex.nn.Sequential(ex.nn.Linear(6, 3), ex.nn.BatchNorm1d(3))
    optimizer = ex.optim.Adam(model.parameters(), lr=0.1)
    loss = ex.nn.SmoothL1Loss()
    trainer = Trainer(model, loss, optimizer, callbacks=[], micro_batches=2, **options)
    trainer.fit(X, X[:, :3], epochs=1, batch_size=8)
    return trainer


def facts_of(trainer: Trainer) -> Any:
    return DriftCheck(trainer.take_step).facts(trainer.loader)


class Others(Told):
    """This worker is the second of three; ``others`` are asked what they would tell."""

    def __init__(self, *others: Trainer) -> None:
        super().__init__(b"", b"")
        self.rank, self.others_ = 1, [facts_of(x) for x in others]

    def gather(self, data: bytes, what: str) -> list[bytes]:
        if what == "comparison":
            told = [_summary(facts) for facts in self.others_]
        else:
            kind = next(
                kind
                for kind, facts in self.others_[0].items()
                if facts.keys() == {*json.loads(data)}
            )
            told = [facts[kind] for facts in self.others_]
        first, second = (json.dumps(x).encode() for x in told)
        return [first, data, second]


def lower_rate(trainer: Trainer) -> None:
    trainer.optimizer.param_groups[0]["lr"] = 0.05


def move_weight(trainer: Trainer) -> None:
    with ex.no_grad():
        next(trainer.model.parameters())[0, 0] += 1


def move_buffer(trainer: Trainer) -> None:
    with ex.no_grad():
        next(trainer.model.buffers())[0] += 1


def move_state(trainer: Trainer) -> None:
    state = trainer.optimizer.state_dict()
    name = next(name for name in state if "exp_avg" in name or "mean" in name or "state" in name)
    state[name] = state[name] + 1
    trainer.optimizer.load_state_dict(state)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lower_rate, "rates and options after step 3: groups.0.lr"),
        (move_weight, "parameters after step 3: 0.weight"),
        (move_buffer, "buffers after step 3: 1.running_mean"),
        (move_state, "optimizer states after step 3"),
        (lambda trainer: trainer.model.eval(), "modes after step 3: , 0, 1"),
        (
            lambda trainer: setattr(trainer.model[1], "eps", 0.1),
            "settings of layers after step 3: 1.eps",
        ),
        (
            lambda trainer: setattr(trainer.take_step.loss, "beta", 0.5),
            "settings of layers after step 3: loss.beta",
        ),
        (lambda _: ex.random.manual_seed(9), "seeds and order of data after step 3: seed"),
    ],
)
def test_who_differs_in_what_is_named(change: Any, words: str) -> None:
    others = Others(made(), made())
    own = made()
    own.workers = others
    check = DriftCheck(own.take_step)
    check.check(own.step, own.loader)
    change(own)
    with pytest.raises(ValueError, match=re.escape(f"worker 1 has other {words}")):
        check.check(own.step, own.loader)


def test_what_a_worker_notes_in_a_layer_may_differ() -> None:
    own = made()
    own.workers = Others(made(), made())
    own.model.best_epoch = 3  # type: ignore[attr-defined]
    DriftCheck(own.take_step).check(own.step, own.loader)


def test_a_rate_that_was_changed_back_is_found() -> None:
    """With a state that is shared out it has changed the parameters of all workers alike."""
    trainers = [made() for _ in range(3)]
    first, second, third = checks = [DriftCheck(trainer.take_step) for trainer in trainers]
    for check in checks:
        check.note_options()
    lower_rate(trainers[1])
    second.note_options()
    trainers[1].optimizer.param_groups[0]["lr"] = 0.1
    first.note_options()
    loaders = [trainer.loader for trainer in trainers]
    assert first.facts(loaders[0]) != second.facts(loaders[1])
    third.note_options()
    assert first.facts(loaders[0]) == third.facts(loaders[2])


def test_what_is_shared_out_is_not_compared() -> None:
    trainer = made(shard_optimizer=True)
    assert facts_of(trainer)["optimizer states"]
    trainer.take_step.prepare()  # type: ignore[attr-defined]
    shared = facts_of(trainer)
    assert not [name for name in shared["optimizer states"] if "exp_avg" in name]
    assert shared["rates and options"]["groups.0.lr"] == "0.1"


@pytest.mark.parametrize("shape", [(0,), (3,), (509,), (510, 1018), (7, 509, 4)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "float16"])
def test_a_changed_bit_changes_the_checksum(shape: tuple[int, ...], dtype: str) -> None:
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    assert checksum(array) == checksum(array.copy())
    assert checksum(array) != checksum(array.reshape(-1, 1))
    flat = array.reshape(-1).view(np.uint8)
    for place in {0, flat.size // 2, flat.size - 1} if flat.size else ():
        other = array.copy()
        other.reshape(-1).view(np.uint8)[place] ^= 1
        assert checksum(other) != checksum(array)
    if array.ndim == 2:
        rows = np.random.default_rng(1).normal(size=shape)
        assert checksum(rows[::-1]) != checksum(rows)
