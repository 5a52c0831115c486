"""``extensor train --live``: the page of a run in the browser while it is trained.

Only a client that knows the address can read it: the server listens on the loopback address, and the address
has a random token. Training never ends because of its page.
"""

from __future__ import annotations

import secrets
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from extensor.cli.live_server import ADDRESS, POLL, Snapshot, open_server
from extensor.errors import is_ours, value_error
from extensor.errors.screen import screen_line
from extensor.report.document import content_policy, document, pointer_script, policy_element
from extensor.report.run_page import run_page
from extensor.train import RunFolder

_PATIENCE = 5.0  # seconds for the server to end
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
""".replace("POLL", str(int(1000 * POLL)))


class LivePage:
    """Serves the page of ``run`` from its own threads, until it is closed.

    The page is made when a browser asks for it and the log has grown, and never written into the
    folder of the run: training does not notice.
    """

    def __init__(self, run: RunFolder, port: int | None = None) -> None:
        self._lock = threading.Lock()  # one page is made at a time
        self._run = run
        self._seen: Any = None
        self._page = document("Training", "Training begins.", {}, [])
        self._is_finished = False
        self._asked = float("-inf")  # when somebody last did
        self._gave_last = threading.Event()
        self._has_complained = False
        page_policy = content_policy(pointer_script())
        policy = content_policy(pointer_script(), _SCRIPT, connect="'self'")
        # The page's own policy would not let it ask for a newer page.
        self._policies = policy_element(page_policy), policy_element(policy)
        self._server = open_server(
            port,
            token=secrets.token_urlsafe(),
            policy=f"{policy}; frame-ancestors 'none'",
            render=self.page,
            complain=self.complain,
        )
        self._thread = threading.Thread(target=self._server.serve, daemon=True)
        self._thread.start()
        self.port = int(self._server.server_address[1])
        self.address = f"http://{ADDRESS}:{self.port}{self._server.path}"

    def page(self) -> Snapshot:
        """The page as it is now, with a script that asks for a newer one unless it is the last."""
        with self._lock:
            self._asked = time.monotonic()
            if self._is_finished:
                text = (self._run.path / "report.html").read_text(encoding="utf-8")
                self._gave_last.set()
                return Snapshot(text, _mark(text), True)
            self._renew()
            text = self._page.replace(*self._policies)
        mark = _mark(text)
        head, end, tail = text.rpartition("</body>")
        script = f'<script data-mark="{mark}">{_SCRIPT}</script>'
        return Snapshot(f"{head}{script}{end}{tail}", mark, False)

    def _renew(self) -> None:
        """Make the page anew if the log has changed, once there is one."""
        if self._run.machine.exists() and self._run.log.exists():
            status = self._run.log.stat()
            seen = status.st_size, status.st_mtime_ns
            if seen != self._seen:
                self._page = run_page(self._run, None, None)
                self._seen = seen

    def complain(self, error: BaseException) -> None:
        """Print once that something failed here."""
        if not self._has_complained:
            self._has_complained = True
            with suppress(Exception):
                text = f"--live: the page could not be served ({error}); training continues"
                print(screen_line(text), file=sys.stderr)

    def close(self, finished: bool) -> None:
        """End; if the report is ``finished``, a browser that shows the page gets it first."""
        self._is_finished = finished
        is_watched = time.monotonic() - self._asked < 3 * POLL
        if finished and is_watched:
            self._gave_last.wait(2 * POLL)
        try:
            if self._thread.is_alive():  # otherwise there is nobody to answer
                self._server.shutdown()
                self._thread.join(_PATIENCE)
        finally:
            self._server.server_close()


def _mark(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


@contextmanager
def live_page(live: str, folder: Path) -> Iterator[None]:
    """The page of the run in ``folder``, as ``--live`` asks for it, within the block."""
    page = _open_page(RunFolder(folder), _port(live))
    if page is None:
        yield
        return
    print(f"live page   {page.address}", flush=True)
    finished = False
    try:
        yield
        finished = True
    finally:
        try:
            page.close(finished)
        except Exception as error:
            page.complain(error)


def _open_page(run: RunFolder, port: int | None) -> LivePage | None:
    """The page, or None if this machine cannot give one now; only a wrong port is an error."""
    try:
        return LivePage(run, port)
    except Exception as error:
        if is_ours(error):
            raise
        print(f"--live: no page is served ({error}); training continues", file=sys.stderr)
        return None


def _port(text: str) -> int | None:
    if not text:
        return None
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else -1
    if not 0 <= number < 2**16:
        raise value_error("--live", "the port must be from 0 to 65535", port=text)
    return number
