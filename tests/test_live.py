"""The page of a run while it is trained: to this machine only, and training never suffers from it."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.client
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import extensor, files, write_config, write_data
from own_files import write_table

from extensor.cli import live, live_server
from extensor.cli.live import LivePage
from extensor.cli.live_server import ADDRESS
from extensor.train import Checkpoints, Progress, RunFolder, read_log


@pytest.fixture(autouse=True)
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[LivePage]:
    """The pages that were opened."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "extensor.cli.report_command.write_plots", lambda _: None
    )  # most of the time
    monkeypatch.setattr(live, "POLL", 0.01)  # how long the last page is kept for a browser
    opened: list[LivePage] = []
    original = LivePage.__init__

    def noted(self: LivePage, *arguments: Any) -> None:
        original(self, *arguments)
        opened.append(self)

    monkeypatch.setattr(LivePage, "__init__", noted)
    write_data()
    write_config()
    return opened


class Answer:
    """What the server says to one request."""

    def __init__(
        self,
        page: LivePage,
        path: str | None = None,
        method: str = "GET",
        hosts: list[str] | None = None,
    ) -> None:
        port = page.port
        connection = http.client.HTTPConnection(ADDRESS, port, timeout=10)
        where = page.address.partition(str(port))[2] if path is None else path
        try:
            connection.putrequest(method, where, skip_host=True)
            for host in [f"{ADDRESS}:{port}"] if hosts is None else hosts:
                connection.putheader("Host", host)
            connection.endheaders()
            response = connection.getresponse()
            self.status = response.status
            self.headers = response.headers
            self.text = response.read().decode()
        finally:
            connection.close()


@pytest.fixture
def run() -> RunFolder:
    """A run that is over."""
    assert extensor("train", "config.toml", "--name", "a").code == 0
    return RunFolder("runs/a")


@pytest.fixture
def page(run: RunFolder) -> Iterator[LivePage]:
    opened = LivePage(run, 0)
    yield opened
    opened.close(False)


def _epochs(text: str) -> int:
    found = re.search(r"<b>(\d+)</b>epochs", text)
    return 0 if found is None else int(found[1])


def test_the_page_is_renewed_after_each_epoch(
    pages: list[LivePage], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, str]] = []

    def ask(progress: Progress, trainer: Any, record: Any) -> None:
        if record["step"] % 6 == 1:  # the first of an epoch
            answer = Answer(pages[0])
            assert answer.status == 200
            seen.append((_epochs(answer.text), answer.headers["ETag"]))
            assert "<script data-mark=" in answer.text

    monkeypatch.setattr(Progress, "step_ended", ask)
    result = extensor("train", "config.toml", "--name", "a", "--live", "0", "--set", "epochs=3")
    assert result.code == 0, result.err
    assert result.out.splitlines()[0] == f"live page   {pages[0].address}"
    assert [epochs for epochs, _ in seen] == [0, 1, 2]
    assert len({mark for _, mark in seen}) == 3
    # It ended with training.
    with pytest.raises(ConnectionRefusedError):
        Answer(pages[0])


def test_training_is_the_same_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert extensor("train", "config.toml", "--name", "a").code == 0
    assert extensor("train", "config.toml", "--name", "b", "--live", "0").code == 0
    first, second = (Checkpoints(f"runs/{name}/checkpoints").latest() for name in "ab")
    assert first is not None
    assert second is not None
    assert first.read_bytes() == second.read_bytes()
    names = [{path.name for path in Path(f"runs/{name}").iterdir()} for name in "ab"]
    assert names[0] == names[1]
    for name in "ab":
        assert "<script data-mark=" not in Path(f"runs/{name}/report.html").read_text()
    assert Path("runs/b/config.toml").read_text() == Path("runs/a/config.toml").read_text()


