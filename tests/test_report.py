"""The report: the curves of the log, pictures, and a page that asks for nothing."""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
from base64 import b64encode
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data import ArrayDataset
from extensor.report import (
    Card,
    Chart,
    Mark,
    Series,
    charts,
    examine,
    terminal_plot,
    write_plots,
    write_report,
)
from extensor.report.axis import round_steps
from extensor.report.chart import draw_chart
from extensor.report.document import card_section, document
from extensor.report.png import picture
from extensor.report.run_page import examination_sections
from extensor.train import RunFolder

LOG = [
    {"event": "gradients", "step": 1, "norms": {"a.weight": 3.0, "a.bias": 4.0, "b": 0.0}},
    {"event": "step", "epoch": 1, "step": 1, "loss": 2.0, "lr": 0.1, "gradient_norm": 5.0},
    {"event": "step", "epoch": 1, "step": 2, "loss": 1.5, "lr": 0.2, "gradient_norm": 1e3},
    {"event": "epoch", "epoch": 1, "step": 2, "loss": 1.75, "lr": 0.2, "validation_loss": 1.0,
     "validation_accuracy": 0.5},
    {"event": "step", "epoch": 2, "step": 3, "loss": 1.0, "lr": 0.1, "gradient_norm": 1.0},
    {"event": "epoch", "epoch": 2, "step": 3, "loss": 1.0, "lr": 0.1, "validation_loss": 0.5,
     "validation_accuracy": 0.75},
]  # fmt: skip
HOSTILE = "<script>alert('x')</script>\"&"


def series_of(found: list[Chart]) -> dict[tuple[str, str], list[tuple[float, float]]]:
    return {(chart.title, series.name): series.points for chart in found for series in chart.series}


class Page(HTMLParser):
    """The tags of a page, and that they are closed in their order."""

    EMPTY = ("meta", "link", "br", "img")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def run_folder(path: Path, config: str = 'seed = 0\n[model]\nname = "net"\n') -> RunFolder:
    run = RunFolder(path)
    run.path.mkdir(parents=True)
    run.config.write_text(config)
    run.machine.write_text(json.dumps({"python": "3", "command": ["extensor", HOSTILE]}))
    run.log.write_text("".join(json.dumps(record) + "\n" for record in LOG))
    run.timing.write_text('{"seconds": 60.0}\n{"seconds": 15.0}\n')
    return run


def test_curves_are_those_of_the_log() -> None:
    assert series_of(charts(LOG)) == {
        ("Loss", "training, at steps"): [(1, 2.0), (2, 1.5), (3, 1.0)],
        ("Loss", "training, mean of epochs"): [(2, 1.75), (3, 1.0)],
        ("Loss", "validation"): [(2, 1.0), (3, 0.5)],
        ("Accuracy", "validation"): [(2, 0.5), (3, 0.75)],
        ("Learning rate", "of the first group"): [(1, 0.1), (2, 0.2), (3, 0.1)],
        ("Norm of the gradient", "of all, before clipping"): [(1, 5.0), (2, 1e3), (3, 1.0)],
        ("Norm of the gradients of each layer", "a"): [(1, 5.0)],
        ("Norm of the gradients of each layer", "b"): [(1, 0.0)],
    }
    assert charts([]) == []


def test_polylines_lie_inside_and_in_order() -> None:
    points = [(float(step), 2.0**-step) for step in range(7)]
    for logarithmic in (False, True):
        text = draw_chart(Chart("t", [Series("s", points)], logarithmic))
        found = re.search(r'<polyline[^>]* points="([^"]*)" data-points="7"', text)
        assert found is not None
        xy = np.array([pair.split(",") for pair in found[1].split()], float)
        assert (np.diff(xy[:, 0]) > 0).all()
        assert (np.diff(xy[:, 1]) > 0).all()  # down on paper is up in numbers
        assert xy.min() >= 0
        assert xy[:, 0].max() <= 400
        assert xy[:, 1].max() <= 220
        if logarithmic:
            np.testing.assert_allclose(np.diff(xy[:, 1]), np.diff(xy[:, 1])[0], atol=0.11)


@pytest.mark.parametrize("points", [[(5, 0.0)], [(1, 2.0), (2, 2.0)], [(1, 0.0), (2, 0.0)]])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_flat_and_short_curves(points: Any, logarithmic: bool) -> None:
    text = draw_chart(Chart("t", [Series("s", points)], logarithmic))
    assert f'data-points="{len(points)}"' in text
    assert "nan" not in text
    assert "inf" not in text


def test_many_curves_have_many_colours() -> None:
    series = [Series(f"layer{i}", [(1, float(i)), (2, 1.0)]) for i in range(30)]
    colours = re.findall(r"<polyline[^>]*hsl\((\d+)", draw_chart(Chart("t", series)))
    assert len(set(colours)) == 30


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 1e6), (0.9, 0.91), (1e-9, 2e-9)])
def test_ticks_are_few_and_inside(low: float, high: float) -> None:
    ticks = round_steps(low, high)
    assert 3 <= len(ticks) <= 8
    assert low <= ticks[0] + 1e-12
    assert ticks[-1] <= high * (1 + 1e-9)


def test_page_is_whole(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 16, (40, 1, 8, 8)).astype(np.uint8)
    labels = np.arange(40) % 3
    outputs = np.random.default_rng(1).normal(size=(40, 3))
    found = examine(ArrayDataset(images, labels), outputs, labels)
    net = ex.nn.Sequential(ex.nn.Flatten(), ex.nn.Linear(64, 3))
    text = write_report(run_folder(tmp_path / "run"), found, net.summary((1, 1, 8, 8))).read_text()
    parsed = Page(text)
    lines = parsed.all("polyline")[:8]  # those of the log, before the curves of the classes
    assert [line["data-points"] for line in lines] == ["3", "2", "2", "2", "3", "3", "1", "1"]
    for line in lines:
        assert line["points"] is not None
        assert len(line["points"].split()) == max(2, int(line["data-points"] or 0))
    assert len(parsed.all("img")) == 24
    assert "prefers-color-scheme: dark" in text
    for words in ("1:15", "195", "75.00%", "Linear", "name = &quot;net&quot;"):
        assert words in text


