"""What comes from data and configurations moves no cursor, and stays on its line."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import CONFIG, extensor, write_config, write_data

import extensor_cli
from extensor.errors import value_error
from extensor.errors.screen import screen_line, screen_text, shortened
from extensor.experiments.spec import read_config
from extensor.io.toml import as_toml
from extensor.train import Progress, RunFolder
from extensor_cli.streams import Lasting, Needed

ESCAPES = [
    "\x1b[2J",
    "\x9b31m",
    "\x07",
    "\r",
    "\x08",
    "\u202e",
    "\u2066",
    "\u2028",
    "\u200b",
    "\x7f",
]
HOSTILE = "[red]" + "".join(ESCAPES) + "\nextensor: all is well"
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("extensor.cli.report_command.write_plots", lambda _: None)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def check_screen(*texts: str) -> None:
    for text in texts:
        assert UNSAFE.search(text) is None, text
        assert not any(line.startswith("extensor: all is well") for line in text.splitlines())


@pytest.mark.parametrize("escape", ESCAPES)
def test_control_characters_are_shown(escape: str) -> None:
    shown = screen_text(f"a{escape}b")
    check_screen(shown)
    assert shown.isprintable()
    assert shown.startswith(("a\\x", "a\\u", "a\\r"))
    assert screen_text(shown) == shown


def test_ordinary_text_stays() -> None:
    text = "naïve Ωμέγα 日本語 עברית 👩\u200d🔬\tx\n\u00a0└ ⣿"
    assert screen_text(text) == text
    assert screen_line("a\n\tb") == r"a\n\tb"
    assert screen_text("\udcff") == r"\udcff"


@pytest.mark.parametrize("kind", [Lasting, Needed])
def test_streams_of_commands_are_safe_unless_they_are_exact(kind: Any) -> None:
    under = io.StringIO()
    stream = kind(under)
    print("a\x1b[2Jb", file=stream)
    stream.exact.write("\x1b[0m")
    assert under.getvalue() == "a\\x1b[2Jb\n\x1b[0m"


@pytest.fixture
def run() -> RunFolder:
    write_data()
    write_config()
    assert extensor("train", "config.toml", "--name", "a").code == 0
    run = RunFolder("runs/a")
    config = read_config(run.config)
    config["data"]["train"] = HOSTILE
    config["optimizer"] = {"name": "Adam", HOSTILE: HOSTILE}
    run.config.write_text(as_toml(config))
    records = [json.loads(line) for line in run.log.read_text().splitlines()]
    for record in records:
        if record["event"] == "epoch":
            record[HOSTILE] = 1.0
            record[f"validation_{HOSTILE}"] = 1.0
    run.log.write_text("".join(json.dumps(record) + "\n" for record in records))
    return run


def test_info(run: RunFolder) -> None:
    result = extensor("info", "a")
    assert result.code == 0, result.err
    assert r"\x1b[2J" in result.out
    assert "[red]" in result.out
    check_screen(result.out, result.err)


def test_compare(run: RunFolder) -> None:
    write_config(CONFIG + "[optimizer]\nname = 'SGD'\nlr = 0.1\n")
    assert extensor("train", "config.toml", "--name", "b").code == 0
    result = extensor("compare", "a", "b")
    assert result.code == 0, result.err
    assert r"\x1b[2J" in result.out
    check_screen(result.out, result.err)


def test_errors_and_what_is_asked_for(run: RunFolder) -> None:
    for words in (["info", HOSTILE], ["train", HOSTILE], ["train", "--task", HOSTILE]):
        try:
            result = extensor(*words)
        except SystemExit:
            continue  # of the parser, which test_a_wrong_command_line looks at
        assert result.code == 2
        check_screen(result.out, result.err)


def test_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        extensor_cli.main(["train", "--targt\x1b[2J" + "a" * 9000])
    error = capsys.readouterr().err
    check_screen(error)
    assert len(error) < 5000


def test_the_configuration_of_a_run_is_safe_to_look_at() -> None:
    text = as_toml({"data": {"train": HOSTILE, HOSTILE: "\U000e0041"}})
    check_screen(text)
    import tomllib

    assert tomllib.loads(text) == {"data": {"train": HOSTILE, HOSTILE: "\U000e0041"}}


@pytest.fixture
def table() -> str:
    rng = np.random.default_rng(0)
    names = ["=1+1", "a\x9b31m\u202e"]
    rows = [f"{x:.3f},{y:.3f},{names[int(x > 0)]}" for x, y in rng.normal(size=(60, 2))]
    Path("a.csv").write_text("\n".join(["x,[red]\u202e,kind", *rows]) + "\n")
    return "a.csv"


def test_predict(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal it is safe in each form; a pipe and a file get the very data."""
    result = extensor("train", table, "--target", "kind", "--name", "t", "--set", "epochs=2")
    assert result.code == 0, result.err
    check_screen(result.out, result.err)
    for form in ("csv", "json", "table"):
        piped = extensor("predict", "t", table, "--format", form)
        assert piped.code == 0, piped.err
        assert ("\u202e" in piped.out) == (form != "table")
        assert extensor("predict", "t", table, "--output", f"p.{form}").code == 0 or form == "table"
        if form != "table":
            assert Path(f"p.{form}").read_text() == piped.out
        screen = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", screen)
            assert extensor_cli.main(["predict", "t", table, "--format", form]) == 0
        lines = re.sub(r"\x1b\[[\d;]*m", "", screen.getvalue())  # colours of the table itself
        check_screen(lines)


