"""Shards, each opened by what its name ends with."""

from __future__ import annotations

from extensor.data.streaming.columns import ColumnShard
from extensor.data.streaming.headers import check_sums, npy_shard, npz_shard, safetensors_shard
from extensor.data.streaming.index import Index, check_digests, check_files, check_parts
from extensor.data.streaming.members import Decoding
from extensor.data.streaming.shard import Choice, Shard
from extensor.data.streaming.shard_files import Found
from extensor.data.streaming.tar import TarShard
from extensor.data.streaming.tokens import TokenShard


def has_checksums(found: Found) -> bool:
    """Whether a shard itself says what its bytes must be, as zip archives do."""
    return found.path.suffix.lower() == ".npz"


class Opener:
    """Opens shards alike: which parts they have, and how tokens and pictures become samples."""

    def __init__(
        self,
        choice: Choice,
        context: int | None,
        decoding: Decoding,
        index: Index | None,
        verify: bool,
    ) -> None:
        self.choice = choice
        self.context = context
        self.decoding = decoding
        self.index = index
        self.verify = verify

    def __call__(self, found: Found) -> Shard:
        """The shard; an error that names it if it is not whole."""
        folder, packed = found.path.parent, found.packed
        if packed is not None:
            check_files(folder, packed)
        if packed is not None and self.verify:
            check_digests(folder, packed)
        shard = self._opened(found)
        if self.index is not None and packed is not None and self.choice is None:
            check_parts(shard, self.index, packed.samples)
        if self.context is not None:
            shard = TokenShard(shard, self.context)
        if packed is None and self.verify:
            self._read(shard, found)
        return shard

    def _read(self, shard: Shard, found: Found) -> None:
        """Compare with what checksums there are, and read all samples."""
        if has_checksums(found):
            check_sums(found.path)
        shard.verify()

    def _opened(self, found: Found) -> Shard:
        path = next(iter(found.files.values()))
        ending = path.suffix.lower()
        if ending == ".npy":
            return npy_shard(found.path, found.files, self.choice)
        if ending == ".npz":
            return npz_shard(path, self.choice)
        if ending == ".safetensors":
            return safetensors_shard(path, self.choice)
        if ending == ".tar":
            told = None if found.packed is None else found.packed.samples
            return TarShard(path, self.choice, self.decoding, told)
        return ColumnShard(path, self.choice, found.partition)
