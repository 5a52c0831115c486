"""Data sets, data frames as arrays, and the order in which a loader takes samples."""

from __future__ import annotations

import inspect
from typing import Any, Protocol, runtime_checkable

import numpy as np

from extensor import random
from extensor.arrays import storage
from extensor.arrays.dtypes import get_default_dtype, is_floating
from extensor.core.tensor import to_array
from extensor.data.splitting import random_halves
from extensor.errors import arguments, index_error, type_error, value_error
from extensor.random.generator import Generator

_LONGEST = 6  # of a row of numbers that is shown


def made_with(one: Any) -> str:
    """The call that made ``one``: what must be given, and what is no default.

    >>> from extensor.data import RandomCrop
    >>> RandomCrop(28, padding=2)
    RandomCrop((28, 28), padding=2)
    """
    shown = []
    for name, parameter in inspect.signature(type(one).__init__).parameters.items():
        if name not in vars(one):
            continue
        value = vars(one)[name]
        if parameter.default is parameter.empty:
            shown.append(briefly(value))
        elif repr(value) != repr(parameter.default):
            shown.append(f"{name}={briefly(value)}")
    return f"{type(one).__name__}({', '.join(shown)})"


def briefly(value: Any) -> str:
    """``value``, or how many numbers it has."""
    items = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(items, list | tuple) and len(items) > _LONGEST:
        return f"[{len(items)} numbers]"
    return repr(items)


class Dataset(Protocol):
    """Protocol of a data set: its number of samples, and each of them by its number.

    A sample is an array, a number, or a tuple of them. All samples have the same number of parts, of the
    same shapes. Any class with ``__len__`` and ``__getitem__`` is a data set; it need not inherit.

    See Also
    --------
    BatchDataset : Samples that are read many at once.
    DataLoader : Batches of a data set.

    Notes
    -----
    A loader with ``workers`` calls ``__getitem__`` in several threads at once. Draw random numbers in a
    transform, from the generator that it gets, so that an epoch can be repeated and resumed.

    Examples
    --------
    >>> import numpy as np
    >>> from extensor.data import DataLoader
    >>> class Squares:
    ...     def __len__(self):
    ...         return 6
    ...     def __getitem__(self, index):
    ...         return np.float32(index), index * index
    >>> for inputs, targets in DataLoader(Squares(), batch_size=3):
    ...     print(inputs.tolist(), targets.tolist())
    [0.0, 1.0, 2.0] [0, 1, 4]
    [3.0, 4.0, 5.0] [9, 16, 25]
    """

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Any: ...


@runtime_checkable
class BatchDataset(Protocol):
    """Protocol of a data set that returns many samples at once.

    A loader reads it batch by batch, without Python code for each sample. Any class with ``__len__`` and
    ``batch`` that also has items is such a data set; it need not inherit.

    See Also
    --------
    Dataset : Samples that are read one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from extensor.data import BatchDataset, DataLoader
    >>> class Squares:
    ...     numbers = np.arange(6)
    ...     def __len__(self):
    ...         return len(self.numbers)
    ...     def __getitem__(self, index):
    ...         return self.numbers[index], self.numbers[index] ** 2
    ...     def batch(self, indices):
    ...         return self.numbers[indices], self.numbers[indices] ** 2
    >>> isinstance(Squares(), BatchDataset)
    True
    >>> [targets.tolist() for inputs, targets in DataLoader(Squares(), batch_size=3)]
    [[0, 1, 4], [9, 16, 25]]
    """

    def __len__(self) -> int: ...

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
        ...


