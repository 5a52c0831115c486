"""The documentation: its examples run, its links lead somewhere, its catalogue is up to date."""

from __future__ import annotations

import doctest
import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import test_ops
from commands import extensor

import extensor as ex
import extensor_cli
from extensor.core.op import OPS
from extensor.train.experiments.config import KEYS, read_config

ROOT = Path(__file__).parents[1]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [*GUIDES, *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG", "SECURITY"))]


def _named(page: Path) -> str:
    return str(page.relative_to(ROOT))


class MarkdownParser(doctest.DocTestParser):
    """Reads sessions from fenced blocks: to doctest a closing fence would be expected output.

    What stands in a block of a console after ``$ extensor`` is a call of ``command``; ``...`` in what
    it prints may be anything.
    """

    def parse(self, string: str, name: str = "<string>") -> Any:
        text = re.sub(r"^```console\n(.*?)^```$", _session, string, flags=re.DOTALL | re.MULTILINE)
        return super().parse(re.sub(r"^```.*$", "", text, flags=re.MULTILINE), name)


def _session(console: re.Match[str]) -> str:
    lines = [
        f">>> command({line[11:]!r})  # doctest: +ELLIPSIS"
        if line.startswith("$ extensor ")
        else line or "<BLANKLINE>"
        for line in console[1].splitlines()
    ]
    return "\n".join(["", *lines, ""])


def _command(line: str) -> None:
    """Run the command, and print what a person would see of it beside the progress."""
    *words, sign, file = ["", "", *shlex.split(line, comments=True)]
    if sign != ">":
        words, file = [*words, sign, file], ""
    result = extensor(*filter(None, words))
    if file and result.code == 0:
        Path(file).write_text(result.out, encoding="utf-8")
        return
    print(result.out if result.code == 0 else result.err, end="")


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture
def example() -> Iterator[dict[str, Any]]:
    """The worked example of CONTRIBUTING, defined: what its second block, the rows, holds."""
    blocks = re.findall(
        r"^```python\n(.*?)^```", _text("CONTRIBUTING.md"), re.DOTALL | re.MULTILINE
    )
    pair: dict[str, Any] = {"__name__": "extensor.ops.cubic"}
    rows: dict[str, Any] = {"__name__": "cases.cubic", "__package__": "cases"}
    exec(blocks[0], pair)
    exec(blocks[1], rows)
    names = ["cube", "cube_backward"]
    for name in names:
        setattr(ex, name, pair[name])
    yield rows
    del OPS["cube"]
    for name in names:
        delattr(ex, name)


def _tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", GUIDES, ids=_named)
def test_sessions_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("extensor.cli.report.write_plots", lambda _: None)  # most of the time
    before = ex.random.get_state()
    ex.random.manual_seed(0)  # as a session begins
    try:
        failed, _ = doctest.testfile(
            str(page),
            module_relative=False,
            globs={"command": _command},
            parser=MarkdownParser(),
            encoding="utf-8",
        )
    finally:
        ex.random.set_state(before)
    assert failed == 0


@pytest.mark.parametrize("page", GUIDES, ids=_named)
def test_commands_are_known(page: Path) -> None:
    """Each line that calls the command has arguments that it takes."""
    for line in re.findall(r"^ {4}extensor (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
        extensor_cli.parser().parse_args(shlex.split(line, comments=True))


def _tables(page: str) -> list[str]:
    return re.findall(r"^```toml\n(.*?)^```", _text(page), re.DOTALL | re.MULTILINE)


def test_configurations_are_known(tmp_path: Path) -> None:
    tables = _tables("docs/own_data.md")
    assert len(tables) == 3
    for table in tables:
        (tmp_path / "config.toml").write_text(table)
        read_config(tmp_path / "config.toml")


def test_all_keys_are_listed() -> None:
    text = _text("docs/own_data.md")
    keys = [*KEYS, *KEYS["data"]]
    assert [key for key in keys if f"`{key}`" not in text and f"`[{key}]`" not in text] == []


def test_first_configuration_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the file that the session before it makes."""
    test_sessions_run(ROOT / "docs" / "own_data.md", tmp_path, monkeypatch)
    Path("flowers.toml").write_text(_tables("docs/own_data.md")[0])
    result = extensor("train", "flowers.toml")
    assert result.code == 0, result.err
    assert float(result.out.split("test accuracy ")[1].split("%")[0]) > 80


def test_readme_has_a_session() -> None:
    assert len(MarkdownParser().get_examples(_text("README.md"))) >= 8


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\[[^]]+\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if not link.startswith("https://"):
            path, _, heading = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), link
            if heading:
                titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
                assert heading in [title.lower().replace(" ", "-") for title in titles], link


def test_catalogue_is_up_to_date() -> None:
    assert _text("docs/gradients.md") == _tool("catalogue").text(), "run tools/catalogue.py"


def test_every_pair_says_its_derivative() -> None:
    derivative = _tool("catalogue").derivative
    assert [name for name, op in OPS.items() if op.rule is not None and not derivative(op)[0]] == []


def test_decisions_are_all_listed() -> None:
    listed = re.findall(r"\]\(adr/([^)]+)\)", _text("docs/index.md"))
    assert listed == sorted(path.name for path in (ROOT / "docs" / "adr").glob("*.md"))


def test_worked_example_has_a_stub(
    example: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    stubs = _tool("stubs")
    assert stubs.function("cube", ex.cube)[0] == "def cube(x: TensorLike) -> Tensor:"
    assert stubs.function("cube_backward", ex.cube_backward)[0] == (
        "def cube_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:"
    )


def test_worked_example(example: dict[str, Any], rng: np.random.Generator) -> None:
    """Its docstring runs, and the tests that its rows would generate pass."""
    session = doctest.DocTestParser().get_doctest(ex.cube.__doc__, {}, "cube", None, None)
    assert doctest.DocTestRunner().run(session) == (0, 2)
    for case in example["CASES"]:
        for dtype in ("float32", "float64", "bfloat16"):
            test_ops.test_forward_of_floats(case, dtype, rng)
        test_ops.test_backward_against_differences(case, rng)
        test_ops.test_second_order_against_differences(case, rng)
        test_ops.test_scalars_and_empty(case, (0, 3), rng)
    for row in example["SINGULAR"]:
        test_ops.test_zero_in_zero_out(row, "float32")
    for row in example["ERRORS"]:
        test_ops.test_error_texts(row)
