"""The typed configuration: from a dict, completed, and back in the order of a file."""

from __future__ import annotations

from typing import Any

import pytest

from extensor.experiments.spec import KEYS, ExperimentSpec, read_config

CONFIG: dict[str, Any] = {
    "epochs": 3,
    "data": {"normalize": {"mean": [0.5]}, "train": "a.npz", "augment": {"Cutout": {"size": 2}}},
    "model": {"sizes": [4, 3], "name": "mlp"},
    "ema": {"decay": 0.9},
    "seed": 1,
}


def test_a_configuration_comes_back() -> None:
    spec = ExperimentSpec.from_dict(CONFIG)
    assert spec.to_dict() == CONFIG
    assert list(spec.to_dict()) == ["epochs", "seed", "data", "model", "ema"]  # as TOML has it
    assert list(spec.to_dict()["data"]) == ["train", "normalize", "augment"]
    assert list(spec.to_dict()["model"]) == ["sizes", "name"]


def test_entries_are_attributes_and_none_where_there_is_none() -> None:
    spec = ExperimentSpec.from_dict(CONFIG)
    assert (spec.seed, spec.data.train, spec.data.test, spec.schedule) == (1, "a.npz", None, None)
    assert spec.data.normalize is not None
    assert spec.data.normalize.mean == [0.5]
    assert spec.model is not None
    assert (spec.model.name, spec.model.arguments) == ("mlp", {"sizes": [4, 3]})


def test_defaults_come_first_and_other_entries_last() -> None:
    data = ExperimentSpec.from_dict(CONFIG).data
    assert list(data.with_defaults(batch_size=8, train="b").to_dict())[:2] == [
        "batch_size",
        "train",
    ]
    assert data.with_defaults(train="b").train == "a.npz"
    changed = data.with_entries(task="binary", train="b").to_dict()
    assert (changed["train"], list(changed)[:2]) == ("b", ["train", "task"])
    assert "train" not in data.without("train").to_dict()
    assert data.train == "a.npz"


def test_a_dict_made_of_it_is_a_copy() -> None:
    spec = ExperimentSpec.from_dict(CONFIG)
    spec.to_dict()["model"]["sizes"].append(5)
    assert spec.to_dict() == CONFIG


def test_all_keys_can_be_written() -> None:
    assert ExperimentSpec.from_dict(read_config()).to_dict() == read_config()
    assert {"seed", "data", "resumed"} < KEYS.keys()
    assert KEYS["data"]["normalize"].keys() == {"mean", "std", "scale"}


@pytest.mark.parametrize(
    ("kind", "entry", "value"),
    [("table", "size", 3), ("text", "target", "y"), ("arrays", "drop", [])],
)
def test_entries_for_other_kinds_are_refused(kind: str, entry: str, value: Any) -> None:
    data = ExperimentSpec.from_dict({"data": {entry: value}}).data
    with pytest.raises(ValueError, match=rf"data\.{entry} is for .*, not for {kind}"):
        data.check_kind(kind)