class ArrayDataset:
    """Arrays of the same length, such as images and their labels; sample ``i`` is row ``i`` of each.

    Parameters
    ----------
    *arrays : array_like, (samples, ...)
        One array for each part of a sample, at least one.

    Attributes
    ----------
    arrays : tuple of numpy.ndarray
        The parts. NumPy arrays are not copied.

    Raises
    ------
    ValueError
        If there is no array, or if their lengths differ.

    Examples
    --------
    >>> from extensor.data import ArrayDataset
    >>> dataset = ArrayDataset([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    >>> len(dataset)
    2
    >>> dataset[1]
    (array([3., 4.], dtype=float32), np.int64(1))
    >>> dataset
    ArrayDataset(2 samples: float32 (2,), int64 ())
    """

    def __init__(self, *arrays: Any) -> None:
        if not arrays:
            raise value_error("ArrayDataset", "at least one array must be given", arrays=arrays)
        self.arrays = tuple(to_array(x, op="ArrayDataset") for x in arrays)
        shapes = [x.shape for x in self.arrays]
        if any(len(shape) == 0 or shape[0] != shapes[0][0] for shape in shapes):
            raise value_error("ArrayDataset", "arrays must have the same length", shapes=shapes)

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(x[index] for x in self.arrays)

    def __repr__(self) -> str:
        parts = ", ".join(f"{x.dtype} {tuple(x.shape[1:])}" for x in self.arrays)
        return f"{type(self).__name__}({len(self)} samples: {parts})"

    def batch(self, indices: Any) -> tuple[Any, ...]:
        """Return the rows at ``indices``; those of a slice share the memory of the data set.

        Parameters
        ----------
        indices : numpy.ndarray of int, (n,), or slice
            The numbers of the samples, from 0.

        Returns
        -------
        tuple of numpy.ndarray
            One array for each part of a sample, with the samples along the first axis.
        """
        if isinstance(indices, slice):
            return self[indices]
        return tuple(rows(x, indices) for x in self.arrays)

    def split(
        self, fraction: float, generator: Generator | None = None
    ) -> tuple[ArrayDataset, ArrayDataset]:
        """Split into two data sets of randomly chosen samples.

        Parameters
        ----------
        fraction : float
            Share of the second part, between 0 and 1.
        generator : Generator, optional
            Source of randomness. Default: the default generator of `extensor.random`.

        Returns
        -------
        first : ArrayDataset
            The samples that are not in the second part.
        second : ArrayDataset
            ``fraction`` of the samples, rounded.

        Raises
        ------
        ValueError
            If ``fraction`` is not from 0 to 1.

        Examples
        --------
        >>> from extensor.data import ArrayDataset
        >>> train, test = ArrayDataset(range(10)).split(0.2)
        >>> len(train), len(test)
        (8, 2)
        """
        first, second = random_halves("split", len(self), fraction, generator)
        return ArrayDataset(*self.batch(first)), ArrayDataset(*self.batch(second))


class IndexedDataset:
    """The base of data sets with a ``batch`` method: single samples, and checked indices."""

    def __len__(self) -> int:
        raise NotImplementedError

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
        raise NotImplementedError

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        place = sample_place(type(self).__name__, index, len(self))
        return tuple(part[0] for part in self.batch(np.array([place % len(self)])))

    def _places(self, method: str, indices: Any) -> Any:
        """``indices`` as an array of int64, checked; ``method`` is for messages."""
        if isinstance(indices, slice):
            return np.arange(*indices.indices(len(self)))
        op = f"{type(self).__name__}.{method}"
        places = to_array(indices, op=op)
        if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
            brief = arguments.briefly(indices)
            requirement = "the numbers of samples must be a row of integers"
            if method == "batch":
                raise type_error(op, f"{requirement}, or a slice", indices=brief)
            raise type_error(op, requirement, numbers=brief)
        if places.size and not 0 <= places.min() <= places.max() < len(self):
            worst = places.max() if places.min() >= 0 else places.min()
            requirement = f"the numbers of samples must be in [0, {len(self) - 1}]"
            raise index_error(op, requirement, number=int(worst))
        return places.astype(np.int64, copy=False)


