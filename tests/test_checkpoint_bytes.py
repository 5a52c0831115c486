"""Runs that are equal have equal checkpoint files, wherever they were interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.train import Logging, Trainer
from extensor.train.fit_loop import FitLoop


def files(folder: Path) -> dict[str, bytes]:
    found = [*folder.glob("checkpoints/*"), folder / "log.jsonl"]
    return {path.name: path.read_bytes() for path in found}


@pytest.mark.parametrize("step", [0, 1, 3])  # the second epoch begins after step 3
def test_a_run_that_was_interrupted_has_the_files_of_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    rows = [f"{n % 7},{'red' if n % 2 else 'blue'},{n % 7 + n % 2}" for n in range(60)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["size,colour,weight", *rows]) + "\n")
    config = {"data": {"train": str(table), "batch_size": 16}, "epochs": 2}
    ex.train.experiment(config, folder=tmp_path / "one").fit()
    fit_step = FitLoop._fit_step

    def interrupted(loop: FitLoop, group: Any) -> None:
        if loop.trainer.step == step:
            raise RuntimeError("enough")
        fit_step(loop, group)

    with monkeypatch.context() as patched:
        patched.setattr(FitLoop, "_fit_step", interrupted)
        with pytest.raises(RuntimeError, match="enough"):
            ex.train.experiment(config, folder=tmp_path / "two").fit()
    ex.train.experiment(resume=tmp_path / "two").fit()
    assert files(tmp_path / "one") == files(tmp_path / "two")


def saved(folder: Path, config: dict[str, Any], first_line: str) -> bytes:
    ex.random.manual_seed(0)
    model = ex.nn.Linear(2, 1)
    optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    trainer = Trainer(
        model, ex.mse_loss, optimizer, folder=folder, config=config, callbacks=[Logging()]
    )
    x = np.ones((4, 2), np.float32)
    trainer.fit(x, x[:, :1], epochs=1)
    trainer.callbacks[0].fit_began(trainer)
    trainer.log({"event": "note", "text": first_line})
    trainer.callbacks[0].fit_ended(trainer)
    return trainer.save("last").read_bytes()


def test_neither_the_order_of_a_configuration_nor_the_words_of_a_log_are_in_a_checkpoint(
    tmp_path: Path,
) -> None:
    one = saved(tmp_path / "one", {"a": 1, "b": {"c": 2, "d": 3}}, "short")
    two = saved(tmp_path / "two", {"b": {"d": 3, "c": 2}, "a": 1}, "a longer line")
    assert one == two


def test_a_log_goes_on_from_the_length_that_older_checkpoints_have(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"step": 1}\n{"step": 2}\n{"step": 3}\n')
    model = ex.nn.Linear(2, 1)
    optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    logging = Logging()
    trainer = Trainer(model, ex.mse_loss, optimizer, folder=tmp_path, callbacks=[logging])
    logging.load_state_dict({"length": 24})
    assert logging.state_dict() == {"length": 24}
    logging.fit_began(trainer)
    trainer.log({"step": 7})
    assert logging.state_dict() == {"lines": 3}
    logging.fit_ended(trainer)
    assert (tmp_path / "log.jsonl").read_text() == '{"step": 1}\n{"step": 2}\n{"step": 7}\n'
