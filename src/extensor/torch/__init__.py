"""PyTorch's names over the ops, modules and optimizers of ExTensor.

``import extensor.torch as torch`` gives a script PyTorch's names, arguments and meanings, and
``python -m extensor.torch script.py`` runs one unchanged. What is not here raises an error.
"""

from __future__ import annotations

from collections.abc import Callable
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import Any

import numpy as _numpy

from extensor.arrays import dtypes as _core_dtypes
from extensor.errors.torch_names import FUNCTIONS as _KNOWN
from extensor.errors.torch_names import missing as _missing
from extensor.torch import creation as _creation
from extensor.torch import devices as _devices
from extensor.torch import dtypes as _dtypes
from extensor.torch import elementwise as _elementwise
from extensor.torch import indexing as _indexing
from extensor.torch import methods as _methods
from extensor.torch import modes as _modes
from extensor.torch import products as _products
from extensor.torch import reductions as _reductions
from extensor.torch import shapes as _shapes
from extensor.torch.sizes import Size as Size
from extensor.torch.tensor_class import Tensor as Tensor

_methods.attach()

from extensor.torch import amp as amp  # noqa: E402  after Tensor has its methods
from extensor.torch import autograd as autograd  # noqa: E402
from extensor.torch import distributions as distributions  # noqa: E402
from extensor.torch import func as func  # noqa: E402
from extensor.torch import nn as nn  # noqa: E402
from extensor.torch import optim as optim  # noqa: E402
from extensor.torch import utils as utils  # noqa: E402
from extensor.torch.serialization import load as load  # noqa: E402
from extensor.torch.serialization import save as save  # noqa: E402

_TABLES: tuple[dict[str, Any], ...] = (
    _elementwise.FUNCTIONS,
    _reductions.FUNCTIONS,
    _shapes.FUNCTIONS,
    _indexing.FUNCTIONS,
    _products.FUNCTIONS,
    _creation.FUNCTIONS,
    _dtypes.NAMES,
)
# Methods of Tensor that are functions too.
_METHODS = """
    clone detach numel is_floating_point is_complex typename
""".split()
_MODES = """
    no_grad enable_grad inference_mode set_grad_enabled is_grad_enabled is_inference_mode_enabled
""".split()
_DTYPES = """
    result_type promote_types can_cast set_default_dtype finfo iinfo
""".split()
_DEVICES = """
    device cuda mps xpu accelerator backends use_deterministic_algorithms
    set_float32_matmul_precision set_default_device get_default_device get_num_threads
    set_num_threads
""".split()
_FUNCTIONAL = """
    batch_norm celu conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
    cosine_similarity dropout embedding group_norm instance_norm layer_norm pairwise_distance
    pixel_shuffle prelu relu_ rms_norm selu
""".split()


def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


def is_nonzero(input: Any) -> bool:
    """Whether the only element is not 0."""
    return bool(input)


def get_default_dtype() -> Any:
    """The dtype of tensors that are made of Python floats."""
    return _core_dtypes.get_default_dtype()


def compile(model: Any = None, **options: Any) -> Any:
    """The function or module itself, which computes the same: every option chooses only how fast.

    `extensor.compile` compiles functions of ExTensor's own tensors.
    """
    if model is None:
        return lambda function: function
    return model


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how NumPy, and so every tensor, prints numbers."""
    if profile is not None:
        raise NotImplementedError("set_printoptions: profile is not implemented here")
    _numpy.set_printoptions(
        precision=precision,
        threshold=threshold,
        edgeitems=edgeitems,
        linewidth=linewidth,
        suppress=None if sci_mode is None else not sci_mode,
    )


dtype = _numpy.dtype
newaxis = None
strided = "torch.strided"
contiguous_format = "torch.contiguous_format"
channels_last = "torch.channels_last"
preserve_format = "torch.preserve_format"
__version__ = "2.13.0+extensor"
linalg = _products.linalg
Generator = _creation.Generator
manual_seed: Callable[..., Any] = _creation.manual_seed

for _table in _TABLES:
    for _name, _value in _table.items():
        globals().setdefault(_name, _value)
for _names, _module in (
    (_MODES, _modes),
    (_DTYPES, _dtypes),
    (_DEVICES, _devices),
    (_FUNCTIONAL, nn.functional),
):
    for _name in _names:
        if hasattr(_module, _name):
            globals()[_name] = getattr(_module, _name)
for _name in _METHODS:
    if hasattr(Tensor, _name):
        globals()[_name] = getattr(Tensor, _name)
_devices.cuda.amp = amp  # type: ignore[assignment]
autocast = amp.autocast

__all__ = sorted(
    {name for name in globals() if not name.startswith("_")}
    - {"annotations", "Any", "Callable"}
    - {"creation", "devices", "dtypes", "elementwise", "indexing", "methods", "modes", "products"}
    - {"reductions", "shapes", "sizes", "tensor_class", "serialization", "runner"}
    | {"bfloat16"}
)


# Type checkers take every name for there: the functions are put together from tables.
def __getattr__(name: str) -> Any:
    if name == "bfloat16":
        return _core_dtypes.bfloat16()
    table = {key: text for key, text in _KNOWN.items() if text.startswith("not implemented")}
    raise _missing(name, table, "torch")


def __dir__() -> list[str]:
    return sorted(__all__)
