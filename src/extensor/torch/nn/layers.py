"""The layers of the core as classes of this package, and layers that are functions with options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from extensor import nn as core
from extensor.arrays.dtypes import cache
from extensor.errors import type_error
from extensor.nn.module import Module as CoreModule
from extensor.ops.in_place import overwrite
from extensor.torch.nn import functional as F
from extensor.torch.nn import losses
from extensor.torch.nn.module import Module, with_results
from extensor.torch.nn.utils.rnn import PackedSequence, run_packed
from extensor.torch.tensor_class import handed_out

# Layers that can write into their input, and the place of ``inplace`` among their arguments.
INPLACE = {
    **dict.fromkeys("ReLU ReLU6 SELU SiLU Mish Hardswish Hardsigmoid".split(), 0),
    **dict.fromkeys(
        "LeakyReLU ELU CELU Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout".split(),
        1,
    ),
    **dict.fromkeys(("Hardtanh", "RReLU", "Threshold"), 2),
}
_RECURRENT = ("LSTM", "GRU", "RNN")
_NOT_LAYERS = ("Module", "Parameter")

# Layers that are a function of so many inputs, with the other parameters as options.
FUNCTIONAL: dict[str, tuple[Callable[..., Any], int]] = {
    "CosineSimilarity": (F.cosine_similarity, 2),
    "GaussianNLLLoss": (losses.gaussian_nll_loss, 3),
    "HingeEmbeddingLoss": (losses.hinge_embedding_loss, 2),
    "MarginRankingLoss": (losses.margin_ranking_loss, 3),
    "MultiLabelSoftMarginLoss": (losses.multilabel_soft_margin_loss, 2),
    "MultiMarginLoss": (losses.multi_margin_loss, 2),
    "PairwiseDistance": (losses.pairwise_distance, 2),
    "PoissonNLLLoss": (losses.poisson_nll_loss, 2),
    "SoftMarginLoss": (losses.soft_margin_loss, 2),
    "TripletMarginLoss": (losses.triplet_margin_loss, 3),
    "MSELoss": (losses.mse_loss, 2),
    "L1Loss": (losses.l1_loss, 2),
    "SmoothL1Loss": (losses.smooth_l1_loss, 2),
    "HuberLoss": (losses.huber_loss, 2),
}
# These have options that the core's layers of the same name lack.
_FIRST = ("TripletMarginLoss", "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")


def layer(name: str) -> Any:
    """The class of a name of ``torch.nn``, or None."""
    if name in FUNCTIONAL and (name in _FIRST or name not in core.__all__):
        return of_function(name)
    if name in core.__all__ and name not in _NOT_LAYERS:
        found = getattr(core, name)
        if isinstance(found, type) and issubclass(found, CoreModule):
            return derived(found)
    return None


@cache
def derived(kind: Any) -> type:
    """A layer of the core as a class of this package."""
    name = kind.__name__
    members: dict[str, Any] = {"__module__": "extensor.torch.nn", "__doc__": kind.__doc__}
    # Its own forward, not that of a class below, which is handed out already.
    forward = kind.forward
    members["forward"] = with_results(forward)
    if name in INPLACE:
        members |= _with_inplace(kind, INPLACE[name])
    elif name in _RECURRENT:
        members["forward"] = _with_packed(forward)
    elif name == "Softmax" or name == "LogSoftmax":
        members["__init__"] = _with_dim(kind)
    return type(name, (Module, kind), members)


def _with_inplace(kind: Any, place: int) -> dict[str, Any]:
    forward = kind.forward

    @wraps(kind.__init__)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        inplace = kwargs.pop("inplace", False)
        if len(args) > place:
            args, inplace = args[:place], args[place]
        kind.__init__(self, *args, **kwargs)
        self.inplace = bool(inplace)

    @wraps(forward)
    def run(self: Any, x: Any) -> Any:
        if self.inplace:
            return overwrite(kind.__name__, x, lambda given: forward(self, given), ())
        return handed_out(forward(self, x))

    return {"__init__": __init__, "forward": run, "inplace": False}


def _with_packed(forward: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(forward)
    def run(self: Any, input: Any, hx: Any = None) -> Any:
        if isinstance(input, PackedSequence):
            return run_packed(lambda x, state: forward(self, x, state), self, input, hx)
        return handed_out(forward(self, input) if hx is None else forward(self, input, hx))

    return run


def _with_dim(kind: Any) -> Callable[..., Any]:
    @wraps(kind.__init__)
    def __init__(self: Any, dim: int | None = None) -> None:  # noqa: N807
        if dim is None:
            raise type_error(kind.__name__, "needs dim, which PyTorch guesses with a warning")
        kind.__init__(self, dim)

    return __init__


Module.derived = staticmethod(derived)


@cache
def of_function(name: str) -> type:
    """A layer that keeps the options of a function."""
    function, count = FUNCTIONAL[name]
    signature = inspect.signature(function)
    options = list(signature.parameters.values())[count:]
    bound = signature.replace(parameters=options, return_annotation=None)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        Module.__init__(self)
        given = bound.bind(*args, **kwargs)
        given.apply_defaults()
        for option, value in given.arguments.items():
            setattr(self, option, value)

    def forward(self: Any, *inputs: Any) -> Any:
        return function(*inputs, **{option.name: getattr(self, option.name) for option in options})

    def extra_repr(self: Any) -> str:
        return ", ".join(f"{option.name}={getattr(self, option.name)}" for option in options)

    return type(
        name,
        (Module,),
        {
            "__module__": "extensor.torch.nn",
            "__doc__": function.__doc__,
            "__init__": __init__,
            "forward": forward,
            "extra_repr": extra_repr,
        },
    )
