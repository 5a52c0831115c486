"""What the page makes of a log: both kinds of data, the best epoch, the test, data and texts."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_report import HOSTILE, LOG, Page, run_folder, series_of

from extensor.report import Chart, Mark, Series, charts, examine, write_report
from extensor.report.axis import short, text_width, tick_labels
from extensor.report.chart import WIDTH, draw_chart, fit_text
from extensor.report.run_records import best_epoch
from extensor.train import EarlyStopping, RunFolder
from extensor.train.metrics.registry import direction_of


def epochs(*records: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"event": "epoch", "epoch": i, "step": 10 * i, **record}
        for i, record in enumerate(records, 1)
    ]


def logged(path: Path, *records: Any, config: str | None = None) -> RunFolder:
    run = run_folder(path) if config is None else run_folder(path, config)
    run.log.write_text("".join(json.dumps(record) + "\n" for record in records))
    return run


def facts(text: str) -> list[tuple[str, str]]:
    return [(name, x) for x, name in re.findall(r"<div><b>([^<]*)</b>([^<]*)</div>", text)]


def test_training_and_validation_are_in_one_chart() -> None:
    records = epochs(
        {"loss": 2.0, "accuracy": 0.5, "validation_loss": 2.5, "validation_accuracy": 0.4},
        {"loss": 1.0, "accuracy": 0.75, "validation_loss": 3.0, "validation_accuracy": 0.6},
    )
    assert series_of(charts(records)) == {
        ("Loss", "training, mean of epochs"): [(10, 2.0), (20, 1.0)],
        ("Loss", "validation"): [(10, 2.5), (20, 3.0)],
        ("Accuracy", "training"): [(10, 0.5), (20, 0.75)],
        ("Accuracy", "validation"): [(10, 0.4), (20, 0.6)],
    }
    loss, accuracy = charts(records)
    assert [s.colour for s in loss.series] == [s.colour for s in accuracy.series]
    assert loss.marks == accuracy.marks == [Mark(10, "best loss: epoch 1")]


@pytest.mark.parametrize(
    ("records", "monitor", "expected"),
    [
        (
            epochs({"validation_loss": 2.0}, {"validation_loss": 1.0}, {"validation_loss": 1.0}),
            None,
            2,
        ),
        (epochs({"validation_accuracy": 0.1}, {"validation_accuracy": 0.9}), None, 2),
        (
            epochs(
                {"validation_loss": 1.0, "validation_f1": 0.1},
                {"validation_loss": 2.0, "validation_f1": 0.2},
            ),
            "validation_f1",
            2,
        ),
        (epochs({"validation_loss": float("nan")}, {"validation_loss": 3.0}), None, 2),
        (epochs({"validation_loss": 1.0}, {"validation_loss": 3.0}), "validation_gone", 1),
    ],
)
def test_best_epoch(records: Any, monitor: str | None, expected: int) -> None:
    best = best_epoch(records, monitor)
    assert best is not None
    assert (best.epoch, best.step) == (expected, 10 * expected)


def test_without_validation_no_epoch_is_best() -> None:
    assert best_epoch(epochs({"loss": 1.0}, {"loss": 0.5})) is None
    assert best_epoch(epochs({"validation_something": 1.0})) is None
    assert charts(epochs({"loss": 1.0}))[0].marks == []


@pytest.mark.parametrize(
    ("name", "sign"),
    [("validation_loss", -1), ("root_mean_squared_error", -1), ("perplexity", -1),
     ("calibration_error", -1), ("f1", 1), ("top_k_accuracy", 1), ("roc_auc", 1), ("size", 0),
     ("validation_r2", 1), ("average_precision", 1), ("confusion_matrix", 0), ("kappa", 1)],
)  # fmt: skip
def test_which_way_is_better(name: str, sign: int) -> None:
    assert direction_of(name) == sign
    if sign:
        assert EarlyStopping(name).mode == ("max" if sign > 0 else "min")


def test_the_best_epoch_is_that_of_the_best_checkpoint(tmp_path: Path) -> None:
    records = epochs(
        {"validation_loss": 1.0, "validation_accuracy": 0.1},
        {"validation_loss": 2.0, "validation_accuracy": 0.2},
    )
    config = '[checkpoints]\nbest = "validation_accuracy"\n'
    text = write_report(logged(tmp_path / "run", *records, config=config)).read_text()
    assert text.count(">best accuracy: epoch 2</text>") == 2


def test_the_test_comes_first(tmp_path: Path) -> None:
    test = {"event": "test", "loss": 0.25, "accuracy": 0.875, "epoch": 2, "step": 3}
    old = facts(write_report(run_folder(tmp_path / "without")).read_text())
    new = facts(write_report(logged(tmp_path / "run", *LOG, test)).read_text())
    assert old == [
        ("validation accuracy", "75.00%"), ("validation loss", "0.5"), ("training loss", "1"),
        ("epochs", "2"), ("steps", "3"), ("time", "1:15"),
    ]  # fmt: skip
    assert new == [("test accuracy", "87.50%"), ("test loss", "0.25"), *old]


def test_data_and_texts_are_shown(tmp_path: Path) -> None:
    data = {"event": "data", "lines": ["2 columns", f"age  {HOSTILE}"]}
    texts = [
        {"event": "sample", "epoch": i, "step": 10 * i, "text": f"text {i}\n  {HOSTILE}"}
        for i in range(1, 12)
    ]
    text = write_report(logged(tmp_path / "run", data, *LOG, *texts)).read_text()
    assert "2 columns\nage  &lt;script&gt;" in text
    assert "<h3>epoch 11, step 110</h3><pre>text 11\n  &lt;script&gt;" in text
    shown = [i for i in range(1, 12) if f"text {i}\n" in text]
    assert shown == [1, 5, 6, 7, 8, 9, 10, 11]
    assert "The first and the last of 11 texts." in text
    assert Page(text).all("script") == [{}]


def sequence_page(path: Path, loss: str) -> str:
    records = epochs({"loss": 2.0, "validation_loss": 1.0})
    found = examine(None, np.zeros((2, 3, 4)), np.zeros((2, 3), int), "sequence")
    return write_report(logged(path, *records, config=f"[loss]\n{loss}\n"), found).read_text()


def test_perplexity_of_sequences(tmp_path: Path) -> None:
    text = sequence_page(tmp_path / "a", 'name = "CrossEntropyLoss"')
    assert "<h2>Perplexity</h2>" in text
    assert f"training <b>{np.exp(2.0):.4g}</b>" in text
    smooth = 'name = "CrossEntropyLoss"\nlabel_smoothing = 0.1'
    assert "<h2>Perplexity</h2>" not in sequence_page(tmp_path / "b", smooth)
    known = epochs({"loss": 2.0, "perplexity": 9.0})
    assert [chart.title for chart in charts(known, None, True)] == ["Loss", "Perplexity"]
    assert series_of(charts(known, None, True))["Perplexity", "training"] == [(10, 9.0)]


def test_a_number_that_is_no_number_is_no_trouble(tmp_path: Path) -> None:
    records = [
        {"event": "epoch", "epoch": 1, "step": 1, "loss": 1.0, "validation_f1": 0.5},
        {"event": "epoch", "epoch": 2, "step": 2, "loss": float("nan"), "validation_f1": [0.1, 0.2],
         "huge": 10**400, "flag": True, "odd": None},
        {"message": "of the user"},
        {"event": "gradients", "step": 2, "norms": {"a": 1.0, "b": float("inf")}},
        {"event": "sample", "text": 5},
        {"event": "data", "lines": "none"},
        {"event": "test", "loss": "low"},
    ]  # fmt: skip
    text = write_report(logged(tmp_path / "run", *records)).read_text()
    assert ("loss", "undefined") in facts(text)
    Page(text)


@pytest.mark.parametrize(
    ("content", "line"), [('{"event": "step"}\n{"eve\n{}\n{}\n', 2), ("{}\n5\n", 2)]
)
def test_a_damaged_log_is_refused(tmp_path: Path, content: str, line: int) -> None:
    run = run_folder(tmp_path / "run")
    run.log.write_text(content)
    message = (
        "write_report: each line of the log must be a record in JSON, "
        f"got path={str(run.log)!r}, line={line}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        write_report(run)
    assert not (run.path / "report.html").exists()


def test_a_last_line_that_was_cut_short_is_left_out(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    run.log.write_text(run.log.read_text() + '{"event": "ste')
    assert facts(write_report(run).read_text())[0] == ("validation accuracy", "75.00%")


def test_a_damaged_description_is_refused(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    run.machine.write_text("{")
    message = f"write_report: file must be a table in JSON, got path={str(run.machine)!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        write_report(run)


def test_a_configuration_of_words(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run", 'model = "net"\ndata = "mine"\n')
    assert "<h1>net on mine</h1>" in write_report(run).read_text()


def texts_of(svg: str) -> list[tuple[float, float, str]]:
    """Where each text begins and ends, at the widest, and what it says."""
    found = []
    for attributes, text in re.findall(r"<text ([^>]*)>([^<]*)</text>", svg):
        x = float(re.findall(r'x="([^"]*)"', attributes)[0])
        kind = "".join(re.findall(r'class="([^"]*)"', attributes))
        width = text_width(text, 9 if "small" in kind else 13)
        begin = x - width if "left" in kind else x - width / 2 if "below" in kind else x
        found.append((begin, begin + width, text))
    return found


@pytest.mark.parametrize(
    "ys",
    [[1e6, 1e6 + 5], [-1234567.0, -1.0], [1e-9, 3e-9], [-5e300, 5e300], [123.456789, 123.456791]],
)
@pytest.mark.parametrize("xs", [[1, 2], [0, 1_000_000], [999_999_990, 1_000_000_000], [7, 7]])
def test_no_label_is_cut_and_none_is_double(xs: list[int], ys: list[float]) -> None:
    marks = [Mark(xs[0], "best root mean squared error: epoch 1000"), Mark(xs[1], "m" * 90)]
    chart = Chart("t", [Series("s", list(zip(xs, ys, strict=True)))], up="u" * 90, marks=marks)
    places = texts_of(draw_chart(chart._replace(across="a" * 90)))
    for begin, end, text in places:
        assert begin >= 0, text
        assert end <= WIDTH, text
    left = re.findall(
        r'<text class="left"[^>]*>([^<]*)</text>', draw_chart(chart._replace(marks=()))
    )
    assert len(left) >= 2
    assert len(set(left)) == len(left)


def test_labels_below_do_not_touch() -> None:
    points = [(x, 1.0) for x in (0, 12_345_678)]
    found = re.findall(
        r'<text class="below" x="([^"]*)"[^>]*>(\d+)<',
        draw_chart(Chart("t", [Series("s", points)])),
    )
    places = [(float(x) - text_width(t) / 2, float(x) + text_width(t) / 2) for x, t in found]
    assert len(places) >= 2
    assert all(a[1] < b[0] for a, b in pairwise(places))


def test_steps_are_whole() -> None:
    text = draw_chart(Chart("t", [Series("s", [(1, 1.0), (3, 2.0)])]))
    below = re.findall(r'<text class="below"[^>]*>([\d.]+)<', text)
    assert below == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0.0, 0.1, 0.30000000000000004], ["0", "0.1", "0.3"]),
        ([-0.5, 0.0], ["-0.5", "0"]),
        ([1e6, 1e6 + 5], ["1000000", "1000005"]),
        ([2e9, 4e9], ["2e9", "4e9"]),
        ([1e-7, 2e-7], ["1e-7", "2e-7"]),
        ([-1.2e7, -8e6, 0.0], ["-1.2e7", "-8e6", "0"]),
        ([1e-8, 1e-6, 1e-4, 0.01, 1.0], ["1e-8", "1e-6", "1e-4", "0.01", "1"]),
        ([5e-5, 1e-4, 1.5e-4], ["0.00005", "0.0001", "0.00015"]),
        ([999_999_990.0, 999_999_995.0], ["999999990", "999999995"]),
    ],
)
def test_tick_labels(values: list[float], labels: list[str]) -> None:
    assert tick_labels(values) == labels


def test_small_gradients_are_where_they_belong() -> None:
    series = [Series(f"layer{i}", [(1, 10.0**-i), (2, 10.0**-i)]) for i in (0, 5, 10, 15)]
    text = draw_chart(Chart("t", [*series, Series("zero", [(1, 0.0), (2, 0.0)])], logarithmic=True))
    heights = [float(x) for x in re.findall(r'<polyline[^>]* points="[^,]*,([^ ]*) ', text)]
    steps = np.diff(heights)
    np.testing.assert_allclose(steps[:3], steps[0], atol=0.11)
    assert steps[3] == pytest.approx(steps[0] / 5, abs=0.11)


def test_short_numbers_do_not_pretend() -> None:
    assert short(1234567.0) == "1.235e6"
    assert short(20000.0) == "20000"
    assert short(float("nan")) == "nan"
    assert fit_text("abc") == "abc"
    assert fit_text("m" * 90).endswith("…")


def test_curves_of_many_points_say_so() -> None:
    rng = np.random.default_rng(0)
    points = list(zip(range(5000), rng.normal(size=5000).tolist(), strict=True))
    text = draw_chart(Chart("t", [Series("s", points)]))
    (line,) = Page(text).all("polyline")
    assert (line["data-points"], len((line["points"] or "").split())) == ("5000", 400)
    assert len((line["data-y"] or "").split()) == 400
    assert "(400 of 5,000 points drawn)" in text
    straight = draw_chart(Chart("t", [Series("s", [(i, 2.0 * i) for i in range(5000)])]))
    assert "points drawn" not in straight
