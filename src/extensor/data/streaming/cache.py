"""Parts of shards that are in memory: the last that were used, up to a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Any, NamedTuple


class Loaded(NamedTuple):
    """Something in memory, or mapped, and how many bytes that is."""

    content: Any
    size: int


class Cache:
    """What ``load`` gave for a key, as long as there is room for it.

    What is being loaded by one thread is waited for by others. Whoever still uses what has been
    forgotten keeps it in memory, which is one part for each thread.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.used = 0
        self._entries: OrderedDict[Hashable, Future[Loaded]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, load: Callable[[], Loaded]) -> Any:
        """What belongs to ``key``, loaded by this thread if by none yet."""
        with self._lock:
            future = self._entries.get(key)
            is_mine = future is None
            if future is None:
                future = self._entries[key] = Future()
            self._entries.move_to_end(key)
        if not is_mine:
            return future.result().content
        try:
            loaded = load()
        except BaseException as error:
            with self._lock:
                del self._entries[key]
            future.set_exception(error)
            raise
        with self._lock:
            future.set_result(loaded)
            self.used += loaded.size
            self._make_room(key)
        return loaded.content

    def _make_room(self, kept: Hashable) -> None:
        for key in list(self._entries):
            if self.used <= self.room:
                return
            future = self._entries[key]
            # One that is still being loaded has no size yet.
            if key != kept and future.done():
                self.used -= future.result().size
                del self._entries[key]
