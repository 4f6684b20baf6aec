"""Clients of `watch` that break the protocol: whatever they do, the next good request is answered."""

import contextlib
import io
import socket
import struct
import threading
import time

import numpy as np

from streamsieve.cli.page_server import CheckpointPage, PageServer

from .rules import Failure

GOOD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LINES = [
    b"GET / HTTP/1.1", b"GET / HTTP/1.0", b"GET /", b"POST / HTTP/1.1", b"GET http://127.0.0.1/ HTTP/1.1",
    b"GET /../../etc/passwd HTTP/1.1", b"GET / HTTP/9.9", b"\x16\x03\x01\x02\x00\x01", b"OPTIONS * HTTP/1.1",
    b"HEAD / HTTP/1.1", b"GET " + b"a" * 70_000 + b" HTTP/1.1", b"\x00" * 100, b"",
]  # fmt: skip
HEADERS = [
    b"Host: 127.0.0.1", b"Host: localhost:1", b"Host: evil.example", b"Host:", b"Host: 127.0.0.1:x",
    b"Content-Length: 99999999999", b"Transfer-Encoding: chunked", b"Expect: 100-continue", b": ",
    b"Connection: keep-alive", b"\xff\xfe", b"A" * 70_000,
]  # fmt: skip


def client(rng, where):
    """A connection that has sent some or all of a request, or has been reset."""
    link = socket.create_connection(where, timeout=20)
    headers = [HEADERS[i] for i in rng.integers(len(HEADERS), size=rng.integers(0, 5))]
    if rng.random() < 0.05:
        headers *= 60
    raw = b"\r\n".join([LINES[rng.integers(len(LINES))], *headers, b"", b""])
    raw = raw[: rng.integers(len(raw) + 1)] if rng.random() < 0.4 else raw
    with contextlib.suppress(OSError):
        link.sendall(raw)
        if rng.random() < 0.3:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            link.close()
    return link


def run(number, seed, folder):
    rng = np.random.default_rng([seed, number])
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        server = PageServer(CheckpointPage(str(folder / "none"), 3), 0, seconds=0.3, clients=8)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        links = []
        try:
            for _ in range(rng.integers(1, 40)):
                links.append(client(rng, server.server_address))
            with socket.create_connection(server.server_address, timeout=20) as good:
                good.sendall(GOOD)
                answer = b"".join(iter(lambda: good.recv(65536), b""))
            if not answer.startswith(b"HTTP/1.0 200 ") or b"X-Frame-Options: DENY" not in answer:
                raise Failure(f"a good request got {answer[:200]!r}")
            limit = time.monotonic() + 20
            while server._began and time.monotonic() < limit:
                time.sleep(0.02)
            if server._began:
                raise Failure(f"{len(server._began)} connections are held")
        finally:
            for link in links:
                link.close()
            server.shutdown()
            server.server_close()
            thread.join()
    if errors.getvalue():
        raise Failure(f"a client made the server print {errors.getvalue()!r}")
