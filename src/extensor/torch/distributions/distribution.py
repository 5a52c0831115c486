"""The base of all distributions, and independent ones as one."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor import ops, random
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor as CoreTensor
from extensor.torch import creation, shapes
from extensor.torch.sizes import Size
from extensor.torch.tensor_class import handed_out, wrapped


class Distribution:
    """A distribution, or a batch of them: ``batch_shape`` of distributions over ``event_shape``.

    Parameters
    ----------
    batch_shape, event_shape : tuple of int
        The shapes.
    """

    has_rsample = False

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a value."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = ()) -> tuple[int, ...]:
        return (*sample_shape, *self._batch_shape, *self._event_shape)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values by chance, which are not recorded."""
        with no_grad():
            return handed_out(self.rsample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values by chance, through which gradients reach the parameters."""
        raise NotImplementedError(
            f"{type(self).__name__}.rsample: not implemented here; use sample()"
        )

    def sample_n(self, n: int) -> Any:
        """``sample((n,))``."""
        return self.sample((n,))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density or probability of a value."""
        raise NotImplementedError(f"{type(self).__name__}.log_prob: not implemented here")

    def entropy(self) -> Any:
        """The entropy."""
        raise NotImplementedError(f"{type(self).__name__}.entropy: not implemented here")

    def cdf(self, value: Any) -> Any:
        """The probability of values up to this one."""
        raise NotImplementedError(f"{type(self).__name__}.cdf: not implemented here")

    def icdf(self, value: Any) -> Any:
        """The value up to which there is so much probability."""
        raise NotImplementedError(f"{type(self).__name__}.icdf: not implemented here")

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__}.mean: not implemented here")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__}.variance: not implemented here")

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def __repr__(self) -> str:
        shapes = f"batch_shape={tuple(self._batch_shape)}, event_shape={tuple(self._event_shape)}"
        return f"{type(self).__name__}({shapes})"


def broadcast(*values: Any) -> tuple[Any, ...]:
    """Parameters as tensors of one shape."""
    tensors = [x for x in values if isinstance(x, CoreTensor)]
    dtype = tensors[0].dtype if tensors else None
    made = [
        x if isinstance(x, CoreTensor) else creation.tensor(float(x), dtype=dtype) for x in values
    ]
    return shapes.broadcast_tensors(*made)


def noise(draw: Any, shape: Any, like: Any) -> Any:
    """Random numbers of ``extensor.random`` in a shape, in the dtype of a parameter."""
    return draw(tuple(shape), dtype=like.dtype)


def numpy_generator() -> np.random.Generator:
    """A generator of NumPy's that follows ``manual_seed``, for distributions that we have no kernel for."""
    return np.random.default_rng(random.randint(0, 2**62).item())


def numpy_sample(draw: Any, shape: Any, like: Any) -> Any:
    """``draw(generator, shape)`` as a tensor."""
    return wrapped(np.asarray(draw(numpy_generator(), tuple(shape)), like.dtype))


def function(name: str) -> Any:
    """An op that some distributions need, such as ``lgamma``; an error if the core lacks it."""
    found = getattr(ops, name, None)
    if found is None:
        raise NotImplementedError(f"distributions: needs {name}, which is not implemented here")
    return found


def sum_last(x: Any, count: int) -> Any:
    """The sum over the last ``count`` dimensions."""
    return handed_out(ops.sum(x, tuple(range(-count, 0)))) if count else x


class Independent(Distribution):
    """The last dimensions of a batch of distributions as one value.

    Parameters
    ----------
    base_distribution : Distribution
        The batch.
    reinterpreted_batch_ndims : int
        How many dimensions.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> from extensor.torch.distributions import Independent, Normal
    >>> Independent(Normal(torch.zeros(3), torch.ones(3)), 1).log_prob(torch.zeros(3)).shape
    torch.Size([])
    """

    def __init__(
        self,
        base_distribution: Any,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        shape = base_distribution.batch_shape
        cut = len(shape) - reinterpreted_batch_ndims
        super().__init__(shape[:cut], (*shape[cut:], *base_distribution.event_shape))

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether gradients pass through samples."""
        return bool(self.base_dist.has_rsample)

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return sum_last(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return sum_last(self.base_dist.entropy(), self.reinterpreted_batch_ndims)
