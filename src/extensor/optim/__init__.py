"""Optimizers, learning-rate schedules, clipping and averaging.

Most optimizers are one native call for a whole group of parameters; the formulas beside them say what
the call computes, and do it where there is no kernel.
"""

from typing import TYPE_CHECKING, Any

from extensor.errors.torch_names import OPTIMIZERS, missing
from extensor.optim.adafactor import Adafactor
from extensor.optim.adagrad import Adadelta, Adagrad, adagrad_step
from extensor.optim.adam import Adam, AdamW, adam_step, adamw_step
from extensor.optim.adam_variants import Adamax, NAdam, RAdam
from extensor.optim.asgd import ASGD
from extensor.optim.clipping import clip_grad_norm, clip_grad_value
from extensor.optim.composed import ChainedScheduler, SequentialLR
from extensor.optim.cycles import OneCycleLR, ReduceLROnPlateau
from extensor.optim.ema import EMA
from extensor.optim.lamb import LAMB
from extensor.optim.lbfgs import LBFGS
from extensor.optim.lion import Lion
from extensor.optim.muon import Muon, orthogonalize
from extensor.optim.optimizer import Optimizer
from extensor.optim.periodic import CosineAnnealingWarmRestarts, CyclicLR
from extensor.optim.rmsprop import RMSprop, rmsprop_step
from extensor.optim.rprop import Rprop
from extensor.optim.schedule_curves import (
    ConstantLR,
    LinearLR,
    MultiplicativeLR,
    PolynomialLR,
)
from extensor.optim.schedules import (
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    MultiStepLR,
    Schedule,
    StepLR,
    WarmupCosineLR,
    WarmupLR,
)
from extensor.optim.sgd import SGD, sgd_step

__all__ = [
    "ASGD",
    "EMA",
    "LAMB",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LambdaLR",
    "LinearLR",
    "Lion",
    "MultiStepLR",
    "MultiplicativeLR",
    "Muon",
    "NAdam",
    "OneCycleLR",
    "Optimizer",
    "PolynomialLR",
    "RAdam",
    "RMSprop",
    "ReduceLROnPlateau",
    "Rprop",
    "Schedule",
    "SequentialLR",
    "StepLR",
    "WarmupCosineLR",
    "WarmupLR",
    "adagrad_step",
    "adam_step",
    "adamw_step",
    "clip_grad_norm",
    "clip_grad_value",
    "orthogonalize",
    "rmsprop_step",
    "sgd_step",
]

# To a type checker a module with a __getattr__ has every name, also a misspelled one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise missing(name, OPTIMIZERS, __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
