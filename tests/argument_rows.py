"""Right arguments of every public callable of training, data, files and models, and wrong ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import extensor as ex
from extensor import data, models, train
from extensor.data.splitting import split_indices
from extensor.data.table import as_table
from extensor.train import metrics

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(12, 2)
Y = np.arange(12) % 2
IMAGES = np.linspace(0, 1, 72, dtype=np.float32).reshape(2, 1, 6, 6)


class Row(NamedTuple):
    """A call that is right, and what is done with its result."""

    call: Callable[..., Any]
    arguments: dict[str, Any]
    use: Callable[[Any], Any] = lambda result: result


def model() -> Any:
    return ex.models.mlp([2, 2])


def trainer(**options: Any) -> Any:
    net = model()
    optimizer = ex.optim.SGD(net.parameters(), 0.1)
    return train.Trainer(net, ex.cross_entropy, optimizer, **{"callbacks": [], **options})


def made_trainer(**options: Any) -> Any:
    net = model()
    given = {"model": net, "loss": ex.cross_entropy, **options}
    if "optimizer" not in given:
        given["optimizer"] = ex.optim.SGD(net.parameters(), 0.1)
    return train.Trainer(**given)


def loader(**options: Any) -> Any:
    return data.DataLoader(data.ArrayDataset(X, Y), **{"batch_size": 4, **options})


def fitted(one: Any) -> None:
    one.fit(loader(), 1, loader())
    one.predict(X)


def applied(transform: Any) -> None:
    transform((IMAGES, np.array([0, 1])), ex.random.Generator(0))


def ordered(sampler: Any) -> None:
    sampler.order(ex.random.Generator(0))
    len(sampler)


def with_callback(callback: Any) -> None:
    Path("run").exists()
    one = trainer(callbacks=[callback], folder=f"run-{len(os.listdir())}")
    one.fit(loader(), 2, loader())


def measured(metric: Any) -> None:
    metric.update(np.eye(2, dtype=np.float32), np.array([0, 1]))
    metric.compute()


def saved(_: Any) -> None:
    ex.load("state")


def estimated(estimator: Any) -> None:
    estimator.fit(X, Y)
    estimator.predict(X)


OF_CLASSES = {"ignore_index": None, "task": "multiclass", "scores": "logits"}
OF_TOKENS = {"ignore_index": None, "task": "multiclass", "class_axis": None}


def looked_at(table: Any) -> None:
    for name in table:
        table[name].words()
    repr(table)


def encoded(encoder: Any) -> None:
    encoder.encode(TABLE)
    encoder.describe()


TABLE = as_table({"a": [1.5, 2.5, None], "b": ["x", "y", "x"]})
COLUMNS = [TABLE["a"], TABLE["b"]]
ARRAYS = "arrays.npz"
EXPERIMENT = {
    "data": {"train": "points.npz", "test": "points.npz"},
    "model": {"name": "mlp", "sizes": [2, 2]},
}

ESTIMATOR = {
    "hidden": (2,), "epochs": 1, "batch_size": 4, "optimizer": "sgd", "lr": 0.1,
    "weight_decay": 0.0, "dropout": 0.5, "early_stopping": True, "validation_fraction": 0.25,
    "patience": 1, "scale": True, "verbose": False, "random_state": 0, "warm_start": False,
}  # fmt: skip

ROWS: dict[str, Row] = {
    "Trainer": Row(
        made_trainer,
        {
            "model": None, "loss": ex.cross_entropy, "optimizer": None,
            "metrics": {"accuracy": train.Accuracy()}, "train_metrics": ["accuracy"],
            "accumulate": 1, "micro_batches": 2, "shard_optimizer": False,
            "sync_batch_norm": False, "clip_norm": 1.0,
            "clip_value": 1.0, "amp": None, "ema": None, "monitor": "loss", "callbacks": [],
            "folder": None, "overwrite": False, "checkpoint_every": None, "keep": 1, "config": {},
        },
        fitted,
    ),
    "Trainer.fit": Row(
        lambda **given: trainer().fit(**given),
        {"train": loader(), "epochs": 1, "validation": loader()},
    ),
    "Trainer.fit of arrays": Row(
        lambda **given: trainer().fit(**given),
        {
            "train": X, "y": Y, "epochs": 1, "validation": 0.25, "batch_size": 4, "shuffle": True,
        },
    ),
    "Trainer.fit of lists": Row(
        lambda train, y, validation: trainer().fit(train, y, 1, validation),
        {"train": X.tolist(), "y": Y.tolist(), "validation": (X, Y)},
    ),
    "Trainer.evaluate": Row(lambda loader: trainer().evaluate(loader), {"loader": loader()}),
    "Trainer.evaluate of arrays": Row(
        lambda **given: trainer().evaluate(**given), {"loader": X, "y": Y, "batch_size": 4}
    ),
    "History": Row(lambda records: train.History(records), {"records": [{"loss": 1.0}]}, repr),
    "History.best": Row(
        lambda **given: train.History([{"loss": 1.0}]).best(**given),
        {"monitor": "loss", "mode": "min"},
    ),
    "History.column": Row(lambda name: train.History([{"a": 1}]).column(name), {"name": "a"}),
    "Trainer.predict": Row(
        lambda **given: trainer().predict(**given), {"inputs": X, "batch_size": 4}
    ),
    "Trainer.save": Row(
        lambda name: trainer(folder=f"saved-{len(os.listdir())}").save(name), {"name": "best"}
    ),
    "Trainer.resume": Row(lambda path: trainer().resume(path), {"path": "checkpoint"}),
    "Trainer.load_state_dict": Row(
        lambda state: trainer().load_state_dict(state), {"state": trainer().state_dict()}
    ),
    "Trainer.log": Row(lambda record: trainer().log(record), {"record": {"event": "mine"}}),
    "experiment": Row(
        train.experiment,
        {
            "config": EXPERIMENT, "changes": {"epochs": 1}, "folder": None, "resume": None,
            "checkpoint": "latest", "callbacks": [], "overwrite": False,
        },
        lambda made: (made.fit(), made.evaluate()),
    ),
    "Experiment.predict": Row(
        lambda **given: train.experiment(EXPERIMENT).predict(**given),
        {"inputs": X, "batch_size": 4},
    ),
    "load_trained": Row(
        train.load_trained,
        {"run": "trained", "checkpoint": "latest", "changes": {"data.batch_size": 5}},
        lambda made: made.evaluate(),
    ),
    "TrainedModel.predict": Row(
        lambda **given: train.load_trained("trained").predict(**given),
        {"inputs": X, "batch_size": 4},
    ),
    "tune_lr": Row(
        train.tune_lr,
        {
            "experiment": trainer(), "loader": loader(), "low": 1e-5, "high": 1.0, "steps": 10,
            "smoothing": 0.9,
        },
    ),
    "Accuracy": Row(train.Accuracy, {**OF_TOKENS, **OF_CLASSES}, measured),
    "Accuracy.update": Row(
        lambda **given: train.Accuracy().update(**given),
        {"output": np.eye(2, dtype=np.float32), "target": np.array([0, 1])},
    ),
    "Accuracy of two classes": Row(
        lambda **given: train.Accuracy(task="binary").update(**given),
        {"output": X[:, 0], "target": Y},
    ),
    "Accuracy of labels": Row(
        lambda **given: train.Accuracy(task="multilabel").update(**given),
        {"output": X, "target": X > 0},
    ),
    "Accuracy of tokens": Row(
        lambda **given: train.Accuracy(task="sequence").update(**given),
        {"output": X.reshape(2, 3, 4), "target": Y[:6].reshape(2, 3)},
    ),
    "RootMeanSquaredError.update": Row(
        lambda **given: train.RootMeanSquaredError().update(**given), {"output": X, "target": X}
    ),
    "R2.update": Row(lambda **given: train.R2().update(**given), {"output": X, "target": X}),
    "MedianAbsoluteError.update": Row(
        lambda **given: train.MedianAbsoluteError().update(**given), {"output": X, "target": X}
    ),
    "Perplexity": Row(train.Perplexity, {**OF_TOKENS, "ignore_index": -100}, measured),
    "LogLoss": Row(train.LogLoss, {**OF_TOKENS, **OF_CLASSES}, measured),
    "TopKAccuracy": Row(train.TopKAccuracy, {"k": 1, **OF_TOKENS}, measured),
    "ConfusionMatrix": Row(train.ConfusionMatrix, {"num_classes": 2, **OF_CLASSES}, measured),
    "BalancedAccuracy": Row(train.BalancedAccuracy, {"num_classes": 2, **OF_CLASSES}, measured),
    "F1": Row(train.F1, {"num_classes": 2, "average": None, **OF_CLASSES}, measured),
    "Precision": Row(train.Precision, {"num_classes": 2, "average": "macro"}, measured),
    "Recall": Row(train.Recall, {"num_classes": 2, "average": "weighted"}, measured),
    "ROCAUC": Row(train.ROCAUC, OF_CLASSES, measured),
    "AveragePrecision": Row(train.AveragePrecision, OF_CLASSES, measured),
    "CalibrationError": Row(train.CalibrationError, {"bins": 5, **OF_CLASSES}, measured),
    "Mean.load_state_dict": Row(
        lambda **given: train.Mean().load_state_dict(given), {"total": 1.0, "count": 2}
    ),
    "ConfusionMatrix.load_state_dict": Row(
        lambda **given: train.ConfusionMatrix(2).load_state_dict(given),
        {"counts": np.eye(2, dtype=np.int64)},
    ),
    "R2.load_state_dict": Row(
        lambda **given: train.R2().load_state_dict(given), train.R2().state_dict()
    ),
    "named_metric": Row(
        metrics.named_metric, {"name": "f1", "task": "multiclass", "num_classes": 2}, measured
    ),
    "Mean.add": Row(lambda **given: train.Mean().add(**given), {"value": 1.0, "count": 2}),
    "BestCheckpoint": Row(train.BestCheckpoint, {"monitor": "loss", "mode": "min"}, with_callback),
    "EarlyStopping": Row(
        train.EarlyStopping,
        {"monitor": "loss", "patience": 1, "mode": "min", "min_delta": 0.0},
        with_callback,
    ),
    "GradientHealth": Row(train.GradientHealth, {"every": 1}, with_callback),
    "Logging": Row(train.Logging, {"every": 1}, with_callback),
    "Progress": Row(train.Progress, {"stream": None}, with_callback),
    "Checkpoints": Row(
        train.Checkpoints, {"folder": "kept", "keep": 1}, lambda made: made.save({"a": 1}, 1)
    ),
    "Checkpoints.save": Row(
        lambda **given: train.Checkpoints("kept").save(**given), {"state": {"a": 1}, "step": 1}
    ),
    "Checkpoints.save_as": Row(
        lambda **given: train.Checkpoints("kept").save_as(**given),
        {"name": "best", "state": {"a": 1}},
    ),
    "RunFolder": Row(train.RunFolder, {"path": "run"}, lambda run: run.holds_a_run()),
    "read_log": Row(train.read_log, {"path": "log.jsonl"}),
    "default_callbacks": Row(train.default_callbacks, {"folder": True}),
    "ArrayDataset": Row(
        lambda first, second: data.ArrayDataset(first, second),
        {"first": X, "second": Y},
        lambda made: made[0],
    ),
    "ArrayDataset.split": Row(
        lambda **given: data.ArrayDataset(X).split(**given),
        {"fraction": 0.5, "generator": ex.random.Generator(0)},
    ),
    "DataLoader": Row(
        data.DataLoader,
        {
            "dataset": data.ArrayDataset(X, Y), "batch_size": 4, "shuffle": False, "sampler": None,
            "drop_last": False, "transform": [], "workers": 0, "prefetch": 1, "generator": None,
        },
        list,
    ),
    "ImageFolder": Row(data.ImageFolder, {"root": "pictures", "size": 4, "mode": "L"}, lambda f: f[0]),
    "PictureFiles": Row(
        data.PictureFiles,
        {"paths": ["pictures/a/0.png"], "size": 4, "mode": "L"},
        lambda files: files[0],
    ),
    "find_pictures": Row(data.find_pictures, {"path": "pictures"}),
    "picture_sizes": Row(data.picture_sizes, {"paths": ["pictures/a/0.png"], "most": 3}),
    "Vocabulary": Row(
        data.Vocabulary, {"kind": "character", "characters": "ab"}, lambda made: made.encode("b")
    ),
    "Vocabulary.of": Row(data.Vocabulary.of, {"text": "ab", "kind": "character"}, len),
    "Vocabulary.encode": Row(
        lambda **given: data.Vocabulary.of("ab").encode(**given), {"text": "ab", "replace": False}
    ),
    "Vocabulary.decode": Row(
        lambda **given: data.Vocabulary.of("ab").decode(**given), {"tokens": [0, 1]}
    ),
    "Vocabulary.from_state": Row(
        lambda state: data.Vocabulary.from_state(state),
        {"state": {"kind": "character", "characters": "ab"}},
    ),
    "read_text": Row(data.read_text, {"path": "a.csv"}),
    "TextWindows": Row(
        data.TextWindows,
        {"tokens": [0, 1, 2, 3], "context": 2, "stride": 1},
        lambda windows: windows[0],
    ),
    "SeriesWindows": Row(
        data.SeriesWindows,
        {"inputs": X, "targets": Y, "window": 2, "horizon": 1, "stride": 1},
        lambda windows: windows[0],
    ),
    "SeriesWindows.rows": Row(
        lambda **given: data.SeriesWindows(X, Y, 2).rows(**given),
        {"begin": 0, "end": 8, "history": True},
    ),
    "SeriesWindows.take": Row(
        lambda **given: data.SeriesWindows(X, Y, 2).take(**given), {"numbers": [0, 1]}, list
    ),
    "SeriesWindows.batch": Row(
        lambda **given: data.SeriesWindows(X, Y, 2).batch(**given), {"indices": [0, 1]}
    ),
    "SequentialSampler": Row(data.SequentialSampler, {"size": 3}, ordered),
    "RandomSampler": Row(
        data.RandomSampler, {"size": 3, "replacement": False, "num_samples": 2}, ordered
    ),
    "WeightedSampler": Row(
        data.WeightedSampler,
        {"weights": [1.0, 2.0], "num_samples": 2, "replacement": True},
        ordered,
    ),
    "ShardSampler": Row(
        data.ShardSampler,
        {
            "sampler": data.SequentialSampler(4), "rank": 0, "workers": 2, "drop_last": False,
            "batch": 1,
        },
        ordered,
    ),
    "BlockShuffle": Row(data.BlockShuffle, {"source": [4, 3], "block": 2, "window": 2}, ordered),
    "ShardedDataset": Row(
        data.ShardedDataset,
        {
            "source": ["points.npz"], "parts": ("x", "y"), "context": None, "size": None,
            "mode": "RGB", "memory": 10**6, "skip_damaged": False, "verify": True,
        },
        lambda dataset: list(data.DataLoader(dataset, 4, shuffle=True)),
    ),
    "ShardedDataset.batch": Row(
        lambda **given: data.ShardedDataset(["points.npz"]).batch(**given), {"indices": [0, 3]}
    ),
    "ShardedDataset.split": Row(
        lambda **given: data.ShardedDataset(["points.npz"]).split(**given),
        {"fraction": 0.5, "generator": None},
    ),
    "pack": Row(
        data.pack,
        {
            "source": "pictures", "folder": "packed", "shard_size": 1000, "form": "tar", "size": 4,
            "mode": "L", "seed": 0, "target": -1, "with_target": True, "kinds": None, "like": None,
            "delimiter": ",", "decimal": None, "encoding": None, "header": None, "tokens": "byte",
        },
    ),
    "pack a table": Row(
        data.pack,
        {
            "source": "a.csv", "folder": "packed", "target": "y", "with_target": True, "kinds": {},
            "like": None, "delimiter": ",", "decimal": ".", "encoding": "utf-8", "header": True,
        },
    ),
    "Normalize": Row(data.Normalize, {"mean": 0.5, "std": 0.5, "scale": 1.0}, applied),
    "RandomCrop": Row(data.RandomCrop, {"size": 4, "padding": 1}, applied),
    "RandomFlip": Row(data.RandomFlip, {"p": 0.5, "axis": -1}, applied),
    "Cutout": Row(data.Cutout, {"size": 2, "p": 0.5, "value": 0.0}, applied),
    "Mixup": Row(data.Mixup, {"alpha": 0.5, "num_classes": 2}, applied),
    "read_csv": Row(
        data.read_csv, {"path": "a.csv", "target": -1, "delimiter": ",", "header": "auto"}
    ),
    "csv_classes": Row(data.csv_classes, {"path": "a.csv", "target": -1, "delimiter": ","}),
    "read_table": Row(
        data.read_table,
        {"path": "a.csv", "delimiter": ",", "decimal": ".", "encoding": "utf-8", "header": True},
    ),
    "as_table": Row(as_table, {"data": {"a": [1, 2]}}),
    "Table": Row(
        data.Table, {"columns": COLUMNS, "source": "here", "said": ["so"], "options": {}}, looked_at
    ),
    "TableEncoder": Row(
        data.TableEncoder.fit, {"table": TABLE, "kinds": {"a": "number"}}, encoded
    ),
    "encode": Row(data.TableEncoder.fit(TABLE).encode, {"table": TABLE}),
    "from_state": Row(
        data.TableEncoder.from_state,
        {"state": data.TableEncoder.fit(TABLE).state_dict(), "op": "load"},
        encoded,
    ),
    "rows": Row(TABLE.rows, {"indices": [0, 1]}),
    "select": Row(TABLE.select, {"names": ["a"]}),
    "without": Row(lambda name: TABLE.without(name), {"name": "a"}),
    "split_indices": Row(
        split_indices,
        {"count": 12, "validation": 0.25, "test": 0.25, "generator": None, "stratify": Y,
         "groups": np.arange(12) // 2, "in_order": False},
    ),
    "read_arrays": Row(data.read_arrays, {"path": ARRAYS}),
    "read_idx": Row(data.read_idx, {"path": "a.idx"}),
    "read_cifar10": Row(lambda path: data.read_cifar10(path), {"path": "a.cifar"}),
    "mnist": Row(data.mnist, {"root": "nowhere"}),
    "fashion_mnist": Row(data.fashion_mnist, {"root": "nowhere"}),
    "cifar10": Row(data.cifar10, {"root": "nowhere"}),
    "save": Row(ex.save, {"path": "state", "state": {"a": 1}}, saved),
    "load": Row(ex.load, {"path": "checkpoint", "foreign": True}),
    "mlp": Row(models.mlp, {"sizes": [2, 3], "p": 0.5}, lambda net: net(X)),
    "mlp of parts": Row(
        models.mlp, {"inputs": 2, "hidden": [4], "outputs": 3, "p": 0.5}, lambda net: net(X)
    ),
    "convnet": Row(
        models.convnet,
        {"num_classes": 2, "in_channels": 1, "image_size": 8, "width": 2},
        lambda net: net(IMAGES),
    ),
    "GPT.generate": Row(
        lambda **given: models.gpt(5, 4, 1, 2, 4).generate(**given),
        {"tokens": [0, 1], "count": 2, "temperature": 0.5, "top_k": 3, "generator": None},
    ),
    "lenet5": Row(
        models.lenet5,
        {"num_classes": 2, "in_channels": 1, "image_size": 6},
        lambda net: net(IMAGES),
    ),
    "gpt": Row(
        models.gpt,
        {"vocabulary": 5, "context": 4, "layers": 1, "heads": 2, "width": 4, "p": 0.0},
        lambda net: net(np.zeros((1, 3), np.int64)),
    ),
    "resnet18": Row(models.resnet18, {"num_classes": 2, "in_channels": 3, "stem": "large"}),
    "Classifier": Row(ex.Classifier, {**ESTIMATOR, "class_weight": {0: 1.0, 1: 2.0}}, estimated),
    "Regressor": Row(ex.Regressor, ESTIMATOR, estimated),
    **{
        f"{kind.__name__}.{method}": Row(
            lambda kind=kind, method=method, **given: getattr(
                kind(2, epochs=1, random_state=0).fit(X, Y), method
            )(**given),
            arguments,
        )
        for kind in (ex.Classifier, ex.Regressor)
        for method, arguments in {
            "fit": {"X": X, "y": Y, "sample_weight": np.ones(12)},
            "partial_fit": {"X": X, "y": Y, "sample_weight": np.ones(12)},
            "predict": {"X": X},
            "score": {"X": X, "y": Y, "sample_weight": np.ones(12)},
        }.items()
    },
    "Classifier.partial_fit": Row(
        lambda **given: ex.Classifier(2, epochs=1).partial_fit(**given),
        {"X": X, "y": Y, "classes": [0, 1], "sample_weight": None},
    ),
}  # fmt: skip


class Table:
    """Like a DataFrame: it has columns and gives them by name, and an array if asked."""

    columns = ("a", "b")
    shape = (12, 2)

    def __len__(self) -> int:
        return 12

    def __getitem__(self, name: str) -> Any:
        return {"a": X[:, 0], "b": X[:, 1]}[name]

    def __iter__(self) -> Any:
        return iter(self.columns)

    def to_numpy(self) -> Any:
        return X

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return X if dtype is None else X.astype(dtype)


class Anything:
    """An object of another kind."""


WRONG: dict[str, Any] = {
    "None": None,
    "a word": "accuracy",
    "an empty word": "",
    "bytes": b"checkpoint",
    "zero": 0,
    "minus one": -1,
    "three": 3,
    "a fraction": 0.5,
    "NaN": float("nan"),
    "a number": 1e300,
    "True": True,
    "an array": X,
    "classes": Y,
    "words": np.array(["a", "b"]),
    "objects": np.array([None, print], object),
    "a tensor": ex.tensor(X),
    "an empty array": np.zeros((0, 2), np.float32),
    "a scalar": np.float64(0.5),
    "a list": [1, "a"],
    "an empty list": [],
    "a list of words": ["accuracy"],
    "a tuple of arrays": (X, Y),
    "a list of pairs": [(X, Y)],
    "a dict": {"a": 1},
    "a dict of words": {"accuracy": "accuracy"},
    "a function": ex.relu,
    "a lambda": lambda *_: None,
    "a class": train.Accuracy,
    "a dict of a class": {"accuracy": train.Accuracy},
    "a model": ex.nn.Linear(2, 2),
    "a loss": ex.nn.MSELoss,
    "a data set": data.ArrayDataset(X, Y),
    "a data set without targets": data.ArrayDataset(X),
    "a loader": loader(),
    "a loader without targets": data.DataLoader(data.ArrayDataset(X), 4),
    "a trainer": trainer(),
    "a path": Path("state"),
    "a folder": Path("pictures"),
    "a table": Table(),
    "an object": Anything(),
    "a generator": (i for i in ()),  # type: ignore[var-annotated]
    "a slice": slice(2),
    "an optimizer class": ex.optim.SGD,
    "an optimizer of others": ex.optim.SGD(ex.nn.Linear(3, 1).parameters(), 0.1),
}
