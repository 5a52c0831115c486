"""The short form of ``make soak``: some drawn calls of everything, and what recognises a raw text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from soak.__main__ import families
from soak.calls import run
from soak.metric_calls import METRICS
from soak.native_targets import native_targets
from soak.public_calls import DATA, FUNCTIONS, MODULES, NOT_CALLED, OPTIMIZERS, SCHEDULES
from soak.targets import public_targets
from soak.texts import raw

import extensor as ex
from extensor import _native
from extensor.core.op import OPS
from extensor.errors import marked, value_error

HERE = Path(__file__).parent
SEED = 12


def test_drawn_calls() -> None:
    """Each target four times."""
    calls = 4 * (len(public_targets()) + len(native_targets()))
    _, findings = run(SEED, calls, 0, 2)
    assert findings == []


def test_every_public_name_is_called() -> None:
    examples = {path.split(".")[-1] for path in FUNCTIONS}
    called = {*examples, *MODULES, *DATA, *OPTIMIZERS, *SCHEDULES, *NOT_CALLED, *OPS}
    called |= {f"{name}_backward" for name, op in OPS.items() if op.rule is not None}
    called |= {
        f"{name}{end}" for name in ("max", "min", "expand_dims") for end in ("", "_backward")
    }
    public: set[str] = set()
    for module in (ex, ex.nn, ex.optim, ex.random, ex.data, ex.amp, ex.io, ex.distributed):
        public |= set(module.__all__)
    public |= {name for name in vars(ex.nn.init) if f"nn.init.{name}" in FUNCTIONS}
    assert public - called == set()


def test_every_metric_is_called_for_every_task() -> None:
    kinds = ex.train.metrics.METRICS.values()
    assert METRICS.keys() == {(kind.__name__, task) for kind in kinds for task in kind.tasks}


_WATCHING = {"Computed", "remove_watcher", "watchers"}  # used by what adds a watcher


def test_every_entry_of_the_extension_is_called() -> None:
    names = {target.name.removeprefix("_native.") for target in native_targets()}
    entries = {name for name in vars(_native) if not name.startswith("_")}
    assert entries - names - {"kernels", "instruction_set", "Kernel", "mode", *_WATCHING} == set()
    assert {f"kernel {name}" for name in _native.kernels} <= names


def _numpy_fails() -> None:
    np.zeros(2) + np.zeros(3)


def _with_a_name_in_front() -> None:
    try:
        _numpy_fails()
    except ValueError as error:
        raise marked(ValueError(f"add: {error}")) from error


def _ours() -> None:
    ex.add(ex.ones(2), ex.ones(3))


@pytest.mark.parametrize("fails", [_numpy_fails, _with_a_name_in_front])
def test_a_text_of_numpy_is_recognised(fails: Any) -> None:
    with pytest.raises(ValueError, match="could not be broadcast") as caught:
        fails()
    assert raw(caught.value)


def test_a_text_that_quotes_numpy_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if the ``raise`` stands in our sources."""

    def quoting(*args: Any) -> Exception:
        return value_error("relu", f"must work, got {args[-1]}")

    monkeypatch.setattr("extensor.core.binding.explained", quoting)
    with pytest.raises(ValueError, match="must work") as caught:
        ex.relu_backward(ex.ones(2), None)
    assert raw(caught.value)


def test_our_texts_are_recognised() -> None:
    for call in (_ours, lambda: ex.zeros(), lambda: ex.nn.Linear(2, 3)(), lambda: ex.add(1)):
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        assert raw(caught.value) is None


def test_families_are_found() -> None:
    assert "calls" in families()
    assert "worker" not in families()


def test_runner() -> None:
    command = [sys.executable, "-m", "soak", "calls", "--calls", "20", "--seed", "3"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True)
    assert "soak.calls: 20 calls, seed 3" in done.stdout
    assert "calls: nothing found" in done.stdout
    wrong = subprocess.run([*command[:3], "nonsense"], cwd=HERE, capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "got nonsense" in wrong.stderr
