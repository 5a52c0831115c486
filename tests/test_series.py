"""Windows of series, against plain loops and pandas' shift."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data import BatchDataset, DataLoader, SeriesWindows


def series(length: int, features: int, targets: int) -> tuple[Any, Any]:
    inputs = np.arange(length * features, dtype=np.float64).reshape(length, features)
    outputs = -np.arange(length * targets, dtype=np.float64).reshape(length, targets)
    return inputs, outputs


@pytest.mark.parametrize("stride", [1, 2, 5])
@pytest.mark.parametrize(("window", "horizon"), [(1, 1), (4, 1), (3, 2), (8, 4)])
def test_windows_are_those_of_a_loop(window: int, horizon: int, stride: int) -> None:
    inputs, targets = series(12, 3, 2)
    expected = []
    for begin in range(0, 12, stride):
        if begin + window + horizon <= 12:
            following = [targets[begin + window + t] for t in range(horizon)]
            expected.append((inputs[begin : begin + window], np.concatenate(following)))
    windows = SeriesWindows(inputs, targets, window, horizon, stride)
    assert isinstance(windows, BatchDataset)
    assert len(windows) == len(expected)
    assert windows.starts.tolist() == [stride * i for i in range(len(expected))]
    for (x, y), (expected_x, expected_y) in zip(windows, expected, strict=True):
        assert x.dtype == y.dtype == np.float32
        np.testing.assert_array_equal(x, expected_x)
        np.testing.assert_array_equal(y, expected_y)
    x, y = windows.batch(slice(None))
    np.testing.assert_array_equal(x, np.stack([sample[0] for sample in expected]))
    np.testing.assert_array_equal(y, np.stack([sample[1] for sample in expected]))


def test_windows_are_those_of_shift(rng: np.random.Generator) -> None:
    pandas = pytest.importorskip("pandas")
    window, horizon = 5, 3
    frame = pandas.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40)})
    lags = {f"lag {k}": frame["a"].shift(k) for k in range(window, 0, -1)}
    steps = {f"step {k}": frame["b"].shift(-k) for k in range(horizon)}
    table = pandas.DataFrame({**lags, **steps}).dropna().to_numpy(np.float32)
    windows = SeriesWindows(frame[["a"]], frame["b"], window, horizon)
    x, y = windows.batch(slice(None))
    assert x.shape == (33, window, 1)
    np.testing.assert_array_equal(x[..., 0], table[:, :window])
    np.testing.assert_array_equal(y, table[:, window:])


def test_one_column() -> None:
    windows = SeriesWindows(np.arange(6), np.arange(6), 2)
    x, y = windows[0]
    assert (x.tolist(), y.tolist()) == ([[0.0], [1.0]], [2.0])
    assert windows[-1][1].tolist() == [5.0]


def test_no_samples() -> None:
    windows = SeriesWindows(np.arange(6), np.zeros((6, 3)), 2, 2)
    assert [part.shape for part in windows.batch([])] == [(0, 2, 1), (0, 6)]
    assert len(windows.take([])) == 0


def test_without_targets_the_last_window_ends_the_series() -> None:
    windows = SeriesWindows(np.arange(5), None, 3)
    assert [x.ravel().tolist() for (x,) in windows] == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]  # type: ignore[attr-defined]
    assert [x.shape for (x,) in DataLoader(windows, 2)] == [(2, 3, 1), (1, 3, 1)]


def test_windows_in_a_loader() -> None:
    windows = SeriesWindows(np.arange(50), np.arange(50), 4)
    loader = DataLoader(windows, 7, shuffle=True, workers=2, generator=ex.random.Generator(3))
    seen: list[float] = []
    for x, y in loader:
        np.testing.assert_array_equal(x.numpy()[:, -1] + 1, y.numpy())
        seen += y.numpy()[:, 0].tolist()
    assert sorted(seen) == list(range(4, 50))


@pytest.mark.parametrize("stride", [1, 3])
def test_a_series_is_cut_in_time(stride: int) -> None:
    """Rows are numbered, so that every number of a sample says where it comes from."""
    windows = SeriesWindows(np.arange(40), np.arange(40), 4, 2, stride)
    before = windows.take(windows.rows(0, 25))
    after = windows.take(windows.rows(25))
    forecast = windows.take(windows.rows(25, history=True))
    for begin, part in ((0, before), (25, after)):
        x, y = part.batch(slice(None))
        assert begin <= min(x.min(), y.min())
        assert max(x.max(), y.max()) < (25 if begin == 0 else 40)
    assert forecast.batch(slice(None))[1].min() >= 25
    assert forecast.batch(slice(None))[0].min() < 25
    assert set(after.starts) < set(forecast.starts)
    expected = [
        number
        for number, begin in enumerate(range(0, 35, stride))
        if begin >= 7 and begin + 6 <= 30
    ]
    assert windows.rows(7, 30).tolist() == expected
    assert windows.rows(38).tolist() == []


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (
            lambda: SeriesWindows(np.arange(5), np.arange(5), 4, 2),
            "SeriesWindows: a series must have 6 rows or more, got rows=5, window=4, horizon=2",
        ),
        (
            lambda: SeriesWindows(np.arange(2), None, 4),
            "SeriesWindows: a series must have 4 rows or more, got rows=2, window=4",
        ),
        (
            lambda: SeriesWindows(np.zeros((0, 2)), np.zeros(0), 1),
            "SeriesWindows: a series must have 2 rows or more, got rows=0, window=1, horizon=1",
        ),
        (
            lambda: SeriesWindows(np.arange(5), np.arange(4), 1),
            "SeriesWindows: inputs and targets must have a row for each time, got inputs=5, targets=4",
        ),
        (
            lambda: SeriesWindows(np.zeros((5, 2, 2)), np.arange(5), 1),
            "SeriesWindows: inputs must be (time, columns) or (time,), got inputs_shape=(5, 2, 2)",
        ),
        (
            lambda: SeriesWindows(np.zeros(5), np.zeros((5, 0)), 1),
            "SeriesWindows: targets must be (time, columns) or (time,), got targets_shape=(5, 0)",
        ),
        (
            lambda: SeriesWindows([[0, 1], [2, np.nan], [3, 4]], [0, 1, 2], 1),
            "SeriesWindows: inputs must be finite in float32, got row=1, column=1, value=nan",
        ),
        (
            lambda: SeriesWindows([0, 1, 2], np.array([0.0, 1.0, 1e300]), 1),
            "SeriesWindows: targets must be finite in float32, got row=2, column=0, value=inf",
        ),
        (
            lambda: SeriesWindows(["a", "b"], [0, 1], 1),
            "SeriesWindows: data must be numbers, got data='list'",
        ),
        (
            lambda: SeriesWindows([0, 1], [0, 1], 0),
            "SeriesWindows: window must be 1 or more, got window=0",
        ),
        (
            lambda: SeriesWindows([0, 1], [0, 1], 1, 0),
            "SeriesWindows: horizon must be 1 or more, got horizon=0",
        ),
        (
            lambda: SeriesWindows([0, 1], [0, 1], 1, 1, 0),
            "SeriesWindows: stride must be 1 or more, got stride=0",
        ),
        (
            lambda: SeriesWindows([0, 1], [0, 1], 1).rows(-1),
            "SeriesWindows.rows: begin must be 0 or more, got begin=-1",
        ),
        (
            lambda: SeriesWindows([0, 1], [0, 1], 1)[1],
            "SeriesWindows: index must be in [-1, 0], got index=1",
        ),
    ],
)  # fmt: skip
def test_errors(work: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError, IndexError), match=f"^{re.escape(text)}$"):
        work()
