"""Draw the pictures of the README into docs/_static: a terminal, a report page and the speed table.

Needs Chromium for the report page. Run it when the progress display, the report or the table of
`benchmarks/README.md` has changed.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from io import BytesIO, StringIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "docs" / "_static"
BENCHMARKS = ROOT / "benchmarks" / "README.md"
COLUMNS, ROWS = 112, 40
LAST_EPOCH = 16  # in the picture of the terminal
PAGE_SIZE = (1000, 860)

# Rich's own format names a font on a server; a picture in a README may not load any.
SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> None:
    STATIC.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        output = train(Path(folder))
        write_terminal(screen(output))
        write_report_page(Path(folder) / "runs" / "digits" / "report.html")
    write_speed(read_ratios(BENCHMARKS.read_text("utf-8")))
    for path in sorted(STATIC.glob("*.[ps][nv]g")):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} KB")


def train(folder: Path) -> str:
    """Train on the digits in a terminal, and return what the terminal received."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", COLUMNS=str(COLUMNS))
        command = [sys.executable, "-m", "extensor_cli", "train", "--name", "digits"]
        os.execv(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    received = b""
    while True:
        try:
            received += os.read(terminal, 65536)
        except OSError:  # as Linux reports the end of a terminal
            break
    os.waitpid(child, 0)
    return received.decode()


def screen(output: str) -> str:
    """The lines of a terminal in the middle of training, with their colours."""
    before = re.split(rf"(?=epoch {LAST_EPOCH + 1}/\d+ [^\r\n]*  lr )", output)[0]
    versions = [list(filter(None, re.split(r"\x1b\[2K|\r", line))) for line in before.split("\n")]
    drawn = [line[-1] for line in versions if line]
    lines = [line for line in drawn if not line.startswith("\x1b[?25")]  # hides the cursor
    return "\n".join(["$ extensor train", *lines]).rstrip()


def write_terminal(text: str) -> None:
    from rich.console import Console
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI
    from rich.text import Text

    for name, theme in {"light": DEFAULT_TERMINAL_THEME, "dark": MONOKAI}.items():
        console = Console(width=COLUMNS, record=True, file=StringIO(), force_terminal=True)
        console.print(Text.from_ansi(text), overflow="crop", no_wrap=True)
        svg = console.export_svg(title="", theme=theme, code_format=SVG, unique_id="terminal")
        (STATIC / f"terminal-{name}.svg").write_text(svg, "utf-8")


def write_report_page(page: Path) -> None:
    from PIL import Image

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("pictures: chromium must be installed")
    width, height = PAGE_SIZE
    for name, scheme in {"light": 1, "dark": 0}.items():
        picture = page.with_name(f"{name}.png")
        subprocess.run(
            [
                chromium,
                "--headless",
                "--no-sandbox",
                "--hide-scrollbars",
                f"--blink-settings=preferredColorScheme={scheme}",
                f"--window-size={width},{height}",
                f"--screenshot={picture}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )
        with Image.open(picture) as image:
            few = image.convert("RGB").quantize(48, dither=Image.Dither.NONE)
            few.save(STATIC / f"report-{name}.png", optimize=True)


def read_ratios(text: str) -> dict[str, list[float]]:
    """The rows of the table of ratios in a Markdown text: a measure, and its value by threads."""
    rows = re.findall(r"^\| ([^|]+) \| ([0-9.]+) \| ([0-9.]+) \|$", text, re.MULTILINE)
    return {measure: [float(one), float(two)] for measure, one, two in rows}


def write_speed(ratios: dict[str, list[float]]) -> None:
    """Bars of our time over PyTorch's: below the line at 1 ours is shorter."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    colours = {
        "light": ("#1f2328", "#0969da", "#80ccff"),
        "dark": ("#e6edf3", "#58a6ff", "#1f6feb"),
    }
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "extensor"})
    for name, (ink, *fills) in colours.items():
        figure = Figure(figsize=(8, 0.36 * len(ratios) + 0.8), layout="constrained")
        axes = figure.subplots()
        for thread, (fill, offset) in enumerate(zip(fills, (0.2, -0.2), strict=True)):
            at = [-i + offset for i in range(len(ratios))]
            values = [pair[thread] for pair in ratios.values()]
            label = f"{thread + 1} thread{'s' * thread}"
            bars = axes.barh(at, values, 0.38, color=fill, label=label)
            axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=8, color=ink)
        axes.axvline(1, color=ink, linewidth=1)
        labels = [measure.replace("`", "") for measure in ratios]
        axes.set_yticks([-i for i in range(len(ratios))], labels, color=ink)
        axes.set_xlim(0, 1.15)
        axes.set_xlabel("time of ExTensor / time of PyTorch", color=ink)
        axes.tick_params(colors=ink, length=0)
        axes.spines[:].set_visible(False)
        axes.set_ylim(0.5 - len(ratios), 0.5)
        figure.legend(loc="outside upper right", ncols=2, frameon=False, labelcolor=ink)
        content = BytesIO()
        figure.savefig(content, format="svg", transparent=True, metadata={"Date": None})
        (STATIC / f"speed-{name}.svg").write_bytes(content.getvalue())


if __name__ == "__main__":
    main()
