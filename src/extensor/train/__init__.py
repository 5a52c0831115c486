"""Training: the trainer, metrics, callbacks, logs, checkpoints, and experiments from configurations."""

from extensor.train.callback import Callback
from extensor.train.callbacks import BestCheckpoint, EarlyStopping, GradientHealth
from extensor.train.checkpoints import Checkpoints
from extensor.train.experiments import (
    Experiment,
    Predictions,
    Predictor,
    TrainedModel,
    experiment,
    load_trained,
)
from extensor.train.history import History
from extensor.train.logs import Logging, Timing, read_log
from extensor.train.metrics import (
    F1,
    R2,
    ROCAUC,
    Accuracy,
    AveragePrecision,
    BalancedAccuracy,
    CalibrationError,
    ConfusionMatrix,
    LogLoss,
    Mean,
    MeanAbsoluteError,
    MedianAbsoluteError,
    Metric,
    Perplexity,
    Precision,
    Recall,
    RootMeanSquaredError,
    TopKAccuracy,
)
from extensor.train.nonfinite import NotFiniteError
from extensor.train.progress import Progress
from extensor.train.run import RunFolder
from extensor.train.tensorboard import TensorBoard
from extensor.train.trainer import Trainer, default_callbacks
from extensor.train.tuning import RateTest, tune_lr

__all__ = [
    "F1",
    "R2",
    "ROCAUC",
    "Accuracy",
    "AveragePrecision",
    "BalancedAccuracy",
    "BestCheckpoint",
    "CalibrationError",
    "Callback",
    "Checkpoints",
    "ConfusionMatrix",
    "EarlyStopping",
    "Experiment",
    "GradientHealth",
    "History",
    "LogLoss",
    "Logging",
    "Mean",
    "MeanAbsoluteError",
    "MedianAbsoluteError",
    "Metric",
    "NotFiniteError",
    "Perplexity",
    "Precision",
    "Predictions",
    "Predictor",
    "Progress",
    "RateTest",
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
    "tune_lr",
]
