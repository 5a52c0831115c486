"""Every keyword of PyTorch's constructors and functions: taken at its default, or refused in a sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import extensor as ex
from extensor import nn, optim

torch = pytest.importorskip("torch")
F = torch.nn.functional
POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
REQUIRED = inspect.Parameter.empty

# What the constructors need: by position, so that it is the same for both.
NEEDED: dict[str, tuple[Any, ...]] = {
    **{
        f"{kind}{axes}d": (2, 2) if kind == "LPPool" else (2,)
        for kind in "AvgPool MaxPool MaxUnpool LPPool AdaptiveMaxPool AdaptiveAvgPool".split()
        for axes in (1, 2, 3)
    },
    "TransformerEncoder": (nn.TransformerEncoderLayer(4, 2), 2),
    "TransformerDecoder": (nn.TransformerDecoderLayer(4, 2), 2),
    "LazyLinear": (4,),
    **{f"LazyConv{kind}{n}d": (4, 3) for kind in ("", "Transpose") for n in (1, 2, 3)},
    "FractionalMaxPool2d": (2, 3),
    "FractionalMaxPool3d": (2, 3),
    "Unfold": (2,),
    "Unflatten": (1, (2, -1)),
    "Bilinear": (2, 3, 4),
    "EmbeddingBag": (2, 4),
    "Fold": (4, 2),
    **{
        f"{kind}Pad{axes}d": (1, 2.0) if kind == "Constant" else (1,)
        for kind in ("Constant", "Zero", "Reflection", "Replication", "Circular")
        for axes in (1, 2, 3)
    },
    **dict.fromkeys(("PixelShuffle", "PixelUnshuffle", "ChannelShuffle"), (2,)),
    **dict.fromkeys(("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"), (4,)),
    **dict.fromkeys([f"Conv{k}{n}d" for k in ("", "Transpose") for n in (1, 2, 3)], (2, 4, 3)),
    **dict.fromkeys(("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"), (4,)),
    "LocalResponseNorm": (2,),
    **dict.fromkeys(("GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"), (3, 4)),
    **dict.fromkeys(("LayerNorm", "RMSNorm"), (4,)),
    **dict.fromkeys(("Embedding", "GroupNorm", "Linear"), (2, 4)),
    **dict.fromkeys(
        ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer"), (4, 2)
    ),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Softmin"), (-1,)),
    "Threshold": (0.5, 2.0),
    "StepLR": (2,),
    "MultiStepLR": ([1, 2],),
    "ExponentialLR": (0.9,),
    "CosineAnnealingLR": (5,),
    "LambdaLR": (lambda count: 1.0,),
    "MultiplicativeLR": (lambda count: 1.0,),
    "CosineAnnealingWarmRestarts": (5,),
    "CyclicLR": (0.1, 0.4),
    "OneCycleLR": (0.1, 10),
}
# Without their own arguments, or not made by a call.
NO_CONSTRUCTOR = {"Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList"}
NO_CONSTRUCTOR |= {"Sequential", "Identity", "Optimizer", "Parameter"}
NO_CONSTRUCTOR |= {"SequentialLR", "ChainedScheduler"}
# Keywords whose default in PyTorch is no choice: it guesses and warns, or needs another keyword.
GUESSED = {(name, "dim") for name in ("Softmax", "LogSoftmax", "Softmin")}
GUESSED |= {("OneCycleLR", "total_steps")}
GUESSED |= {("FractionalMaxPool2d", "output_size"), ("FractionalMaxPool3d", "output_size")}
# Values that differ although they say the same.
SAID_OTHERWISE = {
    (name, "activation")
    for name in ("TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer")
}


def _own(theirs: type) -> list[inspect.Parameter]:
    """The parameters of a constructor, those of a base to which it passes everything included."""
    found = list(inspect.signature(theirs).parameters.values())
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in found):
        above = inspect.signature(theirs.__mro__[1]).parameters.values()
        own = {p.name for p in found}
        found += [p for p in above if p.name not in (*own, "mode")]
    return [p for p in found if p.kind in (POSITIONAL, inspect.Parameter.KEYWORD_ONLY)]


def _shared(ours: Any, theirs: Any) -> Iterator[tuple[str, Any, Any]]:
    for name in dir(ours):
        mine, peer = getattr(ours, name), getattr(theirs, name, None)
        if isinstance(mine, type) and isinstance(peer, type) and name not in NO_CONSTRUCTOR:
            yield name, mine, peer


def _first(ours: Any) -> tuple[Any, ...]:
    """What comes before everything else: parameters, or an optimizer."""
    if issubclass(ours, optim.Optimizer):
        return ([ex.ones((2, 2), requires_grad=True)],)
    if ours.__module__.startswith("extensor.optim"):
        return (optim.SGD([ex.ones(2, requires_grad=True)], lr=0.1, momentum=0.9),)
    return ()


CLASSES = [
    *_shared(nn, torch.nn),
    *_shared(optim, torch.optim),
    *_shared(optim, torch.optim.lr_scheduler),
]
KEYWORDS = [
    (name, ours, parameter)
    for name, ours, theirs in CLASSES
    for parameter in _own(theirs)
    if parameter.default is not REQUIRED and (name, parameter.name) not in GUESSED
]


def _made(name: str, ours: Any, **options: Any) -> Any:
    needed = (*_first(ours), *NEEDED.get(name, ()))
    names = list(inspect.signature(ours).parameters)[: len(needed)]
    return ours(*(x for n, x in zip(names, needed, strict=True) if n not in options), **options)


@pytest.mark.parametrize(
    ("name", "ours", "parameter"), KEYWORDS, ids=[f"{n}-{p.name}" for n, _, p in KEYWORDS]
)
def test_a_default_is_taken(name: str, ours: Any, parameter: inspect.Parameter) -> None:
    if (name, parameter.name) in SAID_OTHERWISE:
        pytest.skip("PyTorch's default is a function of its own")
    default = None if str(parameter.default) == "None" else parameter.default
    made = _made(name, ours, **{parameter.name: default})
    plain = _made(name, ours)
    options = getattr(made, "defaults", {})
    assert options == getattr(plain, "defaults", {})
    if isinstance(made, nn.Module):
        assert repr(made) == repr(plain)


THEIRS = [row for row in KEYWORDS if row[2].name not in inspect.signature(row[1]).parameters]


@pytest.mark.parametrize(
    ("name", "ours", "parameter"), THEIRS, ids=[f"{n}-{p.name}" for n, _, p in THEIRS]
)
def test_what_only_pytorch_has_is_refused_by_name(
    name: str, ours: Any, parameter: inspect.Parameter
) -> None:
    why = (
        "this library computes on the CPU" if parameter.name == "device" else "anything else is not"
    )
    text = rf"^{ours.__name__}: {parameter.name} must be .* \({why}.*\), got "
    with pytest.raises(ValueError, match=text):
        _made(name, ours, **{parameter.name: "something else"})


@pytest.mark.parametrize(("name", "ours", "theirs"), CLASSES, ids=[n for n, _, _ in CLASSES])
def test_positions(name: str, ours: Any, theirs: Any) -> None:
    """What can be given by position here has the same position there, or the code means another."""
    if name == "RNN":
        pytest.skip("PyTorch hides its order, in which nonlinearity comes after num_layers")
    found = inspect.signature(ours).parameters.values()
    mine = [p.name for p in found if p.kind is POSITIONAL and p.name != "automatic"]
    peers = [p.name for p in _own(theirs) if p.kind is POSITIONAL]
    assert mine == peers[: len(mine)]


@pytest.mark.parametrize(("name", "ours", "theirs"), CLASSES, ids=[n for n, _, _ in CLASSES])
def test_defaults(name: str, ours: Any, theirs: Any) -> None:
    mine = inspect.signature(ours).parameters
    for parameter in _own(theirs):
        if parameter.name not in mine or (name, parameter.name) in GUESSED | SAID_OTHERWISE:
            continue
        assert mine[parameter.name].default == parameter.default, parameter.name


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [row for row in CLASSES if isinstance(row[1], type) and issubclass(row[1], nn.Module)],
    ids=[n for n, o, _ in CLASSES if issubclass(o, nn.Module)],
)
def test_names_of_what_comes_in(name: str, ours: Any, theirs: Any) -> None:
    """Each argument of a layer can be given by the name that PyTorch has for it."""

    class BoundError(Exception):
        pass

    expected = [p for n, p in inspect.signature(theirs.forward).parameters.items() if n != "self"]
    module = _made(name, ours)
    written = type(module).forward
    seen = {}

    def forward(self: Any, *args: Any, **kwargs: Any) -> None:
        seen.update(inspect.signature(written).bind(self, *args, **kwargs).arguments)
        raise BoundError

    forward.__module__ = written.__module__
    kind = type(ours.__name__, (ours,), {"forward": forward})
    module.__class__ = kind
    given = {p.name: object() for p in expected}
    with pytest.raises(BoundError):
        module(**given)
    seen.pop("self")
    assert list(seen.values()) == list(given.values())


# Of the same name but another meaning: ours are NumPy's, or of this library.
OTHERS = {"pad", "one_hot"}
# Their windows are drawn when their arguments are bound.
OTHERS |= {"fractional_max_pool2d_with_indices", "fractional_max_pool3d_with_indices"}
# API.md: the input is x, or what it is; axis stands for dim, alpha for a slope.
RENAMED = {"input", "input1", "input2", "dim", "negative_slope", "embedding"}


def _functions() -> Iterator[tuple[str, Callable[..., Any], inspect.Parameter]]:
    for name in dir(F):
        theirs, ours = getattr(F, name), getattr(ex, name, None)
        if name.startswith("_") or name in OTHERS or not callable(theirs) or ours is None:
            continue
        try:
            found = inspect.signature(theirs).parameters
        except ValueError:  # built in
            continue
        for parameter in found.values():
            if parameter.default is not REQUIRED and parameter.name not in RENAMED:
                yield name, ours, parameter


FUNCTIONS = list(_functions())


@pytest.mark.parametrize(
    ("name", "ours", "parameter"), FUNCTIONS, ids=[f"{n}-{p.name}" for n, _, p in FUNCTIONS]
)
def test_keywords_of_functions(name: str, ours: Any, parameter: inspect.Parameter) -> None:
    bound = ours.op.bound
    mine = inspect.signature(ours).parameters
    needed = {
        each: 1.0 if each in ours.op.attributes else ex.ones((2, 2))
        for each, own in mine.items()
        if own.default is REQUIRED
    }
    if parameter.name in mine:
        assert mine[parameter.name].default == parameter.default
        return
    needed.pop(parameter.name, None)
    bound((), {**needed, parameter.name: parameter.default})
    with pytest.raises(ValueError, match=rf"^{name}: {parameter.name} must be .*not implemented"):
        bound((), {**needed, parameter.name: "something else"})
