"""Normalization of channels by their own statistics, or by those gathered while training."""

from __future__ import annotations

from typing import Any

from extensor.arrays.shapes import Shape, Shapes
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.chain import chain_rule
from extensor.ops.exponential import rsqrt
from extensor.ops.normalization import SHARED as SHARED
from extensor.ops.normalization import (
    beside_channels,
    check_parameters,
    moments,
    normalized,
    scaled,
    through_moments,
    through_weight,
    to_parameter,
)
from extensor.ops.reduction import reduced_count

RUNNING = ("running_mean", "running_var")


def _channels(name: str, shapes: Shapes, own: bool, across_batch: bool) -> Shape:
    """``x`` is (batch, channels, ...), everything else has a number for each channel."""
    x, least = tuple(shapes["x"]), 2 if across_batch else 3
    if len(x) < least:
        raise value_error(name, f"x must have at least {least} axes", x_shape=x)
    check_parameters(name, shapes, x[1:2])
    given = [shapes[key] is not None for key in RUNNING]
    if given[0] != given[1]:
        raise value_error(name, "running_mean and running_var must come together", given=given)
    if not own and not given[0]:
        raise value_error(name, "running_mean and running_var are needed", running_mean=None)
    if own and reduced_count(x, _normalized_axes(len(x), across_batch)) == 1:
        raise value_error(name, "more than 1 value is needed for each variance", x_shape=x)
    return x


def _normalized_axes(ndim: int, across_batch: bool) -> Shape:
    return (*((0,) if across_batch else ()), *range(2, ndim))


def _normalize(
    xp: Any,
    x: Any,
    parameters: tuple[Any, ...],
    own: bool,
    momentum: float,
    eps: float,
    axes: Shape,
) -> Any:
    """The normalized ``x`` and, where its own statistics move running ones, those."""
    running_mean, running_var, weight, bias = parameters
    beside = beside_channels(x.shape)
    if own:
        centred, middle, variance = moments(xp, x, axes)
    else:
        running = (xp.astype(statistic, x.dtype) for statistic in (running_mean, running_var))
        middle, variance = (xp.reshape(statistic, beside) for statistic in running)
        centred = x - middle
    output = scaled(xp, centred / xp.sqrt(variance + eps), weight, bias, beside)
    if not own or running_mean is None or 0 in x.shape:
        return output
    n = reduced_count(x.shape, axes)
    return (
        output,
        _moving_average(xp, running_mean, middle, momentum),
        _moving_average(xp, running_var, variance * (n / (n - 1)), momentum),
    )


def _moving_average(xp: Any, running: Any, own: Any, momentum: float) -> Any:
    """``running`` moved towards the mean of the samples' ``own`` statistic.

    In float64: the results of 16-bit inputs are rounded to their dtype, running statistics not.
    """
    by_sample = xp.reshape(xp.astype(own, xp.float64), (-1, *running.shape))
    return (1 - momentum) * running + momentum * xp.mean(by_sample, axis=0)


def _gradients(
    grad_output: Tensor,
    x: Tensor,
    running: tuple[Any, Any],
    weight: Tensor | None,
    own: bool,
    eps: float,
    axes: Shape,
) -> tuple[Any, Any, Any]:
    beside = beside_channels(x.shape)
    if own:
        unit, scale = normalized(x, axes, eps)
    else:
        middle, variance = (statistic.astype(x.dtype).reshape(beside) for statistic in running)
        scale = rsqrt(variance + eps)
        unit = (x - middle) * scale

    def to_x() -> Tensor:
        gradient = through_weight(grad_output, weight, beside)
        if own:
            return through_moments(gradient, unit, scale, axes)
        return chain_rule(gradient, scale)

    return (
        to_x,
        lambda: to_parameter(chain_rule(grad_output, unit), beside),
        lambda: to_parameter(grad_output, beside),
    )


def _batch_norm(name: str, shapes: Shapes, training: bool, *_: Any) -> Shape:
    return _channels(name, shapes, training, across_batch=True)


