"""Targets that do not fit the loss are refused before the first step, with the way out."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_trainer import _data, _trainer

import extensor as ex
from extensor import nn, optim
from extensor.data import ArrayDataset, DataLoader, Normalize
from extensor.random import Generator
from extensor.train import Trainer

X, Y = _data(40).arrays


def _regression(target: Any, loss: Any = ex.mse_loss, size: int = 1) -> None:
    model = nn.Linear(5, size)
    Trainer(model, loss, optim.SGD(model.parameters(), 0.1), callbacks=[]).fit(X, target)


def _classes(target: Any, loss: Any = ex.cross_entropy) -> None:
    model = nn.Linear(5, 2)
    Trainer(model, loss, optim.SGD(model.parameters(), 0.1), callbacks=[]).fit(X, target)


FLOATS = Y.astype(np.float32)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            partial(_classes, FLOATS),
            "fit: target must be class numbers, integers, for cross_entropy (y.astype('int64')), "
            "got target_dtype='float32'",
        ),
        (
            partial(_classes, Y[:, None], nn.NLLLoss()),
            "fit: target must be class numbers of shape (32,) for nll_loss (y[:, 0]), "
            "got output_shape=(32, 2), target_shape=(32, 1)",
        ),
        (
            partial(_classes, np.eye(2, dtype=np.int64)[Y]),
            "fit: target must be class numbers of shape (32,) for cross_entropy "
            "(y.argmax(axis=1)), got output_shape=(32, 2), target_shape=(32, 2)",
        ),
        (
            # Only the last sample has a class that the model does not know.
            partial(_classes, np.append(Y[:-1], 7)),
            "fit: target must be in [0, 1], the classes of the model's output, "
            "got value=7, sample=39",
        ),
        (
            partial(_regression, FLOATS, nn.CrossEntropyLoss()),
            "fit: the model must give two or more scores for each sample, along axis 1, for "
            "cross_entropy (one is for ex.nn.BCEWithLogitsLoss()), "
            "got output_shape=(32, 1), target_shape=(32,)",
        ),
        (
            partial(_regression, FLOATS),
            "fit: target must have the shape of the model's output for mse_loss (y[:, None], or of "
            "a table's column y.to_frame()), got output_shape=(32, 1), target_shape=(32,)",
        ),
        (
            partial(_regression, FLOATS, nn.HuberLoss(), 3),
            "fit: target must have the shape of the model's output for huber_loss, "
            "got output_shape=(32, 3), target_shape=(32,)",
        ),
        (
            partial(_regression, 2 * FLOATS[:, None], nn.BCEWithLogitsLoss()),
            "fit: target must be 0 or 1, or between, for binary_cross_entropy_with_logits, "
            f"got value=2.0, sample={int(Y.argmax())}",
        ),
        (
            partial(_regression, FLOATS[:, None], nn.HingeLoss()),
            f"fit: target must be -1 or 1 for hinge_loss, got value=0.0, sample={int(Y.argmin())}",
        ),
        (
            lambda: _trainer().fit(X, Y[:-1]),
            "fit: X and y must have the same number of samples, got X=40, y=39",
        ),
        (
            lambda: _trainer().fit(DataLoader(ArrayDataset(X, Y), 8), Y),
            "fit: y is for arrays and tables; a loader gives the targets in its batches, "
            "got train='DataLoader'",
        ),
        (
            lambda: _trainer().fit(X, Y, 1, (X, Y[:-1])),
            "fit: X and y must have the same number of samples, got X=40, y=39",
        ),
        (
            lambda: _trainer().fit(X, [str(y) for y in Y]),
            "fit: y must be numbers (ex.data.TableEncoder makes numbers of words, and so does "
            "extensor train FILE), got dtype='str'",
        ),
        (
            lambda: _trainer().fit(X, np.array([str(y) for y in Y])),
            "fit: y must be numbers (ex.data.TableEncoder makes numbers of words, and so does "
            "extensor train FILE), got dtype='<U1'",
        ),
        (
            lambda: _trainer().fit(X, {"y": Y}),
            "fit: y must be an array, a tensor, a table or a list of numbers, got y='dict'",
        ),
        (
            lambda: _trainer().evaluate(X, Y.astype(np.float32)),
            "cross_entropy: class indices must be integers, got target_dtype='float32'",
        ),
    ],
)
def test_targets_that_do_not_fit(call: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(text)}$"):
        call()


def test_targets_that_fit() -> None:
    _classes(np.where(np.arange(40) == 3, -100, Y))
    _classes(np.where(np.arange(40) == 3, 9, Y), nn.CrossEntropyLoss(ignore_index=9))
    _classes(np.where(np.arange(40) == 3, 9, Y), partial(ex.cross_entropy, ignore_index=9))
    _classes(np.full((40, 2), 0.5, np.float32))
    _regression(Y[:, None], nn.BCEWithLogitsLoss())
    _regression((Y > 0)[:, None], nn.BCEWithLogitsLoss())
    _regression(pd.Series(FLOATS).to_frame())
    model = nn.Sequential(nn.Linear(5, 1), nn.Flatten(0))
    Trainer(model, ex.mse_loss, optim.SGD(model.parameters(), 0.1), callbacks=[]).fit(X, FLOATS)


def test_samples_that_are_never_drawn_may_be_anything() -> None:
    weights = np.ones(40)
    weights[0] = 0
    target = np.append(7, Y[1:])
    sampler = ex.data.WeightedSampler(weights, 40)
    loader = DataLoader(ArrayDataset(X, target), 8, sampler=sampler, generator=Generator(0))
    _trainer().fit(loader, 2)
    _trainer().fit(DataLoader(ArrayDataset(X, Y), 8, transform=Normalize(0.5)), 1)
