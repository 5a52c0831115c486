"""States in files: what is read is what was written, or nothing, whatever happened in between."""

from __future__ import annotations

import errno
import json
import os
import resource
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import extensor as ex
from extensor.io import DamagedFileError
from extensor.io.atomic import remove_partial, write_atomically
from extensor.io.state_file import unpacked

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()


def _equal(first: Any, second: Any) -> bool:
    """The same dicts in the same order, and arrays of the same bits."""
    if isinstance(first, dict):
        return list(first) == list(second) and all(_equal(first[k], second[k]) for k in first)
    if isinstance(first, ex.Tensor | np.ndarray):
        a, b = (np.asarray(x) for x in (first, second))
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(first) is type(second) and (first == second or first != first)


@pytest.fixture
def state(rng: np.random.Generator) -> dict[str, Any]:
    model = ex.nn.Sequential(ex.nn.Linear(3, 4), ex.nn.BatchNorm1d(4))
    return {
        "model": model.state_dict(),
        "optimizer": ex.optim.Adam(model.parameters()).state_dict(),
        "progress": {"epoch": 3, "best": float("-inf"), "name": "a.b/ü", "rates": [0.1, 1e-300]},
        "nothing": {},
        "done": False,
        "none": None,
        "seed": 2**64 - 1,
        "order": rng.permutation(10),
    }


def test_a_state_comes_back(state: dict[str, Any], tmp_path: Path) -> None:
    ex.save(tmp_path / "a", state)
    assert _equal(ex.load(tmp_path / "a"), state)


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_arrays_of_every_kind(
    dtype: str, shape: tuple[int, ...], tmp_path: Path, rng: np.random.Generator
) -> None:
    array = ex.tensor(rng.integers(0, 2, shape), dtype)
    ex.save(tmp_path / "a", {"x": array, "turned": array.numpy().T})
    loaded = ex.load(tmp_path / "a")
    assert _equal(loaded, {"x": array, "turned": array.numpy().T})
    loaded["x"].numpy()[...] = 1  # memory of its own


def test_equal_states_give_equal_files(state: dict[str, Any], tmp_path: Path) -> None:
    for name in "ab":
        ex.save(tmp_path / name, state)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_others_can_read_our_files(tmp_path: Path) -> None:
    model = ex.nn.Linear(2, 3)
    ex.save(tmp_path / "flat", model.state_dict())
    found = load_file(tmp_path / "flat")
    assert sorted(found) == ["bias", "weight"]
    np.testing.assert_array_equal(found["weight"], model.weight.numpy())
    ex.save(tmp_path / "nested", {"model": model.state_dict(), "epoch": 1})
    assert sorted(load_file(tmp_path / "nested")) == ["model.bias", "model.weight"]


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_we_can_read_the_files_of_others(metadata: Any, tmp_path: Path) -> None:
    arrays = {"extensor.weight": np.arange(6.0).reshape(2, 3), "b": np.zeros(0, np.float32)}
    save_file(arrays, tmp_path / "a", metadata)
    loaded = ex.load(tmp_path / "a")
    assert sorted(loaded) == sorted(arrays)
    assert all(_equal(loaded[name], arrays[name]) for name in arrays)


@pytest.mark.parametrize(
    ("state", "error", "text"),
    [
        (
            {"a": {"b": print}},
            TypeError,
            "save: state must hold dicts, tensors, numbers, strings, None and lists of plain "
            "values, got path='a.b', type='builtin_function_or_method'",
        ),
        (
            {"a": [np.ones(2)]},
            TypeError,
            "save: state must hold dicts, tensors, numbers, strings, None and lists of plain "
            "values, got path='a', type='list'",
        ),
        ({1: 2}, ValueError, "save: keys must be strings, not empty, got path='', key=1"),
        ({"a": {"": 2}}, ValueError, "save: keys must be strings, not empty, got path='a', key=''"),
        (
            {"a": {"b": np.ones(1)}, "a.b": np.ones(1)},
            ValueError,
            "save: paths of tensors must differ, got path='a.b'",
        ),
    ],
)
def test_what_cannot_be_saved(
    state: Any, error: type[Exception], text: str, tmp_path: Path
) -> None:
    with pytest.raises(error) as caught:
        ex.save(tmp_path / "a", state)
    assert str(caught.value) == text
    assert list(tmp_path.iterdir()) == []


def test_a_newer_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensor.io.state_file.FORMAT", 2)
    ex.save(tmp_path / "a", {})
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"^load: format must be 1, got format=2, path="):
        ex.load(tmp_path / "a")


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("content") / "a"
    model = ex.nn.Sequential(ex.nn.Linear(5, 4), ex.nn.ReLU(), ex.nn.Linear(4, 2))
    ex.save(path, {"model": model.state_dict(), "progress": {"epoch": 3, "loss": 0.25}})
    return path.read_bytes()


def _refused(content: bytes) -> None:
    with pytest.raises(
        DamagedFileError,
        match=r"^load: (file must be a whole safetensors file|content must be as it was written) ?"
        r".*, got path='checkpoint'",
    ):
        unpacked(bytes(content), "checkpoint")


def test_flipped_bits_are_found(content: bytes, rng: np.random.Generator) -> None:
    """Every bit of the length and of our metadata, and bits elsewhere: 2,000 together."""
    begin = content.index(b"extensor")
    all_bits = [*range(64), *range(8 * begin, 8 * (begin + 120))]
    others = rng.choice(8 * len(content), 2000 - len(all_bits), replace=False).tolist()
    for bit in [*all_bits, *others]:
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        _refused(damaged)


