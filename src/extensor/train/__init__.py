"""Training: the trainer, metrics, callbacks, logs, checkpoints, and experiments from configurations."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from extensor.train.callbacks import (
    BestCheckpoint,
    Callback,
    EarlyStopping,
    GradientHealth,
    Progress,
)
from extensor.train.checkpoint_files import Checkpoints
from extensor.train.logs import History, Logging, TensorBoard, Timing, default_callbacks, read_log
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
from extensor.train.run_folder import RunFolder
from extensor.train.trainer import Trainer

if TYPE_CHECKING:
    from extensor.experiments import (
        Experiment,
        Predictions,
        Predictor,
        RateTest,
        TrainedModel,
        experiment,
        load_trained,
        tune_lr,
    )

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

# Experiments stand above the trainer, but their users find them here.
_OF_EXPERIMENTS = frozenset(__all__) - globals().keys()

# To a type checker a module with a __getattr__ has every name, also a misspelled one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _OF_EXPERIMENTS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value = getattr(import_module("extensor.experiments"), name)
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
