"""Normalizations whose number of channels the first call fixes."""

from __future__ import annotations

from extensor.arrays.dtypes import DType
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.lazy import LazyModule
from extensor.nn.normalization_batch import BatchNorm1d, BatchNorm2d, BatchNorm3d
from extensor.nn.normalization_instance import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d


@also_takes(**DEVICE)
class LazyBatchNorm1d(LazyModule, BatchNorm1d):
    """`BatchNorm1d` whose ``num_features`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `BatchNorm1d`. Before, it refuses to
    give parameters, for example to an optimizer.

    Parameters
    ----------
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float or None, default 0.1
        Weight of the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``. With None they are the plain
        averages of all batches so far.
    affine : bool, default True
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default True
        Whether to keep running statistics. Without them the statistics of the batch are used in
        evaluation too.
    bias : bool, default True
        Whether to have a ``bias`` if ``affine`` is set.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `BatchNorm1d` does.

    See Also
    --------
    BatchNorm1d : With ``num_features`` given.

    Notes
    -----
    Shape: that of `BatchNorm1d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyBatchNorm1d()
    >>> layer(ex.ones((2, 6, 5))).shape
    (2, 6, 5)
    >>> layer
    BatchNorm1d(num_features=6)
    """

    _made = BatchNorm1d
    _size = "num_features"
    _ndims = (3, 2)

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
        dtype: DType = None,
    ) -> None:
        self._keep(
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
            bias=bias,
            dtype=dtype,
        )

    def _input_size(self, shape: tuple[int, ...]) -> int:
        super()._input_size(shape)
        return shape[1]


@also_takes(**DEVICE)
class LazyBatchNorm2d(LazyModule, BatchNorm2d):
    """`BatchNorm2d` whose ``num_features`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `BatchNorm2d`. Before, it refuses to
    give parameters, for example to an optimizer.

    Parameters
    ----------
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float or None, default 0.1
        Weight of the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``. With None they are the plain
        averages of all batches so far.
    affine : bool, default True
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default True
        Whether to keep running statistics. Without them the statistics of the batch are used in
        evaluation too.
    bias : bool, default True
        Whether to have a ``bias`` if ``affine`` is set.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `BatchNorm2d` does.

    See Also
    --------
    BatchNorm2d : With ``num_features`` given.

    Notes
    -----
    Shape: that of `BatchNorm2d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyBatchNorm2d()
    >>> layer(ex.ones((2, 6, 5, 5))).shape
    (2, 6, 5, 5)
    >>> layer
    BatchNorm2d(num_features=6)
    """

    _made = BatchNorm2d
    _size = "num_features"
    _ndims = (4,)

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
        dtype: DType = None,
    ) -> None:
        self._keep(
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
            bias=bias,
            dtype=dtype,
        )


@also_takes(**DEVICE)
class LazyBatchNorm3d(LazyModule, BatchNorm3d):
    """`BatchNorm3d` whose ``num_features`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `BatchNorm3d`. Before, it refuses to
    give parameters, for example to an optimizer.

    Parameters
    ----------
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float or None, default 0.1
        Weight of the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``. With None they are the plain
        averages of all batches so far.
    affine : bool, default True
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default True
        Whether to keep running statistics. Without them the statistics of the batch are used in
        evaluation too.
    bias : bool, default True
        Whether to have a ``bias`` if ``affine`` is set.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `BatchNorm3d` does.

    See Also
    --------
    BatchNorm3d : With ``num_features`` given.

    Notes
    -----
    Shape: that of `BatchNorm3d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyBatchNorm3d()
    >>> layer(ex.ones((2, 6, 5, 5, 5))).shape
    (2, 6, 5, 5, 5)
    >>> layer
    BatchNorm3d(num_features=6)
    """

    _made = BatchNorm3d
    _size = "num_features"
    _ndims = (5,)

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
        dtype: DType = None,
    ) -> None:
        self._keep(
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
            bias=bias,
            dtype=dtype,
        )


