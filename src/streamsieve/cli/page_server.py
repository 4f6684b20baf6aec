"""The server of `streamsieve watch`: one page, on this machine only, robust against any client."""

from __future__ import annotations

import contextlib
import math
import os
import socket
import sys
import threading
import time
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..core.words import printable
from ..persist import CheckpointError
from ..training.model import Model
from ..training.saved import read_plain
from ..training.trace import MOST
from .pages import report_html

#: Seconds for a request and its answer; ample on one machine.
SECONDS = 10.0
#: Simultaneous requests, as many as a browser with several tabs makes; one more, and the oldest is closed.
CLIENTS = 32
#: Host names of this machine. Other names are refused (DNS rebinding).
NAMES = ("127.0.0.1", "localhost")

#: The same policy as in the page itself, which loads nothing from elsewhere.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"{_POLICY}; frame-ancestors 'none'; form-action 'none'; base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class CheckpointPage:
    """The page of a checkpoint, rendered again when the file has changed."""

    def __init__(self, file: str, refresh: int) -> None:
        self.file, self.refresh = file, refresh
        self.lock = threading.Lock()
        self.seen: Any = None
        self.html = ""
        self.selections: list[tuple[int, set[int]]] = []  # rows and features of the checkpoints shown so far

    def read(self) -> str:
        """The page; while there is no checkpoint, one that says so."""
        with self.lock:
            try:
                status = os.stat(self.file)
            except OSError:
                return _notice("No checkpoint yet", f"{self.file} is not there yet.", self.refresh)
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if seen != self.seen:
                self.html, self.seen = self._make(), seen
            return self.html

    def _make(self) -> str:
        try:
            held = read_plain(self.file)
            run = held.about.pop("run", None) or {}
            if not isinstance(held.object, Model) or not held.object.started:
                return _notice("No model yet", f"{self.file} has not learned a row.", self.refresh)
            refresh = None if run.get("done", True) else self.refresh
            return report_html(held.object, trace=self._trace(held.object, run), refresh=refresh)
        except (CheckpointError, OSError) as error:
            return _notice("No checkpoint", str(error), self.refresh)
        except Exception as error:  # the notes of a forged file may hold anything
            reason = f"{type(error).__name__}: {error}"
            return _notice("No page", f"{self.file} cannot be shown ({reason}).", self.refresh)

    def _trace(self, model: Model, run: dict[str, Any]) -> dict[str, Any] | None:
        """What the run recorded, and the selections of the checkpoints shown, which cost the run nothing."""
        trace: dict[str, Any] | None = run.get("trace")
        if trace is None or model.n_rows is None:
            return trace
        if self.selections and self.selections[-1][0] > model.n_rows:  # another run
            self.selections.clear()
        self.selections = [*self.selections[-MOST:], (model.n_rows, set(model.support.tolist()))]
        known = {point["rows"] for point in trace["points"] if point.get("support") is not None}
        points = list(trace["points"])
        before: set[int] | None = None
        for rows, support in self.selections:
            if rows not in known:
                changed = (None, None) if before is None else (len(support - before), len(before - support))
                names = ("rows", "support", "entered", "left")
                points.append(dict(zip(names, (rows, len(support), *changed))))
            before = support
        return {**trace, "points": sorted(points, key=lambda point: point["rows"])}


def _notice(title: str, text: str, refresh: int) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        f'<meta http-equiv="refresh" content="{refresh}">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><p>{escape(printable(text))}</p>'
    )


class PageServer(ThreadingHTTPServer):
    """Serves one page on 127.0.0.1; port 0 chooses a free one.

    A client that sends nothing, half a request or a byte a minute is disconnected after `seconds`, or when
    there are more than `clients`.
    """

    request_queue_size = 128  # queue for connections, so that the system does not refuse a burst

    def __init__(
        self, page: CheckpointPage, port: int, seconds: float = SECONDS, clients: int = CLIENTS
    ) -> None:
        self.page, self.seconds, self.clients = page, seconds, clients
        self._began: dict[socket.socket, float] = {}
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._began[request] = time.monotonic()
            waiting = sorted(self._began, key=self._began.__getitem__)
        for oldest in waiting[: max(0, len(waiting) - self.clients)]:
            _cut(oldest)
        super().process_request(request, client_address)

    def set_clock(self, request: Any, began: float) -> None:
        """Restart the timeout of a client; inf while we prepare its answer."""
        with self._lock:
            if request in self._began:
                self._began[request] = began

    def service_actions(self) -> None:
        """Disconnect clients whose time is up; called a few times a second."""
        now = time.monotonic()
        with self._lock:
            late = [request for request, began in self._began.items() if now - began > self.seconds]
        for request in late:
            _cut(request)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._began.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Log errors, except that a client has disconnected."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            sys.stderr.write(f"A request failed: {type(error).__name__}: {printable(str(error))}\n")


def _cut(request: socket.socket) -> None:
    """Close a connection: its thread then reads the end of input and stops."""
    with contextlib.suppress(OSError):
        request.shutdown(socket.SHUT_RDWR)


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD of /."""

    server: PageServer
    server_version, sys_version = "streamsieve", ""

    def do_GET(self) -> None:
        name, _, port = (self.headers.get("Host") or "").partition(":")
        if name not in NAMES or (port and not port.isdecimal()):
            self.send_error(403)
        elif self.path != "/":
            self.send_error(404)
        else:
            self.server.set_clock(self.request, math.inf)
            body = self.server.page.read().encode("utf-8", errors="backslashreplace")
            self.server.set_clock(self.request, time.monotonic())
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    do_HEAD = do_GET

    def end_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: a page that reloads every few seconds would fill the terminal."""