def test_a_file_of_data(pages: list[LivePage], monkeypatch: pytest.MonkeyPatch) -> None:
    """While it trains the page has the best epoch so far, and when it is over what the test gave."""
    seen: list[dict[str, str]] = []

    def facts(text: str) -> dict[str, str]:
        return {
            name: value for value, name in re.findall(r"<div><b>([^<]*)</b>([^<]*)</div>", text)
        }

    def ask(progress: Progress, trainer: Any, record: Any) -> None:
        if trainer.step % 8 == 1:  # the first of an epoch
            seen.append(facts(Answer(pages[0]).text))

    monkeypatch.setattr(Progress, "step_ended", ask)
    monkeypatch.setattr(live_server, "_PORT", 0)  # any
    changes = [word for x in ("epochs=4", "data.batch_size=8") for word in ("--set", x)]
    result = extensor("train", "--live", write_table(), "--name", "a", *changes)
    assert result.code == 0, result.err
    *epochs, test = (x for x in read_log("runs/a/log.jsonl") if x["event"] in ("epoch", "test"))
    assert test["event"] == "test"
    assert (len(epochs), len(seen)) == (4, 4)
    for past, found in enumerate(seen):
        known = epochs[:past]
        best = min(known, key=lambda record: record["validation_loss"])["epoch"] if known else None
        assert found.get("best epoch") == (str(best) if known else None)
        assert not any(name.startswith("test ") for name in found)
    last = facts(Path("runs/a/report.html").read_text())
    best = min(epochs, key=lambda record: record["validation_loss"])
    assert last["best epoch"] == str(best["epoch"])
    assert last["epochs"] == "4"
    assert last["validation accuracy"] == f"{best['validation_accuracy']:.2%}"
    assert last["training accuracy"] == f"{best['accuracy']:.2%}"
    assert last["test accuracy"] == f"{test['accuracy']:.2%}"
    assert f"test accuracy {last['test accuracy']}\n" in extensor("evaluate", "a").out


def test_a_run_that_goes_on_has_it_too(pages: list[LivePage], run: RunFolder) -> None:
    assert extensor("train", "--resume", "a", "--live", "0", "--set", "epochs=3").code == 0
    assert len(pages) == 1


def test_only_this_machine_may_read_it(page: LivePage) -> None:
    assert page._server.socket.getsockname() == ("127.0.0.1", page.port)
    for host in (f"127.0.0.1:{page.port}", f"localhost:{page.port}", f"LOCALHOST:{page.port}"):
        assert Answer(page, hosts=[host]).status == 200
    own = f"127.0.0.1:{page.port}"
    for hosts in (
        [],
        [""],
        ["evil.example"],
        [f"evil.example:{page.port}"],
        [f"localhost.evil.example:{page.port}"],
        ["localhost"],
        ["localhost:1"],
        [own, "evil.example"],
        [own, own],
    ):
        answer = Answer(page, hosts=hosts)
        assert (answer.status, answer.text) == (403, ""), hosts


@pytest.mark.parametrize(
    "path",
    ["/config.toml", "/log.jsonl", "/../report.html", "/runs/", "/%2e/", "x", "/.."],
)
def test_there_is_nothing_but_the_page(page: LivePage, path: str) -> None:
    for place in (path, page.address.partition(str(page.port))[2] + path.lstrip("/")):
        answer = Answer(page, place)
        assert (answer.status, answer.text) == (404, "")


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_it_can_only_be_got(page: LivePage, method: str) -> None:
    assert Answer(page, method=method).status == 501


def test_headers_keep_others_out(page: LivePage) -> None:
    answer = Answer(page, page.address.partition(str(page.port))[2] + "?x=1")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Server"].strip() == "extensor"
    assert answer.headers["Access-Control-Allow-Origin"] is None


def test_nothing_is_written_into_the_run(page: LivePage) -> None:
    before = files()
    assert _epochs(Answer(page).text) == 2
    assert files() == before
    page.close(False)
    assert files() == before


def test_it_asks_for_a_newer_page_by_the_mark_of_this_one(page: LivePage) -> None:
    answer = Answer(page)
    assert f"<script data-mark={answer.headers['ETag']}>" in answer.text
    assert answer.headers["X-Last"] is None


def test_only_the_scripts_of_the_page_may_run(page: LivePage, run: RunFolder) -> None:
    """A script that came into the page with its content has no hash in the policy."""
    injected = "<script>one()</script>\n</body>"
    Answer(page)
    page._page = page._page.replace("</body>", injected)
    answer = Answer(page)
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", answer.text, re.DOTALL)
    assert len(scripts) == 3
    policy = answer.headers["Content-Security-Policy"]
    hashes = [base64.b64encode(hashlib.sha256(x.encode()).digest()).decode() for x in scripts]
    assert [f"'sha256-{digest}'" in policy for digest in hashes] == [True, False, True]
    assert policy.count("sha256-") == 2
    assert re.search("script-src 'sha256-[^']*' 'sha256-[^']*'; connect-src 'self';", policy)
    # The page says the same of itself.
    own = policy.removesuffix("; frame-ancestors 'none'")
    assert f'content="{own}"' in answer.text