def test_progress_and_samples() -> None:
    stream = io.StringIO()
    Progress(stream).say(f"sample {HOSTILE}")
    text = stream.getvalue()
    assert UNSAFE.search(text) is None
    assert text.startswith("sample [red]\\x1b[2J")


# Formulas


FORMULAS = ["=1+1", "+a", "-a", "@SUM(A1)", "\t=1", "\r=1", "  =1"]


def test_formulas_in_csv() -> None:
    from extensor.train import Predictions

    numbers = ["-1.5", "+2", "-1e-3", "1"]
    words = [*FORMULAS, *numbers, "a=1", "'x"]
    found = Predictions({"=n": words, "p": [-0.5] * len(words), "l": [["=a", "b"]] * len(words)})
    plain = list(csv.reader(io.StringIO(found.csv(), newline="")))
    assert [row[0] for row in plain] == ["=n", *words]
    safe = list(csv.reader(io.StringIO(found.csv(safe=True), newline="")))
    expected = ["'=n", *(f"'{x}" for x in FORMULAS), *numbers, "a=1", "'x"]
    assert [row[0] for row in safe] == expected
    assert {row[1] for row in safe[1:]} == {"-0.5"}
    assert {row[2] for row in safe[1:]} == {"'=a;b"}


def test_the_option_for_spreadsheets(table: str) -> None:
    assert (
        extensor("train", table, "--target", "kind", "--name", "t", "--set", "epochs=1").code == 0
    )
    plain = extensor("predict", "t", table).out
    safe = extensor("predict", "t", table, "--safe-csv").out
    assert "=1+1" in plain
    assert ",=1+1" not in safe
    assert re.sub(r"(^|,)'(?==)", r"\1", safe, flags=re.MULTILINE) == plain
    assert extensor("predict", "t", table, "--safe-csv", "--output", "p.csv").code == 0
    assert Path("p.csv").read_text() == safe
    result = extensor("predict", "t", table, "--safe-csv", "--format", "json")
    expected = "extensor predict: --safe-csv: is for tables in CSV, got format='json'\n"
    assert (result.code, result.err) == (2, expected)


# Depth and length


DEEP = 20_000


@pytest.mark.parametrize(
    "text",
    [
        f"a = {'[' * DEEP}{']' * DEEP}\n",
        f"a = {'{a=' * DEEP}1{'}' * DEEP}\n",
        f"[model]\n{'.'.join(['a'] * DEEP)} = 1\n",
        f"[{'.'.join(['model'] * DEEP)}]\na = 1\n",
        f"a = {'[' * 60}{']' * 60}\n",
    ],
)
def test_a_deep_configuration(text: str) -> None:
    Path("config.toml").write_text(text)
    result = extensor("train", "config.toml")
    expected = "config: tables and lists must be at most 50 deep, got path='config.toml'"
    assert (result.code, result.err) == (2, f"extensor train: {expected}\n")
    Path("s").mkdir()
    Path("s/sweep.toml").write_text(text)
    assert extensor("sweep", "--resume", "s").code == 2


def test_a_configuration_that_holds_itself() -> None:
    config: dict[str, Any] = {"data": {}}
    config["data"]["columns"] = [config, config]
    with pytest.raises(ValueError, match="config: tables and lists must be at most 50 deep"):
        read_config(config)


def test_a_value_that_is_deep_on_the_command_line() -> None:
    write_data()
    write_config()
    result = extensor("train", "config.toml", "--set", f"model.a={'[' * DEEP}{']' * DEEP}")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "--set: a value must be written as in TOML" in result.err
    assert len(result.err) < 5000


@pytest.mark.parametrize("line", ["[" * 100_000, f'{{"a": {"9" * 5000}}}', "[1]", "1"])
def test_a_damaged_log(line: str) -> None:
    write_data()
    write_config()
    assert extensor("train", "config.toml", "--name", "a").code == 0
    run = RunFolder("runs/a")
    records = run.log.read_text()
    run.log.write_text(f"{line}\n{records}")
    for command in ("info", "report"):
        result = extensor(command, "a")
        assert result.code == 2
        assert (
            "each line of the log must be a record in JSON, got path='runs/a/log.jsonl', line=1"
            in result.err
        )
    run.log.write_text('{"a": 1}\n')
    assert "0 of 2" in extensor("info", "a").out
    run.log.write_text(records)
    run.machine.write_text("[" * 100_000)
    result = extensor("report", "a")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "file must be a table in JSON" in result.err


def test_long_messages_are_shortened() -> None:
    names = [f"name {i}" for i in range(100_000)]
    text = str(value_error("f", f"x must be one of {names}", names=names, name="a" * 10**6))
    assert len(text) < 5000
    assert "characters)" in text
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "abc... (4 characters)"
    Path("a.csv").write_text(",".join(["a"] * 20_000) + "\n" + ",".join(["1"] * 20_000) + "\n")
    result = extensor("train", "a.csv")
    assert result.code == 2
    assert len(result.err) < 5000


def test_a_message_without_control_characters() -> None:
    text = str(value_error("f", f"no {HOSTILE}", a=HOSTILE))
    check_screen(text)
    assert "\n" not in text


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RecursionError("maximum recursion depth exceeded"), "the input is nested too deeply"),
        (MemoryError(), "there is not enough memory"),
        (ValueError("x" * 100_000), "xxx"),
    ],
)
def test_no_error_of_an_input_shows_the_code(
    error: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> None:
        raise error

    monkeypatch.setattr("extensor.cli.info.run", fail)
    result = extensor("info")
    assert result.code == 2
    assert result.err.startswith(f"extensor info: {words}")
    assert len(result.err) < 5000
