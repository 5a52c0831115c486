"""The data set of shards and its subsets: opened by headers, read when samples are asked for."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from mmap import ALLOCATIONGRANULARITY
from pathlib import Path
from typing import Any

import numpy as np

from extensor import random
from extensor.arrays import storage
from extensor.arrays.dtypes import int64
from extensor.data.dataset import IndexedDataset
from extensor.data.picture_files import MODES
from extensor.data.streaming.array_shards import (
    TokenShard,
    check_sums,
    npy_shard,
    npz_shard,
    safetensors_shard,
)
from extensor.data.streaming.column_shards import ColumnShard, disagreements
from extensor.data.streaming.index import INDEX, Index, check_digests, check_files, check_parts
from extensor.data.streaming.shard import (
    OP,
    PIECE,
    Cache,
    Choice,
    Shard,
    damaged,
    equal_runs,
    parts_text,
)
from extensor.data.streaming.shard_files import ShardEntry, find_shards
from extensor.data.streaming.shuffle import BlockPlan, BlockShuffle, Run
from extensor.data.streaming.tar_shards import Decoding, TarShard
from extensor.errors import arguments, type_error, value_error
from extensor.errors.explanation import explaining
from extensor.io.paths import explain_unreadable
from extensor.io.regular_files import open_regular
from extensor.io.state_file import DamagedFileError
from extensor.random.generator import Generator

_BLOCKS = 500  # that samples are cut into at least, so that a small part can be had of them


class ShardedSubset(IndexedDataset):
    """Stretches of the samples of a :class:`ShardedDataset`, in their order there.

    Made by :meth:`ShardedDataset.split`. A stretch is its first sample and how many there are, all in
    one shard.
    """

    def __init__(self, dataset: ShardedDataset, stretches: list[Run]) -> None:
        self.dataset = dataset
        self.stretches = stretches
        self._starts = np.array([first for first, _ in stretches], int64)
        self._lengths = np.array([count for _, count in stretches], int64)
        self._ends = np.cumsum(self._lengths)

    @classmethod
    def whole(cls, dataset: ShardedDataset) -> ShardedSubset:
        """All samples, a stretch for each shard or what is read as a whole."""
        lengths = dataset.block_plan(cls.__name__, None, None).lengths
        starts = np.cumsum(lengths) - lengths
        return cls(dataset, list(zip(starts.tolist(), lengths.tolist(), strict=True)))

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __repr__(self) -> str:
        return f"ShardedSubset({len(self)} of {len(self.dataset)} samples)"

    @property
    def fingerprint(self) -> str:
        """Another text for other samples."""
        return f"{self.dataset.fingerprint} {self.stretches}"

    def batch(self, indices: Any) -> tuple[Any, ...]:
        return self.dataset.batch(self._numbers_in_whole(self._places("batch", indices)))

    def number(self, place: int) -> int:
        """The number that a sample has among all."""
        return int(self._numbers_in_whole(np.array([place]))[0])

    def read_ahead(self, runs: list[Run]) -> None:
        """Begin to read runs of samples, each in one stretch."""
        firsts = self._numbers_in_whole(np.array([first for first, _ in runs], int64)).tolist()
        counts = [count for _, count in runs]
        self.dataset.read_ahead(list(zip(firsts, counts, strict=True)))

    def shuffling(self) -> BlockShuffle:
        """The sampler that a loader takes for ``shuffle=True``."""
        return BlockShuffle(self)

    def block_plan(self, op: str, block: int | None, window: int | None) -> BlockPlan:
        """That of all samples, for these stretches."""
        plan = self.dataset.block_plan(op, block, window)
        ends = np.cumsum(plan.lengths)
        places = np.searchsorted(ends, self._starts, side="right")
        begins = self._starts - (ends - plan.lengths)[places]
        if window is None and (begins % self.dataset.piece).any():
            # A block lies in two pieces, so that half as many are in memory.
            plan = plan._replace(window=max(1, plan.window // 2))
        return plan._replace(lengths=self._lengths, whole=plan.whole[places])

    def split(
        self, fraction: float, generator: Generator | None = None
    ) -> tuple[ShardedSubset, ShardedSubset]:
        """Two parts, the second with about ``fraction`` of the samples, in blocks that chance chooses.

        A block is what is read together, or a five-hundredth of the samples if that is less: of many
        samples no part has to be read for the sake of the other.
        """
        arguments.number("split", "fraction", fraction, fraction=True)
        block = max(1, min(self.dataset.piece, len(self) // _BLOCKS))
        counts = -(-self._lengths // block)
        stretches = np.repeat(np.arange(len(counts)), counts)
        begins = block * (np.arange(len(stretches)) - (np.cumsum(counts) - counts)[stretches])
        starts = self._starts[stretches] + begins
        sizes = np.minimum(block, self._lengths[stretches] - begins)
        order = random.permutation(len(sizes), generator).numpy()
        wanted = round(len(self) * fraction)
        taken = int(np.searchsorted(np.cumsum(sizes[order]), wanted)) + 1 if wanted else 0
        is_second = np.zeros(len(sizes), bool)
        is_second[order[:taken]] = True
        parts = []
        for chosen in (np.flatnonzero(~is_second), np.flatnonzero(is_second)):
            # Adjacent blocks of a stretch are joined.
            runs = equal_runs(chosen - np.arange(len(chosen)) + stretches[chosen])
            places, lengths = starts[chosen], sizes[chosen]
            joined = [(int(places[a]), int(lengths[a:b].sum())) for a, b in runs]
            parts.append(ShardedSubset(self.dataset, joined))
        first, second = parts
        if not (len(first) and len(second)):
            requirement = "both parts must have samples"
            raise value_error("split", requirement, fraction=fraction, samples=len(self))
        return first, second

    def between(self, begin: int, end: int) -> ShardedSubset:
        """The samples from ``begin`` to ``end``."""
        firsts = self._ends - self._lengths
        low = np.clip(begin - firsts, 0, self._lengths)
        high = np.clip(end - firsts, 0, self._lengths)
        runs = zip((self._starts + low).tolist(), (high - low).tolist(), strict=True)
        return ShardedSubset(self.dataset, [run for run in runs if run[1] > 0])

    def _numbers_in_whole(self, places: Any) -> Any:
        """The numbers that samples have among all."""
        stretches = np.searchsorted(self._ends, places, side="right")
        return self._starts[stretches] + places - (self._ends - self._lengths)[stretches]


def has_checksums(found: ShardEntry) -> bool:
    """Whether a shard itself says what its bytes must be, as zip archives do."""
    return found.path.suffix.lower() == ".npz"


def _open_shard(found: ShardEntry, choice: Choice, decoding: Decoding) -> Shard:
    """The shard of an entry, by the ending of its name."""
    path = next(iter(found.files.values()))
    match path.suffix.lower():
        case ".npy":
            return npy_shard(found.path, found.files, choice)
        case ".npz":
            return npz_shard(path, choice)
        case ".safetensors":
            return safetensors_shard(path, choice)
        case ".tar":
            samples = None if found.packed is None else found.packed.samples
            return TarShard(path, choice, decoding, samples)
    return ColumnShard(path, choice, found.partition)


def _open_checked(
    found: ShardEntry,
    choice: Choice,
    context: int | None,
    decoding: Decoding,
    index: Index | None,
    verify: bool,
) -> Shard:
    """Open the shard of an entry and compare it with its index; ``verify`` reads all samples."""
    folder, packed = found.path.parent, found.packed
    if packed is not None:
        check_files(folder, packed)
        if verify:
            check_digests(folder, packed)
    shard = _open_shard(found, choice, decoding)
    if index is not None and packed is not None and choice is None:
        check_parts(shard, index, packed.samples)
    if context is not None:
        shard = TokenShard(shard, context)
    if packed is None and verify:
        if has_checksums(found):
            check_sums(found.path)
        shard.verify()
    return shard


_MEMORY = 1 << 28
_NOTHING_TO_COMPARE = (
    f"{OP}: verify has nothing to compare the shards with, as there is no {INDEX} (extensor pack "
    "writes one); all samples are read, but bytes that have changed are not found"
)
_LOOKED_AT, _BLOCK = 1 << 26, 1 << 12  # bytes of a fingerprint, in blocks


class ShardedDataset(IndexedDataset):
    """Samples in shards: files of arrays, of columns or of tokens, or archives of pictures.

    Shards are ``name.x.npy`` with ``name.y.npy``, or single ``.npy`` files; ``.npz`` and
    ``.safetensors`` files; ``.parquet`` and ``.arrow`` files, which need pyarrow; or ``.tar`` archives in
    the format of webdataset, ``key.jpg`` beside ``key.cls``. Samples are read when they are accessed.

    Parameters
    ----------
    source : str, Path or sequence of them
        A folder, a list of files, or a pattern such as ``data/*.parquet``, in which ``**`` matches any
        folders. A folder may be one that Hugging Face's ``save_to_disk`` wrote, or have Parquet files in
        Hive partitions such as ``year=2020``, which become columns.
    parts : sequence of str or of lists of str, optional
        Names of the arrays, columns or members that make a sample. A list of columns makes one part.
        Members of an archive are named by the part after the first dot, such as ``x.npy`` in
        ``key.x.npy``. Default: ``("x", "y")``, or the only array.
    context : int, optional
        For shards of tokens the number of tokens in a window, which they need. A sample is a window and
        the tokens that follow each of its tokens.
    size : int or (int, int), optional
        Height and width to which pictures are resized. Default: pictures keep their sizes.
    mode : str, default "RGB"
        Pillow's mode of pictures.
    memory : int, default 2**28
        Number of bytes of shards that are kept or mapped, plus one piece for each reading thread.
    skip_damaged : bool, default False
        Whether to leave out shards that are damaged or have other columns than most, and list them in
        ``skipped``. Otherwise they raise an error.
    verify : bool, default False
        Whether to read all shards once and compare them with the digests of their index, which
        ``extensor pack`` writes, or with the checksums of ``.npz`` files. Other shards without an index
        are only read, with a warning.

    Attributes
    ----------
    parts : tuple of SamplePart
        Name, dtype and shape of each part of a sample.
    classes : list of str or None
        The names of the classes, if the shards have them.
    columns : list of str or None
        The names of features and targets of a packed table.
    skipped : list of (Path, str)
        The shards that were left out, and why.

    Raises
    ------
    DamagedFileError
        If a shard is missing, empty, cut off, or different from most others.
    ValueError
        If ``parts`` is ambiguous, or if ``memory`` is too small.

    Examples
    --------
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
        if verify and index is None and not all(map(has_checksums, found)):
            warnings.warn(_NOTHING_TO_COMPARE, stacklevel=3)
        if index is not None and index.kind == "text" and context is None:
            requirement = "context must be given for shards of tokens, the length of a sample"
            raise value_error(OP, requirement, context=None)
        self.skipped: list[tuple[Path, str]] = []
        self._cache = Cache(self.memory)
        shards = []
        for one in found:
            try:
                shards.append(_open_checked(one, choice, context, decoding, index, verify))
            except (DamagedFileError, OSError, ValueError) as error:
                self._skip(one.path, error, skip)
        self._shards = self._agreeing_shards(shards, skip, choice)
        self.parts = self._shards[0].parts
        self._measure()
        self._describe(index)
        self._files = {one.path: tuple(one.files.values()) for one in found}

    def _measure(self) -> None:
        """Add up samples and bytes, which decide on the size of a piece and must fit the memory."""
        total = sum(shard.sample_size * shard.samples for shard in self._shards)
        if total > _physical_memory() / 2:
            for shard in self._shards:
                shard.is_passing = True
        self._lengths = np.array([shard.samples for shard in self._shards], int64)
        self._ends = np.cumsum(self._lengths)
        self._sample_size = max(1, total // len(self))
        self.piece = max(1, PIECE // self._sample_size)
        for shard in self._shards:
            shard.piece, shard.cache = self.piece, self._cache
            size = self._largest(shard) * shard.sample_size
            if size > self.memory:
                requirement = f"memory must hold what is read as a whole, {size} bytes"
                raise value_error(OP, requirement, memory=self.memory, path=str(shard.path))

    def _describe(self, index: Index | None) -> None:
        """Set the meaning of the samples, as an index or the shards themselves have it."""
        classes = self._class_names() if index is None else index.classes
        columns = None if index is None else index.columns
        self.classes = None if classes is None else list(classes)
        self.columns = None if columns is None else list(columns)
        self.vocabulary = None if index is None else index.vocabulary
        self.encoding = None if index is None else index.encoding

    def __len__(self) -> int:
        return int(self._ends[-1])

    @property
    def paths(self) -> list[Path]:
        """Shards in the order of the samples."""
        return [shard.path for shard in self._shards]

    def batch(self, indices: Any) -> tuple[Any, ...]:
        """Return the samples at ``indices``, stacked.

        Parameters
        ----------
        indices : numpy.ndarray of int, (n,), or slice
            The numbers of the samples, from 0.

        Returns
        -------
        tuple of numpy.ndarray
            One array for each part of a sample, with the samples along the first axis.
        """
        wanted = self._places("batch", indices)
        places = np.argsort(wanted, kind="stable")
        rows = wanted[places]
        targets = [storage.empty((len(rows), *part.shape), part.dtype) for part in self.parts]
        shards = np.searchsorted(self._ends, rows, side="right")
        for first, last in equal_runs(shards):
            number = int(shards[first])
            within = rows[first:last] - self._begin(number)
            shard = self._shards[number]
            shard.fill(targets, places[first:last], within)
        return tuple(targets)

    def split(
        self, fraction: float, generator: Generator | None = None
    ) -> tuple[ShardedSubset, ShardedSubset]:
        """Split into two parts, in randomly chosen blocks.

        Parameters
        ----------
        fraction : float
            Share of the second part, between 0 and 1.
        generator : Generator, optional
            Source of randomness. Default: the default generator of `extensor.random`.

        Returns
        -------
        first : ShardedSubset
            The samples that are not in the second part.
        second : ShardedSubset
            About ``fraction`` of the samples.

        Raises
        ------
        ValueError
            If a part would have no samples.
        """
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
            found.update(f"{name} {shard.samples} {parts_text(shard.parts)}".encode())
        for path in files:
            _look_through(path, room, found)
        return found.hexdigest()[:32]

    def read_ahead(self, runs: Sequence[Run]) -> None:
        """Start to read runs of samples.

        Parameters
        ----------
        runs : sequence of (int, int)
            The first sample and the number of samples of each run, which lies in one shard.
        """
        for first, count in runs:
            number = int(np.searchsorted(self._ends, first, side="right"))
            begin = first - self._begin(number)
            self._shards[number].read_ahead(begin, begin + count)

    def shuffling(self) -> BlockShuffle:
        """Return the sampler that a loader uses with ``shuffle=True``.

        Returns
        -------
        BlockShuffle
            The sampler, with the default block and window.
        """
        return BlockShuffle(self)

    def block_plan(self, op: str, block: int | None, window: int | None) -> BlockPlan:
        """Return how a `BlockShuffle` divides the shards, with two windows in memory.

        Parameters
        ----------
        op : str
            The operation that error messages name.
        block, window : int or None
            The arguments of `BlockShuffle`.

        Returns
        -------
        BlockPlan
            The runs of samples, and how they are cut into blocks and windows.

        Raises
        ------
        ValueError
            If two windows do not fit into the memory.
        """
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
        lengths = [shard.stretches for shard in self._shards]
        whole = np.repeat([x.bounds is not None for x in self._shards], [len(x) for x in lengths])
        return BlockPlan(np.concatenate(lengths), whole, block, window or max(1, most))

    def _begin(self, number: int) -> int:
        return int(self._ends[number] - self._lengths[number])

    def _skip(self, path: Path, error: Exception, skip: bool) -> None:
        if not skip:
            raise error
        text = str(error.strerror if isinstance(error, OSError) else error)
        self.skipped.append((path, text))

    def check_columns(self) -> None:
        """Raise an error if shards have different columns, used or not.

        Raises
        ------
        DamagedFileError
            If a shard has other columns than most, or columns of other types.
        """
        for error in disagreements(self._shards, None).values():
            raise error

    def _class_names(self) -> list[str] | None:
        """The names of the classes that the last part numbers, if all shards agree."""
        names = [shard.class_names.get(self.parts[-1].name) for shard in self._shards]
        return names[0] if len(self.parts) > 1 and all(x == names[0] for x in names) else None

    def _agreeing_shards(self, shards: list[Shard], skip: bool, choice: Choice) -> list[Shard]:
        """The shards that have the columns and parts that most have."""
        wrong = disagreements(shards, choice)
        for number, error in wrong.items():
            self._skip(shards[number].path, error, skip)
        shards = [shard for number, shard in enumerate(shards) if number not in wrong]
        if not shards:
            reasons = [text for _, text in self.skipped]
            raise value_error(OP, "at least one shard must be whole", skipped=reasons)
        usual = Counter(shard.parts for shard in shards).most_common(1)[0][0]
        requirement = f"shards must have the same parts, in most {parts_text(usual)}"
        for shard in shards:
            if shard.parts != usual:
                error = damaged(requirement, shard.path, parts=parts_text(shard.parts))
                self._skip(shard.path, error, skip)
        return [shard for shard in shards if shard.parts == usual]

    def _largest(self, shard: Shard) -> int:
        """The most samples that can only be read together."""
        return 0 if shard.bounds is None else int(shard.stretches.max())


def _look_through(path: Path, blocks: int, found: Any) -> None:
    """Add the content of a file to a digest, or a number of its blocks."""
    with explain_unreadable(OP, path), open(path, "rb", buffering=0, opener=open_regular) as file:
        size = os.fstat(file.fileno()).st_size
        all_blocks = -(-size // _BLOCK)
        for number in np.unique(np.linspace(0, all_blocks - 1, min(blocks, all_blocks), dtype=int)):
            file.seek(int(number) * _BLOCK)
            found.update(file.read(_BLOCK))


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