def test_before_the_log_begins() -> None:
    page = LivePage(RunFolder("runs/new"), 0)
    try:
        answer = Answer(page)
        assert (answer.status, "Training begins." in answer.text) == (200, True)
        assert "<script data-mark=" in answer.text
    finally:
        page.close(False)


def test_whoever_looks_gets_the_last_page(page: LivePage, monkeypatch: pytest.MonkeyPatch) -> None:
    """And that asks for no other: it is the report as it lies in the folder."""
    monkeypatch.setattr(live, "POLL", 10.0)
    Answer(page)
    closing = threading.Thread(target=page.close, args=(True,))
    closing.start()
    for _ in range(1000):
        if page._is_finished:
            break
        time.sleep(0.001)
    answer = Answer(page)
    report = Path("runs/a/report.html").read_text()
    assert answer.text == report
    own = re.findall(r"'sha256-[^']*'", report)
    assert len(own) == 1
    assert own[0] in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Last"] == "1"
    closing.join(10)
    assert not closing.is_alive()


def test_a_port_that_is_taken() -> None:
    with socket.socket() as other:
        other.bind((ADDRESS, 0))
        other.listen()
        port = other.getsockname()[1]
        before = files()
        result = extensor("train", "config.toml", "--name", "a", "--live", port)
    expected = f"--live: the port must be free (address already in use), got port={port}"
    assert (result.code, result.err) == (2, f"extensor train: {expected}\n")
    assert files() == before
    assert not Path("runs").exists()


def test_without_a_port_the_next_one_that_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind((ADDRESS, 0))
        other.listen()
        port = other.getsockname()[1]
        monkeypatch.setattr(live_server, "_PORT", port)
        monkeypatch.setattr(live_server, "_PORTS", 1)
        result = extensor("train", "config.toml", "--live")
        assert (result.code, "--live: a port must be free" in result.err) == (2, True)
        monkeypatch.setattr(live_server, "_PORTS", 50)
        page = LivePage(RunFolder("runs/a"))
        page.close(False)
        assert port < page.port < port + 50


@pytest.mark.parametrize("port", ["65536", "-1", "99999999", "\uff18\uff10"])
def test_what_is_no_port_is_refused(port: str) -> None:
    result = extensor("train", "config.toml", f"--live={port}")
    expected = f"--live: the port must be from 0 to 65535, got port={port!r}"
    assert (result.code, result.err) == (2, f"extensor train: {expected}\n")
    assert not Path("runs").exists()


def test_the_configuration_may_follow(pages: list[LivePage], monkeypatch: Any) -> None:
    monkeypatch.setattr(live_server, "_PORT", 0)  # any
    result = extensor("train", "--live", "config.toml", "--name", "a")
    assert result.code == 0, result.err
    assert Path("runs/a/report.html").exists()
    assert len(pages) == 1


