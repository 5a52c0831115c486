"""What is written for TensorBoard, read back from its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_trainer import _data, _trainer

from extensor.data import ArrayDataset, DataLoader
from extensor.random import Generator
from extensor.train import Callback, Logging, TensorBoard, Trainer, read_log

pytest.importorskip("tensorboardX", reason="an optional library that is not installed")


def _scalars(folder: Path) -> list[tuple[str, int, float]]:
    """The name, the step and the value of every scalar in the event files of a folder."""
    from tensorboardX.proto.event_pb2 import Event

    found = []
    for path in sorted(folder.glob("events.*")):
        content = path.read_bytes()
        while content:
            length = int.from_bytes(content[:8], "little")
            event = Event.FromString(content[12 : 12 + length])
            found += [(x.tag, event.step, x.simple_value) for x in event.summary.value]
            content = content[16 + length :]
    return found


def _logged(folder: Path) -> list[tuple[str, int, float]]:
    return [
        (f"{record['event']}/{name}", record["step"], np.float32(value))
        for record in read_log(folder / "log.jsonl")
        for name, value in record.items()
        if isinstance(value, float)
    ]


class Stop(Callback):
    """Ends training without any order at a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def step_ended(self, trainer: Trainer, record: Any) -> None:
        if trainer.step == self.step:
            raise InterruptedError


def _run(folder: Path, epochs: int, stop: int = 0) -> None:
    callbacks = [Logging(every=2), TensorBoard(every=2), Stop(stop)]
    trainer = _trainer(folder=folder, callbacks=callbacks, metrics=["accuracy"], clip_norm=1.0)
    trainer.resume()
    loader = DataLoader(_data(), 4, shuffle=True, generator=Generator(0))
    trainer.fit(loader, epochs, DataLoader(ArrayDataset(*_data().arrays), 8))


def test_the_values_are_those_of_the_log(tmp_path: Path) -> None:
    _run(tmp_path, 2)
    assert sorted(_scalars(tmp_path)) == sorted(_logged(tmp_path))
    names = {name for name, _, _ in _scalars(tmp_path)}
    assert names == {
        "step/loss", "step/lr", "step/gradient_norm",
        "epoch/loss", "epoch/lr", "epoch/validation_loss", "epoch/validation_accuracy",
    }  # fmt: skip


@pytest.mark.parametrize("stop", [3, 9, 11])
def test_a_resumed_run_repeats_no_step(stop: int, tmp_path: Path) -> None:
    """It goes on from the end of an epoch, all steps after which are taken again."""
    with pytest.raises(InterruptedError):
        _run(tmp_path, 3, stop)
    for epochs in (2, 3):
        _run(tmp_path, epochs)
    found = _scalars(tmp_path)
    assert len(found) == len({(name, step) for name, step, _ in found})
    assert sorted(found) == sorted(_logged(tmp_path))


def test_files_of_others_and_records_cut_short(tmp_path: Path) -> None:
    _run(tmp_path, 1)
    foreign = tmp_path / "events.out.tfevents.1.mine"
    foreign.write_bytes(b"not ours")
    (own,) = tmp_path.glob("events.*.extensor")
    whole = own.read_bytes()
    own.write_bytes(whole + whole[-30:-7])
    _run(tmp_path, 1)
    assert own.read_bytes() == whole
    assert foreign.read_bytes() == b"not ours"