def test_truncated_files_are_refused(content: bytes, rng: np.random.Generator) -> None:
    for length in [*range(20), *rng.integers(20, len(content), 400).tolist(), len(content) - 1]:
        _refused(content[:length])
    _refused(content + b"\0")
    _refused(content[:-1] + bytes([content[-1] ^ 255]))


@pytest.mark.parametrize(
    "header",
    [b"[]", b"3", b'{"__metadata__": 3}', b'{"__metadata__": {"extensor": "3"}}', b"[" * 100_000],
)
def test_headers_that_make_no_sense_are_refused(header: bytes) -> None:
    _refused(struct.pack("<Q", len(header)) + header)


def test_a_damaged_file_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(DamagedFileError) as caught:
        ex.load(tmp_path / "a")
    assert str(caught.value) == (
        "load: content must be as it was written (its digest differs), "
        f"got path={str(tmp_path / 'a')!r}"
    )


def test_nothing_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on purpose nor through a library: the unpickler is never reached."""
    import pickle

    def forbidden(*_: Any, **__: Any) -> Any:
        raise AssertionError("unpickled")

    monkeypatch.setattr(pickle, "loads", forbidden)
    monkeypatch.setattr(pickle, "load", forbidden)
    monkeypatch.setattr(pickle, "Unpickler", forbidden)
    ex.save(tmp_path / "a", {"x": ex.ones(2), "note": "cos\nsystem\n(S'false'\ntR."})
    assert ex.load(tmp_path / "a")["x"].tolist() == [1.0, 1.0]


# The system calls of a save, in their order, by the name under which os has them.
CALLS = ["open", "write", "pwrite", "fsync", "close", "replace", "open", "fsync", "close"]


def _failing_at(number: int, error: Callable[[], BaseException]) -> dict[str, Any]:
    """The functions of ``os``, of which the call with that number raises instead of doing it."""
    count = 0

    def guarded(name: str) -> Any:
        function = getattr(os, name)

        def call(*arguments: Any) -> Any:
            nonlocal count
            count += 1
            assert count - 1 > number or CALLS[count - 1] == name
            if count - 1 == number:
                if name == "close":  # it fails after closing
                    function(*arguments)
                raise error()
            return function(*arguments)

        return call

    return {name: guarded(name) for name in dict.fromkeys(CALLS)}


@pytest.mark.parametrize("number", range(len(CALLS)))
@pytest.mark.parametrize("before", [None, {"x": 1}])
def test_an_error_at_any_system_call(
    number: int, before: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    if before is not None:
        ex.save(path, before)
    for name, function in _failing_at(
        number, lambda: OSError(errno.ENOSPC, "No space left on device")
    ).items():
        monkeypatch.setattr(os, name, function)
    with pytest.raises(
        OSError, match=r"save: could not write .* [(]No space left on dev"
    ) as caught:
        ex.save(path, {"x": 2})
    monkeypatch.undo()
    renamed = number > CALLS.index("replace")
    assert caught.value.errno == errno.ENOSPC
    assert [p.name for p in tmp_path.iterdir()] == (["a"] if renamed or before else [])
    if renamed or before:
        assert ex.load(path) == ({"x": 2} if renamed else before)


KILLED = """
import os, sys
import extensor as ex
number, path = int(sys.argv[1]), sys.argv[2]
count = 0
def guarded(function):
    def call(*arguments):
        global count
        if count == number:
            os._exit(9)
        count += 1
        if function is os_write and number == 100:
            os_write(arguments[0], arguments[1][:50])  # dies with half of it written
            os._exit(9)
        return function(*arguments)
    return call
ex.save(path, {"x": ex.zeros(3), "n": 1})
os_write = os.write
for name in ("open", "write", "pwrite", "fsync", "close", "replace"):
    setattr(os, name, guarded(getattr(os, name)))
ex.save(path, {"x": ex.ones(3), "n": 2})
"""


@pytest.mark.parametrize("number", [1, 2, 5, 6, 100])
def test_a_process_that_dies_leaves_the_old_or_the_new(number: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    finished = subprocess.run([sys.executable, "-c", KILLED, str(number), str(path)], check=False)
    assert finished.returncode == 9
    state = ex.load(path)
    assert (state["n"], state["x"].tolist()) == ((2, [1.0] * 3) if number == 6 else (1, [0.0] * 3))
    remove_partial(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


FULL = """
import resource, sys
import numpy as np
import extensor as ex
path = sys.argv[1]
ex.save(path, {"x": np.zeros(10)})
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    ex.save(path, {"x": np.ones(100_000)})
except OSError as error:
    print(error.strerror)
print(ex.load(path)["x"].tolist() == [0.0] * 10)
"""


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """A limit on the size of files stands for it: a write comes back with less, then fails."""
    finished = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "a")],
        capture_output=True,
        text=True,
        check=True,
    )
    reason = os.strerror(errno.EFBIG)
    assert finished.stdout.splitlines() == [
        f"save: could not write {tmp_path / 'a'} ({reason}); what was there is unchanged",
        "True",
    ]
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:7]))
    write_atomically(tmp_path / "a", bytes(range(100)))
    monkeypatch.undo()
    assert (tmp_path / "a").read_bytes() == bytes(range(100))


def test_files_have_the_usual_mode(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", b"")
    finally:
        os.umask(previous)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_metadata_is_json_that_a_person_can_read(content: bytes) -> None:
    length = int.from_bytes(content[:8], "little")
    note = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["extensor"])
    assert note["state"]["progress"] == {"epoch": 3, "loss": 0.25}
