"""``extensor train --live``: the page of a run in the browser while it is trained.

Only this machine can read it: the server listens on the loopback address, and answers only those who
asked for it by that address or as ``localhost``. Whoever makes the name of a page of his own lead
here has that name in the ``Host`` of the request.
"""

from __future__ import annotations

import argparse
import errno
import re
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from extensor.errors import value_error
from extensor.report import write_report
from extensor.train import RunFolder

ADDRESS = "127.0.0.1"
_PORT = 8000
_PORTS = 100  # that are tried if nobody asked for a certain one
_HOSTS = (ADDRESS, "localhost")
_PATHS = ("/", "/report.html")
_PATIENCE = 5.0  # seconds, for a browser that connects and says nothing
_POLL = 1.0  # seconds between two questions of the page
_CLOSING = 0.1  # seconds until the server notices that it is to end
_WAITING = "<!doctype html>\n<title>Training</title><body><p>Training begins.</p></body>\n"
# The last page is put in place of this one, as nobody will answer when that is asked for again.
_SCRIPT = """
(() => {
  const known = document.currentScript.dataset.mark;
  const ask = async () => {
    try {
      const answer = await fetch(location.pathname, {cache: "no-store"});
      const {ok, headers} = answer;
      if (ok && headers.get("ETag") !== `"${known}"`) {
        if (!headers.has("X-Last")) { location.reload(); return; }
        const [page, place] = [await answer.text(), scrollY];
        document.open(); document.write(page); document.close();
        scrollTo(0, place);
        return;
      }
    } catch { return; }  // training is over: what is shown stays
    setTimeout(ask, POLL);
  };
  setTimeout(ask, POLL);
})();
""".replace("POLL", str(int(1000 * _POLL)))
_SCRIPTS = re.compile(r"<script[^>]*>(.*?)</script>", re.DOTALL)
# What the page says itself would not let it ask; the answer says the same of all else.
_OWN_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Shown(NamedTuple):
    """A page, a mark of its content, and whether it is the last one."""

    text: str
    mark: str
    is_last: bool


