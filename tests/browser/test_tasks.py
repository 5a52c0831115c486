"""The pages of all tasks in a real browser: nothing is cut, and values show under the pointer."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pages import write_pages
from test_page import WIDTHS, browser, complaints

# Each page in a frame of its own; when all are there, what is found in each is the page's title.
FRAMES = """<!doctype html><title></title>
<script>
const look = (page, view) => {{ {script} }};
addEventListener("load", () => {{
  const frames = [...document.querySelectorAll("iframe")];
  document.title = JSON.stringify(frames.map((f) => look(f.contentDocument, f.contentWindow)));
}});
</script>
{frames}"""

WIDTH = "return page.documentElement.scrollWidth;"

STICKING_OUT = """
const found = [];
for (const svg of page.querySelectorAll("svg")) {
  const box = svg.getBoundingClientRect();
  for (const text of svg.querySelectorAll("text")) {
    const own = text.getBoundingClientRect();
    if (own.left < box.left - 0.5 || own.right > box.right + 0.5
        || own.top < box.top - 0.5 || own.bottom > box.bottom + 0.5) found.push(text.textContent);
  }
}
return [page.querySelectorAll("svg text").length, found];
"""

TOUCHING = """
const found = [];
for (const svg of page.querySelectorAll("svg")) {
  const texts = [...svg.querySelectorAll("text:not(.mark)")];
  const boxes = texts.map((text) => text.getBoundingClientRect());
  for (let i = 0; i < boxes.length; i++) {
    for (let j = 0; j < i; j++) {
      const a = boxes[i], b = boxes[j];
      // Boxes are a little higher than the letters in them.
      const up = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0 && up > 3) {
        found.push(texts[i].textContent + " | " + texts[j].textContent);
      }
    }
  }
}
return found;
"""

POINTED = """
return [...page.querySelectorAll(".chart")].map((chart) => {
  const svg = chart.querySelector("svg"), words = chart.querySelector(".words");
  const box = svg.getBoundingClientRect(), before = words.hidden;
  const shape = svg.querySelector("[data-points]");
  const places = (shape.getAttribute("points") || shape.dataset.at).split(" ");
  const middle = Math.floor(shape.dataset.x.split(" ").length / 2);
  const [x, y] = places[middle].split(",").map((part) => part * box.width / svg.viewBox.baseVal.width);
  const at = { clientX: box.left + x, clientY: box.top + y, bubbles: true };
  svg.dispatchEvent(new view.PointerEvent("pointermove", at));
  const outer = chart.getBoundingClientRect(), own = words.getBoundingClientRect();
  const inside = own.left >= outer.left - 0.5 && own.right <= outer.right + 0.5;
  const text = words.textContent, dots = svg.querySelectorAll(".signs circle").length;
  const rows = words.children.length, shapes = svg.querySelectorAll("[data-points]").length;
  svg.dispatchEvent(new view.PointerEvent("pointerleave"));
  return {
    before, inside, text, dots, rows, shapes, after: words.hidden,
    value: shape.dataset.y.split(" ")[middle], name: shape.dataset.name,
  };
});
"""

KEYS = """
const chart = page.querySelector(".chart"), svg = chart.querySelector("svg");
const words = chart.querySelector(".words");
const press = (key) => {
  svg.dispatchEvent(new view.KeyboardEvent("keydown", { key, bubbles: true }));
  return words.hidden ? null : words.firstChild.textContent;
};
svg.focus();
const focused = page.activeElement === svg;
return [focused, press("ArrowRight"), press("ArrowRight"), press("ArrowLeft"), press("Escape")];
"""

CONTENT = """
const count = (name) => page.querySelectorAll(name).length;
const names = ["section", "svg", "svg text", "polyline", "table", "td", "pre", "img", ".legend li"];
page.querySelectorAll(".words, script").forEach((x) => x.remove());
return [names.map(count), page.body.innerText];
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tasks")


@pytest.fixture(scope="module")
def pages(folder: Path) -> list[str]:
    return write_pages(folder)


def looked(
    folder: Path, pages: list[str], script: str, width: int = 1280, more: str = ""
) -> list[Any]:
    """What ``script`` says of each page in a frame of that width."""
    frames = "\n".join(
        f'<iframe src="{page}" {more} style="border: 0; width: {width}px; height: 900px"></iframe>'
        for page in pages
    )
    (folder / "frames.html").write_text(FRAMES.format(script=script, frames=frames))
    page, log = browser(folder, "frames.html", "--dump-dom", "--window-size=1400,900")
    # In a frame that may not run scripts, each page's own is one complaint.
    said = [line for line in complaints(log) if "Blocked script execution" not in line]
    assert said == []
    assert len(complaints(log)) == (len(pages) if more else 0)
    title = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    assert title is not None
    found = json.loads(html.unescape(title[1]))
    assert len(found) == len(pages)
    return list(found)


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_are_as_wide_as_the_window(folder: Path, pages: list[str], width: int) -> None:
    assert looked(folder, pages, WIDTH, width) == [width] * len(pages)


@pytest.mark.parametrize("width", [*WIDTHS, 700])
def test_no_text_sticks_out_of_its_chart(folder: Path, pages: list[str], width: int) -> None:
    for page, (count, found) in zip(pages, looked(folder, pages, STICKING_OUT, width), strict=True):
        assert count > 30, page
        assert found == [], page


@pytest.mark.parametrize("width", WIDTHS)
def test_no_text_lies_on_another(folder: Path, pages: list[str], width: int) -> None:
    assert looked(folder, pages, TOUCHING, width) == [[]] * len(pages)


@pytest.mark.parametrize("width", WIDTHS)
def test_values_show_under_the_pointer(folder: Path, pages: list[str], width: int) -> None:
    for page, charts in zip(pages, looked(folder, pages, POINTED, width), strict=True):
        assert charts, page
        for chart in charts:
            assert chart["before"] is chart["after"] is True
            assert chart["inside"], chart
            assert f"{chart['name']} {chart['value']}" in chart["text"]
            # A line for where it is, and one for each series.
            assert chart["rows"] == 1 + chart["shapes"]
            assert chart["dots"] == chart["shapes"]


def test_charts_can_be_read_with_the_keyboard(folder: Path, pages: list[str]) -> None:
    assert looked(folder, pages[-1:], KEYS) == [[True, "epoch 1", "epoch 2", "epoch 1", None]]


def test_without_the_script_all_is_there(folder: Path, pages: list[str]) -> None:
    with_script = looked(folder, pages, CONTENT)
    without = looked(folder, pages, CONTENT, more='sandbox="allow-same-origin"')
    assert with_script == without
