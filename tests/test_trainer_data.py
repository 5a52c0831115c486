"""What fit, evaluate and predict take: arrays, tensors, lists, tables, data sets and loaders."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from killed_training import contents
from test_trainer import _bytes, _data, _model, _trainer

import extensor as ex
from extensor import nn
from extensor.data import ArrayDataset, DataLoader
from extensor.train import Callback, Trainer

X, Y = _data(40).arrays
NAMES = list("abcde")


def _frame(x: Any = X) -> Any:
    return pd.DataFrame(x.astype(np.float64), columns=NAMES)


def _fitted(*given: Any, **options: Any) -> tuple[Trainer, Any]:
    ex.random.manual_seed(3)
    trainer = _trainer(metrics=["accuracy"])
    return trainer, trainer.fit(*given, **options)


def _expected() -> list[bytes]:
    """A loader by hand, drawn from the same seed."""
    ex.random.manual_seed(3)
    trainer = _trainer()
    trainer.fit(DataLoader(ArrayDataset(X, Y), 8, shuffle=True), 2)
    return _bytes(trainer.model)


@pytest.mark.parametrize(
    "given",
    [
        (X, Y),
        (ex.tensor(X), ex.tensor(Y)),
        (X.tolist(), Y.tolist()),
        (list(X), list(Y)),
        (_frame(), pd.Series(Y)),
        (_frame(), Y),
        (ArrayDataset(X, Y),),
    ],
    ids=[
        "arrays",
        "tensors",
        "lists",
        "lists of arrays",
        "table and column",
        "table and array",
        "data set",
    ],
)
def test_data_of_any_kind_are_the_loader_by_hand(given: Any) -> None:
    trainer, _ = _fitted(*given, epochs=2, batch_size=8)
    assert _bytes(trainer.model) == _expected()


def test_the_defaults() -> None:
    trainer, history = _fitted(X, Y)
    assert (len(history), trainer.step) == (10, 20)
    ordered, _ = _fitted(X, Y, 1, shuffle=False)
    by_hand = _trainer()
    by_hand.fit(DataLoader(ArrayDataset(X, Y), 32), 1)
    assert _bytes(ordered.model) == _bytes(by_hand.model)


def test_calls_as_they_were() -> None:
    def loader() -> DataLoader:
        return DataLoader(ArrayDataset(X, Y), 8)

    calls = [
        lambda one: one.fit(loader(), 2, loader()),
        lambda one: one.fit(loader(), 2, validation=loader()),
        lambda one: one.fit(loader(), epochs=2, validation=loader()),
        lambda one: one.fit(train=loader(), epochs=np.int64(2), validation=loader()),
        lambda one: one.fit([(X[i : i + 8], Y[i : i + 8]) for i in range(0, 40, 8)], 2, loader()),
        lambda one: one.fit(loader(), 2, (X, Y)),
        lambda one: one.fit(loader(), 2, (list(X), list(Y))),
        lambda one: one.fit(loader(), 2, ArrayDataset(X, Y)),
    ]
    histories = []
    for call in calls:
        trainer = _trainer()
        histories.append(list(call(trainer)))
    for one in histories[1:]:
        assert [r["loss"] for r in one] == [r["loss"] for r in histories[0]]
        assert [r["validation_loss"] for r in one] == pytest.approx(
            [r["validation_loss"] for r in histories[0]], rel=1e-6
        )
    assert [len(_trainer().fit(loader(), 2, None)), len(_trainer().fit(loader(), 0))] == [2, 0]


def test_several_inputs() -> None:
    class Sum(nn.Module):
        def __init__(self) -> None:
            self.linear = nn.Linear(5, 2)

        def forward(self, a: Any, b: Any) -> Any:
            return self.linear(a + b)

    trainer = _trainer(Sum())
    trainer.fit((X, _frame()), Y, epochs=1, validation=((X, X), Y))
    expected = trainer.model(ex.tensor(X), ex.tensor(X))
    assert trainer.evaluate((X, X), Y)["loss"] == pytest.approx(
        float(ex.cross_entropy(expected, ex.tensor(Y))), rel=1e-6
    )
    np.testing.assert_allclose(trainer.predict((X, X)).numpy(), expected.numpy(), rtol=1e-6)
    text = "fit: the model must take 2 inputs, as many as a batch has, got model='Sequential'"
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        _trainer().fit((X, X), Y)


def test_integers_in_a_table_stay_integers() -> None:
    """As tokens, which an embedding takes; beside a column of floats they are numbers."""
    whole = pd.DataFrame({"a": [1, 2, 3], "b": [0, 1, 2]})
    net = nn.Sequential(nn.Embedding(4, 3), nn.Flatten(), nn.Linear(6, 2))
    trainer = _trainer(net)
    trainer.fit(whole, [0, 1, 0], epochs=1)
    mixed = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1, 2], "c": [True, False, True]})
    seen = []

    class Note(nn.Linear):
        def forward(self, x: Any) -> Any:
            seen.append(np.asarray(x))
            return super().forward(x)

    _trainer(Note(3, 2)).predict(mixed)
    np.testing.assert_array_equal(seen[0], mixed.to_numpy(np.float32))
    assert seen[0].dtype == np.float32


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (
            _frame().assign(city=["Ulm", "Rom"] * 20),
            "fit: X must be numbers (ex.data.TableEncoder makes numbers of words, and so does "
            "extensor train FILE), got column='city', dtype='str'",
        ),
        (
            _frame().assign(kind=pd.Series([1, 2] * 20, dtype="category")),
            "fit: X must be numbers (ex.data.TableEncoder makes numbers of words, and so does "
            "extensor train FILE), got column='kind', dtype='category'",
        ),
        (
            _frame().assign(day=pd.Timestamp("2020-01-01")),
            "fit: X must be numbers (ex.data.TableEncoder makes numbers of words, and so does "
            "extensor train FILE), got column='day', dtype='datetime64[us]'",
        ),
        (
            _frame().assign(age=[1.0, np.nan] * 20),
            "fit: X must have no missing values (fill them, or drop their rows), "
            "got column='age', missing=20",
        ),
        (
            _frame().assign(age=pd.array([1, None] * 20, dtype="Int64")),
            "fit: X must have no missing values (fill them, or drop their rows), "
            "got column='age', missing=20",
        ),
        (
            _frame().assign(old=pd.array([True, None] * 20, dtype="boolean")),
            "fit: X must have no missing values (fill them, or drop their rows), "
            "got column='old', missing=20",
        ),
        (_frame()[[]], "fit: X must have at least one column, got columns=0"),
    ],
)
def test_what_is_no_number_is_refused_by_its_column(table: Any, text: str) -> None:
    trainer = _trainer()
    before = ex.random.get_state()
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(text)}$"):
        trainer.fit(table, Y)
    assert ex.random.get_state() == before
    text = text.replace("fit: X", "predict: inputs")
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(text)}$"):
        trainer.predict(table)


def test_columns_are_those_it_was_trained_with() -> None:
    trainer = _trainer()
    trainer.fit(_frame(), Y, epochs=1, validation=(_frame(), Y))
    turned = _frame()[NAMES[::-1]]
    requirement = "the table must have the columns ['a', 'b', 'c', 'd', 'e'] in this order"
    got = "got columns=['e', 'd', 'c', 'b', 'a']"
    for name, call in {
        "predict": lambda: trainer.predict(turned),
        "evaluate": lambda: trainer.evaluate(turned, Y),
        "fit": lambda: trainer.fit(_frame(), Y, epochs=2, validation=(turned, Y)),
    }.items():
        with pytest.raises(ValueError, match=f"^{re.escape(f'{name}: {requirement}, {got}')}$"):
            call()
    np.testing.assert_array_equal(trainer.predict(_frame()).numpy(), trainer.predict(X).numpy())


def test_rows_that_belong_together_in_another_order() -> None:
    order = np.random.default_rng(0).permutation(40)
    text = (
        "fit: X and y must have their rows in the same order (y.loc[X.index], or "
        "y.reset_index(drop=True) if they belong together as they stand), "
        f"got X_index='0', y_index='{order[0]}'"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        _trainer().fit(_frame(), pd.Series(Y).iloc[order])
    both = _trainer()
    both.fit(_frame().iloc[order], pd.Series(Y).iloc[order], epochs=1)
    for labels in (range(100, 140), [0, "a", None, *range(37)]):
        _trainer().fit(_frame(), pd.Series(Y, index=labels), epochs=1)


def test_polars() -> None:
    polars = pytest.importorskip("polars", reason="an optional library that is not installed")
    table = polars.DataFrame({name: X[:, i].astype(np.float64) for i, name in enumerate(NAMES)})
    trainer, _ = _fitted(table, polars.Series("y", Y), epochs=2, batch_size=8)
    assert _bytes(trainer.model) == _expected()
    np.testing.assert_array_equal(trainer.predict(table).numpy(), trainer.predict(X).numpy())
    words = table.with_columns(polars.Series("city", ["Ulm"] * 40))
    with pytest.raises(TypeError, match=r"^fit: X must be numbers .* got column='city'"):
        _trainer().fit(words, Y)
    holes = table.with_columns(polars.Series("age", [None, *range(39)]))
    with pytest.raises(
        ValueError, match=r"^fit: X must have no missing .* column='age', missing=1"
    ):
        _trainer().fit(holes, Y)


def test_evaluate_and_predict() -> None:
    trainer, _ = _fitted(_frame(), Y, epochs=2)
    with ex.no_grad():
        output = trainer.model.eval()(ex.tensor(X))
    loss = float(ex.cross_entropy(output, ex.tensor(Y)))
    right = np.mean(output.numpy().argmax(axis=1) == Y)
    for given in [(_frame(), pd.Series(Y)), (X, Y), (ArrayDataset(X, Y),)]:
        found = trainer.evaluate(*given, batch_size=7)
        assert found == {"loss": pytest.approx(loss, rel=1e-6), "accuracy": pytest.approx(right)}
    np.testing.assert_allclose(trainer.predict(_frame(), 7).numpy(), output.numpy(), rtol=1e-5)


class TestFraction:
    """Validation data that chance takes from those to train on."""

    def test_it_is_the_split_of_the_data_set(self) -> None:
        trainer, history = _fitted(X, Y, epochs=2, validation=0.25, batch_size=8)
        assert trainer.step == 2 * 4  # 30 samples are left
        ex.random.manual_seed(3)
        train, held = ArrayDataset(X, Y).split(0.25)
        by_hand = _trainer(metrics=["accuracy"])
        expected = by_hand.fit(DataLoader(train, 8, shuffle=True), 2, DataLoader(held, 8))
        assert history == expected
        assert _bytes(trainer.model) == _bytes(by_hand.model)

    def test_the_seed_decides(self) -> None:
        losses = [
            _fitted(ArrayDataset(X, Y), epochs=1, validation=0.25)[1][0]["validation_loss"]
            for _ in range(2)
        ]
        assert losses[0] == losses[1]
        ex.random.manual_seed(4)
        assert _trainer().fit(X, Y, 1, 0.25)[0]["validation_loss"] != losses[0]

    def test_a_run_that_goes_on_keeps_it(self, tmp_path: Path) -> None:
        """In another process, with random numbers at another place; and in the same."""

        def made(folder: str) -> Trainer:
            return _trainer(folder=tmp_path / folder, checkpoint_every=3)

        given = {"validation": 0.25, "batch_size": 8}
        ex.random.manual_seed(3)
        made("whole").fit(X, Y, epochs=2, **given)
        ex.random.manual_seed(3)
        made("parts").fit(X, Y, epochs=1, **given)
        ex.random.manual_seed(99)
        resumed = made("parts")
        assert resumed.resume()
        resumed.fit(X, Y, epochs=2, **given)
        ex.random.manual_seed(3)
        again = made("again")
        for epochs in (1, 2):
            again.fit(X, Y, epochs=epochs, **given)
        assert contents(tmp_path / "whole") == contents(tmp_path / "parts")
        assert contents(tmp_path / "whole") == contents(tmp_path / "again")

    def test_an_interrupted_fit_goes_on_within_the_epoch(self, tmp_path: Path) -> None:
        class Stop(Callback):
            def step_ended(self, trainer: Trainer, record: Any) -> None:
                if trainer.step == 6:
                    trainer.interruption.noted = 2

        given = {"epochs": 2, "validation": 0.25, "batch_size": 8}
        whole, _ = _fitted(X, Y, **given)
        ex.random.manual_seed(3)
        parts = _trainer(callbacks=[Stop()], metrics=["accuracy"])
        with pytest.raises(KeyboardInterrupt):
            parts.fit(X, Y, **given)
        assert (parts.epoch, parts.batch) == (1, 2)
        parts.fit(X.copy(), Y.copy(), **given)
        assert parts.history == whole.history
        assert _bytes(parts.model) == _bytes(whole.model)

    @pytest.mark.parametrize(
        ("validation", "text"),
        [
            (0.0, "fit: validation must be between 0 and 1 as a fraction, got validation=0.0"),
            (1.0, "fit: validation must be between 0 and 1 as a fraction, got validation=1.0"),
            (2, "fit: validation must be between 0 and 1 as a fraction, got validation=2"),
            (
                0.01,
                "fit: validation must leave samples to train on, and have some, "
                "got validation=0.01, samples=40",
            ),
        ],
    )
    def test_fractions_that_are_none(self, validation: float, text: str) -> None:
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            _trainer().fit(X, Y, validation=validation)

    def test_a_fraction_of_a_loader(self) -> None:
        text = (
            "fit: validation must be (X, y), a data set or a loader; a fraction is of arrays, "
            "got train='DataLoader'"
        )
        with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
            _trainer().fit(DataLoader(ArrayDataset(X, Y), 8), 1, validation=0.5)

    def test_another_fraction_in_the_same_run(self) -> None:
        trainer, _ = _fitted(X, Y, epochs=1, validation=0.25)
        text = (
            "fit: validation must stay 0.25 of 40 samples in this run (data split beforehand may "
            "change: ArrayDataset(X, y).split(fraction)), got validation=0.5, samples=40"
        )
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            trainer.fit(X, Y, epochs=2, validation=0.5)
        state = trainer.state_dict()
        state["split"]["fraction"] = 2.0
        with pytest.raises(ValueError, match=r"split.fraction must be between 0 and 1"):
            trainer.load_state_dict(state)


def test_a_model_of_ones_own_kind_of_data() -> None:
    """A data set of the user's is taken too, sample by sample."""

    class Own:
        def __len__(self) -> int:
            return 10

        def __getitem__(self, index: int) -> Any:
            return X[index], Y[index]

    trainer = _trainer(_model())
    trainer.fit(Own(), epochs=1, validation=Own(), batch_size=5)
    assert trainer.step == 2
    assert trainer.predict(Own()).shape == (10, 2)
