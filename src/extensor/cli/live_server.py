"""The server of ``extensor train --live``: small, local, and bounded in all that a client can ask for.

Training shares its process, so no client may take many of its files, threads or seconds: connections
are few, each has a deadline, and a request is short. A client that does not know the token in the
address learns nothing.
"""

from __future__ import annotations

import errno
import hmac
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, NamedTuple

from extensor.errors import value_error

ADDRESS = "127.0.0.1"
POLL = 1.0  # seconds between two requests of the page for a newer one
_PORT = 8000
_PORTS = 100  # that are tried if nobody asked for a certain one
_HOSTS = (ADDRESS, "localhost")
_MOST_CONNECTIONS = 16
_LONGEST_REQUEST = 16_384  # bytes of a request with its headers
_REQUEST_SECONDS = 5.0  # for a client to send its request
_ANSWER_SECONDS = 60.0  # for the answer to a client that has sent the token
_TICK = 0.1  # seconds between two looks at the deadlines


class Snapshot(NamedTuple):
    """A page, a mark of its content, and whether it is the last one."""

    text: str
    mark: str
    is_last: bool


class PageServer(ThreadingHTTPServer):
    """Serves one page under ``/token/`` from its own threads.

    ``render`` makes the page, and ``complain`` is called with what failed. ``policy`` is the content
    policy of every answer.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = sys.platform != "win32"  # where it would take a port that is in use
    allow_reuse_port = False
    request_queue_size = 128  # the system holds them, and our limit turns them away at once

    def __init__(
        self,
        port: int,
        token: str,
        policy: str,
        render: Callable[[], Snapshot],
        complain: Callable[[BaseException], None],
    ) -> None:
        self.token = token
        self.policy = policy
        self.render = render
        self.complain = complain
        self._guard = threading.Lock()
        self._deadlines: dict[Any, float] = {}  # of the open connections
        super().__init__((ADDRESS, port), _Handler)

    @property
    def path(self) -> str:
        """Where the page is."""
        return f"/{self.token}/"

    def serve(self) -> None:
        """Serve until :meth:`shutdown`, or until the socket fails."""
        try:
            self.serve_forever(_TICK)
        except Exception as error:
            self.complain(error)

    def server_bind(self) -> None:
        """Bind, without asking the network what this machine is called."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    def get_request(self) -> tuple[Any, Any]:
        """Accept a connection; if the process has no file for it, do not ask again at once."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(_TICK)
            raise

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether there is room for one more connection."""
        with self._guard:
            if len(self._deadlines) >= _MOST_CONNECTIONS:
                return False
            self._deadlines[request] = time.monotonic() + _REQUEST_SECONDS
            return True

    def allow_answer(self, request: Any) -> None:
        """Give a client that has sent the token the time to receive the page."""
        with self._guard:
            self._deadlines[request] = time.monotonic() + _ANSWER_SECONDS

    def service_actions(self) -> None:
        """End connections that are past their deadline, however slowly they send or receive."""
        now = time.monotonic()
        with self._guard:
            overdue = [request for request, deadline in self._deadlines.items() if now > deadline]
        for request in overdue:
            # Its thread, which waits for it, wakes and closes it, unless it was faster.
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection, which makes room for another."""
        super().shutdown_request(request)
        with self._guard:
            self._deadlines.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Complain, unless the client has gone away or was too slow."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError | TimeoutError):
            self.complain(error)


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    server_version = "extensor"
    sys_version = ""
    timeout = _REQUEST_SECONDS

    def setup(self) -> None:
        super().setup()
        self.rfile = _ShortRequest(self.rfile)  # type: ignore[assignment]

    def do_GET(self) -> None:
        """Give the page, and nothing else."""
        if not self._is_for_us():
            self._answer(HTTPStatus.FORBIDDEN)
        elif not self._has_token():
            self._answer(HTTPStatus.NOT_FOUND)
        else:
            self.server.allow_answer(self.request)
            self._give_page()

    def _give_page(self) -> None:
        try:
            page = self.server.render()
        except Exception as error:
            self.server.complain(error)
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            self._answer(HTTPStatus.OK, page)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that is none with its status alone, not with a page of its own."""
        self._answer(HTTPStatus(code))

    def _is_for_us(self) -> bool:
        """Whether this was asked for by our own name, and by no other besides.

        A foreign name that was made to lead here stands in the ``Host`` of the request.
        """
        hosts = self.headers.get_all("Host") or []
        allowed = {f"{host}:{self.server.server_port}" for host in _HOSTS}
        return len(hosts) == 1 and hosts[0].strip().lower() in allowed

    def _has_token(self) -> bool:
        """Whether the path is that of the page; how long this takes does not depend on the path."""
        path = self.path.partition("?")[0].encode("latin-1", "replace")
        return hmac.compare_digest(path, self.server.path.encode())

    def _answer(self, status: HTTPStatus, page: Snapshot | None = None) -> None:
        content = b"" if page is None else page.text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"text/{'html' if page else 'plain'}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        if page is not None:
            self.send_header("ETag", f'"{page.mark}"')
            if page.is_last:
                self.send_header("X-Last", "1")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", self.server.policy)
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Referrer-Policy", "no-referrer")  # the address has the token
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Write nothing: the terminal is for training."""


class _ShortRequest:
    """The lines of a request, which fails when it becomes too long."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._left = _LONGEST_REQUEST

    def readline(self, size: int) -> bytes:
        """The next line."""
        line: bytes = self._stream.readline(min(size, self._left + 1))
        self._left -= len(line)
        if self._left < 0:
            raise ConnectionAbortedError("the request is too long")
        return line

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def open_server(port: int | None, **options: Any) -> PageServer:
    """A server on ``port``, or without one on the first that is free."""
    for number in range(_PORT, _PORT + _PORTS) if port is None else (port,):
        try:
            return PageServer(number, **options)
        except OSError as error:
            if port is None and error.errno in (errno.EADDRINUSE, errno.EACCES):
                continue
            reason = (error.strerror or str(error)).lower()
            raise value_error("--live", f"the port must be free ({reason})", port=number) from None
    raise value_error("--live", "a port must be free", first=_PORT, last=_PORT + _PORTS - 1)
