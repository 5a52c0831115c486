"""The documentation: its examples run, its links lead somewhere, its catalogue is up to date."""

from __future__ import annotations

import argparse
import contextlib
import doctest
import importlib
import importlib.util
import io
import json
import re
import shlex
import sys
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
from extensor.core.documentation import prose, split_derivative
from extensor.core.op import OPS
from extensor.experiments.spec import KEYS, read_config

ROOT = Path(__file__).parents[1]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Pages that a reader follows from top to bottom, commands included.
FOLLOWED = [
    ROOT / "README.md",
    *(page for page in GUIDES if page.parent.name in ("get_started", "tutorials")),
]
PAGES = [*GUIDES, *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG", "SECURITY"))]


def _named(page: Path) -> str:
    return str(page.relative_to(ROOT))


class MarkdownParser(doctest.DocTestParser):
    """Reads a page as its reader does: sessions, notebook cells and commands, in their order.

    In a block of a console, ``...`` stands for any output of the command. Commands in a ``shell``
    block are run as well on pages that ask readers to follow them, unless the page says ``not run``.
    """

    def __init__(self, with_commands: bool = False) -> None:
        self.with_commands = with_commands

    def parse(self, string: str, name: str = "<string>") -> Any:
        text = re.sub(r"^```console\n(.*?)^```$", _session, string, flags=re.DOTALL | re.MULTILINE)
        text = re.sub(
            r"^```\{code-cell\}.*?\n(.*?)^```$", _cell, text, flags=re.DOTALL | re.MULTILINE
        )
        shell = _commands if self.with_commands else "\n"
        text = re.sub(SHELL, shell, text, flags=re.DOTALL | re.MULTILINE)
        return super().parse(re.sub(r"^```.*$", "", text, flags=re.MULTILINE), name)


SHELL = r"^(<!-- not run[^\n]*-->\n)?```shell\n(.*?)^```$"


def _session(console: re.Match[str]) -> str:
    lines = [
        f">>> command({line[11:]!r})  # doctest: +ELLIPSIS"
        if line.startswith("$ extensor ")
        else line or "<BLANKLINE>"
        for line in console[1].splitlines()
    ]
    return "\n".join(["", *lines, ""])


def _cell(block: re.Match[str]) -> str:
    """A call that runs a cell of a notebook, without the options at its top."""
    code = re.sub(r"\A(:.*\n)+\n?", "", block[1])
    return f"\n>>> cell({code!r}, globals())\n\n"


def _commands(block: re.Match[str]) -> str:
    text = "" if block[1] else block[2].replace("\\\n", " ")
    lines = [line[9:] for line in text.splitlines() if line.startswith("extensor ")]
    return "\n".join(["", *(f">>> silent({line!r})" for line in lines), ""])


def _run_cell(code: str, variables: dict[str, Any]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "cell", "exec"), variables)


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


def _run_silently(line: str) -> None:
    """Run a command, for two epochs where the page leaves their number to the default."""
    words = shlex.split(line, comments=True)
    if words[0] == "train" and "epochs=" not in line:
        words += ["--set", "epochs=2"]
    result = extensor(*words)
    assert result.code == 0, result.err


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
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(
        "extensor.cli.report_command.write_plots", lambda _: None
    )  # most of the time
    before = ex.random.get_state()
    ex.random.manual_seed(0)  # as a session begins
    try:
        failed, _ = doctest.testfile(
            str(page),
            module_relative=False,
            globs={"command": _command, "silent": _run_silently, "cell": _run_cell},
            parser=MarkdownParser(page in FOLLOWED),
            encoding="utf-8",
        )
    finally:
        ex.random.set_state(before)
    assert failed == 0