def test_training_does_not_suffer_from_errors(
    pages: list[LivePage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no room")

    def ask(progress: Progress, trainer: Any, record: Any) -> None:
        assert Answer(pages[0]).status == 503

    monkeypatch.setattr(live, "run_page", fail)
    monkeypatch.setattr(Progress, "step_ended", ask)
    result = extensor("train", "config.toml", "--name", "a", "--live", "0")
    assert result.code == 0
    said = [line for line in result.err.splitlines() if "--live" in line]
    assert said == ["--live: the page could not be served (no room); training continues"]
    assert Path("runs/a/report.html").exists()


def test_a_browser_that_goes_away_is_not_spoken_of(
    page: LivePage, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(3):
        with socket.create_connection((ADDRESS, page.port), timeout=10) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
    assert Answer(page).status == 200
    assert capsys.readouterr().err == ""


def _wait(condition: Any) -> None:
    """Until ``condition`` holds, ten seconds at most."""
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_who_does_not_know_the_token_learns_nothing(page: LivePage) -> None:
    token = page.address.split("/")[3]
    assert len(token) >= 40
    wrong = ("/", "/report.html", f"/{token}", f"/{token[:-1]}/", f"/x{token[1:]}/")
    for path in (*wrong, f"/?{token}", f"/{token}/report.html", f"/{token.swapcase()}/"):
        answer = Answer(page, path)
        assert (answer.status, answer.text, answer.headers["ETag"]) == (404, "", None), path
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    other = LivePage(page._run, 0)
    other.close(False)
    assert token not in other.address


def test_slow_clients_take_few_connections(
    page: LivePage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """More than a few are turned away, and the others are ended though they send a byte at times."""
    monkeypatch.setattr(live_server, "_REQUEST_SECONDS", 0.5)
    server = page._server
    clients = [socket.create_connection((ADDRESS, page.port), timeout=10) for _ in range(60)]
    try:
        _wait(lambda: server._deadlines)
        assert len(server._deadlines) <= live_server._MOST_CONNECTIONS

        def drip() -> bool:
            for client in clients:
                with contextlib.suppress(OSError):
                    client.send(b"G")
            assert len(server._deadlines) <= live_server._MOST_CONNECTIONS
            return not server._deadlines

        _wait(drip)
        assert Answer(page).status == 200
    finally:
        for client in clients:
            client.close()
    assert capsys.readouterr().err == ""


def test_a_client_that_knows_the_token_has_time_for_the_answer(
    page: LivePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_server, "_REQUEST_SECONDS", 0.05)
    render = page.page

    def slowly() -> Any:
        time.sleep(0.4)
        return render()

    monkeypatch.setattr(page._server, "render", slowly)
    assert Answer(page).status == 200


@pytest.mark.parametrize(
    "request_text",
    [
        b"GET /" + b"a" * 20_000,
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 3000,
        b"GET / HTTP/1.1\r\nA: " + b"b" * 20_000 + b"\r\n\r\n",
    ],
)
def test_a_long_request_is_dropped(page: LivePage, request_text: bytes) -> None:
    answer = b""
    with socket.create_connection((ADDRESS, page.port), timeout=10) as client:
        with contextlib.suppress(OSError):
            client.sendall(request_text)
        with contextlib.suppress(ConnectionResetError):
            while content := client.recv(1000):
                answer += content
    assert b"<" not in answer
    assert (answer == b"") or answer.startswith(b"HTTP/1.0 431 ")
    assert Answer(page).status == 200


@pytest.mark.parametrize(
    "request_text", [b"GET / HTTP/1.1\r\n" + 200 * b"A: b\r\n", b"POST / HTTP/1.1\r\n\r\n"]
)
def test_a_wrong_request_gets_no_page(page: LivePage, request_text: bytes) -> None:
    with socket.create_connection((ADDRESS, page.port), timeout=10) as client:
        client.sendall(request_text)
        answer = client.makefile("rb").read()
    assert re.match(rb"HTTP/1.0 (431|501) ", answer)
    assert b"Content-Security-Policy: default-src 'none'" in answer
    assert b"<" not in answer


@pytest.mark.parametrize("failing", ["serve_forever", "shutdown", "get_request"])
def test_training_does_not_end_with_its_server(
    failing: str, monkeypatch: pytest.MonkeyPatch, pages: list[LivePage]
) -> None:
    original = getattr(live_server.PageServer, failing)

    def fail(server: Any, *arguments: Any) -> None:
        if failing == "shutdown":
            original(server)
        raise OSError(24, "Too many open files")

    def ask(progress: Progress, trainer: Any, record: Any) -> None:
        if failing == "get_request" and record["step"] == 1:
            socket.create_connection((ADDRESS, pages[0].port), timeout=10).close()

    monkeypatch.setattr(live_server.PageServer, failing, fail)
    monkeypatch.setattr(Progress, "step_ended", ask)
    result = extensor("train", "config.toml", "--name", "a", "--live", "0")
    assert result.code == 0, result.err
    assert Path("runs/a/report.html").exists()
    assert result.err.count("Too many open files") == (failing != "get_request")


def test_training_begins_without_a_page_if_there_can_be_none(monkeypatch: Any) -> None:
    def fail(*_: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(live, "open_server", fail)
    result = extensor("train", "config.toml", "--name", "a", "--live", "0")
    assert result.code == 0
    text = "--live: no page is served ([Errno 28] No space left on device); training continues"
    assert text in result.err
