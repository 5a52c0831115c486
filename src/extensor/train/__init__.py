"""Training: the trainer, metrics, callbacks, logs, checkpoints, and experiments from configurations."""

from extensor.train.callback import Callback
from extensor.train.callbacks import BestCheckpoint, EarlyStopping, GradientHealth
from extensor.train.checkpoints import Checkpoints
from extensor.train.experiments import Experiment, TrainedModel, experiment, load_trained
from extensor.train.history import History
from extensor.train.logs import Logging, Timing, read_log
from extensor.train.metrics import (
    Mean,
    MeanAbsoluteError,
    Metric,
    Perplexity,
    RootMeanSquaredError,
)
from extensor.train.metrics_classification import (
    F1,
    Accuracy,
    ConfusionMatrix,
    Precision,
    Recall,
    TopKAccuracy,
)
from extensor.train.nonfinite import NotFiniteError
from extensor.train.progress import Progress
from extensor.train.run import RunFolder
from extensor.train.tensorboard import TensorBoard
from extensor.train.trainer import Trainer, default_callbacks

__all__ = [
    "F1",
    "Accuracy",
    "BestCheckpoint",
    "Callback",
    "Checkpoints",
    "ConfusionMatrix",
    "EarlyStopping",
    "Experiment",
    "GradientHealth",
    "History",
    "Logging",
    "Mean",
    "MeanAbsoluteError",
    "Metric",
    "NotFiniteError",
    "Perplexity",
    "Precision",
    "Progress",
    "Recall",
    "RootMeanSquaredError",
    "RunFolder",
    "TensorBoard",
    "Timing",
    "TopKAccuracy",
    "TrainedModel",
    "Trainer",
    "default_callbacks",
    "experiment",
    "load_trained",
    "read_log",
]
