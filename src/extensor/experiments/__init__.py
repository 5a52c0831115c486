"""Experiments: from a configuration to a trained model, resumed, measured and used to predict."""

from extensor.experiments.api import Experiment, experiment
from extensor.experiments.predictor import Predictions, Predictor, TrainedModel, load_trained
from extensor.experiments.tuning import RateTest, tune_lr

__all__ = [
    "Experiment",
    "Predictions",
    "Predictor",
    "RateTest",
    "TrainedModel",
    "experiment",
    "load_trained",
    "tune_lr",
]


def __dir__() -> list[str]:
    return sorted(__all__)