@also_takes(**DEVICE)
class LazyInstanceNorm1d(LazyModule, InstanceNorm1d):
    """`InstanceNorm1d` whose ``num_features`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `InstanceNorm1d`. Before, it refuses to
    give parameters, for example to an optimizer.

    Parameters
    ----------
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float, default 0.1
        Weight of the means over the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``.
    affine : bool, default True
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default True
        Whether to keep running statistics. With them the running statistics normalize in
        evaluation; without them each sequence's own do.
    bias : bool, default True
        Whether to have a ``bias`` if ``affine`` is set.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `InstanceNorm1d` does.

    See Also
    --------
    InstanceNorm1d : With ``num_features`` given.

    Notes
    -----
    Shape: that of `InstanceNorm1d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyInstanceNorm1d()
    >>> layer(ex.ones((2, 6, 5))).shape
    (2, 6, 5)
    >>> layer
    InstanceNorm1d(num_features=6, affine=True, track_running_stats=True)
    """

    _made = InstanceNorm1d
    _size = "num_features"
    _ndims = (3, 2)

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
        dtype: DType = None,
    ) -> None:
        self._keep(
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
            bias=bias,
            dtype=dtype,
        )


@also_takes(**DEVICE)
class LazyInstanceNorm2d(LazyModule, InstanceNorm2d):
    """`InstanceNorm2d` whose ``num_features`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `InstanceNorm2d`. Before, it refuses to
    give parameters, for example to an optimizer.

    Parameters
    ----------
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float, default 0.1
        Weight of the means over the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``.
    affine : bool, default True
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default True
        Whether to keep running statistics. With them the running statistics normalize in
        evaluation; without them each picture's own do.
    bias : bool, default True
        Whether to have a ``bias`` if ``affine`` is set.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `InstanceNorm2d` does.

    See Also
    --------
    InstanceNorm2d : With ``num_features`` given.

    Notes
    -----
    Shape: that of `InstanceNorm2d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyInstanceNorm2d()
    >>> layer(ex.ones((2, 6, 5, 5))).shape
    (2, 6, 5, 5)
    >>> layer
    InstanceNorm2d(num_features=6, affine=True, track_running_stats=True)
    """

    _made = InstanceNorm2d
    _size = "num_features"
    _ndims = (4, 3)

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
        dtype: DType = None,
    ) -> None:
        self._keep(
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
            bias=bias,
            dtype=dtype,
        )


@also_takes(**DEVICE)
class LazyInstanceNorm3d(LazyModule, InstanceNorm3d):
    """`InstanceNorm3d` whose ``num_features`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `InstanceNorm3d`. Before, it refuses to
    give parameters, for example to an optimizer.

    Parameters
    ----------
    eps : float, default 1e-05
        Number added to the variance before the root is taken.
    momentum : float, default 0.1
        Weight of the means over the present batch in the running statistics:
        ``running = (1 - momentum) * running + momentum * batch``.
    affine : bool, default True
        Whether to multiply by a learnable ``weight`` and to add a learnable ``bias``.
    track_running_stats : bool, default True
        Whether to keep running statistics. With them the running statistics normalize in
        evaluation; without them each volume's own do.
    bias : bool, default True
        Whether to have a ``bias`` if ``affine`` is set.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `InstanceNorm3d` does.

    See Also
    --------
    InstanceNorm3d : With ``num_features`` given.

    Notes
    -----
    Shape: that of `InstanceNorm3d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyInstanceNorm3d()
    >>> layer(ex.ones((2, 6, 5, 5, 5))).shape
    (2, 6, 5, 5, 5)
    >>> layer
    InstanceNorm3d(num_features=6, affine=True, track_running_stats=True)
    """

    _made = InstanceNorm3d
    _size = "num_features"
    _ndims = (5, 4)

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
        dtype: DType = None,
    ) -> None:
        self._keep(
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
            bias=bias,
            dtype=dtype,
        )
