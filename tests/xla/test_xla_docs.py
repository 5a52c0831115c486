"""The code on the page about accelerators runs, block after block."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "accelerators.md"
ALONE = "# run.py\n"  # how the program begins that runs without ExTensor

# An import of the library fails, in whatever way it is installed.
RUN_ALONE = """
import runpy, sys
sys.modules["extensor"] = None
runpy.run_path("run.py", run_name="__main__")
assert not any(name.startswith("extensor.") for name in sys.modules)
"""


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    here = [block for block in blocks if not block.startswith(ALONE)]
    (alone,) = [block for block in blocks if block.startswith(ALONE)]
    assert len(here) == 3
    variables: dict[str, Any] = {"__name__": "page"}
    for block in here:
        exec(compile(block, str(PAGE), "exec"), variables)
    assert len(variables["history"]) == 2
    Path("run.py").write_text(alone, "utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", RUN_ALONE], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    said = re.fullmatch(r"the losses are \[(.*)\]\n", done.stdout)
    assert said is not None
    losses = [float(word) for word in said[1].split(", ")]
    assert losses == pytest.approx(variables["losses"], rel=1e-4)


def test_the_table_of_times_has_the_rows_that_its_benchmark_prints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = PAGE.parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    benchmark = runpy.run_path(str(folder / "xla_cpu.py"))
    table = PAGE.read_text("utf-8").partition(benchmark["HEADER"] + "\n")[2].partition("\n\n")[0]
    cases = benchmark["cases"]()
    titles = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[1:]]
    assert titles == [case.title for case in cases.values()]
    row = benchmark["row"](cases["mlp"], 0.0)  # which compares the results as well
    assert re.fullmatch(r"\| MLP 64-32-10, .* \| \S+ ms \| \S+ ms \| \S+ \| \S+ s \|", row)