class LivePage:
    """Serves the page of ``run`` from threads of its own, until it is closed.

    It is made when somebody asks for it and the log is longer than before, and never in the folder
    of the run: so training does not notice.
    """

    def __init__(self, run: RunFolder, port: int | None = None) -> None:
        self._lock = threading.Lock()
        self._run = run
        self._seen: Any = None
        self._page = _WAITING
        self._is_finished = False
        self._asked = float("-inf")  # when somebody last did
        self._gave_last = threading.Event()
        self._has_complained = False
        self._place = TemporaryDirectory(prefix="extensor-live-")
        try:
            self._server = _opened(port, self)
        except BaseException:
            self._place.cleanup()
            raise
        self.port = int(self._server.server_address[1])
        self.address = f"http://{ADDRESS}:{self.port}/"
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(_CLOSING,), daemon=True)
        self._thread.start()

    def page(self) -> Shown:
        """The page as it is now; with what asks for a newer one, if it is not the last."""
        with self._lock:
            self._asked = time.monotonic()
            if self._is_finished:
                path = self._run.path / "report.html"
                self._page = path.read_text(encoding="utf-8")
                self._gave_last.set()
            else:
                self._renew()
            text, is_last = _OWN_POLICY.sub("", self._page), self._is_finished
        mark = sha256(text.encode()).hexdigest()[:16]
        head, end, tail = text.rpartition("</body>")
        script = "" if is_last else f'<script data-mark="{mark}">{_SCRIPT}</script>'
        return Shown(f"{head}{script}{end}{tail}", mark, is_last)

    def _renew(self) -> None:
        seen = self._stamp()
        if seen is not None and seen != self._seen:
            self._page = write_report(self._elsewhere()).read_text(encoding="utf-8")
            self._seen = seen

    def _stamp(self) -> tuple[int, int] | None:
        """Another when the log is longer; None before there is one."""
        if not self._run.machine.exists() or not self._run.log.exists():
            return None
        status = self._run.log.stat()
        return status.st_size, status.st_mtime_ns

    def _elsewhere(self) -> RunFolder:
        """The same run, for a report that is not to lie in its folder."""
        place = Path(self._place.name) / self._run.path.name
        place.mkdir(exist_ok=True)
        view = RunFolder(place)
        vars(view).update({**vars(self._run), "path": place})
        return view

    def complain(self, error: BaseException) -> None:
        """Say once that something failed here."""
        if not self._has_complained:
            self._has_complained = True
            with suppress(Exception):
                text = f"--live: the page could not be given ({error}); training goes on"
                print(text, file=sys.stderr)

    def close(self, finished: bool) -> None:
        """End; if the report is ``finished``, whoever is looking at the page gets it first."""
        with self._lock:
            self._is_finished = finished
            is_watched = time.monotonic() - self._asked < 3 * _POLL
        if finished and is_watched:
            self._gave_last.wait(2 * _POLL)
        self._server.shutdown()
        self._thread.join(_PATIENCE)  # which may not even have begun
        self._server.server_close()
        with suppress(OSError):
            self._place.cleanup()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = sys.platform != "win32"  # where it would take a port that is in use
    allow_reuse_port = False
    live: LivePage

    def server_bind(self) -> None:
        """Bind, without asking the network what this machine is called."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away in the middle of an answer is nothing to speak of."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError | TimeoutError):
            self.live.complain(error)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "extensor"
    sys_version = ""
    timeout = _PATIENCE

    def do_GET(self) -> None:
        """Give the page, and nothing else."""
        if not self._is_for_us():
            self._answer(HTTPStatus.FORBIDDEN, "only for this machine\n")
        elif self.path.partition("?")[0] not in _PATHS:
            self._answer(HTTPStatus.NOT_FOUND, "there is only one page here\n")
        else:
            try:
                page = self.server.live.page()
            except Exception as error:
                self.server.live.complain(error)
                self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "the page could not be made\n")
            else:
                self._answer(HTTPStatus.OK, page.text, page)

    def _is_for_us(self) -> bool:
        """Whether this was asked for by our own name, and by no other besides."""
        hosts = self.headers.get_all("Host") or []
        allowed = {f"{host}:{self.server.server_port}" for host in _HOSTS}
        return len(hosts) == 1 and hosts[0].strip().lower() in allowed

    def _answer(self, status: HTTPStatus, text: str, page: Shown | None = None) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"text/{'html' if page else 'plain'}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        if page is not None:
            self.send_header("ETag", f'"{page.mark}"')
            if page.is_last:
                self.send_header("X-Last", "1")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _policy(text))
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing: the terminal is for training."""


def _policy(text: str) -> str:
    """Nothing but the scripts that ``text`` has may run."""
    digests = (sha256(script.encode()).digest() for script in _SCRIPTS.findall(text))
    scripts = [f"'sha256-{b64encode(digest).decode()}'" for digest in digests]
    return f"{_POLICY}; script-src {' '.join(scripts)}" if scripts else _POLICY


def _opened(port: int | None, live: LivePage) -> _Server:
    """A server on ``port``, or without one on the first that is free."""
    for number in range(_PORT, _PORT + _PORTS) if port is None else (port,):
        try:
            server = _Server((ADDRESS, number), _Handler)
        except OSError as error:
            if port is None and error.errno in (errno.EADDRINUSE, errno.EACCES):
                continue
            reason = (error.strerror or str(error)).lower()
            raise value_error("--live", f"the port must be free ({reason})", port=number) from None
        server.live = live
        return server
    raise value_error("--live", "a port must be free", first=_PORT, last=_PORT + _PORTS - 1)


@contextmanager
def live_page(live: str | None, folder: Path) -> Iterator[None]:
    """The page of the run in ``folder``, as ``--live`` asks for it, within the block."""
    if live is None:
        yield
        return
    page = LivePage(RunFolder(folder), _port(live))
    print(f"live page   {page.address}", flush=True)
    finished = False
    try:
        yield
        finished = True
    finally:
        page.close(finished)


def _port(text: str) -> int | None:
    if not text:
        return None
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else -1
    if not 0 <= number < 2**16:
        raise value_error("--live", "the port must be from 0 to 65535", port=text)
    return number


def sort_out(options: argparse.Namespace) -> None:
    """Take what follows ``--live`` for the configuration if it is no port: its place is there too."""
    if options.live and not options.live.lstrip("+-").isdigit() and options.config is None:
        options.config, options.live = options.live, ""
