"""What streaming keeps in memory: each piece is loaded once in an epoch, and no more than fit."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_streaming_formats import WRITERS

from extensor.data import BlockShuffle, DataLoader, ShardedDataset
from extensor.data.streaming import array_shards
from extensor.data.streaming import sharded_dataset as streaming_dataset
from extensor.data.streaming.array_shards import CompressedShard, MappedShard
from extensor.data.streaming.column_shards import ColumnShard
from extensor.data.streaming.shard import Cache, Loaded
from extensor.random import Generator


def test_what_one_thread_loads_others_wait_for() -> None:
    cache = Cache(100)
    loads: list[int] = []

    def load() -> Loaded:
        loads.append(threading.get_ident())
        time.sleep(0.02)
        return Loaded("content", 10)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: cache.get("key", load), range(8)))
    assert found == ["content"] * 8
    assert len(loads) == 1


def test_the_least_recently_used_goes() -> None:
    cache = Cache(100)
    loads: list[str] = []

    def get(key: str, size: int = 40) -> Any:
        def load() -> Loaded:
            loads.append(key)
            return Loaded(key, size)

        return cache.get(key, load)

    for key in "abacab":
        assert get(key) == key
        assert cache.used <= 100
    assert "".join(loads) == "abcb"  # c took the place of b, and b that of c
    get("large", 1000)  # there is no room for it, but it is used now
    assert cache.used == 1000
    get("a")
    assert cache.used == 40


def test_a_failure_is_told_to_all_and_not_kept() -> None:
    cache = Cache(100)

    def fail() -> Loaded:
        time.sleep(0.02)
        raise OSError("not now")

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(cache.get, "key", fail) for _ in range(4)]
    assert all(isinstance(future.exception(), OSError) for future in futures)
    assert cache.get("key", lambda: Loaded("content", 1)) == "content"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("npy", MappedShard),
        ("npz compressed", CompressedShard),
        ("parquet", ColumnShard),
        ("arrow", ColumnShard),
    ],
)
@pytest.mark.parametrize("workers", [0, 1])
def test_each_piece_is_loaded_once_in_an_epoch(
    name: str,
    kind: Any,
    workers: int,
    rng: np.random.Generator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of data larger than the memory, that holds two windows: none is forgotten while it is used."""
    monkeypatch.setattr("extensor.data.streaming.sharded_dataset.PIECE", 2640)  # ten samples
    for number in range(20):
        x = rng.normal(size=(35, 2, 32)).astype(np.float32)
        WRITERS[name](tmp_path / f"{number:02d}", {"x": x, "y": np.arange(35)})
    loads: Counter[tuple[Any, int]] = Counter()
    load = kind.load

    def counted(self: Any, begin: int, end: int, ahead: bool) -> Loaded:
        loads[self.path, begin] += 1
        return load(self, begin, end, ahead)  # type: ignore[no-any-return]

    monkeypatch.setattr(kind, "load", counted)
    memory = 156_000 if kind is CompressedShard else 117_000
    assert memory < 20 * 35 * 264
    dataset = ShardedDataset(tmp_path, memory=memory)
    sampler = BlockShuffle(dataset, window=3)
    loader = DataLoader(dataset, 8, sampler=sampler, workers=workers, generator=Generator(0))
    samples = sum(len(y) for _, y in loader)
    assert samples == 20 * 35
    assert set(loads.values()) == {1}
    assert len(loads) >= 20
    assert dataset._cache.used <= memory
    assert len(dataset._cache._entries) < len(loads)


def test_what_does_not_fit_into_memory_is_let_go_after_its_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the system would keep it until it must make room, and never find it there again."""
    rng = np.random.default_rng(0)
    for number in range(4):
        np.save(tmp_path / f"{number}.x.npy", rng.random((512, 4096), np.float32))
        np.save(tmp_path / f"{number}.y.npy", np.arange(512 * number, 512 * number + 512))
    let_go: list[tuple[int, int]] = []
    monkeypatch.setattr(array_shards, "will_not_need", lambda _, *part: let_go.append(part))

    def epoch() -> list[bytes]:
        dataset = ShardedDataset(tmp_path, memory=24 << 20)
        loader = DataLoader(dataset, 64, shuffle=True, workers=1, generator=Generator(3))
        return [part.numpy().tobytes() for batch in loader for part in batch]

    expected = epoch()
    assert let_go == []
    monkeypatch.setattr(streaming_dataset, "_physical_memory", lambda: 32 << 20)
    assert epoch() == expected
    whole = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert whole - (24 << 20) <= sum(size for _, size in let_go) < whole