def sample_place(op: str, index: Any, count: int) -> int:
    """``index`` as an integer that a sample has, counted from the end if it is negative."""
    place = arguments.integer(op, "index", index)
    if not -count <= place < count:
        raise index_error(op, f"index must be in [{-count}, {count - 1}]", index=place)
    return place


def rows(array: Any, indices: Any) -> Any:
    """Rows in memory of the pool: a fresh block of this size would cost more than filling it."""
    target = storage.empty((*np.shape(indices), *array.shape[1:]), array.dtype)
    # With "raise", NumPy fills a buffer of its own first; the indices have been checked.
    np.take(array, indices, axis=0, out=target, mode="clip")
    return target


_WAY_OUT = "ex.data.TableEncoder makes numbers of words, and so does extensor train FILE"


def is_frame(value: Any) -> bool:
    """True for a table with named columns."""
    has = hasattr(value, "columns") and hasattr(value, "to_numpy")
    return has and not isinstance(value, type)


def is_series(value: Any) -> bool:
    """True for one column of a table."""
    has = hasattr(value, "to_numpy") and hasattr(value, "name") and hasattr(value, "dtype")
    return has and not isinstance(value, type) and not is_frame(value)


def frame_array(op: str, name: str, table: Any) -> Any:
    """The numbers of a table as a matrix, of a column as a row; floats in the default dtype."""
    if is_series(table):
        return _narrow(_numbers(op, name, getattr(table, "name", None), table))
    columns = [_numbers(op, name, label, column) for label, column in _columns(table)]
    if not columns:
        raise value_error(op, f"{name} must have at least one column", columns=0)
    return _narrow(np.stack(columns, axis=1))


def check_no_words(op: str, name: str, value: Any) -> None:
    """Refuse a word, or an array of words or of anything."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if isinstance(value, str | bytes) or kind in ("O", "U", "S"):
        given = str(getattr(value, "dtype", type(value).__name__))
        raise type_error(op, f"{name} must be numbers ({_WAY_OUT})", dtype=given)


def column_names(table: Any) -> list[str]:
    """The names of the columns, as text."""
    return [str(label) for label, _ in _columns(table)]


def check_rows(op: str, x: Any, y: Any) -> None:
    """Refuse a table and targets whose rows have the same labels in another order (pandas)."""
    first: Any = getattr(x, "index", None)
    second: Any = getattr(y, "index", None)
    if not (hasattr(first, "equals") and hasattr(second, "equals")) or len(x) != len(y):
        return
    if not first.equals(second) and first.isin(second).all() and second.isin(first).all():
        requirement = (
            "X and y must have their rows in the same order (y.loc[X.index], or "
            "y.reset_index(drop=True) if they belong together as they stand)"
        )
        row = int(np.argmax(np.asarray(first != second)))
        raise value_error(op, requirement, X_index=str(first[row]), y_index=str(second[row]))


def _columns(table: Any) -> list[tuple[Any, Any]]:
    """Each column with its name; two of pandas' may have the same."""
    if hasattr(table, "get_columns"):
        return [(column.name, column) for column in table.get_columns()]
    if hasattr(table, "items"):
        return list(table.items())
    return [(label, table[label]) for label in table.columns]


def _numbers(op: str, name: str, label: Any, column: Any) -> Any:
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    kind = str(getattr(column, "dtype", values.dtype))
    given = {} if label is None else {"column": str(label)}
    missing = _missing(column, values)
    if missing and (values.dtype.kind in "biuf" or kind == "boolean"):
        requirement = f"{name} must have no missing values (fill them, or drop their rows)"
        raise value_error(op, requirement, **given, missing=missing)
    # A category of numbers is meant as names.
    if values.dtype.kind not in "biuf" or values.ndim != 1 or kind.lower() == "category":
        raise type_error(op, f"{name} must be numbers ({_WAY_OUT})", **given, dtype=kind)
    return values


