"""Dicts that no state_dict gave: refused by errors that name the key, and nothing is changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from soak.files import made_trainer, same

import extensor as ex
from extensor.train import BestCheckpoint, Callback, EarlyStopping, Logging, Mean, Trainer


def _loaders() -> dict[str, Any]:
    trainer, loader = made_trainer()
    model = ex.nn.BatchNorm1d(2)
    plateau = trainer.optimizer.schedules[1]
    return {
        "trainer": trainer,
        "loader": loader,
        "model": model,
        "optimizer": trainer.optimizer,
        "scaler": ex.amp.GradScaler(),
        "ema": trainer.take_step.ema,
        "plateau": plateau,
        "mean": Mean(),
        "stopping": EarlyStopping(),
        "best": BestCheckpoint(),
        "logging": Logging(),
    }


def _set(**values: Any) -> Callable[[dict[str, Any]], None]:
    """Sets entries, ``__`` in a name standing for a dot; ``...`` leaves one out."""

    def change(state: dict[str, Any]) -> None:
        for name, value in values.items():
            key = name.replace("__", ".")
            if value is ...:
                del state[key]
            else:
                state[key] = value

    return change


@pytest.mark.parametrize(
    ("part", "change", "text"),
    [
        (
            "model",
            _set(weight=None),
            "BatchNorm1d: weight must be a tensor, got weight=None",
        ),
        (
            "model",
            _set(weight="x"),
            "BatchNorm1d: weight must be a tensor, got weight='x'",
        ),
        (
            "model",
            _set(num_batches_tracked=0.5),
            "BatchNorm1d: num_batches_tracked must fit int64, got dtype='float64'",
        ),
        (
            "model",
            _set(weight=np.full(2, 1e300)),
            "BatchNorm1d: weight must fit float32, got dtype='float64'",
        ),
        (
            "model",
            lambda state: state.update({3: 1}),
            "BatchNorm1d: the keys of state_dict must be strings, not empty, got key=3",
        ),
        (
            "optimizer",
            _set(groups__0__lr="x"),
            "AdamW: groups.0.lr must be a number, got lr='x'",
        ),
        (
            "optimizer",
            _set(groups__0__lr=-1.0),
            "AdamW: lr must be 0 or greater, got lr=-1.0",
        ),
        (
            "optimizer",
            _set(groups__0__lr=...),
            "AdamW: an entry is missing, got key='groups.0.lr'",
        ),
        (
            "optimizer",
            _set(groups__0__params="x"),
            "AdamW: groups.0.params must be an integer, got params='x'",
        ),
        (
            "optimizer",
            _set(groups__0__amsgrad=2),
            "AdamW: groups.0.amsgrad must be True or False, got amsgrad=2",
        ),
        (
            "optimizer",
            _set(groups__0__betas__0=[]),
            "AdamW: groups.0.betas.0 must be a number, got groups.0.betas.0='list'",
        ),
        (
            "optimizer",
            _set(state__0__step=-1),
            "AdamW: state.0.step must be from 0 to 2**63 - 1, got step=-1",
        ),
        (
            "optimizer",
            _set(state__0__step="x"),
            "AdamW: state.0.step must be an integer, got step='x'",
        ),
        (
            "optimizer",
            _set(state__0__m={}),
            "AdamW: state.0.m must be a tensor, got m='dict'",
        ),
        (
            "optimizer",
            _set(state__0__v=...),
            "AdamW: an entry is missing, got key='state.0.v'",
        ),
        (
            "optimizer",
            _set(more=1),
            "AdamW: unknown entries, got keys=['more']",
        ),
        (
            "plateau",
            _set(count="x"),
            "ReduceLROnPlateau: count must be an integer, got count='x'",
        ),
        (
            "plateau",
            _set(best=None),
            "ReduceLROnPlateau: best must be a number, got best=None",
        ),
        (
            "plateau",
            _set(bad=-1),
            "ReduceLROnPlateau: bad must be from 0 to 2**63 - 1, got bad=-1",
        ),
        (
            "scaler",
            _set(scale=0.0),
            "GradScaler: scale must be finite and greater than 0, got scale=0.0",
        ),
        (
            "scaler",
            _set(good_steps=1.5),
            "GradScaler: good_steps must be an integer, got good_steps=1.5",
        ),
        (
            "scaler",
            _set(scale=...),
            "GradScaler: keys must be ['scale', 'good_steps'], got keys=['good_steps']",
        ),
        (
            "ema",
            _set(count=None),
            "EMA: count must be an integer, got count=None",
        ),
        (
            "ema",
            _set(average__0="x"),
            "EMA: average.0 must be a tensor, got average.0='x'",
        ),
        (
            "loader",
            _set(seed="x"),
            "DataLoader: seed must be an integer from 0 to 2**64 - 1, got seed='x'",
        ),
        (
            "loader",
            _set(counter=-1),
            "DataLoader: counter must be an integer from 0 to 2**64 - 1, got counter=-1",
        ),
        (
            "loader",
            _set(position=1.5),
            "DataLoader: position must be an integer, got position=1.5",
        ),
        (
            "mean",
            _set(total="x"),
            "Mean: total must be a number, got total='x'",
        ),
        (
            "stopping",
            _set(best=[]),
            "EarlyStopping: best must be a number, got best='list'",
        ),
        (
            "best",
            _set(bad=...),
            "BestCheckpoint: keys must be ['monitor', 'mode', 'best', 'bad'], "
            "got keys=['monitor', 'mode', 'best']",
        ),
        (
            "logging",
            _set(lines=-3),
            "Logging: lines must be from 0 to 2**63 - 1, got lines=-3",
        ),
        (
            "logging",
            _set(lines=..., length=-3),
            "Logging: length must be from 0 to 2**63 - 1, got length=-3",
        ),
        (
            "trainer",
            _set(model=...),
            "Trainer: an entry is missing, got key='model'",
        ),
        (
            "trainer",
            _set(model=3),
            "Sequential: state_dict must be a mapping, got state_dict='int'",
        ),
        (
            "trainer",
            _set(ema=None),
            "Trainer: ema must be a mapping, got ema='NoneType'",
        ),
        (
            "trainer",
            _set(schedules={"0": {}, "x": {}}),
            "Trainer: the keys of schedules must be ['0', '1'], got keys=['0', 'x']",
        ),
        (
            "trainer",
            _set(progress={}),
            "Trainer: the keys of progress must be "
            "['epoch', 'step', 'batch', 'stopped', 'running_loss'], got keys=[]",
        ),
        (
            "trainer",
            _set(history={"0": {"loss": {}}}),
            "Trainer: history.0.loss must be a plain value, got type='dict'",
        ),
        (
            "trainer",
            _set(history={"1": {}}),
            "Trainer: the keys of history must be ['0'], got keys=['1']",
        ),
        (
            "trainer",
            _set(generators={"default": [1]}),
            "Trainer: generators.default must be two integers from 0 to 2**64 - 1",
        ),
        (
            "trainer",
            _set(loader=None),
            "Trainer: loader must be a mapping, got loader='NoneType'",
        ),
        (
            "trainer",
            _set(callbacks={"0-EarlyStopping": {"best": 1.0}}),
            "EarlyStopping: keys must be ['monitor', 'mode', 'best', 'bad'], "
            "got keys=['monitor', 'mode', 'best']",
        ),
    ],
)
def test_hostile_dicts_change_nothing(
    part: str, change: Callable[[dict[str, Any]], None], text: str
) -> None:
    owner = _loaders()[part]
    before = owner.state_dict()
    if part == "model":
        before = {key: x.numpy().copy() for key, x in before.items()}
    state = dict(before)
    change(state)
    text = text.replace(":", ".load_state_dict:", 1)
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(text)}$"):
        owner.load_state_dict(state)
    after = owner.state_dict()
    assert same(
        {key: np.asarray(x) for key, x in after.items()} if part == "model" else after, before
    )


def test_callbacks_are_loaded_together_or_not_at_all() -> None:
    class Strict(Callback):
        def load_state_dict(self, state_dict: Any) -> None:
            if state_dict:
                raise RuntimeError("no")

    model = ex.nn.Linear(1, 1)
    optimizer = ex.optim.SGD(model.parameters(), 0.1)
    stopping = EarlyStopping()
    trainer = Trainer(model, ex.mse_loss, optimizer, callbacks=[stopping, Strict()])
    state = trainer.state_dict()
    state["callbacks"] = {"0-EarlyStopping": {"best": 3.0, "bad": 4}, "1-Strict": {"a": 1}}
    state["progress"]["step"] = 5
    with pytest.raises(RuntimeError, match=r"^no$"):
        trainer.load_state_dict(state)
    assert (stopping.best, stopping.bad, trainer.step) == (float("inf"), 0, 0)


def test_classes_that_load_in_a_way_of_their_own_are_asked_to() -> None:
    loaded: list[str] = []

    class Own(ex.nn.Linear):
        def load_state_dict(self, state_dict: Any, strict: bool = True) -> Any:
            loaded.append("model")
            return super().load_state_dict(state_dict, strict)

    model = Own(1, 1)
    trainer = Trainer(model, ex.mse_loss, ex.optim.SGD(model.parameters(), 0.1), callbacks=[])
    trainer.load_state_dict(trainer.state_dict())
    assert loaded == ["model"]


def test_classes_that_load_in_a_way_of_their_own_come_first() -> None:
    class Strict(ex.optim.SGD):
        def load_state_dict(self, state_dict: Any) -> None:
            raise RuntimeError("no")

    model = ex.nn.Linear(1, 1)
    trainer = Trainer(model, ex.mse_loss, Strict(model.parameters(), 0.1), callbacks=[])
    state = trainer.state_dict()
    state["model"] = {key: x.numpy() + 1 for key, x in state["model"].items()}
    before = model.weight.item()
    with pytest.raises(RuntimeError, match=r"^no$"):
        trainer.load_state_dict(state)
    assert model.weight.item() == before
