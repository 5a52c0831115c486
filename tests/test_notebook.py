"""A notebook: tensors and histories as tables, progress in one place, and cells run again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_history import Cells
from test_trainer import Watch, _loader, _trainer

from extensor.train import Progress, callbacks
from extensor.train.callbacks import Page, open_page

nbformat = pytest.importorskip("nbformat", reason="an optional library that is not installed")
for name in ("nbclient", "ipykernel"):
    pytest.importorskip(name, reason="an optional library that is not installed")
SCRIPT = str(Path(__file__).with_name("running_notebook.py"))

SETUP = """
import numpy as np, extensor as ex
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 5)).astype("float32")
y = (x.sum(axis=1) > 0).astype("int64")
ex.tensor(x)
"""
FIT = """
ex.random.manual_seed(0)
net = ex.models.mlp([5, 8, 2])
optimizer = ex.optim.Adam(net.parameters(), lr=0.01)
trainer = ex.train.Trainer(
    net, ex.nn.CrossEntropyLoss(), optimizer, metrics=["accuracy"], folder="runs/{time}"
)
history = trainer.fit(x, y, epochs=3, validation=0.25)
"""
LINES = """
ex.train.Trainer(
    net, ex.nn.CrossEntropyLoss(), optimizer, callbacks=[ex.train.Progress(__import__("sys").stdout)]
).fit(x, y, epochs=1)
"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The executed cells of a notebook, and after them the folder it ran in."""
    folder = tmp_path_factory.mktemp("notebook")
    sources = [SETUP, FIT, FIT, "history", "trainer, net", LINES]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(x) for x in sources])
    nbformat.write(notebook, folder / "notebook.ipynb")
    # Nothing of the user's: settings, history and files of connections.
    names = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    environment = {**os.environ, **{name: str(folder / name.lower()) for name in names}}
    environment |= {
        "JUPYTER_PLATFORM_DIRS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = [sys.executable, SCRIPT, str(folder)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return [*nbformat.read(folder / "notebook.ipynb", as_version=4).cells, folder / "work"]


def _page(cell: Any) -> str:
    (output,) = cell.outputs
    return str(output.data["text/html"])


def test_nothing_is_said_on_standard_error(cells: list[Any]) -> None:
    outputs = [output for cell in cells[:-1] for output in cell.outputs]
    kinds = {(output.output_type, output.get("name")) for output in outputs}
    assert kinds == {("execute_result", None), ("display_data", None), ("stream", "stdout")}


def test_a_tensor_is_a_table(cells: list[Any]) -> None:
    page = _page(cells[0])
    assert "Tensor (64, 5), float32" in page
    assert page.count("<tr>") == 7


@pytest.mark.parametrize("number", [1, 2])
def test_progress_is_one_place_that_ends_as_a_table(number: int, cells: list[Any]) -> None:
    (output,) = cells[number].outputs
    assert output.output_type == "display_data"
    page = str(output.data["text/html"])
    assert "<progress" not in page
    assert page.count("<tr>") == 1 + 3
    assert "validation_accuracy" in page
    assert "3 epochs, 6 steps, " in page
    lines = str(output.data["text/plain"]).splitlines()
    assert lines[0].split()[:3] == ["epoch", "step", "loss"]
    assert len(lines) == 5


def test_a_cell_run_again_is_another_run(cells: list[Any]) -> None:
    runs = sorted((cells[-1] / "runs").iterdir())
    assert len(runs) == 2
    logs = [(run / "log.jsonl").read_bytes() for run in runs]
    assert logs[0] == logs[1] != b""


def test_what_is_shown_of_the_rest(cells: list[Any]) -> None:
    assert _page(cells[3]).count("<tr>") == 4
    (shown,) = cells[4].outputs
    assert shown.data["text/plain"].startswith("(Trainer(Sequential of 66 parameters, ")
    stream, result = cells[5].outputs
    assert stream.text.startswith("epoch 1/1  loss ")
    assert "text/html" in result.data


class Noting:
    """What stands for the place below a cell."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def update(self, shown: Any) -> None:
        self.shown.append(shown)


class Gone:
    """One that nobody looks at any more."""

    def update(self, shown: Any) -> None:
        raise OSError


def test_only_a_kernel_has_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    shells: list[Any] = [None, SimpleNamespace(), SimpleNamespace(kernel=object())]
    display = SimpleNamespace(display=lambda shown, display_id: Noting())
    module = SimpleNamespace(get_ipython=lambda: shells[0], display=display)
    monkeypatch.setitem(sys.modules, "IPython", module)
    for has_one in (False, False, True):
        assert (open_page() is not None) == has_one
        shells.pop(0)
    monkeypatch.delitem(sys.modules, "IPython")
    assert open_page() is None


def test_a_notebook_that_is_gone_gets_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(callbacks, "open_page", lambda: Page(Gone()))
    _trainer(callbacks=[Progress()]).fit(_loader(), 2)
    assert [line[:9] for line in capsys.readouterr().err.splitlines()] == ["epoch 1/2", "epoch 2/2"]


def test_what_is_shown_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Noting()
    monkeypatch.setattr(callbacks, "open_page", lambda: Page(place))
    monkeypatch.setattr(callbacks, "_REFRESH", 0.0)
    _trainer(callbacks=[Progress()]).fit(_loader(), 2)
    pages = [Cells(one._repr_html_()) for one in place.shown]
    assert [page.tags.count("progress") for page in pages] == [1] * 7 + [0]
    assert pages[0].texts == ["epoch 1/2  "]
    assert re.fullmatch(
        r"epoch 1/2  loss [\d.]+  [\d,]+ samples/s  [\d.]+ s left", pages[2].texts[0]
    )
    assert ["table" in page.tags for page in pages] == [False] * 4 + [True] * 4


def test_it_is_shown_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Noting()
    monkeypatch.setattr(callbacks, "open_page", lambda: Page(place))
    monkeypatch.setattr(callbacks, "_REFRESH", 1000.0)
    _trainer(callbacks=[Progress()]).fit(_loader(), 2)
    assert len(place.shown) == 2  # as it begins, and in the end


def test_an_end_that_was_not_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(trainer: Any) -> None:
        if trainer.step == 4:
            raise InterruptedError

    place = Noting()
    monkeypatch.setattr(callbacks, "open_page", lambda: Page(place))
    with pytest.raises(InterruptedError):
        _trainer(callbacks=[Progress(), Watch(stop)]).fit(_loader(), 2)
    assert repr(place.shown[-1]).splitlines()[-1].startswith("ended in epoch 2/2, step 4, ")
