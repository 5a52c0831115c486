"""A run folder that version 0.1.0 left behind is gone on with, to the bits that 0.1.0 gave.

``tests/files/run-0.1.0`` was interrupted by Ctrl-C after step 31 of 69, in the middle of its second
epoch: mixed samples, dropout, AdamW, a schedule.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import extensor

import extensor as ex
from extensor import _native
from extensor.core.door import ENGINE

RUN = Path(__file__).parent / "files" / "run-0.1.0"
# Of the model and the optimizer after the last step: with fused multiply-add, and without.
FUSED = "e2dbd1733fdca07615db0ca80f367bf715059b1494a9e8409c906450b6ec83b0"
ENDS = {
    "v2": "b8ae175725297d4b5b35f28d41df68743641eee2d5f1d903f6f52a9ce9d237e1",
    "v3": FUSED,
    "v4": FUSED,
    "v4bf16": FUSED,
}


def _digest(state: dict[str, Any]) -> str:
    digest = hashlib.sha256()

    def add(path: str, value: Any) -> None:
        if isinstance(value, dict):
            for key in sorted(value):
                add(f"{path}.{key}", value[key])
        elif isinstance(value, list | tuple):
            for index, item in enumerate(value):
                add(f"{path}.{index}", item)
        elif hasattr(value, "dtype"):
            digest.update(path.encode() + np.ascontiguousarray(np.asarray(value)).tobytes())
        else:
            digest.update(f"{path}={value!r}".encode())

    add("model", state["model"])
    add("optimizer", state["optimizer"])
    return digest.hexdigest()


def test_it_is_resumed_to_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(RUN, "runs/run")
    result = extensor("train", "--resume", "runs/run")
    assert result.code == 0, result.err
    state = ex.load("runs/run/checkpoints/step-000000069.safetensors")
    if ENGINE == "native" and _native.instruction_set in ENDS:
        assert _digest(state) == ENDS[_native.instruction_set]
    else:  # other arithmetic, other last digits
        assert all(np.isfinite(np.asarray(x)).all() for x in state["model"].values())
    assert extensor("evaluate", "runs/run").code == 0
    epochs = [x for x in ex.train.read_log("runs/run/log.jsonl") if x["event"] == "epoch"]
    assert [set(record) for record in epochs] == [
        {"event", "epoch", "step", "loss", "lr", "validation_loss", "validation_accuracy"}
    ] * 3


def test_its_weights_can_be_read() -> None:
    state = ex.load(RUN / "checkpoints" / "step-000000031.safetensors")
    net = ex.models.mlp([64, 8, 10], 0.1)
    net.load_state_dict(state["model"])
    assert net(ex.zeros((2, 64))).shape == (2, 10)
