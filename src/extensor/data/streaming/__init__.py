"""Data in shards, larger than memory: read ahead, shuffled by blocks, resumed at any sample."""

from extensor.data.streaming.dataset import ShardedDataset
from extensor.data.streaming.shuffle import BlockOrder, BlockShuffle
from extensor.data.streaming.subset import ShardedSubset

__all__ = ["BlockOrder", "BlockShuffle", "ShardedDataset", "ShardedSubset"]