@op(kernel="batch_norm", shape=_batch_norm, floats=True, updates=RUNNING)
def batch_norm(
    xp: Any,
    x: Array,
    running_mean: Indices | None,
    running_var: Indices | None,
    weight: Array | None = None,
    bias: Array | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, channel by channel.

    In training, ``mean`` and ``var`` are those of each channel of ``x``, and the running
    statistics move towards them, in place: ``(1 - momentum) * running + momentum * own``, where
    the own variance is divided by n - 1. Otherwise they are the running statistics. Derivative:
    in ``x`` in training as for ``layer_norm``, over a channel; else
    ``weight / sqrt(var + eps)``; in ``weight``: ``(x - mean) / sqrt(var + eps)``; in ``bias``:
    1; the running statistics have none.

    Parameters
    ----------
    x : (batch, channels, ...)
        The input.
    weight, bias : (channels,)
        Factors for the normalized values, and numbers to add to them; by default 1 and 0.
    training
        Whether to normalize with the statistics of ``x`` and to update the running ones.

    >>> import extensor as ex
    >>> mean, var = ex.zeros(2), ex.ones(2)
    >>> ex.batch_norm([[1.0, 7.0], [3.0, 7.0]], mean, var, training=True, eps=3.0)
    tensor([[-0.5,  0. ],
            [ 0.5,  0. ]])
    >>> mean, var
    (tensor([0.2, 0.7]), tensor([1.1, 0.9]))
    >>> ex.batch_norm_backward([[1.0], [0.0]], [[1.0], [3.0]], None, None, training=True).grad_weight
    tensor([-0.999995])
    """
    parameters, axes = (running_mean, running_var, weight, bias), _normalized_axes(x.ndim, True)
    return _normalize(xp, x, parameters, training, momentum, eps, axes)


@batch_norm.backward(kernel="batch_norm_backward")
def batch_norm_backward(
    grad_output: Tensor,
    x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    training: bool = False,
    eps: float = 1e-5,
) -> tuple[Any, Any, Any]:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last two without them too."""
    running, axes = (running_mean, running_var), _normalized_axes(x.ndim, True)
    return _gradients(grad_output, x, running, weight, training, eps, axes)


def _instance_norm(name: str, shapes: Shapes, use_input_stats: bool, *_: Any) -> Shape:
    return _channels(name, shapes, use_input_stats, across_batch=False)


@op(kernel="instance_norm", shape=_instance_norm, floats=True, updates=RUNNING)
def instance_norm(
    xp: Any,
    x: Array,
    running_mean: Indices | None = None,
    running_var: Indices | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, for each channel of each sample.

    Derivative: as for ``batch_norm``, over a channel of a sample.

    Parameters
    ----------
    x : (batch, channels, ...)
        The input.
    weight, bias : (channels,)
        Factors for the normalized values, and numbers to add to them; by default 1 and 0.
    use_input_stats
        Whether to normalize with the statistics of ``x``. Running statistics, if given, then
        move in place as for `batch_norm`, towards the means over the batch. If False, they are
        used instead.

    >>> import extensor as ex
    >>> ex.instance_norm([[[1.0, 3.0], [7.0, 7.0]]], eps=3.0)
    tensor([[[-0.5,  0.5],
             [ 0. ,  0. ]]])
    >>> ex.instance_norm_backward([[[1.0, 0.0]]], [[[1.0, 3.0]]]).grad_weight
    tensor([-0.999995])
    """
    parameters, axes = (running_mean, running_var, weight, bias), _normalized_axes(x.ndim, False)
    return _normalize(xp, x, parameters, use_input_stats, momentum, eps, axes)


@instance_norm.backward(kernel="instance_norm_backward")
def instance_norm_backward(
    grad_output: Tensor,
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    use_input_stats: bool = True,
    eps: float = 1e-5,
) -> tuple[Any, Any, Any]:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last two without them too."""
    running, axes = (running_mean, running_var), _normalized_axes(x.ndim, False)
    return _gradients(grad_output, x, running, weight, use_input_stats, eps, axes)
