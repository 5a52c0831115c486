"""Data in shards, larger than memory: opened by their headers, read where samples are asked for."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from mmap import ALLOCATIONGRANULARITY
from pathlib import Path
from typing import Any

import numpy as np

from extensor.arrays import storage
from extensor.arrays.dtypes import int64
from extensor.data.decoding import MODES
from extensor.data.streaming.cache import Cache
from extensor.data.streaming.column_agreement import disagreements
from extensor.data.streaming.index import INDEX
from extensor.data.streaming.indexed import Indexed
from extensor.data.streaming.members import Decoding
from extensor.data.streaming.opening import Opener, has_checksums
from extensor.data.streaming.shard import OP, PIECE, Choice, Part, Shard, damaged
from extensor.data.streaming.shard_files import Found, find_shards
from extensor.data.streaming.shuffle import BlockShuffle, Plan, Run
from extensor.data.streaming.subset import ShardedSubset
from extensor.errors import arguments, type_error, value_error
from extensor.errors.explanation import explaining
from extensor.io.paths import unreadable
from extensor.io.regular_files import open_regular
from extensor.io.state import DamagedFileError
from extensor.random.generator import Generator

_MEMORY = 1 << 28
_NOTHING_TO_COMPARE = (
    f"{OP}: verify has nothing to compare the shards with, as there is no {INDEX} (extensor pack "
    "writes one); all samples are read, but bytes that have changed are not found"
)
_LOOKED_AT, _BLOCK = 1 << 26, 1 << 12  # bytes of a fingerprint, in blocks


class ShardedDataset(Indexed):
    """The samples of shards: files of arrays, of columns, or archives of pictures.

    ``source`` is a folder, a list of files, or a pattern such as ``data/*.parquet``, in which ``**``
    stands for any folders. A folder may be one that Hugging Face's ``save_to_disk`` wrote, or one of
    Hive's with Parquet files in ``year=2020``, which is a column then.

    Shards may be ``name.x.npy`` with ``name.y.npy``, or one ``.npy``; ``.npz`` and ``.safetensors``;
    ``.parquet`` and ``.arrow``, which need pyarrow; and ``.tar`` as webdataset has it, ``key.jpg``
    beside ``key.cls``. ``parts`` names the arrays, columns or members (by what follows the first dot,
    such as ``x.npy`` in ``key.x.npy``) that make a sample. The usual ones are ``("x", "y")``. For
    columns a list of names makes one part of several. Pictures are of ``mode``, resized to ``size``.
    With ``context`` the shards are rows of tokens, and samples are windows of so many and what
    follows them.

    A shard that is missing, empty, cut short, or not as most others is an error that names it. With
    ``skip_damaged`` it is left out, and ``skipped`` says why. So is a shard of other columns, if
    ``parts`` does not choose among them. ``verify`` reads all shards once and compares them with the
    digests of their index, which ``extensor pack`` writes, or ``.npz`` with their checksums. For other
    shards without an index it warns that there is nothing to compare with, and reads all samples.

    Nothing is read before it is asked for. At most ``memory`` bytes of shards are kept or mapped,
    and a piece for each thread that reads; a loader adds the batches that it has read ahead.

    >>> import tempfile, numpy as np
    >>> from extensor.data import DataLoader, ShardedDataset
    >>> folder = tempfile.TemporaryDirectory()
    >>> for i in range(3):
    ...     np.savez(f"{folder.name}/{i}.npz", x=np.full((4, 2), i, np.float32), y=np.arange(4))
    >>> dataset = ShardedDataset(folder.name)
    >>> len(dataset), dataset[5]
    (12, (array([1., 1.], dtype=float32), np.int64(1)))
    >>> loader = DataLoader(dataset, batch_size=6, shuffle=True, workers=2)
    >>> [x.shape for x, y in loader]
    [(6, 2), (6, 2)]
    >>> folder.cleanup()
    """

    op = OP

    @explaining
    def __init__(
        self,
        source: str | Path | Sequence[str | Path],
        parts: Sequence[str | Sequence[str]] | None = None,
        *,
        context: int | None = None,
        size: int | tuple[int, int] | None = None,
        mode: str = "RGB",
        memory: int = _MEMORY,
        skip_damaged: bool = False,
        verify: bool = False,
    ) -> None:
        choice = None if parts is None else _names(parts)
        if context is not None:
            context = arguments.integer(OP, "context", context, 1)
        shape = None if size is None else arguments.pair(OP, "size", size, 1)
        decoding = Decoding(shape, arguments.choice(OP, "mode", mode, MODES))
        self.memory = arguments.integer(OP, "memory", memory, 1)
        skip = arguments.flag(OP, "skip_damaged", skip_damaged)
        verify = arguments.flag(OP, "verify", verify)
        found, index = find_shards(source)
        if verify and index is None and any(not has_checksums(one) for one in found):
            warnings.warn(_NOTHING_TO_COMPARE, stacklevel=3)
        if index is not None and index.kind == "text" and context is None:
            requirement = "context must be given for shards of tokens, the length of a sample"
            raise value_error(OP, requirement, context=None)
        self.skipped: list[tuple[Path, str]] = []
        self._cache = Cache(self.memory)
        opener = Opener(choice, context, decoding, index, verify)
        shards = [self._opened(opener, one, skip) for one in found]
        self._shards = self._alike([x for x in shards if x is not None], skip, choice)
        self.parts = self._shards[0].parts
        total = sum(shard.sample_size * shard.samples for shard in self._shards)
        if total > _physical_memory() / 2:
            for shard in self._shards:
                shard.is_passing = True
        self._lengths = np.array([shard.samples for shard in self._shards], int64)
        self._ends = np.cumsum(self._lengths)
        self._sample_size = max(1, total // len(self))
        self.piece = max(1, PIECE // self._sample_size)
        self._check_memory()
        self.classes = self._class_names()
        if index is not None:
            self.classes = None if index.classes is None else list(index.classes)
        self.columns = None if index is None or index.columns is None else list(index.columns)
        self.vocabulary = None if index is None else index.vocabulary
        self.encoding = None if index is None else index.encoding
        self._files = {one.path: tuple(one.files.values()) for one in found}

    def __len__(self) -> int:
        return int(self._ends[-1])

    @property
    def paths(self) -> list[Path]:
        """The shards, in the order of the samples."""
        return [shard.path for shard in self._shards]

    def batch(self, indices: Any) -> tuple[Any, ...]:
        wanted = self._wanted(indices)
        places = np.argsort(wanted, kind="stable")
        rows = wanted[places]
        targets = [storage.empty((len(rows), *part.shape), part.dtype) for part in self.parts]
        shards = np.searchsorted(self._ends, rows, side="right")
        cuts = [0, *((shards[1:] != shards[:-1]).nonzero()[0] + 1).tolist(), len(rows)]
        for first, last in pairwise(cuts if len(rows) else ()):
            number = int(shards[first])
            within = rows[first:last] - self._begin(number)
            shard = self._shards[number]
            shard.fill(targets, places[first:last], within, self.piece, self._cache)
        return tuple(targets)

    def split(
        self, fraction: float, generator: Generator | None = None
    ) -> tuple[ShardedSubset, ShardedSubset]:
        """Two parts, the second with about ``fraction`` of the samples, in blocks that chance chooses."""
        return ShardedSubset.whole(self).split(fraction, generator)

    @cached_property
    def fingerprint(self) -> str:
        """Another text for other shards: names, lengths, parts, and bytes from all over the files.

        Of up to 64 MB all bytes count, of more some.
        """
        found = hashlib.sha256()
        files = [path for shard in self._shards for path in self._files[shard.path]]
        room = max(1, _LOOKED_AT // (_BLOCK * len(files)))
        base = os.path.commonpath([shard.path.absolute().parent for shard in self._shards])
        for shard in self._shards:
            name = shard.path.absolute().relative_to(base)
            found.update(f"{name} {shard.samples} {_said(shard.parts)}".encode())
        for path in files:
            _look_through(path, room, found)
        return found.hexdigest()[:32]

    def read_ahead(self, runs: Sequence[Run]) -> None:
        """Begin to read runs of samples, each in one shard: its first, and how many."""
        for first, count in runs:
            number = int(np.searchsorted(self._ends, first, side="right"))
            begin = first - self._begin(number)
            self._shards[number].read_ahead(begin, begin + count, self.piece, self._cache)

    def shuffling(self) -> BlockShuffle:
        """The sampler that a loader takes for ``shuffle=True``."""
        return BlockShuffle(self)

    def block_plan(self, op: str, block: int | None, window: int | None) -> Plan:
        """How a :class:`BlockShuffle` cuts the shards, so that two windows fit into the memory."""
        block = self.piece if block is None else block
        rows = block if block % self.piece == 0 else (block // self.piece + 2) * self.piece
        if self.piece % block == 0:
            rows = self.piece
        largest = max([rows, *(self._largest(shard) for shard in self._shards)])
        size = min(largest, int(self._lengths.max())) * self._sample_size
        size += (-(-block // self.piece) + 1) * len(self.parts) * ALLOCATIONGRANULARITY
        most = self.memory // (2 * size)
        if any(shard.in_memory for shard in self._shards) and (window or 1) > most:
            named = {"block": block} if window is None else {"block": block, "window": window}
            requirement = (
                f"two windows must fit into the memory of the data set ({2 * size} bytes for each "
                "block of a window)"
            )
            raise value_error(op, requirement, memory=self.memory, **named)
        lengths: list[int] = []
        whole: list[bool] = []
        for shard in self._shards:
            bounds = shard.bounds
            runs = [shard.samples] if bounds is None else np.diff(bounds, prepend=0).tolist()
            lengths += runs
            whole += [bounds is not None] * len(runs)
        return Plan(np.array(lengths, int64), np.array(whole), block, window or max(1, most))

    def _begin(self, number: int) -> int:
        return int(self._ends[number] - self._lengths[number])

    def _opened(self, opener: Opener, found: Found, skip: bool) -> Shard | None:
        try:
            return opener(found)
        except (DamagedFileError, OSError, ValueError) as error:
            self._skip(found.path, error, skip)
            return None

    def _skip(self, path: Path, error: Exception, skip: bool) -> None:
        if not skip:
            raise error
        text = str(error.strerror if isinstance(error, OSError) else error)
        self.skipped.append((path, text))

    def check_columns(self) -> None:
        """Raise if a shard has other columns than most, or of other types, whether used or not."""
        for error in disagreements(self._shards, None).values():
            raise error

    def _class_names(self) -> list[str] | None:
        """What all shards call the classes that the last part numbers."""
        names = [shard.class_names.get(self.parts[-1].name) for shard in self._shards]
        return names[0] if len(self.parts) > 1 and all(x == names[0] for x in names) else None

    def _alike(self, shards: list[Shard], skip: bool, choice: Choice) -> list[Shard]:
        """The shards that have the columns and parts that most have."""
        wrong = disagreements(shards, choice)
        for number, error in wrong.items():
            self._skip(shards[number].path, error, skip)
        shards = [shard for number, shard in enumerate(shards) if number not in wrong]
        if not shards:
            reasons = [text for _, text in self.skipped]
            raise value_error(OP, "at least one shard must be whole", skipped=reasons)
        usual = Counter(shard.parts for shard in shards).most_common(1)[0][0]
        alike = []
        for shard in shards:
            if shard.parts == usual:
                alike.append(shard)
                continue
            requirement = f"shards must have the same parts, in most {_said(usual)}"
            error = damaged(requirement, shard.path, parts=_said(shard.parts))
            self._skip(shard.path, error, skip)
        return alike

    def _largest(self, shard: Shard) -> int:
        """The most samples that can only be read together."""
        return 0 if shard.bounds is None else int(np.diff(shard.bounds, prepend=0).max())

    def _check_memory(self) -> None:
        for shard in self._shards:
            size = self._largest(shard) * shard.sample_size
            if size > self.memory:
                requirement = f"memory must hold what is read as a whole, {size} bytes"
                raise value_error(OP, requirement, memory=self.memory, path=str(shard.path))


def _look_through(path: Path, blocks: int, found: Any) -> None:
    """Add the content of a file to a digest, or so many blocks of it."""
    try:
        with open(path, "rb", buffering=0, opener=open_regular) as file:
            size = os.fstat(file.fileno()).st_size
            all_blocks = -(-size // _BLOCK)
            for number in np.unique(
                np.linspace(0, all_blocks - 1, min(blocks, all_blocks), dtype=int)
            ):
                file.seek(int(number) * _BLOCK)
                found.update(file.read(_BLOCK))
    except OSError as error:
        raise unreadable(OP, path, error) from error


def _names(parts: Any) -> list[Any]:
    given = list(parts) if isinstance(parts, list | tuple) else []
    several = [name if isinstance(name, list | tuple) else (name,) for name in given]
    named = all(isinstance(one, str) and one for names in several for one in names)
    if not given or not all(several) or not named:
        requirement = "parts must be names, as ('x', 'y')"
        raise type_error(OP, requirement, parts=arguments.briefly(parts))
    return given


def _physical_memory() -> float:
    """Bytes, as many as there may be if the system does not say it."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return float("inf")


def _said(parts: Sequence[Part]) -> str:
    return ", ".join(f"{part.name} {part.dtype}{list(part.shape)}" for part in parts)
