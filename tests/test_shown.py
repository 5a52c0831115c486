"""How trainers, data sets, loaders and tensors are shown, in a terminal and in a notebook."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_history import Cells
from test_trainer import _data, _trainer

import extensor as ex
from extensor import nn, optim
from extensor.data import (
    ArrayDataset,
    Cutout,
    DataLoader,
    ImageFolder,
    Mixup,
    Normalize,
    RandomCrop,
    RandomFlip,
    RandomSampler,
    SequentialSampler,
    ShardSampler,
    WeightedSampler,
)
from extensor.train import Accuracy, Trainer

DATASET = ArrayDataset(np.zeros((10, 1, 4, 4), np.float32), np.zeros(10, np.int64))
SHOWN = "ArrayDataset(10 samples: float32 (1, 4, 4), int64 ())"


class Own:
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        return index


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (DATASET, SHOWN),
        (DataLoader(DATASET), f"DataLoader({SHOWN}, batch_size=1, 10 batches)"),
        (
            DataLoader(DATASET, 4, shuffle=True),
            f"DataLoader({SHOWN}, batch_size=4, shuffle, 3 batches)",
        ),
        (
            DataLoader(DATASET, 4, sampler=RandomSampler(10, num_samples=8)),
            f"DataLoader({SHOWN}, batch_size=4, RandomSampler(10, num_samples=8), 2 batches)",
        ),
        (
            DataLoader(DATASET, 4, transform=[RandomFlip(), Mixup(0.2, 10)]),
            f"DataLoader({SHOWN}, batch_size=4, transform=[RandomFlip(), Mixup(0.2, 10)], 3 batches)",
        ),
        (DataLoader(Own()), "DataLoader(Own of 3 samples, batch_size=1, 3 batches)"),
        (DataLoader([1, 2]), "DataLoader(list of 2 samples, batch_size=1, 2 batches)"),
        (SequentialSampler(3), "SequentialSampler(3)"),
        (RandomSampler(3, True), "RandomSampler(3, replacement=True)"),
        (
            WeightedSampler([1.0, 2.0], 2, replacement=False),
            "WeightedSampler(2 weights, num_samples=2, replacement=False)",
        ),
        (
            ShardSampler(SequentialSampler(4), 0, 2, drop_last=True),
            "ShardSampler(SequentialSampler(4), 0, 2, drop_last=True)",
        ),
        (Normalize(0.5, 0.25, scale=255.0), "Normalize(mean=0.5, std=0.25, scale=255.0)"),
        (Normalize([0.0] * 9, [1.0] * 9), "Normalize(mean=[9 numbers], std=[9 numbers])"),
        (Normalize(np.zeros(2), 1.0), "Normalize(mean=[0.0, 0.0])"),
        (RandomCrop(4, padding=1), "RandomCrop((4, 4), padding=1)"),
        (RandomFlip(0.25, axis=-2), "RandomFlip(p=0.25, axis=-2)"),
        (Cutout(3, value=0.5), "Cutout(3, value=0.5)"),
    ],
)
def test_text(one: Any, text: str) -> None:
    assert repr(one) == text


def test_a_folder_of_pictures(tmp_path: Path) -> None:
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.png").write_bytes(b"")
    text = f"ImageFolder({str(tmp_path)!r}, 2 samples of 2 classes, RGB, size=(4, 4))"
    assert repr(ImageFolder(tmp_path, 4)) == text


def test_a_trainer() -> None:
    net = ex.models.LeNet5()
    optimizer = optim.AdamW(net.parameters(), lr=0.001)
    metrics = {"accuracy": Accuracy()}
    trainer = Trainer(net, nn.CrossEntropyLoss(), optimizer, metrics=metrics, callbacks=[])
    assert repr(trainer) == (
        "Trainer(LeNet5 of 61,706 parameters, CrossEntropyLoss, AdamW(lr=0.001), "
        "metrics: accuracy; not trained yet)"
    )
    small = _trainer()
    small.fit(*_data(16).arrays, epochs=2, batch_size=4)
    assert repr(small) == (
        "Trainer(Sequential of 66 parameters, cross_entropy, SGD(lr=0.1); epoch 2 of 2, step 8)"
    )


@pytest.mark.parametrize(
    ("tensor", "title", "values"),
    [
        (ex.tensor(1.5), "Tensor (), float32", ["1.5"]),
        (ex.tensor([1, -2]), "Tensor (2,), int64", ["1", "-2"]),
        (ex.tensor([[True], [False]]), "Tensor (2, 1), bool", ["True", "False"]),
        (ex.tensor([float("nan"), 1e-9]), "Tensor (2,), float32", ["nan", "1e-09"]),
        (ex.ones(2, dtype=ex.bfloat16), "Tensor (2,), bfloat16", ["1", "1"]),
        (nn.Parameter([1.0]), "Parameter (1,), float32, requires_grad", ["1"]),
        (nn.Parameter([1.0]) * 2, "Tensor (1,), float32, op=multiply", ["2"]),
        (ex.zeros((0, 3)), "Tensor (0, 3), float32", []),
        (
            ex.tensor(np.arange(100)),
            "Tensor (100,), int64",
            ["0", "1", "2", "…", "97", "98", "99"],
        ),
        (ex.ones((1, 1, 2)), "Tensor (1, 1, 2), float32", ["[[[1., 1.]]]"]),
    ],
)
def test_a_tensor_in_a_notebook(tensor: Any, title: str, values: list[str]) -> None:
    assert Cells(tensor._repr_html_()).texts == [title, *values]


def test_a_large_tensor_is_short() -> None:
    page = ex.zeros((1000, 1000))._repr_html_()
    assert len(page) < 2000
    assert page.count("<tr>") == 7
    assert len(ex.zeros((100, 100, 100))._repr_html_()) < 1000
    strided = ex.tensor(np.arange(1000).reshape(10, 100).T)
    assert Cells(strided._repr_html_()).texts[1:4] == ["0", "100", "200"]


def test_names_are_escaped() -> None:
    kind = type("<b>", (ex.Tensor,), {})
    found = Cells(kind([1.0])._repr_html_())
    assert found.texts[0] == "<b> (1,), float32"
    assert found.tags.count("b") == 1


def test_nothing_is_imported_for_notebooks() -> None:
    program = (
        "import sys, extensor as ex\n"
        "ex.ones(1)._repr_html_(), ex.train.Trainer\n"
        "print([name for name in ('IPython', 'pandas', 'tensorboardX') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "[]\n"
