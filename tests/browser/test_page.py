"""The report in a real browser: Chromium without a window (``make browser-test``)."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from pathlib import Path

import pytest
from commands import extensor

from extensor.train import read_log

CHROMIUM = os.environ.get("CHROMIUM", "chromium")
WIDTHS = (1280, 390)  # a desk and a phone

# A window cannot be made as narrow as a phone, but a frame in it can. It is loaded when this runs.
FRAME = """<iframe src="report.html" style="border: 0; width: {width}px; height: 800px"
onload="const page = this.contentDocument.documentElement;
document.title = page.scrollWidth + ' ' + page.scrollHeight"></iframe>"""


def browser(folder: Path, page: str, *options: str) -> tuple[str, str]:
    """What Chromium says on its standard output and in its log."""
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            "--allow-file-access-from-files",
            "--virtual-time-budget=2000",
            f"--user-data-dir={folder / 'profile'}",
            *options,
            (folder / page).as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, done.stderr


def complaints(log: str) -> list[str]:
    """Lines of the page's console, where errors of any kind end up."""
    return [line for line in log.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run on the digits."""
    folder = tmp_path_factory.mktemp("browser")
    before = Path.cwd()
    os.chdir(folder)
    try:
        changes = ["epochs=3", "clipping.norm=5.0", 'metrics=["accuracy", "f1"]']
        changes += ["data.augment={}"]  # of samples that are mixed there is no training accuracy
        options = [word for change in changes for word in ("--set", change)]
        assert extensor("train", "--name", "a", *options).code == 0
    finally:
        os.chdir(before)
    return folder / "runs" / "a"


def test_console_errors_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<script>missing()</script><img src='none.png'>")
    _, log = browser(tmp_path, "page.html", "--dump-dom")
    assert "missing is not defined" in "".join(complaints(log))


def test_curves_have_as_many_points_as_the_log(run: Path) -> None:
    page, log = browser(run, "report.html", "--dump-dom")
    assert complaints(log) == []
    lines = re.findall(r'<polyline[^>]* points="([^"]*)" data-points="(\d+)"', page)
    assert all(len(points.split()) == int(count) for points, count in lines)
    records = read_log(run / "log.jsonl")
    steps, epochs, gradients = (
        sum(record["event"] == event for record in records)
        for event in ("step", "epoch", "gradients")
    )
    assert (epochs, steps > 50, gradients) == (3, True, steps)
    # Loss three times, two metrics, the first in training too, learning rate, norm of all gradients,
    # and of five layers; then come the curves of the classes.
    expected = [steps, *[epochs] * 5, steps, steps, *[gradients] * 5]
    assert [int(count) for _, count in lines][: len(expected)] == expected


@pytest.mark.parametrize("width", WIDTHS)
def test_page_is_as_wide_as_the_window(run: Path, width: int) -> None:
    (run / "frame.html").write_text(FRAME.format(width=width))
    page, log = browser(run, "frame.html", "--dump-dom", "--window-size=1400,900")
    assert complaints(log) == []
    found = re.search(r"<title>(\d+) (\d+)</title>", page)
    assert found is not None
    assert int(found[1]) == width
    assert int(found[2]) > 800


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_pictures(run: Path, scheme: str) -> None:
    """Light and dark differ, and the page is not empty."""
    number = {"dark": 0, "light": 1}[scheme]
    path = run / f"{scheme}.png"
    options = (f"--blink-settings=preferredColorScheme={number}", "--window-size=1280,1800")
    _, log = browser(run, "report.html", f"--screenshot={path}", *options)
    assert complaints(log) == []
    content = path.read_bytes()
    assert struct.unpack(">II", content[16:24]) == (1280, 1800)
    assert len(content) > 50_000
    corner = _first_pixel(path)
    assert (sum(corner) < 3 * 128) == (scheme == "dark")


def _first_pixel(path: Path) -> tuple[int, ...]:
    image = pytest.importorskip("PIL.Image")
    with image.open(path) as picture:
        return tuple(picture.convert("RGB").getpixel((2, 2)))