def _missing(column: Any, values: Any) -> int:
    if values.dtype.kind == "f":
        return int(np.isnan(values).sum())
    count = getattr(column, "isna", None) or getattr(column, "is_null", None)
    return 0 if count is None else int(count().sum())


def _narrow(array: Any) -> Any:
    return array.astype(get_default_dtype(), copy=False) if is_floating(array.dtype) else array


class Sampler(Protocol):
    """Protocol of a sampler: the order of the samples in an epoch.

    ``len(sampler)`` is the number of indices in an epoch. Any class with ``__len__`` and ``order`` is a
    sampler; it need not inherit.

    See Also
    --------
    RandomSampler, SequentialSampler, WeightedSampler, ShardSampler

    Examples
    --------
    >>> import numpy as np
    >>> from extensor.data import ArrayDataset, DataLoader
    >>> class Backwards:
    ...     def __len__(self):
    ...         return 4
    ...     def order(self, generator):
    ...         return np.arange(4)[::-1]
    >>> loader = DataLoader(ArrayDataset([10, 20, 30, 40]), batch_size=2, sampler=Backwards())
    >>> [batch.tolist() for batch, in loader]
    [[40, 30], [20, 10]]
    """

    def __len__(self) -> int: ...

    def order(self, generator: Generator) -> Any:
        """Return the indices of the next epoch.

        Parameters
        ----------
        generator : Generator
            The source of all randomness.

        Returns
        -------
        numpy.ndarray of int64, (len(self),)
            The numbers of the samples, from 0.
        """
        ...


