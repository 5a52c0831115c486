"""ExTensor: neural-network training in which every gradient is a public, verified function."""

import datetime as _datetime  # noqa: F401  NumPy imports it from C, where Ctrl-C is an ImportError
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as _numpy  # noqa: F401  before the native module, which would print an interrupt itself

from extensor import ops as ops
from extensor import random
from extensor.arrays import dtypes
from extensor.arrays.dtypes import (
    bool_,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from extensor.core.backward_pass import backward, grad
from extensor.core.creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    one_hot,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from extensor.core.modes import detect_anomaly, enable_grad, gradient_eps, is_grad_enabled, no_grad
from extensor.core.op import OPS
from extensor.core.tensor import Tensor, tensor
from extensor.errors import torch_names
from extensor.ops import *  # noqa: F403
from extensor.ops import __all__ as _op_names

if TYPE_CHECKING:
    from numpy import dtype as _dtype

    from extensor import amp, data, distributed, io, models, nn, optim, train
    from extensor import compiled as compiled
    from extensor import gradcheck as gradcheck
    from extensor import typing as typing
    from extensor.compiled import compile, export_stablehlo
    from extensor.differentiation.custom_function import Function
    from extensor.differentiation.derivatives import hessian, jacobian, jvp, vjp
    from extensor.differentiation.recomputation import checkpoint
    from extensor.estimators import Classifier, Regressor
    from extensor.gradcheck import GradientError, GradientReport, Mistake, check_gradient
    from extensor.io import load, save
    from extensor.nn.init import xavier_normal, xavier_uniform
    from extensor.optim import (
        adagrad_step,
        adam_step,
        adamw_step,
        clip_grad_norm,
        clip_grad_value,
        rmsprop_step,
        sgd_step,
    )
    from extensor.settings import (
        get_num_threads,
        memory_stats,
        reset_peak_memory,
        set_memory_cache_limit,
        set_num_threads,
        trim_memory,
    )

    bfloat16: _dtype[Any]
    __version__: str

ExTensor = Tensor
NONDIFFERENTIABLE = frozenset(name for name, op in OPS.items() if not op.differentiable)

for _name, _op in OPS.items():
    if (_op.rule is None) == _op.differentiable:
        raise TypeError(f"{_name}: needs a rule, or differentiable=False")

__all__ = [
    "NONDIFFERENTIABLE",
    "Classifier",
    "ExTensor",
    "Function",
    "GradientError",
    "GradientReport",
    "Mistake",
    "Regressor",
    "Tensor",
    "adagrad_step",
    "adam_step",
    "adamw_step",
    "amp",
    "arange",
    "asarray",
    "backward",
    "bool_",
    "check_gradient",
    "checkpoint",
    "clip_grad_norm",
    "clip_grad_value",
    "compile",
    "data",
    "detect_anomaly",
    "distributed",
    "empty",
    "empty_like",
    "enable_grad",
    "export_stablehlo",
    "eye",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "full",
    "full_like",
    "get_default_dtype",
    "get_num_threads",
    "grad",
    "gradient_eps",
    "hessian",
    "int8",
    "int16",
    "int32",
    "int64",
    "io",
    "is_grad_enabled",
    "jacobian",
    "jvp",
    "linspace",
    "load",
    "memory_stats",
    "models",
    "nn",
    "no_grad",
    "one_hot",
    "ones",
    "ones_like",
    "optim",
    "random",
    "reset_peak_memory",
    "rmsprop_step",
    "save",
    "set_default_dtype",
    "set_memory_cache_limit",
    "set_num_threads",
    "sgd_step",
    "tensor",
    "train",
    "trim_memory",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "vjp",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
    "zeros_like",
    *_op_names,
]


# What a program that only computes gradients does not need is imported when it is first asked for.
_LAZY = {
    "Function": "differentiation.custom_function",
    **dict.fromkeys(("compile", "export_stablehlo"), "compiled"),
    "checkpoint": "differentiation.recomputation",
    **dict.fromkeys(("Classifier", "Regressor"), "estimators"),
    **dict.fromkeys(("hessian", "jacobian", "jvp", "vjp"), "differentiation.derivatives"),
    **dict.fromkeys(("GradientError", "GradientReport", "Mistake", "check_gradient"), "gradcheck"),
    **dict.fromkeys(("adagrad_step", "adam_step", "adamw_step", "rmsprop_step"), "optim"),
    **dict.fromkeys(("load", "save"), "io"),
    **dict.fromkeys(("xavier_normal", "xavier_uniform"), "nn.init"),
    **dict.fromkeys(("sgd_step", "clip_grad_norm", "clip_grad_value"), "optim"),
    **dict.fromkeys(("get_num_threads", "set_num_threads"), "settings"),
    **dict.fromkeys(("memory_stats", "reset_peak_memory", "trim_memory"), "settings"),
    "set_memory_cache_limit": "settings",
}
_LAZY_MODULES = frozenset(
    "amp compiled data distributed gradcheck io models nn optim train typing".split()
)


# To a type checker a module with a __getattr__ has every name, also a misspelled one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "bfloat16":
            return dtypes.bfloat16()
        if name == "__version__":
            globals()[name] = value = import_module("importlib.metadata").version("extensor")
            return value
        if name in _LAZY_MODULES:
            return import_module(f"extensor.{name}")
        if name in _LAZY:
            globals()[name] = value = getattr(import_module(f"extensor.{_LAZY[name]}"), name)
            return value
        raise torch_names.missing(name, torch_names.FUNCTIONS, __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
