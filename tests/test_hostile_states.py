"""Files that nobody saved, and what saving and loading need: all of a state, or an error of ours."""

from __future__ import annotations

import hashlib
import json
import re
import resource
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from soak.files import content_of, is_refused, run, same, small_state, swapped, swaps

import extensor as ex
from extensor.data import ArrayDataset, DataLoader
from extensor.io import DamagedFileError
from extensor.io.state_file import unpacked
from extensor.train import Trainer

OLD = Path(__file__).parent / "files" / "state-0.1.0.safetensors"


def test_files_of_the_first_version_are_read_and_written_the_same(tmp_path: Path) -> None:
    state = ex.load(OLD)
    arrays = state["arrays"]
    assert [str(arrays[name].dtype) for name in arrays] == list(arrays)
    assert state["named"]["turned"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert state["named"]["0-d"].item() == 2.5
    assert state["progress"]["rates"] == [0.1, 1e-300, [None, True]]
    assert state["seed"] == 2**64 - 1
    ex.save(tmp_path / "a", state)
    assert (tmp_path / "a").read_bytes() == OLD.read_bytes()


def test_a_short_soak() -> None:
    findings: list[str] = []
    run(seed=11, changes=500, every=61, report=findings.append)
    assert findings == []


def test_swapped_bytes_never_make_a_file_one_of_others() -> None:
    """All swaps within the beginning of the header, which holds every mark of ours."""
    content = content_of({"epoch": 1})
    pairs = [pair for pair in swaps(content) if pair[1] < 60 or pair[1] > 110]
    missed = [pair for pair in pairs if not is_refused(swapped(content, *pair))]
    assert len(pairs) > 4000
    assert missed == []


def _file(note: Any = None, data: bytes = bytes(8), metadata: Any = None, **fields: Any) -> bytes:
    """A file with a right digest: ``note`` in place of ours, ``fields`` beside one tensor."""
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    if note is None:
        note = {"extensor": 1, "digest": "0" * 64, "state": {"x": {"": "x"}}}
    text = note if isinstance(note, str) else json.dumps(note)
    outer = {"__metadata__": metadata or {"extensor": text}, "x": entry, **fields}
    outer = {key: value for key, value in outer.items() if value != "left out"}
    header = json.dumps(outer).encode()
    content = len(header).to_bytes(8, "little") + header + data
    digest = hashlib.sha256(content).hexdigest().encode()
    return content.replace(b"0" * 64, digest, 1)


def _note(state: Any) -> dict[str, Any]:
    return {"extensor": 1, "digest": "0" * 64, "state": state}


NOT_WHOLE = "file must be a whole safetensors file"
NO_STATE = "file must hold a state that save can write"
_deep: Any = 1
for _ in range(101):
    _deep = {"a": _deep}


def test_the_file_that_hostile_ones_are_made_of() -> None:
    assert unpacked(_file(), "good")["x"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (_file(_note({})), f"{NO_STATE} (the state has no place for tensor 'x')"),
        (_file(_note({"y": {"": "x"}})), f"{NO_STATE} ('y' is not where its tensor should be)"),
        (_file(_note({"x": {"": "y"}})), f"{NO_STATE} ('x' is not where its tensor should be)"),
        (_file(_note({"x": {"": []}})), f"{NO_STATE} ('x' is not where its tensor should be)"),
        (
            _file(_note({"x": {"": "x"}, "y": {"": "y"}})),
            f"{NO_STATE} ('y' is not where its tensor should be)",
        ),
        (_file(_note({"x": {"": "x", "a": 1}})), f"{NO_STATE} ('x' is not where its"),
        (_file(_note({"": "x"})), f"{NO_STATE} (the state is no dict)"),
        (_file(_note([])), f"{NO_STATE} (the state is no dict)"),
        (_file(_note({"x": {"": "x"}, "a": [{}]})), f"{NO_STATE} ('a' is not plain)"),
        (_file(_note({"x": {"": "x"}, "a": _deep})), f"{NO_STATE} (the state has more than 100"),
        (_file({**_note({}), "more": 1}), NOT_WHOLE),
        (_file({"extensor": 1, "state": {}, "digest": "0" * 64}), NOT_WHOLE),
        (_file({"extensor": 1, "digest": ["0" * 64], "state": {}}), NOT_WHOLE),
        (_file({"extensor": True, "digest": "0" * 64, "state": {}}), NOT_WHOLE),
        (_file('{"extensor": 1, "digest": "' + "0" * 64 + '", "state": {"a": 1, "a": 2}}'), NOT_WHOLE),
        (_file('{"extensor": 1, "digest": "' + "0" * 64 + '", "state": {"a": 1e999}}'), NOT_WHOLE),
        (_file('{"extensor": 1, "digest": "' + "0" * 64 + '", "state": ' + "[" * 9999), NOT_WHOLE),
        (_file(metadata={"extensor": json.dumps(_note({})), "other": "x"}), NOT_WHOLE),
        (_file(metadata={"extensor": "3"}), NOT_WHOLE),
        (_file(metadata={"extensxr": json.dumps(_note({}))}), NOT_WHOLE),
        (_file(metadata={"extensor": {}}), NOT_WHOLE),
        (_file(x={"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}), NOT_WHOLE),
        (_file(x={"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}), NOT_WHOLE),
        (_file(x={"dtype": "F32", "shape": [True, 2], "data_offsets": [0, 8]}), NOT_WHOLE),
        (_file(x={"dtype": "F32", "shape": [2, 1.0], "data_offsets": [0, 8]}), NOT_WHOLE),
        (_file(x={"dtype": "F32", "shape": [-2, -1], "data_offsets": [0, 8]}), NOT_WHOLE),
        (_file(x={"dtype": "F32", "shape": [1] * 65 + [2], "data_offsets": [0, 8]}), NOT_WHOLE),
        (_file(x={"dtype": ["F32"], "shape": [2], "data_offsets": [0, 8]}), NOT_WHOLE),
        (_file(x={"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]}), NOT_WHOLE),
        (_file(x={"dtype": "F32", "shape": [2]}), NOT_WHOLE),
        (_file(x=3), NOT_WHOLE),
        (_file(y={"dtype": "F32", "shape": [0, 2**62], "data_offsets": [8, 8]}), NOT_WHOLE),
        (_file(y={"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}), NOT_WHOLE),
        (_file(data=b"\1\2" * 4, x={"dtype": "BOOL", "shape": [8], "data_offsets": [0, 8]}), NOT_WHOLE),
    ],
)  # fmt: skip
def test_hostile_files_with_a_right_digest(content: bytes, text: str) -> None:
    with pytest.raises(DamagedFileError, match=f"^load: {re.escape(text)}"):
        unpacked(content, "hostile")


def test_files_of_others_only_where_they_are_wanted(tmp_path: Path) -> None:
    path = tmp_path / "others.safetensors"
    save_file({"x": np.ones(2, np.float32)}, path, {"modelspec.hash_sha256": "0x" + "ab" * 32})
    assert ex.load(path)["x"].tolist() == [1.0, 1.0]
    requirement = "file must be one that save wrote, not one of others"
    with pytest.raises(ValueError, match=f"^load: {requirement}, got path={str(path)!r}$"):
        ex.load(path, foreign=False)
    model = ex.nn.Linear(1, 1)
    trainer = Trainer(model, ex.mse_loss, ex.optim.SGD(model.parameters(), 0.1), callbacks=[])
    with pytest.raises(ValueError, match=f"^load: {requirement}"):
        trainer.resume(path)


def test_dtypes_that_only_others_have() -> None:
    entry = {"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]}
    known = "U64, I64, F64, F32, U32, I32, BF16, F16, U16, I16, I8, U8, BOOL"
    text = f"load: tensors must have dtypes among {known} ('x' has 'F8_E4M3'), got path='a'"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        unpacked(_file(metadata={"format": "pt"}, x=entry), "a")


_circle: dict[str, Any] = {}
_circle["a"] = _circle


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (_circle, "save: state must have at most 100 levels, got path='a.a.a.a...'"),
        (
            {"__metadata__": np.ones(1)},
            "save: the path of a tensor must be text, and not '__metadata__', "
            "got path='__metadata__'",
        ),
        (
            {"\ud800": np.ones(1)},
            r"save: the path of a tensor must be text, and not '__metadata__', got path='\ud800'",
        ),
        ({"a": 10**5000}, "save: integers must have at most 4300 digits"),
    ],
)
def test_states_that_could_not_be_read_again(state: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        ex.save(tmp_path / "a", state)
    assert list(tmp_path.iterdir()) == []


def test_a_state_that_changes_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if another thread trained on: the file is some state, and its digest that of the state."""
    import os

    array = np.zeros(1 << 19, np.float32)
    write = os.write

    def changing(file: int, content: Any) -> int:
        done = write(file, content)
        array[:] += 1
        return done

    monkeypatch.setattr(os, "write", changing)
    ex.save(tmp_path / "a", {"x": array, "y": array})
    monkeypatch.undo()
    x, y = (ex.load(tmp_path / "a")[name].tolist() for name in "xy")
    assert (min(x), max(x), min(y), max(y)) == (0.0, 1.0, 2.0, 3.0)


MEGABYTE = 1 << 20


def test_saving_and_loading_copy_no_more_than_one_tensor(tmp_path: Path) -> None:
    state = {str(i): np.ones((512, 2 * 512), np.float32) for i in range(16)}  # 2 MB each
    state["turned"] = np.ones((512, 1024), np.float32).T
    for i, (work, most) in enumerate(
        [(lambda: ex.save(tmp_path / "a", state), 7), (lambda: ex.load(tmp_path / "a"), 41)]
    ):
        tracemalloc.start()
        kept = work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < most * MEGABYTE, (i, peak)
        del kept


RESIDENT = """
import resource, sys
import numpy as np
import extensor as ex
path, saving = sys.argv[1], sys.argv[2] == "save"
ex.save(path + ".small", {"x": np.ones(10)})
ex.load(path + ".small")
state = {str(i): np.full(1 << 20, i, np.float32) for i in range(32)} if saving else None
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if saving:
    ex.save(path, state)
else:
    state = ex.load(path)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_resident_memory(tmp_path: Path) -> None:
    """128 MB in tensors of 4: what a process needs to save them, and beside them to load them."""
    grown = []
    for kind in ("save", "load"):
        command = [sys.executable, "-c", RESIDENT, str(tmp_path / "a"), kind]
        finished = subprocess.run(command, capture_output=True, text=True, check=True)
        grown.append(int(finished.stdout) / 1024)
    assert grown[0] < 24
    assert grown[1] < 128 + 24
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0


def test_a_checkpoint_is_written_without_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ex.nn.Linear(3, 2)
    optimizer = ex.optim.Adam(model.parameters())
    trainer = Trainer(
        model,
        ex.mse_loss,
        optimizer,
        ema=ex.optim.EMA(model),
        callbacks=[],
        folder=tmp_path / "run",
    )
    trainer.fit(DataLoader(ArrayDataset(np.ones((4, 3), "float32"), np.ones((4, 2)))), 1)
    saved: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "extensor.train.checkpoint_files.save", lambda path, state: saved.append(dict(state))
    )
    trainer.save()
    m = optimizer.state[model.weight]["m"]
    assert saved[0]["optimizer"]["state.0.m"] is m
    assert trainer.state_dict()["optimizer"]["state.0.m"] is not m
    assert same(saved[0], trainer.state_dict())


def test_the_library_reads_what_we_write(tmp_path: Path) -> None:
    ex.save(tmp_path / "a", small_state())
    found = load_file(tmp_path / "a")
    assert found["flags"].tolist() == [True, False, True]
