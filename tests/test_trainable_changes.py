"""Parameters that become trainable, or stop being so, while a trainer fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data import ArrayDataset, DataLoader
from extensor.train import Callback, Trainer

X = np.random.default_rng(0).normal(size=(24, 5)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 3, 24)
STEPS = 8  # of two epochs


class Schedule(Callback):
    """Calls functions of the model and the optimizer after given steps."""

    def __init__(self, actions: dict[int, Any]) -> None:
        self.actions = actions
        self.moved: list[list[bool]] = []
        self.before: list[Any] = []

    def fit_began(self, trainer: Any) -> None:
        self.before = [x.numpy().copy() for x in trainer.model.parameters()]

    def step_ended(self, trainer: Any, record: Any) -> None:
        now = [x.numpy().copy() for x in trainer.model.parameters()]
        pairs = zip(self.before, now, strict=True)
        self.moved.append([not np.array_equal(a, b) for a, b in pairs])
        self.before = now
        if trainer.step in self.actions:
            self.actions[trainer.step](trainer.model, trainer.optimizer)


def unfreeze(model: Any, optimizer: Any) -> None:
    for parameter in model[0].parameters():
        parameter.requires_grad = True


def freeze(model: Any, optimizer: Any) -> None:
    for parameter in model[2].parameters():
        parameter.requires_grad = False


def thaw(model: Any, optimizer: Any) -> None:
    for parameter in model[2].parameters():
        parameter.requires_grad = True


def add_group(model: Any, optimizer: Any) -> None:
    optimizer.add_param_group({"params": list(model[4].parameters()), "lr": 0.02})


def trained(actions: dict[int, Any], **options: Any) -> tuple[Trainer, Schedule]:
    """The first layer is frozen, and the last one is not in the optimizer."""
    ex.random.manual_seed(3)
    nn = ex.nn
    layers = nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 3)
    model = nn.Sequential(*layers)
    for parameter in model[0].parameters():
        parameter.requires_grad = False
    given = [*model[0].parameters(), *model[2].parameters()]
    optimizer = ex.optim.Adam(given, lr=0.01)
    schedule = Schedule(actions)
    options = {"clip_norm": 0.05} | options
    trainer = Trainer(model, ex.cross_entropy, optimizer, callbacks=[schedule], **options)
    size = 6 // options.get("accumulate", 1)
    trainer.fit(DataLoader(ArrayDataset(X, Y), size), 2)
    assert trainer.step == STEPS
    return trainer, schedule


def arrays(trainer: Trainer) -> dict[str, Any]:
    state = trainer.take_step.state_dict()
    return {
        f"{part}.{name}": np.asarray(value)
        for part in ("model", "optimizer")
        for name, value in state[part].items()
    }


CHANGES = {
    "unfreeze": {3: unfreeze},
    "freeze": {3: freeze},
    "freeze and thaw": {2: freeze, 5: thaw},
    "add a group": {3: add_group},
    "all of them": {2: unfreeze, 3: freeze, 4: add_group, 6: thaw},
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize(
    "options",
    [
        {"micro_batches": 3},
        {"micro_batches": 3, "shard_optimizer": True},
        {"accumulate": 3},
    ],
    ids=str,
)
def test_what_is_trained_is_what_a_whole_batch_trains(name: str, options: dict[str, Any]) -> None:
    """Parameters, moments and counts of steps; the norm to clip by is of all of them."""
    wanted, whole = trained(CHANGES[name])
    got, parts = trained(CHANGES[name], **options)
    assert parts.moved == whole.moved
    assert len({tuple(each) for each in whole.moved}) > 1
    first, second = arrays(wanted), arrays(got)
    assert first.keys() == second.keys()
    for key, array in first.items():
        np.testing.assert_allclose(second[key], array, rtol=2e-4, atol=2e-6, err_msg=key)


@pytest.mark.parametrize("name", CHANGES)
def test_sharing_out_changes_no_bit(name: str) -> None:
    plain, _ = trained(CHANGES[name], micro_batches=3)
    shared, _ = trained(CHANGES[name], micro_batches=3, shard_optimizer=True)
    first, second = arrays(plain), arrays(shared)
    assert {key: x.tobytes() for key, x in first.items()} == {
        key: x.tobytes() for key, x in second.items()
    }


def test_a_checkpoint_after_a_group_was_added_has_all_states() -> None:
    """It is taken before the step that shares the group out."""
    found: list[Any] = []

    class Saving(Schedule):
        def step_ended(self, trainer: Any, record: Any) -> None:
            super().step_ended(trainer, record)
            found.append(trainer.take_step.state_dict()["optimizer"])

    ex.random.manual_seed(3)
    model = ex.nn.Sequential(ex.nn.Linear(5, 4), ex.nn.Linear(4, 3))
    optimizer = ex.optim.Adam(model[0].parameters(), lr=0.01)
    actions = {2: lambda m, o: o.add_param_group({"params": list(m[1].parameters())})}
    trainer = Trainer(
        model,
        ex.cross_entropy,
        optimizer,
        micro_batches=2,
        shard_optimizer=True,
        callbacks=[Saving(actions)],
    )
    trainer.fit(DataLoader(ArrayDataset(X, Y), 6), 1)
    assert [sum(key.endswith(".step") for key in state) for state in found] == [2, 2, 4, 4]
    assert found[1]["groups.1.params"] == 2


def test_the_norm_to_clip_by_is_of_a_group_that_was_added_too() -> None:
    for options in ({}, {"micro_batches": 2}, {"accumulate": 3}):
        trainer, _ = trained({1: unfreeze, 2: add_group}, clip_norm=1e-3, **options)
        gradients = [x.grad.numpy() for x in trainer.model.parameters()]
        norm = float(np.sqrt(sum((x.astype("f8") ** 2).sum() for x in gradients)))
        assert norm == pytest.approx(1e-3, rel=1e-5)


@pytest.mark.parametrize("options", [{}, {"micro_batches": 2, "shard_optimizer": True}], ids=str)
def test_a_run_is_resumed_after_a_group_was_added(tmp_path: Any, options: dict[str, Any]) -> None:
    """The optimizer is made with both groups then; rates are those of the checkpoint."""

    def made(folder: str, groups: int, actions: dict[int, Any]) -> Trainer:
        ex.random.manual_seed(3)
        model = ex.nn.Sequential(ex.nn.Linear(5, 4), ex.nn.Linear(4, 3))
        given = [{"params": list(layer.parameters()), "lr": 0.01} for layer in model]
        optimizer = ex.optim.Adam(given[:groups], lr=0.01)
        return Trainer(
            model,
            ex.cross_entropy,
            optimizer,
            callbacks=[Schedule(actions)],
            folder=tmp_path / folder,
            **options,
        )

    def add_and_slow(model: Any, optimizer: Any) -> None:
        optimizer.add_param_group({"params": list(model[1].parameters()), "lr": 0.01})
        optimizer.param_groups[1]["lr"] = 0.002

    loader = DataLoader(ArrayDataset(X, Y), 6)
    whole = made("whole", 1, {2: add_and_slow})
    whole.fit(loader, 2)
    first = made("parts", 1, {2: add_and_slow})
    first.fit(loader, 1)
    second = made("parts", 2, {})
    second.resume()
    second.fit(loader, 2)
    assert second.optimizer.param_groups[1]["lr"] == 0.002
    wanted, got = arrays(whole), arrays(second)
    assert {key: x.tobytes() for key, x in wanted.items()} == {
        key: x.tobytes() for key, x in got.items()
    }