def test_nothing_comes_from_elsewhere(tmp_path: Path) -> None:
    text = write_report(run_folder(tmp_path / "run")).read_text()
    parsed = Page(text)
    links = [x for _, tags in parsed.tags for key, x in tags.items() if key in ("src", "href")]
    assert all(link is not None and link.startswith("data:") for link in links)
    assert not re.search(r"url\(|@import|https?:", text)


def test_only_the_script_of_the_page_may_run(tmp_path: Path) -> None:
    text = write_report(run_folder(tmp_path / "run")).read_text()
    assert Page(text).all("script") == [{}]
    script = text.split("<script>")[1].split("</script>")[0]
    assert script == (files("extensor.report") / "pointer.js").read_text()
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    assert {"http-equiv": "Content-Security-Policy", "content": policy} in Page(text).all("meta")


def test_everything_is_escaped(tmp_path: Path) -> None:
    images = np.zeros((3, 1, 4, 4))
    dataset = ArrayDataset(images, [0, 1, 0])
    dataset.classes = [HOSTILE, "b"]  # type: ignore[attr-defined]
    found = examine(dataset, np.eye(3, 2), np.array([0, 1, 0]), sample_names=[HOSTILE] * 3)
    run = run_folder(tmp_path / "run", f"[model]\nname = {json.dumps(HOSTILE)}\n")
    run.machine.write_text(json.dumps({HOSTILE: HOSTILE}))
    with run.log.open("a") as log:
        for record in (
            {"event": "data", "lines": [HOSTILE]},
            {"event": "sample", "epoch": 1, "text": HOSTILE},
            {"event": "epoch", "epoch": 3, "step": 4, f"validation_{HOSTILE}": 1.0},
            {"event": "test", HOSTILE: 1.0},
        ):
            log.write(json.dumps(record) + "\n")
    rows = [Series(HOSTILE, [(1, 1.0), (2, 2.0)])]
    drawn = Chart(HOSTILE, rows, across=HOSTILE, up=HOSTILE, marks=[Mark(1, HOSTILE)])
    parts = [card_section(Card(HOSTILE, [drawn], HOSTILE))]
    for text in (
        write_report(run, found).read_text(),
        document(HOSTILE, HOSTILE, {HOSTILE: HOSTILE}, parts),
    ):
        assert text.count("<script") == 1
        assert text.count("alert") > 5
        assert Page(text).all("script") == [{}]


def test_examination_of_classes() -> None:
    scores = np.array([[2.0, 0.0], [0.0, 3.0], [0.0, 5.0], [1.0, 0.0]])
    labels = np.array([0, 1, 0, 1])
    found = examine(ArrayDataset(np.zeros((4, 2)), labels), scores, labels)
    assert found is not None
    assert found.confusion.tolist() == [[1, 1], [1, 1]]
    assert [sample.number for sample in found.worst] == [2, 3, 0, 1]
    assert found.worst[0].loss == pytest.approx(5 + np.log1p(np.exp(-5)))
    assert (found.worst[0].truth, found.worst[0].found, found.worst[0].png) == ("0", "1", None)


def test_examination_of_numbers() -> None:
    targets = np.array([[1.0], [2.0], [3.0]])
    outputs = np.array([[1.0], [7.0], [2.0]])
    found = examine(ArrayDataset(np.zeros((3, 2)), targets), outputs, targets)
    assert found is not None
    assert [(s.number, s.found, s.loss) for s in found.worst][:2] == [(1, "7", 5.0), (2, "2", 1.0)]
    assert examine(ArrayDataset(targets), np.zeros((3, 4, 5)), np.zeros(3)) is None


@pytest.mark.parametrize("classes", [3, 20, 60])
def test_confusion_of_few_and_many_classes(classes: int) -> None:
    labels = np.arange(2 * classes) % classes
    scores = np.eye(classes)[(labels + (np.arange(2 * classes) < 5)) % classes]
    found = examine(ArrayDataset(np.zeros((2 * classes, 2)), labels), scores, labels)
    assert found is not None
    text = "".join(examination_sections(found))
    assert Page(text).all("table")
    assert ("taken for" in text) == (classes > 40)


@pytest.mark.parametrize("channels", [1, 3])
def test_png_has_the_pixels(channels: int) -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (channels, 5, 7)).astype(np.uint8)
    with image.open(io.BytesIO(picture(pixels, 0, 255))) as read:
        read.verify()
    read = np.asarray(image.open(io.BytesIO(picture(pixels, 0, 255))))
    np.testing.assert_array_equal(read, np.moveaxis(pixels, 0, -1).squeeze())


def test_terminal_plot() -> None:
    series = Series("accuracy", [(0, 0.0), (1, 1.0)])
    head, *lines = terminal_plot(series, width=8, height=2).splitlines()
    assert head.strip() == "accuracy"
    assert lines == ["1 ┤⠀⠀⠀⠀⣀⡤⠖⠋", "0 ┤⣀⡤⠖⠋⠁⠀⠀⠀"]
    flat = terminal_plot(Series("s", [(0, 2.0)]), width=4, height=2)
    assert "⠉⠉⠉⠉" in flat


def test_plots_as_png(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = write_plots(run_folder(tmp_path / "run"))
    assert path is not None
    assert path.read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert write_plots(run_folder(tmp_path / "run")) is None
