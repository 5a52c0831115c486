"""Data: data sets, loaders, samplers, readers of files, and changes of batches."""

from extensor.data.array_files import read_arrays, read_cifar10, read_idx
from extensor.data.dataset import (
    ArrayDataset,
    BatchDataset,
    Dataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    ShardSampler,
    WeightedSampler,
)
from extensor.data.loader import DataLoader
from extensor.data.packing import pack
from extensor.data.picture_files import ImageFolder, PictureFiles, find_pictures, picture_sizes
from extensor.data.standard import cifar10, digits, fashion_mnist, mnist
from extensor.data.streaming import BlockShuffle, ShardedDataset
from extensor.data.table import Table, TableEncoder, read_table
from extensor.data.table.csv_matrix import csv_classes, read_csv
from extensor.data.transforms import Cutout, Mixup, Normalize, RandomCrop, RandomFlip
from extensor.data.window_datasets import SeriesWindows, TextWindows, Vocabulary, read_text

__all__ = [
    "ArrayDataset",
    "BatchDataset",
    "BlockShuffle",
    "Cutout",
    "DataLoader",
    "Dataset",
    "ImageFolder",
    "Mixup",
    "Normalize",
    "PictureFiles",
    "RandomCrop",
    "RandomFlip",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SeriesWindows",
    "ShardSampler",
    "ShardedDataset",
    "Table",
    "TableEncoder",
    "TextWindows",
    "Vocabulary",
    "WeightedSampler",
    "cifar10",
    "csv_classes",
    "digits",
    "fashion_mnist",
    "find_pictures",
    "mnist",
    "pack",
    "picture_sizes",
    "read_arrays",
    "read_cifar10",
    "read_csv",
    "read_idx",
    "read_table",
    "read_text",
]


def __dir__() -> list[str]:
    return sorted(__all__)
