"""Data in shards, larger than memory: read ahead, shuffled by blocks, resumed at any sample."""

from extensor.data.streaming.sharded_dataset import ShardedDataset, ShardedSubset
from extensor.data.streaming.shuffle import BlockOrder, BlockShuffle

__all__ = ["BlockOrder", "BlockShuffle", "ShardedDataset", "ShardedSubset"]


def __dir__() -> list[str]:
    return sorted(__all__)