class Order(Protocol):
    """Protocol of the order of an epoch that is computed on demand: ``order[begin:end]`` is an array."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice) -> Any: ...


def is_ours(part: Any) -> bool:
    """True for a sampler, data set or transform of the library: by the same generator it does the same."""
    return type(part).__module__.split(".")[0] == "extensor"


def order_of(sampler: Sampler, generator: Generator) -> Any:
    """The indices of the next epoch, lazily if the sampler can give them so."""
    lazy = getattr(sampler, "lazy_order", None)
    return np.asarray(sampler.order(generator)) if lazy is None else lazy(generator)


class SequentialSampler:
    """Samples in order: 0, 1, 2 and so on.

    Parameters
    ----------
    size : int
        Number of samples, 0 or more.

    Examples
    --------
    >>> from extensor.data import SequentialSampler
    >>> from extensor.random import Generator
    >>> SequentialSampler(4).order(Generator(0))
    array([0, 1, 2, 3])
    """

    def __init__(self, size: int) -> None:
        self.size = arguments.integer("SequentialSampler", "size", size, 0)

    __repr__ = made_with

    def __len__(self) -> int:
        return self.size

    def order(self, generator: Generator) -> Any:
        """Return the indices of an epoch.

        Parameters
        ----------
        generator : Generator
            The source of all randomness.

        Returns
        -------
        numpy.ndarray of int64, (len(self),)
            The numbers of the samples, from 0.
        """
        return np.arange(self.size)

    def lazy_order(self, generator: Generator) -> Order:
        """Return the order of an epoch as an object that computes slices of it on demand.

        Parameters
        ----------
        generator : Generator
            The source of all randomness; it is used before this method returns.

        Returns
        -------
        Order
            ``order[begin:end]`` is an array of int64. Several threads may slice it.
        """
        return _Counting(self.size)


class _Counting:
    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> Any:
        return np.arange(*part.indices(self.size))


class RandomSampler:
    """Samples in random order, each once or drawn with replacement.

    Parameters
    ----------
    size : int
        Number of samples of the data set.
    replacement : bool, default False
        Whether a sample may be drawn more than once.
    num_samples : int, optional
        Number of indices in an epoch. Default: ``size``.

    Raises
    ------
    ValueError
        If ``num_samples`` is greater than ``size`` without replacement.

    Examples
    --------
    >>> from extensor.data import RandomSampler
    >>> from extensor.random import Generator
    >>> RandomSampler(5).order(Generator(0))
    array([3, 4, 2, 1, 0])
    """

    def __init__(
        self, size: int, replacement: bool = False, num_samples: int | None = None
    ) -> None:
        self.size = arguments.integer("RandomSampler", "size", size, 0)
        self.replacement = arguments.flag("RandomSampler", "replacement", replacement)
        self.num_samples = self.size
        if num_samples is not None:
            self.num_samples = arguments.integer("RandomSampler", "num_samples", num_samples, 0)
        if self.num_samples > (size if not replacement else self.num_samples * size):
            requirement = f"num_samples must be at most {size} without replacement"
            raise value_error("RandomSampler", requirement, num_samples=num_samples)

    def __repr__(self) -> str:
        fewer = "" if self.num_samples == self.size else f", num_samples={self.num_samples}"
        again = ", replacement=True" if self.replacement else ""
        return f"{type(self).__name__}({self.size}{again}{fewer})"

    def __len__(self) -> int:
        return self.num_samples

    def order(self, generator: Generator) -> Any:
        """Draw the indices of an epoch.

        Parameters
        ----------
        generator : Generator
            The source of all randomness.

        Returns
        -------
        numpy.ndarray of int64, (len(self),)
            The numbers of the samples, from 0.
        """
        chosen = random.choice(self.size, self.num_samples, self.replacement, generator=generator)
        return chosen.numpy()


class WeightedSampler:
    """Random samples, each drawn in proportion to its weight, as for rare classes.

    Parameters
    ----------
    weights : array_like, (size,)
        Finite weights of the samples, none negative, not all 0. They need not add up to 1.
    num_samples : int
        Number of indices in an epoch.
    replacement : bool, default True
        Whether a sample may be drawn more than once.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, or all are 0.

    Examples
    --------
    >>> from extensor.data import WeightedSampler
    >>> from extensor.random import Generator
    >>> WeightedSampler([0.0, 1.0], num_samples=3).order(Generator(0))
    array([1, 1, 1])
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        chances = arguments.numbers("WeightedSampler", "weights", weights)
        if chances.ndim != 1 or not (np.isfinite(chances) & (chances >= 0)).all():
            requirement = "weights must be a row of finite numbers, none negative"
            raise value_error("WeightedSampler", requirement, weights_shape=chances.shape)
        total = chances.sum()
        if not total > 0:
            raise value_error("WeightedSampler", "weights must not all be 0", sum=float(total))
        self.chances = chances / total
        self.num_samples = arguments.integer("WeightedSampler", "num_samples", num_samples, 0)
        self.replacement = arguments.flag("WeightedSampler", "replacement", replacement)

    def __repr__(self) -> str:
        once = "" if self.replacement else ", replacement=False"
        number = f"{len(self.chances)} weights, num_samples={self.num_samples}"
        return f"{type(self).__name__}({number}{once})"

    def __len__(self) -> int:
        return self.num_samples

    def order(self, generator: Generator) -> Any:
        """Draw the indices of an epoch.

        Parameters
        ----------
        generator : Generator
            The source of all randomness.

        Returns
        -------
        numpy.ndarray of int64, (len(self),)
            The numbers of the samples, from 0.
        """
        chosen = random.choice(
            len(self.chances), self.num_samples, self.replacement, self.chances, generator
        )
        return chosen.numpy()


