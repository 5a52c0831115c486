"""Experiments: what a configuration describes, built, gone on with, and used once it is trained."""

from extensor.train.experiments.assembly import Experiment
from extensor.train.experiments.opening import experiment, load_trained
from extensor.train.experiments.predictor import Predictions, Predictor
from extensor.train.experiments.trained import TrainedModel

__all__ = [
    "Experiment",
    "Predictions",
    "Predictor",
    "TrainedModel",
    "experiment",
    "load_trained",
]
