"""What is usual for such data, where the configuration says nothing: good enough to begin with."""

from __future__ import annotations

from math import log2
from typing import Any

from extensor.errors import value_error
from extensor.train.experiments.config import Config, has_model
from extensor.train.experiments.goal import LOSSES, Goal, balance
from extensor.train.experiments.kinds import Prepared
from extensor.train.metrics import default_metrics

_EPOCHS = 10  # of a model that somebody has chosen for arrays
_STEPS = 3000  # of the optimizer, about, if nothing stops it earlier
_LEAST_SIDE = 8  # pixels that a network of convolutions needs
_LEAST_PATIENCE = 10  # epochs


def completed(config: Config, made: Prepared) -> Config:
    """``config`` with a model, a loss and all else that it leaves open.

    Of arrays for which somebody has chosen a model nothing is added but loss, metrics and optimizer.
    """
    goal, kind = made.preparation.goal, made.preparation.kind
    result = {"metrics": list(default_metrics(goal.task)), **config}
    result["loss"] = _loss(result, goal, made)
    if kind == "arrays" and has_model(config):
        usual: dict[str, Any] = {"optimizer": {"name": "Adam"}}
        epochs = _EPOCHS
    else:
        usual = _USUAL[kind](made, len(made.train))
        data = {"batch_size": usual.pop("batch_size"), **config["data"]}
        result["data"] = data
        per_epoch = -(-len(made.train) // max(1, data["batch_size"]))
        epochs = max(3, min(usual.pop("most_epochs"), round(_STEPS / per_epoch)))
    result = {"seed": config["seed"], "epochs": epochs, **result}
    for key, table in usual.items():
        given = config.get(key, {})
        if key == "schedule" and "lr" in config.get("optimizer", {}):
            continue  # a rate that somebody chose is not overruled
        named = given.get("name", table.get("name")) == table.get("name")
        if "sizes" in given:
            table = {name: x for name, x in table.items() if name != "hidden"}
        # What is usual for one model or optimizer says nothing of another.
        chosen = key == "model" and "name" in given
        result[key] = {**table, **given} if named and not chosen else given
    if "early_stopping" in usual:
        patience = max(_LEAST_PATIENCE, result["epochs"] // 5)
        result["early_stopping"].setdefault("patience", patience)
    return result


def _loss(config: Config, goal: Goal, made: Prepared) -> Config:
    table = {"name": LOSSES[goal.task], **config.get("loss", {})}
    weighing = config["data"].get("class_weight")
    if weighing == "balanced":
        if goal.task == "regression" or made.targets is None:
            requirement = f"data.class_weight is for classes, not for the task {goal.task}"
            raise value_error("config", requirement, class_weight=weighing)
        if table["name"] not in _WEIGHTS:
            requirement = f"data.class_weight needs a loss with weights, {' or '.join(_WEIGHTS)}"
            raise value_error("config", requirement, loss=table["name"])
        weights = balance(goal, made.targets)
        table.setdefault(_WEIGHTS[table["name"]], [round(x, 6) for x in weights])
    return table


_WEIGHTS = {"CrossEntropyLoss": "weight", "NLLLoss": "weight", "BCEWithLogitsLoss": "pos_weight"}


def _of_table(made: Prepared, samples: int) -> dict[str, Any]:
    """One layer, wider for many features, and about six batches in an epoch.

    Found by trial on the tables of ``benchmarks/own_data.py``: less regular networks and longer
    training gained nothing there.
    """
    features = made.preparation.arguments()["inputs"]
    return {
        "batch_size": 2 ** min(7, max(4, round(log2(max(1, samples / 6))))),
        "most_epochs": 200,
        "model": {"name": "mlp", "hidden": [256 if features >= 32 else 100], "p": 0.2},
        "optimizer": {"name": "AdamW", "lr": 1e-3, "weight_decay": 0.01},
        "ema": {"decay": 0.99, "warmup": True},
        "early_stopping": {"monitor": "validation_loss"},
    }


def _of_pictures(made: Prepared, samples: int) -> dict[str, Any]:
    return {
        "batch_size": 32,
        "most_epochs": 60,
        "model": {"name": "convnet"},
        "optimizer": {"name": "AdamW", "lr": 2e-3, "weight_decay": 0.05},
        "ema": {"decay": 0.99, "warmup": True},
        "early_stopping": {"monitor": "validation_loss"},
    }


def _of_text(made: Prepared, samples: int) -> dict[str, Any]:
    return {
        "batch_size": 32,
        "most_epochs": 100,
        "model": {"name": "gpt", "p": 0.1},
        "optimizer": {"name": "AdamW", "weight_decay": 0.1},
        "schedule": {"name": "OneCycleLR", "max_lr": 3e-3},
        "clipping": {"norm": 1.0},
        "samples": {"length": 200},
    }


def _of_arrays(made: Prepared, samples: int) -> dict[str, Any]:
    """As pictures if they have a height and a width that are worth it, otherwise as a table."""
    size = made.preparation.arguments().get("image_size", 0)
    is_worth_it = min(size if isinstance(size, list) else [size]) >= _LEAST_SIDE
    return (_of_pictures if is_worth_it else _of_table)(made, samples)


_USUAL = {
    "table": _of_table,
    "series": _of_table,
    "pictures": _of_pictures,
    "text": _of_text,
    "arrays": _of_arrays,
}
