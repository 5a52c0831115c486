"""``torch.utils.data``: data sets, samplers and loaders of any samples."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate, chain, islice
from typing import Any, Generic, TypeVar

import numpy as np

from extensor.core.tensor import Tensor as CoreTensor
from extensor.torch import creation, shapes

Sample = TypeVar("Sample", covariant=True)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "get_worker_info",
    "random_split",
]


class Dataset(Generic[Sample]):
    """A data set: subclasses write ``__getitem__`` and ``__len__``."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: needs a method __getitem__")

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[Sample]):
    """A data set that is read from its beginning: subclasses write ``__iter__``."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__}: needs a method __iter__")


class TensorDataset(Dataset[Any]):
    """The rows of tensors.

    Parameters
    ----------
    *tensors : Tensor
        Tensors of the same length.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> from extensor.torch.utils.data import TensorDataset
    >>> TensorDataset(torch.arange(3), torch.zeros(3))[1]
    (tensor(1), tensor(0.))
    """

    def __init__(self, *tensors: Any) -> None:
        if any(len(x) != len(tensors[0]) for x in tensors):
            raise ValueError("TensorDataset: tensors must have one length")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> Any:
        return tuple(x[index] for x in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset[Any]):
    """Several data sets side by side: samples are tuples, or dicts."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.datasets: Any = kwargs or args

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: x[index] for name, x in self.datasets.items()}
        return tuple(x[index] for x in self.datasets)

    def __len__(self) -> int:
        parts = self.datasets.values() if isinstance(self.datasets, dict) else self.datasets
        return len(next(iter(parts)))


class ConcatDataset(Dataset[Any]):
    """Data sets one after the other."""

    def __init__(self, datasets: Any) -> None:
        self.datasets = list(datasets)
        self.cumulative_sizes = list(accumulate(len(x) for x in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        index = index + len(self) if index < 0 else index
        part = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[part - 1] if part else 0
        return self.datasets[part][index - before]


class ChainDataset(IterableDataset[Any]):
    """Iterable data sets one after the other."""

    def __init__(self, datasets: Any) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.datasets)


class Subset(Dataset[Any]):
    """Some samples of a data set, by their indices."""

    def __init__(self, dataset: Any, indices: Any) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Any, generator: Any = None) -> list[Subset]:
    """Parts of a data set by chance, of lengths or fractions that add up to 1."""
    total = len(dataset)
    sizes = list(lengths)
    if (
        math.isclose(sum(sizes), 1)
        and sum(sizes) <= 1 + 1e-9
        and any(isinstance(x, float) for x in sizes)
    ):
        fractions = sizes
        sizes = [math.floor(total * fraction) for fraction in fractions]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
    if sum(sizes) != total:
        raise ValueError(f"random_split: lengths must add up to {total}, got {sizes}")
    order = creation.randperm(total, generator=generator).tolist()
    ends = list(accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for end, size in zip(ends, sizes, strict=True)]


class Sampler(Generic[Sample]):
    """An order of samples: subclasses write ``__iter__``, and ``__len__`` if they know it."""

    def __init__(self, data_source: Any = None) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__}: needs a method __iter__")


class SequentialSampler(Sampler[int]):
    """The order of the data set."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A new random order in each epoch."""

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self.num_samples = len(data_source) if num_samples is None else num_samples
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        total = len(self.data_source)
        if self.replacement:
            yield from creation.randint(
                0, total, (self.num_samples,), generator=self.generator
            ).tolist()
            return
        left = self.num_samples
        while left > 0:
            yield from creation.randperm(total, generator=self.generator).tolist()[:left]
            left -= total

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Some indices in a new random order in each epoch."""

    def __init__(self, indices: Any, generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        order = creation.randperm(len(self.indices), generator=self.generator).tolist()
        return (self.indices[i] for i in order)

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with weights."""

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        self.weights = creation.as_tensor(weights, dtype=np.float64)
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        return iter(
            creation.multinomial(
                self.weights, self.num_samples, self.replacement, generator=self.generator
            ).tolist()
        )

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in batches."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def default_collate(batch: Any) -> Any:
    """Samples as a batch: tensors are stacked, numbers become tensors, tuples and dicts go by their parts."""
    first = batch[0]
    if isinstance(first, CoreTensor):
        return shapes.stack(batch)
    if isinstance(first, np.ndarray | np.generic):
        return creation.from_numpy(np.stack(batch))
    if isinstance(first, bool | int):
        return creation.tensor(list(batch))
    if isinstance(first, float):
        return creation.tensor(list(batch), dtype=np.float64)
    if isinstance(first, str | bytes):
        return list(batch)
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, tuple | list):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("default_collate: samples must have one length")
        parts = [default_collate(part) for part in zip(*batch, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    raise TypeError(
        f"default_collate: samples must be tensors, numbers, tuples or dicts, got {type(first).__name__}"
    )


def get_worker_info() -> None:
    """None: samples are read in the process of the script."""


class DataLoader(Generic[Sample]):
    """Batches of a data set.

    Samples are read in the process of the script, in the order of the batches, whatever
    ``num_workers`` is: it and ``pin_memory``, ``prefetch_factor`` and ``persistent_workers`` choose
    only how fast PyTorch reads.

    Parameters
    ----------
    dataset : Dataset
        The samples.
    batch_size : int or None, default 1
        The number of samples in a batch; None gives single samples.
    shuffle : bool, default False
        Whether the samples come in a new random order in each epoch.
    sampler, batch_sampler : iterable, optional
        Another order, or other batches.
    collate_fn : callable, optional
        Makes a batch of a list of samples.
    drop_last : bool, default False
        Whether to leave out a smaller last batch.
    generator : Generator, optional
        The source of the random order.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> from extensor.torch.utils.data import DataLoader
    >>> list(DataLoader(torch.arange(5), batch_size=2))
    [tensor([0, 1]), tensor([2, 3]), tensor([4])]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if worker_init_fn is not None and num_workers:
            raise NotImplementedError(
                "DataLoader: there are no workers, so worker_init_fn is never called"
            )
        if sampler is not None and shuffle:
            raise ValueError("DataLoader: sampler and shuffle exclude each other")
        if batch_sampler is not None and (
            batch_size != 1 or shuffle or sampler is not None or drop_last
        ):
            raise ValueError(
                "DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last"
            )
        self.dataset = dataset
        self.batch_size = None if batch_sampler is not None else batch_size
        self.num_workers = num_workers
        self.drop_last = drop_last
        self.generator = generator
        self.pin_memory = pin_memory
        self._is_iterable = isinstance(dataset, IterableDataset)
        if self._is_iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("DataLoader: an iterable data set has its own order")
        if sampler is None and not self._is_iterable:
            sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None and not self._is_iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_collate if batch_size is not None else _as_tensors)

    def __iter__(self) -> Iterator[Any]:
        if self._is_iterable:
            yield from self._from_iterable()
        elif self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
        else:
            many = getattr(self.dataset, "__getitems__", None)
            for indices in self.batch_sampler:
                samples = many(indices) if many else [self.dataset[index] for index in indices]
                yield self.collate_fn(samples)

    def _from_iterable(self) -> Iterator[Any]:
        samples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, samples)
            return
        while batch := list(islice(samples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)

    def __len__(self) -> int:
        if self._is_iterable:
            count = len(self.dataset)
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def _as_tensors(sample: Any) -> Any:
    """A single sample, its arrays as tensors."""
    if isinstance(sample, np.ndarray | np.generic):
        return creation.as_tensor(np.asarray(sample))
    if isinstance(sample, tuple | list):
        return type(sample)(_as_tensors(x) for x in sample)
    return sample