class ShardSampler:
    """The share of one worker in the order of another sampler.

    Runs of ``batch`` indices go to the workers in turn. In each step the batches of all workers, one
    after the other, therefore form a batch of the whole order. Every worker must use a generator in the
    same state.

    Parameters
    ----------
    sampler : Sampler
        The sampler of the whole order.
    rank : int
        Number of this worker, from 0 to ``workers - 1``.
    workers : int
        Number of workers.
    drop_last : bool, default False
        Whether to leave out indices that cannot be divided evenly. Otherwise the order is filled up
        from its beginning, so that all workers get the same number of indices.
    batch : int, default 1
        Length of a run, 1 or more.

    Notes
    -----
    A `Trainer` with ``micro_batches`` distributes samples by itself and refuses such a sampler.

    Examples
    --------
    >>> from extensor.data import SequentialSampler, ShardSampler
    >>> from extensor.random import Generator
    >>> ShardSampler(SequentialSampler(12), rank=1, workers=2, batch=3).order(Generator(0))
    array([ 3,  4,  5,  9, 10, 11])
    """

    def __init__(
        self,
        sampler: Sampler,
        rank: int,
        workers: int,
        drop_last: bool = False,
        batch: int = 1,
    ) -> None:
        check_sampler("ShardSampler", sampler)
        rank = arguments.integer("ShardSampler", "rank", rank)
        workers = arguments.integer("ShardSampler", "workers", workers)
        if not 0 <= rank < workers:
            requirement = "rank must be in [0, workers - 1]"
            raise value_error("ShardSampler", requirement, rank=rank, workers=workers)
        self.sampler = sampler
        self.rank = rank
        self.workers = workers
        self.drop_last = arguments.flag("ShardSampler", "drop_last", drop_last)
        self.batch = arguments.integer("ShardSampler", "batch", batch, 1)

    __repr__ = made_with

    def __len__(self) -> int:
        whole, turn = len(self.sampler), self.workers * self.batch
        return self.batch * (whole // turn if self.drop_last else -(-whole // turn))

    def order(self, generator: Generator) -> Any:
        """Return the indices of this worker in the next epoch.

        Parameters
        ----------
        generator : Generator
            The source of all randomness.

        Returns
        -------
        numpy.ndarray of int64, (len(self),)
            The numbers of the samples, from 0.
        """
        return self.lazy_order(generator)[:]

    def lazy_order(self, generator: Generator) -> Order:
        """Return the order of an epoch as an object that computes slices of it on demand.

        Parameters
        ----------
        generator : Generator
            The source of all randomness; it is used before this method returns.

        Returns
        -------
        Order
            ``order[begin:end]`` is an array of int64. Several threads may slice it.
        """
        return _Share(self, order_of(self.sampler, generator))


class _Share:
    """The part of an order that a :class:`ShardSampler` takes."""

    def __init__(self, sampler: ShardSampler, order: Any) -> None:
        self.length = len(sampler)
        self.rank, self.workers, self.batch = sampler.rank, sampler.workers, sampler.batch
        self.whole = order

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice) -> Any:
        own = np.arange(*part.indices(self.length))
        if not own.size:
            return own
        runs, places = np.divmod(own, self.batch)
        positions = (runs * self.workers + self.rank) * self.batch + places
        begin, end = int(positions[0]), int(positions[-1]) + 1
        return self._stretch(begin, end)[positions - begin]

    def ahead(self, begin: int, end: int) -> Any:
        """The runs to read meanwhile, if the whole order knows them: each worker reads its part."""
        if not hasattr(self.whole, "ahead"):
            return []
        turn = self.batch * self.workers
        first, last = (min(x // self.batch * turn, len(self.whole)) for x in (begin, end))
        return self.whole.ahead(first, len(self.whole) if end == self.length else last)

    def _stretch(self, begin: int, end: int) -> Any:
        """The whole order from ``begin`` to ``end``, repeated if it ends before."""
        size = len(self.whole)
        parts = []
        while begin < end:
            first = begin % size
            last = min(size, first + end - begin)
            parts.append(self.whole[first:last])
            begin += last - first
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def check_sampler(op: str, value: Any) -> None:
    """Refuse an object that gives no order, and a class of such objects."""
    if isinstance(value, type) or not (hasattr(value, "order") and hasattr(value, "__len__")):
        requirement = "sampler must have a length and an order, as RandomSampler(size)"
        raise type_error(op, requirement, sampler=arguments.briefly(value))
