"""Every page that the library writes has a strict content policy, and needs nothing that it forbids."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from commands import extensor, write_config, write_data

import extensor as ex
from extensor.report import document

SOURCES = Path(ex.__file__).parent


class Page(HTMLParser):
    """The policy of a page, its scripts, and all that it would fetch or run besides."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.policies: list[str] = []
        self.scripts: list[str] = []
        self.strange: list[tuple[str, str, Any]] = []
        self.is_script = False
        self.before_policy: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policies.append(given["content"] or "")
        elif not self.policies:
            self.before_policy.append(tag)
        if tag in ("iframe", "object", "embed", "form", "base"):
            self.strange.append((tag, "", ""))
        for name, value in attributes:
            is_fetch = name in ("src", "href", "xlink:href", "srcset", "action", "data")
            is_fetch = is_fetch and not (tag == "a" or (value or "").startswith("data:"))
            if name.startswith("on") or is_fetch:
                self.strange.append((tag, name, value))
        if tag == "script":
            self.is_script = True
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.is_script:
            self.scripts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self.is_script = False


def check_page(text: str) -> None:
    page = Page(text)
    (policy,) = page.policies
    assert set(page.before_policy) <= {"html", "head", "meta"}  # it holds for all that follows
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules.pop("default-src") == "'none'"
    assert rules.pop("img-src") == "data:"
    assert rules.pop("style-src") == "'unsafe-inline'"
    hashes = [f"'sha256-{b64encode(sha256(x.encode()).digest()).decode()}'" for x in page.scripts]
    assert rules.pop("script-src") == (" ".join(hashes) or "'none'")
    assert set(rules.values()) == {"'none'"}
    assert {"connect-src", "base-uri", "form-action"} == set(rules)
    assert page.strange == []


def test_all_pages_of_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("extensor.cli.report_command.write_plots", lambda _: None)
    write_data()
    write_config()
    for command in (
        "train config.toml --name a",
        "train config.toml --name b",
        "compare a b --output compared.html",
        "tune-lr config.toml --steps 20 --output rates.html",
        "sweep config.toml --set optimizer.lr=0.01..0.1 --trials 2 --name s --set epochs=1",
    ):
        result = extensor(*command.split())
        assert result.code == 0, result.err
    found = {str(path): path for path in sorted(tmp_path.rglob("*.html"))}
    names = {re.sub(r".*/", "", name) for name in found}
    assert names == {"report.html", "compared.html", "rates.html", "sweep.html"}
    for path in found.values():
        check_page(path.read_text())


def test_there_is_no_other_way_to_write_a_page() -> None:
    """What begins a page stands in one module, which states the policy."""
    begins = re.compile(r"<!doctype|<html|<head>|<body", re.IGNORECASE)
    found = [path for path in SOURCES.rglob("*.py") if begins.search(path.read_text())]
    assert [path.relative_to(SOURCES).as_posix() for path in found] == ["report/document.py"]


def test_a_policy_without_scripts_allows_none() -> None:
    assert "script-src 'none'" in document.content_policy()
    check_page(document.document("a", "", {}, []))
