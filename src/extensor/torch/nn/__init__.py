"""``torch.nn``: the layers of ``ex.nn`` with tensors of this package."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from extensor.errors.torch_names import MODULES, missing
from extensor.nn import __all__ as _core_names
from extensor.torch.nn import functional as functional
from extensor.torch.nn import init as init
from extensor.torch.nn import layers
from extensor.torch.nn import utils as utils
from extensor.torch.nn.module import Module as Module
from extensor.torch.nn.module import Parameter as Parameter

# The files of torch.nn.modules, whose classes some scripts import from there.
PARTS = """
    activation batchnorm container conv dropout instancenorm linear loss module normalization padding
    pooling rnn sparse transformer utils
""".split()
_OWN = {"Module": Module, "Parameter": Parameter}
# Names of the core's that PyTorch does not have.
_NOT_PYTORCH = {"FocalLoss", "HingeLoss", "MultiHeadAttention", "init"}
__all__ = sorted(
    {*_OWN, *_core_names, *layers.FUNCTIONAL, "functional", "init", "utils"} - _NOT_PYTORCH
    | {"init"}
)


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name in _NOT_PYTORCH:
        raise AttributeError(name)
    found = layers.layer(name)
    if found is None:
        if name == "modules":
            found = _modules()
        else:
            raise missing(
                name, {key: x for key, x in MODULES.items() if "not impl" in x}, "torch.nn"
            )
    globals()[name] = found
    return found


def _modules() -> Any:
    """``torch.nn.modules``, whose parts all have the names of ``torch.nn``."""
    here: Any = SimpleNamespace(
        **{name: globals().get(name) or __getattr__(name) for name in __all__}
    )
    parts = (
        "activation batchnorm container conv dropout linear loss module normalization rnn sparse"
    )
    for part in parts.split():
        setattr(here, part, here)
    here._BatchNorm = tuple(getattr(here, name) for name in __all__ if name.startswith("BatchNorm"))
    return here


def __dir__() -> list[str]:
    return sorted(__all__)
