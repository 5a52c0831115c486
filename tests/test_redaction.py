"""Reports tell neither secrets of the command line nor whose folder a path leads through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import CONFIG, extensor, write_config, write_data

from extensor.report import write_report
from extensor.train import RunFolder
from extensor.train.redaction import redact, redact_command, redact_lines, without_home


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("--token=abc", "--token=***"),
        ("data.password=abc def", "data.password=***"),
        ("WANDB_API_KEY=1234567890abcdef", "WANDB_API_KEY=***"),
        ("api-key=a", "api-key=***"),
        ("secret_key=a=b", "secret_key=***"),
        ("apikey=x", "apikey=***"),
        ('token = "abc"', "token = ***"),
        ("https://me:pw@host/a", "https://***@host/a"),
        ("https://host/a?x=1&token=abc&y=2", "https://host/a?x=1&token=***&y=2"),
        ("ghp_0123456789abcdefghij", "***"),
        ("--header=Bearer eyJhbGciOiJIUzI1NiJ9.e30.abc", "--header=Bearer ***"),
    ],
)
def test_what_looks_like_a_secret(word: str, shown: str) -> None:
    assert redact(word) == shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    "word",
    ["tokens=byte", "--tokens", "optimizer.lr=0.1", "keyboard=a", "pad_token=0", "a.csv", "key",
     "https://host/a?x=1", "monitor=loss", "ask-me-for-something-long", "author=me"],
)  # fmt: skip
def test_what_is_none(word: str) -> None:
    assert redact(word) == word


def test_a_value_that_follows_its_option() -> None:
    words = ["extensor", "train", "--api-key", "abc", "--name", "a", "--token"]
    assert redact_command(words) == [
        "extensor",
        "train",
        "--api-key",
        "***",
        "--name",
        "a",
        "--token",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/ann/a.csv", "~/a.csv"),
        ("train=/home/ann", "train=~"),
        ("'/home/ann/b' and /home/ann", "'~/b' and ~"),
        ("/home/anna/a.csv", "/home/anna/a.csv"),
        ("/mnt/home/ann/a", "/mnt/home/ann/a"),
    ],
)
def test_the_home_folder(text: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert without_home(text) == shown


def test_a_home_that_is_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    assert without_home("/a/b") == "/a/b"


def test_lines() -> None:
    text = "[data]\ntoken = 'a'\ntrain = 'b'\n"
    assert redact_lines(text) == "[data]\ntoken = ***\ntrain = 'b'\n"


def test_files_and_pages_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("extensor.cli.report.write_plots", lambda _: None)
    argv = [
        f"{tmp_path}/bin/extensor",
        "train",
        "--set",
        "data.token=abcdef",
        "--password",
        "hunter2",
    ]
    monkeypatch.setattr("sys.argv", argv)
    write_data()
    write_config(CONFIG.replace("data.npz", f"{tmp_path}/data.npz"))
    assert extensor("train", "config.toml", "--name", "a").code == 0
    run = RunFolder("runs/a")
    stored = run.machine.read_text()
    expected = ["~/bin/extensor", "train", "--set", "data.token=***", "--password", "***"]
    assert json.loads(stored)["command"] == expected
    # The configuration is what the run goes on with, so it stays as it is; the page does not.
    assert str(tmp_path) in run.config.read_text()
    assert str(tmp_path) not in (run.path / "report.html").read_text()
    assert "~/data.npz" in (run.path / "report.html").read_text()
    # A run of an earlier version has the whole command line.
    run.machine.write_text(json.dumps({"command": argv}))
    run.config.write_text(run.config.read_text() + '\n[augment]\npassword = "hunter2"\n')
    page = write_report(run).read_text()
    assert "hunter2" not in page
    assert "abcdef" not in page
    assert str(tmp_path) not in page


def test_the_page_of_a_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    from extensor.report.document import document, section

    text = document(
        f"{tmp_path}/a", f"in {tmp_path}", {f"{tmp_path}": "1"}, [section("a", f"{tmp_path}/b")]
    )
    assert str(tmp_path) not in text
