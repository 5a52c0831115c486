"""PyTorch's own samples of arguments, computed by PyTorch and by the functions of its names here."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import extensor.torch as ours
from extensor.core.tensor import Tensor as CoreTensor

Tensor = torch.Tensor
DTYPES = (torch.float64, torch.float32, torch.int64, torch.bool)


def function(name: str) -> Callable[..., Any] | None:
    """The function here of the name of a sample, such as ``nn.functional.relu``, or None."""
    found: Any = ours
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            return getattr(ours.Tensor, name, None)
    return found if callable(found) and not isinstance(found, np.dtype) else None


def translated(value: Any, gradients: bool = False) -> Any:
    """Arguments of PyTorch's as arguments here, on memory of their own."""
    if isinstance(value, torch.Tensor):
        if value.dtype.is_complex:
            raise TypeError("complex")
        array = value.detach().numpy().copy()
        made = ours.from_numpy(array)
        if value.requires_grad and gradients:
            made.requires_grad_()
        return made
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, torch.dtype):
        return getattr(ours, str(value).removeprefix("torch."))
    if isinstance(value, torch.device):
        return ours.device("cpu")
    if isinstance(value, list | tuple):
        made = [translated(item, gradients) for item in value]
        return type(value)(made) if type(value) in (list, tuple) else tuple(made)
    if isinstance(value, dict):
        return {key: translated(item, gradients) for key, item in value.items()}
    return value


def flat(value: Any) -> list[Any]:
    """The tensors and numbers of a result."""
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size | ours.Size):
        return [x for item in value for x in flat(item)]
    return [value]


def leaves(value: Any) -> Iterator[Any]:
    """The tensors among arguments that require grad."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))
    elif isinstance(value, torch.Tensor | CoreTensor) and value.requires_grad:
        yield value


def as_array(x: Any) -> Any:
    return x.detach().numpy() if isinstance(x, torch.Tensor | CoreTensor) else np.asarray(x)


def difference(mine: Any, theirs: Any, tolerance: float) -> str:
    """What differs between two results, or nothing."""
    a, b = flat(mine), flat(theirs)
    if len(a) != len(b):
        return f"{len(a)} results, not {len(b)}"
    for x, y in zip(a, b, strict=True):
        if isinstance(y, torch.Tensor):
            if not isinstance(x, ours.Tensor):
                return f"a {type(x).__name__}, not a tensor"
            if str(y.dtype).removeprefix("torch.") != x.dtype.name:
                return f"dtype {x.dtype}, not {y.dtype}"
        one, other = as_array(x), as_array(y)
        if one.shape != other.shape:
            return f"shape {one.shape}, not {other.shape}"
        if not np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True):
            return "values"
    return ""


def samples(info: Any, dtype: torch.dtype, gradients: bool) -> list[Any]:
    if dtype not in info.dtypes:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(info.sample_inputs("cpu", dtype, requires_grad=gradients))


def compare(info: Any, name: str, sample: Any, gradients: bool) -> str:
    """Nothing if both agree, else how they differ; an error here begins with "refused"."""
    theirs = (sample.input, tuple(sample.args), dict(sample.kwargs))
    if name == "where":  # the sample begins with the tensor, the function with the condition
        theirs = (theirs[1][0], (theirs[0], *theirs[1][1:]), theirs[2])
    try:
        mine = translated(theirs, gradients)
    except (TypeError, AttributeError):
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = torch.where if name == "where" else info.op
        wanted = call(theirs[0], *theirs[1], **theirs[2])
        try:
            got = function(name)(mine[0], *mine[1], **mine[2])  # type: ignore[misc]
        except Exception as error:
            return f"refused: {type(error).__name__}: {str(error)[:150]}"
    double = any(x.dtype == torch.float64 for x in flat(wanted) if isinstance(x, torch.Tensor))
    tolerance = 1e-8 if double else 2e-4
    found = difference(got, wanted, tolerance)
    if found or not gradients:
        return found
    return gradient_difference(got, wanted, mine, theirs)


def gradient_difference(got: Any, wanted: Any, mine: Any, theirs: Any) -> str:
    roots = [
        (x, y)
        for x, y in zip(flat(got), flat(wanted), strict=True)
        if isinstance(y, torch.Tensor) and y.requires_grad
    ]
    if not roots:
        return ""
    for x, _ in roots:
        if not x.requires_grad:
            return "not recorded"
    rng = np.random.default_rng(0)
    seeds = [rng.normal(size=tuple(y.shape)) for _, y in roots]
    expected = list(leaves(theirs))
    own = list(leaves(mine))
    a = torch.autograd.grad(
        [y for _, y in roots], expected, [torch.from_numpy(s) for s in seeds], allow_unused=True
    )
    b = ours.autograd.grad(
        [x for x, _ in roots], own, [ours.from_numpy(s) for s in seeds], allow_unused=True
    )
    for one, other in zip(b, a, strict=True):
        if other is None or one is None:
            if not all(x is None or not as_array(x).any() for x in (one, other)):
                return "gradient: not connected"
            continue
        text = difference(one, other, 1e-7)
        if text:
            return f"gradient: {text}"
    return ""
