"""`streamsieve watch`: the page of a run that is going on."""

from __future__ import annotations

from typing import Any

import click

from . import options as opt


@click.command("watch")
@click.argument("checkpoint", type=click.Path(dir_okay=False))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port; 0 takes a free one."
)
@click.option(
    "--refresh",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Seconds until the page loads again.",
)
@opt.output
def command(checkpoint: str, port: int, refresh: int, as_json: bool, quiet: bool) -> None:
    """Serve the report of a run that writes CHECKPOINT, on this machine only (127.0.0.1), until Ctrl-C.

    Run it beside `fit ... --checkpoint CHECKPOINT`: the page shows what the last checkpoint holds.
    """
    import sys
    from http.server import ThreadingHTTPServer

    from .output import emit
    from .pages import check_report_needs

    check_report_needs()
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler(CheckpointPage(checkpoint, refresh)))
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    emit(["name", "value"], [("address", address)], as_json=as_json, keyed=True)
    sys.stdout.flush()
    if not quiet:
        click.echo("Ctrl-C ends it.", err=True)
    with server:
        server.serve_forever(poll_interval=0.2)


class CheckpointPage:
    """The page of a checkpoint, made again when the file has changed."""

    def __init__(self, file: str, refresh: int) -> None:
        import threading

        self.file, self.refresh = file, refresh
        self.lock = threading.Lock()
        self.seen: Any = None
        self.html = ""

    def read(self) -> str:
        """The page; while there is no checkpoint, one that says so."""
        import os

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
        from ..fitted import FittedModel
        from ..persist import CheckpointError, read_plain
        from .pages import report_html

        try:
            held = read_plain(self.file)
        except (CheckpointError, OSError) as error:
            return _notice("No checkpoint", str(error), self.refresh)
        run = held.about.pop("run", None) or {}
        if not isinstance(held.object, FittedModel) or not held.object.started:
            return _notice("No model yet", f"{self.file} has not learned a row.", self.refresh)
        refresh = None if run.get("done", True) else self.refresh
        return report_html(held.object, trace=run.get("trace"), refresh=refresh)


def _notice(title: str, text: str, refresh: int) -> str:
    from html import escape

    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        f'<meta http-equiv="refresh" content="{refresh}">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><p>{escape(text)}</p>'
    )


def _handler(page: CheckpointPage) -> Any:
    from http.server import BaseHTTPRequestHandler

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = (self.headers.get("Host") or "").rpartition(":")[0]
            if name not in ("127.0.0.1", "localhost"):  # a page of another site that was led here by its name
                self.send_error(403)
                return
            if self.path != "/":
                self.send_error(404)
                return
            body = page.read().encode("utf-8", errors="backslashreplace")
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: a page that loads again every few seconds would fill the terminal."""

    return Handler
