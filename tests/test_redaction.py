"""Reports tell neither secrets of the command line nor whose folder a path leads through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import CONFIG, extensor, write_config, write_data

from extensor.io.redaction import redact, redact_command, redact_lines, without_home
from extensor.report import write_report
from extensor.train import RunFolder


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
        ('model={name="m:f", api_key="SEC, RET"}', 'model={name="m:f", api_key=***}'),
        ('model.options={password="x", n=1}', "model.options={password=***, n=1}"),
        ('data.headers={Authorization="Bearer x"}', "data.headers={Authorization=***}"),
        ("a={'api_keys' = ['x', 'y}'], b=1}", "a={'api_keys' = ***, b=1}"),
        ('{"password": "x\\"y", "n": 1}', '{"password": ***, "n": 1}'),
        ("mpiexec -x WANDB_API_KEY=abc -n 2", "mpiexec -x WANDB_API_KEY=*** -n 2"),
        ("mpiexec -x 'WANDB_API_KEY=a b' -n 2", "mpiexec -x 'WANDB_API_KEY=***' -n 2"),
        ("srun --token abc -n 2", "srun --token *** -n 2"),
        ("curl -H Authorization: Bearer x", "curl -H Authorization: ***"),
        ("api_keys=x", "api_keys=***"),
        ("data.tokens=x", "data.tokens=***"),
        ("tokens.wandb=x", "tokens.wandb=***"),
        ("passwords=x", "passwords=***"),
        ("pass=x", "pass=***"),
        ("apiKey=x", "apiKey=***"),
        ("signature=x", "signature=***"),
        ("password=12345", "password=***"),
        ("data={pin_key=123456}", "data={pin_key=***}"),
        ("https://h/a?X-Amz-Signature=ab&b=1", "https://h/a?X-Amz-Signature=***&b=1"),
        ("train=https://h/a?sig=ab%3D", "train=https://h/a?sig=***"),
    ],
)
def test_what_looks_like_a_secret(word: str, shown: str) -> None:
    assert redact(word) == shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    "word",
    ["tokens=byte", "--tokens", "optimizer.lr=0.1", "keyboard=a", "pad_token=0", "a.csv", "key",
     "https://host/a?x=1", "monitor=loss", "--set=tokens=byte", 'data={tokens="byte", n=1}',
     "bypass=a", "tokenizer=a", "sort_keys=true", "model.name=my.auth:build",
     "ask-me-for-something-long", "author=me"],
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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('secret = """\nab\ncd\n"""\nn = 1', "secret = ***\nn = 1"),
        ("secret = '''\nab\ncd'''\nn = 1", "secret = ***\nn = 1"),
        ('secret = """\nab', "secret = ***"),
        ('keys = [\n  "ab",\n  "cd",\n]\nn = 1', "keys = ***\nn = 1"),
        ('a = { n = 1, password = "ab" }\nn = 1', "a = { n = 1, password = *** }\nn = 1"),
        ('[data.tokens]\nab = "cd"\n[data]\nn = "1"', '[data.tokens]\nab = ***\n[data]\nn = "1"'),
        (r'settings = ["m={key=\"ab cd\", n=1}"]', 'settings = ["m={key=***, n=1}"]'),
        ('settings = ["data.token=ab cd", "n=1"]', 'settings = ["data.token=***", "n=1"]'),
    ],
)
def test_values_of_several_lines(text: str, shown: str) -> None:
    assert redact_lines(text) == shown
    assert redact_lines(shown) == shown


def test_files_and_pages_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("extensor.cli.report_command.write_plots", lambda _: None)
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
