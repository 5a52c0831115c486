"""Parts of shards that are in memory: the last that were used, up to a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Any, NamedTuple


class Loaded(NamedTuple):
    """Something in memory, or mapped, how many bytes that is, and what to do when it is forgotten."""

    content: Any
    size: int
    let_go: Callable[[], None] | None = None


class Cache:
    """What ``load`` gave for a key, as long as there is room for it.

    What is being loaded by one thread is waited for by others. Whoever still uses what has been
    forgotten keeps it in memory, which is one part for each thread.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.used = 0
        self._entries: OrderedDict[Hashable, Loaded] = OrderedDict()
        self._coming: dict[Hashable, Future[Loaded]] = {}
        self._lock = Lock()

    def get(self, key: Hashable, load: Callable[[], Loaded]) -> Any:
        """What belongs to ``key``, loaded by this thread if by none yet."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
                return entry.content
            future = self._coming.get(key)
            is_mine = future is None
            if future is None:
                future = self._coming[key] = Future()
        if not is_mine:
            return future.result().content
        try:
            loaded = load()
        except BaseException as error:
            with self._lock:
                del self._coming[key]
            future.set_exception(error)
            raise
        forgotten = []
        with self._lock:
            del self._coming[key]
            self._entries[key] = loaded
            self.used += loaded.size
            while self.used > self.room and len(self._entries) > 1:
                _, entry = self._entries.popitem(last=False)
                self.used -= entry.size
                forgotten.append(entry.let_go)
                del entry  # and with it what was mapped
        future.set_result(loaded)
        for let_go in forgotten:
            if let_go is not None:
                let_go()
        return loaded.content