@pytest.mark.parametrize("page", GUIDES, ids=_named)
def test_commands_are_known(page: Path) -> None:
    """Each line that calls the command has arguments that it takes."""
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"^ {4}extensor ", prose, re.MULTILINE), "commands stand in shell blocks"
    for block in re.findall(r"^```shell\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        for line in re.findall(r"^extensor (.*)$", block.replace("\\\n", " "), re.MULTILINE):
            extensor_cli.parser().parse_args(shlex.split(line, comments=True))


def _tables(page: str) -> list[str]:
    return re.findall(r"^```toml\n(.*?)^```", _text(page), re.DOTALL | re.MULTILINE)


def test_configurations_are_known(tmp_path: Path) -> None:
    tables = _tables("docs/guides/own_data.md")
    assert len(tables) == 3
    for table in tables:
        (tmp_path / "config.toml").write_text(table)
        read_config(tmp_path / "config.toml")


def test_all_keys_are_listed() -> None:
    text = _text("docs/guides/own_data.md")
    keys = [*KEYS, *KEYS["data"]]
    assert [key for key in keys if f"`{key}`" not in text and f"`[{key}]`" not in text] == []


def test_first_configuration_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the file that the session before it makes."""
    test_sessions_run(ROOT / "docs" / "guides" / "own_data.md", tmp_path, monkeypatch)
    Path("flowers.toml").write_text(_tables("docs/guides/own_data.md")[0])
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
                slugs = [re.sub(r"[^\w\- ]", "", x.lower()).replace(" ", "-") for x in titles]
                assert heading in slugs, link


def test_catalogue_is_up_to_date() -> None:
    assert _text("docs/reference/gradients.md") == _tool("catalogue").text(), (
        "run tools/catalogue.py"
    )


def test_every_pair_says_its_derivative() -> None:
    derivative = _tool("catalogue").derivative
    assert [name for name, op in OPS.items() if op.rule is not None and not derivative(op)[0]] == []


def test_formulas_of_derivatives_can_be_typeset(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    from docutils.utils.math.latex2mathml import tex2mathml

    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_extensions"))
    latex = importlib.import_module("formulas").latex
    assert latex("(a + b) / (2 * x_0**2)") == r"\frac{a + b}{2 \cdot {\mathrm{x\_0}}^{2}}"
    assert latex("2 * -x") == r"2 \cdot (-x)"
    assert latex("Phi(x) + x * Phi'(x)") == r"\Phi(x) + x \cdot \Phi'(x)"
    assert latex("1 / |x|") == r"\frac{1}{|x|}"
    assert latex("u = g @ b.T") == r"u = g \, {b}^{T}"
    assert latex("x") is None
    assert latex("one of two") is None
    texts = [split_derivative(prose(op.parameters.written))[1] for op in OPS.values()]
    formulas = [latex(code) for text in texts for code in re.findall("``(.+?)``", text)]
    assert len(list(filter(None, formulas))) > 100
    for formula in filter(None, formulas):
        tex2mathml(formula)


def test_decisions_are_all_listed() -> None:
    listed = re.findall(r"^\.\./adr/(.+)$", _text("docs/explanation/index.md"), re.MULTILINE)
    assert listed == sorted(path.stem for path in (ROOT / "docs" / "adr").glob("*.md"))


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """The extension that writes the reference pages."""
    path = ROOT / "docs" / "_extensions" / "reference.py"
    spec = importlib.util.spec_from_file_location("reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["reference"] = module  # where a postponed annotation is looked up
    spec.loader.exec_module(module)
    return module


def _public(module: ModuleType, seen: set[str]) -> Iterator[tuple[str, str]]:
    """Every public name of a package and of the packages that it exports."""
    seen.add(module.__name__)
    for name in module.__all__ if hasattr(module, "__all__") else []:
        value = getattr(module, name)
        if not isinstance(value, ModuleType):
            yield module.__name__, name
        elif value.__name__ not in seen:
            yield from _public(value, seen)


def test_every_public_name_has_a_page(reference: ModuleType) -> None:
    pages = dict(reference.all_pages())
    names = [*_public(ex, set()), *_public(importlib.import_module("extensor.report"), set())]
    names += [("extensor.nn.init", name) for name in reference.public_names(ex.nn.init)]
    assert len(names) > 500
    without = []
    for module, name in names:
        page = pages.get(
            f"{module}.{name}", pages.get(f"extensor.{name.removesuffix('_backward')}")
        )
        if page is None or not re.search(rf"::? {name}$", page, re.MULTILINE):
            without.append(f"{module}.{name}")
    assert without == []


def test_every_page_of_the_reference_is_listed(reference: ModuleType) -> None:
    pages = dict(reference.all_pages())
    listed = re.findall(r"^api/(.+)$", _text("docs/reference/index.md"), re.MULTILINE)
    listed += [
        x for page in pages.values() for x in re.findall(r"</reference/api/(.+)>$", page, re.M)
    ]
    listed += re.findall(r"^   (ops\..+)$", pages["ops"], re.MULTILINE)
    assert sorted(set(pages) - set(listed)) == []


def test_command_line_and_configuration_have_all_entries(reference: ModuleType) -> None:
    commands = reference.command_line()
    for name, parser in extensor_cli.parser().commands.choices.items():
        assert f"\nextensor {name}\n" in commands
        for action in parser._actions:
            if action.help not in (argparse.SUPPRESS, None) and action.dest != "help":
                assert all(f"``{option}" in commands for option in action.option_strings)
    page = reference.configuration(ROOT / "docs" / "guides" / "own_data.md")
    sections = re.split(r"^(.+)\n-+$", page, flags=re.MULTILINE)
    keys = {
        title: re.findall(r"\* - ``\[?(.+?)\]?``\n", text) for title, text in _in_pairs(sections)
    }
    for section in ("data", "early_stopping", "samples", "checkpoints", "clipping", "ema"):
        assert keys[f"[{section}]"] == list(KEYS[section])
    assert keys["Top level"] == list(KEYS)
    assert "``\n     - string\n     - \n" not in page, "a key of the guide has no meaning"


def test_the_search_is_checked(reference: ModuleType) -> None:
    terms = {"relu_backward": 0, "earli": [1, 2], "stop": [2], "learn": [0], "rate": 1}
    index = f"Search.setIndex({json.dumps({'terms': terms})})"
    assert reference.missing_words(index) == ["learning rate"]


def _in_pairs(parts: list[str]) -> Iterator[tuple[str, str]]:
    yield from zip(parts[1::2], parts[2::2], strict=True)


# Idiom that has to be read twice: a relative clause as subject, and some old-fashioned phrases.
CLAUSE = r"(?:^|\. |^- )What (?!is new)(?:[a-z' ]+ )?(?:is|are|was|does)\b(?![^.?]*\?)"
RIDDLES = (
    r"\bof one.s own\b|\bthose that\b|\bmust be there\b|\b(?:is|are) (?:said|told)\b|\bwhoever\b"
    r"|\bforetell\b|\bthat there is\b|\bgo(?:es)? on with\b"
)


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_the_english_is_plain(page: Path) -> None:
    prose = re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    found = [match[0] for match in re.finditer(CLAUSE, prose, re.MULTILINE)]
    found += [match[0] for match in re.finditer(RIDDLES, prose.replace("\n", " "), re.IGNORECASE)]
    assert found == []


def test_the_patterns_find_riddles() -> None:
    assert re.search(CLAUSE, "What is copied at a time fits into L1.")
    assert not re.search(CLAUSE, "What is the task? It is a column.")
    assert re.search(RIDDLES, "a run goes on with the next sample")


def test_readme_is_short_and_its_pictures_are_small() -> None:
    text = _text("README.md")
    assert len(text.splitlines()) <= 150
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert len(pictures) == 6
    for name in pictures:
        assert (ROOT / name).stat().st_size < 80_000
        assert 'src="http' not in (ROOT / name).read_bytes().decode("latin-1")


def test_readme_and_plot_have_the_published_figures() -> None:
    ratios = _tool("pictures").read_ratios(_text("benchmarks/README.md"))
    shown = _tool("pictures").read_ratios(_text("README.md"))
    assert len(shown) >= 5
    assert shown.items() <= ratios.items()
    for scheme in ("light", "dark"):
        plot = _text(f"docs/_static/speed-{scheme}.svg")
        for measure, values in ratios.items():
            assert measure.replace("`", "") in plot
            assert all(f">{value:.2f}</text>" in plot for value in values)


def test_worked_example_has_a_stub(
    example: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    stubs = _tool("stubs")
    assert stubs.function("cube", ex.cube)[0] == "def cube(x: TensorLike) -> Tensor:"  # type: ignore[attr-defined]
    assert stubs.function("cube_backward", ex.cube_backward)[0] == (  # type: ignore[attr-defined]
        "def cube_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:"
    )


def test_worked_example(example: dict[str, Any], rng: np.random.Generator) -> None:
    """Its docstring runs, and the tests that its rows would generate pass."""
    session = doctest.DocTestParser().get_doctest(ex.cube.__doc__, {}, "cube", None, None)  # type: ignore[attr-defined]
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
